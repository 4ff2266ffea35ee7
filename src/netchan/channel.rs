//! One end of a connection: numbers, checks, cuts and hides what leaves, and undoes that with what
//! arrives.
//!
//! ```text
//! receive ─ datagram: checksum, number, fragments ─ message, still scrambled
//!    unscramble_client_message / unscramble_server_message (see `unscramble`) ─ parse ─ commit
//!
//! send ─┬ idle: number, scramble, a datagram at once ──── whole, or its first fragment
//!       └ busy: waits clear and without a number ─ transmit_next: a fragment, or the next message
//! ```
//!
//! Invariants: a message's number and key are fixed when its first datagram leaves, in the order of
//! [`Channel::send`]; the key's text is the one that was saved with the message; a received number
//! counts only once it is committed. Source: Quake III protocol 68, ioquake3 protocol 71: netchan.

use std::{collections::VecDeque, sync::Arc};

use thiserror::Error;

use super::{
    fragments::{FragmentError, OutgoingFragments, Reassembly},
    header::{ChannelSide, FRAGMENT_LEN, Header, HeaderError, HeaderLayout, checksum},
    scramble::Scrambler,
    unscramble::client_numbers,
};
use crate::{
    model::{Challenge, Qport, Sequence, limits::MAX_MESSAGE_LEN},
    wire::{
        bits::BitReader,
        protocol::{Protocol, Scrambling},
    },
};

/// Lost messages in a row that are believed without a checksum.
pub const MAX_LOST: u32 = 2048;
/// The same before anything was committed: a peer counts from 1, so what begins far from it is likely
/// left over from an earlier connection.
pub const MAX_LOST_AT_START: u32 = 64;
/// Lost messages in a row beyond which nothing is believed: more than a client at 125 packets a second
/// sends within the usual timeout of 200 seconds. A checksum alone does not vouch for a jump: for numbers
/// one above a large power of two few values are possible, whatever the challenge.
pub const MAX_JUMP: u32 = 1 << 15;
/// Messages that may wait behind fragments.
pub const MAX_QUEUED: usize = 8;
/// From here on numbers run out, at twenty messages a second after twenty months.
const EXHAUSTED: Sequence = Sequence(1 << 30);
/// A fragment of the number behind this one would look connectionless.
const LAST_SEQUENCE: Sequence = Sequence(Sequence::MASK - 1);

/// Why a datagram was dropped. Where the channel stands has not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DropReason {
    /// It has no header.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// Made by somebody who does not know the challenge.
    #[error("wrong checksum in message {0}")]
    Checksum(Sequence),
    /// A duplicate, or overtaken by a newer message.
    #[error("message {sequence} after message {last}")]
    Old {
        /// Its number.
        sequence: Sequence,
        /// The newest number committed.
        last: Sequence,
    },
    /// Further ahead than any peer can be.
    #[error("message {sequence} after message {last}, too far ahead")]
    FarAhead {
        /// Its number.
        sequence: Sequence,
        /// The newest number committed.
        last: Sequence,
    },
    /// A fragment that does not continue its message.
    #[error(transparent)]
    Fragment(#[from] FragmentError),
    /// More bytes than a message has.
    #[error("a message of {0} bytes")]
    TooLong(usize),
}

/// A whole message that arrived. It counts once it is handed to [`Channel::commit`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a message that is not committed never arrived"]
pub struct ReceivedMessage {
    /// Its number.
    pub sequence: Sequence,
    /// Messages that were skipped before it: lost, or late and now never taken.
    pub lost: u32,
    /// No checksum vouches for it and its number is implausibly far ahead: commit it only if every part
    /// of it could be read, or one forged datagram makes all genuine ones look old.
    pub far_ahead: bool,
}

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// Longer than any message.
    #[error("a message of {0} bytes, more than {MAX_MESSAGE_LEN}")]
    TooLong(usize),
    /// Too many wait already.
    #[error("{MAX_QUEUED} messages wait behind fragments")]
    QueueFull,
    /// The connection has used up its numbers.
    #[error("no message numbers left")]
    Exhausted,
    /// A client's message that does not begin with the numbers its key is made of.
    #[error("a client message without its beginning")]
    Headless,
}

