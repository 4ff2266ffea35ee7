//! Nodes of a simulation as one type: server, player, bots, proxy or offline.

use super::Player;
use crate::{
    bots::Bots,
    journal::Journaled,
    model::Millis,
    node::{Hosted, Input, Node, NodeState, Output, OutputKind, Route},
    proxy::Proxy,
    relay::Broadcast,
    server::Server,
};

/// One node of a simulation.
pub enum Actor {
    /// A server.
    Server(Box<Server>),
    /// A server with a recorded journal.
    Recorded(Box<Journaled<Server>>),
    /// A client with scripted input.
    Player(Box<Player>),
    /// Simulated clients of a load test.
    Bots(Box<Bots>),
    /// A broadcast to viewers.
    Broadcast(Box<Broadcast<'static>>),
    /// A proxy.
    Proxy(Box<Proxy>),
    /// An address without a node.
    Offline,
}

/// Node that ignores datagrams and sends none.
struct Offline;

impl Node for Offline {
    fn handle_datagram(&mut self, _: Millis, _: Route, _: &[u8]) {}
    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, _: Millis) {}
    fn next_frame(&self) -> Millis {
        Millis::NEVER
    }
    fn poll_transmit(&mut self, _: &mut Vec<u8>) -> Option<Route> {
        None
    }
    fn is_finished(&self) -> bool {
        true
    }
}

impl Hosted for Offline {
    fn handle_input(&mut self, _: Millis, _: Input<'_>) {}

    fn poll_output(&mut self, _: OutputKind) -> Option<Output> {
        None
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }
}

impl Actor {
    fn node(&self) -> &dyn Hosted {
        match self {
            Self::Server(server) => &**server,
            Self::Recorded(server) => &**server,
            Self::Player(player) => &**player,
            Self::Bots(bots) => &**bots,
            Self::Broadcast(broadcast) => &**broadcast,
            Self::Proxy(proxy) => &**proxy,
            Self::Offline => &Offline,
        }
    }

    fn node_mut(&mut self) -> Option<&mut dyn Hosted> {
        Some(match self {
            Self::Server(server) => &mut **server,
            Self::Recorded(server) => &mut **server,
            Self::Player(player) => &mut **player,
            Self::Bots(bots) => &mut **bots,
            Self::Broadcast(broadcast) => &mut **broadcast,
            Self::Proxy(proxy) => &mut **proxy,
            Self::Offline => return None,
        })
    }

    /// Returns the server, if the node is one.
    #[must_use]
    pub fn server(&self) -> Option<&Server> {
        match self {
            Self::Server(server) => Some(server),
            Self::Recorded(server) => Some(server.node()),
            Self::Player(_)
            | Self::Bots(_)
            | Self::Broadcast(_)
            | Self::Proxy(_)
            | Self::Offline => None,
        }
    }

    /// Returns the bots, if the node holds bots.
    #[must_use]
    pub fn bots(&self) -> Option<&Bots> {
        if let Self::Bots(bots) = self { Some(bots) } else { None }
    }

    /// Returns the broadcast, if the node is one.
    #[must_use]
    pub fn broadcast(&self) -> Option<&Broadcast<'static>> {
        if let Self::Broadcast(broadcast) = self { Some(broadcast) } else { None }
    }

    /// Returns the proxy, if the node is one.
    #[must_use]
    pub fn proxy(&self) -> Option<&Proxy> {
        if let Self::Proxy(proxy) = self { Some(proxy) } else { None }
    }

    /// Returns the player, if the node is one.
    pub fn player(&mut self) -> Option<&mut Player> {
        if let Self::Player(player) = self { Some(player) } else { None }
    }
}

impl Node for Actor {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        if let Some(node) = self.node_mut() {
            node.handle_datagram(now, route, bytes);
        }
    }

    fn expect_datagram(&self, bytes: &[u8]) {
        self.node().expect_datagram(bytes);
    }

    fn frame(&mut self, now: Millis) {
        if let Some(node) = self.node_mut() {
            node.frame(now);
        }
    }

    fn next_frame(&self) -> Millis {
        self.node().next_frame()
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.node_mut()?.poll_transmit(packet)
    }

    fn is_finished(&self) -> bool {
        self.node().is_finished()
    }
}

impl Hosted for Actor {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        if let Some(node) = self.node_mut() {
            node.handle_input(now, input);
        }
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        self.node_mut()?.poll_output(kind)
    }

    fn local_ports(&self) -> u16 {
        self.node().local_ports()
    }

    fn receive_coalescing(&self) -> Millis {
        self.node().receive_coalescing()
    }

    fn state(&self) -> NodeState {
        self.node().state()
    }

    fn drain_line(&self) -> Option<&'static str> {
        self.node().drain_line()
    }
}
