//! Fixtures of the fuzz targets: a server on a small map and a raw client.

pub mod journal;
mod server_pool;

use std::{
    net::SocketAddr,
    sync::{Arc, LazyLock},
};

use fragd::{
    model::{
        Challenge, CommandNum, Millis, Qport, ServerId,
        assets::{Assets, MemoryAssets},
    },
    netchan::{Channel, ChannelSide},
    node::{LocalPort, Node, Route},
    server::Server,
    settings::{GameFolder, Settings, key},
    testing::sample_maps,
    wire::{
        Protocol,
        bits::BitWriter,
        client_message::{self, ClientHeader},
        connect::{ConnectForm, write_connect, write_plain_connect},
        connectionless::Message,
        info::InfoString,
    },
};

pub use server_pool::with_server;

/// Cuts bytes into pieces: a length of two bytes before each, at most `most`.
pub fn pieces(mut bytes: &[u8], most: usize) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while let [low, high, rest @ ..] = bytes
        && pieces.len() < most
    {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (piece, after) = rest.split_at(len);
        pieces.push(piece);
        bytes = after;
    }
    pieces
}

/// The map of a walled yard with these entities.
pub fn yard(entities: &str) -> Vec<u8> {
    sample_maps::TestMap::test_yard(entities).file()
}

/// The yard with entities that use everything in it.
pub static YARD: LazyLock<Vec<u8>> = LazyLock::new(|| yard(sample_maps::YARD));

/// A server of four places; with a map, or else in open space.
pub fn server(game: GameFolder, map: Option<Vec<u8>>) -> Server {
    let mut assets = MemoryAssets::default();
    if let Some(map) = map {
        assets.insert("maps/yard.bsp", map).expect("a right name");
    }
    server_with(game, Box::new(assets))
}

/// Entropy of the servers.
pub const ENTROPY: [u8; 32] = [7; 32];

/// A server of four slots with these files.
pub fn server_with(game: GameFolder, assets: Box<dyn Assets>) -> Server {
    let mut settings = Settings::new(game);
    for (name, value) in [
        ("game", if game == GameFolder::BaseOa { "baseoa" } else { "baseq3" }),
        ("map", "yard"),
        ("sv_maxclients", "4"),
        ("sv_maxclientsPerIP", "0"),
        ("rconPassword", "fuzzed"),
        ("sv_rconAllow", "any"),
    ] {
        settings.set(name, value).expect("a right value");
    }
    Server::builder(settings, ENTROPY).assets(assets).build()
}

/// A client at one address.
pub struct RawClient {
    pub address: SocketAddr,
    pub now: Millis,
    /// Datagrams of the server, newest last.
    pub replies: Vec<Vec<u8>>,
}

impl RawClient {
    pub fn new() -> Self {
        Self {
            address: "10.0.0.9:27960".parse().expect("an address"),
            now: Millis(10_000),
            replies: Vec::new(),
        }
    }

    pub fn send(&mut self, server: &mut impl Node, bytes: &[u8]) {
        let route = Route::new(LocalPort(0), self.address);
        server.handle_datagram(self.now, route, bytes);
        self.drain(server);
    }

    /// Lets a server frame pass.
    pub fn wait(&mut self, server: &mut impl Node, ms: u64) {
        self.now = Millis(self.now.0 + ms);
        server.frame(self.now);
        self.drain(server);
    }

    fn drain(&mut self, server: &mut impl Node) {
        let mut packet = Vec::new();
        self.replies.clear();
        while server.poll_transmit(&mut packet).is_some() {
            self.replies.push(packet.clone());
        }
    }

    /// A challenge of the server's; a server that had other inputs before may have none.
    pub fn challenge(&mut self, server: &mut impl Node) -> Option<Challenge> {
        self.send(server, b"\xff\xff\xff\xffgetchallenge");
        match Message::parse(self.replies.first()?) {
            Ok(Message::ChallengeResponse(reply)) => Some(reply.challenge),
            other => panic!("no challenge: {other:?}"),
        }
    }

    /// Connects in good order; the client's end of the channel, if there was a challenge.
    pub fn join(&mut self, server: &mut impl Node, protocol: &'static Protocol) -> Option<Channel> {
        let challenge = self.challenge(server)?;
        let number = protocol.number.to_string();
        let mut info = InfoString::normal();
        for (key, value) in [
            ("protocol", &number[..]),
            ("qport", "77"),
            ("challenge", &challenge.0.to_string()),
            ("name", "fuzz"),
            ("rate", "25000"),
        ] {
            info.set(key, value).expect("a right value");
        }
        let mut bytes = Vec::new();
        let written = match protocol.handshake.connect {
            ConnectForm::Plain => write_plain_connect(&info, &mut bytes),
            ConnectForm::Compressed => write_connect(&info, &mut bytes),
        };
        written.expect("short");
        self.send(server, &bytes);
        Some(Channel::new(ChannelSide::Client, protocol, challenge, Qport(77)))
    }

    /// Sends a client message with what `write` puts into it.
    pub fn say(
        &mut self,
        server: &mut impl Node,
        channel: &mut Channel,
        head: &ClientHeader,
        write: impl FnOnce(&mut BitWriter),
    ) {
        let mut writer = BitWriter::new();
        client_message::begin(&mut writer, channel.protocol(), head);
        write(&mut writer);
        client_message::end(&mut writer);
        if writer.overflowed() {
            return;
        }
        let message = writer.message().to_vec();
        for datagram in datagrams(channel, &message, &Arc::from("")) {
            self.send(server, &datagram);
        }
    }
}

impl Default for RawClient {
    fn default() -> Self {
        Self::new()
    }
}

/// Server id of a server's level.
pub fn server_id(server: &Server) -> ServerId {
    ServerId(server.settings().int(key::SV_SERVERID))
}

/// Server id of a relay's first level.
pub const FIRST_LEVEL: ServerId = ServerId(1);

/// The head of a client's message to a server.
pub fn head(server_id: ServerId, acknowledged: i32) -> ClientHeader {
    ClientHeader {
        server_id,
        message_acknowledge: acknowledged,
        reliable_acknowledge: CommandNum(0),
    }
}

/// A message as datagrams.
pub fn datagrams(channel: &mut Channel, message: &[u8], text: &Arc<str>) -> Vec<Vec<u8>> {
    let mut datagram = Vec::new();
    let mut all = Vec::new();
    if channel.send(message, text, (), &mut datagram).is_ok() {
        all.push(datagram);
        while channel.is_busy() {
            let mut datagram = Vec::new();
            channel.transmit_next(&mut datagram);
            all.push(datagram);
        }
    }
    all
}
