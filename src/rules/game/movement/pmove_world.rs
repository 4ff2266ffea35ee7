//! World interface of pmove: traces and contents.

use crate::model::{Trace, Vec3};

/// World of a moving player.
///
/// Implementations exclude the player itself from their results.
pub trait PmoveWorld {
    /// Traces a box from `start` to `end`. `mins` and `maxs` are relative to the moving point; the content
    /// bits of `mask` stop the trace. With `end` equal to `start` it tests whether the box fits.
    fn trace(&mut self, start: Vec3, mins: Vec3, maxs: Vec3, end: Vec3, mask: i32) -> Trace;

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
    fn trace(&mut self, _start: Vec3, _mins: Vec3, _maxs: Vec3, end: Vec3, _mask: i32) -> Trace {
        Trace::free(end)
    }

    fn point_contents(&mut self, _point: Vec3) -> i32 {
        0
    }
}
