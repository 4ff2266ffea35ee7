//! Raw client over a socket: joins normally and then sends hand-made datagrams.

use std::{net::UdpSocket, sync::Arc, time::Instant};

use fragd::{
    model::{Challenge, CommandNum, ConfigIndex, Qport, ServerId, UserCmd},
    netchan::{Channel, ChannelSide, command_hash, usercmd_key},
    wire::{
        Protocol,
        bits::{BitReader, BitWriter},
        client_message::{self, ClientHeader},
        gamestate,
        info::InfoString,
        server_message::{self, ServerOp},
        snapshot,
    },
};

use super::{
    fixture::{PATIENCE, mail, socket_at},
    overload::Target,
};

/// A client in the game, of ioquake3's protocol 71.
pub(super) struct RawClient {
    target: Target,
    pub(super) socket: UdpSocket,
    channel: Channel,
    server_id: ServerId,
    feed: i32,
    level_ms: i32,
    /// The last server command, which keys moves.
    command: (CommandNum, String),
    /// The last own command that the server has acknowledged.
    pub(super) acknowledged: CommandNum,
    time: i32,
    writer: BitWriter,
}

impl RawClient {
    /// Joins and makes the first move.
    pub(super) fn join(target: Target, host: u8) -> Self {
        let socket = socket_at(10, host);
        let qport = Qport(u16::from(host) + 700);
        let challenge = target.challenge(&socket);
        let qport_text = qport.0.to_string();
        let pairs = [
            ("protocol", "71"),
            ("qport", &qport_text),
            ("challenge", &challenge),
            ("name", "raw"),
            ("rate", "25000"),
        ];
        let reply = target.connect(&socket, &pairs);
        assert!(reply.starts_with("connectResponse"), "{reply}");
        let challenge = Challenge(challenge.parse().unwrap());
        let mut client = Self {
            target,
            socket,
            channel: Channel::new(ChannelSide::Client, Protocol::IOQ3_71, challenge, qport),
            server_id: ServerId(0),
            feed: 0,
            level_ms: 0,
            command: (CommandNum(0), String::new()),
            acknowledged: CommandNum(0),
            time: 0,
            writer: BitWriter::new(),
        };
        let begun = Instant::now();
        while client.level_ms == 0 || client.acknowledged.0 == 0 {
            assert!(begun.elapsed() < PATIENCE, "the game was not reached");
            if client.server_id.0 == 0 {
                client.send(client_message::end);
            } else {
                let (moves, key) = (client.moves(1), client.key());
                client.send(|writer| {
                    client_message::write_command(writer, CommandNum(1), b"say here");
                    client_message::write_usercmds(writer, false, key, &moves);
                    client_message::end(writer);
                });
            }
            std::thread::sleep(std::time::Duration::from_millis(60));
            client.read();
        }
        client
    }

    /// Sends a message with that content; returns its bytes, with those of headers.
    pub(super) fn send(&mut self, write: impl FnOnce(&mut BitWriter)) -> usize {
        let head = ClientHeader {
            server_id: self.server_id,
            message_acknowledge: self.channel.last_received().0 as i32,
            reliable_acknowledge: self.command.0,
        };
        client_message::begin(&mut self.writer, Protocol::Q3_68, &head);
        write(&mut self.writer);
        let (nothing, mut datagram, mut sent): (Arc<str>, _, _) = ("".into(), Vec::new(), 0);
        let mut left =
            self.channel.send(self.writer.message(), &nothing, (), &mut datagram).unwrap();
        while left.is_some() {
            let _ = self.socket.send_to(&datagram, self.target.address);
            sent += datagram.len() + super::overload::HEADERS;
            datagram.clear();
            left = self.channel.transmit_next(&mut datagram);
        }
        sent
    }

    /// Usercmds that continue the last ones, of the costliest kind: each in another direction.
    pub(super) fn moves(&mut self, count: usize) -> Vec<UserCmd> {
        self.time = self.time.max(self.level_ms);
        (0..count)
            .map(|n| {
                self.time += 1;
                let side = if n % 2 == 0 { 127 } else { -127 };
                UserCmd {
                    server_time: self.time,
                    weapon: 2,
                    forwardmove: 127,
                    rightmove: side,
                    ..UserCmd::default()
                }
            })
            .collect()
    }

    /// The key of the next message's moves.
    pub(super) fn key(&self) -> u32 {
        let acknowledge = self.channel.last_received().0 as i32;
        usercmd_key(self.feed, acknowledge, command_hash(self.command.1.as_bytes()))
    }

    /// Reads what came.
    pub(super) fn read(&mut self) {
        for datagram in mail(&self.socket) {
            self.take(&datagram);
        }
    }

    fn take(&mut self, datagram: &[u8]) {
        let mut message = Vec::new();
        let Ok(Some(received)) = self.channel.receive(datagram, &mut message) else { return };
        self.channel.commit(received);
        let mut reader = BitReader::new(&message);
        self.acknowledged = CommandNum(reader.long().unwrap());
        loop {
            match ServerOp::read(&mut reader).unwrap() {
                ServerOp::Command => {
                    let (number, text) = server_message::read_command(&mut reader).unwrap();
                    if number.0 > self.command.0.0 {
                        self.command = (number, text);
                    }
                }
                ServerOp::Gamestate => {
                    let gamestate = gamestate::read(&mut reader).unwrap();
                    self.feed = gamestate.checksum_feed.unwrap_or_default();
                    let system = ConfigIndex::SYSTEMINFO;
                    let found = gamestate.configstrings.iter().find(|(index, _)| *index == system);
                    let info = InfoString::parse_big(&found.unwrap().1);
                    self.server_id = ServerId(info.int("sv_serverid").unwrap());
                    return;
                }
                ServerOp::Snapshot => {
                    self.level_ms = snapshot::read_head(&mut reader).unwrap().server_time.0;
                    return;
                }
                _ => return,
            }
        }
    }
}
