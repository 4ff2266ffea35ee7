//! Persistent values of a player state, kept over respawns.
//!
//! Source: the base game's interface between server and client game. Engine names: `PERS_*`.

wire_enum! {
    /// A persistent value of a player state.
    pub enum Persistent {
        /// Score.
        Score = 0,
        /// Hits on others, counted up and down.
        Hits = 1,
        /// Place in the ranking, with [`super::TIED`].
        Rank = 2,
        /// A [`super::Team`].
        Team = 3,
        /// Times spawned.
        SpawnCount = 4,
        /// Bits of [`super::player_event`] that flip.
        PlayerEvents = 5,
        /// Who hit last.
        Attacker = 6,
        /// Health, shifted by 8, and armour of whom the player hit last.
        AttackeeArmor = 7,
        /// Deaths.
        Deaths = 8,
        /// Awards and captures, in the order of the scoreboard.
        Impressive = 9,
        /// Two frags in a row.
        Excellent = 10,
        /// Frags in defence.
        Defend = 11,
        /// Assists.
        Assist = 12,
        /// Frags with the gauntlet.
        Gauntlet = 13,
        /// Flags captured.
        Captures = 14,
    }
}

index_by!(Persistent);

/// Added to a rank that several players share.
pub const TIED: i32 = 0x4000;
