//! How often an address may ask, and how many bytes all may be answered: leaky buckets, one for each
//! address and some for all together.
//!
//! Addresses are counted per IPv4 address and per IPv6 /64, in a table of fixed size with lookup and
//! eviction in constant time, so that forged sources cost no more than honest ones.
//! Invariants: a bucket lets `burst` through at once and one more per `period`; a flow never exceeds its
//! rate by more than what it may at once and one answer.

use std::{
    hash::Hasher,
    net::{IpAddr, Ipv6Addr, SocketAddr},
};

use siphasher::sip::SipHasher13;

use crate::{
    model::Millis,
    settings::{Settings, key},
};

/// How much a bucket lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BucketLimit {
    /// At once.
    pub(super) burst: u32,
    /// Time for one more.
    pub(super) period: Millis,
}

/// One leaky bucket: how full it is, and since when it leaks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bucket {
    level: u32,
    last: Millis,
}

impl Bucket {
    /// Whether one more is let through now.
    pub(super) fn allows(&mut self, now: Millis, allowance: BucketLimit) -> bool {
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

/// How much a flow may at once, as seconds of its rate.
const FLOW_SECONDS: u64 = 3;

/// Bytes on their way out: a bucket that leaks so many a second. Whether there is room is asked before
/// an answer is made, and its length told afterwards.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByteBudget {
    /// What has not leaked yet, in thousandths of a byte.
    level: u64,
    last: Millis,
}

impl ByteBudget {
    /// Whether an answer may be made now, at so many bytes a second.
    pub(super) fn has_room(&mut self, now: Millis, bytes_per_second: u64) -> bool {
        // A byte a second is a thousandth of a byte a millisecond.
        let leaked = now.since(self.last).0.saturating_mul(bytes_per_second);
        self.level = self.level.saturating_sub(leaked);
        self.last = now;
        self.level < bytes_per_second.saturating_mul(FLOW_SECONDS * 1000)
    }

    /// So many bytes were answered.
    pub(super) fn add(&mut self, bytes: usize) {
        self.level = self.level.saturating_add((bytes as u64).saturating_mul(1000));
    }
}

/// Entries that share a hash; one that is idle or oldest makes room.
const WAYS: usize = 4;
const SETS: usize = 1024;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// The address, or 0 for none.
    key: u64,
    bucket: Bucket,
}

/// Buckets of many addresses.
#[derive(Debug)]
pub(super) struct AddressLimiter {
    sets: Box<[[Entry; WAYS]]>,
    seed: u64,
}

impl AddressLimiter {
    /// An empty table; `seed` keeps outsiders from choosing which addresses collide.
    pub(super) fn new(seed: u64) -> Self {
        Self { sets: vec![[Entry::default(); WAYS]; SETS].into_boxed_slice(), seed }
    }

    /// Whether the address may once more.
    pub(super) fn allows(&mut self, now: Millis, from: SocketAddr, allowance: BucketLimit) -> bool {
        self.insert(now, from, allowance).allows(now, allowance)
    }

    /// The same for an address that has an entry, and false for any other.
    pub(super) fn allows_known(
        &mut self,
        now: Millis,
        from: SocketAddr,
        allowance: BucketLimit,
    ) -> bool {
        let key = address_key(from.ip());
        let entry = self.set_of(key).iter_mut().find(|entry| entry.key == key);
        entry.is_some_and(|entry| entry.bucket.allows(now, allowance))
    }

    /// The bucket of an address: its own, or an empty one in place of an idle one or the oldest.
    pub(super) fn insert(
        &mut self,
        now: Millis,
        from: SocketAddr,
        allowance: BucketLimit,
    ) -> &mut Bucket {
        let key = address_key(from.ip());
        let set = self.set_of(key);
        let way = (0..WAYS)
            .find(|&way| set[way].key == key)
            .or_else(|| (0..WAYS).find(|&way| set[way].bucket.is_idle(now, allowance)))
            .unwrap_or_else(|| {
                (0..WAYS).min_by_key(|&way| set[way].bucket.last).expect("a set has ways")
            });
        if set[way].key != key {
            set[way] = Entry { key, bucket: Bucket { level: 0, last: now } };
        }
        &mut set[way].bucket
    }

