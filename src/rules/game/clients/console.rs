//! Console commands about clients.
//!
//! Source: the base game's console commands.

use super::{ClientContext, ip_bans};
use crate::{game::ConsoleCommand, model::CommandArgs};

/// Handler of a console command.
type Handler = fn(&mut ClientContext<'_>, &CommandArgs);

const HANDLERS: [Handler; COMMANDS.len()] = [
    |cx, words| ip_bans::add(cx.host, words.get(1)),
    |cx, words| cx.force(words),
    |cx, _| ip_bans::list(cx.host),
    |cx, words| ip_bans::remove(cx.host, words.get(1)),
];

/// Console commands, in the order of their handlers.
pub(in crate::game) const COMMANDS: &[ConsoleCommand] = &[
    ConsoleCommand {
        name: "addip",
        usage: "<address>",
        help: "Add an address to g_banIPs, e.g. 10.1.2.3 or 10.1.*.",
    },
    ConsoleCommand {
        name: "forceteam",
        usage: "<name or slot> <team>",
        help: "Put a player into a team: red, blue, free or spectator.",
    },
    ConsoleCommand { name: "listip", usage: "", help: "List the addresses of g_banIPs." },
    ConsoleCommand {
        name: "removeip",
        usage: "<address>",
        help: "Remove an address from g_banIPs.",
    },
];

impl ClientContext<'_> {
    /// Runs a console line. Returns false for a command that is not in the table.
    pub(in crate::game) fn run_console(&mut self, words: &CommandArgs) -> bool {
        let is_it = |command: &ConsoleCommand| command.name.eq_ignore_ascii_case(words.command());
        let Some(at) = COMMANDS.iter().position(is_it) else { return false };
        HANDLERS[at](self, words);
        true
    }

    fn force(&mut self, words: &CommandArgs) {
        if words.len() < 3 {
            return self.host.reply("Usage: forceteam <player> <team>");
        }
        match self.clients.player_called(words.get(1)) {
            Err(refusal) => self.host.reply(&refusal),
            Ok(client) => {
                if !self.force_team(client, words.get(2)) {
                    self.host.reply("the teams are red, blue, free, spectator");
                }
            }
        }
    }
}
