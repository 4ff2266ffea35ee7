//! What a received message begins with, and its scrambling undone.
//!
//! The numbers that make the key stand at the message's beginning. Of those only the low bytes are
//! certain to lie in the bytes that stay clear; so they are read twice, first for the key and then, the
//! message being clear, for themselves. Source: Quake III protocol 68, scrambling.

use thiserror::Error;

use super::{channel::Channel, reliable::OutgoingCommands, scramble::Scrambler};
use crate::{
    model::{CommandNum, Sequence, ServerId},
    wire::{self, WireError, bits::BitReader, client_message::ClientHeader, protocol::Scrambling},
};

/// Why the beginning of a message is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UnscrambleError {
    /// Its numbers could not be read.
    #[error(transparent)]
    Unreadable(#[from] WireError),
    /// It acknowledges a command whose text is not kept, so nobody can have keyed it.
    #[error("the message is keyed by command {0} (low byte), which is not outstanding")]
    UnknownCommand(u8),
}

/// Key of a client's message, from the numbers it begins with, and the low byte of the command it
/// acknowledges. The message may be clear or scrambled.
pub(super) fn client_numbers(mut reader: BitReader<'_>) -> wire::Result<(ServerId, i32, u8)> {
    Ok((ServerId(reader.long()?), reader.long()?, reader.byte()?))
}

impl<K: Copy> Channel<K> {
    /// At the server: clears a client's message in place and returns what it begins with. `commands`
    /// are those the server sent to that client.
    ///
    /// # Errors
    /// [`UnscrambleError`]: the message is to be ignored.
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

    /// At the client: clears the server's message `sequence` in place and returns the client command it
    /// acknowledges, which it begins with. `commands` are those the client sent.
    ///
    /// # Errors
    /// [`UnscrambleError`]: the message is to be ignored.
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
