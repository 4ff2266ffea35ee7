//! Completion of console lines: commands, settings, maps, players.

use super::{COMMANDS, QwServer, information::map_names};
use crate::{
    model::TypedLine,
    node::Completion,
    qwserver::{names::plain, settings::ROWS},
};

/// Commands whose argument is a map.
const MAP_COMMANDS: [&str; 2] = ["devmap", "map"];
/// Commands whose argument is a command or a setting.
const HELP_COMMANDS: [&str; 4] = ["cmdlist", "cvarlist", "help", "set"];

impl QwServer {
    /// Returns the candidates for the last word of a line.
    pub(in crate::qwserver) fn complete_line(&self, line: &str) -> Completion {
        let typed = TypedLine::parse(line);
        let is_one_of = |names: &[&str]| {
            typed.index == 1 && names.iter().any(|name| name.eq_ignore_ascii_case(typed.command))
        };
        let settings = ROWS.iter().map(|row| row.name);
        if typed.index == 0 || is_one_of(&HELP_COMMANDS) {
            let commands = COMMANDS.iter().map(|row| row.name);
            return Completion::of(&typed, commands.chain(settings));
        }
        if is_one_of(&MAP_COMMANDS) {
            return Completion::of(&typed, map_names(&self.assets.list_for_hint("maps", "bsp")));
        }
        if settings.into_iter().any(|name| name.eq_ignore_ascii_case(typed.command)) {
            return Completion::default();
        }
        let players = self.clients.iter().flatten().map(|client| plain(client.name()));
        Completion::of(&typed, players)
    }
}
