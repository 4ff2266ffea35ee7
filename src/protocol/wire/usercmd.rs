//! Usercmd delta: each usercmd against its predecessor, XORed with a key.
//!
//! The key of a value is the message's key XORed with the command's own time. `netchan` makes the
//! message's key. The fields are rows of a table in [`field_tables`](super::field_tables).
//! Source: Quake III protocol 68, usercmd delta. Engine names: `MSG_WriteDeltaUsercmdKey`.

use super::{
    Result,
    bits::{BitReader, BitWriter, Pen, Window},
    fields::{Field, FieldKind},
    huffman::MAX_CODE_LEN,
};
use crate::model::UserCmd;

/// Fields of a usercmd besides the time, in every protocol.
pub(super) const FIELD_COUNT: usize = 8;

/// Usercmd fields of a protocol, in wire order, besides the time.
pub(super) trait UsercmdFields {
    /// One row per field, 16 bits at most.
    const FIELDS: &'static [Field; FIELD_COUNT];
    /// Bits of each field.
    const WIDTHS: [u32; FIELD_COUNT] = {
        let mut widths = [0; FIELD_COUNT];
        let mut i = 0;
        while i < FIELD_COUNT {
            widths[i] = Self::FIELDS[i].kind.bits();
            i += 1;
        }
        widths
    };
    /// Whether a field ends a group: with the next one, it may have more than [`GROUP_BITS`].
    const ENDS_GROUP: [bool; FIELD_COUNT] = {
        let (mut ends, mut bits, mut i) = ([false; FIELD_COUNT], 0, 0);
        while i < FIELD_COUNT {
            let most = 1 + Self::WIDTHS[i] % 8 + Self::WIDTHS[i] / 8 * MAX_CODE_LEN;
            if bits + most > GROUP_BITS {
                ends[i - 1] = true;
                bits = 0;
            }
            bits += most;
            i += 1;
        }
        ends[FIELD_COUNT - 1] = true;
        ends
    };
}

/// Calls a function for each field. Its number is a constant, and so are its width and its place: in a loop the
/// compiler would look them up.
macro_rules! for_each_field {
    ($function:ident::<$table:ty, $plain:tt>($($argument:expr),*)) => {{
        $function::<$table, $plain, 0>($($argument),*)?;
        $function::<$table, $plain, 1>($($argument),*)?;
        $function::<$table, $plain, 2>($($argument),*)?;
        $function::<$table, $plain, 3>($($argument),*)?;
        $function::<$table, $plain, 4>($($argument),*)?;
        $function::<$table, $plain, 5>($($argument),*)?;
        $function::<$table, $plain, 6>($($argument),*)?;
        $function::<$table, $plain, 7>($($argument),*)?;
    }};
}

/// Returns the value of every field. Rows are constants, so each is one load.
#[inline(always)]
fn values<T: UsercmdFields>(usercmd: &UserCmd) -> [u32; FIELD_COUNT] {
    let words = usercmd.words();
    std::array::from_fn(|i| T::FIELDS[i].get(words))
}

/// Most bits of one store of a writer and of one window of a reader.
const GROUP_BITS: u32 = if Pen::MAX_BITS < Window::BITS { Pen::MAX_BITS } else { Window::BITS };
/// The time and the flags before and behind it are one group.
const _: () = assert!(1 + 4 * MAX_CODE_LEN < GROUP_BITS);

/// Codec of usercmds, compiled for one field table, so that widths and members are constants.
#[derive(Debug)]
pub struct UsercmdCodec {
    /// Fields in wire order, besides the time.
    pub fields: &'static [Field],
    /// Whether values are XORed with a key.
    pub is_keyed: bool,
    write: fn(&mut BitWriter, u32, &UserCmd, &UserCmd),
    read: fn(&mut BitReader<'_>, u32, &mut UserCmd) -> Result<()>,
}

impl UsercmdCodec {
    /// Compiles the codec of a field table. `IS_PLAIN` is its coder. `IS_KEYED`: values are XORed with the key, and a
    /// flag in front of them tells whether any has changed.
    pub(super) const fn new<T: UsercmdFields, const IS_PLAIN: bool, const IS_KEYED: bool>() -> Self
    {
        let mut i = 0;
        while i < T::FIELDS.len() {
            assert!(T::FIELDS[i].kind.bits() <= 16, "usercmd fields have at most 16 bits");
            i += 1;
        }
        Self {
            fields: T::FIELDS,
            is_keyed: IS_KEYED,
            write: write::<T, IS_PLAIN, IS_KEYED>,
            read: read::<T, IS_PLAIN, IS_KEYED>,
        }
    }

