//! World interface of pmove: traces and contents.

use crate::model::{Trace, Vec3};

/// Answers where a player's box gets to and what a point lies in.
///
/// Who implements it knows the player and leaves it out of its answers.
pub trait PmoveWorld {
    /// How far a box (`mins` to `maxs`, relative to the moving point) gets from `start` to `end` through
    /// whatever has one of the content bits of `mask`. With `end` equal to `start`: whether it fits there.
    fn trace(&mut self, start: Vec3, mins: Vec3, maxs: Vec3, end: Vec3, mask: i32) -> Trace;

    /// Content bits at a point.
    fn point_contents(&mut self, point: Vec3) -> i32;
}

/// A world with nothing in it.
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
