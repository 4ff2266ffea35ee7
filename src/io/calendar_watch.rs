//! Watch on the calendar of the machine, which may be set while the process runs.

use super::clock::unix_millis;
use crate::model::{Millis, UnixMillis};

/// Time between two looks.
const INTERVAL: Millis = Millis::seconds(60);
/// Difference that is reported, in milliseconds. A slower drift adds up until it is.
const TOLERANCE_MS: u64 = 2000;

/// Calendar time at the zero of the process clock, as the node knows it.
#[derive(Debug)]
pub(super) struct CalendarWatch {
    zero_ms: u64,
    next: Millis,
}

impl CalendarWatch {
    /// Begins the watch with the present calendar.
    pub(super) fn start(now: Millis) -> Self {
        Self { zero_ms: unix_millis().saturating_sub(now.0), next: now + INTERVAL }
    }

    /// Returns the calendar time if it was set since the last look that is due.
    pub(super) fn poll(&mut self, now: Millis) -> Option<UnixMillis> {
        if now < self.next {
            return None;
        }
        self.next = now + INTERVAL;
        self.compare(now, unix_millis())
    }

    fn compare(&mut self, now: Millis, unix_ms: u64) -> Option<UnixMillis> {
        let zero_ms = unix_ms.saturating_sub(now.0);
        let is_set = zero_ms.abs_diff(self.zero_ms) > TOLERANCE_MS;
        is_set.then(|| {
            self.zero_ms = zero_ms;
            UnixMillis(unix_ms)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_the_calendar_are_reported_once() {
        let mut watch = CalendarWatch { zero_ms: 1_000_000, next: Millis(0) };
        assert_eq!(watch.compare(Millis(60_000), 1_061_900), None);
        assert_eq!(watch.compare(Millis(120_000), 1_123_000), Some(UnixMillis(1_123_000)));
        assert_eq!(watch.compare(Millis(180_000), 1_183_000), None);
        assert_eq!(watch.compare(Millis(240_000), 900_000), Some(UnixMillis(900_000)));
        assert_eq!(watch.compare(Millis(300_000), 960_000), None);
        // A clock that is a minute ahead of the calendar has seen that set back.
        let mut watch = CalendarWatch::start(Millis(5));
        assert_eq!(watch.poll(Millis(6)), None);
        assert!(watch.poll(Millis(5) + INTERVAL).is_some());
    }
}
