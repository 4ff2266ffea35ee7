//! Shadow of a connection of Quake III.
//!
//! A server that fell silent cannot disconnect its clients. The shadow knows the sequence numbers and keys of the
//! connection and writes the `disconnect` in its place: the command, and a full snapshot, because clients execute
//! commands when they enter a snapshot. It also writes the
//! `disconnect` of a client to the server.

use std::{net::SocketAddr, sync::Arc};

use super::Seen;
use crate::{
    model::{
        Challenge, CommandNum, LevelTime, Millis, PlayerState, Qport, Sequence, ServerId, text,
    },
    netchan::{Channel, ChannelSide},
    trace::{Direction, Line, Record, RecordKind},
    wire::{
        bits::BitWriter,
        client_message::{self, ClientHeader},
        connectionless::CommandKind,
        entity, server_message,
        snapshot::{self, SnapshotHeader},
    },
};

/// Time between the last snapshot and the one of the disconnect.
const SNAPSHOT_INTERVAL_MS: i32 = 50;
/// Longest reason of a disconnect, in bytes.
const MAX_REASON_LEN: usize = 200;
/// Copies of the disconnect, as servers send them.
const COPIES: usize = 2;

/// Newest state of both directions.
#[derive(Debug)]
struct Newest {
    server_sequence: Sequence,
    client_sequence: Sequence,
    server_command: (CommandNum, Arc<str>),
    client_command: (CommandNum, Arc<str>),
    /// Level that the client knows.
    server_id: ServerId,
    /// Time of the newest snapshot; `None` before the first.
    server_time: Option<LevelTime>,
}

impl Default for Newest {
    fn default() -> Self {
        Self {
            server_sequence: Sequence(0),
            client_sequence: Sequence(0),
            server_command: (CommandNum(0), Arc::from("")),
            client_command: (CommandNum(0), Arc::from("")),
            server_id: ServerId(0),
            server_time: None,
        }
    }
}

/// Shadow of one session's connection.
#[derive(Debug)]
pub(in crate::proxy) struct Shadow {
    line: Line,
    newest: Newest,
    /// Challenge and qport of the last `connect`.
    keys: Option<(Challenge, Qport)>,
}

impl Shadow {
    pub(super) fn new(server: SocketAddr, client: SocketAddr) -> Self {
        Self { line: Line::new(server, client), newest: Newest::default(), keys: None }
    }

    /// Starts a connection. Returns whether it is another one than before.
    pub(super) fn connect(&mut self, challenge: Challenge, qport: Qport) -> bool {
        let is_new = self.keys != Some((challenge, qport));
        if is_new {
            self.newest = Newest::default();
            self.keys = Some((challenge, qport));
        }
        is_new
    }

    /// Name of the protocol of the connection, once known.
    pub(super) fn protocol(&self) -> Option<String> {
        self.line.protocol().map(ToString::to_string)
    }

    /// Whether the client is in the game, as far as the server's messages tell.
    pub(super) fn is_in_game(&self) -> bool {
        self.newest.server_time.is_some()
    }

    /// Record of the last datagram.
    pub(super) fn record(&self) -> &Record {
        self.line.record()
    }

    /// Decodes a datagram.
    pub(super) fn decode(&mut self, now: Millis, direction: Direction, datagram: &[u8]) -> Seen {
        let record = self.line.decode(now.0 * 1000, direction, datagram);
        match record.kind {
            RecordKind::Undecoded => Seen::Undecoded,
            RecordKind::Ignored | RecordKind::Fragment => Seen::Nothing,
            RecordKind::Connectionless => match (record.connectionless.command, direction) {
                (Some(CommandKind::ConnectResponse), Direction::ToClient) => Seen::Accepted,
                _ => Seen::Nothing,
            },
            _ => self.newest.update(record, direction),
        }
    }

    /// Whether a datagram from another port is a complete, new message of the client.
    pub(super) fn proves(&mut self, now: Millis, datagram: &[u8]) -> bool {
        self.decode(now, Direction::ToServer, datagram) == Seen::Message
    }

