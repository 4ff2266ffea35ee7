//! Names of the words of playerstates and entity states, in memory order.
//!
//! Source: the layouts of `model`, which equal those of the game interface.

use crate::model::{EntityState, PlayerState};

/// Kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Int,
    /// Number of which eight bits are sent.
    Byte,
    Float,
}

use Word::{Byte, Float, Int};

/// A field: its name, kind, number of words, and first index in its name.
pub(super) type Field = (&'static str, Word, usize);

/// Fields of a playerstate.
pub(super) const PLAYER: &[Field] = &[
    ("command_time", Int, 1),
    ("pm_type", Int, 1),
    ("bob_cycle", Int, 1),
    ("pm_flags", Int, 1),
    ("pm_time", Int, 1),
    ("origin", Float, 3),
    ("velocity", Float, 3),
    ("weapon_time", Int, 1),
    ("gravity", Int, 1),
    ("speed", Int, 1),
    ("delta_angles", Int, 3),
    ("ground_entity_num", Int, 1),
    ("legs_timer", Int, 1),
    ("legs_anim", Int, 1),
    ("torso_timer", Int, 1),
    ("torso_anim", Int, 1),
    ("movement_dir", Int, 1),
    ("grapple_point", Float, 3),
    ("e_flags", Int, 1),
    ("event_sequence", Int, 1),
    ("events", Int, 2),
    ("event_parms", Int, 2),
    ("external_event", Int, 1),
    ("external_event_parm", Int, 1),
    ("external_event_time", Int, 1),
    ("client_num", Int, 1),
    ("weapon", Int, 1),
    ("weaponstate", Int, 1),
    ("viewangles", Float, 3),
    ("viewheight", Int, 1),
    ("damage_event", Int, 1),
    ("damage_yaw", Byte, 1),
    ("damage_pitch", Byte, 1),
    ("damage_count", Int, 1),
    ("stats", Int, 16),
    ("persistant", Int, 16),
    ("powerups", Int, 16),
    ("ammo", Int, 16),
    ("generic1", Int, 1),
    ("loop_sound", Int, 1),
    ("jumppad_ent", Int, 1),
    ("ping", Int, 1),
];

/// Words of a playerstate that are sent: all but the three counters at its end.
pub(super) const PLAYER_WORDS: usize = size_of::<PlayerState>() / 4 - 3;

/// Fields of an entity state.
pub(super) const ENTITY: &[Field] = &[
    ("number", Int, 1),
    ("e_type", Int, 1),
    ("e_flags", Int, 1),
    ("pos.kind", Int, 1),
    ("pos.time", Int, 1),
    ("pos.duration", Int, 1),
    ("pos.base", Float, 3),
    ("pos.delta", Float, 3),
    ("apos.kind", Int, 1),
    ("apos.time", Int, 1),
    ("apos.duration", Int, 1),
    ("apos.base", Float, 3),
    ("apos.delta", Float, 3),
    ("time", Int, 1),
    ("time2", Int, 1),
    ("origin", Float, 3),
    ("origin2", Float, 3),
    ("angles", Float, 3),
    ("angles2", Float, 3),
    ("other_entity_num", Int, 1),
    ("other_entity_num2", Int, 1),
    ("ground_entity_num", Int, 1),
    ("constant_light", Int, 1),
    ("loop_sound", Int, 1),
    ("modelindex", Int, 1),
    ("modelindex2", Int, 1),
    ("client_num", Int, 1),
    ("frame", Int, 1),
    ("solid", Int, 1),
    ("event", Int, 1),
    ("event_parm", Int, 1),
    ("powerups", Int, 1),
    ("weapon", Int, 1),
    ("legs_anim", Int, 1),
    ("torso_anim", Int, 1),
    ("generic1", Int, 1),
];

/// Returns the number of words of a table.
const fn words(fields: &[Field]) -> usize {
    let (mut at, mut sum) = (0, 0);
    while at < fields.len() {
        sum += fields[at].2;
        at += 1;
    }
    sum
}

const _: () = assert!(words(PLAYER) == PLAYER_WORDS);
const _: () = assert!(words(ENTITY) == EntityState::WORDS);

/// A field that differs: its name and both values as text.
pub(super) struct FieldDifference {
    pub(super) name: String,
    pub(super) native: String,
    pub(super) module: String,
}

/// Compares two structs by a table. A vector is one field, an array of numbers has one field for each.
pub(super) fn compare_words(
    fields: &[Field],
    native: &[u32],
    module: &[u32],
    mut found: impl FnMut(FieldDifference),
) {
    let mut at = 0;
    for &(name, word, count) in fields {
        let range = at..at + count;
        at += count;
        let (Some(a), Some(b)) = (native.get(range.clone()), module.get(range)) else { return };
        if a == b {
            continue;
        }
        match word {
            Float if a.iter().zip(b).all(|(a, b)| f32::from_bits(*a) == f32::from_bits(*b)) => {}
            Float => found(FieldDifference {
                name: name.to_owned(),
                native: vector(a),
                module: vector(b),
            }),
            Int | Byte => {
                let mask = if word == Byte { 0xff } else { u32::MAX };
                let pairs = a.iter().zip(b).enumerate();
                for (index, (a, b)) in pairs.filter(|(_, (a, b))| *a & mask != *b & mask) {
                    let name =
                        if count == 1 { name.to_owned() } else { format!("{name}[{index}]") };
                    let [native, module] = [a, b].map(|word| (*word as i32).to_string());
                    found(FieldDifference { name, native, module });
                }
            }
        }
    }
}

fn vector(words: &[u32]) -> String {
    let texts: Vec<_> = words.iter().map(|word| f32::from_bits(*word).to_string()).collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Vec3;

    #[test]
    fn fields_are_named_by_their_place() {
        let native =
            PlayerState { ping: 3, origin: Vec3::new(-0.0, 1.0, 0.0), ..Default::default() };
        let mut module = PlayerState { origin: Vec3::new(0.0, 1.0, 0.0), ..native };
        module.stats[3] = 7;
        module.velocity.0[1] = 0.5;
        let mut names = Vec::new();
        let words: [&[u32]; 2] = [native.words(), module.words()];
        compare_words(PLAYER, words[0], words[1], |found| {
            names.push(format!("{} {} {}", found.name, found.native, found.module));
        });
        assert_eq!(names, ["velocity 0 0 0 0 0.5 0", "stats[3] 0 7"]);
    }
}
