//! Padded bounds of brushes, patches and subtrees, for one fast rejection test each.
//!
//! A corner has four components, so that a processor compares them at once; the fourth has no
//! effect. Invariant: a box outside a union's bounds is outside the bounds of every part.

use super::arithmetic::Arithmetic;
use crate::model::Vec3;

/// A corner with a fourth component as padding.
pub(super) type Corner = [f32; 4];

/// Converts a point to a corner.
#[inline]
pub(super) fn corner(point: Vec3) -> Corner {
    [point[0], point[1], point[2], 0.0]
}

/// Removes the fourth component.
#[inline]
pub(super) fn point([x, y, z, _]: Corner) -> Vec3 {
    Vec3([x, y, z])
}

/// Creates a corner from a function of the component index.
#[inline]
pub(super) fn each(number: impl FnMut(usize) -> f32) -> Corner {
    std::array::from_fn(number)
}

/// Bounds outside of which a trace cannot hit.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(super) struct PaddedBounds {
    low: Corner,
    high: Corner,
}

impl PaddedBounds {
    /// Empty bounds, outside of every trace.
    pub(super) const NONE: Self = Self { low: [f32::INFINITY; 4], high: [f32::NEG_INFINITY; 4] };

    /// Pads bounds as the precision requires.
    pub(super) fn around<A: Arithmetic>(bounds: &[Vec3; 2]) -> Self {
        let [low, high] = *bounds;
        Self {
            low: corner(Vec3(low.0.map(A::reach_up))),
            high: corner(Vec3(high.0.map(A::reach_down))),
        }
    }

    /// Whether the bounds are empty.
    pub(super) fn is_none(&self) -> bool {
        self.low == Self::NONE.low && self.high == Self::NONE.high
    }

    /// Returns the bounds of both.
    pub(super) fn union(self, other: Self) -> Self {
        let mut all = self;
        for axis in 0..4 {
            all.low[axis] = all.low[axis].min(other.low[axis]);
            all.high[axis] = all.high[axis].max(other.high[axis]);
        }
        all
    }

    /// Whether a box from `low` to `high` is outside.
    #[inline]
    pub(super) fn excludes(&self, low: &Corner, high: &Corner) -> bool {
        (0..4).fold(false, |outside, axis| {
            outside | (high[axis] < self.low[axis]) | (low[axis] > self.high[axis])
        })
    }
}
