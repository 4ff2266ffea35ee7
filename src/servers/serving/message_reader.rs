//! Client message reader: unscrambles and parses a whole message before any of it takes effect.
//!
//! Invariant: reading changes nothing but the message, which is unscrambled in place.
//! Source: Quake III protocol 68, client messages. Engine names: `SV_ExecuteClientMessage`.

use thiserror::Error;

use crate::{
    model::{
        CommandNum, UserCmd,
        limits::{MAX_PACKET_USERCMDS, MAX_RELIABLE_COMMANDS},
    },
    netchan::{
        Channel, CommandOrder, IncomingCommands, OutgoingCommands, UnscrambleError, usercmd_key,
    },
    wire::{
        WireError,
        bits::BitReader,
        client_message::{ClientHeader, ClientOp, read_op, read_usercmds},
    },
};

/// A client message that was read to its end.
pub(crate) struct ClientMessage {
    pub(crate) head: ClientHeader,
    /// Reliable commands that the client has not sent before.
    pub(crate) commands: Vec<(CommandNum, String)>,
    pub(crate) usercmds: Option<UsercmdBlock>,
}

/// Usercmds of a message, stored in the caller's buffer.
#[derive(Clone, Copy)]
pub(crate) struct UsercmdBlock {
    /// Whether the client asks for delta snapshots.
    pub(crate) delta: bool,
    pub(crate) count: usize,
}

/// Why a client message cannot be read.
#[derive(Debug, Error)]
pub(crate) enum ReadError {
    /// The header is not readable, or names a command that was not sent.
    #[error("message header: {0}")]
    Header(#[from] UnscrambleError),
    /// A part of the message is not readable.
    #[error("message unreadable at bit {at_bit}: {error}")]
    Unreadable {
        /// Position behind the last value that was read.
        at_bit: usize,
        error: WireError,
    },
    /// A client keeps at most 64 commands.
    #[error("too many commands in one message (max {MAX_RELIABLE_COMMANDS})")]
    TooManyCommands,
}

/// Reads a client's message to its end. `sent` are the commands to the client, `incoming` those of it.
pub(crate) fn read<K: Copy>(
    channel: &Channel<K>,
    sent: &OutgoingCommands,
    incoming: &IncomingCommands,
    feed: i32,
    message: &mut Vec<u8>,
    buffer: &mut [UserCmd; MAX_PACKET_USERCMDS],
) -> Result<ClientMessage, ReadError> {
    let (head, mut reader) = channel.open_client_message(sent, message)?;
    let unreadable = |reader: &BitReader<'_>, error| ReadError::Unreadable {
        at_bit: reader.bit_position(),
        error,
    };
    let mut read = ClientMessage { head, commands: Vec::new(), usercmds: None };
    let mut commands = 0;
    loop {
        match read_op(&mut reader).map_err(|error| unreadable(&reader, error))? {
            ClientOp::Command { number, text } => {
                commands += 1;
                if commands > MAX_RELIABLE_COMMANDS {
                    return Err(ReadError::TooManyCommands);
                }
                if incoming.order(number) != CommandOrder::Duplicate {
                    read.commands.push((number, text));
                }
            }
            ClientOp::Usercmds { delta } => {
                let hash = sent.hash_of(head.reliable_acknowledge);
                let key = usercmd_key(feed, head.message_acknowledge, hash);
                let count = read_usercmds(&mut reader, key, buffer)
                    .map_err(|error| unreadable(&reader, error))?;
                let numbers = channel.protocol().numbers;
                if !numbers.is_current() {
                    let received = &mut buffer[..count];
                    received.iter_mut().for_each(|cmd| *cmd = numbers.received_usercmd(cmd));
                }
                read.usercmds = Some(UsercmdBlock { delta, count });
                return Ok(read);
            }
            ClientOp::End => return Ok(read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{Challenge, Qport},
        netchan::{ChannelSide, is_connectionless},
        wire::Protocol,
    };

    /// Every client datagram of a recorded session of protocol 43, in the receive path of a server.
    #[test]
    fn legacy_session_vectors_are_client_messages() {
        let rows =
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/session_43.csv"));
        let mut channel =
            Channel::<()>::new(ChannelSide::Server, Protocol::Q3_43, Challenge(1), Qport(12_800));
        let sent = OutgoingCommands::new();
        let mut incoming = IncomingCommands::new();
        let (mut message, mut moves) = (Vec::new(), [UserCmd::default(); MAX_PACKET_USERCMDS]);
        let (mut messages, mut usercmds) = (0, 0);
        for row in rows.lines().filter(|row| row.split(',').nth(1) == Some("c2s")) {
            let hex = row.split(',').nth(3).expect("a datagram");
            let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("a byte");
            let datagram: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
            if is_connectionless(&datagram) {
                continue;
            }
            let received = channel.receive(&datagram, &mut message).expect("in order");
            let received = received.expect("a whole message");
            let read = read(&channel, &sent, &incoming, 0, &mut message, &mut moves);
            let read = read.unwrap_or_else(|error| panic!("message {messages}: {error}"));
            channel.commit(received);
            for (number, text) in &read.commands {
                incoming.take(*number, text);
            }
            messages += 1;
            usercmds += read.usercmds.map_or(0, |block| block.count);
        }
        assert_eq!((messages, usercmds), (135, 249));
    }
}
