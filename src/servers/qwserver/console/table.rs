//! Table of console commands.

use super::QwServer;
use crate::{
    bans::{self, CommandHelp},
    model::{CommandArgs, Millis},
};

/// A console command.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) usage: &'static str,
    pub(super) help: &'static str,
    pub(super) run: fn(&mut QwServer, Millis, &CommandArgs),
}

const fn row(
    name: &'static str,
    usage: &'static str,
    help: &'static str,
    run: fn(&mut QwServer, Millis, &CommandArgs),
) -> Row {
    Row { name, usage, help, run }
}

/// Row of a command of the ban list.
const fn shared(command: &CommandHelp) -> Row {
    row(command.name, command.usage, command.help, |server, now, args| {
        server.now = now;
        bans::run(server, args);
    })
}

/// All commands, by name.
pub(super) const COMMANDS: &[Row] = &[
    row(
        "addip",
        "MASK [ban|safe] [+SECONDS]",
        "Ban an address or a network, or admit it in spite of bans.",
        |s, _, a| crate::qwserver::bans::add_ip(s, a),
    ),
    shared(&bans::BAN),
    shared(&bans::BANADDR),
    shared(&bans::BANDEL),
    row("cmdlist", "", "List the commands.", |s, _, a| super::information::list_commands(s, a)),
    row("cvarlist", "[PART]", "List the settings whose names contain a text.", |s, _, a| {
        super::information::list_settings(s, a)
    }),
    row(
        "drain",
        "[SECONDS] [TEXT]",
        "Refuse connects and end after the match, when empty or after a time; drain off ends the drain.",
        crate::qwserver::drain::run_command,
    ),
    row("dumpuser", "USERID", "Show the userinfo of a client.", |s, _, a| {
        super::information::dump_user(s, a)
    }),
    row("echo", "TEXT", "Print a text.", |s, _, a| super::information::echo(s, a)),
    shared(&bans::EXCEPTADDR),
    shared(&bans::EXCEPTDEL),
    row(
        "exec",
        "FILE",
        "Run a script of the game folders; on the console of the server also a file by its path.",
        QwServer::exec,
    ),
    shared(&bans::EXPORTBANS),
    shared(&bans::FLUSHBANS),
    row("fraglogfile", "", "Start or end the log of frags that log requests read.", |s, now, _| {
        super::administration::toggle_frag_log(s, now)
    }),
    row("heartbeat", "", "Send a heartbeat to the masters now.", |s, now, _| {
        super::administration::beat_now(s, now)
    }),
    row("help", "[NAME]", "Explain a command or a setting.", |s, _, a| {
        super::information::help(s, a)
    }),
    shared(&bans::IMPORTBANS),
    row("kick", "USERID", "Drop a client by its user id or its name.", |s, now, a| {
        super::administration::kick(s, now, a)
    }),
    shared(&bans::LISTBANS),
    row("listip", "", "List the banned networks.", |s, _, _| crate::qwserver::bans::list_ips(s)),
    row(
        "localinfo",
        "[KEY VALUE]",
        "Show or set the info string that only the server sees.",
        |s, _, a| {
            super::administration::local_info(s, a);
        },
    ),
    row("map", "NAME", "Change the map.", |s, _, a| super::administration::choose_map(s, a)),
    row("maplist", "", "List the installed maps.", |s, _, _| super::information::list_maps(s)),
    shared(&bans::MUTE),
    row("nextmap", "", "Change to the next map of the cycle.", |s, _, _| {
        super::administration::choose_next_map(s)
    }),
    row("pause", "", "Pause the game, or continue it.", |s, now, _| {
        crate::qwserver::pause::pause_by_operator(s, now)
    }),
    row("quit", "", "End the server.", |s, now, _| {
        crate::qwserver::drop::stop(s, now, "server ends")
    }),
    shared(&bans::REHASHBANS),
    row("removeip", "MASK", "Remove a mask from the list of bans.", |s, _, a| {
        crate::qwserver::bans::remove_ip(s, a)
    }),
    row("say", "TEXT", "Send a chat line to all clients.", |s, _, a| {
        crate::qwserver::chat::say_as_console(s, &a.rest(1))
    }),
    row(
        "serverinfo",
        "[KEY VALUE]",
        "Show or set the info string that clients and browsers see.",
        |s, _, a| {
            super::administration::server_info(s, a);
        },
    ),
    row("set", "NAME VALUE", "Change a setting.", |s, _, a| {
        super::administration::set_command(s, a)
    }),
    row(
        "setmaster",
        "HOST[:PORT] …",
        "Set the masters that the server announces itself to; without a host none.",
        |s, now, a| {
            super::administration::set_masters(s, now, a);
        },
    ),
    row("status", "", "Show the map and the clients.", |s, now, _| {
        super::information::show_status(s, now)
    }),
    shared(&bans::UNBAN),
    row("undrain", "", "End a drain: clients may connect again.", |s, now, _| {
        crate::qwserver::drain::cancel(s, now)
    }),
    shared(&bans::UNMUTE),
    row("user", "USERID", "Show the userinfo of a client.", |s, _, a| {
        super::information::dump_user(s, a)
    }),
    row("users", "", "List the clients with their user ids.", |s, _, _| {
        super::information::list_users(s)
    }),
];
