//! Client of a remote console (rcon) of Quake III or QuakeWorld: one command and its answer.
//!
//! A challenge request finds the family of a server, since both families answer it in words of their own; only then is
//! the password sent. An answer has no end on the wire: it ends with silence. A command is sent once, because a
//! repeated one could run twice.
//!
//! Invariants: datagrams of other addresses are ignored; an answer has at most [`MAX_ANSWER`] bytes and takes at most
//! [`LONGEST_ANSWER`].
//! Source: Quake III protocol 68 and QuakeWorld protocol 28, rcon. Engine names: `CL_Rcon_f`.

#[cfg(test)]
mod tests;

use std::{fmt, net::SocketAddr};

use crate::{
    discovery::{Family, quakeworld::plain_text},
    model::{Millis, UnixMillis},
    node::{Hosted, Input, LocalPort, Node, Outbox, Output, OutputKind, Route},
    quakeworld::{
        bytes::Text,
        connectionless::{Reply, Request},
        rcon::hashed_password,
    },
    wire::{
        connectionless::{Message, OUT_OF_BAND, Rcon},
        secure_rcon::write_secure_rcon,
        text::WireText,
    },
};

pub use crate::wire::secure_rcon::SecureMode;

/// Longest answer, in bytes. The rest is left out.
pub const MAX_ANSWER: usize = 1 << 20;
/// Longest time of an answer from its first packet.
pub const LONGEST_ANSWER: Millis = Millis(30_000);
/// Longest password and command together, in bytes. Engines read lines of 1023 bytes.
pub const MAX_REQUEST: usize = 1000;
/// Interval between challenge requests.
const PROBE_INTERVAL: Millis = Millis(1000);
/// Longest challenge of a DarkPlaces server, in bytes.
const MAX_CHALLENGE: usize = 64;
/// Longest first packet that is taken for a refusal.
const MAX_REFUSAL: usize = 128;

/// A command for a remote console.
#[derive(Clone)]
pub struct RconOptions {
    /// Addresses of the server. The first one that answers a challenge request counts.
    pub candidates: Vec<SocketAddr>,
    /// Family of the first candidate; none finds it.
    pub family: Option<Family>,
    /// Password.
    pub password: String,
    /// Whether a QuakeWorld password is sent in clear text.
    pub is_plain: bool,
    /// Proof of a request with a code in place of the password.
    pub secure: Option<SecureMode>,
    /// Command, one line.
    pub command: String,
    /// Time at which the command may be sent.
    pub not_before: Millis,
    /// Time to wait for the first packet of the challenge and of the answer.
    pub timeout: Millis,
    /// Silence that ends the answer.
    pub silence: Millis,
    /// Calendar time at time 0.
    pub began: UnixMillis,
}

impl fmt::Debug for RconOptions {
    /// Shows no password, and no command, which may have one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RconOptions")
            .field("candidates", &self.candidates)
            .field("family", &self.family)
            .finish_non_exhaustive()
    }
}

/// Answer of a remote console.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RconAnswer {
    /// Text.
    pub text: String,
    /// Number of packets.
    pub packets: u32,
    /// Time from the command to the first packet.
    pub first: Millis,
    /// Whether the rest was left out.
    pub is_cut: bool,
}

/// Result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RconResult {
    /// The server answered.
    Answered(RconAnswer),
    /// The server refused the password, with this text.
    Refused(String),
    /// No answer to the command. It may have run.
    Silent,
    /// No answer to the challenge request. The password was not sent.
    NoServer,
}

/// Why a command is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RconError {
    /// The password has characters that the protocol changes.
    #[error("password not sendable (expected printable ASCII without '\"', '%' and '\\')")]
    Password,
    /// The command has control characters.
    #[error("command not sendable: control character (expected one line)")]
    Command,
    /// Password and command are too long.
    #[error("command too long: {0} bytes with the password (max {MAX_REQUEST})")]
    Long(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Challenge requests find the family.
    Probing {
        next: Millis,
        give_up: Millis,
    },
    /// The command waits for its time.
    Ready,
    /// The command was sent.
    Sent(Millis),
    /// The answer arrives: times of the command, the first and the last packet.
    Answering {
        sent: Millis,
        first: Millis,
        last: Millis,
    },
    Finished,
}

/// Node that sends one command. It owns one port.
#[derive(Debug)]
pub struct RconClient {
    options: RconOptions,
    progress: Progress,
    server: Option<(SocketAddr, Family)>,
    /// Challenge of the server.
    challenge: Vec<u8>,
    bytes: Vec<u8>,
    answer: RconAnswer,
    result: RconResult,
    outbox: Outbox,
}

