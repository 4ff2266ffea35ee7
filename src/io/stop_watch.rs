//! Watch over requests to stop: ends the process if a game module holds the loop.
//!
//! A game module may hold the loop for minutes, within its budget of instructions. What the loop has handed to writing
//! threads is written; a journal ends with the step before. Code of the program is given the time that it needs, e.g. to
//! load a map.

use std::{
    io, process,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};

use super::logging;

/// Interval between two looks at the loop after a request. A call that lasts from one to the next does not end in time.
const INTERVAL: Duration = Duration::from_millis(450);

/// State that the loop shares with the watch.
#[derive(Clone, Debug, Default)]
pub(super) struct StopWatch {
    /// Number of calls into the node that began or ended: odd during one.
    calls: Arc<AtomicU64>,
    /// Whether the node runs code that may hold the loop.
    is_foreign: Arc<AtomicBool>,
    /// Whether the next SIGTERM does not stop the node.
    drains: Arc<AtomicBool>,
}

impl StopWatch {
    /// Records that calls into the node begin.
    pub(super) fn begin(&self) {
        self.calls.fetch_or(1, Ordering::Relaxed);
    }

    /// Records that calls into the node have ended. `is_foreign`: later ones may hold the loop. `drains`: the node does not
    /// stop on the next SIGTERM.
    pub(super) fn end(&self, is_foreign: bool, drains: bool) {
        self.is_foreign.store(is_foreign, Ordering::Relaxed);
        self.drains.store(drains, Ordering::Relaxed);
        let calls = self.calls.load(Ordering::Relaxed);
        self.calls.store((calls | 1).wrapping_add(1), Ordering::Relaxed);
    }

    /// Whether the process must end, since the same call lasts that lasted at the look before.
    fn must_end(&self, seen: &mut u64) -> bool {
        let calls = self.calls.load(Ordering::Relaxed);
        let is_same = std::mem::replace(seen, calls) == calls;
        is_same && calls % 2 == 1 && self.is_foreign.load(Ordering::Relaxed)
    }

    /// Starts the thread that waits for SIGINT and SIGTERM.
    ///
    /// # Errors
    /// System errors of the handlers and of the thread.
    pub(super) fn start(&self) -> io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let watch = self.clone();
        let wait = move || {
            let stops = |signal: &i32| *signal != SIGTERM || !watch.drains.load(Ordering::Relaxed);
            let Some(signal) = signals.forever().find(stops) else { return };
            // No call has this number.
            let mut seen = u64::MAX - 1;
            while !watch.must_end(&mut seen) {
                thread::sleep(INTERVAL);
            }
            log::warn!(
                "received signal {signal}: the game module holds the loop; ended without it"
            );
            logging::flush();
            // A stop by signal is a regular end.
            process::exit(0);
        };
        thread::Builder::new().name("stop".to_owned()).spawn(wait)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watch_ends_calls_of_foreign_code_that_last() {
        let (watch, mut seen) = (StopWatch::default(), u64::MAX - 1);
        watch.end(true, false);
        assert!(!watch.must_end(&mut seen) && !watch.must_end(&mut seen), "the loop waits");
        watch.begin();
        assert!(!watch.must_end(&mut seen), "a call has begun");
        assert!(watch.must_end(&mut seen), "it lasts");
        watch.end(true, false);
        watch.begin();
        assert!(!watch.must_end(&mut seen), "another call");
        watch.end(false, false);
        watch.begin();
        assert!(!watch.must_end(&mut seen) && !watch.must_end(&mut seen), "code of the program");
    }
}
