//! What a moved box or point ran into.
//!
//! Shared by who computes it (the map's geometry, the entities in it) and who asks (movement, weapons).
//! Source: the base game's interface to the engine.

use super::{EntityNum, Vec3};

/// Answer to one question "how far does this get".
///
/// A trace that is all solid has fraction 0 and no plane; one that hit nothing has fraction 1, no plane
/// and no entity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trace {
    /// Part of the way that is free, 0 to 1. Exactly 1 when nothing was hit.
    pub fraction: f32,
    /// Position reached.
    pub endpos: Vec3,
    /// Surface hit, in the world's coordinates; all zero when there is none.
    pub plane: TracePlane,
    /// The whole way lay inside something.
    pub allsolid: bool,
    /// The start lay inside something.
    pub startsolid: bool,
    /// Content bits of what was hit or is stuck in.
    pub contents: i32,
    /// Surface bits of what was hit.
    pub surface_flags: i32,
    /// Entity hit: [`EntityNum::WORLD`] for the map, [`EntityNum::NONE`] for nothing.
    pub entity: EntityNum,
}

/// The surface that a trace hit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TracePlane {
    /// Direction that it faces, of length 1.
    pub normal: Vec3,
    /// Distance from the coordinates' origin along the normal.
    pub dist: f32,
}

impl Trace {
    /// Nothing in the way to `end`.
    #[must_use]
    pub const fn free(end: Vec3) -> Self {
        Self {
            fraction: 1.0,
            endpos: end,
            plane: TracePlane { normal: Vec3::ZERO, dist: 0.0 },
            allsolid: false,
            startsolid: false,
            contents: 0,
            surface_flags: 0,
            entity: EntityNum::NONE,
        }
    }
}
