//! Limits of a server's connectionless requests: queries, challenges, rejections, accepted connects.
//!
//! Replies to unproven addresses are limited per address and in total, in answers and in bytes.
//! Half of each total is for hosts that ask again ([`SharedBudget`]), so forged sources leave it to people. Hosts with a
//! connected client have a share of their own, so a flood does not hide the server from them.
//! Engine names: `SVC_RateLimit`, `outboundLeakyBucket`.

use std::{
    hash::{Hash as _, Hasher as _},
    net::SocketAddr,
};

use siphasher::sip::SipHasher13;

use super::{
    AddressKey, AddressLimiter, BucketLimit, BudgetLimit, HostLimiter, QueryLimiter,
    ReturningSenders, SharedBudget, SharedRequests,
};
use crate::model::Millis;

/// Rejections of `connect` to one address.
const REJECTIONS: BucketLimit = BucketLimit { burst: 3, period: Millis(1000) };
/// Rejections to all addresses.
const REJECTIONS_GLOBAL: BucketLimit = BucketLimit { burst: 20, period: Millis(50) };
/// Challenge requests of one address, from which many clients may join at once.
const CHALLENGES: BucketLimit = BucketLimit { burst: 100, period: Millis(10) };
/// Challenge requests of all addresses of one share.
const CHALLENGES_GLOBAL: BucketLimit = BucketLimit { burst: 200, period: Millis(1) };
/// Shares that addresses are divided into. Together they admit more than a flood of thousands a
/// second, since an answer costs little and is hardly longer than its request, and a client without
/// one cannot join. The share of an address depends on the seed, so a sender cannot choose
/// addresses of a victim's share.
const CHALLENGE_SHARES: u64 = 16;
/// Time until one more `connect` of a site is accepted.
const ADMISSION_PERIOD: Millis = Millis(1000);
/// Connects of a site accepted at once, for each client that one address may have.
const ADMISSIONS_PER_CLIENT: u32 = 3;

/// Silence after which a host counts as new. Clients repeat their requests within seconds.
const SENDER_LIFE: Millis = Millis::seconds(600);

/// Limits of all requests of one server.
#[derive(Debug)]
pub struct RequestLimits {
    queries: QueryLimiter,
    rejections: AddressLimiter,
    rejections_global: SharedRequests,
    challenges: HostLimiter,
    challengers: ReturningSenders,
    challenges_global: [SharedBudget; CHALLENGE_SHARES as usize],
    admissions: AddressLimiter,
    seed: u64,
}

impl RequestLimits {
    /// Creates unspent limits. `seed` must be secret.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            queries: QueryLimiter::new(seed),
            rejections: AddressLimiter::new(seed ^ 1),
            rejections_global: SharedRequests::new(seed ^ 4, SENDER_LIFE),
            challenges: HostLimiter::new(seed ^ 2),
            challengers: ReturningSenders::new(seed ^ 5, SENDER_LIFE),
            challenges_global: Default::default(),
            admissions: AddressLimiter::new(seed ^ 3),
            seed,
        }
    }

    /// Limits of queries.
    pub fn queries(&mut self) -> &mut QueryLimiter {
        &mut self.queries
    }

    /// Whether the reason of a rejection is sent.
    pub fn allows_rejection(&mut self, now: Millis, from: SocketAddr) -> bool {
        let host = AddressKey::host(from.ip());
        self.rejections.allows(now, host, REJECTIONS)
            && self.rejections_global.allows(now, host, REJECTIONS_GLOBAL)
    }

    /// Whether a challenge request is answered.
    pub fn allows_challenge(&mut self, now: Millis, from: SocketAddr) -> bool {
        let host = AddressKey::host(from.ip());
        if !self.challenges.allows(now, from, host, CHALLENGES) {
            return false;
        }
        let returns = self.challengers.is_returning(now, host);
        let limit = BudgetLimit::requests(CHALLENGES_GLOBAL);
        let budget = &mut self.challenges_global[share(self.seed, host)];
        let half = budget.room(now, returns, limit);
        half.into_iter().for_each(|half| budget.charge(half, 1, limit));
        half.is_some()
    }

    /// Whether one more connect of a site is accepted. `most`: clients that one address may have.
    pub fn allows_admission(&mut self, now: Millis, from: SocketAddr, most: u32) -> bool {
        let burst = most.saturating_mul(ADMISSIONS_PER_CLIENT);
        let limit = BucketLimit { burst, period: ADMISSION_PERIOD };
        self.admissions.allows(now, AddressKey::site(from.ip()), limit)
    }
}

/// Share of challenge requests that a host belongs to.
fn share(seed: u64, host: AddressKey) -> usize {
    let mut hasher = SipHasher13::new_with_keys(seed, !seed);
    host.hash(&mut hasher);
    (hasher.finish() % CHALLENGE_SHARES) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c35_share_of_an_address_depends_on_the_seed() {
        // Addresses whose last octets have equal low bits.
        let alike = |i: u8| AddressKey::host([20, 1, i, 16 * (i % 16) + 7].into());
        for seed in 0..8 {
            let mut shares = [0u32; CHALLENGE_SHARES as usize];
            (0..=255).for_each(|i| shares[share(seed, alike(i))] += 1);
            assert!(shares.iter().all(|count| *count < 40), "{shares:?}");
        }
    }

    #[test]
    fn c33_admissions_of_a_line_are_limited() {
        let mut limits = RequestLimits::new(1);
        let from = |i: u16| {
            SocketAddr::new(std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, i, 0, 0, 0, 1).into(), 9)
        };
        let admitted = (0..200).filter(|&i| limits.allows_admission(Millis(5), from(i), 3)).count();
        assert_eq!(admitted, 9, "all of one /56");
        assert!(limits.allows_admission(Millis(1005), from(0), 3));
        assert!(limits.allows_admission(Millis(5), from(0x100), 3), "another /56");
    }
}
