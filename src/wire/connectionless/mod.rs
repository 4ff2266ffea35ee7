//! Packets outside a connection: queries, the handshake, remote console, master servers.
//!
//! Four bytes of 255, then text. The first line is a command with arguments, cut into words like a
//! console line; the body is whatever follows its end. Only the two server lists are not line-shaped:
//! binary data follows their names at once.
//!
//! Invariants: a [`Message`] borrows the datagram, so that reading one allocates nothing and costs no
//! more than its first line, whoever sends it; what has to be unpacked (userinfo, players, server
//! lists) is unpacked when asked for. Every message can be written, and reading undoes writing.
//! Source: Quake III protocol 68, connectionless packets and server discovery; golden packets
//! `tests/vectors/discovery_vectors.csv`.

mod handshake;
mod query;
mod rcon;
mod server_list;
mod status;
mod summary;

use std::fmt::Display;

use thiserror::Error;

use crate::model::limits::MAX_STRING_LEN;

use super::{
    connect::{CONNECT_PREFIX, Connect},
    text::Text,
};

pub use handshake::{ChallengeResponse, ConnectResponse, GetChallenge};
pub use query::{Echo, MAX_ECHO_LEN, Query};
pub use rcon::{MAX_RCON_OUTPUT, Rcon};
pub use server_list::{ListFilter, ListRequest, ServerList, write_server_list};
pub use status::{Player, StatusResponse, write_status_response};
pub use summary::Summary;

/// What every packet outside a connection begins with.
pub const OUT_OF_BAND: &[u8; 4] = &[0xff; 4];
/// Shortest packet that can mean something; shorter ones are ignored everywhere.
pub const MIN_PACKET_LEN: usize = 6;
/// What a server of this game calls itself before a master.
pub const HEARTBEAT_TAG: &str = "QuakeArena-1";

/// Why a packet outside a connection could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConnectionlessError {
    /// Too short to be anything.
    #[error("{0} bytes are too short for a packet")]
    Short(usize),
    /// It belongs to a connection.
    #[error("the packet does not begin with the out-of-band mark")]
    NoMark,
    /// The first line is empty.
    #[error("the packet names no command")]
    NoCommand,
    /// `connect` without compression, which no client sends.
    #[error("connect: the userinfo is not compressed")]
    PlainConnect,
    /// An argument without which the command means nothing.
    #[error("{command}: no valid {argument}")]
    Argument {
        /// The command.
        command: &'static str,
        /// What is missing or malformed.
        argument: &'static str,
    },
}

/// Which command a message is: for dispatch, counters and log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Asks a server for a few words about itself.
    GetInfo,
    /// Asks a server for its settings and players.
    GetStatus,
    /// Asks a server for the number that proves an address.
    GetChallenge,
    /// Asks a server for a slot.
    Connect,
    /// Asks a server to run a console line.
    Rcon,
    /// Answers [`Kind::GetChallenge`].
    ChallengeResponse,
    /// Answers [`Kind::Connect`] with yes.
    ConnectResponse,
    /// Answers [`Kind::GetInfo`].
    InfoResponse,
    /// Answers [`Kind::GetStatus`].
    StatusResponse,
    /// Text for the screen: refusals and the output of [`Kind::Rcon`].
    Print,
    /// Text for a client to send back.
    Echo,
    /// The server knows of no connection.
    Disconnect,
    /// A server tells a master that it lives.
    Heartbeat,
    /// Asks a master for servers.
    GetServers,
    /// The same, for addresses of both families.
    GetServersExt,
    /// Answers [`Kind::GetServers`].
    GetServersResponse,
    /// Answers [`Kind::GetServersExt`].
    GetServersExtResponse,
    /// Talk with services that are long gone.
    Retired(Retired),
    /// Anything else.
    Unknown,
}

/// Commands that belong to services of the publisher: recognised, and ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retired {
    /// A client asks for the message of the day.
    GetMotd,
    /// The message of the day.
    Motd,
    /// A client sends its CD key.
    GetKeyAuthorize,
    /// The answer to it.
    KeyAuthorize,
    /// A server asks about a client's CD key.
    GetIpAuthorize,
    /// The answer to it.
    IpAuthorize,
}

