//! Keyed hashing of addresses, and a fixed table of hosts.
//!
//! Invariant: hashes are keyed with a secret, so no sender can choose addresses that collide.

use std::hash::{BuildHasher, Hash};

use siphasher::sip::SipHasher13;

use crate::limits::AddressKey;

/// Secret key of the hashes.
#[derive(Clone, Copy, Debug)]
pub(super) struct HashKey(u64, u64);

impl HashKey {
    /// Creates a key from secret bytes.
    pub(super) fn new(secret: [u8; 16]) -> Self {
        let bits = u128::from_le_bytes(secret);
        Self(bits as u64, (bits >> 64) as u64)
    }

    /// Hashes one value.
    pub(super) fn hash(self, value: impl Hash) -> u64 {
        self.hash_one(value)
    }
}

impl BuildHasher for HashKey {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_keys(self.0, self.1)
    }
}

/// Fixed table of hosts: sets of four entries, of which the oldest is evicted.
///
/// Memory and time per access are constant, for any number of hosts.
#[derive(Debug)]
pub(super) struct HostTable<T> {
    sets: Box<[[Slot<T>; WAYS]]>,
    key: HashKey,
}

/// Entries of a set.
const WAYS: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Slot<T> {
    host: AddressKey,
    /// Time of the last use, for eviction.
    used: u64,
    value: T,
}

impl<T: Copy + Default> HostTable<T> {
    /// Creates an empty table of `sets` sets.
    pub(super) fn new(sets: usize, key: HashKey) -> Self {
        let empty = Slot { host: AddressKey::NONE, used: 0, value: T::default() };
        Self { sets: vec![[empty; WAYS]; sets].into_boxed_slice(), key }
    }

    /// Returns the value of a known host.
    pub(super) fn peek(&self, host: AddressKey) -> Option<&T> {
        let set = &self.sets[self.number(host)];
        set.iter().find(|slot| slot.host == host).map(|slot| &slot.value)
    }

    /// Returns the value of a host. An unknown host evicts the least recently used one of its set.
    pub(super) fn entry(&mut self, now: u64, host: AddressKey) -> &mut T {
        let number = self.number(host);
        let set = &mut self.sets[number];
        let at = set.iter().position(|slot| slot.host == host).unwrap_or_else(|| {
            let oldest = (0..WAYS).min_by_key(|&way| set[way].used).unwrap_or(0);
            set[oldest] = Slot { host, used: now, value: T::default() };
            oldest
        });
        set[at].used = now;
        &mut set[at].value
    }

    fn number(&self, host: AddressKey) -> usize {
        self.key.hash(host) as usize % self.sets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(number: u32) -> AddressKey {
        AddressKey::host(number.to_be_bytes().into())
    }

    #[test]
    fn host_table_keeps_recent_hosts_within_its_size() {
        let mut table = HostTable::<u32>::new(16, HashKey::new([7; 16]));
        for round in 0..1000u64 {
            *table.entry(round, host(0)) += 1;
            *table.entry(round, host(round as u32 + 1)) += 1;
        }
        assert_eq!(*table.entry(1000, host(0)), 1000);
    }
}
