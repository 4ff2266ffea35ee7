//! Pacing of a client's datagrams: requested rate, message kinds, spacing of gamestate fragments.
//!
//! Fragments of a gamestate are spaced even without a rate, because a client drops a fragment that
//! overtook another one. A lost gamestate is repeated at most once a second.
//! Source: Quake III protocol 68, rate, snaps and pacing; the rules are ioquake3's.

use crate::{
    model::{Millis, Sequence},
    wire::{info::InfoString, userinfo::Userinfo},
};

/// Rate of a client that names none, in bytes per second.
const DEFAULT_RATE: i32 = 3000;
/// Rates that a client may request, in bytes per second.
const REQUESTED_RATES: std::ops::RangeInclusive<i32> = 1000..=90_000;
/// Minimum interval between two fragments of a gamestate. It exceeds the jitter of usual wireless
/// networks, so that fragments arrive in order.
const FRAGMENT_SPACING: Millis = Millis(20);
/// Least time between two fragments of a gamestate that repeats a lost one.
const RETRY_SPACING: Millis = Millis(40);
/// Copies of each fragment of a gamestate that repeats a lost one.
const RETRY_COPIES: u8 = 2;
/// Least time between two gamestates of one level to one client.
pub(crate) const GAMESTATE_INTERVAL: Millis = Millis(1000);

/// Kind of a message, returned by the channel with each datagram of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    /// A gamestate.
    Gamestate {
        /// Whether it repeats one of the same level that the client has lost.
        is_retry: bool,
    },
    /// A snapshot.
    Snapshot,
    /// An answer to a file request.
    Download,
    /// Reliable commands alone.
    Commands,
}

/// The last gamestate that was sent to a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentGamestate {
    /// Time of the transmission.
    pub(crate) at: Millis,
    /// Its message, known once the first datagram was sent.
    pub(crate) sequence: Option<Sequence>,
    /// Whether the client lost it: a newer message is acknowledged with the server id of another level.
    pub(crate) is_lost: bool,
}

/// Rate and snapshot interval that a client requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SendRate {
    /// Bytes per second, network headers included, before the operator's limits.
    pub(crate) requested_bytes_per_sec: i32,
    /// Interval between two snapshots.
    pub(crate) snapshot_interval: Millis,
}

impl SendRate {
    /// Returns the rate and snapshot interval that a userinfo requests, of at most `max_snaps`.
    pub(crate) fn requested(userinfo: &InfoString, max_snaps: i32) -> Self {
        let userinfo = Userinfo(userinfo);
        let requested = userinfo.rate().unwrap_or(DEFAULT_RATE);
        let requested_bytes_per_sec =
            requested.clamp(*REQUESTED_RATES.start(), *REQUESTED_RATES.end());
        let snapshot_interval = match userinfo.snaps() {
            Some(snaps) => {
                Millis(1000 / u64::from(snaps.clamp(1, max_snaps.max(1)).unsigned_abs()))
            }
            None => Millis(50),
        };
        Self { requested_bytes_per_sec, snapshot_interval }
    }
}

/// Returns the least time between two datagrams of a message.
pub(crate) fn fragment_spacing(kind: MessageKind) -> Millis {
    match kind {
        MessageKind::Gamestate { is_retry: false } => FRAGMENT_SPACING,
        MessageKind::Gamestate { is_retry: true } => RETRY_SPACING,
        MessageKind::Snapshot | MessageKind::Download | MessageKind::Commands => Millis(0),
    }
}

/// Returns the copies of each fragment of a gamestate. A retry sends two: loss is likely to happen
/// again, and one lost fragment loses the gamestate.
pub(crate) fn fragment_copies(is_retry: bool) -> u8 {
    if is_retry { RETRY_COPIES } else { 1 }
}
