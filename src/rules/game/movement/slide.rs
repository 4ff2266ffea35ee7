//! Slide and step-up movement (`PM_SlideMove`, `PM_StepSlideMove`).
//!
//! Source: the base game's movement.

use super::{
    Arithmetic, Pmove, PmoveWorld,
    events::queue,
    ground::MIN_WALK_NORMAL,
    velocity::{Length, clipped, direction, normalized},
};
use crate::bg::Event;
use crate::model::Vec3;

/// Maximum clip planes of a slide move.
const MAX_PLANES: usize = 5;
/// Maximum collisions of a slide move.
const MAX_BUMPS: u32 = 4;
/// Speed along a normal below which a velocity leads into the plane, in units per second.
const INTO_PLANE: f32 = 0.1;
/// Maximum height of a step-up, in units.
const STEP_HEIGHT: f32 = 18.0;
/// Height above which a step-up raises an event, in units.
const MIN_STEP_EVENT: f32 = 2.0;

/// Whether gravity acts during a slide move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gravity {
    Off,
    On,
}

/// Normals of the clip planes of a slide move.
struct Planes {
    normals: [Vec3; MAX_PLANES],
    len: usize,
}

impl Planes {
    fn as_slice(&self) -> &[Vec3] {
        &self.normals[..self.len]
    }

    fn is_full(&self) -> bool {
        self.len == MAX_PLANES
    }

    /// Adds a normal. The list must not be full.
    fn push(&mut self, normal: Vec3) {
        self.normals[self.len] = normal;
        self.len += 1;
    }
}

impl<W: PmoveWorld + ?Sized> Pmove<'_, W> {
    /// Moves for the length of the sub-step and slides along obstacles. Returns whether one was hit.
    pub(super) fn slide(&mut self, gravity: Gravity) -> bool {
        // Velocity without collisions. It is restored while the movement timer runs.
        let mut unhindered = self.state.velocity;
        // Velocity at the end of the sub-step; during the move, half of gravity's gain applies.
        let mut end = self.state.velocity;
        if gravity == Gravity::On {
            end[2] -= self.gravity_gain();
            self.state.velocity[2] = (self.state.velocity[2] + end[2]) * 0.5;
            unhindered[2] = end[2];
            if self.ground.plane {
                self.state.velocity = clipped(self.state.velocity, self.ground.normal());
            }
        }
        let mut planes = Planes { normals: [Vec3::ZERO; MAX_PLANES], len: 0 };
        let arithmetic = self.step.arithmetic;
        let mut left = self.step.seconds;
        let mut bumps = 0;
        while bumps < MAX_BUMPS {
            let goal = self.state.origin.add_scaled(self.state.velocity, left);
            let trace = self.trace(self.state.origin, goal);
            if trace.allsolid {
                // Do not accumulate falling speed inside solid.
                self.state.velocity[2] = 0.0;
                return true;
            }
            if trace.fraction > 0.0 {
                self.state.origin = trace.endpos;
            }
            if trace.fraction == 1.0 {
                break;
            }
            if bumps == 0 {
                if self.ground.plane {
                    planes.push(self.ground.normal());
                }
                // Both arithmetics sum these squares in the same order.
                planes.push(direction(self.state.velocity));
            }
            self.touch(trace.entity);
            left = arithmetic.time_left(left, trace.fraction);
            bumps += 1;
            if planes.is_full() {
                self.state.velocity = Vec3::ZERO;
                return true;
            }
            let normal = trace.plane.normal;
            if planes.as_slice().iter().any(|plane| arithmetic.is_same_plane(normal.dot(*plane))) {
                // The same plane again, by rounding: push the box off the plane.
                self.state.velocity += normal;
                continue;
            }
            planes.push(normal);
            let Some((velocity, end_velocity)) =
                deflected(self.state.velocity, end, planes.as_slice(), arithmetic)
            else {
                self.state.velocity = Vec3::ZERO;
                return true;
            };
            self.state.velocity = velocity;
            end = end_velocity;
        }
        if gravity == Gravity::On {
            self.state.velocity = end;
        }
        if self.state.pm_time != 0 {
            self.state.velocity = unhindered;
        }
        bumps != 0
    }

    /// Slides, and after a collision tries the same move one step higher.
    pub(super) fn step_slide(&mut self, gravity: Gravity) {
        let (origin, velocity) = (self.state.origin, self.state.velocity);
        if !self.slide(gravity) {
            return;
        }
        let at_height = |z: f32| Vec3::new(origin[0], origin[1], z);
        if self.state.velocity[2] > 0.0 {
            let floor = self.trace(origin, at_height(origin[2] - STEP_HEIGHT));
            let on_stairs = floor.fraction != 1.0 && floor.plane.normal[2] >= MIN_WALK_NORMAL;
            if !on_stairs {
                return;
            }
        }
        let ceiling = self.trace(origin, at_height(origin[2] + STEP_HEIGHT));
        if ceiling.allsolid {
            return;
        }
        let height = ceiling.endpos[2] - origin[2];
        self.state.origin = ceiling.endpos;
        self.state.velocity = velocity;
        self.slide(gravity);

        let mut down = self.state.origin;
        down[2] -= height;
        let floor = self.trace(self.state.origin, down);
        if !floor.allsolid {
            self.state.origin = floor.endpos;
        }
        if floor.fraction < 1.0 {
            self.state.velocity = clipped(self.state.velocity, floor.plane.normal);
        }
        self.add_step_event(self.state.origin[2] - origin[2]);
    }

    fn add_step_event(&mut self, height: f32) {
        if height > MIN_STEP_EVENT {
            let event = match height {
                height if height < 7.0 => Event::Step4,
                height if height < 11.0 => Event::Step8,
                height if height < 15.0 => Event::Step12,
                _ => Event::Step16,
            };
            queue(self.state, event, 0);
        }
    }
}

