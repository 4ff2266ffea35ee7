//! Match recording: everything that happens on a level, in one multi-view file.
//!
//! A client is recorded from its first full snapshot on, which the recording gets by refusing older delta
//! bases. A file ends with its level, and the next level begins another one. Nothing is computed while no
//! recording runs. The live stream is a second recording, with a piece for each frame.
//!
//! Invariant: a recorded snapshot has no delta base in front of its client's first recorded one.

use std::sync::Arc;

use super::{
    client::{Client, ClientSlots},
    current_level::Level,
    frames::ServerFrames,
    recording::Recordings,
};
use crate::{
    game::Game,
    model::{
        ClientNum, CommandNum, ConfigIndex, EntitySet, Millis, PlayerState, Sequence, UnixMillis,
        limits::MAX_CLIENTS,
    },
    multiview::{
        ClientMessage, ClientStart, Header, LevelStart, MAGIC, PieceKind, SceneEntity, Writer,
        WriterOptions,
    },
    node::RecordingContent,
    serving::pacing::MessageKind,
    settings::{Choice as _, Settings, key},
    wire::snapshot::SnapshotHeader,
};

/// Connection in a slot, told apart from a later one in the same slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recorded {
    connected_at: Millis,
    /// First recorded snapshot.
    first: Sequence,
}

/// Pieces and chunks of the live stream: a relay waits two seconds at most for its first frame.
const LIVE: WriterOptions = WriterOptions { piece_ms: 0, chunk_ms: 2_000 };
/// Most pieces of the live stream that wait for the driver, which polls them each frame.
const MAX_LIVE_PIECES: usize = 64;
/// Value of `sv_autoRecord` that records matches.
const AUTO_MATCH: i32 = 2;

/// Wish of the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum MatchWish {
    /// As `sv_autoRecord` says.
    #[default]
    Auto,
    /// Recorded, with a name for the files.
    Record(Option<Arc<str>>),
    /// Not recorded until the level ends.
    Stop,
}

/// Content of a snapshot.
pub(super) struct SnapshotContent<'a> {
    pub(super) head: &'a SnapshotHeader,
    pub(super) player: &'a PlayerState,
    pub(super) seen: &'a EntitySet,
}

/// A running recording.
pub(super) struct MatchRecording {
    /// Number of the recording.
    number: u64,
    writer: Writer,
    clients: [Option<Recorded>; MAX_CLIENTS],
}

impl std::fmt::Debug for MatchRecording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MatchRecording").field("frames", &self.writer.frames()).finish()
    }
}

impl MatchRecording {
    /// Starts a recording of a level.
    fn new(number: u64, level: &Level, header: &Header, options: WriterOptions) -> Self {
        let start = LevelStart { baselines: &level.baselines, checksum_feed: level.checksum_feed };
        let mut writer = Writer::new(header, &start, options);
        for (index, text) in level.configstrings.iter() {
            writer.configstring(index, text);
        }
        Self { number, writer, clients: [None; MAX_CLIENTS] }
    }

    /// Whether a snapshot may be the delta base of a client's next one.
    pub(super) fn allows_base(&self, number: ClientNum, base: Sequence) -> bool {
        self.writer.frames() == 0
            || self.clients[number.index()].is_some_and(|known| base.distance(known.first) >= 0)
    }

    /// Ends the messages of a client that leaves.
    pub(super) fn leave(&mut self, number: ClientNum) {
        self.is_recorded(number, None);
    }

    /// Ends the messages of a connection that is gone. Returns whether this one is recorded.
    fn is_recorded(&mut self, number: ClientNum, client: Option<&Client>) -> bool {
        let known = &mut self.clients[number.index()];
        let is_same = known.zip(client).is_some_and(|(k, c)| k.connected_at == c.connected_at);
        if !is_same && known.take().is_some() {
            self.writer.end_client(number);
        }
        is_same
    }

