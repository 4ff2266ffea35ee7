//! Raw client: joins normally and then sends hand-made packets.

use std::{net::SocketAddr, sync::Arc};

use fragd::{
    model::{Challenge, CommandNum, Qport, ServerId, UserCmd},
    netchan::{Channel, ChannelSide, OutgoingCommands, command_hash, usercmd_key},
    wire::{
        Protocol,
        bits::BitWriter,
        client_message::{self, ClientHeader},
        connect::{ConnectForm, write_connect, write_plain_connect},
        download, gamestate,
        info::InfoString,
        server_message::{self, ServerOp},
        snapshot,
    },
};

use super::AttackFixture;

/// The client.
pub(super) struct RawClient {
    pub(super) address: SocketAddr,
    pub(super) qport: Qport,
    pub(super) challenge: Challenge,
    pub(super) channel: Channel,
    pub(super) server_id: ServerId,
    feed: i32,
    /// Level time of the last snapshot.
    pub(super) level_ms: i32,
    /// The last server command, which keys moves.
    command: (CommandNum, String),
    /// Server commands in the order they came.
    pub(super) heard: Vec<String>,
    /// The last of its own.
    pub(super) said: CommandNum,
    /// Gamestates and bytes that came.
    pub(super) gamestates: u32,
    pub(super) bytes_in: usize,
    /// Files that it was refused.
    pub(super) refusals: usize,
}

impl RawClient {
    /// An accepted client that has sent no message yet, or the rejection.
    pub(super) fn knock(
        fixture: &mut AttackFixture,
        address: SocketAddr,
        qport: u16,
    ) -> Result<Self, String> {
        Self::knock_as(fixture, address, qport, &format!("attacker{qport}"))
    }

    /// The same by another name.
    pub(super) fn knock_as(
        fixture: &mut AttackFixture,
        address: SocketAddr,
        qport: u16,
        name: &str,
    ) -> Result<Self, String> {
        Self::knock_with(fixture, address, qport, &[("name", name)])
    }

    /// The same with keys of its own.
    pub(super) fn knock_with(
        fixture: &mut AttackFixture,
        address: SocketAddr,
        qport: u16,
        own: &[(&str, &str)],
    ) -> Result<Self, String> {
        // Datagrams to the previous owner of this address.
        fixture.mail.retain(|(to, _)| *to != address);
        let challenge = challenge(fixture, address);
        let pairs = [&[("rate", "90000"), ("snaps", "20")], own].concat();
        let replies = connect(fixture, address, qport, challenge, &pairs);
        match replies.first() {
            Some(reply) if reply.starts_with("connectResponse") => {}
            reply => return Err(reply.cloned().unwrap_or_default()),
        }
        let qport = Qport(qport);
        Ok(Self {
            address,
            qport,
            challenge,
            channel: Channel::new(ChannelSide::Client, Protocol::IOQ3_71, challenge, qport),
            server_id: ServerId(0),
            feed: 0,
            level_ms: 0,
            command: (CommandNum(0), String::new()),
            heard: Vec::new(),
            said: CommandNum(0),
            gamestates: 0,
            bytes_in: 0,
            refusals: 0,
        })
    }

    /// The same of an older protocol.
    pub(super) fn knock_of(
        fixture: &mut AttackFixture,
        address: SocketAddr,
        qport: u16,
        protocol: &'static Protocol,
    ) -> Result<Self, String> {
        let name = format!("attacker{qport}");
        let number = protocol.number.to_string();
        let own = [("name", name.as_str()), ("protocol", number.as_str())];
        let mut client = Self::knock_with(fixture, address, qport, &own)?;
        client.channel =
            Channel::new(ChannelSide::Client, protocol, client.challenge, client.qport);
        Ok(client)
    }

    /// A client in the game.
    pub(super) fn join(fixture: &mut AttackFixture, address: SocketAddr, qport: u16) -> Self {
        let mut attacker = Self::knock(fixture, address, qport).expect("let in");
        attacker.enter(fixture);
        attacker
    }

    /// Takes the gamestate and makes the first move.
    pub(super) fn enter(&mut self, fixture: &mut AttackFixture) {
        self.idle(fixture);
        for _ in 0..10 {
            fixture.run_for(50);
            self.read(fixture);
        }
        assert_eq!(self.gamestates, 1, "a gamestate came");
        self.server_id = fixture.server_id();
        for _ in 0..4 {
            self.step(fixture);
            fixture.run_for(50);
            self.read(fixture);
        }
        assert_ne!(self.level_ms, 0, "snapshots came");
    }

