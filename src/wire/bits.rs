//! Bits of a message: packed from the lowest bit of each byte up, whole bytes of a value through the
//! fixed Huffman code, the odd low bits raw.
//!
//! A value of `n` bits sends its `n % 8` lowest bits as they are, lowest first, and then its remaining
//! bytes, low byte first, each as its code:
//!
//! ```text
//! 10 bits:  b0 b1 | code of bits 2..10        32 bits:  code | code | code | code
//! ```
//!
//! Invariants: a writer never grows beyond the largest message, it remembers that it was asked to; a
//! reader never reads past its end, it says so. Source: Quake III protocol 68, the bit stream.

use super::{
    Result, WireError,
    huffman::{CODES, DECODE, MAX_CODE_LEN},
    protocol::{ENCODING_68, Encoding},
};
use crate::model::limits::{MAX_BIG_STRING_LEN, MAX_MESSAGE_LEN, MAX_STRING_LEN};

/// A message's memory. Eight spare bytes behind the largest let every store be a whole word.
pub(super) type Buffer = [u8; MAX_MESSAGE_LEN + 8];

/// The code of each byte, at the top of a word.
static CODE_TOPS: [u64; 256] = {
    let mut tops = [0; 256];
    let mut symbol = 0;
    while symbol < 256 {
        tops[symbol] = (CODES[symbol].bits as u64) << (64 - CODES[symbol].len);
        symbol += 1;
    }
    tops
};

/// The length of each byte's code.
static CODE_LENS: [u8; 256] = {
    let mut lens = [0; 256];
    let mut symbol = 0;
    while symbol < 256 {
        lens[symbol] = CODES[symbol].len;
        symbol += 1;
    }
    lens
};

/// Symbols that fit a word besides the bits of an unfinished byte, however long their codes.
const SYMBOLS_PER_STORE: usize = 5;
/// The longest value, 31 bits with 7 of them raw or 32 bits, lies in one window.
const _: () = assert!(7 + 4 * MAX_CODE_LEN <= Window::BITS);
const _: () = assert!(SYMBOLS_PER_STORE * MAX_CODE_LEN as usize <= Pen::MAX_BITS as usize);

/// Where a writer stands, and the bits that it has not stored yet.
///
/// These are the topmost of a word, the newest highest; what lies below them was stored before. So new
/// bits shift the word down and come in at its top, and nothing has to be cleared. Whoever writes
/// several values takes the pen, writes, and puts it back: meanwhile it stays in registers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pen {
    word: u64,
    /// Bits not stored: after a store those of the unfinished byte.
    filled: u32,
    /// Whole bytes stored.
    len: usize,
}

impl Pen {
    /// Bits that may be written between two stores.
    pub(super) const MAX_BITS: u32 = 64 - 7;

    /// The `n` low bits of `bits`, which has no others.
    #[inline]
    pub(super) fn raw(&mut self, bits: u64, n: u32) {
        debug_assert!(n <= Self::MAX_BITS && bits >> n == 0);
        self.word = self.word >> n | bits.rotate_right(n);
        self.filled += n;
    }

    /// A byte, as its code.
    #[inline]
    pub(super) fn byte(&mut self, byte: u8) {
        let len = u32::from(CODE_LENS[usize::from(byte)]);
        self.word = self.word >> len | CODE_TOPS[usize::from(byte)];
        self.filled += len;
    }

    /// The low bytes of `value`.
    #[inline]
    pub(super) fn bytes(&mut self, mut value: u32, count: u32) {
        for _ in 0..count {
            self.byte(value as u8);
            value >>= 8;
        }
    }

    /// A value of `n` bits: at most 7 raw bits and three codes, or four codes.
    #[inline]
    pub(super) fn int(&mut self, value: u32, n: u32) {
        debug_assert!((1..=32).contains(&n));
        let raw = n & 7;
        self.raw(u64::from(value & ((1 << raw) - 1)), raw);
        self.bytes(value >> raw, n >> 3);
    }

