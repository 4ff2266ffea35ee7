//! Effects of a packet: sounds, temporary entities, nails.
//!
//! Source: QuakeWorld protocol 28, `sound`, `temp_entity`, `nails`.

use super::bytes::{Angle, Coord, Element, ReadFault, ReadResult, Reader, Writer};

/// Sound of an entity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sound {
    /// Entity, `0..1024`.
    pub entity: u16,
    /// Channel, `0..8`.
    pub channel: u8,
    /// Volume; `None` for 255.
    pub volume: Option<u8>,
    /// Attenuation in 64ths; `None` for 64.
    pub attenuation: Option<u8>,
    /// Index of the sound.
    pub sound: u8,
    /// Origin.
    pub origin: [Coord; 3],
}

impl Element<'_> for Sound {
    fn read(reader: &mut Reader<'_>) -> ReadResult<Self> {
        let word: u16 = reader.read()?;
        Ok(Self {
            entity: word >> 3 & 0x3ff,
            channel: (word & 7) as u8,
            volume: if word & 0x8000 == 0 { None } else { Some(reader.read()?) },
            attenuation: if word & 0x4000 == 0 { None } else { Some(reader.read()?) },
            sound: reader.read()?,
            origin: reader.read()?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        let mut word = (self.entity & 0x3ff) << 3 | u16::from(self.channel & 7);
        word |= if self.volume.is_some() { 0x8000 } else { 0 };
        word |= if self.attenuation.is_some() { 0x4000 } else { 0 };
        writer.write(&word);
        for byte in [self.volume, self.attenuation].into_iter().flatten() {
            writer.write(&byte);
        }
        writer.write(&self.sound);
        writer.write(&self.origin);
    }
}

/// Layout of a temporary entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Point,
    Counted,
    Beam,
}

/// Kinds of temporary entities by their numbers, with name and layout.
const TEMP_ENTITIES: [(&str, Layout); 14] = [
    ("spike", Layout::Point),
    ("super spike", Layout::Point),
    ("gunshot", Layout::Counted),
    ("explosion", Layout::Point),
    ("tar explosion", Layout::Point),
    ("lightning 1", Layout::Beam),
    ("lightning 2", Layout::Beam),
    ("wizard spike", Layout::Point),
    ("knight spike", Layout::Point),
    ("lightning 3", Layout::Beam),
    ("lava splash", Layout::Point),
    ("teleport", Layout::Point),
    ("blood", Layout::Counted),
    ("lightning blood", Layout::Point),
];

/// Effect that an event leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TempEntity {
    /// Number of the kind.
    kind: u8,
    /// Number of repetitions of gunshots and blood.
    pub count: u8,
    /// Entity at the start of a lightning.
    pub entity: i16,
    /// Origin, or start of a lightning.
    pub origin: [Coord; 3],
    /// End of a lightning.
    pub end: [Coord; 3],
}

impl TempEntity {
    /// Number of gunshots.
    pub const GUNSHOT: u8 = 2;
    /// Number of an explosion.
    pub const EXPLOSION: u8 = 3;
    /// Number of a teleport effect.
    pub const TELEPORT: u8 = 11;
    /// Number of blood.
    pub const BLOOD: u8 = 12;

    /// Creates an effect at one point; `None` for a lightning or an unknown number.
    #[must_use]
    pub fn at(kind: u8, origin: [Coord; 3]) -> Option<Self> {
        let (_, layout) = TEMP_ENTITIES.get(usize::from(kind))?;
        let count = u8::from(*layout == Layout::Counted);
        let effect = Self { kind, count, entity: 0, origin, end: Default::default() };
        (*layout != Layout::Beam).then_some(effect)
    }

    /// Returns the number of the kind.
    #[must_use]
    pub const fn kind(&self) -> u8 {
        self.kind
    }

    /// Returns the name of the kind.
    #[must_use]
    pub fn name(&self) -> &'static str {
        TEMP_ENTITIES[usize::from(self.kind)].0
    }

    /// Whether the effect is repeated.
    pub(super) fn is_counted(&self) -> bool {
        self.layout() == Layout::Counted
    }

    /// Whether the effect has an end.
    pub(super) fn is_beam(&self) -> bool {
        self.layout() == Layout::Beam
    }

    fn layout(&self) -> Layout {
        TEMP_ENTITIES[usize::from(self.kind)].1
    }
}

