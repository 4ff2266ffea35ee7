//! Demo reader: iterator of decoded messages and errors.
//!
//! Invariants: at most 32 snapshots are stored; a message with an error is yielded as that error alone; a
//! snapshot behind an error is decoded if its delta base was.

use std::{fmt, sync::Arc};

use thiserror::Error;

use crate::{
    client::{CommandEffect, LevelState, ProtocolErrorKind},
    model::{
        Baselines, ClientNum, CommandNum, ConfigIndex, EntityNum, EntityState, LevelTime,
        PlayerState, limits::PACKET_BACKUP,
    },
    wire::{
        Protocol, WireError,
        bits::BitReader,
        demo_file::{Record, RecordError, Records},
        entity::{self, EntityUpdate},
        gamestate::{self, Gamestate},
        player,
        server_message::{self, ServerOp, Voice},
        snapshot::{self, SnapshotHeader},
    },
};

/// Bits that a whole message may have behind its end: its writer rounds up to the next byte.
const MAX_PADDING: usize = 8;

/// Decoded message of a demo.
#[derive(Clone, Debug)]
pub struct DemoMessage<'a> {
    /// Position of its record in the file, in bytes.
    pub offset: usize,
    /// Sequence of the message.
    pub sequence: u32,
    /// Number of the last client command that the server had executed.
    pub acknowledge: CommandNum,
    /// The message as recorded.
    pub bytes: &'a [u8],
    /// Reliable commands in wire order, with repeated ones.
    pub commands: Vec<DemoCommand>,
    /// Gamestate of a new level.
    pub gamestate: Option<Arc<Gamestate>>,
    /// Snapshot, with all entities.
    pub snapshot: Option<Arc<DemoSnapshot>>,
    /// Headers of voice packets.
    pub voices: Vec<Voice>,
}

/// Reliable command of a demo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoCommand {
    /// Number of the command.
    pub number: CommandNum,
    /// Text of the command.
    pub text: String,
    /// Whether this is its first message. A server repeats a command until it is acknowledged.
    pub is_new: bool,
    /// Effect on the level; `None` for commands of the game and repeated ones.
    pub effect: Option<CommandEffect>,
}

/// Decoded snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct DemoSnapshot {
    /// Header: server time, flags, area mask, delta base.
    pub head: SnapshotHeader,
    /// Playerstate of the viewed player.
    pub player: PlayerState,
    /// Entities, ascending by number.
    pub entities: Vec<EntityState>,
}

/// Error of a demo, with its position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct DemoError {
    /// Position in the file, in bytes: of the record, or of the first undecodable bit.
    pub offset: usize,
    /// Sequence of the message; `None` for an error of the file.
    pub sequence: Option<u32>,
    /// Description.
    pub kind: DemoErrorKind,
}

impl fmt::Display for DemoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.offset)?;
        if let Some(sequence) = self.sequence {
            write!(f, ", message {sequence}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

/// Kinds of errors.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DemoErrorKind {
    /// Error of the file's records. No message follows it.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Undecodable value.
    #[error("bit {bit} of {bits}: {error}")]
    Undecodable {
        /// Position in the message, in bits.
        bit: usize,
        /// Length of the message, in bits.
        bits: usize,
        /// Error of the decoder.
        error: WireError,
    },
    /// Delta base that the demo does not hold.
    #[error("delta base {0} messages back is missing")]
    MissingBase(u8),
    /// Snapshot before the first gamestate.
    #[error("snapshot without gamestate")]
    NoGamestate,
    /// Second gamestate or snapshot in one message.
    #[error("second gamestate or snapshot in one message")]
    RepeatedPart,
    /// Bits behind the end of the message.
    #[error("{0} bits behind the end of the message")]
    TrailingBits(usize),
    /// Command or snapshot that a client refuses. The rest of the message was applied.
    #[error(transparent)]
    Refused(#[from] ProtocolErrorKind),
}

/// Counts of what a reader has decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DemoCounts {
    /// Records.
    pub messages: usize,
    /// Gamestates.
    pub gamestates: usize,
    /// Snapshots.
    pub snapshots: usize,
    /// Snapshots with a delta base.
    pub deltas: usize,
    /// Reliable commands, each counted once.
    pub commands: usize,
    /// Errors.
    pub errors: usize,
}

impl fmt::Display for DemoCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, gamestates, snapshots, deltas, commands, errors } = self;
        write!(
            f,
            "{messages} messages, {gamestates} gamestates, {snapshots} snapshots ({deltas} deltas), \
             {commands} commands, {errors} errors"
        )
    }
}

