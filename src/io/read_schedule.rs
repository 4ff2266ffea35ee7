//! Schedule of reads: how long datagrams may wait in the queue of the kernel.
//!
//! Invariant: a load that grows tenfold between two reads still fits into the queue.

use crate::model::Millis;

/// Memory that the kernel counts for a small datagram, in bytes.
const DATAGRAM_COST: u64 = 1280;

/// Growth of the load for which the queue has room.
const HEADROOM: u64 = 10;

/// Load that is assumed at least, in datagrams per second: before the first measurement, the queue may fill.
const LOAD_MIN: u64 = 200;

/// Shortest time over which the load is measured.
const SPAN_MIN: Millis = Millis(10);

/// Measured load of a queue, and the time of its next read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadSchedule {
    /// Datagrams that the queue holds.
    capacity: u64,
    /// Datagrams per second: the last measurement, or a higher earlier one that decays.
    load: u64,
    /// Datagrams since the start of the measurement.
    count: u64,
    measured_since: Millis,
    last_read: Millis,
}

impl ReadSchedule {
    /// Creates the schedule of a queue of `buffer_bytes` bytes of kernel memory.
    pub(super) fn new(buffer_bytes: usize) -> Self {
        Self {
            capacity: (buffer_bytes as u64 / DATAGRAM_COST).max(1),
            load: LOAD_MIN,
            count: 0,
            measured_since: Millis(0),
            last_read: Millis(0),
        }
    }

    /// Records that the queue was emptied.
    pub(super) fn record(&mut self, now: Millis, datagrams: u64) {
        self.count += datagrams;
        self.last_read = now;
        let span = now.since(self.measured_since);
        if span >= SPAN_MIN {
            let load = self.count * 1000 / span.0;
            self.load = load.max(self.load - self.load / 8).max(LOAD_MIN);
            (self.count, self.measured_since) = (0, now);
        }
    }

    /// Returns the latest time of the next read.
    pub(super) fn due(&self) -> Millis {
        let wait = self.capacity * 1000 / (self.load * HEADROOM);
        self.last_read + Millis(wait.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenfold_load_fits_between_two_reads() {
        let mut schedule = ReadSchedule::new(425_984);
        let mut now = Millis(1000);
        schedule.record(now, 0);
        assert_eq!(schedule.due(), now + Millis(166));
        // 64 clients at 30 and at 125 packets per second.
        for per_second in [1_920, 8_000] {
            for _ in 0..20 {
                now += Millis(50);
                schedule.record(now, per_second / 20);
            }
            let wait = schedule.due().since(now);
            assert!(10 * per_second * wait.0 / 1000 <= 425_984 / DATAGRAM_COST, "{wait}");
            assert!(wait > Millis(2), "{wait}");
        }
    }

    #[test]
    fn load_decays() {
        let mut schedule = ReadSchedule::new(4 << 20);
        let mut now = Millis(1000);
        schedule.record(now, 0);
        now += Millis(10);
        schedule.record(now, 5000);
        assert!(schedule.due().since(now) <= Millis(1));
        for _ in 0..60 {
            now += Millis(50);
            schedule.record(now, 100);
        }
        assert!(schedule.due().since(now) > Millis(100));
    }

    #[test]
    fn reads_in_short_intervals_are_measured_together() {
        let mut schedule = ReadSchedule::new(1 << 20);
        schedule.record(Millis(1000), 0);
        for ms in 1..=10 {
            schedule.record(Millis(1000 + ms), u64::from(ms % 5 == 0) * 10);
        }
        // 20 datagrams in 10 ms.
        assert_eq!(schedule.load, 2000);
    }
}
