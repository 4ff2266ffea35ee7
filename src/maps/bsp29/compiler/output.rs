//! Tables of the map under construction: planes, nodes, leafs, models.

use std::collections::HashMap;

use super::super::HULL_BOXES;
use super::super::hull::Contents;
use super::faces::{Faces, Piece};
use super::solid::{self, Solid, SolidFace};
use super::tree::{self, Builder, Part};
use super::{Brush, BrushSide, MapSource, Point, is_wall, main_axis};

/// Half the width of the space that trees divide, in units.
const SPACE: f64 = 4096.0;
/// Reference of the shared solid leaf.
const SOLID_LEAF: i32 = -1;

/// A plane with its kind.
pub(super) struct PlaneRecord {
    pub(super) side: BrushSide,
    pub(super) kind: usize,
}

/// A node of hull 0.
#[derive(Default)]
pub(super) struct NodeRecord {
    pub(super) plane: usize,
    pub(super) children: [i32; 2],
    pub(super) region: Solid,
    pub(super) faces: [usize; 2],
}

/// A leaf.
pub(super) struct LeafRecord {
    pub(super) contents: Contents,
    pub(super) region: Solid,
    pub(super) marks: Vec<usize>,
}

/// A model.
pub(super) struct ModelRecord {
    pub(super) corners: [Point; 2],
    pub(super) heads: [i32; 3],
    pub(super) leafs: usize,
    pub(super) faces: [usize; 2],
}

/// The map under construction.
pub(super) struct Output<'a> {
    pub(super) source: &'a MapSource<'a>,
    pub(super) planes: Vec<PlaneRecord>,
    plane_numbers: HashMap<[i64; 4], usize>,
    pub(super) nodes: Vec<NodeRecord>,
    pub(super) leafs: Vec<LeafRecord>,
    pub(super) clip_nodes: Vec<(usize, [i32; 2])>,
    pub(super) models: Vec<ModelRecord>,
    pub(super) faces: Faces,
}

impl<'a> Output<'a> {
    pub(super) fn new(source: &'a MapSource<'a>) -> Self {
        let shared =
            LeafRecord { contents: Contents::SOLID, region: Vec::new(), marks: Vec::new() };
        Self {
            source,
            planes: Vec::new(),
            plane_numbers: HashMap::new(),
            nodes: Vec::new(),
            leafs: vec![shared],
            clip_nodes: Vec::new(),
            models: Vec::new(),
            faces: Faces::default(),
        }
    }

    pub(super) fn add_model(&mut self, brushes: &[Brush], is_world: bool) {
        let space = Brush::new([-SPACE; 3], [SPACE; 3]).sides;
        let space = solid::between(&space).unwrap_or_default();
        let (first_leaf, first_face) = (self.leafs.len(), self.faces.records.len());
        let hints = if is_world { self.source.hints } else { &[] };
        let points = parts(brushes.iter().map(|brush| (brush.sides.clone(), brush.contents)));
        let mut heads =
            [tree::build(&mut LeafTree { output: self, is_world }, &points, &space, hints), 0, 0];
        self.add_faces(brushes, heads[0]);
        let leafs = self.leafs.len() - first_leaf;
        for (head, (low, high)) in heads[1..].iter_mut().zip(&HULL_BOXES[1..]) {
            let corners = [low.0.map(f64::from), high.0.map(f64::from)];
            let walls = brushes.iter().filter(|brush| is_wall(brush.contents));
            let grown = parts(walls.map(|brush| (brush.grown(corners), brush.contents)));
            *head = tree::build(&mut ClipTree { output: self, is_world }, &grown, &space, &[]);
        }
        let corner = |pick: fn(f64, f64) -> f64, start: f64| -> Point {
            let all = points.iter().flat_map(|part| solid::corners(&part.solid));
            all.fold([start; 3], |best, corner| std::array::from_fn(|i| pick(best[i], corner[i])))
        };
        self.models.push(ModelRecord {
            corners: [corner(f64::min, f64::INFINITY), corner(f64::max, f64::NEG_INFINITY)],
            heads,
            leafs,
            faces: [first_face, self.faces.records.len() - first_face],
        });
    }

    fn add_faces(&mut self, brushes: &[Brush], head: i32) {
        let mut pieces: Vec<Piece> = Vec::new();
        for brush in brushes {
            for face in solid::between(&brush.sides).unwrap_or_default() {
                let (plane, is_flipped) = self.plane_number(&face.side);
                for winding in super::faces::chopped(face.winding) {
                    let piece = Piece {
                        node: None,
                        leaf: 0,
                        winding,
                        normal: face.side.normal,
                        plane,
                        is_flipped,
                        contents: brush.contents,
                        texture: brush.texture(&face.side.normal),
                    };
                    self.push_piece(head, head, piece, &mut pieces);
                }
            }
        }
        // Faces of a node are consecutive. The sort keeps the order within a node.
        pieces.sort_by_key(|piece| piece.node);
        for piece in pieces {
            let Some(node) = piece.node else { continue };
            let number = self.faces.records.len();
            let faces = &mut self.nodes[node].faces;
            if faces[1] == 0 {
                faces[0] = number;
            }
            faces[1] += 1;
            self.leafs[piece.leaf].marks.push(number);
            self.faces.add(&piece);
        }
    }

