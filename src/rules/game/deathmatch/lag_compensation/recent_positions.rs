//! Spheres around the recent positions of all players, to find those whom a shot can meet.
//!
//! Invariant: once a move is recorded, the sphere of a player contains its box at its origin now, at the end of the last
//! frame and at that of the frame before. One array per value, so that a shot compares several players at a time.

use crate::game::deathmatch::projectiles::aim::ShotCone;
use crate::model::{ClientNum, ClientSet, EntityShared, LevelTime, Vec3, limits::MAX_CLIENTS};

/// Distance that contains the rounding errors of a sphere.
const SPARE: f32 = 2.0;

/// Recent positions of all players, by client number.
#[derive(Debug)]
pub(crate) struct RecentPositions {
    /// Origin at the end of the last frame.
    x: [f32; MAX_CLIENTS],
    y: [f32; MAX_CLIENTS],
    z: [f32; MAX_CLIENTS],
    /// Radius of a sphere around it that contains the player's box at all positions.
    radius: [f32; MAX_CLIENTS],
    /// Distance from that origin to the one of the frame before.
    step: [f32; MAX_CLIENTS],
    /// Radius of the boxes of both frames around their origins, and that of the last one.
    body: [f32; MAX_CLIENTS],
    newest_body: [f32; MAX_CLIENTS],
    /// Time of the last frame, and of the one before.
    newest_at: [i32; MAX_CLIENTS],
    previous_at: [i32; MAX_CLIENTS],
}

/// Players whom a shot moves or could meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShotTargets {
    /// Players with a position after the time of the shot.
    pub(crate) compensated: ClientSet,
    /// Those among them who may be in its way.
    pub(crate) near: ClientSet,
}

impl Default for RecentPositions {
    fn default() -> Self {
        let zeros = [0.0; MAX_CLIENTS];
        Self {
            x: zeros,
            y: zeros,
            z: zeros,
            radius: zeros,
            step: zeros,
            body: zeros,
            newest_body: zeros,
            newest_at: [0; MAX_CLIENTS],
            previous_at: [0; MAX_CLIENTS],
        }
    }
}

/// Returns the radius of a box around its origin.
fn radius_of(mins: Vec3, maxs: Vec3) -> f32 {
    Vec3([0, 1, 2].map(|axis| mins[axis].abs().max(maxs[axis].abs()))).length()
}

impl RecentPositions {
    /// Forgets the positions of a player who appears at an origin.
    pub(crate) fn reset(&mut self, client: ClientNum, now: LevelTime, origin: Vec3) {
        let at = client.index();
        self.newest_at[at] = now.0;
        self.newest_body[at] = 0.0;
        Vec3([self.x[at], self.y[at], self.z[at]]) = origin;
    }

    /// Stores the position of a player at the end of a frame. `origin` is the one that others see.
    pub(crate) fn store(
        &mut self,
        client: ClientNum,
        now: LevelTime,
        origin: Vec3,
        shared: &EntityShared,
    ) {
        let at = client.index();
        let body = radius_of(shared.mins, shared.maxs);
        self.body[at] = body.max(self.newest_body[at]);
        self.newest_body[at] = body;
        self.step[at] = (origin - self.center(at)).length();
        Vec3([self.x[at], self.y[at], self.z[at]]) = origin;
        self.previous_at[at] = self.newest_at[at];
        self.newest_at[at] = now.0;
        self.record_move(client, shared);
    }

    /// Stores the position of a player now.
    pub(crate) fn record_move(&mut self, client: ClientNum, now: &EntityShared) {
        let at = client.index();
        let away = (now.current_origin - self.center(at)).length();
        let body = radius_of(now.mins, now.maxs);
        self.radius[at] = away.max(self.step[at]) + body.max(self.body[at]) + SPARE;
    }

    fn center(&self, at: usize) -> Vec3 {
        Vec3::new(self.x[at], self.y[at], self.z[at])
    }

    /// Whether the sphere of a player contains its position now.
    pub(crate) fn contains(&self, client: ClientNum, now: &EntityShared) -> bool {
        let at = client.index();
        let away = (now.current_origin - self.center(at)).length();
        away + radius_of(now.mins, now.maxs) <= self.radius[at]
    }

