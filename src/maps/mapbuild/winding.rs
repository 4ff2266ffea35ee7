//! Convex polygons in a plane.
//!
//! Invariant: at least three points, clockwise as seen from the front of their plane.

use super::{
    planes::Plane,
    vector::{Bounds, Vector},
};

/// Half the side of the square that represents a whole plane, beyond any coordinate of a map.
const PLANE_SIZE: f64 = 300_000.0;
/// Points of a hull closer than this are one point.
const SAME_POINT: f64 = 0.05;

/// A convex polygon.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Winding(Vec<Vector>);

/// Position of a polygon relative to a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindingSide {
    /// In front, or touching.
    Front,
    /// Behind, or touching.
    Back,
    /// In the plane.
    On,
    /// On both sides.
    Both,
}

/// Parts of a polygon in front of a plane and behind it.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// Part in front.
    pub front: Option<Winding>,
    /// Part behind.
    pub back: Option<Winding>,
}

impl Winding {
    /// Creates a polygon, or nothing from fewer than three points.
    #[must_use]
    pub(super) fn new(points: Vec<Vector>) -> Option<Self> {
        (points.len() >= 3).then_some(Self(points))
    }

    /// Returns a square on a plane that is larger than any map.
    #[must_use]
    pub(super) fn of_plane(plane: &Plane) -> Self {
        let normal = plane.normal;
        let up = if normal.main_axis() == 2 {
            Vector::new(1.0, 0.0, 0.0)
        } else {
            Vector::new(0.0, 0.0, 1.0)
        };
        let up = up - normal * normal.dot(up);
        let up = up.normalized().unwrap_or(up);
        let right = up.cross(normal) * PLANE_SIZE;
        let (up, middle) = (up * PLANE_SIZE, normal * plane.dist);
        Self(vec![
            middle - right + up,
            middle + right + up,
            middle + right - up,
            middle - right - up,
        ])
    }

    /// Returns the points, clockwise as seen from the front.
    #[must_use]
    pub(super) fn points(&self) -> &[Vector] {
        &self.0
    }

    /// Iterates over the edges as pairs of points.
    pub(super) fn edges(&self) -> impl Iterator<Item = (Vector, Vector)> {
        let next = self.0.iter().cycle().skip(1);
        self.0.iter().copied().zip(next.copied())
    }

    /// Returns the same polygon seen from the other side.
    #[must_use]
    pub(super) fn reversed(&self) -> Self {
        Self(self.0.iter().rev().copied().collect())
    }

    /// Returns the polygon moved by a vector.
    #[must_use]
    pub(super) fn moved(&self, by: Vector) -> Self {
        Self(self.0.iter().map(|&point| point + by).collect())
    }

    /// Returns the position relative to a plane; points within `epsilon` are on it.
    #[must_use]
    pub(super) fn place(&self, plane: &Plane, epsilon: f64) -> WindingSide {
        let (mut front, mut back) = (false, false);
        for &point in &self.0 {
            let distance = plane.distance(point);
            front |= distance > epsilon;
            back |= distance < -epsilon;
        }
        match (front, back) {
            (true, true) => WindingSide::Both,
            (true, false) => WindingSide::Front,
            (false, true) => WindingSide::Back,
            (false, false) => WindingSide::On,
        }
    }

    /// Cuts the polygon at a plane. A polygon in the plane counts as in front.
    #[must_use]
    pub(super) fn cut(self, plane: &Plane, epsilon: f64) -> Parts {
        match self.place(plane, epsilon) {
            WindingSide::Front | WindingSide::On => Parts { front: Some(self), back: None },
            WindingSide::Back => Parts { front: None, back: Some(self) },
            WindingSide::Both => self.cut_through(plane, epsilon),
        }
    }

    /// Returns the part behind a plane; nothing when the polygon is in the plane.
    #[must_use]
    pub(super) fn behind(self, plane: &Plane, epsilon: f64) -> Option<Self> {
        self.cut(plane, epsilon).back
    }

