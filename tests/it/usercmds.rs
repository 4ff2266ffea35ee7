//! Usercmds of honest clients, and of clients that try to move faster than their time allows.
//!
//! The limits are the documented ones: usercmds run from 1000 ms behind the last frame to 200 ms ahead
//! of it, each once, none after a later one, at 320 units per second.

use std::sync::Arc;

use fragd::{
    game::{Deathmatch, Ruleset},
    model::{
        ClientNum, Millis, Qport, ServerId, UserCmd, Vec3, assets::MemoryAssets,
        limits::MAX_PACKET_USERCMDS,
    },
    netchan::{Channel, ChannelSide, command_hash, usercmd_key},
    node::{LocalPort, Node as _, Route},
    server::{Geometry, Server},
    settings::{GameFolder, Settings, key},
    wire::{
        Protocol,
        bits::{BitReader, BitWriter},
        client_message::{self, ClientHeader},
        connect::write_connect,
        connectionless::Message,
        gamestate,
        info::InfoString,
        server_message::{self, ServerOp},
        snapshot,
    },
};

use crate::sample_maps::{Block, TestMap};

/// Length of a server frame, and of a run.
const FRAME_MS: i32 = 50;
const RUN_MS: i32 = 3000;
/// Ground speed, units a second.
const SPEED: f32 = 320.0;
/// Maximum time of a usercmd ahead of the last frame.
const AHEAD_MS: i32 = 200;
/// Maximum age of a usercmd.
const BEHIND_MS: i32 = 1000;
/// Longest time that one command moves for.
const LONGEST_MS: i32 = 1000;

/// An endless floor with one place to begin.
fn field() -> Vec<u8> {
    let floor = Block {
        mins: [-16_000.0, -16_000.0, -16.0],
        maxs: [16_000.0, 16_000.0, 0.0],
        contents: 1,
        surface_flags: 0,
    };
    let entities = "{ classname worldspawn }\n\
        { classname info_player_deathmatch origin \"-8000 0 25\" angle 0 }";
    TestMap::from_boxes(entities, &[floor], &[]).file()
}

/// A client whose every packet is made here, and its server.
struct Runner {
    server: Server,
    channel: Channel,
    now: Millis,
    /// Level time of the last frame.
    level_ms: i32,
    server_id: ServerId,
    feed: i32,
}

fn route() -> Route {
    Route::new(LocalPort(0), "192.0.2.7:27960".parse().unwrap())
}

impl Runner {
    /// Joins, and waits a second to land.
    fn new(set: &[(&str, &str)]) -> Self {
        let mut settings = Settings::new(GameFolder::BaseQ3);
        for (name, value) in [("game", "baseq3"), ("map", "field")].iter().chain(set) {
            settings.set(name, value).unwrap();
        }
        let mut assets = MemoryAssets::default();
        assets.insert("maps/field.bsp", field()).unwrap();
        let rules = Box::new(|_| -> Box<dyn fragd::game::Game> {
            Box::new(Deathmatch::new(Ruleset::BASEQ3))
        });
        let mut server = Server::new(settings, Box::new(assets), rules, [5; 32]);
        assert_eq!(server.geometry(), Geometry::Map);
        let now = Millis(10_000);
        server.frame(now);
        server.handle_datagram(now, route(), b"\xff\xff\xff\xffgetchallenge");
        let reply = replies(&mut server).pop().unwrap();
        let Ok(Message::ChallengeResponse(reply)) = Message::parse(&reply) else {
            panic!("{reply:?}")
        };
        let challenge = reply.challenge;
        let mut info = InfoString::normal();
        for (key, value) in [
            ("protocol", "71"),
            ("qport", "9"),
            ("challenge", &challenge.0.to_string()),
            ("name", "runner"),
            ("rate", "90000"),
            ("snaps", "40"),
        ] {
            info.set(key, value).unwrap();
        }
        let mut connect = Vec::new();
        write_connect(&info, &mut connect).unwrap();
        server.handle_datagram(now, route(), &connect);
        replies(&mut server);
        let channel = Channel::new(ChannelSide::Client, Protocol::IOQ3_71, challenge, Qport(9));
        let server_id = ServerId(0);
        let mut runner = Self { server, channel, now, level_ms: 0, server_id, feed: 0 };
        runner.send(&[]);
        for _ in 0..20 {
            runner.frame();
        }
        assert_ne!(runner.feed, 0, "a gamestate came");
        runner.server_id = ServerId(runner.server.settings().int(key::SV_SERVERID));
        runner.send(&[runner.idle(0)]);
        for _ in 0..20 {
            runner.frame();
            runner.send(&[runner.idle(0)]);
        }
        assert_ne!(runner.level_ms, 0, "snapshots came");
        runner
    }

    fn idle(&self, ahead_ms: i32) -> UserCmd {
        UserCmd { server_time: self.level_ms + ahead_ms, weapon: 2, ..UserCmd::default() }
    }

