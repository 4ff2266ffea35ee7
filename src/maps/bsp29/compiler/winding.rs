//! Convex polygons in a plane.

use super::{Point, dot, main_axis};

/// Distance within which a point is on a plane, in units.
pub(super) const ON_PLANE: f64 = 0.02;
/// Half the width of the polygon that a plane starts with, in units.
const PLANE_SIZE: f64 = 8192.0;

/// A convex polygon.
pub(super) type Winding = Vec<Point>;

/// Parts of a polygon on both sides of a plane. A polygon in the plane has neither part.
pub(super) struct Halves {
    pub(super) front: Option<Winding>,
    pub(super) back: Option<Winding>,
}

/// Returns a large square in a plane.
pub(super) fn of_plane(normal: &Point, dist: f64) -> Winding {
    let mut up = [0.0; 3];
    up[if main_axis(normal) == 2 { 0 } else { 2 }] = 1.0;
    let along = dot(&up, normal);
    let up: Point = std::array::from_fn(|i| up[i] - along * normal[i]);
    let length = dot(&up, &up).sqrt();
    let up = up.map(|part| part / length);
    let right = [
        up[1] * normal[2] - up[2] * normal[1],
        up[2] * normal[0] - up[0] * normal[2],
        up[0] * normal[1] - up[1] * normal[0],
    ];
    let corner = |a: f64, b: f64| {
        std::array::from_fn(|i| dist * normal[i] + PLANE_SIZE * (a * right[i] + b * up[i]))
    };
    vec![corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0), corner(-1.0, -1.0)]
}

/// Splits a polygon at a plane.
pub(super) fn split(winding: &[Point], normal: &Point, dist: f64) -> Halves {
    let distances: Vec<f64> = winding.iter().map(|point| dot(point, normal) - dist).collect();
    let in_front = distances.iter().all(|&d| d >= -ON_PLANE);
    let behind = distances.iter().all(|&d| d <= ON_PLANE);
    match (in_front, behind) {
        (true, true) => return Halves { front: None, back: None },
        (true, false) => return Halves { front: Some(winding.to_vec()), back: None },
        (false, true) => return Halves { front: None, back: Some(winding.to_vec()) },
        (false, false) => {}
    }
    let (mut front, mut back) = (Vec::new(), Vec::new());
    for (index, &point) in winding.iter().enumerate() {
        let next = (index + 1) % winding.len();
        let (here, there) = (distances[index], distances[next]);
        if here >= -ON_PLANE {
            front.push(point);
        }
        if here <= ON_PLANE {
            back.push(point);
        }
        if (here > ON_PLANE && there < -ON_PLANE) || (here < -ON_PLANE && there > ON_PLANE) {
            let part = here / (here - there);
            let cut: Point = std::array::from_fn(|i| {
                if normal[i].abs() == 1.0 {
                    normal[i] * dist
                } else {
                    point[i] + part * (winding[next][i] - point[i])
                }
            });
            front.push(cut);
            back.push(cut);
        }
    }
    Halves { front: Some(front), back: Some(back) }
}

/// Returns the part of a polygon behind a plane, unless it is in the plane.
pub(super) fn behind(winding: &[Point], normal: &Point, dist: f64) -> Option<Winding> {
    split(winding, normal, dist).back
}
