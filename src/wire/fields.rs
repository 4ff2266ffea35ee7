//! Delta-coded structs as tables: each field's name, place and width, in the order of the wire.
//!
//! One table drives writing, reading, dumps and tests. A delta is the number of fields up to the last
//! changed one, then for each of them a flag and, if it changed, its value. Comparison is on raw words,
//! so -0.0 differs from 0.0 and a NaN equals itself. Source: Quake III protocol 68, delta codecs.

use std::ops::Range;

use super::{
    Result, WireError,
    bits::{BitReader, BitWriter, Window},
};
use crate::model::{EntityState, PlayerState};

/// How a field's value travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A float: 13 bits when it is a whole number from -4096 to 4095, else all 32.
    Float,
    /// An integer's low bits, read back as they are.
    Int(u8),
    /// An integer's low bits, sign-extended when read.
    Signed(u8),
}

/// One field of a delta-coded struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's standard name.
    pub name: &'static str,
    /// How it travels.
    pub kind: Kind,
    /// Its word of the struct.
    word: u8,
}

/// The fields of a struct of `WORDS` 32-bit words that travel, at most 64 of them. With `ZERO_FLAGS` a
/// flag in front of each value says whether it is other than zero.
#[derive(Debug)]
pub struct Table<const FIELDS: usize, const WORDS: usize, const ZERO_FLAGS: bool> {
    /// In the order of the wire: most often changed first, by and large.
    pub fields: [Field; FIELDS],
    /// The field that a word is, as the bit of its place; 0 where a word does not travel.
    bit_of_word: [u64; WORDS],
}

macro_rules! fields {
    ($struct:ty { $($name:literal => $($member:ident).+ $([$index:literal])? : $kind:expr,)+ }) => {
        [$(Field {
            name: $name,
            kind: $kind,
            word: (std::mem::offset_of!($struct, $($member).+) / 4 $(+ $index)?) as u8,
        }),+]
    };
}

use Kind::{Float, Int, Signed};

/// What travels of an entity, besides its number.
pub static ENTITY: Table<51, { EntityState::WORDS }, true> = Table::new(ENTITY_FIELDS);

/// What travels of a player, besides its four arrays.
pub static PLAYER: Table<48, { PlayerState::WORDS }, false> = Table::new(PLAYER_FIELDS);

const ENTITY_FIELDS: [Field; 51] = fields!(EntityState {
    "pos.trTime" => pos.time: Int(32),
    "pos.trBase[0]" => pos.base[0]: Float,
    "pos.trBase[1]" => pos.base[1]: Float,
    "pos.trDelta[0]" => pos.delta[0]: Float,
    "pos.trDelta[1]" => pos.delta[1]: Float,
    "pos.trBase[2]" => pos.base[2]: Float,
    "apos.trBase[1]" => apos.base[1]: Float,
    "pos.trDelta[2]" => pos.delta[2]: Float,
    "apos.trBase[0]" => apos.base[0]: Float,
    "event" => event: Int(10),
    "angles2[1]" => angles2[1]: Float,
    "eType" => e_type: Int(8),
    "torsoAnim" => torso_anim: Int(8),
    "eventParm" => event_parm: Int(8),
    "legsAnim" => legs_anim: Int(8),
    "groundEntityNum" => ground_entity_num: Int(10),
    "pos.trType" => pos.kind: Int(8),
    "eFlags" => e_flags: Int(19),
    "otherEntityNum" => other_entity_num: Int(10),
    "weapon" => weapon: Int(8),
    "clientNum" => client_num: Int(8),
    "angles[1]" => angles[1]: Float,
    "pos.trDuration" => pos.duration: Int(32),
    "apos.trType" => apos.kind: Int(8),
    "origin[0]" => origin[0]: Float,
    "origin[1]" => origin[1]: Float,
    "origin[2]" => origin[2]: Float,
    "solid" => solid: Int(24),
    "powerups" => powerups: Int(16),
    "modelindex" => modelindex: Int(8),
    "otherEntityNum2" => other_entity_num2: Int(10),
    "loopSound" => loop_sound: Int(8),
    "generic1" => generic1: Int(8),
    "origin2[2]" => origin2[2]: Float,
    "origin2[0]" => origin2[0]: Float,
    "origin2[1]" => origin2[1]: Float,
    "modelindex2" => modelindex2: Int(8),
    "angles[0]" => angles[0]: Float,
    "time" => time: Int(32),
    "apos.trTime" => apos.time: Int(32),
    "apos.trDuration" => apos.duration: Int(32),
    "apos.trBase[2]" => apos.base[2]: Float,
    "apos.trDelta[0]" => apos.delta[0]: Float,
    "apos.trDelta[1]" => apos.delta[1]: Float,
    "apos.trDelta[2]" => apos.delta[2]: Float,
    "time2" => time2: Int(32),
    "angles[2]" => angles[2]: Float,
    "angles2[0]" => angles2[0]: Float,
    "angles2[2]" => angles2[2]: Float,
    "constantLight" => constant_light: Int(32),
    "frame" => frame: Int(16),
});

