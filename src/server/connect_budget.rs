//! Priority of `connect` packets while more of them arrive than a frame decodes.
//!
//! The challenge that proves an address lies inside the compressed text, so decoding is the first cost
//! of a `connect` and comes before any proof. [`LoadShedder`](super::load_shedding::LoadShedder) bounds that cost for
//! each millisecond of a frame, for all addresses together. While half of it is unused, every `connect`
//! is decoded, also from 64 clients behind one address. The other half is for addresses that have asked
//! for a challenge, each up to [`CONNECTS`]; this table decides which those are.
//!
//! Invariants: the table has a fixed size and is asked only after half of the work is spent, so a forged
//! source uses up nothing of the address it names while the server keeps up. No `connect` is refused by
//! this table alone: an address without priority competes for the first half.
//!
//! Residual risk: a sender that fills the first half (3 to 8 Mbit/s, whatever the content) and also
//! forges a client's address takes that client's priority. The client then gets in with one of its
//! retries, which share the first half with the flood. A sender that forges a request for a challenge
//! before each `connect`, from another address each time, needs more datagrams and fills both halves.
//! Clients in the game are not affected: their datagrams are another class.

use std::net::SocketAddr;

use super::rate_limiter::{AddressLimiter, BucketLimit};
use crate::model::Millis;

/// Connects of one address that have priority.
const CONNECTS: BucketLimit = BucketLimit { burst: 10, period: Millis(1000) };

/// Addresses that have asked for a challenge, and the priority left to each.
#[derive(Debug)]
pub(super) struct ConnectBudget {
    askers: AddressLimiter,
}

impl ConnectBudget {
    pub(super) fn new(seed: u64) -> Self {
        Self { askers: AddressLimiter::new(seed) }
    }

    /// Records that an address was sent a challenge.
    pub(super) fn record_challenge(&mut self, now: Millis, to: SocketAddr) {
        self.askers.insert(now, to, CONNECTS);
    }

    /// Whether a `connect` from an address has priority; uses up one of its allowance.
    pub(super) fn has_priority(&mut self, now: Millis, from: SocketAddr) -> bool {
        self.askers.allows_known(now, from, CONNECTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_that_asked_for_a_challenge_has_priority() {
        let mut budget = ConnectBudget::new(5);
        let (client, forged) = ("192.0.2.1:27960", "192.0.2.2:27960");
        let [client, forged]: [SocketAddr; 2] = [client, forged].map(|from| from.parse().unwrap());
        budget.record_challenge(Millis(100), client);
        let mut of = |now, from| (0..30).filter(|_| budget.has_priority(now, from)).count();
        assert_eq!(of(Millis(200), forged), 0);
        assert_eq!(of(Millis(200), client), 10);
        assert_eq!(of(Millis(3250), client), 3);
        // Another request for a challenge gives nothing back.
        budget.record_challenge(Millis(3260), client);
        assert!(!budget.has_priority(Millis(3260), client));
    }
}
