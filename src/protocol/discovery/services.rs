//! Services beside the master: message of the day, updates, CD-key authorization, ends of maps.
//!
//! These packets have the Quake III family's mark and a first line of words. Each type reads what its
//! receiver gets and writes what its sender sends.

use crate::wire::{
    connectionless::{OUT_OF_BAND, StatusResponse},
    text::WireText,
};

use super::{DiscoveryError, InfoText, Result};

/// Longest first line that is read, in bytes.
const MAX_LINE: usize = 1023;

/// Packet of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServicePacket<'a> {
    /// Request of a client for the message of the day.
    GetMotd(InfoText<'a>),
    /// Message of the day.
    Motd(Motd<'a>),
    /// Request of a client for a newer release.
    GetUpdateInfo(GetUpdateInfo<'a>),
    /// Response to it.
    UpdateResponse(UpdateResponse<'a>),
    /// Request of a client for servers that its publisher blocks; the argument is the protocol.
    GetBlockedServers(i32),
    /// Announcement of a client to the authorization service.
    GetKeyAuthorize(GetKeyAuthorize<'a>),
    /// Request of a server about a client.
    GetIpAuthorize(GetIpAuthorize<'a>),
    /// Response to it.
    IpAuthorize(IpAuthorize<'a>),
    /// Result of a map, from a server to its masters.
    GameComplete(StatusResponse<'a>),
}

/// Response to a request for the message of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Motd<'a> {
    /// Pairs `challenge` and `motd`.
    pub info: InfoText<'a>,
}

/// Version and platform of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetUpdateInfo<'a> {
    /// Two words, as Enemy Territory sends them.
    Words {
        /// Version, such as `ET 2.60`.
        version: WireText<'a>,
        /// Platform, such as `win-x86`.
        platform: WireText<'a>,
    },
    /// Info string, as ET: Legacy sends it.
    Info(InfoText<'a>),
}

/// Response of an update service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateResponse<'a> {
    /// Whether there is a newer release.
    pub available: bool,
    /// Installer of the release, or the message of ET: Legacy.
    pub file: WireText<'a>,
    /// Files of the release, for ET: Legacy.
    pub files: Option<WireText<'a>>,
}

/// CD key of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GetKeyAuthorize<'a> {
    /// Whether the client wants to stay anonymous.
    pub anonymous: bool,
    /// Letters and digits of the key. A secret: never logged or stored.
    pub key: WireText<'a>,
}

/// Request of a server about a client that asked for a challenge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GetIpAuthorize<'a> {
    /// Number that the response repeats.
    pub challenge: i32,
    /// IPv4 address of the client.
    pub address: WireText<'a>,
    /// Game folder; empty from old servers.
    pub game: WireText<'a>,
    /// Whether an unknown client is to be refused.
    pub strict: bool,
}

/// Verdict of an authorization service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// The client may join.
    Accept,
    /// The client has the demo, which joins demo servers only.
    Demo,
    /// The service does not know the client yet.
    Unknown,
    /// The client may not join; the word is the service's own.
    Deny(WireText<'a>),
}

/// Response about a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpAuthorize<'a> {
    /// Number of the request.
    pub challenge: i32,
    /// Verdict.
    pub verdict: Verdict<'a>,
    /// Text for the player; empty for the game's own.
    pub reason: WireText<'a>,
}

impl<'a> Motd<'a> {
    /// Returns the number that proves the response; `None` without one.
    #[must_use]
    pub fn challenge(self) -> Option<i32> {
        self.info.get_ignore_case("challenge").map(WireText::atoi)
    }

    /// Returns the text. One master wrote `motd>TEXT` as a key.
    #[must_use]
    pub fn text(self) -> Option<WireText<'a>> {
        let damaged = |(key, _): (WireText<'a>, _)| key.strip_prefix("motd>");
        self.info.get_ignore_case("motd").or_else(|| self.info.pairs().find_map(damaged))
    }
}

impl<'a> Verdict<'a> {
    /// Returns the word of the verdict.
    #[must_use]
    pub fn word(self) -> WireText<'a> {
        match self {
            Self::Accept => "accept".into(),
            Self::Demo => "demo".into(),
            Self::Unknown => "unknown".into(),
            Self::Deny(word) => word,
        }
    }

    fn of(word: WireText<'a>) -> Self {
        [Self::Accept, Self::Demo, Self::Unknown]
            .into_iter()
            .find(|verdict| word.eq_ignore_case(&verdict.word().to_string()))
            .unwrap_or(Self::Deny(word))
    }
}

impl<'a> ServicePacket<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// See [`DiscoveryError`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self> {
        let text = datagram.strip_prefix(OUT_OF_BAND).ok_or(DiscoveryError::Mark)?;
        let line = WireText::new(text).first_line();
        let body = WireText::new(text).skip(line.len() + 1);
        let line = line.truncated(MAX_LINE);
        let mut words = line.words();
        let command = words.next().ok_or(DiscoveryError::Command)?;
        let is = |name: &str| command.eq_ignore_case(name);
        let mut next = || words.next().unwrap_or_default();
        Ok(if is("getmotd") {
            Self::GetMotd(info_argument(line))
        } else if is("motd") {
            Self::Motd(Motd { info: info_argument(line) })
        } else if is("getUpdateInfo") {
            let version = next();
            if version.strip_prefix("\\").is_some() {
                Self::GetUpdateInfo(GetUpdateInfo::Info(info_argument(line)))
            } else {
                Self::GetUpdateInfo(GetUpdateInfo::Words { version, platform: next() })
            }
        } else if is("updateResponse") {
            let available = next().atoi() != 0;
            let file = next();
            let files = words.next();
            Self::UpdateResponse(UpdateResponse { available, file, files })
        } else if is("getBlockedServers") {
            Self::GetBlockedServers(next().atoi())
        } else if is("getKeyAuthorize") {
            Self::GetKeyAuthorize(GetKeyAuthorize { anonymous: next().atoi() != 0, key: next() })
        } else if is("getIpAuthorize") {
            Self::GetIpAuthorize(GetIpAuthorize::read(words)?)
        } else if is("ipAuthorize") {
            Self::IpAuthorize(IpAuthorize::read(words)?)
        } else if is("gameCompleteStatus") {
            Self::GameComplete(StatusResponse::from_body(body))
        } else {
            return Err(DiscoveryError::Command);
        })
    }

    /// Appends the datagram to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(OUT_OF_BAND);
        match self {
            Self::GetMotd(info) => {
                push(out, "getmotd ", &[]);
                push_quoted(out, info.text());
                out.push(b'\n');
            }
            Self::Motd(motd) => {
                push(out, "motd ", &[]);
                push_quoted(out, motd.info.text());
            }
            Self::GetUpdateInfo(request) => {
                push(out, "getUpdateInfo ", &[]);
                match *request {
                    GetUpdateInfo::Words { version, platform } => {
                        push_quoted(out, version);
                        out.push(b' ');
                        push_quoted(out, platform);
                    }
                    GetUpdateInfo::Info(info) => push_quoted(out, info.text()),
                }
                out.push(b'\n');
            }
            Self::UpdateResponse(response) => {
                push(out, "updateResponse ", &[]);
                out.push(b'0' + u8::from(response.available));
                if response.available || response.files.is_some() {
                    push(out, "", &[response.file]);
                }
                if let Some(files) = response.files {
                    push(out, "", &[files]);
                }
            }
            Self::GetBlockedServers(protocol) => push_number(out, "getBlockedServers", *protocol),
            Self::GetKeyAuthorize(request) => {
                push_number(out, "getKeyAuthorize", request.anonymous.into());
                push(out, "", &[request.key]);
            }
            Self::GetIpAuthorize(request) => {
                push_number(out, "getIpAuthorize", request.challenge);
                push(out, "", &[request.address, request.game]);
                push_number(out, " 0", request.strict.into());
            }
            Self::IpAuthorize(response) => {
                push_number(out, "ipAuthorize", response.challenge);
                push(out, "", &[response.verdict.word()]);
                if !response.reason.is_empty() {
                    push(out, "", &[response.reason]);
                }
            }
            Self::GameComplete(status) => {
                push(out, "gameCompleteStatus\n", &[]);
                status.info.push_to(out);
                out.push(b'\n');
                status.player_lines.push_to(out);
            }
        }
    }
}

