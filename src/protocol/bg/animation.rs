//! Animations of legs and torso, without the toggle bit.
//!
//! Source: the base game's interface between server and client game. Engine names: `BOTH_*`, `LEGS_*`, `TORSO_*`.

/// Bit toggled at each animation start, so that the same animation can restart.
pub const TOGGLE: i32 = 128;
/// Legs and torso: first of three deaths. Each is followed by its corpse animation.
pub const BOTH_DEATH1: i32 = 0;
/// Torso: taunt.
pub const TORSO_GESTURE: i32 = 6;
/// Torso: attack.
pub const TORSO_ATTACK: i32 = 7;
/// Torso: gauntlet attack.
pub const TORSO_ATTACK2: i32 = 8;
/// Torso: weapon lowered.
pub const TORSO_DROP: i32 = 9;
/// Torso: weapon raised.
pub const TORSO_RAISE: i32 = 10;
/// Torso: weapon ready.
pub const TORSO_STAND: i32 = 11;
/// Torso: gauntlet ready.
pub const TORSO_STAND2: i32 = 12;
/// Legs: ducked, forward.
pub const LEGS_WALKCR: i32 = 13;
/// Legs: walk.
pub const LEGS_WALK: i32 = 14;
/// Legs: run.
pub const LEGS_RUN: i32 = 15;
/// Legs: run backward.
pub const LEGS_BACK: i32 = 16;
/// Legs: swim.
pub const LEGS_SWIM: i32 = 17;
/// Legs: jump.
pub const LEGS_JUMP: i32 = 18;
/// Legs: landing.
pub const LEGS_LAND: i32 = 19;
/// Legs: jump backward.
pub const LEGS_JUMPB: i32 = 20;
/// Legs: landing backward.
pub const LEGS_LANDB: i32 = 21;
/// Legs: stand.
pub const LEGS_IDLE: i32 = 22;
/// Legs: ducked.
pub const LEGS_IDLECR: i32 = 23;
/// Torso: team order "get the flag".
pub const TORSO_GETFLAG: i32 = 25;
/// Torso: team order "guard the base".
pub const TORSO_GUARDBASE: i32 = 26;
/// Torso: team order "patrol".
pub const TORSO_PATROL: i32 = 27;
/// Torso: team order "follow me".
pub const TORSO_FOLLOWME: i32 = 28;
/// Torso: "affirmative".
pub const TORSO_AFFIRMATIVE: i32 = 29;
/// Torso: "negative".
pub const TORSO_NEGATIVE: i32 = 30;
/// Legs: ducked, backward.
pub const LEGS_BACKCR: i32 = 32;
/// Legs: walk backward.
pub const LEGS_BACKWALK: i32 = 33;
