//! Bevels: planes at the edges and corners of a brush, for traces of boxes.

use super::{Brush, BrushSide};
use crate::mapbuild::{
    planes::{Plane, Planes},
    projection::Projection,
    vector::Vector,
    winding::Winding,
};

/// Distance within which a point counts as on a bevel.
const ON: f64 = 0.1;
/// Shortest edge that gets bevels.
const MIN_EDGE: f64 = 0.5;
/// Maximum number of bevels of a brush. More only make traces slower.
const MAX_BEVELS: usize = 256;

impl Brush {
    /// Puts the six axial sides first and adds bevels of slanted edges behind the others.
    pub(in crate::mapbuild) fn add_bevels(&mut self, planes: &mut Planes) {
        self.add_axial_sides(planes);
        if self.sides.len() == 6 {
            return;
        }
        let windings: Vec<Winding> = self.windings().cloned().collect();
        let points: Vec<Vector> =
            windings.iter().flat_map(|winding| winding.points().iter().copied()).collect();
        let mut bevels = 0;
        for (from, to) in windings.iter().flat_map(Winding::edges) {
            let edge = from - to;
            if edge.length() < MIN_EDGE {
                continue;
            }
            let Some(edge) = edge.normalized() else { continue };
            if edge.0.iter().any(|part| part.abs() > 1.0 - 1e-4) {
                continue;
            }
            for (axis, direction) in (0..3).flat_map(|axis| [(axis, -1.0), (axis, 1.0)]) {
                let normal = edge.cross(Vector::along(axis, direction));
                if normal.length() < 0.5 || bevels == MAX_BEVELS {
                    continue;
                }
                let Some(normal) = normal.normalized() else { continue };
                let plane = Plane { normal, dist: normal.dot(from) };
                if self.is_useful(&plane, &points, &windings, planes) {
                    self.sides.push(self.bevel(planes.find(plane)));
                    bevels += 1;
                }
            }
        }
    }

    fn add_axial_sides(&mut self, planes: &mut Planes) {
        for place in 0..6 {
            let (axis, direction) = (place / 2, if place % 2 == 0 { -1.0 } else { 1.0 });
            let normal = Vector::along(axis, direction);
            let known = self.sides.iter().position(|side| planes[side.plane].normal == normal);
            let at = known.unwrap_or_else(|| {
                let edge =
                    if direction > 0.0 { self.bounds.maxs[axis] } else { -self.bounds.mins[axis] };
                self.sides.push(self.bevel(planes.find(Plane { normal, dist: edge })));
                self.sides.len() - 1
            });
            self.sides.swap(place, at);
        }
    }

    /// Whether a plane touches the brush in an edge and is not known yet.
    fn is_useful(
        &self,
        plane: &Plane,
        points: &[Vector],
        windings: &[Winding],
        planes: &Planes,
    ) -> bool {
        let is_on = |point: &Vector| plane.distance(*point).abs() < ON;
        let is_known = |side: &BrushSide| {
            let known = &planes[side.plane];
            (0..3).all(|k| (known.normal[k] - plane.normal[k]).abs() < 1e-3)
                && (known.dist - plane.dist).abs() < ON
        };
        points.iter().all(|&point| plane.distance(point) <= ON)
            && !windings.iter().any(|winding| winding.points().iter().all(is_on))
            && !self.sides.iter().any(is_known)
    }

    fn bevel(&self, plane: usize) -> BrushSide {
        let mapping = crate::mapbuild::map_file::Mapping::Classic {
            shift: [0.0; 2],
            rotate: 0.0,
            scale: [1.0; 2],
        };
        BrushSide {
            plane,
            material: self.material,
            projection: Projection::new(&mapping, Vector::ZERO),
            winding: None,
        }
    }
}
