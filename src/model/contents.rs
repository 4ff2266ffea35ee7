//! What space is filled with and what its surfaces are like: bits that map compilers write and the
//! rules read.
//!
//! Source: the base game's map files and rules.

/// Bits of what a volume holds.
pub mod content {
    /// Cannot be entered.
    pub const SOLID: i32 = 0x1;
    /// Burns.
    pub const LAVA: i32 = 0x8;
    /// Burns less.
    pub const SLIME: i32 = 0x10;
    /// Can be swum in.
    pub const WATER: i32 = 0x20;
    /// Dims the view.
    pub const FOG: i32 = 0x40;
    /// Joins two areas.
    pub const AREAPORTAL: i32 = 0x8000;
    /// Stops players only.
    pub const PLAYERCLIP: i32 = 0x1_0000;
    /// Stops monsters only.
    pub const MONSTERCLIP: i32 = 0x2_0000;
    /// Bots stay out.
    pub const DONOTENTER: i32 = 0x20_0000;
    /// Stops bots only.
    pub const BOTCLIP: i32 = 0x40_0000;
    /// A living player; never in maps.
    pub const BODY: i32 = 0x200_0000;
    /// A dead one; never in maps.
    pub const CORPSE: i32 = 0x400_0000;
    /// Does something to who touches it.
    pub const TRIGGER: i32 = 0x4000_0000;
    /// Nothing is left lying here.
    pub const NODROP: i32 = i32::MIN;
}

/// Content bits that questions ask for.
pub mod mask {
    use super::content::{
        BODY, BOTCLIP, CORPSE, LAVA, PLAYERCLIP, SLIME, SOLID, WATER as PURE_WATER,
    };

    /// Everything.
    pub const ALL: i32 = -1;
    /// What stops players.
    pub const PLAYER_SOLID: i32 = SOLID | PLAYERCLIP | BODY;
    /// What stops the dead, and spectators.
    pub const DEAD_SOLID: i32 = SOLID | PLAYERCLIP;
    /// What stops bots.
    pub const BOT_SOLID: i32 = PLAYER_SOLID | BOTCLIP;
    /// What can be swum in, at whatever price.
    pub const WATER: i32 = PURE_WATER | LAVA | SLIME;
    /// What blocks sight.
    pub const OPAQUE: i32 = SOLID | SLIME | LAVA;
    /// What stops shots.
    pub const SHOT: i32 = SOLID | BODY | CORPSE;
}

/// Bits of what a surface is like.
pub mod surface {
    /// Falling on it does not hurt and makes no sound.
    pub const NODAMAGE: i32 = 0x1;
    /// Slippery.
    pub const SLICK: i32 = 0x2;
    /// Sky.
    pub const SKY: i32 = 0x4;
    /// Missiles vanish without exploding.
    pub const NOIMPACT: i32 = 0x10;
    /// Rings under feet.
    pub const METALSTEPS: i32 = 0x1000;
    /// Makes no sound under feet.
    pub const NOSTEPS: i32 = 0x2000;
}
