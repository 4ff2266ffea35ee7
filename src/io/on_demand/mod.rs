//! Ports on demand: sockets that a node opens and closes while it runs.
//!
//! Their traffic goes directly to the peer or through a SOCKS5 server.
//!
//! Invariants: a port that cannot be opened is reported to the node and nothing else; closing a port closes its
//! sockets and its association at once; event tokens of associations never equal those of sockets.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use mio::{Interest, Registry, Token};

use super::{
    association::{Association, RelayFault, Socks5Server},
    batch::Family,
    bind::{BindError, CLIENT_BUFFER_BYTES, open},
    socket::{Port, Socket, Sockets},
    socks5::Socks5,
};
use crate::{
    model::Millis,
    node::{LocalPort, LoopCounters, PortChange, Route},
};

/// First event token of associations. Sockets have lower ones: two for each of 65,536 ports.
const FIRST_ASSOCIATION: usize = 1 << 20;
/// Open files besides the ports on demand.
const OTHER_FILES: u64 = 128;

/// State of ports on demand.
#[derive(Default)]
pub(super) struct OnDemand {
    /// SOCKS5 server of all ports on demand.
    relay: Option<Arc<Socks5Server>>,
    /// Ports that could not be opened.
    failed: Vec<LocalPort>,
    has_warned: bool,
}

/// Returns the number of the socket whose association has this event token.
pub(super) fn association_of(token: Token) -> Option<usize> {
    token.0.checked_sub(FIRST_ASSOCIATION).filter(|number| *number < FIRST_ASSOCIATION)
}

fn association_token(number: usize) -> Token {
    Token(FIRST_ASSOCIATION + number)
}

impl Sockets {
    /// Prepares for `count` ports on demand, and sends their traffic through a SOCKS5 server if one is given.
    ///
    /// Raises the process's limit of open files as far as necessary and allowed.
    #[must_use]
    pub fn with_ports_on_demand(mut self, count: u16, relay: Option<Socks5>) -> Self {
        // An association takes a second file for its control connection.
        let files = u64::from(count) * if relay.is_some() { 2 } else { 1 };
        #[cfg(unix)]
        super::open_files::raise_open_files(files + OTHER_FILES);
        let _ = files;
        self.on_demand.relay = relay.map(|relay| Arc::new(Socks5Server::new(relay)));
        self
    }

    /// Applies a change of the node's ports.
    pub(super) fn change_port(&mut self, change: PortChange, registry: &Registry) {
        match change {
            PortChange::Close(local) => self.close_port(local, registry),
            PortChange::Open { local, peer, source } => {
                self.close_port(local, registry);
                if let Err(error) = self.open_port((local, source), peer, registry) {
                    // The next one fails for the same reason, usually the limit of open files.
                    if !std::mem::replace(&mut self.on_demand.has_warned, true) {
                        log::warn!("port {} not opened: {error}", local.0);
                    }
                    self.on_demand.failed.push(local);
                }
            }
        }
    }

