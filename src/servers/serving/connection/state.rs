//! State of one connection: address, channel, commands in both directions, and its part in the level.
//!
//! ```text
//! Connected ── gamestate sent ──► Primed ── first usercmd ──► Active
//!     ▲                             │ map load or restart       │ map load
//!     └─────────────────────────────┴───────────────────────────┘
//! every state ── dropped ──► Zombie ── zombie time ──► free slot
//! ```
//!
//! Invariants: a field of [`Connection`] is valid in every state; what one state needs is a field of
//! that state; nothing is sent before the protocol of the client is known.
//! Engine names: `client_t`, `clientState_t`, `CS_CONNECTED`, `CS_PRIMED`, `CS_ACTIVE`, `CS_ZOMBIE`.

use super::{
    Role, RoleData,
    history::{SentSnapshot, SnapshotHistory},
};
use crate::{
    limits::{Bucket, BucketLimit},
    model::{Challenge, FrameNum, LevelTime, Millis, Sequence, UserCmd},
    netchan::{Channel, ChannelSide, IncomingCommands, PeerAddress},
    node::{LocalPort, Route},
    serving::{
        command_queue::CommandQueue,
        message_limit::MessageLimit,
        pacing::{GAMESTATE_INTERVAL, MessageKind, SendRate, SentGamestate},
        proof::Known,
        scrambling::ScramblingQuestion,
    },
    wire::{Protocol, info::InfoString},
};

/// Limit of userinfo changes.
const USERINFOS: BucketLimit = BucketLimit { burst: 5, period: Millis(1000) };

/// State of a connection, with the data of that state. `V`: view that a snapshot remembers.
#[derive(Debug)]
pub(crate) enum ConnectionState<V> {
    /// Accepted, or returned from another level: owed a gamestate.
    Connected(Connected),
    /// Sent a gamestate: the first usercmd enters the level.
    Primed(Primed<V>),
    /// In the level: receives snapshots.
    Active(Active<V>),
    /// Dropped: the slot is held until the client has received the reason.
    Zombie(Zombie),
}

/// Data of a client that is owed a gamestate.
#[derive(Debug)]
pub(crate) struct Connected {
    /// Time of the connect, or of the load of the level.
    pub(crate) joining_since: Millis,
    /// Repetitions of `connectResponse` so far.
    pub(crate) responses_resent: u8,
}

/// Data of a client that loads the level.
#[derive(Debug)]
pub(crate) struct Primed<V> {
    /// Time of the connect, or of the load of the level.
    pub(crate) joining_since: Millis,
    /// The gamestate of the level in force.
    pub(crate) gamestate: SentGamestate,
    pub(crate) snapshots: SnapshotLog<V>,
}

/// Data of a client in the level.
#[derive(Debug)]
pub(crate) struct Active<V> {
    pub(crate) snapshots: SnapshotLog<V>,
    /// Newest snapshot that the client reported to have; `None` if it asked for a full snapshot.
    pub(crate) delta_request: Option<Sequence>,
}

/// Data of a dropped client.
#[derive(Debug)]
pub(crate) struct Zombie {
    /// Time of the drop.
    pub(crate) since: Millis,
    /// Time of the last message since the drop.
    pub(crate) last_at: Option<Millis>,
}

/// Snapshots sent to one client on one level.
#[derive(Debug)]
pub(crate) struct SnapshotLog<V> {
    pub(crate) history: SnapshotHistory<V>,
    /// Time of the last message; `None` if the next one is due at once.
    pub(crate) last_at: Option<Millis>,
    /// Frame of the last snapshot.
    pub(crate) last_frame: Option<FrameNum>,
}

impl<V: Default> SnapshotLog<V> {
    fn new() -> Self {
        Self { history: SnapshotHistory::new(), last_at: None, last_frame: None }
    }
}

