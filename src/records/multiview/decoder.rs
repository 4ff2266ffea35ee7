//! Decoder: pieces to records, with the state that each record leads to.
//!
//! [`Decoder::piece`] takes a piece and [`Decoder::next_record`] returns its records one after the other.
//! A message is encoded again by [`Decoder::message`], bit for bit, while it is the last record.
//!
//! Invariants: memory is bounded for any input; a piece behind a fault needs a new key frame.

use std::{collections::BTreeMap, sync::Arc};

use flate2::{Decompress, FlushDecompress, Status};

use super::{
    clients::{ClientTrack, Expected, Texts},
    encode::{Client, SentSnapshot},
    format::{FormatError, MAX_RECORDS_LEN, PieceKind, time},
    records,
    scene::{Codec, Scene, listed},
};
use crate::{
    model::{
        Baselines, ClientNum, ConfigIndex, EntityNum, EntityState, FrameNum, FrameRing, LevelTime,
        PlayerState, Sequence,
        encoding::{Cursor, DecodeError},
        limits::{MAX_BIG_STRING_LEN, MAX_CONFIGSTRINGS, MAX_MESSAGE_LEN, PACKET_BACKUP},
    },
    wire::snapshot::SnapshotHeader,
};

/// Frames whose entities are kept as delta bases, as a server does.
const FRAMES_KEPT: usize = 256;
/// Growth of the memory of uncompressed records.
const GROWTH: usize = 64 * 1024;

/// A record. Its content is in the decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Everything that later records refer to, at the start of a chunk.
    Key,
    /// Entities and players of the next server frame.
    Frame,
    /// A configstring changed.
    Configstring(ConfigIndex),
    /// A reliable command to all clients.
    Broadcast(Arc<str>),
    /// Messages of a client follow.
    Start(ClientNum),
    /// No more messages of a client follow.
    End(ClientNum),
    /// A message of a client.
    Message(ClientNum, MessageContent),
}

/// Content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageContent {
    /// A snapshot, and commands in front of it.
    Snapshot,
    /// Commands alone.
    Commands,
    /// Another message, as its bytes.
    Raw(Vec<u8>),
}

/// Decoder of one recording.
pub struct Decoder {
    codec: Codec,
    inflate: Decompress,
    /// Uncompressed records of the piece.
    records: Vec<u8>,
    /// Bytes of them that were read.
    at: usize,
    /// Whether a piece with a key frame was taken, and no fault was found behind it.
    ready: bool,
    /// Whether the records of the key frame were read.
    has_key: bool,
    frames: u64,
    pub(super) scene: Scene,
    pub(super) ring: FrameRing,
    frame: FrameNum,
    texts: Texts,
    pub(super) configstrings: BTreeMap<ConfigIndex, Arc<str>>,
    pub(super) baselines: Baselines,
    pub(super) checksum_feed: i32,
    pub(super) clients: Vec<Option<Box<Client>>>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            codec: Codec::new(),
            inflate: Decompress::new(false),
            records: Vec::new(),
            at: 0,
            ready: false,
            has_key: false,
            frames: 0,
            scene: Scene::default(),
            ring: FrameRing::new(FRAMES_KEPT),
            frame: FrameNum::default(),
            texts: Texts::default(),
            configstrings: BTreeMap::new(),
            baselines: Baselines::default(),
            checksum_feed: 0,
            clients: ClientNum::all().map(|_| None).collect(),
        }
    }
}

impl Decoder {
    /// Takes the content of a piece of records. Records of the piece before it that were not read are lost.
    /// Content that is cut gives the records in front of the cut.
    ///
    /// # Errors
    /// Compressed data that is invalid or too long, or no key frame in front of it. Records in front of the
    /// fault can be read.
    pub fn piece(&mut self, kind: PieceKind, content: &[u8]) -> Result<(), FormatError> {
        self.records.clear();
        self.at = 0;
        let content = match kind {
            PieceKind::Header | PieceKind::Index => return Ok(()),
            PieceKind::Records => content,
            PieceKind::Key => {
                self.inflate.reset(false);
                self.ready = true;
                self.has_key = false;
                content.get(4..).unwrap_or_default()
            }
        };
        if !self.ready {
            return Err(FormatError::record(0, "no key frame in front"));
        }
        let result = self.inflate(content);
        self.ready = result.is_ok();
        result
    }

