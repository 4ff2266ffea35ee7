//! Trace cache of a moving player: last answers and the map around it.
//!
//! The last ground trace and the last point of a move are the first of the next one. Answers depend on the
//! question and the map alone, so they hold until the map changes. Entities are not part of them. Of the traces only
//! vertical ones are kept, because the others hardly ever repeat.
//!
//! Invariants: a cache is used with one map, or cleared in between; an answer is repeated only if the question
//! is the same in every bit.

use super::{
    CollisionMap, TracePrecision,
    arithmetic::Reordered,
    local_map::LocalMap,
    query::TraceQuery,
    sweep::{Sweep, end_of, is_same},
};
use crate::model::{Trace, Vec3};

/// Answers of a collision map to one player.
#[derive(Clone, Debug, Default)]
pub struct TraceCache {
    /// Last vertical trace.
    trace: Option<(QueryBits, Trace)>,
    point: Option<([u32; 4], bool)>,
    local: LocalMap,
}

/// Bits of a trace's query.
#[derive(Clone, Copy, Debug)]
struct QueryBits([u32; 16]);

impl TraceCache {
    /// Requests the memory of the map around the player.
    pub(in crate::world) fn expect_trace(&self) {
        self.local.expect_trace();
    }
}

impl QueryBits {
    fn new(query: &TraceQuery) -> Self {
        let TraceQuery { start, mins, maxs, end, mask } = *query;
        let mut bits = [mask as u32; 16];
        for (at, vector) in [start, mins, maxs, end].into_iter().enumerate() {
            bits[at * 4..][..3].copy_from_slice(&vector.0.map(f32::to_bits));
        }
        Self(bits)
    }

    /// Whether two questions are equal. Faster than a comparison of arrays.
    #[inline]
    fn is(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |bits, (one, other)| bits | (one ^ other)) == 0
    }
}

impl TraceCache {
    /// Forgets everything, before use with another map.
    pub fn clear(&mut self) {
        self.trace = None;
        self.point = None;
        self.local.clear();
    }
}

impl CollisionMap {
    /// Traces a box as [`CollisionMap::trace`] does, with the cache of its player.
    #[must_use]
    pub fn trace_cached(&self, cache: &mut TraceCache, query: &TraceQuery) -> Trace {
        let TraceQuery { start, end, .. } = *query;
        let is_vertical = start[0] == end[0] && start[1] == end[1];
        if is_vertical
            && let Some((last, answer)) = &cache.trace
            && last.is(&QueryBits::new(query))
        {
            return *answer;
        }
        let mut sweep = Sweep::new(query);
        let at_rest = is_same(start, end);
        if !at_rest && cache.local.covers(self, &sweep) {
            match self.family {
                TracePrecision::Single => cache.local.sweep::<f32>(self, &mut sweep),
                TracePrecision::Double => cache.local.sweep::<f64>(self, &mut sweep),
                TracePrecision::Fast => cache.local.sweep::<Reordered>(self, &mut sweep),
            }
        } else {
            self.run(0, at_rest, &mut sweep);
        }
        let answer = sweep.found.trace(end_of(query, sweep.found.fraction));
        if is_vertical {
            cache.trace = Some((QueryBits::new(query), answer));
        }
        answer
    }

    /// Returns the contents of the world at a point, with the cache of a player.
    #[must_use]
    pub fn point_contents_cached(&self, cache: &TraceCache, point: Vec3) -> i32 {
        if cache.local.covers_point(point) {
            cache.local.point_contents(self, point)
        } else {
            self.point_contents(point)
        }
    }

    /// Whether the world has some of the contents of a mask at a point, with the cache of a player.
    #[must_use]
    #[inline]
    pub fn has_contents_cached(&self, cache: &mut TraceCache, point: Vec3, mask: i32) -> bool {
        let is_covered = cache.local.covers_point(point);
        // Most places are dry.
        if is_covered && cache.local.lacks(mask) {
            return false;
        }
        let Vec3([x, y, z]) = point;
        let question = [x.to_bits(), y.to_bits(), z.to_bits(), mask as u32];
        if let Some((last, answer)) = cache.point
            && last == question
        {
            return answer;
        }
        let answer = if is_covered {
            cache.local.has_contents(self, point, mask)
        } else {
            self.has_contents(point, mask)
        };
        cache.point = Some((question, answer));
        answer
    }
}
