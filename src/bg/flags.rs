//! Bits of movement flags, entity flags and player events.
//!
//! Source: the base game's interface between server and client game.

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
    /// A mine that ticks sits on this player, in games with mines.
    pub const TICKING: i32 = 0x2;
    /// Flips whenever the origin jumps, so that clients do not interpolate.
    pub const TELEPORT: i32 = 0x4;
    /// Was just awarded: two frags in a row.
    pub const AWARD_EXCELLENT: i32 = 0x8;
    /// Event of a player, shown apart from its entity.
    pub const PLAYER_EVENT: i32 = 0x10;
    /// A missile or an item that bounces.
    pub const BOUNCE: i32 = 0x10;
    /// One that bounces less.
    pub const BOUNCE_HALF: i32 = 0x20;
    /// Was just awarded: a frag with the gauntlet.
    pub const AWARD_GAUNTLET: i32 = 0x40;
    /// Not drawn.
    pub const NODRAW: i32 = 0x80;
    /// Fires.
    pub const FIRING: i32 = 0x100;
    /// Carries a kamikaze.
    pub const KAMIKAZE: i32 = 0x200;
    /// A mover that does not push.
    pub const MOVER_STOP: i32 = 0x400;
    /// Was just awarded: a capture.
    pub const AWARD_CAPTURE: i32 = 0x800;
    /// Types or is in a menu.
    pub const TALK: i32 = 0x1000;
    /// Has not been heard of.
    pub const CONNECTION: i32 = 0x2000;
    /// Has voted.
    pub const VOTED: i32 = 0x4000;
    /// Was just awarded: two hits with the railgun in a row.
    pub const AWARD_IMPRESSIVE: i32 = 0x8000;
    /// Was just awarded: defended.
    pub const AWARD_DEFEND: i32 = 0x1_0000;
    /// Was just awarded: assisted.
    pub const AWARD_ASSIST: i32 = 0x2_0000;
    /// Was just denied something.
    pub const AWARD_DENIED: i32 = 0x4_0000;
    /// Has voted within the team.
    pub const TEAM_VOTED: i32 = 0x8_0000;
}

/// Bits of the persistent value that flips to signal something to a player.
pub mod player_event {
    /// Somebody else took what the player was about to take.
    pub const DENIED: i32 = 1;
    /// Killed by a gauntlet.
    pub const HUMILIATED: i32 = 2;
    /// Something that is hard to believe.
    pub const HOLY_SHIT: i32 = 4;
}

/// Bits of the setting `dmflags`.
pub mod dm_flag {
    /// Falls do not hurt.
    pub const NO_FALLING: i32 = 8;
    /// Steps are silent.
    pub const NO_FOOTSTEPS: i32 = 32;
    /// Nobody hurts themselves, in OpenArena.
    pub const NO_SELF_DAMAGE: i32 = 1024;
}
