//! Local network: broadcast addresses of the interfaces, permission to send there, multicast group.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::Sockets;

/// Multicast group of scans of the local network over IPv6.
pub const LAN_GROUP: Ipv6Addr = Ipv6Addr::new(0xff04, 0, 0, 0, 0x696f, 0x7175, 0x616b, 0x6533);

impl Sockets {
    /// Allows datagrams to broadcast addresses on every IPv4 socket.
    ///
    /// # Errors
    /// System errors of the sockets.
    pub fn allow_broadcast(&self) -> io::Result<()> {
        for (_, socket) in &self.sockets {
            if socket.udp.local_addr()?.is_ipv4() {
                socket.udp.set_broadcast(true)?;
            }
        }
        Ok(())
    }

    /// Joins [`LAN_GROUP`] with every IPv6 socket on every interface that accepts it.
    ///
    /// Returns the number of interfaces joined. An interface without multicast is not an error.
    #[must_use]
    pub fn join_lan_group(&self) -> usize {
        let join = |interface: u32| {
            let sockets = self.sockets.iter().map(|(_, socket)| &socket.udp);
            sockets.filter(|udp| udp.join_multicast_v6(&LAN_GROUP, interface).is_ok()).count() > 0
        };
        interfaces().into_iter().filter(|&interface| join(interface)).count()
    }
}

/// Returns the number of every interface that is up.
#[cfg(unix)]
fn interfaces() -> Vec<u32> {
    let mut found: Vec<u32> = nix::ifaddrs::getifaddrs()
        .into_iter()
        .flatten()
        .filter(|interface| interface.flags.contains(nix::net::if_::InterfaceFlags::IFF_UP))
        .filter_map(|interface| {
            nix::net::if_::if_nametoindex(interface.interface_name.as_str()).ok()
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns zero: the system chooses the interface.
#[cfg(not(unix))]
fn interfaces() -> Vec<u32> {
    vec![0]
}

/// Returns the broadcast address of every IPv4 interface, and the loopback network's for servers of this
/// machine.
#[must_use]
pub fn broadcast_addresses() -> Vec<IpAddr> {
    let mut found = vec![IpAddr::from(Ipv4Addr::new(127, 255, 255, 255))];
    #[cfg(unix)]
    for interface in nix::ifaddrs::getifaddrs().into_iter().flatten() {
        if let Some(address) =
            interface.broadcast.and_then(|address| address.as_sockaddr_in().copied())
        {
            found.push(address.ip().into());
        }
    }
    #[cfg(not(unix))]
    found.push(Ipv4Addr::BROADCAST.into());
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lan_group_is_the_group_of_ioquake3() {
        assert_eq!(LAN_GROUP.to_string(), "ff04::696f:7175:616b:6533");
        assert!(LAN_GROUP.is_multicast());
    }

    #[test]
    fn broadcast_addresses_are_distinct() {
        let found = broadcast_addresses();
        assert!(found.contains(&"127.255.255.255".parse().unwrap()));
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{found:?}");
        assert!(found.iter().all(|address| !address.is_unspecified()));
    }
}
