//! Client messages: acknowledgements, reliable commands and usercmds.
//!
//! ```text
//! serverId long | messageAcknowledge long | reliableAcknowledge long |
//! { 4 | number long | string }* | [ 2 or 3 | count byte | usercmds ] | 5
//! ```
//!
//! Messages before protocol 66 lack the end mark: less than a byte is left then. Invariant of a parsed message: 1 to 32 usercmds. Source: Quake III protocol 68, client messages.

use super::{
    Result, WireError,
    bits::{BitReader, BitWriter},
    protocol::Protocol,
    server_message::{is_at_end, skip},
    usercmd,
};
use crate::model::{CommandNum, Sequence, ServerId, UserCmd, limits::MAX_PACKET_USERCMDS};

mod code {
    pub(super) const MOVE: u8 = 2;
    pub(super) const MOVE_NO_DELTA: u8 = 3;
    pub(super) const COMMAND: u8 = 4;
    pub(super) const END: u8 = 5;
    pub(super) const VOICE_SPEEX: u8 = 6;
    pub(super) const VOICE_OPUS: u8 = 7;
}

/// Header of a client message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientHeader {
    /// Level of the client; 0 before its first gamestate.
    pub server_id: ServerId,
    /// Last complete message received; 0 if none. As sent, so it may be any number.
    pub message_acknowledge: i32,
    /// Last server command received.
    pub reliable_acknowledge: CommandNum,
}

impl ClientHeader {
    /// Returns the acknowledged message, or `None` for a number that no message has.
    #[must_use]
    pub fn acknowledged(&self) -> Option<Sequence> {
        u32::try_from(self.message_acknowledge).ok().map(Sequence)
    }

    /// Reads the header.
    ///
    /// # Errors
    /// As [`BitReader::bits`].
    pub fn read(reader: &mut BitReader<'_>) -> Result<Self> {
        Ok(Self {
            server_id: ServerId(reader.long()?),
            message_acknowledge: reader.long()?,
            reliable_acknowledge: CommandNum(reader.long()?),
        })
    }
}

/// One operation of a client message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientOp {
    /// A reliable command.
    Command {
        /// Command number.
        number: CommandNum,
        /// Command text.
        text: String,
    },
    /// Usercmds, to be read by [`read_usercmds`].
    Usercmds {
        /// Whether the acknowledged message may be a delta base.
        delta: bool,
    },
    /// End of the message.
    End,
}

/// Reads the next operation and skips voice.
///
/// # Errors
/// As [`BitReader::bits`], and [`WireError::Operation`].
pub fn read_op(reader: &mut BitReader<'_>) -> Result<ClientOp> {
    read_op_with(reader, |_| {})
}

/// Reads the next operation as [`read_op`] and passes the header of each skipped voice packet to
/// `voice`.
///
/// # Errors
/// As [`read_op`].
pub fn read_op_with(
    reader: &mut BitReader<'_>,
    mut voice: impl FnMut(ClientVoice),
) -> Result<ClientOp> {
    loop {
        if is_at_end(reader) {
            return Ok(ClientOp::End);
        }
        let start = reader.bit_position();
        return match reader.byte()? {
            code::COMMAND => {
                let number = CommandNum(reader.long()?);
                Ok(ClientOp::Command { number, text: reader.string()? })
            }
            code::MOVE => Ok(ClientOp::Usercmds { delta: true }),
            code::MOVE_NO_DELTA => Ok(ClientOp::Usercmds { delta: false }),
            code::END => Ok(ClientOp::End),
            code::VOICE_SPEEX | code::VOICE_OPUS => {
                let (generation, sequence, frames) = skip_voice(reader)?;
                let bits = reader.bit_position() - start;
                voice(ClientVoice { generation, sequence, frames, bits });
                continue;
            }
            unknown => Err(WireError::Operation(unknown)),
        };
    }
}

/// Header of a client's voice packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientVoice {
    /// Generation; incremented when the client starts to speak again.
    pub generation: u8,
    /// Number of the first frame.
    pub sequence: i32,
    /// Frames in the packet.
    pub frames: u8,
    /// Length of the whole operation, in bits.
    pub bits: usize,
}

/// Skips a voice packet: generation, sequence, frames, eight bytes of recipients, flags, length,
/// sound. Returns the first three.
fn skip_voice(reader: &mut BitReader<'_>) -> Result<(u8, i32, u8)> {
    let head = (reader.byte()?, reader.long()?, reader.byte()?);
    reader.data(&mut [0; 8])?;
    reader.byte()?;
    let len = reader.short()?;
    skip(reader, len)?;
    Ok(head)
}

/// Reads the usercmds of a move operation into `moves` and returns their number.
///
/// # Errors
/// As [`BitReader::bits`], and [`WireError::UsercmdCount`].
pub fn read_usercmds(
    reader: &mut BitReader<'_>,
    key: u32,
    moves: &mut [UserCmd; MAX_PACKET_USERCMDS],
) -> Result<usize> {
    let count = reader.byte()?;
    if count == 0 {
        return Err(WireError::UsercmdCount(count));
    }
    let moves = moves.get_mut(..usize::from(count)).ok_or(WireError::UsercmdCount(count))?;
    for at in 0..moves.len() {
        moves[at] = if at == 0 { UserCmd::default() } else { moves[at - 1] };
        usercmd::read_over(reader, key, &mut moves[at])?;
    }
    Ok(moves.len())
}

/// Starts a message of a protocol.
pub fn begin(writer: &mut BitWriter, protocol: &Protocol, head: &ClientHeader) {
    writer.begin(protocol.encoding);
    writer.long(head.server_id.0);
    writer.long(head.message_acknowledge);
    writer.long(head.reliable_acknowledge.0);
}

/// Appends a reliable command.
pub fn write_command(writer: &mut BitWriter, number: CommandNum, text: &[u8]) {
    writer.byte(code::COMMAND);
    writer.long(number.0);
    writer.string(text);
}

/// Appends 1 to 32 usercmds. Of more only the newest 32 are written; none writes nothing.
pub fn write_usercmds(writer: &mut BitWriter, delta: bool, key: u32, moves: &[UserCmd]) {
    let moves = &moves[moves.len().saturating_sub(MAX_PACKET_USERCMDS)..];
    if moves.is_empty() {
        return;
    }
    writer.byte(if delta { code::MOVE } else { code::MOVE_NO_DELTA });
    writer.byte(moves.len() as u8);
    let mut from = UserCmd::default();
    for command in moves {
        usercmd::write_delta(writer, key, &from, command);
        from = *command;
    }
}

/// Ends a message.
pub fn end(writer: &mut BitWriter) {
    if writer.encoding().messages.has_end_mark {
        writer.byte(code::END);
    }
}
