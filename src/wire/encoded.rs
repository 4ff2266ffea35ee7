//! Cache of encoded values that are appended to several messages.
//!
//! The bits of a value do not depend on the bits before it: the Huffman code is fixed and nothing
//! is aligned. A value for many clients is therefore encoded once and copied, whole words at a
//! time, to any position of their messages.
//!
//! Invariants: a span belongs to the [`EncodedCache`] that returned it, until that is cleared.
//! Spare bytes follow the last span, so that every load is a whole word. Source: Quake III protocol
//! 68, the bit stream.

use super::bits::BitWriter;

/// Bits copied at a time: whole bytes, and no more than fit a pen besides an unfinished byte.
const STRIDE: usize = 56;
/// Number of spare bytes after the last span.
const SPARE: usize = 8;

/// Encoded values, one after the other.
#[derive(Clone, Debug, Default)]
pub struct EncodedCache {
    bytes: Vec<u8>,
}

/// Position of an encoded value in its cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedSpan {
    at: u32,
    bits: u32,
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
        self.bytes.truncate(at);
        self.bytes.extend_from_slice(writer.message());
        self.bytes.resize(at + bits.div_ceil(8) + SPARE, 0);
        EncodedSpan { at: at as u32, bits: bits as u32 }
    }
}

impl BitWriter {
    /// Appends a stored value.
    pub fn append_encoded(&mut self, pieces: &EncodedCache, piece: EncodedSpan) {
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
