//! QuakeWorld packets of discovery, with the handshake beside them.
//!
//! Packets between server and master have no mark, those with clients have four bytes of 255. The list request
//! of a client has none. A command is one letter or a line of words.

use crate::wire::{connectionless::OUT_OF_BAND, text::WireText};

use super::{DiscoveryError, InfoText, Result};

/// Bytes before the records of a list.
pub(super) const LIST_PREFIX: &[u8] = b"\xff\xff\xff\xffd\n";
/// Request of a client for a list.
const LIST_REQUEST: &[u8] = b"c\n\0";

/// Form of an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckForm {
    /// One byte, from servers of the publisher.
    Bare,
    /// Mark and line feed, from masters.
    Line,
    /// Mark and NUL, from clients.
    Zero,
}

/// Packet of discovery or of the handshake. Lists are a [`ListPacket`](super::ListPacket).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// Sign of life from a server.
    Heartbeat {
        /// Number of the heartbeat since the server's start, from 1.
        number: u32,
        /// Number of players and spectators.
        players: u32,
    },
    /// The server ends.
    Shutdown,
    /// Request for an acknowledgment.
    Ping {
        /// Whether it has the mark of clients.
        marked: bool,
    },
    /// Response to a ping.
    Ack(AckForm),
    /// Request of a client for a list.
    ListRequest,
    /// Request for settings and players; the mask selects parts.
    GetStatus(Option<u32>),
    /// Response to it.
    Status(Status<'a>),
    /// Request for a challenge.
    GetChallenge,
    /// Response to it: the number, then the bytes of extensions.
    Challenge {
        /// Challenge.
        number: WireText<'a>,
        /// Pairs of four letters and a number, as received.
        extensions: &'a [u8],
    },
    /// Request for a slot.
    Connect {
        /// Protocol number.
        protocol: i32,
        /// Number of the client, against address translation.
        qport: i32,
        /// Challenge.
        challenge: i32,
        /// Settings of the player.
        userinfo: InfoText<'a>,
    },
    /// Response that grants a slot.
    Accepted,
}

/// Settings and players of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status<'a> {
    /// Settings.
    pub info: InfoText<'a>,
    /// Lines of the players, as received.
    pub player_lines: WireText<'a>,
}

/// One player or spectator of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Player<'a> {
    /// Number of the connection.
    pub user_id: i32,
    /// Score; `None` for spectators.
    pub frags: Option<i32>,
    /// Minutes since the connection.
    pub minutes: i32,
    /// Round-trip time in ms.
    pub ping: i32,
    /// Name, in the character set of the game.
    pub name: WireText<'a>,
    /// Skin.
    pub skin: WireText<'a>,
    /// Colors of shirt and pants.
    pub colors: (i32, i32),
    /// Team, when it was asked for.
    pub team: Option<WireText<'a>>,
}

/// Score of spectators on the wire.
const SPECTATOR_FRAGS: i32 = -9999;

impl<'a> Packet<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// See [`DiscoveryError`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self> {
        match datagram.strip_prefix(OUT_OF_BAND) {
            Some(text) => Self::parse_marked(text),
            None => Self::parse_bare(datagram),
        }
    }

    fn parse_bare(datagram: &'a [u8]) -> Result<Self> {
        Ok(match datagram {
            [] => return Err(DiscoveryError::Short(0)),
            [b'a', b'\n', numbers @ ..] => {
                let mut lines = WireText::new(numbers).up_to_zero().lines();
                let mut number = |argument| count("heartbeat", argument, lines.next());
                Self::Heartbeat { number: number("number")?, players: number("players")? }
            }
            [b'C'] | [b'C', b'\n' | 0] => Self::Shutdown,
            [b'k'] | [b'k', b'\n' | 0] => Self::Ping { marked: false },
            [b'l'] | [b'l', b'\n' | 0] => Self::Ack(AckForm::Bare),
            [b'c'] | [b'c', b'\n'] | [b'c', b'\n', 0] => Self::ListRequest,
            [b'a' | b'C' | b'k' | b'l' | b'c', ..] => return Err(DiscoveryError::Command),
            _ => return Err(DiscoveryError::Mark),
        })
    }

    fn parse_marked(text: &'a [u8]) -> Result<Self> {
        Ok(match text {
            [b'k'] | [b'k', b'\n' | 0] => Self::Ping { marked: true },
            [b'l', 0] => Self::Ack(AckForm::Zero),
            [b'l'] | [b'l', b'\n'] => Self::Ack(AckForm::Line),
            [b'j'] | [b'j', b'\n' | 0, ..] => Self::Accepted,
            [b'n', body @ ..] if matches!(body, [] | [b'\\' | b'\n' | 0, ..]) => {
                Self::Status(Status::read(WireText::new(body)))
            }
            [b'c', body @ ..] if matches!(body, [b'0'..=b'9' | b'-', ..]) => {
                let number = WireText::new(body).up_to_zero();
                let extensions = body.get(number.len() + 1..).unwrap_or_default();
                Self::Challenge { number, extensions }
            }
            _ => return Self::parse_line(text),
        })
    }

    fn parse_line(text: &'a [u8]) -> Result<Self> {
        let line = WireText::new(text).first_line();
        let mut words = line.truncated(1023).words();
        let command = words.next().ok_or(DiscoveryError::Command)?;
        Ok(if command == "status" {
            Self::GetStatus(words.next().map(|word| word.atoi().max(0).unsigned_abs()))
        } else if command == "getchallenge" {
            Self::GetChallenge
        } else if command == "connect" {
            let error = |argument| DiscoveryError::Argument { command: "connect", argument };
            let mut number = |argument| {
                words
                    .next()
                    .filter(|word| word.is_integer())
                    .map(WireText::atoi)
                    .ok_or(error(argument))
            };
            let (protocol, qport) = (number("protocol")?, number("qport")?);
            let challenge = number("challenge")?;
            let userinfo = InfoText::new(line.between_quotes().ok_or(error("userinfo"))?);
            Self::Connect { protocol, qport, challenge, userinfo }
        } else {
            return Err(DiscoveryError::Command);
        })
    }

    /// Appends the datagram to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        use std::io::Write as _;
        let bare: &[u8] = match self {
            Self::Heartbeat { number, players } => {
                write!(out, "a\n{number}\n{players}\n").expect("a vector takes everything");
                return;
            }
            Self::Shutdown => b"C\n",
            Self::Ping { marked: false } => b"k\0",
            Self::Ack(AckForm::Bare) => b"l",
            Self::ListRequest => LIST_REQUEST,
            _ => OUT_OF_BAND,
        };
        out.extend_from_slice(bare);
        match self {
            Self::Ping { marked: true } => out.extend_from_slice(b"k\0"),
            Self::Ack(AckForm::Line) => out.extend_from_slice(b"l\n"),
            Self::Ack(AckForm::Zero) => out.extend_from_slice(b"l\0"),
            Self::GetStatus(None) => out.extend_from_slice(b"status\n"),
            Self::GetStatus(Some(mask)) => {
                writeln!(out, "status {mask}").expect("a vector takes everything");
            }
            Self::Status(status) => {
                out.push(b'n');
                out.extend_from_slice(status.info.text().raw());
                out.push(b'\n');
                out.extend_from_slice(status.player_lines.raw());
                out.push(0);
            }
            Self::GetChallenge => out.extend_from_slice(b"getchallenge\n"),
            Self::Challenge { number, extensions } => {
                out.push(b'c');
                out.extend_from_slice(number.raw());
                if !extensions.is_empty() {
                    out.push(0);
                    out.extend_from_slice(extensions);
                }
            }
            Self::Connect { protocol, qport, challenge, userinfo } => {
                write!(out, "connect {protocol} {qport} {challenge} \"")
                    .expect("a vector takes everything");
                out.extend_from_slice(userinfo.text().raw());
                out.extend_from_slice(b"\"\n");
            }
            Self::Accepted => out.push(b'j'),
            Self::Heartbeat { .. }
            | Self::Shutdown
            | Self::Ping { marked: false }
            | Self::Ack(AckForm::Bare)
            | Self::ListRequest => {}
        }
    }
}

