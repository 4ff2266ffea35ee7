//! Bytes of a message: bounded reader and writer, texts, coordinates, angles.
//!
//! Invariants: no read passes the end; a write that does not fit changes nothing and is remembered.
//! Source: QuakeWorld protocol 28, elements; coordinates of its extensions.

use std::fmt;

use thiserror::Error;

use super::extensions::Extensions;

/// Fault of an element of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReadFault {
    /// The message ends inside of the element.
    #[error("message ends early")]
    End,
    /// Text without its terminating zero.
    #[error("text without end")]
    Unterminated,
    /// Number that the protocol does not define.
    #[error("unknown {0}: {1}")]
    Unknown(&'static str, i64),
    /// More elements than the protocol allows.
    #[error("too many {0} (max {1})")]
    TooMany(&'static str, usize),
}

/// Result of reading an element.
pub type ReadResult<T> = Result<T, ReadFault>;

/// Cursor over the bytes of a message.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    /// Bytes that are not read.
    rest: &'a [u8],
    extensions: Extensions,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8], extensions: Extensions) -> Self {
        Self { bytes, rest: bytes, extensions }
    }

    /// Offset of the next byte.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.bytes.len() - self.rest.len()
    }

    /// Extensions in force.
    #[must_use]
    pub const fn extensions(&self) -> Extensions {
        self.extensions
    }

    /// Sets the extensions of all that follows.
    pub const fn set_extensions(&mut self, extensions: Extensions) {
        self.extensions = extensions;
    }

    /// Whether all bytes are read.
    #[must_use]
    pub const fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the bytes that are not read.
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the bytes from `start` to the next byte.
    #[must_use]
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.offset()).unwrap_or_default()
    }

    /// Reads `count` bytes.
    ///
    /// # Errors
    /// [`ReadFault::End`].
    pub fn take(&mut self, count: usize) -> ReadResult<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(ReadFault::End)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> ReadResult<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(ReadFault::End)?;
        self.rest = rest;
        Ok(*bytes)
    }

    /// Reads one element.
    ///
    /// # Errors
    /// See [`ReadFault`].
    pub fn read<T: Element<'a>>(&mut self) -> ReadResult<T> {
        T::read(self)
    }
}

/// Writer of messages behind what `out` holds, up to a limit.
#[derive(Debug)]
pub struct Writer<'v> {
    out: &'v mut Vec<u8>,
    end: usize,
    extensions: Extensions,
    overflowed: bool,
}

impl<'v> Writer<'v> {
    /// Creates a writer of at most `limit` bytes behind those of `out`.
    #[must_use]
    pub const fn new(out: &'v mut Vec<u8>, limit: usize, extensions: Extensions) -> Self {
        let end = out.len().saturating_add(limit);
        Self { out, end, extensions, overflowed: false }
    }

    /// Extensions in force.
    #[must_use]
    pub const fn extensions(&self) -> Extensions {
        self.extensions
    }

    /// Sets the extensions of all that follows.
    pub const fn set_extensions(&mut self, extensions: Extensions) {
        self.extensions = extensions;
    }

    /// Number of bytes that still fit.
    #[must_use]
    pub const fn room(&self) -> usize {
        self.end.saturating_sub(self.out.len())
    }

    /// Whether bytes were left out for lack of room.
    #[must_use]
    pub const fn is_overflowed(&self) -> bool {
        self.overflowed
    }

    /// Number of bytes in the buffer, with those in front of this writer's.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether the buffer is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Returns the bytes of the buffer from `start` on.
    #[must_use]
    pub fn since(&self, start: usize) -> &[u8] {
        self.out.get(start..).unwrap_or_default()
    }

    /// Replaces a byte of the buffer.
    pub fn patch(&mut self, at: usize, byte: u8) {
        if let Some(old) = self.out.get_mut(at) {
            *old = byte;
        }
    }

    /// Appends bytes, all or none.
    pub fn put(&mut self, bytes: &[u8]) {
        if self.overflowed || bytes.len() > self.room() {
            self.overflowed = true;
        } else {
            self.out.extend_from_slice(bytes);
        }
    }

    /// Appends one element.
    pub fn write<'a, T: Element<'a>>(&mut self, element: &T) {
        element.write(self);
    }

    /// Runs `write` and takes its bytes back if they do not fit. Returns whether they fit.
    pub fn attempt(&mut self, write: impl FnOnce(&mut Self)) -> bool {
        if self.overflowed {
            return false;
        }
        let start = self.out.len();
        write(self);
        if self.overflowed {
            self.out.truncate(start);
            self.overflowed = false;
            return false;
        }
        true
    }
}

/// Element of a message with its form on the wire.
pub trait Element<'a>: Sized {
    /// Reads the element.
    ///
    /// # Errors
    /// See [`ReadFault`].
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self>;

    /// Appends the element.
    fn write(&self, writer: &mut Writer<'_>);
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Element<'_> for $number {
            fn read(reader: &mut Reader<'_>) -> ReadResult<Self> {
                Ok(Self::from_le_bytes(reader.array()?))
            }

            fn write(&self, writer: &mut Writer<'_>) {
                writer.put(&self.to_le_bytes());
            }
        }
    )*};
}
numbers!(u8, i8, u16, i16, u32, i32, f32);

impl<'a, T: Element<'a> + Copy + Default, const N: usize> Element<'a> for [T; N] {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        let mut all = [T::default(); N];
        for element in &mut all {
            *element = reader.read()?;
        }
        Ok(all)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        for element in self {
            writer.write(element);
        }
    }
}