    /// Sends a polygon of a side down the tree. What ends in an open leaf is a visible face.
    fn push_piece(&self, root: i32, at: i32, mut piece: Piece, pieces: &mut Vec<Piece>) {
        if at < 0 {
            piece.leaf = !at as usize;
            let inside = self.leafs[piece.leaf].contents;
            if piece.node.is_none() || is_wall(inside) || inside == piece.contents {
                return;
            }
            // A liquid's surface is visible from below as well.
            let back = piece.contents.is_liquid().then(|| {
                let leaf = self.leaf_at(root, &piece.point_behind());
                piece.turned(leaf)
            });
            pieces.push(piece);
            pieces.extend(back);
            return;
        }
        let index = at as usize;
        let node = &self.nodes[index];
        if node.plane == piece.plane && piece.node.is_none() {
            piece.node = Some(index);
            let child = node.children[usize::from(piece.is_flipped)];
            return self.push_piece(root, child, piece, pieces);
        }
        let side = &self.planes[node.plane].side;
        let halves = super::winding::split(&piece.winding, &side.normal, side.dist);
        if halves.front.is_none() && halves.back.is_none() {
            let is_back = super::dot(&side.normal, &piece.normal) <= 0.0;
            let child = node.children[usize::from(is_back)];
            return self.push_piece(root, child, piece, pieces);
        }
        for (child, half) in node.children.into_iter().zip([halves.front, halves.back]) {
            if let Some(winding) = half {
                self.push_piece(root, child, Piece { winding, ..piece }, pieces);
            }
        }
    }

    fn leaf_at(&self, root: i32, point: &Point) -> usize {
        let mut at = root;
        while at >= 0 {
            let node = &self.nodes[at as usize];
            let side = &self.planes[node.plane].side;
            let is_back = super::dot(point, &side.normal) - side.dist <= 0.0;
            at = node.children[usize::from(is_back)];
        }
        !at as usize
    }

    /// Returns the number of a plane, and whether its stored normal is the opposite.
    fn plane_number(&mut self, side: &BrushSide) -> (usize, bool) {
        let main = main_axis(&side.normal);
        let is_flipped = side.normal[main] < 0.0;
        let sign = if is_flipped { -1.0 } else { 1.0 };
        // The sum turns negative zero into zero.
        let normal = side.normal.map(|part| sign * part + 0.0);
        let dist = sign * side.dist;
        let rounded = |value: f64, scale: f64| (value * scale).round_ties_even() as i64;
        let [x, y, z] = normal.map(|part| rounded(part, 1e6));
        let next = self.planes.len();
        let number = *self.plane_numbers.entry([x, y, z, rounded(dist, 1e3)]).or_insert(next);
        if number == next {
            let kind = if normal[main] == 1.0 { main } else { main + 3 };
            self.planes.push(PlaneRecord { side: BrushSide { normal, dist }, kind });
        }
        (number, is_flipped)
    }

    /// Whether a region is outside the space of the map.
    fn is_outside(&self, region: &[SolidFace]) -> bool {
        let ([low, high], middle) = (self.source.inner, solid::middle(region));
        !(0..3).all(|i| low[i] < middle[i] && middle[i] < high[i])
    }
}

fn parts(brushes: impl Iterator<Item = (Vec<BrushSide>, Contents)>) -> Vec<Part> {
    let parts = brushes.filter_map(|(sides, contents)| {
        solid::between(&sides).map(|solid| Part { solid, contents })
    });
    parts.collect()
}

/// Builder of hull 0.
struct LeafTree<'a, 'b> {
    output: &'a mut Output<'b>,
    is_world: bool,
}

impl Builder for LeafTree<'_, '_> {
    fn plane(&mut self, side: &BrushSide) -> (usize, BrushSide) {
        let (number, _) = self.output.plane_number(side);
        (number, self.output.planes[number].side)
    }

    fn leaf(&mut self, region: &[SolidFace], contents: Contents) -> i32 {
        if is_wall(contents) || (self.is_world && self.output.is_outside(region)) {
            return SOLID_LEAF;
        }
        let leaf = LeafRecord { contents, region: region.to_vec(), marks: Vec::new() };
        self.output.leafs.push(leaf);
        !(self.output.leafs.len() as i32 - 1)
    }

    fn begin_node(&mut self) -> usize {
        self.output.nodes.push(NodeRecord::default());
        self.output.nodes.len() - 1
    }

    fn end_node(
        &mut self,
        node: usize,
        plane: usize,
        children: [i32; 2],
        region: &[SolidFace],
    ) -> i32 {
        if children == [SOLID_LEAF; 2] {
            self.output.nodes.pop();
            return SOLID_LEAF;
        }
        self.output.nodes[node] =
            NodeRecord { plane, children, region: region.to_vec(), faces: [0, 0] };
        node as i32
    }
}

/// Builder of hulls 1 and 2.
struct ClipTree<'a, 'b> {
    output: &'a mut Output<'b>,
    is_world: bool,
}

impl Builder for ClipTree<'_, '_> {
    fn plane(&mut self, side: &BrushSide) -> (usize, BrushSide) {
        let (number, _) = self.output.plane_number(side);
        (number, self.output.planes[number].side)
    }

    fn leaf(&mut self, region: &[SolidFace], contents: Contents) -> i32 {
        let is_solid = is_wall(contents) || (self.is_world && self.output.is_outside(region));
        if is_solid { Contents::SOLID.number() } else { contents.number() }
    }

    fn begin_node(&mut self) -> usize {
        self.output.clip_nodes.push((0, [0; 2]));
        self.output.clip_nodes.len() - 1
    }

    fn end_node(&mut self, node: usize, plane: usize, children: [i32; 2], _: &[SolidFace]) -> i32 {
        if children[0] == children[1] && children[0] < 0 {
            self.output.clip_nodes.pop();
            return children[0];
        }
        self.output.clip_nodes[node] = (plane, children);
        node as i32
    }
}