    /// Receives the gamestate at the given rate, and sends no usercmd.
    pub(super) fn enter_loading(&mut self, fixture: &mut AttackFixture, rate: u32) {
        self.idle(fixture);
        fixture.run_for(1000);
        self.read(fixture);
        assert_eq!(self.gamestates, 1, "a gamestate came");
        self.server_id = fixture.server_id();
        let name = self.qport.0;
        self.say(fixture, &format!("userinfo \"\\name\\attacker{name}\\rate\\{rate}\""));
    }

    /// The head of an honest message.
    pub(super) fn head(&self) -> ClientHeader {
        ClientHeader {
            server_id: self.server_id,
            message_acknowledge: self.channel.last_received().0 as i32,
            reliable_acknowledge: self.command.0,
        }
    }

    /// A valid header with that content, as in a datagram.
    pub(super) fn message(&self, write: impl FnOnce(&mut BitWriter)) -> Vec<u8> {
        let mut writer = BitWriter::new();
        client_message::begin(&mut writer, self.channel.protocol(), &self.head());
        write(&mut writer);
        writer.message().to_vec()
    }

    /// The next datagram with that content.
    pub(super) fn datagram(
        &mut self,
        head: &ClientHeader,
        write: impl FnOnce(&mut BitWriter),
    ) -> Vec<u8> {
        let mut writer = BitWriter::new();
        client_message::begin(&mut writer, self.channel.protocol(), head);
        write(&mut writer);
        let mut datagram = Vec::new();
        let text: Arc<str> = self.command.1.as_str().into();
        self.channel.send(writer.message(), &text, (), &mut datagram).expect("short");
        datagram
    }

    /// Sends a message and reads what is answered at once.
    pub(super) fn send(
        &mut self,
        fixture: &mut AttackFixture,
        head: &ClientHeader,
        write: impl FnOnce(&mut BitWriter),
    ) {
        let datagram = self.datagram(head, write);
        let replies = fixture.send(self.address, &datagram);
        replies.iter().for_each(|reply| self.take(reply));
    }

    /// A message that says nothing.
    pub(super) fn idle(&mut self, fixture: &mut AttackFixture) {
        let head = self.head();
        self.send(fixture, &head, client_message::end);
    }

    /// A message with one reliable command.
    pub(super) fn say(&mut self, fixture: &mut AttackFixture, text: &str) {
        self.say_all(fixture, &[text]);
    }

    /// A message with several.
    pub(super) fn say_all(&mut self, fixture: &mut AttackFixture, texts: &[&str]) {
        let head = self.head();
        let mut number = self.said;
        self.send(fixture, &head, |writer| {
            for text in texts {
                number = CommandNum(number.0 + 1);
                client_message::write_command(writer, number, text.as_bytes());
            }
            client_message::end(writer);
        });
        self.said = number;
    }

    /// A message with a reliable command of these bytes, be they more than a string may have.
    pub(super) fn say_raw(&mut self, fixture: &mut AttackFixture, text: &[u8]) {
        let (head, number) = (self.head(), CommandNum(self.said.0 + 1));
        self.send(fixture, &head, |writer| {
            // What begins any command, and then the bytes one by one.
            writer.byte(4);
            writer.long(number.0);
            writer.data(text);
            writer.byte(0);
            client_message::end(writer);
        });
        self.said = number;
    }

    /// A message with these moves.
    pub(super) fn play(&mut self, fixture: &mut AttackFixture, moves: &[UserCmd]) {
        let head = self.head();
        self.play_upon(fixture, &head, false, moves);
    }

    /// A message with these moves and any head, which asks for what changed, or for everything.
    pub(super) fn play_upon(
        &mut self,
        fixture: &mut AttackFixture,
        head: &ClientHeader,
        delta: bool,
        moves: &[UserCmd],
    ) {
        let key = usercmd_key(
            self.feed,
            head.message_acknowledge,
            command_hash(self.command.1.as_bytes()),
        );
        self.send(fixture, head, |writer| {
            client_message::write_usercmds(writer, delta, key, moves);
            client_message::end(writer);
        });
    }

    /// One honest move.
    pub(super) fn step(&mut self, fixture: &mut AttackFixture) {
        self.play(fixture, &[self.move_at(self.level_ms)]);
    }

    pub(super) fn move_at(&self, server_time: i32) -> UserCmd {
        UserCmd { server_time, weapon: 2, ..UserCmd::default() }
    }

    /// Lets time pass, moving and acknowledging as clients do.
    pub(super) fn live(&mut self, fixture: &mut AttackFixture, ms: u64) {
        for _ in 0..ms / 50 {
            fixture.run_for(50);
            self.read(fixture);
            self.step(fixture);
        }
    }

