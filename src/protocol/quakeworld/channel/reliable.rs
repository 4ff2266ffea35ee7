//! Queue of the next reliable message, with spill buffers of a server.
//!
//! Invariants: pushed pieces leave in order and whole; memory is that of five messages.
//! Source: QuakeWorld protocol 28, reliable messages.

use std::collections::VecDeque;

use thiserror::Error;

/// Maximum number of spill buffers.
pub const MAX_SPILLED: usize = 4;

/// The reliable queue is full. The connection must be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("reliable messages overflowed")]
pub struct Overflowed;

/// Bytes that wait to become a reliable message.
#[derive(Debug, Default)]
pub(super) struct ReliableQueue {
    queue: Vec<u8>,
    spilled: VecDeque<Vec<u8>>,
    /// Memory of the last spill buffer.
    spare: Vec<u8>,
    max_spilled: usize,
    pub(super) overflowed: bool,
}

impl ReliableQueue {
    /// Creates a queue with this many spill buffers.
    pub(super) fn new(max_spilled: usize) -> Self {
        Self { max_spilled, ..Self::default() }
    }

    /// Whether a piece was refused.
    pub(super) const fn is_overflowed(&self) -> bool {
        self.overflowed
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.spilled.is_empty()
    }

    /// Number of bytes that wait.
    pub(super) fn len(&self) -> usize {
        self.queue.len() + self.spilled.iter().map(Vec::len).sum::<usize>()
    }

    /// Length of the next message, after a refill.
    pub(super) fn next_len(&self, max: usize) -> usize {
        let spilled = self.spilled.front().map_or(0, Vec::len);
        if self.queue.len() + spilled <= max {
            self.queue.len() + spilled
        } else {
            self.queue.len()
        }
    }

    /// Number of bytes that still fit in the next message.
    pub(super) fn room(&self, max: usize) -> usize {
        if self.spilled.is_empty() { max.saturating_sub(self.queue.len()) } else { 0 }
    }

    /// Appends a piece, which stays in one message.
    pub(super) fn push(&mut self, piece: &[u8], max: usize) -> Result<(), Overflowed> {
        let fits = |buffer: &Vec<u8>| buffer.len() + piece.len() <= max;
        if self.overflowed || piece.len() > max {
            self.overflowed = true;
            return Err(Overflowed);
        }
        if self.spilled.is_empty() && fits(&self.queue) {
            self.queue.extend_from_slice(piece);
        } else if let Some(last) = self.spilled.back_mut().filter(|last| fits(last)) {
            last.extend_from_slice(piece);
        } else if self.spilled.len() < self.max_spilled {
            let mut buffer = std::mem::take(&mut self.spare);
            buffer.clear();
            buffer.extend_from_slice(piece);
            self.spilled.push_back(buffer);
        } else {
            self.overflowed = true;
            return Err(Overflowed);
        }
        Ok(())
    }

    /// Moves one spill buffer into the queue if it fits.
    pub(super) fn refill(&mut self, max: usize) {
        let fits = |first: &&Vec<u8>| self.queue.len() + first.len() <= max;
        if self.spilled.front().filter(fits).is_some()
            && let Some(first) = self.spilled.pop_front()
        {
            self.queue.extend_from_slice(&first);
            self.spare = first;
        }
    }

    /// Moves the next message into `flight`, which is empty. Returns whether there was one.
    pub(super) fn take(&mut self, flight: &mut Vec<u8>) -> bool {
        std::mem::swap(&mut self.queue, flight);
        self.queue.clear();
        !flight.is_empty()
    }

    /// Forgets everything that waits.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.spilled.clear();
        self.overflowed = false;
    }
}
