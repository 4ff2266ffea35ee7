//! Console commands about clients.
//!
//! Source: the base game's console commands.

use super::{ClientContext, ip_bans};
use crate::model::CommandArgs;

/// Name and handler of a console command.
type CommandRow = (&'static str, fn(&mut ClientContext<'_>, &CommandArgs));

const COMMANDS: &[CommandRow] = &[
    ("addip", |cx, words| ip_bans::add(cx.host, words.get(1))),
    ("removeip", |cx, words| ip_bans::remove(cx.host, words.get(1))),
    ("listip", |cx, _| ip_bans::list(cx.host)),
    ("forceteam", |cx, words| cx.force(words)),
];

impl ClientContext<'_> {
    /// Runs a console line. Returns false for a command that is not in the table.
    pub(in crate::game) fn run_console(&mut self, words: &CommandArgs) -> bool {
        let named = |&&(name, _): &&CommandRow| name.eq_ignore_ascii_case(words.command());
        let Some((_, run)) = COMMANDS.iter().find(named) else { return false };
        run(self, words);
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
