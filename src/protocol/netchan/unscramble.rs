//! Unscrambling of received messages.
//!
//! The numbers of the key are in the message header. Only their low bytes are certain to be in the
//! unscrambled bytes. A header that extends beyond these is read twice: first for the key and, after
//! unscrambling, for its full values. Source: Quake III protocol 68, scrambling.

use thiserror::Error;

use super::{
    channel::Channel,
    reliable::OutgoingCommands,
    scramble::{CLIENT_CLEAR_LEN, Scrambler},
};
use crate::{
    model::{CommandNum, Sequence, ServerId},
    wire::{
        self, WireError, bits::BitReader, client_message::ClientHeader, protocol::Scrambling,
        server_message::read_acknowledge,
    },
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
#[inline]
pub(super) fn client_numbers(reader: &mut BitReader<'_>) -> wire::Result<(ServerId, i32, u8)> {
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
        match self.unscramble_by_header(commands, message)? {
            Some((header, _)) => Ok(header),
            None => Ok(ClientHeader::read(&mut self.reader(message))?),
        }
    }

    /// Unscrambles a client message as [`Self::unscramble_client_message`] and returns a reader behind its
    /// header, too. The message is padded.
    ///
    /// # Errors
    /// [`UnscrambleError`]: the message must be ignored.
    pub fn open_client_message<'a>(
        &self,
        commands: &OutgoingCommands,
        message: &'a mut Vec<u8>,
    ) -> Result<(ClientHeader, BitReader<'a>), UnscrambleError> {
        let header = self.unscramble_by_header(commands, message)?;
        // The usercmds are the last bytes.
        let mut reader = BitReader::padded(self.protocol().encoding, message);
        match header {
            Some((header, end)) => Ok((header, reader.resumed(end))),
            None => Ok((ClientHeader::read(&mut reader)?, reader)),
        }
    }

    /// Unscrambles a client message. Returns its header and the end of the header in bits, if it was read.
    fn unscramble_by_header(
        &self,
        commands: &OutgoingCommands,
        message: &mut [u8],
    ) -> Result<Option<(ClientHeader, usize)>, UnscrambleError> {
        match self.protocol().framing.scrambling {
            Scrambling::None | Scrambling::Datagram => Ok(None),
            Scrambling::CommandText => {
                let mut reader = self.reader(message);
                let (server_id, message_acknowledge, command) = client_numbers(&mut reader)?;
                let (_, text) = commands
                    .get_by_low_byte(command)
                    .ok_or(UnscrambleError::UnknownCommand(command))?;
                // Most headers end within the clear bytes and need not be read again.
                let clear_header = reader.bits(24).ok().and_then(|high| {
                    let end = reader.bit_position();
                    let reliable_acknowledge = CommandNum((high << 8 | u32::from(command)) as i32);
                    let header =
                        ClientHeader { server_id, message_acknowledge, reliable_acknowledge };
                    (end <= 8 * CLIENT_CLEAR_LEN).then_some((header, end))
                });
                Scrambler::client(self.challenge(), server_id, message_acknowledge)
                    .apply(text.as_bytes(), message);
                Ok(clear_header)
            }
        }
    }

    /// Unscrambles the server message `sequence` in place, at the client. Returns the acknowledged
    /// client command, unless it is in the snapshot; `commands` are those the client sent.
    ///
    /// # Errors
    /// [`UnscrambleError`]: the message must be ignored.
    pub fn unscramble_server_message(
        &self,
        sequence: Sequence,
        commands: &OutgoingCommands,
        message: &mut [u8],
    ) -> Result<Option<CommandNum>, UnscrambleError> {
        match self.protocol().framing.scrambling {
            Scrambling::None | Scrambling::Datagram => {}
            Scrambling::CommandText => {
                let command = self.reader(message).byte()?;
                let (_, text) = commands
                    .get_by_low_byte(command)
                    .ok_or(UnscrambleError::UnknownCommand(command))?;
                Scrambler::server(self.challenge(), sequence).apply(text.as_bytes(), message);
            }
        }
        Ok(read_acknowledge(&mut self.reader(message))?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::{
        model::{Challenge, Qport},
        netchan::header::ChannelSide,
        wire::{bits::BitWriter, protocol::Protocol},
    };

    /// Header and position behind it, each time read after the message is unscrambled.
    fn plainly_opened(
        channel: &Channel,
        commands: &OutgoingCommands,
        message: &mut [u8],
    ) -> Result<(ClientHeader, usize), UnscrambleError> {
        let (id, acknowledge, command) = client_numbers(&mut channel.reader(message))?;
        let (_, text) =
            commands.get_by_low_byte(command).ok_or(UnscrambleError::UnknownCommand(command))?;
        Scrambler::client(channel.challenge(), id, acknowledge).apply(text.as_bytes(), message);
        let mut reader = channel.reader(message);
        let header = ClientHeader::read(&mut reader)?;
        Ok((header, reader.bit_position()))
    }

    proptest! {
        #[test]
        fn headers_equal_those_read_after_unscrambling(
            numbers in vec(prop_oneof![0..80_i32, any::<i32>()], 3),
            rest in vec(any::<u8>(), 0..30),
            cut in 0..60_usize,
            sent in 0..60_i32,
            random in any::<bool>(),
        ) {
            let channel: Channel =
                Channel::new(ChannelSide::Server, Protocol::OA_71, Challenge(77), Qport(1));
            let mut commands = OutgoingCommands::new();
            for number in 0..sent {
                let added = commands.add(format!("print \"{number}\"").into());
                prop_assert!(added.is_ok());
            }
            let mut message = rest.clone();
            if !random {
                let mut writer = BitWriter::new();
                numbers.iter().for_each(|&number| writer.long(number));
                writer.data(&rest);
                message = writer.message().to_vec();
            }
            message.truncate(cut);
            let mut expected = message.clone();
            let plain = plainly_opened(&channel, &commands, &mut expected);
            let opened = channel
                .open_client_message(&commands, &mut message)
                .map(|(header, reader)| (header, reader.bit_position()));
            prop_assert_eq!(opened, plain);
            prop_assert_eq!(&message[..expected.len()], expected);
        }
    }
}
