//! Quake 4 packets of discovery and key authorization.
//!
//! ```text
//! FF FF  command 0  values
//! ```
//!
//! Numbers are little-endian, strings end with a NUL, an info string is pairs of strings up to an empty pair.
//! What no capture shows follows Doom 3, the same engine: `heartbeat`, `gameAuth`, `authKey`.

use crate::wire::text::WireText;

use super::{DiscoveryError, Result};

/// Mark of connectionless packets.
pub const MARK: &[u8] = b"\xff\xff";
/// Protocol 2.85: the minor number in the low half.
pub const PROTOCOL: u32 = 0x0002_0055;
/// Flag of the protocol in requests of clients. Its meaning is not known.
pub const PROTOCOL_FLAG: u32 = 0x8000_0000;
/// Bytes before the records of a list.
pub(super) const SERVERS_PREFIX: &[u8] = b"\xff\xffservers\0";
/// Slot that ends the players.
const END_OF_PLAYERS: u8 = 32;
/// Most pairs and most players that are read.
const MAX_PAIRS: usize = 512;

/// Packet of discovery. Lists are a [`ListPacket`](super::ListPacket).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// Sign of life from a server to a master.
    Heartbeat,
    /// Request of a client for a list.
    GetServers(GetServers<'a>),
    /// Request to a server; the number is repeated in the response.
    GetInfo(u32),
    /// Response to it.
    InfoResponse(InfoResponse<'a>),
    /// CD keys of a client.
    GameAuth(GameAuth<'a>),
    /// Response to them.
    AuthKey(AuthKey<'a>),
}

/// Request for a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GetServers<'a> {
    /// Protocol word, with [`PROTOCOL_FLAG`] from clients.
    pub protocol: u32,
    /// Required `fs_game`; empty for any.
    pub game: WireText<'a>,
    /// Required part of a player's name; empty for any.
    pub player: WireText<'a>,
    /// Required clan of a player; empty for any.
    pub clan: WireText<'a>,
    /// Filter bits.
    pub filter: u8,
}

/// CD keys of a client. Secrets: never logged or stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GameAuth<'a> {
    /// Protocol word.
    pub protocol: u32,
    /// Key of the game.
    pub key: Option<WireText<'a>>,
    /// Key of the expansion.
    pub expansion_key: Option<WireText<'a>>,
}

/// Verdict about CD keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthKey<'a> {
    /// The keys are valid; the text identifies the client to servers.
    Accepted(WireText<'a>),
    /// The keys are refused with a text for the player.
    Refused(WireText<'a>),
    /// The keys are refused: the first byte is the reason, others belong to it.
    RefusedCode(u8),
}

/// State of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InfoResponse<'a> {
    /// Number of the request.
    pub challenge: u32,
    /// Protocol word, without [`PROTOCOL_FLAG`].
    pub protocol: u32,
    /// Pairs, players and what follows them, as received.
    pub body: &'a [u8],
}

/// One player of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Player<'a> {
    /// Slot of the player, from 0 to 31.
    pub slot: u8,
    /// Round-trip time in ms.
    pub ping: u16,
    /// Bytes per second that the client accepts.
    pub rate: u32,
    /// Name with color codes.
    pub name: WireText<'a>,
    /// Clan.
    pub clan: WireText<'a>,
}

/// Operating systems of clients and the bytes after them, whose meaning is not known.
pub const TAIL: [u8; 9] = [7, 0, 0, 0, 0, 0, 0, 0, 1];

impl<'a> Packet<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// See [`DiscoveryError`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self> {
        let mut reader = Reader(datagram.strip_prefix(MARK).ok_or(DiscoveryError::Mark)?);
        let command = reader.string().ok_or(DiscoveryError::Command)?;
        let is = |name: &str| command.eq_ignore_case(name);
        Ok(if is("heartbeat") {
            Self::Heartbeat
        } else if is("getServers") {
            let error = DiscoveryError::Argument { command: "getServers", argument: "protocol" };
            let protocol = reader.u32().ok_or(error)?;
            let mut next = || reader.string().unwrap_or_default();
            let (game, player, clan) = (next(), next(), next());
            let filter = reader.u8().unwrap_or_default();
            Self::GetServers(GetServers { protocol, game, player, clan, filter })
        } else if is("getInfo") {
            let error = DiscoveryError::Argument { command: "getInfo", argument: "challenge" };
            Self::GetInfo(reader.u32().ok_or(error)?)
        } else if is("infoResponse") {
            let error = |argument| DiscoveryError::Argument { command: "infoResponse", argument };
            let challenge = reader.u32().ok_or(error("challenge"))?;
            let protocol = reader.u32().ok_or(error("protocol"))?;
            Self::InfoResponse(InfoResponse { challenge, protocol, body: reader.0 })
        } else if is("gameAuth") {
            let error = DiscoveryError::Argument { command: "gameAuth", argument: "protocol" };
            let protocol = reader.u32().ok_or(error)?;
            let (key, expansion_key) = (reader.optional_string(), reader.optional_string());
            Self::GameAuth(GameAuth { protocol, key, expansion_key })
        } else if is("authKey") {
            Self::AuthKey(AuthKey::read(reader)?)
        } else {
            return Err(DiscoveryError::Command);
        })
    }

    /// Appends the datagram to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(MARK);
        match self {
            Self::Heartbeat => push_string(out, "heartbeat".into()),
            Self::GetServers(request) => {
                push_string(out, "getServers".into());
                out.extend_from_slice(&request.protocol.to_le_bytes());
                for text in [request.game, request.player, request.clan] {
                    push_string(out, text);
                }
                out.push(request.filter);
            }
            Self::GetInfo(challenge) => {
                push_string(out, "getInfo".into());
                out.extend_from_slice(&challenge.to_le_bytes());
            }
            Self::InfoResponse(response) => {
                push_string(out, "infoResponse".into());
                out.extend_from_slice(&response.challenge.to_le_bytes());
                out.extend_from_slice(&response.protocol.to_le_bytes());
                out.extend_from_slice(response.body);
            }
            Self::GameAuth(request) => {
                push_string(out, "gameAuth".into());
                out.extend_from_slice(&request.protocol.to_le_bytes());
                for key in [request.key, request.expansion_key] {
                    out.push(key.is_some().into());
                    push_string(out, key.unwrap_or_default());
                }
            }
            Self::AuthKey(verdict) => {
                push_string(out, "authKey".into());
                match *verdict {
                    AuthKey::Accepted(id) => {
                        out.push(1);
                        push_string(out, id);
                    }
                    AuthKey::Refused(text) => {
                        out.extend_from_slice(&[0, TEXT_REASON]);
                        push_string(out, text);
                    }
                    AuthKey::RefusedCode(code) => out.extend_from_slice(&[0, code, 0, 0]),
                }
            }
        }
    }
}

