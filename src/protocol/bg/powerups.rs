//! Powerups, holdables and runes.
//!
//! Source: the base game's interface between server and client game. Engine names: `PW_*`, `HI_*`.

wire_enum! {
    /// A powerup (`PW_*`). Its value in a player state is the level time of its end, in ms.
    pub enum Powerup {
        /// Quad damage.
        Quad = 1,
        /// Battle suit: less damage, no drowning.
        BattleSuit = 2,
        /// Haste: faster movement and fire.
        Haste = 3,
        /// Invisibility.
        Invisibility = 4,
        /// Regeneration of health.
        Regeneration = 5,
        /// Flight.
        Flight = 6,
        /// Red flag carried.
        RedFlag = 7,
        /// Blue flag carried.
        BlueFlag = 8,
        /// Neutral flag carried.
        NeutralFlag = 9,
        /// Scout rune.
        Scout = 10,
        /// Guard rune.
        Guard = 11,
        /// Doubler rune.
        Doubler = 12,
        /// Ammo regeneration rune.
        AmmoRegen = 13,
        /// Invulnerability sphere.
        Invulnerability = 14,
    }
}

index_by!(Powerup);

wire_enum! {
    /// A holdable (`HI_*`): the tag of its item.
    pub enum Holdable {
        /// Personal teleporter.
        Teleporter = 1,
        /// Medkit.
        Medkit = 2,
        /// Kamikaze.
        Kamikaze = 3,
        /// Portal.
        Portal = 4,
        /// Invulnerability sphere.
        Invulnerability = 5,
    }
}

wire_enum! {
    /// A rune: the tag of its item, and its powerup.
    pub enum Rune {
        /// Scout: faster movement and fire, no armor.
        Scout = 10,
        /// Guard: twice the maximum of health and armor.
        Guard = 11,
        /// Doubler: double damage.
        Doubler = 12,
        /// Ammo regeneration and faster fire.
        AmmoRegen = 13,
    }
}

index_by!(Rune);

/// End of a powerup that lasts until it is lost, such as a flag.
pub const UNTIL_LOST: i32 = i32::MAX;
