//! Reliable commands of clients: those the engine takes itself, and the rest for the game.
//!
//! Invariant: a command that is ignored still counts as received. Source: Quake III protocol 68,
//! reliable commands; the limits are Quake3e's.

use super::{Server, rate_limiter::BucketLimit};
use crate::{
    model::{ClientNum, Millis, Words, text},
    observe::Counter,
    settings::key,
    wire::userinfo::check_userinfo,
};

/// Commands for the game, while flood protection is on.
const COMMANDS: BucketLimit = BucketLimit { burst: 8, period: Millis(500) };
/// Changes of userinfo.
const USERINFOS: BucketLimit = BucketLimit { burst: 5, period: Millis(1000) };
/// Refusals of files. A client asks for one file, and gives up when it is refused.
const DOWNLOADS: BucketLimit = BucketLimit { burst: 4, period: Millis(1000) };
/// An argument is cut to this many bytes.
const MAX_ARGUMENT_LEN: usize = 255;

/// A command that the engine takes itself.
struct EngineCommand {
    name: &'static str,
    /// False when the command is to come again: the rest of the message is left alone.
    run: fn(&mut Server, ClientNum, &Words) -> bool,
}

const ENGINE_COMMANDS: &[EngineCommand] = &[
    EngineCommand { name: "userinfo", run: Server::handle_userinfo },
    EngineCommand {
        name: "disconnect",
        run: |server, number, _| {
            server.drop_client(number, "disconnected");
            true
        },
    },
    // Pure checks and voice: clients say these unasked, and this server asks nothing of the kind.
    EngineCommand { name: "cp", run: |_, _, _| true },
    EngineCommand { name: "vdr", run: |_, _, _| true },
    EngineCommand { name: "voip", run: |_, _, _| true },
    EngineCommand { name: "download", run: Server::refuse_download },
    EngineCommand { name: "nextdl", run: |_, _, _| true },
    EngineCommand { name: "stopdl", run: |_, _, _| true },
    EngineCommand { name: "donedl", run: |_, _, _| true },
];

impl Server {
    /// Runs a command. False when it is to come again later, as if it had not arrived.
    pub(super) fn run_client_command(&mut self, number: ClientNum, line: &str) -> bool {
        let mut words = Words::parse(line);
        if let Some(command) = ENGINE_COMMANDS.iter().find(|c| c.name == words.command()) {
            return (command.run)(self, number, &words);
        }
        let now = self.core.now;
        let limited = self.core.settings.flag(key::SV_FLOOD_PROTECT);
        let Some(client) = self.core.clients.get_mut(number) else { return true };
        if !client.has_level() {
            return true;
        }
        if limited && !client.buckets.commands.allows(now, COMMANDS) {
            self.core.stats.bump(Counter::CommandsOverLimit);
            return true;
        }
        words.for_each_mut(|word| *word = clean_argument(word));
        self.core.stats.bump(Counter::ClientCommands);
        self.game.client_command(&mut self.core, number, &words);
        self.process_pending_drops();
        true
    }

    fn handle_userinfo(&mut self, number: ClientNum, words: &Words) -> bool {
        let now = self.core.now;
        let Some(client) = self.core.clients.get_mut(number) else { return true };
        if !client.buckets.userinfos.allows(now, USERINFOS) {
            self.core.stats.bump(Counter::CommandsOverLimit);
            return false;
        }
        let ip = client.remote.address().ip().to_canonical().to_string();
        match check_userinfo(words.get(1)) {
            Ok(mut info) => {
                if info.set("ip", &ip).is_err() {
                    self.drop_client(number, "userinfo string length exceeded");
                    return true;
                }
                self.core.store_userinfo(number, info);
                self.game.client_userinfo_changed(&mut self.core, number);
                self.process_pending_drops();
            }
            // The old one stays.
            Err(fault) => self.core.log_client_error(number, Counter::BadUserinfo, fault),
        }
        true
    }

    /// Has the client told that there is nothing to be had: one that asks while it loads would wait for
    /// ever. A client in the game has all its files.
    fn refuse_download(&mut self, number: ClientNum, words: &Words) -> bool {
        let now = self.core.now;
        let Some(client) = self.core.clients.get_mut(number) else { return true };
        if client.is_active() || !client.buckets.downloads.allows(now, DOWNLOADS) {
            self.core.stats.bump(Counter::CommandsOverLimit);
            return true;
        }
        let file = clean_argument(words.get(1));
        client.refused_download =
            Some(format!("File \"{file}\" is not referenced and cannot be downloaded."));
        true
    }
}

/// An argument without line breaks and separators, and not too long.
fn clean_argument(word: &str) -> String {
    let separators = |c: char| if matches!(c, '\n' | '\r' | ';') { ' ' } else { c };
    text::truncated(word, MAX_ARGUMENT_LEN).chars().map(separators).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flood_protection_is_described_with_its_numbers() {
        let help = key::SV_FLOOD_PROTECT.setting().help;
        let BucketLimit { burst, period } = COMMANDS;
        assert!(help.contains(&format!("{burst} at once, then one per {} ms", period.0)), "{help}");
    }
}
