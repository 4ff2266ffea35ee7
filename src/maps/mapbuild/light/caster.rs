//! Shadow rays against convex solids.
//!
//! A bounding volume hierarchy over the bounds of the solids, split by surface area. Any hit ends a ray; the
//! nearer child is visited first. Bounds replace axial planes, so that a box needs no plane test.

use super::{
    scene::{Occluder, Plane},
    vector::{Vector, dot},
};

/// Maximum depth of the hierarchy: the stack of a traversal.
const MAX_DEPTH: usize = 64;
/// Maximum solids per leaf.
const LEAF_SIZE: usize = 2;
/// Fraction of a ray that must be in a solid.
const MIN_OVERLAP: f64 = 1e-9;

/// Solids, searchable by ray and point.
#[derive(Debug)]
pub(crate) struct Caster {
    nodes: Vec<Node>,
    solids: Vec<Solid>,
    planes: Vec<Plane>,
    /// Number of rays.
    #[cfg(test)]
    pub(crate) rays: std::sync::atomic::AtomicU64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: [Vector; 2],
    /// First solid of a leaf, or the second child. The first child follows its parent.
    next: u32,
    /// Solids of a leaf; 0 for an inner node.
    count: u32,
    /// Axis of an inner node's split.
    axis: u8,
}

#[derive(Clone, Copy, Debug)]
struct Solid {
    bounds: [Vector; 2],
    /// Range of its planes that are not axial.
    planes: (u32, u32),
}

/// Ray from a point to another.
struct Ray {
    from: Vector,
    to: Vector,
    step: Vector,
    inverse: Vector,
}

impl Ray {
    fn new(from: Vector, to: Vector) -> Self {
        let step = super::vector::sub(to, from);
        Self { from, to, step, inverse: step.map(|s| 1.0 / s) }
    }

    /// Fractions of the ray within bounds, or `None` outside of them.
    fn clip(&self, bounds: &[Vector; 2]) -> Option<(f64, f64)> {
        let mut enter = 0.0f64;
        let mut leave = 1.0f64;
        let [low, high] = bounds;
        for axis in 0..3 {
            let from = self.from[axis];
            if self.step[axis] == 0.0 {
                if from < low[axis] || from > high[axis] {
                    return None;
                }
                continue;
            }
            let a = (low[axis] - from) * self.inverse[axis];
            let b = (high[axis] - from) * self.inverse[axis];
            let (near, far) = if a < b { (a, b) } else { (b, a) };
            if near > enter {
                enter = near;
            }
            if far < leave {
                leave = far;
            }
            if enter > leave {
                return None;
            }
        }
        Some((enter, leave))
    }
}

impl Caster {
    /// Builds the hierarchy over all solids that cast shadows.
    pub(crate) fn new(occluders: &[Occluder]) -> Self {
        let mut planes = Vec::new();
        let mut solids: Vec<Solid> = Vec::new();
        for occluder in occluders.iter().filter(|o| o.casts_shadow && !o.sky) {
            let first = planes.len() as u32;
            planes.extend(
                occluder
                    .planes
                    .iter()
                    .filter(|p| p.normal.iter().filter(|n| **n != 0.0).count() > 1),
            );
            solids.push(Solid { bounds: occluder.bounds, planes: (first, planes.len() as u32) });
        }
        let mut caster = Self {
            nodes: Vec::new(),
            solids: Vec::with_capacity(solids.len()),
            planes,
            #[cfg(test)]
            rays: Default::default(),
        };
        if !solids.is_empty() {
            caster.build(&mut solids, 0);
        }
        caster
    }

    fn build(&mut self, solids: &mut [Solid], depth: usize) {
        let bounds = union(solids);
        let index = self.nodes.len();
        self.nodes.push(Node {
            bounds,
            next: self.solids.len() as u32,
            count: solids.len() as u32,
            axis: 0,
        });
        if solids.len() <= LEAF_SIZE || depth + 2 >= MAX_DEPTH {
            self.solids.extend_from_slice(solids);
            return;
        }
        let (axis, at) = best_split(solids);
        sort(solids, axis);
        let (left, right) = solids.split_at_mut(at);
        self.build(left, depth + 1);
        let second = self.nodes.len() as u32;
        self.build(right, depth + 1);
        self.nodes[index].next = second;
        self.nodes[index].count = 0;
        self.nodes[index].axis = axis as u8;
    }