    fn cut_through(&self, plane: &Plane, epsilon: f64) -> Parts {
        let (mut front, mut back) = (Vec::new(), Vec::new());
        for (from, to) in self.edges() {
            let (start, end) = (plane.distance(from), plane.distance(to));
            if start >= -epsilon {
                front.push(from);
            }
            if start <= epsilon {
                back.push(from);
            }
            if (start > epsilon && end < -epsilon) || (start < -epsilon && end > epsilon) {
                let crossing = from + (to - from) * (start / (start - end));
                let crossing = plane.on_axis(crossing);
                front.push(crossing);
                back.push(crossing);
            }
        }
        Parts { front: Self::new(front), back: Self::new(back) }
    }

    /// Returns twice the polygon's area as a vector opposite to the front.
    fn area_vector(&self) -> Vector {
        let first = self.0[0];
        let pairs = self.0[1..].windows(2);
        pairs.fold(Vector::ZERO, |sum, pair| sum + (pair[0] - first).cross(pair[1] - first))
    }

    /// Returns the area.
    #[must_use]
    pub(super) fn area(&self) -> f64 {
        self.area_vector().length() / 2.0
    }

    /// Returns the plane through the polygon, or nothing for a polygon without area.
    #[must_use]
    pub(super) fn plane(&self) -> Option<Plane> {
        let normal = -self.area_vector().normalized()?;
        Some(Plane { normal, dist: normal.dot(self.0[0]) })
    }

    /// Returns the mean of the points.
    #[must_use]
    pub(super) fn center(&self) -> Vector {
        let sum = self.0.iter().fold(Vector::ZERO, |sum, &point| sum + point);
        sum * (1.0 / self.0.len() as f64)
    }

    /// Returns the box around the points.
    #[must_use]
    pub(super) fn bounds(&self) -> Bounds {
        Bounds::of(&self.0)
    }

    /// Whether fewer than three edges are longer than 0.2.
    #[must_use]
    pub(super) fn is_tiny(&self) -> bool {
        self.edges().filter(|(from, to)| (*to - *from).length() > 0.2).count() < 3
    }

    /// Snaps points near whole numbers and joins points that are nearly equal.
    #[must_use]
    pub(super) fn tidied(&self) -> Option<Self> {
        let snap = |part: f64| {
            let whole = part.round();
            if (part - whole).abs() < 1e-3 { whole + 0.0 } else { part }
        };
        let mut points: Vec<Vector> = Vec::with_capacity(self.0.len());
        for point in &self.0 {
            let point = Vector(point.0.map(snap));
            if points.last().is_none_or(|&last| (point - last).length() > SAME_POINT) {
                points.push(point);
            }
        }
        while points.len() > 1 && (points[0] - points[points.len() - 1]).length() <= SAME_POINT {
            points.pop();
        }
        Self::new(points)
    }

    /// Returns the convex hull of two polygons in the same plane.
    #[must_use]
    pub(super) fn hull(&self, other: &Self, normal: Vector) -> Self {
        let mut points: Vec<Vector> = Vec::with_capacity(self.0.len() + other.0.len());
        for &point in self.0.iter().chain(&other.0) {
            if points.iter().all(|&known| (point - known).length() >= SAME_POINT) {
                points.push(point);
            }
        }
        let axis = normal.main_axis();
        let [u, v] = [[1, 2], [0, 2], [0, 1]][axis];
        points.sort_by(|a, b| a[u].total_cmp(&b[u]).then(a[v].total_cmp(&b[v])));
        let half = |points: &mut dyn Iterator<Item = Vector>| {
            let mut half: Vec<Vector> = Vec::new();
            for point in points {
                while let [.., a, b] = half[..] {
                    let turn =
                        (b[u] - a[u]) * (point[v] - a[v]) - (b[v] - a[v]) * (point[u] - a[u]);
                    if turn > 1e-3 {
                        break;
                    }
                    half.pop();
                }
                half.push(point);
            }
            half.pop();
            half
        };
        let mut hull = half(&mut points.iter().copied());
        hull.extend(half(&mut points.iter().rev().copied()));
        let Some(hull) = Self::new(hull) else { return self.clone() };
        if hull.area_vector().dot(normal) > 0.0 { hull.reversed() } else { hull }
    }
}
