//! Table of console commands.

use super::QwServer;
use crate::model::{CommandArgs, Millis};

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

/// All commands, by name.
pub(super) const COMMANDS: &[Row] = &[
    row("addip", "MASK", "Add an address or a network to the list of bans.", |s, _, a| s.add_ip(a)),
    row("cmdlist", "", "List the commands.", |s, _, a| s.list_commands(a)),
    row("cvarlist", "[PART]", "List the settings whose names contain a text.", |s, _, a| {
        s.list_settings(a)
    }),
    row("dumpuser", "USERID", "Show the userinfo of a client.", |s, _, a| s.dump_user(a)),
    row("echo", "TEXT", "Print a text.", |s, _, a| s.echo(a)),
    row("exec", "FILE", "Run a script of the game folders, or a file by its path.", QwServer::exec),
    row("heartbeat", "", "Send a heartbeat to the masters now.", |s, now, _| s.beat_now(now)),
    row("help", "[NAME]", "Explain a command or a setting.", |s, _, a| s.help(a)),
    row("kick", "USERID", "Drop a client by its user id or its name.", |s, now, a| s.kick(now, a)),
    row("listip", "", "List the bans.", |s, _, _| s.list_ips()),
    row(
        "localinfo",
        "[KEY VALUE]",
        "Show or set the info string that only the server sees.",
        |s, _, a| {
            s.local_info(a);
        },
    ),
    row("map", "NAME", "Change the map.", |s, _, a| s.choose_map(a)),
    row("maplist", "", "List the installed maps.", |s, _, _| s.list_maps()),
    row("nextmap", "", "Change to the next map of the cycle.", |s, _, _| s.choose_next_map()),
    row("quit", "", "End the server.", |s, now, _| s.stop(now, "server ends")),
    row("removeip", "MASK", "Remove a mask from the list of bans.", |s, _, a| s.remove_ip(a)),
    row("say", "TEXT", "Send a chat line to all clients.", |s, _, a| s.say_as_console(&a.rest(1))),
    row(
        "serverinfo",
        "[KEY VALUE]",
        "Show or set the info string that clients and browsers see.",
        |s, _, a| {
            s.server_info(a);
        },
    ),
    row("set", "NAME VALUE", "Change a setting.", |s, _, a| s.set_command(a)),
    row(
        "setmaster",
        "HOST[:PORT] …",
        "Set the masters that the server announces itself to; without a host none.",
        |s, now, a| {
            s.set_masters(now, a);
        },
    ),
    row("status", "", "Show the map and the clients.", |s, now, _| s.show_status(now)),
    row("user", "USERID", "Show the userinfo of a client.", |s, _, a| s.dump_user(a)),
    row("users", "", "List the clients with their user ids.", |s, _, _| s.list_users()),
];