    /// Forward, for a time relative to the last frame.
    fn forward(&self, ahead_ms: i32) -> UserCmd {
        UserCmd { forwardmove: 127, ..self.idle(ahead_ms) }
    }

    /// Sends a packet with these moves.
    fn send(&mut self, moves: &[UserCmd]) {
        let acknowledged = self.channel.last_received().0 as i32;
        let head = ClientHeader {
            server_id: self.server_id,
            message_acknowledge: acknowledged,
            ..ClientHeader::default()
        };
        let mut writer = BitWriter::new();
        client_message::begin(&mut writer, Protocol::Q3_68, &head);
        if !moves.is_empty() {
            assert!(moves.len() <= MAX_PACKET_USERCMDS);
            // No delta wanted: every snapshot can be read alone.
            let key = usercmd_key(self.feed, acknowledged, command_hash(b""));
            client_message::write_usercmds(&mut writer, false, key, moves);
        }
        client_message::end(&mut writer);
        let mut datagram = Vec::new();
        let text: Arc<str> = "".into();
        self.channel.send(writer.message(), &text, (), &mut datagram).unwrap();
        assert!(!self.channel.is_busy(), "one datagram");
        self.server.handle_datagram(self.now, route(), &datagram);
        self.read();
    }

    /// One frame of the server passes.
    fn frame(&mut self) {
        self.now += Millis(FRAME_MS as u64);
        self.server.frame(self.now);
        self.read();
    }

    /// Reads what the server sent, for the level's time and the gamestate.
    fn read(&mut self) {
        let mut message = Vec::new();
        for datagram in replies(&mut self.server) {
            let Ok(Some(received)) = self.channel.receive(&datagram, &mut message) else {
                continue;
            };
            self.channel.commit(received);
            let mut reader = BitReader::new(&message);
            reader.long().unwrap();
            loop {
                match ServerOp::read(&mut reader).unwrap() {
                    ServerOp::Command => drop(server_message::read_command(&mut reader).unwrap()),
                    ServerOp::Gamestate => {
                        self.feed = gamestate::read(&mut reader).unwrap().checksum_feed.unwrap();
                        break;
                    }
                    ServerOp::Snapshot => {
                        self.level_ms = snapshot::read_head(&mut reader).unwrap().server_time.0;
                        break;
                    }
                    _ => break,
                }
            }
        }
    }

    fn origin(&self) -> Vec3 {
        self.server.player(ClientNum::new(0).unwrap()).expect("in the game").origin
    }

    fn command_time(&self) -> i32 {
        self.server.player(ClientNum::new(0).unwrap()).expect("in the game").command_time
    }

    /// Plays for [`RUN_MS`] and returns the ground covered in that time.
    fn run(&mut self, mut play: impl FnMut(&mut Self, i32)) -> f32 {
        let start = self.origin();
        for frame in 0..RUN_MS / FRAME_MS {
            play(self, frame);
            self.frame();
        }
        (self.origin() - start).length()
    }
}

fn replies(server: &mut Server) -> Vec<Vec<u8>> {
    let mut packet = Vec::new();
    let mut all = Vec::new();
    while server.poll_transmit(&mut packet).is_some() {
        all.push(packet.clone());
    }
    all
}

/// One who sends what time allows: five commands of 10 ms in each frame, in one packet.
fn honest(runner: &mut Runner) -> f32 {
    runner.run(|runner, _| {
        let moves: Vec<_> = (1..=5).map(|n| runner.forward(n * 10)).collect();
        runner.send(&moves);
    })
}

/// Distance in three seconds, less the time to accelerate.
const MOST: f32 = SPEED * RUN_MS as f32 / 1000.0;
const LEAST: f32 = MOST - 60.0;

#[test]
fn honest_client_covers_expected_distance() {
    let covered = honest(&mut Runner::new(&[]));
    assert!((LEAST..=MOST).contains(&covered), "{covered}");
}

#[test]
fn usercmd_batching_does_not_change_movement() {
    let together = {
        let mut runner = Runner::new(&[]);
        honest(&mut runner);
        runner.origin()
    };
    let mut runner = Runner::new(&[]);
    runner.run(|runner, _| {
        for n in 1..=5 {
            runner.send(&[runner.forward(n * 10)]);
        }
    });
    assert_eq!(runner.origin(), together);
}

#[test]
fn repeated_usercmds_run_once() {
    let once = {
        let mut runner = Runner::new(&[]);
        honest(&mut runner);
        runner.origin()
    };
    // As cl_packetdup does, and then some: all commands of the last packets again, in each packet, and
    // each packet's moves three times over.
    let mut runner = Runner::new(&[]);
    let mut sent: Vec<UserCmd> = Vec::new();
    runner.run(|runner, _| {
        for n in 1..=5 {
            sent.push(runner.forward(n * 10));
        }
        let from = sent.len().saturating_sub(MAX_PACKET_USERCMDS);
        for _ in 0..3 {
            runner.send(&sent[from..]);
        }
    });
    assert_eq!(runner.origin(), once);
}

