//! Rate limits for connectionless replies and for accepted connects.
//!
//! Replies to unproven addresses are limited per address and in total, in answers and in bytes.
//! Hosts with a connected client have a share of their own, so a flood does not hide the server
//! from them.
//! Engine names: `SVC_RateLimit`, `outboundLeakyBucket`.

use std::{hash::Hasher, net::SocketAddr};

use siphasher::sip::SipHasher13;

use crate::{
    limits::{AddressLimiter, Bucket, BucketLimit, ByteBudget, host_key, site},
    model::Millis,
};

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

/// Limits of answers to queries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryLimits {
    /// Queries of one address.
    pub(crate) each: BucketLimit,
    /// Queries of all addresses.
    pub(crate) all: BucketLimit,
    /// Bytes per second to hosts without a client.
    pub(crate) bytes_per_second: u64,
}

/// All rate limits.
#[derive(Debug)]
pub(crate) struct RateLimits {
    queries: AddressLimiter,
    queries_global: Bucket,
    query_bytes: ByteBudget,
    queries_of_clients: Bucket,
    rejections: AddressLimiter,
    rejections_global: Bucket,
    challenges: AddressLimiter,
    challenges_global: [Bucket; CHALLENGE_SHARES as usize],
    admissions: AddressLimiter,
    seed: u64,
}

impl RateLimits {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            queries: AddressLimiter::new(seed),
            queries_global: Bucket::default(),
            query_bytes: ByteBudget::default(),
            queries_of_clients: Bucket::default(),
            rejections: AddressLimiter::new(seed ^ 1),
            rejections_global: Bucket::default(),
            challenges: AddressLimiter::new(seed ^ 2),
            challenges_global: Default::default(),
            admissions: AddressLimiter::new(seed ^ 3),
            seed,
        }
    }

    /// Whether a getinfo or getstatus is answered. `is_client`: the host has a connected client.
    pub(crate) fn allows_query(
        &mut self,
        limits: QueryLimits,
        now: Millis,
        from: SocketAddr,
        is_client: bool,
    ) -> bool {
        let QueryLimits { each, all, bytes_per_second } = limits;
        if is_client {
            return self.queries.allows(now, from, each)
                && self.queries_of_clients.allows(now, all);
        }
        self.query_bytes.has_room(now, bytes_per_second)
            && self.queries.allows(now, from, each)
            && self.queries_global.allows(now, all)
    }

    /// Charges an answer of `bytes` to a host without a client.
    pub(crate) fn charge(&mut self, bytes: usize) {
        self.query_bytes.add(bytes);
    }

    /// Whether the reason of a rejection is sent.
    pub(crate) fn allows_rejection(&mut self, now: Millis, from: SocketAddr) -> bool {
        self.rejections.allows(now, from, REJECTIONS)
            && self.rejections_global.allows(now, REJECTIONS_GLOBAL)
    }

    /// Whether a challenge request is answered.
    pub(crate) fn allows_challenge(&mut self, now: Millis, from: SocketAddr) -> bool {
        self.challenges.allows(now, from, CHALLENGES)
            && self.challenges_global[share(self.seed, from)].allows(now, CHALLENGES_GLOBAL)
    }

    /// Whether one more connect of a site is accepted. `most`: clients that one address may have.
    pub(crate) fn allows_admission(&mut self, now: Millis, from: SocketAddr, most: u32) -> bool {
        let burst = most.saturating_mul(ADMISSIONS_PER_CLIENT);
        self.admissions.allows(now, site(from), BucketLimit { burst, period: ADMISSION_PERIOD })
    }
}

/// Share of challenge requests that an address belongs to.
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
