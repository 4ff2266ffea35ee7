//! Announcing to master servers: heartbeats, name lookups, and the questions of masters.
//!
//! ```text
//! frame ─ round due? ─ master ─┬ name unknown or a day old ─ lookup ─ answer
//!                              └ addresses known ─ heartbeat to each
//! ```
//!
//! Heartbeats leave from the game socket, because a master lists their source address. Only the addresses of
//! `sv_master1` to `sv_master5` receive any. Invariants: there is at most one lookup per master at a time;
//! a log line reports a change of a master's state, never a repetition.
//! Source: Quake III protocol 68, heartbeats; intervals as in ioquake3.
//! Engine names: `SV_MasterHeartbeat`, `SV_MasterShutdown`, `SV_Heartbeat_f`.

mod master;
#[cfg(test)]
mod tests;

use std::{collections::VecDeque, net::SocketAddr};

use self::master::Master;
use super::{
    client::{ServerRole, slot_count},
    local_ports,
};
use crate::{
    model::Millis,
    node::{LocalPort, Lookup, LookupAnswer, Route},
    observe::Counter,
    serving::connection::Connections,
    settings::{Key, Settings, Text, key},
    wire::connectionless::{CommandKind, HEARTBEAT_TAG, Message},
};

/// Port of masters whose setting names none.
const MASTER_PORT: u16 = 27950;
/// Interval of heartbeats.
const INTERVAL: Millis = Millis::seconds(300);
/// Minimum time between two rounds of heartbeats, e.g. when clients join and leave in turn.
const ROUNDS_APART: Millis = Millis::seconds(1);
/// Value of `dedicated` at which a server is announced.
const PUBLIC: i32 = 2;
/// Game name whose servers have a tag of their own.
const QUAKE3_ARENA: &str = "Quake3Arena";
/// Tag of the servers of other games.
const OTHER_GAMES_TAG: &str = "DarkPlaces";
/// Copies of the last heartbeat of a server that stops, after which a master finds no server.
const SHUTDOWN_COPIES: usize = 2;

/// Part of the slots that is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SlotUse {
    #[default]
    Empty,
    Some,
    Full,
}

impl SlotUse {
    fn of(clients: usize, slots: usize) -> Self {
        match clients {
            0 => Self::Empty,
            clients if clients >= slots => Self::Full,
            _ => Self::Some,
        }
    }

    /// Whether masters are told: the first client, the last free slot, the last client.
    fn is_announced_after(self, before: Self) -> bool {
        self != before && (before, self) != (Self::Full, Self::Some)
    }
}

/// Heartbeats of a server.
#[derive(Debug, Default)]
pub(super) struct Announcer {
    masters: [Master; 5],
    /// Time of the next round of heartbeats; 0 for the first.
    due: Millis,
    last_round: Option<Millis>,
    slot_use: SlotUse,
    lookups: VecDeque<Lookup>,
    /// Whether masters are told nothing and answered nothing, so that they drop the server.
    is_paused: bool,
}

impl Announcer {
    /// Schedules a round of heartbeats for the next frame.
    pub(super) fn request_round(&mut self) {
        self.due = Millis(0);
    }

    /// Tells masters that the server stops, and ignores them from now on.
    pub(super) fn pause(&mut self, connections: &mut Connections<'_, ServerRole>) {
        if !std::mem::replace(&mut self.is_paused, true) {
            self.announce_shutdown(connections);
        }
    }

    /// Announces the server again.
    pub(super) fn resume(&mut self) {
        self.is_paused = false;
        self.request_round();
    }

    /// Whether a datagram is of a master that is ignored.
    pub(super) fn ignores(&self, route: Route) -> bool {
        self.is_paused && self.is_master(route.remote)
    }

    /// Returns the next name to look up.
    pub(super) fn poll_lookup(&mut self) -> Option<Lookup> {
        self.lookups.pop_front()
    }

    /// Stores the answer to a lookup.
    pub(super) fn handle_lookup(&mut self, now: Millis, answer: &LookupAnswer) {
        for master in &mut self.masters {
            master.handle_lookup(now, answer);
        }
    }

    /// Whether a question is the probe of a master that is answered beyond the limits for other addresses.
    pub(super) fn take_probe(&mut self, now: Millis, from: SocketAddr, asked: CommandKind) -> bool {
        self.masters.iter_mut().any(|master| master.take_probe(now, from, asked))
    }

    /// Whether `from` is an address that receives heartbeats.
    pub(super) fn is_master(&self, from: SocketAddr) -> bool {
        self.masters.iter().any(|master| master.has_address(from))
    }

