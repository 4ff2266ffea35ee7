//! Address of a client: remote address and qport, with NAT rebinding, and its local address.
//!
//! Invariant: the address changes only through [`PeerAddress::rebind`], called for a decoded
//! message, and at most once a second. A forged datagram therefore cannot take over a connection.
//! Source: Quake III protocol 68, address and qport matching.

use std::net::{IpAddr, SocketAddr};

use crate::model::{Millis, Qport};

/// Minimum interval between two port changes.
const REBIND_INTERVAL: Millis = Millis::seconds(1);

/// Address and qport of a client.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress {
    address: SocketAddr,
    /// Local address of the connection, from which messages leave. `None`: the one that the system chooses.
    local_ip: Option<IpAddr>,
    qport: Qport,
    rebound_at: Option<Millis>,
}

/// Comparison of a datagram's source with a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMatch {
    /// Same address and qport.
    Exact,
    /// Same host and qport, but another port. It is the client if the message is valid and no other
    /// client is [`AddressMatch::Exact`].
    PortChanged,
    /// Another sender.
    Mismatch,
}

impl PeerAddress {
    /// Creates the address of a client that has proved it.
    #[must_use]
    pub const fn new(address: SocketAddr, qport: Qport) -> Self {
        Self { address, local_ip: None, qport, rebound_at: None }
    }

    /// Sets the local address that the client talks to.
    #[must_use]
    pub const fn with_local_ip(mut self, local_ip: Option<IpAddr>) -> Self {
        self.local_ip = local_ip;
        self
    }

    /// Local address that the client talks to, if it is known and matters.
    #[must_use]
    pub const fn local_ip(&self) -> Option<IpAddr> {
        self.local_ip
    }

    /// Destination of messages.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Qport of the client.
    #[must_use]
    pub const fn qport(&self) -> Qport {
        self.qport
    }

    /// Compares the source of a datagram with this client.
    #[must_use]
    pub fn match_source(&self, from: SocketAddr, qport: Qport) -> AddressMatch {
        if qport != self.qport {
            AddressMatch::Mismatch
        } else if from == self.address {
            // The usual case, without a conversion of addresses.
            AddressMatch::Exact
        } else if from.ip().to_canonical() != self.address.ip().to_canonical() {
            AddressMatch::Mismatch
        } else if from.port() == self.address.port() {
            AddressMatch::Exact
        } else {
            AddressMatch::PortChanged
        }
    }

    /// Follows a valid message to its source port and returns whether the port changed. It does not
    /// change within a second of the last change.
    pub fn rebind(&mut self, now: Millis, from: SocketAddr) -> bool {
        let too_soon = self.rebound_at.is_some_and(|last| now.since(last) < REBIND_INTERVAL);
        if from.port() == self.address.port() || too_soon {
            return false;
        }
        self.address.set_port(from.port());
        self.rebound_at = Some(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(host: u8, port: u16) -> SocketAddr {
        ([10, 0, 0, host], port).into()
    }

    #[test]
    fn n11_client_matches_by_host_and_qport_then_port() {
        let remote = PeerAddress::new(at(1, 27_960), Qport(7));
        assert_eq!(remote.match_source(at(1, 27_960), Qport(7)), AddressMatch::Exact);
        assert_eq!(remote.match_source(at(1, 27_961), Qport(7)), AddressMatch::PortChanged);
        assert_eq!(remote.match_source(at(1, 27_960), Qport(8)), AddressMatch::Mismatch);
        assert_eq!(remote.match_source(at(2, 27_960), Qport(7)), AddressMatch::Mismatch);
        let mapped = "[::ffff:10.0.0.1]:27960".parse().expect("an address");
        assert_eq!(remote.match_source(mapped, Qport(7)), AddressMatch::Exact);
    }

    #[test]
    fn n1_rebind_is_limited_to_once_a_second() {
        let mut remote = PeerAddress::new(at(1, 1), Qport(7));
        assert!(!remote.rebind(Millis(0), at(1, 1)));
        assert!(remote.rebind(Millis(0), at(1, 2)));
        assert!(!remote.rebind(Millis(999), at(1, 3)));
        assert_eq!(remote.address(), at(1, 2));
        assert!(remote.rebind(Millis(1000), at(1, 3)));
        assert_eq!(remote.address(), at(1, 3));
    }
}
