//! Decoder of client messages: acknowledgements, commands, usercmds, voice, with sizes.
//!
//! Source: Quake III protocol 68, client messages.

use std::borrow::Cow;

use crate::{
    model::{UserCmd, limits::MAX_PACKET_USERCMDS},
    netchan::{command_hash, usercmd_key},
    wire::{
        self,
        bits::BitReader,
        client_message::{ClientHeader, ClientOp, read_op_with, read_usercmds},
        login::masked_login,
    },
};

use super::{
    masked::masked_userinfo,
    parts::Part,
    record::{Command, Direction, Fault, Record, RecordKind, Voice},
    server_message::{MAX_PADDING, Stop},
    session::Session,
};

impl Session {
    /// Decodes a client message.
    pub(super) fn client_message(
        &mut self,
        message: &mut [u8],
        record: &mut Record,
    ) -> Result<(), Fault> {
        self.unscramble_client(message)?;
        let mut reader = self.reader(message);
        let bits = message.len() * 8;
        self.client_ops(&mut reader, record)
            .map_err(|error| Stop::Wire(error).at(reader.bit_position(), bits))?;
        let left = bits - reader.bit_position();
        record.bits.add(Part::End, left);
        if left > MAX_PADDING {
            return Err(Fault::Trailing(left));
        }
        let starts_download = |command: &Command| {
            command.text.starts_with("download ") && !self.client_commands.has(command.number)
        };
        if record.commands.iter().any(starts_download) {
            self.download_block = 0;
        }
        self.store_commands(Direction::ToServer, record);
        // The stored texts are keys; those of the record are shown.
        for command in &mut record.commands {
            if let Cow::Owned(masked) = masked_userinfo(&command.text) {
                command.text = masked;
            }
            if let Cow::Owned(masked) = masked_login(&command.text) {
                command.text = masked;
            }
        }
        record.kind = match () {
            () if !record.from_client.usercmds.is_empty() => RecordKind::Usercmds,
            () if !record.voice.is_empty() => RecordKind::Voice,
            () if !record.commands.is_empty() => RecordKind::Commands,
            () => RecordKind::Empty,
        };
        Ok(())
    }

    fn client_ops(&self, reader: &mut BitReader<'_>, record: &mut Record) -> wire::Result<()> {
        let head = ClientHeader::read(reader)?;
        record.from_client.head = head;
        record.bits.add(Part::Header, reader.bit_position());
        loop {
            let start = reader.bit_position();
            let mut voice_bits = 0;
            let operation = read_op_with(reader, |voice| {
                voice_bits += voice.bits;
                let wire::client_message::ClientVoice { generation, sequence, frames, .. } = voice;
                record.voice.push(Voice { sender: None, generation, sequence, frames });
            })?;
            record.bits.add(Part::Voice, voice_bits);
            let start = start + voice_bits;
            let part = match operation {
                ClientOp::Command { number, text } => {
                    record.commands.push(Command { number, text, repeated: false });
                    Part::Commands
                }
                ClientOp::Usercmds { delta } => {
                    self.read_usercmds(reader, &head, record)?;
                    record.from_client.delta = delta;
                    Part::Usercmds
                }
                ClientOp::End => {
                    record.bits.add(Part::End, reader.bit_position() - start);
                    return Ok(());
                }
            };
            record.bits.add(part, reader.bit_position() - start);
        }
    }

    fn read_usercmds(
        &self,
        reader: &mut BitReader<'_>,
        head: &ClientHeader,
        record: &mut Record,
    ) -> wire::Result<()> {
        let feed = self.checksum_feed(head.server_id, head.message_acknowledge);
        let text = self.server_command(head.reliable_acknowledge);
        let key = match (feed, text) {
            (Some(feed), Some(text)) => {
                usercmd_key(feed, head.message_acknowledge, command_hash(text.as_bytes()))
            }
            _ => {
                record.missing.usercmd_key = self.protocol.encoding.usercmd.is_keyed;
                0
            }
        };
        let mut moves = [UserCmd::default(); MAX_PACKET_USERCMDS];
        let count = read_usercmds(reader, key, &mut moves)?;
        record.from_client.usercmds.clear();
        record.from_client.usercmds.extend_from_slice(&moves[..count]);
        Ok(())
    }
}
