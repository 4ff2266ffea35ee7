//! Entity deltas: flag word, changed fields, and lists of them in packets.
//!
//! Invariants: a delta keeps its flags, so that it is written as it was read; a list is checked to its end before it
//! is iterated.
//! Source: QuakeWorld protocol 28, packet entities; extensions of FTE and MVDSV.

use super::{
    bytes::{Angle, Coord, Element, ReadFault, ReadResult, Reader, Writer, coord_eighths},
    extensions::{Extensions, FTE_ENTITIES_2048},
};

/// Flags of an entity delta. The first word holds the number in its low 9 bits; bits 16 to 23 are the second byte of
/// flags, 24 to 31 the third.
pub mod flag {
    /// Origin, x, y and z.
    pub const ORIGIN: [u32; 3] = [1 << 9, 1 << 10, 1 << 11];
    /// Pitch, yaw, roll.
    pub const ANGLE: [u32; 3] = [1 << 16, 1 << 12, 1 << 17];
    /// Frame.
    pub const FRAME: u32 = 1 << 13;
    /// Entity is removed.
    pub const REMOVE: u32 = 1 << 14;
    /// Second byte of flags follows.
    pub const MORE: u32 = 1 << 15;
    /// Model.
    pub const MODEL: u32 = 1 << 18;
    /// Colormap.
    pub const COLORMAP: u32 = 1 << 19;
    /// Skin.
    pub const SKIN: u32 = 1 << 20;
    /// Effects.
    pub const EFFECTS: u32 = 1 << 21;
    /// Entity is solid; without data.
    pub const SOLID: u32 = 1 << 22;
    /// Third byte of flags follows.
    pub const EVEN_MORE: u32 = 1 << 23;
    /// Alpha.
    pub const ALPHA: u32 = 1 << 25;
    /// Model of 16 bits, or 256 more than the byte.
    pub const MODEL16: u32 = 1 << 27;
    /// Number plus 512.
    pub const NUMBER_512: u32 = 1 << 29;
    /// Number plus 1024.
    pub const NUMBER_1024: u32 = 1 << 30;
}

/// Flags of the third byte that are read and written.
const KNOWN_THIRD: u32 = flag::ALPHA | flag::MODEL16 | flag::NUMBER_512 | flag::NUMBER_1024;
const NUMBER_MASK: u32 = 0x1ff;

/// State of an entity, as clients see it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EntityState {
    /// Model; 0 for none.
    pub model: u16,
    /// Frame of the model.
    pub frame: u8,
    /// Colors of a player.
    pub colormap: u8,
    /// Skin of the model.
    pub skin: u8,
    /// Effects.
    pub effects: u8,
    /// Transparency of FTE.
    pub alpha: u8,
    /// Origin.
    pub origin: [f32; 3],
    /// Pitch, yaw and roll.
    pub angles: [Angle; 3],
}

/// Change of one entity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EntityDelta {
    /// Flags, without those of the number.
    flags: u32,
    /// Number of the entity.
    pub number: u16,
    /// Changed fields; the others are zero.
    pub fields: EntityState,
}

impl EntityDelta {
    /// Returns the flags; see [`flag`].
    #[must_use]
    pub const fn flags(&self) -> u32 {
        self.flags
    }

    /// Whether the entity is removed.
    #[must_use]
    pub const fn is_removal(&self) -> bool {
        self.flags & flag::REMOVE != 0
    }

    /// Creates the delta that removes an entity.
    #[must_use]
    pub fn removal(number: u16) -> Self {
        Self { flags: flag::REMOVE, number, fields: EntityState::default() }.with_number_flags()
    }

