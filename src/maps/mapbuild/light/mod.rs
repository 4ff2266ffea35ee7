//! Light maps, vertex colors and light grid of a compiled map.
//!
//! [`light`] turns a [`Scene`] into [`Lighting`]. Light of suns, sky, point lights and surface lights is summed at sample
//! points of luxels, each with a shadow ray; then lit surfaces send one bounce. A texture has its own brightness at 64.
//!
//! Invariants:
//! - The same scene gives the same bytes on every machine and with any number of threads. Sines come from `libm`.
//! - Work is bounded by the number of luxels, which the page limit bounds, and by a budget of rays to local sources.

mod bounce;
mod caster;
mod fill;
mod gather;
mod grid;
mod layout;
mod samples;
mod scene;
pub(crate) mod vector;
mod work;

pub(crate) use caster::Caster;
pub(crate) use grid::point_count;
pub use layout::{PAGE_BYTES, PAGE_SIZE, Placement};
pub(crate) use samples::patch_vertex;
pub use scene::{Material, Occluder, Plane, PointLight, Scene, Shape, Sun, Surface, Vertex};
pub use vector::Vector;
pub use work::Savings;

use self::{
    fill::fill_voids,
    gather::Sources,
    samples::{sample, sample_region},
    vector::{add, brightest, scale},
    work::Receivers,
};
use crate::model::map_parallel;

/// Surfaces, or lines of the light grid, between two progress reports.
const REPORT_INTERVAL: usize = 32;
/// Progress steps of each of the three parts: direct light, bounce and light grid.
const PART: usize = 1000;
/// Positions of samples within a luxel.
const OFFSETS: [[f64; 2]; 4] = [[-0.25, -0.25], [0.25, -0.25], [-0.25, 0.25], [0.25, 0.25]];
/// Steps of a component relative to the greatest one.
const HUE_STEPS: f64 = 32.0;
/// Color of a vertex without light map.
const WHITE: [u8; 4] = [255; 4];

/// Effort of light computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether one sample per luxel, few sky directions and no bounce suffice.
    pub fast: bool,
    /// Threads.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { fast: false, threads: 1 }
    }
}

/// Light of a map, as the file stores it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lighting {
    /// Pages of [`PAGE_BYTES`] bytes each.
    pub pages: Vec<Vec<u8>>,
    /// Place on the pages and colors of each surface of the scene.
    pub surfaces: Vec<SurfaceLight>,
    /// Light grid, 8 bytes per point; empty if it is too large.
    pub grid: Vec<u8>,
    /// Distance of luxels, in units. It grows when the light maps of the scene's distance would be too many.
    pub luxel: f64,
    /// Coarsening that kept the work within its budget, if any.
    pub savings: Option<Savings>,
}

/// Light of a surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceLight {
    /// Light map rectangle, or `None` for a surface without light map.
    pub placement: Option<Placement>,
    /// Color of each vertex.
    pub colors: Vec<[u8; 4]>,
}

/// Computes the light of a scene. `progress` receives finished and total steps.
pub fn light(scene: &Scene, options: Options, progress: &mut dyn FnMut(usize, usize)) -> Lighting {
    light_with(&Caster::new(&scene.occluders), scene, options, progress)
}

/// Computes the light of a scene with the rays of a caster of its solids.
pub(crate) fn light_with(
    caster: &Caster,
    scene: &Scene,
    options: Options,
    progress: &mut dyn FnMut(usize, usize),
) -> Lighting {
    let layout::Layout { placements, pages: page_count, luxel } = layout::place(scene);
    let mut report = |part: usize, done: usize, total: usize| {
        progress(part * PART + done * PART / total.max(1), 3 * PART);
    };
    report(0, 0, 1);
    let receivers = Receivers::new(scene, &placements, options.fast);
    let mut savings = Savings::default();
    let samples = if options.fast { 1 } else { OFFSETS.len() };
    let mut sources = Sources::new(caster, scene, options.fast, samples);
    let samples = receivers.fit(&mut sources, options.fast, samples, &mut savings);
    let offsets: &[[f64; 2]] = if samples == 1 { &[[0.0; 2]] } else { &OFFSETS };

    let total = placements.len();
    let light = |index: usize| match &placements[index] {
        Some(placement) => direct(&sources, &scene.surfaces[index], placement, offsets),
        None => Vec::new(),
    };
    let mut luxels = in_chunks(total, options.threads, &light, &mut |done| report(0, done, total));
    let mut bounced = Vec::new();
    if !options.fast {
        bounced = bounce::emitters(&sources, scene, &placements, &luxels);
        bounced = receivers.fit_bounce(bounced, &mut savings);
        let light = |index: usize| match &placements[index] {
            Some(placement) => {
                bounce::surface_bounce(&sources, &scene.surfaces[index], placement, &bounced)
            }
            None => Vec::new(),
        };
        let extra = in_chunks(total, options.threads, &light, &mut |done| report(1, done, total));
        for (sum, extra) in luxels.iter_mut().flatten().zip(extra.into_iter().flatten()) {
            *sum = add(*sum, extra);
        }
    }
    let grid = grid::grid(&sources, scene, &bounced, options, &mut |done, total| {
        report(2, done, total);
    });
    let pages = paint(&placements, &luxels, page_count);
    let surfaces = placements
        .into_iter()
        .zip(&scene.surfaces)
        .map(|(placement, surface)| SurfaceLight {
            colors: colors(placement.as_ref(), surface, &pages),
            placement,
        })
        .collect();
    let savings = (savings != Savings::default()).then_some(savings);
    Lighting { pages, surfaces, grid, luxel, savings }
}