    fn open_port(
        &mut self,
        (local, source): (LocalPort, Option<IpAddr>),
        peer: SocketAddr,
        registry: &Registry,
    ) -> Result<(), BindError> {
        let reached = self.on_demand.relay.as_ref().map_or(peer, |relay| relay.address());
        let any: IpAddr = match reached.ip().to_canonical() {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let ip = source.unwrap_or(any);
        let udp = open(SocketAddr::new(ip, 0), CLIENT_BUFFER_BYTES)?;
        let mut socket = Socket::new(udp, local);
        socket.association =
            self.on_demand.relay.clone().map(|relay| Box::new(Association::new(relay, peer)));
        let entry = self.sockets.vacant_entry();
        let number = entry.key();
        let token = Token(number);
        registry
            .register(&mut socket.udp, token, Interest::READABLE)
            .map_err(|source| BindError::Io { address: SocketAddr::new(ip, 0), source })?;
        let mut port = Port::default();
        match socket.family {
            Family::V4 => port.v4 = Some(number),
            Family::V6 => port.v6 = Some(number),
        }
        entry.insert(socket);
        let place = usize::from(local.0);
        if self.ports.len() <= place {
            self.ports.resize(place + 1, Port::default());
        }
        self.ports[place] = port;
        Ok(())
    }

    fn close_port(&mut self, local: LocalPort, registry: &Registry) {
        let Some(port) = self.ports.get_mut(usize::from(local.0)) else { return };
        let port = std::mem::take(port);
        for number in [port.v4, port.v6].into_iter().flatten() {
            if let Some(mut socket) = self.sockets.try_remove(number) {
                // Closing the descriptor removes it from the poll as well.
                let _ = registry.deregister(&mut socket.udp);
            }
        }
    }

    /// Returns a port that could not be opened since the last call.
    pub(super) fn next_failed_port(&mut self) -> Option<LocalPort> {
        self.on_demand.failed.pop()
    }

    /// Returns the socket for a datagram and its destination, after adding the header of a relay.
    pub(super) fn address_datagram(
        &mut self,
        route: Route,
        packet: &mut Vec<u8>,
    ) -> Result<(usize, SocketAddr), NotSent> {
        if self.on_demand.relay.is_none() {
            return self.socket_for(route).ok_or(NotSent::NoSocket);
        }
        let any_family = self.ports.get(usize::from(route.local.0)).copied().unwrap_or_default();
        let number = any_family.v4.or(any_family.v6);
        if let Some(number) = number
            && let Some(association) =
                self.sockets.get_mut(number).and_then(|s| s.association.as_mut())
        {
            let relay = association.wrap(route.remote, packet);
            return relay.map(|relay| (number, relay)).ok_or(NotSent::Waiting);
        }
        self.socket_for(route).ok_or(NotSent::NoSocket)
    }

    /// Returns sender and payload of a received datagram, without the header of a relay.
    ///
    /// # Errors
    /// It is not of the relay, or its header is invalid.
    pub(super) fn unwrap_datagram<'a>(
        &self,
        number: usize,
        remote: SocketAddr,
        bytes: Option<&'a [u8]>,
    ) -> Result<(SocketAddr, Option<&'a [u8]>), RelayFault> {
        let association = self.sockets.get(number).and_then(|socket| socket.association.as_ref());
        match (association, bytes) {
            (Some(association), Some(bytes)) => {
                association.unwrap(remote, bytes).map(|(remote, bytes)| (remote, Some(bytes)))
            }
            _ => Ok((remote, bytes)),
        }
    }

    /// Handles an event of the association of a socket.
    pub(super) fn handle_association(
        &mut self,
        number: usize,
        now: Millis,
        registry: &Registry,
        counters: &mut LoopCounters,
    ) {
        let batching = self.batching;
        let Some(socket) = self.sockets.get_mut(number) else { return };
        let Some(association) = &mut socket.association else { return };
        let waiting = association.handle_event(now, registry);
        let Some(relay) = association.relay() else { return };
        let to = vec![relay; waiting.len()];
        socket.send(&waiting, (&to, None), batching, (registry, Token(number)), counters);
    }

    /// Time of the next [`Self::run_associations`].
    pub(super) fn associations_due(&self) -> Millis {
        if self.on_demand.relay.is_none() {
            return Millis::NEVER;
        }
        let due = self.sockets.iter().filter_map(|(_, socket)| socket.association.as_ref());
        due.map(|association| association.due()).min().unwrap_or(Millis::NEVER)
    }

    /// Runs the attempts and time limits of associations that are due.
    pub(super) fn run_associations(
        &mut self,
        now: Millis,
        registry: &Registry,
        counters: &mut LoopCounters,
    ) {
        if self.on_demand.relay.is_none() {
            return;
        }
        let batching = self.batching;
        if let Some(relay) = &self.on_demand.relay {
            let counts = relay.counts();
            (counters.relay_begun, counters.relay_failed) = (counts.begun, counts.failed);
        }
        for (number, socket) in &mut self.sockets {
            let Some(association) = &mut socket.association else { continue };
            let waiting = association.run_due(now, (registry, association_token(number)));
            if let Some(relay) = association.relay().filter(|_| !waiting.is_empty()) {
                let to = vec![relay; waiting.len()];
                socket.send(&waiting, (&to, None), batching, (registry, Token(number)), counters);
            }
        }
    }
}

/// Reasons why a datagram is not sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotSent {
    /// No socket of the address family.
    NoSocket,
    /// The relay is not known yet.
    Waiting,
}

#[cfg(test)]
mod tests;