/// Decoder of one demo: an iterator of its messages.
///
/// An error of a record is the last item. After an error of a message, the next message follows.
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
        }
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

    /// Current value of a configstring; empty where none is set.
    #[must_use]
    pub fn configstring(&self, index: ConfigIndex) -> &str {
        self.level.as_ref().map_or("", |level| level.configstring(index))
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
        Some(self.level.as_ref()?.client_num)
    }

    /// Checksum feed of the level.
    #[must_use]
    pub fn checksum_feed(&self) -> Option<i32> {
        Some(self.level.as_ref()?.checksum_feed)
    }

    /// Whether a long configstring has begun and not ended.
    #[must_use]
    pub fn has_open_configstring(&self) -> bool {
        self.level.as_ref().is_some_and(LevelState::has_open_configstring)
    }

    /// Number of the newest reliable command.
    #[must_use]
    pub const fn command(&self) -> CommandNum {
        self.command
    }

    fn message(&mut self, record: &Record<'a>) -> Result<DemoMessage<'a>, DemoError> {
        let mut reader = BitReader::with_encoding(self.protocol.encoding, record.message);
        let error_at = |bit: usize, kind| DemoError {
            offset: record.offset + crate::wire::demo_file::RECORD_HEADER_LEN + bit / 8,
            sequence: Some(record.sequence),
            kind,
        };
        let bits = record.message.len() * 8;
        let read = self.parts(record, &mut reader);
        let bit = reader.bit_position();
        let mut message = read.map_err(|stopped| {
            let kind = match stopped {
                Stopped::Wire(error) => DemoErrorKind::Undecodable { bit, bits, error },
                Stopped::Other(kind) => kind,
            };
            error_at(bit, kind)
        })?;
        if bits - bit > MAX_PADDING {
            return Err(error_at(bit, DemoErrorKind::TrailingBits(bits - bit)));
        }
        self.apply(&mut message).map_err(|kind| error_at(0, kind))?;
        Ok(message)
    }

    /// Reads a message. The reader's state is not changed.
    fn parts(
        &self,
        record: &Record<'a>,
        reader: &mut BitReader<'_>,
    ) -> Result<DemoMessage<'a>, Stopped> {
        let mut message = DemoMessage {
            offset: record.offset,
            sequence: record.sequence,
            acknowledge: CommandNum(reader.long()?),
            bytes: record.message,
            commands: Vec::new(),
            gamestate: None,
            snapshot: None,
            voices: Vec::new(),
        };
        loop {
            let operation = ServerOp::read(reader)?;
            let is_part = matches!(operation, ServerOp::Gamestate | ServerOp::Snapshot);
            if is_part && (message.gamestate.is_some() || message.snapshot.is_some()) {
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
                    });
                }
                ServerOp::Gamestate => {
                    message.gamestate = Some(Arc::new(gamestate::read(reader)?));
                }
                ServerOp::Snapshot => {
                    message.snapshot = Some(Arc::new(self.snapshot(record.sequence, reader)?));
                }
                ServerOp::VoiceOpus | ServerOp::VoiceSpeex if self.protocol.voice => {
                    message.voices.push(server_message::read_voice(reader)?);
                }
                other @ (ServerOp::Configstring
                | ServerOp::Baseline
                | ServerOp::Download
                | ServerOp::VoiceSpeex
                | ServerOp::VoiceOpus) => {
                    return Err(Stopped::Wire(WireError::Operation(other as u8)));
                }
            }
        }
    }

    fn snapshot(&self, sequence: u32, reader: &mut BitReader<'_>) -> Result<DemoSnapshot, Stopped> {
        let level = self.level.as_ref().ok_or(Stopped::Other(DemoErrorKind::NoGamestate))?;
        let head = snapshot::read_head(reader)?;
        let null_player = PlayerState::default();
        let (old_player, old_entities) = match head.delta_num {
            0 => (&null_player, &[][..]),
            back => {
                let base = self.base(sequence, back);
                let base = base.ok_or(Stopped::Other(DemoErrorKind::MissingBase(back)))?;
                (&base.player, &*base.entities)
            }
        };
        let player = player::read_delta(reader, old_player)?;
        let baseline = |number: EntityNum| level.baselines.get(number.index() as i32);
        let mut entities = Vec::with_capacity(old_entities.len() + 8);
        entity::read_list(reader, old_entities.iter(), baseline, |update| {
            entities.push(match update {
                EntityUpdate::Unchanged(state) => *state,
                EntityUpdate::Changed(state) => state,
            });
        })?;
        Ok(DemoSnapshot { head, player, entities })
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

    /// Applies a message: commands, gamestate, snapshot. The first part that a client refuses is the error.
    fn apply(&mut self, message: &mut DemoMessage<'_>) -> Result<(), DemoErrorKind> {
        let mut refused = None;
        // Commands in front of a gamestate belong to the level before.
        for command in &mut message.commands {
            if command.number.distance(self.command) <= 0 {
                continue;
            }
            let last = std::mem::replace(&mut self.command, command.number);
            self.counts.commands += 1;
            command.is_new = true;
            let Some(level) = &mut self.level else { continue };
            if command.number != last.next() {
                let gap = ProtocolErrorKind::CommandGap { last, got: command.number };
                refused.get_or_insert(gap);
            }
            match level.apply_command(&command.text) {
                Ok(CommandEffect::Passed) => {}
                Ok(effect) => command.effect = Some(effect),
                Err(error) => drop(refused.get_or_insert(error)),
            }
        }
        if let Some(gamestate) = &message.gamestate {
            self.counts.gamestates += 1;
            self.command = gamestate.command_num;
            self.time = None;
            self.level = Some(LevelState::new(Gamestate::clone(gamestate)));
            self.snapshots = [const { None }; PACKET_BACKUP];
        }
        if let Some(snapshot) = &message.snapshot {
            self.counts.snapshots += 1;
            self.counts.deltas += usize::from(snapshot.head.delta_num > 0);
            let after = snapshot.head.server_time;
            if let Some(before) = self.time.replace(after).filter(|before| *before > after) {
                refused.get_or_insert(ProtocolErrorKind::TimeBackwards { before, after });
            }
            let slot = message.sequence as usize % PACKET_BACKUP;
            self.snapshots[slot] = Some((message.sequence, Arc::clone(snapshot)));
        }
        refused.map_or(Ok(()), |error| Err(DemoErrorKind::Refused(error)))
    }
}

