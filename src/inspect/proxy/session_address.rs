//! Session addresses: source addresses of sessions towards the server, one for each host of clients.
//!
//! A server on the machine of the proxy would see all clients at one loopback address, which it trusts and exempts from limits
//! per address. With a network of session addresses it counts hosts and networks as it counts them on the Internet, and
//! bans them.
//!
//! Invariants: clients of one host share an address; hosts of one network (IPv4 /24, IPv6 /48) share a session network and
//! have different addresses there, in an IPv4 session network each IPv6 /56, the line of a provider. Hosts are found only with
//! the key. Different networks of clients may share an address by chance.

use std::{
    fmt,
    hash::{Hash, Hasher as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use siphasher::sip::SipHasher13;

use crate::limits::{AddressKey, SESSION_NETWORK};

/// Bits of a session address that tell hosts of a network apart: IPv4 /24 and IPv6 /48.
const HOST_BITS4: u8 = 8;
const HOST_BITS6: u8 = 16;

/// Network of session addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionNetwork {
    ip: IpAddr,
    prefix_len: u8,
}

impl SessionNetwork {
    /// Network for a server at an IPv4 loopback address.
    pub const LOOPBACK: Self =
        Self { ip: IpAddr::V4(SESSION_NETWORK.0), prefix_len: SESSION_NETWORK.1 };

    /// Whether the network has the family of an address.
    #[must_use]
    pub fn suits(self, server: IpAddr) -> bool {
        self.ip.is_ipv4() == server.to_canonical().is_ipv4()
    }

    /// Returns the address of a client's host. `key` must be secret.
    #[must_use]
    pub fn address_of(self, client: IpAddr, key: u64) -> IpAddr {
        let client = client.to_canonical();
        let network = hash(key, AddressKey::network(client));
        // Number of the /56 in its /48, and of the /64 in its /56. Servers count lines of providers.
        let [line, part] = match client {
            IpAddr::V4(ip) => [ip.octets()[3], 0],
            IpAddr::V6(ip) => [ip.octets()[6], ip.octets()[7]],
        };
        // The upper bits of the hash hide which host of a network has which address.
        let [low, high] = ((network >> 48) as u16).to_le_bytes();
        let (line, part) = (line ^ high, part ^ low);
        match self.ip {
            IpAddr::V4(ip) => {
                let network = (network as u32) << HOST_BITS4 & (u32::MAX >> self.prefix_len);
                Ipv4Addr::from_bits(ip.to_bits() | network | u32::from(line)).into()
            }
            IpAddr::V6(ip) => {
                let network = network << HOST_BITS6 & (u64::MAX >> self.prefix_len);
                let upper = network | u64::from(u16::from_be_bytes([line, part]));
                Ipv6Addr::from_bits(ip.to_bits() | u128::from(upper) << 64 | 1).into()
            }
        }
    }
}

fn hash(key: u64, part: impl Hash) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(key, !key);
    part.hash(&mut hasher);
    hasher.finish()
}

impl FromStr for SessionNetwork {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            "expected a network with its prefix length, 8 to 24 for IPv4 or 16 to 48 for IPv6, e.g. 198.18.0.0/15"
                .to_owned()
        };
        let (ip, prefix_len) = text.split_once('/').ok_or_else(expected)?;
        let ip: IpAddr = ip.parse().map_err(|_| expected())?;
        let prefix_len: u8 = prefix_len.parse().map_err(|_| expected())?;
        let (known, has_host_bits) = match ip {
            IpAddr::V4(ip) => {
                let known = (8..=24).contains(&prefix_len);
                (known, known && ip.to_bits() & (u32::MAX >> prefix_len) != 0)
            }
            IpAddr::V6(ip) => {
                let known = (16..=48).contains(&prefix_len);
                (known, known && ip.to_bits() & (u128::MAX >> prefix_len) != 0)
            }
        };
        if !known {
            return Err(expected());
        }
        if has_host_bits {
            return Err(format!(
                "address bits behind the prefix of {prefix_len} bits (expected zeros)"
            ));
        }
        Ok(Self { ip, prefix_len })
    }
}

impl fmt::Display for SessionNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix_len)
    }
}

