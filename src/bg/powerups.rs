//! Powerups, holdables and runes.
//!
//! Source: the base game's interface between server and client game.

/// Indices of a player state's powerups: each holds the level time of its end.
pub mod powerup {
    /// Hits harder.
    pub const QUAD: usize = 1;
    /// Takes less, and breathes everywhere.
    pub const BATTLESUIT: usize = 2;
    /// Runs and fires faster.
    pub const HASTE: usize = 3;
    /// Is hard to see.
    pub const INVISIBILITY: usize = 4;
    /// Heals by itself.
    pub const REGENERATION: usize = 5;
    /// Flies.
    pub const FLIGHT: usize = 6;
    /// Carries the red flag.
    pub const RED_FLAG: usize = 7;
    /// Carries the blue flag.
    pub const BLUE_FLAG: usize = 8;
    /// Carries the flag of nobody.
    pub const NEUTRAL_FLAG: usize = 9;
    /// The runes.
    pub const SCOUT: usize = 10;
    /// Regains half of a doubled maximum.
    pub const GUARD: usize = 11;
    /// Does twice the damage.
    pub const DOUBLER: usize = 12;
    /// Gets ammunition back and fires faster.
    pub const AMMO_REGEN: usize = 13;
    /// Stands in a shell that nothing enters.
    pub const INVULNERABILITY: usize = 14;
    /// The end of what is held until it is lost.
    pub const HELD: i32 = i32::MAX;
}

/// Tags of holdable items: what using one means.
pub mod holdable {
    /// Goes elsewhere.
    pub const TELEPORTER: i32 = 1;
    /// Heals.
    pub const MEDKIT: i32 = 2;
    /// Dies and takes many along.
    pub const KAMIKAZE: i32 = 3;
    /// Places a gate.
    pub const PORTAL: i32 = 4;
    /// Opens a shell.
    pub const INVULNERABILITY: i32 = 5;
}

/// Tags of runes: what carrying one means.
pub mod rune {
    /// Runs and fires faster.
    pub const SCOUT: i32 = 10;
    /// Regains half of a doubled maximum.
    pub const GUARD: i32 = 11;
    /// Does twice the damage.
    pub const DOUBLER: i32 = 12;
    /// Gets ammunition back and fires faster.
    pub const AMMO_REGEN: i32 = 13;
}