/// A client slot in use.
#[derive(Debug)]
pub(crate) struct Connection<R: Role> {
    pub(crate) remote: PeerAddress,
    /// Local port that the client connected to.
    local: LocalPort,
    pub(crate) channel: Channel<MessageKind>,
    /// Whether the protocol is known: by its number or the operator, or detected in the first packet.
    pub(crate) protocol_known: bool,
    /// Whether the client scrambles as its protocol says, while that is open.
    pub(crate) scrambling: Option<ScramblingQuestion>,
    /// Commands to the client.
    pub(crate) queue: CommandQueue,
    /// Commands of the client.
    pub(crate) incoming: IncomingCommands,
    pub(crate) userinfo: InfoString,
    pub(crate) name: String,
    pub(crate) send_rate: SendRate,
    pub(crate) state: ConnectionState<R::View>,

    pub(crate) connected_at: Millis,
    /// Time of the last valid message.
    pub(crate) received_at: Millis,
    /// Consecutive checks in which the client exceeded a time limit.
    pub(crate) overdue_checks: u8,
    /// Newest message that the client acknowledged.
    pub(crate) acknowledged: Sequence,
    /// Newest usercmd, of this level or an earlier one; all zero before the first.
    pub(crate) last_usercmd: UserCmd,

    /// Time of the last datagram, from which its share of the rate is counted.
    pub(crate) sent_at: Millis,
    /// Least time from that datagram to the next one, which fragments of a gamestate need.
    pub(crate) spacing: Millis,
    /// Whether a snapshot was withheld for the rate since the last one that was sent.
    pub(crate) rate_delayed: bool,
    pub(crate) messages: MessageLimit,
    userinfos: Bucket,
    /// Data that only one role has.
    pub(crate) own: R::Data,
}

impl<R: Role> Connection<R> {
    /// A client whose address is proven.
    pub(crate) fn new(
        remote: PeerAddress,
        challenge: Challenge,
        protocol: &'static Protocol,
        protocol_known: bool,
        now: Millis,
    ) -> Self {
        Self {
            remote,
            local: LocalPort(0),
            channel: Channel::new(ChannelSide::Server, protocol, challenge, remote.qport()),
            protocol_known,
            scrambling: (!protocol_known && !protocol.has_checksummed_sibling())
                .then(ScramblingQuestion::default),
            queue: CommandQueue::new(protocol),
            incoming: IncomingCommands::new(),
            userinfo: InfoString::normal(),
            name: String::new(),
            send_rate: SendRate { requested_bytes_per_sec: 3000, snapshot_interval: Millis(50) },
            state: ConnectionState::connected(now),
            connected_at: now,
            received_at: now,
            overdue_checks: 0,
            acknowledged: Sequence(0),
            last_usercmd: UserCmd::default(),
            sent_at: Millis(0),
            spacing: Millis(0),
            rate_delayed: false,
            messages: MessageLimit::default(),
            userinfos: Bucket::default(),
            own: R::Data::default(),
        }
    }

    /// Sets the local port that the client connected to.
    #[must_use]
    pub(crate) fn on_port(self, local: LocalPort) -> Self {
        Self { local, ..self }
    }

    /// Route of datagrams to the client.
    pub(crate) fn route(&self) -> Route {
        let remote = &self.remote;
        Route { local: self.local, local_ip: remote.local_ip(), remote: remote.address() }
    }

    /// Returns the client to [`ConnectionState::Connected`] because another level begins. A zombie
    /// stays one.
    pub(crate) fn await_gamestate(&mut self, now: Millis) {
        match &mut self.state {
            ConnectionState::Connected(connected) => connected.joining_since = now,
            ConnectionState::Primed(_) | ConnectionState::Active(_) => {
                self.state = ConnectionState::connected(now);
            }
            ConnectionState::Zombie(_) => {}
        }
    }