    /// Records a snapshot message that was written for a client.
    pub(super) fn snapshot(
        &mut self,
        number: ClientNum,
        client: &Client,
        content: &SnapshotContent<'_>,
    ) {
        let SnapshotContent { head, player, seen } = *content;
        // The numbers of an older game are not in the file, which therefore holds what the player did but not the
        // messages to its client.
        if self.writer.frames() == 0 || !client.channel.protocol().numbers.is_current() {
            return;
        }
        let sequence = client.channel.sequence_of_next();
        if !self.is_recorded(number, Some(client)) {
            if head.delta_num != 0 || !client.is_active() {
                return;
            }
            let start = ClientStart {
                sequence: Sequence(sequence.0.wrapping_sub(1) & Sequence::MASK),
                acknowledge: client.incoming.last(),
                acknowledged: client.queue.commands.acknowledged(),
            };
            let protocol = client.channel.protocol();
            self.writer.start_client(number, &client.name, protocol, start);
            let connected_at = client.connected_at;
            self.clients[number.index()] = Some(Recorded { connected_at, first: sequence });
        }
        self.writer.snapshot(number, message(client, sequence), head, player, seen);
    }

    /// Records another message that was written for a client.
    fn message(&mut self, number: ClientNum, client: &Client, kind: MessageKind, bytes: &[u8]) {
        if !self.is_recorded(number, Some(client)) {
            return;
        }
        let sequence = client.channel.sequence_of_next();
        match kind {
            // Recorded where it is written.
            MessageKind::Snapshot => {}
            MessageKind::Commands => self.writer.commands(number, message(client, sequence)),
            MessageKind::Gamestate { .. } | MessageKind::Download => {
                self.writer.raw(number, sequence, bytes);
            }
        }
    }
}

/// Numbers and commands of a client's next message.
fn message(
    client: &Client,
    sequence: Sequence,
) -> ClientMessage<impl Iterator<Item = (CommandNum, &Arc<str>)> + Clone> {
    let commands = &client.queue.commands;
    ClientMessage {
        sequence,
        acknowledge: client.incoming.last(),
        commands_acknowledged: commands.acknowledged(),
        commands: commands.unacknowledged(),
    }
}

impl Recordings {
    /// Starts to record matches. Returns false if one is recorded already.
    pub(super) fn start_match(&mut self, name: Option<&str>) -> bool {
        self.match_wish = MatchWish::Record(name.map(Arc::from));
        self.of_match.is_none()
    }

    /// Stops the recording of matches. Returns false if none is recorded.
    pub(super) fn stop_match(&mut self) -> bool {
        let wished = std::mem::replace(&mut self.match_wish, MatchWish::Stop);
        let was_recorded = self.of_match.is_some() || matches!(wished, MatchWish::Record(_));
        self.finish_match();
        was_recorded
    }

    /// Recordings of the match in progress: of the file, of the live stream.
    pub(super) fn matches_mut(&mut self) -> impl Iterator<Item = &mut MatchRecording> {
        [&mut self.of_match, &mut self.live].into_iter().flatten().map(Box::as_mut)
    }

    /// Returns the next pieces of the live stream.
    pub(super) fn poll_stream(&mut self) -> Option<Vec<u8>> {
        self.live_output.pop_front()
    }

    /// Hands the pieces of the file to the driver.
    fn queue_match(&mut self) {
        let Some(recording) = &mut self.of_match else { return };
        let (number, bytes) = (recording.number, recording.writer.take());
        if !bytes.is_empty() {
            self.hand_over(number, RecordingContent::Data(bytes));
        }
    }

    /// Queues the pieces of the live stream. Without a driver that polls them, they are dropped up to a key
    /// frame, which changes nothing that clients are sent.
    fn queue_live(&mut self) {
        let Some(live) = &mut self.live else { return };
        let pieces = live.writer.take();
        if pieces.is_empty() {
            return;
        }
        if self.live_output.len() >= MAX_LIVE_PIECES {
            self.live_output.clear();
            self.has_live_gap = true;
        }
        let is_start = pieces[0] == PieceKind::Key as u8 || pieces.starts_with(&MAGIC);
        self.has_live_gap &= !is_start;
        if !self.has_live_gap {
            self.live_output.push_back(pieces);
        }
    }

    /// Ends the file of the match, with its level or with the server.
    pub(super) fn finish_match(&mut self) {
        let Some(mut recording) = self.of_match.take() else { return };
        recording.writer.finish();
        let bytes = recording.writer.take();
        self.hand_over(recording.number, RecordingContent::Data(bytes));
        self.hand_over(recording.number, RecordingContent::End);
    }

