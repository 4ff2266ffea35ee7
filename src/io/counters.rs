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
    /// Times the loop woke.
    pub wakes: u64,
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
