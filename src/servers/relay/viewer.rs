//! Viewer: a client of a broadcast, its own data, and the views of its snapshots.

use super::options::{BroadcastOptions, MAX_VIEWERS};
use crate::{
    limits::{Bucket, is_this_machine},
    model::{ClientNum, Millis},
    serving::{
        connection::{Connection, ConnectionState, MAX_SLOTS, Role, RoleData, SendRates, Slots},
        pacing::SendRate,
    },
};

/// Types of a broadcast's connections.
#[derive(Debug)]
pub(crate) struct ViewerRole;

impl Role for ViewerRole {
    const NOUN: &'static str = "viewer";
    type Key = ViewerKey;
    type Data = ViewerData;
    type View = Option<ClientNum>;
    type Rates = BroadcastOptions;
    type Tap = ();
}

/// Key of a viewer.
pub(super) type ViewerKey = usize;
/// A connected client. A snapshot remembers the player that it shows.
pub(super) type Viewer = Connection<ViewerRole>;
/// State of a viewer.
pub(super) type ViewerState = ConnectionState<Option<ClientNum>>;
/// All viewers.
pub(super) type Viewers = Slots<ViewerRole>;

/// Data of a viewer that clients of a server have not.
#[derive(Debug, Default)]
pub(crate) struct ViewerData {
    /// Player that is followed while in the frame; `None` for the first view.
    pub(super) choice: Option<ClientNum>,
    /// Whether the viewer waits for a scoreboard.
    pub(super) wants_scores: bool,
    /// Time at which the viewer entered, with its first level.
    pub(super) entered: Option<Millis>,
    /// Commands of the viewer.
    pub(super) commands: Bucket,
    /// Chat lines of the viewers of its address, since it connected.
    pub(super) chat: Bucket,
}

impl RoleData for ViewerData {}

/// Memory of one viewer without its userinfo and pending commands.
const _: () = assert!(size_of::<Viewer>() < 4096);
const _: () = assert!(MAX_VIEWERS as usize <= MAX_SLOTS);

impl SendRates for BroadcastOptions {
    fn limited(&self, requested: SendRate) -> u32 {
        let requested = requested.requested_bytes_per_sec.unsigned_abs();
        match self.max_rate {
            0 => requested,
            most => requested.min(most.max(1000)),
        }
    }

    fn is_unlimited(&self, address: std::net::SocketAddr) -> bool {
        is_this_machine(address.ip())
    }
}
