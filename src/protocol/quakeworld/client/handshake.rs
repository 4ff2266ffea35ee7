//! Handshake: challenge, connect, acceptance, with their timers.
//!
//! Source: QuakeWorld protocol 28, handshake.

use super::super::{
    bytes::Text,
    connectionless::{Connect, Reply, Request},
    extensions::Extensions,
};
use crate::model::{Millis, Qport};

/// Time after which a question is repeated.
pub(super) const RETRY: Millis = Millis::seconds(5);

/// State of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandshakeStep {
    /// A challenge is asked for.
    Challenge,
    /// The challenge is known, and `connect` is to be sent.
    Connect,
    /// `connect` was sent.
    Answer,
    /// The server granted a slot.
    Accepted,
}

/// Answer of the server that changed the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// The challenge came; `connect` is to be sent.
    Challenged,
    /// The server granted a slot.
    Accepted,
    /// The server printed a text.
    Printed(&'a [u8]),
}

/// Handshake of one connection.
#[derive(Clone, Debug)]
pub struct Handshake {
    step: HandshakeStep,
    qport: Qport,
    wanted: Extensions,
    offered: Extensions,
    challenge: i32,
    send_at: Millis,
}

impl Handshake {
    /// Creates a handshake that starts now.
    #[must_use]
    pub const fn new(qport: Qport, wanted: Extensions, now: Millis) -> Self {
        let offered = Extensions::NONE;
        Self { step: HandshakeStep::Challenge, qport, wanted, offered, challenge: 0, send_at: now }
    }

    /// Whether the server granted a slot.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.step == HandshakeStep::Accepted
    }

    /// Whether the challenge is known.
    #[must_use]
    pub fn is_challenged(&self) -> bool {
        self.step != HandshakeStep::Challenge
    }

    /// Returns the extensions that both sides know.
    #[must_use]
    pub const fn extensions(&self) -> Extensions {
        self.wanted.common(self.offered)
    }

    /// Takes an answer of the server.
    pub fn receive<'a>(&mut self, reply: &Reply<'a>, now: Millis) -> Option<Progress<'a>> {
        if self.is_accepted() {
            return None;
        }
        match *reply {
            Reply::Challenge { number, extensions } => {
                (self.challenge, self.offered) = (number, extensions);
                self.step = HandshakeStep::Connect;
                self.send_at = now;
                Some(Progress::Challenged)
            }
            Reply::Accepted if self.is_challenged() => {
                self.step = HandshakeStep::Accepted;
                Some(Progress::Accepted)
            }
            Reply::Print { text } => Some(Progress::Printed(text)),
            _ => None,
        }
    }

    /// Writes the packet that is due, if any. Returns whether there is one.
    ///
    /// Without an answer to `connect`, the handshake starts again with a challenge.
    pub fn poll(&mut self, userinfo: &[u8], now: Millis, out: &mut Vec<u8>) -> bool {
        if self.is_accepted() || now < self.send_at {
            return false;
        }
        self.send_at = now + RETRY;
        if self.step == HandshakeStep::Connect {
            let connect = Connect {
                qport: self.qport,
                challenge: self.challenge,
                userinfo: Text::new(userinfo),
                extensions: self.extensions(),
                ..Connect::default()
            };
            Request::Connect(connect).write(out);
            self.step = HandshakeStep::Answer;
        } else {
            Request::GetChallenge.write(out);
            self.step = HandshakeStep::Challenge;
        }
        true
    }

    /// Time of the next packet.
    #[must_use]
    pub const fn due(&self) -> Millis {
        self.send_at
    }
}
