//! Client connection: the data of a client slot in use, and its connection state.
//!
//! ```text
//! Connected ── gamestate sent ──► Primed ── first usercmd ──► Active
//!     ▲                             │ map load or restart       │ map load
//!     └─────────────────────────────┴───────────────────────────┘
//! every state ── dropped ──► Zombie ── sv_zombietime ──► free slot
//! ```
//!
//! Invariants: a field of [`Client`] is valid in every state; what one state needs is a field of
//! that state; nothing is sent before the client's protocol is known.
//! Engine names: `client_t`, `clientState_t`, `CS_CONNECTED`, `CS_PRIMED`, `CS_ACTIVE`, `CS_ZOMBIE`.

use super::{downloads::ClientDownloads, pure::PureState, snapshot::SnapshotHistory};
use crate::{
    limits::Bucket,
    model::{
        Challenge, ClientNum, ClientSet, EntitySet, FrameNum, Millis, PlayerState, Qport, Sequence,
        UserCmd, limits::MAX_CLIENTS, prefetch,
    },
    netchan::{Channel, ChannelSide, IncomingCommands, PeerAddress},
    serving::{
        command_queue::CommandQueue,
        message_limit::MessageLimit,
        pacing::{GAMESTATE_INTERVAL, MessageKind, SendRate, SentGamestate},
    },
    wire::{Protocol, info::InfoString},
};

/// State of a connection, with the data of that state.
#[derive(Debug)]
pub(super) enum ClientState {
    /// Accepted, or returned from another level: owed a gamestate.
    Connected(Connected),
    /// Sent a gamestate: the first usercmd enters the world.
    Primed(Primed),
    /// In the game.
    Active(Active),
    /// Dropped: the slot is held until the client has received the reason.
    Zombie(Zombie),
}

/// Data of a client that is owed a gamestate.
#[derive(Debug)]
pub(super) struct Connected {
    /// Time of the connect, or of the load of the level.
    pub(super) joining_since: Millis,
    /// Repetitions of `connectResponse` so far.
    pub(super) responses_resent: u8,
}

/// Data of a client that loads the level.
#[derive(Debug)]
pub(super) struct Primed {
    /// Time of the connect, or of the load of the level.
    pub(super) joining_since: Millis,
    /// The gamestate of the level in force.
    pub(super) gamestate: SentGamestate,
    pub(super) snapshots: SnapshotLog,
}

/// Data of a client in the game.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) snapshots: SnapshotLog,
    /// Newest snapshot that the client reported to have; `None` if it asked for a full snapshot.
    pub(super) delta_request: Option<Sequence>,
}

/// Data of a dropped client.
#[derive(Debug)]
pub(super) struct Zombie {
    /// Time of the drop.
    pub(super) since: Millis,
    /// Frame time of the last snapshot since the drop.
    pub(super) last_snapshot_at: Option<Millis>,
}

/// Snapshots sent to one client on one level.
#[derive(Debug)]
pub(super) struct SnapshotLog {
    pub(super) history: SnapshotHistory,
    /// Frame time of the last snapshot; `None` if the next one is due at once.
    pub(super) last_at: Option<Millis>,
}

impl SnapshotLog {
    fn new() -> Self {
        Self { history: SnapshotHistory::new(), last_at: None }
    }

    /// Records a snapshot of `frame`, sent in message `sequence` at frame time `at`.
    pub(super) fn record(
        &mut self,
        (sequence, frame, at): (Sequence, FrameNum, Millis),
        player: &PlayerState,
        seen: &EntitySet,
        sent_at: Option<Millis>,
    ) {
        self.history.record(sequence, frame, player, seen, sent_at);
        self.last_at = Some(at);
    }
}

/// Rate limits of what one client sends. They last as long as the connection.
#[derive(Debug, Default)]
pub(super) struct ClientBuckets {
    pub(super) messages: MessageLimit,
    pub(super) usercmds: Bucket,
    pub(super) commands: Bucket,
    pub(super) userinfos: Bucket,
    pub(super) downloads: Bucket,
}

/// Memory of one client without its pending commands: far below 64 KiB.
const _: () = assert!(size_of::<Client>() + SnapshotHistory::MAX_BYTES < 32 * 1024);

