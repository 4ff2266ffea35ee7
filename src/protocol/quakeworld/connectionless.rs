//! Connectionless packets: challenge, connect, console, status, and the answers of a server.
//!
//! Source: QuakeWorld protocol 28, connectionless messages and handshake.

use std::io::Write as _;

use thiserror::Error;

use super::{
    bytes::Text,
    channel::header::CONNECTIONLESS,
    extensions::{Extensions, PROTOCOL},
    level::CHUNK_LEN,
};
use crate::model::Qport;

/// Longest line of a request.
pub const MAX_REQUEST_LEN: usize = 1450;

/// Reasons to ignore a connectionless packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConnectionlessError {
    /// No mark of connectionless packets.
    #[error("packet without mark")]
    Mark,
    /// Unknown command.
    #[error("unknown command")]
    Command,
    /// Missing or invalid argument.
    #[error("invalid {argument} of {command}")]
    Argument {
        /// Command.
        command: &'static str,
        /// Argument.
        argument: &'static str,
    },
    /// Longer than any request.
    #[error("request too long: {0} bytes (max {MAX_REQUEST_LEN})")]
    Long(usize),
}

type Result<T> = std::result::Result<T, ConnectionlessError>;

/// Request for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect<'a> {
    /// Protocol number.
    pub protocol: i32,
    /// Qport of the client.
    pub qport: Qport,
    /// Challenge that the server sent.
    pub challenge: i32,
    /// Info string of the player.
    pub userinfo: Text<'a>,
    /// Extensions that the client asks for.
    pub extensions: Extensions,
}

/// Packet to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// Request for a challenge.
    GetChallenge,
    /// Request for a slot.
    Connect(Connect<'a>),
    /// Request for settings and players.
    Status {
        /// Bits of the wished parts.
        parts: Option<u32>,
    },
    /// Request for an acknowledgment.
    Ping,
    /// Acknowledgment, e.g. of a master server.
    Ack,
    /// Request for the log of frags.
    Log {
        /// Number of the piece that the sender has.
        number: Option<u32>,
    },
    /// Console command of an operator.
    Rcon {
        /// Password, or its hash; see [`rcon`](super::rcon).
        password: Text<'a>,
        /// Command with its arguments.
        command: Text<'a>,
    },
}

impl<'a> Request<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// See [`ConnectionlessError`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self> {
        let body = datagram.strip_prefix(CONNECTIONLESS).ok_or(ConnectionlessError::Mark)?;
        if body.len() > MAX_REQUEST_LEN {
            return Err(ConnectionlessError::Long(body.len()));
        }
        let end = body.iter().position(|byte| matches!(byte, b'\n' | 0)).unwrap_or(body.len());
        let line = Text::new(&body[..end]);
        if matches!(line.bytes(), b"k" | b"l") {
            return Ok(if line == "k" { Self::Ping } else { Self::Ack });
        }
        let mut words = line.words();
        let word = words.next().ok_or(ConnectionlessError::Command)?;
        match word.bytes() {
            b"getchallenge" => Ok(Self::GetChallenge),
            b"connect" => Connect::parse(body).map(Self::Connect),
            b"status" => {
                let parts = words.next().and_then(Text::number).map(|bits| bits as u32);
                Ok(Self::Status { parts })
            }
            b"ping" => Ok(Self::Ping),
            b"log" => {
                let number = words.next().and_then(Text::number);
                Ok(Self::Log { number: number.and_then(|number| u32::try_from(number).ok()) })
            }
            b"rcon" => {
                let password = words.next().unwrap_or_default();
                Ok(Self::Rcon { password, command: rcon_command(line) })
            }
            _ => Err(ConnectionlessError::Command),
        }
    }

    /// Replaces the content of `out` with the datagram.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(CONNECTIONLESS);
        match self {
            Self::GetChallenge => out.extend_from_slice(b"getchallenge\n"),
            Self::Connect(connect) => connect.write(out),
            Self::Status { parts: None } => out.extend_from_slice(b"status\n"),
            Self::Status { parts: Some(bits) } => append(out, format_args!("status {bits}\n")),
            Self::Ping => out.extend_from_slice(b"ping\n"),
            Self::Ack => out.extend_from_slice(b"l\0"),
            Self::Log { number: None } => out.extend_from_slice(b"log\n"),
            Self::Log { number: Some(number) } => append(out, format_args!("log {number}\n")),
            Self::Rcon { password, command } => {
                for part in [b"rcon ", password.bytes(), b" ", command.bytes(), b" \0"] {
                    out.extend_from_slice(part);
                }
            }
        }
    }
}

