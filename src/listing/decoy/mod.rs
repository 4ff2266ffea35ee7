//! Decoys: servers that exist only in discovery, for authors of browsers and masters.
//!
//! [`Decoys`] is one node with a port per decoy. Each answers queries and sends heartbeats as the real program
//! of its game does. Invariants: an answer is built once, at start; a datagram costs one copy of it; nothing is
//! stored per peer; only the game's own requests are answered.

mod answers;
mod description;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use crate::{
    discovery::{Family, HEARTBEAT_INTERVAL, quake4, quakeworld},
    model::Millis,
    node::{Hosted, Input, LocalPort, Node, Outbox, Output, OutputKind, Route},
    wire::connectionless::Message,
};

use answers::Answers;
pub use description::{Decoy, DecoyFile, DecoyPlayer, MAX_DECOYS, generate};

/// Decoys that send their first heartbeats per millisecond.
const HEARTBEATS_PER_MS: u64 = 2;

/// Node of all decoys of a process.
#[derive(Debug)]
pub struct Decoys {
    decoys: Vec<Decoy>,
    answers: Vec<Answers>,
    masters: Vec<SocketAddr>,
    /// Start of the current round of heartbeats.
    round_began: Millis,
    /// Number of the round, from 1.
    round: u32,
    /// Decoy whose heartbeat is next.
    next_heartbeat: usize,
    /// Number of the next challenge.
    challenge: i32,
    queries: u64,
    finished: bool,
    outbox: Outbox,
}

impl Decoys {
    /// Creates the node. Heartbeats to `masters` begin at `now`; without masters there are none.
    #[must_use]
    pub fn new(mut decoys: Vec<Decoy>, masters: Vec<SocketAddr>, now: Millis) -> Self {
        decoys.truncate(MAX_DECOYS);
        Self {
            answers: decoys.iter().map(Answers::new).collect(),
            decoys,
            masters,
            round_began: now,
            round: 1,
            next_heartbeat: 0,
            challenge: 1_000_000,
            queries: 0,
            finished: false,
            outbox: Outbox::default(),
        }
    }

    /// Returns the decoys, by local port.
    #[must_use]
    pub fn decoys(&self) -> &[Decoy] {
        &self.decoys
    }

    /// Returns the number of answered queries.
    #[must_use]
    pub const fn queries(&self) -> u64 {
        self.queries
    }

    /// Returns the time of the next heartbeat.
    fn next_heartbeat(&self) -> Millis {
        if self.masters.is_empty() || self.decoys.is_empty() {
            return Millis::NEVER;
        }
        if self.next_heartbeat == self.decoys.len() {
            return self.round_began + HEARTBEAT_INTERVAL;
        }
        self.round_began + Millis(self.next_heartbeat as u64 / HEARTBEATS_PER_MS)
    }

    /// Queues a datagram of decoy `number` to every master.
    fn tell_masters(&mut self, number: usize, write: impl Fn(&mut Vec<u8>)) {
        let Ok(local) = u16::try_from(number) else { return };
        for &remote in &self.masters {
            self.outbox.push_with(Route::new(LocalPort(local), remote), &write);
        }
    }

    fn send_heartbeat(&mut self, number: usize) {
        let (game, round) = (self.decoys[number].game, self.round);
        let players = u32::try_from(self.decoys[number].players.len()).unwrap_or(0);
        self.tell_masters(number, |out| match game.family {
            Family::Quake3 => Message::Heartbeat(game.heartbeat.into()).write(out),
            Family::Quake4 => quake4::Packet::Heartbeat.write(out),
            Family::QuakeWorld => {
                quakeworld::Packet::Heartbeat { number: round, players }.write(out);
            }
        });
    }

    /// Queues the last datagrams of every decoy.
    fn send_last_datagrams(&mut self) {
        for number in 0..self.decoys.len() {
            let game = self.decoys[number].game;
            match (game.family, game.flatline) {
                (Family::Quake3, Some(tag)) => {
                    self.tell_masters(number, |out| Message::Heartbeat(tag.into()).write(out));
                }
                // Quake III has no word for it: servers send two heartbeats.
                (Family::Quake3, None) => {
                    self.send_heartbeat(number);
                    self.send_heartbeat(number);
                }
                (Family::QuakeWorld, _) => {
                    self.tell_masters(number, |out| quakeworld::Packet::Shutdown.write(out));
                }
                (Family::Quake4, _) => {}
            }
        }
    }
}

impl Node for Decoys {
    fn handle_datagram(&mut self, _: Millis, route: Route, bytes: &[u8]) {
        let Some(answers) = self.answers.get(usize::from(route.local.0)) else { return };
        if self.finished {
            return;
        }
        let challenge = self.challenge;
        let written = self.outbox.push_with(route, |out| answers.write(bytes, challenge, out));
        if written > 0 {
            self.queries += 1;
            self.challenge = self.challenge.wrapping_add(1);
        }
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        if self.finished {
            return;
        }
        while self.next_heartbeat() <= now {
            if self.next_heartbeat == self.decoys.len() {
                self.round_began = now;
                self.round += 1;
                self.next_heartbeat = 0;
            }
            self.send_heartbeat(self.next_heartbeat);
            self.next_heartbeat += 1;
        }
    }

    fn next_frame(&self) -> Millis {
        if self.finished { Millis::NEVER } else { self.next_heartbeat() }
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Hosted for Decoys {
    fn handle_input(&mut self, _: Millis, input: Input<'_>) {
        if matches!(input, Input::Stop(_)) && !self.finished {
            self.send_last_datagrams();
            self.finished = true;
        }
    }

    fn poll_output(&mut self, _: OutputKind) -> Option<Output> {
        None
    }

    fn local_ports(&self) -> u16 {
        u16::try_from(self.decoys.len()).unwrap_or(u16::MAX)
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }
}
