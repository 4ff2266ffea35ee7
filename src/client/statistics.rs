//! What a client counts. Everything only grows, so that two readings tell what was between them.

use std::ops::{Add, Sub};

/// Counters of one client, over its whole life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Datagrams from the server.
    pub datagrams_in: u64,
    /// Their bytes, without the headers of UDP and IP.
    pub bytes_in: u64,
    /// Datagrams to the server.
    pub datagrams_out: u64,
    /// Their bytes, without the headers of UDP and IP.
    pub bytes_out: u64,
    /// Datagrams that were not taken: late, doubled, forged, malformed, or from somebody else.
    pub dropped_datagrams: u64,
    /// Whole messages that counted.
    pub messages: u64,
    /// Messages of the server that never came, by the gaps in their numbers.
    pub lost_messages: u64,
    /// Snapshots accepted.
    pub snapshots: u64,
    /// Of those, snapshots that were relative to an earlier one; the others were complete.
    pub delta_snapshots: u64,
    /// Snapshots relative to one that the client does not have: read, and thrown away.
    pub discarded_snapshots: u64,
    /// Snapshots that came before a gamestate: read, and thrown away.
    pub early_snapshots: u64,
    /// Reliable commands taken.
    pub server_commands: u64,
    /// What the server did wrong.
    pub faults: u64,
}

impl Statistics {
    /// Both, field by field.
    fn zip(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            datagrams_in: with(self.datagrams_in, other.datagrams_in),
            bytes_in: with(self.bytes_in, other.bytes_in),
            datagrams_out: with(self.datagrams_out, other.datagrams_out),
            bytes_out: with(self.bytes_out, other.bytes_out),
            dropped_datagrams: with(self.dropped_datagrams, other.dropped_datagrams),
            messages: with(self.messages, other.messages),
            lost_messages: with(self.lost_messages, other.lost_messages),
            snapshots: with(self.snapshots, other.snapshots),
            delta_snapshots: with(self.delta_snapshots, other.delta_snapshots),
            discarded_snapshots: with(self.discarded_snapshots, other.discarded_snapshots),
            early_snapshots: with(self.early_snapshots, other.early_snapshots),
            server_commands: with(self.server_commands, other.server_commands),
            faults: with(self.faults, other.faults),
        }
    }
}

impl Add for Statistics {
    type Output = Self;

    /// What was counted by both together.
    fn add(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }
}

impl Sub for Statistics {
    type Output = Self;

    /// What was counted since `earlier`.
    fn sub(self, earlier: Self) -> Self {
        self.zip(earlier, u64::saturating_sub)
    }
}
