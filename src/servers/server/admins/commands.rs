//! Table of the commands that administrators run in chat.
//!
//! Each runs the console command of its name. Those about a player take a slot or a name.

/// Command of an administrator.
#[derive(Debug)]
pub(in crate::server) struct AdminCommand {
    pub(in crate::server) name: &'static str,
    /// Arguments.
    pub(in crate::server) usage: &'static str,
    /// Whether the first argument is a player, who may have a level, too.
    pub(in crate::server) is_about_player: bool,
}

const fn row(name: &'static str, usage: &'static str) -> AdminCommand {
    AdminCommand { name, usage, is_about_player: false }
}

const fn about_player(name: &'static str, usage: &'static str) -> AdminCommand {
    AdminCommand { name, usage, is_about_player: true }
}

/// Every command, by name.
const ADMIN_COMMANDS: &[AdminCommand] = &[
    about_player("ban", "PLAYER [TIME] [REASON]"),
    row("cancelvote", ""),
    about_player("forceteam", "PLAYER TEAM"),
    about_player("kick", "PLAYER [REASON]"),
    row("listbans", ""),
    row("listplayers", ""),
    row("map", "MAP"),
    row("map_restart", "[SECONDS]"),
    about_player("mute", "PLAYER [TIME] [REASON]"),
    row("nextmap", ""),
    row("passvote", ""),
    row("unban", "ID"),
    about_player("unmute", "PLAYER"),
    about_player("warn", "PLAYER TEXT"),
];

/// Command that lists the commands of a level. Every level has it.
pub(in crate::server) const HELP: &str = "help";

/// Returns the command of a name.
pub(in crate::server) fn command_named(name: &str) -> Option<&'static AdminCommand> {
    ADMIN_COMMANDS.iter().find(|command| command.name.eq_ignore_ascii_case(name))
}

/// Names of all commands.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ADMIN_COMMANDS.iter().map(|command| command.name)
}