/// Checks a password for every command.
///
/// # Errors
/// [`RconError::Password`].
pub fn check_password(password: &str) -> Result<(), RconError> {
    let is_kept = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'%' | b'\\');
    if password.is_empty() || !password.bytes().all(is_kept) {
        return Err(RconError::Password);
    }
    Ok(())
}

impl RconClient {
    /// Creates a client that starts at `now`.
    ///
    /// # Errors
    /// The password or the command does not fit a packet.
    pub fn new(options: RconOptions, now: Millis) -> Result<Self, RconError> {
        check_password(&options.password)?;
        if options.command.contains(char::is_control) {
            return Err(RconError::Command);
        }
        let len = options.password.len() + options.command.len();
        if len > MAX_REQUEST {
            return Err(RconError::Long(len));
        }
        let known = options.candidates.first().copied().zip(options.family);
        let progress = match known {
            Some(_) if options.secure != Some(SecureMode::Challenge) => Progress::Ready,
            _ => Progress::Probing { next: now, give_up: now + options.timeout },
        };
        Ok(Self {
            options,
            progress,
            server: known,
            challenge: Vec::new(),
            bytes: Vec::new(),
            answer: RconAnswer::default(),
            result: RconResult::NoServer,
            outbox: Outbox::default(),
        })
    }

    /// Returns the result. Until the client is finished it is that of a silent server.
    #[must_use]
    pub const fn result(&self) -> &RconResult {
        &self.result
    }

    /// Returns the address and the family of the server, if known.
    #[must_use]
    pub const fn server(&self) -> Option<(SocketAddr, Family)> {
        self.server
    }

    fn probe(&mut self) {
        for &remote in &self.options.candidates {
            let route = Route::new(LocalPort(0), remote);
            self.outbox.push_with(route, |out| Request::GetChallenge.write(out));
        }
    }

    fn send(&mut self, now: Millis) {
        let Some((remote, family)) = self.server else { return };
        let RconOptions { password, command, is_plain, began, .. } = &self.options;
        let route = Route::new(LocalPort(0), remote);
        let unix = UnixMillis(began.0 + now.0);
        if let Some(mode) = self.options.secure {
            let time = format!("{}.{:03}000", unix.0 / 1000, unix.0 % 1000);
            let proof = match mode {
                SecureMode::Time => time.as_bytes(),
                SecureMode::Challenge => &self.challenge,
            };
            let (key, command) = (password.as_bytes(), command.as_bytes());
            self.outbox.push_with(route, |out| write_secure_rcon(out, mode, key, proof, command));
        } else if family == Family::QuakeWorld {
            let command = Text::new(command.as_bytes());
            let hashed;
            let password = if *is_plain {
                password.as_bytes()
            } else {
                hashed = hashed_password(password.as_bytes(), command, unix);
                hashed.as_bytes()
            };
            let request = Request::Rcon { password: Text::new(password), command };
            self.outbox.push_with(route, |out| request.write(out));
        } else {
            let (password, command) = (password.as_str().into(), command.as_str().into());
            let request = Message::Rcon(Rcon { password, command });
            self.outbox.push_with(route, |out| request.write(out));
        }
        self.progress = Progress::Sent(now);
        self.result = RconResult::Silent;
    }

    /// Reads the answer to a challenge request.
    fn read_challenge(&mut self, remote: SocketAddr, bytes: &[u8]) {
        if !self.options.candidates.contains(&remote) {
            return;
        }
        let (family, challenge) = match (Message::parse(bytes), Reply::parse(bytes)) {
            (Ok(Message::ChallengeResponse(response)), _) => {
                (Family::Quake3, response.challenge.0.to_string().into_bytes())
            }
            (_, Ok(Reply::Challenge { number, .. })) => {
                (Family::QuakeWorld, number.to_string().into_bytes())
            }
            _ => match darkplaces_challenge(bytes) {
                Some(challenge) => (Family::Quake3, challenge.to_vec()),
                None => return,
            },
        };
        self.challenge = challenge;
        self.server = Some((remote, family));
        self.progress = Progress::Ready;
    }