    fn inflate(&mut self, content: &[u8]) -> Result<(), FormatError> {
        let start = self.inflate.total_in();
        loop {
            if self.records.len() >= MAX_RECORDS_LEN {
                return Err(FormatError::Deflate);
            }
            if self.records.capacity() - self.records.len() < GROWTH / 2 {
                self.records.reserve(GROWTH);
            }
            let done = (self.inflate.total_in() - start) as usize;
            let status = self
                .inflate
                .decompress_vec(&content[done..], &mut self.records, FlushDecompress::Sync)
                .map_err(|_| FormatError::Deflate)?;
            let done = (self.inflate.total_in() - start) as usize;
            let has_room = self.records.len() < self.records.capacity();
            if status == Status::StreamEnd || has_room && done == content.len() {
                return Ok(());
            }
            if status == Status::BufError && has_room {
                return Err(FormatError::Deflate);
            }
        }
    }

    /// Returns the next record of the piece, or `None` at its end.
    ///
    /// # Errors
    /// A record that is cut off or invalid. The rest of the chunk is lost.
    pub fn next_record(&mut self) -> Result<Option<Record>, FormatError> {
        if self.at >= self.records.len() {
            return Ok(None);
        }
        let records = std::mem::take(&mut self.records);
        let mut from = Cursor(&records[self.at..]);
        let result = self.record(&mut from);
        self.at = records.len() - from.0.len();
        self.records = records;
        result.map(Some).map_err(|what| {
            let at = self.at;
            self.at = self.records.len();
            self.ready = false;
            FormatError::record(at, what)
        })
    }

    fn record(&mut self, from: &mut Cursor<'_>) -> Result<Record, DecodeError> {
        let tag = from.byte()?;
        if tag != records::KEY && !self.has_key {
            return Err("a record in front of the key frame");
        }
        match tag {
            records::KEY => self.key(from),
            records::FRAME => {
                self.scene.read(&self.codec, from, &self.baselines)?;
                let previous = self.frame;
                self.frame = previous.next();
                let states = self.scene.entities().map(|(number, entity)| (number, entity.state));
                self.ring.record(self.frame, previous, states);
                self.frames += 1;
                Ok(Record::Frame)
            }
            records::CONFIGSTRING => {
                let index = self.configstring(from)?;
                Ok(Record::Configstring(index))
            }
            records::BROADCAST => Ok(Record::Broadcast(self.texts.read(from)?)),
            records::START => {
                let client = client(from.byte()?)?;
                let track = ClientTrack::read(from, &mut self.texts)?;
                self.clients[client.index()] = Some(Box::new(Client::new(track)));
                Ok(Record::Start(client))
            }
            records::END => {
                let client = client(from.byte()?)?;
                self.clients[client.index()] = None;
                Ok(Record::End(client))
            }
            _ if tag & !records::CLIENT == 0 => Err("an unknown record"),
            _ => self.client_message(tag, from),
        }
    }

    fn client_message(&mut self, tag: u8, from: &mut Cursor<'_>) -> Result<Record, DecodeError> {
        let number = client(tag & records::CLIENT)?;
        let Self { clients, texts, scene, codec, frame, .. } = self;
        let client =
            clients[number.index()].as_mut().ok_or("a message of a client that is absent")?;
        let content = match tag & !records::CLIENT {
            records::RAW => {
                client.track.sequence = Sequence(from.small::<u32>()? & Sequence::MASK);
                let message = from.bytes()?;
                if message.len() > MAX_MESSAGE_LEN {
                    return Err("a message that is too long");
                }
                MessageContent::Raw(message.to_vec())
            }
            records::COMMANDS => {
                client.track.read_message(from, texts, None)?;
                MessageContent::Commands
            }
            _ => {
                let player = scene.player_words(number);
                let expected = Expected { columns: codec.player(), player, time: scene.time() };
                let read = client.track.read_message(from, texts, Some(&expected))?;
                let (server_time, delta_num, player) = read.ok_or("a snapshot without a body")?;
                let track = &client.track;
                client.head = SnapshotHeader {
                    server_time,
                    delta_num,
                    flags: track.flags,
                    areas: track.areas,
                };
                let sent = SentSnapshot {
                    sequence: track.sequence,
                    frame: *frame,
                    player,
                    seen: track.seen.clone(),
                };
                client.history[track.sequence.0 as usize % PACKET_BACKUP] = Some(sent);
                MessageContent::Snapshot
            }
        };
        Ok(Record::Message(number, content))
    }

