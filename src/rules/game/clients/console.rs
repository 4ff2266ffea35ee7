//! Console commands about clients.
//!
//! Source: the base game's console commands.

use super::{ClientContext, chat::MAX_SAY_LEN, ip_bans, teams::named_team};
use crate::{
    game::{ConsoleCommand, userinfo::clean_text},
    model::{ClientNum, CommandArgs},
};

/// Handler of a console command.
type Handler = fn(&mut ClientContext<'_>, &CommandArgs);

const HANDLERS: [Handler; COMMANDS.len()] = [
    |cx, words| ip_bans::add(cx.host, words.get(1)),
    |cx, _| cx.order_end_of_vote(false),
    |cx, words| cx.force(words),
    |cx, _| ip_bans::list(cx.host),
    |cx, _| cx.order_end_of_vote(true),
    |cx, words| ip_bans::remove(cx.host, words.get(1)),
    |cx, words| cx.say_to_team(words),
];

/// Console commands, in the order of their handlers.
pub(in crate::game) const COMMANDS: &[ConsoleCommand] = &[
    ConsoleCommand {
        name: "addip",
        usage: "<address>",
        help: "Add an address to g_banIPs, e.g. 10.1.2.3 or 10.1.*.",
    },
    ConsoleCommand {
        name: "cancelvote",
        usage: "",
        help: "End the vote without its effect, also one that has just passed.",
    },
    ConsoleCommand {
        name: "forceteam",
        usage: "<name or slot> <team>",
        help: "Put a player into a team: red, blue, free or spectator.",
    },
    ConsoleCommand { name: "listip", usage: "", help: "List the addresses of g_banIPs." },
    ConsoleCommand {
        name: "passvote",
        usage: "",
        help: "End the vote as if most players had voted yes.",
    },
    ConsoleCommand {
        name: "removeip",
        usage: "<address>",
        help: "Remove an address from g_banIPs.",
    },
    ConsoleCommand {
        name: "say_team",
        usage: "<team> <text>",
        help: "Send a chat line to a team: red, blue, free or spectator.",
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

    /// Sends a chat line of the operator to a team.
    fn say_to_team(&mut self, words: &CommandArgs) {
        if words.len() < 3 {
            return self.host.reply("Usage: say_team <team> <text>");
        }
        let Some(team) = named_team(words.get(1)) else {
            return self.host.reply("the teams are red, blue, free, spectator");
        };
        let text = clean_text(&words.rest(2), MAX_SAY_LEN);
        let hearers = ClientNum::all().filter(|&client| self.clients.player(client).is_some());
        let line = format!("tchat \"console: {text}\"");
        for client in hearers.filter(|&client| self.clients.team(client) == team) {
            self.host.send_command(Some(client), &line);
        }
        self.host.reply(&format!("console to {}: {text}", words.get(1)));
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
