//! What the loop counts, and how seldom it speaks of it.
//!
//! Datagrams that cannot be taken are counted always and logged rarely: a flood must not become a flood
//! of log lines.

use std::net::SocketAddr;

use crate::model::Millis;

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
    /// Times the loop woke.
    pub wakes: u64,
}

impl Counters {
    /// Name, meaning and value of each, as monitoring likes them.
    #[must_use]
    pub fn rows(&self) -> [(&'static str, &'static str, u64); 14] {
        [
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
        ]
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
