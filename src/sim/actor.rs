//! Nodes of a simulation as one type: server, player, bots, proxy or offline.

use super::Player;
use crate::{
    bots::Bots,
    broadcast::Broadcast,
    journal::Journaled,
    model::{FileWrite, Millis},
    node::{
        Hosted, LocalPort, Lookup, LookupAnswer, LoopCounters, Node, PortChange, RecordingPiece,
        Route,
    },
    proxy::Proxy,
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
    fn handle_console_line(&mut self, _: Millis, _: &str) {}

    fn set_loop_counters(&mut self, _: Millis, _: &LoopCounters) {}

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }

    fn poll_console(&mut self) -> Option<String> {
        None
    }

    fn poll_game_log(&mut self) -> Option<String> {
        None
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn stop(&mut self, _: Millis, _: &str) {}
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
    fn handle_console_line(&mut self, now: Millis, line: &str) {
        if let Some(node) = self.node_mut() {
            node.handle_console_line(now, line);
        }
    }

    fn set_loop_counters(&mut self, now: Millis, counters: &LoopCounters) {
        if let Some(node) = self.node_mut() {
            node.set_loop_counters(now, counters);
        }
    }

    fn receive_coalescing(&self) -> Millis {
        self.node().receive_coalescing()
    }

    fn poll_console(&mut self) -> Option<String> {
        self.node_mut()?.poll_console()
    }

    fn poll_game_log(&mut self) -> Option<String> {
        self.node_mut()?.poll_game_log()
    }

    fn local_ports(&self) -> u16 {
        self.node().local_ports()
    }

    fn stop(&mut self, now: Millis, reason: &str) {
        if let Some(node) = self.node_mut() {
            node.stop(now, reason);
        }
    }

    fn poll_stream(&mut self) -> Option<Vec<u8>> {
        self.node_mut()?.poll_stream()
    }

    fn poll_recording(&mut self) -> Option<RecordingPiece> {
        self.node_mut()?.poll_recording()
    }

    fn poll_file_write(&mut self) -> Option<FileWrite> {
        self.node_mut()?.poll_file_write()
    }

    fn poll_port_change(&mut self) -> Option<PortChange> {
        self.node_mut()?.poll_port_change()
    }

    fn handle_port_failure(&mut self, now: Millis, port: LocalPort) {
        if let Some(node) = self.node_mut() {
            node.handle_port_failure(now, port);
        }
    }

    fn poll_lookup(&mut self) -> Option<Lookup> {
        self.node_mut()?.poll_lookup()
    }

    fn handle_lookup(&mut self, now: Millis, answer: &LookupAnswer) {
        if let Some(node) = self.node_mut() {
            node.handle_lookup(now, answer);
        }
    }
}
