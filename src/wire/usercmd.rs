//! Usercmds of a move message: each relative to the one before, its values mixed with a key that both
//! ends know.
//!
//! The key of a value is the message's key mixed with the command's own time. What goes into the
//! message's key is `netchan`'s. Source: Quake III protocol 68, usercmd delta.

use super::{
    Result,
    bits::{BitReader, BitWriter},
};
use crate::model::{Buttons, UserCmd};

/// One field of a usercmd behind its time.
struct Field {
    bits: u8,
    get: fn(&UserCmd) -> u32,
    set: fn(&mut UserCmd, u32),
}

/// In the order of the wire.
const FIELDS: [Field; 8] = [
    Field { bits: 16, get: |c| c.angles[0] as u32, set: |c, v| c.angles[0] = v as i32 },
    Field { bits: 16, get: |c| c.angles[1] as u32, set: |c, v| c.angles[1] = v as i32 },
    Field { bits: 16, get: |c| c.angles[2] as u32, set: |c, v| c.angles[2] = v as i32 },
    Field { bits: 8, get: |c| c.forwardmove as u32, set: |c, v| c.forwardmove = read_move(v) },
    Field { bits: 8, get: |c| c.rightmove as u32, set: |c, v| c.rightmove = read_move(v) },
    Field { bits: 8, get: |c| c.upmove as u32, set: |c, v| c.upmove = read_move(v) },
    Field { bits: 16, get: |c| c.buttons.0 as u32, set: |c, v| c.buttons = Buttons(v as i32) },
    Field { bits: 8, get: |c| u32::from(c.weapon), set: |c, v| c.weapon = v as u8 },
];

/// A move as read: -128 does not exist.
fn read_move(value: u32) -> i8 {
    (value as u8 as i8).max(-127)
}

/// Writes `to` relative to `from`, mixed with the message's `key`.
pub fn write_delta(writer: &mut BitWriter, key: u32, from: &UserCmd, to: &UserCmd) {
    let changed = FIELDS.each_ref().map(|field| (field.get)(from) != (field.get)(to));
    let any = changed.contains(&true);
    let step = to.server_time.wrapping_sub(from.server_time);
    writer.put(|pen| {
        match u8::try_from(step) {
            Ok(step) => {
                pen.raw(1, 1);
                pen.byte(step);
            }
            Err(_) => {
                pen.raw(0, 1);
                pen.int(to.server_time as u32, 32);
            }
        }
        pen.raw(u64::from(any), 1);
    });
    if !any {
        return;
    }
    let key = key ^ to.server_time as u32;
    // Of two fields at most 2 * (1 + 22) bits.
    for (pair, changed) in FIELDS.as_chunks::<2>().0.iter().zip(changed.as_chunks::<2>().0) {
        writer.put(|pen| {
            for (field, &changed) in pair.iter().zip(changed) {
                pen.raw(u64::from(changed), 1);
                if changed {
                    pen.int((field.get)(to) ^ key, u32::from(field.bits));
                }
            }
        });
    }
}

/// Reads a usercmd relative to `from`, mixed with the message's `key`.
///
/// # Errors
/// As [`BitReader::bits`].
pub fn read_delta(reader: &mut BitReader<'_>, key: u32, from: &UserCmd) -> Result<UserCmd> {
    let mut to = *from;
    to.server_time = if reader.flag()? {
        from.server_time.wrapping_add(i32::from(reader.byte()?))
    } else {
        reader.long()?
    };
    if reader.flag()? {
        let key = key ^ to.server_time as u32;
        for field in &FIELDS {
            if reader.flag()? {
                let bits = u32::from(field.bits);
                let value = reader.bits(bits)? ^ key;
                (field.set)(&mut to, value & ((1 << bits) - 1));
            }
        }
    }
    Ok(to)
}