impl<'a> GetIpAuthorize<'a> {
    fn read(mut words: impl Iterator<Item = WireText<'a>>) -> Result<Self> {
        let challenge = number("getIpAuthorize", words.next())?;
        let error = DiscoveryError::Argument { command: "getIpAuthorize", argument: "address" };
        let address = words.next().ok_or(error)?;
        let game = words.next().unwrap_or_default();
        // The word between is always 0.
        let strict = words.nth(1).is_some_and(|word| word.atoi() != 0);
        Ok(Self { challenge, address, game, strict })
    }
}

impl<'a> IpAuthorize<'a> {
    fn read(mut words: impl Iterator<Item = WireText<'a>>) -> Result<Self> {
        let challenge = number("ipAuthorize", words.next())?;
        let error = DiscoveryError::Argument { command: "ipAuthorize", argument: "verdict" };
        let verdict = Verdict::of(words.next().ok_or(error)?);
        Ok(Self { challenge, verdict, reason: words.next().unwrap_or_default() })
    }
}

fn number(command: &'static str, word: Option<WireText<'_>>) -> Result<i32> {
    let error = DiscoveryError::Argument { command, argument: "challenge" };
    word.filter(|word| word.is_integer()).map(WireText::atoi).ok_or(error)
}

/// Returns the info string behind the command: between quotes, or the rest of the line without them.
fn info_argument(line: WireText<'_>) -> InfoText<'_> {
    let bare = || line.split_at_space().1.trimmed();
    InfoText::new(line.between_quotes().unwrap_or_else(bare))
}

/// Appends text, then words, each behind a space.
fn push(out: &mut Vec<u8>, text: &str, words: &[WireText<'_>]) {
    out.extend_from_slice(text.as_bytes());
    for word in words {
        out.push(b' ');
        word.push_word_to(out);
    }
}

fn push_number(out: &mut Vec<u8>, text: &str, number: i32) {
    use std::io::Write as _;
    write!(out, "{text} {number}").expect("a vector takes everything");
}

/// Appends text between quotes. Bytes that would end the word or the line become periods.
fn push_quoted(out: &mut Vec<u8>, text: WireText<'_>) {
    let harmless = |byte: u8| if byte == b'"' || byte.is_ascii_control() { b'.' } else { byte };
    out.push(b'"');
    out.extend(text.bytes().map(harmless));
    out.push(b'"');
}
