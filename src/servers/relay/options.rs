//! Options of a broadcast: limits, rates, name.

use crate::model::Millis;

/// Most viewers of one process.
pub const MAX_VIEWERS: u32 = 4096;
/// Longest delay of a broadcast.
pub const MAX_DELAY: Millis = Millis::seconds(600);

/// Options of a broadcast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroadcastOptions {
    /// Server name; `None` for the source's name with an addition.
    pub hostname: Option<String>,
    /// Most viewers.
    pub max_viewers: u32,
    /// Most viewers of one address. Loopback addresses have no limit.
    pub max_per_address: u32,
    /// Most bytes per second to one viewer; 0 for no limit. Loopback addresses have no limit.
    pub max_rate: u32,
    /// Most snapshots per second to one viewer.
    pub max_snaps: u32,
    /// Time between the source and its viewers.
    pub delay: Millis,
    /// Silence after which a viewer is dropped.
    pub timeout: Millis,
    /// Whether viewers may pause and seek, not the operator alone.
    pub viewers_control: bool,
    /// Time of a drain that a request to terminate begins; 0 ends the broadcast at once.
    pub drain_time: Millis,
}

impl Default for BroadcastOptions {
    fn default() -> Self {
        Self {
            hostname: None,
            max_viewers: 512,
            max_per_address: 32,
            max_rate: 0,
            max_snaps: 40,
            delay: Millis(0),
            timeout: Millis::seconds(60),
            viewers_control: true,
            drain_time: Millis(0),
        }
    }
}
