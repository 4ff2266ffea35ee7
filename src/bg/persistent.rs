//! Persistent values of a player state, kept over respawns.
//!
//! Source: the base game's interface between server and client game.

/// Indices of a player state's persistent values.
pub mod persistant {
    /// Score.
    pub const SCORE: usize = 0;
    /// Hits on others, counted up and down.
    pub const HITS: usize = 1;
    /// Place in the ranking, with [`super::TIED`].
    pub const RANK: usize = 2;
    /// A [`super::Team`].
    pub const TEAM: usize = 3;
    /// Times spawned.
    pub const SPAWN_COUNT: usize = 4;
    /// Bits of [`super::player_event`] that flip.
    pub const PLAYER_EVENTS: usize = 5;
    /// Who hit last.
    pub const ATTACKER: usize = 6;
    /// Health, shifted by 8, and armour of whom the player hit last.
    pub const ATTACKEE_ARMOR: usize = 7;
    /// Deaths.
    pub const DEATHS: usize = 8;
    /// Awards and captures, in the order of the scoreboard.
    pub const IMPRESSIVE: usize = 9;
    /// Two frags in a row.
    pub const EXCELLENT: usize = 10;
    /// Frags in defence.
    pub const DEFEND: usize = 11;
    /// Assists.
    pub const ASSIST: usize = 12;
    /// Frags with the gauntlet.
    pub const GAUNTLET: usize = 13;
    /// Flags captured.
    pub const CAPTURES: usize = 14;
}

/// Added to a rank that several players share.
pub const TIED: i32 = 0x4000;
