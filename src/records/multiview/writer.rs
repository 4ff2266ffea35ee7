//! Writer: records of a running server, in compressed pieces.
//!
//! A chunk starts with a key frame and is one deflate stream, flushed at the end of each piece. The bytes
//! come out by [`Writer::take`], whole pieces only, so a recording that is not finished is readable.
//!
//! Invariants: calls between two frames belong to the earlier one; a client's snapshots name frames and
//! delta bases that are recorded; memory is bounded by the longest piece.

use std::{collections::BTreeMap, sync::Arc};

use flate2::{Compress, Compression, FlushCompress};

use super::{
    clients::{ClientTrack, CommandWindow, Expected, MessageHead, SnapshotBody, Texts},
    format::{
        END_MAGIC, FORMAT_VERSION, Header, Index, IndexedKey, MAGIC, PieceKind, Session, put_piece,
        put_time,
    },
    records,
    scene::{Codec, Scene, SceneEntity},
    words::ENTITY_WORDS,
};
use crate::{
    model::{
        Baselines, ClientNum, CommandNum, ConfigIndex, EntityNum, EntitySet, EntityState,
        LevelTime, PlayerState, Sequence,
        encoding::{put_bytes, put_number, put_text},
    },
    wire::{Protocol, snapshot::SnapshotHeader},
};

/// Level of compression. Higher levels save 5% and cost twice the time.
const LEVEL: u32 = 4;
/// Growth of the memory of compressed bytes.
const GROWTH: usize = 16 * 1024;
/// Uncompressed length at which a piece ends before its time.
const PIECE_LEN: usize = 1 << 20;

/// Lengths of pieces and chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterOptions {
    /// Level time of a piece in ms; 0 for a piece per frame.
    pub piece_ms: i32,
    /// Level time of a chunk in ms.
    pub chunk_ms: i32,
}

impl Default for WriterOptions {
    /// Lengths for files: a crash loses a second, and a seek decodes ten.
    fn default() -> Self {
        Self { piece_ms: 1000, chunk_ms: 10_000 }
    }
}

/// Level that a recording starts in.
#[derive(Clone, Copy, Debug)]
pub struct LevelStart<'a> {
    /// Baselines of the gamestate.
    pub baselines: &'a Baselines,
    /// Checksum feed of the gamestate.
    pub checksum_feed: i32,
}

/// State of a connection when its recording starts.
#[derive(Clone, Copy, Debug)]
pub struct ClientStart {
    /// Sequence of the gamestate that the demo begins with.
    pub sequence: Sequence,
    /// Last command that the server has of the client.
    pub acknowledge: CommandNum,
    /// Last command that the client has of the server. Those behind it follow in the next message.
    pub acknowledged: CommandNum,
}

/// A message that is recorded, with the client's reliable commands.
#[derive(Clone, Copy, Debug)]
pub struct ClientMessage<I> {
    /// Sequence of the message.
    pub sequence: Sequence,
    /// Last command of the client that the server has executed.
    pub acknowledge: CommandNum,
    /// Last command that the client has acknowledged.
    pub commands_acknowledged: CommandNum,
    /// Commands behind it, ascending.
    pub commands: I,
}

/// Writer of one recording.
pub struct Writer {
    options: WriterOptions,
    codec: Codec,
    scene: Scene,
    texts: Texts,
    configstrings: BTreeMap<ConfigIndex, Arc<str>>,
    baselines: Baselines,
    checksum_feed: i32,
    tracks: Vec<Option<ClientTrack>>,
    /// Place in the index of each client's session.
    sessions: Vec<usize>,
    index: Index,
    /// Records of the piece that are not compressed yet.
    records: Vec<u8>,
    /// Uncompressed length of the piece.
    piece_len: usize,
    deflate: Compress,
    /// Content of the piece.
    piece: Vec<u8>,
    piece_kind: PieceKind,
    piece_from: LevelTime,
    chunk_from: LevelTime,
    out: Vec<u8>,
    /// Bytes taken so far.
    taken: u64,
}

impl Writer {
    /// Starts a recording.
    #[must_use]
    pub fn new(header: &Header, level: &LevelStart<'_>, options: WriterOptions) -> Self {
        let mut out = MAGIC.to_vec();
        out.extend(FORMAT_VERSION.to_le_bytes());
        let mut content = Vec::new();
        header.write(&mut content);
        put_piece(&mut out, PieceKind::Header, &content);
        Self {
            options,
            codec: Codec::new(),
            scene: Scene::default(),
            texts: Texts::default(),
            configstrings: BTreeMap::new(),
            baselines: level.baselines.clone(),
            checksum_feed: level.checksum_feed,
            tracks: ClientNum::all().map(|_| None).collect(),
            sessions: ClientNum::all().map(|_| 0).collect(),
            index: Index::default(),
            records: Vec::new(),
            piece_len: 0,
            deflate: Compress::new(Compression::new(LEVEL), false),
            piece: Vec::new(),
            piece_kind: PieceKind::Key,
            piece_from: LevelTime(0),
            chunk_from: LevelTime(0),
            out,
            taken: 0,
        }
    }

