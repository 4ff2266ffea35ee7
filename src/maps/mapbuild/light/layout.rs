//! Light map layout: luxel rectangles of surfaces and their places on pages.
//!
//! Luxels are 16 units apart, or as the scene says. A polygon is projected along the major axis of its normal, on a lattice of the world, so
//! that neighbors in a plane share luxels. Texture coordinates never leave the centers of the outer luxels, so that
//! rectangles need no padding. Rectangles are packed highest first, each at the lowest place of a page's skyline.

use super::{
    scene::{Scene, Shape, Surface, Vertex},
    vector::{Vector, along, bounds, dot, length, major_axis, sub},
};

/// Width and height of a page, in luxels.
pub const PAGE_SIZE: usize = 128;
/// Bytes of a page.
pub const PAGE_BYTES: usize = PAGE_SIZE * PAGE_SIZE * 3;
/// Default distance of luxels, in units.
const LUXEL: f64 = 16.0;
/// Maximum pages of a map. Surfaces beyond them have no light map.
const MAX_PAGES: usize = 256;
/// Maximum luxels of a map. Their distance doubles until they are not more.
const MAX_LUXELS: usize = 160 * PAGE_SIZE * PAGE_SIZE;
/// Largest distance of luxels, in units.
const MAX_LUXEL: f64 = 4096.0;

/// Light map rectangle of a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// Page.
    pub page: usize,
    /// Left column on the page.
    pub x: usize,
    /// First row on the page.
    pub y: usize,
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Position of the first luxel on the plane. Zero for patches.
    pub origin: Vector,
    /// Step of one column, step of one row, normal. Bounds and zero for patches.
    pub vectors: [Vector; 3],
    /// Light map coordinates of each vertex.
    pub coordinates: Vec<[f64; 2]>,
}

impl Placement {
    /// Luxels of the rectangle.
    pub fn luxels(&self) -> usize {
        self.width * self.height
    }
}

/// Places of all surfaces on the pages.
pub(crate) struct Layout {
    /// Placements by surface.
    pub(crate) placements: Vec<Option<Placement>>,
    /// Number of pages.
    pub(crate) pages: usize,
    /// Distance of luxels, in units.
    pub(crate) luxel: f64,
}

/// Returns the rectangles of all lit surfaces, and the distance of luxels: that of the scene, or a greater one.
fn rectangles(scene: &Scene) -> (Vec<Option<Placement>>, f64) {
    let mut step = if scene.luxel > 0.0 { scene.luxel } else { LUXEL };
    loop {
        let place = |surface: &Surface| {
            let lit = scene.materials.get(surface.material).is_some_and(|m| m.lit);
            lit.then(|| rectangle(surface, step)).flatten()
        };
        let placements: Vec<_> = scene.surfaces.iter().map(place).collect();
        let luxels: usize = placements.iter().flatten().map(Placement::luxels).sum();
        if luxels <= MAX_LUXELS || step >= MAX_LUXEL {
            return (placements, step);
        }
        step *= 2.0;
    }
}

/// Places all lit surfaces.
pub(crate) fn place(scene: &Scene) -> Layout {
    let (mut placements, luxel) = rectangles(scene);
    let mut order: Vec<usize> =
        (0..placements.len()).filter(|i| placements[*i].is_some()).collect();
    let size = |i: &usize| {
        let placed = placements[*i].as_ref();
        placed.map_or((0, 0), |p| (p.height, p.width))
    };
    order.sort_by(|a, b| size(b).cmp(&size(a)).then(a.cmp(b)));

    let mut pages: Vec<Skyline> = Vec::new();
    // ioquake3's newer renderer takes odd pages for light directions if no surface uses one, and 1.32 reads
    // a second page behind a single one. So a small map is spread over two pages.
    let luxels: usize = placements.iter().flatten().map(Placement::luxels).sum();
    let spread = luxels < PAGE_SIZE * PAGE_SIZE;
    for (turn, index) in order.into_iter().enumerate() {
        let Some(placement) = &mut placements[index] else {
            continue;
        };
        let first = if spread { turn % 2 } else { 0 };
        match allocate(&mut pages, first, placement.width, placement.height) {
            Some((page, x, y)) => {
                placement.page = page;
                placement.x = x;
                placement.y = y;
            }
            None => placements[index] = None,
        }
    }
    for (placement, surface) in placements.iter_mut().zip(&scene.surfaces) {
        if let Some(placement) = placement {
            placement.coordinates = coordinates(placement, surface);
        }
    }
    let used = if pages.is_empty() { 0 } else { pages.len().max(2) };
    Layout { placements, pages: used, luxel }
}

/// Finds the size and plane of a surface's rectangle.
fn rectangle(surface: &Surface, step: f64) -> Option<Placement> {
    match &surface.shape {
        Shape::Polygon { ring, normal, .. } => polygon_rectangle(ring, *normal, step),
        Shape::Patch { width, height, points } => patch_rectangle(*width, *height, points, step),
    }
}

