//! Demo reader: iterator of decoded messages and errors.
//!
//! Invariants: at most 32 snapshots and 256 notes are stored; a message with an undecodable value is
//! yielded as that error alone; an error of one part follows its message, without that part; a snapshot
//! behind an error is decoded if its delta base was. What clients play is a note, not an error.

use std::sync::Arc;

use crate::{
    client::{CommandEffect, LevelState, ProtocolErrorKind},
    model::{
        Baselines, ClientNum, CommandNum, ConfigIndex, EntityNum, EntityState, LevelTime,
        PlayerState, limits::PACKET_BACKUP,
    },
    wire::{
        Protocol, WireError,
        bits::BitReader,
        delta_sink::DeltaSink,
        demo_file::{RECORD_HEADER_LEN, Record, RecordError, Records},
        download::{self, Block},
        entity::{self, EntityUpdate},
        gamestate::{self, Gamestate},
        player,
        server_message::{self, ServerOp},
        snapshot,
    },
};

use super::{
    fault::{DemoError, DemoErrorKind, DemoNote, DemoNoteKind},
    spare_fields::{SpareFields, SpareReader},
};

mod message;

pub use message::{DemoCommand, DemoCounts, DemoDownload, DemoMessage, DemoSnapshot};

/// Bits behind the end of a message without a note. Writers round up to the next byte, and some append another.
const MAX_PADDING: usize = 16;
/// Most notes that a reader stores. The others are counted.
const MAX_NOTES: usize = 256;

/// Decoder of one demo: an iterator of its messages.
///
/// An error of a record is the last item. After an error of a message, the next message follows. The error of
/// one part of a message follows that message.
#[derive(Debug)]
pub struct DemoReader<'a> {
    protocol: &'static Protocol,
    records: Records<'a>,
    level: Option<LevelState>,
    /// Newest command that was executed.
    command: CommandNum,
    /// Server time of the newest snapshot of the level.
    time: Option<LevelTime>,
    /// Delta bases, by sequence modulo the length.
    snapshots: [Option<(u32, Arc<DemoSnapshot>)>; PACKET_BACKUP],
    counts: DemoCounts,
    notes: Vec<DemoNote>,
    /// Fields of the level's baselines that the structs lack.
    baseline_spares: SpareFields,
    /// Number of the last block of a download.
    last_block: u16,
    /// Error of a part of the message that was yielded last.
    part_error: Option<DemoError>,
    /// Whether the recorder may still write the file.
    is_unfinished: bool,
    /// Whether the file ended early.
    has_ended_early: bool,
}

impl<'a> DemoReader<'a> {
    /// Reads the bytes of a demo file. [`protocol_of`](crate::wire::demo_file::protocol_of) gives the protocol.
    #[must_use]
    pub fn new(protocol: &'static Protocol, bytes: &'a [u8]) -> Self {
        Self {
            protocol,
            records: Records::new(bytes),
            level: None,
            command: CommandNum(0),
            time: None,
            snapshots: [const { None }; PACKET_BACKUP],
            counts: DemoCounts::default(),
            notes: Vec::new(),
            baseline_spares: SpareFields::default(),
            last_block: 0,
            part_error: None,
            is_unfinished: false,
            has_ended_early: false,
        }
    }

    /// Reads a recording that is not complete: its missing end is a note.
    #[must_use]
    pub const fn unfinished(mut self) -> Self {
        self.is_unfinished = true;
        self
    }

    /// Whether the file ended early, which is an error, or a note of a recording that is not complete.
    #[must_use]
    pub const fn has_ended_early(&self) -> bool {
        self.has_ended_early
    }

