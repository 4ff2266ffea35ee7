//! Cache of encoded values that are appended to several messages.
//!
//! The bits of a value do not depend on the bits before it: the Huffman code is fixed and nothing
//! is aligned. A value for many clients is therefore encoded once and copied, whole words at a
//! time, to any position of their messages.
//!
//! Invariants: a span belongs to the [`EncodedCache`] that returned it, until that is cleared.
//! Spare bytes follow the last span, so that every load is a whole word. Source: Quake III protocol
//! 68, the bit stream.

use super::bits::{BitWriter, Buffer, Pen};

/// Bits that [`BitWriter::append_truncated`] copies at a time: whole bytes, and no more than fit a pen
/// besides an unfinished byte.
const STRIDE: usize = 56;
/// Number of words that are copied without a loop. Most records are no longer.
const WORDS: usize = 5;
/// Number of spare bytes after the last span.
const SPARE: usize = 8 * WORDS;

/// Encoded values, one after the other.
#[derive(Clone, Debug, Default)]
pub struct EncodedCache {
    bytes: Vec<u8>,
}

/// Position of an encoded value in its cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncodedSpan {
    at: u32,
    bits: u32,
}

impl EncodedSpan {
    /// Whether the value has no bits.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }
}

impl EncodedCache {
    /// Removes all spans and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Stores the content of `writer`; an overflowed message is truncated.
    pub fn store(&mut self, writer: &mut BitWriter) -> EncodedSpan {
        let bits = writer.bit_len();
        let at = self.bytes.len().saturating_sub(SPARE);
        let end = at + bits.div_ceil(8) + SPARE;
        self.bytes.truncate(at);
        // Ends the message's last byte. The spare bytes are those behind it in the writer.
        writer.message();
        match writer.bytes.get(..end - at) {
            Some(bytes) => self.bytes.extend_from_slice(bytes),
            None => {
                self.bytes.extend_from_slice(writer.message());
                self.bytes.resize(end, 0);
            }
        }
        EncodedSpan { at: at as u32, bits: bits as u32 }
    }
}

impl BitWriter {
    /// Appends a stored value.
    #[inline]
    pub fn append_encoded(&mut self, pieces: &EncodedCache, piece: EncodedSpan) {
        let (at, len) = (piece.at as usize, self.pen.len);
        let source = pieces.bytes.get(at..at + 8 * WORDS);
        let target = self.bytes.get_mut(len..len + 8 * WORDS + 8);
        if piece.bits as usize <= 64 * WORDS
            && let Some((source, target)) = source.zip(target)
        {
            // A fixed number of words, without a branch that depends on the length.
            self.pen.copy(source, target);
            self.pen.advance(&self.bytes, piece.bits);
        } else {
            self.append_long(pieces, piece);
        }
    }

    /// Appends a stored value of any length.
    #[inline(never)]
    fn append_long(&mut self, pieces: &EncodedCache, piece: EncodedSpan) {
        let (at, len) = (piece.at as usize, self.pen.len);
        let words = (piece.bits as usize).div_ceil(64);
        let source = pieces.bytes.get(at..at + 8 * words);
        let target = self.bytes.get_mut(len..len + 8 * words + 8);
        if let Some((source, target)) = source.zip(target) {
            self.pen.copy(source, target);
            self.pen.advance(&self.bytes, piece.bits);
        } else {
            self.append_truncated(pieces, piece);
        }
    }

    /// Appends a stored value near the end of the largest message.
    #[cold]
    fn append_truncated(&mut self, pieces: &EncodedCache, piece: EncodedSpan) {
        let mut pen = self.pen;
        let mut left = piece.bits as usize;
        let mut rest = pieces.bytes.get(piece.at as usize..).unwrap_or(&[]);
        while left > 0
            && let Some(word) = rest.first_chunk::<8>()
        {
            let bits = left.min(STRIDE);
            pen.raw(u64::from_le_bytes(*word) & ((1 << bits) - 1), bits as u32);
            pen.store(&mut self.bytes);
            left -= bits;
            rest = &rest[STRIDE / 8..];
        }
        self.pen = pen;
    }
}