    /// Returns the fields of a usercmd that are not zero, with their words, for traces.
    pub fn set_fields(&self, usercmd: &UserCmd) -> impl Iterator<Item = (&'static Field, u32)> {
        let words = *usercmd.words();
        let fields = self.fields.iter().map(move |field| (field, field.get(&words)));
        fields.filter(|(_, word)| *word != 0)
    }

    /// Returns name and value of each field that is not zero, for dumps.
    pub fn dump(&self, usercmd: &UserCmd) -> impl Iterator<Item = (&'static str, String)> {
        let words = *usercmd.words();
        self.fields.iter().filter_map(move |field| field.dump(&words))
    }
}

/// Writes `to` against `from`, XORed with the message's `key`.
pub fn write_delta(writer: &mut BitWriter, key: u32, from: &UserCmd, to: &UserCmd) {
    (writer.encoding().usercmd.write)(writer, key, from, to);
}

/// Reads a usercmd against `from`, XORed with the message's `key`. `from` is the default or was read itself, so that
/// no axis is -128.
///
/// # Errors
/// As [`BitReader::bits`].
pub fn read_delta(reader: &mut BitReader<'_>, key: u32, from: &UserCmd) -> Result<UserCmd> {
    let mut usercmd = *from;
    read_over(reader, key, &mut usercmd)?;
    Ok(usercmd)
}

/// Reads a usercmd over its base, as [`read_delta`] does. After an error its value has no meaning.
///
/// # Errors
/// As [`BitReader::bits`].
pub fn read_over(reader: &mut BitReader<'_>, key: u32, usercmd: &mut UserCmd) -> Result<()> {
    (reader.encoding().usercmd.read)(reader, key, usercmd)
}

fn write<T: UsercmdFields, const IS_PLAIN: bool, const IS_KEYED: bool>(
    writer: &mut BitWriter,
    key: u32,
    from: &UserCmd,
    to: &UserCmd,
) {
    let (before, after) = (values::<T>(from), values::<T>(to));
    let any = before != after;
    let time_step = to.server_time.wrapping_sub(from.server_time);
    writer.put(|pen| {
        match u8::try_from(time_step) {
            Ok(step) => {
                pen.raw(1, 1);
                pen.byte::<IS_PLAIN>(step);
            }
            Err(_) => {
                pen.raw(0, 1);
                pen.bytes::<IS_PLAIN>(to.server_time as u32, 4);
            }
        }
        if IS_KEYED {
            pen.raw(u64::from(any), 1);
        }
    });
    if IS_KEYED && !any {
        return;
    }
    let key = if IS_KEYED { key ^ to.server_time as u32 } else { 0 };
    let mut pen = writer.pen;
    for i in 0..FIELD_COUNT {
        if before[i] == after[i] {
            pen.raw(0, 1);
        } else {
            pen.raw(1, 1);
            pen.int::<IS_PLAIN>(after[i] ^ key, T::WIDTHS[i]);
        }
        if T::ENDS_GROUP[i] {
            pen.store(&mut writer.bytes);
        }
    }
    writer.pen = pen;
}

fn read<T: UsercmdFields, const IS_PLAIN: bool, const IS_KEYED: bool>(
    reader: &mut BitReader<'_>,
    key: u32,
    usercmd: &mut UserCmd,
) -> Result<()> {
    let mut window = reader.window();
    usercmd.server_time = if window.flag() {
        let step = window.byte::<IS_PLAIN>().ok_or_else(|| reader.no_code(window))?;
        usercmd.server_time.wrapping_add(i32::from(step))
    } else {
        window.int::<IS_PLAIN>(32).ok_or_else(|| reader.no_code(window))? as i32
    };
    let any = !IS_KEYED || window.flag();
    reader.follow(window)?;
    if !any {
        return Ok(());
    }
    let key = if IS_KEYED { key ^ usercmd.server_time as u32 } else { 0 };
    let mut window = reader.window();
    for_each_field!(read_field::<T, IS_PLAIN>(reader, &mut window, key, usercmd));
    Ok(())
}

/// Reads a field from the window, and moves the window at the end of a group.
#[inline(always)]
fn read_field<T: UsercmdFields, const IS_PLAIN: bool, const I: usize>(
    reader: &mut BitReader<'_>,
    window: &mut Window,
    key: u32,
    to: &mut UserCmd,
) -> Result<()> {
    if window.flag() {
        let (field, width) = (&T::FIELDS[I], T::WIDTHS[I]);
        let read = window.int::<IS_PLAIN>(width).ok_or_else(|| reader.no_code(*window))?;
        field.set(to.words_mut(), decoded(field.kind, (read ^ key) & ((1 << width) - 1)));
    }
    if T::ENDS_GROUP[I] {
        reader.follow(*window)?;
        if I + 1 < FIELD_COUNT {
            *window = reader.window();
        }
    }
    Ok(())
}

/// Returns the member with the low bits `value`.
#[inline(always)]
fn decoded(kind: FieldKind, value: u32) -> u32 {
    match kind {
        FieldKind::Int(_) | FieldKind::Float => value,
        FieldKind::Signed(bits) => {
            let unused = 32 - u32::from(bits);
            ((value << unused) as i32 >> unused) as u32
        }
        FieldKind::Axis => (value as i8).max(-127) as u32,
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Reference definition, value by value.
    fn plainly_read(reader: &mut BitReader<'_>, key: u32, from: &UserCmd) -> Result<UserCmd> {
        let server_time = if reader.flag()? {
            from.server_time.wrapping_add(i32::from(reader.byte()?))
        } else {
            reader.long()?
        };
        let mut to = UserCmd { server_time, ..*from };
        if reader.flag()? {
            let key = key ^ server_time as u32;
            for field in reader.encoding().usercmd.fields {
                let width = field.kind.bits();
                let mut value = field.get(from.words());
                if reader.flag()? {
                    value = (reader.bits(width)? ^ key) & ((1 << width) - 1);
                }
                field.set(to.words_mut(), decoded(field.kind, value));
            }
        }
        Ok(to)
    }

    fn usercmd() -> impl Strategy<Value = UserCmd> {
        prop::array::uniform6(any::<u32>()).prop_map(|words| {
            let mut usercmd = UserCmd::default();
            *usercmd.words_mut() = words;
            usercmd
        })
    }

    proptest! {
        #[test]
        fn reading_equals_its_definition(
            bytes in vec(any::<u8>(), 0..40),
            skipped in 0..8_usize,
            key: u32,
            mut from in usercmd(),
        ) {
            for axis in [&mut from.forwardmove, &mut from.rightmove, &mut from.upmove] {
                *axis = (*axis).max(-127);
            }
            let reader = BitReader::new(&bytes).resumed(skipped.min(8 * bytes.len()));
            let (mut fast, mut plain) = (reader.clone(), reader);
            let expected = plainly_read(&mut plain, key, &from);
            prop_assert_eq!(read_delta(&mut fast, key, &from), expected);
            if expected.is_ok() {
                prop_assert_eq!(fast.bit_position(), plain.bit_position());
            }
        }

        #[test]
        fn written_usercmds_are_read_back(key: u32, from in usercmd(), to in usercmd(), step in 0..300_i32) {
            let server_time = from.server_time.wrapping_add(step);
            let angles = to.angles.map(|angle| angle & 0xffff);
            let to = UserCmd { server_time, angles, ..to };
            let mut writer = BitWriter::new();
            write_delta(&mut writer, key, &from, &to);
            let bits = writer.bit_len();
            let message = writer.message().to_vec();
            let mut reader = BitReader::new(&message);
            let read = read_delta(&mut reader, key, &from).unwrap();
            prop_assert_eq!(reader.bit_position(), bits);
            prop_assert_eq!(read.server_time, server_time);
            prop_assert_eq!(read.angles, angles);
            prop_assert_eq!(read.weapon, to.weapon);
        }
    }
}
