//! Weapon table: fire interval, damage and attack of each weapon.
//!
//! Invariants: a row's index is the weapon number of events, stats and usercmds. Players of a game never
//! own weapons above its last weapon. Source: the base game's weapons; OpenArena's, which continue them.

use super::{MeansOfDeath, Weapon};

/// Fire interval of an unknown weapon number, in ms.
const OTHER_INTERVAL_MS: i32 = 400;
/// Range of bullets, in units.
pub const BULLET_RANGE: f32 = 131_072.0;

/// The properties of a weapon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeaponSpec {
    /// Fire interval in ms.
    pub interval_ms: i32,
    /// Damage of each hit, before modifiers.
    pub damage: i32,
    /// Damage in team deathmatch.
    pub team_damage: i32,
    /// Damage in instagib.
    pub instagib_damage: i32,
    /// Attack.
    pub attack: Attack,
    /// Means of death of a direct hit.
    pub means: MeansOfDeath,
}

/// The attack of a weapon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Attack {
    /// None.
    Nothing,
    /// Hits what it touches.
    Melee {
        /// Range in units.
        range: f32,
    },
    /// One bullet with spread.
    Bullet {
        /// Maximum deviation at the end of the range, in sixteenths of a unit.
        spread: f32,
    },
    /// Pellets in a pattern that clients compute from its seed.
    Pellets {
        /// Number of pellets.
        count: usize,
        /// Spread, as for bullets.
        spread: f32,
    },
    /// Continuous bolt while the attack button is held.
    Lightning {
        /// Range in units.
        range: f32,
    },
    /// Beam that passes through players.
    Rail {
        /// Range in units.
        range: f32,
        /// Maximum number of players hit.
        bodies: usize,
    },
    /// Projectiles.
    Missile(Missile),
    /// Grappling hook.
    Grapple(Missile),
}

/// The flight and impact of a projectile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Missile {
    /// Speed in units per second.
    pub speed: f32,
    /// Maximum random addition to the speed, in units per second.
    pub random_speed: f32,
    /// Projectiles per shot.
    pub count: usize,
    /// Spread, as for bullets.
    pub spread: f32,
    /// Added to the vertical component of the direction.
    pub up_bias: f32,
    /// Whether it falls with gravity.
    pub falls: bool,
    /// Behavior on impact with an entity that takes no damage.
    pub on_impact: ImpactBehavior,
    /// Lifetime in ms.
    pub life_ms: i32,
    /// Prestep: flight granted at launch, in ms.
    pub prestep_ms: i32,
    /// Splash damage at the center; 0 for none.
    pub splash_damage: i32,
    /// Splash radius in units.
    pub splash_radius: f32,
    /// Means of death of splash damage.
    pub splash_means: MeansOfDeath,
}

/// Behavior of a projectile on impact with an entity that takes no damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImpactBehavior {
    /// Explodes.
    Explodes,
    /// Bounces with less speed.
    Bounces,
    /// Attaches as a proximity mine.
    Sticks,
    /// Attaches as a hook and pulls.
    Hooks,
}

/// Prestep of most projectiles, in ms.
const PRESTEP_MS: i32 = 50;

const NOTHING: WeaponSpec = WeaponSpec {
    interval_ms: OTHER_INTERVAL_MS,
    damage: 0,
    team_damage: 0,
    instagib_damage: 0,
    attack: Attack::Nothing,
    means: MeansOfDeath::Unknown,
};

const fn gun(interval_ms: i32, damage: i32, means: MeansOfDeath, attack: Attack) -> WeaponSpec {
    WeaponSpec { interval_ms, damage, team_damage: damage, instagib_damage: damage, attack, means }
}

/// Returns a projectile that flies straight and explodes.
const fn rocket(
    speed: f32,
    life_ms: i32,
    damage: i32,
    radius: f32,
    means: MeansOfDeath,
) -> Missile {
    Missile {
        speed,
        random_speed: 0.0,
        count: 1,
        spread: 0.0,
        up_bias: 0.0,
        falls: false,
        on_impact: ImpactBehavior::Explodes,
        life_ms,
        prestep_ms: PRESTEP_MS,
        splash_damage: damage,
        splash_radius: radius,
        splash_means: means,
    }
}

/// Returns a projectile that falls with gravity.
const fn grenade(life_ms: i32, on_impact: ImpactBehavior, means: MeansOfDeath) -> Missile {
    Missile { up_bias: 0.2, falls: true, on_impact, ..rocket(700.0, life_ms, 100, 150.0, means) }
}

const NAILS: Missile = Missile {
    random_speed: 1800.0,
    count: 15,
    spread: 500.0,
    prestep_ms: 0,
    ..rocket(555.0, 10_000, 0, 0.0, MeansOfDeath::Unknown)
};

const HOOK: Missile = Missile {
    on_impact: ImpactBehavior::Hooks,
    ..rocket(800.0, 10_000, 0, 0.0, MeansOfDeath::Grapple)
};

