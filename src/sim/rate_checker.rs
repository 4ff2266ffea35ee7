//! Checker for client rates, measured in datagrams on the network.
//!
//! A leaky bucket for each address drains at the client's rate and may hold at most one burst. Bytes include
//! UDP and IP headers. The checker is independent of the server's own rate control.

use std::{collections::HashMap, net::SocketAddr};

use super::network::SentDatagram;
use crate::model::Millis;

/// Headers of UDP and IPv4.
const HEADERS: u64 = 28;
/// Most bytes above the rate at a time: a full datagram, one that goes at once because it must (a
/// gamestate's first piece, a goodbye), and what rounding to milliseconds adds.
const BURST: u64 = 6 * 1024;
/// A server that counts in whole milliseconds may be this much too fast, in percent.
const ROUNDING: u64 = 12;

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    /// Thousandths of bytes.
    level: u64,
    at: Millis,
}

/// The buckets.
#[derive(Debug, Default)]
pub(super) struct RateChecker {
    buckets: HashMap<SocketAddr, Bucket>,
    fullest: u64,
}

impl RateChecker {
    /// A datagram goes to a client of that rate.
    pub(super) fn add(
        &mut self,
        datagram: &SentDatagram,
        rate_bytes_per_sec: u32,
    ) -> Result<(), String> {
        let bucket = self.buckets.entry(datagram.to).or_default();
        let drain = u64::from(rate_bytes_per_sec) * (100 + ROUNDING) / 100;
        let drained = datagram.at.since(bucket.at).0.saturating_mul(drain);
        bucket.level =
            bucket.level.saturating_sub(drained) + (datagram.len as u64 + HEADERS) * 1000;
        bucket.at = datagram.at;
        self.fullest = self.fullest.max(bucket.level / 1000);
        if bucket.level > BURST * 1000 {
            let (to, ahead) = (datagram.to, bucket.level / 1000);
            return Err(format!(
                "{to} is sent {ahead} bytes more than its rate of {rate_bytes_per_sec} allows"
            ));
        }
        Ok(())
    }

    /// Forgets everybody: who begins anew has a rate of its own.
    pub(super) fn forget(&mut self) {
        self.buckets.clear();
    }

    /// Most bytes above a rate that were seen.
    pub(super) fn fullest(&self) -> u64 {
        self.fullest
    }
}
