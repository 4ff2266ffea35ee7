//! Protocol extensions: three words of flags that client and server agree on.
//!
//! A server offers pairs of a magic word and flags in its challenge, the client names those it wants in its `connect`
//! and in `pext`, and `serverdata` holds those in force.
//! Source: QuakeWorld protocol 28, extensions of FTE and MVDSV.

use super::bytes::{Element, ReadResult, Reader, Text, Writer};

/// Magic words of the extensions, in the order of [`Extensions`].
pub const MAGICS: [u32; 3] = [0x5845_5446, 0x3245_5446, 0x3144_564d];

/// Flags of the extensions. The default is the bare protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Extensions {
    /// Flags of `FTEX`.
    pub fte: u32,
    /// Flags of `FTE2`.
    pub fte2: u32,
    /// Flags of `MVD1`.
    pub mvd1: u32,
}

/// `FTEX`: models of 16 bits.
pub const FTE_MODEL16: u32 = 0x1000;
/// `FTEX`: entity numbers to 1024, and to 2048.
pub const FTE_ENTITIES_2048: u32 = 0x6000;
/// `FTEX`: all coordinates are floats and all angles have 16 bits.
pub const FTE_BIG_COORDS: u32 = 0x8000;
/// `FTEX`: statics and baselines are deltas.
pub const FTE_SPAWN_STATIC2: u32 = 0x0040_0000;
/// `FTEX`: up to 256 entities in a packet.
pub const FTE_256_ENTITIES: u32 = 0x0100_0000;
/// `FTEX`: downloads in numbered chunks.
pub const FTE_CHUNKED: u32 = 0x2000_0000;
/// `FTE2`: voice chat.
pub const FTE2_VOICE: u32 = 0x2;
/// `MVD1`: coordinates of players and entities are floats.
pub const MVD1_FLOAT_COORDS: u32 = 0x1;
/// `MVD1`: `setangle` has a reason.
pub const MVD1_ANGLE_REASON: u32 = 0x2;

impl Extensions {
    /// Bare protocol 28.
    pub const NONE: Self = Self { fte: 0, fte2: 0, mvd1: 0 };

    /// Extensions that this implementation reads and writes, but for voice.
    pub const SUPPORTED: Self = Self {
        fte: FTE_MODEL16
            | FTE_ENTITIES_2048
            | FTE_BIG_COORDS
            | FTE_SPAWN_STATIC2
            | FTE_256_ENTITIES
            | FTE_CHUNKED,
        fte2: 0,
        mvd1: MVD1_FLOAT_COORDS,
    };

    /// Returns the flags that both sides know.
    #[must_use]
    pub const fn common(self, other: Self) -> Self {
        Self {
            fte: self.fte & other.fte,
            fte2: self.fte2 & other.fte2,
            mvd1: self.mvd1 & other.mvd1,
        }
    }

    /// Whether no flag is set.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.fte | self.fte2 | self.mvd1 == 0
    }

    /// Returns pairs of magic word and flags, also those without flags.
    #[must_use]
    pub const fn pairs(self) -> [(u32, u32); 3] {
        [(MAGICS[0], self.fte), (MAGICS[1], self.fte2), (MAGICS[2], self.mvd1)]
    }

    /// Sets the flags of a magic word. Returns whether it is known.
    pub const fn set(&mut self, magic: u32, flags: u32) -> bool {
        let word = match magic {
            0x5845_5446 => &mut self.fte,
            0x3245_5446 => &mut self.fte2,
            0x3144_564d => &mut self.mvd1,
            _ => return false,
        };
        *word = flags;
        true
    }

    /// Reads pairs of little-endian words. Unknown magic words and an incomplete pair are skipped.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut all = Self::NONE;
        let (pairs, _) = bytes.as_chunks::<8>();
        for [a, b, c, d, rest @ ..] in pairs {
            all.set(u32::from_le_bytes([*a, *b, *c, *d]), u32::from_le_bytes(*rest));
        }
        all
    }

    /// Appends pairs with flags in little-endian words.
    pub fn write_bytes(self, out: &mut Vec<u8>) {
        for (magic, flags) in self.pairs().into_iter().filter(|(_, flags)| *flags != 0) {
            out.extend_from_slice(&magic.to_le_bytes());
            out.extend_from_slice(&flags.to_le_bytes());
        }
    }

    /// Reads pairs of words in a text, as in `pext` and behind `connect`.
    pub fn from_words<'a>(words: impl Iterator<Item = Text<'a>>) -> Self {
        let mut all = Self::NONE;
        let mut numbers = words.map(|word| word.number().map(|number| number as u32));
        while let (Some(magic), Some(flags)) = (numbers.next(), numbers.next()) {
            if let (Some(magic), Some(flags)) = (magic, flags) {
                all.set(magic, flags);
            }
        }
        all
    }

    /// Whether coordinates are floats and angles have 16 bits everywhere.
    #[must_use]
    pub const fn has_big_coords(self) -> bool {
        self.fte & FTE_BIG_COORDS != 0
    }

    /// Whether coordinates of players and entities are floats.
    #[must_use]
    pub const fn has_float_coords(self) -> bool {
        self.has_big_coords() || self.mvd1 & MVD1_FLOAT_COORDS != 0
    }

    /// Whether downloads are chunked.
    #[must_use]
    pub const fn has_chunks(self) -> bool {
        self.fte & FTE_CHUNKED != 0
    }

    /// Whether `setangle` starts with a reason.
    #[must_use]
    pub const fn has_angle_reason(self) -> bool {
        self.mvd1 & MVD1_ANGLE_REASON != 0
    }

    /// Maximum number of entities in a packet.
    #[must_use]
    pub const fn max_packet_entities(self) -> usize {
        if self.fte & FTE_256_ENTITIES != 0 { 256 } else { 64 }
    }
}

/// Version of the protocol.
pub const PROTOCOL: i32 = 28;

impl Element<'_> for Extensions {
    /// Reads the pairs in front of the protocol version, and the version.
    fn read(reader: &mut Reader<'_>) -> ReadResult<Self> {
        let mut all = Self::NONE;
        for _ in 0..16 {
            let word: u32 = reader.read()?;
            if word == PROTOCOL.cast_unsigned() {
                return Ok(all);
            }
            if !all.set(word, reader.read()?) {
                return Err(super::bytes::ReadFault::Unknown("protocol", i64::from(word)));
            }
        }
        Err(super::bytes::ReadFault::TooMany("extensions", 16))
    }

    fn write(&self, writer: &mut Writer<'_>) {
        for (magic, flags) in self.pairs().into_iter().filter(|(_, flags)| *flags != 0) {
            writer.write(&magic);
            writer.write(&flags);
        }
        writer.write(&PROTOCOL);
    }
}
