//! Sequenced channel to one peer, with one reliable message in flight.
//!
//! ```text
//! queue ─ spill buffers ─→ queue ─→ flight ─┐
//!                                          packet: header, flight, unreliable message
//!                       unreliable message ─┘
//! ```
//!
//! Each packet carries a sequence, the newest sequence received, and a parity that flips with each reliable message
//! received. A message in flight whose parity does not come back is repeated unchanged, one packet after the
//! acknowledgment that proves its loss. Each reliable message therefore arrives once and in order.
//!
//! Invariants: a received packet changes nothing before [`Channel::commit`]; memory is bounded by six messages;
//! nothing is delivered twice or after newer packets.
//! Source: QuakeWorld protocol 28, channel.

pub mod header;
pub mod pacing;
pub mod peer;
pub mod reliable;
pub mod timing;

#[cfg(test)]
mod tests;

use thiserror::Error;

use crate::model::{Millis, Qport};
use header::{Header, HeaderError, LAST_SEQUENCE, Sender};
use pacing::Pacer;
use reliable::{MAX_SPILLED, Overflowed, ReliableQueue};

/// Largest message, without the header.
pub const MAX_MESSAGE_LEN: usize = 1450;
/// Largest datagram.
pub const MAX_DATAGRAM_LEN: usize = MAX_MESSAGE_LEN + 8;
/// Smallest limit of messages that a client may ask for.
pub const MIN_MESSAGE_LIMIT: usize = 1350;
/// Largest plausible gap of sequences: more than a client sends within the longest timeout.
pub const MAX_JUMP: u32 = 1 << 15;

/// Our side of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Client, which writes its qport into each packet.
    Client(Qport),
    /// Server, which expects the client's qport.
    Server(Qport),
}

/// Reasons to ignore a datagram. The channel is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DropReason {
    /// Missing header.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// Qport of another client.
    #[error("packet of another qport")]
    Qport,
    /// Duplicate, or overtaken by a newer packet.
    #[error("packet {sequence} after packet {last}")]
    Old {
        /// Sequence of the packet.
        sequence: u32,
        /// Newest accepted sequence.
        last: u32,
    },
    /// Farther ahead than any peer can be.
    #[error("packet {sequence} after packet {last}, too far ahead")]
    FarAhead {
        /// Sequence of the packet.
        sequence: u32,
        /// Newest accepted sequence.
        last: u32,
    },
    /// Acknowledgment of a packet that was never sent.
    #[error("acknowledgment {0} of an unsent packet")]
    Unsent(u32),
}

/// Reasons why no packet was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// The reliable queue overflowed. The connection must be dropped.
    #[error(transparent)]
    Overflowed(#[from] Overflowed),
    /// Sequences are used up.
    #[error("no sequences left")]
    Exhausted,
}

/// A packet that was accepted, and counts with [`Channel::commit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a packet that is not committed never arrived"]
pub struct Received<'a> {
    /// Header.
    pub header: Header,
    /// Number of packets missing before it.
    pub lost: u32,
    /// Reliable message, if any, and unreliable message.
    pub payload: &'a [u8],
}

/// A packet that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its sequence.
    pub sequence: u32,
    /// Length of the reliable message in it.
    pub reliable_len: usize,
    /// Whether the reliable message is a repetition.
    pub is_repeated: bool,
    /// Whether the unreliable message did not fit and was left out.
    pub left_out: bool,
}

/// One side of a connection.
#[derive(Debug)]
pub struct Channel {
    end: End,
    /// Sequence of the next packet.
    outgoing: u32,
    /// Newest accepted sequence.
    incoming: u32,
    /// Newest sequence that the peer received.
    acknowledged: u32,
    acknowledged_parity: bool,
    out_parity: bool,
    in_parity: bool,
    queue: ReliableQueue,
    flight: Vec<u8>,
    /// Sequence behind the packet that last carried the message in flight.
    flight_mark: u32,
    max_message: usize,
    /// Copies of each packet, each of which counts for the rate.
    duplicates: u8,
    answer_due: bool,
    lost: u64,
    pacer: Pacer,
    means: RunningMeans,
}

/// Running means of a channel.
#[derive(Clone, Copy, Debug, Default)]
struct RunningMeans {
    frame_latency: f32,
    interval_ms: f32,
    last_received: Option<Millis>,
}

/// Weight of a new sample.
const MEAN_WEIGHT: f32 = 0.01;

