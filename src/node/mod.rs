//! Sans-I/O node interface: input as datagrams and time, output as datagrams.
//!
//! [`Node`] is what every role has: server, client, load test, query. [`Hosted`] is what the event loop in
//! `io` needs besides: console, game log, counters, ports, shutdown. A node never touches a socket or a
//! clock, so one event loop runs every role and one simulator tests every role. Layers wrap any node and
//! forward every call: [`Observed`] reports inputs and outputs to an [`Observer`] (journal, capture,
//! trace), and the impairment module delays and drops datagrams.
//!
//! Invariants: `now` never goes back; [`Node::poll_transmit`] is drained after every call that may queue a
//! datagram; a datagram is sent only by draining.

mod lookup;
mod loop_counters;
mod observed;
mod outbox;
mod recording;
mod trace;

use std::net::SocketAddr;

use crate::model::{FileWrite, Millis};

pub use lookup::{Lookup, LookupAnswer};
pub use loop_counters::LoopCounters;
pub use observed::{NodeEvent, Observed, Observer};
pub use outbox::Outbox;
pub use recording::{RecordingContent, RecordingPiece};
pub use trace::Trace;

/// Number of a local UDP port of a node. A server has one, `0`; a load test has one per client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalPort(pub u16);

/// Local port and remote address of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// Local port.
    pub local: LocalPort,
    /// Remote address.
    pub remote: SocketAddr,
}

/// Change of a node's local ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortChange {
    /// Open this port, with a free port number, for traffic with the peer.
    Open(LocalPort, SocketAddr),
    /// Close this port. Datagrams that wait in it are dropped.
    Close(LocalPort),
}

/// Sans-I/O endpoint: a state machine that exchanges datagrams.
pub trait Node {
    /// Handles a datagram that arrived on `route.local` from `route.remote`.
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]);

    /// Handles a datagram that is longer than any message of the protocol. Its content is gone and the driver counts it.
    /// Only for what is told of a peer: it is in no journal.
    fn handle_oversize(&mut self, now: Millis, route: Route) {
        let _ = (now, route);
    }

    /// Hint: [`Node::handle_datagram`] may be called with these bytes next but one, so the memory that it needs is requested.
    fn expect_datagram(&self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// Runs everything that is due.
    fn frame(&mut self, now: Millis);

    /// Returns the due time of the next [`Node::frame`]. A past time means immediately.
    fn next_frame(&self) -> Millis;

    /// Moves the next datagram to send into `packet` and returns its route, or `None` when none is queued.
    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route>;

    /// Whether the node needs no more input. Queued output is still drained.
    fn is_finished(&self) -> bool;
}

/// Hosting interface of a node, for the event loop: console, game log, counters, ports, shutdown, names.
///
/// Only name lookups, recordings and port changes have defaults, for nodes without them. A layer that forgets
/// to forward another method does not compile.
pub trait Hosted: Node {
    /// Handles a line that the operator typed.
    fn handle_console_line(&mut self, now: Millis, line: &str);

    /// Updates the event loop's counters.
    fn set_loop_counters(&mut self, now: Millis, counters: &LoopCounters);

    /// Returns the longest time that received datagrams may wait for more of them, so that one wake-up
    /// handles many.
    ///
    /// The event loop never waits past [`Node::next_frame`], and with connectionless packets only for a few
    /// milliseconds. Datagrams that waited are handled with the time of their arrival.
    fn receive_coalescing(&self) -> Millis;

    /// Returns the next console text, whole lines, or `None`.
    fn poll_console(&mut self) -> Option<String>;

    /// Returns the next lines of the game log, or `None`.
    fn poll_game_log(&mut self) -> Option<String>;

    /// Returns the number of local ports at the start, numbered from 0.
    fn local_ports(&self) -> u16;

    /// Disconnects every peer with `reason` and finishes.
    fn stop(&mut self, now: Millis, reason: &str);

    /// Returns the next pieces of the live stream, or `None`: whole pieces of a multi-view recording.
    fn poll_stream(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Returns the next piece of a recording, or `None`.
    fn poll_recording(&mut self) -> Option<RecordingPiece> {
        None
    }

    /// Returns the next write to a file of the game, or `None`. Writes of a file are coalesced until they are taken,
    /// so a driver may leave them while its disk is slow.
    fn poll_file_write(&mut self) -> Option<FileWrite> {
        None
    }

    /// Returns the next change of the local ports, or `None`. It takes effect before the next datagram is sent.
    fn poll_port_change(&mut self) -> Option<PortChange> {
        None
    }

    /// Handles the failure to open a port. Its datagrams are dropped.
    fn handle_port_failure(&mut self, now: Millis, port: LocalPort) {
        let _ = (now, port);
    }

    /// Returns the next name to look up, or `None`. The answer comes in [`Hosted::handle_lookup`].
    fn poll_lookup(&mut self) -> Option<Lookup> {
        None
    }

    /// Handles the answer to a lookup.
    fn handle_lookup(&mut self, now: Millis, answer: &LookupAnswer) {
        let _ = (now, answer);
    }
}
