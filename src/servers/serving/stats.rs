//! Statistics of a serving node: counters, event-loop counters, rate limit of log lines.

use crate::{
    model::Millis,
    node::LoopCounters,
    observe::{Counter, Counters, Histogram, LogEvent, LogLimiter, Sample, Suppressed, Value},
};

/// Counters and log limits.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    counters: Counters,
    /// Last report of the event loop.
    loop_counters: LoopCounters,
    log_limiter: LogLimiter,
}

impl Stats {
    pub(crate) fn bump(&mut self, counter: Counter) {
        self.counters.bump(counter);
    }

    pub(crate) fn add(&mut self, counter: Counter, count: u64) {
        self.counters.add(counter, count);
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn set_loop_counters(&mut self, counters: LoopCounters) -> LoopCounters {
        std::mem::replace(&mut self.loop_counters, counters)
    }

    /// Counters of the server, then of the event loop.
    pub(crate) fn samples(&self) -> impl Iterator<Item = Sample> {
        let sample = |(name, help, value): (&'static str, _, _)| Sample {
            name: name.into(),
            help,
            value: Value::Counter(value),
        };
        let durations = Histogram {
            buckets: self.loop_counters.frame_durations().to_vec(),
            count: self.loop_counters.frames,
            sum: self.loop_counters.frame_us,
        };
        let lateness = Histogram {
            buckets: self.loop_counters.frame_lateness().to_vec(),
            count: self.loop_counters.frames,
            sum: self.loop_counters.lateness_us,
        };
        let durations = Sample {
            name: "q3_frame_duration_seconds".into(),
            help: "Time spent per frame.",
            value: Value::Histogram(durations),
        };
        let lateness = Sample {
            name: "q3_frame_lateness_seconds".into(),
            help: "Time from the moment that a frame is due to its start.",
            value: Value::Histogram(lateness),
        };
        let rows = self.loop_counters.rows().map(sample);
        self.counters.samples().chain(rows).chain([durations, lateness])
    }

    /// Whether a log line that outsiders or the game can cause is written now, with the number of suppressed ones.
    pub(crate) fn allows_log(&mut self, event: LogEvent, now: Millis) -> Option<Suppressed> {
        self.log_limiter.allows(event, now)
    }

    /// Counts a request of an unproven address beyond a limit, and logs one of `what` a second.
    pub(crate) fn record_limit(&mut self, counter: Counter, now: Millis, what: &str) {
        self.bump(counter);
        if let Some(suppressed) = self.allows_log(LogEvent::Limit, now) {
            log::info!("{what} of unproven addresses exceed their limits{suppressed}");
        }
    }
}