    /// Records that the gamestate of the current level is sent to a joining client. It may be the
    /// first or a repeated one.
    pub(crate) fn prime(&mut self, now: Millis) {
        let joining_since = match &self.state {
            ConnectionState::Connected(connected) => connected.joining_since,
            ConnectionState::Primed(primed) => primed.joining_since,
            ConnectionState::Active(_) | ConnectionState::Zombie(_) => return,
        };
        let gamestate = SentGamestate { at: now, sequence: None, is_lost: false };
        self.own.begin_loading();
        let snapshots = SnapshotLog::new();
        self.state = ConnectionState::Primed(Primed { joining_since, gamestate, snapshots });
    }

    /// Enters the level, from the loading screen or after a restart in place. The next snapshot is full
    /// and due at once.
    pub(crate) fn enter(&mut self, usercmd: UserCmd) {
        let nowhere = ConnectionState::connected(Millis(0));
        self.state = match std::mem::replace(&mut self.state, nowhere) {
            ConnectionState::Primed(Primed { mut snapshots, .. })
            | ConnectionState::Active(Active { mut snapshots, .. }) => {
                snapshots.last_at = None;
                self.last_usercmd = usercmd;
                self.own.end_loading();
                ConnectionState::Active(Active { snapshots, delta_request: None })
            }
            other => other,
        };
    }

    pub(crate) fn is_active(&self) -> bool {
        matches!(self.state, ConnectionState::Active(_))
    }

    pub(crate) fn is_zombie(&self) -> bool {
        matches!(self.state, ConnectionState::Zombie(_))
    }

    /// Whether reliable commands and configstrings are queued for the client: it was sent the
    /// gamestate.
    pub(crate) fn has_level(&self) -> bool {
        matches!(self.state, ConnectionState::Primed(_) | ConnectionState::Active(_))
    }

    /// Whether the client has sent a message since it connected.
    pub(crate) fn has_sent_message(&self) -> bool {
        self.channel.last_received() != Sequence(0)
    }

    /// Time since the last valid message.
    pub(crate) fn silence(&self, now: Millis) -> Millis {
        now.since(self.received_at)
    }

    /// Whether a datagram comes from the port of the client.
    pub(crate) fn is_from_its_port(&self, route: Route) -> bool {
        self.remote.address().port() == route.remote.port()
    }

    /// Whether another userinfo of the client is read now.
    pub(crate) fn allows_userinfo(&mut self, now: Millis) -> bool {
        self.userinfos.allows(now, USERINFOS)
    }

    /// State that a message is validated against.
    pub(crate) fn known(&self, level_time: LevelTime, now: Millis) -> Known {
        Known {
            level_time,
            is_active: self.is_active(),
            has_sent_message: self.has_sent_message(),
            silence: self.silence(now),
            usercmd_time: LevelTime(self.last_usercmd.server_time),
            acknowledged: self.acknowledged,
            sent: self.channel.last_sent(),
        }
    }

    /// Snapshots of the level in force, if the client has it.
    pub(crate) fn snapshots(&self) -> Option<&SnapshotLog<R::View>> {
        match &self.state {
            ConnectionState::Primed(primed) => Some(&primed.snapshots),
            ConnectionState::Active(active) => Some(&active.snapshots),
            ConnectionState::Connected(_) | ConnectionState::Zombie(_) => None,
        }
    }

    /// Requests the memory that the next snapshot needs.
    pub(crate) fn expect_snapshot(&self) {
        if let ConnectionState::Active(active) = &self.state {
            active.snapshots.history.expect_snapshot(active.delta_request);
        }
    }

    /// Records the snapshots that an active client has and the delta base that it requests.
    pub(crate) fn acknowledge_snapshot(&mut self, delta: bool, ack: Sequence, now: Millis) {
        if let ConnectionState::Active(active) = &mut self.state {
            active.delta_request = delta.then_some(ack);
            active.snapshots.history.acknowledge(ack, now);
            if delta {
                active.snapshots.history.release_before(ack);
            }
        }
    }

