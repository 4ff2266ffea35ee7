//! Counters of a client. They never decrease, so that two readings can be subtracted.

use std::ops::{Add, Sub};

/// Counters of one client, over its whole life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Number of datagrams from the server.
    pub datagrams_in: u64,
    /// Bytes from the server, without UDP and IP headers.
    pub bytes_in: u64,
    /// Number of datagrams to the server.
    pub datagrams_out: u64,
    /// Bytes to the server, without UDP and IP headers.
    pub bytes_out: u64,
    /// Dropped datagrams: late, duplicated, forged, malformed, or from another address.
    pub dropped_datagrams: u64,
    /// Datagrams among them that a server of the protocol does not send to a client.
    pub unreadable_datagrams: u64,
    /// Number of complete messages accepted.
    pub messages: u64,
    /// Lost messages of the server, by the gaps in their numbers.
    pub lost_messages: u64,
    /// Accepted snapshots.
    pub snapshots: u64,
    /// Accepted delta snapshots; the others were full.
    pub delta_snapshots: u64,
    /// Discarded snapshots whose delta base the client does not have.
    pub discarded_snapshots: u64,
    /// Discarded snapshots before the first gamestate.
    pub early_snapshots: u64,
    /// Accepted reliable commands.
    pub server_commands: u64,
    /// Protocol errors of the server.
    pub faults: u64,
}

impl Statistics {
    /// Combines two sets of counters field by field.
    fn zip(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            datagrams_in: with(self.datagrams_in, other.datagrams_in),
            bytes_in: with(self.bytes_in, other.bytes_in),
            datagrams_out: with(self.datagrams_out, other.datagrams_out),
            bytes_out: with(self.bytes_out, other.bytes_out),
            dropped_datagrams: with(self.dropped_datagrams, other.dropped_datagrams),
            unreadable_datagrams: with(self.unreadable_datagrams, other.unreadable_datagrams),
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

    /// Sum of both.
    fn add(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }
}

impl Sub for Statistics {
    type Output = Self;

    /// Increase since `earlier`.
    fn sub(self, earlier: Self) -> Self {
        self.zip(earlier, u64::saturating_sub)
    }
}
