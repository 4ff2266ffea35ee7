//! Numbers that the rules share with the client's game: kinds of movement, flags, indices, weapons.
//!
//! Both games of the family agree on all of these; what differs stands in [`Profile`](super::Profile).
//! Source: the base game's interface between server and client game.

mod colour;
pub mod event;
mod flags;
mod means;

pub use colour::Colour;
pub use flags::{dm_flag, entity_flag, player_event, pm_flag};
pub use means::Means;

/// How a player moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum PmType {
    /// Walks, swims, falls.
    Normal = 0,
    /// Flies through everything.
    Noclip = 1,
    /// Flies, stopped by walls.
    Spectator = 2,
    /// Lies.
    Dead = 3,
    /// Cannot move.
    Freeze = 4,
    /// Looks at the scoreboard.
    Intermission = 5,
    /// The same, in the single-player game.
    SinglePlayerIntermission = 6,
}

/// What an entity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum EntityType {
    /// A plain model, or nothing.
    General = 0,
    /// A player or a corpse.
    Player = 1,
    /// Something to pick up.
    Item = 2,
    /// A projectile.
    Missile = 3,
    /// A moving part of the map.
    Mover = 4,
    /// A laser.
    Beam = 5,
    /// A mirror or a window.
    Portal = 6,
    /// A repeating sound.
    Speaker = 7,
    /// A jump pad.
    PushTrigger = 8,
    /// A teleporter.
    TeleportTrigger = 9,
    /// Not drawn.
    Invisible = 10,
    /// A hook.
    Grapple = 11,
    /// Base of a team.
    Team = 12,
    /// An event at a place; the event's number is added.
    Events = 13,
}

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

/// Which side a player is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Team {
    /// Everyone for themselves.
    Free = 0,
    /// Red.
    Red = 1,
    /// Blue.
    Blue = 2,
    /// Watches.
    Spectator = 3,
}

/// Weapon numbers.
pub mod weapon {
    /// No weapon.
    pub const NONE: i32 = 0;
    /// The saw on the hand.
    pub const GAUNTLET: i32 = 1;
    /// The machine gun.
    pub const MACHINEGUN: i32 = 2;
    /// The shotgun.
    pub const SHOTGUN: i32 = 3;
    /// The grenade launcher.
    pub const GRENADE_LAUNCHER: i32 = 4;
    /// The rocket launcher.
    pub const ROCKET_LAUNCHER: i32 = 5;
    /// The lightning gun.
    pub const LIGHTNING: i32 = 6;
    /// The railgun.
    pub const RAILGUN: i32 = 7;
    /// The plasma gun.
    pub const PLASMAGUN: i32 = 8;
    /// The big one.
    pub const BFG: i32 = 9;
    /// The hook.
    pub const GRAPPLE: i32 = 10;
    /// The nailgun.
    pub const NAILGUN: i32 = 11;
    /// The launcher of mines.
    pub const PROX_LAUNCHER: i32 = 12;
    /// The chaingun.
    pub const CHAINGUN: i32 = 13;
    /// What an endless supply of ammunition is written as.
    pub const ENDLESS: i32 = -1;
}

/// Weapon states.
pub mod weapon_state {
    /// May fire.
    pub const READY: i32 = 0;
    /// On its way up.
    pub const RAISING: i32 = 1;
    /// On its way down.
    pub const DROPPING: i32 = 2;
    /// Fires.
    pub const FIRING: i32 = 3;
}

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

/// What happened to the teams.
pub mod team_sound {
    /// Red captured the blue flag.
    pub const RED_CAPTURED: i32 = 0;
    /// Blue captured the red flag.
    pub const BLUE_CAPTURED: i32 = 1;
    /// The blue flag is back.
    pub const BLUE_RETURNED: i32 = 2;
    /// The red flag is back.
    pub const RED_RETURNED: i32 = 3;
    /// Red took the blue flag.
    pub const RED_TOOK: i32 = 4;
    /// Blue took the red flag.
    pub const BLUE_TOOK: i32 = 5;
    /// Red scored.
    pub const RED_SCORED: i32 = 8;
    /// Blue scored.
    pub const BLUE_SCORED: i32 = 9;
    /// Red leads.
    pub const RED_LEADS: i32 = 10;
    /// Blue leads.
    pub const BLUE_LEADS: i32 = 11;
    /// The teams are even.
    pub const TIED: i32 = 12;
    /// A kamikaze.
    pub const KAMIKAZE: i32 = 13;
}

