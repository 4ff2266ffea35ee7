//! Pulse of the event loop: the time since it last ran, for other threads.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Time after which a loop without a pulse counts as stalled. It beats once a second.
const LIMIT: Duration = Duration::from_secs(5);

/// Pulse that the loop and other threads share.
#[derive(Clone, Debug)]
pub struct Pulse {
    start: Instant,
    /// Time of the last beat, in ms since the start, plus one; 0 before the first.
    last_ms: Arc<AtomicU64>,
}

impl Default for Pulse {
    fn default() -> Self {
        Self { start: Instant::now(), last_ms: Arc::default() }
    }
}

impl Pulse {
    /// Records that the loop runs, which has finished the frames before.
    pub fn beat(&self) {
        let ms = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.last_ms.store(ms + 1, Ordering::Relaxed);
    }

    /// Time since the last beat; `None` before the first.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        let last = Duration::from_millis(self.last_ms.load(Ordering::Relaxed).checked_sub(1)?);
        Some(self.start.elapsed().saturating_sub(last))
    }

    /// Whether the loop runs.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.age().is_some_and(|age| age < LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pulse_is_fresh_for_seconds_after_a_beat() {
        let mut pulse = Pulse::default();
        assert!(pulse.age().is_none() && !pulse.is_fresh());
        pulse.beat();
        let seen = pulse.clone();
        assert!(seen.is_fresh() && seen.age() < Some(LIMIT));
        pulse.start = pulse.start.checked_sub(LIMIT).expect("a clock that runs for long");
        assert!(!pulse.is_fresh(), "{:?}", pulse.age());
    }
}
