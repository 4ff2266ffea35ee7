//! Decoder of server messages: commands, gamestate, snapshot, downloads, voice, with sizes.
//!
//! Source: Quake III protocol 68, server messages.

use crate::{
    model::{CommandNum, Sequence},
    wire::{
        WireError,
        bits::BitReader,
        download::{self, Block},
        gamestate,
        server_message::{self, ServerOp},
        snapshot,
    },
};

use super::{
    parts::Part,
    record::{Command, Direction, Download, Fault, Record, RecordKind, Voice},
    session::Session,
};

/// Bits that a message may have behind its end: its writer rounds up to the next byte.
pub(super) const MAX_PADDING: usize = 8;
/// Block number from which number 0 on the wire is a wrap, not the first block again.
const WRAPPED_BLOCK: u32 = 0xff00;

impl Session {
    /// Decodes the server message `sequence`.
    pub(super) fn server_message(
        &mut self,
        sequence: Sequence,
        message: &mut [u8],
        record: &mut Record,
    ) -> Result<(), Fault> {
        self.unscramble_server(sequence, message)?;
        let mut reader = self.reader(message);
        let bits = message.len() * 8;
        let mut pending = None;
        self.server_ops(&mut reader, sequence, record, &mut pending)
            .map_err(|stop| stop.at(reader.bit_position(), bits))?;
        let left = bits - reader.bit_position();
        record.bits.add(Part::End, left);
        if left > MAX_PADDING {
            return Err(Fault::Trailing(left));
        }
        self.store_commands(Direction::ToClient, record);
        record.kind = kind(record);
        if let Some(gamestate) = &record.from_server.gamestate {
            self.enter_level(sequence, gamestate);
        }
        if let Some(snapshot) = pending {
            if snapshot.usable {
                self.history.accept(sequence, snapshot, CommandNum(0));
            } else {
                record.missing.delta_base = true;
            }
        }
        Ok(())
    }

    fn server_ops(
        &mut self,
        reader: &mut BitReader<'_>,
        sequence: Sequence,
        record: &mut Record,
        pending: &mut Option<crate::client::history::PendingSnapshot>,
    ) -> Result<(), Stop> {
        let first = server_message::read_acknowledge(reader)?;
        record.from_server.acknowledge = first.unwrap_or_default();
        record.bits.add(Part::Header, reader.bit_position());
        loop {
            let start = reader.bit_position();
            let operation = ServerOp::read(reader)?;
            let once = record.from_server.gamestate.is_none() && pending.is_none();
            let part = match operation {
                ServerOp::End => {
                    record.bits.add(Part::End, reader.bit_position() - start);
                    return Ok(());
                }
                ServerOp::Nop => Part::End,
                ServerOp::Command => {
                    let (number, text) = server_message::read_command(reader)?;
                    record.commands.push(Command { number, text, repeated: false });
                    Part::Commands
                }
                ServerOp::Gamestate | ServerOp::Snapshot if !once => return Err(Stop::Repeated),
                ServerOp::Gamestate => {
                    read_gamestate(reader, start, record)?;
                    continue;
                }
                ServerOp::Snapshot => {
                    *pending = Some(self.read_snapshot(reader, sequence, start, record)?);
                    continue;
                }
                ServerOp::Download => {
                    self.read_download(reader, record)?;
                    Part::Download
                }
                ServerOp::VoiceSpeex | ServerOp::VoiceOpus if self.protocol.voice => {
                    let voice = server_message::read_voice(reader)?;
                    let server_message::Voice { sender, generation, sequence, frames, .. } = voice;
                    record.voice.push(Voice { sender: Some(sender), generation, sequence, frames });
                    Part::Voice
                }
                other @ (ServerOp::Configstring
                | ServerOp::Baseline
                | ServerOp::VoiceSpeex
                | ServerOp::VoiceOpus) => return Err(WireError::Operation(other as u8).into()),
            };
            record.bits.add(part, reader.bit_position() - start);
        }
    }

    fn read_snapshot(
        &mut self,
        reader: &mut BitReader<'_>,
        sequence: Sequence,
        start: usize,
        record: &mut Record,
    ) -> Result<crate::client::history::PendingSnapshot, Stop> {
        if let Some(acknowledged) = snapshot::read_acknowledge(reader)? {
            record.from_server.acknowledge = acknowledged;
        }
        let content = &mut record.from_server.snapshot;
        let read = self.history.read(reader, sequence, &self.baselines, content)?;
        content.head = read.head;
        record.from_server.has_snapshot = true;
        let (head, player) = content.ends;
        record.bits.add(Part::Snapshot, head - start);
        record.bits.add(Part::Player, player - head);
        record.bits.add(Part::Entities, reader.bit_position() - player);
        Ok(read)
    }

    fn read_download(
        &mut self,
        reader: &mut BitReader<'_>,
        record: &mut Record,
    ) -> Result<(), Stop> {
        // Only the very first block has a size, also when it is sent again.
        let expected = if self.download_block < WRAPPED_BLOCK { 0 } else { self.download_block };
        let block = download::read(reader, expected)?;
        record.from_server.downloads.push(match block {
            Block::Refused(text) => Download::Refused(text),
            Block::Data { number, file_size, bytes } => {
                let behind = number.wrapping_sub(self.download_block as u16);
                if file_size.is_some() {
                    self.download_block = 0;
                } else if behind < 0x8000 {
                    self.download_block = self.download_block.saturating_add(u32::from(behind));
                }
                Download::Data { number, file_size, len: bytes.len() }
            }
        });
        Ok(())
    }
}

fn read_gamestate(
    reader: &mut BitReader<'_>,
    start: usize,
    record: &mut Record,
) -> Result<(), Stop> {
    let read = gamestate::read(reader)?;
    let all = reader.bit_position() - start;
    let coder = reader.encoding().coder;
    let strings: usize = read
        .configstrings
        .iter()
        .map(|(index, text)| gamestate::configstring_bits(coder, *index, text.as_bytes()))
        .sum();
    let baselines = if read.baselines.is_empty() { 0 } else { all.saturating_sub(strings) };
    record.bits.add(Part::Configstrings, all - baselines);
    record.bits.add(Part::Baselines, baselines);
    record.from_server.gamestate = Some(read);
    Ok(())
}

/// Returns the most important content of a server message.
fn kind(record: &Record) -> RecordKind {
    let content = &record.from_server;
    match () {
        () if content.gamestate.is_some() => RecordKind::Gamestate,
        () if content.has_snapshot => RecordKind::Snapshot,
        () if !content.downloads.is_empty() => RecordKind::Download,
        () if !record.voice.is_empty() => RecordKind::Voice,
        () if !record.commands.is_empty() => RecordKind::Commands,
        () => RecordKind::Empty,
    }
}

/// Reason why reading a message stopped.
pub(super) enum Stop {
    Repeated,
    Wire(WireError),
}

impl Stop {
    pub(super) fn at(self, at_bit: usize, bits: usize) -> Fault {
        match self {
            Self::Repeated => Fault::RepeatedPart { at_bit },
            Self::Wire(error) => Fault::Unreadable { at_bit, bits, error },
        }
    }
}

impl From<WireError> for Stop {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}
