//! Prediction of states: expected change of a player, and of its entity.
//!
//! A wrong prediction costs bytes, never exactness: differences to it are written. Writer and reader
//! compute it from the same states with the same operations, which IEEE 754 defines for every machine.
//! Source: the base game's player movement.

use std::mem::offset_of;

use super::words::{EntityWords, PlayerWords};
use crate::{
    bg::{EntityType, entity_flag},
    model::{EntityState, PlayerState, Vec3},
};

/// Longest change of a command time, in ms, that a player moves by.
const MAX_STEP_MS: i32 = 1000;

macro_rules! word {
    ($struct:ty, $($member:tt)+) => {
        offset_of!($struct, $($member)+) / 4
    };
}

const COMMAND_TIME: usize = word!(PlayerState, command_time);
const ORIGIN: usize = word!(PlayerState, origin);
const VELOCITY: usize = word!(PlayerState, velocity);
const ANGLES: usize = word!(PlayerState, viewangles);

/// Timers of a player that count down.
const TIMERS: [usize; 4] = [
    word!(PlayerState, weapon_time),
    word!(PlayerState, legs_timer),
    word!(PlayerState, torso_timer),
    word!(PlayerState, pm_time),
];

/// Entity words that equal a word of the player.
const SHOWN: [(usize, usize); 7] = [
    (word!(EntityState, legs_anim), word!(PlayerState, legs_anim)),
    (word!(EntityState, torso_anim), word!(PlayerState, torso_anim)),
    (word!(EntityState, weapon), word!(PlayerState, weapon)),
    (word!(EntityState, ground_entity_num), word!(PlayerState, ground_entity_num)),
    (word!(EntityState, loop_sound), word!(PlayerState, loop_sound)),
    (word!(EntityState, generic1), word!(PlayerState, generic1)),
    (word!(EntityState, client_num), word!(PlayerState, client_num)),
];

/// Predicts the leading columns of a player after `step_ms` of level time: command time and velocity.
pub(super) fn lead(state: &mut PlayerWords, step_ms: i32) {
    state[COMMAND_TIME] = state[COMMAND_TIME].wrapping_add(step_ms as u32);
}

/// Predicts the other columns of a player. `state` has the leading ones, and `old` elsewhere.
pub(super) fn follow(state: &mut PlayerWords, old: &PlayerWords) {
    let step_ms = state[COMMAND_TIME].wrapping_sub(old[COMMAND_TIME]) as i32;
    if !(1..=MAX_STEP_MS).contains(&step_ms) {
        return;
    }
    let seconds = step_ms as f32 * 0.001;
    for axis in 0..3 {
        let [was, is] = [old, &*state].map(|state| f32::from_bits(state[VELOCITY + axis]));
        let moved = (was + is) * 0.5 * seconds;
        if moved != 0.0 {
            let origin = f32::from_bits(old[ORIGIN + axis]);
            state[ORIGIN + axis] = (origin + moved).to_bits();
        }
    }
    for timer in TIMERS {
        let left = old[timer] as i32;
        if left > 0 {
            state[timer] = (left - step_ms).max(0) as u32;
        }
    }
}

/// Predicts the entity of a player.
pub(super) fn show(entity: &mut EntityWords, player: &PlayerWords) {
    if entity[word!(EntityState, e_type)] != EntityType::Player as u32 {
        return;
    }
    let vector = |at: usize| Vec3([0, 1, 2].map(|axis| f32::from_bits(player[at + axis])));
    let (origin, angles) = (vector(ORIGIN).truncated(), vector(ANGLES).truncated());
    for axis in 0..3 {
        entity[word!(EntityState, pos.base) + axis] = origin[axis].to_bits();
        entity[word!(EntityState, pos.delta) + axis] = player[VELOCITY + axis];
        entity[word!(EntityState, apos.base) + axis] = angles[axis].to_bits();
    }
    entity[word!(EntityState, angles2) + 1] =
        (player[word!(PlayerState, movement_dir)] as i32 as f32).to_bits();
    for (to, from) in SHOWN {
        entity[to] = player[from];
    }
    let is_dead = player[word!(PlayerState, stats)] as i32 <= 0;
    let dead = entity_flag::DEAD as u32;
    let flags = player[word!(PlayerState, e_flags)];
    entity[word!(EntityState, e_flags)] = if is_dead { flags | dead } else { flags & !dead };
    let powerups = &player[word!(PlayerState, powerups)..][..16];
    entity[word!(EntityState, powerups)] = powerups
        .iter()
        .enumerate()
        .fold(0, |bits, (at, until)| bits | u32::from(*until != 0) << at);
}
