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

/// Bits of each field behind the time, in the order of the wire. Two of them fit one store of a writer,
/// one window of a reader.
const WIDTHS: [u32; 8] = [16, 16, 16, 8, 8, 8, 16, 8];

/// The fields in the order of the wire.
fn fields_of(usercmd: &UserCmd) -> [u32; 8] {
    let UserCmd { angles, buttons, weapon, forwardmove, rightmove, upmove, .. } = *usercmd;
    let [pitch, yaw, roll] = angles.map(|angle| angle as u32);
    let [forward, right, up] = [forwardmove, rightmove, upmove].map(|step| step as u32);
    [pitch, yaw, roll, forward, right, up, buttons.0 as u32, u32::from(weapon)]
}

/// The usercmd of those fields.
fn usercmd_of(server_time: i32, fields: [u32; 8]) -> UserCmd {
    let [pitch, yaw, roll, forward, right, up, buttons, weapon] = fields;
    // A move of -128 does not exist.
    let [forwardmove, rightmove, upmove] = [forward, right, up].map(|step| (step as i8).max(-127));
    UserCmd {
        server_time,
        angles: [pitch, yaw, roll].map(|angle| angle as i32),
        buttons: Buttons(buttons as i32),
        weapon: weapon as u8,
        forwardmove,
        rightmove,
        upmove,
    }
}

/// Writes `to` relative to `from`, mixed with the message's `key`.
pub fn write_delta(writer: &mut BitWriter, key: u32, from: &UserCmd, to: &UserCmd) {
    let (before, fields) = (fields_of(from), fields_of(to));
    let any = before != fields;
    let step = to.server_time.wrapping_sub(from.server_time);
    writer.put(|pen| {
        match u8::try_from(step) {
            Ok(step) => {
                pen.raw(1, 1);
                pen.byte(step);
            }
            Err(_) => {
                pen.raw(0, 1);
                pen.bytes(to.server_time as u32, 4);
            }
        }
        pen.raw(u64::from(any), 1);
    });
    if !any {
        return;
    }
    let key = key ^ to.server_time as u32;
    let mut pen = writer.pen;
    for (i, width) in WIDTHS.into_iter().enumerate() {
        if before[i] == fields[i] {
            pen.raw(0, 1);
        } else {
            pen.raw(1, 1);
            pen.int(fields[i] ^ key, width);
        }
        if i % 2 == 1 {
            pen.store(&mut writer.bytes);
        }
    }
    writer.pen = pen;
}

/// Reads a usercmd relative to `from`, mixed with the message's `key`.
///
/// # Errors
/// As [`BitReader::bits`].
pub fn read_delta(reader: &mut BitReader<'_>, key: u32, from: &UserCmd) -> Result<UserCmd> {
    let server_time = if reader.flag()? {
        from.server_time.wrapping_add(i32::from(reader.byte()?))
    } else {
        reader.long()?
    };
    if !reader.flag()? {
        return Ok(UserCmd { server_time, ..*from });
    }
    let key = key ^ server_time as u32;
    let mut fields = fields_of(from);
    for (fields, widths) in fields.chunks_mut(2).zip(WIDTHS.chunks(2)) {
        let mut window = reader.window();
        for (field, &width) in fields.iter_mut().zip(widths) {
            if window.flag() {
                let value = window.int(width).ok_or_else(|| reader.no_code(window))?;
                *field = (value ^ key) & ((1 << width) - 1);
            }
        }
        reader.follow(window)?;
    }
    Ok(usercmd_of(server_time, fields))
}
