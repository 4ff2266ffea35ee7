//! Persistent values of a player state, kept over respawns.
//!
//! Source: the base game's interface between server and client game. Engine names: `PERS_*`.

wire_enum! {
    /// A persistent value of a player state (`PERS_*`).
    pub enum Persistent {
        /// Score.
        Score = 0,
        /// Hits on other players; hits on team mates count down.
        Hits = 1,
        /// Rank from 0, with [`TIED`].
        Rank = 2,
        /// The [`Team`](super::Team).
        Team = 3,
        /// Number of spawns.
        SpawnCount = 4,
        /// Toggled bits of [`player_event`](super::player_event).
        PlayerEvents = 5,
        /// Client number of the last attacker.
        Attacker = 6,
        /// Health of the last victim, shifted by 8 bits, and its armor.
        AttackeeArmor = 7,
        /// Deaths.
        Deaths = 8,
        /// Impressive awards: two railgun hits in a row.
        Impressive = 9,
        /// Excellent awards: two frags in quick succession.
        Excellent = 10,
        /// Defense awards.
        Defend = 11,
        /// Assist awards.
        Assist = 12,
        /// Gauntlet frags.
        Gauntlet = 13,
        /// Flag captures.
        Captures = 14,
    }
}

index_by!(Persistent);

/// Added to a rank that several players share.
pub const TIED: i32 = 0x4000;