/// Every command and its name on the wire. Names are compared without regard to case.
pub const COMMANDS: &[(&str, Kind)] = &[
    ("getinfo", Kind::GetInfo),
    ("getstatus", Kind::GetStatus),
    ("getchallenge", Kind::GetChallenge),
    ("connect", Kind::Connect),
    ("rcon", Kind::Rcon),
    ("challengeResponse", Kind::ChallengeResponse),
    ("connectResponse", Kind::ConnectResponse),
    ("infoResponse", Kind::InfoResponse),
    ("statusResponse", Kind::StatusResponse),
    ("print", Kind::Print),
    ("echo", Kind::Echo),
    ("disconnect", Kind::Disconnect),
    ("heartbeat", Kind::Heartbeat),
    ("getservers", Kind::GetServers),
    ("getserversExt", Kind::GetServersExt),
    ("getserversResponse", Kind::GetServersResponse),
    ("getserversExtResponse", Kind::GetServersExtResponse),
    ("getmotd", Kind::Retired(Retired::GetMotd)),
    ("motd", Kind::Retired(Retired::Motd)),
    ("getKeyAuthorize", Kind::Retired(Retired::GetKeyAuthorize)),
    ("keyAuthorize", Kind::Retired(Retired::KeyAuthorize)),
    ("getIpAuthorize", Kind::Retired(Retired::GetIpAuthorize)),
    ("ipAuthorize", Kind::Retired(Retired::IpAuthorize)),
];

impl Kind {
    /// The name on the wire; `unknown` for [`Kind::Unknown`].
    #[must_use]
    pub fn name(self) -> &'static str {
        COMMANDS.iter().find(|(_, kind)| *kind == self).map_or("unknown", |(name, _)| name)
    }

    fn of(command: Text<'_>) -> Self {
        let named = COMMANDS.iter().find(|(name, _)| command.eq_ignore_case(name));
        named.map_or(Self::Unknown, |(_, kind)| *kind)
    }
}

