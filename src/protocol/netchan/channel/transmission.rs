//! Transmission: numbers, keys and fragments of outgoing messages, and the queue behind them.
//!
//! Invariants: numbers are assigned in the order of transmission; a message is scrambled when it gets its number.
//! Source: Quake III protocol 68, netchan sending.

use std::{collections::VecDeque, sync::Arc};

use super::{
    Channel, KEPT_LEN, Key, LAST_SEQUENCE, MAX_QUEUED, Queued, SendError, Transmitted, Unsent,
};
use crate::{
    model::{Sequence, limits::MAX_MESSAGE_LEN},
    netchan::{
        datagram_scramble,
        fragments::OutgoingFragments,
        header::{ChannelSide, FRAGMENT_LEN, Header, HeaderLayout, checksum},
        scramble::Scrambler,
        unscramble::client_numbers,
    },
    wire::protocol::Scrambling,
};

impl<K: Copy> Channel<K> {
    /// Sends a message.
    ///
    /// An idle channel appends the only or first datagram to `out` and returns it. A busy channel
    /// queues the message and returns `None`.
    ///
    /// `text` is that of the command which the message acknowledges. `kind` is returned with every
    /// datagram of the message. A client sends the rest at once, by [`Channel::transmit_next`]
    /// until nothing is left; a server sends it as the client's rate allows.
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

    /// Returns the sequence of a message that is sent now, behind the queued ones.
    #[must_use]
    pub fn sequence_of_next(&self) -> Sequence {
        Sequence(self.next_sequence.0.wrapping_add(self.queue.len() as u32) & Sequence::MASK)
    }

    /// Appends one more datagram to `out`: the next fragment, or the start of the next queued
    /// message. `None` when nothing is left.
    pub fn transmit_next(&mut self, out: &mut Vec<u8>) -> Option<Transmitted<K>> {
        if self.unsent.is_some() {
            return self.send_fragment(out);
        }
        let Queued { message, key, text, kind } = self.queue.pop_front()?;
        if self.queue.is_empty() {
            // The queue is rarely used; an idle channel holds no memory for it.
            self.queue = VecDeque::new();
        }
        Some(self.begin(&message, key, text.as_bytes(), kind, out))
    }

    /// Drops everything not yet sent, e.g. because the level has ended.
    pub fn clear_unsent(&mut self) {
        self.unsent = None;
        self.queue = VecDeque::new();
    }

    fn key_of(&self, message: &[u8]) -> Result<Key, SendError> {
        match (self.protocol.framing.scrambling, self.end) {
            (Scrambling::None | Scrambling::Datagram, _) => Ok(Key::Clear),
            (Scrambling::CommandText, ChannelSide::Server) => Ok(Key::Numbered),
            (Scrambling::CommandText, ChannelSide::Client) => {
                let (server_id, message_acknowledge, _) =
                    client_numbers(&mut self.reader(message)).map_err(|_| SendError::Headless)?;
                Ok(Key::Fixed(Scrambler::client(self.challenge, server_id, message_acknowledge)))
            }
        }
    }

    /// Assigns number and key to a message, and sends its only or first datagram.
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
            let mut bytes = std::mem::take(&mut self.spare);
            bytes.extend_from_slice(message);
            scramble(&mut bytes);
            let mut pieces = OutgoingFragments::new(bytes, self.fragment_copies);
            let transmitted = self.write_piece(sequence, kind, &mut pieces, out);
            self.unsent = Some(Unsent { sequence, kind, pieces });
            return transmitted;
        }
        let start = out.len();
        self.write_header(Header { sequence, ..Header::default() }, out);
        let header_end = out.len();
        out.extend_from_slice(message);
        scramble(&mut out[header_end..]);
        datagram_scramble::close(self.protocol.framing, &mut out[start..]);
        self.last_datagram_len = out.len() - start;
        self.last_sent = sequence;
        Transmitted { sequence, kind, first: true, last: true }
    }

    /// Sends the next fragment of the current message.
    fn send_fragment(&mut self, out: &mut Vec<u8>) -> Option<Transmitted<K>> {
        let mut unsent = self.unsent.take()?;
        let transmitted = self.write_piece(unsent.sequence, unsent.kind, &mut unsent.pieces, out);
        if !unsent.pieces.is_done() {
            self.unsent = Some(unsent);
        } else {
            self.spare = unsent.pieces.into_bytes();
            self.spare.clear();
            if self.spare.capacity() > KEPT_LEN {
                self.spare = Vec::new();
            }
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
        datagram_scramble::close(self.protocol.framing, &mut out[start..]);
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
