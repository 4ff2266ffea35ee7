//! Bit stream of a message: coded bytes and raw bits.
//!
//! Bits fill each byte from the lowest up. The [`Coder`] of an encoding says how a value of `n` bits
//! is written. [`Coder::Huffman`]: its `n % 8` lowest bits as they are, lowest first, then its
//! remaining bytes, low byte first, each as its code of the fixed Huffman tree. [`Coder::Plain`]: all
//! bits as they are, lowest first; text and data begin at a whole byte.
//!
//! ```text
//! Huffman  10 bits:  b0 b1 | code of bits 2..10        32 bits:  code | code | code | code
//! Plain    10 bits:  b0 b1 b2 b3 b4 b5 b6 b7 b8 b9     32 bits:  b0 … b31
//! ```
//!
//! The loops over fields are compiled for each coder, so that no value asks
//! for it.
//!
//! Invariants: a writer never exceeds the largest message; it sets a flag instead. A reader never
//! reads past its end; it returns an error. Source: Quake III protocol 68, the bit stream; protocol
//! 43, bits.

mod reader;

use super::{
    huffman::{CODES, MAX_CODE_LEN},
    protocol::{Coder, ENCODING_68, Encoding},
};
use crate::model::limits::{MAX_BIG_STRING_LEN, MAX_MESSAGE_LEN, MAX_STRING_LEN};
pub use reader::BitReader;
pub(super) use reader::Window;

/// Memory of a message. Eight spare bytes at the end allow every store to be a whole word.
pub(super) type Buffer = [u8; MAX_MESSAGE_LEN + 8];

/// Argument of loops that are compiled for [`Coder::Huffman`].
pub(super) const HUFFMAN: bool = false;
/// Argument of loops that are compiled for [`Coder::Plain`].
pub(super) const PLAIN: bool = true;

/// Code of each byte, in the top bits of a word.
static CODE_TOPS: [u64; 256] = {
    let mut tops = [0; 256];
    let mut symbol = 0;
    while symbol < 256 {
        tops[symbol] = (CODES[symbol].bits as u64) << (64 - CODES[symbol].len);
        symbol += 1;
    }
    tops
};

/// Code length of each byte, in bits.
static CODE_LENS: [u8; 256] = {
    let mut lens = [0; 256];
    let mut symbol = 0;
    while symbol < 256 {
        lens[symbol] = CODES[symbol].len;
        symbol += 1;
    }
    lens
};

/// Number of symbols that fit a word besides the bits of an unfinished byte, for any code lengths.
const SYMBOLS_PER_STORE: usize = 5;
/// The longest value fits one window: 31 bits with 7 of them raw, or 32 bits.
const _: () = assert!(7 + 4 * MAX_CODE_LEN <= Window::BITS);
const _: () = assert!(SYMBOLS_PER_STORE * MAX_CODE_LEN as usize <= Pen::MAX_BITS as usize);

/// Write position and the bits not stored yet.
///
/// The pending bits are the topmost of a word, the newest highest; the bits below were stored
/// before. A new bit shifts the word down and enters at its top, so nothing has to be cleared. A
/// caller that writes several values moves the pen out, writes, and moves it back. Meanwhile the
/// pen stays in registers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pen {
    pub(super) word: u64,
    /// Pending bits; after a store those of the unfinished byte.
    pub(super) filled: u32,
    /// Whole bytes stored.
    pub(super) len: usize,
}

impl Pen {
    /// Maximum number of bits between two stores.
    pub(super) const MAX_BITS: u32 = 64 - 7;

    /// Writes the `n` low bits of `bits`, whose other bits are zero.
    #[inline]
    pub(super) fn raw(&mut self, bits: u64, n: u32) {
        debug_assert!(n <= Self::MAX_BITS && bits >> n == 0);
        self.word = self.word >> n | bits.rotate_right(n);
        self.filled += n;
    }

