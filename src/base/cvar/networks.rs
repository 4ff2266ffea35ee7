//! Network lists in settings: addresses with an optional prefix length, separated by spaces.
//!
//! `any` matches all addresses, `private` those of this machine and of local networks. The empty list
//! matches none. `private` leaves 127.64.0.0/10 out: `fragd proxy` uses it for clients from anywhere.
//!
//! Invariant: prefix lengths fit their address family. An IPv4 address inside IPv6 counts as IPv4.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::SettingKind;

/// Loopback without clients of a proxy (127.64.0.0/10), private, link-local and unique-local networks.
const PRIVATE: [&str; 9] = [
    "127.0.0.0/10",
    "127.128.0.0/9",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "::1",
    "fe80::/10",
    "fc00::/7",
];

/// List of networks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<Network>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    prefix_len: u8,
}

impl Networks {
    pub(crate) const fn list() -> SettingKind {
        SettingKind::Networks
    }

    /// Parses a list; `None` when a part is not a network.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut networks = Vec::new();
        for part in text.split_ascii_whitespace() {
            if part.eq_ignore_ascii_case("private") {
                networks.extend(PRIVATE.iter().filter_map(|network| Network::parse(network)));
            } else if part.eq_ignore_ascii_case("any") {
                networks.push(Network { address: Ipv4Addr::UNSPECIFIED.into(), prefix_len: 0 });
                networks.push(Network { address: Ipv6Addr::UNSPECIFIED.into(), prefix_len: 0 });
            } else {
                networks.push(Network::parse(part)?);
            }
        }
        Some(Self(networks))
    }

    /// Whether all networks are loopback networks, and none of them is for clients of a proxy alone.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.0.iter().all(|network| {
            let most = if network.address.is_ipv4() { 8 } else { 128 };
            let is_own = match network.address {
                IpAddr::V4(ip) => network.prefix_len < 10 || ip.octets()[1] & 0xc0 != 64,
                IpAddr::V6(_) => true,
            };
            network.address.is_loopback() && network.prefix_len >= most && is_own
        })
    }

    /// Whether a network of the list holds `address`.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(address))
    }
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix_len = match prefix {
            Some(prefix) => prefix.parse().ok().filter(|&len| len <= longest)?,
            None => longest,
        };
        Some(Self { address, prefix_len })
    }

    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                let differing = ours.to_bits() ^ theirs.to_bits();
                differing.leading_zeros() >= u32::from(self.prefix_len)
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => {
                let differing = ours.to_bits() ^ theirs.to_bits();
                differing.leading_zeros() >= u32::from(self.prefix_len)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(list: &str, address: &str, expected: bool) {
        let networks = Networks::parse(list).unwrap_or_else(|| panic!("{list:?} is a list"));
        assert_eq!(networks.contains(address.parse().unwrap()), expected, "{address} in {list:?}");
    }

    #[test]
    fn loopback_networks_are_recognized() {
        for (list, loopback) in [
            ("127.0.0.0/8 ::1", true),
            ("", true),
            ("127.0.0.1", true),
            ("127.0.0.0/7", false),
            ("127.0.0.0/10 127.128.0.0/9 ::1", true),
            ("127.64.0.0/10", false),
            ("127.0.0.1 127.64.3.7", false),
            ("::1/64", false),
            ("127.0.0.1 10.0.0.0/8", false),
            ("any", false),
        ] {
            assert_eq!(Networks::parse(list).unwrap().is_loopback(), loopback, "{list:?}");
        }
    }

    #[test]
    fn addresses_match_by_prefix() {
        check("127.0.0.0/8 ::1", "127.3.2.1", true);
        check("127.0.0.0/8 ::1", "128.0.0.1", false);
        check("127.0.0.0/8 ::1", "::1", true);
        check("127.0.0.0/8 ::1", "::2", false);
        check("127.0.0.0/8", "::ffff:127.0.0.1", true);
        check("10.1.2.3", "10.1.2.3", true);
        check("10.1.2.3", "10.1.2.2", false);
        check("0.0.0.0/0", "2001:db8::1", false);
        check("2001:db8::/33", "2001:db8:7fff::1", true);
        check("2001:db8::/33", "2001:db8:8000::1", false);
        check("any", "2001:db8::1", true);
        check("any", "8.8.8.8", true);
        check("", "127.0.0.1", false);
        check("Private 192.0.2.0/24", "10.9.9.9", true);
        check("Private 192.0.2.0/24", "192.0.2.9", true);
        check("private", "192.0.2.9", false);
        for own in ["127.0.0.1", "127.63.255.255", "127.128.0.0", "127.255.255.254"] {
            check("private", own, true);
        }
        for of_proxy in ["127.64.0.0", "127.127.255.255", "::ffff:127.64.3.7"] {
            check("private", of_proxy, false);
        }
        assert_eq!(Networks::parse("private").map(|networks| networks.0.len()), Some(9));
    }

    #[test]
    fn invalid_networks_are_rejected() {
        for list in
            ["10.0.0.0/33", "::/129", "10.0.0", "localhost", "10.0.0.0/", "1.2.3.4/-1", "/8"]
        {
            assert_eq!(Networks::parse(list), None, "{list:?}");
        }
    }
}
