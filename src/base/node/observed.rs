//! Observation layer: reports every input and datagram of a node.
//!
//! Invariants: an observer sees an input before the node does, and a datagram before the event loop does;
//! the node behaves the same with and without observers.

use super::{Completion, Hosted, Input, Node, NodeState, Output, OutputKind, Route};
use crate::model::Millis;

/// Input or output of a node.
#[derive(Clone, Copy, Debug)]
pub enum NodeEvent<'a> {
    /// A datagram arrived.
    Received(Millis, Route, &'a [u8]),
    /// A frame begins.
    Frame(Millis),
    /// Another input arrived.
    Input(Millis, Input<'a>),
    /// A datagram leaves, at the time of the latest call into the node.
    Sent(Millis, Route, &'a [u8]),
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
    /// Time of the latest call into the node.
    now: Millis,
}

impl<N, O> Observed<N, O> {
    /// Wraps `node`.
    #[must_use]
    pub const fn new(node: N, observer: O) -> Self {
        Self { node, observer, now: Millis(0) }
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
        self.now = now;
        self.observer.observe(&NodeEvent::Received(now, route, bytes));
        self.node.handle_datagram(now, route, bytes);
    }

    fn expect_datagram(&self, bytes: &[u8]) {
        self.node.expect_datagram(bytes);
    }

    fn frame(&mut self, now: Millis) {
        self.now = now;
        self.observer.observe(&NodeEvent::Frame(now));
        self.node.frame(now);
    }

    fn next_frame(&self) -> Millis {
        self.node.next_frame()
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        let route = self.node.poll_transmit(packet)?;
        self.observer.observe(&NodeEvent::Sent(self.now, route, packet));
        Some(route)
    }

    fn is_finished(&self) -> bool {
        self.node.is_finished()
    }
}

impl<N: Hosted, O: Observer> Hosted for Observed<N, O> {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        self.now = now;
        self.observer.observe(&NodeEvent::Input(now, input));
        self.node.handle_input(now, input);
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        self.node.poll_output(kind)
    }

    fn local_ports(&self) -> u16 {
        self.node.local_ports()
    }

    fn receive_coalescing(&self) -> Millis {
        self.node.receive_coalescing()
    }

    fn runs_foreign_code(&self) -> bool {
        self.node.runs_foreign_code()
    }

    fn state(&self) -> NodeState {
        self.node.state()
    }

    fn drain_line(&self) -> Option<&'static str> {
        self.node.drain_line()
    }

    fn complete(&self, line: &str) -> Completion {
        self.node.complete(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::LocalPort;

    /// Passes datagrams of port 2 on to port 0.
    #[derive(Default)]
    struct Forwarder(Option<(Route, Vec<u8>)>);

    impl Node for Forwarder {
        fn handle_datagram(&mut self, _: Millis, route: Route, bytes: &[u8]) {
            self.0 = Some((Route { local: LocalPort(0), ..route }, bytes.to_vec()));
        }

        fn expect_datagram(&self, _: &[u8]) {}

        fn frame(&mut self, _: Millis) {}

        fn next_frame(&self) -> Millis {
            Millis::NEVER
        }

        fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
            let (route, bytes) = self.0.take()?;
            *packet = bytes;
            Some(route)
        }

        fn is_finished(&self) -> bool {
            false
        }
    }

    /// Keeps the times of the sent datagrams and sees no others.
    #[derive(Default)]
    struct SentTimes(Vec<Millis>);

    impl Observer for SentTimes {
        fn observe(&mut self, event: &NodeEvent<'_>) {
            if let NodeEvent::Sent(now, ..) = *event {
                self.0.push(now);
            }
        }
    }

    #[test]
    fn sent_datagram_has_the_time_of_its_input() {
        let mut node = Observed::new(Forwarder::default(), SentTimes::default());
        let route = Route::new(LocalPort(2), ([10, 0, 0, 1], 27_960).into());
        node.frame(Millis(250));
        for now in [300, 480] {
            node.handle_datagram(Millis(now), route, b"snapshot");
            assert!(node.poll_transmit(&mut Vec::new()).is_some());
        }
        assert_eq!(node.observer.0, [Millis(300), Millis(480)]);
    }
}