    /// Writes a byte.
    #[inline]
    pub(super) fn byte<const IS_PLAIN: bool>(&mut self, byte: u8) {
        if IS_PLAIN {
            self.raw(u64::from(byte), 8);
            return;
        }
        let len = u32::from(CODE_LENS[usize::from(byte)]);
        self.word = self.word >> len | CODE_TOPS[usize::from(byte)];
        self.filled += len;
    }

    /// Writes the low bytes of `value`.
    #[inline]
    pub(super) fn bytes<const IS_PLAIN: bool>(&mut self, mut value: u32, count: u32) {
        for _ in 0..count {
            self.byte::<IS_PLAIN>(value as u8);
            value >>= 8;
        }
    }

    /// Writes a value of `n` bits. With Huffman codes: at most 7 raw bits and three codes, or four codes.
    #[inline]
    pub(super) fn int<const IS_PLAIN: bool>(&mut self, value: u32, n: u32) {
        debug_assert!((1..=32).contains(&n));
        if IS_PLAIN {
            self.raw(u64::from(value) & ((1 << n) - 1), n);
            return;
        }
        let raw = n & 7;
        self.raw(u64::from(value & ((1 << raw) - 1)), raw);
        self.bytes::<HUFFMAN>(value >> raw, n >> 3);
    }

    /// Stores the pending bits.
    #[inline]
    pub(super) fn store(&mut self, bytes: &mut Buffer) {
        debug_assert!(self.filled <= 64);
        // With nothing pending, the shift is zero and the word has no effect.
        let word = self.word.wrapping_shr(64 - self.filled);
        // Bytes beyond the largest message are dropped.
        if self.len < MAX_MESSAGE_LEN {
            bytes[self.len..self.len + 8].copy_from_slice(&word.to_le_bytes());
            self.len += (self.filled >> 3) as usize;
        }
        self.filled &= 7;
    }
}

impl Coder {
    /// Returns the length of a byte, in bits.
    fn byte_bits(self, byte: u8) -> usize {
        match self {
            Self::Huffman => usize::from(CODE_LENS[usize::from(byte)]),
            Self::Plain => 8,
        }
    }

    /// Returns the length of `bytes`, in bits.
    pub(super) fn code_bits(self, bytes: &[u8]) -> usize {
        bytes.iter().map(|&byte| self.byte_bits(byte)).sum()
    }

    /// Returns the length that [`BitWriter::big_string`] writes, in bits.
    pub(super) fn big_string_bits(self, text: &[u8]) -> usize {
        let text = if text.len() <= MAX_BIG_STRING_LEN { text } else { &[] };
        let symbols = text.iter().take_while(|&&byte| byte != 0).map(|&byte| safe_byte(byte));
        symbols.chain([0]).map(|byte| self.byte_bits(byte)).sum()
    }
}

/// Writer of one message, in one [`Encoding`].
#[derive(Clone, Debug)]
pub struct BitWriter {
    pub(super) bytes: Box<Buffer>,
    pub(super) pen: Pen,
    encoding: &'static Encoding,
}

impl Default for BitWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl BitWriter {
    /// Creates an empty message in the encoding of protocol 68.
    #[must_use]
    pub fn new() -> Self {
        let bytes = Box::new([0; MAX_MESSAGE_LEN + 8]);
        Self { bytes, pen: Pen::default(), encoding: &ENCODING_68 }
    }

    /// Starts a new message of the same encoding, in the same memory.
    pub fn clear(&mut self) {
        self.pen = Pen::default();
    }

    /// Starts a new message of another encoding, in the same memory.
    pub fn begin(&mut self, encoding: &'static Encoding) {
        self.encoding = encoding;
        self.clear();
    }

