//! Traces that pass by an entity's box at a distance, recognized without a full trace.
//!
//! Invariant: the full trace finds nothing either. It stops an eighth of a unit before a box, and its rounding
//! errors within the limits of maps are smaller than that.

use crate::model::{EntityShared, Vec3};
use crate::world::collision::TraceQuery;

/// Distance at which a trace passes by, in units.
const CLEARANCE: f32 = 0.5;
/// Largest coordinate and length. Up to there, rounding errors stay below a tenth of a unit.
const FARTHEST: f32 = 131_072.0;

/// A trace, as far as it does not depend on an entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    /// Middle between the box centers at start and end.
    middle: [f32; 4],
    /// Half the way from start to end.
    half_way: [f32; 4],
    /// Half size of the box, with clearance.
    half_size: [f32; 4],
    /// Whether the trace is within the limits of maps.
    is_near: bool,
}

impl Passage {
    /// Creates the passage of a query's box.
    pub(super) fn new(query: &TraceQuery) -> Self {
        let TraceQuery { start, mins, maxs, end, .. } = *query;
        let of = |part: &dyn Fn(usize) -> f32| [part(0), part(1), part(2), 0.0];
        let middle = of(&|at| (start[at] + end[at] + mins[at] + maxs[at]) * 0.5);
        let half_way = of(&|at| (end[at] - start[at]) * 0.5);
        let half_size = of(&|at| (maxs[at] - mins[at]) * 0.5 + CLEARANCE);
        let is_near = (0..4).fold(true, |near, at| {
            near & (middle[at].abs() <= FARTHEST)
                & (half_way[at].abs() <= FARTHEST)
                & (half_size[at].abs() <= FARTHEST)
        });
        Self { middle, half_way, half_size, is_near }
    }

    /// Whether the trace passes by the box of an entity. Both are apart along the normal of a side, or along an axis
    /// across the way and an edge.
    #[inline]
    pub(super) fn misses(&self, shared: &EntityShared) -> bool {
        let Vec3(at) = shared.current_origin;
        let (Vec3(low), Vec3(high)) = (shared.mins, shared.maxs);
        let wide = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
        let (at, low, high) = (wide(at), wide(low), wide(high));
        let (mut apart, mut near) = (false, self.is_near);
        let (mut between, mut size, mut way) = ([0.0_f32; 4], [0.0_f32; 4], [0.0_f32; 4]);
        for axis in 0..4 {
            between[axis] = self.middle[axis] - at[axis] - (low[axis] + high[axis]) * 0.5;
            size[axis] = self.half_size[axis] + (high[axis] - low[axis]) * 0.5;
            way[axis] = self.half_way[axis].abs();
            apart |= between[axis].abs() > size[axis] + way[axis];
            near &= (at[axis].abs() <= FARTHEST) & (size[axis].abs() <= FARTHEST);
        }
        let across = |one: usize, other: usize| {
            let area = between[one] * self.half_way[other] - between[other] * self.half_way[one];
            area.abs() > size[one] * way[other] + size[other] * way[one]
        };
        near && (apart || across(0, 1) || across(1, 2) || across(2, 0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        testing::{TestMap, sample_maps::YARD},
        world::{Bsp, CollisionMap, Hull, TracePrecision, TraceTarget},
    };

    fn vector(size: f32) -> impl Strategy<Value = Vec3> {
        [-size..size, -size..size, -size..size].prop_map(Vec3)
    }

    #[test]
    fn trace_beside_a_box_misses() {
        let size = Vec3::new(15.0, 15.0, 15.0);
        let body = EntityShared { mins: size * -1.0, maxs: size, ..EntityShared::default() };
        let misses = |from: [f32; 3], to: [f32; 3]| {
            Passage::new(&TraceQuery::line(Vec3(from), Vec3(to), -1)).misses(&body)
        };
        assert!(!misses([-99.0, 0.0, 0.0], [99.0, 0.0, 0.0]));
        assert!(!misses([-99.0, 15.4, 0.0], [99.0, 15.4, 0.0]));
        assert!(misses([-99.0, 15.6, 0.0], [99.0, 15.6, 0.0]));
        assert!(misses([-99.0, 0.0, 0.0], [-15.6, 0.0, 0.0]));
        assert!(misses([-32.0, 0.0, 0.0], [0.0, 32.0, 0.0]));
        assert!(!misses([-30.0, 0.0, 0.0], [0.0, 30.0, 0.0]));
        assert!(!misses([-1e6, 15.6, 0.0], [99.0, 15.6, 0.0]), "beyond the limits of maps");
        assert!(!misses([f32::NAN, 99.0, 99.0], [99.0, 99.0, 99.0]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_missed_box_never_stops_the_full_trace(
            origin in vector(4000.0), low in vector(60.0), high in vector(60.0),
            near in vector(120.0), way in vector(1.0), length in 0.0_f32..9000.0,
            at in 0.0_f32..1.0, mins in vector(40.0), maxs in vector(40.0),
        ) {
            let file = TestMap::test_yard(YARD).file();
            let bsp = Bsp::load(&file).expect("a valid map");
            // The trace leads past the box at a small distance, from anywhere.
            let start = origin + near - way * (length * at);
            let end = start + way * length;
            let shared = EntityShared {
                mins: low, maxs: high, current_origin: origin, ..EntityShared::default()
            };
            let query = TraceQuery::line(start, end, -1).with_box(mins, maxs);
            if Passage::new(&query).misses(&shared) {
                for precision in [TracePrecision::Single, TracePrecision::Double] {
                    let map = CollisionMap::new(&bsp, precision).expect("a valid map");
                    let target = TraceTarget::Box { mins: low, maxs: high };
                    let trace = map.trace_target(Hull::Box, target, origin, Vec3::ZERO, &query);
                    prop_assert!(trace.fraction == 1.0 && !trace.startsolid, "{trace:?}");
                }
            }
        }
    }
}
