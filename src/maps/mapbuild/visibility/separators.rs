//! Planes that separate two polygons, and what sight through both reaches.
//!
//! Such a plane contains an edge of one polygon and a point of the other. Sight through both stays in front of it.

use super::{
    super::{
        planes::Plane,
        vector::Vector,
        winding::{Winding, WindingSide},
    },
    flow::Directed,
};

/// Tolerance of planes between portals.
pub(super) const ON: f64 = 0.1;
/// Width of an opening behind a separating plane that hides all of it.
pub(super) const CUT: f64 = 0.01;
/// Distance of a point from a separating plane that counts as none. A plane that is farther off would hide more
/// the farther away it cuts.
const ROUNDING: f64 = 0.002;

/// Returns the part of a portal that sight reaches, and the part of the source that it comes from.
pub(super) fn narrowed(
    first: &Directed,
    portal: &Directed,
    source: &Winding,
    pass: Option<&Winding>,
) -> Option<(Winding, Winding)> {
    if portal.winding.place(&first.plane, ON) == WindingSide::On {
        return None;
    }
    let target = portal.winding.clone().cut(&first.plane, ON).front?;
    let source = source.clone().cut(&portal.plane.reversed(), ON).front?;
    let Some(pass) = pass else { return Some((target, source)) };
    let target = cut_by_separators(&source, pass, target, false)?;
    let target = cut_by_separators(pass, &source, target, true)?;
    Some((target, source))
}

/// Cuts a target by the planes that separate two polygons.
///
/// Such a plane contains an edge of one polygon and a point of the other.
fn cut_by_separators(
    source: &Winding,
    pass: &Winding,
    target: Winding,
    is_reversed: bool,
) -> Option<Winding> {
    let mut target = target;
    for (from, to) in source.edges() {
        for &corner in pass.points() {
            let Some(plane) = separator(source, pass, from, to, corner) else { continue };
            let plane = if is_reversed { plane.reversed() } else { plane };
            target = target.cut(&plane, CUT).front?;
        }
    }
    Some(target)
}

/// Returns the planes that separate two polygons, with what sight through both reaches in front.
pub(super) fn separators(source: &Winding, pass: &Winding) -> Vec<Plane> {
    let mut planes = Vec::new();
    for (from, to) in source.edges() {
        let corners = pass.points().iter();
        planes.extend(corners.filter_map(|&corner| separator(source, pass, from, to, corner)));
    }
    for (from, to) in pass.edges() {
        let corners = source.points().iter();
        let reversed = corners.filter_map(|&corner| separator(pass, source, from, to, corner));
        planes.extend(reversed.map(|plane| plane.reversed()));
    }
    planes
}

/// Returns the plane through an edge of the source and a corner of the pass, if it separates them. The pass is
/// in front.
fn separator(
    source: &Winding,
    pass: &Winding,
    from: Vector,
    to: Vector,
    corner: Vector,
) -> Option<Plane> {
    let normal = (to - from).cross(corner - from);
    let length = normal.length();
    if length < ON {
        return None;
    }
    let normal = normal * (1.0 / length);
    let mut plane = Plane { normal, dist: normal.dot(corner) };
    let others = source.points().iter().filter(|&&point| point != from && point != to);
    let sides = others.map(|&point| plane.distance(point));
    let [low, high] = sides.fold([0.0_f64; 2], |[low, high], side| [low.min(side), high.max(side)]);
    // A plane of the whole source separates nothing, nor does one with points of the source on both sides.
    if low.abs().max(high) <= ON || (low < -ROUNDING && high > ROUNDING) {
        return None;
    }
    if high > ROUNDING {
        plane = plane.reversed();
    }
    let others = pass.points().iter().filter(|&&point| point != corner);
    let mut is_in_front = false;
    for &point in others {
        let side = plane.distance(point);
        if side < -ROUNDING {
            return None;
        }
        is_in_front |= side > ON;
    }
    is_in_front.then_some(plane)
}