    /// Stores what was written since the last time.
    #[inline]
    pub(super) fn store(&mut self, bytes: &mut Buffer) {
        debug_assert!(self.filled <= 64);
        // With nothing to store the shift is by nothing, and so is what the word counts for.
        let word = self.word.wrapping_shr(64 - self.filled);
        // What comes behind the largest message is not kept.
        if self.len < MAX_MESSAGE_LEN {
            bytes[self.len..self.len + 8].copy_from_slice(&word.to_le_bytes());
            self.len += (self.filled >> 3) as usize;
        }
        self.filled &= 7;
    }
}

/// Returns how many bits the codes of `bytes` take.
pub(super) fn code_bits(bytes: &[u8]) -> usize {
    bytes.iter().map(|&byte| usize::from(CODE_LENS[usize::from(byte)])).sum()
}

/// Returns how many bits [`BitWriter::big_string`] writes.
pub(super) fn big_string_bits(text: &[u8]) -> usize {
    let text = if text.len() <= MAX_BIG_STRING_LEN { text } else { &[] };
    let symbols = text.iter().take_while(|&&byte| byte != 0).map(|&byte| safe_byte(byte));
    symbols.chain([0]).map(|byte| usize::from(CODE_LENS[usize::from(byte)])).sum()
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
    /// Makes an empty message in the encoding of protocol 68.
    #[must_use]
    pub fn new() -> Self {
        let bytes = Box::new([0; MAX_MESSAGE_LEN + 8]);
        Self { bytes, pen: Pen::default(), encoding: &ENCODING_68 }
    }

    /// Starts a new message of the same encoding, in the same memory.
    pub fn clear(&mut self) {
        self.pen = Pen::default();
    }

    /// Starts a new message of that encoding, in the same memory.
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

    /// Bits written.
    #[must_use]
    pub fn bit_len(&self) -> usize {
        self.pen.len * 8 + self.pen.filled as usize
    }

    /// Whether more was written than the largest message holds. What stands then is not a message.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.pen.len >= MAX_MESSAGE_LEN
    }

    /// The message: the bytes begun, and one more when the last is full, which is zero.
    pub fn message(&mut self) -> &[u8] {
        let Pen { word, filled, len } = self.pen;
        self.bytes[len] = if filled == 0 { 0 } else { (word >> (64 - filled)) as u8 };
        &self.bytes[..=len]
    }

    /// Writes up to [`Pen::MAX_BITS`] bits.
    #[inline]
    pub(super) fn put(&mut self, write: impl FnOnce(&mut Pen)) {
        write(&mut self.pen);
        self.pen.store(&mut self.bytes);
    }

    /// One raw bit.
    #[inline]
    pub fn flag(&mut self, value: bool) {
        self.put(|pen| pen.raw(u64::from(value), 1));
    }

    /// The `n` low bits of `value`, `n` in 1..=32.
    #[inline]
    pub fn bits(&mut self, value: u32, n: u32) {
        self.put(|pen| pen.int(value, n));
    }

    /// 8 bits.
    #[inline]
    pub fn byte(&mut self, value: u8) {
        self.put(|pen| pen.byte(value));
    }

    /// 16 bits.
    #[inline]
    pub fn short(&mut self, value: i16) {
        self.bits(u32::from(value as u16), 16);
    }

    /// 32 bits.
    #[inline]
    pub fn long(&mut self, value: i32) {
        self.bits(value as u32, 32);
    }

    /// A string. Bytes above 127 and `%` become `.`; text longer than 1023 bytes is sent empty, and
    /// ends at a zero byte.
    pub fn string(&mut self, text: &[u8]) {
        self.string_up_to(text, MAX_STRING_LEN);
    }

    /// A big string: as [`Self::string`] with 8191 bytes.
    pub fn big_string(&mut self, text: &[u8]) {
        self.string_up_to(text, MAX_BIG_STRING_LEN);
    }

    fn string_up_to(&mut self, text: &[u8], limit: usize) {
        let text = if text.len() <= limit { text } else { &[] };
        let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        self.symbols(&text[..end], safe_byte);
        self.byte(0);
    }

    /// Bytes one after the other, as a download block carries them.
    pub fn data(&mut self, bytes: &[u8]) {
        self.symbols(bytes, |byte| byte);
    }

    #[inline]
    fn symbols(&mut self, bytes: &[u8], change: impl Fn(u8) -> u8) {
        let mut pen = self.pen;
        let (chunks, rest) = bytes.as_chunks::<SYMBOLS_PER_STORE>();
        for chunk in chunks {
            chunk.iter().for_each(|&byte| pen.byte(change(byte)));
            pen.store(&mut self.bytes);
        }
        rest.iter().for_each(|&byte| pen.byte(change(byte)));
        pen.store(&mut self.bytes);
        self.pen = pen;
    }
}

