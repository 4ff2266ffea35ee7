//! Checker for client rates, measured in datagrams on the network.
//!
//! A leaky bucket for each address drains at the client's rate and may hold at most one burst. Bytes include
//! UDP and IP headers. The checker is independent of the server's own rate control.

use std::{collections::HashMap, net::SocketAddr};

use super::network::SentDatagram;
use crate::model::Millis;

/// Bytes of UDP and IPv4 headers.
const HEADERS: u64 = 28;
/// Maximum bytes above the rate at any time.
///
/// It covers a full datagram, one that is sent without delay (the first fragment of a gamestate or a
/// disconnect message), and rounding to milliseconds.
const BURST: u64 = 6 * 1024;
/// Tolerance for a server that counts in whole milliseconds, in percent.
const ROUNDING: u64 = 12;

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    /// Fill level, in thousandths of a byte.
    level: u64,
    at: Millis,
}

/// Leaky buckets of all addresses.
#[derive(Debug, Default)]
pub(super) struct RateChecker {
    buckets: HashMap<SocketAddr, Bucket>,
    fullest: u64,
}

impl RateChecker {
    /// Adds a datagram to a client with the given rate.
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
                "{to} received {ahead} bytes above its rate of {rate_bytes_per_sec} bytes/s"
            ));
        }
        Ok(())
    }

    /// Clears all buckets: a new connection starts with a new budget.
    pub(super) fn clear(&mut self) {
        self.buckets.clear();
    }

    /// Most bytes above a rate so far.
    pub(super) fn fullest(&self) -> u64 {
        self.fullest
    }
}