/// A client slot in use.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) remote: PeerAddress,
    pub(super) channel: Channel<MessageKind>,
    /// Whether the protocol is known: set by the operator, or detected in the first packet.
    pub(super) protocol_known: bool,
    /// Commands to the client.
    pub(super) queue: CommandQueue,
    /// Commands of the client.
    pub(super) incoming: IncomingCommands,
    pub(super) userinfo: InfoString,
    pub(super) name: String,
    pub(super) send_rate: SendRate,
    pub(super) state: ClientState,

    pub(super) connected_at: Millis,
    /// Time of the last valid message.
    pub(super) received_at: Millis,
    /// Consecutive frames in which the client exceeded a time limit.
    pub(super) overdue_frames: u8,
    /// Newest message that the client acknowledged.
    pub(super) acknowledged: Sequence,
    /// Newest usercmd, of this level or an earlier one; all zero before the first.
    pub(super) last_usercmd: UserCmd,

    /// Time of the last datagram, from which its share of the rate is counted.
    pub(super) sent_at: Millis,
    /// Least time from that datagram to the next one, which fragments of a gamestate need.
    pub(super) spacing: Millis,
    /// Whether a snapshot was withheld for the rate since the last one that was sent.
    pub(super) rate_delayed: bool,
    pub(super) downloads: ClientDownloads,
    /// Proof of the archives that the client uses.
    pub(super) pure: PureState,
    pub(super) buckets: ClientBuckets,
}

