//! Work of light: shadow rays to point lights and emitters, estimated and kept within a budget.
//!
//! The estimate computes the light of a share of the points without solids, so that each source that is not negligible
//! counts as one ray. Beyond the budget, luxels have one sample, then sources in a cell count as one; cells grow until
//! the work fits. Invariants: an estimate ends at the budget; the same scene always gives the same work. Suns and sky are
//! not counted: the number of luxels bounds their rays.

use std::collections::BTreeMap;

use super::{
    bounce,
    caster::Caster,
    gather::{Emitter, Lamp, LocalSources, Region, Sources, emitters_near, from_emitters},
    grid::{self, Lines},
    layout::Placement,
    samples::{Sample, sample, sample_region},
    scene::{Scene, Surface},
    vector::{Vector, add, brightest, major_axis},
};

/// Maximum rays to point lights and surface lights, full and fast.
const BUDGET: [u64; 2] = [400_000_000, 100_000_000];
/// Maximum rays of a bounce.
const BOUNCE_BUDGET: u64 = 200_000_000;
/// Sources whose distance costs as much as a ray.
const TESTS_PER_RAY: u64 = 16;
/// Luxels along both axes, and lines of the grid and points of a line, of which an estimate computes one.
const SHARE: usize = 8;
/// First size of the cells in which sources count as one, in units.
const FIRST_CELL: f64 = 64.0;
/// Growth of the cells.
const GROWTH: f64 = 1.5;
/// Size of cells beyond any map.
const MAX_CELL: f64 = 262_144.0;

/// Coarsening of light that keeps the work within its budget.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Savings {
    /// Number of point lights and emitters of surface lights.
    pub sources: usize,
    /// Number of luxels.
    pub luxels: usize,
    /// Size of the cells in which point lights and surface lights count as one; 0 for none.
    pub cell: f64,
    /// The same of bounced light.
    pub bounce_cell: f64,
}

/// Points that receive light.
pub(crate) struct Receivers<'a> {
    scene: &'a Scene,
    placements: &'a [Option<Placement>],
    lines: Option<Lines>,
    /// No solids: samples and rays of an estimate.
    open: Caster,
}

/// Work of the points of a region: once, and per point tried.
struct Work {
    once: u64,
    points: u64,
}

impl<'a> Receivers<'a> {
    /// Collects the points of a scene.
    pub(crate) fn new(scene: &'a Scene, placements: &'a [Option<Placement>], fast: bool) -> Self {
        Self { scene, placements, lines: Lines::new(scene, fast), open: Caster::new(&[]) }
    }

    /// Returns the number of luxels.
    pub(crate) fn luxels(&self) -> usize {
        self.placements.iter().flatten().map(Placement::luxels).sum()
    }

    /// Fits the sources into the budget. Returns the number of samples per luxel, at most `samples`.
    pub(crate) fn fit(
        &self,
        sources: &mut Sources<'_>,
        fast: bool,
        samples: usize,
        savings: &mut Savings,
    ) -> usize {
        let max = BUDGET[usize::from(fast)];
        let mut dry = sources.with_caster(&self.open);
        let mut work = self.direct_work(&dry, samples, max);
        if work <= max {
            return samples;
        }
        *savings = Savings { sources: dry.all.count(), luxels: self.luxels(), ..*savings };
        if samples > 1 {
            work = self.direct_work(&dry, 1, max);
        }
        let all = dry.all.clone();
        while work > max && savings.cell < MAX_CELL {
            savings.cell = (savings.cell * GROWTH).max(FIRST_CELL);
            dry.all = LocalSources {
                lights: merged_lamps(&all.lights, savings.cell),
                emitters: merged_emitters(&all.emitters, savings.cell),
            };
            work = self.direct_work(&dry, 1, max);
        }
        sources.all = dry.all;
        1
    }

    /// Fits the emitters of a bounce into the budget.
    pub(crate) fn fit_bounce(&self, emitters: Vec<Emitter>, savings: &mut Savings) -> Vec<Emitter> {
        let mut fitting = emitters.clone();
        while self.bounce_work(&fitting) > BOUNCE_BUDGET && savings.bounce_cell < MAX_CELL {
            savings.bounce_cell = (savings.bounce_cell * GROWTH).max(FIRST_CELL);
            fitting = merged_emitters(&emitters, savings.bounce_cell);
        }
        fitting
    }

    /// Estimates the work of point lights and surface lights, up to a limit.
    pub(crate) fn direct_work(&self, dry: &Sources<'_>, samples: usize, max: u64) -> u64 {
        let tests = |local: &LocalSources| local.count() as u64 / TESTS_PER_RAY;
        let work = |region: &Region, points: &mut dyn Iterator<Item = Receiver>| {
            let local = dry.near(region);
            let mut rays = 0;
            for point in points {
                let mut count = |_| rays += 1;
                match point.normal {
                    Some(normal) => dry.local_on_surface(&local, point.place, normal, &mut count),
                    None => dry.local_around(&local, point.place, &mut count),
                }
                rays += tests(&local);
            }
            Work { once: tests(&dry.all), points: rays }
        };
        self.work([1, samples], max, &work)
    }

