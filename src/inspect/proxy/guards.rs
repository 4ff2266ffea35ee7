//! Limits of requests from unproven addresses.
//!
//! A challenge request cannot be answered without the server, because its challenge is part of the connection's
//! keys. Each request may therefore open a port, and forged sources are limited in total and by address.
//! Invariant: the tables have a fixed size.

use std::net::SocketAddr;

use crate::{
    limits::{
        AddressKey, AddressLimiter, BucketLimit, QueryLimiter, QueryLimits, QueryShare,
        ReturningSenders, SharedRequests,
    },
    model::Millis,
};

/// Challenge requests, connects and rcon packets of one address.
const REQUESTS: BucketLimit = BucketLimit { burst: 20, period: Millis(500) };
/// Period of the own share of a port that asks again: clients repeat their requests after three seconds. Requests that
/// name the address with other ports do not spend it.
const REPEAT: Millis = Millis::seconds(2);
/// Sessions opened by all addresses. Half of them are for addresses that ask again: clients repeat their request after
/// three seconds. Without session addresses, the server counts all of them as one host, and answers a hundred challenge
/// requests of a host per second.
const OPENINGS: BucketLimit = BucketLimit { burst: 100, period: Millis(20) };
/// Limits of queries.
const QUERIES: QueryLimits = QueryLimits {
    each: BucketLimit { burst: 10, period: Millis(500) },
    all: BucketLimit { burst: 200, period: Millis(5) },
    bytes_per_second: 65_536,
};
/// Refusals to one address.
const REFUSALS: BucketLimit = BucketLimit { burst: 3, period: Millis(1000) };
/// Refusals to all addresses.
const REFUSALS_GLOBAL: BucketLimit = BucketLimit { burst: 20, period: Millis(50) };

/// Silence after which an address counts as new.
const SENDER_LIFE: Millis = Millis::seconds(600);

/// All limits.
#[derive(Debug)]
pub(super) struct Guards {
    requests: AddressLimiter,
    repeats: ReturningSenders,
    openings: SharedRequests,
    queries: QueryLimiter,
    refusals: AddressLimiter,
    refusals_global: SharedRequests,
}

impl Guards {
    /// Creates the limits. `seed` prevents senders from choosing addresses that collide.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            requests: AddressLimiter::new(seed),
            repeats: ReturningSenders::new(seed ^ 5, SENDER_LIFE),
            openings: SharedRequests::new(seed ^ 3, SENDER_LIFE),
            queries: QueryLimiter::new(seed ^ 1),
            refusals: AddressLimiter::new(seed ^ 2),
            refusals_global: SharedRequests::new(seed ^ 4, SENDER_LIFE),
        }
    }

    /// Whether a challenge request, connect or rcon packet is passed on.
    pub(super) fn allows_request(&mut self, now: Millis, from: SocketAddr) -> bool {
        let is_due = self.repeats.admits(now, from, REPEAT, || true);
        is_due || self.requests.allows(now, AddressKey::host(from.ip()), REQUESTS)
    }

    /// Whether one more session may be opened.
    pub(super) fn allows_opening(&mut self, now: Millis, from: SocketAddr) -> bool {
        self.openings.allows(now, AddressKey::host(from.ip()), OPENINGS)
    }

    /// Share that the answer to a query is charged to; `None` if it is dropped.
    pub(super) fn admit_query(&mut self, now: Millis, from: SocketAddr) -> Option<QueryShare> {
        self.queries.admit(QUERIES, now, from, false)
    }

    /// Charges a query response of `bytes`.
    pub(super) fn charge_answer(&mut self, share: QueryShare, bytes: usize) {
        self.queries.charge(QUERIES, share, bytes);
    }

    /// Whether the reason of a refusal is sent.
    pub(super) fn allows_refusal(&mut self, now: Millis, from: SocketAddr) -> bool {
        let host = AddressKey::host(from.ip());
        self.refusals.allows(now, host, REFUSALS)
            && self.refusals_global.allows(now, host, REFUSALS_GLOBAL)
    }
}
