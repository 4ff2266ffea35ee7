//! T-junctions: corners of polygons on the edges of others.
//!
//! Clients draw single precision, so that an edge with a corner of a neighbor in its middle would show gaps. Each
//! such corner becomes a point of the edge.

use super::{MAX_POINTS, Shape, Surface};
use crate::mapbuild::{
    vector::{Bounds, Vector},
    winding::Winding,
};

/// Distance within which a corner is on an edge.
const ON_EDGE: f64 = 0.1;
/// Least distance of a corner from the ends of the edge.
const FROM_ENDS: f64 = 0.25;
/// Surfaces between two progress reports.
const REPORT_INTERVAL: usize = 64;
/// Smallest area of a part of a divided polygon.
const MIN_AREA: f64 = 1.0;

/// Puts the corners of each model's polygons into the edges that they touch. Polygons with too many points are
/// divided. `progress` receives finished and total polygons.
#[must_use]
pub(in crate::mapbuild) fn close_gaps(
    surfaces: Vec<Surface>,
    progress: &mut dyn FnMut(usize, usize),
) -> Vec<Surface> {
    let mut closed = Vec::with_capacity(surfaces.len());
    let models = surfaces.last().map_or(0, |surface| surface.model + 1);
    let mut rest = &surfaces[..];
    for model in 0..models {
        let count = rest.iter().take_while(|surface| surface.model == model).count();
        let (own, others) = rest.split_at(count);
        rest = others;
        let corners = Corners::of(own);
        for surface in own {
            if closed.len().is_multiple_of(REPORT_INTERVAL) {
                progress(closed.len().min(surfaces.len()), surfaces.len());
            }
            match &surface.shape {
                Shape::Polygon { winding, plane, projection } => {
                    let winding = with_corners(winding, &corners);
                    closed.extend(divided(winding).into_iter().map(|winding| Surface {
                        shape: Shape::Polygon { winding, plane: *plane, projection: *projection },
                        ..*surface
                    }));
                }
                Shape::Patch(_) => closed.push(surface.clone()),
            }
        }
    }
    closed
}

/// Corners of polygons: numbers by each of their coordinates, so that the corners near an edge are few.
struct Corners {
    points: Vec<Vector>,
    by_axis: [Vec<usize>; 3],
}

impl Corners {
    fn of(surfaces: &[Surface]) -> Self {
        let mut points: Vec<Vector> = Vec::new();
        for surface in surfaces {
            if let Shape::Polygon { winding, .. } = &surface.shape {
                points.extend(winding.points());
            }
        }
        points.sort_by(|a, b| {
            a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])).then(a[2].total_cmp(&b[2]))
        });
        points.dedup_by(|a, b| (*a - *b).length() < 1e-3);
        let by_axis = std::array::from_fn(|axis| {
            let mut numbers: Vec<usize> = (0..points.len()).collect();
            numbers.sort_by(|&a, &b| points[a][axis].total_cmp(&points[b][axis]).then(a.cmp(&b)));
            numbers
        });
        Self { points, by_axis }
    }

    /// Returns the corners within the extent of an edge along the axis where they are fewest, by number.
    fn near(&self, from: Vector, to: Vector) -> Vec<Vector> {
        let range = |axis: usize| {
            let numbers = &self.by_axis[axis];
            let low = from[axis].min(to[axis]) - ON_EDGE;
            let high = from[axis].max(to[axis]) + ON_EDGE;
            let first = numbers.partition_point(|&number| self.points[number][axis] < low);
            let last = numbers.partition_point(|&number| self.points[number][axis] <= high);
            &numbers[first..last]
        };
        let fewest = (0..3).map(range).min_by_key(|numbers| numbers.len()).unwrap_or_default();
        let bounds = Bounds::of(&[from, to]).grown(ON_EDGE);
        let is_near = |point: &Vector| bounds.touches(&Bounds { mins: *point, maxs: *point });
        let mut near: Vec<usize> =
            fewest.iter().copied().filter(|&number| is_near(&self.points[number])).collect();
        near.sort_unstable();
        near.into_iter().map(|number| self.points[number]).collect()
    }
}

fn with_corners(winding: &Winding, corners: &Corners) -> Winding {
    let mut points = Vec::with_capacity(winding.points().len());
    for (from, to) in winding.edges() {
        points.push(from);
        let length = (to - from).length();
        let Some(direction) = (to - from).normalized() else { continue };
        if length < 2.0 * FROM_ENDS {
            continue;
        }
        let near = corners.near(from, to).into_iter();
        let mut between: Vec<(f64, Vector)> = near
            .filter_map(|corner| {
                let along = (corner - from).dot(direction);
                let inside = along > FROM_ENDS && along < length - FROM_ENDS;
                let aside = (corner - from - direction * along).length();
                (inside && aside < ON_EDGE).then_some((along, corner))
            })
            .collect();
        between.sort_by(|a, b| a.0.total_cmp(&b.0));
        between.dedup_by(|a, b| (a.0 - b.0).abs() < FROM_ENDS);
        points.extend(between.into_iter().map(|(_, corner)| corner));
    }
    Winding::new(points).unwrap_or_else(|| winding.clone())
}

/// Divides a polygon until each part has few enough points; one place stays free for a middle point.
fn divided(winding: Winding) -> Vec<Winding> {
    let mut open = vec![winding];
    let mut fitting = Vec::new();
    while let Some(part) = open.pop() {
        match (part.points().len() >= MAX_POINTS).then(|| halves(&part)).flatten() {
            Some(halves) => open.extend(halves),
            None => fitting.push(part),
        }
    }
    fitting
}

/// Cuts a polygon between two of its points so that both halves have area.
fn halves(winding: &Winding) -> Option<[Winding; 2]> {
    let count = winding.points().len();
    (0..count / 2).find_map(|start| {
        let mut points = winding.points().to_vec();
        points.rotate_left(start);
        let mut second = points.split_off(count / 2);
        second.push(points[0]);
        points.push(second[0]);
        let halves = [Winding::new(points)?, Winding::new(second)?];
        halves.iter().all(|half| half.area() > MIN_AREA).then_some(halves)
    })
}
