//! Rate-limited warnings about dropped datagrams.
//!
//! Every drop is counted and few are logged, so a flood does not become a flood of log lines.

use std::net::SocketAddr;

use crate::model::Millis;

/// Minimum time between two warnings.
const COMPLAINT_INTERVAL: Millis = Millis::seconds(10);

/// Warnings about dropped datagrams, limited to one per interval.
#[derive(Default)]
pub(super) struct RateLimitedWarning {
    /// Time before which drops are only counted.
    next: Millis,
    silenced: u64,
}

impl RateLimitedWarning {
    /// Records that a datagram from `from` was dropped for `reason`.
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
    fn flood_of_drops_is_one_warning_with_count() {
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
