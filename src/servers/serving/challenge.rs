//! Challenges: stateless keyed hashes that prove the address of a client.
//!
//! A challenge is a keyed hash of address, port and time slot. Nothing is stored, so a flood of
//! requests takes no memory and evicts no other client. It is valid in its slot and in the next
//! one.
//!
//! A slot has two challenges for each address. A client that reconnects at once gets the one that
//! its earlier connection did not use. Otherwise late datagrams of the earlier connection would be
//! valid in the new one.
//!
//! If the ping is measured, the challenge holds the time it was issued at and a hash of that. It
//! has fewer bits to guess then, and is valid for 16 seconds.
//! Engine names: `SV_CreateChallenge`, `SV_VerifyChallenge`.

use std::{
    hash::Hasher,
    net::{IpAddr, SocketAddr},
};

use siphasher::sip::SipHasher24;

use crate::model::{Challenge, Millis};

/// Length of a time slot, as a power of two in ms. A challenge is valid for 16 to 33 seconds.
const SLOT: u32 = 14;

/// Hash inputs of the challenges of one address in one time slot, preferred one first.
const KINDS: [u8; 2] = [0, 2];
/// Hash input of a timed challenge.
const TIMED: u8 = 1;

/// Bits of a timed challenge that hold the time it was issued at, in ticks.
const TICK_BITS: u32 = 10;
/// Length of a tick, as a power of two in ms: 16 ms. Finer ticks would leave fewer bits to guess.
const TICK: u32 = 4;

/// Age of a valid challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Age {
    /// Shortest and longest possible age in ms; `None` if the challenge is not timed.
    pub(crate) bounds_ms: Option<(u64, u64)>,
}

/// Issues and validates challenges.
#[derive(Clone, Debug)]
pub(crate) struct Challenges {
    key: [u8; 16],
}

