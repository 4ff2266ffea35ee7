//! Authority of console texts: commands of the operator alone, and refusals.
//!
//! Invariant: a refusal is counted. While the server runs, it is logged once per second at most, since a module may cause
//! it without end.

use super::{output::ConsoleStreams, problems::Cause};
use crate::{
    model::{Millis, text},
    observe::{Counter, LogEvent},
    serving::stats::Stats,
    settings::{Author, Settings, is_trusted},
};

/// Commands that neither a game module nor a mod runs.
///
/// They end the server, permit cheats, write files, change what outlasts the server or announce it.
const OPERATOR_COMMANDS: [&str; 21] = [
    "ban",
    "banaddr",
    "bandel",
    "devmap",
    "drain",
    "exceptaddr",
    "exceptdel",
    "exportbans",
    "flushbans",
    "heartbeat",
    "importbans",
    "mute",
    "quit",
    "record",
    "rehashadmins",
    "rehashbans",
    "stoprecord",
    "unban",
    "undrain",
    "unmute",
    "writeconfig",
];
/// Longest text of a refusal in the log, in bytes.
const MAX_REFUSAL_LEN: usize = 300;

/// Returns the refusal of a command that the author of a text may not run.
pub(super) fn refusal(settings: &Settings, author: Author, name: &str) -> Option<String> {
    let command = OPERATOR_COMMANDS.iter().find(|known| known.eq_ignore_ascii_case(name))?;
    let refusal =
        format!("{command} is operator only: not run for {author} (sv_trustMod 1 permits it)");
    (!is_trusted(settings, author)).then_some(refusal)
}

/// Counts and logs a refusal. The start reports it as a problem of its script.
pub(in crate::server) fn report_refusal(
    console: &mut ConsoleStreams,
    (stats, now): (&mut Stats, Millis),
    refusal: &str,
) {
    stats.bump(Counter::AuthorityRefused);
    if console.is_start() {
        console.report(Cause::Refused, refusal);
    } else if let Some(suppressed) = stats.allows_log(LogEvent::Authority, now) {
        let refusal = console.placed(refusal);
        let refusal = text::escaped(text::truncated(&refusal, MAX_REFUSAL_LEN).as_bytes());
        log::warn!("{refusal}{suppressed}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::console::table::COMMANDS;

    #[test]
    fn operator_commands_are_commands_of_the_table() {
        for name in OPERATOR_COMMANDS {
            assert!(COMMANDS.iter().any(|row| row.name == name), "{name}");
        }
        let settings = Settings::default();
        assert_eq!(refusal(&settings, Author::Operator, "quit"), None);
        assert_eq!(refusal(&settings, Author::Module, "map"), None);
        let refused = refusal(&settings, Author::Mod, "QUIT").expect("a refusal");
        assert!(refused.starts_with("quit is operator only: not run for a script"), "{refused}");
    }
}
