//! Fragments of messages: reassembly and transmission.
//!
//! A message of [`FRAGMENT_LEN`] bytes or more is sent as several datagrams with one sequence
//! number. All but the last are full; the last is shorter or empty, which marks the end of the
//! message. A lost fragment is never requested again: its message is lost. A sender may send every
//! fragment several times instead, because receivers ignore duplicates.
//!
//! Invariants: one message at most is reassembled and one sent; a reassembly never exceeds the
//! largest message, and its only allocation is made by a first fragment and freed with the
//! reassembly. Source: Quake III protocol 68, netchan receiving and sending.

use thiserror::Error;

use super::header::{FRAGMENT_LEN, FragmentRange};
use crate::model::{Sequence, limits::MAX_MESSAGE_LEN};

/// Reasons to drop a fragment. The reassembly is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FragmentError {
    /// Start other than the end of the collected bytes.
    #[error("fragment at byte {start} (expected {expected})")]
    Misplaced {
        /// Offset of the fragment.
        start: u16,
        /// Bytes collected.
        expected: usize,
    },
    /// Message longer than the largest.
    #[error("fragments too long: {0} bytes")]
    TooLong(usize),
    /// Sequence number too far ahead to be believed while a nearer message is reassembled.
    #[error("fragment far ahead of the reassembled message")]
    FarAhead,
}

/// Message in reassembly, if any.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    current: Option<Collected>,
}

#[derive(Debug)]
struct Collected {
    sequence: Sequence,
    far_ahead: bool,
    bytes: Vec<u8>,
}

impl Reassembly {
    /// Handles a fragment of the message `sequence`, and moves the complete message to `message`.
    /// `far_ahead` marks a sequence number that is not to be believed.
    pub(super) fn take(
        &mut self,
        sequence: Sequence,
        far_ahead: bool,
        span: FragmentRange,
        bytes: &[u8],
        message: &mut Vec<u8>,
    ) -> Result<bool, FragmentError> {
        let collected = self.collected_for(sequence, far_ahead, span)?;
        let expected = collected.bytes.len();
        if usize::from(span.start) != expected {
            return Err(FragmentError::Misplaced { start: span.start, expected });
        }
        if expected + bytes.len() > MAX_MESSAGE_LEN {
            return Err(FragmentError::TooLong(expected + bytes.len()));
        }
        collected.bytes.extend_from_slice(bytes);
        if bytes.len() == FRAGMENT_LEN {
            return Ok(false);
        }
        message.clear();
        message.extend_from_slice(&collected.bytes);
        self.current = None;
        Ok(true)
    }

    /// Returns the collected bytes of a message. A first fragment of another one starts over.
    fn collected_for(
        &mut self,
        sequence: Sequence,
        far_ahead: bool,
        span: FragmentRange,
    ) -> Result<&mut Collected, FragmentError> {
        let same = self.current.as_ref().is_some_and(|current| current.sequence == sequence);
        if !same {
            if span.start != 0 {
                return Err(FragmentError::Misplaced { start: span.start, expected: 0 });
            }
            if far_ahead && self.current.as_ref().is_some_and(|current| !current.far_ahead) {
                return Err(FragmentError::FarAhead);
            }
            self.current = None;
        }
        Ok(self.current.get_or_insert_with(|| Collected {
            sequence,
            far_ahead,
            bytes: Vec::with_capacity(MAX_MESSAGE_LEN),
        }))
    }

    /// Discards a message that is not newer than `sequence`.
    pub(super) fn forget_until(&mut self, sequence: Sequence) {
        if self.current.as_ref().is_some_and(|current| current.sequence.distance(sequence) <= 0) {
            self.current = None;
        }
    }

    /// Checks the reassembly. `newest` is the newest committed message.
    pub(super) fn check_invariants(&self, newest: Sequence) -> Result<(), String> {
        let Some(Collected { sequence, bytes, .. }) = &self.current else { return Ok(()) };
        let (len, capacity) = (bytes.len(), bytes.capacity());
        if sequence.distance(newest) <= 0 {
            return Err(format!("message {sequence} is reassembled after commit of {newest}"));
        }
        if len == 0 || len % FRAGMENT_LEN != 0 {
            return Err(format!("{len} bytes collected, not a multiple of full fragments"));
        }
        if len > MAX_MESSAGE_LEN || capacity > MAX_MESSAGE_LEN {
            return Err(format!("{len} bytes collected with a capacity of {capacity}"));
        }
        Ok(())
    }

    /// Whether no message is in reassembly.
    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.current.is_none()
    }
}

/// Message in transmission as fragments.
#[derive(Debug)]
pub(super) struct OutgoingFragments {
    bytes: Vec<u8>,
    start: usize,
    /// Copies of each fragment, at least 1.
    copies: u8,
    /// Copies sent of the fragment at `start`.
    sent: u8,
    is_done: bool,
}