/// Computes one result per item. `progress` receives the number of finished items.
fn in_chunks<T: Send>(
    total: usize,
    threads: usize,
    compute: &(dyn Fn(usize) -> T + Sync),
    progress: &mut dyn FnMut(usize),
) -> Vec<T> {
    let mut results = Vec::with_capacity(total);
    while results.len() < total {
        progress(results.len());
        let first = results.len();
        let count = REPORT_INTERVAL.min(total - first);
        results.extend(map_parallel(count, threads, |index| compute(first + index)));
    }
    progress(total);
    results
}

/// Light of each luxel, without bounces.
fn direct(
    sources: &Sources,
    surface: &Surface,
    placement: &Placement,
    offsets: &[[f64; 2]],
) -> Vec<Vector> {
    let mut values = Vec::with_capacity(placement.luxels());
    let local = sources.near(&sample_region(surface, placement));
    for row in 0..placement.height {
        for column in 0..placement.width {
            let mut sum = [0.0; 3];
            let mut count = 0u32;
            for (set, [across, down]) in offsets.iter().enumerate() {
                let (column, row) = (column as f64 + across, row as f64 + down);
                if let Some(at) = sample(sources.caster, surface, placement, column, row) {
                    sum = add(sum, sources.on_surface(&local, at.point, at.normal, set));
                    count += 1;
                }
            }
            values.push((count > 0).then(|| scale(sum, 1.0 / f64::from(count))));
        }
    }
    fill_voids(values, placement.width)
}

/// Writes all rectangles to their pages.
fn paint(placements: &[Option<Placement>], luxels: &[Vec<Vector>], pages: usize) -> Vec<Vec<u8>> {
    let mut result = vec![vec![0; PAGE_BYTES]; pages];
    for (placement, luxels) in placements.iter().zip(luxels) {
        let Some(placement) = placement else {
            continue;
        };
        for (index, luxel) in luxels.iter().enumerate() {
            let x = placement.x + index % placement.width;
            let y = placement.y + index / placement.width;
            let at = (y * PAGE_SIZE + x) * 3;
            result[placement.page][at..at + 3].copy_from_slice(&to_bytes(*luxel));
        }
    }
    result
}

/// Vertex colors: those of the nearest luxels.
fn colors(placement: Option<&Placement>, surface: &Surface, pages: &[Vec<u8>]) -> Vec<[u8; 4]> {
    let Some(placement) = placement else {
        return surface.vertices().map(|_| WHITE).collect();
    };
    let size = PAGE_SIZE as f64;
    let luxel = |at: f64, first: usize, count: usize| {
        ((at * size) as usize).clamp(first, first + count - 1)
    };
    placement
        .coordinates
        .iter()
        .map(|[u, v]| {
            let x = luxel(*u, placement.x, placement.width);
            let y = luxel(*v, placement.y, placement.height);
            let at = (y * PAGE_SIZE + x) * 3;
            let page = &pages[placement.page];
            // Steps of 4 compress better, and only clients without light maps draw them.
            let [r, g, b] = [0, 1, 2].map(|k| page[at + k].saturating_add(2) & 0xFC);
            [r, g, b, 255]
        })
        .collect()
}

/// Bytes of a color. A color that is too bright keeps its hue.
///
/// Hue and bright values have coarse steps, which textures hide and which compress a quarter better.
pub(crate) fn to_bytes(color: Vector) -> [u8; 3] {
    let top = brightest(color);
    if top < 0.5 {
        return [0; 3];
    }
    let step = match top {
        ..40.0 => 1.0,
        ..96.0 => 2.0,
        _ => 4.0,
    };
    let bright = ((top / step).round() * step).min(255.0);
    color.map(|c| {
        let share = (c / top * HUE_STEPS).round() / HUE_STEPS;
        (bright * share).round().clamp(0.0, 255.0) as u8
    })
}

#[cfg(test)]
mod tests;
