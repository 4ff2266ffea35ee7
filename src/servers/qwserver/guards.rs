//! Limits of connectionless requests, and the keyed challenge.
//!
//! A challenge is a keyed hash of the host and the time in steps of ten minutes. No memory is needed, so forged
//! sources cost nothing.

use std::{hash::Hash as _, hash::Hasher as _, net::IpAddr};

use siphasher::sip::SipHasher13;

use crate::{
    limits::{BucketLimit, PasswordGuard, QueryLimits, RequestLimits, SeenRequests},
    model::Millis,
};

/// Time for which a challenge is new. It is valid for at least as long.
const CHALLENGE_STEP: u64 = 600_000;

/// Limits of status queries, those of a Quake III server.
pub(super) const QUERY_LIMITS: QueryLimits = QueryLimits {
    each: BucketLimit { burst: 10, period: Millis(1000) },
    all: BucketLimit { burst: 100, period: Millis(10) },
    bytes_per_second: 25_000,
};

/// Limits of requests.
#[derive(Debug)]
pub(super) struct Guards {
    pub(super) challenges: ChallengeKey,
    pub(super) requests: RequestLimits,
    pub(super) rcon: PasswordGuard,
    /// Signed rcon requests that have run.
    pub(super) seen_rcon: SeenRequests,
}

/// Key of the challenges.
#[derive(Debug)]
pub(super) struct ChallengeKey {
    words: [u64; 2],
    /// Number of renewals.
    renewals: u64,
}

/// Renewals after which a challenge is not accepted. Clients that connect meanwhile have older ones.
const RENEWALS_ACCEPTED: u64 = 4;

impl Guards {
    pub(super) fn new(entropy: [u8; 32]) -> Self {
        let (words, _) = entropy.as_chunks::<8>();
        let word = |at: usize| u64::from_le_bytes(words[at]);
        Self {
            challenges: ChallengeKey { words: [word(0), word(1)], renewals: 0 },
            requests: RequestLimits::new(word(2)),
            rcon: PasswordGuard::new(word(3)),
            seen_rcon: SeenRequests::default(),
        }
    }
}

impl ChallengeKey {
    /// Challenge of a host.
    pub(super) fn of(&self, now: Millis, ip: IpAddr) -> i32 {
        self.challenge_of(now.0 / CHALLENGE_STEP, self.renewals, ip)
    }

    /// Gives all hosts other challenges: a signed command may then be repeated, with another code.
    pub(super) const fn renew(&mut self) {
        self.renewals += 1;
    }

    /// Whether a number is the current challenge of a host, or one of those before.
    pub(super) fn is_challenge(&self, now: Millis, ip: IpAddr, number: i32) -> bool {
        let step = now.0 / CHALLENGE_STEP;
        let oldest = self.renewals.saturating_sub(RENEWALS_ACCEPTED - 1);
        (step.saturating_sub(1)..=step).any(|step| {
            (oldest..=self.renewals).any(|renewal| number == self.challenge_of(step, renewal, ip))
        })
    }

    fn challenge_of(&self, step: u64, renewal: u64, ip: IpAddr) -> i32 {
        let mut hasher = SipHasher13::new_with_keys(self.words[0], self.words[1]);
        (step, renewal, ip).hash(&mut hasher);
        hasher.finish() as u32 as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renewed_challenges_differ_and_older_ones_expire() {
        let mut guards = Guards::new([7; 32]);
        let (now, ip) = (Millis(5), "192.0.2.1".parse().expect("an address"));
        let first = guards.challenges.of(now, ip);
        for _ in 1..RENEWALS_ACCEPTED {
            guards.challenges.renew();
            assert_ne!(guards.challenges.of(now, ip), first);
            assert!(guards.challenges.is_challenge(now, ip, first), "a client that connects");
        }
        guards.challenges.renew();
        assert!(!guards.challenges.is_challenge(now, ip, first));
    }
}