    /// Whether messages of a client are recorded.
    #[must_use]
    pub fn has_client(&self, client: ClientNum) -> bool {
        self.tracks[client.index()].is_some()
    }

    /// Number of frames recorded.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.index.frames
    }

    /// Records a configstring. Those of the start are told before the first frame.
    pub fn configstring(&mut self, index: ConfigIndex, text: &str) {
        if self.index.frames > 0 {
            self.records.push(records::CONFIGSTRING);
            put_number(&mut self.records, index.index() as u64);
            put_text(&mut self.records, text);
        }
        if text.is_empty() {
            self.configstrings.remove(&index);
        } else {
            self.configstrings.insert(index, Arc::from(text));
        }
    }

    /// Records a reliable command to all clients.
    pub fn broadcast(&mut self, text: &Arc<str>) {
        if self.index.frames > 0 {
            self.records.push(records::BROADCAST);
            self.texts.write(&mut self.records, text);
        }
    }

    /// Records a server frame. `player` is asked for each client, and returns the playerstate of those in
    /// the game. `entities` ascend by number.
    pub fn frame<'a>(
        &mut self,
        time: LevelTime,
        player: impl Fn(ClientNum) -> Option<PlayerState>,
        entities: impl Iterator<Item = (EntityNum, SceneEntity<'a>)> + Clone,
    ) {
        self.end_piece(time);
        if self.piece.is_empty() && self.piece_kind == PieceKind::Key {
            self.begin_chunk(time);
        }
        self.records.push(records::FRAME);
        let Self { scene, codec, records, baselines, .. } = self;
        scene.write(codec, records, time, baselines, player, entities);
        self.index.frames += 1;
        self.index.end = time;
    }

    /// Starts to record the messages of a client. Its next message is a full snapshot.
    pub fn start_client(
        &mut self,
        client: ClientNum,
        name: &str,
        protocol: &'static Protocol,
        start: ClientStart,
    ) {
        let ClientStart { sequence, acknowledge, acknowledged } = start;
        let window = CommandWindow::new(acknowledged);
        let track = ClientTrack::new(Arc::from(name), protocol, sequence, acknowledge, window);
        self.records.extend([records::START, client.index() as u8]);
        track.write(&mut self.records, &mut self.texts);
        self.tracks[client.index()] = Some(track);
        self.sessions[client.index()] = self.index.sessions.len();
        self.index.sessions.push(Session {
            client: client.index() as u8,
            name: name.to_owned(),
            from: self.scene.time(),
            to: self.scene.time(),
        });
    }

    /// Ends the messages of a client.
    pub fn end_client(&mut self, client: ClientNum) {
        if self.tracks[client.index()].take().is_some() {
            self.records.extend([records::END, client.index() as u8]);
        }
    }

    /// Records a snapshot message of a client that was started.
    pub fn snapshot<'a>(
        &mut self,
        client: ClientNum,
        message: ClientMessage<impl Iterator<Item = (CommandNum, &'a Arc<str>)>>,
        head: &SnapshotHeader,
        player: &PlayerState,
        seen: &EntitySet,
    ) {
        let Self { tracks, records, texts, scene, codec, .. } = self;
        let Some(track) = &mut tracks[client.index()] else { return };
        records.push(records::SNAPSHOT | client.index() as u8);
        let body = SnapshotBody {
            time: head.server_time,
            delta_num: head.delta_num,
            flags: head.flags,
            areas: &head.areas,
            seen,
            player: player.words(),
        };
        let player = scene.player_words(client);
        let expected = Expected { columns: codec.player(), player, time: scene.time() };
        let head = head_of(&message);
        track.write_message(records, texts, &head, message.commands, Some((&body, &expected)));
        self.note(client);
    }

    /// Records a message that holds reliable commands alone.
    pub fn commands<'a>(
        &mut self,
        client: ClientNum,
        message: ClientMessage<impl Iterator<Item = (CommandNum, &'a Arc<str>)>>,
    ) {
        let Self { tracks, records, texts, .. } = self;
        let Some(track) = &mut tracks[client.index()] else { return };
        records.push(records::COMMANDS | client.index() as u8);
        let head = head_of(&message);
        track.write_message(records, texts, &head, message.commands, None);
        self.note(client);
    }

    /// Records another message as its bytes.
    pub fn raw(&mut self, client: ClientNum, sequence: Sequence, message: &[u8]) {
        let Some(track) = &mut self.tracks[client.index()] else { return };
        self.records.push(records::RAW | client.index() as u8);
        put_number(&mut self.records, u64::from(sequence.0));
        put_bytes(&mut self.records, message);
        track.sequence = sequence;
        self.note(client);
    }

    /// Returns the bytes to append to the file, and empties them. Empty most of the time.
    pub fn take(&mut self) -> Vec<u8> {
        self.taken += self.out.len() as u64;
        std::mem::take(&mut self.out)
    }

    /// Ends the recording with its index. [`Self::take`] returns the last bytes.
    pub fn finish(&mut self) {
        self.flush();
        let offset = self.taken + self.out.len() as u64;
        let mut content = Vec::new();
        self.index.write(&mut content);
        put_piece(&mut self.out, PieceKind::Index, &content);
        self.out.extend(offset.to_le_bytes());
        self.out.extend(END_MAGIC);
    }

    /// Notes the time of a message in the index.
    fn note(&mut self, client: ClientNum) {
        if let Some(session) = self.index.sessions.get_mut(self.sessions[client.index()]) {
            session.to = self.scene.time();
        }
    }

    /// Compresses the records of the last frame, and ends the piece and the chunk when they are long enough.
    fn end_piece(&mut self, now: LevelTime) {
        if self.index.frames == 0 {
            return;
        }
        let age = |from: LevelTime| now.0.wrapping_sub(from.0);
        let ends_chunk = age(self.chunk_from) >= self.options.chunk_ms || age(self.chunk_from) < 0;
        let is_long = self.piece_len + self.records.len() >= PIECE_LEN;
        if ends_chunk || is_long || age(self.piece_from) >= self.options.piece_ms {
            self.flush();
            self.piece_from = now;
            self.piece_kind = if ends_chunk { PieceKind::Key } else { PieceKind::Records };
        } else {
            self.compress(FlushCompress::None);
        }
    }

    /// Ends the piece.
    fn flush(&mut self) {
        self.compress(FlushCompress::Sync);
        if self.piece_len > 0 {
            put_piece(&mut self.out, self.piece_kind, &self.piece);
        }
        self.piece.clear();
        self.piece_len = 0;
    }

    /// Compresses the waiting records.
    fn compress(&mut self, flush: FlushCompress) {
        let Self { deflate, records, piece, .. } = self;
        let start = deflate.total_in();
        loop {
            if piece.capacity() - piece.len() < GROWTH / 2 {
                piece.reserve(GROWTH);
            }
            let done = (deflate.total_in() - start) as usize;
            // Only a wrong use of the stream is an error.
            let result = deflate.compress_vec(&records[done..], piece, flush);
            let done = (deflate.total_in() - start) as usize;
            if result.is_err() || done == records.len() && piece.len() < piece.capacity() {
                break;
            }
        }
        self.piece_len += records.len();
        records.clear();
    }

    /// Starts a chunk with a key frame: everything that later records refer to.
    fn begin_chunk(&mut self, now: LevelTime) {
        let offset = self.taken + self.out.len() as u64;
        self.index.keys.push(IndexedKey { offset, time: now });
        self.chunk_from = now;
        self.piece_from = now;
        self.deflate.reset();
        self.piece.extend(now.0.to_le_bytes());
        self.scene.clear();
        self.texts.clear();
        let Self { records, texts, .. } = self;
        records.push(records::KEY);
        put_number(records, self.index.frames);
        put_time(records, self.scene.time());
        records.extend(self.checksum_feed.to_le_bytes());
        put_number(records, self.configstrings.len() as u64);
        for (index, text) in &self.configstrings {
            put_number(records, index.index() as u64);
            put_text(records, text);
        }
        write_baselines(records, &self.codec, &self.baselines);
        for (client, track) in self.tracks.iter().enumerate() {
            if let Some(track) = track {
                put_number(records, client as u64 + 1);
                track.write(records, texts);
            }
        }
        records.push(0);
    }
}

fn head_of<I>(message: &ClientMessage<I>) -> MessageHead {
    MessageHead {
        sequence: message.sequence,
        acknowledge: message.acknowledge,
        commands_acknowledged: message.commands_acknowledged,
    }
}

/// Appends the baselines: `{ gap + 1 | mask | values }* 0`.
fn write_baselines(out: &mut Vec<u8>, codec: &Codec, baselines: &Baselines) {
    let mut next = 0;
    for state in baselines.all() {
        let Ok(number) = usize::try_from(state.number) else { continue };
        if number < next || number >= EntityNum::NONE.index() {
            continue;
        }
        put_number(out, (number - next) as u64 + 1);
        next = number + 1;
        let mut words = [0; ENTITY_WORDS];
        words[..EntityState::WORDS].copy_from_slice(state.words());
        codec.write_entity(out, &words);
    }
    out.push(0);
}
