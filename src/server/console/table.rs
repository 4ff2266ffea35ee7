//! The console's commands by name, with what follows each, what it does, and who does it.
//!
//! Source: console commands of Quake III servers.

use super::Server;
use crate::{model::Words, settings::SetCommand};

/// One command.
pub(super) struct Command {
    pub(super) name: &'static str,
    /// What follows the name.
    pub(super) usage: &'static str,
    /// One sentence.
    pub(super) help: &'static str,
    pub(super) run: fn(&mut Server, &Words, u8),
}

/// Every command, by name.
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "clientkick",
        usage: "<slot>",
        help: "Drops the player of that slot.",
        run: |server, words, _| server.client_kick(words),
    },
    Command {
        name: "cmdlist",
        usage: "[pattern]",
        help: "Lists the commands.",
        run: |server, words, _| server.list_commands(words),
    },
    Command {
        name: "counters",
        usage: "[pattern]",
        help: "Shows what the server has counted since it started.",
        run: |server, words, _| server.list_counters(words),
    },
    Command {
        name: "cvarlist",
        usage: "[pattern]",
        help: "Lists the settings with their values.",
        run: |server, words, _| server.list_settings(words),
    },
    Command {
        name: "devmap",
        usage: "<name>",
        help: "Plays another map, with cheats.",
        run: |server, words, _| server.change_map(words, true),
    },
    Command {
        name: "dumpuser",
        usage: "<name or slot>",
        help: "Shows a player's userinfo.",
        run: |server, words, _| server.dump_user(words),
    },
    Command {
        name: "echo",
        usage: "<text>",
        help: "Prints the text.",
        run: |server, words, _| server.core.print_line(words.from(1)),
    },
    Command {
        name: "help",
        usage: "[command]",
        help: "Explains a command, or all of them.",
        run: |server, words, _| server.explain(words),
    },
    Command {
        name: "kick",
        usage: "<name, slot or all>",
        help: "Drops a player, or everybody.",
        run: |server, words, _| server.kick(words),
    },
    Command {
        name: "kicknum",
        usage: "<slot>",
        help: "Drops the player of that slot.",
        run: |server, words, _| server.client_kick(words),
    },
    Command {
        name: "map",
        usage: "<name>",
        help: "Plays another map.",
        run: |server, words, _| server.change_map(words, false),
    },
    Command {
        name: "map_restart",
        usage: "[seconds]",
        help: "Begins the level anew after 5 seconds or as many as named; players stay in it.",
        run: |server, words, _| server.restart_in(words),
    },
    Command {
        name: "quit",
        usage: "[reason]",
        help: "Tells the players and stops the server.",
        run: |server, words, _| server.quit(words),
    },
    Command {
        name: "say",
        usage: "<text>",
        help: "Says something to all players.",
        run: |server, words, _| server.say(words),
    },
    Command {
        name: "serverinfo",
        usage: "",
        help: "Shows what browsers and players are told of the server.",
        run: |server, _, _| {
            let info = server.core.serverinfo();
            server.core.print_line("Server info settings:");
            server.core.print_pairs(info.iter());
        },
    },
    Command {
        name: "set",
        usage: "<name> <value>",
        help: "Changes a setting.",
        run: |server, words, _| server.set(words, SetCommand::Set),
    },
    Command {
        name: "seta",
        usage: "<name> <value>",
        help: "Changes a setting, as set does.",
        run: |server, words, _| server.set(words, SetCommand::Seta),
    },
    Command {
        name: "sets",
        usage: "<name> <value>",
        help: "Changes a setting and shows it in the serverinfo.",
        run: |server, words, _| server.set(words, SetCommand::Sets),
    },
    Command {
        name: "setu",
        usage: "<name> <value>",
        help: "Changes a setting, as set does.",
        run: |server, words, _| server.set(words, SetCommand::Setu),
    },
    Command {
        name: "status",
        usage: "",
        help: "Lists the players.",
        run: |server, _, _| server.show_status(),
    },
    Command {
        name: "systeminfo",
        usage: "",
        help: "Shows the settings that players' programs take over.",
        run: |server, _, _| {
            let info = server.core.systeminfo();
            server.core.print_line("System info settings:");
            server.core.print_pairs(info.iter());
        },
    },
    Command {
        name: "tell",
        usage: "<name or slot> <text>",
        help: "Says something to one player.",
        run: |server, words, _| server.tell_player(words),
    },
    Command {
        name: "vstr",
        usage: "<name>",
        help: "Runs the value of a variable as a console line.",
        run: Server::run_variable,
    },
];
