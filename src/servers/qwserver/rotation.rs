//! Map changes: by command, and by the limits of the match along a cycle.
//!
//! Clients keep their slots and start the signon again on the same channel.
//! Source: QuakeWorld protocol 28, map change; `localinfo` with the name of a map names the next one.

use super::{
    QwServer,
    client::Stage,
    drop::PRINT_HIGH,
    level::{Level, MapError},
    settings::key,
};
use crate::{
    model::Millis,
    quakeworld::{ServerMessage, bytes::Text, info},
};

/// Loads a map. The running level stays if that fails.
///
/// # Errors
/// See [`MapError`].
pub(super) fn load_map(server: &mut QwServer, now: Millis, name: &str) -> Result<(), MapError> {
    server.assets.rescan();
    let count = server.level.server_count.checked_add(1).unwrap_or(1);
    server.level = Level::start(name, server.assets.as_ref(), &server.settings, count, now)?;
    server.assets.map_started();
    server.settings.begin_map();
    announce_map(server);
    Ok(())
}

/// Puts the name of the map into the serverinfo.
pub(super) fn announce_map(server: &mut QwServer) {
    let name = server.level.name.clone();
    server.settings.tell("map", &name);
    log::info!("map {name} started");
}

/// Changes the map and takes all clients along.
pub(super) fn change_map(server: &mut QwServer, now: Millis, name: &str) {
    if let Err(error) = load_map(server, now, name) {
        log::error!("{error}");
        server.console.print(&format!("{error}\n"));
        // The match continues, rather than to try the same map again at once.
        server.level.is_over = false;
        server.level.started = now;
        server.level.populated_since = 0.0;
        return;
    }
    for slot in 0..super::MAX_CLIENTS {
        let Some(client) = &mut server.clients[slot] else { continue };
        if !client.is_connected() {
            continue;
        }
        let was_in_signon = client.has_spoken;
        client.leave_level();
        client.stage = Stage::Connected;
        client.leafs.forget();
        client.follows = None;
        if was_in_signon {
            let text = Text::from("changing\nreconnect\n");
            server.queue_message(slot, &ServerMessage::StuffText { text });
        }
    }
}

/// Ends the match at its limits.
pub(super) fn check_limits(server: &mut QwServer, now: Millis) {
    let values = server.settings.values();
    let minutes = values.float(key::TIMELIMIT);
    let frags = values.int(key::FRAGLIMIT);
    if server.level.is_over {
        return super::intermission::check(server, now);
    }
    let players =
        server.clients.iter().flatten().filter(|one| one.is_playing() && !one.is_spectator);
    let seconds = server.level.seconds(now);
    if players.clone().next().is_none() {
        // An empty server keeps its map, and the next match has its full time.
        server.level.populated_since = seconds;
        return;
    }
    let played = seconds - server.level.populated_since;
    let is_late = minutes > 0.0 && played >= f64::from(minutes) * 60.0;
    let is_won = frags > 0 && players.clone().any(|client| client.frags >= frags);
    if is_late || is_won {
        let next = map_behind_current(server);
        let next =
            if server.drain.is_on() { String::new() } else { format!(": next map is {next}") };
        let limit = if is_won { "Fraglimit" } else { "Timelimit" };
        super::chat::print_all(server, PRINT_HIGH, format!("{limit} hit{next}\n").as_bytes());
        super::intermission::begin(server, now);
    }
}

/// Name of the map that follows the current one.
pub(super) fn map_behind_current(server: &QwServer) -> String {
    let current = server.level.name.as_str();
    let values = server.settings.values();
    if values.flag(key::SAMELEVEL) {
        return current.to_owned();
    }
    if let Some(next) = info::value(server.settings.localinfo(), current) {
        return String::from_utf8_lossy(next).into_owned();
    }
    let maps: Vec<&str> = values.text(key::MAPS).split_ascii_whitespace().collect();
    let at = maps.iter().position(|map| map.eq_ignore_ascii_case(current));
    let next = match at {
        Some(at) => maps.get((at + 1) % maps.len()),
        None => maps.first(),
    };
    next.map_or_else(|| current.to_owned(), |next| (*next).to_owned())
}
