//! Ends of connections: drops, time-outs, zombies, the stop of the server.
//!
//! Source: QuakeWorld protocol 28, time-outs and disconnect messages.

use super::{MAX_CLIENTS, QwCounter, QwServer, client::Stage, names::plain, settings::key};
use crate::{
    model::Millis,
    observe::LogEvent,
    quakeworld::{ServerMessage, bytes::Text},
};

/// Time after which a client is dropped that was granted a slot and never spoke.
const SILENT_LIMIT: Millis = Millis::seconds(10);
/// Time within which a client must enter the game, but for one that downloads.
const ENTER_LIMIT: Millis = Millis::seconds(600);
/// Number of the message that ends a session.
const DISCONNECT: &[u8] = &[2];
/// Level of prints that all players see.
pub(super) const PRINT_HIGH: u8 = 2;

/// Reason of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DropReason {
    /// The client left.
    Left,
    /// No packets.
    TimedOut,
    /// The reliable messages did not fit.
    Overflowed,
    /// An invalid message.
    Fault,
    /// The map file differs.
    MapDiffers,
    /// The operator.
    Kicked,
    /// The list of bans.
    Banned,
    /// The same client connects again.
    Reconnect,
}

impl DropReason {
    /// Text behind the name of the client, for all players.
    const fn text(self) -> &'static str {
        match self {
            Self::Left => " left the game",
            Self::TimedOut => " timed out",
            Self::Overflowed => " overflowed",
            Self::Fault => " sent an invalid message",
            Self::MapDiffers => " has another map file",
            Self::Kicked => " was kicked",
            Self::Banned => " was banned",
            Self::Reconnect => " reconnected",
        }
    }

    /// Text for the client itself, where it does not know the reason.
    const fn text_for_client(self) -> &'static [u8] {
        match self {
            Self::MapDiffers => b"Map model file does not match (map file of the server differs)\n",
            Self::Kicked => b"You were kicked from the game\n",
            Self::Left
            | Self::TimedOut
            | Self::Overflowed
            | Self::Fault
            | Self::Banned
            | Self::Reconnect => b"",
        }
    }

    const fn counter(self) -> Option<QwCounter> {
        match self {
            Self::TimedOut => Some(QwCounter::TimeOuts),
            Self::Overflowed => Some(QwCounter::Overflows),
            Self::Fault | Self::MapDiffers => Some(QwCounter::Faults),
            Self::Left | Self::Kicked | Self::Banned | Self::Reconnect => None,
        }
    }
}

/// Ends a connection. Its slot stays for the last message of the client.
pub(super) fn drop_client(server: &mut QwServer, now: Millis, slot: usize, reason: DropReason) {
    drop_with_text(server, now, slot, reason, reason.text_for_client());
}

/// Ends a connection as [`drop_client`], with another text for the client itself.
pub(super) fn drop_with_text(
    server: &mut QwServer,
    now: Millis,
    slot: usize,
    reason: DropReason,
    for_client: &[u8],
) {
    let Some(client) = server.clients[slot].as_deref_mut().filter(|one| one.is_connected()) else {
        return;
    };
    if let Some(suppressed) = server.log.allows(LogEvent::Connection, now) {
        let (name, text) = (plain(client.name()), reason.text());
        log::info!("client {slot} \"{name}\" dropped:{text}{suppressed}");
    }
    reason.counter().into_iter().for_each(|counter| server.counters.bump(counter));
    let (was_playing, is_announced) = (client.is_playing(), client.is_announced);
    let is_spectator = client.is_spectator;
    let frags = client.frags;
    let mut text = client.name().to_vec();
    client.transfer = None;
    client.effects.clear();
    client.channel.clear_reliable();
    client.channel.pacer().lift(now);
    // A zombie is told nothing else.
    let mut last = Vec::new();
    if !for_client.is_empty() {
        let text = Text::new(for_client);
        super::write_message(&mut last, &ServerMessage::Print { level: PRINT_HIGH, text });
    }
    last.extend_from_slice(DISCONNECT);
    client.queue(&last);
    client.stage = Stage::Zombie;
    client.dropped_at = now;
    server.level.game.leave(slot);
    for other in server.clients.iter_mut().flatten() {
        if other.follows == Some(slot) {
            other.follows = None;
        }
    }
    if !is_announced {
        return;
    }
    if was_playing || reason != DropReason::Reconnect {
        text.extend_from_slice(reason.text().as_bytes());
        if !is_spectator && was_playing {
            text.extend_from_slice(format!(" with {frags} frags").as_bytes());
        }
        text.push(b'\n');
        super::chat::print_all(server, PRINT_HIGH, &text);
    }
    super::signon::broadcast_free_slot(server, slot);
    super::pause::resume_without_players(server, now);
    super::events::handle_events(server, now);
}

/// Drops clients whose reliable messages do not fit.
pub(super) fn drop_overflowed(server: &mut QwServer, now: Millis) {
    // A drop is told to others, whose messages may then not fit.
    for _ in 0..MAX_CLIENTS {
        let full = |one: &Option<Box<super::Client>>| {
            one.as_deref().is_some_and(|client| client.is_connected() && client.is_overflowed)
        };
        let Some(slot) = server.clients.iter().position(full) else { return };
        drop_client(server, now, slot, DropReason::Overflowed);
    }
}

/// Drops silent clients and frees the slots of zombies.
pub(super) fn check_timeouts(server: &mut QwServer, now: Millis) {
    let values = server.settings.values();
    let seconds = |key| Millis::seconds(u64::from(values.int(key).unsigned_abs()));
    let (timeout, zombie) = (seconds(key::TIMEOUT), seconds(key::ZOMBIETIME));
    for slot in 0..MAX_CLIENTS {
        let Some(client) = server.clients[slot].as_deref() else { continue };
        if client.stage == Stage::Zombie {
            if now.since(client.dropped_at) >= zombie {
                server.clients[slot] = None;
            }
            continue;
        }
        let limit = if client.has_spoken { timeout } else { SILENT_LIMIT };
        let is_stuck = !client.is_playing()
            && client.transfer.is_none()
            && now.since(client.connected_at) >= ENTER_LIMIT
            && now.since(server.level.started) >= ENTER_LIMIT;
        if now.since(client.last_packet) >= limit || is_stuck {
            drop_client(server, now, slot, DropReason::TimedOut);
            // A silent client sends no packet whose answer could carry the disconnect message.
            server.clients[slot] = None;
        }
    }
}

/// Ends the session of all clients and the server.
pub(super) fn stop(server: &mut QwServer, now: Millis, reason: &str) {
    if server.is_stopping {
        return;
    }
    server.is_stopping = true;
    let text = if reason.is_empty() { "server ends" } else { reason };
    let mut message = Vec::new();
    super::write_message(
        &mut message,
        &ServerMessage::Print {
            level: PRINT_HIGH,
            text: Text::new(format!("{text}\n").as_bytes()),
        },
    );
    message.extend_from_slice(DISCONNECT);
    for client in server.clients.iter_mut().flatten().filter(|client| client.is_connected()) {
        client.channel.clear_reliable();
        client.channel.pacer().lift(now);
        let (route, channel) = (client.route(), &mut client.channel);
        // One of three arrives.
        for _ in 0..3 {
            server.outbox.push_with(route, |out| {
                if channel.transmit(&message, now, out).is_err() {
                    out.clear();
                }
            });
        }
    }
    super::masters::leave_masters(server);
}
