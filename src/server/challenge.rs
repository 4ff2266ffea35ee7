//! Challenges: a number that only someone who receives at an address can know.
//!
//! Nothing is stored: the number is a keyed hash of address, port and a slot of time, so a flood of
//! requests costs no memory and pushes nobody out. It is good in its slot and the next.

use std::{
    hash::Hasher,
    net::{IpAddr, SocketAddr},
};

use siphasher::sip::SipHasher24;

use crate::model::{Challenge, Millis};

/// Length of a time slot: a challenge is good for 16 to 33 seconds.
const SLOT: u32 = 14;

/// Makes and checks challenges.
#[derive(Clone, Debug)]
pub(super) struct Challenges {
    key: [u8; 16],
}

impl Challenges {
    /// `key` must come from the operating system's random source and is never shown.
    pub(super) fn new(key: [u8; 16]) -> Self {
        Self { key }
    }

    /// The challenge of an address now.
    pub(super) fn make(&self, now: Millis, peer: SocketAddr) -> Challenge {
        self.of_slot(now.0 >> SLOT, peer)
    }

    /// Whether that is the address's challenge, from this slot or the last.
    pub(super) fn check(&self, now: Millis, peer: SocketAddr, challenge: Challenge) -> bool {
        let slot = now.0 >> SLOT;
        [slot, slot.wrapping_sub(1)].iter().any(|&slot| self.of_slot(slot, peer) == challenge)
    }

    fn of_slot(&self, slot: u64, peer: SocketAddr) -> Challenge {
        let mut hasher = SipHasher24::new_with_key(&self.key);
        match peer.ip().to_canonical() {
            IpAddr::V4(ip) => hasher.write(&ip.octets()),
            IpAddr::V6(ip) => hasher.write(&ip.octets()),
        }
        hasher.write_u16(peer.port());
        hasher.write_u64(slot);
        // Positive and never 0: some clients take a 0 for "none".
        Challenge((hasher.finish() as i32 & i32::MAX).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_good_for_its_address_and_its_time() {
        let challenges = Challenges::new(*b"not a secret at.");
        let peer: SocketAddr = "192.0.2.1:27960".parse().unwrap();
        let now = Millis(1_000_000);
        let challenge = challenges.make(now, peer);
        assert!(challenges.check(now, peer, challenge));
        assert!(challenges.check(now + Millis(16_000), peer, challenge));
        assert!(!challenges.check(now + Millis(33_000), peer, challenge));
        assert!(!challenges.check(now, "192.0.2.1:27961".parse().unwrap(), challenge));
        assert!(!challenges.check(now, "192.0.2.2:27960".parse().unwrap(), challenge));
        assert!(!challenges.check(now, peer, Challenge(challenge.0 ^ 1)));
        let other = Challenges::new(*b"another secret..");
        assert_ne!(other.make(now, peer), challenge);
    }
}