/// Animations, without the toggle bit.
pub mod animation {
    /// Flips whenever an animation starts, so that the same one can start again.
    pub const TOGGLE: i32 = 128;
    /// Legs and torso: the first of three deaths; each is followed by the body it leaves.
    pub const BOTH_DEATH1: i32 = 0;
    /// Torso: taunt.
    pub const TORSO_GESTURE: i32 = 6;
    /// Torso: shot.
    pub const TORSO_ATTACK: i32 = 7;
    /// Torso: saw.
    pub const TORSO_ATTACK2: i32 = 8;
    /// Torso: weapon goes down.
    pub const TORSO_DROP: i32 = 9;
    /// Torso: weapon comes up.
    pub const TORSO_RAISE: i32 = 10;
    /// Torso: weapon ready.
    pub const TORSO_STAND: i32 = 11;
    /// Torso: saw ready.
    pub const TORSO_STAND2: i32 = 12;
    /// Legs: crouched, forwards.
    pub const LEGS_WALKCR: i32 = 13;
    /// Legs: walking.
    pub const LEGS_WALK: i32 = 14;
    /// Legs: running.
    pub const LEGS_RUN: i32 = 15;
    /// Legs: running backwards.
    pub const LEGS_BACK: i32 = 16;
    /// Legs: swimming.
    pub const LEGS_SWIM: i32 = 17;
    /// Legs: jump.
    pub const LEGS_JUMP: i32 = 18;
    /// Legs: landing.
    pub const LEGS_LAND: i32 = 19;
    /// Legs: jump backwards.
    pub const LEGS_JUMPB: i32 = 20;
    /// Legs: landing backwards.
    pub const LEGS_LANDB: i32 = 21;
    /// Legs: standing.
    pub const LEGS_IDLE: i32 = 22;
    /// Legs: crouched.
    pub const LEGS_IDLECR: i32 = 23;
    /// Torso: orders to the team, from "get the flag" on.
    pub const TORSO_GETFLAG: i32 = 25;
    /// Torso: guard the base.
    pub const TORSO_GUARDBASE: i32 = 26;
    /// Torso: patrol.
    pub const TORSO_PATROL: i32 = 27;
    /// Torso: follow me.
    pub const TORSO_FOLLOWME: i32 = 28;
    /// Torso: yes.
    pub const TORSO_AFFIRMATIVE: i32 = 29;
    /// Torso: no.
    pub const TORSO_NEGATIVE: i32 = 30;
    /// Legs: crouched, backwards.
    pub const LEGS_BACKCR: i32 = 32;
    /// Legs: walking backwards.
    pub const LEGS_BACKWALK: i32 = 33;
}

/// Contents bits of an entity.
pub use crate::model::contents::content as contents;

/// Box of a player, relative to the origin.
pub mod player_box {
    use crate::model::Vec3;

    /// Lower corner.
    pub const MINS: Vec3 = Vec3::new(-15.0, -15.0, -24.0);
    /// Upper corner, standing.
    pub const MAXS: Vec3 = Vec3::new(15.0, 15.0, 32.0);
    /// Upper corner, crouched.
    pub const CROUCHED_MAXS: Vec3 = Vec3::new(15.0, 15.0, 16.0);
    /// Upper corner, dead.
    pub const DEAD_MAXS: Vec3 = Vec3::new(15.0, 15.0, -8.0);
    /// Height of the eyes above the origin, standing.
    pub const VIEW_HEIGHT: i32 = 26;
    /// Height of the eyes above the origin, crouched.
    pub const CROUCHED_VIEW_HEIGHT: i32 = 12;
    /// Height of the eyes above the origin, dead.
    pub const DEAD_VIEW_HEIGHT: i32 = -16;
}
