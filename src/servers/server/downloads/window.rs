//! Window of a download: the blocks that are sent and not acknowledged.
//!
//! A client acknowledges each block that it accepts, in the packet that also acknowledges the newest message
//! it has received. So a block is lost once its message is covered by that sequence and the block is not
//! acknowledged. Nothing is sent again without this proof: a client that has block 0 misreads a second one.
//! If nothing newer is under way, an empty message is sent as a probe.
//!
//! Blocks leave in bursts. After a loss the rest of a burst is ignored by the client, on average half of it,
//! where a steady stream would lose all blocks of a round trip. Bursts grow until the first loss and are small
//! from then on, so that at a loss of 2% fewer than a tenth of the blocks are repeated.

use std::collections::VecDeque;

use crate::{
    model::{Millis, Sequence},
    wire::download::MAX_BLOCK_LEN,
};

/// Largest number of blocks under way. A client may have 64 unacknowledged commands, one for each block.
const MAX_BLOCKS: u32 = 48;
/// Blocks of the first burst.
const FIRST_BLOCKS: u32 = 8;
/// Blocks of a burst after a loss: at a loss of 2% it repeats 8% of them.
const LOSSY_BLOCKS: u32 = 7;
/// Blocks without a loss after which bursts grow again.
const CLEAN_BLOCKS: u32 = 300;
/// Growth of a burst with each acknowledged block, in tenths of a block.
const GROWTH_TENTHS: u32 = 3;
/// First estimate of the time from a block to its acknowledgement.
const FIRST_ROUND_TRIP: Millis = Millis(250);
/// Longest time before a probe.
const MAX_PROBE_TIME: Millis = Millis(2000);

/// Progress of one file.
#[derive(Debug)]
pub(super) struct Window {
    /// Number of the block that ends the file, behind all others.
    end: u32,
    /// First block that is not acknowledged.
    first: u32,
    /// Sequence and time of each block that is under way, from `first` on.
    sent: VecDeque<(Sequence, Millis)>,
    /// Number of blocks sent at least once.
    reached: u32,
    /// Whether a burst is being sent.
    is_filling: bool,
    /// Size of a burst in tenths of a block.
    burst_tenths: u32,
    /// Blocks acknowledged since the last loss. At the start there was none for long.
    clean: u32,
    round_trip: Millis,
    /// Time of the last block or probe.
    last_at: Millis,
    /// Probes since the last acknowledgement.
    probes: u32,
}

/// Effect of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acknowledged {
    /// The block was expected; more follow.
    Block,
    /// The block was the last one.
    End,
    /// Another block was expected.
    Unexpected,
}

impl Window {
    /// Creates the window of a file of `len` bytes.
    pub(super) fn new(len: u32) -> Self {
        Self {
            end: len.div_ceil(MAX_BLOCK_LEN as u32),
            first: 0,
            sent: VecDeque::with_capacity(MAX_BLOCKS as usize),
            reached: 0,
            is_filling: true,
            burst_tenths: FIRST_BLOCKS * 10,
            clean: CLEAN_BLOCKS,
            round_trip: FIRST_ROUND_TRIP,
            last_at: Millis(0),
            probes: 0,
        }
    }

    /// Bytes that the client has acknowledged, up to a block.
    pub(super) fn acknowledged_len(&self) -> u64 {
        u64::from(self.first) * MAX_BLOCK_LEN as u64
    }

    /// Number of the next block, if one may be sent.
    pub(super) fn next_block(&self) -> Option<u32> {
        let under_way = self.sent.len() as u32;
        let next = self.first + under_way;
        let burst = self.burst();
        let may_send = under_way < burst && (self.is_filling || under_way <= burst / 2);
        (may_send && next <= self.end).then_some(next)
    }

    /// Records that the next block was sent. Returns whether it was sent before.
    pub(super) fn record_sent(&mut self, sequence: Sequence, now: Millis) -> bool {
        self.sent.push_back((sequence, now));
        self.is_filling = (self.sent.len() as u32) < self.burst();
        self.last_at = now;
        let next = self.first + self.sent.len() as u32;
        let is_repeated = next <= self.reached;
        self.reached = self.reached.max(next);
        is_repeated
    }

