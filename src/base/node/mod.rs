//! Sans-I/O node interface: input as datagrams and time, output as datagrams.
//!
//! [`Node`] is what every role has: server, client, load test, query. [`Hosted`] is what the event loop in
//! `io` needs besides: other inputs, as [`Input`], and other outputs, as [`Output`]. A node never touches a socket
//! or a clock, so one event loop runs every role and one simulator tests every role. Layers wrap any node and
//! forward every call: [`Observed`] reports inputs and datagrams to an [`Observer`] (journal, capture,
//! trace), and the impairment module delays and drops datagrams.
//!
//! Invariants: `now` never goes back; [`Node::poll_transmit`] is drained after every call that may queue a
//! datagram; a datagram is sent only by draining.

mod boxed;
mod completion;
mod drain;
mod input;
mod lookup;
mod loop_counters;
mod observed;
mod outbox;
mod output;
mod recording;
mod state;
mod trace;

use std::net::{IpAddr, SocketAddr};

use crate::model::Millis;

pub use completion::Completion;
pub use drain::{Drain, DrainRequest, DrainStep};
pub use input::Input;
pub use lookup::{Lookup, LookupAnswer};
pub use loop_counters::LoopCounters;
pub use observed::{NodeEvent, Observed, Observer};
pub use outbox::Outbox;
pub use output::{Output, OutputKind, PortChange, take_text};
pub use recording::{RecordingContent, RecordingPiece};
pub use state::NodeState;
pub use trace::Trace;

/// Number of a local UDP port of a node. A server has one, `0`; a load test has one per client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalPort(pub u16);

/// Local port, local address and remote address of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// Local port.
    pub local: LocalPort,
    /// Local address that a received datagram was sent to, and from which a reply leaves. `None`: that of the port,
    /// or the one that the system chooses.
    pub local_ip: Option<IpAddr>,
    /// Remote address.
    pub remote: SocketAddr,
}

impl Route {
    /// Creates a route without a local address.
    #[must_use]
    pub const fn new(local: LocalPort, remote: SocketAddr) -> Self {
        Self { local, local_ip: None, remote }
    }
}

/// Sans-I/O endpoint: a state machine that exchanges datagrams.
pub trait Node {
    /// Handles a datagram that arrived on `route.local` from `route.remote`.
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]);

    /// Prefetches the memory of the datagram after the next one. A hint without other effect.
    fn expect_datagram(&self, bytes: &[u8]);

    /// Runs everything that is due.
    fn frame(&mut self, now: Millis);

    /// Returns the due time of the next [`Node::frame`]. A past time means immediately.
    fn next_frame(&self) -> Millis;

    /// Moves the next datagram to send into `packet` and returns its route, or `None` when none is queued.
    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route>;

    /// Whether the node needs no more input. Queued output is still drained.
    fn is_finished(&self) -> bool;
}

/// Hosting interface of a node, for the event loop: other inputs and outputs than datagrams, ports, coalescing.
///
/// Inputs and outputs are enums, so that a layer forwards all of them, and a driver that forgets one does not compile.
pub trait Hosted: Node {
    /// Handles an input.
    fn handle_input(&mut self, now: Millis, input: Input<'_>);

    /// Returns the next output of a kind, or `None`. What is not asked for stays with the node.
    fn poll_output(&mut self, kind: OutputKind) -> Option<Output>;

    /// Returns the number of local ports at the start, numbered from 0.
    fn local_ports(&self) -> u16;

    /// Returns the longest time that received datagrams may wait for more of them, so that one wake-up
    /// handles many.
    ///
    /// The event loop never waits past [`Node::next_frame`], and with connectionless packets only for a few
    /// milliseconds. Datagrams that waited are handled with the time of their arrival.
    fn receive_coalescing(&self) -> Millis;

    /// Whether the node runs code of others, such as a game module, which may hold a call for long. The event loop then
    /// does not wait for the end of the call when it is asked to stop.
    fn runs_foreign_code(&self) -> bool {
        false
    }

    /// Returns the state for service managers and monitors.
    fn state(&self) -> NodeState {
        NodeState::default()
    }

    /// Returns the console line that lets peers finish before the node ends, if a request to terminate does that now. The
    /// event loop stops other nodes.
    fn drain_line(&self) -> Option<&'static str> {
        None
    }

    /// Returns the candidates for the last word of a console line that an operator types. A journal does not record the
    /// call, so it changes nothing.
    fn complete(&self, line: &str) -> Completion {
        let _ = line;
        Completion::default()
    }
}
