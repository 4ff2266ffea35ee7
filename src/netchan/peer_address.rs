//! Where a peer is, as a server sees it: an address, and the qport that stays when a router gives the
//! client another port.
//!
//! Invariant: the address changes only through [`PeerAddress::rebind`], which the caller calls for a message
//! that proved good, and at most once a second: a forged datagram cannot take a client's place.
//! Source: Quake III protocol 68, address and qport matching.

use std::net::SocketAddr;

use crate::model::{Millis, Qport};

/// Least time between two changes of port.
const REBIND_INTERVAL: Millis = Millis::seconds(1);

/// Address and qport of a client.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress {
    address: SocketAddr,
    qport: Qport,
    rebound_at: Option<Millis>,
}

/// How a datagram's sender compares with a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMatch {
    /// The client, from where it was.
    Exact,
    /// The client's host and qport from another port: the client, if the message proves good and no
    /// other client is [`AddressMatch::Exact`].
    PortChanged,
    /// Somebody else.
    Mismatch,
}

impl PeerAddress {
    /// A client that proved its address.
    #[must_use]
    pub const fn new(address: SocketAddr, qport: Qport) -> Self {
        Self { address, qport, rebound_at: None }
    }

    /// Where messages go.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number the client chose.
    #[must_use]
    pub const fn qport(&self) -> Qport {
        self.qport
    }

    /// Whether a datagram from that address with that qport is this client's.
    #[must_use]
    pub fn match_source(&self, from: SocketAddr, qport: Qport) -> AddressMatch {
        if qport != self.qport || from.ip().to_canonical() != self.address.ip().to_canonical() {
            AddressMatch::Mismatch
        } else if from.port() == self.address.port() {
            AddressMatch::Exact
        } else {
            AddressMatch::PortChanged
        }
    }

    /// Sends messages to the port that a good message of this client came from, from now on. Returns
    /// whether the port changed; it does not within a second of the last change.
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
    fn host_and_qport_make_the_client_and_n11_the_port_decides_between_two() {
        let remote = PeerAddress::new(at(1, 27_960), Qport(7));
        assert_eq!(remote.match_source(at(1, 27_960), Qport(7)), AddressMatch::Exact);
        assert_eq!(remote.match_source(at(1, 27_961), Qport(7)), AddressMatch::PortChanged);
        assert_eq!(remote.match_source(at(1, 27_960), Qport(8)), AddressMatch::Mismatch);
        assert_eq!(remote.match_source(at(2, 27_960), Qport(7)), AddressMatch::Mismatch);
        let mapped = "[::ffff:10.0.0.1]:27960".parse().expect("an address");
        assert_eq!(remote.match_source(mapped, Qport(7)), AddressMatch::Exact);
    }

    #[test]
    fn n1_the_port_is_followed_at_most_once_a_second() {
        let mut remote = PeerAddress::new(at(1, 1), Qport(7));
        assert!(!remote.rebind(Millis(0), at(1, 1)));
        assert!(remote.rebind(Millis(0), at(1, 2)));
        assert!(!remote.rebind(Millis(999), at(1, 3)));
        assert_eq!(remote.address(), at(1, 2));
        assert!(remote.rebind(Millis(1000), at(1, 3)));
        assert_eq!(remote.address(), at(1, 3));
    }
}
