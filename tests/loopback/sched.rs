//! Delays by the machine: processor time of a thread, its wait for a processor, and stalls.
//!
//! A server that is late because of its own work shows it in processor time. One that is late because
//! of other programs shows it in wait, by the kernel's accounting. Only Linux provides these numbers;
//! elsewhere tests are judged without them. A virtual machine that the host stops shows neither: only
//! [`Heartbeat`] finds that.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// A length of time in which waits are added up: that of the longest gap that is allowed.
const WINDOW: Duration = Duration::from_millis(100);

/// Samples of one thread.
#[derive(Clone, Default)]
pub(super) struct SchedWatch(Arc<Mutex<Vec<Sample>>>);

#[derive(Clone, Copy)]
struct Sample {
    at: Instant,
    run: Duration,
    wait: Duration,
}

impl SchedWatch {
    /// Takes a sample of the calling thread.
    pub(super) fn sample(&self) {
        let Ok(text) = std::fs::read_to_string("/proc/thread-self/schedstat") else { return };
        let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
        let (Some(run), Some(wait)) = (numbers.next(), numbers.next()) else { return };
        let [run, wait] = [run, wait].map(Duration::from_nanos);
        self.0.lock().unwrap().push(Sample { at: Instant::now(), run, wait });
    }

    /// Share of the time between two moments in which the thread ran. A loop that has too much to do
    /// takes few samples, so those around the moments count.
    pub(super) fn share(&self, from: Instant, to: Instant) -> f64 {
        let samples = self.0.lock().unwrap();
        let first = samples.iter().rfind(|sample| sample.at <= from);
        let last = samples.iter().find(|sample| sample.at >= to).or(samples.last());
        let (Some(first), Some(last)) = (first, last) else { return 0.0 };
        (last.run - first.run).as_secs_f64() / (last.at - first.at).as_secs_f64().max(1e-3)
    }

    /// Longest wait for a processor within [`WINDOW`], after a moment. Of a longer time between two
    /// samples it is the mean.
    pub(super) fn worst_wait(&self, from: Instant) -> Duration {
        let samples = self.0.lock().unwrap();
        let mut worst = Duration::ZERO;
        let mut first = 0;
        for (n, sample) in samples.iter().enumerate() {
            while samples[first].at + WINDOW < sample.at && first + 1 < n {
                first += 1;
            }
            if samples[first].at >= from {
                let waited = sample.wait - samples[first].wait;
                let windows = (sample.at - samples[first].at).as_secs_f64() / WINDOW.as_secs_f64();
                worst = worst.max(waited.div_f64(windows.max(1.0)));
            }
        }
        worst
    }
}

/// Sleep of a [`Heartbeat`], and how much longer it may take on an idle machine.
const BEAT: Duration = Duration::from_millis(1);

/// A thread that only sleeps, and so is late only if the machine is.
pub(super) struct Heartbeat {
    over: Arc<AtomicBool>,
    thread: JoinHandle<SchedWatch>,
}

impl Heartbeat {
    /// Starts the thread.
    pub(super) fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        let thread = thread::spawn(move || {
            let watch = SchedWatch::default();
            let (mut at, mut wait) = (Instant::now(), Duration::ZERO);
            while !stop.load(Ordering::Relaxed) {
                thread::sleep(BEAT);
                let before = std::mem::replace(&mut at, Instant::now());
                wait += (at - before).saturating_sub(2 * BEAT);
                watch.0.lock().unwrap().push(Sample { at, run: Duration::ZERO, wait });
            }
            watch
        });
        Self { over, thread }
    }

    /// Stops the thread. Returns the longest delay within [`WINDOW`], after a moment.
    pub(super) fn worst_stall(self, from: Instant) -> Duration {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap().worst_wait(from)
    }
}