impl<'a> Iterator for DemoReader<'a> {
    type Item = Result<DemoMessage<'a>, DemoError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = match self.records.next()? {
            Ok(record) => {
                self.counts.messages += 1;
                self.message(&record)
            }
            Err((offset, error)) => {
                Err(DemoError { offset, sequence: None, kind: DemoErrorKind::Record(error) })
            }
        };
        self.counts.errors += usize::from(read.is_err());
        Some(read)
    }
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
mod tests {
    use super::*;
    use crate::demo::sample::{self, SampleDemo};

    fn read(bytes: &[u8]) -> (Vec<DemoError>, DemoCounts) {
        let mut reader = DemoReader::new(Protocol::Q3_68, bytes);
        let errors = reader.by_ref().filter_map(Result::err).collect();
        (errors, reader.counts())
    }

    #[test]
    fn demo_is_decoded_to_its_end() {
        let demo = sample::duel();
        let mut reader = DemoReader::new(Protocol::Q3_68, &demo);
        let messages: Vec<_> = reader.by_ref().map(|item| item.expect("a message")).collect();
        assert_eq!(reader.configstring(ConfigIndex::at(5)), "new");
        assert_eq!(reader.client_num(), ClientNum::new(2));
        assert_eq!(reader.offset() + 8, demo.len());
        assert!(messages[0].gamestate.is_some());
        let last =
            messages.last().and_then(|message| message.snapshot.as_ref()).expect("a snapshot");
        assert_eq!(last.player.origin[0], sample::SNAPSHOTS as f32);
        let counts = reader.counts();
        assert_eq!((counts.gamestates, counts.snapshots, counts.errors), (1, sample::SNAPSHOTS, 0));
        assert_eq!(counts.deltas, sample::SNAPSHOTS - 1);
        let news = messages.iter().flat_map(|message| &message.commands).filter(|c| c.is_new);
        assert_eq!(news.count(), counts.commands, "repeated commands count once");
    }

