//! Detection of the framing of a server whose protocol number has several.
//!
//! Source: ioquake3 protocol 71, checksums of headers.

use crate::{
    model::Millis,
    netchan::{Channel, ChannelSide, detect_protocol},
    wire::protocol::Protocol,
};

use super::Connection;

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