    /// Reads what came for it.
    pub(super) fn read(&mut self, fixture: &mut AttackFixture) {
        let (ours, others) =
            std::mem::take(&mut fixture.mail).into_iter().partition(|(to, _)| *to == self.address);
        fixture.mail = others;
        let ours: Vec<(SocketAddr, Vec<u8>)> = ours;
        ours.iter().for_each(|(_, datagram)| self.take(datagram));
    }

    fn take(&mut self, datagram: &[u8]) {
        self.bytes_in += datagram.len();
        let mut message = Vec::new();
        let Ok(Some(received)) = self.channel.receive(datagram, &mut message) else { return };
        // Commands of its own are only acknowledged by protocols that do not scramble with them.
        let own = OutgoingCommands::new();
        self.channel
            .unscramble_server_message(received.sequence, &own, &mut message)
            .expect("a message to a client that has said nothing");
        self.channel.commit(received);
        let mut reader = self.channel.reader(&message);
        server_message::read_acknowledge(&mut reader).unwrap();
        loop {
            match ServerOp::read(&mut reader).unwrap() {
                ServerOp::Command => {
                    let (number, text) = server_message::read_command(&mut reader).unwrap();
                    if number.0 > self.command.0.0 {
                        self.command = (number, text.clone());
                        self.heard.push(text);
                    }
                }
                ServerOp::Gamestate => {
                    let gamestate = gamestate::read(&mut reader).unwrap();
                    self.feed = gamestate.checksum_feed.unwrap_or_default();
                    self.gamestates += 1;
                    return;
                }
                ServerOp::Snapshot => {
                    snapshot::read_acknowledge(&mut reader).unwrap();
                    self.level_ms = snapshot::read_head(&mut reader).unwrap().server_time.0;
                    return;
                }
                ServerOp::Download => {
                    let block = download::read(&mut reader, 0).unwrap();
                    assert!(matches!(block, download::Block::Refused(_)), "{block:?}");
                    self.refusals += 1;
                    return;
                }
                _ => return,
            }
        }
    }

    /// A datagram of its channel with a right checksum and any number, piece and body.
    pub(super) fn raw(&self, sequence: u32, piece: Option<(u16, u16)>, body: &[u8]) -> Vec<u8> {
        let challenge = self.challenge.0 as u32;
        let mark = if piece.is_some() { 1 << 31 } else { 0 };
        let mut datagram = (sequence | mark).to_le_bytes().to_vec();
        datagram.extend(self.qport.0.to_le_bytes());
        datagram.extend((challenge ^ sequence.wrapping_mul(challenge)).to_le_bytes());
        if let Some((start, len)) = piece {
            datagram.extend(start.to_le_bytes());
            datagram.extend(len.to_le_bytes());
        }
        datagram.extend(body);
        datagram
    }

    /// Whether the server still has it.
    pub(super) fn is_in(&self, fixture: &mut AttackFixture) -> bool {
        fixture.run_for(100);
        let name = format!("attacker{}", self.qport.0);
        let status = fixture.ask(([192, 0, 2, 251], self.qport.0).into(), "getstatus");
        status.concat().contains(&format!("\"{name}\""))
    }
}

/// The challenge of an address.
pub(super) fn challenge(fixture: &mut AttackFixture, address: SocketAddr) -> Challenge {
    let replies = fixture.ask(address, "getchallenge");
    let reply = replies.first().expect("a challenge");
    Challenge(reply.strip_prefix("challengeResponse ").unwrap().parse().unwrap())
}

/// A `connect`, and its answers.
pub(super) fn connect(
    fixture: &mut AttackFixture,
    address: SocketAddr,
    qport: u16,
    challenge: Challenge,
    pairs: &[(&str, &str)],
) -> Vec<String> {
    let mut info = InfoString::normal();
    let (qport, challenge) = (qport.to_string(), challenge.0.to_string());
    let own = [("protocol", "71"), ("qport", qport.as_str()), ("challenge", challenge.as_str())];
    for (key, value) in own.iter().chain(pairs) {
        info.set(key, value).unwrap();
    }
    let mut bytes = Vec::new();
    let number = info.int("protocol").unwrap();
    match Protocol::with_number(number).next().map(|protocol| protocol.handshake.connect) {
        Some(ConnectForm::Plain) => write_plain_connect(&info, &mut bytes).unwrap(),
        _ => write_connect(&info, &mut bytes).unwrap(),
    }
    let replies = fixture.send(address, &bytes);
    replies.iter().map(|reply| String::from_utf8_lossy(&reply[4..]).into_owned()).collect()
}