const PLAYER_FIELDS: [Field; 48] = fields!(PlayerState {
    "commandTime" => command_time: Int(32),
    "origin[0]" => origin[0]: Float,
    "origin[1]" => origin[1]: Float,
    "bobCycle" => bob_cycle: Int(8),
    "velocity[0]" => velocity[0]: Float,
    "velocity[1]" => velocity[1]: Float,
    "viewangles[1]" => viewangles[1]: Float,
    "viewangles[0]" => viewangles[0]: Float,
    "weaponTime" => weapon_time: Signed(16),
    "origin[2]" => origin[2]: Float,
    "velocity[2]" => velocity[2]: Float,
    "legsTimer" => legs_timer: Int(8),
    "pm_time" => pm_time: Signed(16),
    "eventSequence" => event_sequence: Int(16),
    "torsoAnim" => torso_anim: Int(8),
    "movementDir" => movement_dir: Int(4),
    "events[0]" => events[0]: Int(8),
    "legsAnim" => legs_anim: Int(8),
    "events[1]" => events[1]: Int(8),
    "pm_flags" => pm_flags: Int(16),
    "groundEntityNum" => ground_entity_num: Int(10),
    "weaponstate" => weaponstate: Int(4),
    "eFlags" => e_flags: Int(16),
    "externalEvent" => external_event: Int(10),
    "gravity" => gravity: Int(16),
    "speed" => speed: Int(16),
    "delta_angles[1]" => delta_angles[1]: Int(16),
    "externalEventParm" => external_event_parm: Int(8),
    "viewheight" => viewheight: Signed(8),
    "damageEvent" => damage_event: Int(8),
    "damageYaw" => damage_yaw: Int(8),
    "damagePitch" => damage_pitch: Int(8),
    "damageCount" => damage_count: Int(8),
    "generic1" => generic1: Int(8),
    "pm_type" => pm_type: Int(8),
    "delta_angles[0]" => delta_angles[0]: Int(16),
    "delta_angles[2]" => delta_angles[2]: Int(16),
    "torsoTimer" => torso_timer: Int(12),
    "eventParms[0]" => event_parms[0]: Int(8),
    "eventParms[1]" => event_parms[1]: Int(8),
    "clientNum" => client_num: Int(8),
    "weapon" => weapon: Int(5),
    "viewangles[2]" => viewangles[2]: Float,
    "grapplePoint[0]" => grapple_point[0]: Float,
    "grapplePoint[1]" => grapple_point[1]: Float,
    "grapplePoint[2]" => grapple_point[2]: Float,
    "jumppad_ent" => jumppad_ent: Int(10),
    "loopSound" => loop_sound: Int(16),
});

