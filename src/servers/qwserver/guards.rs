//! Limits of connectionless requests, and the keyed challenge.
//!
//! A challenge is a keyed hash of the host and the time in steps of ten minutes. No memory is needed, so forged
//! sources cost nothing.

use std::{hash::Hash as _, hash::Hasher as _, net::IpAddr};

use siphasher::sip::SipHasher13;

use super::rcon::RconGuard;
use crate::{
    limits::{AddressKey, AddressLimiter, BucketLimit, QueryLimiter, QueryLimits},
    model::Millis,
};

/// Time for which a challenge is new. It is valid for at least as long.
const CHALLENGE_STEP: u64 = 600_000;

/// Limits of status queries.
pub(super) const QUERY_LIMITS: QueryLimits = QueryLimits {
    each: BucketLimit { burst: 10, period: Millis(500) },
    all: BucketLimit { burst: 100, period: Millis(5) },
    bytes_per_second: 100_000,
};
/// Challenges of one host.
const CHALLENGES: BucketLimit = BucketLimit { burst: 64, period: Millis(50) };
/// Refusals of one host.
const REFUSALS: BucketLimit = BucketLimit { burst: 5, period: Millis(500) };
/// Connects of one host that are accepted.
const CONNECTS: BucketLimit = BucketLimit { burst: 64, period: Millis(200) };

/// Limits of requests.
#[derive(Debug)]
pub(super) struct Guards {
    key: [u64; 2],
    pub(super) queries: QueryLimiter,
    challenges: AddressLimiter,
    refusals: AddressLimiter,
    connects: AddressLimiter,
    pub(super) rcon: RconGuard,
}

impl Guards {
    pub(super) fn new(entropy: [u8; 32]) -> Self {
        let (words, _) = entropy.as_chunks::<8>();
        let word = |at: usize| u64::from_le_bytes(words[at]);
        Self {
            key: [word(0), word(1)],
            queries: QueryLimiter::new(word(2)),
            challenges: AddressLimiter::new(word(2) ^ 1),
            refusals: AddressLimiter::new(word(2) ^ 2),
            connects: AddressLimiter::new(word(2) ^ 3),
            rcon: RconGuard::new(word(3)),
        }
    }

    /// Challenge of a host.
    pub(super) fn challenge(&self, now: Millis, ip: IpAddr) -> i32 {
        self.challenge_of(now.0 / CHALLENGE_STEP, ip)
    }

    /// Whether a number is the current challenge of a host, or the one before.
    pub(super) fn is_challenge(&self, now: Millis, ip: IpAddr, number: i32) -> bool {
        let step = now.0 / CHALLENGE_STEP;
        number == self.challenge_of(step, ip)
            || step.checked_sub(1).is_some_and(|step| number == self.challenge_of(step, ip))
    }

    fn challenge_of(&self, step: u64, ip: IpAddr) -> i32 {
        let mut hasher = SipHasher13::new_with_keys(self.key[0], self.key[1]);
        (step, ip).hash(&mut hasher);
        hasher.finish() as u32 as i32
    }

    pub(super) fn admits_challenge(&mut self, now: Millis, ip: IpAddr) -> bool {
        self.challenges.allows(now, AddressKey::host(ip), CHALLENGES)
    }

    pub(super) fn admits_refusal(&mut self, now: Millis, ip: IpAddr) -> bool {
        self.refusals.allows(now, AddressKey::host(ip), REFUSALS)
    }

    pub(super) fn admits_connect(&mut self, now: Millis, ip: IpAddr) -> bool {
        self.connects.allows(now, AddressKey::host(ip), CONNECTS)
    }
}
