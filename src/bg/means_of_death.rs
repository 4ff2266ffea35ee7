//! What somebody died of, and how obituaries and the log call it.
//!
//! Source: the base game's and OpenArena's means of death.

wire_enum! {
    /// What somebody died of.
    #[derive(Default)]
    pub enum MeansOfDeath {
        /// Nobody knows.
        #[default]
        Unknown = 0,
        /// Shotgun.
        Shotgun = 1,
        /// Gauntlet.
        Gauntlet = 2,
        /// Machine gun.
        Machinegun = 3,
        /// Hit by a grenade.
        Grenade = 4,
        /// A grenade went off nearby.
        GrenadeSplash = 5,
        /// Hit by a rocket.
        Rocket = 6,
        /// A rocket went off nearby.
        RocketSplash = 7,
        /// Hit by plasma.
        Plasma = 8,
        /// Plasma went off nearby.
        PlasmaSplash = 9,
        /// Railgun.
        Railgun = 10,
        /// Lightning gun.
        Lightning = 11,
        /// Hit by the big one.
        Bfg = 12,
        /// The big one went off nearby.
        BfgSplash = 13,
        /// Drowned.
        Water = 14,
        /// Melted.
        Slime = 15,
        /// Burnt.
        Lava = 16,
        /// Under a moving part of the map.
        Crush = 17,
        /// Stood where another appeared.
        Telefrag = 18,
        /// Fell.
        Falling = 19,
        /// By their own command.
        Suicide = 20,
        /// In a laser of the map.
        TargetLaser = 21,
        /// In a place that hurts.
        TriggerHurt = 22,
        /// Nailgun.
        Nail = 23,
        /// Chaingun.
        Chaingun = 24,
        /// A mine.
        ProximityMine = 25,
        /// A kamikaze.
        Kamikaze = 26,
        /// A mine on somebody invulnerable.
        Juiced = 27,
        /// A hook.
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

    /// The name in the server's log.
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
