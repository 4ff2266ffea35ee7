//! Flag bits: pmove flags, entity flags, player events and `dmflags`.
//!
//! Source: the base game's interface between server and client game.

/// Bits of `pm_flags` (`PMF_*`).
pub mod pm_flag {
    /// Ducked.
    pub const DUCKED: i32 = 1;
    /// Jump button still held.
    pub const JUMP_HELD: i32 = 2;
    /// Last jump was backward.
    pub const BACKWARDS_JUMP: i32 = 8;
    /// Running backward.
    pub const BACKWARDS_RUN: i32 = 16;
    /// `pm_time` counts a landing.
    pub const TIME_LAND: i32 = 32;
    /// `pm_time` counts knockback.
    pub const TIME_KNOCKBACK: i32 = 64;
    /// `pm_time` counts a water jump.
    pub const TIME_WATERJUMP: i32 = 256;
    /// Just spawned: no fire until attack and use buttons were both released.
    pub const RESPAWNED: i32 = 512;
    /// Use button still held.
    pub const USE_ITEM_HELD: i32 = 1024;
    /// Pulled by the grappling hook.
    pub const GRAPPLE_PULL: i32 = 2048;
    /// State of the followed player.
    pub const FOLLOW: i32 = 4096;
    /// Scoreboard shown.
    pub const SCOREBOARD: i32 = 8192;
    /// Invulnerability sphere open.
    pub const INVULEXPAND: i32 = 16384;
    /// Round of OpenArena's elimination games not started: weapons disabled.
    pub const ELIMINATION_WARMUP: i32 = 32768;
    /// All bits of `pm_time`.
    pub const ALL_TIMES: i32 = TIME_LAND | TIME_KNOCKBACK | TIME_WATERJUMP;
}

/// Bits of `eFlags` (`EF_*`).
pub mod entity_flag {
    /// Dead.
    pub const DEAD: i32 = 0x1;
    /// Carries a ticking proximity mine.
    pub const TICKING: i32 = 0x2;
    /// Toggled when the origin jumps, so that clients do not interpolate.
    pub const TELEPORT: i32 = 0x4;
    /// Excellent award shown.
    pub const AWARD_EXCELLENT: i32 = 0x8;
    /// Event of a player, shown apart from its entity.
    pub const PLAYER_EVENT: i32 = 0x10;
    /// Projectile or item that bounces.
    pub const BOUNCE: i32 = 0x10;
    /// Projectile that bounces with half its speed.
    pub const BOUNCE_HALF: i32 = 0x20;
    /// Gauntlet award shown.
    pub const AWARD_GAUNTLET: i32 = 0x40;
    /// Not drawn.
    pub const NODRAW: i32 = 0x80;
    /// Firing.
    pub const FIRING: i32 = 0x100;
    /// Carries a kamikaze.
    pub const KAMIKAZE: i32 = 0x200;
    /// Mover that stops when blocked.
    pub const MOVER_STOP: i32 = 0x400;
    /// Capture award shown.
    pub const AWARD_CAPTURE: i32 = 0x800;
    /// Chat balloon: typing or in a menu.
    pub const TALK: i32 = 0x1000;
    /// Connection icon: no usercmd received lately.
    pub const CONNECTION: i32 = 0x2000;
    /// Voted.
    pub const VOTED: i32 = 0x4000;
    /// Impressive award shown.
    pub const AWARD_IMPRESSIVE: i32 = 0x8000;
    /// Defense award shown.
    pub const AWARD_DEFEND: i32 = 0x1_0000;
    /// Assist award shown.
    pub const AWARD_ASSIST: i32 = 0x2_0000;
    /// Denied award shown.
    pub const AWARD_DENIED: i32 = 0x4_0000;
    /// Voted within the team.
    pub const TEAM_VOTED: i32 = 0x8_0000;
}

/// Bits of the persistent value [`PlayerEvents`](super::Persistent::PlayerEvents), toggled to signal an event.
pub mod player_event {
    /// Another player took the item first.
    pub const DENIED: i32 = 1;
    /// Killed by a gauntlet.
    pub const HUMILIATED: i32 = 2;
    /// "Holy shit" announcement.
    pub const HOLY_SHIT: i32 = 4;
}

/// Bits of the setting `dmflags`.
pub mod dm_flag {
    /// No falling damage.
    pub const NO_FALLING: i32 = 8;
    /// No footstep events.
    pub const NO_FOOTSTEPS: i32 = 32;
    /// No self-damage, in OpenArena.
    pub const NO_SELF_DAMAGE: i32 = 1024;
}