impl Client {
    /// A client whose address is proven.
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
            userinfo: InfoString::normal(),
            name: String::new(),
            send_rate: SendRate { requested_bytes_per_sec: 3000, snapshot_interval: Millis(50) },
            state: ClientState::connected(now),
            connected_at: now,
            received_at: now,
            overdue_frames: 0,
            acknowledged: Sequence(0),
            last_usercmd: UserCmd::default(),
            sent_at: Millis(0),
            spacing: Millis(0),
            rate_delayed: false,
            downloads: ClientDownloads::default(),
            pure: PureState::default(),
            buckets: ClientBuckets::default(),
        }
    }

    /// Returns the client to [`ClientState::Connected`] because another level begins. A zombie
    /// stays one.
    pub(super) fn await_gamestate(&mut self, now: Millis) {
        match &mut self.state {
            ClientState::Connected(connected) => connected.joining_since = now,
            ClientState::Primed(_) | ClientState::Active(_) => {
                self.state = ClientState::connected(now);
            }
            ClientState::Zombie(_) => {}
        }
    }

    /// Records that the gamestate of the current level is sent to a joining client. It may be the
    /// first or a repeated one.
    pub(super) fn prime(&mut self, now: Millis) {
        let joining_since = match &self.state {
            ClientState::Connected(connected) => connected.joining_since,
            ClientState::Primed(primed) => primed.joining_since,
            ClientState::Active(_) | ClientState::Zombie(_) => return,
        };
        let gamestate = SentGamestate { at: now, sequence: None, is_lost: false };
        self.pure = PureState::default();
        let snapshots = SnapshotLog::new();
        self.state = ClientState::Primed(Primed { joining_since, gamestate, snapshots });
    }

    /// Enters the world, from the loading screen or after a restart in place. The next snapshot is full
    /// and due at once.
    pub(super) fn enter(&mut self, usercmd: UserCmd) {
        let nowhere = ClientState::connected(Millis(0));
        self.state = match std::mem::replace(&mut self.state, nowhere) {
            ClientState::Primed(Primed { mut snapshots, .. })
            | ClientState::Active(Active { mut snapshots, .. }) => {
                snapshots.last_at = None;
                self.last_usercmd = usercmd;
                self.downloads = ClientDownloads::default();
                ClientState::Active(Active { snapshots, delta_request: None })
            }
            other => other,
        };
    }

    pub(super) fn is_active(&self) -> bool {
        matches!(self.state, ClientState::Active(_))
    }

    pub(super) fn is_zombie(&self) -> bool {
        matches!(self.state, ClientState::Zombie(_))
    }

    /// Whether reliable commands and configstrings are queued for the client: it was sent the
    /// gamestate.
    pub(super) fn has_level(&self) -> bool {
        match self.state {
            ClientState::Primed(_) | ClientState::Active(_) => true,
            ClientState::Connected(_) | ClientState::Zombie(_) => false,
        }
    }

    /// Snapshots of the level in force, if the client has it.
    pub(super) fn snapshots(&self) -> Option<&SnapshotLog> {
        match &self.state {
            ClientState::Primed(primed) => Some(&primed.snapshots),
            ClientState::Active(active) => Some(&active.snapshots),
            ClientState::Connected(_) | ClientState::Zombie(_) => None,
        }
    }

    /// Requests the memory that the next snapshot needs.
    pub(super) fn expect_snapshot(&self) {
        if let ClientState::Active(active) = &self.state {
            active.snapshots.history.expect_snapshot(active.delta_request);
        }
    }

    /// Records a snapshot that is sent at `now`.
    pub(super) fn record_snapshot(
        &mut self,
        sent: (Sequence, FrameNum, Millis),
        player: &PlayerState,
        seen: &EntitySet,
        now: Millis,
    ) {
        self.rate_delayed = false;
        match &mut self.state {
            ClientState::Active(active) => active.snapshots.record(sent, player, seen, Some(now)),
            // The client acknowledges once the level is loaded, which measures no round trip.
            ClientState::Primed(primed) => primed.snapshots.record(sent, player, seen, None),
            ClientState::Zombie(zombie) => zombie.last_snapshot_at = Some(sent.2),
            ClientState::Connected(_) => {}
        }
    }

    /// Frame of the oldest snapshot that can still become a delta base.
    pub(super) fn oldest_base(&self, newest: FrameNum) -> Option<FrameNum> {
        let ClientState::Active(active) = &self.state else { return None };
        active.snapshots.history.oldest_base(active.delta_request, newest)
    }

    /// Whether the client has sent a message since it connected.
    pub(super) fn has_sent_message(&self) -> bool {
        self.channel.last_received() != Sequence(0)
    }

    /// Time at which a lost gamestate is sent again: a second after the last one, with nothing queued.
    pub(super) fn gamestate_due(&self) -> Option<Millis> {
        match &self.state {
            ClientState::Primed(Primed { gamestate, .. })
                if gamestate.is_lost && !self.channel.is_busy() =>
            {
                Some(gamestate.at + GAMESTATE_INTERVAL)
            }
            _ => None,
        }
    }

    /// Mean round trip in ms, 999 while the client is not in the game.
    pub(super) fn ping_ms(&self) -> i32 {
        match &self.state {
            ClientState::Active(active) => active.snapshots.history.ping_ms(),
            ClientState::Connected(_) | ClientState::Primed(_) | ClientState::Zombie(_) => 999,
        }
    }
}

impl ClientState {
    fn connected(now: Millis) -> Self {
        Self::Connected(Connected { joining_since: now, responses_resent: 0 })
    }
}

/// Groups of slots by qport, a power of two.
const QPORT_GROUPS: usize = 64;

/// Group of a qport.
fn group_of(qport: Qport) -> usize {
    usize::from(qport.0) % QPORT_GROUPS
}

/// Client slots by client number.
///
/// An array and not a `slab`: a slot number is the client number of the protocol, and is chosen by
/// private slots and by earlier connections of a player. A slab assigns its own keys.
#[derive(Debug)]
pub(super) struct ClientSlots {
    slots: Vec<Option<Box<Client>>>,
    /// Qport of the last client of each slot. A search for the client of a datagram touches no other client.
    qports: [Qport; MAX_CLIENTS],
    /// Slots by the low bits of that qport.
    by_qport: [ClientSet; QPORT_GROUPS],
    /// Challenge of the previous client of each slot, if any message was sent to it.
    challenges: [Option<Challenge>; MAX_CLIENTS],
}

impl ClientSlots {
    pub(super) fn new() -> Self {
        Self {
            slots: (0..MAX_CLIENTS).map(|_| None).collect(),
            qports: [Qport(0); MAX_CLIENTS],
            by_qport: [ClientSet::default(); QPORT_GROUPS],
            challenges: [None; MAX_CLIENTS],
        }
    }