    #[test]
    fn demo_cut_at_every_byte_keeps_the_whole_messages() {
        let demo = sample::duel();
        let ends: Vec<usize> = Records::new(&demo)
            .map(|record| record.map(|record| record.offset + 8 + record.message.len()))
            .collect::<Result<_, _>>()
            .expect("records");
        for len in 0..demo.len() {
            let (errors, counts) = read(&demo[..len]);
            assert_eq!(counts.messages, ends.iter().filter(|&&end| end <= len).count(), "{len}");
            let [error] = errors.as_slice() else { panic!("{len}: {errors:?}") };
            assert!(error.offset <= len && error.sequence.is_none(), "{error}");
        }
    }

    #[test]
    fn damaged_message_is_an_error_with_its_offset() {
        let mut sample = SampleDemo::new();
        sample.snapshot(false, &[]);
        let begin = sample.bytes.len();
        sample.record(b"\x01\x02\x03");
        sample.snapshot(true, &[]);
        let demo = sample.finish();
        let (errors, counts) = read(&demo);
        assert_eq!(counts.snapshots, 1, "the base of the last snapshot is missing");
        let [first, second] = errors.as_slice() else { panic!("{errors:?}") };
        assert!(first.offset > begin && first.offset <= begin + 11, "{first}");
        assert_eq!(second.kind, DemoErrorKind::MissingBase(1));
    }

    #[test]
    fn refused_parts_are_errors() {
        let mut sample = SampleDemo::new();
        sample.snapshot(false, &[(1, "cs 1024 \"x\"")]);
        sample.snapshot(false, &[(3, "print \"gap\"")]);
        sample.time -= 1000;
        sample.snapshot(false, &[]);
        let (errors, counts) = read(&sample.finish());
        let kinds: Vec<_> = errors.into_iter().map(|error| error.kind).collect();
        let before = LevelTime(sample::START + 100);
        let after = LevelTime(sample::START - 850);
        assert_eq!(
            kinds,
            [
                ProtocolErrorKind::ConfigIndex(1024),
                ProtocolErrorKind::CommandGap { last: CommandNum(1), got: CommandNum(3) },
                ProtocolErrorKind::TimeBackwards { before, after },
            ]
            .map(DemoErrorKind::Refused)
        );
        assert_eq!(counts.snapshots, 3, "the rest of each message counts");
    }

    #[test]
    fn snapshot_without_gamestate_is_an_error() {
        let demo = sample::duel();
        let behind = Records::new(&demo).nth(1).and_then(Result::ok).expect("a record").offset;
        let (errors, counts) = read(&demo[behind..]);
        assert_eq!(errors[0].kind, DemoErrorKind::NoGamestate);
        assert_eq!((counts.snapshots, counts.errors), (0, sample::SNAPSHOTS));
    }
}
