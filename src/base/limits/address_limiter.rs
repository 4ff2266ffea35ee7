//! Leaky buckets by host, site or network, in a table of fixed size.
//!
//! A new key replaces an idle one or the oldest of its set, so forged sources cost no more than honest ones.

use std::hash::{Hash as _, Hasher as _};

use siphasher::sip::SipHasher13;

use super::{AddressKey, Bucket, BucketLimit};
use crate::model::Millis;

/// Entries of a set. An idle entry or else the oldest one is evicted.
const WAYS: usize = 4;
const SETS: usize = 1024;

/// Bucket of one key.
#[derive(Clone, Copy, Debug)]
struct AddressEntry {
    key: AddressKey,
    bucket: Bucket,
}

impl AddressEntry {
    const EMPTY: Self = Self { key: AddressKey::NONE, bucket: Bucket::empty(Millis(0)) };
}

/// Buckets by host, site or network. The table takes 96 KiB from the first address on.
#[derive(Debug)]
pub struct AddressLimiter {
    sets: Box<[[AddressEntry; WAYS]]>,
    seed: u64,
}

impl AddressLimiter {
    /// Creates an empty table. `seed` prevents senders from choosing addresses that collide.
    pub fn new(seed: u64) -> Self {
        Self { sets: Box::default(), seed }
    }

    /// Whether one more request of a key is admitted.
    pub fn allows(&mut self, now: Millis, key: AddressKey, allowance: BucketLimit) -> bool {
        self.insert(now, key, allowance).allows(now, allowance)
    }

    /// Whether one more request is admitted of a key that has an entry; false for other keys.
    pub fn allows_known(&mut self, now: Millis, key: AddressKey, allowance: BucketLimit) -> bool {
        if self.sets.is_empty() {
            return false;
        }
        let entry = self.set_of(key).iter_mut().find(|entry| entry.key == key);
        entry.is_some_and(|entry| entry.bucket.allows(now, allowance))
    }

    /// Bucket of a key. A new one replaces an idle one or the oldest of its set.
    pub fn insert(&mut self, now: Millis, key: AddressKey, allowance: BucketLimit) -> &mut Bucket {
        let set = self.set_of(key);
        let way = (0..WAYS)
            .find(|&way| set[way].key == key)
            .or_else(|| (0..WAYS).find(|&way| set[way].bucket.is_idle(now, allowance)))
            .unwrap_or_else(|| {
                (0..WAYS).min_by_key(|&way| set[way].bucket.last).expect("a set has ways")
            });
        if set[way].key != key {
            set[way] = AddressEntry { key, bucket: Bucket::empty(now) };
        }
        &mut set[way].bucket
    }

    fn set_of(&mut self, key: AddressKey) -> &mut [AddressEntry; WAYS] {
        if self.sets.is_empty() {
            self.sets = vec![[AddressEntry::EMPTY; WAYS]; SETS].into();
        }
        let mut hasher = SipHasher13::new_with_keys(self.seed, !self.seed);
        key.hash(&mut hasher);
        &mut self.sets[hasher.finish() as usize % SETS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: BucketLimit = BucketLimit { burst: 10, period: Millis(1000) };

    fn address(ip: &str) -> AddressKey {
        AddressKey::host(ip.parse().unwrap())
    }

    #[test]
    fn bucket_admits_burst_then_one_per_period() {
        let mut limiter = AddressLimiter::new(1);
        let from = address("192.0.2.7");
        let mut allowed = |now| (0..30).filter(|_| limiter.allows(now, from, TEN)).count();
        assert_eq!(allowed(Millis(5000)), 10);
        assert_eq!(allowed(Millis(8050)), 3);
        assert_eq!(allowed(Millis(60_000)), 10);
    }

    #[test]
    fn unknown_addresses_take_no_memory() {
        let mut limiter = AddressLimiter::new(1);
        let from = address("192.0.2.7");
        assert!(!limiter.allows_known(Millis(5000), from, TEN));
        assert!(limiter.sets.is_empty());
        assert!(limiter.allows(Millis(5000), from, TEN));
        assert!(limiter.allows_known(Millis(5000), from, TEN));
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_a_bucket() {
        let mut limiter = AddressLimiter::new(1);
        let allowed = (0..30)
            .filter(|i| limiter.allows(Millis(9), address(&format!("2001:db8::{i:x}")), TEN))
            .count();
        assert_eq!(allowed, 10);
        assert!(limiter.allows(Millis(9), address("2001:db8:0:1::1"), TEN));
    }

    #[test]
    fn forged_sources_do_not_lock_out_an_honest_one() {
        let mut limiter = AddressLimiter::new(3);
        let honest = address("192.0.2.7");
        let mut answered = 0;
        for i in 0..100_000u32 {
            limiter.allows(Millis(u64::from(i / 100)), address(&ip(i)), TEN);
            if i % 10_000 == 0 {
                answered += u32::from(limiter.allows(Millis(u64::from(i / 100)), honest, TEN));
            }
        }
        assert_eq!(answered, 10);
    }

    fn ip(i: u32) -> String {
        std::net::Ipv4Addr::from_bits(0x0a00_0000 | i).to_string()
    }
}