impl OutgoingFragments {
    pub(super) fn new(bytes: Vec<u8>, copies: u8) -> Self {
        assert!(bytes.len() <= MAX_MESSAGE_LEN, "a piece's place is counted in 16 bits");
        Self { bytes, start: 0, copies: copies.max(1), sent: 0, is_done: false }
    }

    /// Returns the memory of the message.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Whether nothing is sent yet.
    pub(super) fn is_first(&self) -> bool {
        self.start == 0 && self.sent == 0
    }

    /// Whether every copy of every fragment is sent.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether every fragment is sent once, so that the peer may have the message.
    pub(super) fn have_left_once(&self) -> bool {
        self.is_done || self.sent > 0 && self.start + FRAGMENT_LEN > self.bytes.len()
    }

    /// Checks the progress of the transmission.
    pub(super) fn check_invariants(&self) -> Result<(), String> {
        let (start, len) = (self.start, self.bytes.len());
        if self.is_done || self.sent >= self.copies {
            return Err(format!("{} of {} copies of a fragment have left", self.sent, self.copies));
        }
        if self.is_first() || start % FRAGMENT_LEN != 0 || start > len {
            return Err(format!("{start} of {len} bytes have left in fragments"));
        }
        if len > MAX_MESSAGE_LEN {
            return Err(format!("a message of {len} bytes leaves in fragments"));
        }
        Ok(())
    }

