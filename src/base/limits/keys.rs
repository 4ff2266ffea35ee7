//! Address keys: host, site and network of an address, as limits count them.
//!
//! | key | IPv4 | IPv6 | holder |
//! |---|---|---|---|
//! | host | /32 | /64 | one machine, or all of one NAT |
//! | site | /32 | /56 | one line of a provider |
//! | network | /24 | /48 | a company or a school |
//!
//! Invariants: an IPv4-mapped address counts as IPv4; a key is never 0; keys of different widths are not compared.
//! A limit that is not counted by one of these keys is spent by a sender with a network of its own.

use std::net::{IpAddr, SocketAddr};

/// Bit of every IPv6 key.
const IPV6: u64 = 1 << 63;
/// Bit of every IPv4 key.
const IPV4: u64 = 1 << 32;

/// Host, site or network of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressKey(u64);

impl AddressKey {
    /// Placeholder of an empty table entry, which no address has.
    pub(crate) const NONE: Self = Self(0);

    /// Returns the host: the IPv4 address or the IPv6 /64.
    #[must_use]
    pub fn host(ip: IpAddr) -> Self {
        Self::cut(ip, 32, 64)
    }

    /// Returns the site: the IPv4 address or the IPv6 /56.
    #[must_use]
    pub fn site(ip: IpAddr) -> Self {
        Self::cut(ip, 32, 56)
    }

    /// Returns the network: the IPv4 /24 or the IPv6 /48.
    #[must_use]
    pub fn network(ip: IpAddr) -> Self {
        Self::cut(ip, 24, 48)
    }

    /// Whether the address is an IPv4 address.
    #[must_use]
    pub const fn is_ipv4(self) -> bool {
        self.0 & IPV6 == 0
    }

    /// Keeps the first bits of an address.
    fn cut(ip: IpAddr, bits4: u32, bits6: u32) -> Self {
        Self(match ip.to_canonical() {
            IpAddr::V4(ip) => IPV4 | u64::from(ip.to_bits() & u32::MAX << (32 - bits4)),
            IpAddr::V6(ip) => IPV6 | (ip.to_bits() >> 64) as u64 & u64::MAX << (64 - bits6),
        })
    }
}

/// Whether two addresses count as one host.
#[must_use]
pub fn same_host(a: SocketAddr, b: SocketAddr) -> bool {
    AddressKey::host(a.ip()) == AddressKey::host(b.ip())
}

/// Whether two addresses are in one network.
#[must_use]
pub fn same_network(a: SocketAddr, b: SocketAddr) -> bool {
    AddressKey::network(a.ip()) == AddressKey::network(b.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_count_addresses_by_their_width() {
        // Two addresses, and whether they have one host, site and network.
        for (a, b, alike) in [
            ("192.0.2.7", "192.0.2.7", [true, true, true]),
            ("192.0.2.7", "::ffff:192.0.2.7", [true, true, true]),
            ("192.0.2.7", "192.0.2.250", [false, false, true]),
            ("192.0.2.7", "192.0.3.7", [false, false, false]),
            ("2001:db8::1", "2001:db8::ffff:1", [true, true, true]),
            ("2001:db8:0:1200::1", "2001:db8:0:12ff::9", [false, true, true]),
            ("2001:db8:0:1200::1", "2001:db8:0:1300::1", [false, false, true]),
            ("2001:db8:0:1::1", "2001:db8:1:1::1", [false, false, false]),
            ("192.0.2.7", "2001:db8::1", [false, false, false]),
            ("0.0.0.0", "::", [false, false, false]),
        ] {
            let [a, b]: [IpAddr; 2] = [a, b].map(|text| text.parse().unwrap());
            let keys = [AddressKey::host, AddressKey::site, AddressKey::network];
            assert_eq!(keys.map(|key| key(a) == key(b)), alike, "{a} {b}");
            assert!(keys.iter().all(|key| key(a) != AddressKey::NONE));
            assert_eq!(AddressKey::host(a).is_ipv4(), a.to_canonical().is_ipv4());
        }
    }
}
