//! Connectionless packets: queries, handshake, remote console, master servers.
//!
//! A packet is four bytes of 255, then text. The first line is a command with arguments, split into
//! words like a console line; the body is the rest. Only the two server lists have no lines: binary
//! data follows their names directly.
//!
//! Invariants: a [`Message`] borrows the datagram; parsing allocates nothing and costs no more than
//! its first line, for any datagram. Userinfo, players and server lists are unpacked on request.
//! Every message can be written, and parsing a written message returns it.
//! Source: Quake III protocol 68, connectionless packets and server discovery; golden packets
//! `tests/vectors/discovery_vectors.csv`.

mod handshake;
mod info_response;
mod query;
mod rcon;
mod server_list;
mod status;

use std::fmt::Display;

use thiserror::Error;

use crate::model::limits::MAX_STRING_LEN;

use super::{
    connect::{CONNECT_PREFIX, Connect},
    text::WireText,
};

pub use handshake::{ChallengeResponse, ConnectResponse, GetChallenge};
pub use info_response::InfoResponse;
pub use query::{Echo, MAX_ECHO_LEN, Query};
pub use rcon::{MAX_RCON_OUTPUT, Rcon};
pub use server_list::{ListFilter, ListRequest, ServerList, write_server_list};
pub use status::{StatusPlayer, StatusResponse, write_status_response};

/// Prefix of connectionless packets.
pub const OUT_OF_BAND: &[u8; 4] = &[0xff; 4];
/// Shortest valid packet, in bytes; engines ignore shorter ones.
pub const MIN_PACKET_LEN: usize = 6;
/// Game tag of a server's heartbeat to masters.
pub const HEARTBEAT_TAG: &str = "QuakeArena-1";

/// Reasons to reject a connectionless packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConnectionlessError {
    /// Shorter than any packet.
    #[error("packet too short: {0} bytes")]
    Short(usize),
    /// Packet of a connection.
    #[error("missing out-of-band prefix")]
    NoMark,
    /// Empty first line.
    #[error("missing command name")]
    NoCommand,
    /// Uncompressed `connect`, which no client sends.
    #[error("connect: userinfo is not compressed")]
    PlainConnect,
    /// Missing or invalid required argument.
    #[error("{command}: missing or invalid {argument}")]
    Argument {
        /// Command.
        command: &'static str,
        /// Argument.
        argument: &'static str,
    },
}

/// Command of a message, for dispatch, counters and log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandKind {
    /// Request for a short description of a server.
    GetInfo,
    /// Request for the settings and players of a server.
    GetStatus,
    /// Request for the number that proves an address.
    GetChallenge,
    /// Request for a slot.
    Connect,
    /// Request to run a console line.
    Rcon,
    /// Response to [`CommandKind::GetChallenge`].
    ChallengeResponse,
    /// Response that accepts [`CommandKind::Connect`].
    ConnectResponse,
    /// Response to [`CommandKind::GetInfo`].
    InfoResponse,
    /// Response to [`CommandKind::GetStatus`].
    StatusResponse,
    /// Text to display: rejections and the output of [`CommandKind::Rcon`].
    Print,
    /// Text for a client to return.
    Echo,
    /// The server has no such connection.
    Disconnect,
    /// Sign of life from a server to a master.
    Heartbeat,
    /// Request to a master for servers.
    GetServers,
    /// Request for servers with IPv4 and IPv6 addresses.
    GetServersExt,
    /// Response to [`CommandKind::GetServers`].
    GetServersResponse,
    /// Response to [`CommandKind::GetServersExt`].
    GetServersExtResponse,
    /// Command of a discontinued service.
    ObsoleteCommand(ObsoleteCommand),
    /// Any other command.
    Unknown,
}

/// Commands of the publisher's discontinued services: recognized and ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObsoleteCommand {
    /// Request of a client for the message of the day.
    GetMotd,
    /// Message of the day.
    Motd,
    /// CD key of a client.
    GetKeyAuthorize,
    /// Response to it.
    KeyAuthorize,
    /// Request of a server about a client's CD key.
    GetIpAuthorize,
    /// Response to it.
    IpAuthorize,
}

/// Every command and its name in packets. Names are compared without regard to case.
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
    /// Name in packets; `unknown` for [`CommandKind::Unknown`].
    #[must_use]
    pub fn name(self) -> &'static str {
        COMMANDS.iter().find(|(_, kind)| *kind == self).map_or("unknown", |(name, _)| name)
    }

    fn of(command: WireText<'_>) -> Self {
        let named = COMMANDS.iter().find(|(name, _)| command.eq_ignore_case(name));
        named.map_or(Self::Unknown, |(_, kind)| *kind)
    }
}

/// One connectionless packet.
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
    /// See [`CommandKind::InfoResponse`]. An info string; [`InfoResponse`] parses its usual keys.
    InfoResponse(WireText<'a>),
    /// See [`CommandKind::StatusResponse`].
    StatusResponse(StatusResponse<'a>),
    /// See [`CommandKind::Print`]. The text may have several lines.
    Print(WireText<'a>),
    /// See [`CommandKind::Echo`].
    Echo(WireText<'a>),
    /// See [`CommandKind::Disconnect`].
    Disconnect,
    /// See [`CommandKind::Heartbeat`]. The tag names the game.
    Heartbeat(WireText<'a>),
    /// See [`CommandKind::GetServers`] and [`CommandKind::GetServersExt`].
    GetServers(ListRequest<'a>),
    /// See [`CommandKind::GetServersResponse`] and [`CommandKind::GetServersExtResponse`].
    ServerList(ServerList<'a>),
    /// See [`CommandKind::ObsoleteCommand`]. Arguments are neither read nor written.
    ObsoleteCommand(ObsoleteCommand),
    /// Unknown command, by its name. Arguments are neither read nor written.
    Unknown(WireText<'a>),
}

impl<'a> Message<'a> {
    /// Parses a datagram.
    ///
    /// # Errors
    /// See [`ConnectionlessError`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ConnectionlessError> {
        if datagram.len() < MIN_PACKET_LEN {
            return Err(ConnectionlessError::Short(datagram.len()));
        }
        let text = datagram.strip_prefix(OUT_OF_BAND).ok_or(ConnectionlessError::NoMark)?;
        // Three kinds are recognized by their prefix; the rest of them is not a line.
        if let Some(list) = ServerList::parse(text) {
            return Ok(Self::ServerList(list));
        }
        if let Some(compressed) = datagram.strip_prefix(CONNECT_PREFIX) {
            return Ok(Self::Connect(Connect::new(compressed)));
        }
        let line = WireText::new(text).first_line();
        let body = WireText::new(text.get(line.len() + 1..).unwrap_or_default());
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
            CommandKind::StatusResponse => Self::StatusResponse(StatusResponse::from_body(body)),
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
            // A list in other letter case is not a list: no client reads it as one.
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

    /// Returns the command.
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
fn push_argument(out: &mut Vec<u8>, word: WireText<'_>) {
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
    fn command_names_and_kinds_are_unique() {
        for (number, (name, kind)) in COMMANDS.iter().enumerate() {
            let twice = |(n, k): &(&str, CommandKind)| n.eq_ignore_ascii_case(name) || k == kind;
            assert!(!COMMANDS[..number].iter().any(twice), "{name}");
            assert_eq!(kind.name(), *name);
        }
        assert_eq!(CommandKind::Unknown.name(), "unknown");
    }
}