/// Clips the velocity, and the one at the end of the sub-step, to the planes. It slides along one plane
/// or along the crease of two. Returns `None` in a corner of three.
fn deflected(
    velocity: Vec3,
    end: Vec3,
    planes: &[Vec3],
    arithmetic: Arithmetic,
) -> Option<(Vec3, Vec3)> {
    let leads_into = |velocity: Vec3, plane: Vec3| velocity.dot(plane) < INTO_PLANE;
    let Some(first) = planes.iter().position(|&plane| leads_into(velocity, plane)) else {
        return Some((velocity, end));
    };
    let plane = planes[first];
    let mut slid = (clipped(velocity, plane), clipped(end, plane));
    for (second, &other) in planes.iter().enumerate() {
        if second == first || !leads_into(slid.0, other) {
            continue;
        }
        slid = (clipped(slid.0, other), clipped(slid.1, other));
        if slid.0.dot(plane) >= 0.0 {
            continue;
        }
        let (crease, _) = normalized(plane.cross(other), Length::Root, arithmetic);
        slid = (crease * crease.dot(velocity), arithmetic.along_crease(crease, end));
        let corner = |third: usize| third != first && third != second;
        if planes.iter().enumerate().any(|(third, &p)| corner(third) && leads_into(slid.0, p)) {
            return None;
        }
    }
    Some(slid)
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Vec3 = Vec3::new(-1.0, 0.0, 0.0);
    const Y: Vec3 = Vec3::new(0.0, -1.0, 0.0);
    const Z: Vec3 = Vec3::new(0.0, 0.0, 1.0);

    fn deflected(velocity: Vec3, end: Vec3, planes: &[Vec3]) -> Option<(Vec3, Vec3)> {
        super::deflected(velocity, end, planes, Arithmetic::Bytecode)
    }

    #[test]
    fn slide_move_clips_velocity_at_wall() {
        let velocity = Vec3::new(100.0, 50.0, 1.0);
        let (slid, _) = deflected(velocity, velocity, &[X]).expect("one wall is no corner");
        // Overclip removes 0.1% more than 100.
        assert!((slid[0] + 0.1).abs() < 1e-4 && slid[1] == 50.0, "{slid:?}");
        assert_eq!(deflected(X, X, &[X]), Some((X, X)));
    }

    #[test]
    fn slide_move_follows_crease_and_stops_in_corner() {
        // A sharp corner: sliding along one wall leads into the other.
        let sharp = Vec3::new(0.6, -0.8, 0.0);
        let velocity = Vec3::new(100.0, 50.0, 20.0);
        let (slid, _) = deflected(velocity, velocity, &[X, sharp]).expect("up is free");
        assert_eq!((slid[0], slid[1]), (0.0, 0.0));
        assert!((slid[2] - 20.0).abs() < 1e-4, "{slid:?}");
        assert_eq!(deflected(velocity, velocity, &[X, sharp, Z * -1.0]), None);
        let (_, end) =
            deflected(velocity, Vec3::new(1.0, 1.0, 7.0), &[X, Y, sharp]).expect("up is free");
        assert!(end.0.iter().all(|part| part.is_finite()));
    }
}
