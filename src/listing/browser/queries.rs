//! Requests to servers: bounded in number, each with a challenge, a timeout and retries.
//!
//! Invariants: at most `outstanding` servers are asked and unanswered; an answer counts only with the
//! address, family and challenge of a request that is still open; a server is given up after its last retry.

use std::{collections::VecDeque, net::SocketAddr};

use rand_pcg::{
    Pcg64Mcg,
    rand_core::{Rng as _, SeedableRng as _},
};

use crate::{
    discovery::Family,
    model::Millis,
    node::{LocalPort, Outbox, Route},
};

use super::{
    packets::{Reply, write_query},
    server::ServerState,
    table::{ServerIndex, ServerTable},
};

/// Maximum number of requests to one server in a round.
pub const MAX_ATTEMPTS: usize = 4;

/// Packet that a server is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueryKind {
    /// State of the server.
    Info,
    /// State and players.
    Status,
}

/// Server that is asked.
#[derive(Clone, Debug)]
struct Pending {
    server: ServerIndex,
    address: SocketAddr,
    family: Family,
    kind: QueryKind,
    /// Challenge and time of each attempt.
    attempts: Vec<(u32, Millis)>,
    due: Millis,
}

/// Limits of the requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryLimits {
    pub(super) outstanding: usize,
    pub(super) timeout: Millis,
    pub(super) attempts: usize,
    pub(super) players: bool,
}

/// Requests to servers.
#[derive(Debug)]
pub(super) struct Queries {
    limits: QueryLimits,
    challenges: Pcg64Mcg,
    waiting: VecDeque<(ServerIndex, QueryKind)>,
    pending: Vec<Pending>,
}

impl Queries {
    pub(super) fn new(limits: QueryLimits, seed: u64) -> Self {
        Self {
            limits,
            challenges: Pcg64Mcg::seed_from_u64(seed),
            waiting: VecDeque::new(),
            pending: Vec::new(),
        }
    }

    /// Drops every request.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.pending.clear();
    }

    /// Number of servers to ask and number of servers asked.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.waiting.len(), self.pending.len())
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.pending.is_empty()
    }

    /// Returns a new challenge.
    pub(super) fn challenge(&mut self) -> u32 {
        self.challenges.next_u32()
    }

    /// Enqueues a server.
    pub(super) fn push(&mut self, server: ServerIndex) {
        self.waiting.push_back((server, QueryKind::Info));
    }

    /// Enqueues the request for a server's players, if they are wanted and were not in the answer.
    pub(super) fn push_status(&mut self, server: ServerIndex, family: Family) {
        // The other families answer with their players at once.
        if self.limits.players && family == Family::Quake3 {
            self.waiting.push_front((server, QueryKind::Status));
        }
    }

    /// Asks further servers while requests are free.
    pub(super) fn fill(&mut self, now: Millis, table: &mut ServerTable, outbox: &mut Outbox) {
        while self.pending.len() < self.limits.outstanding {
            let Some((index, kind)) = self.waiting.pop_front() else { return };
            let server = table.get_mut(index);
            if kind == QueryKind::Info {
                server.state = ServerState::Asked;
            }
            let mut pending = Pending {
                server: index,
                address: server.address,
                family: server.game.family,
                kind,
                attempts: Vec::new(),
                due: now,
            };
            self.send(now, &mut pending, outbox);
            self.pending.push(pending);
        }
    }

    fn send(&mut self, now: Millis, pending: &mut Pending, outbox: &mut Outbox) {
        let challenge = self.challenges.next_u32();
        let route = Route::new(LocalPort(0), pending.address);
        outbox.push_with(route, |out| write_query(pending.family, pending.kind, challenge, out));
        pending.attempts.push((challenge, now));
        pending.due = now + self.limits.timeout;
    }

    /// Repeats requests without an answer in time, and gives up after the last.
    pub(super) fn frame(&mut self, now: Millis, table: &mut ServerTable, outbox: &mut Outbox) {
        let mut at = 0;
        while at < self.pending.len() {
            if self.pending[at].due > now {
                at += 1;
            } else if self.pending[at].attempts.len() < self.limits.attempts {
                let mut pending = self.pending[at].clone();
                self.send(now, &mut pending, outbox);
                self.pending[at] = pending;
                at += 1;
            } else {
                let pending = self.pending.swap_remove(at);
                if pending.kind == QueryKind::Info {
                    table.get_mut(pending.server).state = ServerState::Silent;
                }
            }
        }
    }

    /// Ends the request that `reply` answers. Returns the server and the round-trip time.
    pub(super) fn take_answered(
        &mut self,
        now: Millis,
        from: SocketAddr,
        reply: &Reply<'_>,
    ) -> Option<(ServerIndex, Millis)> {
        let answers = |pending: &Pending| {
            (pending.address, pending.family, pending.kind) == (from, reply.family(), reply.kind())
        };
        let at = self.pending.iter().position(answers)?;
        let attempts = &self.pending[at].attempts;
        let (_, asked) = match reply.challenge() {
            Some(echoed) => attempts.iter().find(|(challenge, _)| *challenge == echoed)?,
            // QuakeWorld has no challenge. The last attempt is the likely one.
            None if reply.family() == Family::QuakeWorld => attempts.last()?,
            None => return None,
        };
        let round_trip = now.since(*asked);
        Some((self.pending.swap_remove(at).server, round_trip))
    }

    /// Returns the due time of the next [`Self::frame`].
    pub(super) fn next_frame(&self) -> Millis {
        if !self.waiting.is_empty() && self.pending.len() < self.limits.outstanding {
            return Millis(0);
        }
        self.pending.iter().map(|pending| pending.due).min().unwrap_or(Millis::NEVER)
    }
}
