//! Ends of a connection on the client's side: disconnect messages, and refusal of another framing.
//!
//! Source: Quake III protocol 68, disconnect of a client; framings of protocol 71.

use super::{Client, DISCONNECT_RESENDS, Phase, challenge_of};
use crate::{
    client::{
        event::{ClientEvent, DisconnectReason},
        handshake::{self, Handshake},
    },
    model::Millis,
    wire::protocol::Protocol,
};

impl Client {
    /// Tells the server that the client leaves, and ends the connection.
    pub(super) fn leave(&mut self, now: Millis, reason: DisconnectReason) {
        self.send_disconnect(now);
        self.end(reason);
    }

    fn send_disconnect(&mut self, now: Millis) {
        if let Phase::Connection(connection) = &mut self.phase {
            connection.add_disconnect();
            for _ in 0..DISCONNECT_RESENDS {
                // Fails only without message numbers left.
                let _ = connection.send(now, handshake::route_to(self.server), &mut self.outbox);
            }
        }
    }

    /// Gives up a connection to a server whose messages have another framing than the client may use. It is a
    /// refusal, after which the client tries again as after others.
    pub(super) fn refuse_framing(&mut self, now: Millis, spoken: &'static Protocol) {
        self.send_disconnect(now);
        let own = self.options.protocol;
        self.events.push(ClientEvent::Refused(format!(
            "Server uses protocol version {} in its form {spoken} (yours is {own}).",
            spoken.number
        )));
        self.protocol = own;
        self.phase = Phase::Handshake(Handshake::again(challenge_of(self.options.seed), now));
    }
}
