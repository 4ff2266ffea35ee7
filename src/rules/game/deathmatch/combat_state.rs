//! Combat state of one player, from one spawn to the next.
//!
//! Source: the base game's clients. Engine names: `gclient_t`.

use super::world_effects::{AIR_MS, INITIAL_DROWN_DAMAGE};
use crate::model::{ClientNum, LevelTime, Vec3};

/// Combat state of a player, reset by a spawn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlayerCombatState {
    /// Submersion of the player, from 0 (dry) to 3 (head under water).
    pub(super) water_level: u8,
    /// Content bits of the liquid.
    pub(super) water_type: i32,
    /// Time at which the air is used up.
    pub(super) air_until: LevelTime,
    /// Damage of the last drowning hit.
    pub(super) drown_damage: i32,
    /// End of the time without pain events and without damage by lava and slime.
    pub(super) pain_debounce_until: LevelTime,
    /// Earliest time of the next `target_push` sound.
    pub(super) fly_sound_until: LevelTime,
    /// Health lost since the last frame.
    pub(super) damage_taken: i32,
    /// Armor lost since the last frame.
    pub(super) armor_taken: i32,
    /// Direction of the last hit; `None` for damage without one.
    pub(super) damage_from: Option<Vec3>,
    pub(super) dead: bool,
    /// Whether the next usercmd taunts, after a capture by the team.
    pub(super) must_gesture: bool,
    /// Whether the body was gibbed.
    pub(super) gibbed: bool,
    /// Earliest time of a respawn.
    pub(super) respawn_at: LevelTime,
    /// Time since the last once-a-second update, in ms.
    pub(super) second_ms: i32,
    /// End of spawn protection, which may be canceled earlier.
    pub(super) protected_until: Option<LevelTime>,
    /// End of the shown award.
    pub(super) award_until: Option<LevelTime>,
    /// Time of its last frag.
    pub(super) fragged_at: Option<LevelTime>,
    /// Consecutive railgun hits since the last award.
    pub(super) streak: i32,
    /// Attacker of the last knockback, and its time.
    pub(super) pushed_by: Option<(ClientNum, LevelTime)>,
}

impl PlayerCombatState {
    /// Creates the state of a player that spawns at `now`.
    pub(super) fn new(now: LevelTime) -> Self {
        Self {
            air_until: now + AIR_MS,
            drown_damage: INITIAL_DROWN_DAMAGE,
            pain_debounce_until: now,
            respawn_at: now,
            fly_sound_until: now - 1,
            ..Self::default()
        }
    }
}
