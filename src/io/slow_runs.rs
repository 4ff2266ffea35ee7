//! Watch over the wall-clock time of wake-ups: runs of slow ones.
//!
//! A budget of instructions does not bound the time of game code. The loop counts runs of slow wake-ups, and the
//! node decides what follows from the counter, which a journal records.
//! Invariant: one stall, such as a stop of the process by a signal, is not a run.

use std::time::{Duration, Instant};

/// Duration from which a wake-up is slow.
const SLOW: Duration = Duration::from_secs(1);
/// Part of one wake-up that counts.
const MOST_OF_ONE: Duration = Duration::from_secs(3);
/// Total duration of slow wake-ups in a run.
const RUN: Duration = Duration::from_secs(10);
/// Time between slow wake-ups that ends a run.
const PAUSE: Duration = Duration::from_secs(1);

/// Slow wake-ups in a row.
#[derive(Debug, Default)]
pub(super) struct SlowRuns {
    /// End of the last slow wake-up.
    last: Option<Instant>,
    total: Duration,
}

impl SlowRuns {
    /// Records a wake-up that began and ended at these times. Returns whether a run is complete; the next one begins.
    pub(super) fn record(&mut self, begun: Instant, ended: Instant) -> bool {
        let took = ended.saturating_duration_since(begun);
        if took <= SLOW {
            return false;
        }
        if self.last.is_none_or(|last| begun.saturating_duration_since(last) > PAUSE) {
            self.total = Duration::ZERO;
        }
        self.last = Some(ended);
        self.total += took.min(MOST_OF_ONE);
        let is_complete = self.total >= RUN;
        if is_complete {
            *self = Self::default();
        }
        is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records wake-ups of these durations, with pauses between them, in ms. Returns the number of runs.
    fn runs(wakeups: &[(u64, u64)]) -> usize {
        let mut watch = SlowRuns::default();
        let mut now = Instant::now();
        let recorded = wakeups.iter().filter(|(took, pause)| {
            let begun = now;
            now += Duration::from_millis(*took);
            let is_complete = watch.record(begun, now);
            now += Duration::from_millis(*pause);
            is_complete
        });
        recorded.count()
    }

    #[test]
    fn ten_seconds_of_slow_wakeups_are_a_run() {
        assert_eq!(runs(&[(1100, 0); 9]), 0);
        assert_eq!(runs(&[(1100, 0); 10]), 1);
        assert_eq!(runs(&[(1100, 40); 25]), 2);
        assert_eq!(runs(&[(1100, 1200); 25]), 0, "time to recover");
        assert_eq!(runs(&[(900, 0); 100]), 0);
        let mixed: Vec<_> = [(1500, 0), (1, 20), (2, 0)].repeat(7);
        assert_eq!(runs(&mixed), 1, "datagrams between the frames");
    }

    #[test]
    fn one_stall_is_not_a_run() {
        assert_eq!(runs(&[(60_000, 0)]), 0);
        assert_eq!(runs(&[(60_000, 0), (20, 5), (2000, 2000), (60_000, 0)]), 0);
        assert_eq!(runs(&[(60_000, 0); 4]), 1);
    }
}
