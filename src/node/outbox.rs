//! Transmit queue of a node: datagrams in one reused buffer.

use std::collections::VecDeque;

use super::Route;

/// Datagrams to send, in one reused buffer.
///
/// Invariant: `bytes` holds exactly the queued datagrams' bytes in order, from offset `drained`.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    queue: VecDeque<(Route, usize)>,
    drained: usize,
}

impl Outbox {
    /// Queues the datagram that `write` appends to the buffer and returns its length. An empty datagram
    /// is not queued.
    pub fn push_with(&mut self, route: Route, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let before = self.bytes.len();
        write(&mut self.bytes);
        debug_assert!(self.bytes.len() >= before, "a datagram is appended, never truncated");
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

    /// Returns the number of queued datagrams.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether no datagram is queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::LocalPort;

    #[test]
    fn outbox_keeps_order_and_reuses_its_buffer() {
        let route = |port| Route { local: LocalPort(0), remote: ([127, 0, 0, 1], port).into() };
        let mut outbox = Outbox::default();
        let mut packet = Vec::new();
        for round in 0..3 {
            outbox.push(route(1), b"first");
            outbox.push(route(2), b"");
            outbox.push(route(3), b"third");
            assert_eq!(outbox.len(), 2, "round {round}: empty datagrams are not queued");
            assert_eq!(outbox.pop(&mut packet), Some(route(1)));
            assert_eq!(packet, b"first");
            assert_eq!(outbox.pop(&mut packet), Some(route(3)));
            assert_eq!(packet, b"third");
            assert_eq!(outbox.pop(&mut packet), None);
            assert!(outbox.bytes.is_empty());
        }
    }
}
