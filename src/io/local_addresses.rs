//! Addresses of this machine: whether a reply must name the address that it leaves from.
//!
//! A socket on all addresses replies from the address that the system chooses, and a peer that asked another one
//! drops the reply. Naming the address costs a system call for each datagram, so it is named only where the
//! choice could differ.
//! Source: ip(7) and ipv6(7), `IP_PKTINFO`; RFC 6724 for IPv6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::model::Millis;

/// Interval at which the addresses are read again while datagrams arrive.
const READ_INTERVAL: Millis = Millis::seconds(10);

/// Addresses of this machine that the system may choose.
#[derive(Debug, Default)]
pub(super) struct LocalAddresses {
    /// The only IPv4 address besides those of the loopback.
    only_v4: Option<Ipv4Addr>,
    /// The only global IPv6 address.
    only_v6: Option<Ipv6Addr>,
    read_due: Millis,
}

impl LocalAddresses {
    /// Returns the local address of a received datagram if a reply to `remote` could leave from another one.
    pub(super) fn needed(&mut self, now: Millis, local: IpAddr, remote: IpAddr) -> Option<IpAddr> {
        if is_chosen_always(local, remote) {
            return None;
        }
        if now >= self.read_due {
            *self = Self { read_due: now + READ_INTERVAL, ..Self::of(machine_addresses()) };
        }
        (!self.is_chosen(local, remote)).then_some(local)
    }

    fn of(addresses: impl Iterator<Item = IpAddr>) -> Self {
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for address in addresses {
            match address {
                IpAddr::V4(ip) if !ip.is_loopback() => v4.push(ip),
                IpAddr::V6(ip) if !ip.is_loopback() && !ip.is_unicast_link_local() => v6.push(ip),
                IpAddr::V4(_) | IpAddr::V6(_) => {}
            }
        }
        Self { only_v4: only(&v4), only_v6: only(&v6), read_due: Millis(0) }
    }

    /// Whether the system chooses `local` for a peer on another machine, since it has no other address.
    fn is_chosen(&self, local: IpAddr, remote: IpAddr) -> bool {
        match (local, remote) {
            (IpAddr::V4(local), IpAddr::V4(remote)) => {
                !remote.is_loopback() && self.only_v4 == Some(local)
            }
            (IpAddr::V6(local), IpAddr::V6(remote)) => {
                !remote.is_loopback()
                    && !remote.is_unicast_link_local()
                    && self.only_v6 == Some(local)
            }
            _ => false,
        }
    }
}

/// Whether the system chooses `local` on any machine: for itself, and on the loopback.
fn is_chosen_always(local: IpAddr, remote: IpAddr) -> bool {
    match local {
        IpAddr::V4(ip) if ip.is_loopback() => ip == Ipv4Addr::LOCALHOST && remote.is_loopback(),
        IpAddr::V4(_) | IpAddr::V6(_) => local == remote,
    }
}

fn only<T: Copy>(addresses: &[T]) -> Option<T> {
    match addresses {
        [one] => Some(*one),
        _ => None,
    }
}

/// Reads the addresses of the interfaces. None are known if that fails, so all replies name their address.
#[cfg(target_os = "linux")]
fn machine_addresses() -> impl Iterator<Item = IpAddr> {
    let interfaces = nix::ifaddrs::getifaddrs().into_iter().flatten();
    interfaces.filter_map(|interface| {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|v4| v4.ip().into());
        v4.or_else(|| address.as_sockaddr_in6().map(|v6| v6.ip().into()))
    })
}

/// Sockets of other systems do not tell the local address.
#[cfg(not(target_os = "linux"))]
fn machine_addresses() -> impl Iterator<Item = IpAddr> {
    std::iter::empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_named_where_system_may_choose_another() {
        let own = |list: &[&str]| LocalAddresses {
            read_due: Millis::NEVER,
            ..LocalAddresses::of(list.iter().map(|ip| ip.parse().unwrap()))
        };
        let one = ["127.0.0.1", "10.0.0.5", "::1", "fe80::5", "2001:db8::5"];
        let two = ["127.0.0.1", "10.0.0.5", "192.0.2.5", "2001:db8::5", "2001:db8:1::5"];
        for (addresses, local, remote, is_named) in [
            (&one, "10.0.0.5", "198.51.100.9", false),
            (&two, "10.0.0.5", "198.51.100.9", true),
            (&two, "192.0.2.5", "192.0.2.9", true),
            (&two, "10.0.0.5", "10.0.0.5", false),
            (&one, "10.0.0.5", "127.0.0.1", true),
            (&one, "127.0.0.1", "127.0.0.1", false),
            (&one, "127.0.0.1", "127.0.0.2", false),
            (&one, "127.0.1.1", "127.0.0.1", true),
            (&one, "127.0.0.2", "127.0.0.2", true),
            (&one, "127.0.0.1", "10.0.0.5", true),
            (&one, "2001:db8::5", "2001:db8:7::1", false),
            (&two, "2001:db8::5", "2001:db8:7::1", true),
            (&one, "2001:db8::5", "fe80::9", true),
            (&one, "fe80::5", "fe80::9", true),
            (&one, "::1", "::1", false),
        ] {
            let (local, remote) = (local.parse().unwrap(), remote.parse().unwrap());
            let named = own(addresses).needed(Millis(0), local, remote);
            assert_eq!(named, is_named.then_some(local), "{local} asked by {remote}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn addresses_of_the_machine_are_read() {
        assert!(machine_addresses().any(|ip| ip.is_loopback()));
    }
}
