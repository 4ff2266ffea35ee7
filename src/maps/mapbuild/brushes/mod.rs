//! Brushes: planes, face polygons, contents, and bevels for box traces.
//!
//! Invariants of a finished brush: at least six sides, the first six axial in the order −x +x −y +y −z +z; sides
//! with a polygon come from the source, sides without are bevels.

mod bevels;
mod contents;

pub(super) use contents::MixedContents;

use super::{
    diagnostic::Findings,
    map_file::{self, MAX_COORDINATE},
    materials::Materials,
    planes::{Plane, Planes},
    projection::Projection,
    vector::{Bounds, Vector},
    winding::Winding,
};
use crate::model::contents::{content, surface};

/// A brush.
#[derive(Clone, Debug)]
pub(super) struct Brush {
    /// Line in the source.
    pub line: u32,
    /// Material that gives the contents.
    pub material: usize,
    /// Contents.
    pub contents: i32,
    /// Sides.
    pub sides: Vec<BrushSide>,
    /// Box around the polygons.
    pub bounds: Bounds,
    /// Whether it is left out of the tree.
    pub is_detail: bool,
    /// Whether a side is of a sky shader.
    pub has_sky: bool,
    /// Number in the map file; none for brushes that only steer the compiler.
    pub number: Option<usize>,
}

/// A side of a brush.
#[derive(Clone, Debug)]
pub(super) struct BrushSide {
    /// Number of the plane; its front is outside.
    pub plane: usize,
    /// Material.
    pub material: usize,
    /// Texture coordinates.
    pub projection: Projection,
    /// Polygon; none for bevels.
    pub winding: Option<Winding>,
}

impl Brush {
    /// Creates a brush from its source. One that has no volume is reported and dropped.
    pub(super) fn new(
        source: &map_file::Brush,
        planes: &mut Planes,
        materials: &mut Materials,
        mixed: &mut MixedContents,
        findings: &mut Findings,
    ) -> Option<Self> {
        let mut sides: Vec<BrushSide> = Vec::new();
        for face in &source.faces {
            let [a, b, c] = face.points;
            let Some(normal) = (c - a).cross(b - a).normalized() else {
                findings.warn(face.line, "face dropped: its three points are on one line");
                continue;
            };
            let plane = planes.find(Plane { normal, dist: normal.dot(a) });
            if sides.iter().any(|side| side.plane == plane) {
                findings.warn(face.line, "face dropped: same plane as another face of the brush");
                continue;
            }
            if sides.iter().any(|side| side.plane == plane ^ 1) {
                let what = "brush dropped: two faces back to back enclose nothing (expected a convex volume)";
                findings.warn(face.line, what);
                return None;
            }
            sides.push(BrushSide {
                plane,
                material: materials.add(&face.texture, face.line),
                projection: Projection::new(&face.mapping, planes[plane].normal),
                winding: None,
            });
        }
        let has_detail_face = source.faces.iter().any(|face| face.detail);
        let mut brush = Self {
            line: source.line,
            material: 0,
            contents: 0,
            sides,
            bounds: Bounds::EMPTY,
            is_detail: false,
            has_sky: false,
            number: None,
        };
        brush.classify(materials, mixed, has_detail_face);
        if let Err(what) = brush.make_windings(planes) {
            findings.warn(source.line, format!("brush dropped: it {what}"));
            return None;
        }
        Some(brush)
    }

    fn classify(
        &mut self,
        materials: &Materials,
        mixed: &mut MixedContents,
        has_detail_face: bool,
    ) {
        let Some((material, contents)) = mixed.of_sides(&self.sides, materials, self.line) else {
            return;
        };
        self.material = material;
        self.contents = contents;
        let has = |bits| self.contents & bits != 0;
        self.is_detail = has_detail_face
            || has(content::DETAIL | content::PLAYERCLIP | content::MONSTERCLIP)
            || (has(content::TRANSLUCENT) && !has(content::STRUCTURAL));
        if self.is_detail {
            self.contents |= content::DETAIL;
        }
        let flags = |side: &BrushSide| materials[side.material].shader.surface_flags;
        self.has_sky = self.sides.iter().any(|side| flags(side) & surface::SKY != 0);
    }

    /// Whether the brush fills the leafs of its volume.
    #[must_use]
    pub(super) fn is_opaque(&self) -> bool {
        self.contents & content::TRANSLUCENT == 0
    }

    /// Whether the brush only steers the compiler.
    #[must_use]
    pub(super) fn is_hint(&self, materials: &Materials) -> bool {
        let flags = |side: &BrushSide| materials[side.material].shader.surface_flags;
        let steers = |side: &BrushSide| flags(side) & (surface::HINT | surface::SKIP) != 0;
        self.contents & content::SOLID == 0 && self.sides.iter().any(steers)
    }

    /// Cuts the polygon of each side out of its plane and drops sides without one.
    fn make_windings(&mut self, planes: &Planes) -> Result<(), &'static str> {
        let side_planes: Vec<usize> = self.sides.iter().map(|side| side.plane).collect();
        for side in &mut self.sides {
            let mut winding = Some(Winding::of_plane(&planes[side.plane]));
            for &other in side_planes.iter().filter(|&&other| other != side.plane) {
                winding = winding.and_then(|winding| winding.behind(&planes[other], 0.0));
            }
            side.winding = winding.and_then(|winding| winding.tidied());
        }
        self.sides.retain(|side| side.winding.is_some());
        if self.sides.len() < 4 {
            return Err("encloses nothing (expected four or more faces around a volume)");
        }
        let bounds = self.windings().map(Winding::bounds);
        self.bounds = bounds.fold(Bounds::EMPTY, Bounds::union);
        let is_inside = |point: Vector| point.0.iter().all(|part| part.abs() <= MAX_COORDINATE);
        if !is_inside(self.bounds.mins) || !is_inside(self.bounds.maxs) {
            return Err("is not closed, or outside the world (expected faces on all sides)");
        }
        Ok(())
    }

    /// Iterates over the polygons of the sides.
    pub(super) fn windings(&self) -> impl Iterator<Item = &Winding> {
        self.sides.iter().filter_map(|side| side.winding.as_ref())
    }

    /// Makes the brush relative to an origin.
    pub(super) fn move_to_origin(&mut self, origin: Vector, planes: &mut Planes) {
        for side in &mut self.sides {
            let Plane { normal, dist } = planes[side.plane];
            side.plane = planes.find(Plane { normal, dist: dist - normal.dot(origin) });
            side.projection = side.projection.relative_to(origin);
            side.winding = side.winding.take().map(|winding| winding.moved(-origin));
        }
        let bounds = self.windings().map(Winding::bounds);
        self.bounds = bounds.fold(Bounds::EMPTY, Bounds::union);
    }
}
