//! Whoever takes part in a simulation, as one kind of node.

use super::Player;
use crate::{
    bots::Bots,
    model::Millis,
    node::{Node, Route},
    server::Server,
};

/// One node of a simulation.
pub enum Actor {
    /// A server.
    Server(Box<Server>),
    /// A client with somebody at the keys.
    Player(Box<Player>),
    /// Many clients that play by themselves.
    Bots(Box<Bots>),
}

impl Actor {
    fn node(&self) -> &dyn Node {
        match self {
            Self::Server(server) => &**server,
            Self::Player(player) => &**player,
            Self::Bots(bots) => &**bots,
        }
    }

    fn node_mut(&mut self) -> &mut dyn Node {
        match self {
            Self::Server(server) => &mut **server,
            Self::Player(player) => &mut **player,
            Self::Bots(bots) => &mut **bots,
        }
    }

    /// The server, if it is one.
    #[must_use]
    pub fn server(&self) -> Option<&Server> {
        if let Self::Server(server) = self { Some(server) } else { None }
    }

    /// The player, if it is one.
    pub fn player(&mut self) -> Option<&mut Player> {
        if let Self::Player(player) = self { Some(player) } else { None }
    }
}

impl Node for Actor {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.node_mut().handle_datagram(now, route, bytes);
    }

    fn handle_line(&mut self, now: Millis, line: &str) {
        self.node_mut().handle_line(now, line);
    }

    fn frame(&mut self, now: Millis) {
        self.node_mut().frame(now);
    }

    fn next_frame(&self) -> Millis {
        self.node().next_frame()
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.node_mut().poll_transmit(packet)
    }

    fn poll_log(&mut self) -> Option<String> {
        self.node_mut().poll_log()
    }

    fn poll_output(&mut self) -> Option<String> {
        self.node_mut().poll_output()
    }

    fn local_ports(&self) -> u16 {
        self.node().local_ports()
    }

    fn stop(&mut self, now: Millis, reason: &str) {
        self.node_mut().stop(now, reason);
    }

    fn is_finished(&self) -> bool {
        self.node().is_finished()
    }
}