    /// Passes datagrams that leave the server in the client's place to `push`.
    pub(super) fn leave(&self, mut push: impl FnMut(&[u8])) {
        let (Some(protocol), Some((challenge, qport))) = (self.line.protocol(), self.keys) else {
            return;
        };
        let Newest { server_sequence, client_sequence, server_id, .. } = self.newest;
        let (acknowledged, key) = &self.newest.server_command;
        let head = ClientHeader {
            server_id,
            message_acknowledge: server_sequence.0 as i32,
            reliable_acknowledge: *acknowledged,
        };
        let mut channel = Channel::<()>::new(ChannelSide::Client, protocol, challenge, qport)
            .resumed(client_sequence.next(), server_sequence);
        let mut writer = BitWriter::new();
        let mut datagram = Vec::new();
        client_message::begin(&mut writer, protocol, &head);
        let number = self.newest.client_command.0.next();
        client_message::write_command(&mut writer, number, b"disconnect");
        client_message::end(&mut writer);
        for _ in 0..COPIES {
            datagram.clear();
            if channel.send(writer.message(), key, (), &mut datagram).is_ok() {
                push(&datagram);
            }
        }
    }

    /// Passes datagrams that disconnect the client to `push`. Returns whether the client executes them.
    pub(super) fn disconnect(
        &mut self,
        now: Millis,
        reason: &str,
        mut push: impl FnMut(&[u8]),
    ) -> bool {
        let (Some(protocol), Some((challenge, qport)), Some(time)) =
            (self.line.protocol(), self.keys, self.newest.server_time)
        else {
            return false;
        };
        let next = self.newest.server_sequence.next();
        let mut channel = Channel::<()>::new(ChannelSide::Server, protocol, challenge, qport)
            .resumed(next, Sequence(0));
        let reason: String = reason.chars().filter(|c| !c.is_control() && *c != '"').collect();
        let reason = text::truncated(&reason, MAX_REASON_LEN);
        let command = format!("disconnect \"{reason}\"");
        let command = protocol.sent_command(&command).unwrap_or_default();
        let (acknowledged, key) = &self.newest.client_command;
        let mut writer = BitWriter::new();
        let mut datagram = Vec::new();
        for copy in 1..=COPIES {
            server_message::begin(&mut writer, protocol, *acknowledged);
            let number = self.newest.server_command.0.next();
            server_message::write_command(&mut writer, number, command.as_bytes());
            let later = SNAPSHOT_INTERVAL_MS * i32::try_from(copy).unwrap_or(1);
            write_empty_snapshot(
                &mut writer,
                *acknowledged,
                LevelTime(time.0.saturating_add(later)),
            );
            server_message::end(&mut writer);
            datagram.clear();
            if channel.send(writer.message(), key, (), &mut datagram).is_err() {
                return false;
            }
            push(&datagram);
            // The client's last messages are scrambled with this command.
            self.line.decode(now.0 * 1000, Direction::ToClient, &datagram);
        }
        // Only the first disconnect is written: the client ignores the numbers from then on.
        self.newest.server_time = None;
        true
    }
}

/// Writes a full snapshot without entities.
fn write_empty_snapshot(writer: &mut BitWriter, acknowledged: CommandNum, server_time: LevelTime) {
    snapshot::begin(writer, acknowledged);
    let nothing = PlayerState::default();
    let head = SnapshotHeader { server_time, ..SnapshotHeader::default() };
    snapshot::write_head(writer, &head, &nothing, &nothing);
    entity::write_end(writer);
}

impl Newest {
    fn update(&mut self, record: &Record, direction: Direction) -> Seen {
        let mut seen = Seen::Message;
        match direction {
            Direction::ToClient => {
                self.server_sequence = record.sequence.unwrap_or(self.server_sequence);
                let snapshot = &record.from_server;
                if snapshot.gamestate.is_some() {
                    // A new level: commands of the level before are acknowledged.
                    self.server_time = None;
                } else if snapshot.has_snapshot {
                    self.server_time = Some(snapshot.snapshot.head.server_time);
                }
                for command in &record.commands {
                    if command.number.distance(self.server_command.0) > 0 {
                        self.server_command = (command.number, command.text.as_str().into());
                    }
                    if !command.repeated && is_disconnect(&command.text) {
                        seen = Seen::Disconnect;
                    }
                }
            }
            Direction::ToServer => {
                self.client_sequence = record.sequence.unwrap_or(self.client_sequence);
                self.server_id = record.from_client.head.server_id;
                for command in &record.commands {
                    if command.number.distance(self.client_command.0) > 0 {
                        self.client_command = (command.number, command.text.as_str().into());
                    }
                    if !command.repeated && is_disconnect(&command.text) {
                        seen = Seen::Disconnect;
                    }
                }
            }
        }
        seen
    }
}

/// Whether a command is `disconnect`, with or without a reason.
fn is_disconnect(text: &str) -> bool {
    text.strip_prefix("disconnect").is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
