//! Viewer: a connected client of a broadcast, and its connection state.
//!
//! ```text
//! Connected ── gamestate sent ──► Primed ── first usercmd ──► Active
//!     ▲                              │ next level               │ next level
//!     └──────────────────────────────┴──────────────────────────┘
//! every state ── dropped ──► Zombie ── after a while ──► free
//! ```
//!
//! Invariant: a delta base is a snapshot of this viewer, by message number, of the level in force.

use crate::{
    limits::Bucket,
    model::{Challenge, ClientNum, FrameNum, Millis, Sequence, UserCmd, limits::PACKET_BACKUP},
    netchan::{Channel, ChannelSide, IncomingCommands, PeerAddress},
    node::{LocalPort, Route},
    serving::{
        command_queue::CommandQueue,
        message_limit::MessageLimit,
        pacing::{MessageKind, SendRate, SentGamestate},
    },
    wire::Protocol,
};

/// Largest age of a delta base in messages. The ring of the client is longer, so messages on the
/// network do not overwrite the base.
const MAX_BASE_AGE: i32 = PACKET_BACKUP as i32 - 4;

/// State of a connection.
#[derive(Debug)]
pub(super) enum ViewerState {
    /// Accepted, or a new level began: owed a gamestate.
    Connected {
        /// Time of the connect, or of the level.
        since: Millis,
        /// Repetitions of `connectResponse` so far.
        responses_resent: u8,
    },
    /// Sent a gamestate: the first usercmd enters.
    Primed {
        /// Time of the connect, or of the level.
        since: Millis,
        gamestate: SentGamestate,
        /// Time of the last message.
        last_at: Millis,
    },
    /// Receives snapshots.
    Active {
        /// Newest snapshot that the client reported to have; `None` if it asked for a full one.
        delta_request: Option<Sequence>,
        /// Time and frame of the last snapshot; `None` if the next one is due at once.
        last: Option<(Millis, FrameNum)>,
    },
    /// Dropped: kept until the client has received the reason.
    Zombie {
        /// Time of the drop.
        since: Millis,
        /// Time of the last message.
        last_at: Millis,
    },
}

/// A snapshot that was sent.
#[derive(Clone, Copy, Debug)]
struct SentSnapshot {
    sequence: Sequence,
    frame: FrameNum,
    player: ClientNum,
    at: Millis,
    /// [`SentSnapshots::entities`] before this one.
    entities_before: u32,
}

/// The last snapshots sent to one viewer.
#[derive(Debug)]
pub(super) struct SentSnapshots {
    ring: [Option<SentSnapshot>; PACKET_BACKUP],
    /// Number of entities in all snapshots, wrapping.
    entities: u32,
    /// Round trip of the last acknowledged snapshots in ms, smoothed; `None` before the first.
    ping_ms: Option<u32>,
}

impl SentSnapshots {
    fn new() -> Self {
        Self { ring: [None; PACKET_BACKUP], entities: 0, ping_ms: None }
    }

    /// Removes all, since another level begins.
    pub(super) fn clear(&mut self) {
        self.ring = [None; PACKET_BACKUP];
    }

    /// Records a snapshot of `frame` with the view of `player` and a number of entities.
    pub(super) fn record(
        &mut self,
        (sequence, at): (Sequence, Millis),
        (frame, player): (FrameNum, ClientNum),
        entities: usize,
    ) {
        let entities_before = self.entities;
        self.entities = entities_before.wrapping_add(entities as u32);
        self.ring[sequence.0 as usize % PACKET_BACKUP] =
            Some(SentSnapshot { sequence, frame, player, at, entities_before });
    }

    fn get(&self, sequence: Sequence) -> Option<&SentSnapshot> {
        let sent = self.ring[sequence.0 as usize % PACKET_BACKUP].as_ref();
        sent.filter(|sent| sent.sequence == sequence)
    }

    /// Records the round trip of a snapshot.
    pub(super) fn acknowledge(&mut self, sequence: Sequence, now: Millis) {
        let Some(sent) = self.get(sequence) else { return };
        let trip = u32::try_from(now.since(sent.at).0).unwrap_or(999).min(999);
        self.ping_ms = Some(self.ping_ms.map_or(trip, |mean| (mean * 7 + trip) / 8));
    }

    pub(super) fn ping_ms(&self) -> u32 {
        self.ping_ms.unwrap_or(999)
    }

    /// Delta base of the snapshot in message `sequence` with the view of `player`: its age in messages and
    /// its frame. `wanted` is the snapshot that the client acknowledged.
    pub(super) fn delta_base(
        &self,
        (sequence, player): (Sequence, ClientNum),
        wanted: Option<Sequence>,
        window: Option<u32>,
    ) -> Option<(u8, FrameNum)> {
        let wanted = wanted?;
        let age = sequence.distance(wanted);
        let sent = self.get(wanted)?;
        let entities = self.entities.wrapping_sub(sent.entities_before);
        let usable = (1..=MAX_BASE_AGE).contains(&age)
            && sent.player == player
            && window.is_none_or(|window| entities <= window);
        usable.then_some((age as u8, sent.frame))
    }
}

