//! Animation numbers of legs and torso.
//!
//! Source: the base game's interface between server and client game.

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