    /// Starts a round if one is due. Returns whether it did.
    fn begin_round(&mut self, now: Millis, settings: &Settings) {
        let is_soon = self.last_round.is_some_and(|last| now.since(last) < ROUNDS_APART);
        if now < self.due || is_soon {
            return;
        }
        self.last_round = Some(now);
        self.due = now + INTERVAL;
        for (master, name) in self.masters.iter_mut().zip(MASTERS.map(|key| settings.text(key))) {
            master.begin_round(name.trim());
        }
    }

    /// Queues the lookups that are due, and returns the addresses that are sent a heartbeat.
    fn step(&mut self, now: Millis, families: i32) -> Vec<SocketAddr> {
        let mut receivers = Vec::new();
        for master in &mut self.masters {
            self.lookups.extend(master.lookup_due(now));
            master.report_silence(now);
            for address in master.take_heartbeats(now, families) {
                // Two settings may name the same master.
                if !receivers.contains(&address) {
                    receivers.push(address);
                }
            }
        }
        receivers
    }

    /// Sends the heartbeats that are due.
    pub(super) fn announce(&mut self, connections: &mut Connections<'_, ServerRole>) {
        let (settings, now) = (connections.rates, connections.now);
        if !is_public(settings) || self.is_paused {
            return;
        }
        let slot_use = SlotUse::of(connections.slots.present().count(), slot_count(settings));
        let before = std::mem::replace(&mut self.slot_use, slot_use);
        if slot_use.is_announced_after(before) {
            self.request_round();
        }
        self.begin_round(now, settings);
        for address in self.step(now, settings.int(key::NET_ENABLED)) {
            send_heartbeat(connections, address);
        }
    }

    /// Tells masters that the server stops. They ask once more, and get no answer.
    pub(super) fn announce_shutdown(&self, connections: &mut Connections<'_, ServerRole>) {
        if !is_public(connections.rates) {
            return;
        }
        let addresses: Vec<_> = self.masters.iter().flat_map(Master::addresses_told).collect();
        for _ in 0..SHUTDOWN_COPIES {
            for &address in &addresses {
                send_heartbeat(connections, address);
            }
        }
    }

    /// Whether a datagram is the probe of a master. A master asks for everything at once, and delists a
    /// server that answers a part only.
    pub(super) fn takes_probe(
        &mut self,
        connections: &mut Connections<'_, ServerRole>,
        route: Route,
        datagram: &[u8],
    ) -> bool {
        if !self.is_master(route.remote) {
            return false;
        }
        let asked = match Message::parse(datagram) {
            Ok(message) => message.kind(),
            Err(_) => return false,
        };
        let is_probe = matches!(
            asked,
            CommandKind::GetInfo | CommandKind::GetStatus | CommandKind::GetChallenge
        ) && self.take_probe(connections.now, route.remote, asked);
        if is_probe {
            connections.stats.bump(Counter::MasterProbes);
        }
        is_probe
    }

    /// Lines about each address of a master of a server that is announced, for the operator.
    pub(super) fn shown(&self, settings: &Settings, now: Millis) -> Vec<String> {
        if !is_public(settings) {
            return Vec::new();
        }
        self.lines(now)
    }

    fn lines(&self, now: Millis) -> Vec<String> {
        self.masters.iter().flat_map(|master| master.lines(now)).collect()
    }
}

/// Settings that name masters.
const MASTERS: [Key<Text>; 5] =
    [key::SV_MASTER1, key::SV_MASTER2, key::SV_MASTER3, key::SV_MASTER4, key::SV_MASTER5];

/// Whether a server is announced to masters.
fn is_public(settings: &Settings) -> bool {
    settings.int(key::DEDICATED) == PUBLIC
}

/// Reason that no heartbeat can be requested.
pub(super) fn obstacle(settings: &Settings) -> Option<&'static str> {
    if !is_public(settings) {
        return Some("heartbeat: the server is private; start it with +set dedicated 2");
    }
    let has_master = MASTERS.iter().any(|&key| !settings.text(key).trim().is_empty());
    (!has_master).then_some("heartbeat: no master; set sv_master1 to a name or name:port")
}

fn send_heartbeat(connections: &mut Connections<'_, ServerRole>, remote: SocketAddr) {
    // Other game names are listed by masters that accept the tag of DarkPlaces.
    let is_quake3 = connections.rates.text(key::COM_GAMENAME) == QUAKE3_ARENA;
    let tag = if is_quake3 { HEARTBEAT_TAG } else { OTHER_GAMES_TAG };
    for port in 0..local_ports::count(connections.rates) {
        connections.answer(Route::new(LocalPort(port), remote), |out| {
            Message::Heartbeat(tag.into()).write(out);
        });
        connections.stats.bump(Counter::HeartbeatsSent);
    }
}
