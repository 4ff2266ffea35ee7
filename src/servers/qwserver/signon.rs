//! Signon: start of the level, lists, statics and baselines, players, entry into the game.
//!
//! Each command of a client names the level that it belongs to; with another level, the signon starts again.
//! Source: QuakeWorld protocol 28, joining.

use super::{
    MAX_CLIENTS, QwServer,
    client::{Client, Stage},
    drop::{DropReason, PRINT_HIGH},
    level::{LIGHT_STYLES, SOUNDS, light_style},
    settings::key,
};
use crate::{
    model::Millis,
    observe::LogEvent,
    quakeworld::{
        Extensions, ServerMessage,
        bytes::{Text, Writer},
        channel::MAX_MESSAGE_LEN,
        level::{ServerData, write_name_list},
    },
    qwgame::movement::SpeedCheck,
};

/// Longest part of a list, and of the players before the client is asked to continue.
const LIST_ROOM: usize = 1000;
const PLAYERS_ROOM: usize = 725;
/// Numbers of the lists of models and sounds.
const MODEL_LIST: u8 = 45;
const SOUND_LIST: u8 = 46;
/// Stats of monsters and secrets, all zero.
const TOTALS: std::ops::RangeInclusive<u8> = 11..=14;

/// Argument of a signon command.
fn number(word: Option<Text<'_>>) -> Option<i64> {
    word.and_then(Text::number)
}

/// `new`: sends the start of the level.
pub(super) fn send_level(server: &mut QwServer, slot: usize) {
    let Some(client) = &mut server.clients[slot] else { return };
    if client.is_playing() {
        return;
    }
    client.stage = Stage::Connected;
    let (is_spectator, extensions) = (client.is_spectator, client.extensions);
    let folder = server.game_folder();
    let level = &server.level;
    let command = [b"fullserverinfo \"", server.settings.serverinfo(), b"\"\n"].concat();
    let start = ServerData {
        extensions,
        server_count: level.server_count,
        game_folder: Text::from(folder.as_str()),
        player: slot as u8,
        is_spectator,
        level_name: Text::new(&level.title),
        move_vars: level.vars,
    };
    let mut piece = Vec::new();
    for part in [
        ServerMessage::ServerData(start),
        ServerMessage::CdTrack { track: level.music },
        ServerMessage::StuffText { text: Text::new(&command) },
    ] {
        append(&mut piece, &part);
    }
    queue_piece(server, slot, &piece);
}

/// Whether a signon command belongs to this level. Otherwise the signon starts again.
fn is_current(server: &mut QwServer, slot: usize, count: Option<i64>) -> bool {
    let is_current = count == Some(i64::from(server.level.server_count));
    if !is_current {
        send_level(server, slot);
    }
    is_current
}

/// `soundlist` and `modellist`: sends a part of a list.
pub(super) fn send_list<'a>(
    server: &mut QwServer,
    slot: usize,
    is_models: bool,
    mut words: impl Iterator<Item = Text<'a>>,
) {
    if has_left_signon(server, slot) || !is_current(server, slot, number(words.next())) {
        return;
    }
    let first = number(words.next()).and_then(|first| u8::try_from(first).ok()).unwrap_or(0);
    let mut piece = Vec::new();
    let mut writer = Writer::new(&mut piece, LIST_ROOM, Extensions::NONE);
    let skipped = usize::from(first);
    if is_models {
        let names = server.level.models.iter().skip(skipped).map(|name| name.as_bytes());
        write_name_list(&mut writer, MODEL_LIST, first, names);
    } else {
        let names = SOUNDS.iter().skip(skipped).map(|name| name.as_bytes());
        write_name_list(&mut writer, SOUND_LIST, first, names);
    }
    queue_piece(server, slot, &piece);
}

/// `prespawn`: checks the map and sends a piece of statics and baselines.
pub(super) fn send_signon<'a>(
    server: &mut QwServer,
    now: Millis,
    slot: usize,
    mut words: impl Iterator<Item = Text<'a>>,
) {
    if has_left_signon(server, slot) || !is_current(server, slot, number(words.next())) {
        return;
    }
    let piece = number(words.next()).and_then(|piece| usize::try_from(piece).ok()).unwrap_or(0);
    if piece == 0 && server.settings.values().flag(key::SV_MAPCHECK) {
        let sums = server.level.map.checksums();
        let sum = number(words.next()).map(|sum| sum as i32);
        if sum != Some(sums.second) && sum != Some(sums.first) {
            return super::drop::drop_client(server, now, slot, DropReason::MapDiffers);
        }
    }
    let Some(bytes) = server.level.signon.get(piece) else { return };
    let mut message = bytes.clone();
    let count = server.level.server_count;
    let command = if piece + 1 < server.level.signon.len() {
        format!("cmd prespawn {count} {}\n", piece + 1)
    } else {
        format!("cmd spawn {count} 0\n")
    };
    append(&mut message, &ServerMessage::StuffText { text: Text::from(command.as_str()) });
    queue_piece(server, slot, &message);
}

