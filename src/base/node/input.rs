//! Inputs of a node beside datagrams and frames.

use crate::model::UnixMillis;

use super::{LocalPort, LookupAnswer, LoopCounters, Route};

/// Input of a node beside datagrams and frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// A line that the operator typed.
    ConsoleLine(&'a str),
    /// The event loop's counters.
    LoopCounters(&'a LoopCounters),
    /// The calendar, which was set since the start or since the last such input. Without it, calendar time advances as the
    /// clock of the process does.
    Calendar(UnixMillis),
    /// The answer to a name lookup.
    Lookup(&'a LookupAnswer),
    /// A port that could not be opened. Its datagrams are dropped.
    PortFailed(LocalPort),
    /// A datagram that is longer than any message of the protocol. Its content is gone, and the driver counts it.
    Oversize(Route),
    /// A request to disconnect every peer with this reason and finish.
    Stop(&'a str),
}
