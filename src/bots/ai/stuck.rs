//! Stuck detection, and the movement keys for a direction.
//!
//! Source: movement keys are relative to the view direction.

use crate::model::Vec3;

use super::TURN;

/// Number of directions of the movement keys.
pub(super) const DIRECTIONS: i32 = 8;
/// Distance in units below which a walking bot is stuck after [`STUCK_MS`].
const STUCK_DISTANCE: f32 = 24.0;
const STUCK_MS: u32 = 400;
/// Radius in units that a bot must leave within [`CORNER_MS`], or it is cornered.
const CORNER_DISTANCE: f32 = 128.0;
const CORNER_MS: u32 = 3000;

/// Values of `forwardmove` and `rightmove` for each eighth of a turn to the left.
const KEYS: [[i8; 2]; DIRECTIONS as usize] =
    [[127, 0], [127, -127], [0, -127], [-127, -127], [-127, 0], [-127, 127], [0, 127], [127, 127]];

/// Kind of a navigation problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StuckKind {
    /// The bot presses movement keys and does not move.
    Stuck,
    /// The bot moves without leaving a small area.
    Cornered,
}

/// Reference positions of a bot, and the time that it has stayed near each.
#[derive(Debug, Default)]
pub(super) struct StuckDetector {
    was_at: Vec3,
    same_place_ms: u32,
    corner: Vec3,
    same_corner_ms: u32,
}

impl StuckDetector {
    /// Updates the position and returns the problem that was detected, if any.
    ///
    /// A problem that lasts is returned again after the same time.
    pub(super) fn update(
        &mut self,
        origin: Vec3,
        walks: bool,
        passed_ms: u32,
    ) -> Option<StuckKind> {
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

/// Returns the keys of the direction nearest to `left`, an angle to the left of the view.
pub(super) fn keys_for(left: i32) -> [i8; 2] {
    let eighth = (left + TURN / 16).rem_euclid(TURN) / (TURN / DIRECTIONS);
    KEYS[eighth as usize % KEYS.len()]
}

/// Returns the angle to the left of the view that keys move in; `None` without movement.
pub(super) fn turn_for(keys: [i8; 2]) -> Option<i32> {
    let pressed = keys.map(i8::signum);
    let place = KEYS.iter().position(|known| known.map(i8::signum) == pressed)?;
    Some(place as i32 * (TURN / DIRECTIONS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_match_their_direction() {
        for eighth in 0..DIRECTIONS {
            let left = eighth * (TURN / DIRECTIONS);
            assert_eq!(turn_for(keys_for(left)), Some(left));
            assert_eq!(keys_for(left + TURN / 20), keys_for(left - TURN / 20 - TURN));
        }
        assert_eq!((turn_for([64, 0]), turn_for([0, 1])), (Some(0), Some(TURN / 4 * 3)));
        assert_eq!(turn_for([0, 0]), None);
    }

    #[test]
    fn idle_bot_is_not_stuck() {
        let mut stuck = StuckDetector::default();
        let troubles = |walks, stuck: &mut StuckDetector| {
            (0..30).find_map(|_| stuck.update(Vec3::ZERO, walks, 20))
        };
        assert_eq!(troubles(false, &mut stuck), None);
        assert_eq!(troubles(true, &mut stuck), Some(StuckKind::Stuck));
    }

    #[test]
    fn back_and_forth_walk_is_cornered() {
        let mut stuck = StuckDetector::default();
        let at = |step: u16| Vec3::new(f32::from(step % 2) * 40.0, 0.0, 0.0);
        let stuck_kind = (0..200).find_map(|step| stuck.update(at(step), true, 20));
        assert_eq!(stuck_kind, Some(StuckKind::Cornered));
    }
}
