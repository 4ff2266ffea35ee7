//! Hulls: trees of planes in which a box of one size is a point.
//!
//! Invariants: children of a hull of a map are nodes of that map or contents. Every hull is at most
//! [`MAX_TREE_DEPTH`](super::MAX_TREE_DEPTH) nodes deep. A trace visits at most
//! [`MAX_TREE_VISITS`](super::MAX_TREE_VISITS) nodes.
//!
//! All arithmetic is single precision, one rounding per operation, in the order written: clients
//! predict with the same numbers.
//!
//! Source: QuakeWorld protocol 28. Engine names: `hull_t`, `PM_HullForBox`, `PM_HullPointContents`,
//! `PM_RecursiveHullCheck`.

use crate::model::Vec3;

/// Kind of matter in a part of space; negative numbers of the file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Contents(i16);

impl Contents {
    /// Air.
    pub const EMPTY: Self = Self(-1);
    /// Wall.
    pub const SOLID: Self = Self(-2);
    /// Water.
    pub const WATER: Self = Self(-3);
    /// Slime.
    pub const SLIME: Self = Self(-4);
    /// Lava.
    pub const LAVA: Self = Self(-5);
    /// Sky.
    pub const SKY: Self = Self(-6);
    /// Lowest number of the format; numbers below sky are those of later compilers.
    pub const LOWEST: Self = Self(-16);

    /// Returns the contents of a number of the file format.
    #[must_use]
    pub const fn new(number: i32) -> Option<Self> {
        if number >= Self::LOWEST.0 as i32 && number <= -1 {
            Some(Self(number as i16))
        } else {
            None
        }
    }

    /// Number of the file format.
    #[must_use]
    pub const fn number(self) -> i32 {
        self.0 as i32
    }

    /// Whether a player swims in it. The engine counts every number from water downward.
    #[must_use]
    pub const fn is_liquid(self) -> bool {
        self.0 <= Self::WATER.0
    }
}

/// A plane with its axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Normal vector.
    pub normal: Vec3,
    /// Distance from the origin along the normal.
    pub dist: f32,
    /// Axis of the normal, `0..3`, or [`Self::OBLIQUE`].
    axis: u8,
}

impl Plane {
    /// Axis of planes whose distance needs the dot product.
    const OBLIQUE: u8 = 3;

    /// Creates a plane; kinds of the format below 3 are axes.
    #[must_use]
    pub const fn new(normal: Vec3, dist: f32, kind: u8) -> Self {
        Self { normal, dist, axis: if kind < Self::OBLIQUE { kind } else { Self::OBLIQUE } }
    }

    /// Returns the distance of a point in front of the plane; negative behind.
    #[must_use]
    pub fn distance_to(&self, point: Vec3) -> f32 {
        match self.axis {
            axis @ 0..=2 => point[usize::from(axis)] - self.dist,
            _ => self.normal.dot(point) - self.dist,
        }
    }

    /// Returns whether a box has a part in front of the plane, and whether it has one behind it.
    #[must_use]
    pub(super) fn sides_of(&self, mins: Vec3, maxs: Vec3) -> (bool, bool) {
        if self.axis < Self::OBLIQUE {
            let axis = usize::from(self.axis);
            let front_only = self.dist <= mins[axis];
            let back_only = !front_only && self.dist >= maxs[axis];
            return (!back_only, !front_only);
        }
        let corner = |front: bool| {
            let pick = |i: usize| if (self.normal[i] < 0.0) == front { mins[i] } else { maxs[i] };
            self.normal.dot(Vec3::new(pick(0), pick(1), pick(2)))
        };
        let (front, back) = (corner(true) >= self.dist, corner(false) < self.dist);
        // Neither side: only with numbers that are not finite.
        if front || back { (front, back) } else { (true, true) }
    }
}

/// Child of a node: a node, or the contents of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HullChild(i32);

impl HullChild {
    pub(super) const fn node(index: usize) -> Self {
        debug_assert!(index <= i32::MAX as usize);
        Self(index as i32)
    }

    pub(super) const fn contents(contents: Contents) -> Self {
        Self(contents.0 as i32)
    }

    /// Returns the index of the node, or the contents.
    pub(super) const fn branch(self) -> Result<usize, Contents> {
        if self.0 >= 0 { Ok(self.0 as usize) } else { Err(Contents(self.0 as i16)) }
    }
}

/// A node of a hull.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HullNode {
    pub(super) plane: Plane,
    pub(super) children: [HullChild; 2],
}

/// A hull: the tree that boxes of one size are traced through.
#[derive(Clone, Copy, Debug)]
pub struct Hull<'a> {
    pub(super) nodes: &'a [HullNode],
    pub(super) head: HullChild,
    /// Lower corner of the box that is a point in this hull.
    pub mins: Vec3,
    /// Upper corner of that box.
    pub maxs: Vec3,
}

/// Result of a trace through one hull.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullTrace {
    /// Whether the whole line is in solid.
    pub all_solid: bool,
    /// Whether the line starts in solid.
    pub start_solid: bool,
    /// Whether a part of the line is in air.
    pub in_open: bool,
    /// Whether a part of the line is in a liquid.
    pub in_water: bool,
    /// Part of the line before the impact; 1 without an impact.
    pub fraction: f32,
    /// Point of the impact, or the end of the line.
    pub end: Vec3,
    /// Normal of the plane that was hit, or zero.
    pub normal: Vec3,
    /// Distance of that plane.
    pub dist: f32,
}

