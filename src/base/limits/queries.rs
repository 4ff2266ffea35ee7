//! Limits of queries: per host, and for all hosts together in answers and in bytes.
//!
//! A forger who names a host with other ports leaves a share to ports that ask again ([`HostLimiter`]).
//! Half of the answers and bytes for all hosts is for hosts that ask again ([`SharedBudget`]). Hosts with a connected client
//! have a share of their own, so a flood does not hide a server from them.

use std::net::SocketAddr;

use super::{
    AddressKey, Bucket, BucketLimit, BudgetLimit, Half, HostLimiter, ReturningSenders, SharedBudget,
};
use crate::model::Millis;

/// Burst of the bytes, in seconds of their rate.
const BURST_SECONDS: u64 = 3;
/// Silence after which a host counts as new. Browsers refresh their list within minutes.
const SENDER_LIFE: Millis = Millis::seconds(3600);

/// Limits of answers to queries.
#[derive(Clone, Copy, Debug)]
pub struct QueryLimits {
    /// Queries of one host.
    pub each: BucketLimit,
    /// Queries of all hosts.
    pub all: BucketLimit,
    /// Bytes per second to hosts without a client.
    pub bytes_per_second: u64,
}

/// Halves of the budgets that an answer takes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryShare(Option<Half>);

impl QueryShare {
    /// Share of an answer that is not charged.
    pub const FREE: Self = Self(None);
}

/// Queries of all hosts.
#[derive(Debug)]
pub struct QueryLimiter {
    each: HostLimiter,
    senders: ReturningSenders,
    answers: SharedBudget,
    bytes: SharedBudget,
    of_clients: Bucket,
}

impl QueryLimiter {
    /// Creates unspent limits. `seed` must be secret.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            each: HostLimiter::new(seed),
            senders: ReturningSenders::new(seed ^ 0x51, SENDER_LIFE),
            answers: SharedBudget::default(),
            bytes: SharedBudget::default(),
            of_clients: Bucket::default(),
        }
    }

    /// Decides about a query; `None` if it is dropped. `is_client`: the host has a connected client.
    pub fn admit(
        &mut self,
        limits: QueryLimits,
        now: Millis,
        from: SocketAddr,
        is_client: bool,
    ) -> Option<QueryShare> {
        let host = AddressKey::host(from.ip());
        let QueryLimits { each, all, bytes_per_second } = limits;
        if is_client {
            let allowed =
                self.each.allows(now, from, host, each) && self.of_clients.allows(now, all);
            return allowed.then_some(QueryShare::FREE);
        }
        let returns = self.senders.is_returning(now, host);
        let bytes = BudgetLimit::bytes(bytes_per_second, BURST_SECONDS);
        let answers = BudgetLimit::requests(all);
        let half = self.bytes.room(now, returns, bytes)?;
        let of_answers = self.answers.room(now, returns, answers)?;
        if !self.each.allows(now, from, host, each) {
            return None;
        }
        self.answers.charge(of_answers, 1, answers);
        Some(QueryShare(Some(half)))
    }

    /// Charges an answer of `len` bytes.
    pub fn charge(&mut self, limits: QueryLimits, share: QueryShare, len: usize) {
        let bytes = BudgetLimit::bytes(limits.bytes_per_second, BURST_SECONDS);
        if let QueryShare(Some(half)) = share {
            self.bytes.charge(half, len, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: QueryLimits = QueryLimits {
        each: BucketLimit { burst: 10, period: Millis(1000) },
        all: BucketLimit { burst: 100, period: Millis(10) },
        bytes_per_second: 25_000,
    };

    fn source(number: u32) -> SocketAddr {
        (std::net::Ipv4Addr::from_bits(0x1400_0000 | number), 27_960).into()
    }

    #[test]
    fn c38_browser_that_asks_again_is_answered_in_flood() {
        let mut limiter = QueryLimiter::new(1);
        let (mut sent, mut answered) = (0, Vec::new());
        let browser: SocketAddr = ([192, 0, 2, 7], 5).into();
        for number in 0..30_000 {
            let now = Millis(u64::from(number));
            if let Some(share) = limiter.admit(LIMITS, now, source(number), false) {
                limiter.charge(LIMITS, share, 700);
                sent += 700;
            }
            if number >= 10_000 && number % 3000 == 0 {
                let share = limiter.admit(LIMITS, now, browser, false);
                if let Some(share) = share {
                    limiter.charge(LIMITS, share, 700);
                }
                answered.push(share.is_some());
            }
        }
        assert!(answered.len() == 6 && answered[1..].iter().all(|one| *one), "{answered:?}");
        assert!(sent <= (30 + 3) * 25_000 + 700, "{sent} bytes to forged sources");
        assert!(limiter.admit(LIMITS, Millis(30_000), browser, true).is_some(), "a player");
    }
}
