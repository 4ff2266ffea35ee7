//! Powerups, holdables and runes.
//!
//! Source: the base game's interface between server and client game. Engine names: `PW_*`, `HI_*`.

wire_enum! {
    /// A powerup; its value in a player state is the level time of its end, in ms.
    pub enum Powerup {
        /// Hits harder.
        Quad = 1,
        /// Takes less, and breathes everywhere.
        BattleSuit = 2,
        /// Runs and fires faster.
        Haste = 3,
        /// Is hard to see.
        Invisibility = 4,
        /// Heals by itself.
        Regeneration = 5,
        /// Flies.
        Flight = 6,
        /// Carries the red flag.
        RedFlag = 7,
        /// Carries the blue flag.
        BlueFlag = 8,
        /// Carries the flag of nobody.
        NeutralFlag = 9,
        /// The runes.
        Scout = 10,
        /// Regains half of a doubled maximum.
        Guard = 11,
        /// Does twice the damage.
        Doubler = 12,
        /// Gets ammunition back and fires faster.
        AmmoRegen = 13,
        /// Stands in a shell that nothing enters.
        Invulnerability = 14,
    }
}

index_by!(Powerup);

wire_enum! {
    /// A holdable: the tag of its item.
    pub enum Holdable {
        /// Goes elsewhere.
        Teleporter = 1,
        /// Heals.
        Medkit = 2,
        /// Dies and takes many along.
        Kamikaze = 3,
        /// Places a gate.
        Portal = 4,
        /// Opens a shell.
        Invulnerability = 5,
    }
}

wire_enum! {
    /// A rune: the tag of its item, and its powerup.
    pub enum Rune {
        /// Runs and fires faster.
        Scout = 10,
        /// Regains half of a doubled maximum.
        Guard = 11,
        /// Does twice the damage.
        Doubler = 12,
        /// Gets ammunition back and fires faster.
        AmmoRegen = 13,
    }
}

index_by!(Rune);

/// End of a powerup that lasts until it is lost, such as a flag.
pub const UNTIL_LOST: i32 = i32::MAX;
