//! Limits of requests from unproven addresses.
//!
//! A challenge request cannot be answered without the server, because its challenge is part of the connection's
//! keys. Each request may therefore open a port, and forged sources are limited in total and by address.
//! Invariant: the tables have a fixed size.

use std::net::SocketAddr;

use crate::{
    limits::{AddressLimiter, Bucket, BucketLimit, ByteBudget},
    model::Millis,
};

/// Challenge requests, connects and rcon packets of one address.
const REQUESTS: BucketLimit = BucketLimit { burst: 20, period: Millis(500) };
/// Sessions opened by all addresses.
const OPENINGS: BucketLimit = BucketLimit { burst: 200, period: Millis(10) };
/// Queries of one address.
const QUERIES: BucketLimit = BucketLimit { burst: 10, period: Millis(500) };
/// Queries of all addresses.
const QUERIES_GLOBAL: BucketLimit = BucketLimit { burst: 200, period: Millis(5) };
/// Bytes of query responses per second, to all addresses.
const QUERY_BYTES_PER_SECOND: u64 = 65_536;
/// Refusals to one address.
const REFUSALS: BucketLimit = BucketLimit { burst: 3, period: Millis(1000) };
/// Refusals to all addresses.
const REFUSALS_GLOBAL: BucketLimit = BucketLimit { burst: 20, period: Millis(50) };

/// All limits.
#[derive(Debug)]
pub(super) struct Guards {
    requests: AddressLimiter,
    openings: Bucket,
    queries: AddressLimiter,
    queries_global: Bucket,
    query_bytes: ByteBudget,
    refusals: AddressLimiter,
    refusals_global: Bucket,
}

impl Guards {
    /// Creates the limits. `seed` prevents senders from choosing addresses that collide.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            requests: AddressLimiter::new(seed),
            openings: Bucket::default(),
            queries: AddressLimiter::new(seed ^ 1),
            queries_global: Bucket::default(),
            query_bytes: ByteBudget::default(),
            refusals: AddressLimiter::new(seed ^ 2),
            refusals_global: Bucket::default(),
        }
    }

    /// Whether a challenge request, connect or rcon packet is passed on.
    pub(super) fn allows_request(&mut self, now: Millis, from: SocketAddr) -> bool {
        self.requests.allows(now, from, REQUESTS)
    }

    /// Whether one more session may be opened.
    pub(super) fn allows_opening(&mut self, now: Millis) -> bool {
        self.openings.allows(now, OPENINGS)
    }

    /// Whether a query is answered.
    pub(super) fn allows_query(&mut self, now: Millis, from: SocketAddr) -> bool {
        self.query_bytes.has_room(now, QUERY_BYTES_PER_SECOND)
            && self.queries.allows(now, from, QUERIES)
            && self.queries_global.allows(now, QUERIES_GLOBAL)
    }

    /// Charges a query response of `bytes`.
    pub(super) fn charge_answer(&mut self, bytes: usize) {
        self.query_bytes.add(bytes);
    }

    /// Whether the reason of a refusal is sent.
    pub(super) fn allows_refusal(&mut self, now: Millis, from: SocketAddr) -> bool {
        self.refusals.allows(now, from, REFUSALS)
            && self.refusals_global.allows(now, REFUSALS_GLOBAL)
    }
}