impl HullTrace {
    /// A trace that meets nothing.
    #[must_use]
    pub const fn clear(end: Vec3) -> Self {
        Self {
            all_solid: false,
            start_solid: false,
            in_open: false,
            in_water: false,
            fraction: 1.0,
            end,
            normal: Vec3::ZERO,
            dist: 0.0,
        }
    }
}

impl Hull<'_> {
    /// Returns the contents at a point. A point on a plane is in front of it.
    #[must_use]
    pub fn contents_at(&self, point: Vec3) -> Contents {
        let mut child = self.head;
        loop {
            match child.branch() {
                Ok(node) => {
                    let node = &self.nodes[node];
                    child = node.children[usize::from(node.plane.distance_to(point) < 0.0)];
                }
                Err(contents) => return contents,
            }
        }
    }

    /// Traces a line.
    #[must_use]
    pub fn trace(&self, start: Vec3, end: Vec3) -> HullTrace {
        let mut walk = Walk { nodes: self.nodes, met_leaf: false, trace: HullTrace::clear(end) };
        let outcome = walk.segment(self.head, (0.0, 1.0), start, end);
        let mut trace = walk.trace;
        if outcome == Outcome::Solid && !walk.met_open() {
            trace.all_solid = true;
            trace.start_solid = true;
            trace.end = start;
        }
        trace
    }
}

/// Result of a part of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Nothing solid at its end.
    Empty,
    /// Solid at its end, without an impact.
    Solid,
    /// An impact.
    Blocked,
}

/// State of one trace.
struct Walk<'a> {
    nodes: &'a [HullNode],
    met_leaf: bool,
    trace: HullTrace,
}

/// Distance in front of a plane at which a line stops, in units.
const IMPACT_DISTANCE: f32 = 1.0 / 32.0;

impl Walk<'_> {
    const fn met_open(&self) -> bool {
        self.trace.in_open || self.trace.in_water
    }

    fn leaf(&mut self, contents: Contents) -> Outcome {
        let is_first = !std::mem::replace(&mut self.met_leaf, true);
        if contents == Contents::SOLID {
            self.trace.start_solid |= is_first;
            return Outcome::Solid;
        }
        if contents == Contents::EMPTY {
            self.trace.in_open = true;
        } else {
            self.trace.in_water = true;
        }
        Outcome::Empty
    }

    /// Traces a part of the line, between two fractions of it, below a node. Recursion ends within the depth of
    /// the hull.
    fn segment(
        &mut self,
        mut child: HullChild,
        (from, to): (f32, f32),
        start: Vec3,
        end: Vec3,
    ) -> Outcome {
        let (node, distances) = loop {
            let node = match child.branch() {
                Ok(node) => &self.nodes[node],
                Err(contents) => return self.leaf(contents),
            };
            let (first, second) = (node.plane.distance_to(start), node.plane.distance_to(end));
            if first >= 0.0 && second >= 0.0 {
                child = node.children[0];
            } else if first < 0.0 && second < 0.0 {
                child = node.children[1];
            } else {
                break (node, (first, second));
            }
        };
        let (first, second) = distances;
        let point = |part: f32| start + (end - start) * part;
        let middle = (first / (first - second)).clamp(0.0, 1.0);
        let middle_fraction = from + (to - from) * middle;
        let middle_point = point(middle);
        let near_side = usize::from(first < second);

        let near =
            self.segment(node.children[near_side], (from, middle_fraction), start, middle_point);
        if near == Outcome::Blocked || (near == Outcome::Solid && self.met_open()) {
            return near;
        }
        let far =
            self.segment(node.children[1 - near_side], (middle_fraction, to), middle_point, end);
        if far != Outcome::Solid {
            return far;
        }
        if near != Outcome::Empty {
            return near;
        }
        let (stop, sign) = if near_side == 0 {
            (first - IMPACT_DISTANCE, 1.0)
        } else {
            (first + IMPACT_DISTANCE, -1.0)
        };
        let impact = (stop / (first - second)).clamp(0.0, 1.0);
        self.trace.normal = if near_side == 0 {
            node.plane.normal
        } else {
            // Zero becomes negative zero, as for clients.
            Vec3(node.plane.normal.0.map(|part| -part))
        };
        self.trace.dist = node.plane.dist * sign;
        self.trace.fraction = from + (to - from) * impact;
        self.trace.end = point(impact);
        Outcome::Blocked
    }
}

/// Hull of a box: six planes.
#[derive(Clone, Copy, Debug)]
pub struct BoxHull([HullNode; 6]);

impl BoxHull {
    /// Creates the hull of a box.
    #[must_use]
    pub fn new(mins: Vec3, maxs: Vec3) -> Self {
        const AXES: [Vec3; 3] =
            [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
        Self(std::array::from_fn(|side| {
            let (axis, is_lower) = (side / 2, side % 2);
            let dist = if is_lower == 1 { mins[axis] } else { maxs[axis] };
            let inside = if side == 5 {
                HullChild::contents(Contents::SOLID)
            } else {
                HullChild::node(side + 1)
            };
            let mut children = [inside; 2];
            // In front of an upper side, or behind a lower one, is outside.
            children[is_lower] = HullChild::contents(Contents::EMPTY);
            HullNode { plane: Plane::new(AXES[axis], dist, axis as u8), children }
        }))
    }

    /// Returns the tree of the box.
    #[must_use]
    pub const fn hull(&self) -> Hull<'_> {
        Hull { nodes: &self.0, head: HullChild::node(0), mins: Vec3::ZERO, maxs: Vec3::ZERO }
    }
}
