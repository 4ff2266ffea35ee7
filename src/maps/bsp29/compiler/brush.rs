//! Brushes: convex solids between planes, with contents and textures.

use super::super::hull::Contents;
use super::{Point, dot, main_axis, solid};

/// A plane whose normal points out of a brush.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrushSide {
    /// Normal vector of length 1.
    pub normal: Point,
    /// Distance from the origin along the normal.
    pub dist: f64,
}

/// Horizontal direction in which a ramp rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Toward positive x.
    East,
    /// Toward negative x.
    West,
    /// Toward positive y.
    North,
    /// Toward negative y.
    South,
}

/// A convex solid.
#[derive(Clone, Debug)]
pub struct Brush {
    pub(super) sides: Vec<BrushSide>,
    pub(super) contents: Contents,
    /// Textures of walls, floors and ceilings.
    pub(super) textures: [usize; 3],
}

impl Brush {
    /// A box between two corners, of texture 0 on walls, 1 on floors, 2 on ceilings.
    #[must_use]
    pub fn new(low: Point, high: Point) -> Self {
        let axes = (0..3).flat_map(|axis| {
            let normal = |sign: f64| std::array::from_fn(|i| if i == axis { sign } else { 0.0 });
            [
                BrushSide { normal: normal(-1.0), dist: -low[axis] },
                BrushSide { normal: normal(1.0), dist: high[axis] },
            ]
        });
        Self { sides: axes.collect(), contents: Contents::SOLID, textures: [0, 1, 2] }
    }

    /// A wedge in a box, that rises from its bottom to its top.
    #[must_use]
    pub fn ramp(low: Point, high: Point, direction: Direction) -> Self {
        let (axis, is_up) = match direction {
            Direction::East => (0, true),
            Direction::West => (0, false),
            Direction::North => (1, true),
            Direction::South => (1, false),
        };
        let foot = if is_up { low[axis] } else { high[axis] };
        let (run, rise) = (high[axis] - low[axis], high[2] - low[2]);
        let length = (run * run + rise * rise).sqrt();
        let mut normal = [0.0, 0.0, run / length];
        normal[axis] = if is_up { -rise } else { rise } / length;
        let dist = normal[axis] * foot + normal[2] * low[2];
        Self::new(low, high).cut(BrushSide { normal, dist })
    }

    /// Cuts the part in front of a plane off.
    #[must_use]
    pub fn cut(mut self, side: BrushSide) -> Self {
        self.sides.push(side);
        self
    }

    /// Fills the brush with other contents.
    #[must_use]
    pub const fn filled(mut self, contents: Contents) -> Self {
        self.contents = contents;
        self
    }

    /// Sets the textures of walls, floors and ceilings.
    #[must_use]
    pub const fn painted(mut self, walls: usize, floors: usize, ceilings: usize) -> Self {
        self.textures = [walls, floors, ceilings];
        self
    }

    /// Returns the texture of a face.
    pub(super) fn texture(&self, normal: &Point) -> usize {
        let [wall, floor, ceiling] = self.textures;
        match normal[2] {
            z if z < 0.0 => ceiling,
            _ if main_axis(normal) == 2 => floor,
            _ => wall,
        }
    }

    /// Returns the planes of the brush, grown by the box of a hull. Planes along the axes that touch the brush keep
    /// slopes from growing beyond it.
    pub(super) fn grown(&self, [low, high]: [Point; 2]) -> Vec<BrushSide> {
        let solid = solid::between(&self.sides).unwrap_or_default();
        let mut sides = self.sides.clone();
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let normal: Point = std::array::from_fn(|i| if i == axis { sign } else { 0.0 });
                if sides.iter().all(|side| side.normal != normal) {
                    let corners = solid::corners(&solid);
                    let reach = corners.map(|corner| dot(corner, &normal));
                    let dist = reach.fold(f64::NEG_INFINITY, f64::max);
                    sides.push(BrushSide { normal, dist });
                }
            }
        }
        for side in &mut sides {
            let least = |i: usize| (side.normal[i] * low[i]).min(side.normal[i] * high[i]);
            side.dist -= (0..3).map(least).sum::<f64>();
        }
        sides
    }
}
