//! Levels of one server: map changes and restarts, each counted once for all of its bots.
//!
//! Bots learn of a level one after the other, and some join it without having played another. Invariant: a map
//! change counts with the first bot that has measured it, so that no count is without a measurement.

use std::collections::VecDeque;

use crate::model::ServerId;

/// Maximum remembered levels. Bots are at most a level apart, unless their network fails.
const MAX_KNOWN: usize = 16;

/// Place of a bot in the levels of its server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LevelPlace {
    /// Map changes up to its level.
    changes: u64,
    /// Restarts that it has seen or missed.
    restarts: u64,
}

/// Levels of a server.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    /// Levels with the number of map changes before each.
    known: VecDeque<(ServerId, u64)>,
    changes: u64,
    restarts: u64,
}

impl Levels {
    /// Returns the place of a bot that joins a level.
    pub(super) fn join(&mut self, level: ServerId) -> LevelPlace {
        let known = self.known.iter().find(|(id, _)| *id == level).map(|(_, changes)| *changes);
        let changes = known.unwrap_or_else(|| self.remember(level, self.changes));
        LevelPlace { changes, restarts: self.restarts }
    }

    /// Moves a bot to a level after another. Returns whether the map change counts.
    pub(super) fn change(&mut self, place: &mut LevelPlace, level: ServerId) -> bool {
        let known = self.known.iter_mut().find(|(id, _)| *id == level);
        let is_new = known.as_ref().is_none_or(|(_, changes)| *changes <= place.changes);
        if is_new {
            self.changes += 1;
        }
        place.changes = match known {
            Some((_, changes)) if !is_new => *changes,
            Some((_, changes)) => {
                *changes = self.changes;
                self.changes
            }
            None => self.remember(level, self.changes),
        };
        place.restarts = self.restarts;
        is_new
    }

    /// Moves a bot past a restart of its level. Returns whether the restart counts.
    pub(super) fn restart(&mut self, place: &mut LevelPlace) -> bool {
        place.restarts += 1;
        let is_new = place.restarts > self.restarts;
        self.restarts = self.restarts.max(place.restarts);
        is_new
    }

    fn remember(&mut self, level: ServerId, changes: u64) -> u64 {
        if self.known.len() >= MAX_KNOWN {
            self.known.pop_front();
        }
        self.known.push_back((level, changes));
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn map_change_of_several_bots_counts_once() {
        let mut levels = Levels::default();
        let mut bots = [levels.join(ServerId(8)), levels.join(ServerId(8))];
        // A third bot joins the next level before the others have measured the change.
        let mut third = levels.join(ServerId(9));
        let counted = bots.each_mut().map(|bot| levels.change(bot, ServerId(9)));
        assert_eq!(counted, [true, false]);
        assert!(levels.change(&mut third, ServerId(10)));
        let counted = bots.each_mut().map(|bot| levels.change(bot, ServerId(10)));
        assert_eq!(counted, [false, false]);
        for id in 11..100 {
            assert!(levels.change(&mut bots[0], ServerId(id)));
        }
        assert!(levels.known.len() <= MAX_KNOWN);
    }

    #[test]
    fn restart_of_several_bots_counts_once() {
        let mut levels = Levels::default();
        let mut bots = [levels.join(ServerId(8)), levels.join(ServerId(8))];
        assert_eq!(bots.each_mut().map(|bot| levels.restart(bot)), [true, false]);
        // A bot that joins later has missed the first restart, whose level has another id.
        let mut later = levels.join(ServerId(9));
        assert!(levels.restart(&mut later));
        assert_eq!(bots.each_mut().map(|bot| levels.restart(bot)), [false, false]);
        assert!(levels.change(&mut bots[0], ServerId(10)));
        assert!(!levels.change(&mut later, ServerId(10)));
    }
}
