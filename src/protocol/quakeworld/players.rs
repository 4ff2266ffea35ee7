//! Players in packets: origin, usercmd, velocity and the flags of their movement.
//!
//! Source: QuakeWorld protocol 28, `playerinfo`; extensions of ZQuake and MVDSV.

use super::{
    bytes::{Coord, Element, ReadFault, ReadResult, Reader, Writer},
    usercmd::Usercmd,
};

/// Flags of a player.
pub mod flag {
    /// Age of the newest usercmd.
    pub const MSEC: u16 = 1;
    /// Usercmd.
    pub const COMMAND: u16 = 2;
    /// Velocity, x, y and z.
    pub const VELOCITY: [u16; 3] = [4, 8, 0x10];
    /// Model.
    pub const MODEL: u16 = 0x20;
    /// Skin.
    pub const SKIN: u16 = 0x40;
    /// Effects.
    pub const EFFECTS: u16 = 0x80;
    /// Frame of the weapon.
    pub const WEAPON_FRAME: u16 = 0x100;
    /// Player is dead.
    pub const DEAD: u16 = 0x200;
    /// Player is gibbed.
    pub const GIB: u16 = 0x400;
    /// First bit of the move type.
    pub const MOVE_TYPE_SHIFT: u32 = 11;
    /// Player is on ground.
    pub const ON_GROUND: u16 = 0x4000;
    /// Player is solid.
    pub const SOLID: u16 = 0x8000;
}

/// Kind of a player's movement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MoveType {
    /// Walking and swimming.
    #[default]
    Normal,
    /// Normal, with the jump button held since the last jump.
    JumpHeld,
    /// Spectator of old servers.
    OldSpectator,
    /// Spectator, through walls.
    Spectator,
    /// Flying.
    Fly,
    /// Not moving.
    None,
    /// Not moving, with the view locked.
    Lock,
    /// Reserved number.
    Reserved,
}

impl MoveType {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Normal,
        Self::JumpHeld,
        Self::OldSpectator,
        Self::Spectator,
        Self::Fly,
        Self::None,
        Self::Lock,
        Self::Reserved,
    ];
}

/// State of a player in a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayerInfo {
    /// Slot of the player.
    pub player: u8,
    /// Flags, see [`flag`]. Those of fields tell which are sent.
    pub flags: u16,
    /// Origin.
    pub origin: [f32; 3],
    /// Frame of the model.
    pub frame: u8,
    /// Age of the newest usercmd in ms.
    pub msec: u8,
    /// Newest usercmd, without buttons; its impulse is the visible weapon.
    pub command: Usercmd,
    /// Velocity.
    pub velocity: [i16; 3],
    /// Model; 0 for that of players.
    pub model: u8,
    /// Skin.
    pub skin: u8,
    /// Effects.
    pub effects: u8,
    /// Frame of the weapon.
    pub weapon_frame: u8,
}

impl PlayerInfo {
    /// Returns the kind of movement.
    #[must_use]
    pub const fn move_type(&self) -> MoveType {
        MoveType::ALL[(self.flags >> flag::MOVE_TYPE_SHIFT & 7) as usize]
    }

    /// Sets the kind of movement.
    pub const fn set_move_type(&mut self, move_type: MoveType) {
        let shift = flag::MOVE_TYPE_SHIFT;
        self.flags = self.flags & !(7 << shift) | (move_type as u16) << shift;
    }

    /// Whether the flags are set.
    #[must_use]
    pub const fn has(&self, flags: u16) -> bool {
        self.flags & flags == flags
    }

    /// Sets the flags of velocity, model, skin and effects for the fields that are not zero.
    pub const fn set_field_flags(&mut self) {
        let mut axis = 0;
        while axis < 3 {
            self.set_flag(flag::VELOCITY[axis], self.velocity[axis] != 0);
            axis += 1;
        }
        self.set_flag(flag::MODEL, self.model != 0);
        self.set_flag(flag::SKIN, self.skin != 0);
        self.set_flag(flag::EFFECTS, self.effects != 0);
    }

    /// Passes a player without decoding it. At a fault the reader stays where it was.
    ///
    /// # Errors
    /// [`ReadFault::End`](super::bytes::ReadFault::End).
    pub(super) fn skip(reader: &mut Reader<'_>) -> ReadResult<()> {
        let bytes = reader.rest();
        let flags = match bytes {
            [_, low, high, ..] => u16::from_le_bytes([*low, *high]),
            _ => return Err(ReadFault::End),
        };
        let coord = if reader.extensions().has_float_coords() { 4 } else { 2 };
        let mut len = 4 + 3 * coord + usize::from(flags & flag::MSEC != 0);
        if flags & flag::COMMAND != 0 {
            len += Usercmd::delta_len(*bytes.get(len).ok_or(ReadFault::End)?);
        }
        len += 2
            * (flags & (flag::VELOCITY[0] | flag::VELOCITY[1] | flag::VELOCITY[2])).count_ones()
                as usize;
        let single = flag::MODEL | flag::SKIN | flag::EFFECTS | flag::WEAPON_FRAME;
        len += (flags & single).count_ones() as usize;
        reader.take(len).map(drop)
    }

    const fn set_flag(&mut self, flag: u16, is_set: bool) {
        self.flags = if is_set { self.flags | flag } else { self.flags & !flag };
    }
}

impl Element<'_> for PlayerInfo {
    fn read(reader: &mut Reader<'_>) -> ReadResult<Self> {
        let mut info = Self { player: reader.read()?, flags: reader.read()?, ..Self::default() };
        let flags = info.flags;
        let is_float = reader.extensions().has_float_coords();
        for coord in &mut info.origin {
            *coord = Coord::read_as(reader, is_float)?;
        }
        info.frame = reader.read()?;
        if flags & flag::MSEC != 0 {
            info.msec = reader.read()?;
        }
        if flags & flag::COMMAND != 0 {
            info.command = reader.read()?;
        }
        for (bit, speed) in flag::VELOCITY.into_iter().zip(&mut info.velocity) {
            if flags & bit != 0 {
                *speed = reader.read()?;
            }
        }
        let bytes = [
            (flag::MODEL, &mut info.model),
            (flag::SKIN, &mut info.skin),
            (flag::EFFECTS, &mut info.effects),
            (flag::WEAPON_FRAME, &mut info.weapon_frame),
        ];
        for (bit, byte) in bytes {
            if flags & bit != 0 {
                *byte = reader.read()?;
            }
        }
        Ok(info)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.write(&self.player);
        writer.write(&self.flags);
        let is_float = writer.extensions().has_float_coords();
        for coord in self.origin {
            Coord::write_as(coord, writer, is_float);
        }
        writer.write(&self.frame);
        if self.has(flag::MSEC) {
            writer.write(&self.msec);
        }
        if self.has(flag::COMMAND) {
            writer.write(&self.command);
        }
        for (bit, speed) in flag::VELOCITY.into_iter().zip(self.velocity) {
            if self.has(bit) {
                writer.write(&speed);
            }
        }
        let bytes = [
            (flag::MODEL, self.model),
            (flag::SKIN, self.skin),
            (flag::EFFECTS, self.effects),
            (flag::WEAPON_FRAME, self.weapon_frame),
        ];
        for (bit, byte) in bytes {
            if self.has(bit) {
                writer.write(&byte);
            }
        }
    }
}
