//! Scan of the local network: one request to every broadcast address, the whole set twice.
//!
//! Invariant: an answer counts only during the scan, with a challenge of the scan.
//! Source: the game's LAN scan, which also sends its set twice.

use crate::{
    discovery::{Family, Game},
    model::Millis,
    node::{LocalPort, Outbox, Route},
};
use std::net::SocketAddr;

use super::{
    packets::{Reply, write_query},
    queries::{Queries, QueryKind},
};

/// Time between the two sets.
const REPEAT: Millis = Millis(250);
/// Length of a scan. Servers of a local network answer within it.
const SCAN: Millis = Millis(1000);

/// Scan of the local network.
#[derive(Debug)]
pub(super) struct LanScan {
    targets: Vec<(&'static Game, SocketAddr)>,
    start: Millis,
    /// Challenge and time of each set.
    sets: Vec<(u32, Millis)>,
    done: bool,
}

impl LanScan {
    pub(super) fn new(targets: Vec<(&'static Game, SocketAddr)>) -> Self {
        Self { done: targets.is_empty(), targets, start: Millis(0), sets: Vec::new() }
    }

    pub(super) fn begin_round(&mut self, now: Millis) {
        self.start = now;
        self.sets.clear();
        self.done = self.targets.is_empty();
    }

    pub(super) const fn is_done(&self) -> bool {
        self.done
    }

    /// Sends the set that is due.
    pub(super) fn frame(&mut self, now: Millis, queries: &mut Queries, outbox: &mut Outbox) {
        if self.done || now < self.next_frame() {
            return;
        }
        if self.sets.len() == 2 {
            self.done = true;
            return;
        }
        let challenge = queries.challenge();
        for (game, remote) in &self.targets {
            let route = Route::new(LocalPort(0), *remote);
            let kind = QueryKind::Info;
            outbox.push_with(route, |out| write_query(game.family, kind, challenge, out));
        }
        self.sets.push((challenge, now));
    }

    /// Returns the due time of the next [`Self::frame`].
    pub(super) fn next_frame(&self) -> Millis {
        match self.sets.len() {
            _ if self.done => Millis::NEVER,
            0 => self.start,
            1 => self.start + REPEAT,
            _ => self.start + SCAN,
        }
    }

    /// Returns the game and the round-trip time of an answer to the scan.
    pub(super) fn answered(
        &self,
        now: Millis,
        reply: &Reply<'_>,
    ) -> Option<(&'static Game, Millis)> {
        if self.done || reply.kind() != QueryKind::Info {
            return None;
        }
        let (game, _) = self.targets.iter().find(|(game, _)| game.family == reply.family())?;
        let (_, asked) = match reply.challenge() {
            Some(echoed) => self.sets.iter().find(|(challenge, _)| *challenge == echoed)?,
            None if reply.family() == Family::QuakeWorld => self.sets.last()?,
            None => return None,
        };
        Some((game, now.since(*asked)))
    }
}