/// Returns the key of a word, for session addresses that stay the same after a restart.
#[must_use]
pub fn session_key(word: &str) -> u64 {
    hash(0, word)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::limits::is_session_address;

    fn of(network: &str, client: &str, key: u64) -> IpAddr {
        network.parse::<SessionNetwork>().unwrap().address_of(client.parse().unwrap(), key)
    }

    #[test]
    fn session_addresses_keep_hosts_and_networks() {
        for network in
            ["127.64.0.0/10", "198.18.0.0/15", "10.0.0.0/24", "2001:db8::/32", "fd00::/48"]
        {
            // Two clients, and whether they have one session address and session network.
            for (a, b, alike) in [
                ("192.0.2.7", "::ffff:192.0.2.7", (true, true)),
                ("192.0.2.7", "192.0.2.8", (false, true)),
                ("2001:db8::1", "2001:db8::ffff:2", (true, true)),
                ("2001:db8::1", "2001:db8:0:100::1", (false, true)),
                ("2001:db8::1", "2001:db8:0:1::1", (!network.contains(':'), true)),
            ] {
                let [a, b] = [a, b].map(|client| of(network, client, 5));
                let networks = [a, b].map(AddressKey::network);
                assert_eq!((a == b, networks[0] == networks[1]), alike, "{network}: {a} {b}");
            }
        }
        let far = ["192.0.2.7", "198.51.100.7"].map(|client| of("127.64.0.0/10", client, 5));
        assert_ne!(AddressKey::network(far[0]), AddressKey::network(far[1]));
    }

    #[test]
    fn session_addresses_stay_in_their_network() {
        let network: SessionNetwork = "198.18.0.0/15".parse().unwrap();
        for key in 0..2000 {
            for client in ["203.0.113.255", "2001:db8:1:2::3"] {
                let client = client.parse().unwrap();
                let address = network.address_of(client, key).to_string();
                assert!(address.starts_with("198.18.") || address.starts_with("198.19."));
                assert!(is_session_address(SessionNetwork::LOOPBACK.address_of(client, key)));
            }
        }
        let six = of("2001:db8::/32", "203.0.113.1", 3);
        assert!(six.to_string().starts_with("2001:db8:"), "{six}");
    }

    #[test]
    fn hosts_of_a_network_have_different_addresses() {
        let addresses = (0..=255).map(|host| of("127.64.0.0/10", &format!("192.0.2.{host}"), 9));
        assert_eq!(addresses.collect::<HashSet<_>>().len(), 256);
        let lines =
            (0..=255).map(|line| of("127.64.0.0/10", &format!("2001:db8:0:{line:x}00::1"), 9));
        assert_eq!(lines.collect::<HashSet<_>>().len(), 256);
        let parts = (0..=255).map(|part| of("fd00::/48", &format!("2001:db8:0:{part:x}::1"), 9));
        assert_eq!(parts.collect::<HashSet<_>>().len(), 256);
        // Networks are drawn from 16,384.
        let networks = (0..=255).map(|net| of("127.64.0.0/10", &format!("192.0.{net}.1"), 9));
        assert!(networks.collect::<HashSet<_>>().len() > 250);
    }

    #[test]
    fn addresses_depend_on_the_key_alone() {
        let key = session_key("ours");
        assert_eq!(key, session_key("ours"));
        assert_ne!(key, session_key("others"));
        let client = "192.0.2.7";
        assert_eq!(of("127.64.0.0/10", client, key), of("127.64.0.0/10", client, key));
        let other = of("127.64.0.0/10", client, session_key("others"));
        assert_ne!(of("127.64.0.0/10", client, key), other);
    }

    #[test]
    fn invalid_networks_are_named() {
        for text in
            ["", "127.64.0.0", "127.64.0.0/25", "0.0.0.0/0", "x/10", "2001:db8::/64", "::/129"]
        {
            let error = text.parse::<SessionNetwork>().unwrap_err();
            assert!(error.contains("8 to 24 for IPv4"), "{text}: {error}");
        }
        let error = "127.64.0.1/10".parse::<SessionNetwork>().unwrap_err();
        assert!(error.contains("expected zeros"), "{error}");
        assert_eq!("127.64.0.0/10".parse(), Ok(SessionNetwork::LOOPBACK));
        assert_eq!(SessionNetwork::LOOPBACK.to_string(), "127.64.0.0/10");
        assert!(SessionNetwork::LOOPBACK.suits("::ffff:127.0.0.1".parse().unwrap()));
    }
}
