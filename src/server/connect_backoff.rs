//! Addresses that bring players who never say a word, and how long they have to wait.
//!
//! A player who is let in and then silent holds a slot for seconds. Each such player makes its address
//! wait for twice as long before it is let in again; the first one who speaks clears it. Only addresses
//! that proved themselves are here, so nobody can be made to wait by forged datagrams.
//! Invariant: at most [`MAX_ADDRESSES`] addresses are remembered, the oldest forgotten first.

use std::{collections::HashMap, net::SocketAddr};

use super::rate_limiter::{host_key, site};
use crate::model::Millis;

/// Addresses that are remembered. A new one comes at most as often as a slot falls free.
const MAX_ADDRESSES: usize = 256;
/// The longest wait is two to this power in seconds.
const MAX_DOUBLINGS: u32 = 6;
/// A entry is forgotten after so long without another.
const FORGOTTEN_AFTER: Millis = Millis::seconds(600);

#[derive(Clone, Copy, Debug)]
struct BackoffEntry {
    count: u32,
    last: Millis,
}

/// The addresses.
#[derive(Debug, Default)]
pub(super) struct ConnectBackoff {
    by_host: HashMap<u64, BackoffEntry>,
}

impl ConnectBackoff {
    /// A player from there was let in and never said anything.
    pub(super) fn record_silent_client(&mut self, now: Millis, from: SocketAddr) {
        let host = host_key(site(from));
        if self.by_host.len() >= MAX_ADDRESSES && !self.by_host.contains_key(&host) {
            let oldest = self.by_host.iter().min_by_key(|(host, entry)| (entry.last, **host));
            if let Some(oldest) = oldest.map(|(host, _)| *host) {
                self.by_host.remove(&oldest);
            }
        }
        let entry = self.by_host.entry(host).or_insert(BackoffEntry { count: 0, last: now });
        if now.since(entry.last) >= FORGOTTEN_AFTER {
            entry.count = 0;
        }
        entry.count = entry.count.saturating_add(1);
        entry.last = now;
    }

    /// A player from there speaks.
    pub(super) fn reset(&mut self, from: SocketAddr) {
        if !self.by_host.is_empty() {
            self.by_host.remove(&host_key(site(from)));
        }
    }

    /// How long the address has yet to wait.
    pub(super) fn remaining(&self, now: Millis, from: SocketAddr) -> Millis {
        let Some(entry) = self.by_host.get(&host_key(site(from))) else { return Millis(0) };
        let whole = Millis::seconds(1 << entry.count.min(MAX_DOUBLINGS));
        (entry.last + whole).since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_silent_player_doubles_the_wait_and_a_word_ends_it() {
        let mut backoff = ConnectBackoff::default();
        let from: SocketAddr = "192.0.2.1:5".parse().unwrap();
        let now = Millis(5000);
        let waits: Vec<_> = (0..8)
            .map(|_| {
                backoff.record_silent_client(now, from);
                backoff.remaining(now, from).0 / 1000
            })
            .collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 64, 64]);
        assert_eq!(backoff.remaining(now + Millis(60_000), from), Millis(4000));
        assert_eq!(backoff.remaining(now, "192.0.2.2:5".parse().unwrap()), Millis(0));
        backoff.record_silent_client(now + FORGOTTEN_AFTER, from);
        assert_eq!(backoff.remaining(now + FORGOTTEN_AFTER, from), Millis(2000));
        backoff.reset("192.0.2.1:6".parse().unwrap());
        assert_eq!(backoff.remaining(now, from), Millis(0));
    }

    #[test]
    fn many_addresses_cost_no_more_memory() {
        let mut backoff = ConnectBackoff::default();
        for i in 0..10_000u32 {
            let ip = std::net::Ipv4Addr::from_bits(i);
            backoff.record_silent_client(Millis(u64::from(i)), SocketAddr::new(ip.into(), 1));
        }
        assert_eq!(backoff.by_host.len(), MAX_ADDRESSES);
    }
}
