//! Fogs: volumes in which clients draw surfaces with a color that grows with the distance.
//!
//! A fog is a world brush whose shader has the contents `fog` and the keyword `fogparms`. Clients draw the fog on the
//! surfaces inside it, so that polygons are cut at its sides; a patch that reaches into it is fogged as a whole.
//!
//! Invariants: at most [`MAX_FOGS`]; the visible side is one of the first six, which are axial.
//! Source: IBSP 46; `tr_bsp` and `tr_shade` of the base game's client as search terms.

use super::{
    brushes::Brush,
    diagnostic::Findings,
    map_file::Patch,
    materials::Materials,
    planes::{Plane, Planes},
    vector::{Bounds, Vector},
    visible_sides::VisibleSide,
    winding::{Winding, WindingSide},
};
use crate::model::contents::content;

/// Maximum number of fogs that clients draw: five bits of a sort key, without the number for none.
const MAX_FOGS: usize = 31;
/// Axial sides of a brush, the upward one first: fogs are mostly open above.
const AXIAL_SIDES: [usize; 6] = [5, 0, 1, 2, 3, 4];
/// Tolerance of cuts.
const CUT: f64 = 0.01;
/// Distance of a plane within which a polygon is on it.
const ON: f64 = 0.1;

/// A fog.
#[derive(Clone, Debug)]
pub(super) struct Fog {
    /// Brush of the world.
    pub brush: usize,
    /// Side of the brush behind which the fog begins; none for a fog that is closed on all sides.
    pub side: Option<usize>,
    /// Planes of the brush, their fronts outside.
    planes: Vec<Plane>,
    bounds: Bounds,
}

/// Fogs of a map, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Fogs(pub Vec<Fog>);

impl Fogs {
    /// Finds the fogs of the world and their visible sides.
    pub(super) fn of_world(
        world: &[Brush],
        visible: &[Vec<VisibleSide>],
        planes: &Planes,
        materials: &Materials,
        findings: &mut Findings,
    ) -> Self {
        let mut fogs = Vec::new();
        for (number, brush) in world.iter().enumerate() {
            if brush.contents & content::FOG == 0 || brush.number.is_none() {
                continue;
            }
            let shader = &materials[brush.material].shader;
            if !shader.is_fog() {
                let what = format!(
                    "fog is not drawn: shader {:?} without usable fogparms (expected fogparms ( R G B ) DISTANCE)",
                    shader.name
                );
                findings.warn(brush.line, what);
                continue;
            }
            if fogs.len() == MAX_FOGS {
                let what = "fog is not drawn: too many fogs (max 31, the limit of clients)";
                findings.warn(brush.line, what);
                continue;
            }
            let sides = brush.sides.iter().filter(|side| side.winding.is_some());
            let side = visible.get(number).and_then(|sides| visible_side(brush, sides, findings));
            fogs.push(Fog {
                brush: number,
                side,
                planes: sides.map(|side| planes[side.plane]).collect(),
                bounds: brush.bounds,
            });
        }
        Self(fogs)
    }

    /// Cuts a polygon at the fogs. `origin` is that of its model. Returns the parts with their fogs.
    pub(super) fn cut(
        &self,
        winding: Winding,
        normal: Vector,
        origin: Vector,
    ) -> Vec<(Winding, Option<usize>)> {
        let mut parts = Vec::new();
        let mut rest = vec![winding];
        for (number, fog) in self.0.iter().enumerate() {
            let mut outside = Vec::new();
            for winding in rest {
                let placed = winding.moved(origin);
                let cut = fog.bounds.touches(&placed.bounds()).then(|| fog.cut(placed, normal));
                match cut.flatten() {
                    Some((inside, others)) => {
                        parts.push((inside.moved(-origin), Some(number)));
                        outside.extend(others.iter().map(|other| other.moved(-origin)));
                    }
                    None => outside.push(winding),
                }
            }
            rest = outside;
        }
        parts.extend(rest.into_iter().map(|winding| (winding, None)));
        parts
    }

    /// Returns the first fog into which a patch reaches.
    pub(super) fn of_patch(&self, patch: &Patch, origin: Vector) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        let points: Vec<Vector> =
            patch.triangles().into_iter().flatten().map(|point| point + origin).collect();
        self.0.iter().position(|fog| points.iter().any(|&point| fog.contains(point)))
    }
}

impl Fog {
    fn contains(&self, point: Vector) -> bool {
        self.planes.iter().all(|plane| plane.distance(point) < -ON)
    }

    /// Returns the part of a polygon inside the fog and those outside; nothing if no part is inside.
    ///
    /// A polygon on a side of the fog is inside if it faces into the fog, as the floor below does.
    fn cut(&self, winding: Winding, normal: Vector) -> Option<(Winding, Vec<Winding>)> {
        let mut outside = Vec::new();
        let mut inside = winding;
        for plane in &self.planes {
            if inside.place(plane, ON) == WindingSide::On {
                if normal.dot(plane.normal) > 0.0 {
                    return None;
                }
                continue;
            }
            let parts = inside.cut(plane, CUT);
            outside.extend(parts.front);
            inside = parts.back?;
        }
        (!inside.is_tiny()).then_some((inside, outside))
    }
}

/// Returns the side behind which clients let a fog begin: one that is drawn, or else any that is open.
fn visible_side(brush: &Brush, sides: &[VisibleSide], findings: &mut Findings) -> Option<usize> {
    let is_open = |&side: &usize| sides.get(side).is_some_and(|side| side.for_tree.is_some());
    let open: Vec<usize> = AXIAL_SIDES.into_iter().filter(is_open).collect();
    let drawn: Vec<usize> =
        open.iter().copied().filter(|&side| !sides[side].drawn.is_empty()).collect();
    let chosen = if drawn.is_empty() { &open } else { &drawn };
    if chosen.len() > 1 {
        let what = format!(
            "fog with {} open sides: clients let it begin at one of them (expected walls at the others, or \
             another texture on them)",
            chosen.len()
        );
        findings.warn(brush.line, what);
    }
    chosen.first().copied()
}