    pub(super) fn get(&self, number: ClientNum) -> Option<&Client> {
        self.slots[number.index()].as_deref()
    }

    pub(super) fn get_mut(&mut self, number: ClientNum) -> Option<&mut Client> {
        self.slots[number.index()].as_deref_mut()
    }

    pub(super) fn put(&mut self, number: ClientNum, client: Client) {
        let qport = client.remote.qport();
        let before = std::mem::replace(&mut self.qports[number.index()], qport);
        self.by_qport[group_of(before)].remove(number);
        self.by_qport[group_of(qport)].insert(number);
        self.slots[number.index()] = Some(Box::new(client));
    }

    pub(super) fn free(&mut self, number: ClientNum) {
        if let Some(client) = self.slots[number.index()].take_if(|client| client.has_sent_message())
        {
            self.challenges[number.index()] = Some(client.channel.challenge());
        }
        self.slots[number.index()] = None;
    }

    /// Whether datagrams with a challenge may be on the network, because a current or former client
    /// has it. Nothing was sent yet to a client that has sent no message.
    pub(super) fn has_used(&self, challenge: Challenge) -> bool {
        self.challenges.contains(&Some(challenge))
            || self.iter().any(|(_, client)| {
                client.has_sent_message() && client.channel.challenge() == challenge
            })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ClientNum, &Client)> {
        ClientNum::all().filter_map(|number| Some((number, self.get(number)?)))
    }

    /// Clients with a qport, ascending by number.
    pub(super) fn with_qport(&self, qport: Qport) -> impl Iterator<Item = (ClientNum, &Client)> {
        self.by_qport[group_of(qport)]
            .iter()
            .filter(move |number| self.qports[number.index()] == qport)
            .filter_map(|number| Some((number, self.get(number)?)))
    }

    /// Requests the memory of the client that a datagram with a qport may be from.
    pub(super) fn expect_datagram(&self, qport: Qport) {
        if let Some((_, client)) = self.with_qport(qport).next() {
            prefetch(client);
        }
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

    /// Numbers of the slots in use when called.
    pub(super) fn numbers(&self) -> impl Iterator<Item = ClientNum> + use<> {
        ClientSet::of_flags(&std::array::from_fn(|at| self.slots[at].is_some())).iter()
    }

    /// Clients that are not zombies.
    pub(super) fn present(&self) -> impl Iterator<Item = (ClientNum, &Client)> {
        self.iter().filter(|(_, client)| !client.is_zombie())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_found_by_qport_in_order() {
        let mut slots = ClientSlots::new();
        let address = "192.0.2.1:27960".parse().expect("an address");
        let numbers = |slots: &ClientSlots, qport| {
            slots.with_qport(Qport(qport)).map(|(number, _)| number.index()).collect::<Vec<_>>()
        };
        let put = |slots: &mut ClientSlots, number, qport| {
            let protocol = (Protocol::OA_71, true);
            let client = Client::new(
                PeerAddress::new(address, Qport(qport)),
                Challenge(1),
                protocol,
                Millis(0),
            );
            slots.put(number, client);
        };
        for number in ClientNum::all() {
            let index = number.index();
            put(&mut slots, number, if index % 9 == 0 { 7 } else { 1000 + index as u16 });
        }
        assert_eq!(numbers(&slots, 7), [0, 9, 18, 27, 36, 45, 54, 63]);
        for number in (0..MAX_CLIENTS).filter(|number| number % 9 != 0) {
            assert_eq!(numbers(&slots, 1000 + number as u16), [number]);
        }
        assert_eq!(numbers(&slots, 0), [0; 0]);
        let nine = ClientNum::new(9).expect("a slot");
        slots.free(nine);
        assert_eq!(numbers(&slots, 7), [0, 18, 27, 36, 45, 54, 63]);
        let of_same_group = 7 + QPORT_GROUPS as u16;
        put(&mut slots, nine, of_same_group);
        assert_eq!(numbers(&slots, 7), [0, 18, 27, 36, 45, 54, 63]);
        assert_eq!(numbers(&slots, of_same_group), [9]);
        put(&mut slots, nine, 8);
        assert_eq!(numbers(&slots, of_same_group), [0; 0]);
    }
}
