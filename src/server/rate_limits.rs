//! Who may be answered how often, all in one place.
//!
//! Replies to unproven addresses draw from one budget per address and one over all, in answers and in
//! bytes; addresses of players draw from a share of their own, so that a flood does not make the server
//! invisible to them.

use std::{hash::Hasher, net::SocketAddr};

use siphasher::sip::SipHasher13;

use super::rate_limiter::{AddressLimiter, Bucket, BucketLimit, ByteBudget, host_key, site};
use crate::{
    model::Millis,
    settings::{Settings, key},
};

/// Refusals of `connect` to one address.
const REJECTIONS: BucketLimit = BucketLimit { burst: 3, period: Millis(1000) };
/// Refusals to all addresses.
const REJECTIONS_GLOBAL: BucketLimit = BucketLimit { burst: 20, period: Millis(50) };
/// Requests for a challenge by one address: a whole room may join at once.
const CHALLENGES: BucketLimit = BucketLimit { burst: 100, period: Millis(10) };
/// Requests for a challenge by all addresses of one share.
const CHALLENGES_GLOBAL: BucketLimit = BucketLimit { burst: 200, period: Millis(1) };
/// Shares that all addresses are divided into. Together they let through more than a flood of thousands
/// a second asks for, because an answer costs little and is hardly longer than its request, and whoever
/// is refused one stays outside. The share of an address depends on the seed, so that no outsider can
/// choose addresses of a victim's share.
const CHALLENGE_SHARES: u64 = 16;
/// Time for one more accepted `connect` of a customer's line.
const ADMISSION_PERIOD: Millis = Millis(1000);
/// Accepted connects of a line at once, for each client that one address may bring.
const ADMISSIONS_PER_CLIENT: u32 = 3;

/// All budgets.
#[derive(Debug)]
pub(super) struct RateLimits {
    queries: AddressLimiter,
    queries_global: Bucket,
    query_bytes: ByteBudget,
    queries_of_players: Bucket,
    rejections: AddressLimiter,
    rejections_global: Bucket,
    challenges: AddressLimiter,
    challenges_global: [Bucket; CHALLENGE_SHARES as usize],
    admissions: AddressLimiter,
    seed: u64,
}

impl RateLimits {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            queries: AddressLimiter::new(seed),
            queries_global: Bucket::default(),
            query_bytes: ByteBudget::default(),
            queries_of_players: Bucket::default(),
            rejections: AddressLimiter::new(seed ^ 1),
            rejections_global: Bucket::default(),
            challenges: AddressLimiter::new(seed ^ 2),
            challenges_global: Default::default(),
            admissions: AddressLimiter::new(seed ^ 3),
            seed,
        }
    }

    /// Whether a getinfo or getstatus may be answered. `is_player`: a client plays from there.
    pub(super) fn allows_query(
        &mut self,
        settings: &Settings,
        now: Millis,
        from: SocketAddr,
        is_player: bool,
    ) -> bool {
        let allowance = |burst, period| BucketLimit {
            burst: settings.int(burst).unsigned_abs(),
            period: Millis(u64::from(settings.int(period).unsigned_abs())),
        };
        let each = allowance(key::SV_QUERY_BURST, key::SV_QUERY_PERIOD);
        let all = allowance(key::SV_QUERY_GLOBAL_BURST, key::SV_QUERY_GLOBAL_PERIOD);
        if is_player {
            return self.queries.allows(now, from, each)
                && self.queries_of_players.allows(now, all);
        }
        let rate = u64::from(settings.int(key::SV_QUERY_GLOBAL_RATE).unsigned_abs());
        self.query_bytes.has_room(now, rate)
            && self.queries.allows(now, from, each)
            && self.queries_global.allows(now, all)
    }

    /// A query of somebody who does not play was answered with so many bytes.
    pub(super) fn charge(&mut self, bytes: usize) {
        self.query_bytes.add(bytes);
    }

    /// Whether a `connect` may be told why it is refused.
    pub(super) fn allows_rejection(&mut self, now: Millis, from: SocketAddr) -> bool {
        self.rejections.allows(now, from, REJECTIONS)
            && self.rejections_global.allows(now, REJECTIONS_GLOBAL)
    }

    /// Whether a request for a challenge may be answered.
    pub(super) fn allows_challenge(&mut self, now: Millis, from: SocketAddr) -> bool {
        self.challenges.allows(now, from, CHALLENGES)
            && self.challenges_global[share(self.seed, from)].allows(now, CHALLENGES_GLOBAL)
    }

    /// Whether one more client is accepted from there, where one address may bring `most` clients at a
    /// time.
    pub(super) fn allows_admission(&mut self, now: Millis, from: SocketAddr, most: u32) -> bool {
        let burst = most.saturating_mul(ADMISSIONS_PER_CLIENT);
        self.admissions.allows(now, site(from), BucketLimit { burst, period: ADMISSION_PERIOD })
    }
}

/// The share of requests for a challenge that an address belongs to.
fn share(seed: u64, from: SocketAddr) -> usize {
    let mut hasher = SipHasher13::new_with_keys(seed, !seed);
    hasher.write_u64(host_key(from));
    (hasher.finish() % CHALLENGE_SHARES) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c35_share_of_an_address_depends_on_the_seed() {
        // Addresses whose last octets have equal low bits.
        let alike = |i: u8| SocketAddr::from(([20, 1, i, 16 * (i % 16) + 7], 9));
        for seed in 0..8 {
            let mut shares = [0u32; CHALLENGE_SHARES as usize];
            (0..=255).for_each(|i| shares[share(seed, alike(i))] += 1);
            assert!(shares.iter().all(|count| *count < 40), "{shares:?}");
        }
    }

    #[test]
    fn c33_admissions_of_a_line_are_limited() {
        let mut limits = RateLimits::new(1);
        let from = |i: u16| {
            SocketAddr::new(std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, i, 0, 0, 0, 1).into(), 9)
        };
        let admitted = (0..200).filter(|&i| limits.allows_admission(Millis(5), from(i), 3)).count();
        assert_eq!(admitted, 9, "all of one /56");
        assert!(limits.allows_admission(Millis(1005), from(0), 3));
        assert!(limits.allows_admission(Millis(5), from(0x100), 3), "another /56");
    }
}