fn polygon_rectangle(ring: &[Vertex], normal: Vector, mut step: f64) -> Option<Placement> {
    let first = ring.first()?.point;
    let [low, high] = bounds(ring.iter().map(|v| v.point));
    let (flat, u, v) = axes(normal);
    if normal[flat] == 0.0 {
        return None;
    }
    let (mut origin, width, height) = loop {
        let lattice = |axis: usize| {
            let start = (low[axis] / step).floor() * step;
            let end = (high[axis] / step).ceil() * step;
            (start, ((end - start) / step) as usize + 1)
        };
        let (left, width) = lattice(u);
        let (top, height) = lattice(v);
        if width.max(height) <= PAGE_SIZE - 2 {
            let mut origin = [0.0; 3];
            origin[u] = left;
            origin[v] = top;
            break (origin, width, height);
        }
        step *= 2.0;
        if !step.is_finite() {
            return None;
        }
    };
    origin[flat] = (dot(first, normal) - dot(origin, normal)) / normal[flat];
    let on_plane = |axis: usize| {
        let mut vector = [0.0; 3];
        vector[axis] = step;
        vector[flat] = -dot(vector, normal) / normal[flat];
        vector
    };
    Some(Placement {
        page: 0,
        x: 0,
        y: 0,
        width,
        height,
        origin,
        vectors: [on_plane(u), on_plane(v), normal],
        coordinates: Vec::new(),
    })
}

/// The axis of projection, then those of columns and rows.
fn axes(normal: Vector) -> (usize, usize, usize) {
    match major_axis(normal) {
        0 => (0, 1, 2),
        1 => (1, 0, 2),
        _ => (2, 0, 1),
    }
}

fn patch_rectangle(width: usize, height: usize, points: &[Vertex], step: f64) -> Option<Placement> {
    if width < 2 || height < 2 || points.len() != width * height {
        return None;
    }
    let distance = |a: usize, b: usize| length(sub(points[a].point, points[b].point));
    let longest = |lines: usize, steps: usize, at: &dyn Fn(usize, usize) -> usize| {
        (0..lines)
            .map(|line| (1..steps).map(|i| distance(at(line, i - 1), at(line, i))).sum::<f64>())
            .fold(0.0, f64::max)
    };
    let along_rows = longest(height, width, &|row, column| row * width + column);
    let along_columns = longest(width, height, &|column, row| row * width + column);
    let count = |units: f64, points: usize| {
        ((units / step) as usize + 1).clamp(points.min(PAGE_SIZE - 2), PAGE_SIZE - 2)
    };
    let [low, high] = bounds(points.iter().map(|p| p.point));
    Some(Placement {
        page: 0,
        x: 0,
        y: 0,
        width: count(along_rows, width),
        height: count(along_columns, height),
        origin: [0.0; 3],
        vectors: [low, high, [0.0; 3]],
        coordinates: Vec::new(),
    })
}

/// Light map coordinates of a surface's vertices.
fn coordinates(placement: &Placement, surface: &Surface) -> Vec<[f64; 2]> {
    let page = PAGE_SIZE as f64;
    let (x, y) = (placement.x as f64 + 0.5, placement.y as f64 + 0.5);
    match &surface.shape {
        Shape::Polygon { normal, .. } => {
            let (_, u, v) = axes(*normal);
            let step = [placement.vectors[0][u], placement.vectors[1][v]];
            surface
                .vertices()
                .map(|vertex| {
                    let from = sub(vertex.point, placement.origin);
                    [(x + from[u] / step[0]) / page, (y + from[v] / step[1]) / page]
                })
                .collect()
        }
        Shape::Patch { width, height, .. } => {
            let columns = (placement.width - 1) as f64 / (width - 1) as f64;
            let rows = (placement.height - 1) as f64 / (height - 1) as f64;
            (0..width * height)
                .map(|i| {
                    let (column, row) = ((i % width) as f64, (i / width) as f64);
                    [(x + column * columns) / page, (y + row * rows) / page]
                })
                .collect()
        }
    }
}

/// Position of a polygon's luxel; fractions lie between luxels.
pub(crate) fn luxel_point(placement: &Placement, column: f64, row: f64) -> Vector {
    along(along(placement.origin, placement.vectors[0], column), placement.vectors[1], row)
}

/// Lowest free row of each column.
type Skyline = [u8; PAGE_SIZE];

/// Finds a place, on the given page or a later one.
fn allocate(
    pages: &mut Vec<Skyline>,
    first: usize,
    width: usize,
    height: usize,
) -> Option<(usize, usize, usize)> {
    for page in first.. {
        if page >= MAX_PAGES {
            break;
        }
        while pages.len() <= page {
            pages.push([0; PAGE_SIZE]);
        }
        let columns = &mut pages[page];
        let place = (0..=PAGE_SIZE - width)
            .map(|x| {
                let lowest = columns[x..x + width].iter().max().copied();
                (lowest.unwrap_or_default() as usize, x)
            })
            .min();
        let Some((y, x)) = place.filter(|(y, _)| y + height <= PAGE_SIZE) else {
            continue;
        };
        columns[x..x + width].fill((y + height) as u8);
        return Some((page, x, y));
    }
    None
}
