//! Rate-limited warnings about dropped datagrams.
//!
//! Every drop is counted and few are logged, so a flood does not become a flood of log lines.

use std::net::SocketAddr;

use crate::model::Millis;

/// Least time between two log lines about datagrams that were not taken.
const COMPLAINT_INTERVAL: Millis = Millis::seconds(10);

/// Log lines about datagrams that were not taken, few however many there are.
#[derive(Default)]
pub(super) struct RateLimitedWarning {
    /// Before this, complaints are only counted.
    next: Millis,
    silenced: u64,
}

impl RateLimitedWarning {
    /// One datagram from `from` was dropped for `reason`.
    pub(super) fn about(&mut self, now: Millis, from: SocketAddr, reason: &str) {
        if now < self.next {
            self.silenced += 1;
            return;
        }
        match self.silenced {
            0 => log::warn!("datagram from {from} dropped: {reason}"),
            more => log::warn!("datagram from {from} dropped: {reason} (+{more} suppressed)"),
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
        let mut rate_limited_warning = RateLimitedWarning::default();
        let from = "10.0.0.1:5".parse().unwrap();
        for now in 0..100 {
            rate_limited_warning.about(Millis(now), from, "sent from port 0");
        }
        assert_eq!(rate_limited_warning.silenced, 99);
        rate_limited_warning.about(COMPLAINT_INTERVAL, from, "sent from port 0");
        assert_eq!(rate_limited_warning.silenced, 0);
        assert_eq!(rate_limited_warning.next, COMPLAINT_INTERVAL + COMPLAINT_INTERVAL);
    }
}
