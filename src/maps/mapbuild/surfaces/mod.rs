//! Drawn surfaces: polygons of brush sides and patches, without gaps between them.

mod junctions;
mod triangles;

use super::{
    map_file::Patch,
    materials::Materials,
    planes::{Plane, Planes},
    projection::Projection,
    tree::{Child, Tree},
    vector::Vector,
    winding::{Winding, WindingSide},
};
use crate::model::contents::surface;

pub(super) use junctions::close_gaps;
use triangles::{Triangulation, triangulate};

/// Longest polygon, so that its light map fits on a page of 128 luxels of 16 units.
const MAX_EXTENT: f64 = 1920.0;
/// Tolerance of cuts.
const CUT: f64 = 0.01;
/// Distance within which a surface touches a leaf's border.
const ON: f64 = 0.1;
/// Maximum number of points that a client draws of one polygon.
pub(super) const MAX_POINTS: usize = 64;

/// Surface flags of sides that are not drawn.
pub(super) const HIDDEN: i32 = surface::NODRAW | surface::HINT | surface::SKIP;

/// A drawn surface.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    /// Material.
    pub material: usize,
    /// Model: 0 is the world.
    pub model: usize,
    /// Shape.
    pub shape: Shape,
    /// Fog in which it is.
    pub fog: Option<usize>,
}

/// Shape of a surface.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Part of a brush side.
    Polygon {
        /// Polygon; points may be on its edges.
        winding: Winding,
        /// Plane of the side.
        plane: usize,
        /// Texture coordinates.
        projection: Projection,
    },
    /// Curved patch.
    Patch(Patch),
}

/// Whether surfaces of a material are drawn.
#[must_use]
pub(super) fn is_drawn(materials: &Materials, material: usize) -> bool {
    materials[material].shader.surface_flags & HIDDEN == 0
}

/// Cuts a polygon into parts that fit on a light map page.
#[must_use]
pub(super) fn fitting(winding: Winding, plane: &Plane) -> Vec<Winding> {
    let mut parts = vec![winding];
    let main = plane.normal.main_axis();
    for axis in (0..3).filter(|&axis| axis != main) {
        let mut fitting = Vec::new();
        while let Some(part) = parts.pop() {
            let bounds = part.bounds();
            if bounds.maxs[axis] - bounds.mins[axis] <= MAX_EXTENT {
                fitting.push(part);
                continue;
            }
            let dist = bounds.mins[axis] + MAX_EXTENT;
            let cut = part.cut(&Plane { normal: Vector::along(axis, 1.0), dist }, CUT);
            fitting.extend(cut.back);
            parts.extend(cut.front);
        }
        parts = fitting;
    }
    parts
}

/// Lists each surface of the world in the open leafs that it touches. Returns the surfaces in no leaf.
pub(super) fn list_in_leafs(tree: &mut Tree, surfaces: &[Surface], planes: &Planes) -> Vec<usize> {
    let mut lost = Vec::new();
    for (number, surface) in surfaces.iter().enumerate().filter(|(_, surface)| surface.model == 0) {
        let mut leafs = Vec::new();
        match &surface.shape {
            Shape::Polygon { winding, plane, .. } => {
                reach(tree, planes, winding.clone(), Some(*plane), tree.root, &mut leafs);
            }
            Shape::Patch(patch) => {
                for corners in patch.triangles() {
                    if let Some(triangle) = Winding::new(corners.to_vec()) {
                        reach(tree, planes, triangle, None, tree.root, &mut leafs);
                    }
                }
            }
        }
        leafs.sort_unstable();
        leafs.dedup();
        leafs.retain(|&leaf| !tree.leafs[leaf].is_opaque);
        if leafs.is_empty() {
            lost.push(number);
        }
        for leaf in leafs {
            tree.leafs[leaf].surfaces.push(number);
        }
    }
    lost
}

/// Returns the vertices of a polygon's surface, and the corners of its triangles.
pub(super) fn vertices_of(surface: &Surface) -> (Vec<Vector>, Vec<usize>) {
    match &surface.shape {
        Shape::Polygon { winding, .. } => {
            let Triangulation { middle, corners } = triangulate(winding);
            let mut points = winding.points().to_vec();
            points.extend(middle);
            (points, corners)
        }
        Shape::Patch(patch) => (patch.points.iter().map(|p| p.position).collect(), Vec::new()),
    }
}

/// Returns texture coordinates in repeats, near zero to keep single precision exact.
pub(super) fn texture_coordinates(
    materials: &Materials,
    surface: &Surface,
    points: &[Vector],
) -> Vec<[f64; 2]> {
    let Shape::Polygon { projection, .. } = &surface.shape else { return Vec::new() };
    let size = materials[surface.material].size;
    let coordinates: Vec<[f64; 2]> =
        points.iter().map(|&point| projection.at(point, size)).collect();
    let low =
        [0, 1].map(|k| coordinates.iter().map(|st| st[k]).fold(f64::INFINITY, f64::min).floor());
    coordinates.into_iter().map(|st| [0, 1].map(|k| st[k] - low[k])).collect()
}

fn reach(
    tree: &Tree,
    planes: &Planes,
    winding: Winding,
    of: Option<usize>,
    at: Child,
    leafs: &mut Vec<usize>,
) {
    let node = match at {
        Child::Leaf(leaf) => return leafs.push(leaf),
        Child::Node(node) => &tree.nodes[node],
    };
    let [front, back] = node.children;
    if of.is_some_and(|of| of & !1 == node.plane) {
        let side = if of == Some(node.plane) { front } else { back };
        return reach(tree, planes, winding, of, side, leafs);
    }
    let plane = &planes[node.plane];
    if winding.place(plane, ON) == WindingSide::On {
        reach(tree, planes, winding.clone(), of, front, leafs);
        return reach(tree, planes, winding, of, back, leafs);
    }
    let parts = winding.cut(plane, ON);
    for (part, child) in [parts.front, parts.back].into_iter().zip(node.children) {
        if let Some(part) = part {
            reach(tree, planes, part, of, child, leafs);
        }
    }
}