impl Pen {
    /// Copies words to the position of the pen, which [`Self::advance`] moves then. The target is a word longer.
    #[inline(always)]
    fn copy(&self, source: &[u8], target: &mut [u8]) {
        // Never more, which the compiler does not know.
        let filled = self.filled & 7;
        let mut pending = self.word >> 1 >> (63 - filled);
        let (source, target) = (source.as_chunks::<8>().0, target.as_chunks_mut::<8>().0);
        // Each stored word has the bits left over from the one before, then the first bits of its own. Bits behind
        // the value are stored too and overwritten later.
        let Some((last, target)) = target.split_last_mut() else { return };
        for (from, to) in source.iter().zip(target) {
            let word = u128::from(u64::from_le_bytes(*from)) << filled;
            *to = (pending | word as u64).to_le_bytes();
            pending = (word >> 64) as u64;
        }
        *last = pending.to_le_bytes();
    }

    /// Moves behind bits that are in the message.
    #[inline(always)]
    fn advance(&mut self, bytes: &Buffer, bits: u32) {
        let bits = (self.filled & 7) + bits;
        let (len, filled) = (self.len + (bits >> 3) as usize, bits & 7);
        let unfinished = u64::from(bytes[len]);
        *self = Self { word: unfinished << 1 << (63 - filled), filled, len };
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::model::limits::MAX_MESSAGE_LEN;

    fn write(writer: &mut BitWriter, values: &[(u32, u32)]) {
        values.iter().for_each(|&(value, n)| writer.bits(value, n));
    }

    proptest! {
        #[test]
        fn appended_spans_equal_direct_writes(
            stretches in vec((vec((any::<u32>(), 1..=32u32), 0..40), vec((any::<u32>(), 1..=32u32), 0..3)), 1..8),
        ) {
            let (mut pieces, mut scratch) = (EncodedCache::default(), BitWriter::new());
            let kept: Vec<_> = stretches.iter().map(|(values, _)| {
                scratch.clear();
                write(&mut scratch, values);
                pieces.store(&mut scratch)
            }).collect();
            // Twice, because a span can be appended any number of times.
            let (mut direct, mut repeated) = (BitWriter::new(), BitWriter::new());
            for _ in 0..2 {
                for (piece, (values, between)) in kept.iter().zip(&stretches) {
                    write(&mut direct, between);
                    write(&mut direct, values);
                    write(&mut repeated, between);
                    repeated.append_encoded(&pieces, *piece);
                }
            }
            prop_assert_eq!(repeated.bit_len(), direct.bit_len());
            prop_assert_eq!(repeated.message(), direct.message());
        }
    }

    proptest! {
        /// Against the plain loop, also where the largest message ends.
        #[test]
        fn whole_words_equal_the_plain_loop_at_any_position(
            before in prop_oneof![0..200_usize, 8 * MAX_MESSAGE_LEN - 900..8 * MAX_MESSAGE_LEN + 20],
            bits in vec(any::<bool>(), 0..800),
            behind in vec(any::<bool>(), 0..9),
        ) {
            let (mut pieces, mut scratch) = (EncodedCache::default(), BitWriter::new());
            let mut store = |bits: &[bool]| {
                scratch.clear();
                bits.iter().for_each(|&bit| scratch.flag(bit));
                pieces.store(&mut scratch)
            };
            let spans = [store(&bits), store(&behind)];
            let mut writer = BitWriter::new();
            (0..before).for_each(|at| writer.flag(at % 3 == 0));
            let mut plain = writer.clone();
            for span in spans {
                writer.append_encoded(&pieces, span);
                plain.append_truncated(&pieces, span);
            }
            prop_assert_eq!(writer.overflowed(), plain.overflowed());
            if !plain.overflowed() {
                prop_assert_eq!(writer.bit_len(), plain.bit_len());
                prop_assert_eq!(writer.message(), plain.message());
            }
        }
    }

    #[test]
    fn writer_flags_overflow_of_appended_spans() {
        let (mut pieces, mut writer) = (EncodedCache::default(), BitWriter::new());
        (0..MAX_MESSAGE_LEN * 4).for_each(|_| writer.flag(true));
        let piece = pieces.store(&mut writer);
        for _ in 0..3 {
            writer.append_encoded(&pieces, piece);
        }
        assert!(writer.overflowed());
        assert!(writer.message().len() <= MAX_MESSAGE_LEN + 1);
    }
}
