//! Light grid: light of models, at points in the open.
//!
//! A point has ambient light, directed light and the direction of the latter. Points in solids move a little; those
//! without a free place are black, which renderers skip.

use super::{
    Options,
    gather::{Emitter, LocalSources, Ray, Region, Sources, emitters_near, from_emitters},
    in_chunks,
    scene::Scene,
    to_bytes,
    vector::{Vector, add, along, dot, length, normalize, scale},
};

/// Maximum points of a grid.
const MAX_POINTS: usize = 1 << 20;
/// Points along x and y of a draft that share one computed point.
const DRAFT_STEP: usize = 2;
/// Distance that a point in a solid may move.
const MAX_MOVE: f64 = 18.0;
/// Smallest cell side, in units.
const MIN_CELL: f64 = 8.0;
/// Bounced light below this is not worth a shadow ray.
pub(crate) const NEGLIGIBLE: f64 = 0.05;

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

/// Number of points of the grid for bounds; `None` if it is too large.
pub(crate) fn point_count(cell: Vector, bounds: &[Vector; 2]) -> Option<usize> {
    Extent::new(cell, bounds).map(|extent| extent.points())
}

/// Lines of points along x that are computed. In a draft, a line and a point are also those of the next ones.
pub(crate) struct Lines {
    extent: Extent,
    step: usize,
}

impl Lines {
    /// Returns the lines of a scene; `None` if its grid is too large.
    pub(crate) fn new(scene: &Scene, fast: bool) -> Option<Self> {
        let extent = Extent::new(scene.grid_cell, &scene.bounds)?;
        Some(Self { extent, step: if fast { DRAFT_STEP } else { 1 } })
    }

    fn per_level(&self) -> usize {
        self.extent.counts[1].div_ceil(self.step)
    }

    /// Returns the number of lines.
    pub(crate) fn count(&self) -> usize {
        self.per_level() * self.extent.counts[2]
    }

    /// Returns the points of a line that are computed.
    pub(crate) fn points(&self, line: usize) -> impl Iterator<Item = Vector> {
        let [row, rows, _] = self.extent.counts;
        let (level, y) = (line / self.per_level(), line % self.per_level() * self.step);
        let first = (level * rows + y) * row;
        (0..row).step_by(self.step).map(move |x| self.extent.point(first + x))
    }

    /// Returns the region of a line's points.
    pub(crate) fn region(&self, line: usize) -> Region {
        let [low, high] = super::vector::bounds(self.points(line));
        let bounds = [low.map(|part| part - MAX_MOVE), high.map(|part| part + MAX_MOVE)];
        Region { bounds, plane: None }
    }

    /// Puts computed lines together: 8 bytes per point, x fastest.
    fn grid(&self, lines: &[Vec<u8>]) -> Vec<u8> {
        let [_, rows, levels] = self.extent.counts;
        let mut grid = Vec::with_capacity(self.extent.points() * 8);
        for level in 0..levels {
            for y in 0..rows {
                grid.extend(&lines[level * self.per_level() + y / self.step]);
            }
        }
        grid
    }
}

/// Computes the bytes of the grid. `progress` receives finished and all lines.
pub(crate) fn grid(
    sources: &Sources,
    scene: &Scene,
    bounced: &[Emitter],
    options: Options,
    progress: &mut dyn FnMut(usize, usize),
) -> Vec<u8> {
    let Some(lines) = Lines::new(scene, options.fast) else {
        return Vec::new();
    };
    let compute = |index| line(sources, scene, bounced, &lines, index);
    let total = lines.count();
    let mut report = |done| progress(done, total);
    let computed = in_chunks(total, options.threads, &compute, &mut report);
    lines.grid(&computed)
}

/// Computes a line of points along x.
fn line(
    sources: &Sources,
    scene: &Scene,
    bounced: &[Emitter],
    lines: &Lines,
    index: usize,
) -> Vec<u8> {
    let region = lines.region(index);
    let near =
        Near { local: sources.near(&region), bounced: emitters_near(bounced, &region, NEGLIGIBLE) };
    let count = lines.extent.counts[0];
    let mut bytes = Vec::with_capacity((count + DRAFT_STEP) * 8);
    for point in lines.points(index) {
        let point = point_bytes(sources, scene, &near, point);
        (0..lines.step).for_each(|_| bytes.extend(point));
    }
    bytes.truncate(count * 8);
    bytes
}

/// Sources that matter for a line of points.
struct Near {
    local: LocalSources,
    bounced: Vec<Emitter>,
}

fn point_bytes(sources: &Sources, scene: &Scene, near: &Near, point: Vector) -> [u8; 8] {
    let Some(point) = free_place(sources, scene, point) else {
        return [0; 8];
    };
    let mut rays: Vec<Ray> = Vec::new();
    sources.around(&near.local, point, &mut |ray| rays.push(ray));
    from_emitters(sources.caster, &near.bounced, point, None, NEGLIGIBLE, &mut |ray| {
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
    [9.0, MAX_MOVE].into_iter().find_map(|distance| {
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
