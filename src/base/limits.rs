//! Rate limiter: leaky buckets for each address and for all addresses.
//!
//! Addresses are counted per IPv4 address and per IPv6 /64, in a table of fixed size with lookup
//! and eviction in constant time. Forged sources cost no more than honest ones.
//! Invariants: a bucket admits `burst` requests at once and one more per `period`; a byte budget is
//! exceeded by one answer at most. Engine names: `leakyBucket_t`, `SVC_RateLimitAddress`.

use std::{
    hash::Hasher,
    net::{IpAddr, Ipv6Addr, SocketAddr},
};

use siphasher::sip::SipHasher13;

use crate::model::Millis;

/// Limit of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketLimit {
    /// Requests admitted at once.
    pub burst: u32,
    /// Time until one more is admitted.
    pub period: Millis,
}

/// A leaky bucket.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bucket {
    level: u32,
    last: Millis,
}

impl Bucket {
    /// Whether one more request is admitted now.
    pub fn allows(&mut self, now: Millis, allowance: BucketLimit) -> bool {
        let period = allowance.period.0.max(1);
        let leaked = now.since(self.last).0 / period;
        match u32::try_from(leaked) {
            Ok(leaked) if leaked < self.level => {
                self.level -= leaked;
                self.last += Millis(u64::from(leaked) * period);
            }
            _ => {
                self.level = 0;
                self.last = now;
            }
        }
        if self.level >= allowance.burst {
            return false;
        }
        self.level += 1;
        true
    }

    fn is_idle(&self, now: Millis, allowance: BucketLimit) -> bool {
        now.since(self.last).0 >= u64::from(allowance.burst) * allowance.period.0
    }
}

/// Burst of a byte budget, in seconds of its rate.
const BURST_SECONDS: u64 = 3;

/// Bytes of answers per second. Room is checked before an answer is written, and its length is charged
/// afterwards.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByteBudget {
    /// Charged bytes that have not leaked yet, in thousandths of a byte.
    level: u64,
    last: Millis,
}

impl ByteBudget {
    /// Whether an answer may be sent now, at `bytes_per_second`.
    pub fn has_room(&mut self, now: Millis, bytes_per_second: u64) -> bool {
        // A byte a second is a thousandth of a byte a millisecond.
        let leaked = now.since(self.last).0.saturating_mul(bytes_per_second);
        self.level = self.level.saturating_sub(leaked);
        self.last = now;
        self.level < bytes_per_second.saturating_mul(BURST_SECONDS * 1000)
    }

    /// Charges an answer of `bytes`.
    pub fn add(&mut self, bytes: usize) {
        self.level = self.level.saturating_add((bytes as u64).saturating_mul(1000));
    }
}

/// Entries of a set. An idle entry or else the oldest one is evicted.
const WAYS: usize = 4;
const SETS: usize = 1024;

/// Bucket of one address.
#[derive(Clone, Copy, Debug, Default)]
struct AddressEntry {
    /// The address, or 0 for none.
    key: u64,
    bucket: Bucket,
}

/// Buckets by address. The table takes 96 KiB from the first address on.
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

    /// Whether one more request of an address is admitted.
    pub fn allows(&mut self, now: Millis, from: SocketAddr, allowance: BucketLimit) -> bool {
        self.insert(now, from, allowance).allows(now, allowance)
    }

    /// Whether one more request is admitted of an address that has an entry; false for other addresses.
    pub fn allows_known(&mut self, now: Millis, from: SocketAddr, allowance: BucketLimit) -> bool {
        if self.sets.is_empty() {
            return false;
        }
        let key = address_key(from.ip());
        let entry = self.set_of(key).iter_mut().find(|entry| entry.key == key);
        entry.is_some_and(|entry| entry.bucket.allows(now, allowance))
    }

    /// Bucket of an address. A new one replaces an idle one or the oldest of its set.
    pub fn insert(&mut self, now: Millis, from: SocketAddr, allowance: BucketLimit) -> &mut Bucket {
        let key = address_key(from.ip());
        let set = self.set_of(key);
        let way = (0..WAYS)
            .find(|&way| set[way].key == key)
            .or_else(|| (0..WAYS).find(|&way| set[way].bucket.is_idle(now, allowance)))
            .unwrap_or_else(|| {
                (0..WAYS).min_by_key(|&way| set[way].bucket.last).expect("a set has ways")
            });
        if set[way].key != key {
            set[way] = AddressEntry { key, bucket: Bucket { level: 0, last: now } };
        }
        &mut set[way].bucket
    }

    fn set_of(&mut self, key: u64) -> &mut [AddressEntry; WAYS] {
        if self.sets.is_empty() {
            self.sets = vec![[AddressEntry::default(); WAYS]; SETS].into();
        }
        let mut hasher = SipHasher13::new_with_keys(self.seed, !self.seed);
        hasher.write_u64(key);
        &mut self.sets[hasher.finish() as usize % SETS]
    }
}

