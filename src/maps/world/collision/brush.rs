//! Brushes: convex solids of the map, and boxes of entities.
//!
//! Nearly all sides are axis-aligned, in the order −x, +x, −y, +y, −z, +z. Those are computed from
//! the bounds alone. For planes whose normal is exactly ±1 along an axis, that gives the same bits
//! as the general formula.
//!
//! Source: the collision document, brushes, position test; checked by the trace and point vectors.

use super::{
    arithmetic::{Arithmetic, sign_bits},
    bounds::{Corner, PaddedBounds, corner},
    capsule::Capsule,
    sweep::{ClipInterval, Lanes, Sweep, TraceHit},
};
use crate::{
    model::{TracePlane, Vec3, contents::content},
    world::bsp::{self, Bsp},
};

/// Number of sides of a box.
const BOX_SIDES: usize = 6;

/// A brush of the map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brush {
    contents: i32,
    /// Index of its first side.
    first_side: u32,
    side_count: u32,
    /// Whether the first six sides are exactly the bounds.
    is_boxed: bool,
    bounds: [Corner; 2],
}

/// One side of a brush.
#[derive(Clone, Copy, Debug)]
pub(super) struct BrushSide {
    plane: TracePlane,
    surface_flags: i32,
    sign_bits: u8,
}

/// All brushes of a map.
#[derive(Debug)]
pub(super) struct Brushes {
    /// Padded bounds of each brush. Most queries read nothing else of most brushes.
    reach: Box<[PaddedBounds]>,
    brushes: Box<[Brush]>,
    sides: Box<[BrushSide]>,
}

impl Brushes {
    pub(super) fn new<A: Arithmetic>(bsp: &Bsp) -> Self {
        let mut sides = Vec::with_capacity(bsp.brush_sides.len());
        let brushes: Box<[Brush]> = bsp
            .brushes
            .iter()
            .map(|brush| {
                let first_side = sides.len();
                sides.extend(
                    bsp.brush_sides[brush.sides].iter().map(|side| BrushSide::new(bsp, side)),
                );
                Brush {
                    contents: brush.contents,
                    first_side: first_side as u32,
                    side_count: brush.sides.len() as u32,
                    is_boxed: is_boxed(&sides[first_side..]),
                    bounds: around(&[brush.mins, brush.maxs]),
                }
            })
            .collect();
        let reach = bsp
            .brushes
            .iter()
            .map(|brush| match brush.sides.len() {
                // A brush without sides stops nothing.
                0 => PaddedBounds::NONE,
                _ => PaddedBounds::around::<A>(&[brush.mins, brush.maxs]),
            })
            .collect();
        Self { reach, brushes, sides: sides.into() }
    }

    /// Returns the memory of the brushes, in bytes.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.reach) + size_of_val(&*self.brushes) + size_of_val(&*self.sides)
    }

    /// Returns the padded bounds of a brush.
    pub(super) fn reach(&self, number: u32) -> PaddedBounds {
        self.reach[number as usize]
    }

    /// Clips the sweep against a brush. Inlining saves a twelfth of a trace.
    #[inline]
    pub(super) fn stop<A: Arithmetic>(&self, number: u32, sweep: &mut Sweep) {
        if sweep.misses(&self.reach[number as usize]) {
            return;
        }
        let brush = &self.brushes[number as usize];
        if brush.contents & sweep.contents_mask == 0 || !sweep.first_look(number) {
            return;
        }
        if let Some(capsule) = sweep.capsule {
            return self.stop_capsule::<A>(brush, &capsule, sweep);
        }
        let mut passage = ClipInterval::new();
        if brush.is_boxed && !passage.cross_box::<A>(&brush.bounds, &sweep.lanes) {
            return;
        }
        let sides = self.sides_of(brush);
        let skipped = if brush.is_boxed { BOX_SIDES } else { 0 };
        sweep.work.planes += sides.len();
        for (n, side) in sides.iter().enumerate().skip(skipped) {
            let ends = [sweep.start(), sweep.end()];
            let [from, to] = A::distances(ends, sweep.corner(side.sign_bits), &side.plane);
            if !passage.cross(n, from, to) {
                return;
            }
        }
        if let Some(hit) = passage.stop(&mut sweep.found, brush.contents) {
            let side = &sides[hit];
            sweep.found.plane = side.plane;
            sweep.found.surface_flags = side.surface_flags;
        }
    }

    fn stop_capsule<A: Arithmetic>(&self, brush: &Brush, capsule: &Capsule, sweep: &mut Sweep) {
        let sides = self.sides_of(brush);
        sweep.work.planes += sides.len();
        let planes = sides.iter().map(|side| side.plane);
        if let Some(hit) = pass_capsule::<A>(planes, capsule, brush.contents, sweep) {
            sweep.found.plane = sides[hit].plane;
            sweep.found.surface_flags = sides[hit].surface_flags;
        }
    }

    /// Returns the contents of a brush that matches the mask and contains the box at rest.
    pub(super) fn holds<A: Arithmetic>(&self, number: u32, sweep: &mut Sweep) -> Option<i32> {
        let brush = &self.brushes[number as usize];
        if brush.contents & sweep.contents_mask == 0
            || brush.side_count == 0
            || sweep.is_outside(&brush.bounds)
        {
            return None;
        }
        sweep.work.planes += brush.side_count as usize;
        let is_behind = |side: &BrushSide| {
            if let Some(capsule) = sweep.capsule {
                let end = capsule.end(sweep.start(), side.plane.normal);
                let dist = side.plane.dist + capsule.radius;
                return A::dot(end, side.plane.normal) - A::of(dist) <= A::ZERO;
            }
            // Both precisions round the moved plane here.
            let dist = side.plane.dist - sweep.corner(side.sign_bits).dot(side.plane.normal);
            A::dot(sweep.start(), side.plane.normal) - A::of(dist) <= A::ZERO
        };
        self.sides_of(brush)[BOX_SIDES..].iter().all(is_behind).then_some(brush.contents)
    }

    /// Returns the contents of a brush.
    pub(super) fn contents(&self, number: u32) -> i32 {
        self.brushes[number as usize].contents
    }

    /// Returns the contents of a brush that contains the point, or 0, and counts its planes.
    pub(super) fn contents_at(&self, number: u32, point: Vec3, planes: &mut usize) -> i32 {
        let at = corner(point);
        if self.reach[number as usize].excludes(&at, &at) {
            return 0;
        }
        let brush = &self.brushes[number as usize];
        *planes += brush.side_count as usize;
        let is_behind = |side: &BrushSide| point.dot(side.plane.normal) <= side.plane.dist;
        if self.sides_of(brush).iter().all(is_behind) { brush.contents } else { 0 }
    }

    fn sides_of(&self, brush: &Brush) -> &[BrushSide] {
        &self.sides[brush.first_side as usize..][..brush.side_count as usize]
    }
}