    /// Returns the encoding of the message.
    #[inline]
    #[must_use]
    pub fn encoding(&self) -> &'static Encoding {
        self.encoding
    }

    /// Number of bits written.
    #[must_use]
    pub fn bit_len(&self) -> usize {
        self.pen.len * 8 + self.pen.filled as usize
    }

    /// Whether more was written than the largest message holds. The content is not a message then.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.pen.len >= MAX_MESSAGE_LEN
    }

    /// Returns the message: the bytes started, and with Huffman codes one zero byte more when the last is full.
    pub fn message(&mut self) -> &[u8] {
        let Pen { word, filled, len } = self.pen;
        self.bytes[len] = if filled == 0 { 0 } else { (word >> (64 - filled)) as u8 };
        match (self.encoding.coder, filled) {
            (Coder::Plain, 0) => &self.bytes[..len],
            _ => &self.bytes[..=len],
        }
    }

    /// Writes up to [`Pen::MAX_BITS`] bits.
    #[inline]
    pub(super) fn put(&mut self, write: impl FnOnce(&mut Pen)) {
        write(&mut self.pen);
        self.pen.store(&mut self.bytes);
    }

    /// Writes one raw bit.
    #[inline]
    pub fn flag(&mut self, value: bool) {
        self.put(|pen| pen.raw(u64::from(value), 1));
    }

    /// Writes the `n` low bits of `value`, `n` in 1..=32.
    #[inline]
    pub fn bits(&mut self, value: u32, n: u32) {
        match self.encoding.coder {
            Coder::Huffman => self.put(|pen| pen.int::<HUFFMAN>(value, n)),
            Coder::Plain => self.put(|pen| pen.int::<PLAIN>(value, n)),
        }
    }

    /// Writes 8 bits.
    #[inline]
    pub fn byte(&mut self, value: u8) {
        match self.encoding.coder {
            Coder::Huffman => self.put(|pen| pen.byte::<HUFFMAN>(value)),
            Coder::Plain => self.put(|pen| pen.byte::<PLAIN>(value)),
        }
    }

    /// Writes 16 bits.
    #[inline]
    pub fn short(&mut self, value: i16) {
        self.bits(u32::from(value as u16), 16);
    }

    /// Writes 32 bits.
    #[inline]
    pub fn long(&mut self, value: i32) {
        self.bits(value as u32, 32);
    }

    /// Writes a string. Bytes above 127 and `%` become `.`. Text ends at a zero byte; text longer
    /// than 1023 bytes is sent empty.
    pub fn string(&mut self, text: &[u8]) {
        self.string_up_to(text, MAX_STRING_LEN);
    }

    /// Writes a big string: as [`Self::string`] with 8191 bytes.
    pub fn big_string(&mut self, text: &[u8]) {
        self.string_up_to(text, MAX_BIG_STRING_LEN);
    }

    fn string_up_to(&mut self, text: &[u8], limit: usize) {
        let text = if text.len() <= limit { text } else { &[] };
        let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        match self.encoding.coder {
            Coder::Huffman => self.symbols::<HUFFMAN>(&text[..end], safe_byte),
            Coder::Plain => {
                self.align();
                self.symbols::<PLAIN>(&text[..end], safe_byte);
            }
        }
        self.byte(0);
    }

    /// Writes raw bytes, such as those of a download block. Plain data behind an unfinished byte begin one byte behind
    /// its end, as original programs write and read them.
    pub fn data(&mut self, bytes: &[u8]) {
        match self.encoding.coder {
            Coder::Huffman => self.symbols::<HUFFMAN>(bytes, |byte| byte),
            Coder::Plain => {
                if !bytes.is_empty() && self.align() {
                    self.byte(0);
                }
                self.symbols::<PLAIN>(bytes, |byte| byte);
            }
        }
    }

    /// Fills the unfinished byte with zeros. Returns whether there was one.
    fn align(&mut self) -> bool {
        let odd = self.pen.filled & 7;
        self.put(|pen| pen.raw(0, (8 - odd) & 7));
        odd != 0
    }

    #[inline]
    fn symbols<const IS_PLAIN: bool>(&mut self, bytes: &[u8], change: impl Fn(u8) -> u8) {
        let mut pen = self.pen;
        let (chunks, rest) = bytes.as_chunks::<SYMBOLS_PER_STORE>();
        for chunk in chunks {
            chunk.iter().for_each(|&byte| pen.byte::<IS_PLAIN>(change(byte)));
            pen.store(&mut self.bytes);
        }
        rest.iter().for_each(|&byte| pen.byte::<IS_PLAIN>(change(byte)));
        pen.store(&mut self.bytes);
        self.pen = pen;
    }
}