    /// Creates the delta from `from` to `to`. It may have no changes, see [`EntityDelta::is_empty`].
    ///
    /// Fields that have the same form on the wire are equal.
    #[must_use]
    pub fn between(number: u16, from: &EntityState, to: &EntityState, ext: Extensions) -> Self {
        let mut delta = Self { flags: 0, number, fields: EntityState::default() };
        let is_float = ext.has_float_coords();
        for axis in 0..3 {
            let (a, b) = (from.origin[axis], to.origin[axis]);
            let is_same = if is_float { a == b } else { coord_eighths(a) == coord_eighths(b) };
            if !is_same {
                delta.flags |= flag::ORIGIN[axis];
                delta.fields.origin[axis] = b;
            }
            let (a, b) = (from.angles[axis], to.angles[axis]);
            let is_same = if ext.has_big_coords() { a == b } else { a.byte() == b.byte() };
            if !is_same {
                delta.flags |= flag::ANGLE[axis];
                delta.fields.angles[axis] = b;
            }
        }
        if from.model != to.model {
            delta.flags |= if to.model > 255 { flag::MODEL16 } else { flag::MODEL };
            delta.fields.model = to.model;
        }
        let (old, new, out) = (from.bytes(), to.bytes(), delta.fields.bytes_mut());
        let flags = [flag::FRAME, flag::COLORMAP, flag::SKIN, flag::EFFECTS, flag::ALPHA];
        for (at, out) in out.into_iter().enumerate() {
            if old[at] != new[at] {
                delta.flags |= flags[at];
                *out = new[at];
            }
        }
        delta.with_number_flags()
    }

    /// Whether nothing changes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        let about_number =
            flag::NUMBER_512 | flag::NUMBER_1024 | flag::MORE | flag::EVEN_MORE | flag::SOLID;
        self.flags & !about_number == 0
    }

    /// Returns the state that the delta makes of `base`.
    #[must_use]
    pub fn apply(&self, base: &EntityState) -> EntityState {
        let (mut state, new) = (*base, &self.fields);
        for axis in 0..3 {
            if self.flags & flag::ORIGIN[axis] != 0 {
                state.origin[axis] = new.origin[axis];
            }
            if self.flags & flag::ANGLE[axis] != 0 {
                state.angles[axis] = new.angles[axis];
            }
        }
        if self.flags & (flag::MODEL | flag::MODEL16) != 0 {
            state.model = new.model;
        }
        let flags = [flag::FRAME, flag::COLORMAP, flag::SKIN, flag::EFFECTS, flag::ALPHA];
        let new = new.bytes();
        for (at, byte) in state.bytes_mut().into_iter().enumerate() {
            if self.flags & flags[at] != 0 {
                *byte = new[at];
            }
        }
        state
    }

    /// Sets the flags that follow from the number and from the other flags.
    const fn with_number_flags(mut self) -> Self {
        if self.number & 512 != 0 {
            self.flags |= flag::NUMBER_512;
        }
        if self.number & 1024 != 0 {
            self.flags |= flag::NUMBER_1024;
        }
        if self.flags >> 24 != 0 {
            self.flags |= flag::EVEN_MORE;
        }
        if self.flags >> 16 != 0 {
            self.flags |= flag::MORE;
        }
        self
    }

    /// Reads a delta. Returns `None` for the word that ends a list.
    fn read_listed(reader: &mut Reader<'_>) -> ReadResult<Option<Self>> {
        let word = u32::from(reader.read::<u16>()?);
        if word == 0 {
            return Ok(None);
        }
        let (mut flags, mut number) = (word & !NUMBER_MASK, word & NUMBER_MASK);
        let is_removal = flags & flag::REMOVE != 0;
        // Bytes of flags follow a removal only for numbers beyond 512.
        let has_more = !is_removal || reader.extensions().fte & FTE_ENTITIES_2048 != 0;
        if flags & flag::MORE != 0 && has_more {
            flags |= u32::from(reader.read::<u8>()?) << 16;
            if flags & flag::EVEN_MORE != 0 {
                flags |= u32::from(reader.read::<u8>()?) << 24;
                let unknown = (flags & 0xff00_0000) & !KNOWN_THIRD;
                if unknown != 0 {
                    return Err(ReadFault::Unknown("entity flag", i64::from(unknown)));
                }
            }
        }
        number |= if flags & flag::NUMBER_512 == 0 { 0 } else { 512 };
        number |= if flags & flag::NUMBER_1024 == 0 { 0 } else { 1024 };
        let mut delta = Self { flags, number: number as u16, fields: EntityState::default() };
        if !is_removal {
            delta.read_fields(reader)?;
        }
        Ok(Some(delta))
    }

    fn read_fields(&mut self, reader: &mut Reader<'_>) -> ReadResult<()> {
        let (flags, fields) = (self.flags, &mut self.fields);
        match (flags & flag::MODEL != 0, flags & flag::MODEL16 != 0) {
            (true, true) => fields.model = 256 + u16::from(reader.read::<u8>()?),
            (true, false) => fields.model = u16::from(reader.read::<u8>()?),
            (false, true) => fields.model = reader.read()?,
            (false, false) => {}
        }
        let bytes = [
            (flag::FRAME, &mut fields.frame),
            (flag::COLORMAP, &mut fields.colormap),
            (flag::SKIN, &mut fields.skin),
            (flag::EFFECTS, &mut fields.effects),
        ];
        for (bit, byte) in bytes {
            if flags & bit != 0 {
                *byte = reader.read()?;
            }
        }
        let is_float = reader.extensions().has_float_coords();
        for axis in 0..3 {
            if flags & flag::ORIGIN[axis] != 0 {
                fields.origin[axis] = Coord::read_as(reader, is_float)?;
            }
            if flags & flag::ANGLE[axis] != 0 {
                fields.angles[axis] = reader.read()?;
            }
        }
        if flags & flag::ALPHA != 0 {
            fields.alpha = reader.read()?;
        }
        Ok(())
    }
}

