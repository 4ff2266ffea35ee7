//! Connection of a bot: the client of its protocol, with measured states and events.
//!
//! Invariant: a connection of either family goes through the same states in the same order.

use std::net::SocketAddr;

use super::quakeworld::QuakeWorldPlayer;
use crate::{
    bg::{Persistent, PmType},
    bots::{GameProtocol, chat_order::ChatCounts, run_info::ServerDescription},
    client::{Client, ClientEvent, ConnectionState, DisconnectReason, Statistics},
    model::{LevelTime, Millis, ServerId, Vec3},
    wire::snapshot::SnapFlags,
};

/// Event of a connection.
#[derive(Debug)]
pub(super) enum Event {
    /// The server granted a slot.
    Accepted,
    /// A level begins.
    Level,
    /// The first snapshot of a level arrived.
    Entered,
    /// A snapshot arrived.
    Snapshot,
    /// The level restarts.
    Restart,
    /// The server refused the bot.
    Refused(String),
    /// A message of the server is invalid.
    ProtocolError(String),
    /// A line for the log of events.
    Note(String),
    /// The connection ended.
    Disconnected(DisconnectReason),
}

/// Measured values of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SnapshotView {
    pub(super) server_time: LevelTime,
    pub(super) is_rate_delayed: bool,
    /// Whether it belongs to a level that the client is in.
    pub(super) is_active: bool,
    pub(super) is_intermission: bool,
    pub(super) is_spectator: bool,
    pub(super) origin: Vec3,
    pub(super) score: i32,
}

/// Client of one protocol.
#[derive(Debug)]
pub(super) enum Connection {
    Quake3(Box<Client>),
    QuakeWorld(Box<QuakeWorldPlayer>),
}

impl Connection {
    pub(super) fn protocol(&self) -> GameProtocol {
        match self {
            Self::Quake3(client) => GameProtocol::Quake3(client.protocol()),
            Self::QuakeWorld(_) => GameProtocol::QuakeWorld,
        }
    }

    pub(super) fn state(&self) -> ConnectionState {
        match self {
            Self::Quake3(client) => client.state(),
            Self::QuakeWorld(player) => player.state(),
        }
    }

    pub(super) fn ping_ms(&self) -> Option<u64> {
        match self {
            Self::Quake3(client) => client.ping_ms(),
            Self::QuakeWorld(player) => player.ping_ms(),
        }
    }

    /// Id of the level; `None` before the first.
    pub(super) fn level(&self) -> Option<ServerId> {
        match self {
            Self::Quake3(client) => client.server_id(),
            Self::QuakeWorld(player) => player.level(),
        }
    }

    pub(super) fn next_frame(&self) -> Millis {
        match self {
            Self::Quake3(client) => client.next_frame(),
            Self::QuakeWorld(player) => player.next_frame(),
        }
    }

    pub(super) fn handle_datagram(&mut self, now: Millis, from: SocketAddr, datagram: &[u8]) {
        match self {
            Self::Quake3(client) => client.handle_datagram(now, from, datagram),
            Self::QuakeWorld(player) => player.handle_datagram(now, from, datagram),
        }
    }

    pub(super) fn disconnect(&mut self, now: Millis) {
        match self {
            Self::Quake3(client) => client.disconnect(now),
            Self::QuakeWorld(player) => player.disconnect(now),
        }
    }

    pub(super) fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<SocketAddr> {
        match self {
            Self::Quake3(client) => client.poll_transmit(packet),
            Self::QuakeWorld(player) => player.poll_transmit(packet),
        }
    }

    pub(super) fn statistics(&self) -> Statistics {
        match self {
            Self::Quake3(client) => client.statistics(),
            Self::QuakeWorld(player) => player.statistics(),
        }
    }

    /// Number of answers that were compared with their prediction, and of those at another place.
    pub(super) fn predictions(&self) -> [u64; 2] {
        match self {
            Self::Quake3(_) => [0; 2],
            Self::QuakeWorld(player) => player.predictions(),
        }
    }

    /// Counts of received chat lines with a number.
    pub(super) fn chat(&self) -> ChatCounts {
        match self {
            Self::Quake3(_) => ChatCounts::default(),
            Self::QuakeWorld(player) => player.chat(),
        }
    }

    /// Returns the next event that a load test measures.
    pub(super) fn poll_event(&mut self) -> Option<Event> {
        match self {
            Self::Quake3(client) => std::iter::from_fn(|| client.poll_event()).find_map(event_of),
            Self::QuakeWorld(player) => player.poll_event(),
        }
    }

    /// Returns the newest snapshot.
    pub(super) fn snapshot(&self) -> Option<SnapshotView> {
        let client = match self {
            Self::Quake3(client) => client,
            Self::QuakeWorld(player) => return player.snapshot(),
        };
        let snapshot = client.snapshot()?;
        let pm_type = snapshot.player.pm_type;
        Some(SnapshotView {
            server_time: snapshot.head.server_time,
            is_rate_delayed: snapshot.head.flags.contains(SnapFlags::RATE_DELAYED),
            is_active: snapshot.is_active(),
            is_intermission: [PmType::Intermission, PmType::SinglePlayerIntermission]
                .iter()
                .any(|&kind| pm_type == kind as i32),
            is_spectator: pm_type == PmType::Spectator as i32,
            origin: snapshot.player.origin,
            score: snapshot.player.persistant[Persistent::Score],
        })
    }

    /// Returns name, map and program of the server, by its newest level.
    pub(super) fn server(&self) -> ServerDescription {
        match self {
            Self::Quake3(client) => ServerDescription::of_quake3(client),
            Self::QuakeWorld(player) => player.server(),
        }
    }
}

/// Returns the event of a Quake III client, if a load test measures it.
fn event_of(event: ClientEvent) -> Option<Event> {
    Some(match event {
        ClientEvent::Connected => Event::Accepted,
        ClientEvent::Gamestate => Event::Level,
        ClientEvent::Entered => Event::Entered,
        ClientEvent::Snapshot => Event::Snapshot,
        ClientEvent::MapRestart => Event::Restart,
        ClientEvent::Refused(reason) => Event::Refused(reason),
        ClientEvent::ProtocolError(error) => Event::ProtocolError(error.to_string()),
        ClientEvent::Disconnected(reason) => Event::Disconnected(reason),
        ClientEvent::Scrambling(protocol) => Event::Note(protocol.scrambling_text()),
        ClientEvent::Configstring(_)
        | ClientEvent::ProofRequired
        | ClientEvent::ServerCommand(_)
        | ClientEvent::Download(_)
        | ClientEvent::Print(_) => return None,
    })
}
