//! Guards of a server: load shedding, rate limits, challenges and connect backoff.
//!
//! ```text
//! datagram ── load shedding ──┬ query, getchallenge: rate limits
//!                             └ connect: priority, challenge, admissions, backoff
//! ```
//!
//! Invariant: the memory of every guard is bounded, for any source addresses.

use std::net::SocketAddr;

use super::{
    challenge::{Age, Challenges},
    connect_backoff::ConnectBackoff,
    connect_budget::ConnectBudget,
    load_shedding::{LoadShedder, TrafficClass, decode_cost},
    scrambling::UnscrambledClients,
};
use crate::{
    limits::{QueryLimiter, RequestLimits},
    model::{Challenge, Millis},
};

/// Keys of the guards, from the operating system's random source.
pub(crate) struct GuardKeys {
    /// Key of the challenges.
    pub(crate) challenges: [u8; 16],
    /// Seed of the address tables of rate limits.
    pub(crate) limits: u64,
}

/// Properties of a requested challenge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChallengeRequest {
    /// Whether the challenge tells its time, so that the ping is measured.
    pub(crate) is_timed: bool,
    /// Whether a master probes the server. Probes have no rate limit.
    pub(crate) is_probe: bool,
}

/// All guards.
#[derive(Debug)]
pub(crate) struct Guards {
    challenges: Challenges,
    requests: RequestLimits,
    connect_budget: ConnectBudget,
    backoff: ConnectBackoff,
    shedder: LoadShedder,
    pub(crate) unscrambled: UnscrambledClients,
}

impl Guards {
    pub(crate) fn new(keys: GuardKeys) -> Self {
        Self {
            challenges: Challenges::new(keys.challenges),
            requests: RequestLimits::new(keys.limits),
            connect_budget: ConnectBudget::new(keys.limits ^ 3),
            backoff: ConnectBackoff::default(),
            shedder: LoadShedder::new(keys.limits ^ 6),
            unscrambled: UnscrambledClients::default(),
        }
    }

    /// Sets the length of a frame, and returns whether datagrams were shed since the last call.
    pub(crate) fn begin_frame(&mut self, length: Millis) -> bool {
        self.shedder.set_length(length);
        self.shedder.take_shed()
    }

    /// Whether a datagram is processed; its cost is charged then. If not, it is shed.
    pub(crate) fn admits(
        &mut self,
        now: Millis,
        class: TrafficClass,
        from: SocketAddr,
        datagram: &[u8],
    ) -> bool {
        let Self { shedder, connect_budget, .. } = self;
        match decode_cost(datagram) {
            Some(cost) => shedder.admits_connect(now, from, datagram.len(), cost, || {
                connect_budget.has_priority(now, from)
            }),
            None => shedder.admits(now, class, from, datagram.len()),
        }
    }

    /// Limits of queries.
    pub(crate) fn queries(&mut self) -> &mut QueryLimiter {
        self.requests.queries()
    }

    /// Whether the reason of a rejection is sent.
    pub(crate) fn allows_rejection(&mut self, now: Millis, from: SocketAddr) -> bool {
        self.requests.allows_rejection(now, from)
    }

    /// Issues a challenge. `None`: rate limited.
    pub(crate) fn issue_challenge(
        &mut self,
        now: Millis,
        to: SocketAddr,
        request: ChallengeRequest,
        is_used: impl Fn(Challenge) -> bool,
    ) -> Option<Challenge> {
        if !request.is_probe && !self.requests.allows_challenge(now, to) {
            return None;
        }
        self.connect_budget.record_challenge(now, to);
        Some(if request.is_timed {
            self.challenges.make_timed(now, to)
        } else {
            self.challenges.make(now, to, is_used)
        })
    }

    /// Age of a challenge that an address returns; `None` if it is not valid.
    pub(crate) fn check_challenge(
        &self,
        now: Millis,
        from: SocketAddr,
        challenge: Challenge,
        is_timed: bool,
    ) -> Option<Age> {
        if is_timed {
            self.challenges.check_timed(now, from, challenge)
        } else {
            self.challenges.check(now, from, challenge)
        }
    }

    /// Whether an address may connect now. `most`: clients that one address may have at a time.
    pub(crate) fn allows_admission(&mut self, now: Millis, from: SocketAddr, most: u32) -> bool {
        self.backoff.remaining(now, from) == Millis(0)
            && self.requests.allows_admission(now, from, most)
    }

    /// Lengthens the connect backoff of an address whose client never sent a message.
    pub(crate) fn record_silent_client(&mut self, now: Millis, from: SocketAddr) {
        self.backoff.record_silent_client(now, from);
    }

    /// Ends the connect backoff of an address, whose client entered the game.
    pub(crate) fn reset_backoff(&mut self, from: SocketAddr) {
        self.backoff.reset(from);
    }
}
