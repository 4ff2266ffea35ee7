//! Usercmds of players: one input frame, as the difference to an earlier one.
//!
//! Source: QuakeWorld protocol 28, usercmds.

use super::bytes::{Angle, Element, ReadResult, Reader, Writer};

/// Buttons of a usercmd.
pub mod button {
    /// Attack.
    pub const ATTACK: u8 = 1;
    /// Jump.
    pub const JUMP: u8 = 2;
    /// Use.
    pub const USE: u8 = 4;
    /// Second attack.
    pub const ATTACK2: u8 = 8;
}

const PITCH: u8 = 0x01;
const ROLL: u8 = 0x02;
const FORWARD: u8 = 0x04;
const SIDE: u8 = 0x08;
const UP: u8 = 0x10;
const BUTTONS: u8 = 0x20;
const IMPULSE: u8 = 0x40;
const YAW: u8 = 0x80;

/// One input frame of a player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usercmd {
    /// Duration in ms.
    pub msec: u8,
    /// Pitch, yaw and roll.
    pub angles: [Angle; 3],
    /// Wished speed forward.
    pub forward: i16,
    /// Wished speed to the right.
    pub side: i16,
    /// Wished speed upward.
    pub up: i16,
    /// Buttons, see [`button`].
    pub buttons: u8,
    /// Impulse; 0 for none. Weapon on others' usercmds.
    pub impulse: u8,
}

impl Usercmd {
    /// Usercmd without any input.
    pub const ZERO: Self =
        Self { msec: 0, angles: [Angle(0); 3], forward: 0, side: 0, up: 0, buttons: 0, impulse: 0 };

    /// Reads the difference to `from`.
    ///
    /// # Errors
    /// See [`ReadFault`](super::bytes::ReadFault).
    pub fn read_delta(reader: &mut Reader<'_>, from: &Self) -> ReadResult<Self> {
        let bits: u8 = reader.read()?;
        let mut to = *from;
        for (bit, angle) in [(PITCH, 0), (YAW, 1), (ROLL, 2)] {
            if bits & bit != 0 {
                to.angles[angle] = Angle(reader.read()?);
            }
        }
        for (bit, speed) in [(FORWARD, &mut to.forward), (SIDE, &mut to.side), (UP, &mut to.up)] {
            if bits & bit != 0 {
                *speed = reader.read()?;
            }
        }
        for (bit, byte) in [(BUTTONS, &mut to.buttons), (IMPULSE, &mut to.impulse)] {
            if bits & bit != 0 {
                *byte = reader.read()?;
            }
        }
        to.msec = reader.read()?;
        Ok(to)
    }

    /// Length of a difference by its first byte.
    pub(super) const fn delta_len(bits: u8) -> usize {
        let words = (bits & (PITCH | YAW | ROLL | FORWARD | SIDE | UP)).count_ones();
        let bytes = (bits & (BUTTONS | IMPULSE)).count_ones();
        2 + 2 * words as usize + bytes as usize
    }

    /// Appends the difference to `from`.
    pub fn write_delta(&self, writer: &mut Writer<'_>, from: &Self) {
        let mut bits = 0;
        for (bit, angle) in [(PITCH, 0), (YAW, 1), (ROLL, 2)] {
            bits |= if self.angles[angle] == from.angles[angle] { 0 } else { bit };
        }
        let speeds = [
            (FORWARD, self.forward, from.forward),
            (SIDE, self.side, from.side),
            (UP, self.up, from.up),
        ];
        for (bit, to, from) in speeds {
            bits |= if to == from { 0 } else { bit };
        }
        let bytes = [(BUTTONS, self.buttons, from.buttons), (IMPULSE, self.impulse, from.impulse)];
        for (bit, to, from) in bytes {
            bits |= if to == from { 0 } else { bit };
        }
        writer.write(&bits);
        for (bit, angle) in [(PITCH, 0), (YAW, 1), (ROLL, 2)] {
            if bits & bit != 0 {
                writer.write(&self.angles[angle].0);
            }
        }
        for (bit, to, _) in speeds {
            if bits & bit != 0 {
                writer.write(&to);
            }
        }
        for (bit, to, _) in bytes {
            if bits & bit != 0 {
                writer.write(&to);
            }
        }
        writer.write(&self.msec);
    }
}

/// Difference to [`Usercmd::ZERO`].
impl Element<'_> for Usercmd {
    fn read(reader: &mut Reader<'_>) -> ReadResult<Self> {
        Self::read_delta(reader, &Self::ZERO)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.write_delta(writer, &Self::ZERO);
    }
}
