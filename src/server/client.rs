//! One client as the server keeps it: who it is, how far it has come, what it was sent.
//!
//! Invariants: a free slot is `None` in the table; a stage holds what only that stage needs; nothing is
//! sent before the client's protocol is known.

use std::net::SocketAddr;

use super::{backlog::Backlog, limiter::Bucket, snapshot::History};
use crate::{
    model::{
        Challenge, ClientNum, Millis, Qport, Sequence, ServerId, UserCmd, limits::MAX_CLIENTS,
    },
    netchan::{Channel, End, IncomingCommands, Remote},
    wire::{Protocol, info::Info},
};

/// What a message is to the server, given back by the channel when it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageKind {
    Gamestate,
    Snapshot,
    Download,
    /// Reliable commands alone.
    Commands,
}

/// How far a client has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Accepted, or back from another level: owed a gamestate.
    Connected,
    /// The gamestate is on its way; the first move enters the world.
    Primed,
    /// In the game.
    Active,
    /// Gone; kept until its last words had time to arrive.
    Zombie {
        /// When it was dropped.
        since: Millis,
    },
}

/// Least time between two gamestates of one level to one client.
pub(super) const GAMESTATE_INTERVAL: Millis = Millis(1000);

/// The last gamestate that left.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentGamestate {
    /// Its message, known once it has begun to leave.
    pub(super) sequence: Option<Sequence>,
    /// The level it tells of.
    pub(super) server_id: ServerId,
    pub(super) at: Millis,
    /// Whether it repeats one of the same level that the client has lost.
    pub(super) is_retry: bool,
    /// Whether the client has lost it: the client acknowledges a newer message and does not know the level.
    pub(super) is_lost: bool,
}

/// How fast a client asks to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// Bytes per second, headers of the network included. The operator's limits are not applied.
    pub(super) asked_bytes_per_sec: i32,
    /// Time between two snapshots.
    pub(super) snapshot_interval: Millis,
}

/// What one client costs beside what waits for it: far below 64 KiB.
const _: () = assert!(size_of::<Client>() + History::BYTES < 32 * 1024);

/// A slot in use.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) remote: Remote,
    pub(super) channel: Channel<MessageKind>,
    /// The wire is found out by the first packet; it was pinned, or it has arrived.
    pub(super) protocol_known: bool,
    pub(super) backlog: Backlog,
    /// Commands of the client.
    pub(super) incoming: IncomingCommands,
    pub(super) userinfo: Info,
    pub(super) name: String,
    pub(super) stage: Stage,
    pub(super) pace: Pace,

    pub(super) connected_at: Millis,
    /// Times that the answer to `connect` was repeated.
    pub(super) responses_repeated: u8,
    /// Since when the client has been on its way into the level: connected, or the level began.
    pub(super) joining_since: Millis,
    pub(super) heard_at: Millis,
    /// Frames in a row that found the client silent for too long.
    pub(super) silent_frames: u8,

    pub(super) gamestate: Option<SentGamestate>,
    /// The newest message that the client acknowledged.
    pub(super) acknowledged: Sequence,
    /// What the client says it has, as a base for snapshots.
    pub(super) base: Option<Sequence>,
    pub(super) history: History,
    /// Frame clock of the last snapshot.
    pub(super) snapshot_at: Millis,
    /// Time of the last datagram, for what it costs of the rate.
    pub(super) sent_at: Millis,
    /// Least time from that datagram to the next one, if it was a fragment of a gamestate.
    pub(super) spacing: Millis,
    /// A snapshot was skipped because of the rate.
    pub(super) rate_delayed: bool,

    pub(super) last_move: UserCmd,
    /// Limits of messages and moves.
    pub(super) message_bucket: Bucket,
    pub(super) stray_bucket: Bucket,
    pub(super) move_bucket: Bucket,
    pub(super) command_bucket: Bucket,
    pub(super) userinfo_bucket: Bucket,
    pub(super) download_bucket: Bucket,
    /// The answer to the last request for a file, until it is sent.
    pub(super) refused_download: Option<String>,
}

