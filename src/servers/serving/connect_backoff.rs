//! Connection backoff for addresses whose clients connect and stay silent.
//!
//! A client that is accepted and sends nothing holds a slot for seconds. Each such client doubles
//! the time that its address must wait before the next connect. A client that enters the game
//! resets it. Only proven addresses are recorded, so forged datagrams cannot delay a client.
//! Invariant: at most [`MAX_ADDRESSES`] addresses are recorded; the oldest is evicted first.

use std::{collections::HashMap, net::SocketAddr};

use crate::{limits::AddressKey, model::Millis};

/// Maximum number of recorded addresses. New ones are added at most as often as slots become free.
const MAX_ADDRESSES: usize = 256;
/// The longest backoff is two to this power in seconds.
const MAX_DOUBLINGS: u32 = 6;
/// Time without another silent client after which the count starts over.
const RESET_AFTER: Millis = Millis::seconds(600);

/// Silent clients of one site.
#[derive(Clone, Copy, Debug)]
struct BackoffEntry {
    count: u32,
    last: Millis,
}

/// Backoff by site.
#[derive(Debug, Default)]
pub(crate) struct ConnectBackoff {
    by_site: HashMap<AddressKey, BackoffEntry>,
}

impl ConnectBackoff {
    /// Records a client that was accepted and never sent a message.
    pub(crate) fn record_silent_client(&mut self, now: Millis, from: SocketAddr) {
        let site = AddressKey::site(from.ip());
        if self.by_site.len() >= MAX_ADDRESSES && !self.by_site.contains_key(&site) {
            let oldest = self.by_site.iter().min_by_key(|(site, entry)| (entry.last, **site));
            if let Some(oldest) = oldest.map(|(site, _)| *site) {
                self.by_site.remove(&oldest);
            }
        }
        let entry = self.by_site.entry(site).or_insert(BackoffEntry { count: 0, last: now });
        if now.since(entry.last) >= RESET_AFTER {
            entry.count = 0;
        }
        entry.count = entry.count.saturating_add(1);
        entry.last = now;
    }

    /// Ends the backoff of an address.
    pub(crate) fn reset(&mut self, from: SocketAddr) {
        if !self.by_site.is_empty() {
            self.by_site.remove(&AddressKey::site(from.ip()));
        }
    }

    /// Time until the address may connect.
    pub(crate) fn remaining(&self, now: Millis, from: SocketAddr) -> Millis {
        let Some(entry) = self.by_site.get(&AddressKey::site(from.ip())) else { return Millis(0) };
        let backoff = Millis::seconds(1 << entry.count.min(MAX_DOUBLINGS));
        (entry.last + backoff).since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_client_doubles_backoff_and_reset_ends_it() {
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
        backoff.record_silent_client(now + RESET_AFTER, from);
        assert_eq!(backoff.remaining(now + RESET_AFTER, from), Millis(2000));
        backoff.reset("192.0.2.1:6".parse().unwrap());
        assert_eq!(backoff.remaining(now, from), Millis(0));
    }

    #[test]
    fn recorded_addresses_are_bounded() {
        let mut backoff = ConnectBackoff::default();
        for i in 0..10_000u32 {
            let ip = std::net::Ipv4Addr::from_bits(i);
            backoff.record_silent_client(Millis(u64::from(i)), SocketAddr::new(ip.into(), 1));
        }
        assert_eq!(backoff.by_site.len(), MAX_ADDRESSES);
    }
}
