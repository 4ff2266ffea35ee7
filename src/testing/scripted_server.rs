//! Scripted server, built from the same codecs without code of the server.

use std::collections::HashMap;

use crate::{
    client::Protocol,
    model::{
        Challenge, ClientNum, CommandNum, ConfigIndex, EntityNum, EntityState, LevelTime,
        PlayerState, Qport, Sequence, UserCmd, limits::MAX_PACKET_USERCMDS,
    },
    netchan::{
        Channel, ChannelSide, CommandOrder, IncomingCommands, OutgoingCommands, command_hash,
        detect_protocol, is_connectionless, usercmd_key,
    },
    wire::{
        bits::BitWriter,
        client_message::{self, ClientHeader, ClientOp},
        connectionless::{ChallengeResponse, ConnectResponse, Message},
        gamestate,
        server_message::{self, ServerOp},
        snapshot::{self, SnapFlags, SnapshotHeader, SnapshotView},
        text::WireText,
        userinfo::Userinfo,
    },
};

/// Content of a snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    pub time: i32,
    pub flags: SnapFlags,
    pub player: PlayerState,
    pub entities: Vec<EntityState>,
}

impl World {
    /// Snapshot at a time, with entities whose states depend on the time.
    pub fn at(time: i32, numbers: &[usize]) -> Self {
        let entity = |&number: &usize| EntityState {
            time,
            ..EntityState::numbered(EntityNum::new(number).unwrap())
        };
        let player = PlayerState { command_time: time, ..PlayerState::default() };
        let entities = numbers.iter().map(entity).collect();
        Self { time, flags: SnapFlags(0), player, entities }
    }

    pub fn not_active(mut self) -> Self {
        self.flags = SnapFlags::NOT_ACTIVE;
        self
    }
}

/// Level of a gamestate.
#[derive(Clone, Debug)]
pub struct Level {
    pub configstrings: Vec<(u16, String)>,
    pub baselines: Vec<EntityState>,
    pub checksum_feed: i32,
}

impl Level {
    pub fn with_id(server_id: i32) -> Self {
        Self {
            configstrings: vec![
                (0, "\\mapname\\test".to_owned()),
                (1, format!("\\sv_serverid\\{server_id}")),
            ],
            baselines: Vec::new(),
            checksum_feed: server_id * 77,
        }
    }
}

/// One client of the server.
pub struct Peer {
    pub channel: Channel,
    pub commands: OutgoingCommands,
    client_commands: IncomingCommands,
    writer: BitWriter,
    message: Vec<u8>,
    /// Snapshot of each message.
    shown: HashMap<u32, World>,
    checksum_feed: i32,
    baselines: Vec<EntityState>,
    /// Commands that the client sent, each once.
    pub heard: Vec<String>,
    /// Usercmds that were new.
    pub moves: Vec<UserCmd>,
    /// Content of the client's last packet.
    pub head: ClientHeader,
    pub packets: usize,
    /// Usercmds in the last packet, and whether deltas are welcome; `None` without a move.
    pub last_move: Option<(usize, bool)>,
    pub userinfo: String,
    /// Whether the first packet tells the protocol, of those with one number.
    is_protocol_open: bool,
}

impl Peer {
    fn new(
        protocol: &'static Protocol,
        challenge: Challenge,
        qport: Qport,
        userinfo: String,
    ) -> Self {
        Self {
            channel: Channel::new(ChannelSide::Server, protocol, challenge, qport),
            commands: OutgoingCommands::new(),
            client_commands: IncomingCommands::new(),
            writer: BitWriter::new(),
            message: Vec::new(),
            shown: HashMap::new(),
            checksum_feed: 0,
            baselines: Vec::new(),
            heard: Vec::new(),
            moves: Vec::new(),
            head: ClientHeader::default(),
            packets: 0,
            last_move: None,
            userinfo,
            is_protocol_open: false,
        }
    }

