//! Messages of a packet: iteration, check to the end before use, errors with message and offset.
//!
//! Source: QuakeWorld protocol 28, end of a message is the end of its datagram.

use thiserror::Error;

use super::{
    bytes::{Element, ReadFault, Reader},
    client_message::ClientMessage,
    extensions::Extensions,
    players::PlayerInfo,
    server_message::ServerMessage,
};

/// Number of the most frequent message of servers.
const PLAYER_INFO: u8 = 42;

/// Fault of a packet, with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{message} at byte {start}, byte {offset}: {fault}")]
pub struct MessageError {
    /// Name of the message.
    pub message: &'static str,
    /// Offset of the message.
    pub start: usize,
    /// Offset of the fault.
    pub offset: usize,
    /// Fault.
    pub fault: ReadFault,
}

/// Kind of messages, by their sender.
pub trait Message<'a>: Element<'a> {
    /// Returns the name of a number.
    fn name(number: u8) -> Option<&'static str>;

    /// Passes a message that has no fault, if that costs less than to read it. Otherwise the reader stays where it was.
    fn skip(_reader: &mut Reader<'a>) -> bool {
        false
    }
}

impl<'a> Message<'a> for ServerMessage<'a> {
    fn name(number: u8) -> Option<&'static str> {
        Self::name_of(number)
    }

    fn skip(reader: &mut Reader<'a>) -> bool {
        let mut ahead = reader.clone();
        let is_player = matches!(ahead.take(1), Ok([PLAYER_INFO]));
        let has_passed = is_player && PlayerInfo::skip(&mut ahead).is_ok();
        if has_passed {
            *reader = ahead;
        }
        has_passed
    }
}

impl<'a> Message<'a> for ClientMessage<'a> {
    fn name(number: u8) -> Option<&'static str> {
        Self::name_of(number)
    }
}

/// Messages of a server's packet.
pub type ServerMessages<'a> = Messages<'a, ServerMessage<'a>>;
/// Messages of a client's packet.
pub type ClientMessages<'a> = Messages<'a, ClientMessage<'a>>;

/// Iterator over the messages of a packet. It ends at the first fault.
#[derive(Clone, Debug)]
pub struct Messages<'a, M> {
    reader: Reader<'a>,
    failed: bool,
    kind: std::marker::PhantomData<M>,
}

impl<'a, M: Message<'a>> Messages<'a, M> {
    /// Creates an iterator over the payload of a packet.
    #[must_use]
    pub const fn new(payload: &'a [u8], extensions: Extensions) -> Self {
        let reader = Reader::new(payload, extensions);
        Self { reader, failed: false, kind: std::marker::PhantomData }
    }

    /// Reads a packet to its end. The iterator that it returns meets no fault.
    ///
    /// # Errors
    /// The first fault.
    pub fn checked(payload: &'a [u8], extensions: Extensions) -> Result<Self, MessageError> {
        let mut messages = Self::new(payload, extensions);
        loop {
            if M::skip(&mut messages.reader) {
                continue;
            }
            match messages.next() {
                Some(message) => message.map(drop)?,
                None => break,
            }
        }
        Ok(Self::new(payload, extensions))
    }

    /// Extensions in force behind the messages so far.
    #[must_use]
    pub const fn extensions(&self) -> Extensions {
        self.reader.extensions()
    }

    /// Offset of the next message.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.reader.offset()
    }
}

impl<'a, M: Message<'a>> Iterator for Messages<'a, M> {
    type Item = Result<M, MessageError>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = *self.reader.rest().first().filter(|_| !self.failed)?;
        let start = self.reader.offset();
        let message = self.reader.read().map_err(|fault| MessageError {
            message: M::name(number).unwrap_or("message"),
            start,
            offset: self.reader.offset(),
            fault,
        });
        self.failed = message.is_err();
        Some(message)
    }
}
