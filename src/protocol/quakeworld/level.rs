//! Messages about the level: server data, lists of names, statics and baselines.
//!
//! Source: QuakeWorld protocol 28, `serverdata`, `modellist`, `soundlist`, `spawnstatic`, `spawnbaseline`.

use super::{
    bytes::{Angle, Coord, Element, ReadFault, ReadResult, Reader, Text, Writer, records},
    entities::EntityState,
    extensions::Extensions,
};

records! {
    /// Numbers of the movement rules.
    MoveVars {
        /// Gravity.
        gravity: f32,
        /// Speed below which friction stops.
        stop_speed: f32,
        /// Maximum speed.
        max_speed: f32,
        /// Maximum speed of spectators.
        spectator_max_speed: f32,
        /// Acceleration on ground and in air.
        accelerate: f32,
        /// Acceleration in air; not used.
        air_accelerate: f32,
        /// Acceleration in water.
        water_accelerate: f32,
        /// Friction.
        friction: f32,
        /// Friction in water.
        water_friction: f32,
        /// Gravity of this player, relative.
        ent_gravity: f32,
    }

    /// State of a static entity or a baseline.
    PlainState {
        /// Model.
        model: u8,
        /// Frame.
        frame: u8,
        /// Colors.
        colormap: u8,
        /// Skin.
        skin: u8,
        /// Origin and angle of each axis.
        axes: [AxisState; 3],
    }

    /// Origin and angle on one axis.
    AxisState {
        /// Origin.
        origin: Coord,
        /// Angle.
        angle: Angle,
    }
}

/// Names of the movement rules, in the order of [`MoveVars::values`].
pub const MOVE_VAR_NAMES: [&str; 10] = [
    "gravity",
    "stopspeed",
    "maxspeed",
    "spectatormaxspeed",
    "accelerate",
    "airaccelerate",
    "wateraccelerate",
    "friction",
    "waterfriction",
    "entgravity",
];

impl MoveVars {
    /// Returns all numbers, in the order of the message.
    #[must_use]
    pub const fn values(&self) -> [f32; 10] {
        [
            self.gravity,
            self.stop_speed,
            self.max_speed,
            self.spectator_max_speed,
            self.accelerate,
            self.air_accelerate,
            self.water_accelerate,
            self.friction,
            self.water_friction,
            self.ent_gravity,
        ]
    }
}

impl From<PlainState> for EntityState {
    fn from(plain: PlainState) -> Self {
        Self {
            model: u16::from(plain.model),
            frame: plain.frame,
            colormap: plain.colormap,
            skin: plain.skin,
            effects: 0,
            alpha: 0,
            origin: plain.axes.map(|axis| axis.origin.0),
            angles: plain.axes.map(|axis| axis.angle),
        }
    }
}

impl From<&EntityState> for PlainState {
    /// Numbers of models beyond 255 do not fit.
    fn from(state: &EntityState) -> Self {
        let axis = |at| AxisState { origin: Coord(state.origin[at]), angle: state.angles[at] };
        Self {
            model: state.model as u8,
            frame: state.frame,
            colormap: state.colormap,
            skin: state.skin,
            axes: [axis(0), axis(1), axis(2)],
        }
    }
}

/// Start of a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerData<'a> {
    /// Extensions in force from here on.
    pub extensions: Extensions,
    /// Number of the level since the server's start.
    pub server_count: i32,
    /// Folder of the game.
    pub game_folder: Text<'a>,
    /// Slot of the client.
    pub player: u8,
    /// Whether the client is a spectator.
    pub is_spectator: bool,
    /// Name of the level.
    pub level_name: Text<'a>,
    /// Movement rules.
    pub move_vars: MoveVars,
}

/// Bit of a slot that marks a spectator.
const SPECTATOR: u8 = 0x80;

impl<'a> Element<'a> for ServerData<'a> {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        let extensions = reader.read()?;
        reader.set_extensions(extensions);
        let (server_count, game_folder) = (reader.read()?, reader.read()?);
        let player: u8 = reader.read()?;
        Ok(Self {
            extensions,
            server_count,
            game_folder,
            player: player & !SPECTATOR,
            is_spectator: player & SPECTATOR != 0,
            level_name: reader.read()?,
            move_vars: reader.read()?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.write(&self.extensions);
        writer.set_extensions(self.extensions);
        writer.write(&self.server_count);
        writer.write(&self.game_folder);
        writer.write(&(self.player & !SPECTATOR | if self.is_spectator { SPECTATOR } else { 0 }));
        writer.write(&self.level_name);
        writer.write(&self.move_vars);
    }
}

/// Part of the list of models or sounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameList<'a> {
    /// Number in front of that of the first name.
    pub first: u16,
    /// Texts with their ends.
    names: &'a [u8],
    /// Number to continue with; 0 at the end.
    pub next: u8,
}

impl<'a> NameList<'a> {
    /// Iterates over the names with their numbers.
    pub fn iter(self) -> impl Iterator<Item = (usize, Text<'a>)> {
        let names = self.names.split_terminator_zero();
        names.enumerate().map(move |(at, name)| (usize::from(self.first) + 1 + at, Text::new(name)))
    }