    fn receive(&mut self, datagram: &[u8]) {
        // A client without an answer tries the other framing.
        let own = self.channel.protocol();
        let challenge = self.channel.challenge();
        if self.is_protocol_open {
            self.is_protocol_open = false;
            let found = detect_protocol(own, ChannelSide::Client, challenge, datagram);
            self.channel =
                Channel::new(ChannelSide::Server, found, challenge, self.channel.qport());
        }
        let own = self.channel.protocol();
        if detect_protocol(own, ChannelSide::Client, challenge, datagram) != own {
            return;
        }
        let Ok(Some(received)) = self.channel.receive(datagram, &mut self.message) else { return };
        let head =
            self.channel.unscramble_client_message(&self.commands, &mut self.message).unwrap();
        self.commands.acknowledge(head.reliable_acknowledge).unwrap();
        let text = self.commands.get(head.reliable_acknowledge).unwrap().clone();
        let key = usercmd_key(
            self.checksum_feed,
            head.message_acknowledge,
            command_hash(text.as_bytes()),
        );
        let mut reader = self.channel.reader(&self.message);
        ClientHeader::read(&mut reader).unwrap();
        self.last_move = None;
        loop {
            match client_message::read_op(&mut reader).unwrap() {
                ClientOp::Command { number, text } => {
                    match self.client_commands.take(number, &text) {
                        CommandOrder::Next => self.heard.push(text),
                        CommandOrder::Duplicate => {}
                        CommandOrder::Lost => panic!("command {number} after a gap"),
                    }
                }
                ClientOp::Usercmds { delta } => {
                    let mut moves = [UserCmd::default(); MAX_PACKET_USERCMDS];
                    let count =
                        client_message::read_usercmds(&mut reader, key, &mut moves).unwrap();
                    self.last_move = Some((count, delta));
                    for usercmd in &moves[..count] {
                        let newest = self.moves.last().map_or(i32::MIN, |last| last.server_time);
                        if usercmd.server_time > newest {
                            self.moves.push(*usercmd);
                        }
                    }
                }
                ClientOp::End => break,
            }
        }
        self.head = head;
        self.packets += 1;
        self.channel.commit(received);
    }

    fn begin(&mut self) {
        server_message::begin(
            &mut self.writer,
            self.channel.protocol(),
            self.client_commands.last(),
        );
        for (number, text) in self.commands.unacknowledged() {
            server_message::write_command(&mut self.writer, number, text.as_bytes());
        }
    }

    /// Ends the message and fragments it into datagrams.
    fn finish(&mut self) -> Vec<Vec<u8>> {
        server_message::end(&mut self.writer);
        assert!(!self.writer.overflowed());
        let message = self.writer.message().to_vec();
        self.send(&message)
    }

    /// Sends any bytes as a message.
    pub fn send(&mut self, message: &[u8]) -> Vec<Vec<u8>> {
        let text = self.client_commands.text().clone();
        let mut datagram = Vec::new();
        self.channel.send(message, &text, (), &mut datagram).unwrap();
        let mut datagrams = vec![datagram];
        while self.channel.is_busy() {
            let mut datagram = Vec::new();
            self.channel.transmit_next(&mut datagram);
            datagrams.push(datagram);
        }
        datagrams
    }

    pub fn gamestate(&mut self, level: &Level) -> Vec<Vec<u8>> {
        self.checksum_feed = level.checksum_feed;
        self.baselines = level.baselines.clone();
        self.moves.clear();
        self.shown.clear();
        self.begin();
        self.writer.byte(ServerOp::Gamestate as u8);
        gamestate::write(
            &mut self.writer,
            self.commands.last(),
            level.configstrings.iter().map(|(i, text)| (ConfigIndex::at(*i), text.as_bytes())),
            level.baselines.iter(),
            ClientNum::new(5).unwrap(),
            Some(level.checksum_feed),
        );
        self.finish()
    }

