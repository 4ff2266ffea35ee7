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

/// Silence after which a client believes a `disconnect` packet of its server.
const FORGOTTEN_AFTER: Millis = Millis(3000);

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

    /// Handles a connectionless `disconnect` of the server. Returns whether it was expected.
    pub(super) fn handle_disconnect(&mut self, now: Millis) -> bool {
        match &self.phase {
            // Forgeable by any sender, so only believed while the server is silent.
            Phase::Connection(connection)
                if now.since(connection.received_at) >= FORGOTTEN_AFTER =>
            {
                self.end(DisconnectReason::Forgotten);
                true
            }
            // The answer to `connect`. It may be forged or late, so the handshake continues.
            Phase::Handshake(handshake) if handshake.granted().is_some() => {
                let reason = "disconnect without a reason".to_owned();
                self.events.push(ClientEvent::Refused(reason));
                true
            }
            Phase::Connection(_) | Phase::Handshake(_) | Phase::Ended(_) => false,
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