/// What stands for a byte of text: old clients and log tools choke on `%` and on bytes above 127.
#[inline]
#[must_use]
pub const fn safe_byte(byte: u8) -> u8 {
    if byte > 127 || byte == b'%' { b'.' } else { byte }
}

/// The next bits of a message, to be taken from the lowest on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    bits: u64,
    /// Bits taken.
    used: u32,
}

impl Window {
    /// Bits that a window shows, at least.
    pub(super) const BITS: u32 = 64 - 7;

    /// Raw bits.
    #[inline]
    pub(super) fn raw(&mut self, n: u32) -> u32 {
        let value = self.bits as u32 & ((1 << n) - 1);
        self.pass(n);
        value
    }

    /// One raw bit.
    #[inline]
    pub(super) fn flag(&mut self) -> bool {
        self.raw(1) != 0
    }

    #[inline]
    fn pass(&mut self, n: u32) {
        self.bits >>= n;
        self.used += n;
    }

    /// A byte from its code; `None` for the code that stands for nothing.
    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        let decoded = DECODE[self.bits as usize % DECODE.len()];
        self.pass(u32::from(decoded.len));
        (decoded.len != 0).then_some(decoded.symbol)
    }

    /// A value of `n` bits.
    #[inline]
    pub(super) fn int(&mut self, n: u32) -> Option<u32> {
        let raw = n & 7;
        let mut value = self.raw(raw);
        let mut have = raw;
        while have < n {
            value |= u32::from(self.byte()?) << have;
            have += 8;
        }
        Some(value)
    }
}

/// Reader of one message, in one [`Encoding`].
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// Bits read.
    at: usize,
    encoding: &'static Encoding,
}