impl Element<'_> for TempEntity {
    fn read(reader: &mut Reader<'_>) -> ReadResult<Self> {
        let kind = reader.read()?;
        if usize::from(kind) >= TEMP_ENTITIES.len() {
            return Err(ReadFault::Unknown("temporary entity", i64::from(kind)));
        }
        let zero = [Coord::default(); 3];
        let mut effect = Self { kind, count: 0, entity: 0, origin: zero, end: zero };
        match effect.layout() {
            Layout::Point => {}
            Layout::Counted => effect.count = reader.read()?,
            Layout::Beam => effect.entity = reader.read()?,
        }
        effect.origin = reader.read()?;
        if effect.layout() == Layout::Beam {
            effect.end = reader.read()?;
        }
        Ok(effect)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.write(&self.kind);
        match self.layout() {
            Layout::Point => {}
            Layout::Counted => writer.write(&self.count),
            Layout::Beam => writer.write(&self.entity),
        }
        writer.write(&self.origin);
        if self.layout() == Layout::Beam {
            writer.write(&self.end);
        }
    }
}

/// Maximum number of nails in a packet.
pub const MAX_NAILS: usize = 32;

/// Flying nail, in 48 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Nail {
    /// Origin, in steps of two units.
    pub origin: [f32; 3],
    /// Pitch in 16ths of a turn.
    pub pitch: u8,
    /// Yaw in 256ths of a turn.
    pub yaw: u8,
}

impl Nail {
    fn from_bytes([a, b, c, d, e, f]: [u8; 6]) -> Self {
        let bits = u64::from_le_bytes([a, b, c, d, e, f, 0, 0]);
        let axis = |at: u32| ((bits >> at & 0xfff) as f32) * 2.0 - 4096.0;
        Self {
            origin: [axis(0), axis(12), axis(24)],
            pitch: (bits >> 36 & 15) as u8,
            yaw: (bits >> 40) as u8,
        }
    }

    /// Creates the nail nearest to an origin and a direction.
    #[must_use]
    pub fn new(origin: [f32; 3], pitch: Angle, yaw: Angle) -> Self {
        Self { origin, pitch: (pitch.0 >> 12) as u8, yaw: (yaw.0 >> 8) as u8 }
    }
}

impl Element<'_> for Nail {
    fn read(reader: &mut Reader<'_>) -> ReadResult<Self> {
        reader.read().map(Self::from_bytes)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        let axis = |value: f32| (((value + 4097.0) as i32) >> 1 & 0xfff) as u64;
        let [x, y, z] = self.origin.map(axis);
        let [pitch, yaw] = [u64::from(self.pitch & 15), u64::from(self.yaw)];
        let bits = x | y << 12 | z << 24 | pitch << 36 | yaw << 40;
        writer.put(&bits.to_le_bytes()[..6]);
    }
}

/// Nails of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nails<'a>(&'a [u8]);

impl<'a> Nails<'a> {
    /// Iterates over the nails.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Nail> + 'a {
        self.0.as_chunks().0.iter().map(|bytes| Nail::from_bytes(*bytes))
    }
}

impl<'a> Element<'a> for Nails<'a> {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        read_counted(reader, 6).map(Self)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.write(&((self.0.len() / 6) as u8));
        writer.put(self.0);
    }
}

/// Nails with numbers, as recordings of several views have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumberedNails<'a>(&'a [u8]);

impl<'a> NumberedNails<'a> {
    /// Iterates over the nails with their numbers.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (u8, Nail)> + 'a {
        let nails = self.0.as_chunks::<7>().0.iter();
        nails.map(|&[id, a, b, c, d, e, f]| (id, Nail::from_bytes([a, b, c, d, e, f])))
    }
}

impl<'a> Element<'a> for NumberedNails<'a> {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        read_counted(reader, 7).map(Self)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.write(&((self.0.len() / 7) as u8));
        writer.put(self.0);
    }
}

/// Reads the bytes of nails behind their count.
fn read_counted<'a>(reader: &mut Reader<'a>, nail_len: usize) -> ReadResult<&'a [u8]> {
    let count = usize::from(reader.read::<u8>()?);
    if count > MAX_NAILS {
        return Err(ReadFault::TooMany("nails", MAX_NAILS));
    }
    reader.take(count * nail_len)
}

/// Appends a `nails` message with at most [`MAX_NAILS`] nails.
pub fn write_nails(writer: &mut Writer<'_>, nails: &[Nail]) {
    let nails = &nails[..nails.len().min(MAX_NAILS)];
    writer.write(&43_u8);
    writer.write(&(nails.len() as u8));
    nails.iter().for_each(|nail| writer.write(nail));
}
