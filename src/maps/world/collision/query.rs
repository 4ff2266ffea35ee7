//! Question of a trace: path, box and contents.

use crate::model::Vec3;

/// A box or point that a trace moves, its path, and the contents that stop it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceQuery {
    /// Start of the moving point.
    pub start: Vec3,
    /// Requested end of the moving point. Equal to `start`, it asks whether the box fits there.
    pub end: Vec3,
    /// Lower corner of the box, relative to the moving point.
    pub mins: Vec3,
    /// Upper corner of the box, relative to the moving point.
    pub maxs: Vec3,
    /// Contents that stop the trace.
    pub mask: i32,
}

impl TraceQuery {
    /// Creates the query of a point.
    #[must_use]
    pub const fn line(start: Vec3, end: Vec3, mask: i32) -> Self {
        Self { start, end, mins: Vec3::ZERO, maxs: Vec3::ZERO, mask }
    }

    /// Moves a box instead of a point.
    #[must_use]
    pub const fn with_box(self, mins: Vec3, maxs: Vec3) -> Self {
        Self { mins, maxs, ..self }
    }
}