    /// Returns the name of the recording to start, if one is wanted. `auto` is `sv_autoRecord`.
    fn wanted_match(&self, auto: i32) -> Option<Option<Arc<str>>> {
        match &self.match_wish {
            _ if self.of_match.is_some() || self.is_ended() => None,
            MatchWish::Auto => (auto & AUTO_MATCH != 0).then_some(None),
            MatchWish::Record(name) => Some(name.clone()),
            MatchWish::Stop => None,
        }
    }
}

/// A frame that was just stored, and the level that it belongs to.
pub(super) struct StoredFrame<'a> {
    pub(super) clients: &'a ClientSlots,
    pub(super) frames: &'a ServerFrames,
    pub(super) game: &'a dyn Game,
    pub(super) level: &'a Level,
    pub(super) settings: &'a Settings,
    pub(super) now: Millis,
    pub(super) epoch: Option<UnixMillis>,
}

impl Recordings {
    /// Records a frame, and starts recordings that are wanted.
    pub(super) fn frame_stored(&mut self, frame: &StoredFrame<'_>) {
        let StoredFrame { clients, frames, game, level, settings, now, .. } = *frame;
        let auto = settings.int(key::SV_AUTO_RECORD);
        let is_live = settings.endpoint(key::SV_RELAY_ADDRESS).is_some();
        if let Some(name) = self.wanted_match(auto) {
            let number = self.begin_match(name.as_deref(), &level.map, now);
            self.of_match = Some(frame.begin(number, WriterOptions::default()));
        }
        if is_live && self.live.is_none() && !self.is_ended() {
            self.live = Some(frame.begin(0, LIVE));
        }
        let player = |number| {
            clients.get(number).filter(|client| client.is_active())?;
            let player = game.player(number);
            Some(player.sanitized().unwrap_or(*player))
        };
        let entries = frames.ring().frame(frames.newest()).unwrap_or(&[]);
        let entities = entries.iter().map(|entry| {
            let shared = game.entity(entry.number).map(|entity| entity.shared);
            let state = frames.ring().state(entry.slot);
            let flags = shared.map(|shared| shared.sv_flags).unwrap_or_default();
            let single_client = shared.map_or(0, |shared| shared.single_client);
            (entry.number, SceneEntity { state, flags, single_client })
        });
        for recording in self.matches_mut() {
            for number in ClientNum::all() {
                recording.is_recorded(number, clients.get(number));
            }
            recording.writer.frame(level.time, player, entities.clone());
        }
        self.queue_match();
        self.queue_live();
    }

    /// Records a reliable command to all clients.
    pub(super) fn published(&mut self, command: &Arc<str>) {
        self.matches_mut().for_each(|recording| recording.writer.broadcast(command));
    }

    /// Records a configstring that was set.
    pub(super) fn configstring(&mut self, index: ConfigIndex, text: &str) {
        self.matches_mut().for_each(|recording| recording.writer.configstring(index, text));
    }

    /// Records a message that was written for a client.
    pub(super) fn transmitted(
        &mut self,
        number: ClientNum,
        client: &Client,
        kind: MessageKind,
        bytes: &[u8],
    ) {
        for recording in self.matches_mut() {
            recording.message(number, client, kind, bytes);
        }
    }
}

impl StoredFrame<'_> {
    /// Starts a recording with this frame.
    fn begin(&self, number: u64, options: WriterOptions) -> Box<MatchRecording> {
        let Self { level, settings, now, epoch, .. } = *self;
        let header = Header {
            program: concat!("fragd ", env!("CARGO_PKG_VERSION")).to_owned(),
            started_unix_ms: epoch.map_or(0, |epoch| (epoch + now).0),
            map: level.map.clone(),
            game: settings.game().name().to_owned(),
            host_name: settings.text(key::SV_HOSTNAME).to_owned(),
            frames_per_second: settings.int(key::SV_FPS).max(1).unsigned_abs(),
        };
        Box::new(MatchRecording::new(number, level, &header, options))
    }
}
