//! The handshake before a connection: the challenge, and the answer to `connect`.

use crate::{model::Challenge, wire::text::Text};

use super::{ConnectionlessError, push_argument, push_number};

/// Asks for a challenge. Old clients ask without any argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GetChallenge<'a> {
    /// The client's own number, which the answer repeats.
    pub client_challenge: Option<Challenge>,
    /// The game that the client plays; empty when it does not say. Only written after a number.
    pub gamename: Text<'a>,
}

impl<'a> GetChallenge<'a> {
    pub(super) fn parse(mut words: impl Iterator<Item = Text<'a>>) -> Self {
        Self { client_challenge: challenge(&mut words), gamename: words.next().unwrap_or_default() }
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        let Some(challenge) = self.client_challenge else { return };
        push_number(out, challenge);
        if !self.gamename.is_empty() {
            push_argument(out, self.gamename);
        }
    }
}

/// Grants a challenge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChallengeResponse {
    /// The number that `connect` must carry.
    pub challenge: Challenge,
    /// What a client that sent a number sees again. Old servers leave it out.
    pub client_challenge: Option<Challenge>,
    /// The server's protocol. Only written after the client's number.
    pub protocol: Option<i32>,
}

impl ChallengeResponse {
    pub(super) fn parse<'a>(
        mut words: impl Iterator<Item = Text<'a>>,
    ) -> Result<Self, ConnectionlessError> {
        let error =
            ConnectionlessError::Argument { command: "challengeResponse", argument: "challenge" };
        Ok(Self {
            challenge: challenge(&mut words).ok_or(error)?,
            client_challenge: challenge(&mut words),
            protocol: words.next().map(Text::leading_int),
        })
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        push_number(out, self.challenge);
        let Some(client_challenge) = self.client_challenge else { return };
        push_number(out, client_challenge);
        if let Some(protocol) = self.protocol {
            push_number(out, protocol);
        }
    }
}

/// Grants a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectResponse {
    /// The challenge of the connection. Old servers leave it out.
    pub challenge: Option<Challenge>,
    /// The protocol of the connection, from servers that know several. Only written after the
    /// challenge.
    pub protocol: Option<i32>,
}

impl ConnectResponse {
    pub(super) fn parse<'a>(mut words: impl Iterator<Item = Text<'a>>) -> Self {
        Self { challenge: challenge(&mut words), protocol: words.next().map(Text::leading_int) }
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        let Some(challenge) = self.challenge else { return };
        push_number(out, challenge);
        if let Some(protocol) = self.protocol {
            push_number(out, protocol);
        }
    }
}

fn challenge<'a>(words: &mut impl Iterator<Item = Text<'a>>) -> Option<Challenge> {
    words.next().map(|word| Challenge(word.leading_int()))
}
