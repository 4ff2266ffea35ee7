//! Visible faces: polygons with vertices, edges and texture projections.

use std::collections::HashMap;

use super::super::hull::Contents;
use super::winding::{ON_PLANE, Winding, split};
use super::{FACE_SIZE, Point, main_axis};

/// A part of a side of a brush, on its way down the tree.
#[derive(Clone)]
pub(super) struct Piece {
    /// Node whose plane is that of the side, once it was met.
    pub(super) node: Option<usize>,
    /// Leaf that it was found in.
    pub(super) leaf: usize,
    pub(super) winding: Winding,
    pub(super) normal: Point,
    pub(super) plane: usize,
    /// Whether the face looks against the normal of the stored plane.
    pub(super) is_flipped: bool,
    pub(super) contents: Contents,
    pub(super) texture: usize,
}

impl Piece {
    /// Returns a point 1 unit behind the middle.
    pub(super) fn point_behind(&self) -> Point {
        let count = self.winding.len() as f64;
        std::array::from_fn(|i| {
            self.winding.iter().map(|point| point[i]).sum::<f64>() / count - self.normal[i]
        })
    }

    /// Returns the other side of the polygon, in its own leaf.
    pub(super) fn turned(&self, leaf: usize) -> Self {
        Self {
            leaf,
            winding: self.winding.iter().rev().copied().collect(),
            normal: self.normal.map(|part| -part),
            is_flipped: !self.is_flipped,
            ..*self
        }
    }
}

/// A face of the file.
pub(super) struct FaceRecord {
    pub(super) plane: usize,
    pub(super) is_flipped: bool,
    pub(super) first_edge: usize,
    pub(super) edges: usize,
    pub(super) texture_info: usize,
}

/// A texture with the axes that it is projected along.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Projection {
    pub(super) texture: usize,
    pub(super) axes: [usize; 2],
}

/// Tables of the faces of a map.
#[derive(Default)]
pub(super) struct Faces {
    pub(super) records: Vec<FaceRecord>,
    pub(super) vertices: Vec<Point>,
    vertex_numbers: HashMap<[i64; 3], usize>,
    /// Edges from edge 1; edge 0 is unused, since its direction would have no sign.
    pub(super) edges: Vec<[usize; 2]>,
    pub(super) projections: Vec<Projection>,
    projection_numbers: HashMap<Projection, usize>,
}

impl Faces {
    pub(super) fn add(&mut self, piece: &Piece) {
        let axes = [[1, 2], [0, 2], [0, 1]][main_axis(&piece.normal)];
        let projection = Projection { texture: piece.texture, axes };
        let next = self.projections.len();
        let texture_info = *self.projection_numbers.entry(projection).or_insert(next);
        if texture_info == next {
            self.projections.push(projection);
        }
        let vertices: Vec<_> = piece.winding.iter().map(|point| self.vertex(point)).collect();
        let first_edge = self.edges.len();
        let ends = vertices.iter().cycle().skip(1);
        self.edges.extend(vertices.iter().zip(ends).map(|(&from, &to)| [from, to]));
        self.records.push(FaceRecord {
            plane: piece.plane,
            is_flipped: piece.is_flipped,
            first_edge,
            edges: vertices.len(),
            texture_info,
        });
    }

    /// Returns the number of a vertex, rounded to thousandths of a unit.
    fn vertex(&mut self, point: &Point) -> usize {
        let rounded = point.map(|part| (part * 1000.0).round_ties_even());
        let next = self.vertices.len();
        let number = *self.vertex_numbers.entry(rounded.map(|part| part as i64)).or_insert(next);
        if number == next {
            // The sum turns negative zero into zero.
            self.vertices.push(rounded.map(|part| part / 1000.0 + 0.0));
        }
        number
    }
}

/// Cuts a polygon along a grid of [`FACE_SIZE`].
pub(super) fn chopped(winding: Winding) -> Vec<Winding> {
    let mut pieces = vec![winding];
    for axis in 0..3 {
        let along = |pick: fn(f64, f64) -> f64, start: f64| {
            pieces.iter().flatten().fold(start, |best, point| pick(best, point[axis]))
        };
        let (low, high) = (along(f64::min, f64::INFINITY), along(f64::max, f64::NEG_INFINITY));
        let normal: Point = std::array::from_fn(|i| if i == axis { 1.0 } else { 0.0 });
        let first = (low / FACE_SIZE).ceil() as i32;
        let end = (high / FACE_SIZE).ceil() as i32;
        for line in (first..end).map(|line| f64::from(line) * FACE_SIZE) {
            if low + ON_PLANE < line && line < high - ON_PLANE {
                let halves = pieces.iter().flat_map(|piece| {
                    let halves = split(piece, &normal, line);
                    [halves.front, halves.back].into_iter().flatten()
                });
                pieces = halves.collect();
            }
        }
    }
    pieces
}
