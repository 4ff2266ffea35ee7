//! Stuck detection, and the movement keys for a direction.
//!
//! Source: movement keys are relative to the view direction.

use crate::model::Vec3;

use super::TURN;

/// Directions that keys have.
pub(super) const WAYS: i32 = 8;
/// A bot that wants to walk and covers less than this in [`STUCK_MS`] is stuck, in units.
const STUCK_DISTANCE: f32 = 24.0;
const STUCK_MS: u32 = 400;
/// One that does not come farther than this in [`CORNER_MS`] runs about in a corner.
const CORNER_DISTANCE: f32 = 128.0;
const CORNER_MS: u32 = 3000;

/// Forward and right for each eighth of a turn to the left.
const KEYS: [[i8; 2]; WAYS as usize] =
    [[127, 0], [127, -127], [0, -127], [-127, -127], [-127, 0], [-127, 127], [0, 127], [127, 127]];

/// What keeps a bot from getting on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StuckKind {
    /// It wants to walk and does not move.
    Stuck,
    /// It has moved about without coming far.
    Cornered,
}

/// Where a bot was, and for how long it has not come far from there.
#[derive(Debug, Default)]
pub(super) struct StuckDetector {
    was_at: Vec3,
    same_place_ms: u32,
    corner: Vec3,
    same_corner_ms: u32,
}

impl StuckDetector {
    /// Takes note of where the bot is after some time, and tells what is wrong with that, each trouble
    /// once until it has lasted as long again.
    pub(super) fn note(&mut self, origin: Vec3, walks: bool, passed_ms: u32) -> Option<StuckKind> {
        self.same_place_ms = self.same_place_ms.saturating_add(passed_ms);
        if !walks || (origin - self.was_at).length() > STUCK_DISTANCE {
            self.was_at = origin;
            self.same_place_ms = 0;
        }
        self.same_corner_ms = self.same_corner_ms.saturating_add(passed_ms);
        if (origin - self.corner).length() > CORNER_DISTANCE {
            self.corner = origin;
            self.same_corner_ms = 0;
        }
        if self.same_corner_ms > CORNER_MS {
            self.same_corner_ms = 0;
            return Some(StuckKind::Cornered);
        }
        if self.same_place_ms > STUCK_MS {
            self.same_place_ms = 0;
            return Some(StuckKind::Stuck);
        }
        None
    }
}

/// The keys that go so far to the left of where the player looks, as near as keys can.
pub(super) fn keys_for(left: i32) -> [i8; 2] {
    let eighth = (left + TURN / 16).rem_euclid(TURN) / (TURN / WAYS);
    KEYS[eighth as usize % KEYS.len()]
}

/// How far to the left of where the player looks keys go; `None` when they go nowhere.
pub(super) fn turn_of(keys: [i8; 2]) -> Option<i32> {
    let pressed = keys.map(i8::signum);
    let place = KEYS.iter().position(|known| known.map(i8::signum) == pressed)?;
    Some(place as i32 * (TURN / WAYS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_where_they_are_said_to_go() {
        for eighth in 0..WAYS {
            let left = eighth * (TURN / WAYS);
            assert_eq!(turn_of(keys_for(left)), Some(left));
            assert_eq!(keys_for(left + TURN / 20), keys_for(left - TURN / 20 - TURN));
        }
        assert_eq!((turn_of([64, 0]), turn_of([0, 1])), (Some(0), Some(TURN / 4 * 3)));
        assert_eq!(turn_of([0, 0]), None);
    }

    #[test]
    fn who_stands_by_intention_is_not_stuck() {
        let mut stuck = StuckDetector::default();
        let troubles = |walks, stuck: &mut StuckDetector| {
            (0..30).find_map(|_| stuck.note(Vec3::ZERO, walks, 20))
        };
        assert_eq!(troubles(false, &mut stuck), None);
        assert_eq!(troubles(true, &mut stuck), Some(StuckKind::Stuck));
    }

    #[test]
    fn to_and_fro_is_a_corner() {
        let mut stuck = StuckDetector::default();
        let at = |step: u16| Vec3::new(f32::from(step % 2) * 40.0, 0.0, 0.0);
        let trouble = (0..200).find_map(|step| stuck.note(at(step), true, 20));
        assert_eq!(trouble, Some(StuckKind::Cornered));
    }
}