impl EntityState {
    const fn bytes(&self) -> [u8; 5] {
        [self.frame, self.colormap, self.skin, self.effects, self.alpha]
    }

    const fn bytes_mut(&mut self) -> [&mut u8; 5] {
        [&mut self.frame, &mut self.colormap, &mut self.skin, &mut self.effects, &mut self.alpha]
    }
}

impl Element<'_> for EntityDelta {
    fn read(reader: &mut Reader<'_>) -> ReadResult<Self> {
        Self::read_listed(reader)?.ok_or(ReadFault::Unknown("entity", 0))
    }

    fn write(&self, writer: &mut Writer<'_>) {
        let flags = self.flags;
        writer.write(&(flags as u16 | self.number & NUMBER_MASK as u16));
        let is_removal = self.is_removal();
        let has_more = !is_removal || writer.extensions().fte & FTE_ENTITIES_2048 != 0;
        if flags & flag::MORE != 0 && has_more {
            writer.write(&((flags >> 16) as u8));
            if flags & flag::EVEN_MORE != 0 {
                writer.write(&((flags >> 24) as u8));
            }
        }
        if is_removal {
            return;
        }
        let fields = &self.fields;
        match (flags & flag::MODEL != 0, flags & flag::MODEL16 != 0) {
            (true, _) => writer.write(&(fields.model as u8)),
            (false, true) => writer.write(&fields.model),
            (false, false) => {}
        }
        let bytes = [
            (flag::FRAME, fields.frame),
            (flag::COLORMAP, fields.colormap),
            (flag::SKIN, fields.skin),
            (flag::EFFECTS, fields.effects),
        ];
        for (bit, byte) in bytes {
            if flags & bit != 0 {
                writer.write(&byte);
            }
        }
        let is_float = writer.extensions().has_float_coords();
        for axis in 0..3 {
            if flags & flag::ORIGIN[axis] != 0 {
                Coord::write_as(fields.origin[axis], writer, is_float);
            }
            if flags & flag::ANGLE[axis] != 0 {
                writer.write(&fields.angles[axis]);
            }
        }
        if flags & flag::ALPHA != 0 {
            writer.write(&fields.alpha);
        }
    }
}

/// Entity deltas of a packet, in ascending order of their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeltaList<'a> {
    bytes: &'a [u8],
    extensions: Extensions,
}

impl<'a> DeltaList<'a> {
    /// Iterates over the deltas.
    pub fn iter(self) -> impl Iterator<Item = EntityDelta> + 'a {
        let mut reader = Reader::new(self.bytes, self.extensions);
        std::iter::from_fn(move || EntityDelta::read_listed(&mut reader).ok().flatten())
    }
}

impl<'a> Element<'a> for DeltaList<'a> {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        let (start, extensions) = (reader.offset(), reader.extensions());
        // Removals come in addition to the entities of the packet.
        let max = 2 * extensions.max_packet_entities();
        for _ in 0..=max {
            let end = reader.offset();
            if EntityDelta::read_listed(reader)?.is_none() {
                let bytes = &reader.since(start)[..end - start];
                return Ok(Self { bytes, extensions });
            }
        }
        Err(ReadFault::TooMany("entities", max))
    }

    fn write(&self, writer: &mut Writer<'_>) {
        if writer.extensions() == self.extensions {
            writer.put(self.bytes);
        } else {
            self.iter().for_each(|delta| writer.write(&delta));
        }
        writer.write(&0_u16);
    }
}
