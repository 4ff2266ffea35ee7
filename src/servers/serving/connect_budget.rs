//! Priority of `connect` packets when more arrive than a frame decodes.
//!
//! The challenge that proves an address is inside the compressed text. Decoding is therefore the
//! first cost of a `connect` and comes before any proof.
//! [`LoadShedder`](super::load_shedding::LoadShedder) limits that cost per ms, for all
//! addresses together. While half of the budget is unused, every `connect` is decoded, also from 64
//! clients behind one address. The other half is for addresses that requested a challenge, each up
//! to [`CONNECTS`]. This table records those addresses.
//!
//! Invariants: the table has a fixed size and is read only after half of the budget is spent, so a
//! forged source uses up nothing of the address it names while the server keeps up. The table alone
//! rejects no `connect`: an address without priority competes for the first half.
//!
//! Residual risk: a sender that fills the first half (3 to 8 Mbit/s, for any content) and also
//! forges a client's address takes the priority of that client. The client then joins with one of
//! its retries, which compete for the first half. A sender that forges a challenge request before
//! each `connect`, from another address each time, needs more datagrams and fills both halves.
//! Clients in the game are not affected, since their datagrams are of another class.

use std::net::SocketAddr;

use crate::{
    limits::{AddressKey, AddressLimiter, BucketLimit},
    model::Millis,
};

/// Limit of the connects of one address that have priority.
const CONNECTS: BucketLimit = BucketLimit { burst: 10, period: Millis(1000) };

/// Addresses that requested a challenge, with the priority that each has left.
#[derive(Debug)]
pub(crate) struct ConnectBudget {
    requesters: AddressLimiter,
}

impl ConnectBudget {
    pub(crate) fn new(seed: u64) -> Self {
        Self { requesters: AddressLimiter::new(seed) }
    }

    /// Records that a challenge was sent to an address.
    pub(crate) fn record_challenge(&mut self, now: Millis, to: SocketAddr) {
        self.requesters.insert(now, AddressKey::host(to.ip()), CONNECTS);
    }

    /// Whether a `connect` of an address has priority, which is charged then.
    pub(crate) fn has_priority(&mut self, now: Millis, from: SocketAddr) -> bool {
        self.requesters.allows_known(now, AddressKey::host(from.ip()), CONNECTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_has_priority_after_challenge_request() {
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
