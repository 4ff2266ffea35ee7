//! Server time as a client estimates it between snapshots.

use crate::model::{LevelTime, Millis};

/// The level's time as the client takes it to be: it goes on with the client's own clock, and is drawn
/// gently after the snapshots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LevelClock {
    /// LevelState time less own time, in milliseconds.
    offset: Option<i64>,
}

impl LevelClock {
    /// So far away that the client begins anew.
    const JUMP_MS: i64 = 500;
    /// So far away that it goes half the way at once.
    const FAR_MS: i64 = 100;

    /// A snapshot of that time is here.
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

    /// 0 until the level's time is known.
    pub(super) fn read(self, now: Millis) -> LevelTime {
        LevelTime(self.offset.map_or(0, |offset| (now.0 as i64).wrapping_add(offset) as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_follows_without_haste() {
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
