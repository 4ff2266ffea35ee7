//! Spheres around the recent places of all players, to find those whom a shot can meet.
//!
//! Invariant: the sphere of a player contains its origin now, at the end of the last frame and at that of the frame
//! before. One array per value, so that a shot compares several players at a time.

use super::aim::Aim;
use crate::model::{ClientNum, ClientSet, LevelTime, Vec3, limits::MAX_CLIENTS};

/// Distance that contains the box of a player, in any place of the last move, from its origin.
const BODY_RADIUS: f32 = 96.0;
/// Largest distance of a shot from its line, by distance from the muzzle. The shotgun's pellets have 700 / 8192 along
/// both axes.
const MAX_SPREAD: f32 = 0.15;
/// Distance that contains the rounding errors of a sphere.
const SPARE: f32 = 1.0;

/// Recent places of all players, by client number.
#[derive(Debug)]
pub(super) struct RecentPlaces {
    /// Origin at the end of the last frame.
    x: [f32; MAX_CLIENTS],
    y: [f32; MAX_CLIENTS],
    z: [f32; MAX_CLIENTS],
    /// Largest distance from there to the other places.
    radius: [f32; MAX_CLIENTS],
    /// Distance from there to the place of the frame before.
    step: [f32; MAX_CLIENTS],
    /// Time of the last frame, and of the one before.
    newest_at: [i32; MAX_CLIENTS],
    previous_at: [i32; MAX_CLIENTS],
}

/// Players whom a shot moves or could meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShotTargets {
    /// Players with a place after the time of the shot.
    pub(super) compensated: ClientSet,
    /// Those among them who may be in its way.
    pub(super) near: ClientSet,
}

impl Default for RecentPlaces {
    fn default() -> Self {
        let zeros = [0.0; MAX_CLIENTS];
        Self {
            x: zeros,
            y: zeros,
            z: zeros,
            radius: zeros,
            step: zeros,
            newest_at: [0; MAX_CLIENTS],
            previous_at: [0; MAX_CLIENTS],
        }
    }
}

impl RecentPlaces {
    /// Stores the times and places of a player at the ends of the last two frames, newest first, and its origin now.
    pub(super) fn store(
        &mut self,
        client: ClientNum,
        [newest, previous]: [(LevelTime, Vec3); 2],
        origin: Vec3,
    ) {
        let at = client.index();
        let Vec3([x, y, z]) = newest.1;
        (self.x[at], self.y[at], self.z[at]) = (x, y, z);
        self.step[at] = (newest.1 - previous.1).length();
        (self.newest_at[at], self.previous_at[at]) = (newest.0.0, previous.0.0);
        self.record_move(client, origin);
    }

    /// Stores the origin of a player now.
    pub(super) fn record_move(&mut self, client: ClientNum, origin: Vec3) {
        let at = client.index();
        let away = (origin - self.center(at)).length();
        self.radius[at] = away.max(self.step[at]) + SPARE;
    }

    fn center(&self, at: usize) -> Vec3 {
        Vec3::new(self.x[at], self.y[at], self.z[at])
    }

    /// Whether the sphere of a player contains a point.
    pub(super) fn contains(&self, client: ClientNum, point: Vec3) -> bool {
        let at = client.index();
        (point - self.center(at)).length() <= self.radius[at]
    }

    /// Returns the players whom a shot at a time moves, and those whom it could meet.
    pub(super) fn targets(&self, aim: &Aim, at: LevelTime) -> ShotTargets {
        let mut compensated = [false; MAX_CLIENTS];
        let mut near = [false; MAX_CLIENTS];
        for player in 0..MAX_CLIENTS {
            let meets = may_meet(aim, self.center(player), self.radius[player]);
            // Earlier places are not in the sphere.
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

/// Whether a shot may meet a player whose origin is within `radius` units of a point.
#[inline(always)]
pub(super) fn may_meet(aim: &Aim, point: Vec3, radius: f32) -> bool {
    let arm = point - aim.muzzle;
    let along = arm.dot(aim.axes.forward);
    let body = BODY_RADIUS + radius;
    let reach = body + (along.max(0.0) + radius) * MAX_SPREAD;
    // True for a point that is not a number.
    !((along < -body) | (arm.dot(arm) - along * along > reach * reach))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::movement::angles;

    fn aim() -> Aim {
        let axes = angles::axes(Vec3::new(20.0, 130.0, 0.0));
        Aim { muzzle: Vec3::new(100.0, -50.0, 30.0), axes }
    }

    #[test]
    fn shot_meets_no_player_that_it_misses() {
        let aim = aim();
        let axes = aim.axes;
        let mut places = RecentPlaces::default();
        let mut missed = 0;
        for number in 0..40_000_i64 {
            let part = |step: i64, range: i64| (number * step % range - range / 2) as f32;
            let newest =
                aim.muzzle + Vec3::new(part(7919, 9001), part(104_729, 9001), part(1299, 2001));
            let previous = newest + Vec3::new(part(31, 41), part(37, 43), part(41, 47));
            let origin = newest + Vec3::new(part(43, 47), part(31, 43), part(37, 41));
            let client = ClientNum::new(number as usize % MAX_CLIENTS).unwrap();
            places.store(client, [(LevelTime(100), newest), (LevelTime(50), previous)], origin);
            let targets = places.targets(&aim, LevelTime(60));
            assert!(targets.compensated.contains(client));
            if targets.near.contains(client) {
                continue;
            }
            missed += 1;
            for place in [newest, previous, origin, (newest + previous) * 0.5] {
                assert!(places.contains(client, place), "{place:?}");
                // The ends of the widest pattern, four of its corners and the line itself.
                for (up, right) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0), (0.0, 0.0)]
                {
                    let spread = 700.0 / 8192.0;
                    let line =
                        axes.forward + axes.up * (up * spread) + axes.right * (right * spread);
                    let arm = place - aim.muzzle;
                    let along = (arm.dot(line) / line.dot(line)).max(0.0);
                    // A box of 42 units to each side, and two units for truncated places and links.
                    assert!((arm - line * along).length() > 76.0, "{place:?}");
                }
            }
        }
        assert!((30_000..40_000).contains(&missed), "{missed}");
    }

    #[test]
    fn shot_before_the_last_two_frames_may_meet_everyone() {
        let mut places = RecentPlaces::default();
        let client = ClientNum::new(9).unwrap();
        let behind = aim().muzzle - aim().axes.forward * 1000.0;
        let frames = [(LevelTime(100), behind), (LevelTime(50), behind)];
        places.store(client, frames, behind);
        let met = |places: &RecentPlaces, at: i32| {
            let targets = places.targets(&aim(), LevelTime(at));
            (targets.compensated.contains(client), targets.near.contains(client))
        };
        assert_eq!(met(&places, 49), (true, true));
        assert_eq!(met(&places, 50), (true, false));
        assert_eq!(met(&places, 99), (true, false));
        assert_eq!(met(&places, 100), (false, false), "not in the past");
        places.record_move(client, aim().muzzle);
        assert_eq!(met(&places, 50), (true, true));
    }
}