/// A datagram that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmitted<K> {
    /// The number its message got.
    pub sequence: Sequence,
    /// What the caller sent the message as.
    pub kind: K,
    /// Whether it begins the message: the number is fixed now.
    pub first: bool,
    /// Whether it ends the message: now the other end can have it. True for every copy of the last fragment.
    pub last: bool,
}

/// One end of a connection. `K` is what the caller wants to be told when a message leaves, for instance
/// whether it is a gamestate.
#[derive(Debug)]
pub struct Channel<K = ()> {
    end: ChannelSide,
    protocol: &'static Protocol,
    challenge: Challenge,
    qport: Qport,
    last_received: Sequence,
    lost: u64,
    assembly: Reassembly,
    next_sequence: Sequence,
    last_sent: Sequence,
    unsent: Option<Unsent<K>>,
    queue: VecDeque<Queued<K>>,
    last_datagram_len: usize,
    fragment_copies: u8,
}

/// The message whose fragments are leaving.
#[derive(Debug)]
struct Unsent<K> {
    sequence: Sequence,
    kind: K,
    pieces: OutgoingFragments,
}

/// A message that waits, clear and without a number.
#[derive(Debug)]
struct Queued<K> {
    message: Vec<u8>,
    key: Key,
    text: Arc<str>,
    kind: K,
}

/// What a message is to be scrambled with, as far as it is known before the message has a number.
#[derive(Clone, Copy, Debug)]
enum Key {
    Clear,
    Numbered,
    Fixed(Scrambler),
}

impl<K: Copy> Channel<K> {
    /// The channel of a new connection. `end` is ours; `qport` is the client's.
    #[must_use]
    pub fn new(
        end: ChannelSide,
        protocol: &'static Protocol,
        challenge: Challenge,
        qport: Qport,
    ) -> Self {
        Self {
            end,
            protocol,
            challenge,
            qport,
            last_received: Sequence(0),
            lost: 0,
            assembly: Reassembly::default(),
            next_sequence: Sequence(1),
            last_sent: Sequence(0),
            unsent: None,
            queue: VecDeque::new(),
            last_datagram_len: 0,
            fragment_copies: 1,
        }
    }

    /// The same connection further on: for a relay or a replay that joins in its middle. The next
    /// message to leave is `next_sequence`, the newest that arrived is `last_received`.
    #[must_use]
    pub fn resumed(self, next_sequence: Sequence, last_received: Sequence) -> Self {
        Self { next_sequence, last_received, ..self }
    }

