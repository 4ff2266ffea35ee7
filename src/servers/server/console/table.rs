//! Console command table: name, usage, help and function of each command.
//!
//! Source: console commands of Quake III servers.

use super::{
    admin_file, archive, audit, bans, commands, drain, entity_list, execute, moderation, recording,
    scripts, variables, warnings,
};
use crate::{
    bans::{self as list, CommandHelp},
    model::CommandArgs,
    server::{
        info_strings::{serverinfo, systeminfo},
        state::Server,
    },
    settings::SetCommand,
};

/// One console command.
pub(super) struct CommandRow {
    pub(super) name: &'static str,
    /// Arguments.
    pub(super) usage: &'static str,
    /// One imperative sentence.
    pub(super) help: &'static str,
    pub(super) run: fn(&mut Server, &CommandArgs, u8),
}

/// Row of a command of the ban list.
const fn shared(command: &CommandHelp) -> CommandRow {
    CommandRow {
        name: command.name,
        usage: command.usage,
        help: command.help,
        run: |server, words, _| moderation::run(server, words),
    }
}

/// Every command, by name.
pub(super) const COMMANDS: &[CommandRow] = &[
    CommandRow {
        name: "addip",
        usage: "<address>",
        help: "Ban an address, e.g. 10.1.2.3, 10.1.* or 2001:db8::/32.",
        run: |server, words, _| {
            if !bans::add_ip(server, words) {
                execute::run_in_game(server, words);
            }
        },
    },
    CommandRow {
        name: "auditlog",
        usage: "[number]",
        help: "Show the last acts of administrators (default 20).",
        run: |server, words, _| audit::show(server, words),
    },
    shared(&list::BAN),
    shared(&list::BANADDR),
    shared(&list::BANDEL),
    CommandRow {
        name: "clientkick",
        usage: "<slot> [reason]",
        help: "Kick the client in a slot.",
        run: |server, words, _| commands::client_kick(server, words),
    },
    CommandRow {
        name: "cmdlist",
        usage: "[pattern]",
        help: "List commands by pattern.",
        run: |server, words, _| commands::list_commands(server, words),
    },
    CommandRow {
        name: "counters",
        usage: "[pattern]",
        help: "Show counters since the start.",
        run: |server, words, _| commands::list_counters(server, words),
    },
    CommandRow {
        name: "cp",
        usage: "<text>",
        help: "Show text in the middle of the screens of all clients.",
        run: |server, words, _| commands::show_center_text(server, words),
    },
    CommandRow {
        name: "cvar_restart",
        usage: "",
        help: "Set settings to their defaults and remove variables, except operator-only settings.",
        run: |server, _, _| variables::reset_all(server),
    },
    CommandRow {
        name: "cvarlist",
        usage: "[pattern]",
        help: "List settings and values.",
        run: |server, words, _| commands::list_settings(server, words),
    },
    CommandRow {
        name: "devmap",
        usage: "<name>",
        help: "Load a map with cheats.",
        run: |server, words, _| commands::change_map(server, words, true),
    },
    CommandRow {
        name: "dir",
        usage: "<folder> [extension]",
        help: "List files of the game data (.bsp by default).",
        run: |server, words, _| variables::list_files(server, words),
    },
    CommandRow {
        name: "drain",
        usage: "[seconds] [text], or off",
        help: "Refuse connects; stop when empty, when the match ends or after [seconds].",
        run: |server, words, _| drain::drain(server, words),
    },
    CommandRow {
        name: "dumpuser",
        usage: "<name or slot>",
        help: "Show the userinfo of a client.",
        run: |server, words, _| commands::dump_user(server, words),
    },
    CommandRow {
        name: "echo",
        usage: "<text>",
        help: "Print text.",
        run: |server, words, _| server.core.console.print(words.rest(1)),
    },
    CommandRow {
        name: "entitylist",
        usage: "[type]",
        help: "List entities of the level with type and position.",
        run: |server, words, _| entity_list::show(server, words),
    },
    shared(&list::EXCEPTADDR),
    shared(&list::EXCEPTDEL),
    CommandRow {
        name: "exec",
        usage: "<file>",
        help: "Run a script of the game data (.cfg by default).",
        run: |server, words, depth| scripts::exec(server, words, depth, false),
    },
    CommandRow {
        name: "execq",
        usage: "<file>",
        help: "Run a script of the game data without printing its name.",
        run: |server, words, depth| scripts::exec(server, words, depth, true),
    },
    shared(&list::EXPORTBANS),
    shared(&list::FLUSHBANS),
    CommandRow {
        name: "heartbeat",
        usage: "",
        help: "Send a heartbeat to the master servers (dedicated 2).",
        run: |server, _, _| commands::request_heartbeat(server),
    },
    CommandRow {
        name: "help",
        usage: "[command]",
        help: "Show help for a command, or for all.",
        run: |server, words, _| commands::explain(server, words),
    },
    shared(&list::IMPORTBANS),
    CommandRow {
        name: "kick",
        usage: "<name, slot or all> [reason]",
        help: "Kick a client, or all.",
        run: |server, words, _| commands::kick(server, words),
    },
    CommandRow {
        name: "kickall",
        usage: "",
        help: "Kick all clients.",
        run: |server, _, _| commands::kick_all(server),
    },
    CommandRow {
        name: "kickbots",
        usage: "",
        help: "Kick all bots.",
        run: |server, _, _| commands::kick_bots(server),
    },
    CommandRow {
        name: "kicknum",
        usage: "<slot> [reason]",
        help: "Kick the client in a slot.",
        run: |server, words, _| commands::client_kick(server, words),
    },
    shared(&list::LISTBANS),
    CommandRow {
        name: "listip",
        usage: "",
        help: "List the banned networks and g_banIPs.",
        run: |server, words, _| {
            bans::list_ips(server);
            execute::run_in_game(server, words);
        },
    },
    CommandRow {
        name: "map",
        usage: "<name>",
        help: "Load a map.",
        run: |server, words, _| commands::change_map(server, words, false),
    },
    CommandRow {
        name: "map_restart",
        usage: "[seconds]",
        help: "Restart the level in place after [seconds] (default 5); players stay.",
        run: |server, words, _| commands::restart_in(server, words),
    },
    shared(&list::MUTE),
    CommandRow {
        name: "path",
        usage: "",
        help: "List archives of the game data in search order.",
        run: |server, _, _| variables::list_archives(server),
    },
    CommandRow {
        name: "quit",
        usage: "[reason]",
        help: "Disconnect all clients and stop the server.",
        run: |server, words, _| commands::quit(server, words),
    },
    CommandRow {
        name: "record",
        usage: "[name, slot, all or match] [file name]",
        help: "Record a client to a demo file, all clients, or the match with every view.",
        run: |server, words, _| recording::record(server, words),
    },
    CommandRow {
        name: "rehashadmins",
        usage: "",
        help: "Read the levels and logins of sv_admins from their file again.",
        run: |server, _, _| admin_file::reload(server),
    },
    shared(&list::REHASHBANS),
    CommandRow {
        name: "reloaded",
        usage: "<text>",
        help: "Record a reload of the configuration in the audit log; SIGHUP runs it.",
        run: |_, _, _| {},
    },
    CommandRow {
        name: "removeip",
        usage: "<address>",
        help: "Remove a ban of addip, or an address of g_banIPs.",
        run: |server, words, _| {
            if !bans::remove_ip(server, words) {
                execute::run_in_game(server, words);
            }
        },
    },
    CommandRow {
        name: "reset",
        usage: "<name>",
        help: "Set a setting to its default.",
        run: |server, words, _| variables::reset(server, words),
    },
    CommandRow {
        name: "say",
        usage: "<text>",
        help: "Send a chat line to all clients.",
        run: |server, words, _| commands::say(server, words),
    },
    CommandRow {
        name: "serverinfo",
        usage: "",
        help: "Show the serverinfo.",
        run: |server, _, _| {
            let info = serverinfo(&server.core.settings);
            server.core.console.print("Server info settings:");
            server.core.console.print_pairs(info.iter());
        },
    },
    CommandRow {
        name: "set",
        usage: "<name> <value>",
        help: "Change a setting.",
        run: |server, words, _| commands::set(server, words, SetCommand::Set),
    },
    CommandRow {
        name: "seta",
        usage: "<name> <value>",
        help: "Change a setting and archive it.",
        run: |server, words, _| commands::set(server, words, SetCommand::Seta),
    },
    CommandRow {
        name: "sets",
        usage: "<name> <value>",
        help: "Change a setting and add it to the serverinfo.",
        run: |server, words, _| commands::set(server, words, SetCommand::Sets),
    },
    CommandRow {
        name: "setu",
        usage: "<name> <value>",
        help: "Change a setting without archiving it.",
        run: |server, words, _| commands::set(server, words, SetCommand::Setu),
    },
    CommandRow {
        name: "status",
        usage: "",
        help: "List clients with score, ping, address and rate.",
        run: |server, _, _| commands::show_status(server),
    },
    CommandRow {
        name: "stoprecord",
        usage: "[name, slot, all or match]",
        help: "Stop the recording of a client, of the match, or all recordings of clients.",
        run: |server, words, _| recording::stop_record(server, words),
    },
    CommandRow {
        name: "systeminfo",
        usage: "",
        help: "Show the settings that clients apply (systeminfo).",
        run: |server, _, _| {
            let info = systeminfo(&server.core.settings);
            server.core.console.print("System info settings:");
            server.core.console.print_pairs(info.iter());
        },
    },
    CommandRow {
        name: "tell",
        usage: "<name or slot> <text>",
        help: "Send a chat line to one client.",
        run: |server, words, _| commands::tell_player(server, words),
    },
    CommandRow {
        name: "toggle",
        usage: "<name> [values]",
        help: "Set a setting to 1 or 0 in turn, or to the next of the values.",
        run: |server, words, _| variables::toggle(server, words),
    },
    shared(&list::UNBAN),
    CommandRow {
        name: "undrain",
        usage: "",
        help: "End a drain: clients may connect again.",
        run: |server, _, _| drain::undrain(server),
    },
    shared(&list::UNMUTE),
    CommandRow {
        name: "unset",
        usage: "<name>",
        help: "Remove a variable.",
        run: |server, words, _| variables::unset(server, words),
    },
    CommandRow {
        name: "vstr",
        usage: "<name>",
        help: "Run the value of a setting as a console line.",
        run: commands::run_variable,
    },
    CommandRow {
        name: "wait",
        usage: "[frames]",
        help: "Run the rest of the line or script after [frames] (default 1).",
        run: |server, words, _| commands::wait(server, words),
    },
    CommandRow {
        name: "warn",
        usage: "<name or slot> <text>",
        help: "Warn a player, who is kicked after sv_warnLimit warnings.",
        run: |server, words, _| warnings::warn(server, words),
    },
    CommandRow {
        name: "writeconfig",
        usage: "<name>",
        help: "Write archived settings to a script in the state folder.",
        run: |server, words, _| archive::write_config(server, words),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_sorted_unique_and_documented() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
        assert!(COMMANDS.windows(2).all(|pair| pair[0].name != pair[1].name));
        assert!(COMMANDS.iter().all(|command| command.help.ends_with('.')));
    }
}