/// Reason of a refusal that a text follows.
const TEXT_REASON: u8 = 3;

impl<'a> AuthKey<'a> {
    fn read(mut reader: Reader<'a>) -> Result<Self> {
        let error = |argument| DiscoveryError::Argument { command: "authKey", argument };
        Ok(match reader.u8().ok_or(error("verdict"))? {
            0 => match reader.u8().ok_or(error("reason"))? {
                TEXT_REASON => Self::Refused(reader.string().unwrap_or_default()),
                code => Self::RefusedCode(code),
            },
            1 => Self::Accepted(reader.string().unwrap_or_default()),
            _ => return Err(error("verdict")),
        })
    }
}

impl<'a> InfoResponse<'a> {
    /// Iterates over keys and values. Only a pair without key and value ends them.
    pub fn pairs(self) -> impl Iterator<Item = (WireText<'a>, WireText<'a>)> {
        let mut reader = Reader(self.body);
        std::iter::from_fn(move || reader.pair()).take(MAX_PAIRS)
    }

    /// Returns the value of `key`, without regard to case.
    #[must_use]
    pub fn get(self, key: &str) -> Option<WireText<'a>> {
        self.pairs().find(|(found, _)| found.eq_ignore_case(key)).map(|(_, value)| value)
    }

    /// Iterates over the players, up to the end or the first incomplete one.
    pub fn players(self) -> impl Iterator<Item = Player<'a>> {
        let mut reader = self.behind_pairs();
        std::iter::from_fn(move || reader.player()).take(usize::from(END_OF_PLAYERS))
    }

    /// Returns the bits of the operating systems that clients may have; `None` in a cut response.
    #[must_use]
    pub fn os_mask(self) -> Option<u32> {
        let mut reader = self.behind_pairs();
        while reader.player().is_some() {}
        (reader.u8()? == END_OF_PLAYERS).then(|| reader.u32())?
    }

    fn behind_pairs(self) -> Reader<'a> {
        let mut reader = Reader(self.body);
        for _ in 0..=MAX_PAIRS {
            if reader.pair().is_none() {
                break;
            }
        }
        reader
    }
}

/// Appends an `infoResponse` to `out`: pairs, players and [`TAIL`].
pub fn write_info_response<'a>(
    out: &mut Vec<u8>,
    challenge: u32,
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    players: impl IntoIterator<Item = Player<'a>>,
) {
    Packet::InfoResponse(InfoResponse { challenge, protocol: PROTOCOL, body: &[] }).write(out);
    for (key, value) in pairs.into_iter().filter(|(key, _)| !key.is_empty()) {
        push_string(out, key.into());
        push_string(out, value.into());
    }
    out.extend_from_slice(&[0, 0]);
    for player in players.into_iter().filter(|player| player.slot < END_OF_PLAYERS) {
        out.push(player.slot);
        out.extend_from_slice(&player.ping.to_le_bytes());
        out.extend_from_slice(&player.rate.to_le_bytes());
        push_string(out, player.name);
        push_string(out, player.clan);
    }
    out.push(END_OF_PLAYERS);
    out.extend_from_slice(&TAIL);
}

/// Appends text and its terminator.
fn push_string(out: &mut Vec<u8>, text: WireText<'_>) {
    out.extend(text.up_to_zero().raw());
    out.push(0);
}

/// Reader of little-endian values and strings.
#[derive(Clone, Copy, Debug)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*chunk)
    }

    fn u8(&mut self) -> Option<u8> {
        self.chunk::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.chunk().map(u32::from_le_bytes)
    }

    /// Reads a string; `None` without a terminator.
    fn string(&mut self) -> Option<WireText<'a>> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let (text, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        Some(WireText::new(text))
    }

    /// Reads a flag and a string, which is there in any case.
    fn optional_string(&mut self) -> Option<WireText<'a>> {
        let is_there = self.u8()? != 0;
        self.string().filter(|_| is_there)
    }

    fn pair(&mut self) -> Option<(WireText<'a>, WireText<'a>)> {
        let (key, value) = (self.string()?, self.string()?);
        (!key.is_empty() || !value.is_empty()).then_some((key, value))
    }

    /// Reads a player and nothing else: at the end marker, the reader stays in front of it.
    fn player(&mut self) -> Option<Player<'a>> {
        let mut ahead = *self;
        let slot = ahead.u8().filter(|&slot| slot < END_OF_PLAYERS)?;
        let player = Player {
            slot,
            ping: u16::from_le_bytes(ahead.chunk()?),
            rate: ahead.u32()?,
            name: ahead.string()?,
            clan: ahead.string()?,
        };
        *self = ahead;
        Some(player)
    }
}
