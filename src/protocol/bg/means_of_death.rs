//! Means of death: numbers of obituaries and names of the game log.
//!
//! Source: the base game's and OpenArena's means of death.

wire_enum! {
    /// A means of death (`MOD_*`).
    #[derive(Default)]
    pub enum MeansOfDeath {
        /// Unknown.
        #[default]
        Unknown = 0,
        /// Shotgun.
        Shotgun = 1,
        /// Gauntlet.
        Gauntlet = 2,
        /// Machine gun.
        Machinegun = 3,
        /// Direct grenade hit.
        Grenade = 4,
        /// Grenade splash damage.
        GrenadeSplash = 5,
        /// Direct rocket hit.
        Rocket = 6,
        /// Rocket splash damage.
        RocketSplash = 7,
        /// Direct plasma hit.
        Plasma = 8,
        /// Plasma splash damage.
        PlasmaSplash = 9,
        /// Railgun.
        Railgun = 10,
        /// Lightning gun.
        Lightning = 11,
        /// Direct BFG hit.
        Bfg = 12,
        /// BFG splash damage.
        BfgSplash = 13,
        /// Drowned.
        Water = 14,
        /// Slime.
        Slime = 15,
        /// Lava.
        Lava = 16,
        /// Crushed by a mover.
        Crush = 17,
        /// Telefrag.
        Telefrag = 18,
        /// Fall.
        Falling = 19,
        /// Suicide by command.
        Suicide = 20,
        /// Laser of the map.
        TargetLaser = 21,
        /// Hurt trigger.
        TriggerHurt = 22,
        /// Nailgun.
        Nail = 23,
        /// Chaingun.
        Chaingun = 24,
        /// Proximity mine.
        ProximityMine = 25,
        /// Kamikaze.
        Kamikaze = 26,
        /// Proximity mine on an invulnerable player.
        Juiced = 27,
        /// Grappling hook.
        Grapple = 28,
    }
}

impl MeansOfDeath {
    /// The number in obituaries. Games end their list with the grapple, at the number `grapple`; the means
    /// of OpenArena's additional weapons come before it.
    #[must_use]
    pub const fn number(self, grapple: i32) -> i32 {
        if matches!(self, Self::Grapple) { grapple } else { self as i32 }
    }

    /// Name in the game log.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "MOD_UNKNOWN",
            Self::Shotgun => "MOD_SHOTGUN",
            Self::Gauntlet => "MOD_GAUNTLET",
            Self::Machinegun => "MOD_MACHINEGUN",
            Self::Grenade => "MOD_GRENADE",
            Self::GrenadeSplash => "MOD_GRENADE_SPLASH",
            Self::Rocket => "MOD_ROCKET",
            Self::RocketSplash => "MOD_ROCKET_SPLASH",
            Self::Plasma => "MOD_PLASMA",
            Self::PlasmaSplash => "MOD_PLASMA_SPLASH",
            Self::Railgun => "MOD_RAILGUN",
            Self::Lightning => "MOD_LIGHTNING",
            Self::Bfg => "MOD_BFG",
            Self::BfgSplash => "MOD_BFG_SPLASH",
            Self::Water => "MOD_WATER",
            Self::Slime => "MOD_SLIME",
            Self::Lava => "MOD_LAVA",
            Self::Crush => "MOD_CRUSH",
            Self::Telefrag => "MOD_TELEFRAG",
            Self::Falling => "MOD_FALLING",
            Self::Suicide => "MOD_SUICIDE",
            Self::TargetLaser => "MOD_TARGET_LASER",
            Self::TriggerHurt => "MOD_TRIGGER_HURT",
            Self::Nail => "MOD_NAIL",
            Self::Chaingun => "MOD_CHAINGUN",
            Self::ProximityMine => "MOD_PROXIMITY_MINE",
            Self::Kamikaze => "MOD_KAMIKAZE",
            Self::Juiced => "MOD_JUICED",
            Self::Grapple => "MOD_GRAPPLE",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grapple_number_depends_on_game() {
        assert_eq!(MeansOfDeath::Grapple.number(23), 23);
        assert_eq!(MeansOfDeath::Nail.number(28), 23);
    }
}
