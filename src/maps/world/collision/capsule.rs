//! Capsule hull of a trace: a box with rounded ends and edges.
//!
//! A capsule is a segment and a radius. Against a plane only the end that reaches farthest counts.
//! Entities marked as capsules are boxes to every trace, as in the engines. Source: the collision
//! document, capsules.

use crate::model::Vec3;

/// Shape that a trace moves, given by the corners of its box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hull {
    /// The whole box.
    Box,
    /// An upright capsule inside the box.
    Capsule,
}

/// A capsule, relative to its center.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Capsule {
    pub(super) radius: f32,
    /// Offset of the upper end's center.
    pub(super) offset: Vec3,
}

impl Capsule {
    /// Creates the upright capsule in a box with these half sizes.
    pub(super) fn in_box(half: Vec3) -> Self {
        let radius = if half[0] < half[2] { half[0] } else { half[2] };
        Self { radius, offset: Vec3::new(0.0, 0.0, half[2] - radius) }
    }

    /// Returns the half size of its box along an axis.
    pub(super) fn reach(&self, axis: usize) -> f32 {
        self.offset[axis].abs() + self.radius
    }

    /// Returns the end that reaches farthest against a normal, for a capsule centered at `at`.
    #[inline]
    pub(super) fn end(&self, at: Vec3, normal: Vec3) -> Vec3 {
        if normal.dot(self.offset) > 0.0 { at - self.offset } else { at + self.offset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::contents::content,
        testing::{Block, TestMap},
        world::{Bsp, CollisionMap, TracePrecision, TraceQuery, TraceTarget},
    };

    const MINS: Vec3 = Vec3::new(-15.0, -15.0, -28.0);
    const MAXS: Vec3 = Vec3::new(15.0, 15.0, 28.0);

    /// A block of 100 units around the origin.
    fn map() -> CollisionMap {
        let block =
            Block { mins: [-50.0; 3], maxs: [50.0; 3], contents: content::SOLID, surface_flags: 0 };
        let entities = "{\n\"classname\" \"worldspawn\"\n}\n";
        let file = TestMap::from_boxes(entities, &[block], &[]).file();
        CollisionMap::new(&Bsp::load(&file).expect("sound"), TracePrecision::Single).expect("sound")
    }

    #[test]
    fn capsule_rests_at_height_of_its_box() {
        let (map, target) = (map(), TraceTarget::Box { mins: MINS, maxs: MAXS });
        let (start, end) = (Vec3::new(3.0, -4.0, 200.0), Vec3::new(3.0, -4.0, -200.0));
        let query = TraceQuery::line(start, end, content::SOLID).with_box(MINS, MAXS);
        let [box_hit, hit] = [Hull::Box, Hull::Capsule].map(|hull| map.trace_hull(hull, &query));
        assert_eq!((hit.fraction, hit.plane), (box_hit.fraction, box_hit.plane));
        assert!((hit.endpos[2] - 78.125).abs() < 1e-3, "{hit:?}");
        // On top of another box too.
        let onto = |hull| {
            let at = Vec3::ZERO;
            let query = TraceQuery { mask: content::BODY, ..query };
            map.trace_target(hull, target, at, at, &query).fraction
        };
        assert_eq!(onto(Hull::Capsule), onto(Hull::Box));
        assert!(onto(Hull::Box) < 1.0);
    }

    #[test]
    fn capsule_trace_never_stops_before_box_trace() {
        let map = map();
        let mut dice = crate::model::Millis(7).0;
        let mut number = || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((dice >> 40) as f32 / 16_777_216.0 - 0.5) * 400.0
        };
        let mut farther = 0;
        for _ in 0..5000 {
            let start = Vec3::new(number(), number(), number());
            let end = Vec3::new(number(), number(), number());
            let query = TraceQuery::line(start, end, content::SOLID).with_box(MINS, MAXS);
            let [boxed, round] =
                [Hull::Box, Hull::Capsule].map(|hull| map.trace_hull(hull, &query));
            if boxed.startsolid {
                continue;
            }
            assert!(!round.startsolid && round.fraction >= boxed.fraction - 1e-4);
            farther += u32::from(round.fraction > boxed.fraction);
        }
        assert_eq!(farther, 0, "six square sides stop both alike");
    }

    #[test]
    fn rotated_model_stops_box_and_capsule_alike() {
        // A block rotated by 45 degrees, hit at an edge.
        let map = map();
        let turned = |hull| {
            map.trace_target(
                hull,
                TraceTarget::Model(0),
                Vec3::ZERO,
                Vec3::new(0.0, 45.0, 0.0),
                &TraceQuery::line(Vec3::new(200.0, 0.0, 0.0), Vec3::ZERO, content::SOLID)
                    .with_box(MINS, MAXS),
            )
        };
        // The box is rotated with the model, so both reach 15 units over sides at 50, which meet at
        // √2 times that.
        let meet = (50.0 + 15.0) * std::f32::consts::SQRT_2;
        for hull in [Hull::Box, Hull::Capsule] {
            let stopped = turned(hull).endpos[0];
            assert!((0.0..0.5).contains(&(stopped - meet)), "{hull:?}: {stopped}");
        }
    }

    #[test]
    fn capsule_fills_its_box_along_the_longer_side() {
        let player = Capsule::in_box(Vec3::new(15.0, 15.0, 28.0));
        assert_eq!(player, Capsule { radius: 15.0, offset: Vec3::new(0.0, 0.0, 13.0) });
        assert_eq!([0, 1, 2].map(|axis| player.reach(axis)), [15.0, 15.0, 28.0]);
        let flat = Capsule::in_box(Vec3::new(20.0, 20.0, 8.0));
        assert_eq!(flat, Capsule { radius: 8.0, offset: Vec3::ZERO });
        assert_eq!(player.end(Vec3::ZERO, Vec3::new(0.0, 0.0, 1.0)), Vec3::new(0.0, 0.0, -13.0));
        assert_eq!(player.end(Vec3::ZERO, Vec3::new(0.0, 0.0, -1.0)), Vec3::new(0.0, 0.0, 13.0));
    }
}