    fn set_of(&mut self, key: u64) -> &mut [Entry; WAYS] {
        let mut hasher = SipHasher13::new_with_keys(self.seed, !self.seed);
        hasher.write_u64(key);
        &mut self.sets[hasher.finish() as usize % SETS]
    }
}

/// What stands for an address in limits: an IPv4 address, or an IPv6 /64. Never 0.
fn address_key(ip: IpAddr) -> u64 {
    match ip.to_canonical() {
        IpAddr::V4(ip) => 1 << 32 | u64::from(ip.to_bits()),
        IpAddr::V6(ip) => (ip.to_bits() >> 64) as u64 | 1 << 63,
    }
}

/// What stands for an address's host in limits.
pub(super) fn host_key(address: SocketAddr) -> u64 {
    address_key(address.ip())
}

/// Whether two addresses count as one in limits.
pub(super) fn same_host(a: SocketAddr, b: SocketAddr) -> bool {
    address_key(a.ip()) == address_key(b.ip())
}

/// The address that stands for a customer's line: an IPv4 address, or the first of an IPv6 /56.
pub(super) fn site(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip().to_canonical() {
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 72 << 72).into(),
        ip @ IpAddr::V4(_) => ip,
    };
    SocketAddr::new(ip, 0)
}

/// Whether two addresses are of one small network: an IPv4 /24 or an IPv6 /48.
pub(super) fn same_subnet(a: SocketAddr, b: SocketAddr) -> bool {
    match (a.ip().to_canonical(), b.ip().to_canonical()) {
        (IpAddr::V4(a), IpAddr::V4(b)) => a.to_bits() >> 8 == b.to_bits() >> 8,
        (IpAddr::V6(a), IpAddr::V6(b)) => a.to_bits() >> 80 == b.to_bits() >> 80,
        _ => false,
    }
}

/// Whether an address is of a local network, as the settings list them.
pub(super) fn is_lan(settings: &Settings, from: SocketAddr) -> bool {
    settings.networks(key::SV_LAN_NETWORKS).contains(from.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: BucketLimit = BucketLimit { burst: 10, period: Millis(1000) };

    fn address(ip: &str) -> SocketAddr {
        SocketAddr::new(ip.parse().unwrap(), 27960)
    }

    #[test]
    fn a_burst_passes_then_one_per_period() {
        let mut limiter = AddressLimiter::new(1);
        let from = address("192.0.2.7");
        let mut allowed = |now| (0..30).filter(|_| limiter.allows(now, from, TEN)).count();
        assert_eq!(allowed(Millis(5000)), 10);
        assert_eq!(allowed(Millis(8050)), 3);
        assert_eq!(allowed(Millis(60_000)), 10);
    }

    #[test]
    fn a_flow_keeps_its_rate_however_long_answers_are() {
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
    fn neighbours_of_one_ipv6_network_are_one() {
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

    #[test]
    fn local_networks_are_told_from_the_world() {
        let mut settings = Settings::default();
        for lan in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.9.9",
            "169.254.7.7",
            "::ffff:10.1.2.3",
            "::1",
            "fe80::1",
            "fd00::1",
        ] {
            assert!(is_lan(&settings, address(lan)), "{lan}");
        }
        for wan in ["8.8.8.8", "172.32.0.1", "2001:db8::1", "169.253.0.1"] {
            assert!(!is_lan(&settings, address(wan)), "{wan}");
        }
        settings.set("sv_lanNetworks", "127.0.0.0/8 ::1").expect("a list of networks");
        assert!(!is_lan(&settings, address("172.17.0.1")), "a container's gateway");
        assert!(is_lan(&settings, address("127.0.0.1")));
    }
}