    /// Snapshot that an active client reported to have.
    pub(crate) fn delta_request(&self) -> Option<Sequence> {
        match &self.state {
            ConnectionState::Active(active) => active.delta_request,
            _ => None,
        }
    }

    /// Delta base of the next message and its age in messages. `wanted` is the snapshot that the client reported to
    /// have; `is_kept` tells whether its content can be read.
    pub(crate) fn delta_base(
        &self,
        wanted: Option<Sequence>,
        is_kept: impl FnOnce(&SentSnapshot<R::View>) -> bool,
    ) -> Option<(u8, &SentSnapshot<R::View>)> {
        let ConnectionState::Active(active) = &self.state else { return None };
        let sequence = self.channel.next_sequence();
        let window = self.channel.protocol().delta_window;
        active.snapshots.history.delta_base(sequence, wanted, window, is_kept)
    }

    /// Records a snapshot with a number of entities in message `sequence`, which is sent at `now`. `at` is the time
    /// that its interval is measured by.
    pub(crate) fn record_snapshot(
        &mut self,
        sequence: Sequence,
        frame: FrameNum,
        entities: usize,
        at: Millis,
        now: Millis,
        store: impl FnOnce(&mut R::View),
    ) {
        self.rate_delayed = false;
        let (snapshots, sent_at) = match &mut self.state {
            ConnectionState::Active(active) => (&mut active.snapshots, Some(now)),
            // The client acknowledges once the level is loaded, which measures no round trip.
            ConnectionState::Primed(primed) => (&mut primed.snapshots, None),
            ConnectionState::Zombie(zombie) => {
                zombie.last_at = Some(at);
                return;
            }
            ConnectionState::Connected(_) => return,
        };
        snapshots.history.record(sequence, frame, entities, sent_at, store);
        snapshots.last_at = Some(at);
        snapshots.last_frame = Some(frame);
    }

    /// Records the time of a message without a snapshot to a client that loads the level, or to a zombie.
    #[cfg(feature = "relay")]
    pub(crate) fn note_message(&mut self, at: Millis) {
        match &mut self.state {
            ConnectionState::Primed(primed) => primed.snapshots.last_at = Some(at),
            ConnectionState::Zombie(zombie) => zombie.last_at = Some(at),
            ConnectionState::Connected(_) | ConnectionState::Active(_) => {}
        }
    }

    #[cfg(feature = "relay")]
    /// Records that the snapshot of a frame is not sent, since it does not fit a message.
    pub(crate) fn skip_snapshot(&mut self, frame: FrameNum, at: Millis) {
        if let ConnectionState::Active(active) = &mut self.state {
            active.snapshots.last_at = Some(at);
            active.snapshots.last_frame = Some(frame);
        }
    }

    /// Frame of the oldest snapshot that can still become a delta base.
    pub(crate) fn oldest_base(&self, newest: FrameNum) -> Option<FrameNum> {
        let ConnectionState::Active(active) = &self.state else { return None };
        active.snapshots.history.oldest_base(active.delta_request, newest)
    }

    /// Time at which a lost gamestate is sent again: a second after the last one, with nothing queued.
    pub(crate) fn gamestate_due(&self) -> Option<Millis> {
        match &self.state {
            ConnectionState::Primed(Primed { gamestate, .. })
                if gamestate.is_lost && !self.channel.is_busy() =>
            {
                Some(gamestate.at + GAMESTATE_INTERVAL)
            }
            _ => None,
        }
    }

    /// Mean round trip in ms, 999 while the client is not in the level.
    pub(crate) fn ping_ms(&self) -> i32 {
        match &self.state {
            ConnectionState::Active(active) => active.snapshots.history.ping_ms(),
            _ => 999,
        }
    }
}

impl<V> ConnectionState<V> {
    fn connected(now: Millis) -> Self {
        Self::Connected(Connected { joining_since: now, responses_resent: 0 })
    }
}
