//! Shadow of a connection of QuakeWorld.
//!
//! It knows the sequences and parities of both sides, and writes `drop` in the client's place, a reason and
//! `disconnect` in the server's. Source: QuakeWorld protocol 28, time-outs and disconnect messages.

use std::net::SocketAddr;

use super::Seen;
use crate::{
    model::{Challenge, Millis, Qport, text},
    quakeworld::{
        Extensions, ServerMessage,
        bytes::{Text, Writer},
        channel::{MAX_MESSAGE_LEN, header::Header},
        client_message::ClientMessage,
    },
    trace::{
        Direction, RecordKind,
        quakeworld::{Line, Record},
    },
};

/// Copies of `drop`, as clients send them.
const DROPS: u32 = 3;
/// Copies of the server's disconnect.
const COPIES: u32 = 2;
/// Longest reason of a disconnect, in bytes.
const MAX_REASON_LEN: usize = 200;
/// Level of a print that every client shows.
const PRINT_HIGH: u8 = 2;

/// Shadow of one session's connection.
#[derive(Debug)]
pub(in crate::proxy) struct Shadow {
    line: Line,
    /// Challenge and qport of the last `connect` that was accepted.
    keys: Option<(Challenge, Qport)>,
    is_in_game: bool,
}

impl Shadow {
    pub(super) fn new(server: SocketAddr, client: SocketAddr) -> Self {
        Self { line: Line::new(server, client), keys: None, is_in_game: false }
    }

    pub(super) fn connect(&mut self, challenge: Challenge, qport: Qport) -> bool {
        self.is_in_game = false;
        self.keys.replace((challenge, qport)) != Some((challenge, qport))
    }

    pub(super) fn protocol(&self) -> Option<String> {
        self.keys.map(|_| "quakeworld".to_owned())
    }

    pub(super) const fn is_in_game(&self) -> bool {
        self.is_in_game
    }

    pub(super) fn record(&self) -> &Record {
        self.line.record()
    }

    pub(super) fn decode(&mut self, now: Millis, direction: Direction, datagram: &[u8]) -> Seen {
        let record = self.line.decode(now.0 * 1000, direction, datagram);
        match record.kind {
            RecordKind::Undecoded => Seen::Undecoded,
            RecordKind::Ignored => Seen::Nothing,
            RecordKind::Connectionless => match (record.command, direction) {
                (Some("accepted"), Direction::ToClient) => Seen::Accepted,
                _ => Seen::Nothing,
            },
            _ if record.is_farewell() => Seen::Disconnect,
            kind => {
                self.is_in_game |= kind == RecordKind::Snapshot;
                Seen::Message
            }
        }
    }

    pub(super) fn proves(&mut self, now: Millis, datagram: &[u8]) -> bool {
        self.decode(now, Direction::ToServer, datagram) == Seen::Message
            && !self.line.record().has_bad_checksum
    }

    pub(super) fn leave(&self, push: impl FnMut(&[u8])) {
        let mut body = Vec::new();
        let mut writer = Writer::new(&mut body, MAX_MESSAGE_LEN, Extensions::NONE);
        writer.write(&ClientMessage::StringCommand { text: "drop".into() });
        let qport = self.keys.map(|(_, qport)| qport);
        if qport.is_some() {
            self.send(Direction::ToServer, qport, &body, DROPS, push);
        }
    }

    pub(super) fn disconnect(&mut self, _: Millis, reason: &str, push: impl FnMut(&[u8])) -> bool {
        if self.keys.is_none() {
            return false;
        }
        let reason: String = reason.chars().filter(|c| !c.is_control()).collect();
        let line = format!("{}\n", text::truncated(&reason, MAX_REASON_LEN));
        let mut body = Vec::new();
        let mut writer = Writer::new(&mut body, MAX_MESSAGE_LEN, Extensions::NONE);
        writer.write(&ServerMessage::Print { level: PRINT_HIGH, text: Text::new(line.as_bytes()) });
        writer.write(&ServerMessage::Disconnect);
        let is_sent = self.send(Direction::ToClient, None, &body, COPIES, push);
        self.is_in_game = false;
        is_sent
    }

    /// Passes packets with this content to `push`, as the sender of a direction would make them next.
    fn send(
        &self,
        direction: Direction,
        qport: Option<Qport>,
        body: &[u8],
        copies: u32,
        mut push: impl FnMut(&[u8]),
    ) -> bool {
        let other = match direction {
            Direction::ToServer => Direction::ToClient,
            Direction::ToClient => Direction::ToServer,
        };
        let (newest, parity) = self.line.newest(direction).unwrap_or_default();
        let (acknowledged, _) = self.line.newest(other).unwrap_or_default();
        let mut datagram = Vec::new();
        for copy in 1..=copies {
            let header = Header {
                // The answers of a server have the numbers of the client's packets.
                sequence: newest.max(if qport.is_some() { 0 } else { acknowledged }) + copy,
                is_reliable: false,
                acknowledged,
                parity,
                qport,
            };
            datagram.clear();
            header.write(&mut datagram);
            datagram.extend_from_slice(body);
            push(&datagram);
        }
        true
    }
}
