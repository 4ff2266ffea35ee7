//! Combat state of one player, from one spawn to the next.
//!
//! Source: the base game's clients.

use super::world_effects::{AIR_MS, FIRST_GULP};
use crate::model::{ClientNum, LevelTime, Vec3};

/// A player between two spawns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlayerCombatState {
    pub(super) water_level: u8,
    pub(super) water_type: i32,
    /// When the air is used up.
    pub(super) air_until: LevelTime,
    /// Damage of the last drowning.
    pub(super) drown_damage: i32,
    /// Until when pain is not shown, and lava and slime do nothing.
    pub(super) pain_debounce_until: LevelTime,
    /// Until when being thrown is not heard again.
    pub(super) fly_sound_until: LevelTime,
    /// Health and armour lost since the last frame, and where the last of it came from.
    pub(super) damage_taken: i32,
    pub(super) armor_taken: i32,
    pub(super) damage_from: Option<Vec3>,
    pub(super) dead: bool,
    /// Nothing is left of the body.
    pub(super) gibbed: bool,
    /// When the dead may come back.
    pub(super) respawn_at: LevelTime,
    /// Time since the last of what happens once a second.
    pub(super) second_ms: i32,
    /// Until when nobody can hurt it after its spawn; it may end earlier.
    pub(super) protected_until: Option<LevelTime>,
    /// Until when an award is shown.
    pub(super) award_until: Option<LevelTime>,
    /// When it made its last frag.
    pub(super) fragged_at: Option<LevelTime>,
    /// Hits in a row with the railgun that no award was given for.
    pub(super) streak: i32,
    /// Who pushed it last, and when.
    pub(super) pushed_by: Option<(ClientNum, LevelTime)>,
}

impl PlayerCombatState {
    /// Somebody who begins to live.
    pub(super) fn new(now: LevelTime) -> Self {
        Self {
            air_until: now + AIR_MS,
            drown_damage: FIRST_GULP,
            pain_debounce_until: now,
            respawn_at: now,
            fly_sound_until: now - 1,
            ..Self::default()
        }
    }
}
