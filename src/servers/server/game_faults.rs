//! Game faults: the level ends, connections stay, and `sv_gameFault` selects what follows.
//!
//! Invariants: after a fault no entry of the game is called until a level starts with a new game.
//! Faults restart three levels a minute at most, so clients that can cause them cost bounded work.
//! Engine names: `ERR_DROP`, `Com_Error`.

use std::collections::VecDeque;

use crate::model::Millis;

/// Restarts after faults in [`RESTART_PERIOD`]. Further ones wait until the oldest is that old.
const MAX_RESTARTS: usize = 3;
const RESTART_PERIOD: Millis = Millis::seconds(60);
/// Refusal while no game runs.
pub(super) const LEVEL_ENDED: &str = "The level has ended. Try again.";

/// Whether the game has faulted in this level, and the restarts after earlier faults.
#[derive(Debug, Default)]
pub(super) struct GameFaults {
    pub(super) has_ended_level: bool,
    /// Whether the fallback rules run, until another map is loaded.
    pub(super) uses_fallback: bool,
    /// Whether the next level needs a new game, although the last one has not faulted.
    game_is_outdated: bool,
    restarts: VecDeque<Millis>,
}

impl GameFaults {
    /// Whether a fault has ended the level.
    pub(super) fn has_ended_level(&self) -> bool {
        self.has_ended_level
    }

    /// Whether the fallback rules replace the chosen ones.
    pub(super) fn uses_fallback(&self) -> bool {
        self.uses_fallback
    }

    /// Chooses the rules for another map: the fallback rules end.
    pub(super) fn begin_map(&mut self) {
        self.game_is_outdated |= std::mem::take(&mut self.uses_fallback);
    }

    /// Begins a level. Returns whether it needs a new game: a fault ended the level before, or other rules
    /// begin.
    pub(super) fn begin_level(&mut self) -> bool {
        let is_outdated = std::mem::take(&mut self.game_is_outdated);
        std::mem::take(&mut self.has_ended_level) || is_outdated
    }

    /// Whether the level may restart now. If so, counts the restart.
    pub(super) fn admits_restart(&mut self, now: Millis) -> bool {
        if self.restarts.len() == MAX_RESTARTS {
            if self.restarts.front().is_some_and(|&oldest| now.since(oldest) < RESTART_PERIOD) {
                return false;
            }
            self.restarts.pop_front();
        }
        self.restarts.push_back(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourth_restart_within_a_minute_waits() {
        let mut faults = GameFaults::default();
        let at = [0, 1, 2, 3, 59, 60, 60, 61].map(|at| faults.admits_restart(Millis::seconds(at)));
        assert_eq!(at, [true, true, true, false, false, true, false, true]);
    }
}
