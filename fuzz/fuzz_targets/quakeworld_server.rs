//! QuakeWorld server with a client and unproven addresses: packets, moves, commands, console lines.
#![no_main]

use std::{cell::RefCell, net::SocketAddr};

use fragd::{
    bsp29::compiler::FRAGQW1,
    model::{Millis, Qport, UnixMillis, assets::MemoryAssets},
    node::{Hosted as _, Input, LocalPort, Node as _, OutputKind, Route},
    quakeworld::{
        Channel, End, Extensions, ServerMessage, ServerMessages, Usercmd,
        bytes::{Angle, Writer},
        connectionless::Reply,
        moves::write_move,
    },
    qwserver::{QwServer, ServerOptions, Settings},
};
use fragd_fuzz::{ENTROPY, pieces};
use libfuzzer_sys::fuzz_target;

/// Number of the message with a string command.
const STRING_COMMAND: u8 = 4;
/// Inputs of one server: its start costs more than most inputs.
const INPUTS: u32 = 64;
/// Time between two inputs, in ms; connections have timed out then.
const BETWEEN: u64 = 600_000;
/// Largest datagram of a server.
const MAX_DATAGRAM: usize = 1458;

/// A server and its client.
struct Play {
    server: QwServer,
    now: Millis,
    channel: Channel,
    challenge: i32,
    /// Number of the level.
    level: i32,
    packet: Vec<u8>,
}

/// Address of the client, and unproven addresses.
fn address(host: u8) -> SocketAddr {
    ([10, 0, 0, host], 27_001).into()
}

impl Play {
    fn new() -> Self {
        let mut settings = Settings::default();
        for (name, value) in [
            ("map", FRAGQW1),
            ("maxclients", "4"),
            ("rcon_password", "fuzzed"),
            ("sv_crypt_rcon", "0"),
            ("sv_mapcheck", "0"),
            ("fraglimit", "1"),
        ] {
            settings.set(name, value).expect("a right value");
        }
        let options = ServerOptions {
            settings,
            assets: Box::new(MemoryAssets::default()),
            entropy: ENTROPY,
            began: UnixMillis(1_700_000_000_000),
            lines: Vec::new(),
        };
        let now = Millis(1000);
        Self {
            server: QwServer::start(options, now).expect("the map of the program"),
            now,
            channel: Channel::new(End::Client(Qport(9))).starting_at_one(),
            challenge: 0,
            level: 1,
            packet: Vec::new(),
        }
    }

    /// Connects the client and enters the game. Returns whether a slot was free for it.
    fn join(&mut self, spectates: bool) -> bool {
        let play = self;
        play.channel = Channel::new(End::Client(Qport(9))).starting_at_one();
        play.receive(1, b"\xff\xff\xff\xffgetchallenge\n");
        let watch = if spectates { "\\spectator\\1" } else { "" };
        let challenge = play.challenge;
        let line = format!(
            "connect 28 9 {challenge} \"\\name\\fuzz\\rate\\100000\\*z_ext\\383{watch}\"\n"
        );
        play.receive(1, &[b"\xff\xff\xff\xff", line.as_bytes()].concat());
        for line in ["new", "prespawn N 0 0", "spawn N 0", "begin N"] {
            let line = line.replace('N', &play.level.to_string());
            play.command(line.as_bytes());
            play.wait(20);
        }
        play.server.population() != (0, 0)
    }

    /// Gives the server a datagram and takes its answers.
    fn receive(&mut self, host: u8, datagram: &[u8]) {
        let route = Route::new(LocalPort(0), address(host));
        self.server.handle_datagram(self.now, route, datagram);
        self.take_answers();
    }

