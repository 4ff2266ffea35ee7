//! Client against a server of a few lines: handshake, signon, deltas, level change, hostile content.

mod game;
mod hostile;
mod joining;

use std::net::SocketAddr;

use super::*;
use crate::{
    model::Qport,
    quakeworld::{
        bytes::{Element, Text},
        client_message::ClientMessage,
        connectionless::Connect,
        entities::{EntityDelta, EntityState},
        info::Info,
        level::{MoveVars, ServerData},
        packet::ClientMessages,
        server_message::ServerMessage,
    },
};

const QPORT: Qport = Qport(77);
const OFFERED: Extensions = Extensions { fte: 0x2140_f040, fte2: 2, mvd1: 0x21 };

fn address() -> SocketAddr {
    "10.0.0.1:27500".parse().unwrap()
}

fn options() -> ClientOptions {
    let mut info = Info::new(200);
    info.set(b"name", b"alpha").unwrap();
    ClientOptions::new(address(), QPORT, info)
}

/// Server that answers the signon, and remembers the commands and delta requests of its client.
struct Server {
    channel: Channel,
    extensions: Extensions,
    count: i32,
    commands: Vec<String>,
    /// Sequence of the newest packet and the base that it asks for.
    asked: (u32, Option<u8>),
    /// Unreliable message of the next answer.
    unreliable: Vec<u8>,
}

impl Server {
    fn new() -> Self {
        Self {
            channel: Channel::new(End::Server(QPORT)),
            extensions: Extensions::NONE,
            count: 1,
            commands: Vec::new(),
            asked: (0, None),
            unreliable: Vec::new(),
        }
    }

    fn reliable(&mut self, message: ServerMessage<'_>) {
        let bytes = written(&message, self.extensions);
        self.channel.queue_reliable(&bytes).unwrap();
    }

    fn stuff(&mut self, text: &str) {
        self.reliable(ServerMessage::StuffText { text: text.into() });
    }

    fn start_level(&mut self) {
        let data = ServerData {
            extensions: self.extensions,
            server_count: self.count,
            game_folder: "qw".into(),
            player: 3,
            is_spectator: false,
            level_name: "Box".into(),
            move_vars: MoveVars { gravity: 800.0, ..Default::default() },
        };
        let bytes = written(&ServerMessage::ServerData(data), Extensions::NONE);
        self.channel.queue_reliable(&bytes).unwrap();
        self.stuff("fullserverinfo \"\\maxfps\\77\"\n");
    }

    /// Answers a string command of the signon.
    fn answer(&mut self, command: &str) {
        let count = self.count;
        self.commands.push(command.to_owned());
        match command {
            "new" if self.commands.len() == 1 => self.stuff("cmd pext\n"),
            "new" => self.start_level(),
            _ if command.starts_with("pext") => {
                self.extensions =
                    Extensions::from_words(Text::from(command).words().skip(1)).common(OFFERED);
                self.stuff("cmd new\n");
            }
            _ if command.starts_with("soundlist") => {
                self.channel.queue_reliable(b"\x2e\0misc/ping.wav\0\0\0").unwrap();
            }
            _ if command.starts_with("modellist") => {
                let part: &[u8] = if command.ends_with(" 0") {
                    b"\x2d\0maps/a.bsp\0\0\x01"
                } else {
                    b"\x2d\x01*1\0\0\0"
                };
                self.channel.queue_reliable(part).unwrap();
            }
            _ if command.starts_with("prespawn") => {
                let state = EntityState { model: 2, origin: [8.0, 0.0, 0.0], ..Default::default() };
                let from = EntityState::default();
                let delta = EntityDelta::between(44, &from, &state, self.extensions);
                self.reliable(ServerMessage::SpawnBaseline2(delta));
                self.stuff(&format!("cmd spawn {count} 0\n"));
            }
            _ if command.starts_with("spawn") => {
                let info = "\\name\\alpha".into();
                self.reliable(ServerMessage::UpdateUserinfo { player: 3, user_id: 9, info });
                self.reliable(ServerMessage::UpdateStat { stat: 0, value: 100 });
                self.stuff("skins\n");
            }
            _ => {}
        }
    }

    fn receive(&mut self, datagram: &[u8], now: Millis) {
        let Ok(received) = self.channel.receive(datagram) else { return };
        let messages = ClientMessages::checked(received.payload, self.extensions).unwrap();
        self.channel.commit(&received, now);
        let mut base = None;
        for message in messages {
            match message.unwrap() {
                ClientMessage::StringCommand { text } => {
                    self.answer(&String::from_utf8_lossy(text.bytes()));
                }
                ClientMessage::Delta { sequence } => base = Some(sequence),
                ClientMessage::Move(moves) => assert!(moves.is_valid(received.header.sequence)),
                _ => {}
            }
        }
        self.asked = (received.header.sequence, base);
    }
}

fn written<'a>(message: &impl Element<'a>, extensions: Extensions) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, MAX_MESSAGE_LEN, extensions);
    writer.write(message);
    assert!(!writer.is_overflowed());
    out
}

/// Client and server with the time between them.
struct Game {
    client: Client,
    server: Server,
    now: Millis,
    events: Vec<ClientEvent>,
}

impl Game {
    /// A client that was accepted.
    fn accepted() -> Self {
        let now = Millis(1000);
        let mut game = Self {
            client: Client::new(options(), now),
            server: Server::new(),
            now,
            events: Vec::new(),
        };
        game.client.frame(now);
        let mut datagram = Vec::new();
        for reply in [Reply::Challenge { number: 5, extensions: OFFERED }, Reply::Accepted] {
            reply.write(&mut datagram);
            game.client.handle_datagram(now, address(), &datagram);
        }
        while game.client.poll_transmit(&mut datagram).is_some() {}
        game
    }

    /// A client in the game.
    fn entered() -> Self {
        let mut game = Self::accepted();
        for _ in 0..40 {
            if game.server.commands.iter().any(|command| command.starts_with("begin")) {
                game.server.unreliable = b"\x2f\0\0".to_vec();
            }
            game.step(|_| false);
            if game.client.state() == ClientState::Active {
                return game;
            }
        }
        panic!("{:?} {:?}", game.client.state(), game.server.commands);
    }

    /// Sends one usercmd and its answer, unless `is_lost` loses it. The argument tells the direction: up is true.
    fn step(&mut self, mut is_lost: impl FnMut(bool) -> bool) {
        self.now += Millis(20);
        self.client.push_usercmd(Usercmd { msec: 20, forward: 400, ..Usercmd::ZERO }, self.now);
        let mut datagram = Vec::new();
        while self.client.poll_transmit(&mut datagram).is_some() {
            if !is_lost(true) {
                self.server.receive(&datagram, self.now);
            }
        }
        if self.server.channel.is_answer_due() {
            let unreliable = std::mem::take(&mut self.server.unreliable);
            self.server.channel.transmit(&unreliable, self.now, &mut datagram).unwrap();
            if !is_lost(false) {
                self.client.handle_datagram(self.now, address(), &datagram);
            }
        }
        self.client.frame(self.now);
        while let Some(event) = self.client.poll_event() {
            if matches!(event, ClientEvent::MapNeeded { .. }) {
                self.client.map_ready(-1_152_969_310);
            }
            self.events.push(event);
        }
    }

    /// Lets the server send an unreliable message.
    fn send(&mut self, message: ServerMessage<'_>) {
        self.server.unreliable = written(&message, self.server.extensions);
        self.step(|_| false);
    }
}
