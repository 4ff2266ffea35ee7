//! Unscrambling of received messages.
//!
//! The numbers of the key are in the message header. Only their low bytes are certain to be in the
//! unscrambled bytes, so the header is read twice: first for the key and, after unscrambling, for
//! its full values. Source: Quake III protocol 68, scrambling.

use thiserror::Error;

use super::{channel::Channel, reliable::OutgoingCommands, scramble::Scrambler};
use crate::{
    model::{CommandNum, Sequence, ServerId},
    wire::{self, WireError, bits::BitReader, client_message::ClientHeader, protocol::Scrambling},
};

/// Reasons why a message cannot be unscrambled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UnscrambleError {
    /// Header that cannot be decoded.
    #[error(transparent)]
    Unreadable(#[from] WireError),
    /// Acknowledgement of a command whose text is not stored and therefore not the key.
    #[error("scrambled with command {0} (low byte), which is not outstanding")]
    UnknownCommand(u8),
}

/// Returns the key numbers of a client message and the low byte of its acknowledged command. The
/// message may be scrambled or not.
pub(super) fn client_numbers(mut reader: BitReader<'_>) -> wire::Result<(ServerId, i32, u8)> {
    Ok((ServerId(reader.long()?), reader.long()?, reader.byte()?))
}

impl<K: Copy> Channel<K> {
    /// Unscrambles a client message in place, at the server, and returns its header. `commands` are
    /// those sent to that client.
    ///
    /// # Errors
    /// [`UnscrambleError`]: the message must be ignored.
    pub fn unscramble_client_message(
        &self,
        commands: &OutgoingCommands,
        message: &mut [u8],
    ) -> Result<ClientHeader, UnscrambleError> {
        match self.protocol().framing.scrambling {
            Scrambling::None => {}
            Scrambling::CommandText => {
                let (server_id, message_acknowledge, command) =
                    client_numbers(self.reader(message))?;
                let (_, text) = commands
                    .get_by_low_byte(command)
                    .ok_or(UnscrambleError::UnknownCommand(command))?;
                Scrambler::client(self.challenge(), server_id, message_acknowledge)
                    .apply(text.as_bytes(), message);
            }
        }
        Ok(ClientHeader::read(&mut self.reader(message))?)
    }

    /// Unscrambles the server message `sequence` in place, at the client. Returns the acknowledged
    /// client command; `commands` are those the client sent.
    ///
    /// # Errors
    /// [`UnscrambleError`]: the message must be ignored.
    pub fn unscramble_server_message(
        &self,
        sequence: Sequence,
        commands: &OutgoingCommands,
        message: &mut [u8],
    ) -> Result<CommandNum, UnscrambleError> {
        match self.protocol().framing.scrambling {
            Scrambling::None => {}
            Scrambling::CommandText => {
                let command = self.reader(message).byte()?;
                let (_, text) = commands
                    .get_by_low_byte(command)
                    .ok_or(UnscrambleError::UnknownCommand(command))?;
                Scrambler::server(self.challenge(), sequence).apply(text.as_bytes(), message);
            }
        }
        Ok(CommandNum(self.reader(message).long()?))
    }
}