    /// Reads a packet of the answer.
    fn read_answer(&mut self, now: Millis, remote: SocketAddr, bytes: &[u8]) {
        let Some((_, family)) = self.server.filter(|(server, _)| *server == remote) else { return };
        let text = match family {
            _ if self.options.secure.is_some() => match Reply::parse(bytes) {
                Ok(Reply::Print { text }) => text.strip_suffix(b"\0").unwrap_or(text),
                _ => return,
            },
            Family::QuakeWorld => match Reply::parse(bytes) {
                Ok(Reply::Print { text }) => text.strip_suffix(b"\0").unwrap_or(text),
                _ => return,
            },
            Family::Quake3 | Family::Quake4 => match Message::parse(bytes) {
                Ok(Message::Print(text)) => text.raw(),
                _ => return,
            },
        };
        let (sent, first) = match self.progress {
            Progress::Sent(sent) => (sent, now),
            Progress::Answering { sent, first, .. } => (sent, first),
            _ => return,
        };
        if self.answer.packets == 0 {
            self.answer.first = now.since(sent);
        }
        self.answer.packets = self.answer.packets.saturating_add(1);
        self.progress = Progress::Answering { sent, first, last: now };
        let room = MAX_ANSWER - self.bytes.len();
        self.bytes.extend_from_slice(&text[..text.len().min(room)]);
        self.answer.is_cut |= text.len() > room;
        let is_refusal = self.answer.packets == 1 && is_refusal(text);
        if is_refusal || self.answer.is_cut {
            self.finish();
        }
    }

    /// Ends the answer.
    fn finish(&mut self) {
        let Some((_, family)) = self.server else { return };
        let bytes = std::mem::take(&mut self.bytes);
        let text = decoded(bytes, family);
        self.result = if self.answer.packets == 1 && is_refusal(text.as_bytes()) {
            RconResult::Refused(text.trim_end().to_owned())
        } else {
            RconResult::Answered(RconAnswer { text, ..std::mem::take(&mut self.answer) })
        };
        self.progress = Progress::Finished;
    }

    /// Returns the time at which the client ends without another datagram.
    fn ends_at(&self) -> Millis {
        let RconOptions { timeout, silence, .. } = self.options;
        match self.progress {
            Progress::Probing { give_up, .. } => give_up,
            Progress::Ready | Progress::Finished => Millis::NEVER,
            Progress::Sent(at) => at + timeout,
            Progress::Answering { first, last, .. } => (last + silence).min(first + LONGEST_ANSWER),
        }
    }
}

/// Challenge of a DarkPlaces server.
fn darkplaces_challenge(bytes: &[u8]) -> Option<&[u8]> {
    let text = bytes.strip_prefix(OUT_OF_BAND)?.strip_prefix(b"challenge ")?;
    let end = text.iter().position(|&byte| byte <= b' ').unwrap_or(text.len());
    Some(&text[..end]).filter(|challenge| (1..=MAX_CHALLENGE).contains(&challenge.len()))
}

/// Whether an answer of one packet refuses the password. Engines share the first words.
fn is_refusal(text: &[u8]) -> bool {
    let starts = |with: &str| {
        text.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with.as_bytes()))
    };
    text.len() <= MAX_REFUSAL
        && ["bad rconpassword", "bad rcon_password", "no rconpassword", "no rcon password"]
            .into_iter()
            .any(starts)
}

/// Returns the text of an answer. Quake III servers send UTF-8 or Latin-1, QuakeWorld the characters of its font.
fn decoded(bytes: Vec<u8>, family: Family) -> String {
    if family == Family::QuakeWorld {
        let lines = bytes.split(|&byte| byte == b'\n');
        let lines: Vec<_> = lines
            .map(|line| plain_text(WireText::new(line.strip_suffix(b"\r").unwrap_or(line))))
            .collect();
        return lines.join("\n");
    }
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect())
}

impl Node for RconClient {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        match self.progress {
            Progress::Probing { .. } => self.read_challenge(route.remote, bytes),
            _ => self.read_answer(now, route.remote, bytes),
        }
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        if now >= self.ends_at() {
            match self.progress {
                Progress::Answering { .. } => self.finish(),
                _ => self.progress = Progress::Finished,
            }
            return;
        }
        match &mut self.progress {
            Progress::Probing { next, .. } if now >= *next => {
                *next = now + PROBE_INTERVAL;
                self.probe();
            }
            Progress::Ready if now >= self.options.not_before => self.send(now),
            _ => {}
        }
    }

    fn next_frame(&self) -> Millis {
        match self.progress {
            Progress::Probing { next, .. } => next.min(self.ends_at()),
            Progress::Ready => self.options.not_before,
            _ => self.ends_at(),
        }
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.progress == Progress::Finished
    }
}

impl Hosted for RconClient {
    fn handle_input(&mut self, _: Millis, input: Input<'_>) {
        if let Input::Stop(_) = input {
            self.progress = Progress::Finished;
        }
    }

    fn poll_output(&mut self, _: OutputKind) -> Option<Output> {
        None
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }
}