    /// Snapshot relative to that message. Panics if the message had none.
    pub fn snapshot(&mut self, world: &World, base: Option<Sequence>) -> Vec<Vec<u8>> {
        let sequence = self.channel.next_sequence();
        let zero = World::default();
        let old = base.map_or(&zero, |base| &self.shown[&base.0]);
        let head = SnapshotHeader {
            server_time: LevelTime(world.time),
            delta_num: base.map_or(0, |base| sequence.distance(base) as u8),
            flags: world.flags,
            ..SnapshotHeader::default()
        };
        server_message::begin(
            &mut self.writer,
            self.channel.protocol(),
            self.client_commands.last(),
        );
        for (number, text) in self.commands.unacknowledged() {
            server_message::write_command(&mut self.writer, number, text.as_bytes());
        }
        snapshot::begin(&mut self.writer, self.client_commands.last());
        let nothing = EntityState::default();
        let baselines = &self.baselines;
        snapshot::write(
            &mut self.writer,
            &head,
            SnapshotView { player: &old.player, entities: old.entities.iter() },
            SnapshotView { player: &world.player, entities: world.entities.iter() },
            |number| baselines.iter().find(|state| state.number == number).unwrap_or(&nothing),
        );
        self.shown.insert(sequence.0, world.clone());
        self.finish()
    }

    /// Snapshot as a server sends it: relative to the client's acknowledged one, if allowed.
    pub fn next_snapshot(&mut self, world: &World) -> Vec<Vec<u8>> {
        let wanted = self.last_move.is_some_and(|(_, delta)| delta);
        let base =
            self.head.acknowledged().filter(|base| wanted && self.shown.contains_key(&base.0));
        let near = |base: &Sequence| self.channel.next_sequence().distance(*base) < 29;
        self.snapshot(world, base.filter(near))
    }
}

/// A server of one protocol that accepts all clients.
pub struct ScriptedServer {
    pub wire: &'static Protocol,
    pub challenge: Challenge,
    /// Clients by qport.
    pub peers: HashMap<u16, Peer>,
    /// Reason to reject `connect`.
    pub refusal: Option<String>,
    /// Whether clients of every protocol are accepted, not only those of `wire`.
    pub serves_all: bool,
}

impl ScriptedServer {
    pub fn new(wire: &'static Protocol) -> Self {
        Self {
            wire,
            challenge: Challenge(-123_456),
            peers: HashMap::new(),
            refusal: None,
            serves_all: false,
        }
    }

    /// Handles a client's datagram and returns the immediate replies.
    pub fn handle(&mut self, from: u16, datagram: &[u8]) -> Vec<Vec<u8>> {
        if !is_connectionless(datagram) {
            if let Some(peer) = self.peers.get_mut(&from) {
                peer.receive(datagram);
            }
            return Vec::new();
        }
        let reply = |message: Message<'_>| {
            let mut out = Vec::new();
            message.write(&mut out);
            vec![out]
        };
        match Message::parse(datagram).unwrap() {
            Message::GetChallenge(request) => {
                let has_number = request.client_challenge.is_some();
                assert!(self.serves_all || has_number == self.wire.handshake.sends_challenge);
                reply(Message::ChallengeResponse(ChallengeResponse {
                    challenge: self.challenge,
                    client_challenge: request.client_challenge,
                    protocol: Some(self.wire.number),
                }))
            }
            Message::Connect(connect) => {
                let info = connect.userinfo().unwrap();
                let user = Userinfo(&info);
                let named = || Protocol::with_number(user.protocol().unwrap()).next().unwrap();
                let wire = if self.serves_all { named() } else { self.wire };
                assert_eq!(connect.form(), wire.handshake.connect);
                assert_eq!(user.protocol(), Some(wire.number));
                assert_eq!(user.challenge(), Some(self.challenge));
                if let Some(refusal) = &self.refusal {
                    return reply(Message::Print(WireText::from(refusal.as_str())));
                }
                let (qport, userinfo) = (user.qport().unwrap(), info.to_string());
                let mut peer = Peer::new(wire, self.challenge, qport, userinfo);
                peer.is_protocol_open = self.serves_all;
                self.peers.insert(from, peer);
                let challenge = wire.handshake.sends_challenge.then_some(self.challenge);
                reply(Message::ConnectResponse(ConnectResponse { challenge, protocol: None }))
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Number of a command, for tests that compare.
pub fn command(number: i32) -> CommandNum {
    CommandNum(number)
}
