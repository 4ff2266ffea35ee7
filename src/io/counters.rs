//! What the loop counts, and how seldom it speaks of it.
//!
//! Datagrams that cannot be taken are counted always and logged rarely: a flood must not become a flood
//! of log lines.

use std::net::SocketAddr;

use crate::model::Millis;

/// Times of frames that are told apart, in microseconds, and what those are called that took no longer.
const FRAME_TIMES: [(u64, &str); 10] = [
    (125, "loop_frames_within_total{us=\"125\"}"),
    (250, "loop_frames_within_total{us=\"250\"}"),
    (500, "loop_frames_within_total{us=\"500\"}"),
    (1000, "loop_frames_within_total{us=\"1000\"}"),
    (1500, "loop_frames_within_total{us=\"1500\"}"),
    (2000, "loop_frames_within_total{us=\"2000\"}"),
    (3000, "loop_frames_within_total{us=\"3000\"}"),
    (5000, "loop_frames_within_total{us=\"5000\"}"),
    (10_000, "loop_frames_within_total{us=\"10000\"}"),
    (20_000, "loop_frames_within_total{us=\"20000\"}"),
];

/// What the loop counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams handed to the node.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Datagrams the system took.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Datagrams dropped because they were longer than any the protocol knows.
    pub oversize: u64,
    /// Datagrams dropped because nobody can have sent them: port 0, multicast, broadcast.
    pub bad_source: u64,
    /// Errors while receiving: peers' unreachable ports and the like.
    pub receive_errors: u64,
    /// Datagrams the system refused: no way there, nobody there, too long.
    pub send_errors: u64,
    /// Datagrams dropped because too many waited for room to be sent.
    pub unsent: u64,
    /// Datagrams dropped because the node has no socket of their address's family.
    pub no_way: u64,
    /// Frames run.
    pub frames: u64,
    /// Frames that began more than 10 ms after they were due.
    pub late_frames: u64,
    /// Microseconds that frames took, all together.
    pub frame_us: u64,
    /// By the times of [`Self::rows`], how many frames took at most so long and longer than the time before.
    frames_within: [u64; FRAME_TIMES.len()],
    /// Times the loop woke.
    pub wakes: u64,
}

impl Counters {
    /// A frame took so many microseconds.
    pub(super) fn note_frame(&mut self, took_us: u64) {
        self.frames += 1;
        self.frame_us = self.frame_us.saturating_add(took_us);
        let slower = FRAME_TIMES.partition_point(|(us, _)| *us < took_us);
        if let Some(count) = self.frames_within.get_mut(slower) {
            *count += 1;
        }
    }

    /// Name, meaning and value of each, as monitoring likes them.
    #[must_use]
    pub fn rows(&self) -> Vec<(&'static str, &'static str, u64)> {
        let mut frames = 0;
        let within = FRAME_TIMES.iter().zip(self.frames_within).map(|((_, name), count)| {
            frames += count;
            (*name, "Frames that took at most so many microseconds.", frames)
        });
        let single = [
            ("udp_datagrams_total{dir=\"in\"}", "Datagrams received.", self.received),
            ("udp_datagrams_total{dir=\"out\"}", "Datagrams sent.", self.sent),
            ("udp_bytes_total{dir=\"in\"}", "Bytes received.", self.received_bytes),
            ("udp_bytes_total{dir=\"out\"}", "Bytes sent.", self.sent_bytes),
            (
                "udp_dropped_total{reason=\"oversize\"}",
                "Datagrams longer than any the protocol knows.",
                self.oversize,
            ),
            (
                "udp_dropped_total{reason=\"source\"}",
                "Datagrams that nobody can have sent.",
                self.bad_source,
            ),
            (
                "udp_dropped_total{reason=\"unsent\"}",
                "Datagrams for which there was no room to be sent.",
                self.unsent,
            ),
            (
                "udp_dropped_total{reason=\"no_way\"}",
                "Datagrams to an address family without a socket.",
                self.no_way,
            ),
            ("udp_errors_total{dir=\"in\"}", "Errors while receiving.", self.receive_errors),
            ("udp_errors_total{dir=\"out\"}", "Datagrams the system refused.", self.send_errors),
            ("loop_frames_total", "Frames run.", self.frames),
            (
                "loop_frames_late_total",
                "Frames that began more than 10 ms after they were due.",
                self.late_frames,
            ),
            ("loop_frame_microseconds_total", "Time that frames took.", self.frame_us),
            ("loop_wakes_total", "Times the loop woke.", self.wakes),
        ];
        single.into_iter().chain(within).collect()
    }
}

/// Least time between two log lines about datagrams that were not taken.
const COMPLAINT_INTERVAL: Millis = Millis::seconds(10);

/// Log lines about datagrams that were not taken, few however many there are.
#[derive(Default)]
pub(super) struct Complaint {
    /// Before this, complaints are only counted.
    next: Millis,
    silenced: u64,
}

impl Complaint {
    /// One datagram from `from` was dropped for `reason`.
    pub(super) fn about(&mut self, now: Millis, from: SocketAddr, reason: &str) {
        if now < self.next {
            self.silenced += 1;
            return;
        }
        match self.silenced {
            0 => log::warn!("datagram from {from} dropped: {reason}"),
            more => log::warn!(
                "datagram from {from} dropped: {reason}; {more} others since the last such line"
            ),
        }
        self.next = now + COMPLAINT_INTERVAL;
        self.silenced = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_by_how_long_they_took() {
        let mut counters = Counters::default();
        for us in [0, 125, 126, 1999, 2000, 2001, 20_000, 20_001] {
            counters.note_frame(us);
        }
        let within = |us: u64| {
            let name = format!("loop_frames_within_total{{us=\"{us}\"}}");
            counters.rows().iter().find(|row| row.0 == name).map(|row| row.2)
        };
        assert_eq!([125, 250, 1500, 2000, 3000, 20_000].map(within), [2, 3, 3, 5, 6, 7].map(Some));
        assert_eq!((counters.frames, counters.frame_us), (8, 46_252));
    }

    #[test]
    fn a_flood_of_complaints_is_one_line_and_a_number() {
        let mut complaint = Complaint::default();
        let from = "10.0.0.1:5".parse().unwrap();
        for now in 0..100 {
            complaint.about(Millis(now), from, "sent from port 0");
        }
        assert_eq!(complaint.silenced, 99);
        complaint.about(COMPLAINT_INTERVAL, from, "sent from port 0");
        assert_eq!(complaint.silenced, 0);
        assert_eq!(complaint.next, COMPLAINT_INTERVAL + COMPLAINT_INTERVAL);
    }
}
