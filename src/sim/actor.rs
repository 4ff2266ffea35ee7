//! Whoever takes part in a simulation, as one kind of node.

use super::Player;
use crate::{
    bots::Bots,
    journal::Recording,
    model::Millis,
    node::{LoopCounters, Node, Route},
    server::Server,
};

/// One node of a simulation.
pub enum Actor {
    /// A server.
    Server(Box<Server>),
    /// A server whose inputs are written down.
    Recorded(Box<Recording<Server>>),
    /// A client with somebody at the keys.
    Player(Box<Player>),
    /// Many clients that play by themselves.
    Bots(Box<Bots>),
    /// An address where nobody is.
    Nobody,
}

/// Says nothing and hears nothing.
struct Nobody;

impl Node for Nobody {
    fn handle_datagram(&mut self, _: Millis, _: Route, _: &[u8]) {}
    fn frame(&mut self, _: Millis) {}
    fn next_frame(&self) -> Millis {
        Millis::NEVER
    }
    fn poll_transmit(&mut self, _: &mut Vec<u8>) -> Option<Route> {
        None
    }
    fn stop(&mut self, _: Millis, _: &str) {}
    fn is_finished(&self) -> bool {
        true
    }
}

impl Actor {
    fn node(&self) -> &dyn Node {
        match self {
            Self::Server(server) => &**server,
            Self::Recorded(server) => &**server,
            Self::Player(player) => &**player,
            Self::Bots(bots) => &**bots,
            Self::Nobody => &Nobody,
        }
    }

    fn node_mut(&mut self) -> Option<&mut dyn Node> {
        Some(match self {
            Self::Server(server) => &mut **server,
            Self::Recorded(server) => &mut **server,
            Self::Player(player) => &mut **player,
            Self::Bots(bots) => &mut **bots,
            Self::Nobody => return None,
        })
    }

    /// The server, if it is one.
    #[must_use]
    pub fn server(&self) -> Option<&Server> {
        match self {
            Self::Server(server) => Some(server),
            Self::Recorded(server) => Some(server.node()),
            Self::Player(_) | Self::Bots(_) | Self::Nobody => None,
        }
    }

    /// The bots, if it is some.
    #[must_use]
    pub fn bots(&self) -> Option<&Bots> {
        if let Self::Bots(bots) = self { Some(bots) } else { None }
    }

    /// The player, if it is one.
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

    fn handle_line(&mut self, now: Millis, line: &str) {
        if let Some(node) = self.node_mut() {
            node.handle_line(now, line);
        }
    }

    fn note_loop(&mut self, now: Millis, counters: &LoopCounters) {
        if let Some(node) = self.node_mut() {
            node.note_loop(now, counters);
        }
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

    fn poll_output(&mut self) -> Option<String> {
        self.node_mut()?.poll_output()
    }

    fn poll_log(&mut self) -> Option<String> {
        self.node_mut()?.poll_log()
    }

    fn local_ports(&self) -> u16 {
        self.node().local_ports()
    }

    fn stop(&mut self, now: Millis, reason: &str) {
        if let Some(node) = self.node_mut() {
            node.stop(now, reason);
        }
    }

    fn is_finished(&self) -> bool {
        self.node().is_finished()
    }
}
