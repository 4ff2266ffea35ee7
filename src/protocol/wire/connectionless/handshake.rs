//! Handshake packets: challenge and `connect` response.

use crate::{model::Challenge, wire::text::WireText};

use super::{ConnectionlessError, push_argument, push_number};

/// Request for a challenge. Old clients send no argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GetChallenge<'a> {
    /// Client's own number, repeated in the response.
    pub client_challenge: Option<Challenge>,
    /// Game of the client; empty when not sent. Only written after a number.
    pub gamename: WireText<'a>,
}

impl<'a> GetChallenge<'a> {
    pub(super) fn parse(mut words: impl Iterator<Item = WireText<'a>>) -> Self {
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

/// Response with a challenge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChallengeResponse {
    /// Challenge that `connect` must echo.
    pub challenge: Challenge,
    /// Client's number, if it sent one. Old servers leave it out.
    pub client_challenge: Option<Challenge>,
    /// Protocol of the server. Only written after the client's number.
    pub protocol: Option<i32>,
}

impl ChallengeResponse {
    pub(super) fn parse<'a>(
        mut words: impl Iterator<Item = WireText<'a>>,
    ) -> Result<Self, ConnectionlessError> {
        let error =
            ConnectionlessError::Argument { command: "challengeResponse", argument: "challenge" };
        Ok(Self {
            challenge: challenge(&mut words).ok_or(error)?,
            client_challenge: challenge(&mut words),
            protocol: words.next().map(WireText::atoi),
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

/// Response that grants a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectResponse {
    /// Challenge of the connection. Old servers leave it out.
    pub challenge: Option<Challenge>,
    /// Protocol of the connection, from servers that support several. Only written after the
    /// challenge.
    pub protocol: Option<i32>,
}

impl ConnectResponse {
    pub(super) fn parse<'a>(mut words: impl Iterator<Item = WireText<'a>>) -> Self {
        Self { challenge: challenge(&mut words), protocol: words.next().map(WireText::atoi) }
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        let Some(challenge) = self.challenge else { return };
        push_number(out, challenge);
        if let Some(protocol) = self.protocol {
            push_number(out, protocol);
        }
    }
}

fn challenge<'a>(words: &mut impl Iterator<Item = WireText<'a>>) -> Option<Challenge> {
    words.next().map(|word| Challenge(word.atoi()))
}
