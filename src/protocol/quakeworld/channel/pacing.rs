//! Pacing of a server's answers by the client's rate, and the count of those left out.
//!
//! Source: QuakeWorld protocol 28, pacing and choke.

use crate::model::Millis;

/// Rate without a wish of the client, in bytes per second.
pub const DEFAULT_RATE: u32 = 2500;
/// Lowest rate.
pub const MIN_RATE: u32 = 500;
/// Bytes that a sender may be ahead of its rate.
pub const BACKLOG: u32 = 400;
/// Bytes ahead on servers of the publisher.
pub const PUBLISHER_BACKLOG: u32 = 200;

/// Schedule of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    rate: u32,
    backlog: u32,
    /// Time at which all bytes so far have left, in microseconds.
    clear_at: u64,
}

impl Default for Pacer {
    fn default() -> Self {
        Self { rate: DEFAULT_RATE, backlog: BACKLOG, clear_at: 0 }
    }
}

impl Pacer {
    /// Returns the rate in bytes per second.
    #[must_use]
    pub const fn rate(&self) -> u32 {
        self.rate
    }

    /// Sets the rate, [`MIN_RATE`] at least.
    pub fn set_rate(&mut self, rate: u32) {
        self.rate = rate.max(MIN_RATE);
    }

    /// Sets the bytes that may be ahead.
    pub const fn set_backlog(&mut self, bytes: u32) {
        self.backlog = bytes;
    }

    /// Whether a packet may leave.
    #[must_use]
    pub fn may_send(&self, now: Millis) -> bool {
        self.clear_at < micros(now).saturating_add(self.duration(self.backlog as usize))
    }

    /// Counts a sent packet.
    pub fn charge(&mut self, bytes: usize, now: Millis) {
        let duration = self.duration(bytes);
        self.clear_at = self.clear_at.max(micros(now)).saturating_add(duration);
    }

    /// Forgets all bytes so far: in a pause, and for the last packet of a dropped client.
    pub const fn lift(&mut self, now: Millis) {
        self.clear_at = micros(now);
    }

    fn duration(&self, bytes: usize) -> u64 {
        (bytes as u64).saturating_mul(1_000_000) / u64::from(self.rate.max(1))
    }
}

const fn micros(time: Millis) -> u64 {
    time.0.saturating_mul(1000)
}

/// Count of answers that were left out since the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChokeCounter(u8);

impl ChokeCounter {
    /// Counts an answer that is left out.
    pub const fn add(&mut self) {
        self.0 = self.0.saturating_add(1);
    }

    /// Returns the count for the next answer and clears it; `None` for zero.
    pub const fn take(&mut self) -> Option<u8> {
        let count = self.0;
        self.0 = 0;
        if count == 0 { None } else { Some(count) }
    }
}