/// Text of a message: bytes without zero, in the character set of the game.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    /// Empty text.
    pub const EMPTY: Self = Self(b"");

    /// Wraps the bytes up to the first zero.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.split(|&byte| byte == 0).next().unwrap_or_default())
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Whether the text is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the words of a command line: separated by spaces, or between quotes.
    pub fn words(self) -> impl Iterator<Item = Self> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let start = rest.iter().position(|&byte| byte > b' ')?;
            rest = &rest[start..];
            let word;
            if let Some(quoted) = rest.strip_prefix(b"\"") {
                let end = quoted.iter().position(|&byte| byte == b'"').unwrap_or(quoted.len());
                word = &quoted[..end];
                rest = quoted.get(end + 1..).unwrap_or_default();
            } else {
                let end = rest.iter().position(|&byte| byte <= b' ').unwrap_or(rest.len());
                (word, rest) = rest.split_at(end);
            }
            Some(Self(word))
        })
    }

    /// Returns the number at the start of the text; decimal, or hexadecimal behind `0x`.
    ///
    /// Numbers of 33 bits and more are `None`, as are texts without digits.
    #[must_use]
    pub fn number(self) -> Option<i64> {
        let text = std::str::from_utf8(self.0).ok()?;
        let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let digits = |c: &char| c.is_digit(if hexadecimal.is_some() { 16 } else { 10 });
        let mut value = 0_i64;
        let mut has_digits = false;
        for digit in hexadecimal.unwrap_or(text).chars().take_while(digits) {
            has_digits = true;
            let radix = if hexadecimal.is_some() { 16 } else { 10 };
            value = value * radix + i64::from(digit.to_digit(16)?);
            if value > i64::from(u32::MAX) {
                return None;
            }
        }
        has_digits.then_some(if is_negative { -value } else { value })
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self::new(text.as_bytes())
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.escape_ascii(), f)
    }
}

impl<'a> Element<'a> for Text<'a> {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        let end = reader.rest.iter().position(|&byte| byte == 0).ok_or(ReadFault::Unterminated)?;
        let text = reader.take(end)?;
        reader.take(1)?;
        Ok(Self(text))
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.put_all(&[self.0, b"\0"]);
    }
}

impl Writer<'_> {
    /// Appends parts, all or none.
    fn put_all(&mut self, parts: &[&[u8]]) {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        if len > self.room() {
            self.overflowed = true;
        }
        for part in parts {
            self.put(part);
        }
    }
}

/// Returns a coordinate as it arrives after a trip in eighths of a unit.
#[must_use]
pub fn round_coord(value: f32) -> f32 {
    f32::from(coord_eighths(value)) / 8.0
}

/// Returns a coordinate in eighths of a unit: rounded, halves away from zero, clamped.
#[must_use]
pub fn coord_eighths(value: f32) -> i16 {
    // The conversion saturates, and NaN becomes 0.
    (value * 8.0).round() as i16
}

/// Coordinate of a message: eighths of a unit, or a float with big coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coord(pub f32);

impl Coord {
    /// Reads a coordinate as float or in eighths.
    pub(super) fn read_as(reader: &mut Reader<'_>, is_float: bool) -> ReadResult<f32> {
        Ok(if is_float { reader.read()? } else { f32::from(reader.read::<i16>()?) / 8.0 })
    }

    /// Writes a coordinate as float or in eighths.
    pub(super) fn write_as(value: f32, writer: &mut Writer<'_>, is_float: bool) {
        if is_float { writer.write(&value) } else { writer.write(&coord_eighths(value)) }
    }
}

impl Element<'_> for Coord {
    fn read(reader: &mut Reader<'_>) -> ReadResult<Self> {
        let is_float = reader.extensions.has_big_coords();
        Self::read_as(reader, is_float).map(Self)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        Self::write_as(self.0, writer, writer.extensions.has_big_coords());
    }
}

/// Angle in 65536ths of a turn. Most messages carry its high byte, usercmds all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Angle(pub u16);

impl Angle {
    /// Returns the nearest angle.
    #[must_use]
    pub fn from_degrees(degrees: f32) -> Self {
        Self((f64::from(degrees) * 65536.0 / 360.0).round() as i64 as u16)
    }

    /// Returns the angle in degrees, -180 to 180.
    #[must_use]
    pub fn degrees(self) -> f32 {
        (f64::from(self.0.cast_signed()) * 360.0 / 65536.0) as f32
    }

    /// Returns the angle in 256ths of a turn, rounded.
    #[must_use]
    pub const fn byte(self) -> u8 {
        (self.0.wrapping_add(128) >> 8) as u8
    }
}

impl Element<'_> for Angle {
    fn read(reader: &mut Reader<'_>) -> ReadResult<Self> {
        Ok(Self(if reader.extensions.has_big_coords() {
            reader.read()?
        } else {
            u16::from(reader.read::<u8>()?) << 8
        }))
    }

    fn write(&self, writer: &mut Writer<'_>) {
        if writer.extensions.has_big_coords() {
            writer.write(&self.0);
        } else {
            writer.write(&self.byte());
        }
    }
}

/// Defines structures whose fields follow each other on the wire.
macro_rules! records {
    ($($(#[$doc:meta])* $name:ident $(<$life:lifetime>)? {
        $($(#[$field_doc:meta])* $field:ident: $kind:ty,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name $(<$life>)? {
            $($(#[$field_doc])* pub $field: $kind,)*
        }

        impl<'a> $crate::quakeworld::bytes::Element<'a> for $name $(<$life>)? {
            fn read(
                reader: &mut $crate::quakeworld::bytes::Reader<'a>,
            ) -> $crate::quakeworld::bytes::ReadResult<Self> {
                Ok(Self { $($field: reader.read()?,)* })
            }

            fn write(&self, writer: &mut $crate::quakeworld::bytes::Writer<'_>) {
                $(writer.write(&self.$field);)*
            }
        }
    )*};
}
pub(super) use records;
