//! Numbers that the rules share with the client's game: kinds of movement, flags, indices, weapons.
//!
//! Both games of the family agree on all of these; what differs stands in [`Profile`](super::Profile).
//! Source: the base game's interface between server and client game.

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

/// Bits of a player state's movement flags.
pub mod pm_flag {
    /// Crouched.
    pub const DUCKED: i32 = 1;
    /// Jump is still held.
    pub const JUMP_HELD: i32 = 2;
    /// The jump went backwards.
    pub const BACKWARDS_JUMP: i32 = 8;
    /// Runs backwards.
    pub const BACKWARDS_RUN: i32 = 16;
    /// The movement timer counts a landing.
    pub const TIME_LAND: i32 = 32;
    /// The movement timer counts knockback.
    pub const TIME_KNOCKBACK: i32 = 64;
    /// The movement timer counts a leap out of water.
    pub const TIME_WATERJUMP: i32 = 256;
    /// Just appeared: nothing fires until fire and use were both up.
    pub const RESPAWNED: i32 = 512;
    /// The use button is still held.
    pub const USE_ITEM_HELD: i32 = 1024;
    /// The hook pulls.
    pub const GRAPPLE_PULL: i32 = 2048;
    /// The state is another player's, watched.
    pub const FOLLOW: i32 = 4096;
    /// Sees only the scoreboard.
    pub const SCOREBOARD: i32 = 8192;
    /// The shell of invulnerability is open.
    pub const INVULEXPAND: i32 = 16384;
    /// Waits for a round of OpenArena's elimination games to begin: weapons rest.
    pub const ELIMINATION_WARMUP: i32 = 32768;
    /// Everything the movement timer may count.
    pub const ALL_TIMES: i32 = TIME_LAND | TIME_KNOCKBACK | TIME_WATERJUMP;
}

/// Bits of an entity's flags.
pub mod entity_flag {
    /// Dead.
    pub const DEAD: i32 = 0x1;
    /// Flips whenever the origin jumps, so that clients do not interpolate.
    pub const TELEPORT: i32 = 0x4;
    /// Event of a player, shown apart from its entity.
    pub const PLAYER_EVENT: i32 = 0x10;
    /// Not drawn.
    pub const NODRAW: i32 = 0x80;
    /// Fires.
    pub const FIRING: i32 = 0x100;
    /// Types or is in a menu.
    pub const TALK: i32 = 0x1000;
    /// Has not been heard of.
    pub const CONNECTION: i32 = 0x2000;
    /// Has voted.
    pub const VOTED: i32 = 0x4000;
    /// Has voted within the team.
    pub const TEAM_VOTED: i32 = 0x8_0000;
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
    /// The hook.
    pub const GRAPPLE: i32 = 10;
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
    /// Runs and fires faster.
    pub const HASTE: usize = 3;
    /// Flies.
    pub const FLIGHT: usize = 6;
    /// Stands in a shell that nothing enters.
    pub const INVULNERABILITY: usize = 14;
}

/// Tags of holdable items: what using one means.
pub mod holdable {
    /// Heals.
    pub const MEDKIT: i32 = 2;
}

/// Tags of runes: what carrying one means.
pub mod rune {
    /// Runs and fires faster.
    pub const SCOUT: i32 = 10;
    /// Gets ammunition back and fires faster.
    pub const AMMO_REGEN: i32 = 13;
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

/// Events that movement raises: what others see and hear of it.
pub mod event {
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
    /// Out of ammunition.
    pub const NOAMMO: i32 = 21;
    /// Puts the weapon away.
    pub const CHANGE_WEAPON: i32 = 22;
    /// Fires.
    pub const FIRE_WEAPON: i32 = 23;
    /// Uses what it holds; the item's tag is added.
    pub const USE_ITEM0: i32 = 24;
    /// Something was removed by a door.
    pub const ITEM_POP: i32 = 41;
    /// Somebody appears here.
    pub const PLAYER_TELEPORT_IN: i32 = 42;
    /// Somebody vanishes here.
    pub const PLAYER_TELEPORT_OUT: i32 = 43;
    /// A sound from this place; the parameter is its number.
    pub const GENERAL_SOUND: i32 = 45;
    /// A sound that is heard everywhere.
    pub const GLOBAL_SOUND: i32 = 46;
    /// Hurt; the parameter is the health left.
    pub const PAIN: i32 = 56;
    /// Dies, with the first of three sounds; the parameter is the killer.
    pub const DEATH1: i32 = 57;
    /// Somebody died; the parameter is the means.
    pub const OBITUARY: i32 = 60;
    /// A body goes to pieces; the parameter is the killer.
    pub const GIB_PLAYER: i32 = 64;
    /// Points that somebody gets or loses.
    pub const SCOREPLUM: i32 = 65;
    /// Taunts.
    pub const TAUNT: i32 = 76;
}

/// What somebody died of, as obituaries name it; both games agree on these.
pub mod means {
    /// Drowned.
    pub const WATER: i32 = 14;
    /// Melted.
    pub const SLIME: i32 = 15;
    /// Burnt.
    pub const LAVA: i32 = 16;
    /// Under a moving part of the map.
    pub const CRUSH: i32 = 17;
    /// Stood where another appeared.
    pub const TELEFRAG: i32 = 18;
    /// Fell.
    pub const FALLING: i32 = 19;
    /// By their own command.
    pub const SUICIDE: i32 = 20;
    /// In a place that hurts.
    pub const TRIGGER_HURT: i32 = 22;

    /// The name in the server's log, of those above.
    #[must_use]
    pub fn name(means: i32) -> &'static str {
        match means {
            WATER => "MOD_WATER",
            SLIME => "MOD_SLIME",
            LAVA => "MOD_LAVA",
            CRUSH => "MOD_CRUSH",
            TELEFRAG => "MOD_TELEFRAG",
            FALLING => "MOD_FALLING",
            SUICIDE => "MOD_SUICIDE",
            TRIGGER_HURT => "MOD_TRIGGER_HURT",
            _ => "MOD_UNKNOWN",
        }
    }
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