    /// Estimates the work of bounced light, up to its budget.
    fn bounce_work(&self, emitters: &[Emitter]) -> u64 {
        let tests = |emitters: &[Emitter]| emitters.len() as u64 / TESTS_PER_RAY;
        let work = |region: &Region, points: &mut dyn Iterator<Item = Receiver>| {
            let mut near: Option<Vec<Emitter>> = None;
            let mut rays = 0;
            for Receiver { place, normal } in points {
                let negligible =
                    if normal.is_some() { bounce::NEGLIGIBLE } else { grid::NEGLIGIBLE };
                let near = near.get_or_insert_with(|| emitters_near(emitters, region, negligible));
                from_emitters(&self.open, near, place, normal, negligible, &mut |_| rays += 1);
                rays += tests(near);
            }
            Work { once: tests(emitters), points: rays }
        };
        self.work([bounce::STRIDE, 1], BOUNCE_BUDGET, &work)
    }

    /// Sums the work of all regions up to a limit. A luxel of each `stride` along both axes has `samples`.
    fn work(
        &self,
        [stride, samples]: [usize; 2],
        max: u64,
        work: &dyn Fn(&Region, &mut dyn Iterator<Item = Receiver>) -> Work,
    ) -> u64 {
        let mut sum = 0u64;
        for (surface, placement) in self.scene.surfaces.iter().zip(self.placements) {
            let Some(placement) = placement else { continue };
            let all = placement.width.div_ceil(stride) * placement.height.div_ceil(stride);
            let mut tried = 0;
            let points = self.samples(surface, placement, stride * SHARE);
            let mut points = points.inspect(|_| tried += 1);
            let Work { once, points } = work(&sample_region(surface, placement), &mut points);
            sum += once + points * (all * samples) as u64 / tried.max(1);
            if sum > max {
                return sum;
            }
        }
        let Some(lines) = &self.lines else { return sum };
        for line in (0..lines.count()).step_by(SHARE) {
            let all = lines.points(line).count() as u64;
            let like_it = SHARE.min(lines.count() - line) as u64;
            let mut tried = 0;
            let points = lines.points(line).step_by(SHARE).inspect(|_| tried += 1);
            let mut points = points.map(|place| Receiver { place, normal: None });
            let Work { once, points } = work(&lines.region(line), &mut points);
            sum += (once + points * all / tried.max(1)) * like_it;
            if sum > max {
                return sum;
            }
        }
        sum
    }

    /// Returns samples of a surface, one of each `step` luxels along both axes.
    fn samples(
        &self,
        surface: &'a Surface,
        placement: &'a Placement,
        step: usize,
    ) -> impl Iterator<Item = Receiver> {
        let rows = (0..placement.height).step_by(step);
        let luxels =
            rows.flat_map(move |row| (0..placement.width).step_by(step).map(move |x| (x, row)));
        luxels.filter_map(move |(column, row)| {
            let at = sample(&self.open, surface, placement, column as f64, row as f64)?;
            let Sample { point, normal, .. } = at;
            Some(Receiver { place: point, normal: Some(normal) })
        })
    }
}

/// Point of a surface, or of the light grid without a normal.
struct Receiver {
    place: Vector,
    normal: Option<Vector>,
}

/// Number of a cell along each axis.
type Cell = [i64; 3];

fn cell_of(point: Vector, size: f64) -> Cell {
    point.map(|part| (part / size).floor() as i64)
}

/// Merges the point lights of each cell: their intensity at the place of the brightest.
fn merged_lamps(lamps: &[Lamp], size: f64) -> Vec<Lamp> {
    let mut cells: BTreeMap<(Cell, bool), Lamp> = BTreeMap::new();
    for lamp in lamps {
        let key = (cell_of(lamp.light.origin, size), lamp.light.linear);
        cells
            .entry(key)
            .and_modify(|sum| {
                let intensity = add(sum.light.intensity, lamp.light.intensity);
                if lamp.reach > sum.reach {
                    *sum = *lamp;
                }
                sum.light.intensity = intensity;
            })
            .or_insert(*lamp);
    }
    cells.into_values().collect()
}

/// Merges the emitters of each cell that face about the same way: their power at the place of the strongest.
fn merged_emitters(emitters: &[Emitter], size: f64) -> Vec<Emitter> {
    let mut cells: BTreeMap<(Cell, usize, bool), (f64, Emitter)> = BTreeMap::new();
    for emitter in emitters {
        let axis = major_axis(emitter.normal);
        let key = (cell_of(emitter.point, size), axis, emitter.normal[axis] < 0.0);
        let power = brightest(emitter.power);
        cells
            .entry(key)
            .and_modify(|(strongest, sum)| {
                let (all, spread) = (add(sum.power, emitter.power), sum.spread + emitter.spread);
                if power > *strongest {
                    (*strongest, *sum) = (power, *emitter);
                }
                (sum.power, sum.spread) = (all, spread);
            })
            .or_insert((power, *emitter));
    }
    cells.into_values().map(|(_, emitter)| emitter).collect()
}