    /// Returns the next fragment with its range, or the last one again until all its copies are
    /// sent. A fragment that is not full is the last.
    pub(super) fn take(&mut self) -> (FragmentRange, &[u8]) {
        let start = self.start;
        let len = (self.bytes.len() - start).min(FRAGMENT_LEN);
        self.sent += 1;
        if self.sent >= self.copies {
            self.sent = 0;
            self.start += len;
            self.is_done = len < FRAGMENT_LEN;
        }
        (FragmentRange { start: start as u16, len: len as u16 }, &self.bytes[start..start + len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: [u8; FRAGMENT_LEN] = [7; FRAGMENT_LEN];

    /// A fragment for `assembly`, whose bytes give its length.
    fn put(
        assembly: &mut Reassembly,
        sequence: u32,
        start: u16,
        bytes: &[u8],
    ) -> Result<Option<usize>, FragmentError> {
        let span = FragmentRange { start, len: bytes.len() as u16 };
        let mut message = Vec::new();
        let whole = assembly.take(Sequence(sequence), false, span, bytes, &mut message)?;
        Ok(whole.then_some(message.len()))
    }

    #[test]
    fn n5_overlapping_or_misplaced_fragment_keeps_collected_part() {
        let mut assembly = Reassembly::default();
        assert_eq!(put(&mut assembly, 1, 0, &FULL), Ok(None));
        for start in [0, 650, 1299, 1301, 2600, 0x8000, 0xffff] {
            let error = FragmentError::Misplaced { start, expected: 1300 };
            assert_eq!(put(&mut assembly, 1, start, &FULL), Err(error));
        }
        assert_eq!(put(&mut assembly, 1, 1300, b"end"), Ok(Some(1303)));
        assert!(assembly.is_idle());
    }

    #[test]
    fn n6_fragment_beyond_any_message_allocates_nothing() {
        let mut assembly = Reassembly::default();
        assert!(put(&mut assembly, 1, 0x8000, &FULL).is_err());
        assert!(assembly.is_idle());
    }

    #[test]
    fn n7_endless_message_stops_at_size_limit() {
        let mut assembly = Reassembly::default();
        for start in (0..12).map(|piece| piece * 1300) {
            assert_eq!(put(&mut assembly, 1, start, &FULL), Ok(None));
        }
        let error = FragmentError::TooLong(16_900);
        assert_eq!(put(&mut assembly, 1, 15_600, &FULL), Err(error));
        let capacity = assembly.current.as_ref().map(|current| current.bytes.capacity());
        assert_eq!(capacity, Some(MAX_MESSAGE_LEN));
        let error = FragmentError::TooLong(MAX_MESSAGE_LEN + 1);
        assert_eq!(put(&mut assembly, 1, 15_600, &[0; 785]), Err(error));
        assert_eq!(put(&mut assembly, 1, 15_600, &[0; 784]), Ok(Some(MAX_MESSAGE_LEN)));
    }

    #[test]
    fn n8_first_fragment_of_another_message_starts_over() {
        let mut assembly = Reassembly::default();
        assert_eq!(put(&mut assembly, 5, 0, &FULL), Ok(None));
        assert_eq!(put(&mut assembly, 6, 0, &FULL), Ok(None));
        let error = FragmentError::Misplaced { start: 1300, expected: 0 };
        assert_eq!(put(&mut assembly, 5, 1300, b"end of 5"), Err(error));
        assert_eq!(
            put(&mut assembly, 6, 1300, b"end"),
            Ok(Some(1303)),
            "a late piece harms nothing"
        );
    }

    #[test]
    fn n9_message_without_last_fragment_waits_for_newer_one() {
        let mut assembly = Reassembly::default();
        assert_eq!(put(&mut assembly, 5, 0, &FULL), Ok(None));
        assembly.forget_until(Sequence(4));
        assert!(!assembly.is_idle());
        assert_eq!(put(&mut assembly, 5, 1300, b""), Ok(Some(1300)), "the empty end ends it");
        assert_eq!(put(&mut assembly, 6, 0, &FULL), Ok(None));
        assembly.forget_until(Sequence(6));
        assert!(assembly.is_idle());
    }

    #[test]
    fn forged_number_far_ahead_keeps_reassembly() {
        let mut assembly = Reassembly::default();
        let mut message = Vec::new();
        let span = FragmentRange { start: 0, len: 1300 };
        assert_eq!(put(&mut assembly, 5, 0, &FULL), Ok(None));
        let far = assembly.take(Sequence(1 << 20), true, span, &FULL, &mut message);
        assert_eq!(far, Err(FragmentError::FarAhead));
        assert_eq!(put(&mut assembly, 5, 1300, b"end"), Ok(Some(1303)));
        let far = assembly.take(Sequence(1 << 20), true, span, &FULL, &mut message);
        assert_eq!(far, Ok(false), "with nothing to lose it is collected");
        assert_eq!(put(&mut assembly, 6, 0, &FULL), Ok(None), "and gives way");
        assert_eq!(put(&mut assembly, 6, 1300, b"end"), Ok(Some(1303)));
    }

    #[test]
    fn impossible_reassembly_violates_invariants() {
        let newest = Sequence(4);
        let mut assembly = Reassembly::default();
        assert_eq!(assembly.check_invariants(newest), Ok(()));
        assert_eq!(put(&mut assembly, 5, 0, &FULL), Ok(None));
        assert_eq!(assembly.check_invariants(newest), Ok(()));
        assert!(assembly.check_invariants(Sequence(5)).is_err(), "it should have been given up");
        let broken = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = FULL.to_vec();
            change(&mut bytes);
            let current = Some(Collected { sequence: Sequence(5), far_ahead: false, bytes });
            Reassembly { current }.check_invariants(newest)
        };
        assert_eq!(broken(&|_| {}), Ok(()));
        assert!(broken(&Vec::clear).is_err(), "nothing");
        assert!(broken(&|bytes| bytes.push(1)).is_err(), "a piece that is not full");
        assert!(broken(&|bytes| bytes.resize(13 * FRAGMENT_LEN, 0)).is_err(), "too much");
        assert!(broken(&|bytes| bytes.reserve(2 * MAX_MESSAGE_LEN)).is_err(), "too much room");
    }

    #[test]
    fn impossible_transmission_violates_invariants() {
        let pieces = |start, len| {
            let bytes = vec![0; len];
            OutgoingFragments { bytes, start, ..OutgoingFragments::new(Vec::new(), 2) }
        };
        let check = |start, len| pieces(start, len).check_invariants();
        assert_eq!((check(1300, 1300), check(2600, 3000)), (Ok(()), Ok(())));
        assert_eq!(OutgoingFragments { sent: 1, ..pieces(0, 3000) }.check_invariants(), Ok(()));
        assert!(
            OutgoingFragments { sent: 2, ..pieces(1300, 3000) }.check_invariants().is_err(),
            "a third copy"
        );
        assert!(
            OutgoingFragments { is_done: true, ..pieces(2600, 3000) }.check_invariants().is_err(),
            "nothing left"
        );
        for (start, len) in [(0, 3000), (1299, 3000), (3900, 3000), (1300, MAX_MESSAGE_LEN + 1)] {
            assert!(check(start, len).is_err(), "{start} of {len}");
        }
    }

    #[test]
    fn fragments_end_with_one_that_is_not_full() {
        for (len, expected) in [
            (0, vec![(0, 0)]),
            (1299, vec![(0, 1299)]),
            (1300, vec![(0, 1300), (1300, 0)]),
            (2601, vec![(0, 1300), (1300, 1300), (2600, 1)]),
        ] {
            for copies in 1..=3 {
                let mut pieces = OutgoingFragments::new(vec![1; len], copies);
                let mut taken = Vec::new();
                while !pieces.is_done() {
                    assert_eq!(pieces.is_first(), taken.is_empty());
                    let (span, bytes) = pieces.take();
                    assert_eq!(bytes.len(), usize::from(span.len));
                    taken.push((span.start, span.len));
                }
                let times = usize::from(copies);
                let each = expected.iter().flat_map(|span| vec![*span; times]);
                assert_eq!(taken, each.collect::<Vec<_>>());
            }
        }
    }
}
