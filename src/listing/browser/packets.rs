//! Packets of a browser: questions to masters, requests to servers, their answers.

use crate::{
    discovery::{Family, Game, quake4, quakeworld},
    wire::{
        connectionless::{ListFilter, ListRequest, Message, OUT_OF_BAND, Query, StatusResponse},
        info::InfoString,
        text::WireText,
    },
};

use super::{
    options::Question,
    queries::QueryKind,
    server::{Details, MAX_PAIRS, MAX_PLAYERS, Player, plain},
};

/// Appends a question to a master. It asks for empty and full servers, too.
pub(super) fn write_question(question: &Question, out: &mut Vec<u8>) {
    match question.game.family {
        Family::Quake3 => {
            let request = ListRequest {
                extended: question.extended.is_some(),
                game: question.extended.as_deref().map(WireText::from),
                protocol: question.protocol,
                filter: ListFilter { empty: true, full: true, ..ListFilter::default() },
            };
            Message::GetServers(request).write(out);
        }
        Family::Quake4 => {
            let protocol = question.protocol.cast_unsigned() | quake4::PROTOCOL_FLAG;
            let request = quake4::GetServers { protocol, ..quake4::GetServers::default() };
            quake4::Packet::GetServers(request).write(out);
        }
        Family::QuakeWorld => quakeworld::Packet::ListRequest.write(out),
    }
}

/// Appends a request to a server.
pub(super) fn write_query(family: Family, kind: QueryKind, challenge: u32, out: &mut Vec<u8>) {
    match family {
        Family::Quake3 => {
            let challenge = format!("{challenge:08x}");
            let query = Query { challenge: WireText::from(challenge.as_str()) };
            let message = match kind {
                QueryKind::Info => Message::GetInfo(query),
                QueryKind::Status => Message::GetStatus(query),
            };
            message.write(out);
        }
        Family::Quake4 => quake4::Packet::GetInfo(challenge).write(out),
        Family::QuakeWorld => quakeworld::Packet::GetStatus(None).write(out),
    }
}

/// Answer of a server.
#[derive(Clone, Debug)]
pub(super) enum Reply<'a> {
    Info(InfoString),
    Status(InfoString, StatusResponse<'a>),
    Quake4(quake4::InfoResponse<'a>),
    QuakeWorld(quakeworld::Status<'a>),
}

impl<'a> Reply<'a> {
    /// Reads a datagram, if it is an answer.
    pub(super) fn parse(datagram: &'a [u8]) -> Option<Self> {
        if !datagram.starts_with(OUT_OF_BAND) {
            return match quake4::Packet::parse(datagram) {
                Ok(quake4::Packet::InfoResponse(response)) => Some(Self::Quake4(response)),
                _ => None,
            };
        }
        match Message::parse(datagram) {
            Ok(Message::InfoResponse(info)) => Some(Self::Info(InfoString::from_wire(info))),
            Ok(Message::StatusResponse(status)) => {
                Some(Self::Status(InfoString::from_wire(status.info), status))
            }
            _ => match quakeworld::Packet::parse(datagram) {
                Ok(quakeworld::Packet::Status(status)) => Some(Self::QuakeWorld(status)),
                _ => None,
            },
        }
    }

    pub(super) const fn family(&self) -> Family {
        match self {
            Self::Info(_) | Self::Status(..) => Family::Quake3,
            Self::Quake4(_) => Family::Quake4,
            Self::QuakeWorld(_) => Family::QuakeWorld,
        }
    }

    pub(super) const fn kind(&self) -> QueryKind {
        match self {
            Self::Status(..) => QueryKind::Status,
            Self::Info(_) | Self::Quake4(_) | Self::QuakeWorld(_) => QueryKind::Info,
        }
    }

    /// Returns the challenge that the server repeats.
    pub(super) fn challenge(&self) -> Option<u32> {
        match self {
            Self::Info(info) | Self::Status(info, _) => {
                let echoed = info.get("challenge").filter(|text| text.len() == 8)?;
                u32::from_str_radix(echoed, 16).ok()
            }
            Self::Quake4(response) => Some(response.challenge),
            Self::QuakeWorld(_) => None,
        }
    }

    /// Returns the game that the server names, or `listed`, and the values of the answer.
    pub(super) fn details(&self, listed: &'static Game) -> (&'static Game, Details) {
        match self {
            Self::Info(info) | Self::Status(info, _) => {
                let game = named_game(info).unwrap_or(listed);
                (game, Details::of_pairs(game, info.iter()))
            }
            Self::Quake4(response) => {
                let pairs: Vec<_> = response
                    .pairs()
                    .take(MAX_PAIRS)
                    .map(|(key, value)| (key.to_string(), value.to_string()))
                    .collect();
                let pairs = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()));
                let mut details = Details::of_pairs(listed, pairs);
                let (major, minor) = (response.protocol >> 16 & 0x7fff, response.protocol & 0xffff);
                details.protocol = format!("{major}.{minor}");
                details.players = self.players();
                details.clients = details.players.len() as u32;
                (listed, details)
            }
            Self::QuakeWorld(status) => {
                let pairs: Vec<_> = status
                    .info
                    .pairs()
                    .take(MAX_PAIRS)
                    .map(|(key, value)| (key.to_string(), value.to_string()))
                    .collect();
                let pairs = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()));
                let mut details = Details::of_pairs(listed, pairs);
                let playing = status.players().filter(|player| player.frags.is_some());
                details.clients = playing.take(MAX_PLAYERS).count() as u32;
                details.protocol = listed.protocol.to_string();
                details.players = self.players();
                (listed, details)
            }
        }
    }

    /// Returns the players of the answer.
    pub(super) fn players(&self) -> Vec<Player> {
        match self {
            Self::Info(_) => Vec::new(),
            Self::Status(_, status) => {
                let player = |player: crate::wire::connectionless::StatusPlayer<'_>| Player {
                    name: plain(&player.name.to_string()),
                    score: player.score,
                    ping_ms: player.ping,
                };
                status.players().take(MAX_PLAYERS).map(player).collect()
            }
            Self::Quake4(response) => {
                let player = |player: quake4::Player<'_>| Player {
                    name: plain(&player.name.to_string()),
                    score: 0,
                    ping_ms: i32::from(player.ping),
                };
                response.players().take(MAX_PLAYERS).map(player).collect()
            }
            Self::QuakeWorld(status) => {
                let player = |player: quakeworld::Player<'_>| Player {
                    name: plain(&player.plain_name()),
                    score: player.frags.unwrap_or(0),
                    ping_ms: player.ping,
                };
                status.players().take(MAX_PLAYERS).map(player).collect()
            }
        }
    }
}

/// Returns the game of an answer by its name, or by its protocol.
fn named_game(info: &InfoString) -> Option<&'static Game> {
    match info.get("gamename") {
        Some(name) => Game::by_name(name.into()),
        None => Game::by_protocol(info.int("protocol")?),
    }
}
