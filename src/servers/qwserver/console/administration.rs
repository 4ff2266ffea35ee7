//! Console commands that change: kick, bans, info strings, maps, masters.

use super::QwServer;
use crate::{
    model::{CommandArgs, Millis},
    quakeworld::{ServerMessage, bytes::Text, info},
    qwserver::{drop::DropReason, level::is_map_name, settings::key},
};

pub(super) fn kick(server: &mut QwServer, now: Millis, args: &CommandArgs) {
    match super::information::find_user(server, &args.rest(1)) {
        Some(slot) => crate::qwserver::drop::drop_client(server, now, slot, DropReason::Kicked),
        None => {
            let shown = crate::model::text::shown_name(args.rest(1).as_bytes());
            server.console.print(&format!("no client {shown}\n"));
        }
    }
}

pub(super) fn local_info(server: &mut QwServer, args: &CommandArgs) {
    if args.len() < 3 {
        let info = server.settings.localinfo().to_vec();
        return super::information::show_info(server, &info);
    }
    if let Err(error) = server.settings.set_localinfo(args.get(1), &args.rest(2)) {
        server.console.print(&format!("localinfo {error}\n"));
    }
}

pub(super) fn server_info(server: &mut QwServer, args: &CommandArgs) {
    if args.len() < 3 {
        let info = server.settings.serverinfo().to_vec();
        return super::information::show_info(server, &info);
    }
    let (key, value) = (args.get(1), args.rest(2));
    if server.settings.shown(key).is_ok() {
        return server.change_setting(key, &value);
    }
    match server.settings.set_serverinfo(key, &value) {
        Ok(()) => tell_serverinfo(server, key),
        Err(error) => server.console.print(&format!("serverinfo {error}\n")),
    }
}

pub(super) fn set_command(server: &mut QwServer, args: &CommandArgs) {
    match args.len() {
        0 | 1 => server.console.print("usage: set NAME VALUE\n"),
        2 => server.show_setting(args.get(1)),
        _ => server.change_setting(args.get(1), &args.rest(2)),
    }
}

/// Tells clients the value of a key of the serverinfo.
pub(super) fn tell_serverinfo(server: &mut QwServer, key: &str) {
    let value = info::value(server.settings.serverinfo(), key).unwrap_or_default().to_vec();
    server.broadcast(&ServerMessage::ServerInfo {
        key: Text::new(key.as_bytes()),
        value: Text::new(&value),
    });
}

/// Tells clients which passwords are needed.
pub(super) fn tell_needpass(server: &mut QwServer) {
    tell_serverinfo(server, key::NEEDPASS.setting().name);
}

pub(super) fn choose_map(server: &mut QwServer, args: &CommandArgs) {
    let name = args.get(1).strip_suffix(".bsp").unwrap_or(args.get(1)).to_owned();
    if !is_map_name(&name) {
        let shown = crate::model::text::shown_name(name.as_bytes());
        return server.console.print(&format!("map name invalid: \"{shown}\"\n"));
    }
    server.next_map = Some(name);
}

pub(super) fn choose_next_map(server: &mut QwServer) {
    server.next_map = Some(crate::qwserver::rotation::map_behind_current(server));
}

pub(super) fn set_masters(server: &mut QwServer, now: Millis, args: &CommandArgs) {
    server.masters.set(args.arguments(), now);
    let text: String = server
        .masters
        .list()
        .map(|(name, address)| match address {
            Some(address) => format!("master {name}: {address}\n"),
            None => format!("master {name}\n"),
        })
        .collect();
    server.console.print(&text);
}

pub(super) fn toggle_frag_log(server: &mut QwServer, now: Millis) {
    let text = if server.frag_log.toggle(now) {
        "frag log on: log requests read it, no file is written\n"
    } else {
        "frag log off\n"
    };
    server.console.print(text);
}

pub(super) fn beat_now(server: &mut QwServer, now: Millis) {
    if server.drain.is_on() {
        return server.console.print("heartbeat: the server drains\n");
    }
    server.masters.beat(now);
}
