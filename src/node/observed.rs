//! Observation layer: reports every input and output of a node.
//!
//! Invariants: an observer sees an input before the node does, and a datagram before the event loop does;
//! the node behaves the same with and without observers.

use super::{
    Hosted, LocalPort, Lookup, LookupAnswer, LoopCounters, Node, PortChange, RecordingPiece, Route,
};
use crate::model::{FileWrite, Millis};

/// Input or output of a node.
#[derive(Clone, Copy, Debug)]
pub enum NodeEvent<'a> {
    /// A datagram arrived.
    Received(Millis, Route, &'a [u8]),
    /// A frame begins.
    Frame(Millis),
    /// The operator typed a line.
    ConsoleLine(Millis, &'a str),
    /// The event loop's counters were updated.
    LoopCounters(Millis, &'a LoopCounters),
    /// A name lookup was answered.
    Lookup(Millis, &'a LookupAnswer),
    /// The node stops; the text is the reason.
    Stop(Millis, &'a str),
    /// A datagram leaves. Its time is that of the latest input.
    Sent(Route, &'a [u8]),
}

/// Receiver of a node's events.
pub trait Observer {
    /// Handles an event.
    fn observe(&mut self, event: &NodeEvent<'_>);
}

impl<O: Observer + ?Sized> Observer for Box<O> {
    fn observe(&mut self, event: &NodeEvent<'_>) {
        (**self).observe(event);
    }
}

/// Observers in order; an empty list costs one comparison per event.
impl<O: Observer> Observer for Vec<O> {
    fn observe(&mut self, event: &NodeEvent<'_>) {
        for observer in self {
            observer.observe(event);
        }
    }
}

/// A node with an observer around it.
#[derive(Debug)]
pub struct Observed<N, O> {
    pub(crate) node: N,
    pub(crate) observer: O,
}

impl<N, O> Observed<N, O> {
    /// Wraps `node`.
    #[must_use]
    pub const fn new(node: N, observer: O) -> Self {
        Self { node, observer }
    }

    /// Returns the node.
    #[must_use]
    pub const fn node(&self) -> &N {
        &self.node
    }

    /// Unwraps the node and its observer.
    pub fn into_parts(self) -> (N, O) {
        (self.node, self.observer)
    }
}

impl<N: Node, O: Observer> Node for Observed<N, O> {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.observer.observe(&NodeEvent::Received(now, route, bytes));
        self.node.handle_datagram(now, route, bytes);
    }

    fn handle_oversize(&mut self, now: Millis, route: Route) {
        self.node.handle_oversize(now, route);
    }

    fn expect_datagram(&self, bytes: &[u8]) {
        self.node.expect_datagram(bytes);
    }

    fn frame(&mut self, now: Millis) {
        self.observer.observe(&NodeEvent::Frame(now));
        self.node.frame(now);
    }

    fn next_frame(&self) -> Millis {
        self.node.next_frame()
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        let route = self.node.poll_transmit(packet)?;
        self.observer.observe(&NodeEvent::Sent(route, packet));
        Some(route)
    }

    fn is_finished(&self) -> bool {
        self.node.is_finished()
    }
}

impl<N: Hosted, O: Observer> Hosted for Observed<N, O> {
    fn handle_console_line(&mut self, now: Millis, line: &str) {
        self.observer.observe(&NodeEvent::ConsoleLine(now, line));
        self.node.handle_console_line(now, line);
    }

    fn set_loop_counters(&mut self, now: Millis, counters: &LoopCounters) {
        self.observer.observe(&NodeEvent::LoopCounters(now, counters));
        self.node.set_loop_counters(now, counters);
    }

    fn receive_coalescing(&self) -> Millis {
        self.node.receive_coalescing()
    }

    fn poll_console(&mut self) -> Option<String> {
        self.node.poll_console()
    }

    fn poll_game_log(&mut self) -> Option<String> {
        self.node.poll_game_log()
    }

    fn local_ports(&self) -> u16 {
        self.node.local_ports()
    }

    fn stop(&mut self, now: Millis, reason: &str) {
        self.observer.observe(&NodeEvent::Stop(now, reason));
        self.node.stop(now, reason);
    }

    fn poll_stream(&mut self) -> Option<Vec<u8>> {
        self.node.poll_stream()
    }

    fn poll_recording(&mut self) -> Option<RecordingPiece> {
        self.node.poll_recording()
    }

    fn poll_file_write(&mut self) -> Option<FileWrite> {
        self.node.poll_file_write()
    }

    fn poll_port_change(&mut self) -> Option<PortChange> {
        self.node.poll_port_change()
    }

    fn handle_port_failure(&mut self, now: Millis, port: LocalPort) {
        self.node.handle_port_failure(now, port);
    }

    fn poll_lookup(&mut self) -> Option<Lookup> {
        self.node.poll_lookup()
    }

    fn handle_lookup(&mut self, now: Millis, answer: &LookupAnswer) {
        self.observer.observe(&NodeEvent::Lookup(now, answer));
        self.node.handle_lookup(now, answer);
    }
}
