//! Console of the operator: lines, scripts, output, and the table of commands.
//!
//! Invariants: scripts run at most [`MAX_DEPTH`] deep and [`MAX_LINES`] lines; secrets do not appear in the log.

mod administration;
mod completion;
pub(super) mod information;
mod table;

use super::{QwServer, settings::ROWS};
use crate::model::{CommandArgs, ConsoleCommands, Millis, assets::ScriptPlace};
use table::COMMANDS;

/// Scripts inside of scripts.
const MAX_DEPTH: usize = 8;
/// Commands of one line of the operator, with those of its scripts.
const MAX_LINES: usize = 10_000;
/// Longest script, in bytes.
const MAX_SCRIPT: u64 = 1 << 20;
/// Console text that waits for the driver; later text is dropped.
const MAX_WAITING: usize = 1 << 20;
/// Text in place of a secret.
const HIDDEN: &str = "(hidden)";
/// Settings whose values are secret.
const SECRETS: [&str; 3] = ["password", "spectator_password", "rcon_password"];

/// Output of the console, and the state of the line that runs.
#[derive(Debug, Default)]
pub(super) struct Console {
    waiting: String,
    /// Output of an rcon command.
    redirected: Option<String>,
    depth: usize,
    lines: usize,
}

impl Console {
    /// Prints a text for whom the running command came from.
    pub(super) fn print(&mut self, text: &str) {
        let out = self.redirected.as_mut().unwrap_or(&mut self.waiting);
        if out.len() + text.len() <= MAX_WAITING {
            out.push_str(text);
        }
    }

    /// Shows a line of the game to the operator.
    pub(super) fn echo(&mut self, line: &str) {
        if self.waiting.len() + line.len() < MAX_WAITING {
            self.waiting.push_str(line);
            self.waiting.push('\n');
        }
    }

    /// Takes the text for the operator.
    pub(super) fn take(&mut self) -> Option<String> {
        (!self.waiting.is_empty()).then(|| std::mem::take(&mut self.waiting))
    }
}

/// Returns a line with the values of secrets hidden.
pub(super) fn masked(line: &str) -> String {
    let commands = ConsoleCommands::new(line).map(|command| {
        let args = CommandArgs::parse(command);
        let at = args.arguments().iter().position(|word| is_secret(word));
        match (is_secret(args.command()), at) {
            (true, _) if args.len() > 1 => format!("{} {HIDDEN}", args.command()),
            (false, Some(at)) if args.len() > at + 2 => {
                let words = args.arguments()[..=at].join(" ");
                format!("{} {words} {HIDDEN}", args.command())
            }
            _ => command.trim().to_owned(),
        }
    });
    let text = commands.collect::<Vec<_>>().join("; ");
    crate::model::text::escaped(text.as_bytes())
}

fn is_secret(word: &str) -> bool {
    SECRETS.iter().any(|secret| secret.eq_ignore_ascii_case(word))
}

impl QwServer {
    /// Runs a line of the operator.
    pub(super) fn run_line(&mut self, now: Millis, line: &str) {
        self.console.lines = 0;
        self.run_text(now, line);
    }

    /// Runs a line of rcon and returns its output.
    pub(super) fn run_for(&mut self, now: Millis, line: &str) -> String {
        self.console.redirected = Some(String::new());
        self.run_line(now, line);
        self.console.redirected.take().unwrap_or_default()
    }

    fn run_text(&mut self, now: Millis, text: &str) {
        for command in ConsoleCommands::new(text) {
            self.console.lines += 1;
            if self.console.lines > MAX_LINES {
                return self.console.print("too many commands: the rest is ignored\n");
            }
            let args = CommandArgs::parse(command);
            if !args.is_empty() {
                self.run_args(now, &args);
            }
        }
    }

    fn run_args(&mut self, now: Millis, args: &CommandArgs) {
        let name = args.command();
        let command = COMMANDS.iter().find(|row| row.name.eq_ignore_ascii_case(name));
        if let Some(row) = command {
            return (row.run)(self, now, args);
        }
        if self.settings.shown(name).is_ok() {
            return match args.len() {
                1 => self.show_setting(name),
                _ => self.change_setting(name, &args.rest(1)),
            };
        }
        let names = COMMANDS.iter().map(|row| row.name).chain(ROWS.iter().map(|row| row.name));
        let near = crate::model::spelling::near_names(name, names, 3);
        let hint = crate::model::spelling::did_you_mean(&near);
        let shown = crate::model::text::shown_name(name.as_bytes());
        self.console.print(&format!("Unknown command \"{shown}\"{hint}\n"));
    }

    /// Runs a script.
    fn exec(&mut self, now: Millis, args: &CommandArgs) {
        let name = args.get(1);
        if name.is_empty() {
            return self.console.print("usage: exec FILE\n");
        }
        if self.console.depth >= MAX_DEPTH {
            return self.console.print("exec: scripts too deep\n");
        }
        // A password that was overheard does not open other files of the machine.
        let is_remote = self.console.redirected.is_some();
        let place = if is_remote { ScriptPlace::GameData } else { ScriptPlace::CommandLine };
        match self.assets.read_script(name, MAX_SCRIPT, place) {
            Ok(bytes) => {
                self.console.depth += 1;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                self.run_text(now, &text);
                self.console.depth -= 1;
            }
            Err(error) => self.console.print(&format!("exec: {error}\n")),
        }
    }

    fn show_setting(&mut self, name: &str) {
        let text = match self.settings.shown(name) {
            Ok((row, value)) => format!("\"{}\" is \"{value}\"\n", row.name),
            Err(error) => format!("{error}\n"),
        };
        self.console.print(&text);
    }

    /// Changes a setting, and tells clients if they know it.
    pub(super) fn change_setting(&mut self, name: &str, value: &str) {
        match self.settings.set(name, value) {
            Ok(super::settings::Changed::Value) => administration::tell_needpass(self),
            Ok(super::settings::Changed::Latched) => {
                self.console.print(&format!("{name} takes effect with the next map\n"));
            }
            Ok(super::settings::Changed::Serverinfo(key)) => {
                administration::tell_serverinfo(self, key)
            }
            Err(error) => self.console.print(&format!("{error}\n")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_lines_are_masked() {
        for (line, shown) in [
            ("rcon_password sesame", "rcon_password (hidden)"),
            ("set Password sesame", "set Password (hidden)"),
            ("status; password a b", "status; password (hidden)"),
            ("password", "password"),
            ("say password is needed", "say password (hidden)"),
        ] {
            assert_eq!(masked(line), shown);
        }
    }
}