/// Returns the text behind the password of an `rcon` line, without space at both ends.
fn rcon_command(line: Text<'_>) -> Text<'_> {
    let mut rest = line.bytes();
    for _ in 0..2 {
        rest = rest.trim_ascii_start();
        let len = if let Some(quoted) = rest.strip_prefix(b"\"") {
            quoted.iter().position(|&byte| byte == b'"').map_or(rest.len(), |end| end + 2)
        } else {
            rest.iter().position(|&byte| byte <= b' ').unwrap_or(rest.len())
        };
        rest = &rest[len..];
    }
    Text::new(rest.trim_ascii())
}

impl<'a> Connect<'a> {
    fn parse(body: &'a [u8]) -> Result<Self> {
        let invalid = |argument| ConnectionlessError::Argument { command: "connect", argument };
        let text = Text::new(body);
        let mut words = text.words().skip(1);
        let mut number = |argument| {
            words.next().and_then(Text::number).map(|number| number as i32).ok_or(invalid(argument))
        };
        let (protocol, qport) = (number("protocol")?, number("qport")?);
        let challenge = number("challenge")?;
        // The userinfo stands between quotes, which cannot occur in it.
        let mut parts = text.bytes().splitn(3, |&byte| byte == b'"');
        let (_, userinfo, rest) = (parts.next(), parts.next(), parts.next());
        let userinfo = Text::new(userinfo.ok_or(invalid("userinfo"))?);
        let rest = Text::new(rest.ok_or(invalid("userinfo"))?);
        let extensions = Extensions::from_words(rest.words());
        Ok(Self { protocol, qport: Qport(qport as u16), challenge, userinfo, extensions })
    }

    fn write(&self, out: &mut Vec<u8>) {
        let Self { protocol, qport: Qport(qport), challenge, .. } = self;
        append(out, format_args!("connect {protocol} {qport} {challenge} \""));
        out.extend_from_slice(self.userinfo.bytes());
        out.extend_from_slice(b"\"\n");
        for (magic, flags) in self.extensions.pairs() {
            if flags != 0 {
                append(out, format_args!("0x{magic:x} 0x{flags:x}\n"));
            }
        }
    }
}

/// Packet of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// Challenge, with the extensions that the server offers.
    Challenge {
        /// Number to send back.
        number: i32,
        /// Extensions.
        extensions: Extensions,
    },
    /// Slot granted.
    Accepted,
    /// Text: console output, a status, or the reason of a refusal.
    Print {
        /// Text. It may end with a zero. The answer to `status` is one too.
        text: &'a [u8],
    },
    /// Part of a chunked download.
    Chunk {
        /// Number of the download.
        id: i32,
        /// Number of the part.
        number: u32,
        /// Bytes.
        bytes: &'a [u8],
    },
    /// Request for an acknowledgment.
    Ping,
    /// Acknowledgment.
    Ack,
    /// Nothing new.
    Nack,
    /// Log of frags.
    Log {
        /// Number, line feed and log.
        text: &'a [u8],
    },
}

