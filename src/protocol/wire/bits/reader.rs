//! Reader of a message's bit stream, a window of it at a time.
//!
//! Invariants: no value is read past the end of the message; the result is then an error. Source: Quake III protocol 68,
//! the bit stream.

use super::{HUFFMAN, PLAIN, SYMBOLS_PER_STORE, safe_byte};
use crate::{
    model::limits::{MAX_BIG_STRING_LEN, MAX_STRING_LEN},
    wire::{
        Result, WireError,
        huffman::{DECODE, MAX_CODE_LEN},
        protocol::{Coder, ENCODING_68, Encoding},
    },
};

/// Next bits of a message, consumed from the lowest on.
#[derive(Clone, Copy, Debug)]
pub(in crate::wire) struct Window {
    bits: u64,
    /// Bits consumed.
    used: u32,
}

impl Window {
    /// Minimum number of bits in a window.
    pub(in crate::wire) const BITS: u32 = 64 - 7;

    /// Reads raw bits.
    #[inline]
    pub(in crate::wire) fn raw(&mut self, n: u32) -> u32 {
        let value = self.bits as u32 & ((1 << n) - 1);
        self.pass(n);
        value
    }

    /// Reads one raw bit.
    #[inline]
    pub(in crate::wire) fn flag(&mut self) -> bool {
        self.raw(1) != 0
    }

    #[inline]
    fn pass(&mut self, n: u32) {
        self.bits >>= n;
        self.used += n;
    }

    /// Reads a byte; `None` for the unassigned code.
    #[inline]
    pub(in crate::wire) fn byte<const IS_PLAIN: bool>(&mut self) -> Option<u8> {
        if IS_PLAIN {
            return Some(self.raw(8) as u8);
        }
        let decoded = DECODE[self.bits as usize % DECODE.len()];
        self.pass(u32::from(decoded.len));
        (decoded.len != 0).then_some(decoded.symbol)
    }

    /// Reads a value of `n` bits.
    #[inline]
    pub(in crate::wire) fn int<const IS_PLAIN: bool>(&mut self, n: u32) -> Option<u32> {
        if IS_PLAIN {
            let value = (self.bits & ((1 << n) - 1)) as u32;
            self.pass(n);
            return Some(value);
        }
        let raw = n & 7;
        let mut value = self.raw(raw);
        let mut have = raw;
        while have < n {
            value |= u32::from(self.byte::<HUFFMAN>()?) << have;
            have += 8;
        }
        Some(value)
    }
}