impl<const FIELDS: usize, const WORDS: usize, const ZERO_FLAGS: bool>
    Table<FIELDS, WORDS, ZERO_FLAGS>
{
    const fn new(fields: [Field; FIELDS]) -> Self {
        assert!(FIELDS <= 64);
        let mut bit_of_word = [0; WORDS];
        let mut i = 0;
        while i < FIELDS {
            bit_of_word[fields[i].word as usize] = 1 << i;
            i += 1;
        }
        Self { fields, bit_of_word }
    }

    /// Which fields differ, of those among `words`: bit `i` for field `i`.
    ///
    /// In the order of memory and without a branch: the compiler makes it comparisons of four words each.
    #[inline]
    pub(super) fn changed(
        &self,
        words: Range<usize>,
        from: &[u32; WORDS],
        to: &[u32; WORDS],
    ) -> u64 {
        let pairs = from[words.clone()].iter().zip(&to[words.clone()]);
        let mut changed = 0;
        for ((from, to), bit) in pairs.zip(&self.bit_of_word[words]) {
            changed |= bit & u64::from(from != to).wrapping_neg();
        }
        changed
    }

    /// The count byte of a delta: one more than the last changed field.
    #[inline]
    pub(super) fn count(&self, changed: u64) -> u8 {
        (64 - changed.leading_zeros()) as u8
    }

    /// Writes the flags and values behind the count.
    pub(super) fn write(&self, writer: &mut BitWriter, changed: u64, to: &[u32; WORDS]) {
        let mut pen = writer.pen;
        let bytes = &mut *writer.bytes;
        let mut rest = changed;
        let mut next = 0;
        while rest != 0 {
            let i = rest.trailing_zeros();
            rest &= rest - 1;
            let mut unchanged = i - next;
            next = i + 1;
            // One store takes the flags of unchanged fields, the field's own flags and its value: at
            // most 8 + 3 + 44 bits.
            if unchanged > 8 {
                pen.raw(0, unchanged);
                pen.store(bytes);
                unchanged = 0;
            }
            let field = &self.fields[i as usize];
            let value = to[usize::from(field.word)];
            // The flags, then what of the value is raw, then the bytes of the rest.
            let mut raw = |bits: u32, len: u32| {
                let flags = if ZERO_FLAGS { 0b11 | bits << 2 } else { 0b1 | bits << 1 };
                let flags_len = if ZERO_FLAGS { 2 } else { 1 };
                pen.raw(u64::from(flags) << unchanged, unchanged + flags_len + len);
            };
            match field.kind {
                Float if ZERO_FLAGS && value << 1 == 0 => pen.raw(0b01 << unchanged, unchanged + 2),
                Float => match small_whole(f32::from_bits(value)) {
                    Some(whole) => {
                        raw((whole & 0x1f) << 1, 1 + 5);
                        pen.byte((whole >> 5) as u8);
                    }
                    None => {
                        raw(1, 1);
                        pen.bytes(value, 4);
                    }
                },
                Int(_) | Signed(_) if ZERO_FLAGS && value == 0 => {
                    pen.raw(0b01 << unchanged, unchanged + 2);
                }
                Int(bits) | Signed(bits) => {
                    let odd = u32::from(bits) & 7;
                    raw(value & ((1 << odd) - 1), odd);
                    pen.bytes(value >> odd, u32::from(bits) >> 3);
                }
            }
            pen.store(bytes);
        }
        writer.pen = pen;
    }

    /// Reads a delta from its count byte on into `to`, which holds what it is relative to.
    pub(super) fn read(&self, reader: &mut BitReader<'_>, to: &mut [u32; WORDS]) -> Result<()> {
        let count = reader.byte()?;
        let fields = self.fields.get(..usize::from(count)).ok_or(WireError::FieldCount(count))?;
        for field in fields {
            // One window shows a field whole: at most 3 flags and 44 bits.
            let mut window = reader.window();
            if window.flag() {
                let value = Self::read_value(&mut window, field.kind);
                to[usize::from(field.word)] = value.ok_or_else(|| reader.no_code(window))?;
            }
            reader.follow(window)?;
        }
        Ok(())
    }

    #[inline]
    fn read_value(window: &mut Window, kind: Kind) -> Option<u32> {
        if ZERO_FLAGS && !window.flag() {
            return Some(0);
        }
        match kind {
            Float if window.flag() => window.int(32),
            Float => Some((window.int(13)? as f32 - WHOLE_BIAS as f32).to_bits()),
            Int(bits) => window.int(u32::from(bits)),
            Signed(bits) => {
                let unused = 32 - u32::from(bits);
                let value = window.int(u32::from(bits))?;
                Some(((value << unused) as i32 >> unused) as u32)
            }
        }
    }

    /// The fields of a struct that are not zero, for people: name and value.
    pub fn dump(&self, words: &[u32; WORDS]) -> impl Iterator<Item = (&'static str, String)> {
        let words = *words;
        self.fields.iter().filter_map(move |field| {
            let value = words[usize::from(field.word)];
            (value != 0).then(|| {
                let shown = match field.kind {
                    Float => f32::from_bits(value).to_string(),
                    Int(_) | Signed(_) => (value as i32).to_string(),
                };
                (field.name, shown)
            })
        })
    }

    /// The word of the field of that name.
    #[must_use]
    pub fn word_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().find(|field| field.name == name).map(|field| usize::from(field.word))
    }
}

/// What is added to a small whole number so that it is not negative on the wire.
const WHOLE_BIAS: i32 = 4096;

/// The 13 bits of a float that is a small whole number. -0.0 counts as 0.
#[inline]
fn small_whole(value: f32) -> Option<u32> {
    // Beside this number floats are whole, so adding it rounds, and the bits of the sum count from its
    // own. Sums far from it have bits far from its own, a NaN equals nothing: neither passes below.
    const ROUNDER: f32 = 12_582_912.0;
    let sum = value + ROUNDER;
    let biased = sum.to_bits().wrapping_sub(ROUNDER.to_bits() - WHOLE_BIAS as u32);
    (biased < 2 * WHOLE_BIAS as u32 && sum - ROUNDER == value).then_some(biased)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn check_table<const F: usize, const W: usize, const Z: bool>(table: &Table<F, W, Z>) {
        let names: HashSet<_> = table.fields.iter().map(|field| field.name).collect();
        let words: HashSet<_> = table.fields.iter().map(|field| field.word).collect();
        assert_eq!((names.len(), words.len()), (F, F), "each field once");
        for field in &table.fields {
            match field.kind {
                Float => {}
                Int(bits) => assert!((1..=32).contains(&bits), "{}", field.name),
                // A sign is only right where the width is whole bytes.
                Signed(bits) => assert!(bits == 8 || bits == 16, "{}", field.name),
            }
        }
    }

    #[test]
    fn tables_name_each_word_once_with_a_legal_width() {
        check_table(&ENTITY);
        check_table(&PLAYER);
    }

    #[test]
    fn only_small_whole_floats_are_short() {
        for (value, bits) in [(0.0, 4096), (-0.0, 4096), (-4096.0, 0), (4095.0, 8191)] {
            assert_eq!(small_whole(value), Some(bits), "{value}");
        }
        for value in [4096.0, -4097.0, 0.5, f32::NAN, f32::INFINITY, 2_147_483_648.0, 1e30, 1e-40] {
            assert_eq!(small_whole(value), None, "{value}");
        }
    }
}