    fn key(&mut self, from: &mut Cursor<'_>) -> Result<Record, DecodeError> {
        self.has_key = true;
        self.frames = from.number()?;
        let at = time(from)?;
        self.scene.clear();
        self.scene.set_time(at);
        self.texts.clear();
        self.checksum_feed = from.word()? as i32;
        self.configstrings.clear();
        let count: usize = from.small()?;
        if count > MAX_CONFIGSTRINGS {
            return Err("too many configstrings");
        }
        for _ in 0..count {
            self.configstring(from)?;
        }
        let mut states: Vec<EntityState> = Vec::new();
        let mut next = 0;
        while let Some((number, _)) = listed(from, next, 1, EntityNum::NONE.index())? {
            next = number + 1;
            states.push(EntityState { number: number as i32, ..self.codec.read_entity(from)? });
        }
        self.baselines = Baselines::new(states);
        let mut present = [false; 64];
        while let Some(number) = from.number()?.checked_sub(1) {
            let number = u8::try_from(number).map_err(|_| "a client out of range")?;
            let number = client(number)?.index();
            present[number] = true;
            let track = ClientTrack::read(from, &mut self.texts)?;
            match &mut self.clients[number] {
                // Snapshots in front of the key frame are delta bases of those behind it.
                Some(client) if client.track.sequence == track.sequence => client.track = track,
                slot => *slot = Some(Box::new(Client::new(track))),
            }
        }
        for (slot, _) in self.clients.iter_mut().zip(present).filter(|(_, present)| !present) {
            *slot = None;
        }
        Ok(Record::Key)
    }

    fn configstring(&mut self, from: &mut Cursor<'_>) -> Result<ConfigIndex, DecodeError> {
        let index = ConfigIndex::new(from.small()?).ok_or("a configstring out of range")?;
        let text = from.bytes()?;
        if text.len() > MAX_BIG_STRING_LEN {
            return Err("a configstring that is too long");
        }
        let text = std::str::from_utf8(text).map_err(|_| "text that is not UTF-8")?;
        if text.is_empty() {
            self.configstrings.remove(&index);
        } else {
            self.configstrings.insert(index, Arc::from(text));
        }
        Ok(index)
    }

    /// Whether all messages of the last frame were read, and the next record is another frame.
    #[must_use]
    pub fn is_frame_complete(&self) -> bool {
        matches!(self.records.get(self.at), None | Some(&(records::KEY | records::FRAME)))
    }

    /// Entities and players of the last frame.
    #[must_use]
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Number of frames in front of the next one.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns a configstring; empty if it is not set.
    #[must_use]
    pub fn text(&self, index: ConfigIndex) -> &str {
        self.configstrings.get(&index).map_or("", |text| text)
    }

    /// Configstrings that are not empty, ascending.
    pub fn configstrings(&self) -> impl Iterator<Item = (ConfigIndex, &str)> {
        self.configstrings.iter().map(|(index, text)| (*index, &**text))
    }

    /// Baselines of the level.
    #[must_use]
    pub fn baselines(&self) -> &Baselines {
        &self.baselines
    }

    /// Checksum feed of the level.
    #[must_use]
    pub fn checksum_feed(&self) -> i32 {
        self.checksum_feed
    }

    /// Returns the numbers of a client whose messages are recorded.
    #[must_use]
    pub fn track(&self, client: ClientNum) -> Option<&ClientTrack> {
        self.clients[client.index()].as_ref().map(|client| &client.track)
    }

    /// Returns the playerstate of the last snapshot that a client was sent.
    #[must_use]
    pub fn last_player(&self, client: ClientNum) -> Option<&PlayerState> {
        let client = self.clients[client.index()].as_ref()?;
        Some(bytemuck::must_cast_ref(&client.sent(client.track.sequence)?.player))
    }
}

fn client(number: u8) -> Result<ClientNum, DecodeError> {
    ClientNum::new(usize::from(number)).ok_or("a client out of range")
}

/// Returns the server time of a piece with a key frame.
#[must_use]
pub(super) fn key_time(content: &[u8]) -> Option<LevelTime> {
    content.first_chunk().map(|bytes| LevelTime(i32::from_le_bytes(*bytes)))
}
