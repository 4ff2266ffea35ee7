//! Values of binary files: numbers of variable length, byte strings, text.
//!
//! Numbers have seven bits per byte, lowest first. Invariant: [`Cursor`] never reads past its input and
//! returns no more bytes than the input has.

/// Appends a number, seven bits per byte, lowest first.
pub fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the length and then the bytes.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends the length and then the text.
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

/// Maps a signed number to an unsigned one: small for small distances from zero.
#[must_use]
pub const fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// Returns the signed number of [`zigzag`].
#[must_use]
pub const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Error in the body of a record.
pub type DecodeError = &'static str;

/// Sequential reader of values.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    /// Reads a byte.
    ///
    /// # Errors
    /// The end of the input, as in all methods.
    pub fn byte(&mut self) -> Result<u8, DecodeError> {
        let (first, rest) = self.0.split_first().ok_or("a record ends too early")?;
        self.0 = rest;
        Ok(*first)
    }

    /// Reads a number.
    ///
    /// # Errors
    /// More than 64 bits.
    pub fn number(&mut self) -> Result<u64, DecodeError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number of more than 64 bits")
    }

    /// Reads a number that fits its type.
    ///
    /// # Errors
    /// A number out of range.
    pub fn small<T: TryFrom<u64>>(&mut self) -> Result<T, DecodeError> {
        T::try_from(self.number()?).map_err(|_| "a number out of range")
    }

    /// Reads that many bytes.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or("a record ends too early")?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads a length and the bytes behind it.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let len = self.small()?;
        self.take(len)
    }

    /// Reads text.
    ///
    /// # Errors
    /// Text that is not UTF-8.
    pub fn text(&mut self) -> Result<String, DecodeError> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| "text that is not UTF-8")
    }

    /// Reads four bytes, lowest first.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn word(&mut self) -> Result<u32, DecodeError> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)))
    }

    /// Checks that no byte is left.
    ///
    /// # Errors
    /// A byte is left.
    pub fn end(self) -> Result<(), DecodeError> {
        if self.0.is_empty() { Ok(()) } else { Err("a record goes on too long") }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_take_the_bytes_they_need() {
        for (number, len) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (u64::MAX, 10)]
        {
            let mut out = Vec::new();
            put_number(&mut out, number);
            assert_eq!(out.len(), len, "{number}");
            assert_eq!(Cursor(&out).number(), Ok(number));
        }
        assert!(Cursor(&[0x80; 10]).number().is_err());
        assert!(
            Cursor(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).number().is_err()
        );
    }

    #[test]
    fn signed_numbers_survive() {
        for (number, mapped) in [(0, 0), (-1, 1), (1, 2), (i64::MIN, u64::MAX)] {
            assert_eq!((zigzag(number), unzigzag(mapped)), (mapped, number));
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = Cursor(&bytes).bytes();
            let _ = Cursor(&bytes).text();
            let _ = Cursor(&bytes).number();
        }
    }
}