/// Key of an address: its IPv4 address or IPv6 /64. Never 0.
fn address_key(ip: IpAddr) -> u64 {
    match ip.to_canonical() {
        IpAddr::V4(ip) => 1 << 32 | u64::from(ip.to_bits()),
        IpAddr::V6(ip) => (ip.to_bits() >> 64) as u64 | 1 << 63,
    }
}

/// Key of the host of an address.
pub fn host_key(address: SocketAddr) -> u64 {
    address_key(address.ip())
}

/// Whether two addresses count as one host.
pub fn same_host(a: SocketAddr, b: SocketAddr) -> bool {
    address_key(a.ip()) == address_key(b.ip())
}

/// Address of a site: an IPv4 address, or the first of an IPv6 /56, which one customer has.
pub fn site(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip().to_canonical() {
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 72 << 72).into(),
        ip @ IpAddr::V4(_) => ip,
    };
    SocketAddr::new(ip, 0)
}

/// Whether two addresses are in one subnet: an IPv4 /24 or an IPv6 /48.
pub fn same_subnet(a: SocketAddr, b: SocketAddr) -> bool {
    match (a.ip().to_canonical(), b.ip().to_canonical()) {
        (IpAddr::V4(a), IpAddr::V4(b)) => a.to_bits() >> 8 == b.to_bits() >> 8,
        (IpAddr::V6(a), IpAddr::V6(b)) => a.to_bits() >> 80 == b.to_bits() >> 80,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: BucketLimit = BucketLimit { burst: 10, period: Millis(1000) };

    fn address(ip: &str) -> SocketAddr {
        SocketAddr::new(ip.parse().unwrap(), 27960)
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
    fn byte_budget_keeps_its_rate() {
        let mut flow = ByteBudget::default();
        let mut answered = 0;
        for now in 0..20_000 {
            while flow.has_room(Millis(now), 5000) {
                flow.add(700);
                answered += 700;
            }
        }
        // Three seconds' worth at once, twenty seconds' worth since, and one answer.
        assert!((23 * 5000 - 700..=23 * 5000 + 700).contains(&answered), "{answered}");
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_a_bucket() {
        let mut limiter = AddressLimiter::new(1);
        let allowed = (0..30)
            .filter(|i| limiter.allows(Millis(9), address(&format!("2001:db8::{i:x}")), TEN))
            .count();
        assert_eq!(allowed, 10);
        assert!(limiter.allows(Millis(9), address("2001:db8:0:1::1"), TEN));
        assert!(same_host(address("::ffff:192.0.2.7"), address("192.0.2.7")));
        assert_eq!(site(address("2001:db8:0:12ff::9")), site(address("2001:db8:0:1200::1")));
        assert_ne!(site(address("2001:db8:0:1200::1")), site(address("2001:db8:0:1300::1")));
        assert_ne!(site(address("192.0.2.7")), site(address("192.0.2.8")));
        for (a, b, same) in [
            ("192.0.2.7", "192.0.2.250", true),
            ("192.0.2.7", "192.0.3.7", false),
            ("2001:db8:0:1::1", "2001:db8:0:2::9", true),
            ("2001:db8:0:1::1", "2001:db8:1:1::1", false),
            ("192.0.2.7", "2001:db8::1", false),
        ] {
            assert_eq!(same_subnet(address(a), address(b)), same, "{a} {b}");
        }
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
