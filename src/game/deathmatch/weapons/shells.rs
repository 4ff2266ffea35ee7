//! Invulnerability shells: deflection of shots.
//!
//! Source: OpenArena's invulnerability.

use super::{EntityNum, Trace, Vec3, client_of};
use crate::game::deathmatch::context::Context;
use crate::model::ClientNum;
use crate::{
    bg::{Event, weapons::BULLET_RANGE},
    game::movement::{angles, velocity},
};

/// Radius of a shell.
const SHELL: f32 = 42.0;
/// How often one shot can be turned away.
const MAX_BOUNCES: usize = 10;

/// A shot, after all shells that it met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ray {
    /// Where its last straight part began.
    pub(super) start: Vec3,
    pub(super) direction: Vec3,
    pub(super) trace: Trace,
    /// Where the parts before it ended.
    pub(super) turned: usize,
}

/// Follows a shot until something stops it that does not turn it away.
pub(super) fn follow_shot(cx: &mut Context<'_>, shooter: ClientNum, start: Vec3, end: Vec3) -> Ray {
    let (mut from, mut to) = (start, end);
    let mut pass = EntityNum::from(shooter);
    let mut turned = 0;
    loop {
        let trace = cx.shot_trace(from, to, pass);
        let direction = velocity::direction(to - from);
        let shell = client_of(trace.entity).filter(|&client| cx.is_invulnerable(client));
        let Some(shell) = shell.filter(|_| turned < MAX_BOUNCES) else {
            return Ray { start: from, direction, trace, turned };
        };
        turned += 1;
        match bounce_off_shell(cx, shell, trace.endpos, direction) {
            Some((at, normal)) => {
                let away = direction - normal * (2.0 * direction.dot(normal));
                // A shot that was turned away may hit who fired it.
                pass = EntityNum::NONE;
                from = at;
                to = at.add_scaled(
                    velocity::direction(away),
                    BULLET_RANGE.min((end - start).length()),
                );
            }
            None => {
                pass = trace.entity;
                from = trace.endpos;
            }
        }
    }
}

/// Shows that a shell turns something away. Where it hits the shell, and the shell's direction there;
/// none when it passes by.
pub(in crate::game::deathmatch) fn bounce_off_shell(
    cx: &mut Context<'_>,
    client: ClientNum,
    point: Vec3,
    direction: Vec3,
) -> Option<(Vec3, Vec3)> {
    let center = cx.origin_of(client.into())?;
    let direction = velocity::direction(direction);
    let at = enters_sphere(center, SHELL, point, direction)?;
    let normal = velocity::direction(at - center);
    let mut facing = angles::of_direction(normal);
    facing[0] += 90.0;
    if facing[0] > 360.0 {
        facing[0] -= 360.0;
    }
    cx.temp_entity(center, Event::InvulnerabilityImpact, |state, _| state.angles = facing);
    Some((at, normal))
}

/// Where a line through a point enters a sphere.
fn enters_sphere(center: Vec3, radius: f32, point: Vec3, direction: Vec3) -> Option<Vec3> {
    let offset = point - center;
    let half = offset.dot(direction);
    let rest = half * half - offset.dot(offset) + radius * radius;
    (rest > 0.0 && direction != Vec3::ZERO)
        .then(|| point.add_scaled(direction, -half - rest.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_enter_spheres_on_the_side_they_come_from() {
        let east = Vec3::new(1.0, 0.0, 0.0);
        let center = Vec3::new(100.0, 0.0, 0.0);
        let at = enters_sphere(center, 42.0, Vec3::new(85.0, 0.0, 0.0), east);
        assert_eq!(at, Some(Vec3::new(58.0, 0.0, 0.0)));
        assert_eq!(enters_sphere(center, 42.0, Vec3::new(85.0, 50.0, 0.0), east), None);
        assert_eq!(enters_sphere(center, 42.0, center, Vec3::ZERO), None);
    }
}
