//! World interface of pmove: traces and contents.

use crate::model::{Trace, Vec3};
use crate::world::TraceQuery;

/// World of a moving player.
///
/// Implementations exclude the player itself from their results.
pub trait PmoveWorld {
    /// Traces a box or point.
    fn trace(&mut self, query: &TraceQuery) -> Trace;

    /// Returns the content bits at a point.
    fn point_contents(&mut self, point: Vec3) -> i32;

    /// Whether some of the content bits of `mask` are at a point. A world may know that without all contents.
    fn has_contents(&mut self, point: Vec3, mask: i32) -> bool {
        self.point_contents(point) & mask != 0
    }
}

/// An empty world.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenSpace;

impl PmoveWorld for OpenSpace {
    fn trace(&mut self, query: &TraceQuery) -> Trace {
        Trace::free(query.end)
    }

    fn point_contents(&mut self, _point: Vec3) -> i32 {
        0
    }
}