impl Client {
    /// A client whose address is proven.
    pub(super) fn new(
        address: SocketAddr,
        qport: Qport,
        challenge: Challenge,
        (protocol, protocol_known): (&'static Protocol, bool),
        now: Millis,
    ) -> Self {
        Self {
            remote: Remote::new(address, qport),
            channel: Channel::new(End::Server, protocol, challenge, qport),
            protocol_known,
            backlog: Backlog::default(),
            incoming: IncomingCommands::new(),
            userinfo: Info::normal(),
            name: String::new(),
            stage: Stage::Connected,
            pace: Pace { asked_bytes_per_sec: 3000, snapshot_interval: Millis(50) },
            connected_at: now,
            responses_repeated: 0,
            joining_since: now,
            heard_at: now,
            silent_frames: 0,
            gamestate: None,
            acknowledged: Sequence(0),
            base: None,
            history: History::new(),
            snapshot_at: Millis(0),
            sent_at: Millis(0),
            spacing: Millis(0),
            rate_delayed: false,
            last_move: UserCmd::default(),
            message_bucket: Bucket::default(),
            stray_bucket: Bucket::default(),
            move_bucket: Bucket::default(),
            command_bucket: Bucket::default(),
            userinfo_bucket: Bucket::default(),
            download_bucket: Bucket::default(),
            refused_download: None,
        }
    }

    pub(super) fn is_active(&self) -> bool {
        self.stage == Stage::Active
    }

    pub(super) fn is_zombie(&self) -> bool {
        matches!(self.stage, Stage::Zombie { .. })
    }

    /// Whether the client's commands and configstrings are kept for it: it has a gamestate.
    pub(super) fn has_level(&self) -> bool {
        matches!(self.stage, Stage::Primed | Stage::Active)
    }

    /// Whether anything was heard since it connected.
    pub(super) fn was_heard(&self) -> bool {
        self.channel.last_received() != Sequence(0)
    }

    /// Returns when the gamestate is to be sent again: a second after a lost one, once nothing waits.
    pub(super) fn gamestate_due(&self) -> Option<Millis> {
        let lost = self.gamestate.filter(|sent| sent.is_lost)?;
        let waits = self.stage == Stage::Primed && !self.channel.is_busy();
        waits.then_some(lost.at + GAMESTATE_INTERVAL)
    }

    /// Mean round trip in milliseconds, 999 while it is not in the game.
    pub(super) fn ping_ms(&self) -> i32 {
        if self.is_active() { self.history.ping_ms() } else { 999 }
    }
}

/// All slots.
#[derive(Debug)]
pub(super) struct Clients {
    slots: Vec<Option<Box<Client>>>,
    /// Challenge of the client that each slot had before, if anything was sent to it.
    challenges: [Option<Challenge>; MAX_CLIENTS],
}

impl Clients {
    pub(super) fn new() -> Self {
        Self { slots: (0..MAX_CLIENTS).map(|_| None).collect(), challenges: [None; MAX_CLIENTS] }
    }

    pub(super) fn get(&self, number: ClientNum) -> Option<&Client> {
        self.slots[number.index()].as_deref()
    }

    pub(super) fn get_mut(&mut self, number: ClientNum) -> Option<&mut Client> {
        self.slots[number.index()].as_deref_mut()
    }

    pub(super) fn put(&mut self, number: ClientNum, client: Client) {
        self.slots[number.index()] = Some(Box::new(client));
    }

    pub(super) fn free(&mut self, number: ClientNum) {
        if let Some(client) = self.slots[number.index()].take_if(|client| client.was_heard()) {
            self.challenges[number.index()] = Some(client.channel.challenge());
        }
        self.slots[number.index()] = None;
    }

    /// Whether datagrams with that challenge may be under way: a client of some slot has it, or had it
    /// before. Nothing was sent yet to a client that was not heard.
    pub(super) fn has_used(&self, challenge: Challenge) -> bool {
        self.challenges.contains(&Some(challenge))
            || self
                .iter()
                .any(|(_, client)| client.was_heard() && client.channel.challenge() == challenge)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ClientNum, &Client)> {
        ClientNum::all().filter_map(|number| Some((number, self.get(number)?)))
    }

    /// Whether no slot is in use.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (ClientNum, &mut Client)> {
        ClientNum::all()
            .zip(&mut self.slots)
            .filter_map(|(number, slot)| Some((number, slot.as_deref_mut()?)))
    }

    /// Numbers of the slots that are in use now.
    pub(super) fn numbers(&self) -> impl Iterator<Item = ClientNum> + use<> {
        let in_use = self.iter().fold(0_u64, |bits, (number, _)| bits | 1 << number.index());
        ClientNum::all().filter(move |number| in_use >> number.index() & 1 != 0)
    }

    /// Those that are neither gone nor free.
    pub(super) fn present(&self) -> impl Iterator<Item = (ClientNum, &Client)> {
        self.iter().filter(|(_, client)| !client.is_zombie())
    }
}
