//! Protocol of the bots: Quake III's, QuakeWorld's, the server's, or each in turn.

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
    /// Every protocol of Quake III, in turn.
    Each,
    /// This one.
    Fixed(GameProtocol),
}

impl BotProtocol {
    /// Name of [`BotProtocol::Each`].
    const EACH: &str = "each";

    /// Returns the protocol of one of the bots of a server, by its place among them.
    pub(super) fn of_bot(self, place: usize) -> Self {
        match self {
            Self::Auto | Self::Fixed(_) => self,
            Self::Each => {
                let count = Protocol::distinct().count().max(1);
                Protocol::distinct().nth(place % count).map_or(Self::Auto, Self::from)
            }
        }
    }

    /// Whether it is QuakeWorld's, with the protocol that was found with [`Self::Auto`].
    pub(super) fn is_quakeworld(self, found: Option<GameProtocol>) -> bool {
        match self {
            Self::Each => false,
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
            Self::Each => f.write_str(Self::EACH),
            Self::Fixed(protocol) => protocol.fmt(f),
        }
    }
}

/// An unknown protocol name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}, {each}, or {quakeworld}", each = BotProtocol::EACH, quakeworld = GameProtocol::QUAKEWORLD)]
pub struct UnknownBotProtocol(#[from] crate::client::UnknownProtocol);

impl FromStr for BotProtocol {
    type Err = UnknownBotProtocol;

    fn from_str(text: &str) -> Result<Self, UnknownBotProtocol> {
        if text.eq_ignore_ascii_case(GameProtocol::QUAKEWORLD) {
            return Ok(GameProtocol::QuakeWorld.into());
        }
        if text == Self::EACH {
            return Ok(Self::Each);
        }
        Ok(text.parse::<ProtocolChoice>()?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_of_bots_parse_and_display() {
        for name in ["auto", "each", "43", "66-clear", "68", "compat", "native", "quakeworld"] {
            let protocol: BotProtocol = name.parse().expect(name);
            assert_eq!(protocol.to_string().parse(), Ok(protocol));
        }
        assert_eq!("QuakeWorld".parse(), Ok(BotProtocol::Fixed(GameProtocol::QuakeWorld)));
        let error = "69".parse::<BotProtocol>().expect_err("unknown").to_string();
        assert!(error.ends_with(", each, or quakeworld"), "{error}");
    }

    #[test]
    fn bots_take_each_protocol_in_turn() {
        let names: Vec<_> =
            (0..8).map(|place| BotProtocol::Each.of_bot(place).to_string()).collect();
        assert_eq!(names, ["43", "45", "66", "67", "68", "compat", "native", "43"]);
        assert_eq!(BotProtocol::Auto.of_bot(3), BotProtocol::Auto);
    }
}
