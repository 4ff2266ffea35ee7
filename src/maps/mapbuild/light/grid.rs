//! Light grid: light of models, at points in the open.
//!
//! A point has ambient light, directed light and the direction of the latter. Points in solids move a little; those
//! without a free place are black, which renderers skip.

use super::{
    gather::{Emitter, Ray, Sources, from_emitters},
    scene::Scene,
    to_bytes,
    vector::{Vector, add, along, dot, length, normalize, scale},
};
use crate::model::map_parallel;

/// Maximum points of a grid.
const MAX_POINTS: usize = 1 << 20;
/// Smallest cell side, in units.
const MIN_CELL: f64 = 8.0;
/// Bounced light below this is not worth a shadow ray.
const NEGLIGIBLE: f64 = 0.05;

/// Extent of the light grid of model 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    origin: Vector,
    cell: Vector,
    counts: [usize; 3],
}

impl Extent {
    /// Extent for bounds, as renderers compute it; `None` if the grid is too large.
    pub(crate) fn new(cell: Vector, bounds: &[Vector; 2]) -> Option<Self> {
        let mut extent = Self { origin: [0.0; 3], cell, counts: [0; 3] };
        let mut points = 1usize;
        for axis in 0..3 {
            let size = cell[axis];
            if size < MIN_CELL || !bounds[0][axis].is_finite() || !bounds[1][axis].is_finite() {
                return None;
            }
            extent.origin[axis] = size * (bounds[0][axis] / size).ceil();
            let last = size * (bounds[1][axis] / size).floor();
            let steps = (last - extent.origin[axis]) / size;
            if !(0.0..MAX_POINTS as f64).contains(&steps) {
                return None;
            }
            extent.counts[axis] = steps as usize + 1;
            points = points.checked_mul(extent.counts[axis])?;
        }
        (points <= MAX_POINTS).then_some(extent)
    }

    fn points(&self) -> usize {
        self.counts.iter().product()
    }

    fn point(&self, index: usize) -> Vector {
        let [x, y, _] = self.counts;
        let at = [index % x, index / x % y, index / x / y];
        std::array::from_fn(|axis| self.origin[axis] + self.cell[axis] * at[axis] as f64)
    }
}

/// Computes the bytes of the grid: 8 per point, x fastest.
pub(crate) fn grid(
    sources: &Sources,
    scene: &Scene,
    bounced: &[Emitter],
    threads: usize,
) -> Vec<u8> {
    let Some(extent) = Extent::new(scene.grid_cell, &scene.bounds) else {
        return Vec::new();
    };
    let row = extent.counts[0];
    let rows = map_parallel(extent.points() / row, threads, |index| {
        (0..row)
            .flat_map(|x| point_bytes(sources, scene, bounced, extent.point(index * row + x)))
            .collect::<Vec<u8>>()
    });
    rows.concat()
}

fn point_bytes(sources: &Sources, scene: &Scene, bounced: &[Emitter], point: Vector) -> [u8; 8] {
    let Some(point) = free_place(sources, scene, point) else {
        return [0; 8];
    };
    let mut rays: Vec<Ray> = Vec::new();
    sources.around(point, &mut |ray| rays.push(ray));
    from_emitters(sources.caster, bounced, point, None, NEGLIGIBLE, &mut |ray| {
        rays.push(ray);
    });
    let mut sum = [0.0; 3];
    for ray in &rays {
        sum = along(sum, ray.direction, ray.light.iter().sum());
    }
    let mut toward = normalize(sum);
    if length(toward) < 0.5 {
        toward = [0.0, 0.0, 1.0];
    }
    let mut directed = [0.0; 3];
    let mut rest = [0.0; 3];
    for ray in &rays {
        let part = dot(ray.direction, toward).max(0.0);
        directed = along(directed, ray.light, part);
        rest = along(rest, ray.light, 1.0 - part);
    }
    let ambient = add(scene.ambient, add(scale(rest, 0.25), scale(directed, 0.25)));
    // Readers skip points without ambient light.
    let ambient = to_bytes(ambient).map(|c| c.max(1));
    let directed = to_bytes(directed);
    let turns = |angle: f64| (angle * 128.0 / std::f64::consts::PI).round() as i64 as u8;
    let polar = turns(libm::acos(toward[2].clamp(-1.0, 1.0)));
    let azimuth = turns(libm::atan2(toward[1], toward[0]));
    [ambient[0], ambient[1], ambient[2], directed[0], directed[1], directed[2], polar, azimuth]
}

/// The point itself, or one of its neighbors in the open.
fn free_place(sources: &Sources, scene: &Scene, point: Vector) -> Option<Vector> {
    let open = |p: Vector| {
        let within = (0..3).all(|k| p[k] > scene.bounds[0][k] && p[k] < scene.bounds[1][k]);
        within && !sources.caster.inside(p)
    };
    if open(point) {
        return Some(point);
    }
    [9.0, 18.0].into_iter().find_map(|distance| {
        (0..8)
            .map(|corner| {
                std::array::from_fn(|axis| {
                    let sign = if corner >> axis & 1 == 0 { 1.0 } else { -1.0 };
                    point[axis] + sign * distance
                })
            })
            .find(|p| open(*p))
    })
}