/// Weapons by number; 0 means no weapon.
pub const WEAPONS: [WeaponSpec; 14] = [
    NOTHING,
    WeaponSpec {
        instagib_damage: 500,
        ..gun(400, 50, MeansOfDeath::Gauntlet, Attack::Melee { range: 32.0 })
    },
    WeaponSpec {
        team_damage: 5,
        ..gun(100, 7, MeansOfDeath::Machinegun, Attack::Bullet { spread: 200.0 })
    },
    gun(1000, 10, MeansOfDeath::Shotgun, Attack::Pellets { count: 11, spread: 700.0 }),
    gun(
        800,
        100,
        MeansOfDeath::Grenade,
        Attack::Missile(grenade(2500, ImpactBehavior::Bounces, MeansOfDeath::GrenadeSplash)),
    ),
    gun(
        800,
        100,
        MeansOfDeath::Rocket,
        Attack::Missile(rocket(900.0, 15_000, 100, 120.0, MeansOfDeath::RocketSplash)),
    ),
    gun(50, 8, MeansOfDeath::Lightning, Attack::Lightning { range: 768.0 }),
    WeaponSpec {
        instagib_damage: 800,
        ..gun(1500, 100, MeansOfDeath::Railgun, Attack::Rail { range: 8192.0, bodies: 4 })
    },
    gun(
        100,
        20,
        MeansOfDeath::Plasma,
        Attack::Missile(rocket(2000.0, 10_000, 15, 20.0, MeansOfDeath::PlasmaSplash)),
    ),
    gun(
        200,
        100,
        MeansOfDeath::Bfg,
        Attack::Missile(rocket(2000.0, 10_000, 100, 120.0, MeansOfDeath::BfgSplash)),
    ),
    gun(400, 0, MeansOfDeath::Grapple, Attack::Grapple(HOOK)),
    gun(1000, 20, MeansOfDeath::Nail, Attack::Missile(NAILS)),
    gun(
        800,
        0,
        MeansOfDeath::ProximityMine,
        Attack::Missile(grenade(3000, ImpactBehavior::Sticks, MeansOfDeath::ProximityMine)),
    ),
    gun(30, 7, MeansOfDeath::Chaingun, Attack::Bullet { spread: 600.0 }),
];

/// Returns the weapon of a number. Number 0 and unknown numbers have no attack.
#[must_use]
pub fn weapon(number: i32) -> &'static WeaponSpec {
    usize::try_from(number).ok().and_then(|number| WEAPONS.get(number)).unwrap_or(&NOTHING)
}

impl Weapon {
    /// Returns the weapon's bit in the stat of owned weapons.
    #[must_use]
    pub const fn bit(self) -> i32 {
        1 << self as i32
    }

    /// Returns the weapon's properties.
    #[must_use]
    pub const fn spec(self) -> &'static WeaponSpec {
        &WEAPONS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fire intervals of the reference, in ms.
    const INTERVALS_MS: [i32; 13] =
        [400, 100, 1000, 800, 800, 50, 1500, 100, 200, 400, 1000, 800, 30];

    #[test]
    fn weapon_intervals_equal_client_prediction() {
        let ours: Vec<i32> = (1..=13).map(|number| weapon(number).interval_ms).collect();
        assert_eq!(ours, INTERVALS_MS);
        assert_eq!((weapon(0).interval_ms, weapon(-1).interval_ms), (400, 400));
        assert_eq!(weapon(i32::MAX), &NOTHING);
    }

    #[test]
    fn weapon_damage_and_flight_equal_documentation() {
        // Number, damage, splash, radius, speed, lifetime.
        for (number, damage, splash, radius, speed, life_ms) in [
            (4, 100, 100, 150.0, 700.0, 2500),
            (5, 100, 100, 120.0, 900.0, 15_000),
            (8, 20, 15, 20.0, 2000.0, 10_000),
            (9, 100, 100, 120.0, 2000.0, 10_000),
            (11, 20, 0, 0.0, 555.0, 10_000),
            (12, 0, 100, 150.0, 700.0, 3000),
        ] {
            let WeaponSpec { damage: direct, attack: Attack::Missile(missile), .. } =
                *weapon(number)
            else {
                panic!("weapon {number} has no projectile")
            };
            let ours = (missile.splash_damage, missile.splash_radius, missile.speed);
            assert_eq!((direct, ours), (damage, (splash, radius, speed)), "weapon {number}");
            assert_eq!(missile.life_ms, life_ms, "weapon {number}");
        }
        let damages = [1, 2, 3, 6, 7, 10, 13].map(|number| weapon(number).damage);
        assert_eq!(damages, [50, 7, 10, 8, 100, 0, 7]);
        assert_eq!((weapon(2).team_damage, weapon(7).team_damage), (5, 100));
    }
}
