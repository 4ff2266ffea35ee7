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
pub enum CommandKind {
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
    /// Answers [`CommandKind::GetChallenge`].
    ChallengeResponse,
    /// Answers [`CommandKind::Connect`] with yes.
    ConnectResponse,
    /// Answers [`CommandKind::GetInfo`].
    InfoResponse,
    /// Answers [`CommandKind::GetStatus`].
    StatusResponse,
    /// Text for the screen: refusals and the output of [`CommandKind::Rcon`].
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
    /// Answers [`CommandKind::GetServers`].
    GetServersResponse,
    /// Answers [`CommandKind::GetServersExt`].
    GetServersExtResponse,
    /// Talk with services that are long gone.
    ObsoleteCommand(ObsoleteCommand),
    /// Anything else.
    Unknown,
}

/// Commands that belong to services of the publisher: recognised, and ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObsoleteCommand {
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
pub const COMMANDS: &[(&str, CommandKind)] = &[
    ("getinfo", CommandKind::GetInfo),
    ("getstatus", CommandKind::GetStatus),
    ("getchallenge", CommandKind::GetChallenge),
    ("connect", CommandKind::Connect),
    ("rcon", CommandKind::Rcon),
    ("challengeResponse", CommandKind::ChallengeResponse),
    ("connectResponse", CommandKind::ConnectResponse),
    ("infoResponse", CommandKind::InfoResponse),
    ("statusResponse", CommandKind::StatusResponse),
    ("print", CommandKind::Print),
    ("echo", CommandKind::Echo),
    ("disconnect", CommandKind::Disconnect),
    ("heartbeat", CommandKind::Heartbeat),
    ("getservers", CommandKind::GetServers),
    ("getserversExt", CommandKind::GetServersExt),
    ("getserversResponse", CommandKind::GetServersResponse),
    ("getserversExtResponse", CommandKind::GetServersExtResponse),
    ("getmotd", CommandKind::ObsoleteCommand(ObsoleteCommand::GetMotd)),
    ("motd", CommandKind::ObsoleteCommand(ObsoleteCommand::Motd)),
    ("getKeyAuthorize", CommandKind::ObsoleteCommand(ObsoleteCommand::GetKeyAuthorize)),
    ("keyAuthorize", CommandKind::ObsoleteCommand(ObsoleteCommand::KeyAuthorize)),
    ("getIpAuthorize", CommandKind::ObsoleteCommand(ObsoleteCommand::GetIpAuthorize)),
    ("ipAuthorize", CommandKind::ObsoleteCommand(ObsoleteCommand::IpAuthorize)),
];