impl<'a> BitReader<'a> {
    /// Reads a message in the encoding of protocol 68.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::with_encoding(&ENCODING_68, bytes)
    }

    /// Reads a message in that encoding.
    #[must_use]
    pub fn with_encoding(encoding: &'static Encoding, bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, encoding }
    }

    /// Returns the encoding of the message.
    #[inline]
    #[must_use]
    pub fn encoding(&self) -> &'static Encoding {
        self.encoding
    }

    /// Bits read so far.
    #[must_use]
    pub fn bit_position(&self) -> usize {
        self.at
    }

    /// The next [`Window::BITS`] bits or more, zeros behind the end.
    #[inline]
    pub(super) fn window(&self) -> Window {
        let start = self.at >> 3;
        let word = match self.bytes.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(whole) => u64::from_le_bytes(*whole),
            None => self.last_word(start),
        };
        Window { bits: word >> (self.at & 7), used: 0 }
    }

    #[cold]
    fn last_word(&self, start: usize) -> u64 {
        let rest = self.bytes.get(start..).unwrap_or(&[]);
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        u64::from_le_bytes(word)
    }

    /// Goes on behind what was taken of the current window.
    #[inline]
    pub(super) fn follow(&mut self, window: Window) -> Result<()> {
        let at = self.at + window.used as usize;
        if at > self.bytes.len() * 8 {
            return Err(WireError::Truncated);
        }
        self.at = at;
        Ok(())
    }

    /// Why a code of the current window stands for nothing: zeros behind the end may have made the one
    /// code without a meaning out of the beginning of another.
    #[cold]
    pub(super) fn no_code(&self, window: Window) -> WireError {
        let whole = self.at + (window.used + MAX_CODE_LEN) as usize <= self.bytes.len() * 8;
        if whole { WireError::BadCode } else { WireError::Truncated }
    }

    /// One raw bit.
    ///
    /// # Errors
    /// [`WireError::Truncated`] at the end.
    #[inline]
    pub fn flag(&mut self) -> Result<bool> {
        let byte = *self.bytes.get(self.at >> 3).ok_or(WireError::Truncated)?;
        let bit = byte >> (self.at & 7) & 1;
        self.at += 1;
        Ok(bit != 0)
    }

    /// An unsigned value of `n` bits, `n` in 1..=32.
    ///
    /// # Errors
    /// [`WireError::Truncated`] at the end, [`WireError::BadCode`] for a code that stands for nothing.
    #[inline]
    pub fn bits(&mut self, n: u32) -> Result<u32> {
        debug_assert!((1..=32).contains(&n));
        let mut window = self.window();
        let value = window.int(n).ok_or_else(|| self.no_code(window))?;
        self.follow(window)?;
        Ok(value)
    }

    /// 8 bits.
    ///
    /// # Errors
    /// As [`Self::bits`].
    #[inline]
    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.bits(8)? as u8)
    }

    /// 16 bits.
    ///
    /// # Errors
    /// As [`Self::bits`].
    #[inline]
    pub fn short(&mut self) -> Result<i16> {
        Ok(self.bits(16)? as i16)
    }

    /// 32 bits.
    ///
    /// # Errors
    /// As [`Self::bits`].
    #[inline]
    pub fn long(&mut self) -> Result<i32> {
        Ok(self.bits(32)? as i32)
    }

    /// A string: ASCII without `%`. One longer than 1023 bytes ends after the byte that is too many.
    ///
    /// # Errors
    /// As [`Self::bits`].
    pub fn string(&mut self) -> Result<String> {
        self.string_up_to(MAX_STRING_LEN)
    }

    /// A big string: as [`Self::string`] with 8191 bytes.
    ///
    /// # Errors
    /// As [`Self::bits`].
    pub fn big_string(&mut self) -> Result<String> {
        self.string_up_to(MAX_BIG_STRING_LEN)
    }

    fn string_up_to(&mut self, limit: usize) -> Result<String> {
        let mut text = String::new();
        loop {
            match self.byte()? {
                0 => return Ok(text),
                _ if text.len() == limit => return Ok(text),
                byte => text.push(char::from(safe_byte(byte))),
            }
        }
    }

    /// Fills `bytes`.
    ///
    /// # Errors
    /// As [`Self::bits`].
    pub fn data(&mut self, bytes: &mut [u8]) -> Result<()> {
        let (chunks, rest) = bytes.as_chunks_mut::<SYMBOLS_PER_STORE>();
        for chunk in chunks {
            let mut window = self.window();
            for byte in chunk {
                *byte = window.byte().ok_or_else(|| self.no_code(window))?;
            }
            self.follow(window)?;
        }
        for byte in rest {
            *byte = self.byte()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(values in prop::collection::vec((any::<u32>(), 1..=32u32), 0..400)) {
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
            for n in widths {
                let before = reader.bit_position();
                match reader.bits(n) {
                    Ok(_) => prop_assert!(reader.bit_position() <= bytes.len() * 8),
                    Err(_) => prop_assert_eq!(reader.bit_position(), before),
                }
            }
        }
    }

    #[test]
    fn a_message_that_is_too_long_says_so_and_stays_in_bounds() {
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
    fn text_is_made_safe_and_bounded_both_ways() {
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
