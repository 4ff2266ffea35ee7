//! Console commands that show: status, users, settings, maps, help.

use super::{COMMANDS, QwServer};
use crate::{
    bsp29::compiler::FRAGQW1,
    model::{CommandArgs, Millis, assets::GamePath},
    quakeworld::info,
    qwserver::{
        QwCounter,
        client::{Client, Stage},
        names::plain,
        settings::ROWS,
    },
};

pub(super) fn echo(server: &mut QwServer, args: &CommandArgs) {
    let text = format!("{}\n", args.rest(1));
    server.console.print(&text);
}

pub(super) fn show_status(server: &mut QwServer, now: Millis) {
    let values = server.settings.values();
    let (players, spectators) = server.population();
    let (accepted, answered) =
        (server.counters.get(QwCounter::Accepted), server.counters.get(QwCounter::Answered));
    let mut text = format!(
        "hostname : {}\nmap      : {}, {} min\nclients  : {players} players, {spectators} spectators\n\
         packets  : {accepted} accepted, {answered} answered\n\
         userid frags ping loss min  state     address               name\n",
        values.text(crate::qwserver::settings::key::HOSTNAME),
        server.level.name,
        now.since(server.level.started).0 / 60_000,
    );
    for client in server.clients.iter().flatten() {
        let state = match client.stage {
            Stage::Connected => "connected",
            Stage::Spawning => "spawning",
            Stage::Playing if client.is_spectator => "spectator",
            Stage::Playing => "playing",
            Stage::Zombie => "zombie",
        };
        text.push_str(&format!(
            "{:6} {:5} {:4} {:4} {:3}  {state:9} {:21} {}\n",
            client.user_id,
            client.frags,
            client.timing.ping(),
            client.loss,
            now.since(client.connected_at).0 / 60_000,
            client.address().to_string(),
            plain(client.name()),
        ));
    }
    if let Some(line) = server.drain.line(now) {
        text.push_str(&format!("{line}\n"));
    }
    server.console.print(&text);
}

pub(super) fn list_users(server: &mut QwServer) {
    let mut text = String::from("userid name\n------ ----\n");
    for client in server.clients.iter().flatten().filter(|client| client.is_connected()) {
        text.push_str(&format!("{:6} {}\n", client.user_id, plain(client.name())));
    }
    server.console.print(&text);
}

/// Slot of a client by its user id or its name.
pub(in crate::qwserver) fn find_user(server: &QwServer, word: &str) -> Option<usize> {
    let number = word.parse::<i32>().ok();
    let is_it = |client: &Client| {
        client.is_connected()
            && (number == Some(client.user_id) || plain(client.name()).eq_ignore_ascii_case(word))
    };
    server.clients.iter().position(|one| one.as_deref().is_some_and(is_it))
}

pub(super) fn dump_user(server: &mut QwServer, args: &CommandArgs) {
    let client = find_user(server, args.get(1)).and_then(|slot| server.clients[slot].as_deref());
    let text = match client {
        Some(client) => pairs(client.info.as_bytes()),
        None => {
            format!("no client {}\n", crate::model::text::shown_name(args.get(1).as_bytes()))
        }
    };
    server.console.print(&text);
}

pub(super) fn list_commands(server: &mut QwServer, _: &CommandArgs) {
    let mut text = String::new();
    for row in COMMANDS {
        text.push_str(&format!("{:11} {:14} {}\n", row.name, row.usage, row.help));
    }
    server.console.print(&text);
}

pub(super) fn list_settings(server: &mut QwServer, args: &CommandArgs) {
    let part = args.get(1).to_ascii_lowercase();
    let mut text = String::new();
    for row in ROWS.iter().filter(|row| row.name.to_ascii_lowercase().contains(&part)) {
        if let Ok((row, value)) = server.settings.shown(row.name) {
            text.push_str(&format!("{:24} \"{value}\"\n", row.name));
        }
    }
    server.console.print(&text);
}

pub(super) fn help(server: &mut QwServer, args: &CommandArgs) {
    let name = args.get(1);
    if name.is_empty() {
        return list_commands(server, args);
    }
    let command = COMMANDS.iter().find(|row| row.name.eq_ignore_ascii_case(name));
    let text = match (command, server.settings.shown(name)) {
        (Some(row), _) => format!("{} {}\n{}\n", row.name, row.usage, row.help),
        (None, Ok((row, value))) => {
            format!("{} \"{value}\" (expected {})\n{}\n", row.name, row.kind, row.help)
        }
        (None, Err(error)) => format!("{error}\n"),
    };
    server.console.print(&text);
}

pub(super) fn list_maps(server: &mut QwServer) {
    let names = map_names(&server.assets.list("maps", "bsp"));
    server.console.print(&format!("{}\n", names.join("\n")));
}

/// Names of the maps among files, and that of the program.
pub(super) fn map_names(paths: &[GamePath]) -> Vec<String> {
    let mut names: Vec<String> = paths
        .iter()
        .filter_map(|path| {
            Some(path.as_str().strip_prefix("maps/")?.strip_suffix(".bsp")?.to_owned())
        })
        // Boxes of ammunition are models of the same form.
        .filter(|name| !name.starts_with("b_"))
        .collect();
    if !names.iter().any(|name| name == FRAGQW1) {
        names.push(FRAGQW1.to_owned());
    }
    names
}

pub(super) fn show_info(server: &mut QwServer, info: &[u8]) {
    let text = pairs(info);
    server.console.print(&text);
}

/// Lists an info string, one pair a line.
fn pairs(info: &[u8]) -> String {
    info::pairs(info).map(|(key, value)| format!("{:20} {}\n", plain(key), plain(value))).collect()
}
