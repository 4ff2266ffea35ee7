//! Console commands about people.
//!
//! Source: the base game's console commands.

use super::{Populated, filters};
use crate::game::Host;
use crate::model::Words;

/// A command and what it does.
type Row = (&'static str, fn(&mut dyn Populated, &mut dyn Host, &Words));

const COMMANDS: &[Row] = &[
    ("addip", |_, host, words| filters::add(host, words.get(1))),
    ("removeip", |_, host, words| filters::remove(host, words.get(1))),
    ("listip", |_, host, _| filters::list(host)),
    ("forceteam", |game, host, words| game.force(host, words)),
];

impl dyn Populated + '_ {
    /// Runs a console line. False when it is none about people.
    pub(in crate::game) fn run_console(&mut self, host: &mut dyn Host, words: &Words) -> bool {
        let named = |&&(name, _): &&Row| name.eq_ignore_ascii_case(words.command());
        let Some((_, run)) = COMMANDS.iter().find(named) else { return false };
        run(self, host, words);
        true
    }

    fn force(&mut self, host: &mut dyn Host, words: &Words) {
        if words.len() < 3 {
            return host.reply("Usage: forceteam <player> <team>");
        }
        match self.people().player_called(words.get(1)) {
            Err(refusal) => host.reply(&refusal),
            Ok(client) => {
                if !self.force_team(host, client, words.get(2)) {
                    host.reply("the teams are red, blue, free, spectator");
                }
            }
        }
    }
}