    /// Returns the players whom a shot at a time moves, and those whom it could meet.
    pub(crate) fn targets(&self, cone: &ShotCone, at: LevelTime) -> ShotTargets {
        let mut compensated = [false; MAX_CLIENTS];
        let mut near = [false; MAX_CLIENTS];
        for player in 0..MAX_CLIENTS {
            let meets = cone.may_meet(self.center(player), self.radius[player]);
            // Earlier positions are not in the sphere.
            let is_older = at.0.wrapping_sub(self.previous_at[player]) < 0;
            compensated[player] = self.newest_at[player].wrapping_sub(at.0) > 0;
            near[player] = compensated[player] & (meets | is_older);
        }
        ShotTargets {
            compensated: ClientSet::of_flags(&compensated),
            near: ClientSet::of_flags(&near),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bg::weapons::BULLET_RANGE;
    use crate::game::deathmatch::projectiles::aim::Aim;
    use crate::game::movement::angles;

    const SIZE: f32 = 42.0;
    const CORNERS: [Vec3; 2] = [Vec3([-SIZE; 3]), Vec3([SIZE; 3])];

    fn aim() -> Aim {
        let axes = angles::axes(Vec3::new(20.0, 130.0, 0.0));
        Aim { muzzle: Vec3::new(100.0, -50.0, 30.0), axes }
    }

    fn shared(origin: Vec3) -> EntityShared {
        EntityShared {
            current_origin: origin,
            mins: CORNERS[0],
            maxs: CORNERS[1],
            ..EntityShared::default()
        }
    }

    #[test]
    fn shot_meets_no_player_that_it_misses() {
        let aim = aim();
        let axes = aim.axes;
        for (range, spread) in [(BULLET_RANGE, 700.0), (8192.0, 0.0), (768.0, 0.0)] {
            let cone = ShotCone::new(&aim, range, spread);
            let mut positions = RecentPositions::default();
            let mut missed = 0;
            for number in 0..40_000_i64 {
                let part = |step: i64, range: i64| (number * step % range - range / 2) as f32;
                let newest =
                    aim.muzzle + Vec3::new(part(7919, 9001), part(104_729, 9001), part(1299, 2001));
                let previous = newest + Vec3::new(part(31, 41), part(37, 43), part(41, 47));
                let origin = newest + Vec3::new(part(43, 47), part(31, 43), part(37, 41));
                let client = ClientNum::new(number as usize % MAX_CLIENTS).unwrap();
                let now = shared(origin);
                positions.reset(client, LevelTime(0), Vec3::ZERO);
                positions.store(client, LevelTime(50), previous, &shared(previous));
                positions.store(client, LevelTime(100), newest, &now);
                assert!(positions.contains(client, &now));
                let targets = positions.targets(&cone, LevelTime(60));
                assert!(targets.compensated.contains(client));
                if targets.near.contains(client) {
                    continue;
                }
                missed += 1;
                // The ends of the widest pattern, four of its corners and the line itself.
                for [up, right] in [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0], [0.0, 0.0]]
                {
                    let slope = spread / 8192.0;
                    let line = axes.forward + axes.up * (up * slope) + axes.right * (right * slope);
                    for at in [newest, previous, origin, (newest + previous) * 0.5] {
                        let arm = at - aim.muzzle;
                        let along = (arm.dot(line) / line.dot(line)).clamp(0.0, range);
                        let distance = (arm - line * along).length();
                        assert!(distance > SIZE * 3.0_f32.sqrt(), "{at:?} {range} {spread}");
                    }
                }
            }
            assert!((30_000..40_000).contains(&missed), "{missed}");
        }
    }

    #[test]
    fn shot_before_the_last_two_frames_may_meet_everyone() {
        let mut positions = RecentPositions::default();
        let client = ClientNum::new(9).unwrap();
        let behind = aim().muzzle - aim().axes.forward * 1000.0;
        positions.reset(client, LevelTime(50), behind);
        positions.store(client, LevelTime(100), behind, &shared(behind));
        let met = |positions: &RecentPositions, at: i32| {
            let targets = positions.targets(&ShotCone::new(&aim(), 8192.0, 0.0), LevelTime(at));
            (targets.compensated.contains(client), targets.near.contains(client))
        };
        assert_eq!(met(&positions, 49), (true, true));
        assert_eq!(met(&positions, 50), (true, false));
        assert_eq!(met(&positions, 99), (true, false));
        assert_eq!(met(&positions, 100), (false, false), "not in the past");
        positions.record_move(client, &shared(aim().muzzle));
        assert_eq!(met(&positions, 50), (true, true));
    }
}
