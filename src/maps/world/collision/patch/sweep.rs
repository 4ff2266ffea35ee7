//! Traces of points and boxes against a patch, and position tests.
//!
//! Both precisions compute in single precision here. Source: the collision document, patches; checked by
//! the trace vectors.

use super::{Facet, Fence, Patch};
use crate::{
    model::{TracePlane, Vec3},
    world::collision::{
        arithmetic::{Arithmetic, SURFACE_CLIP},
        sweep::Sweep,
    },
};

/// Fraction at which a parallel line crosses a plane.
const NEVER: f32 = 99_999.0;

impl Patch {
    /// Clips the sweep against the patch.
    pub(in crate::world::collision) fn stop(&self, sweep: &mut Sweep) {
        if sweep.contents_mask & self.contents == 0 || sweep.misses(&self.reach) {
            return;
        }
        sweep.work.planes += self.fences.len();
        let before = sweep.found.fraction;
        if sweep.is_point {
            self.stop_point(sweep);
        } else {
            self.stop_box(sweep);
        }
        if sweep.found.fraction < before {
            sweep.found.surface_flags = self.surface_flags;
            sweep.found.contents = self.contents;
        }
    }

    /// Whether the box at rest is inside a facet.
    pub(in crate::world::collision) fn holds(&self, sweep: &mut Sweep) -> bool {
        if sweep.contents_mask & self.contents == 0 {
            return false;
        }
        sweep.work.planes += self.fences.len();
        self.fenced().any(|fences| {
            fences.iter().enumerate().all(|(n, fence)| {
                let plane = fence.expanded(n == 0, sweep);
                distances(plane, sweep).0 <= 0.0
            })
        })
    }

    /// Iterates over the outward planes of each facet.
    fn fenced(&self) -> impl Iterator<Item = &[Fence]> {
        let mut rest = &*self.fences;
        self.facets.iter().map(move |facet| {
            let (own, after) = rest.split_at(usize::from(facet.border_count) + 1);
            rest = after;
            own
        })
    }

    fn stop_point(&self, sweep: &mut Sweep) {
        for facet in &self.facets {
            let plane = self.planes[usize::from(facet.surface)];
            let (from, to) = distances(plane, sweep);
            let through = crossing(from, to);
            if from > 0.0
                && through <= sweep.found.fraction
                && self.is_inside(facet, sweep, through)
            {
                sweep.found.fraction = f32::part(from, to, -SURFACE_CLIP).max(0.0);
                sweep.found.plane = plane;
            }
        }
    }

    /// Whether a line is within the borders where it crosses the surface, at fraction `through`.
    fn is_inside(&self, facet: &Facet, sweep: &Sweep, through: f32) -> bool {
        !facet.borders_in(&self.borders).iter().any(|border| {
            let (from, to) = distances(self.planes[usize::from(border.plane)], sweep);
            let crossing = crossing(from, to);
            let starts_inside = (from > 0.0) == border.inward;
            if starts_inside { crossing < through } else { crossing > through }
        })
    }

    fn stop_box(&self, sweep: &mut Sweep) {
        'facets: for fences in self.fenced() {
            let (mut enter, mut leave) = (-1.0_f32, 1.0_f32);
            let mut hit = None;
            for (n, fence) in fences.iter().enumerate() {
                let plane = fence.expanded(n == 0, sweep);
                let (from, to) = distances(plane, sweep);
                if from > 0.0 && (to.double() >= SURFACE_CLIP || to >= from) {
                    continue 'facets;
                }
                if from <= 0.0 && to <= 0.0 {
                    continue;
                }
                if from > to {
                    let part = f32::part(from, to, -SURFACE_CLIP).max(0.0);
                    if part > enter {
                        enter = part;
                        hit = Some((n, plane));
                    }
                } else {
                    leave = leave.min(f32::part(from, to, SURFACE_CLIP));
                }
            }
            let Some((n, plane)) = hit else { continue };
            // The back only bounds the facet and stops no trace.
            let is_back = n + 1 == fences.len();
            if !is_back && enter < leave && enter >= 0.0 && enter < sweep.found.fraction {
                sweep.found.fraction = enter;
                sweep.found.plane = plane;
            }
        }
    }
}

impl Fence {
    /// Returns the plane moved outward by the box's reach along its normal.
    fn expanded(&self, is_surface: bool, sweep: &Sweep) -> TracePlane {
        if let Some(capsule) = sweep.capsule {
            let dist = self.plane.dist + capsule.radius;
            return TracePlane { normal: self.plane.normal, dist };
        }
        let over = self.plane.normal.dot(sweep.corner(self.sign_bits));
        let dist = if is_surface { self.plane.dist - over } else { self.plane.dist + over.abs() };
        TracePlane { normal: self.plane.normal, dist }
    }
}

/// Returns the distances of start and end in front of a plane.
fn distances(plane: TracePlane, sweep: &Sweep) -> (f32, f32) {
    let of = |point: Vec3| point.dot(plane.normal) - plane.dist;
    match sweep.capsule {
        None => (of(sweep.start()), of(sweep.end())),
        Some(capsule) => (
            of(capsule.end(sweep.start(), plane.normal)),
            of(capsule.end(sweep.end(), plane.normal)),
        ),
    }
}

/// Returns the fraction at which a line crosses a plane, forward only.
fn crossing(from: f32, to: f32) -> f32 {
    let part = from / (from - to);
    if from == to || part <= 0.0 { NEVER } else { part }
}