    /// Returns the protocol of the connection.
    #[must_use]
    pub fn protocol(&self) -> &'static Protocol {
        self.protocol
    }

    /// Returns a reader of a message of this connection.
    #[must_use]
    pub fn reader<'a>(&self, message: &'a [u8]) -> BitReader<'a> {
        BitReader::with_encoding(self.protocol.encoding, message)
    }

    /// The number that opened the connection.
    #[must_use]
    pub fn challenge(&self) -> Challenge {
        self.challenge
    }

    /// The client's number.
    #[must_use]
    pub fn qport(&self) -> Qport {
        self.qport
    }

    /// The newest message committed, which this end's messages acknowledge; 0 when there is none.
    #[must_use]
    pub fn last_received(&self) -> Sequence {
        self.last_received
    }

    /// Messages of the other end that never arrived, over the whole connection.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The number of the next message that begins to leave. While the channel [is busy] that may be an
    /// earlier message than the next one sent.
    ///
    /// [is busy]: Channel::is_busy
    #[must_use]
    pub fn next_sequence(&self) -> Sequence {
        self.next_sequence
    }

    /// The newest message that has left whole. The other end can acknowledge none that is newer.
    #[must_use]
    pub fn last_sent(&self) -> Sequence {
        self.last_sent
    }

    /// Length of the last datagram that left, in bytes, header included; 0 before the first.
    #[must_use]
    pub fn last_datagram_len(&self) -> usize {
        self.last_datagram_len
    }

    /// Whether so many messages have left that the connection should end politely.
    #[must_use]
    pub fn outgoing_exhausted(&self) -> bool {
        self.next_sequence >= EXHAUSTED
    }

    /// Takes a datagram. When it completes a message, fills `message` with it, still scrambled, and
    /// returns what to hand to [`Channel::commit`] once the message has proved good; `None` when more
    /// fragments are awaited.
    ///
    /// Connectionless datagrams and those of strangers are the caller's to keep away.
    ///
    /// # Errors
    /// [`DropReason`]; `message` is untouched then.
    pub fn receive(
        &mut self,
        datagram: &[u8],
        message: &mut Vec<u8>,
    ) -> Result<Option<ReceivedMessage>, DropReason> {
        let (header, bytes) =
            HeaderLayout::new(self.end.other(), self.protocol.framing).read(datagram)?;
        let sequence = header.sequence;
        let has_checksum = self.protocol.framing.checksum;
        if has_checksum && header.checksum != checksum(self.challenge, sequence) {
            return Err(DropReason::Checksum(sequence));
        }
        let ahead = sequence.distance(self.last_received);
        if ahead <= 0 {
            return Err(DropReason::Old { sequence, last: self.last_received });
        }
        let lost = ahead as u32 - 1;
        if lost > MAX_JUMP {
            return Err(DropReason::FarAhead { sequence, last: self.last_received });
        }
        let believed = if self.last_received == Sequence(0) { MAX_LOST_AT_START } else { MAX_LOST };
        let far_ahead = !has_checksum && lost > believed;
        let whole = match header.fragment {
            Some(span) => self.assembly.take(sequence, far_ahead, span, bytes, message)?,
            None if bytes.len() > MAX_MESSAGE_LEN => return Err(DropReason::TooLong(bytes.len())),
            None => {
                message.clear();
                message.extend_from_slice(bytes);
                true
            }
        };
        Ok(whole.then_some(ReceivedMessage { sequence, lost, far_ahead }))
    }

    /// Counts a message as received: it proved good. Older ones are dropped from now on, an older
    /// assembly is given up. Only now may the other end's port be followed.
    pub fn commit(&mut self, received: ReceivedMessage) {
        if received.sequence.distance(self.last_received) > 0 {
            self.last_received = received.sequence;
            self.lost += u64::from(received.lost);
            self.assembly.forget_until(received.sequence);
        }
    }

    /// Sets how often each fragment is sent, for messages that begin to leave from now on. The other end
    /// ignores a fragment that it has, so that a second copy only replaces a lost first one.
    pub fn set_fragment_copies(&mut self, copies: u8) {
        self.fragment_copies = copies;
    }

    /// Whether fragments or messages wait for [`Channel::transmit_next`]. No snapshot should be made
    /// meanwhile, for nobody knows what number it would get.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.unsent.is_some() || !self.queue.is_empty()
    }

    /// Sends a message. When the channel is idle, appends its only or first datagram to `out` and says
    /// so; when it is busy the message waits, nothing is appended, and the result is `None`.
    ///
    /// `text` is that of the command which the message acknowledges. `kind` comes back with every
    /// datagram of the message. A client sends the rest at once, by [`Channel::transmit_next`] until
    /// nothing is left; a server does so as the client's rate allows.
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent or queued then.
    pub fn send(
        &mut self,
        message: &[u8],
        text: &Arc<str>,
        kind: K,
        out: &mut Vec<u8>,
    ) -> Result<Option<Transmitted<K>>, SendError> {
        if message.len() > MAX_MESSAGE_LEN {
            return Err(SendError::TooLong(message.len()));
        }
        let numbers_left = (LAST_SEQUENCE.0 + 1).saturating_sub(self.next_sequence.0);
        if numbers_left as usize <= self.queue.len() {
            return Err(SendError::Exhausted);
        }
        let key = self.key_of(message)?;
        if !self.is_busy() {
            return Ok(Some(self.begin(message, key, text.as_bytes(), kind, out)));
        }
        if self.queue.len() >= MAX_QUEUED {
            return Err(SendError::QueueFull);
        }
        self.queue.push_back(Queued { message: message.to_vec(), key, text: text.clone(), kind });
        Ok(None)
    }

    /// Appends one more datagram to `out`: the next fragment, or the beginning of the next message that
    /// waits. `None` when nothing waits.
    pub fn transmit_next(&mut self, out: &mut Vec<u8>) -> Option<Transmitted<K>> {
        if self.unsent.is_some() {
            return self.send_piece(out);
        }
        let Queued { message, key, text, kind } = self.queue.pop_front()?;
        if self.queue.is_empty() {
            // Waiting is rare; an idle channel holds no memory for it.
            self.queue = VecDeque::new();
        }
        Some(self.begin(&message, key, text.as_bytes(), kind, out))
    }

    /// Forgets everything that waits to be sent, for instance because the level it tells of has ended.
    pub fn clear_unsent(&mut self) {
        self.unsent = None;
        self.queue = VecDeque::new();
    }

    fn key_of(&self, message: &[u8]) -> Result<Key, SendError> {
        match (self.protocol.framing.scrambling, self.end) {
            (Scrambling::None, _) => Ok(Key::Clear),
            (Scrambling::CommandText, ChannelSide::Server) => Ok(Key::Numbered),
            (Scrambling::CommandText, ChannelSide::Client) => {
                let (server_id, message_acknowledge, _) =
                    client_numbers(self.reader(message)).map_err(|_| SendError::Headless)?;
                Ok(Key::Fixed(Scrambler::client(self.challenge, server_id, message_acknowledge)))
            }
        }
    }

    /// Gives a message its number and key, and sends its only or first datagram.
    fn begin(
        &mut self,
        message: &[u8],
        key: Key,
        text: &[u8],
        kind: K,
        out: &mut Vec<u8>,
    ) -> Transmitted<K> {
        let sequence = self.next_sequence;
        self.next_sequence = sequence.next();
        let scramble = |message: &mut [u8]| match key {
            Key::Clear => {}
            Key::Numbered => Scrambler::server(self.challenge, sequence).apply(text, message),
            Key::Fixed(scrambler) => scrambler.apply(text, message),
        };
        if message.len() >= FRAGMENT_LEN {
            let mut message = message.to_vec();
            scramble(&mut message);
            let mut pieces = OutgoingFragments::new(message, self.fragment_copies);
            let transmitted = self.write_piece(sequence, kind, &mut pieces, out);
            self.unsent = Some(Unsent { sequence, kind, pieces });
            return transmitted;
        }
        let start = out.len();
        self.write_header(Header { sequence, ..Header::default() }, out);
        let header_end = out.len();
        out.extend_from_slice(message);
        scramble(&mut out[header_end..]);
        self.last_datagram_len = out.len() - start;
        self.last_sent = sequence;
        Transmitted { sequence, kind, first: true, last: true }
    }

    /// Sends the next fragment of the message that is leaving.
    fn send_piece(&mut self, out: &mut Vec<u8>) -> Option<Transmitted<K>> {
        let mut unsent = self.unsent.take()?;
        let transmitted = self.write_piece(unsent.sequence, unsent.kind, &mut unsent.pieces, out);
        if !unsent.pieces.is_done() {
            self.unsent = Some(unsent);
        }
        Some(transmitted)
    }

    fn write_piece(
        &mut self,
        sequence: Sequence,
        kind: K,
        pieces: &mut OutgoingFragments,
        out: &mut Vec<u8>,
    ) -> Transmitted<K> {
        let start = out.len();
        let first = pieces.is_first();
        let (span, piece) = pieces.take();
        let last = piece.len() < FRAGMENT_LEN;
        self.write_header(Header { sequence, fragment: Some(span), ..Header::default() }, out);
        out.extend_from_slice(piece);
        self.last_datagram_len = out.len() - start;
        if last {
            self.last_sent = sequence;
        }
        Transmitted { sequence, kind, first, last }
    }

    /// Appends a header with this channel's qport and checksum.
    fn write_header(&self, header: Header, out: &mut Vec<u8>) {
        let checksum = checksum(self.challenge, header.sequence);
        HeaderLayout::new(self.end, self.protocol.framing)
            .write(&Header { qport: self.qport, checksum, ..header }, out);
    }
}

mod invariants;
#[cfg(test)]
mod tests;