/// `spawn`: sends players, then light styles.
pub(super) fn send_players<'a>(
    server: &mut QwServer,
    now: Millis,
    slot: usize,
    mut words: impl Iterator<Item = Text<'a>>,
) {
    if has_left_signon(server, slot) || !is_current(server, slot, number(words.next())) {
        return;
    }
    let first = number(words.next()).and_then(|first| usize::try_from(first).ok()).unwrap_or(0);
    announce(server, now, slot);
    let mut message = Vec::new();
    for other in first..MAX_CLIENTS {
        if message.len() > PLAYERS_ROOM {
            let count = server.level.server_count;
            let command = format!("cmd spawn {count} {other}\n");
            append(&mut message, &ServerMessage::StuffText { text: Text::from(command.as_str()) });
            return queue_piece(server, slot, &message);
        }
        write_client(&mut message, now, other, server.clients[other].as_deref());
    }
    queue_piece(server, slot, &message);
    message.clear();
    for style in 0..LIGHT_STYLES {
        let values = Text::from(light_style(style));
        append(&mut message, &ServerMessage::LightStyle { style: style as u8, values });
    }
    for stat in TOTALS {
        append(&mut message, &ServerMessage::UpdateStatLong { stat, value: 0 });
    }
    append(&mut message, &ServerMessage::StuffText { text: Text::from("skins\n") });
    queue_piece(server, slot, &message);
}

/// Tells others of a client that receives the players, once.
fn announce(server: &mut QwServer, now: Millis, slot: usize) {
    let Some(client) = &mut server.clients[slot] else { return };
    if !std::mem::replace(&mut client.is_announced, true) {
        broadcast_client(server, now, slot);
    }
    if let Some(client) = &mut server.clients[slot] {
        client.stage = Stage::Spawning;
    }
}

/// `begin`: puts the client into the game.
pub(super) fn begin<'a>(
    server: &mut QwServer,
    now: Millis,
    slot: usize,
    mut words: impl Iterator<Item = Text<'a>>,
) {
    if has_left_signon(server, slot) || !is_current(server, slot, number(words.next())) {
        return;
    }
    let Some(client) = &mut server.clients[slot] else { return };
    // A client must know the others before it plays.
    if client.stage != Stage::Spawning {
        return;
    }
    client.stage = Stage::Playing;
    client.speed = SpeedCheck::new(now);
    client.command_at = now;
    client.leafs.forget();
    client.follows = None;
    let is_spectator = client.is_spectator;
    let mut text = if is_spectator { b"Spectator ".to_vec() } else { Vec::new() };
    text.extend_from_slice(client.name());
    text.extend_from_slice(b" entered the game\n");
    if let Some(suppressed) = server.log.allows(LogEvent::Connection, now) {
        let name = super::names::plain(client.name());
        log::info!("client {slot} \"{name}\" entered the game{suppressed}");
    }
    server.level.game.begin(slot, is_spectator);
    super::chat::print_all(server, PRINT_HIGH, &text);
    if server.level.paused_at.is_some() {
        server.queue_message(slot, &ServerMessage::SetPause { paused: 1 });
    }
    super::intermission::show(server, slot);
    super::events::handle_events(server, now);
}

fn has_left_signon(server: &QwServer, slot: usize) -> bool {
    server.clients[slot].as_deref().is_none_or(Client::is_playing)
}

fn queue_piece(server: &mut QwServer, slot: usize, piece: &[u8]) {
    if let Some(client) = &mut server.clients[slot] {
        client.queue(piece);
    }
}

/// Tells all clients of a client's slot.
pub(super) fn broadcast_client(server: &mut QwServer, now: Millis, slot: usize) {
    let mut message = Vec::new();
    write_client(&mut message, now, slot, server.clients[slot].as_deref());
    for other in 0..MAX_CLIENTS {
        if server.clients[other].as_deref().is_some_and(Client::is_told) {
            queue_piece(server, other, &message);
        }
    }
}

/// Tells all clients that a slot is free.
pub(super) fn broadcast_free_slot(server: &mut QwServer, slot: usize) {
    server.broadcast(&ServerMessage::UpdateUserinfo {
        player: slot as u8,
        user_id: 0,
        info: Text::EMPTY,
    });
}

/// Appends a message to a piece of a reliable message.
fn append(piece: &mut Vec<u8>, message: &ServerMessage<'_>) {
    let room = MAX_MESSAGE_LEN.saturating_sub(piece.len());
    Writer::new(piece, room, Extensions::NONE).write(message);
}

/// Keys of a player that others are told.
const TOLD_KEYS: [&str; 6] = ["name", "team", "skin", "topcolor", "bottomcolor", "chat"];

/// Whether others are told of a key of a player.
pub(super) fn is_told(key: &[u8]) -> bool {
    key.first() == Some(&b'*') || TOLD_KEYS.iter().any(|told| told.as_bytes() == key)
}

/// Returns the info string of a player that others are told.
fn told_info(client: &Client) -> Vec<u8> {
    let mut told = Vec::new();
    let all = crate::quakeworld::info::pairs(client.info.as_bytes());
    for (key, value) in all.filter(|(key, _)| is_told(key)) {
        for word in [key, value] {
            told.push(b'\\');
            told.extend_from_slice(word);
        }
    }
    told
}

/// Appends everything about a slot.
fn write_client(message: &mut Vec<u8>, now: Millis, slot: usize, client: Option<&Client>) {
    let player = slot as u8;
    let client = client.filter(|client| client.is_connected());
    let Some(client) = client else {
        let (user_id, info) = (0, Text::EMPTY);
        return append(message, &ServerMessage::UpdateUserinfo { player, user_id, info });
    };
    let ping = client.timing.ping().min(9999) as i16;
    let seconds = now.since(client.connected_at).0 as f32 / 1000.0;
    let frags = client.frags.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
    let info = told_info(client);
    for part in [
        ServerMessage::UpdateFrags { player, frags },
        ServerMessage::UpdatePing { player, ping },
        ServerMessage::UpdatePl { player, percent: client.loss },
        ServerMessage::UpdateEnterTime { player, seconds },
        ServerMessage::UpdateUserinfo { player, user_id: client.user_id, info: Text::new(&info) },
    ] {
        append(message, &part);
    }
}
