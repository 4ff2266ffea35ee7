//! Client of the server: its own data, and the views of its snapshots.
//!
//! Invariant: the entity of the viewing client is never in the set of a snapshot.

use super::{
    downloads::ClientDownloads, pure::PureState, quality::SeenMessages, rate, recording::Recordings,
};
use crate::{
    limits::Bucket,
    model::{ClientNum, EntitySet, Millis, PlayerState, limits::MAX_NAME_LEN, text},
    serving::{
        connection::{Connection, ConnectionState, Role, RoleData, Slots, SnapshotHistory, Tap},
        pacing::MessageKind,
    },
    settings::{Settings, key},
    wire::info::InfoString,
};

/// Types of the server's connections.
#[derive(Debug)]
pub(crate) struct ServerRole;

impl Role for ServerRole {
    const NOUN: &'static str = "client";
    type Key = ClientNum;
    type Data = ClientData;
    type View = SentView;
    type Rates = Settings;
    type Tap = Recordings;
}

/// A client slot in use.
pub(super) type Client = Connection<ServerRole>;
/// State of a client.
pub(super) type ClientState = ConnectionState<SentView>;
/// Client slots by client number.
pub(super) type ClientSlots = Slots<ServerRole>;

/// View of a snapshot that was sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentView {
    pub(super) player: PlayerState,
    pub(super) seen: EntitySet,
}

/// Data of a connection that only a server has.
#[derive(Debug, Default)]
pub(crate) struct ClientData {
    pub(super) downloads: ClientDownloads,
    /// Proof of the archives that the client uses.
    pub(super) pure: PureState,
    pub(super) buckets: ClientBuckets,
    /// Its messages, of which the loss is measured.
    pub(super) seen: SeenMessages,
    /// Login of an administrator.
    pub(super) login: Option<String>,
    /// Number of its warnings.
    pub(super) warnings: u32,
}

impl RoleData for ClientData {
    fn begin_loading(&mut self) {
        self.pure = PureState::default();
    }

    fn end_loading(&mut self) {
        self.downloads = ClientDownloads::default();
    }

    fn joining_allowance(&self) -> Millis {
        self.downloads.allowance()
    }

    fn stalled(&self, now: Millis) -> Option<&'static str> {
        self.downloads.is_stalled(now).then_some("download stalled")
    }
}

/// Rate limits of what one client sends, besides messages. They last as long as the connection.
#[derive(Debug, Default)]
pub(super) struct ClientBuckets {
    pub(super) usercmds: Bucket,
    pub(super) commands: Bucket,
    pub(super) downloads: Bucket,
}

impl Tap<ServerRole> for Recordings {
    fn message(&mut self, number: ClientNum, client: &Client, kind: MessageKind, bytes: &[u8]) {
        self.transmitted(number, client, kind, bytes);
    }
}

/// Number of client slots.
pub(super) fn slot_count(settings: &Settings) -> usize {
    settings.int(key::SV_MAXCLIENTS).max(1).unsigned_abs() as usize
}

/// Stores the userinfo of a client, with the name and send rate in it.
pub(super) fn store_userinfo(
    clients: &mut ClientSlots,
    settings: &Settings,
    number: ClientNum,
    mut info: InfoString,
) {
    let Some(client) = clients.get_mut(number) else { return };
    client.channel.protocol().translate_userinfo(&mut info);
    let name = info.get("name").unwrap_or("");
    client.name = text::truncated(name, MAX_NAME_LEN).to_owned();
    client.send_rate = rate::send_rate(settings, &info);
    client.userinfo = info;
}

/// Memory of one client without its pending commands: far below 64 KiB.
const _: () = assert!(size_of::<Client>() + SnapshotHistory::<SentView>::MAX_BYTES < 32 * 1024);