/// Replaces bytes that old clients and log tools cannot handle: `%` and bytes above 127.
#[inline]
#[must_use]
pub const fn safe_byte(byte: u8) -> u8 {
    if byte > 127 || byte == b'%' { b'.' } else { byte }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn written_values_are_read_back(values in prop::collection::vec((any::<u32>(), 1..=32u32), 0..400)) {
            let mut writer = BitWriter::new();
            for &(value, n) in &values {
                writer.bits(value, n);
            }
            let bits = writer.bit_len();
            let message = writer.message().to_vec();
            prop_assert_eq!(message.len(), bits / 8 + 1);
            let mut reader = BitReader::new(&message);
            for &(value, n) in &values {
                let mask = if n == 32 { u32::MAX } else { (1 << n) - 1 };
                prop_assert_eq!(reader.bits(n), Ok(value & mask));
            }
            prop_assert_eq!(reader.bit_position(), bits);
        }

        #[test]
        fn data_survives(data in prop::collection::vec(any::<u8>(), 0..700), odd in 0..8u32) {
            let mut writer = BitWriter::new();
            (0..odd).for_each(|_| writer.flag(true));
            writer.data(&data);
            let message = writer.message().to_vec();
            let mut reader = BitReader::new(&message);
            (0..odd).for_each(|_| assert!(reader.flag().unwrap()));
            let mut back = vec![0; data.len()];
            prop_assert_eq!(reader.data(&mut back), Ok(()));
            prop_assert_eq!(back, data);
        }

        #[test]
        fn any_bytes_end_in_a_value_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..64),
            widths in prop::collection::vec(1..=32u32, 1..200),
        ) {
            let mut reader = BitReader::new(&bytes);
            let mut message = bytes.clone();
            let mut padded = BitReader::padded(&ENCODING_68, &mut message);
            for n in widths {
                let before = reader.bit_position();
                let read = reader.bits(n);
                prop_assert_eq!(padded.bits(n), read);
                match read {
                    Ok(_) => prop_assert!(reader.bit_position() <= bytes.len() * 8),
                    Err(_) => prop_assert_eq!(reader.bit_position(), before),
                }
                prop_assert_eq!(padded.flag(), reader.flag());
                prop_assert_eq!(padded.bit_position(), reader.bit_position());
            }
        }
    }

    #[test]
    fn writer_flags_overflow_and_stays_in_bounds() {
        let mut writer = BitWriter::new();
        for _ in 0..MAX_MESSAGE_LEN * 8 - 1 {
            writer.flag(true);
        }
        assert!(!writer.overflowed());
        assert_eq!(writer.message().len(), MAX_MESSAGE_LEN);
        for _ in 0..100 {
            writer.long(-1);
        }
        assert!(writer.overflowed());
        writer.clear();
        writer.byte(7);
        assert!(!writer.overflowed());
    }

    #[test]
    fn text_is_sanitized_and_bounded_in_both_directions() {
        let mut writer = BitWriter::new();
        writer.string(b"100% \xe9");
        writer.string(&[b'x'; 1024]);
        writer.string(&[b'y'; 1023]);
        writer.big_string(&[b'z'; 3000]);
        let message = writer.message().to_vec();
        let mut reader = BitReader::new(&message);
        assert_eq!(reader.string().unwrap(), "100. .");
        assert_eq!(reader.string().unwrap(), "");
        assert_eq!(reader.string().unwrap().len(), 1023);
        assert_eq!(reader.string().unwrap().len(), 1023, "an over-long string is cut");
        assert!(reader.string().unwrap().starts_with('z'), "and its rest is the next thing read");
    }
}