impl Challenges {
    /// `key` must come from the operating system's random source and is never published.
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self { key }
    }

    /// Returns a challenge for an address. It is the first unused one of this time slot, or the
    /// first if all are used.
    pub(crate) fn make(
        &self,
        now: Millis,
        peer: SocketAddr,
        is_used: impl Fn(Challenge) -> bool,
    ) -> Challenge {
        let choices = KINDS.map(|kind| self.of_slot(kind, now.0 >> SLOT, peer));
        choices.into_iter().find(|&choice| !is_used(choice)).unwrap_or(choices[0])
    }

    /// Returns a timed challenge for an address.
    pub(crate) fn make_timed(&self, now: Millis, peer: SocketAddr) -> Challenge {
        self.of_tick(now.0 >> TICK, peer)
    }

    /// Returns the age of a challenge of this time slot or the last; `None` if it is not valid.
    pub(crate) fn check(&self, now: Millis, peer: SocketAddr, challenge: Challenge) -> Option<Age> {
        let slot = now.0 >> SLOT;
        let is_of = |slot| KINDS.iter().any(|&kind| self.of_slot(kind, slot, peer) == challenge);
        (is_of(slot) || is_of(slot.wrapping_sub(1))).then_some(Age { bounds_ms: None })
    }

    /// Returns the age of a challenge that may be timed; `None` if it is not valid.
    pub(crate) fn check_timed(
        &self,
        now: Millis,
        peer: SocketAddr,
        challenge: Challenge,
    ) -> Option<Age> {
        let tick = now.0 >> TICK;
        let made = u64::from(challenge.0 as u32) & ((1 << TICK_BITS) - 1);
        let age = tick.wrapping_sub(made) & ((1 << TICK_BITS) - 1);
        if self.of_tick(tick.wrapping_sub(age), peer) != challenge {
            return self.check(now, peer, challenge);
        }
        let length = 1 << TICK;
        let least = (age * length).saturating_sub(length - 1);
        Some(Age { bounds_ms: Some((least, age * length + length - 1)) })
    }

    fn of_slot(&self, kind: u8, slot: u64, peer: SocketAddr) -> Challenge {
        // Positive and never 0, which some clients read as "none".
        Challenge((self.hash(kind, slot, peer) as i32 & i32::MAX).max(1))
    }

    fn of_tick(&self, tick: u64, peer: SocketAddr) -> Challenge {
        let proof = self.hash(TIMED, tick, peer) as u32 & (i32::MAX as u32 >> TICK_BITS);
        let made = tick as u32 & ((1 << TICK_BITS) - 1);
        Challenge(proof.max(1).wrapping_shl(TICK_BITS) as i32 | made as i32)
    }

    fn hash(&self, kind: u8, time: u64, peer: SocketAddr) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.key);
        match peer.ip().to_canonical() {
            IpAddr::V4(ip) => hasher.write(&ip.octets()),
            IpAddr::V6(ip) => hasher.write(&ip.octets()),
        }
        hasher.write_u16(peer.port());
        hasher.write_u64(time);
        hasher.write_u8(kind);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenge_is_valid_for_its_address_and_time_slot() {
        let challenges = Challenges::new(*b"not a secret at.");
        let peer: SocketAddr = "192.0.2.1:27960".parse().unwrap();
        let now = Millis(1_000_000);
        let challenge = challenges.make(now, peer, |_| false);
        let good = |now, peer: &str, challenge| {
            challenges.check(now, peer.parse().unwrap(), challenge) == Some(Age { bounds_ms: None })
        };
        let own = "192.0.2.1:27960";
        assert!(good(now, own, challenge));
        assert!(good(now + Millis(16_000), own, challenge));
        assert!(!good(now + Millis(33_000), own, challenge));
        assert!(!good(now, "192.0.2.1:27961", challenge));
        assert!(!good(now, "192.0.2.2:27960", challenge));
        assert!(!good(now, own, Challenge(challenge.0 ^ 1)));
        let other = Challenges::new(*b"another secret..");
        assert_ne!(other.make(now, peer, |_| false), challenge);
    }

    #[test]
    fn challenge_in_use_is_not_issued_again() {
        let challenges = Challenges::new(*b"not a secret at.");
        let peer: SocketAddr = "192.0.2.1:27960".parse().unwrap();
        let now = Millis(1_000_000);
        let first = challenges.make(now, peer, |_| false);
        let second = challenges.make(now, peer, |challenge| challenge == first);
        assert_ne!(first, second);
        for challenge in [first, second] {
            assert!(challenges.check(now, peer, challenge).is_some());
            assert!(challenges.check(now + Millis(16_000), peer, challenge).is_some());
            assert!(challenges.check(now + Millis(33_000), peer, challenge).is_none());
        }
        assert_eq!(challenges.make(now, peer, |_| true), first, "better than none");
    }

    #[test]
    fn timed_challenge_gives_its_age() {
        let challenges = Challenges::new(*b"not a secret at.");
        let peer: SocketAddr = "192.0.2.1:27960".parse().unwrap();
        for start in [0, 1_000_003, 16_777_215, u64::from(u32::MAX)] {
            let challenge = challenges.make_timed(Millis(start), peer);
            assert!(challenge.0 > 0, "as a client expects");
            for age in [0, 1, 7, 8, 50, 999, 16_000] {
                let now = Millis(start + age);
                let told = challenges.check_timed(now, peer, challenge).expect("good");
                let (least, most) = told.bounds_ms.expect("measured");
                assert!((least..=most).contains(&age) && most - least < 32, "{age}: {told:?}");
                // Another time in the same number is a forgery.
                let forged = Challenge(challenge.0 ^ 0x10);
                assert_eq!(challenges.check_timed(now, peer, forged), None);
            }
            let late = Millis(start + 16_400);
            assert_eq!(challenges.check_timed(late, peer, challenge), None);
            let other = "192.0.2.1:27961".parse().unwrap();
            assert_eq!(challenges.check_timed(Millis(start), other, challenge), None);
            // One made before the settings changed is still good, and tells nothing.
            let plain = challenges.make(Millis(start), peer, |_| false);
            let told = challenges.check_timed(Millis(start), peer, plain);
            assert_eq!(told, Some(Age { bounds_ms: None }));
        }
    }
}
