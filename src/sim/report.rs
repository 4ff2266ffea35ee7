//! Trial report and violation.

use std::fmt;

use super::faults::{Fault, FaultCounts};
use crate::model::Millis;

/// Counts of a trial so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrialReport {
    /// Virtual time.
    pub time: Millis,
    /// Number of fault phases.
    pub fault_phases: u32,
    /// Injected faults by kind.
    pub faults: FaultCounts,
    /// Datagrams sent by all nodes.
    pub datagrams: u64,
    /// Bytes of those datagrams.
    pub bytes: u64,
    /// Length of the longest datagram, in bytes.
    pub longest_datagram: usize,
    /// Snapshots that were checked against the server's record.
    pub snapshots: u64,
    /// Snapshots that were not checked: the server or the player no longer had them.
    pub snapshots_forgotten: u64,
    /// Numbered lines received.
    pub lines: u64,
    /// Connects begun by players.
    pub joins: u32,
    /// Datagrams injected from addresses of no node.
    pub injected_datagrams: u64,
    /// Longest time until all players played again after a fault phase.
    pub slowest_recovery: Millis,
    /// Most bytes sent to a client above its rate, at any time.
    pub most_above_rate: u64,
    /// Checksum over every datagram sent.
    pub transcript: u32,
}

impl TrialReport {
    /// Returns the number of levels begun, restarts included.
    #[must_use]
    pub fn maps(&self) -> u64 {
        self.faults.of(Fault::Map) + self.faults.of(Fault::Restart)
    }
}

/// A property that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Virtual time.
    pub at: Millis,
    /// Number of the fault phase, from 1.
    pub fault_phase: u32,
    /// Description.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}, fault phase {}: {}", self.at, self.fault_phase, self.what)
    }
}