impl<'a> Reply<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// See [`ConnectionlessError`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self> {
        let Some(body) = datagram.strip_prefix(CONNECTIONLESS) else {
            return match datagram {
                b"l" | b"l\n" => Ok(Self::Ack),
                b"m" => Ok(Self::Nack),
                _ => {
                    let text =
                        datagram.strip_prefix(b"stdlog ").ok_or(ConnectionlessError::Mark)?;
                    Ok(Self::Log { text })
                }
            };
        };
        let (code, rest) = body.split_first().ok_or(ConnectionlessError::Command)?;
        let is_alone = matches!(rest.first(), None | Some(b'\n' | 0));
        match code {
            b'c' => Self::parse_challenge(rest),
            b'j' => Ok(Self::Accepted),
            b'n' => Ok(Self::parse_chunk(rest).unwrap_or(Self::Print { text: rest })),
            b'k' if is_alone => Ok(Self::Ping),
            b'l' if is_alone => Ok(Self::Ack),
            b'm' => Ok(Self::Nack),
            _ => Err(ConnectionlessError::Command),
        }
    }

    fn parse_challenge(rest: &[u8]) -> Result<Self> {
        let number = Text::new(rest);
        let pairs = rest.get(number.bytes().len() + 1..).unwrap_or_default();
        let invalid = ConnectionlessError::Argument { command: "challenge", argument: "number" };
        let number = number.number().ok_or(invalid)? as i32;
        Ok(Self::Challenge { number, extensions: Extensions::from_bytes(pairs) })
    }

    fn parse_chunk(rest: &'a [u8]) -> Option<Self> {
        let rest = rest.strip_prefix(b"\\chunk")?;
        let (id, rest) = rest.split_first_chunk()?;
        // Behind the id, the part stands as the message `download`.
        let rest = rest.strip_prefix(b")")?;
        let (number, bytes) = rest.split_first_chunk()?;
        let number = u32::from_le_bytes(*number);
        let id = i32::from_le_bytes(*id);
        (bytes.len() == CHUNK_LEN).then_some(Self::Chunk { id, number, bytes })
    }

    /// Replaces the content of `out` with the datagram.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        match self {
            // One byte without mark.
            Self::Ack => return out.push(b'l'),
            Self::Nack => return out.push(b'm'),
            Self::Log { text } => {
                out.extend_from_slice(b"stdlog ");
                return out.extend_from_slice(text);
            }
            _ => out.extend_from_slice(CONNECTIONLESS),
        }
        match self {
            Self::Challenge { number, extensions } => {
                append(out, format_args!("c{number}"));
                if !extensions.is_none() {
                    out.push(0);
                    extensions.write_bytes(out);
                }
            }
            Self::Accepted => out.push(b'j'),
            Self::Print { text } => {
                out.push(b'n');
                out.extend_from_slice(text);
            }
            Self::Chunk { id, number, bytes } => {
                out.extend_from_slice(b"n\\chunk");
                out.extend_from_slice(&id.to_le_bytes());
                out.push(b')');
                out.extend_from_slice(&number.to_le_bytes());
                out.extend_from_slice(bytes);
            }
            Self::Ping => out.push(b'k'),
            Self::Ack | Self::Nack | Self::Log { .. } => {}
        }
    }
}

/// Reasons for a refusal, with the text that clients show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another protocol.
    Protocol,
    /// Wrong challenge.
    BadChallenge,
    /// Challenge of another address, or none.
    NoChallenge,
    /// Invalid userinfo.
    Userinfo,
    /// Wrong password of spectators.
    SpectatorPassword,
    /// Wrong password.
    Password,
    /// No free slot.
    Full,
    /// Banned address.
    Banned,
}

impl Refusal {
    /// Returns the text of the print.
    #[must_use]
    pub const fn text(self) -> &'static [u8] {
        match self {
            Self::Protocol => b"\nServer is version 2.40.\n",
            Self::BadChallenge => b"\nBad challenge.\n",
            Self::NoChallenge => b"\nNo challenge for address.\n",
            Self::Userinfo => b"\nInvalid userinfo.\n",
            Self::SpectatorPassword => b"\nrequires a spectator password\n\n",
            Self::Password => b"\nserver requires a password\n\n",
            Self::Full => b"\nserver is full\n\n",
            Self::Banned => b"\nbanned.\n",
        }
    }
}

impl Default for Connect<'_> {
    fn default() -> Self {
        Self {
            protocol: PROTOCOL,
            qport: Qport(0),
            challenge: 0,
            userinfo: Text::EMPTY,
            extensions: Extensions::NONE,
        }
    }
}

fn append(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes everything");
}