    /// Protocol of the demo.
    #[must_use]
    pub const fn protocol(&self) -> &'static Protocol {
        self.protocol
    }

    /// Position of the next record in the file, in bytes.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.records.offset()
    }

    /// Counts so far.
    #[must_use]
    pub const fn counts(&self) -> DemoCounts {
        self.counts
    }

    /// Notes so far, at most 256 of them.
    #[must_use]
    pub fn notes(&self) -> &[DemoNote] {
        &self.notes
    }

    /// Current value of a configstring; empty where none is set.
    #[must_use]
    pub fn configstring(&self, index: ConfigIndex) -> &str {
        self.level.as_ref().map_or("", |level| level.configstring(index))
    }

    /// Current value of a configstring by its index of 1.32. The game of the demo may have it at another place.
    #[must_use]
    pub fn game_string(&self, index: ConfigIndex) -> &str {
        let own = self.protocol.numbers.sent_index(index);
        own.map_or("", |own| self.configstring(own))
    }

    /// Configstrings that are set, ascending by index.
    pub fn configstrings(&self) -> impl Iterator<Item = (ConfigIndex, &str)> {
        self.level.iter().flat_map(LevelState::configstrings)
    }

    /// Baselines of the level.
    #[must_use]
    pub fn baselines(&self) -> Option<&Baselines> {
        Some(&self.level.as_ref()?.baselines)
    }

    /// Client number of the recorded connection.
    #[must_use]
    pub fn client_num(&self) -> Option<ClientNum> {
        self.level.as_ref()?.client_num
    }

    /// Checksum feed of the level.
    #[must_use]
    pub fn checksum_feed(&self) -> Option<i32> {
        self.level.as_ref()?.checksum_feed
    }

    /// Index and text so far of a long configstring that has begun and not ended.
    #[must_use]
    pub fn open_configstring(&self) -> Option<(i32, &str)> {
        self.level.as_ref()?.open_configstring()
    }

    /// Number of the newest reliable command.
    #[must_use]
    pub const fn command(&self) -> CommandNum {
        self.command
    }

    fn message(&mut self, record: &Record<'a>) -> Result<DemoMessage<'a>, DemoError> {
        let mut reader = BitReader::with_encoding(self.protocol.encoding, record.message);
        let error_at = |bit: usize, kind| DemoError {
            offset: record.offset + RECORD_HEADER_LEN + bit / 8,
            sequence: Some(record.sequence),
            kind,
        };
        let bits = record.message.len() * 8;
        let mut missing = None;
        let read = self.parts(record, &mut reader, &mut missing);
        let bit = reader.bit_position();
        let mut message = read.map_err(|stopped| {
            let kind = match stopped {
                Stopped::Wire(error) => DemoErrorKind::Undecodable { bit, bits, error },
                Stopped::Other(kind) => kind,
            };
            error_at(bit, kind)
        })?;
        if bits - bit > MAX_PADDING {
            self.note(Some(record.sequence), record.offset, DemoNoteKind::TrailingBits(bits - bit));
        }
        let refused = self.apply(&mut message).map(DemoErrorKind::Refused);
        self.part_error = missing.or(refused).map(|kind| error_at(0, kind));
        Ok(message)
    }

    fn note(&mut self, sequence: Option<u32>, offset: usize, kind: DemoNoteKind) {
        self.counts.notes += 1;
        if self.notes.len() < MAX_NOTES {
            self.notes.push(DemoNote { offset, sequence, kind });
        }
    }

    /// Reads a message. The reader's state is not changed. A snapshot without gamestate or delta base is left
    /// out and named in `missing`.
    fn parts(
        &self,
        record: &Record<'a>,
        reader: &mut BitReader<'_>,
        missing: &mut Option<DemoErrorKind>,
    ) -> Result<DemoMessage<'a>, Stopped> {
        let acknowledge = server_message::read_acknowledge(reader)?.unwrap_or_default();
        let mut message = DemoMessage::empty(record, acknowledge);
        let mut has_part = false;
        loop {
            let operation = ServerOp::read(reader)?;
            if matches!(operation, ServerOp::Gamestate | ServerOp::Snapshot)
                && std::mem::replace(&mut has_part, true)
            {
                return Err(Stopped::Other(DemoErrorKind::RepeatedPart));
            }
            match operation {
                ServerOp::End => return Ok(message),
                ServerOp::Nop => {}
                ServerOp::Command => {
                    let (number, text) = server_message::read_command(reader)?;
                    message.commands.push(DemoCommand {
                        number,
                        text,
                        is_new: false,
                        effect: None,
                        is_refused: false,
                    });
                }
                ServerOp::Gamestate => {
                    let mut spares = SpareReader::new(reader.encoding());
                    let gamestate = gamestate::read_with(reader, &mut spares)?;
                    message.gamestate = Some(Arc::new(gamestate));
                    message.baseline_spares = spares.fields;
                }
                ServerOp::Snapshot => {
                    let acknowledged = snapshot::read_acknowledge(reader)?;
                    message.acknowledge = acknowledged.unwrap_or(message.acknowledge);
                    let (snapshot, lacks) = self.snapshot(record.sequence, reader)?;
                    message.snapshot = lacks.is_none().then(|| Arc::new(snapshot));
                    message.lacks_snapshot = lacks.is_some();
                    *missing = lacks;
                }
                ServerOp::VoiceOpus | ServerOp::VoiceSpeex if self.protocol.voice => {
                    message.voices.push(server_message::read_voice(reader)?);
                }
                ServerOp::Download => {
                    let last = message.downloads.last().map_or(self.last_block, |last| last.number);
                    message.downloads.push(read_download(reader, last)?);
                }
                other @ (ServerOp::Configstring
                | ServerOp::Baseline
                | ServerOp::VoiceSpeex
                | ServerOp::VoiceOpus) => {
                    return Err(Stopped::Wire(WireError::Operation(other as u8)));
                }
            }
        }
    }

    /// Reads a snapshot, to its end even without gamestate or delta base. Returns what it lacks.
    fn snapshot(
        &self,
        sequence: u32,
        reader: &mut BitReader<'_>,
    ) -> Result<(DemoSnapshot, Option<DemoErrorKind>), WireError> {
        let head = snapshot::read_head(reader)?;
        let nothing = PlayerState::default();
        let base = match head.delta_num {
            0 => Ok(None),
            back => self.base(sequence, back).map(Some).ok_or(DemoErrorKind::MissingBase(back)),
        };
        let (old_player, old_entities) = match &base {
            Ok(Some(base)) => (&base.player, &*base.entities),
            _ => (&nothing, &[][..]),
        };
        let level = self.level.as_ref();
        let mut snapshot = DemoSnapshot {
            head,
            player: *old_player,
            entities: Vec::with_capacity(old_entities.len() + 8),
            spares: SpareFields::default(),
        };
        let encoding = reader.encoding();
        if encoding.entity.has_spare_fields() {
            let old = base
                .as_ref()
                .ok()
                .copied()
                .flatten()
                .map_or_else(SpareFields::default, |base| base.spares.clone());
            let mut spares = SpareReader::behind(encoding, old, &self.baseline_spares);
            self.read_states(reader, old_entities, &mut snapshot, &mut spares)?;
            snapshot.spares = spares.fields;
        } else {
            self.read_states(reader, old_entities, &mut snapshot, &mut ())?;
        }
        let lacks = level.map_or(Some(DemoErrorKind::NoGamestate), |_| base.err());
        Ok((snapshot, lacks))
    }

    /// Reads the playerstate and the entities of a snapshot, which holds the playerstate of its delta base.
    fn read_states(
        &self,
        reader: &mut BitReader<'_>,
        old_entities: &[EntityState],
        snapshot: &mut DemoSnapshot,
        sink: &mut impl DeltaSink,
    ) -> Result<(), WireError> {
        snapshot.player = player::read_delta_with(reader, &snapshot.player, sink)?;
        sink.player_end(reader.bit_position());
        let nothing = EntityState::default();
        let baseline = |number: EntityNum| {
            let level = self.level.as_ref();
            level.map_or(&nothing, |level| level.baselines.get(number.index() as i32))
        };
        let entities = &mut snapshot.entities;
        entity::read_list_with(reader, old_entities.iter(), baseline, sink, |update| {
            entities.push(match update {
                EntityUpdate::Unchanged(state) => *state,
                EntityUpdate::Changed(state) => state,
            });
        })
    }

    fn base(&self, sequence: u32, back: u8) -> Option<&DemoSnapshot> {
        let back = u32::from(back);
        if back as usize >= PACKET_BACKUP {
            return None;
        }
        let wanted = sequence.checked_sub(back)?;
        let (found, snapshot) = self.snapshots[wanted as usize % PACKET_BACKUP].as_ref()?;
        (*found == wanted).then_some(snapshot)
    }

    /// Applies a message: commands, gamestate, snapshot. Returns the error of the first refused command.
    fn apply(&mut self, message: &mut DemoMessage<'_>) -> Option<ProtocolErrorKind> {
        let refused = self.apply_commands(message);
        if let Some(gamestate) = &message.gamestate {
            self.counts.gamestates += 1;
            self.command = gamestate.command_num;
            self.time = None;
            self.level = Some(LevelState::new(Gamestate::clone(gamestate)));
            self.snapshots = [const { None }; PACKET_BACKUP];
            self.baseline_spares = message.baseline_spares.clone();
        }
        if let Some(block) = message.downloads.last() {
            self.last_block = block.number;
        }
        if let Some(snapshot) = &message.snapshot {
            self.counts.snapshots += 1;
            self.counts.deltas += usize::from(snapshot.head.delta_num > 0);
            if let Some(level) = &mut self.level {
                level.learn_client_num(&snapshot.player);
            }
            let after = snapshot.head.server_time;
            if let Some(before) = self.time.replace(after).filter(|before| *before > after) {
                let kind = DemoNoteKind::TimeRestarts { before, after };
                self.note(Some(message.sequence), message.offset, kind);
            }
            let slot = message.sequence as usize % PACKET_BACKUP;
            self.snapshots[slot] = Some((message.sequence, Arc::clone(snapshot)));
        }
        refused
    }

    /// Applies the commands of a message. Those in front of a gamestate belong to the level before.
    fn apply_commands(&mut self, message: &mut DemoMessage<'_>) -> Option<ProtocolErrorKind> {
        let mut refused = None;
        let place = (Some(message.sequence), message.offset);
        for command in &mut message.commands {
            if command.number.distance(self.command) <= 0 {
                continue;
            }
            let last = std::mem::replace(&mut self.command, command.number);
            self.counts.commands += 1;
            command.is_new = true;
            let Some(level) = &mut self.level else { continue };
            let is_begun = level.open_configstring().is_some();
            let applied = level.apply_command(&command.text);
            // A client plays a demo over a gap, and takes up the rest of a configstring.
            if command.number != last.next() {
                let before = CommandNum(command.number.0.wrapping_sub(1));
                let kind = DemoNoteKind::MissingCommands { first: last.next(), last: before };
                self.note(place.0, place.1, kind);
            }
            match applied {
                Ok(CommandEffect::Passed) => {}
                Ok(effect) => command.effect = Some(effect),
                Err(ProtocolErrorKind::BigConfigstring) if !is_begun => {
                    command.effect = Some(CommandEffect::Piece);
                    self.note(place.0, place.1, DemoNoteKind::UnbegunConfigstring);
                }
                Err(error) => {
                    command.is_refused = true;
                    refused.get_or_insert(error);
                }
            }
        }
        refused
    }
}

