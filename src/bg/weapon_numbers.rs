//! Weapon numbers and weapon states.
//!
//! Source: the base game's interface between server and client game.

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
