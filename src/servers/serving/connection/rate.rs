//! Send rate of a connection: granted rate, and the send times that follow.
//!
//! Limits of the operator apply when a datagram is sent, not when the client requests a rate.
//! Source: Quake III protocol 68, rate, snaps and pacing; the rules are ioquake3's. Engine names:
//! `SV_RateMsec`.

use std::net::SocketAddr;

use super::{Role, state::Connection};
use crate::{model::Millis, netchan::transmission_ms, serving::pacing::SendRate};

/// Rates that a node grants.
pub(crate) trait SendRates {
    /// Rate in bytes per second that is granted to a client without [`Self::is_unlimited`].
    fn limited(&self, requested: SendRate) -> u32;

    /// Whether no rate applies to an address.
    fn is_unlimited(&self, address: SocketAddr) -> bool;

    /// Speed of server time.
    fn timescale(&self) -> f32 {
        1.0
    }
}

/// Whether a message may be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    Ready,
    /// Fragments of an earlier message are queued.
    Queued,
    /// The last datagram was a fragment of a gamestate, from which the next one keeps a distance.
    Spaced,
    /// The rate of the client is used up.
    Delayed,
}

impl<R: Role> Connection<R> {
    /// Returns the rate delay: the time until the next datagram may be sent.
    pub(crate) fn rate_delay(&self, rates: &R::Rates, now: Millis) -> Millis {
        let address = self.remote.address();
        let scaled = f64::from(rates.limited(self.send_rate)) * f64::from(rates.timescale());
        let is_ipv6 = address.ip().to_canonical().is_ipv6();
        let cost = transmission_ms(self.channel.last_datagram_len(), is_ipv6, scaled as u32);
        let delay = (self.sent_at + Millis(cost)).since(now);
        // Last, because most delays have passed, and a list of networks is long.
        if delay > Millis(0) && rates.is_unlimited(address) { Millis(0) } else { delay }
    }

    /// Returns the time until the next datagram, if the last one was a fragment of a gamestate. A
    /// client in the level has the gamestate, so the rest of its fragments is not spaced.
    fn fragment_wait(&self, now: Millis) -> Millis {
        if self.is_active() { Millis(0) } else { (self.sent_at + self.spacing).since(now) }
    }

    /// Returns the time until the next datagram may be sent.
    pub(crate) fn send_delay(&self, rates: &R::Rates, now: Millis) -> Millis {
        self.rate_delay(rates, now).max(self.fragment_wait(now))
    }

    /// Whether a message may be sent now, without being queued behind another one.
    pub(crate) fn readiness(&self, rates: &R::Rates, now: Millis) -> Readiness {
        if self.channel.is_busy() {
            Readiness::Queued
        } else if self.fragment_wait(now) > Millis(0) {
            Readiness::Spaced
        } else if self.rate_delay(rates, now) > Millis(0) {
            Readiness::Delayed
        } else {
            Readiness::Ready
        }
    }

    /// Maximum bytes of unacknowledged commands. A quarter of the rate between two
    /// snapshots, so that a burst of commands delays no snapshot.
    pub(crate) fn command_budget(&self, rates: &R::Rates) -> usize {
        if rates.is_unlimited(self.remote.address()) {
            return usize::MAX;
        }
        let rate = u64::from(rates.limited(self.send_rate));
        usize::try_from(rate * self.send_rate.snapshot_interval.0 / 4000).unwrap_or(usize::MAX)
    }
}
