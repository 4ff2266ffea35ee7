//! Connection of a client to a serving node: one implementation for server and relay.
//!
//! ```text
//! datagram ─ receive ─┬ connectionless: query, admission
//!                     └ message of a client: gamestate owed, commands, usercmds ─ Service
//! pass ─ send: fragments, gamestates, snapshots of the Service ─ outbox
//! ```
//!
//! A node implements [`Service`], which says what is served: level, commands, snapshots, slots and limits. Its
//! [`Role`] names the types. [`Connections`] borrows the parts of the node that sending needs.
//!
//! Invariants: nothing is stored for an unproven address; nothing of a client changes before its message was
//! read to its end; no client can delay another one. Source: Quake III protocol 68, duties of a server.

mod admission;
mod drops;
mod history;
mod query;
mod rate;
mod receive;
mod reconnect;
mod send;
mod service;
mod slots;
mod state;
#[cfg(test)]
pub(crate) mod testing;

#[cfg(feature = "relay")]
pub(crate) use self::slots::MAX_SLOTS;
#[cfg(test)]
pub(crate) use self::state::Zombie;
pub(crate) use self::{
    admission::AdmissionLimits,
    drops::{LEFT, Timeouts, check_timeouts, disconnect_all, log_disconnect, sanitize_reason},
    history::SnapshotHistory,
    rate::SendRates,
    receive::{ReceiveBuffer, enter_level, receive},
    send::next_send_time,
    service::{Passage, RconRequest, Service},
    slots::{SlotKey, Slots},
    state::{Connection, ConnectionState},
};

use std::fmt;

use super::{configstrings::Configstrings, guards::Guards, pacing::MessageKind, stats::Stats};
use crate::{
    model::{Baselines, ClientNum, LevelTime, Millis, ServerId},
    node::Outbox,
    wire::bits::BitWriter,
};

/// Types of a serving node.
pub(crate) trait Role: Sized + fmt::Debug {
    /// Word for a client in log lines.
    const NOUN: &'static str;
    /// Number of a slot.
    type Key: SlotKey;
    /// Data of a connection that only this role has.
    type Data: RoleData;
    /// View that a snapshot remembers, besides its frame.
    type View: Default + fmt::Debug;
    /// Rates that are granted.
    type Rates: SendRates;
    /// Listener to the messages that are sent.
    type Tap: Tap<Self>;
}

/// Data of a connection that only one role has.
pub(crate) trait RoleData: Default + fmt::Debug {
    /// Resets what a client proves again for each gamestate.
    fn begin_loading(&mut self) {}

    /// Resets what ends when a client enters the level.
    fn end_loading(&mut self) {}

    /// Time that the limit of joining is extended by.
    fn joining_allowance(&self) -> Millis {
        Millis(0)
    }

    /// Reason for which the connection cannot continue.
    fn stalled(&self, now: Millis) -> Option<&'static str> {
        let _ = now;
        None
    }
}

/// Listener to the messages that are sent.
pub(crate) trait Tap<R: Role> {
    /// Reads a message that was written for a client.
    fn message(&mut self, key: R::Key, client: &Connection<R>, kind: MessageKind, bytes: &[u8]);
}

impl<R: Role> Tap<R> for () {
    fn message(&mut self, _: R::Key, _: &Connection<R>, _: MessageKind, _: &[u8]) {}
}

/// Level that clients are sent.
#[derive(Clone, Copy)]
pub(crate) struct ServedLevel<'a> {
    pub(crate) configstrings: &'a Configstrings,
    pub(crate) baselines: &'a Baselines,
    /// Server id of the level; 0 before the first.
    pub(crate) server_id: ServerId,
    pub(crate) checksum_feed: i32,
    pub(crate) time: LevelTime,
    /// Client number of all clients; `None` if each has that of its slot.
    pub(crate) client_number: Option<ClientNum>,
}

/// Parts of a serving node that hold, limit and send to its connections.
pub(crate) struct Connections<'a, R: Role> {
    pub(crate) slots: &'a mut Slots<R>,
    pub(crate) guards: &'a mut Guards,
    pub(crate) outbox: &'a mut Outbox,
    /// The message that is written.
    pub(crate) writer: &'a mut BitWriter,
    pub(crate) stats: &'a mut Stats,
    /// Drops that are requested while a message is sent, with their reasons.
    pub(crate) drops: &'a mut Vec<(R::Key, String)>,
    pub(crate) tap: &'a mut R::Tap,
    pub(crate) rates: &'a R::Rates,
    pub(crate) level: ServedLevel<'a>,
    pub(crate) now: Millis,
}
