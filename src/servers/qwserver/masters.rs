//! Heartbeats to masters.
//!
//! Source: QuakeWorld protocol 28, traffic between server and master.

use std::{collections::VecDeque, net::SocketAddr};

use super::QwServer;
use crate::{
    discovery::quakeworld::Packet,
    model::Millis,
    node::{LocalPort, Lookup, LookupAnswer, Route},
};

/// Maximum number of masters.
pub(super) const MAX_MASTERS: usize = 8;
/// Time between two heartbeats.
const INTERVAL: Millis = Millis::seconds(300);
/// Port of masters.
const PORT: u16 = 27000;

/// A master.
#[derive(Debug)]
struct Master {
    lookup: Lookup,
    address: Option<SocketAddr>,
}

/// Masters that the server announces itself to.
#[derive(Debug, Default)]
pub(super) struct Masters {
    all: Vec<Master>,
    lookups: VecDeque<Lookup>,
    next: Option<Millis>,
    sent: u32,
    /// Whether masters are told nothing, since the server drains.
    is_paused: bool,
}

impl Masters {
    /// Replaces the masters.
    pub(super) fn set(&mut self, names: &[String], now: Millis) {
        let lookup = |name: &String| Lookup { name: name.clone(), default_port: PORT };
        let all = names.iter().take(MAX_MASTERS).map(lookup);
        self.all = all.map(|lookup| Master { lookup, address: None }).collect();
        self.next = None;
        self.beat(now);
    }

    /// Sends a heartbeat as soon as the addresses are known.
    pub(super) fn beat(&mut self, now: Millis) {
        // Addresses of masters change; they are looked up before each heartbeat.
        self.lookups = self.all.iter().map(|master| master.lookup.clone()).collect();
        self.next = (!self.all.is_empty()).then_some(now + Millis(1000));
    }

    /// Next name to look up.
    pub(super) fn poll_lookup(&mut self) -> Option<Lookup> {
        self.lookups.pop_front()
    }

    /// Whether an address is that of a master.
    pub(super) fn is_master(&self, address: SocketAddr) -> bool {
        !self.is_paused && self.all.iter().any(|master| master.address == Some(address))
    }

    /// Names with their addresses.
    pub(super) fn list(&self) -> impl Iterator<Item = (&str, Option<SocketAddr>)> {
        self.all.iter().map(|master| (master.lookup.name.as_str(), master.address))
    }
}

/// Takes the address of a master.
pub(super) fn take_lookup(server: &mut QwServer, now: Millis, answer: &LookupAnswer) {
    for master in server.masters.all.iter_mut().filter(|master| master.lookup == answer.lookup) {
        match &answer.found {
            Ok(found) => {
                master.address =
                    found.iter().copied().find(SocketAddr::is_ipv4).or(found.first().copied());
            }
            Err(error) => log::warn!("master {} not found: {error}", master.lookup.name),
        }
    }
    if server.masters.sent == 0 && server.masters.all.iter().all(|master| master.address.is_some())
    {
        server.masters.next = Some(now);
        send_heartbeats(server, now);
    }
}

/// Sends heartbeats that are due.
pub(super) fn send_heartbeats(server: &mut QwServer, now: Millis) {
    if server.masters.is_paused || server.masters.next.is_none_or(|next| now < next) {
        return;
    }
    server.masters.sent = server.masters.sent.saturating_add(1);
    let (players, spectators) = server.population();
    let players = (players + spectators) as u32;
    let packet = Packet::Heartbeat { number: server.masters.sent, players };
    tell_masters(server, &packet);
    server.masters.beat(now);
    server.masters.next = Some(now + INTERVAL);
}

/// Tells the masters that the server ends.
pub(super) fn leave_masters(server: &mut QwServer) {
    if !server.masters.is_paused {
        tell_masters(server, &Packet::Shutdown);
    }
}

/// Tells the masters that the server ends, and nothing from then on.
pub(super) fn pause(server: &mut QwServer) {
    leave_masters(server);
    server.masters.is_paused = true;
}

/// Announces the server to its masters again.
pub(super) fn resume(server: &mut QwServer, now: Millis) {
    server.masters.is_paused = false;
    server.masters.beat(now);
}

fn tell_masters(server: &mut QwServer, packet: &Packet<'_>) {
    for address in server.masters.all.iter().filter_map(|master| master.address) {
        server.outbox.push_with(Route::new(LocalPort(0), address), |out| packet.write(out));
    }
}
