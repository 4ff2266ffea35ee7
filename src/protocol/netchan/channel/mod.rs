//! Sequenced channel to one peer: sequence numbers, checksums, fragments, scrambling.
//!
//! ```text
//! receive ─ datagram: checksum, number, fragments ─ message, still scrambled
//!    unscramble_client_message / unscramble_server_message (see `unscramble`) ─ parse ─ commit
//!
//! send ─┬ idle: number, scramble, send the whole message or its first fragment at once
//!       └ busy: queue unscrambled, without a number ─ transmit_next: a fragment, or the next message
//! ```
//!
//! Invariants: a message's number and key are fixed when its first datagram is sent, in the order
//! of [`Channel::send`]; the key's text is the one given with the message; a received number counts
//! only after its commit. Source: Quake III protocol 68, ioquake3 protocol 71: netchan.

use std::{collections::VecDeque, sync::Arc};

use thiserror::Error;

use super::{
    datagram_scramble::opened,
    fragments::{FragmentError, OutgoingFragments, Reassembly},
    header::{ChannelSide, HeaderError, HeaderLayout, checksum},
    scramble::Scrambler,
};
use crate::{
    model::{Challenge, Qport, Sequence, limits::MAX_MESSAGE_LEN},
    wire::{bits::BitReader, protocol::Protocol},
};

/// Largest believed gap in sequence numbers without a checksum.
pub const MAX_LOST: u32 = 2048;
/// Largest believed gap before the first commit. A peer counts from 1, so a higher number probably
/// belongs to an earlier connection.
pub const MAX_LOST_AT_START: u32 = 64;
/// Largest believed gap at all: more than a client at 125 packets per second sends within the usual
/// timeout.
///
/// That timeout is 200 seconds. A checksum is not proof of a jump: numbers just above a large power
/// of two have few possible checksums under all challenges.
pub const MAX_JUMP: u32 = 1 << 15;
/// Maximum number of messages queued behind fragments.
pub const MAX_QUEUED: usize = 8;
/// Memory that a channel keeps for its next message in fragments, in bytes.
///
/// More than a snapshot in a fight has, and less than a gamestate.
const KEPT_LEN: usize = 4096;
/// Sequence number from which a connection should end: twenty months at twenty messages per second.
const EXHAUSTED: Sequence = Sequence(1 << 30);
/// Last usable number. A fragment of the next one would look connectionless.
const LAST_SEQUENCE: Sequence = Sequence(Sequence::MASK - 1);

/// Reasons to drop a datagram. The channel's state is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DropReason {
    /// Missing or invalid header.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// Wrong checksum: the sender does not know the challenge.
    #[error("wrong checksum in message {0}")]
    Checksum(Sequence),
    /// Duplicate, or overtaken by a newer message.
    #[error("message {sequence} after message {last}")]
    Old {
        /// Number of the message.
        sequence: Sequence,
        /// Newest committed number.
        last: Sequence,
    },
    /// Farther ahead than any peer can be.
    #[error("message {sequence} after message {last}, too far ahead")]
    FarAhead {
        /// Number of the message.
        sequence: Sequence,
        /// Newest committed number.
        last: Sequence,
    },
    /// Fragment that does not continue its message.
    #[error(transparent)]
    Fragment(#[from] FragmentError),
    /// Longer than the largest message.
    #[error("message too long: {0} bytes")]
    TooLong(usize),
}

/// A complete received message. It counts once it is passed to [`Channel::commit`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a message that is not committed never arrived"]
pub struct ReceivedMessage {
    /// Number of the message.
    pub sequence: Sequence,
    /// Number of skipped messages before it: lost, or late and dropped from now on.
    pub lost: u32,
    /// Whether its number is implausibly far ahead without a checksum. Commit it only if it is
    /// decoded completely; otherwise one forged datagram makes all genuine ones look old.
    pub far_ahead: bool,
}

/// Reasons why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// Longer than the largest message.
    #[error("message too long: {0} bytes (max {MAX_MESSAGE_LEN})")]
    TooLong(usize),
    /// Queue full.
    #[error("{MAX_QUEUED} messages queued behind fragments")]
    QueueFull,
    /// Sequence numbers used up.
    #[error("no message numbers left")]
    Exhausted,
    /// Client message without the header that its key is made of.
    #[error("client message without header")]
    Headless,
}

/// A sent datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmitted<K> {
    /// Number of its message.
    pub sequence: Sequence,
    /// The caller's `kind` of the message.
    pub kind: K,
    /// Whether it is the first of its message: the number is fixed now.
    pub first: bool,
    /// Whether it is the last of its message, which the peer may now have. True for every copy of
    /// the last fragment.
    pub last: bool,
}

