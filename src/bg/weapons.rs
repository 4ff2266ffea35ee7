//! What every weapon does, as one table by weapon number: movement takes the intervals, the rules all else.
//!
//! Invariants: a weapon's place in the table is its number in events, statistics and commands; numbers
//! above a game's own last weapon are never owned there. Source: the base game's weapons; OpenArena's,
//! which continue them.

use super::{MeansOfDeath, Weapon};

/// Milliseconds between shots of a number that is no weapon's.
const OTHER_INTERVAL_MS: i32 = 400;
/// How far bullets fly.
pub const BULLET_RANGE: f32 = 131_072.0;

/// One weapon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeaponSpec {
    /// Milliseconds from shot to shot.
    pub interval_ms: i32,
    /// Points that each hit takes, before anything that raises or lowers them.
    pub damage: i32,
    /// The same in team deathmatch.
    pub team_damage: i32,
    /// The same where everything kills at once.
    pub instagib_damage: i32,
    /// What it hits with.
    pub attack: Attack,
    /// What a direct hit is called.
    pub means: MeansOfDeath,
}

/// How a weapon hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Attack {
    /// Not at all.
    Nothing,
    /// What it touches.
    Melee {
        /// How far it reaches.
        range: f32,
    },
    /// One bullet, which strays.
    Bullet {
        /// Sixteenths of how far it may stray at the end of its way.
        spread: f32,
    },
    /// Many pellets at once, in a pattern that clients draw from its seed.
    Pellets {
        /// Pellets.
        count: usize,
        /// As for bullets.
        spread: f32,
    },
    /// A bolt that is there as long as the trigger is held.
    Lightning {
        /// How far it reaches.
        range: f32,
    },
    /// A beam that goes through bodies.
    Rail {
        /// How far it reaches.
        range: f32,
        /// Bodies that it goes through.
        bodies: usize,
    },
    /// Something that flies.
    Missile(Missile),
    /// The hook, which flies too.
    Grapple(Missile),
}

/// What flies, and what it does where it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Missile {
    /// Units per second.
    pub speed: f32,
    /// By how much more, at most, chance makes it faster.
    pub random_speed: f32,
    /// How many fly at once.
    pub count: usize,
    /// As for bullets.
    pub spread: f32,
    /// Added to the upward part of the direction.
    pub up_bias: f32,
    /// Falls with gravity.
    pub falls: bool,
    /// What it does at something that cannot be hurt.
    pub on_impact: ImpactBehavior,
    /// Milliseconds until it ends by itself.
    pub life_ms: i32,
    /// How far ahead it starts, in milliseconds of flight.
    pub prestep_ms: i32,
    /// Points that its blast takes in the middle; none without a blast.
    pub splash_damage: i32,
    /// How far its blast reaches.
    pub splash_radius: f32,
    /// What its blast is called.
    pub splash_means: MeansOfDeath,
}

/// What a missile does at something that cannot be hurt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImpactBehavior {
    /// Ends.
    Explodes,
    /// Bounces and loses speed.
    Bounces,
    /// Stays there as a mine.
    Sticks,
    /// Stays there and pulls.
    Hooks,
}

/// Milliseconds of flight that most missiles get at the start.
const AHEAD_MS: i32 = 50;

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

/// Flies straight and explodes.
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
        prestep_ms: AHEAD_MS,
        splash_damage: damage,
        splash_radius: radius,
        splash_means: means,
    }
}

/// Is thrown and falls.
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

/// Weapons by number; number 0 is none.
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

/// The weapon of a number; number 0 and numbers that are no weapon's do nothing.
#[must_use]
pub fn weapon(number: i32) -> &'static WeaponSpec {
    usize::try_from(number).ok().and_then(|number| WEAPONS.get(number)).unwrap_or(&NOTHING)
}

impl Weapon {
    /// The weapon's bit in the statistic of owned weapons.
    #[must_use]
    pub const fn bit(self) -> i32 {
        1 << self as i32
    }

    /// What the weapon does.
    #[must_use]
    pub const fn spec(self) -> &'static WeaponSpec {
        &WEAPONS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Column of the reference's table of weapons that this table is compared with.
    const INTERVALS_MS: [i32; 13] =
        [400, 100, 1000, 800, 800, 50, 1500, 100, 200, 400, 1000, 800, 30];

    #[test]
    fn weapons_fire_as_often_as_clients_predict() {
        let ours: Vec<i32> = (1..=13).map(|number| weapon(number).interval_ms).collect();
        assert_eq!(ours, INTERVALS_MS);
        assert_eq!((weapon(0).interval_ms, weapon(-1).interval_ms), (400, 400));
        assert_eq!(weapon(i32::MAX), &NOTHING);
    }

    #[test]
    fn damage_splash_and_flight_are_the_documented_ones() {
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
                panic!("weapon {number} throws nothing")
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
