//! Watch over the time of wake-ups: runs of slow ones.
//!
//! A budget of instructions does not bound the time of game code. The loop counts runs of slow wake-ups, and the
//! node decides what follows from the counter, which a journal records.
//! The time is that of the processor where the system tells it, so that a stop of the process by a signal is not slow.
//! Invariant: one stall, such as the load of a map, is not a run.

use std::time::{Duration, Instant};

/// Duration from which a wake-up is slow.
const SLOW: Duration = Duration::from_secs(1);
/// Total duration of slow wake-ups in a run.
const RUN: Duration = Duration::from_secs(10);
/// Least number of slow wake-ups in a run.
const LEAST: u32 = 3;
/// Time between slow wake-ups that ends a run.
const PAUSE: Duration = Duration::from_secs(1);

/// Begin of a wake-up, by both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begin(Instant, Duration);

impl Begin {
    pub(super) fn now() -> Self {
        Self(Instant::now(), thread_time())
    }
}

/// Processor time of the thread; zero if the system does not tell it.
fn thread_time() -> Duration {
    #[cfg(unix)]
    {
        use nix::time::{ClockId, clock_gettime};
        clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
    }
    #[cfg(not(unix))]
    Duration::ZERO
}

/// Slow wake-ups in a row.
#[derive(Debug, Default)]
pub(super) struct SlowRuns {
    /// End of the last slow wake-up.
    last: Option<Instant>,
    total: Duration,
    count: u32,
}

impl SlowRuns {
    /// Records a wake-up that ends now. Returns whether a run is complete; the next one begins.
    pub(super) fn record(&mut self, begin: Begin) -> bool {
        let Begin(begun, time) = begin;
        let ended = Instant::now();
        let wall = ended.saturating_duration_since(begun);
        // Most wake-ups need no second look at the time of the processor.
        if wall <= SLOW {
            return false;
        }
        let used = thread_time().saturating_sub(time);
        let took = if used.is_zero() { wall } else { used };
        self.add(begun, ended, took)
    }

    /// Adds a wake-up between two times that used some time. Returns whether a run is complete.
    fn add(&mut self, begun: Instant, ended: Instant, took: Duration) -> bool {
        if took <= SLOW {
            return false;
        }
        if self.last.is_none_or(|last| begun.saturating_duration_since(last) > PAUSE) {
            (self.total, self.count) = (Duration::ZERO, 0);
        }
        self.last = Some(ended);
        self.total += took;
        self.count += 1;
        let is_complete = self.total >= RUN && self.count >= LEAST;
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
            let is_complete = watch.add(begun, now, now - begun);
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
        assert_eq!(runs(&[(60_000, 0); 3]), 1);
        // The process was stopped for a minute, three times.
        let (mut watch, now) = (SlowRuns::default(), Instant::now());
        let stopped = |_| watch.add(now, now + Duration::from_secs(60), Duration::from_millis(20));
        assert!(!(0..3).any(stopped));
    }
}
