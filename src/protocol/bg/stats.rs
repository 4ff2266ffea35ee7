//! Stat layout: index of each stat of a player state.
//!
//! The layout differs between games. Source: the base game's and OpenArena's stats.

/// Index of each stat in a player state (`STAT_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatLayout {
    /// Health.
    pub health: usize,
    /// Item index of the holdable.
    pub holdable: usize,
    /// Item index of the rune, in games with runes.
    pub rune: Option<usize>,
    /// Owned weapons, one bit each.
    pub weapons: usize,
    /// Armor.
    pub armor: usize,
    /// Yaw of the view when dead, in degrees.
    pub dead_yaw: usize,
    /// Clients that are ready to leave the intermission, one bit each.
    pub clients_ready: usize,
    /// Maximum health.
    pub max_health: usize,
}

impl StatLayout {
    /// Layout of the base game.
    pub const BASEQ3: Self = Self {
        health: 0,
        holdable: 1,
        rune: None,
        weapons: 2,
        armor: 3,
        dead_yaw: 4,
        clients_ready: 5,
        max_health: 6,
    };
    /// Layout of OpenArena.
    pub const BASEOA: Self = Self {
        health: 0,
        holdable: 1,
        rune: Some(2),
        weapons: 3,
        armor: 4,
        dead_yaw: 5,
        clients_ready: 6,
        max_health: 7,
    };
}
