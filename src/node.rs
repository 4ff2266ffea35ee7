//! Whatever talks UDP, seen from outside: fed with datagrams and time, drained of datagrams.
//!
//! A node never touches a socket or a clock, so one loop in `io` runs every role and one simulator
//! tests every role. Invariants: `now` never goes back; [`Node::poll_transmit`] is drained after every
//! call that may have queued something; nothing is sent that is not drained.

mod loop_counters;

use std::{collections::VecDeque, net::SocketAddr};

use crate::model::Millis;

pub use loop_counters::LoopCounters;

/// One of a node's own ports. A server has one, `0`; a load test has one for each of its clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalPort(pub u16);

/// Which of our ports talks with whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// Our end.
    pub local: LocalPort,
    /// The other end.
    pub remote: SocketAddr,
}

/// Something that talks UDP without touching a socket or a clock.
pub trait Node {
    /// Takes one datagram that arrived on `route.local` from `route.remote`.
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]);

    /// Takes one line that the operator typed.
    fn handle_line(&mut self, now: Millis, line: &str) {
        let _ = (now, line);
    }

    /// Is told what the loop around it has counted so far.
    fn note_loop(&mut self, now: Millis, counters: &LoopCounters) {
        let _ = (now, counters);
    }

    /// Runs whatever is due.
    fn frame(&mut self, now: Millis);

    /// When [`Node::frame`] wants to run next. May lie in the past: then at once.
    fn next_frame(&self) -> Millis;

    /// How long datagrams that come soon after others may wait for more of them, so that one wake-up
    /// takes many. They never wait past [`Node::next_frame`].
    fn patience(&self) -> Millis {
        Millis(0)
    }

    /// Fills `packet` and names its way, or `None` when nothing waits.
    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route>;

    /// The next piece of text for the operator's screen, lines ended, or `None`.
    fn poll_output(&mut self) -> Option<String> {
        None
    }

    /// Lines that have come for the log of the node's game, ended, or `None`.
    fn poll_log(&mut self) -> Option<String> {
        None
    }

    /// Ports the node owns, numbered from 0.
    fn local_ports(&self) -> u16 {
        1
    }

    /// Says goodbye to every peer and finishes; `reason` is what they are told.
    fn stop(&mut self, now: Millis, reason: &str);

    /// Whether the node has nothing left to do but be drained.
    fn is_finished(&self) -> bool;
}

/// Datagrams waiting to be drained, in one buffer that is used again and again.
///
/// Invariant: `bytes` holds exactly the queued datagrams' bytes in order, from `drained` on.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    queue: VecDeque<(Route, usize)>,
    drained: usize,
}

impl Outbox {
    /// Queues a datagram that `write` appends to the buffer, and returns its length. Nothing is queued
    /// when it appends nothing.
    pub fn push_with(&mut self, route: Route, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let before = self.bytes.len();
        write(&mut self.bytes);
        debug_assert!(self.bytes.len() >= before, "a datagram is appended, never cut");
        let len = self.bytes.len() - before;
        if len > 0 {
            self.queue.push_back((route, len));
        }
        len
    }

    /// Queues a finished datagram.
    pub fn push(&mut self, route: Route, datagram: &[u8]) {
        self.push_with(route, |bytes| bytes.extend_from_slice(datagram));
    }

    /// Moves the oldest datagram into `packet`.
    pub fn pop(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        let (route, len) = self.queue.pop_front()?;
        packet.clear();
        packet.extend_from_slice(&self.bytes[self.drained..self.drained + len]);
        self.drained += len;
        if self.queue.is_empty() {
            self.bytes.clear();
            self.drained = 0;
        }
        Some(route)
    }

    /// Datagrams waiting.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_leave_in_order_and_the_buffer_is_used_again() {
        let route = |port| Route { local: LocalPort(0), remote: ([127, 0, 0, 1], port).into() };
        let mut outbox = Outbox::default();
        let mut packet = Vec::new();
        for round in 0..3 {
            outbox.push(route(1), b"first");
            outbox.push(route(2), b"");
            outbox.push(route(3), b"third");
            assert_eq!(outbox.len(), 2, "round {round}: an empty datagram is none");
            assert_eq!(outbox.pop(&mut packet), Some(route(1)));
            assert_eq!(packet, b"first");
            assert_eq!(outbox.pop(&mut packet), Some(route(3)));
            assert_eq!(packet, b"third");
            assert_eq!(outbox.pop(&mut packet), None);
            assert!(outbox.bytes.is_empty());
        }
    }
}
