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
};
use crate::model::limits::{MAX_BIG_STRING_LEN, MAX_MESSAGE_LEN, MAX_STRING_LEN};

/// Bits one [`BitWriter::put`] takes: what fits beside the up to seven bits of an unfinished byte.
pub(super) const MAX_PUT: u32 = 56;

/// Code and length of each byte in one small table: the low 12 bits are the code.
static PACKED_CODES: [u16; 256] = {
    let mut packed = [0; 256];
    let mut symbol = 0;
    while symbol < 256 {
        packed[symbol] = CODES[symbol].bits as u16 | (CODES[symbol].len as u16) << 12;
        symbol += 1;
    }
    packed
};

/// Bits in sending order, lowest first, that are put at once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    pub(super) bits: u64,
    pub(super) len: u32,
}

impl Run {
    /// This run, then raw bits. Together at most [`MAX_PUT`].
    #[inline]
    pub(super) fn then_raw(self, bits: u64, len: u32) -> Self {
        Self { bits: self.bits | bits << self.len, len: self.len + len }
    }

    /// This run, then a byte's code.
    #[inline]
    pub(super) fn then_byte(self, byte: u8) -> Self {
        let packed = PACKED_CODES[usize::from(byte)];
        self.then_raw(u64::from(packed & 0xfff), u32::from(packed >> 12))
    }

    /// This run, then a value of `n` bits: at most 7 raw bits and three codes, or four codes.
    #[inline]
    pub(super) fn then_int(self, value: u32, n: u32) -> Self {
        debug_assert!((1..=32).contains(&n));
        let raw = n & 7;
        let mut run = self.then_raw(u64::from(value & ((1 << raw) - 1)), raw);
        let mut rest = value >> raw;
        for _ in 0..n >> 3 {
            run = run.then_byte(rest as u8);
            rest >>= 8;
        }
        run
    }
}

/// Writes one message.
#[derive(Clone, Debug)]
pub struct BitWriter {
    /// Eight spare bytes behind the largest message let every put store a whole word.
    bytes: Box<[u8; MAX_MESSAGE_LEN + 8]>,
    /// Whole bytes written.
    len: usize,
    /// Bits of the unfinished byte, and how many (below 8).
    pending: u64,
    pending_len: u32,
    overflowed: bool,
}

impl Default for BitWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl BitWriter {
    /// An empty message.
    #[must_use]
    pub fn new() -> Self {
        Self {
            bytes: Box::new([0; MAX_MESSAGE_LEN + 8]),
            len: 0,
            pending: 0,
            pending_len: 0,
            overflowed: false,
        }
    }

    /// Begins a new message in the same memory.
    pub fn clear(&mut self) {
        (self.len, self.pending, self.pending_len, self.overflowed) = (0, 0, 0, false);
    }

    /// Bits written.
    #[must_use]
    pub fn bit_len(&self) -> usize {
        self.len * 8 + self.pending_len as usize
    }

    /// Whether more was written than the largest message holds. What stands then is not a message.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// The message: the bytes begun, and one more when the last is full, which is zero.
    pub fn message(&mut self) -> &[u8] {
        self.bytes[self.len] = self.pending as u8;
        &self.bytes[..=self.len]
    }

    #[inline]
    pub(super) fn put(&mut self, run: Run) {
        debug_assert!(run.len <= MAX_PUT && run.bits >> run.len == 0);
        let word = self.pending | run.bits << self.pending_len;
        let filled = self.pending_len + run.len;
        // A full buffer keeps its length: everything after the overflow lands on the spare bytes.
        if self.len >= MAX_MESSAGE_LEN {
            self.overflowed = true;
            return;
        }
        self.bytes[self.len..self.len + 8].copy_from_slice(&word.to_le_bytes());
        self.len += (filled >> 3) as usize;
        self.pending = word >> (filled & !7);
        self.pending_len = filled & 7;
        if self.len >= MAX_MESSAGE_LEN {
            self.overflowed = true;
            self.len = MAX_MESSAGE_LEN;
        }
    }

    /// One raw bit.
    #[inline]
    pub fn flag(&mut self, value: bool) {
        self.put(Run { bits: u64::from(value), len: 1 });
    }

    /// The `n` low bits of `value`, `n` in 1..=32.
    #[inline]
    pub fn bits(&mut self, value: u32, n: u32) {
        self.put(Run::default().then_int(value, n));
    }

    /// 8 bits.
    #[inline]
    pub fn byte(&mut self, value: u8) {
        self.put(Run::default().then_byte(value));
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
        if text.len() <= limit {
            for &byte in text.iter().take_while(|&&byte| byte != 0) {
                self.byte(safe_byte(byte));
            }
        }
        self.byte(0);
    }

    /// Bytes one after the other, as a download block carries them.
    pub fn data(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(4) {
            self.put(chunk.iter().fold(Run::default(), |run, &byte| run.then_byte(byte)));
        }
    }
}

/// What stands for a byte of text: old clients and log tools choke on `%` and on bytes above 127.
#[inline]
#[must_use]
pub const fn safe_byte(byte: u8) -> u8 {
    if byte > 127 || byte == b'%' { b'.' } else { byte }
}

/// Reads one message.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// Bits read.
    at: usize,
}

impl<'a> BitReader<'a> {
    /// Reads `bytes` from their first bit.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bits read so far.
    #[must_use]
    pub fn bit_position(&self) -> usize {
        self.at
    }

    /// The next 57 bits or more, zeros behind the end.
    #[inline]
    fn window(&self) -> u64 {
        let start = self.at >> 3;
        let word = match self.bytes.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(whole) => u64::from_le_bytes(*whole),
            None => self.last_word(start),
        };
        word >> (self.at & 7)
    }

    #[cold]
    fn last_word(&self, start: usize) -> u64 {
        let rest = self.bytes.get(start..).unwrap_or(&[]);
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        u64::from_le_bytes(word)
    }

    /// Why the bits behind the next `used` ones stand for nothing: zeros behind the end may have made
    /// the one code without a meaning out of the beginning of another.
    #[cold]
    fn no_code(&self, used: u32) -> WireError {
        let whole = self.at + (used + MAX_CODE_LEN) as usize <= self.bytes.len() * 8;
        if whole { WireError::BadCode } else { WireError::Truncated }
    }

    #[inline]
    fn advance(&mut self, used: u32) -> Result<()> {
        let at = self.at + used as usize;
        if at > self.bytes.len() * 8 {
            return Err(WireError::Truncated);
        }
        self.at = at;
        Ok(())
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
        let raw = n & 7;
        let mut value = window as u32 & ((1 << raw) - 1);
        window >>= raw;
        let mut used = raw;
        let mut have = raw;
        while have < n {
            let decoded = DECODE[(window & ((1 << MAX_CODE_LEN) - 1)) as usize];
            if decoded.len == 0 {
                return Err(self.no_code(used));
            }
            value |= u32::from(decoded.symbol) << have;
            window >>= decoded.len;
            used += u32::from(decoded.len);
            have += 8;
        }
        self.advance(used)?;
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
        let mut words = bytes.chunks_exact_mut(4);
        for word in &mut words {
            word.copy_from_slice(&self.bits(32)?.to_le_bytes());
        }
        for byte in words.into_remainder() {
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
