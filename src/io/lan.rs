//! Local network: broadcast addresses of the interfaces and permission to send there.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
};

use super::Sockets;

impl Sockets {
    /// Allows datagrams to broadcast addresses on every IPv4 socket.
    ///
    /// # Errors
    /// System errors of the sockets.
    pub fn allow_broadcast(&self) -> io::Result<()> {
        for socket in &self.sockets {
            if socket.udp.local_addr()?.is_ipv4() {
                socket.udp.set_broadcast(true)?;
            }
        }
        Ok(())
    }
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
    fn broadcast_addresses_are_distinct() {
        let found = broadcast_addresses();
        assert!(found.contains(&"127.255.255.255".parse().unwrap()));
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{found:?}");
        assert!(found.iter().all(|address| !address.is_unspecified()));
    }
}