/// Reader of one message, in one [`Encoding`].
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    /// The message, and zeros behind it if it is padded.
    bytes: &'a [u8],
    /// Bits of the message.
    end: usize,
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

    /// Reads a message in another encoding.
    #[must_use]
    pub fn with_encoding(encoding: &'static Encoding, bytes: &'a [u8]) -> Self {
        Self { bytes, end: bytes.len() * 8, at: 0, encoding }
    }

    /// Reads a message and appends zeros to it, so that its end is read like the rest.
    #[must_use]
    pub fn padded(encoding: &'static Encoding, message: &'a mut Vec<u8>) -> Self {
        let end = message.len() * 8;
        message.extend_from_slice(&[0; 8]);
        Self { bytes: message, end, at: 0, encoding }
    }

    /// Returns the encoding of the message.
    #[inline]
    #[must_use]
    pub fn encoding(&self) -> &'static Encoding {
        self.encoding
    }

    /// Continues at a position that another reader of the message had.
    #[must_use]
    pub fn resumed(self, bit_position: usize) -> Self {
        Self { at: bit_position, ..self }
    }

    /// Number of bits read.
    #[must_use]
    pub fn bit_position(&self) -> usize {
        self.at
    }

    /// Returns the next [`Window::BITS`] bits or more, zeros behind the end.
    #[inline(always)]
    pub(in crate::wire) fn window(&self) -> Window {
        let start = self.at >> 3;
        let word = match self.bytes.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(whole) => u64::from_le_bytes(*whole),
            None => self.last_word(start),
        };
        Window { bits: word >> (self.at & 7), used: 0 }
    }

    /// Returns the word at `start`, which ends behind the message.
    #[inline(never)]
    fn last_word(&self, start: usize) -> u64 {
        match self.bytes.last_chunk::<8>() {
            Some(last) if start < self.bytes.len() => {
                let passed = 8 - (self.bytes.len() - start);
                u64::from_le_bytes(*last) >> (8 * passed)
            }
            Some(_) => 0,
            None => {
                let rest = self.bytes.get(start..).unwrap_or(&[]);
                let mut word = [0; 8];
                word[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(word)
            }
        }
    }

    /// Advances behind the consumed bits of the current window.
    #[inline]
    pub(in crate::wire) fn follow(&mut self, window: Window) -> Result<()> {
        let at = self.at + window.used as usize;
        if at > self.end {
            return Err(WireError::Truncated);
        }
        self.at = at;
        Ok(())
    }

    /// Returns the error for the unassigned code in the current window. Zeros behind the end may
    /// have turned the start of another code into it.
    #[cold]
    pub(in crate::wire) fn no_code(&self, window: Window) -> WireError {
        let whole = self.at + (window.used + MAX_CODE_LEN) as usize <= self.end;
        if whole { WireError::BadCode } else { WireError::Truncated }
    }

    /// Reads one raw bit.
    ///
    /// # Errors
    /// [`WireError::Truncated`] at the end.
    #[inline]
    pub fn flag(&mut self) -> Result<bool> {
        if self.at >= self.end {
            return Err(WireError::Truncated);
        }
        let byte = self.bytes.get(self.at >> 3).copied().unwrap_or(0);
        let bit = byte >> (self.at & 7) & 1;
        self.at += 1;
        Ok(bit != 0)
    }

    /// Reads an unsigned value of `n` bits, `n` in 1..=32.
    ///
    /// # Errors
    /// [`WireError::Truncated`] at the end, [`WireError::BadCode`] for the unassigned code.
    #[inline]
    pub fn bits(&mut self, n: u32) -> Result<u32> {
        debug_assert!((1..=32).contains(&n));
        let mut window = self.window();
        let value = match self.encoding.coder {
            Coder::Huffman => window.int::<HUFFMAN>(n).ok_or_else(|| self.no_code(window))?,
            Coder::Plain => window.int::<PLAIN>(n).unwrap_or_default(),
        };
        self.follow(window)?;
        Ok(value)
    }

    /// Reads 8 bits.
    ///
    /// # Errors
    /// As [`Self::bits`].
    #[inline]
    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.bits(8)? as u8)
    }

    /// Reads 16 bits.
    ///
    /// # Errors
    /// As [`Self::bits`].
    #[inline]
    pub fn short(&mut self) -> Result<i16> {
        Ok(self.bits(16)? as i16)
    }

    /// Reads 32 bits.
    ///
    /// # Errors
    /// As [`Self::bits`].
    #[inline]
    pub fn long(&mut self) -> Result<i32> {
        Ok(self.bits(32)? as i32)
    }

    /// Reads a string: ASCII without `%`. A string longer than 1023 bytes ends after the first
    /// excess byte.
    ///
    /// # Errors
    /// As [`Self::bits`].
    pub fn string(&mut self) -> Result<String> {
        self.string_up_to(MAX_STRING_LEN)
    }

    /// Reads a big string: as [`Self::string`] with 8191 bytes.
    ///
    /// # Errors
    /// As [`Self::bits`].
    pub fn big_string(&mut self) -> Result<String> {
        self.string_up_to(MAX_BIG_STRING_LEN)
    }

    fn string_up_to(&mut self, limit: usize) -> Result<String> {
        if self.encoding.coder == Coder::Plain {
            self.at = self.at.next_multiple_of(8);
        }
        if self.encoding.messages.has_utf8 {
            return self.utf8_up_to(limit);
        }
        let mut text = String::new();
        loop {
            match self.byte()? {
                0 => return Ok(text),
                _ if text.len() == limit => return Ok(text),
                byte => text.push(char::from(safe_byte(byte))),
            }
        }
    }

    fn utf8_up_to(&mut self, limit: usize) -> Result<String> {
        let mut text = Vec::new();
        loop {
            match self.byte()? {
                byte if byte == 0 || text.len() == limit => {
                    return Ok(String::from_utf8_lossy(&text).into_owned());
                }
                byte => text.push(if byte == b'%' { b'.' } else { byte }),
            }
        }
    }

    /// Fills `bytes`.
    ///
    /// # Errors
    /// As [`Self::bits`].
    pub fn data(&mut self, bytes: &mut [u8]) -> Result<()> {
        match self.encoding.coder {
            Coder::Huffman => self.symbols::<HUFFMAN>(bytes),
            Coder::Plain => {
                // See `BitWriter::data`.
                if !bytes.is_empty() && !self.at.is_multiple_of(8) {
                    self.at = self.at.next_multiple_of(8) + 8;
                }
                self.symbols::<PLAIN>(bytes)
            }
        }
    }

    /// Number of bits behind the position. A plain text may have moved it behind the end.
    #[must_use]
    pub fn bits_left(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    fn symbols<const IS_PLAIN: bool>(&mut self, bytes: &mut [u8]) -> Result<()> {
        let (chunks, rest) = bytes.as_chunks_mut::<SYMBOLS_PER_STORE>();
        for chunk in chunks {
            let mut window = self.window();
            for byte in chunk {
                *byte = window.byte::<IS_PLAIN>().ok_or_else(|| self.no_code(window))?;
            }
            self.follow(window)?;
        }
        for byte in rest {
            *byte = self.byte()?;
        }
        Ok(())
    }
}