#[test]
fn clock_ahead_gains_200_ms_once() {
    for lead_ms in [AHEAD_MS, 1000, 100_000, i32::MAX / 2] {
        let mut runner = Runner::new(&[]);
        let mut ahead = lead_ms;
        let covered = runner.run(|runner, _| {
            let moves: Vec<_> = (1..=5)
                .map(|n| {
                    ahead = ahead.wrapping_add(7);
                    UserCmd {
                        server_time: runner.level_ms.wrapping_add(ahead + n * 10),
                        ..runner.forward(0)
                    }
                })
                .collect();
            runner.send(&moves);
            let lead = runner.command_time() - runner.level_ms;
            assert!(lead <= AHEAD_MS, "{lead} ms ahead of the last frame");
        });
        let most = MOST + SPEED * AHEAD_MS as f32 / 1000.0;
        assert!((LEAST..=most).contains(&covered), "{lead_ms} ms ahead: {covered}");
    }
}

#[test]
fn flood_of_short_usercmds_gains_nothing() {
    let mut runner = Runner::new(&[]);
    let covered = runner.run(|runner, _| {
        // A command for each millisecond, in packets of ten.
        for packet in 0..5 {
            let moves: Vec<_> = (1..=10).map(|n| runner.forward(packet * 10 + n)).collect();
            runner.send(&moves);
        }
    });
    assert!(covered <= MOST, "{covered}");
    // Two hundred packets of 32 commands in each frame: most are not even heard.
    let mut runner = Runner::new(&[]);
    let covered = runner.run(|runner, _| {
        for packet in 0..200 {
            let moves: Vec<_> = (0..32).map(|n| runner.forward(packet * 32 + n)).collect();
            runner.send(&moves);
        }
    });
    let most = MOST + SPEED * AHEAD_MS as f32 / 1000.0;
    assert!(covered <= most, "{covered}");
}

#[test]
fn backward_usercmd_time_moves_no_player() {
    let mut runner = Runner::new(&[]);
    let covered = runner.run(|runner, _| {
        let moves: Vec<_> = (1..=5).map(|n| runner.forward(n * 10)).collect();
        runner.send(&moves);
        let before = runner.origin();
        // The same time again in later packets, in falling order, and a packet whose last is old.
        for back_ms in [0, 10, 500, 5000] {
            let again: Vec<_> = (1..=5).map(|n| runner.forward(n * 10 - back_ms)).collect();
            runner.send(&again);
            let falling: Vec<_> = again.iter().rev().copied().collect();
            runner.send(&falling);
            runner.send(&[runner.forward(150), runner.forward(-back_ms)]);
        }
        assert_eq!(runner.origin(), before);
    });
    assert!((LEAST..=MOST).contains(&covered), "{covered}");
}

#[test]
fn silent_client_catches_up_two_seconds_at_most() {
    // A lag switch: nothing for nearly three seconds, then everything at once. The first command counts
    // as one of a second ago and moves for a second; the others make up for that second.
    let mut runner = Runner::new(&[]);
    let covered = runner.run(|runner, frame| {
        if frame == RUN_MS / FRAME_MS - 1 {
            let moves: Vec<_> = (0..32).map(|n| runner.forward((n - 31) * 100)).collect();
            runner.send(&moves);
        }
    });
    let most = SPEED * (BEHIND_MS + LONGEST_MS) as f32 / 1000.0;
    assert!((most - 100.0..=most).contains(&covered), "{covered}");
    assert_eq!(runner.command_time(), runner.level_ms - FRAME_MS);
}

#[test]
fn old_usercmd_runs_as_one_second_old() {
    let mut runner = Runner::new(&[]);
    for _ in 0..60 {
        runner.frame();
    }
    let sent = UserCmd { server_time: runner.level_ms - 2500, ..runner.forward(0) };
    runner.send(&[sent]);
    assert_eq!(runner.command_time(), runner.level_ms - BEHIND_MS);
    // The newest time that the server accepts from any client.
    runner.send(&[runner.forward(5000)]);
    assert_eq!(runner.command_time(), runner.level_ms + AHEAD_MS);
}

#[test]
fn pmove_fixed_gives_no_advantage() {
    for step_ms in ["8", "33"] {
        let mut runner = Runner::new(&[("pmove_fixed", "1"), ("pmove_msec", step_ms)]);
        let covered = honest(&mut runner);
        // A step may end after the time that asked for it.
        let most = MOST + SPEED * 0.033;
        assert!((LEAST..=most).contains(&covered), "{step_ms} ms: {covered}");
    }
}
