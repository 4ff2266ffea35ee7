//! What a trial came to.

use std::fmt;

use super::harm::{Harm, Harms};
use crate::model::Millis;

/// What a trial came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Virtual time.
    pub time: Millis,
    /// Stretches of weather.
    pub stretches: u32,
    /// What went wrong.
    pub harms: Harms,
    /// Datagrams that were sent by anybody.
    pub datagrams: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Length of the longest.
    pub longest_datagram: usize,
    /// Snapshots that players took and the server still knew, each compared.
    pub snapshots: u64,
    /// Snapshots that were not compared: one of the two did not know them any more.
    pub snapshots_forgotten: u64,
    /// Numbered lines that were heard.
    pub lines: u64,
    /// Times that a player began to join.
    pub joins: u32,
    /// Datagrams of strangers.
    pub strangers: u64,
    /// Longest time until everybody played again.
    pub slowest_healing: Millis,
    /// Most bytes that a client was sent above its rate at a time.
    pub most_above_rate: u64,
    /// Checksum of the whole run.
    pub transcript: u32,
}

impl Figures {
    /// Maps that were begun, restarts included.
    #[must_use]
    pub fn maps(&self) -> u64 {
        self.harms.of(Harm::Map) + self.harms.of(Harm::Restart)
    }
}

/// What did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When.
    pub at: Millis,
    /// In which stretch, from 1.
    pub stretch: u32,
    /// What.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}, stretch {}: {}", self.at, self.stretch, self.what)
    }
}