    fn take_answers(&mut self) {
        let mut packet = std::mem::take(&mut self.packet);
        while let Some(route) = self.server.poll_transmit(&mut packet) {
            assert!(packet.len() <= MAX_DATAGRAM, "{} bytes", packet.len());
            if route.remote != address(1) {
                continue;
            }
            if let Ok(Reply::Challenge { number, .. }) = Reply::parse(&packet) {
                self.challenge = number;
            } else if let Ok(received) = self.channel.receive(&packet) {
                let messages = ServerMessages::checked(received.payload, Extensions::NONE);
                for message in messages.expect("valid messages").flatten() {
                    if let ServerMessage::ServerData(data) = message {
                        self.level = data.server_count;
                    }
                }
                self.channel.commit(&received, self.now);
            }
        }
        self.packet = packet;
        while self.server.poll_output(OutputKind::Console).is_some() {}
        while self.server.poll_output(OutputKind::Lookup).is_some() {}
    }

    /// Sends a packet of the client.
    fn send(&mut self, unreliable: &[u8]) {
        let mut packet = Vec::new();
        if self.channel.transmit(unreliable, self.now, &mut packet).is_ok() {
            self.receive(1, &packet);
        }
    }

    fn command(&mut self, text: &[u8]) {
        let piece = [&[STRING_COMMAND], text, &[0]].concat();
        let _ = self.channel.queue_reliable(&piece);
        self.send(&[]);
    }

    /// Sends a move with a right checksum.
    fn walk(&mut self, bytes: &[u8]) {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
        let word = |at: usize| i16::from_le_bytes([byte(at), byte(at + 1)]);
        let command = |at: usize| Usercmd {
            msec: byte(at),
            angles: [1, 3, 5].map(|angle| Angle(word(at + angle) as u16)),
            forward: word(at + 7),
            side: word(at + 9),
            up: word(at + 11),
            buttons: byte(at + 13),
            impulse: byte(at + 14),
        };
        let mut message = Vec::new();
        let mut writer = Writer::new(&mut message, 200, Extensions::NONE);
        let sequence = self.channel.outgoing();
        write_move(&mut writer, sequence, byte(45), &[command(0), command(15), command(30)]);
        self.send(&message);
    }

    fn wait(&mut self, ms: u64) {
        let end = self.now + Millis(ms);
        while self.now < end {
            self.now = self.server.next_frame().max(self.now + Millis(1)).min(end);
            if self.now >= self.server.next_frame() {
                self.server.frame(self.now);
            }
            self.take_answers();
        }
    }
}

thread_local! {
    static PLAY: RefCell<Option<(Play, u32)>> = const { RefCell::new(None) };
}

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let spectates = choice & 1 != 0;
    let taken = PLAY.take().filter(|(_, inputs)| *inputs < INPUTS);
    let (mut play, inputs) = taken.unwrap_or_else(|| (Play::new(), 0));
    play.wait(BETWEEN);
    // The client may be banned, or the server may have ended.
    if !play.join(spectates) {
        play = Play::new();
        assert!(play.join(spectates));
    }
    for piece in pieces(data, 40) {
        let [kind, body @ ..] = piece else { continue };
        match kind % 8 {
            0 => play.receive(1, body),
            1 => play.receive(2 + (kind >> 6), body),
            2 => play.receive(1 + (kind >> 6), &[b"\xff\xff\xff\xff", body].concat()),
            3 => play.send(body),
            4 => play.command(body),
            5 => play.walk(body),
            6 => {
                let line = String::from_utf8_lossy(body);
                let (now, server) = (play.now, &mut play.server);
                if !line.contains("exec") {
                    server.handle_input(now, Input::ConsoleLine(&line));
                }
                play.take_answers();
            }
            // Packets of the client that the network loses.
            _ => {
                for _ in 0..body.first().copied().unwrap_or(1) % 30 {
                    let _ = play.channel.transmit(&[], play.now, &mut Vec::new());
                }
            }
        }
        play.wait(u64::from(kind >> 3) * 4);
    }
    play.wait(6000);
    PLAY.set(Some((play, inputs + 1)));
});
