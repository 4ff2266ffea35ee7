//! Earlier positions of one player, kept by time.
//!
//! Invariants: positions ascend in time; they reach back 800 ms at any frame rate of the server, or 16 frames if that is
//! longer; the memory is fixed.

use crate::model::{LevelTime, Vec3};

/// Time that positions reach back, in ms: that of 16 frames at the default `sv_fps`.
const REACH_MS: i32 = 800;
/// Positions that are kept in any case, as OpenArena does.
const MIN_POSITIONS: usize = 17;
/// Most positions: those of [`REACH_MS`] at the highest `sv_fps`, 125.
const MAX_POSITIONS: usize = REACH_MS as usize / 8 + 1;

/// Position of a player at the end of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PlayerPosition {
    pub(super) at: LevelTime,
    pub(super) origin: Vec3,
    pub(super) mins: Vec3,
    pub(super) maxs: Vec3,
}

/// Time between two positions of a player.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment<'a> {
    old: &'a PlayerPosition,
    new: &'a PlayerPosition,
    at: LevelTime,
}

impl Moment<'_> {
    fn mix(&self, old: Vec3, new: Vec3) -> Vec3 {
        let Self { old: PlayerPosition { at: from, .. }, new: PlayerPosition { at: to, .. }, at } =
            self;
        let part = at.distance(*from) as f32 / to.distance(*from).max(1) as f32;
        old.add_scaled(new - old, part)
    }

    pub(super) fn origin(&self) -> Vec3 {
        self.mix(self.old.origin, self.new.origin)
    }

    pub(super) fn mins(&self) -> Vec3 {
        self.mix(self.old.mins, self.new.mins)
    }

    pub(super) fn maxs(&self) -> Vec3 {
        self.mix(self.old.maxs, self.new.maxs)
    }
}

/// Positions of one player in a ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct History {
    positions: [PlayerPosition; MAX_POSITIONS],
    newest: usize,
    /// Number of positions up to the newest.
    len: usize,
}

impl Default for History {
    fn default() -> Self {
        Self { positions: [PlayerPosition::default(); MAX_POSITIONS], newest: 0, len: 1 }
    }
}

impl History {
    /// Forgets all positions but one.
    pub(super) const fn reset(&mut self, position: PlayerPosition) {
        (self.newest, self.len) = (0, 1);
        self.positions[0] = position;
    }

    /// Adds the position of a frame, and forgets those that are no longer needed.
    pub(super) fn store(&mut self, position: PlayerPosition) {
        self.newest = (self.newest + 1) % MAX_POSITIONS;
        self.positions[self.newest] = position;
        self.len = (self.len + 1).min(MAX_POSITIONS);
        while self.len > MIN_POSITIONS
            && position.at.distance(self.back(self.len - 2).at) >= REACH_MS
        {
            self.len -= 1;
        }
    }

    /// Returns the position of that many frames ago, below the length.
    fn back(&self, frames: usize) -> &PlayerPosition {
        &self.positions[(self.newest + MAX_POSITIONS - frames) % MAX_POSITIONS]
    }

    /// Returns the moment of a time; `None` if that is not in the past.
    pub(super) fn moment(&self, at: LevelTime) -> Option<Moment<'_>> {
        let mut new = None;
        for frames in 0..self.len {
            let position = self.back(frames);
            if position.at.distance(at) <= 0 {
                return new.map(|new| Moment { old: position, new, at });
            }
            new = Some(position);
        }
        // Before the oldest position, the player stands there.
        new.map(|oldest| Moment { old: oldest, new: oldest, at: oldest.at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores 2 s of positions, one unit of x per ms. Returns the place at a time before the last frame.
    fn places(interval_ms: i32, back_ms: &[i32]) -> Vec<Option<f32>> {
        let mut history = History::default();
        let mut now = 0;
        while now < 2000 {
            now += interval_ms;
            let origin = Vec3::new(now as f32, 0.0, 0.0);
            history.store(PlayerPosition { at: LevelTime(now), origin, ..Default::default() });
        }
        let place = |back: &i32| {
            let moment = history.moment(LevelTime(now - back));
            moment.map(|moment| moment.origin()[0] - now as f32)
        };
        back_ms.iter().map(place).collect()
    }

    #[test]
    fn positions_are_interpolated_over_800_ms_at_every_rate() {
        for interval_ms in [8, 10, 11, 16, 20, 25, 33, 50] {
            let found = places(interval_ms, &[0, 1, 128, 333, 799]);
            let expected = [None, Some(-1.0), Some(-128.0), Some(-333.0), Some(-799.0)];
            assert_eq!(found, expected, "{interval_ms} ms");
        }
        // 17 positions at 20 Hz as the game has them, and at slower rates.
        assert_eq!(places(50, &[800, 801, 1500]), [Some(-800.0); 3]);
        assert_eq!(places(100, &[1599, 1700]), [Some(-1599.0), Some(-1600.0)]);
        assert_eq!(places(8, &[801]), [Some(-800.0)]);
    }

    #[test]
    fn reset_player_stands_at_one_position() {
        let mut history = History::default();
        for at in 1..30 {
            history.store(PlayerPosition { at: LevelTime(at * 50), ..Default::default() });
        }
        let origin = Vec3::new(9.0, 0.0, 0.0);
        history.reset(PlayerPosition { at: LevelTime(2000), origin, ..Default::default() });
        assert!(history.moment(LevelTime(2000)).is_none());
        assert_eq!(history.moment(LevelTime(1400)).map(|moment| moment.origin()), Some(origin));
    }
}
