//! Protocol of the bots: one of Quake III's, that of QuakeWorld, or that of the server.

use std::{fmt, str::FromStr};

use thiserror::Error;

use crate::client::{Protocol, ProtocolChoice};

/// Protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameProtocol {
    /// A protocol of Quake III.
    Quake3(&'static Protocol),
    /// QuakeWorld protocol 28.
    QuakeWorld,
}

impl GameProtocol {
    /// Name of [`GameProtocol::QuakeWorld`].
    pub const QUAKEWORLD: &str = "quakeworld";
}

impl fmt::Display for GameProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quake3(protocol) => protocol.fmt(f),
            Self::QuakeWorld => f.write_str(Self::QUAKEWORLD),
        }
    }
}

/// Protocol that the bots of a test use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BotProtocol {
    /// That of the server, by its answers.
    Auto,
    /// This one.
    Fixed(GameProtocol),
}

impl BotProtocol {
    /// Whether it is QuakeWorld's, with the protocol that was found with [`Self::Auto`].
    pub(super) fn is_quakeworld(self, found: Option<GameProtocol>) -> bool {
        match self {
            Self::Auto => found == Some(GameProtocol::QuakeWorld),
            Self::Fixed(protocol) => protocol == GameProtocol::QuakeWorld,
        }
    }
}

impl From<ProtocolChoice> for BotProtocol {
    fn from(choice: ProtocolChoice) -> Self {
        match choice {
            ProtocolChoice::Auto => Self::Auto,
            ProtocolChoice::Fixed(protocol) => protocol.into(),
        }
    }
}

impl From<&'static Protocol> for BotProtocol {
    fn from(protocol: &'static Protocol) -> Self {
        Self::Fixed(GameProtocol::Quake3(protocol))
    }
}

impl From<GameProtocol> for BotProtocol {
    fn from(protocol: GameProtocol) -> Self {
        Self::Fixed(protocol)
    }
}

impl fmt::Display for BotProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => ProtocolChoice::Auto.fmt(f),
            Self::Fixed(protocol) => protocol.fmt(f),
        }
    }
}

/// An unknown protocol name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}, or {name}", name = GameProtocol::QUAKEWORLD)]
pub struct UnknownBotProtocol(#[from] crate::client::UnknownProtocol);

impl FromStr for BotProtocol {
    type Err = UnknownBotProtocol;

    fn from_str(text: &str) -> Result<Self, UnknownBotProtocol> {
        if text.eq_ignore_ascii_case(GameProtocol::QUAKEWORLD) {
            return Ok(GameProtocol::QuakeWorld.into());
        }
        Ok(text.parse::<ProtocolChoice>()?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_of_bots_parse_and_display() {
        for name in ["auto", "68", "compat", "native", "quakeworld"] {
            let protocol: BotProtocol = name.parse().expect(name);
            assert_eq!(protocol.to_string().parse(), Ok(protocol));
        }
        assert_eq!("QuakeWorld".parse(), Ok(BotProtocol::Fixed(GameProtocol::QuakeWorld)));
        let error = "69".parse::<BotProtocol>().expect_err("unknown").to_string();
        assert!(error.ends_with(", or quakeworld"), "{error}");
    }
}
