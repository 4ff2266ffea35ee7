//! Timer wheel: numbers by due time, in constant time per operation.
//!
//! Invariants: a number is returned at its due time or up to one tick later; a due time beyond the wheel's
//! range is returned at the end of the range, so the caller checks and adds it again.

use crate::model::Millis;

/// Length of a tick.
const TICK: u64 = 1000;
/// Ticks of a turn, more than the longest life.
const TICKS: usize = 1024;

/// Timer wheel.
#[derive(Debug)]
pub(super) struct Wheel {
    buckets: Box<[Vec<u32>]>,
    /// Tick whose bucket is being emptied.
    tick: u64,
}

impl Wheel {
    /// Creates an empty wheel.
    pub(super) fn new(now: Millis) -> Self {
        Self { buckets: vec![Vec::new(); TICKS].into_boxed_slice(), tick: now.0 / TICK }
    }

    /// Adds a number that is due at `due`. Returns its tick, for [`Self::remove`].
    pub(super) fn add(&mut self, number: u32, due: Millis) -> u64 {
        // Rounded up, so that it is due when its bucket is emptied.
        let tick = due.0.div_ceil(TICK).clamp(self.tick + 1, self.tick + TICKS as u64 - 1);
        self.buckets[tick as usize % TICKS].push(number);
        tick
    }

    /// Removes a number before it is due. Takes time for the numbers of its tick.
    pub(super) fn remove(&mut self, number: u32, tick: u64) {
        let bucket = &mut self.buckets[tick as usize % TICKS];
        if let Some(at) = bucket.iter().position(|one| *one == number) {
            bucket.swap_remove(at);
        }
    }

    /// Removes and returns a number that is due.
    pub(super) fn poll(&mut self, now: Millis) -> Option<u32> {
        let end = now.0 / TICK;
        loop {
            let bucket = &mut self.buckets[self.tick as usize % TICKS];
            if let Some(number) = bucket.pop() {
                return Some(number);
            }
            // A burst of timers leaves no large buffer behind.
            if bucket.capacity() > 64 {
                *bucket = Vec::new();
            }
            if self.tick >= end {
                return None;
            }
            self.tick =
                if end - self.tick > TICKS as u64 { end - TICKS as u64 } else { self.tick + 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheel_returns_numbers_when_due() {
        let mut wheel = Wheel::new(Millis(5_500));
        for number in 0..2000u32 {
            wheel.add(number, Millis(6_000 + u64::from(number) * 400));
        }
        let mut seen = 0;
        for now in (5_500..810_000).step_by(250) {
            while let Some(number) = wheel.poll(Millis(now)) {
                let due = 6_000 + u64::from(number) * 400;
                assert!((due..due + 1250).contains(&now), "{number} due at {due} came at {now}");
                seen += 1;
            }
        }
        assert_eq!(seen, 2000);
    }

    #[test]
    fn wheel_survives_a_long_pause() {
        let mut wheel = Wheel::new(Millis(0));
        wheel.add(1, Millis(2_000));
        wheel.add(2, Millis(10_000_000_000));
        let mut seen = Vec::new();
        while let Some(number) = wheel.poll(Millis(5_000_000_000)) {
            seen.push(number);
        }
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
        wheel.add(3, Millis(0));
        assert_eq!(wheel.poll(Millis(5_000_000_000)), None, "never in the same tick");
        assert_eq!(wheel.poll(Millis(5_000_001_000)), Some(3));
    }
}
