//! Free entity numbers: those that rest after their use, and those that may be used again.
//!
//! Invariants:
//! - A number rests or has rested, not both.
//! - The queue is in the order in which the numbers became free, so those that have rested are at its front.
//!
//! A fight frees hundreds of numbers a second. A search through all of them for one that has rested cost more
//! than the new entity.

use crate::model::{EntityNum, EntitySet, LevelTime};
use std::collections::VecDeque;

/// Time that a freed number stays unused, in ms.
const REUSE_DELAY_MS: i32 = 1000;
/// Time after the start of a level in which freed numbers are reusable at once, in ms.
const EARLY_LEVEL_MS: i32 = 2000;

/// Free numbers of the entity table.
#[derive(Clone, Debug, Default)]
pub(super) struct FreeNumbers {
    /// Numbers that rest, with the time at which each became free.
    resting: VecDeque<(EntityNum, LevelTime)>,
    /// Numbers that have rested.
    rested: EntitySet,
}

impl FreeNumbers {
    /// Reserves space for all numbers of a table, so that a number that becomes free needs none.
    pub(super) fn reserve(&mut self, count: usize) {
        self.resting.reserve(count.saturating_sub(self.resting.len()));
    }

    /// Adds a number that became free. Times never decrease.
    pub(super) fn add(&mut self, number: EntityNum, now: LevelTime) {
        self.resting.push_back((number, now));
    }

    /// Takes the lowest number that has rested.
    pub(super) fn take_rested(&mut self, now: LevelTime, started: LevelTime) -> Option<EntityNum> {
        let has_rested = |freed: LevelTime| {
            freed.distance(started) <= EARLY_LEVEL_MS || now.distance(freed) >= REUSE_DELAY_MS
        };
        while let Some(&(number, _)) = self.resting.front().filter(|(_, freed)| has_rested(*freed))
        {
            self.resting.pop_front();
            self.rested.insert(number);
        }
        let number = self.rested.iter().next()?;
        self.rested.remove(number);
        Some(number)
    }

    /// Takes the lowest number that rests, for a table without other numbers.
    pub(super) fn take_resting(&mut self) -> Option<EntityNum> {
        let lowest = self.resting.iter().enumerate().min_by_key(|(_, (number, _))| *number);
        let (index, _) = lowest?;
        self.resting.remove(index).map(|(number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(n: usize) -> EntityNum {
        EntityNum::new(n).expect("in range")
    }

    #[test]
    fn lowest_rested_number_comes_first() {
        let started = LevelTime(0);
        let mut free = FreeNumbers::default();
        for (n, at) in [(90, 3000), (70, 3000), (80, 3500), (60, 4001)] {
            free.add(number(n), LevelTime(at));
        }
        let mut take = |at| free.take_rested(LevelTime(at), started).map(EntityNum::index);
        assert_eq!(take(3999), None);
        assert_eq!(
            [take(4500), take(4500), take(4500), take(4500)],
            [Some(70), Some(80), Some(90), None]
        );
        assert_eq!([take(5000), take(5001)], [None, Some(60)]);
    }

    #[test]
    fn lowest_resting_number_is_taken_when_none_has_rested() {
        let mut free = FreeNumbers::default();
        for n in [90, 70, 80] {
            free.add(number(n), LevelTime(5000));
        }
        assert_eq!(free.take_rested(LevelTime(5100), LevelTime(0)), None);
        let taken = [free.take_resting(), free.take_resting(), free.take_resting()];
        assert_eq!(taken, [Some(number(70)), Some(number(80)), Some(number(90))]);
        assert_eq!(free.take_resting(), None);
    }
}
