//! Event-loop counters: metric names, HELP texts and values.

macro_rules! loop_counters {
    ($($field:ident, $name:literal, $help:literal;)+) => {
        /// Counters of the event loop. All only grow.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct LoopCounters {
            $(#[doc = $help] pub $field: u64,)+
        }

        impl LoopCounters {
            /// Metric name and HELP text of each counter.
            const TABLE: &[(&str, &str)] = &[$(($name, $help)),+];

            /// Returns the values in table order.
            #[must_use]
            pub const fn values(&self) -> [u64; Self::TABLE.len()] {
                [$(self.$field),+]
            }

            /// Creates counters from values in table order; missing values are 0.
            #[must_use]
            pub fn from_values(values: impl IntoIterator<Item = u64>) -> Self {
                let mut values = values.into_iter();
                Self { $($field: values.next().unwrap_or(0)),+ }
            }
        }
    };
}

loop_counters! {
    received, "udp_datagrams_total{dir=\"in\"}", "Datagrams received.";
    sent, "udp_datagrams_total{dir=\"out\"}", "Datagrams sent.";
    received_bytes, "udp_bytes_total{dir=\"in\"}", "Bytes received.";
    sent_bytes, "udp_bytes_total{dir=\"out\"}", "Bytes sent.";
    oversize, "udp_dropped_total{reason=\"oversize\"}",
        "Datagrams longer than any message of the protocol.";
    bad_source, "udp_dropped_total{reason=\"source\"}",
        "Datagrams with an invalid source: port 0, multicast or broadcast.";
    send_queue_full, "udp_dropped_total{reason=\"send_queue_full\"}",
        "Datagrams dropped because the send queue was full.";
    no_socket, "udp_dropped_total{reason=\"no_socket\"}",
        "Datagrams to an address family without a socket.";
    relay_header, "udp_dropped_total{reason=\"relay_header\"}",
        "Datagrams of a SOCKS5 relay with an invalid header.";
    kernel, "udp_dropped_total{reason=\"kernel\"}",
        "Datagrams dropped by the kernel because its receive queue was full.";
    receive_errors, "udp_errors_total{dir=\"in\"}", "Receive errors.";
    send_errors, "udp_errors_total{dir=\"out\"}",
        "Datagrams rejected by the system: no route, unreachable or too large.";
    frames, "loop_frames_total", "Frames run.";
    late_frames, "loop_frames_late_total",
        "Frames that started more than 10 ms late.";
    frame_us, "loop_frame_microseconds_total", "Time spent in frames.";
    wakeups, "loop_wakeups_total", "Wake-ups of the loop.";
    within_125_us, "loop_frames_within_total{us=\"125\"}",
        "Frames that took at most this many microseconds.";
    within_250_us, "loop_frames_within_total{us=\"250\"}",
        "Frames that took at most this many microseconds.";
    within_500_us, "loop_frames_within_total{us=\"500\"}",
        "Frames that took at most this many microseconds.";
    within_1000_us, "loop_frames_within_total{us=\"1000\"}",
        "Frames that took at most this many microseconds.";
    within_1500_us, "loop_frames_within_total{us=\"1500\"}",
        "Frames that took at most this many microseconds.";
    within_2000_us, "loop_frames_within_total{us=\"2000\"}",
        "Frames that took at most this many microseconds.";
    within_3000_us, "loop_frames_within_total{us=\"3000\"}",
        "Frames that took at most this many microseconds.";
    within_5000_us, "loop_frames_within_total{us=\"5000\"}",
        "Frames that took at most this many microseconds.";
    within_10000_us, "loop_frames_within_total{us=\"10000\"}",
        "Frames that took at most this many microseconds.";
    within_20000_us, "loop_frames_within_total{us=\"20000\"}",
        "Frames that took at most this many microseconds.";
    log_dropped, "output_dropped_total{sink=\"log\"}",
        "Log lines dropped because standard error blocked.";
    output_dropped, "output_dropped_total{sink=\"console\"}",
        "Console texts dropped because standard output blocked.";
    game_log_dropped, "output_dropped_total{sink=\"game_log\"}",
        "Game log writes lost because the disk was too slow.";
    relay_begun, "socks5_associations_total{result=\"made\"}",
        "Attempts to associate with a SOCKS5 server.";
    relay_failed, "socks5_associations_total{result=\"failed\"}",
        "Attempts to associate with a SOCKS5 server.";
    slow_runs, "loop_slow_runs_total",
        "Times that wake-ups took over a second each for ten seconds.";
    late_within_1_ms, "loop_frames_lateness_total{ms=\"1\"}",
        "Frames that started at most this many milliseconds late.";
    late_within_2_ms, "loop_frames_lateness_total{ms=\"2\"}",
        "Frames that started at most this many milliseconds late.";
    late_within_5_ms, "loop_frames_lateness_total{ms=\"5\"}",
        "Frames that started at most this many milliseconds late.";
    late_within_10_ms, "loop_frames_lateness_total{ms=\"10\"}",
        "Frames that started at most this many milliseconds late.";
    late_within_20_ms, "loop_frames_lateness_total{ms=\"20\"}",
        "Frames that started at most this many milliseconds late.";
    late_within_50_ms, "loop_frames_lateness_total{ms=\"50\"}",
        "Frames that started at most this many milliseconds late.";
    late_within_100_ms, "loop_frames_lateness_total{ms=\"100\"}",
        "Frames that started at most this many milliseconds late.";
    late_within_250_ms, "loop_frames_lateness_total{ms=\"250\"}",
        "Frames that started at most this many milliseconds late.";
    late_within_1000_ms, "loop_frames_lateness_total{ms=\"1000\"}",
        "Frames that started at most this many milliseconds late.";
    lateness_us, "loop_frame_lateness_microseconds_total", "Lateness of all frames.";
}

