//! Transmit queue of a node: datagrams in reused buffers.

use std::collections::VecDeque;

use super::Route;

/// Most buffers that are kept for later datagrams. A full server sends fewer in a frame, fragments included.
const SPARE_MAX: usize = 256;

/// Datagrams to send, each in a buffer of its own, which is exchanged with that of the driver.
#[derive(Debug, Default)]
pub struct Outbox {
    queue: VecDeque<(Route, Vec<u8>)>,
    /// Buffers of datagrams that were taken.
    spare: Vec<Vec<u8>>,
}

impl Outbox {
    /// Queues the datagram that `write` writes into an empty buffer and returns its length. An empty datagram
    /// is not queued.
    pub fn push_with(&mut self, route: Route, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let mut datagram = self.spare.pop().unwrap_or_default();
        datagram.clear();
        write(&mut datagram);
        let len = datagram.len();
        if len > 0 {
            self.queue.push_back((route, datagram));
        } else {
            self.keep(datagram);
        }
        len
    }

    /// Queues a finished datagram.
    pub fn push(&mut self, route: Route, datagram: &[u8]) {
        self.push_with(route, |bytes| bytes.extend_from_slice(datagram));
    }

    /// Moves the oldest datagram into `packet`, whose memory is used for a later one.
    pub fn pop(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        let (route, datagram) = self.queue.pop_front()?;
        let buffer = std::mem::replace(packet, datagram);
        self.keep(buffer);
        Some(route)
    }

    fn keep(&mut self, buffer: Vec<u8>) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(buffer);
        }
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
    fn outbox_keeps_order_and_reuses_buffers() {
        let route = |port| Route::new(LocalPort(0), ([127, 0, 0, 1], port).into());
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
            assert_eq!(outbox.spare.len(), 2, "round {round}");
        }
    }
}
