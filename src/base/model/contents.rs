//! Contents and surface flags: bits of map files used by the rules and the map compiler.
//!
//! Source: the base game's map files and rules.

/// Contents of a volume.
pub mod content {
    /// Solid.
    pub const SOLID: i32 = 0x1;
    /// Lava.
    pub const LAVA: i32 = 0x8;
    /// Slime.
    pub const SLIME: i32 = 0x10;
    /// Water.
    pub const WATER: i32 = 0x20;
    /// Fog.
    pub const FOG: i32 = 0x40;
    /// Not a clip brush to bots.
    pub const NOBOTCLIP: i32 = 0x200;
    /// Area portal.
    pub const AREAPORTAL: i32 = 0x8000;
    /// Blocks players only.
    pub const PLAYERCLIP: i32 = 0x1_0000;
    /// Blocks monsters only.
    pub const MONSTERCLIP: i32 = 0x2_0000;
    /// Separates clusters of bots' navigation.
    pub const CLUSTERPORTAL: i32 = 0x10_0000;
    /// Avoided by bots.
    pub const DONOTENTER: i32 = 0x20_0000;
    /// Blocks bots only.
    pub const BOTCLIP: i32 = 0x40_0000;
    /// Brush whose middle is the origin of a brush entity; for compilers.
    pub const ORIGIN: i32 = 0x100_0000;
    /// Living player; never in maps.
    pub const BODY: i32 = 0x200_0000;
    /// Dead player; never in maps.
    pub const CORPSE: i32 = 0x400_0000;
    /// Neither splits space nor blocks sight; for compilers.
    pub const DETAIL: i32 = 0x800_0000;
    /// Splits space even if translucent; for compilers.
    pub const STRUCTURAL: i32 = 0x1000_0000;
    /// Does not block sight; for compilers.
    pub const TRANSLUCENT: i32 = 0x2000_0000;
    /// Trigger, which acts on the entities that touch it.
    pub const TRIGGER: i32 = 0x4000_0000;
    /// Volume in which dropped items are removed.
    pub const NODROP: i32 = i32::MIN;
}

/// Clip masks: contents that a trace tests.
pub mod mask {
    use super::content::{
        BODY, BOTCLIP, CORPSE, LAVA, PLAYERCLIP, SLIME, SOLID, WATER as PURE_WATER,
    };

    /// All contents.
    pub const ALL: i32 = -1;
    /// Blocks players.
    pub const PLAYER_SOLID: i32 = SOLID | PLAYERCLIP | BODY;
    /// Blocks dead players and spectators.
    pub const DEAD_SOLID: i32 = SOLID | PLAYERCLIP;
    /// Blocks bots.
    pub const BOT_SOLID: i32 = PLAYER_SOLID | BOTCLIP;
    /// Liquids that players swim in.
    pub const WATER: i32 = PURE_WATER | LAVA | SLIME;
    /// Blocks sight.
    pub const OPAQUE: i32 = SOLID | SLIME | LAVA;
    /// Blocks shots.
    pub const SHOT: i32 = SOLID | BODY | CORPSE;
}

/// Surface flags.
pub mod surface {
    /// No falling damage and no landing sound.
    pub const NODAMAGE: i32 = 0x1;
    /// Slippery.
    pub const SLICK: i32 = 0x2;
    /// Sky.
    pub const SKY: i32 = 0x4;
    /// Missiles disappear without an explosion.
    pub const NOIMPACT: i32 = 0x10;
    /// No decals.
    pub const NOMARKS: i32 = 0x20;
    /// Flesh.
    pub const FLESH: i32 = 0x40;
    /// Not drawn.
    pub const NODRAW: i32 = 0x80;
    /// Splits space first; for compilers.
    pub const HINT: i32 = 0x100;
    /// Does not split space; for compilers.
    pub const SKIP: i32 = 0x200;
    /// No light map.
    pub const NOLIGHTMAP: i32 = 0x400;
    /// Light at the vertices only; for compilers.
    pub const POINTLIGHT: i32 = 0x800;
    /// Metallic footstep sound.
    pub const METALSTEPS: i32 = 0x1000;
    /// No footstep sound.
    pub const NOSTEPS: i32 = 0x2000;
    /// Not solid; for compilers.
    pub const NONSOLID: i32 = 0x4000;
    /// Light passes through, colored; for compilers.
    pub const LIGHTFILTER: i32 = 0x8000;
    /// Shadow by the image's alpha; for compilers.
    pub const ALPHASHADOW: i32 = 0x1_0000;
    /// No dynamic lights.
    pub const NODLIGHT: i32 = 0x2_0000;
    /// Dust at landings.
    pub const DUST: i32 = 0x4_0000;
}