impl RunningMeans {
    fn received(&mut self, frames: u32, now: Millis) {
        let mean = |old: f32, new: f32| old * (1.0 - MEAN_WEIGHT) + new * MEAN_WEIGHT;
        self.frame_latency = mean(self.frame_latency, frames as f32);
        let interval = self.last_received.map_or(0, |last| now.since(last).0);
        self.interval_ms = mean(self.interval_ms, interval as f32);
        self.last_received = Some(now);
    }
}

impl Channel {
    /// Creates the channel of a new connection. Its first sequence is 0, which every peer ignores.
    #[must_use]
    pub fn new(end: End) -> Self {
        let max_spilled = if matches!(end, End::Server(_)) { MAX_SPILLED } else { 0 };
        Self {
            end,
            outgoing: 0,
            incoming: 0,
            acknowledged: 0,
            acknowledged_parity: false,
            out_parity: false,
            in_parity: false,
            queue: ReliableQueue::new(max_spilled),
            flight: Vec::new(),
            flight_mark: 0,
            max_message: MAX_MESSAGE_LEN,
            duplicates: 0,
            answer_due: false,
            lost: 0,
            pacer: Pacer::default(),
            means: RunningMeans::default(),
        }
    }

    /// Starts with sequence 1, so that the peer accepts the first packet. It saves a client two round trips.
    #[must_use]
    pub const fn starting_at_one(mut self) -> Self {
        self.outgoing = 1;
        self
    }

    /// Sequence of the next packet.
    #[must_use]
    pub const fn outgoing(&self) -> u32 {
        self.outgoing
    }

    /// Newest accepted sequence.
    #[must_use]
    pub const fn incoming(&self) -> u32 {
        self.incoming
    }

    /// Newest sequence that the peer received.
    #[must_use]
    pub const fn acknowledged(&self) -> u32 {
        self.acknowledged
    }

    /// Number of missing packets so far.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Time of the newest accepted packet.
    #[must_use]
    pub const fn last_received(&self) -> Option<Millis> {
        self.means.last_received
    }

    /// Running mean of packets under way.
    #[must_use]
    pub const fn frame_latency(&self) -> f32 {
        self.means.frame_latency
    }

    /// Running mean of the time between accepted packets, in ms.
    #[must_use]
    pub const fn receive_interval_ms(&self) -> f32 {
        self.means.interval_ms
    }

    /// Rate of the sender.
    pub const fn pacer(&mut self) -> &mut Pacer {
        &mut self.pacer
    }

    /// Sets the limit of messages in bytes, within 1350 and 1450.
    pub fn set_max_message(&mut self, len: usize) {
        self.max_message = len.clamp(MIN_MESSAGE_LIMIT, MAX_MESSAGE_LEN);
    }

    /// Limit of messages in bytes.
    #[must_use]
    pub const fn max_message(&self) -> usize {
        self.max_message
    }

    /// Sets the number of copies that the owner sends of each packet, for the rate.
    pub const fn set_duplicates(&mut self, copies: u8) {
        self.duplicates = copies;
    }

    /// Queues a piece of a reliable message.
    ///
    /// # Errors
    /// [`Overflowed`]: queue and spill buffers are full, for good.
    pub fn queue_reliable(&mut self, piece: &[u8]) -> Result<(), Overflowed> {
        self.queue.push(piece, self.max_message)
    }

    /// Number of reliable bytes that wait, without those in flight.
    #[must_use]
    pub fn queued_len(&self) -> usize {
        self.queue.len()
    }

    /// Number of bytes that still fit into the next reliable message.
    #[must_use]
    pub fn reliable_room(&self) -> usize {
        self.queue.room(self.max_message)
    }

    /// Length of the reliable message in the next packet; 0 without one.
    #[must_use]
    pub fn next_reliable_len(&self) -> usize {
        if self.flight.is_empty() {
            self.queue.next_len(self.max_message)
        } else if self.is_repetition_due() {
            self.flight.len()
        } else {
            0
        }
    }

    /// Whether the message in flight is lost.
    fn is_repetition_due(&self) -> bool {
        !self.flight.is_empty()
            && self.acknowledged > self.flight_mark
            && self.acknowledged_parity != self.out_parity
    }

    /// Whether the queue overflowed.
    #[must_use]
    pub const fn is_overflowed(&self) -> bool {
        self.queue.is_overflowed()
    }