/// Limits of what one viewer sends.
#[derive(Debug, Default)]
pub(super) struct ViewerBuckets {
    pub(super) messages: MessageLimit,
    pub(super) commands: Bucket,
    pub(super) chat: Bucket,
}

/// A connected client.
#[derive(Debug)]
pub(super) struct Viewer {
    pub(super) remote: PeerAddress,
    pub(super) channel: Channel<MessageKind>,
    /// Whether the protocol is known: by its number, or detected in the first packet.
    pub(super) protocol_known: bool,
    /// Commands to the viewer.
    pub(super) queue: CommandQueue,
    /// Commands of the viewer.
    pub(super) incoming: IncomingCommands,
    pub(super) name: String,
    pub(super) send_rate: SendRate,
    pub(super) state: ViewerState,
    /// Player that is followed while in the frame; `None` for the first view.
    pub(super) choice: Option<ClientNum>,
    /// Whether the viewer waits for a scoreboard.
    pub(super) wants_scores: bool,
    /// Whether the viewer was greeted since it connected.
    pub(super) is_greeted: bool,
    pub(super) connected_at: Millis,
    /// Time of the last valid message.
    pub(super) received_at: Millis,
    pub(super) acknowledged: Sequence,
    pub(super) last_usercmd: UserCmd,
    pub(super) sent: SentSnapshots,
    /// Time of the last datagram, from which its share of the rate is counted.
    pub(super) sent_at: Millis,
    /// Least time from that datagram to the next one.
    pub(super) spacing: Millis,
    /// Whether a snapshot was withheld for the rate since the last one.
    pub(super) rate_delayed: bool,
    pub(super) buckets: ViewerBuckets,
}

/// Memory of one viewer without its pending commands.
const _: () = assert!(size_of::<Viewer>() < 4096);

impl Viewer {
    /// A viewer whose address is proven.
    pub(super) fn new(
        remote: PeerAddress,
        challenge: Challenge,
        (protocol, protocol_known): (&'static Protocol, bool),
        now: Millis,
    ) -> Self {
        Self {
            remote,
            channel: Channel::new(ChannelSide::Server, protocol, challenge, remote.qport()),
            protocol_known,
            queue: CommandQueue::default(),
            incoming: IncomingCommands::new(),
            name: String::new(),
            send_rate: SendRate { requested_bytes_per_sec: 3000, snapshot_interval: Millis(50) },
            state: ViewerState::Connected { since: now, responses_resent: 0 },
            choice: None,
            wants_scores: false,
            is_greeted: false,
            connected_at: now,
            received_at: now,
            acknowledged: Sequence(0),
            last_usercmd: UserCmd::default(),
            sent: SentSnapshots::new(),
            sent_at: Millis(0),
            spacing: Millis(0),
            rate_delayed: false,
            buckets: ViewerBuckets::default(),
        }
    }

    pub(super) fn route(&self) -> Route {
        let remote = self.remote;
        Route { local: LocalPort(0), local_ip: remote.local_ip(), remote: remote.address() }
    }

    /// Returns the viewer to [`ViewerState::Connected`] because another level begins.
    pub(super) fn await_gamestate(&mut self, now: Millis) {
        self.sent.clear();
        self.queue.clear_pending();
        match &mut self.state {
            ViewerState::Connected { since, .. } => *since = now,
            ViewerState::Primed { .. } | ViewerState::Active { .. } => {
                self.state = ViewerState::Connected { since: now, responses_resent: 0 };
            }
            ViewerState::Zombie { .. } => {}
        }
    }

    pub(super) fn is_active(&self) -> bool {
        matches!(self.state, ViewerState::Active { .. })
    }

    pub(super) fn is_zombie(&self) -> bool {
        matches!(self.state, ViewerState::Zombie { .. })
    }

    /// Whether reliable commands are queued: the viewer was sent the gamestate.
    pub(super) fn has_level(&self) -> bool {
        matches!(self.state, ViewerState::Primed { .. } | ViewerState::Active { .. })
    }

    pub(super) fn has_sent_message(&self) -> bool {
        self.channel.last_received() != Sequence(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delta_base_is_recent_and_of_the_same_view() {
        let [a, b] = [1, 2].map(|number| ClientNum::new(number).unwrap());
        let mut sent = SentSnapshots::new();
        for sequence in 1..=40 {
            sent.record((Sequence(sequence), Millis(5)), (sequence + 100, a), 60);
        }
        let base = |player, wanted: u32, window| {
            sent.delta_base((Sequence(41), player), Some(Sequence(wanted)), window)
        };
        assert_eq!(base(a, 40, None), Some((1, 140)));
        assert_eq!(base(a, 13, None), Some((28, 113)));
        assert_eq!(base(a, 12, None), None, "too old");
        assert_eq!(base(a, 41, None), None, "not sent yet");
        assert_eq!(base(b, 40, None), None, "another view");
        assert_eq!(base(a, 9, Some(1920)), None);
        // 32 snapshots of 60 entities are 1920.
        assert_eq!(base(a, 13, Some(1680)), Some((28, 113)));
        assert_eq!(base(a, 13, Some(1679)), None);
        assert_eq!(sent.delta_base((Sequence(41), a), None, None), None);
    }
}
