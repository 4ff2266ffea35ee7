//! Field of a delta-coded struct: name, encoding, and place in the struct.
//!
//! Source: Quake III protocol 68, delta codecs. Engine names: `netField_t`.

use FieldKind::{Axis, Float, Int, Signed};

/// Encoding of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A float: 13 bits for a whole number from -4096 to 4095, else all 32.
    Float,
    /// The low bits of an integer, zero-extended when read.
    Int(u8),
    /// The low bits of an integer, sign-extended when read.
    Signed(u8),
    /// A signed byte of a usercmd; -128 is read as -127.
    Axis,
}

impl FieldKind {
    /// Bits of an integer; 32 for a float.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Float => 32,
            Self::Int(bits) | Self::Signed(bits) => bits as u32,
            Self::Axis => 8,
        }
    }
}

/// One field of a delta-coded struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Standard name.
    pub name: &'static str,
    /// Encoding of its value.
    pub kind: FieldKind,
    /// 32-bit word of the struct that holds the member.
    pub(super) word: u8,
    /// Lowest bit of the member in its word.
    shift: u8,
    /// Whether the member is a single byte rather than a whole word.
    pub(super) is_byte: bool,
}

/// Word of a field without a member, behind the end of every struct.
pub(super) const SPARE_WORD: u8 = u8::MAX;

/// Returns the size of the member that `of` refers to, in bytes.
pub(super) const fn member_size<S, T>(_of: fn(&S) -> &T) -> usize {
    size_of::<T>()
}

impl Field {
    /// Describes the member at byte `offset`, or the element `index` of an array there.
    pub(super) const fn new(
        name: &'static str,
        kind: FieldKind,
        offset: usize,
        size: usize,
        index: usize,
    ) -> Self {
        assert!(size == 4 || size == 1, "members are words or bytes");
        let at = offset + index * size;
        let byte = if cfg!(target_endian = "big") && size == 1 { 3 - at % 4 } else { at % 4 };
        Self { name, kind, word: (at / 4) as u8, shift: byte as u8 * 8, is_byte: size == 1 }
    }

    /// Describes a field that the struct has no member for. Readers pass it to their sink alone.
    pub(super) const fn spare(name: &'static str, kind: FieldKind) -> Self {
        Self { name, kind, word: SPARE_WORD, shift: 0, is_byte: false }
    }

    /// Whether the struct has no member for it.
    #[must_use]
    pub const fn is_spare(&self) -> bool {
        self.word == SPARE_WORD
    }

    /// Returns the member of a struct, zero-extended.
    #[inline(always)]
    pub(super) const fn get(&self, words: &[u32]) -> u32 {
        let word = words[self.word as usize];
        if self.is_byte { word >> self.shift & 0xff } else { word }
    }

    /// Sets the member of a struct to the low bits of `value`.
    #[inline(always)]
    pub(super) const fn set(&self, words: &mut [u32], value: u32) {
        let word = &mut words[self.word as usize];
        *word = if self.is_byte {
            *word & !(0xff << self.shift) | (value & 0xff) << self.shift
        } else {
            value
        };
    }

    /// Returns the name and the readable value of the member, unless it is zero.
    pub(super) fn dump(&self, words: &[u32]) -> Option<(&'static str, String)> {
        let value = self.get(words);
        (value != 0).then(|| {
            let shown = match self.kind {
                Float => f32::from_bits(value).to_string(),
                Int(_) | Signed(_) => (value as i32).to_string(),
                Axis => (value as i8).to_string(),
            };
            (self.name, shown)
        })
    }
}