    fn read_from(reader: &mut Reader<'a>, first: u16) -> ReadResult<Self> {
        let start = reader.offset();
        loop {
            let end = reader.offset();
            if reader.read::<Text<'_>>()?.is_empty() {
                let names = &reader.since(start)[..end - start];
                return Ok(Self { first, names, next: reader.read()? });
            }
        }
    }

    fn write_rest(&self, writer: &mut Writer<'_>) {
        writer.put(self.names);
        writer.write(&0_u8);
        writer.write(&self.next);
    }
}

/// Texts that each end with a zero.
trait ZeroTerminated<'a> {
    fn split_terminator_zero(self) -> impl Iterator<Item = &'a [u8]>;
}

impl<'a> ZeroTerminated<'a> for &'a [u8] {
    fn split_terminator_zero(self) -> impl Iterator<Item = &'a [u8]> {
        self.split_inclusive(|&byte| byte == 0).map(|name| &name[..name.len() - 1])
    }
}

impl<'a> Element<'a> for NameList<'a> {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        let first = reader.read::<u8>()?;
        Self::read_from(reader, u16::from(first))
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.write(&(self.first as u8));
        self.write_rest(writer);
    }
}

/// Part of the list of models, from number 256 on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WideNameList<'a>(pub NameList<'a>);

impl<'a> Element<'a> for WideNameList<'a> {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        let first = reader.read()?;
        NameList::read_from(reader, first).map(Self)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.write(&self.0.first);
        self.0.write_rest(writer);
    }
}

/// Writes the part of a list that starts behind number `first`, as far as it fits. Returns the number to continue
/// with; 0 at the end.
///
/// `names` are those behind `first`; names beyond 255 are left out. `number` is that of the message: models or
/// sounds.
pub fn write_name_list<'n>(
    writer: &mut Writer<'_>,
    number: u8,
    first: u8,
    names: impl Iterator<Item = &'n [u8]>,
) -> u8 {
    writer.write(&number);
    writer.write(&first);
    let mut next = 0;
    for (at, name) in (first..u8::MAX).zip(names) {
        let name = Text::new(name);
        // Two bytes remain for the end.
        if name.bytes().len() + 3 > writer.room() {
            next = at;
            break;
        }
        writer.write(&name);
    }
    writer.write(&0_u8);
    writer.write(&next);
    next
}

/// Teleport or respawn that sets the view.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SetAngle {
    /// Reason, with the extension: 0 unknown, 1 teleport, 2 respawn.
    pub reason: u8,
    /// Pitch, yaw and roll.
    pub angles: [Angle; 3],
}

impl Element<'_> for SetAngle {
    fn read(reader: &mut Reader<'_>) -> ReadResult<Self> {
        let reason = if reader.extensions().has_angle_reason() { reader.read()? } else { 0 };
        Ok(Self { reason, angles: reader.read()? })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        if writer.extensions().has_angle_reason() {
            writer.write(&self.reason);
        }
        writer.write(&self.angles);
    }
}

/// Length of a block of a chunked download.
pub const CHUNK_LEN: usize = 1024;
/// Largest block of a plain download.
pub const MAX_BLOCK_LEN: usize = 1350;

/// Part of a download, or the answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Download<'a> {
    /// The file is missing.
    Refused,
    /// Next bytes of the file.
    Block {
        /// Percentage of the file so far; 100 at its end.
        percent: u8,
        /// Bytes.
        bytes: &'a [u8],
    },
    /// Answer to a request of a chunked download.
    Size {
        /// Size in bytes; -1 for a missing file, -2 without permission, -3 when stopped.
        size: i32,
        /// Name of the file.
        name: Text<'a>,
    },
    /// Numbered part of a file.
    Chunk {
        /// Number, from 0.
        number: u32,
        /// [`CHUNK_LEN`] bytes, filled up with zeros at the end of the file.
        bytes: &'a [u8],
    },
}

impl<'a> Element<'a> for Download<'a> {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        if reader.extensions().has_chunks() {
            let number: i32 = reader.read()?;
            if number == -1 {
                return Ok(Self::Size { size: reader.read()?, name: reader.read()? });
            }
            let number = u32::try_from(number)
                .map_err(|_| ReadFault::Unknown("chunk", i64::from(number)))?;
            return Ok(Self::Chunk { number, bytes: reader.take(CHUNK_LEN)? });
        }
        let len: i16 = reader.read()?;
        let percent = reader.read()?;
        match usize::try_from(len) {
            Ok(len) => Ok(Self::Block { percent, bytes: reader.take(len)? }),
            Err(_) if len == -1 => Ok(Self::Refused),
            Err(_) => Err(ReadFault::Unknown("block length", i64::from(len))),
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Refused => writer.put(&[255, 255, 0]),
            Self::Block { percent, bytes } => {
                writer.write(&(bytes.len().min(0x7fff) as i16));
                writer.write(percent);
                writer.put(&bytes[..bytes.len().min(0x7fff)]);
            }
            Self::Size { size, name } => {
                writer.write(&-1_i32);
                writer.write(size);
                writer.write(name);
            }
            Self::Chunk { number, bytes } => {
                writer.write(number);
                writer.put(bytes);
            }
        }
    }
}