impl<'a> Iterator for DemoReader<'a> {
    type Item = Result<DemoMessage<'a>, DemoError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.part_error.take() {
            self.counts.errors += 1;
            return Some(Err(error));
        }
        let read = match self.records.next()? {
            Ok(record) => {
                self.counts.messages += 1;
                self.message(&record)
            }
            Err((offset, RecordError::Trailing(bytes))) => {
                self.note(None, offset, DemoNoteKind::TrailingBytes(bytes));
                return None;
            }
            Err((offset, error)) => {
                let kind = DemoErrorKind::Record(error);
                let fault = DemoError { offset, sequence: None, kind };
                self.has_ended_early = fault.is_early_end();
                if self.has_ended_early && self.is_unfinished {
                    self.note(None, offset, DemoNoteKind::Unfinished(error));
                    return None;
                }
                Err(fault)
            }
        };
        self.counts.errors += usize::from(read.is_err());
        Some(read)
    }
}

/// Reads a block of a download, behind the block `last`. The size of the file is with the first block, but not where
/// the number begins again.
fn read_download(reader: &mut BitReader<'_>, last: u16) -> Result<DemoDownload, WireError> {
    let expected = if last == u16::MAX { 1 << 16 } else { 0 };
    Ok(match download::read(reader, expected)? {
        Block::Refused(_) => DemoDownload { number: 0, file_size: None, len: None },
        Block::Data { number, file_size, bytes } => {
            DemoDownload { number, file_size, len: Some(bytes.len()) }
        }
    })
}

/// Reason why a message was not read to its end.
enum Stopped {
    Wire(WireError),
    Other(DemoErrorKind),
}

impl From<WireError> for Stopped {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

#[cfg(test)]
mod tests;
