//! Server time as a client estimates it between snapshots.

use crate::model::{LevelTime, Millis};

/// Estimated server time. It advances with the client's own clock and is adjusted gradually to the
/// snapshots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LevelClock {
    /// Server time less own time, in ms.
    offset: Option<i64>,
}

impl LevelClock {
    /// Deviation at which the clock is reset, in ms.
    const JUMP_MS: i64 = 500;
    /// Deviation at which half of it is corrected at once, in ms.
    const FAR_MS: i64 = 100;

    /// Adjusts the clock to the server time of a snapshot.
    pub(super) fn set(&mut self, now: Millis, time: LevelTime) {
        let heard = i64::from(time.0) - now.0 as i64;
        self.offset = Some(match self.offset {
            None => heard,
            Some(offset) => {
                let off = heard - offset;
                match off.abs() {
                    0..=Self::FAR_MS => offset + off.signum(),
                    ..=Self::JUMP_MS => offset + off / 2,
                    _ => heard,
                }
            }
        });
    }

    /// Returns the estimated server time; 0 until the first snapshot.
    pub(super) fn read(self, now: Millis) -> LevelTime {
        LevelTime(self.offset.map_or(0, |offset| (now.0 as i64).wrapping_add(offset) as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_clock_follows_snapshots_gradually() {
        let mut clock = LevelClock::default();
        assert_eq!(clock.read(Millis(50)), LevelTime(0));
        clock.set(Millis(1000), LevelTime(7000));
        assert_eq!(clock.read(Millis(1010)), LevelTime(7010));
        clock.set(Millis(1050), LevelTime(7100));
        assert_eq!(clock.read(Millis(1050)), LevelTime(7051), "jitter moves it by one");
        clock.set(Millis(1100), LevelTime(6901));
        assert_eq!(clock.read(Millis(1100)), LevelTime(7001), "far: half the way");
        clock.set(Millis(1150), LevelTime(100));
        assert_eq!(clock.read(Millis(1150)), LevelTime(100), "another time altogether");
    }
}