impl<'a> Status<'a> {
    fn read(body: WireText<'a>) -> Self {
        let body = body.up_to_zero();
        let info = body.first_line();
        Self { info: InfoText::new(info), player_lines: body.skip(info.len() + 1) }
    }

    /// Iterates over players and spectators. Invalid lines are skipped.
    pub fn players(self) -> impl Iterator<Item = Player<'a>> {
        self.player_lines.lines().filter_map(Player::read)
    }
}

impl<'a> Player<'a> {
    fn read(line: WireText<'a>) -> Option<Self> {
        let mut words = line.words();
        let user_id = words.next().filter(|word| word.is_integer())?.atoi();
        let frags = words.next()?;
        let is_spectator = frags == "S" || frags.atoi() == SPECTATOR_FRAGS;
        let mut next = || words.next().unwrap_or_default();
        Some(Self {
            user_id,
            frags: (!is_spectator).then(|| frags.atoi()),
            minutes: next().atoi(),
            ping: next().atoi(),
            name: next(),
            skin: next(),
            colors: (next().atoi(), next().atoi()),
            team: words.next(),
        })
    }

    /// Appends the line of the player to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        use std::io::Write as _;
        let Self { user_id, frags, minutes, ping, .. } = self;
        let frags = frags.unwrap_or(SPECTATOR_FRAGS);
        write!(out, "{user_id} {frags} {minutes} {ping}").expect("a vector takes everything");
        for text in [self.name, self.skin] {
            push_quoted(out, text);
        }
        write!(out, " {} {}", self.colors.0, self.colors.1).expect("a vector takes everything");
        if let Some(team) = self.team {
            push_quoted(out, team);
        }
        out.push(b'\n');
    }

    /// Returns the name in ASCII: colored letters become plain, frames and digits of the font their like.
    #[must_use]
    pub fn plain_name(self) -> String {
        let name = self.name.raw();
        plain_text(WireText::new(name.strip_prefix(b"\\s\\").unwrap_or(name)))
    }
}

/// Returns a text of the game's character set in ASCII.
#[must_use]
pub fn plain_text(text: WireText<'_>) -> String {
    text.raw().iter().map(|&byte| plain_char(byte)).collect()
}

/// Returns the ASCII character that looks like a byte of the game's font.
const fn plain_char(byte: u8) -> char {
    match byte & 0x7f {
        0x10 => '[',
        0x11 => ']',
        digit @ 0x12..=0x1b => (b'0' + digit - 0x12) as char,
        printable @ 0x20..=0x7e => printable as char,
        _ => '.',
    }
}

/// Appends a space and text between quotes. Bytes that would end the word or the line become periods.
fn push_quoted(out: &mut Vec<u8>, text: WireText<'_>) {
    let harmless = |&byte: &u8| if matches!(byte, b'"' | b'\n' | b'\r' | 0) { b'.' } else { byte };
    out.extend_from_slice(b" \"");
    out.extend(text.raw().iter().map(harmless));
    out.push(b'"');
}

fn count(command: &'static str, argument: &'static str, word: Option<WireText<'_>>) -> Result<u32> {
    let error = DiscoveryError::Argument { command, argument };
    let word = word.filter(|word| word.is_integer()).ok_or(error)?;
    u32::try_from(word.atoi()).map_err(|_| error)
}