    /// Whether a solid lies between two points.
    pub(crate) fn blocked(&self, from: Vector, to: Vector) -> bool {
        #[cfg(test)]
        let _ = self.rays.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if self.nodes.is_empty() {
            return false;
        }
        let ray = Ray::new(from, to);
        let mut stack = [0u32; MAX_DEPTH];
        let mut depth = 0;
        let mut at = 0u32;
        loop {
            let node = &self.nodes[at as usize];
            if ray.clip(&node.bounds).is_some() {
                if node.count == 0 {
                    let near_first = ray.step[node.axis as usize] >= 0.0;
                    let (near, far) =
                        if near_first { (at + 1, node.next) } else { (node.next, at + 1) };
                    stack[depth] = far;
                    depth += 1;
                    at = near;
                    continue;
                }
                let first = node.next as usize;
                let solids = &self.solids[first..first + node.count as usize];
                if solids.iter().any(|solid| self.hits(solid, &ray)) {
                    return true;
                }
            }
            if depth == 0 {
                return false;
            }
            depth -= 1;
            at = stack[depth];
        }
    }

    fn hits(&self, solid: &Solid, ray: &Ray) -> bool {
        let Some((mut enter, mut leave)) = ray.clip(&solid.bounds) else {
            return false;
        };
        for plane in &self.planes[solid.planes.0 as usize..solid.planes.1 as usize] {
            let a = dot(plane.normal, ray.from) - plane.distance;
            let b = dot(plane.normal, ray.to) - plane.distance;
            if a > 0.0 && b > 0.0 {
                return false;
            }
            if a <= 0.0 && b <= 0.0 {
                continue;
            }
            let at = a / (a - b);
            if a > b {
                enter = enter.max(at);
            } else {
                leave = leave.min(at);
            }
        }
        leave - enter > MIN_OVERLAP
    }

    /// Whether a point is in a solid or on its surface.
    pub(crate) fn inside(&self, point: Vector) -> bool {
        if self.nodes.is_empty() {
            return false;
        }
        let mut stack = vec![0u32];
        while let Some(at) = stack.pop() {
            let node = &self.nodes[at as usize];
            if !contains(&node.bounds, point) {
                continue;
            }
            if node.count == 0 {
                stack.extend([at + 1, node.next]);
                continue;
            }
            let first = node.next as usize;
            for solid in &self.solids[first..first + node.count as usize] {
                let planes = &self.planes[solid.planes.0 as usize..solid.planes.1 as usize];
                if contains(&solid.bounds, point)
                    && planes.iter().all(|p| dot(p.normal, point) - p.distance <= 0.01)
                {
                    return true;
                }
            }
        }
        false
    }
}

fn contains(bounds: &[Vector; 2], point: Vector) -> bool {
    (0..3)
        .all(|axis| point[axis] >= bounds[0][axis] - 0.01 && point[axis] <= bounds[1][axis] + 0.01)
}

fn union(solids: &[Solid]) -> [Vector; 2] {
    super::vector::bounds(solids.iter().flat_map(|s| s.bounds))
}

fn half_area(bounds: &[Vector; 2]) -> f64 {
    let size = super::vector::sub(bounds[1], bounds[0]);
    size[0] * size[1] + size[1] * size[2] + size[2] * size[0]
}

/// Sorts by center. The whole bounds break ties, so that the input order has no influence.
fn sort(solids: &mut [Solid], axis: usize) {
    let key = |s: &Solid| s.bounds[0][axis] + s.bounds[1][axis];
    solids.sort_by(|a, b| {
        let mut order = key(a).total_cmp(&key(b));
        for corner in 0..2 {
            for k in 0..3 {
                order = order.then(a.bounds[corner][k].total_cmp(&b.bounds[corner][k]));
            }
        }
        order
    });
}

/// Axis and number of solids of the first part, with the least expected cost.
fn best_split(solids: &mut [Solid]) -> (usize, usize) {
    let mut best = (f64::INFINITY, 0, solids.len() / 2);
    let mut right = vec![0.0; solids.len()];
    for axis in 0..3 {
        sort(solids, axis);
        let mut bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for at in (1..solids.len()).rev() {
            bounds = super::vector::bounds(bounds.into_iter().chain(solids[at].bounds));
            right[at] = half_area(&bounds);
        }
        bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for at in 1..solids.len() {
            bounds = super::vector::bounds(bounds.into_iter().chain(solids[at - 1].bounds));
            let rest = (solids.len() - at) as f64;
            let cost = half_area(&bounds) * at as f64 + right[at] * rest;
            if cost < best.0 {
                best = (cost, axis, at);
            }
        }
    }
    (best.1, best.2)
}