impl CommandKind {
    /// The name on the wire; `unknown` for [`CommandKind::Unknown`].
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
    /// See [`CommandKind::GetInfo`].
    GetInfo(Query<'a>),
    /// See [`CommandKind::GetStatus`].
    GetStatus(Query<'a>),
    /// See [`CommandKind::GetChallenge`].
    GetChallenge(GetChallenge<'a>),
    /// See [`CommandKind::Connect`].
    Connect(Connect<'a>),
    /// See [`CommandKind::Rcon`].
    Rcon(Rcon<'a>),
    /// See [`CommandKind::ChallengeResponse`].
    ChallengeResponse(ChallengeResponse),
    /// See [`CommandKind::ConnectResponse`].
    ConnectResponse(ConnectResponse),
    /// See [`CommandKind::InfoResponse`]. The text of an info string; [`Summary`] has what is usual in it.
    InfoResponse(Text<'a>),
    /// See [`CommandKind::StatusResponse`].
    StatusResponse(StatusResponse<'a>),
    /// See [`CommandKind::Print`]. The text may have many lines.
    Print(Text<'a>),
    /// See [`CommandKind::Echo`].
    Echo(Text<'a>),
    /// See [`CommandKind::Disconnect`].
    Disconnect,
    /// See [`CommandKind::Heartbeat`]. The tag names the kind of game.
    Heartbeat(Text<'a>),
    /// See [`CommandKind::GetServers`] and [`CommandKind::GetServersExt`].
    GetServers(ListRequest<'a>),
    /// See [`CommandKind::GetServersResponse`] and [`CommandKind::GetServersExtResponse`].
    ServerList(ServerList<'a>),
    /// See [`CommandKind::ObsoleteCommand`]. Arguments are neither read nor written.
    ObsoleteCommand(ObsoleteCommand),
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
        Ok(match CommandKind::of(command) {
            CommandKind::GetInfo => Self::GetInfo(Query::parse(words)),
            CommandKind::GetStatus => Self::GetStatus(Query::parse(words)),
            CommandKind::GetChallenge => Self::GetChallenge(GetChallenge::parse(words)),
            CommandKind::Connect => return Err(ConnectionlessError::PlainConnect),
            CommandKind::Rcon => Self::Rcon(Rcon::parse(line)),
            CommandKind::ChallengeResponse => {
                Self::ChallengeResponse(ChallengeResponse::parse(words)?)
            }
            CommandKind::ConnectResponse => Self::ConnectResponse(ConnectResponse::parse(words)),
            CommandKind::InfoResponse => Self::InfoResponse(body.first_line()),
            CommandKind::StatusResponse => Self::StatusResponse(StatusResponse::parse(body)),
            CommandKind::Print => Self::Print(body.up_to_zero()),
            CommandKind::Echo => Self::Echo(words.next().unwrap_or_default()),
            CommandKind::Disconnect => Self::Disconnect,
            CommandKind::Heartbeat => {
                Self::Heartbeat(words.next().ok_or(ConnectionlessError::Argument {
                    command: "heartbeat",
                    argument: "tag",
                })?)
            }
            CommandKind::GetServers => Self::GetServers(ListRequest::parse(words, false)?),
            CommandKind::GetServersExt => Self::GetServers(ListRequest::parse(words, true)?),
            CommandKind::ObsoleteCommand(retired) => Self::ObsoleteCommand(retired),
            // A list in other letter case is no list: nobody reads it as one.
            CommandKind::GetServersResponse
            | CommandKind::GetServersExtResponse
            | CommandKind::Unknown => Self::Unknown(command),
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
            Self::Disconnect | Self::ObsoleteCommand(_) | Self::Connect(_) | Self::Unknown(_) => {}
        }
    }

    /// Which command it is.
    #[must_use]
    pub const fn kind(&self) -> CommandKind {
        match self {
            Self::GetInfo(_) => CommandKind::GetInfo,
            Self::GetStatus(_) => CommandKind::GetStatus,
            Self::GetChallenge(_) => CommandKind::GetChallenge,
            Self::Connect(_) => CommandKind::Connect,
            Self::Rcon(_) => CommandKind::Rcon,
            Self::ChallengeResponse(_) => CommandKind::ChallengeResponse,
            Self::ConnectResponse(_) => CommandKind::ConnectResponse,
            Self::InfoResponse(_) => CommandKind::InfoResponse,
            Self::StatusResponse(_) => CommandKind::StatusResponse,
            Self::Print(_) => CommandKind::Print,
            Self::Echo(_) => CommandKind::Echo,
            Self::Disconnect => CommandKind::Disconnect,
            Self::Heartbeat(_) => CommandKind::Heartbeat,
            Self::GetServers(ListRequest { extended: false, .. }) => CommandKind::GetServers,
            Self::GetServers(ListRequest { extended: true, .. }) => CommandKind::GetServersExt,
            Self::ServerList(list) if list.is_extended() => CommandKind::GetServersExtResponse,
            Self::ServerList(_) => CommandKind::GetServersResponse,
            Self::ObsoleteCommand(retired) => CommandKind::ObsoleteCommand(*retired),
            Self::Unknown(_) => CommandKind::Unknown,
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
            let twice = |(n, k): &(&str, CommandKind)| n.eq_ignore_ascii_case(name) || k == kind;
            assert!(!COMMANDS[..number].iter().any(twice), "{name}");
            assert_eq!(kind.name(), *name);
        }
        assert_eq!(CommandKind::Unknown.name(), "unknown");
    }
}