/// One side of a connection. `K` identifies messages to the caller when they are sent, e.g. as a
/// gamestate.
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
    /// Memory of the last message in fragments, [`KEPT_LEN`] at most.
    spare: Vec<u8>,
    /// Memory of datagrams that are scrambled as a whole.
    unscrambled: Vec<u8>,
    queue: VecDeque<Queued<K>>,
    last_datagram_len: usize,
    fragment_copies: u8,
}

/// Message in transmission as fragments.
#[derive(Debug)]
struct Unsent<K> {
    sequence: Sequence,
    kind: K,
    pieces: OutgoingFragments,
}

/// Queued message, unscrambled and without a number.
#[derive(Debug)]
struct Queued<K> {
    message: Vec<u8>,
    key: Key,
    text: Arc<str>,
    kind: K,
}

/// Scrambling key of a message that may not have a number yet.
#[derive(Clone, Copy, Debug)]
enum Key {
    Clear,
    Numbered,
    Fixed(Scrambler),
}

impl<K: Copy> Channel<K> {
    /// Creates the channel of a new connection. `end` is our side; `qport` is the client's.
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
            spare: Vec::new(),
            unscrambled: Vec::new(),
            queue: VecDeque::new(),
            last_datagram_len: 0,
            fragment_copies: 1,
        }
    }

    /// Moves a new channel to the middle of a connection, for a relay or a replay. The next message
    /// sent is `next_sequence`, the newest received is `last_received`.
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

    /// Challenge of the connection.
    #[must_use]
    pub fn challenge(&self) -> Challenge {
        self.challenge
    }

    /// Qport of the client.
    #[must_use]
    pub fn qport(&self) -> Qport {
        self.qport
    }

    /// Newest committed message, which our messages acknowledge; 0 when there is none.
    #[must_use]
    pub fn last_received(&self) -> Sequence {
        self.last_received
    }

    /// Number of the peer's lost messages over the whole connection.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Number of the next message whose transmission starts. While the channel [is busy], that may
    /// be an earlier message than the next one passed to [`Channel::send`].
    ///
    /// [is busy]: Channel::is_busy
    #[must_use]
    pub fn next_sequence(&self) -> Sequence {
        self.next_sequence
    }

    /// Newest message sent completely. The peer cannot acknowledge a newer one.
    #[must_use]
    pub fn last_sent(&self) -> Sequence {
        self.last_sent
    }

    /// Length of the last datagram sent, in bytes, header included; 0 before the first.
    #[must_use]
    pub fn last_datagram_len(&self) -> usize {
        self.last_datagram_len
    }

    /// Whether sequence numbers are nearly used up and the connection should end.
    #[must_use]
    pub fn outgoing_exhausted(&self) -> bool {
        self.next_sequence >= EXHAUSTED
    }

    /// Handles a datagram.
    ///
    /// When it completes a message, fills `message` with it, still scrambled. The result is to be
    /// passed to [`Channel::commit`] once the message is decoded; `None` while fragments are
    /// missing.
    ///
    /// The caller filters connectionless datagrams and those of other peers.
    ///
    /// # Errors
    /// [`DropReason`]; `message` is unchanged then.
    pub fn receive(
        &mut self,
        datagram: &[u8],
        message: &mut Vec<u8>,
    ) -> Result<Option<ReceivedMessage>, DropReason> {
        let mut unscrambled = std::mem::take(&mut self.unscrambled);
        let datagram = opened(self.protocol.framing, datagram, &mut unscrambled);
        let received = self.receive_opened(datagram, message);
        self.unscrambled = unscrambled;
        received
    }

    /// Handles a datagram that is not scrambled as a whole.
    fn receive_opened(
        &mut self,
        datagram: &[u8],
        message: &mut Vec<u8>,
    ) -> Result<Option<ReceivedMessage>, DropReason> {
        let framing = self.protocol.framing;
        let (header, bytes) = HeaderLayout::new(self.end.other(), framing).read(datagram)?;
        let sequence = header.sequence;
        let has_checksum = framing.checksum;
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

    /// Accepts a decoded message. Older messages are dropped from now on, and an older reassembly
    /// is discarded. Only after this may the peer's port be followed.
    pub fn commit(&mut self, received: ReceivedMessage) {
        if received.sequence.distance(self.last_received) > 0 {
            self.last_received = received.sequence;
            self.lost += u64::from(received.lost);
            self.assembly.forget_until(received.sequence);
        }
    }

    /// Sets the number of copies of each fragment, for messages whose transmission starts later.
    /// The peer ignores a fragment that it has, so a second copy only replaces a lost first one.
    pub fn set_fragment_copies(&mut self, copies: u8) {
        self.fragment_copies = copies;
    }

    /// Whether fragments or messages wait for [`Channel::transmit_next`]. No snapshot should be
    /// built meanwhile, because its sequence number is not known.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.unsent.is_some() || !self.queue.is_empty()
    }
}

mod invariants;
#[cfg(test)]
mod tests;
mod transmission;