/// One packet outside a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// See [`Kind::GetInfo`].
    GetInfo(Query<'a>),
    /// See [`Kind::GetStatus`].
    GetStatus(Query<'a>),
    /// See [`Kind::GetChallenge`].
    GetChallenge(GetChallenge<'a>),
    /// See [`Kind::Connect`].
    Connect(Connect<'a>),
    /// See [`Kind::Rcon`].
    Rcon(Rcon<'a>),
    /// See [`Kind::ChallengeResponse`].
    ChallengeResponse(ChallengeResponse),
    /// See [`Kind::ConnectResponse`].
    ConnectResponse(ConnectResponse),
    /// See [`Kind::InfoResponse`]. The text of an info string; [`Summary`] has what is usual in it.
    InfoResponse(Text<'a>),
    /// See [`Kind::StatusResponse`].
    StatusResponse(StatusResponse<'a>),
    /// See [`Kind::Print`]. The text may have many lines.
    Print(Text<'a>),
    /// See [`Kind::Echo`].
    Echo(Text<'a>),
    /// See [`Kind::Disconnect`].
    Disconnect,
    /// See [`Kind::Heartbeat`]. The tag names the kind of game.
    Heartbeat(Text<'a>),
    /// See [`Kind::GetServers`] and [`Kind::GetServersExt`].
    GetServers(ListRequest<'a>),
    /// See [`Kind::GetServersResponse`] and [`Kind::GetServersExtResponse`].
    ServerList(ServerList<'a>),
    /// See [`Kind::Retired`]. Arguments are neither read nor written.
    Retired(Retired),
    /// Another command, by its name. Arguments are neither read nor written.
    Unknown(Text<'a>),
}

impl<'a> Message<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// See [`ConnectionlessError`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ConnectionlessError> {
        if datagram.len() < MIN_PACKET_LEN {
            return Err(ConnectionlessError::Short(datagram.len()));
        }
        let text = datagram.strip_prefix(OUT_OF_BAND).ok_or(ConnectionlessError::NoMark)?;
        // Three kinds are told by the bytes they begin with; what follows is not a line.
        if let Some(list) = ServerList::parse(text) {
            return Ok(Self::ServerList(list));
        }
        if let Some(compressed) = datagram.strip_prefix(CONNECT_PREFIX) {
            return Ok(Self::Connect(Connect::new(compressed)));
        }
        let line = Text::new(text).first_line();
        let body = Text::new(text.get(line.len() + 1..).unwrap_or_default());
        let line = line.truncated(MAX_STRING_LEN);
        let mut words = line.words();
        let command = words.next().ok_or(ConnectionlessError::NoCommand)?;
        Ok(match Kind::of(command) {
            Kind::GetInfo => Self::GetInfo(Query::parse(words)),
            Kind::GetStatus => Self::GetStatus(Query::parse(words)),
            Kind::GetChallenge => Self::GetChallenge(GetChallenge::parse(words)),
            Kind::Connect => return Err(ConnectionlessError::PlainConnect),
            Kind::Rcon => Self::Rcon(Rcon::parse(line)),
            Kind::ChallengeResponse => Self::ChallengeResponse(ChallengeResponse::parse(words)?),
            Kind::ConnectResponse => Self::ConnectResponse(ConnectResponse::parse(words)),
            Kind::InfoResponse => Self::InfoResponse(body.first_line()),
            Kind::StatusResponse => Self::StatusResponse(StatusResponse::parse(body)),
            Kind::Print => Self::Print(body.up_to_zero()),
            Kind::Echo => Self::Echo(words.next().unwrap_or_default()),
            Kind::Disconnect => Self::Disconnect,
            Kind::Heartbeat => {
                Self::Heartbeat(words.next().ok_or(ConnectionlessError::Argument {
                    command: "heartbeat",
                    argument: "tag",
                })?)
            }
            Kind::GetServers => Self::GetServers(ListRequest::parse(words, false)?),
            Kind::GetServersExt => Self::GetServers(ListRequest::parse(words, true)?),
            Kind::Retired(retired) => Self::Retired(retired),
            // A list in other letter case is no list: nobody reads it as one.
            Kind::GetServersResponse | Kind::GetServersExtResponse | Kind::Unknown => {
                Self::Unknown(command)
            }
        })
    }

    /// Appends the datagram to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        if let Self::Connect(connect) = self {
            return connect.write(out);
        }
        out.extend_from_slice(OUT_OF_BAND);
        if let Self::Unknown(command) = self {
            return command.push_to(out);
        }
        out.extend_from_slice(self.kind().name().as_bytes());
        match self {
            Self::GetInfo(query) | Self::GetStatus(query) => query.write(out),
            Self::GetChallenge(request) => request.write(out),
            Self::Rcon(rcon) => rcon.write(out),
            Self::ChallengeResponse(response) => response.write(out),
            Self::ConnectResponse(response) => response.write(out),
            Self::InfoResponse(info) => {
                out.push(b'\n');
                info.push_to(out);
            }
            Self::StatusResponse(status) => status.write(out),
            Self::Print(text) => {
                out.push(b'\n');
                text.push_to(out);
            }
            Self::Echo(text) => push_argument(out, *text),
            Self::Heartbeat(tag) => {
                push_argument(out, *tag);
                out.push(b'\n');
            }
            Self::GetServers(request) => request.write(out),
            Self::ServerList(list) => list.write(out),
            Self::Disconnect | Self::Retired(_) | Self::Connect(_) | Self::Unknown(_) => {}
        }
    }

    /// Which command it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::GetInfo(_) => Kind::GetInfo,
            Self::GetStatus(_) => Kind::GetStatus,
            Self::GetChallenge(_) => Kind::GetChallenge,
            Self::Connect(_) => Kind::Connect,
            Self::Rcon(_) => Kind::Rcon,
            Self::ChallengeResponse(_) => Kind::ChallengeResponse,
            Self::ConnectResponse(_) => Kind::ConnectResponse,
            Self::InfoResponse(_) => Kind::InfoResponse,
            Self::StatusResponse(_) => Kind::StatusResponse,
            Self::Print(_) => Kind::Print,
            Self::Echo(_) => Kind::Echo,
            Self::Disconnect => Kind::Disconnect,
            Self::Heartbeat(_) => Kind::Heartbeat,
            Self::GetServers(ListRequest { extended: false, .. }) => Kind::GetServers,
            Self::GetServers(ListRequest { extended: true, .. }) => Kind::GetServersExt,
            Self::ServerList(list) if list.is_extended() => Kind::GetServersExtResponse,
            Self::ServerList(_) => Kind::GetServersResponse,
            Self::Retired(retired) => Kind::Retired(*retired),
            Self::Unknown(_) => Kind::Unknown,
        }
    }
}

/// Appends a space and one word.
fn push_argument(out: &mut Vec<u8>, word: Text<'_>) {
    out.push(b' ');
    word.push_word_to(out);
}

/// Appends a space and a number.
fn push_number(out: &mut Vec<u8>, number: impl Display) {
    use std::io::Write as _;
    write!(out, " {number}").expect("a vector takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_named_once_and_by_one_kind() {
        for (number, (name, kind)) in COMMANDS.iter().enumerate() {
            let twice = |(n, k): &(&str, Kind)| n.eq_ignore_ascii_case(name) || k == kind;
            assert!(!COMMANDS[..number].iter().any(twice), "{name}");
            assert_eq!(kind.name(), *name);
        }
        assert_eq!(Kind::Unknown.name(), "unknown");
    }
}
