//! Events: what others see and hear of an entity. The numbers are the same in every game.
//!
//! Source: the base game's event list; the events of mines and kamikaze are OpenArena's and the team arena's.

/// Nothing; a step on a silent surface.
pub const NONE: i32 = 0;
/// A step.
pub const FOOTSTEP: i32 = 1;
/// A step on metal.
pub const FOOTSTEP_METAL: i32 = 2;
/// A step in shallow water.
pub const FOOTSPLASH: i32 = 3;
/// A stroke.
pub const SWIM: i32 = 5;
/// Up a stair of less than 7 units; the three that follow are for less than 11, less than 15, more.
pub const STEP_4: i32 = 6;
/// Up a stair of less than 11.
pub const STEP_8: i32 = 7;
/// Up a stair of less than 15.
pub const STEP_12: i32 = 8;
/// Up a higher stair.
pub const STEP_16: i32 = 9;
/// Fell a bit.
pub const FALL_SHORT: i32 = 10;
/// Fell and hurts.
pub const FALL_MEDIUM: i32 = 11;
/// Fell and hurts more.
pub const FALL_FAR: i32 = 12;
/// Thrown by a jump pad; parameter 0 when rather flat, 1 when steep.
pub const JUMP_PAD: i32 = 13;
/// Jumps.
pub const JUMP: i32 = 14;
/// Feet get wet.
pub const WATER_TOUCH: i32 = 15;
/// Feet leave the water.
pub const WATER_LEAVE: i32 = 16;
/// Head goes under.
pub const WATER_UNDER: i32 = 17;
/// Head comes up.
pub const WATER_CLEAR: i32 = 18;
/// Took something; the parameter is its item number.
pub const ITEM_PICKUP: i32 = 19;
/// Somebody took something that everybody hears of; the parameter is its item number.
pub const GLOBAL_ITEM_PICKUP: i32 = 20;
/// Out of ammunition.
pub const NOAMMO: i32 = 21;
/// Puts the weapon away.
pub const CHANGE_WEAPON: i32 = 22;
/// Fires.
pub const FIRE_WEAPON: i32 = 23;
/// Uses what it holds; the item's tag is added.
pub const USE_ITEM0: i32 = 24;
/// Something to take is back.
pub const ITEM_RESPAWN: i32 = 40;
/// Something was removed by a door.
pub const ITEM_POP: i32 = 41;
/// Somebody appears here.
pub const PLAYER_TELEPORT_IN: i32 = 42;
/// Somebody vanishes here.
pub const PLAYER_TELEPORT_OUT: i32 = 43;
/// A missile bounces.
pub const GRENADE_BOUNCE: i32 = 44;
/// A sound from this place; the parameter is its number.
pub const GENERAL_SOUND: i32 = 45;
/// A sound that is heard everywhere.
pub const GLOBAL_SOUND: i32 = 46;
/// What happened to the teams; the parameter is one of [`super::team_sound`].
pub const GLOBAL_TEAM_SOUND: i32 = 47;
/// A bullet hits somebody; the parameter is who.
pub const BULLET_HIT_FLESH: i32 = 48;
/// A bullet hits a wall; the parameter is its direction byte.
pub const BULLET_HIT_WALL: i32 = 49;
/// A missile or a bolt hits somebody; the parameter is a direction byte.
pub const MISSILE_HIT: i32 = 50;
/// The same for a wall.
pub const MISSILE_MISS: i32 = 51;
/// The same for metal.
pub const MISSILE_MISS_METAL: i32 = 52;
/// A rail shot ends here, which began at `origin2`; the parameter is a direction byte, or 255 where nothing was hit.
pub const RAILTRAIL: i32 = 53;
/// A shotgun fires from here; the parameter is the seed of its pattern.
pub const SHOTGUN: i32 = 54;
/// Hurt; the parameter is the health left.
pub const PAIN: i32 = 56;
/// Dies, with the first of three sounds; the parameter is the killer.
pub const DEATH1: i32 = 57;
/// Somebody died; the parameter is the means.
pub const OBITUARY: i32 = 60;
/// Hits with fourfold strength.
pub const POWERUP_QUAD: i32 = 61;
/// The battle suit took something.
pub const POWERUP_BATTLESUIT: i32 = 62;
/// Regenerates.
pub const POWERUP_REGEN: i32 = 63;
/// A body goes to pieces; the parameter is the killer.
pub const GIB_PLAYER: i32 = 64;
/// Points that somebody gets or loses.
pub const SCOREPLUM: i32 = 65;
/// A mine sticks to something.
pub const PROXIMITY_MINE_STICK: i32 = 66;
/// A mine was triggered.
pub const PROXIMITY_MINE_TRIGGER: i32 = 67;
/// A kamikaze explodes here.
pub const KAMIKAZE: i32 = 68;
/// A shell of invulnerability turns a shot away.
pub const INVUL_IMPACT: i32 = 71;
/// A mine goes off on somebody in a shell of invulnerability.
pub const JUICED: i32 = 72;
/// A bolt that a shell turned away, from here to `origin2`.
pub const LIGHTNINGBOLT: i32 = 73;
/// The entity falls silent.
pub const STOPLOOPINGSOUND: i32 = 75;
/// Taunts.
pub const TAUNT: i32 = 76;