impl BrushSide {
    fn new(bsp: &Bsp, side: &bsp::BrushSide) -> Self {
        let plane = &bsp.planes[side.plane];
        Self {
            plane: TracePlane { normal: plane.normal, dist: plane.dist },
            surface_flags: side.surface_flags,
            sign_bits: sign_bits(plane.normal),
        }
    }
}

/// Whether the first six sides face exactly −x, +x, −y, +y, −z, +z.
fn is_boxed(sides: &[BrushSide]) -> bool {
    sides.len() >= BOX_SIDES
        && sides[..BOX_SIDES].iter().enumerate().all(|(n, side)| {
            let mut normal = Vec3::ZERO;
            normal[n / 2] = if n % 2 == 0 { -1.0 } else { 1.0 };
            side.plane.normal == normal
        })
}

/// Returns the bounds as corners. Their fourth components contain those of every trace.
fn around(bounds: &[Vec3; 2]) -> [Corner; 2] {
    let [Vec3([x, y, z]), Vec3([to_x, to_y, to_z])] = *bounds;
    [[x, y, z, -1.0], [to_x, to_y, to_z, 1.0]]
}

/// Returns a side of an entity's box.
fn side_of_box(bounds: &[Vec3; 2], side: usize) -> TracePlane {
    let mut normal = Vec3::ZERO;
    let (axis, is_high) = (side / 2, side % 2 == 1);
    normal[axis] = if is_high { 1.0 } else { -1.0 };
    let dist = if is_high { bounds[1][axis] } else { -bounds[0][axis] };
    TracePlane { normal, dist }
}

/// Clips the sweep of a box against an entity's box, whose contents are `CONTENTS_BODY`.
#[inline]
pub(super) fn stop_at_box<A: Arithmetic>(bounds: &[Vec3; 2], lanes: &Lanes, found: &mut TraceHit) {
    let mut passage = ClipInterval::new();
    if !passage.cross_box::<A>(&around(bounds), lanes) {
        return;
    }
    // Asked last: within the limits of maps, the sides have decided it.
    let [low, high] = lanes.bounds();
    if PaddedBounds::around::<A>(bounds).excludes(&low, &high) {
        return;
    }
    if let Some(hit) = passage.stop(found, content::BODY) {
        found.plane = side_of_box(bounds, hit);
    }
}

/// Clips the sweep of a capsule against an entity's box, whose contents are `CONTENTS_BODY`.
pub(super) fn stop_capsule_at_box<A: Arithmetic>(
    bounds: &[Vec3; 2],
    capsule: &Capsule,
    sweep: &mut Sweep,
) {
    if sweep.misses(&PaddedBounds::around::<A>(bounds)) {
        return;
    }
    let sides = (0..BOX_SIDES).map(|side| side_of_box(bounds, side));
    if let Some(hit) = pass_capsule::<A>(sides, capsule, content::BODY, sweep) {
        sweep.found.plane = side_of_box(bounds, hit);
    }
}

/// Clips a capsule's sweep against the volume behind some planes. Returns the plane that it hits,
/// if any.
fn pass_capsule<A: Arithmetic>(
    planes: impl Iterator<Item = TracePlane>,
    capsule: &Capsule,
    contents: i32,
    sweep: &mut Sweep,
) -> Option<usize> {
    let mut passage = ClipInterval::new();
    for (n, plane) in planes.enumerate() {
        let dist = A::of(plane.dist + capsule.radius);
        let in_front = |at| A::dot(capsule.end(at, plane.normal), plane.normal) - dist;
        if !passage.cross(n, in_front(sweep.start()), in_front(sweep.end())) {
            return None;
        }
    }
    passage.stop(&mut sweep.found, contents)
}

/// Whether an entity's box contains a box at rest.
pub(super) fn box_holds(bounds: &[Vec3; 2], sweep: &Sweep) -> bool {
    !sweep.is_outside(&around(bounds))
}
