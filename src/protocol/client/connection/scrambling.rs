//! Detection of the scrambling of a server whose protocol number has rows with and without it.
//!
//! The right row explains every message; the wrong one about one of 500 by chance, and all that are too short to be
//! scrambled. So each of the first messages is read in both ways, until enough were explained by one alone. A gamestate
//! is enough, since no wrong reading of kilobytes ends where the message does.
//!
//! Invariant: a message is applied in one reading, and one that neither row explains decides nothing.
//! Source: Quake III protocols 66 to 68, scrambling; counts of recorded sessions.

use crate::{model::CommandNum, netchan::ReceivedMessage, wire::protocol::Protocol};

use super::{
    super::{
        event::{ClientEvent, Events, ProtocolErrorKind},
        inbound::Inbound,
    },
    Connection,
};

/// Messages in a row that one row alone explains, after which it is certain.
const PROOFS: u8 = 8;
/// Most bits behind the end of a message: the rest of its last byte, and one more.
const MAX_PADDING: usize = 15;

/// Detection of the scrambling, while it is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScramblingDetection {
    /// Whether the client takes the row that explains the messages; else it only reports it.
    follows: bool,
    /// Messages in a row that only the current row explains.
    agreed: u8,
    /// Messages in a row that only the other row explains.
    against: u8,
}

/// Outcome of a message while the scrambling is open.
#[derive(Debug)]
pub(super) enum EitherRead {
    /// Decoded.
    Taken,
    /// Decoded in the other row only, which the client may not take.
    Other,
    /// The other row is certain, and the client may not take it.
    Refused(&'static Protocol),
    /// Decoded in neither row.
    Unreadable(ProtocolErrorKind),
}

impl Connection {
    /// Starts the detection of the scrambling. With `follows` the client takes what it finds.
    pub(in crate::client) fn detect_scrambling(&mut self, follows: bool) {
        self.scrambling = Some(ScramblingDetection { follows, agreed: 0, against: 0 });
    }

    /// Decodes a message in both rows of the protocol's number, and keeps the reading that is right.
    pub(super) fn read_either(
        &mut self,
        received: &ReceivedMessage,
        mut detection: ScramblingDetection,
        events: &mut Events,
    ) -> EitherRead {
        let own = self.channel.protocol();
        let other = own.next_with_number();
        let message = self.message.clone();
        let fits_other = self.explains(other, received);
        let proofs_of = |inbound: &Inbound| if inbound.gamestate.is_some() { PROOFS } else { 1 };
        let other_proof = proofs_of(&self.inbound);
        self.message.clone_from(&message);
        self.change_protocol(own);
        let read = self.read(received);
        let own_proof = proofs_of(&self.inbound);
        let fits_own = read.is_ok() && self.inbound.rest_bits <= MAX_PADDING;
        let read = match (read, fits_other) {
            (Ok(()), true) if fits_own => EitherRead::Taken,
            (Ok(()), false) => {
                detection.agreed += own_proof;
                detection.against = 0;
                EitherRead::Taken
            }
            (_, true) if detection.follows => {
                (detection.agreed, detection.against) = (other_proof, 0);
                self.message = message;
                self.change_protocol(other);
                match self.read(received) {
                    Ok(()) => EitherRead::Taken,
                    Err(kind) => EitherRead::Unreadable(kind),
                }
            }
            (_, true) => {
                detection.against += other_proof;
                EitherRead::Other
            }
            (Err(kind), false) => EitherRead::Unreadable(kind),
        };
        self.scrambling = Some(detection).filter(|found| found.agreed < PROOFS);
        if self.scrambling.is_none() && detection.follows {
            events.push(ClientEvent::Scrambling(self.channel.protocol()));
        }
        if detection.against >= PROOFS { EitherRead::Refused(other) } else { read }
    }

    /// Whether the other row reads a message to its end, with an acknowledged command that was sent.
    fn explains(&mut self, other: &'static Protocol, received: &ReceivedMessage) -> bool {
        self.change_protocol(other);
        let newest = self.commands.last();
        let is_sent = |number: CommandNum| number.distance(newest) <= 0;
        self.decode(received).is_ok()
            && self.inbound.rest_bits <= MAX_PADDING
            && self.inbound.acknowledged.is_none_or(is_sent)
    }
}
