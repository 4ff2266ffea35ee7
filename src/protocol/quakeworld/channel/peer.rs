//! Address of a client: address and qport name it, its port may change.
//!
//! Source: QuakeWorld protocol 28, qport.

use std::net::SocketAddr;

use crate::model::Qport;

/// Relation of a packet's sender to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMatch {
    /// The client, from its known port.
    Same,
    /// The client, from another port.
    Moved,
    /// Another client.
    Other,
}

/// Address and qport of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    address: SocketAddr,
    qport: Qport,
}

impl Peer {
    /// Creates the peer of a connection.
    #[must_use]
    pub const fn new(address: SocketAddr, qport: Qport) -> Self {
        Self { address, qport }
    }

    /// Returns the address to send to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the qport.
    #[must_use]
    pub const fn qport(&self) -> Qport {
        self.qport
    }

    /// Compares the sender of a packet. The port may differ.
    #[must_use]
    pub fn matches(&self, from: SocketAddr, qport: Qport) -> AddressMatch {
        if from.ip() != self.address.ip() || qport != self.qport {
            AddressMatch::Other
        } else if from == self.address {
            AddressMatch::Same
        } else {
            AddressMatch::Moved
        }
    }

    /// Moves the client to the port of a packet that its channel has accepted. Returns whether it changed.
    pub fn accept(&mut self, from: SocketAddr) -> bool {
        let is_moved = from != self.address;
        self.address = from;
        is_moved
    }
}
