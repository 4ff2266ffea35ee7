//! Muzzle point, aim direction and spread of a player's weapon.
//!
//! Invariants: every shot starts at integer coordinates, as clients draw it. Source: the base game's muzzle
//! point and spread. Engine names: `CalcMuzzlePoint`.

use crate::bg::weapons::{BULLET_RANGE, Missile};
use crate::game::deathmatch::{context::Context, projectiles::Projectiles};
use crate::game::{movement::angles, movement::velocity, rng::SharedRng};
use crate::model::{ClientNum, Vec3, trig::Axes, trig::sine_cosine};

/// Distance from the eyes to the muzzle, in units.
const MUZZLE: f32 = 14.0;
/// Factor from a spread value to units at bullet range.
pub(crate) const SPREAD_SCALE: f32 = 16.0;
/// Number of spread seeds.
const SEEDS: i32 = 256;

/// Muzzle and axes of a player's weapon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Aim {
    pub(crate) muzzle: Vec3,
    pub(crate) axes: Axes,
}

/// Cone that contains a shot, with all its pellets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShotCone {
    muzzle: Vec3,
    forward: Vec3,
    /// Length in units.
    range: f32,
    /// Radius by distance from the muzzle.
    slope: f32,
}

impl ShotCone {
    /// Returns the cone of a weapon's shots. `spread` is that of the weapon.
    pub(crate) fn new(aim: &Aim, range: f32, spread: f32) -> Self {
        // A pellet has the spread along both axes, and rounding adds less than the rest.
        let slope = 1.5 * spread * SPREAD_SCALE / BULLET_RANGE;
        Self { muzzle: aim.muzzle, forward: aim.axes.forward, range, slope }
    }

    /// Whether the shot may meet what is within `radius` units of a point.
    #[inline(always)]
    pub(crate) fn may_meet(&self, point: Vec3, radius: f32) -> bool {
        let arm = point - self.muzzle;
        let along = arm.dot(self.forward);
        let reach = radius + (along.max(0.0) + radius) * self.slope;
        let is_beside = arm.dot(arm) - along * along > reach * reach;
        // True for a point that is not a number.
        !((along < -radius) | (along - radius > self.range) | is_beside)
    }
}

/// Returns the muzzle of a player's weapon as other clients see it, and its axes.
pub(crate) fn aim(cx: &Context<'_>, client: ClientNum) -> Option<Aim> {
    let player = cx.clients.player(client)?;
    let axes = angles::axes(player.state.viewangles);
    let mut eyes = player.entity.pos.base;
    eyes[2] += player.state.viewheight as f32;
    let muzzle = eyes.add_scaled(axes.forward, MUZZLE).truncated();
    Some(Aim { muzzle, axes })
}
impl Projectiles {
    /// Returns the seed of a shot. Clients derive the same seed from the usercmd time.
    pub(crate) fn shot_seed(&mut self, cx: &mut Context<'_>, client: ClientNum) -> i32 {
        if cx.clients.ruleset.combat.seeded_by_time {
            self.players[client.index()].attack_time.rem_euclid(SEEDS)
        } else {
            cx.rng.pick(SEEDS as usize) as i32
        }
    }
}

/// Returns the launch direction of a missile, with its spread or upward bias.
pub(crate) fn missile_direction(cx: &mut Context<'_>, missile: &Missile, aim: &Aim) -> Vec3 {
    if missile.spread == 0.0 {
        let mut direction = aim.axes.forward;
        direction[2] += missile.up_bias;
        return velocity::direction(direction);
    }
    let draws = [cx.rng.random(), cx.rng.crandom(), cx.rng.crandom()];
    velocity::direction(apply_spread(aim, missile.spread, draws) - aim.muzzle)
}

/// Returns the random numbers of a shot that clients know by its seed.
pub(crate) fn seeded_draws(seed: i32) -> [f32; 3] {
    let mut rng = SharedRng(seed);
    [rng.random(), rng.crandom(), rng.crandom()]
}

/// Returns the end point of a shot with random spread: `0..1` of a turn, then `−1..1` up and right.
pub(crate) fn apply_spread(aim: &Aim, spread: f32, [turn, up, right]: [f32; 3]) -> Vec3 {
    let angle = turn * std::f32::consts::PI * 2.0;
    let (sine, cosine) = sine_cosine(angle);
    let up = sine * up * spread * SPREAD_SCALE;
    let right = cosine * right * spread * SPREAD_SCALE;
    aim.muzzle
        .add_scaled(aim.axes.forward, BULLET_RANGE)
        .add_scaled(aim.axes.right, right)
        .add_scaled(aim.axes.up, up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bullet_stays_within_its_spread() {
        let aim = Aim { muzzle: Vec3::new(1.0, 2.0, 3.0), axes: angles::axes(Vec3::ZERO) };
        for seed in 0..256 {
            let end = apply_spread(&aim, 200.0, seeded_draws(seed)) - aim.muzzle;
            assert_eq!(end[0], BULLET_RANGE);
            assert!((end[1] * end[1] + end[2] * end[2]).sqrt() <= 3200.0 * 1.01, "{end:?}");
            assert_eq!(end, apply_spread(&aim, 200.0, seeded_draws(seed)) - aim.muzzle);
        }
    }
}
