//! Reach of an address: this machine, local networks, the Internet.
//!
//! A program in the middle, such as a proxy or a router with NAT, gives its own address to the datagrams of others. Loopback
//! therefore proves nothing behind a proxy. [`SESSION_NETWORK`] is the part of it that `fragd proxy` uses for
//! datagrams of its clients, and no function here counts it as this machine.
//! Source: RFC 1918, 3927, 4193, 4291, 6598.

use std::net::{IpAddr, Ipv4Addr};

/// Loopback addresses of clients of a proxy: network and prefix length.
pub const SESSION_NETWORK: (Ipv4Addr, u8) = (Ipv4Addr::new(127, 64, 0, 0), 10);

/// Reach of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Loopback, also that of clients of a proxy.
    Loopback,
    /// Private, link-local, unique-local, or shared by the customers of a provider.
    Private,
    /// The Internet.
    Public,
}

impl Reach {
    /// Returns the reach of an address. Datagrams to the unspecified address stay on the machine.
    #[must_use]
    pub fn of(ip: IpAddr) -> Self {
        let ip = ip.to_canonical();
        if ip.is_loopback() || ip.is_unspecified() {
            return Self::Loopback;
        }
        let is_private = match ip {
            IpAddr::V4(ip) => {
                let [a, b, ..] = ip.octets();
                ip.is_private() || ip.is_link_local() || (a == 100 && b & 0xc0 == 64)
            }
            IpAddr::V6(ip) => ip.is_unicast_link_local() || ip.is_unique_local(),
        };
        if is_private { Self::Private } else { Self::Public }
    }

    /// Name in log lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Public => "public",
        }
    }
}

/// Whether an address is one of a client of a proxy on this machine.
#[must_use]
pub fn is_session_address(ip: IpAddr) -> bool {
    let (network, len) = SESSION_NETWORK;
    matches!(ip.to_canonical(), IpAddr::V4(ip) if (ip.to_bits() ^ network.to_bits()) >> (32 - len) == 0)
}

/// Whether an address is a loopback address of this machine's own programs, not of clients of a proxy.
#[must_use]
pub fn is_this_machine(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback() && !is_session_address(ip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_their_reach() {
        for (ip, reach) in [
            ("127.0.0.1", Reach::Loopback),
            ("127.64.0.1", Reach::Loopback),
            ("::1", Reach::Loopback),
            ("::ffff:127.0.0.1", Reach::Loopback),
            ("0.0.0.0", Reach::Loopback),
            ("10.1.2.3", Reach::Private),
            ("172.31.0.1", Reach::Private),
            ("192.168.0.1", Reach::Private),
            ("169.254.0.1", Reach::Private),
            ("100.64.0.1", Reach::Private),
            ("100.127.255.255", Reach::Private),
            ("fe80::1", Reach::Private),
            ("fd00::1", Reach::Private),
            ("100.128.0.1", Reach::Public),
            ("172.32.0.1", Reach::Public),
            ("192.0.2.1", Reach::Public),
            ("2001:db8::1", Reach::Public),
        ] {
            assert_eq!(Reach::of(ip.parse().unwrap()), reach, "{ip}");
        }
    }

    #[test]
    fn clients_of_a_proxy_are_not_this_machine() {
        for (ip, is_session, is_own) in [
            ("127.0.0.1", false, true),
            ("127.63.255.255", false, true),
            ("127.64.0.0", true, false),
            ("127.127.255.255", true, false),
            ("::ffff:127.100.1.2", true, false),
            ("127.128.0.0", false, true),
            ("::1", false, true),
            ("192.0.2.1", false, false),
        ] {
            let ip: IpAddr = ip.parse().unwrap();
            assert_eq!((is_session_address(ip), is_this_machine(ip)), (is_session, is_own), "{ip}");
        }
    }
}
