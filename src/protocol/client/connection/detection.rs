//! Detection of the framing of a server whose protocol number has several.
//!
//! Source: ioquake3 protocol 71, checksums of headers.

use crate::{
    model::Millis,
    netchan::{Channel, ChannelSide, detect_protocol},
    wire::protocol::Protocol,
};

use super::Connection;

/// Packets in a client's own framing before it tries the other one, to learn why nothing comes back.
const OWN_PACKETS: u8 = 3;

/// State of the framing detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detection {
    /// Framing known.
    Done,
    /// First guess, nothing sent yet.
    Untried,
    /// A packet was sent with the current framing without a response. The next packet uses the
    /// other one.
    Tried,
    /// The server's last datagram had the current framing, but no message was decoded yet.
    Seen,
}

impl Connection {
    /// Starts the detection of the framing with the current one as the guess.
    ///
    /// The first messages of the server show its framing; until then packets alternate between
    /// both. An ioquake3 server drops packets of the wrong framing by their checksum, or sends
    /// first; others cannot decode them.
    pub(in crate::client) fn detect_protocol(&mut self) {
        self.detection = Detection::Untried;
    }

    /// Watches for messages of the other framing of the protocol's number, if there is one. The client keeps its own.
    pub(in crate::client) fn watch_framing(&mut self) {
        let own = self.channel.protocol();
        let other = own.next_with_number();
        let (challenge, qport) = (self.channel.challenge(), self.channel.qport());
        self.other = (other != own)
            .then(|| Box::new(Channel::new(ChannelSide::Client, other, challenge, qport)));
    }

    /// Whether a datagram has the checksum of the other framing, while that of the server is not proven.
    pub(super) fn has_other_framing(&self, datagram: &[u8]) -> bool {
        let (own, challenge) = (self.channel.protocol(), self.channel.challenge());
        self.other.is_some()
            && detect_protocol(own, ChannelSide::Server, challenge, datagram) != own
    }

    /// Returns the other framing if the next packet has it. A server that cannot decode the first packets says nothing,
    /// also not in which framing it would.
    pub(super) fn other_to_try(&mut self) -> Option<&'static Protocol> {
        let other = self.other.as_ref()?;
        if self.received_at != self.started {
            return None;
        }
        self.unanswered = self.unanswered.wrapping_add(1);
        let more = self.unanswered.saturating_sub(OWN_PACKETS);
        let is_tried = more % 2 == 1;
        is_tried.then(|| other.protocol())
    }

    /// Returns the other framing if a datagram completes a message of it. Only a message that is decoded completely
    /// proves a framing, since late datagrams of an earlier connection have other checksums. The channel has that
    /// framing then.
    pub(super) fn proven_other_framing(
        &mut self,
        now: Millis,
        datagram: &[u8],
    ) -> Option<&'static Protocol> {
        let mut other = self.other.take()?;
        std::mem::swap(&mut self.channel, &mut *other);
        let is_proven = match self.channel.receive(datagram, &mut self.message) {
            Ok(Some(received)) => {
                self.read(&received).is_ok() && !self.is_stale_message(now, &received)
            }
            Ok(None) | Err(_) => false,
        };
        std::mem::swap(&mut self.channel, &mut *other);
        let protocol = other.protocol();
        if is_proven {
            self.change_protocol(protocol);
            return Some(protocol);
        }
        self.other = Some(other);
        None
    }

    /// Changes the framing. Message numbers continue.
    pub(super) fn change_protocol(&mut self, protocol: &'static Protocol) {
        let (challenge, qport) = (self.channel.challenge(), self.channel.qport());
        let (next, last) = (self.channel.next_sequence(), self.channel.last_received());
        self.channel =
            Channel::new(ChannelSide::Client, protocol, challenge, qport).resumed(next, last);
    }

    /// Adopts the framing of a datagram from the server.
    pub(super) fn adopt_protocol(&mut self, now: Millis, datagram: &[u8]) {
        let (known, challenge) = (self.channel.protocol(), self.channel.challenge());
        let protocol = detect_protocol(known, ChannelSide::Server, challenge, datagram);
        if protocol != known {
            self.change_protocol(protocol);
            // The server could not decode the earlier packets.
            self.hasten_packet(now);
        }
        self.detection = Detection::Seen;
    }
}