/// Rows that [`LoopCounters::frame_durations`] and [`LoopCounters::frame_lateness`] replace.
const FRAME_DURATION_ROWS: [&str; 5] = [
    "loop_frames_total",
    "loop_frame_microseconds_total",
    "loop_frames_within_total",
    "loop_frames_lateness_total",
    "loop_frame_lateness_microseconds_total",
];

impl LoopCounters {
    /// Records the duration of a frame, in µs.
    pub fn record_frame(&mut self, took_us: u64) {
        self.frames += 1;
        self.frame_us = self.frame_us.saturating_add(took_us);
        let times = [
            (125, &mut self.within_125_us),
            (250, &mut self.within_250_us),
            (500, &mut self.within_500_us),
            (1000, &mut self.within_1000_us),
            (1500, &mut self.within_1500_us),
            (2000, &mut self.within_2000_us),
            (3000, &mut self.within_3000_us),
            (5000, &mut self.within_5000_us),
            (10000, &mut self.within_10000_us),
            (20000, &mut self.within_20000_us),
        ];
        for (_, count) in times.into_iter().filter(|(us, _)| took_us <= *us) {
            *count += 1;
        }
    }

    /// Records how late a frame started, in ms.
    pub fn record_lateness(&mut self, late_ms: u64) {
        self.lateness_us = self.lateness_us.saturating_add(late_ms.saturating_mul(1000));
        let times = [
            (1, &mut self.late_within_1_ms),
            (2, &mut self.late_within_2_ms),
            (5, &mut self.late_within_5_ms),
            (10, &mut self.late_within_10_ms),
            (20, &mut self.late_within_20_ms),
            (50, &mut self.late_within_50_ms),
            (100, &mut self.late_within_100_ms),
            (250, &mut self.late_within_250_ms),
            (1000, &mut self.late_within_1000_ms),
        ];
        for (_, count) in times.into_iter().filter(|(ms, _)| late_ms <= *ms) {
            *count += 1;
        }
    }

    /// Lateness of frames: upper bounds of buckets in microseconds, each with the number of frames up to it.
    #[must_use]
    pub const fn frame_lateness(&self) -> [(u64, u64); 9] {
        [
            (1000, self.late_within_1_ms),
            (2000, self.late_within_2_ms),
            (5000, self.late_within_5_ms),
            (10000, self.late_within_10_ms),
            (20000, self.late_within_20_ms),
            (50000, self.late_within_50_ms),
            (100000, self.late_within_100_ms),
            (250000, self.late_within_250_ms),
            (1000000, self.late_within_1000_ms),
        ]
    }

    /// Durations of frames: upper bounds of buckets in microseconds, each with the number of frames up to it.
    #[must_use]
    pub const fn frame_durations(&self) -> [(u64, u64); 10] {
        [
            (125, self.within_125_us),
            (250, self.within_250_us),
            (500, self.within_500_us),
            (1000, self.within_1000_us),
            (1500, self.within_1500_us),
            (2000, self.within_2000_us),
            (3000, self.within_3000_us),
            (5000, self.within_5000_us),
            (10_000, self.within_10000_us),
            (20_000, self.within_20000_us),
        ]
    }

    /// Name, meaning and value of each that this platform counts, without frame durations.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        // Only Linux reports kernel drops.
        let is_counted = |name: &str| cfg!(target_os = "linux") || !name.contains("\"kernel\"");
        let is_duration = |name: &str| FRAME_DURATION_ROWS.iter().any(|row| name.starts_with(row));
        Self::TABLE
            .iter()
            .zip(self.values())
            .map(|(&(name, help), value)| (name, help, value))
            .filter(move |(name, ..)| is_counted(name) && !is_duration(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_round_trip_by_table_order() {
        let counters = LoopCounters::from_values(1..);
        assert_eq!(LoopCounters::from_values(counters.values()), counters);
        assert_eq!((counters.received, counters.sent), (1, 2));
        assert_eq!(counters.values().last(), Some(&(counters.values().len() as u64)));
        assert_eq!(
            LoopCounters::from_values([5]),
            LoopCounters { received: 5, ..Default::default() }
        );
        let kernel = counters.rows().find(|(name, ..)| name.contains("kernel"));
        assert_eq!(kernel.map(|row| row.2), cfg!(target_os = "linux").then_some(counters.kernel));
    }

    #[test]
    fn frames_are_counted_by_duration() {
        let mut counters = LoopCounters::default();
        for us in [0, 125, 126, 1999, 2000, 2001, 20_000, 20_001] {
            counters.record_frame(us);
        }
        let within = |us: u64| {
            let bucket = counters.frame_durations().into_iter().find(|bucket| bucket.0 == us);
            bucket.map(|bucket| bucket.1)
        };
        assert_eq!([125, 250, 1500, 2000, 3000, 20_000].map(within), [2, 3, 3, 5, 6, 7].map(Some));
        assert_eq!((counters.frames, counters.frame_us), (8, 46_252));
        [0, 1, 2, 1000, 1001].into_iter().for_each(|ms| counters.record_lateness(ms));
        let late = counters.frame_lateness().map(|(_, count)| count);
        assert_eq!((late, counters.lateness_us), ([2, 3, 3, 3, 3, 3, 3, 3, 4], 2_004_000));
    }
}