    /// Forgets queued messages, e.g. for the last message of a dropped client.
    pub fn clear_reliable(&mut self) {
        self.queue.clear();
    }

    /// Whether a reliable message is in flight or queued.
    #[must_use]
    pub fn has_unacknowledged(&self) -> bool {
        !self.flight.is_empty() || !self.queue.is_empty()
    }

    /// Whether the rate permits a packet.
    #[must_use]
    pub fn may_send(&self, now: Millis) -> bool {
        self.pacer.may_send(now)
    }

    /// Whether a reliable message may start.
    #[must_use]
    pub fn may_send_reliable(&self, now: Millis) -> bool {
        self.flight.is_empty() && self.may_send(now)
    }

    /// Whether a server owes the answer to a packet. It sends only then.
    #[must_use]
    pub const fn is_answer_due(&self) -> bool {
        self.answer_due
    }

    /// Gives up the answer to the packets so far, e.g. for lack of rate.
    pub const fn skip_answer(&mut self) {
        self.answer_due = false;
    }

    /// Makes the next packet with this unreliable message and replaces the content of `out` with it.
    ///
    /// # Errors
    /// See [`SendError`].
    pub fn transmit(
        &mut self,
        unreliable: &[u8],
        now: Millis,
        out: &mut Vec<u8>,
    ) -> Result<Sent, SendError> {
        if self.queue.is_overflowed() {
            return Err(SendError::Overflowed(Overflowed));
        }
        if self.outgoing > LAST_SEQUENCE {
            return Err(SendError::Exhausted);
        }
        self.queue.refill(self.max_message);
        let is_repeated = self.is_repetition_due();
        let mut is_reliable = is_repeated;
        if self.flight.is_empty() && self.queue.take(&mut self.flight) {
            self.out_parity = !self.out_parity;
            is_reliable = true;
        }
        let sequence = self.outgoing;
        let header = Header {
            sequence,
            is_reliable,
            acknowledged: self.incoming,
            parity: self.in_parity,
            qport: if let End::Client(qport) = self.end { Some(qport) } else { None },
        };
        out.clear();
        header.write(out);
        self.outgoing += 1;
        if is_reliable {
            out.extend_from_slice(&self.flight);
            self.flight_mark = self.outgoing;
        }
        let left_out = out.len() + unreliable.len() > self.max_message + 8;
        if !left_out {
            out.extend_from_slice(unreliable);
        }
        self.answer_due = false;
        self.pacer.charge(out.len() * (1 + usize::from(self.duplicates)), now);
        let reliable_len = if is_reliable { self.flight.len() } else { 0 };
        Ok(Sent { sequence, reliable_len, is_repeated, left_out })
    }

    /// Checks a datagram of the peer. Nothing changes before [`Channel::commit`].
    ///
    /// # Errors
    /// See [`DropReason`].
    pub fn receive<'a>(&self, datagram: &'a [u8]) -> Result<Received<'a>, DropReason> {
        let (sender, qport) = match self.end {
            End::Client(_) => (Sender::Server, None),
            End::Server(qport) => (Sender::Client, Some(qport)),
        };
        let (header, payload) = Header::parse(datagram, sender)?;
        if header.qport != qport {
            return Err(DropReason::Qport);
        }
        let (sequence, last) = (header.sequence, self.incoming);
        if sequence <= last {
            return Err(DropReason::Old { sequence, last });
        }
        let lost = sequence - last - 1;
        if lost > MAX_JUMP {
            return Err(DropReason::FarAhead { sequence, last });
        }
        if header.acknowledged > self.outgoing {
            return Err(DropReason::Unsent(header.acknowledged));
        }
        Ok(Received { header, lost, payload })
    }

    /// Counts a packet that [`Channel::receive`] returned. A server then owes an answer with the same sequence.
    pub fn commit(&mut self, received: &Received<'_>, now: Millis) {
        let header = &received.header;
        if header.parity == self.out_parity {
            self.flight.clear();
        }
        self.incoming = header.sequence;
        self.acknowledged = header.acknowledged;
        self.acknowledged_parity = header.parity;
        self.in_parity ^= header.is_reliable;
        self.lost += u64::from(received.lost);
        self.means.received(self.outgoing.saturating_sub(self.acknowledged), now);
        if matches!(self.end, End::Server(_)) {
            // A packet behind our own sequence leaves no number for the answer.
            self.answer_due = self.incoming >= self.outgoing;
            self.outgoing = self.outgoing.max(self.incoming);
        }
    }
}
