//! Combat state of one player, from one spawn to the next.
//!
//! Source: the base game's clients. Engine names: `gclient_t`.

use crate::model::{ClientNum, LevelTime, Vec3};

/// Time under water without damage, in ms.
pub(crate) const AIR_MS: i32 = 12_000;
/// Drowning damage before its first increase.
pub(crate) const INITIAL_DROWN_DAMAGE: i32 = 2;

/// Combat state of a player, reset by a spawn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlayerCombatState {
    /// Submersion of the player, from 0 (dry) to 3 (head under water).
    pub(crate) water_level: u8,
    /// Content bits of the liquid.
    pub(crate) water_type: i32,
    /// Time at which the air is used up.
    pub(crate) air_until: LevelTime,
    /// Damage of the last drowning hit.
    pub(crate) drown_damage: i32,
    /// End of the time without pain events and without damage by lava and slime.
    pub(crate) pain_debounce_until: LevelTime,
    /// Earliest time of the next `target_push` sound.
    pub(crate) fly_sound_until: LevelTime,
    /// Health lost since the last frame.
    pub(crate) damage_taken: i32,
    /// Armor lost since the last frame.
    pub(crate) armor_taken: i32,
    /// Direction of the last hit; `None` for damage without one.
    pub(crate) damage_from: Option<Vec3>,
    pub(crate) dead: bool,
    /// Whether the next usercmd taunts, after a capture by the team.
    pub(crate) must_gesture: bool,
    /// Whether the body was gibbed.
    pub(crate) gibbed: bool,
    /// Earliest time of a respawn.
    pub(crate) respawn_at: LevelTime,
    /// Time since the last once-a-second update, in ms.
    pub(crate) second_ms: i32,
    /// End of spawn protection, which may be canceled earlier.
    pub(crate) protected_until: Option<LevelTime>,
    /// End of the shown award.
    pub(crate) award_until: Option<LevelTime>,
    /// Time of its last frag.
    pub(crate) fragged_at: Option<LevelTime>,
    /// Consecutive railgun hits since the last award.
    pub(crate) streak: i32,
    /// Attacker of the last knockback, and its time.
    pub(crate) pushed_by: Option<(ClientNum, LevelTime)>,
}

impl PlayerCombatState {
    /// Creates the state of a player that spawns at `now`.
    pub(crate) fn new(now: LevelTime) -> Self {
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