    /// Records the acknowledgement of a block.
    pub(super) fn acknowledge(&mut self, number: u32, now: Millis) -> Acknowledged {
        if number != self.first {
            return Acknowledged::Unexpected;
        }
        let Some((_, at)) = self.sent.pop_front() else { return Acknowledged::Unexpected };
        self.first += 1;
        self.clean += 1;
        if self.clean > CLEAN_BLOCKS {
            self.burst_tenths = (self.burst_tenths + GROWTH_TENTHS).min(MAX_BLOCKS * 10);
        }
        self.probes = 0;
        self.round_trip = Millis((self.round_trip.0 * 3 + now.since(at).0) / 4);
        if number == self.end { Acknowledged::End } else { Acknowledged::Block }
    }

    /// Begins again at the first unacknowledged block if its message is known to be lost. All later blocks
    /// are of no use to the client.
    pub(super) fn detect_loss(&mut self, acknowledged: Sequence) {
        if self.sent.front().is_some_and(|(sequence, _)| acknowledged.distance(*sequence) >= 0) {
            self.sent.clear();
            self.burst_tenths = LOSSY_BLOCKS * 10;
            self.clean = 0;
            self.is_filling = true;
        }
    }

    /// Time at which a probe is due, if only a probe can show a loss.
    pub(super) fn probe_at(&self) -> Option<Millis> {
        let is_waiting = !self.sent.is_empty() && self.next_block().is_none();
        let wait = Millis((self.round_trip.0 * 2 + 50) << self.probes.min(6)).min(MAX_PROBE_TIME);
        is_waiting.then_some(self.last_at + wait)
    }

    /// Records a probe.
    pub(super) fn record_probe(&mut self, now: Millis) {
        self.last_at = now;
        self.probes += 1;
    }

    /// Blocks of a burst.
    fn burst(&self) -> u32 {
        self.burst_tenths / 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends every block that may be sent, with sequences from `next` on.
    fn fill(window: &mut Window, next: &mut u32, now: u64) -> Vec<u32> {
        let mut sent = Vec::new();
        while let Some(block) = window.next_block() {
            window.record_sent(Sequence(*next), Millis(now));
            *next += 1;
            sent.push(block);
        }
        sent
    }

    #[test]
    fn blocks_are_acknowledged_in_order_to_the_end() {
        let mut window = Window::new(2049);
        let mut next = 1;
        assert_eq!(fill(&mut window, &mut next, 0), [0, 1, 2, 3]);
        assert_eq!(window.acknowledge(1, Millis(50)), Acknowledged::Unexpected);
        for block in 0..3 {
            assert_eq!(window.acknowledge(block, Millis(50)), Acknowledged::Block);
        }
        assert_eq!(window.acknowledge(3, Millis(50)), Acknowledged::End);
        assert_eq!(window.acknowledge(4, Millis(50)), Acknowledged::Unexpected);
        assert_eq!(fill(&mut window, &mut next, 60), [0_u32; 0]);
    }

    #[test]
    fn loss_repeats_blocks_only_when_proven() {
        let mut window = Window::new(100_000);
        let mut next = 1;
        let burst = fill(&mut window, &mut next, 0);
        assert_eq!(burst.len(), 8);
        window.acknowledge(0, Millis(60));
        window.acknowledge(1, Millis(60));
        // Message 3 carries block 2.
        window.detect_loss(Sequence(2));
        assert_eq!(window.next_block(), None, "under way");
        window.detect_loss(Sequence(3));
        assert_eq!(window.next_block(), Some(2));
        assert!(window.record_sent(Sequence(next), Millis(70)));
        window.detect_loss(Sequence(3));
        assert_eq!(window.next_block(), Some(3), "the repeated block is under way");
    }

    #[test]
    fn burst_grows_without_loss_and_shrinks_with_it() {
        let mut window = Window::new(1_000_000);
        let mut next = 1;
        for round in 0..20 {
            for block in fill(&mut window, &mut next, round * 60) {
                window.acknowledge(block, Millis(round * 60 + 50));
            }
        }
        assert_eq!(window.burst(), MAX_BLOCKS);
        fill(&mut window, &mut next, 2000);
        window.detect_loss(Sequence(next));
        for block in fill(&mut window, &mut next, 3000) {
            window.acknowledge(block, Millis(3050));
        }
        assert_eq!(window.burst(), LOSSY_BLOCKS, "not before the path is clean again");
    }

    #[test]
    fn probe_follows_when_nothing_newer_is_under_way() {
        let mut window = Window::new(10);
        let mut next = 1;
        assert_eq!(window.probe_at(), None, "nothing was sent");
        fill(&mut window, &mut next, 100);
        let at = window.probe_at().unwrap();
        assert!((Millis(200)..Millis(1000)).contains(&at), "{at}");
        window.record_probe(at);
        assert!(window.probe_at().unwrap().since(at) > at.since(Millis(100)), "less often");
    }
}
