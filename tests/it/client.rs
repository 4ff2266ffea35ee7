//! Client against a scripted server, without a network.

use std::net::SocketAddr;

use fragd::{
    client::{
        Client, ClientEvent, ClientOptions, CommandError, ConnectionState, DisconnectReason,
        Protocol, ProtocolErrorKind,
    },
    model::{
        Challenge, ClientNum, ConfigIndex, EntityNum, EntityState, LevelTime, Millis, Qport,
        Sequence, ServerId, UserCmd,
    },
    netchan::{AddError, Channel, ChannelSide},
    wire::{
        bits::BitWriter,
        connectionless::Message,
        info::InfoString,
        server_message::{self, ServerOp},
        text::WireText,
    },
};
use proptest::prelude::*;

use crate::scripted_server::{Level, Peer, ScriptedServer, World, command};

fn server_address() -> SocketAddr {
    ([10, 0, 0, 1], 27_960).into()
}

/// A client, a server, and the time.
pub(crate) struct Pair {
    pub(crate) client: Client,
    pub(crate) server: ScriptedServer,
    pub(crate) now: Millis,
    pub(crate) events: Vec<ClientEvent>,
    /// Datagrams of the client since the last look.
    sent: usize,
    /// All datagrams, and whether each was sent to the server.
    pub(crate) transcript: Vec<(bool, Vec<u8>)>,
}

fn options(wire: &'static Protocol) -> ClientOptions {
    let userinfo = InfoString::parse("\\name\\probe\\rate\\25000");
    ClientOptions::new(server_address(), wire, userinfo, Qport(4660), 99)
}

impl Pair {
    pub(crate) fn new(wire: &'static Protocol) -> Self {
        let now = Millis(5000);
        Self {
            client: Client::new(options(wire), now).unwrap(),
            server: ScriptedServer::new(wire),
            now,
            events: Vec::new(),
            sent: 0,
            transcript: Vec::new(),
        }
    }

    /// In the level with that id, and in the game.
    pub(crate) fn playing(wire: &'static Protocol) -> Self {
        let mut pair = Self::new(wire);
        pair.join();
        pair.level(&Level::with_id(10));
        pair.show(&World::at(1000, &[]));
        assert_eq!(pair.client.state(), ConnectionState::Active);
        pair.events.clear();
        pair
    }

    pub(crate) fn peer(&mut self) -> &mut Peer {
        self.server.peers.get_mut(&0).unwrap()
    }

    pub(crate) fn deliver(&mut self, datagrams: &[Vec<u8>]) {
        for datagram in datagrams {
            self.transcript.push((false, datagram.clone()));
            self.client.handle_datagram(self.now, server_address(), datagram);
        }
        self.listen();
    }

    fn listen(&mut self) {
        while let Some(event) = self.client.poll_event() {
            self.events.push(event);
        }
    }

    /// Lets that much time pass and everything the client says reach the server, and back.
    pub(crate) fn pass(&mut self, ms: u64) {
        for _ in 0..ms {
            self.now += Millis(1);
            if self.client.next_frame() <= self.now {
                self.client.frame(self.now);
            }
            let mut packet = Vec::new();
            while let Some(to) = self.client.poll_transmit(&mut packet) {
                assert_eq!(to, server_address());
                assert!(packet.len() <= 1400);
                self.sent += 1;
                self.transcript.push((true, packet.clone()));
                let replies = self.server.handle(0, &packet);
                self.deliver(&replies);
            }
        }
        self.listen();
    }

    pub(crate) fn join(&mut self) {
        self.pass(5);
        assert_eq!(self.client.state(), ConnectionState::Connected);
    }

    pub(crate) fn level(&mut self, level: &Level) {
        let datagrams = self.peer().gamestate(level);
        self.deliver(&datagrams);
    }

    pub(crate) fn show(&mut self, world: &World) {
        let datagrams = self.peer().next_snapshot(world);
        self.deliver(&datagrams);
    }

    pub(crate) fn move_at(&mut self, server_time: i32) {
        self.client.push_usercmd(UserCmd { server_time, forwardmove: 127, ..UserCmd::default() });
    }

    pub(crate) fn faults(&self) -> Vec<ProtocolErrorKind> {
        let fault = |event: &ClientEvent| match event {
            ClientEvent::ProtocolError(fault) => Some(fault.kind),
            _ => None,
        };
        self.events.iter().filter_map(fault).collect()
    }
}

#[test]
fn client_joins_with_every_protocol() {
    for wire in Protocol::live() {
        let mut pair = Pair::new(wire);
        assert_eq!(pair.client.state(), ConnectionState::Connecting);
        pair.join();
        assert_eq!(pair.events, [ClientEvent::Connected]);
        assert_eq!(pair.client.protocol(), wire);
        assert!(pair.peer().userinfo.contains("\\name\\probe"));
        // The first packet comes at once, the next a second later, and they say nothing.
        assert_eq!((pair.peer().packets, pair.sent), (1, 3));
        assert_eq!(pair.peer().head, Default::default());
        pair.pass(2000);
        assert_eq!(pair.peer().packets, 3);
        assert_eq!(pair.peer().last_move, None);
    }
}

#[test]
fn handshake_requests_are_resent_every_three_seconds() {
    let mut pair = Pair::new(Protocol::IOQ3_71);
    let mut packet = Vec::new();
    let mut times = Vec::new();
    for _ in 0..9001 {
        pair.client.frame(pair.now);
        while pair.client.poll_transmit(&mut packet).is_some() {
            assert!(matches!(Message::parse(&packet), Ok(Message::GetChallenge(_))));
            times.push(pair.now.0);
        }
        pair.now += Millis(1);
    }
    assert_eq!(times, [5000, 8000, 11_000, 14_000]);
}

#[test]
fn refused_client_reports_reason_and_retries() {
    let mut pair = Pair::new(Protocol::OA_71);
    pair.server.refusal = Some("Server is full\n".to_owned());
    pair.pass(5);
    assert_eq!(pair.events, [ClientEvent::Refused("Server is full".to_owned())]);
    assert_eq!(pair.client.state(), ConnectionState::Connecting);
    pair.pass(2900);
    assert_eq!(pair.sent, 2);
    pair.server.refusal = None;
    pair.pass(200);
    assert_eq!(pair.client.state(), ConnectionState::Connected);
}

#[test]
fn disconnect_answer_to_connect_is_a_refusal() {
    let mut pair = Pair::new(Protocol::OA_71);
    let answer = |pair: &mut Pair| {
        let server = pair.client.server();
        pair.client.handle_datagram(pair.now, server, b"\xff\xff\xff\xffdisconnect");
        pair.listen();
    };
    answer(&mut pair);
    assert_eq!(pair.events, [], "before a challenge");
    pair.pass(1);
    answer(&mut pair);
    let refused = ClientEvent::Refused("disconnect without a reason".to_owned());
    assert_eq!(
        (&*pair.events, pair.client.state()),
        (&[refused][..], ConnectionState::Challenging)
    );
}

#[test]
fn datagrams_from_other_addresses_change_nothing() {
    let mut pair = Pair::playing(Protocol::OA_71);
    let stranger = ([10, 0, 0, 2], 27_960).into();
    let datagrams = pair.peer().next_snapshot(&World::at(1050, &[]));
    for text in ["print\nhello", "disconnect", "echo x", "connectResponse -123456"] {
        let datagram = [b"\xff\xff\xff\xff", text.as_bytes()].concat();
        pair.client.handle_datagram(pair.now, stranger, &datagram);
    }
    pair.client.handle_datagram(pair.now, stranger, &datagrams[0]);
    pair.listen();
    assert_eq!(pair.events, []);
    assert_eq!(pair.client.snapshot().map(|s| s.head.server_time), Some(LevelTime(1000)));
    let statistics = pair.client.statistics();
    assert_eq!((statistics.dropped_datagrams, statistics.faults), (5, 0));
}

#[test]
fn fragmented_gamestate_makes_a_level() {
    for wire in Protocol::CURRENT {
        let mut pair = Pair::new(wire);
        pair.join();
        let mut level = Level::with_id(4711);
        for index in 100..120 {
            let text = (0..400).map(|i| char::from(b'a' + (i * index % 26) as u8)).collect();
            level.configstrings.push((index, text));
        }
        let baseline =
            EntityState { e_type: 9, ..EntityState::numbered(EntityNum::new(70).unwrap()) };
        level.baselines.push(baseline);
        let datagrams = pair.peer().gamestate(&level);
        assert!(datagrams.len() > 3, "{}", datagrams.len());
        pair.events.clear();
        pair.deliver(&datagrams);
        assert_eq!(pair.events, [ClientEvent::Gamestate]);
        assert_eq!(pair.client.state(), ConnectionState::Primed);
        assert_eq!(pair.client.server_id(), Some(ServerId(4711)));
        assert_eq!(pair.client.client_num(), ClientNum::new(5));
        for (index, text) in &level.configstrings {
            assert_eq!(pair.client.configstring(ConfigIndex::at(*index)), text);
        }
        // The first usercmd is understood, so its key is right; nothing may be built on yet.
        pair.move_at(0);
        pair.pass(1);
        assert_eq!(pair.peer().head.server_id, ServerId(4711));
        assert_eq!(pair.peer().last_move, Some((1, false)));
        assert_eq!(pair.peer().moves.len(), 1);
        assert_eq!(pair.peer().moves[0].forwardmove, 127);

        // An entity that is new comes from its baseline.
        let mut world = World::at(1000, &[70]);
        world.entities[0].e_type = 9;
        pair.show(&world);
        assert_eq!(pair.client.state(), ConnectionState::Active);
        assert_eq!(pair.client.entities().copied().collect::<Vec<_>>(), world.entities);
    }
}

#[test]
fn snapshot_before_gamestate_is_discarded() {
    let mut pair = Pair::new(Protocol::Q3_68);
    pair.join();
    pair.show(&World::at(500, &[3]).not_active());
    assert_eq!(pair.client.statistics().early_snapshots, 1);
    assert!(pair.client.snapshot().is_none());
    assert_eq!(pair.client.state(), ConnectionState::Connected);
    pair.pass(1000);
    assert_eq!(pair.peer().head.message_acknowledge, 1, "it is acknowledged all the same");
}

#[test]
fn delta_snapshots_apply_to_their_base() {
    for wire in Protocol::CURRENT {
        let mut pair = Pair::playing(wire);
        for step in 1..60 {
            let numbers: Vec<_> = (1..40).filter(|n| (n + step) % 7 != 0).collect();
            pair.move_at(1000 + step as i32 * 50);
            pair.pass(50);
            assert!(pair.peer().last_move.unwrap().1, "step {step}: a delta is welcome");
            let world = World::at(1000 + step as i32 * 50, &numbers);
            pair.show(&world);
            assert_eq!(pair.client.entities().copied().collect::<Vec<_>>(), world.entities);
            assert_eq!(pair.client.player(), Some(&world.player));
        }
        let statistics = pair.client.statistics();
        assert_eq!((statistics.snapshots, statistics.delta_snapshots), (60, 59));
        assert_eq!(pair.faults(), []);
    }
}

#[test]
fn snapshot_without_base_requests_full_snapshot() {
    let mut pair = Pair::playing(Protocol::IOQ3_71);
    pair.move_at(1000);
    pair.pass(40);
    // The client never gets the first of these.
    let base = pair.peer().channel.next_sequence();
    pair.peer().next_snapshot(&World::at(1050, &[1, 2]));
    let datagrams = pair.peer().snapshot(&World::at(1100, &[1, 2, 3]), Some(base));
    pair.deliver(&datagrams);
    let statistics = pair.client.statistics();
    assert_eq!((statistics.discarded_snapshots, statistics.lost_messages), (1, 1));
    assert_eq!(pair.client.snapshot().map(|s| s.head.server_time), Some(LevelTime(1000)));
    assert_eq!(pair.faults(), []);

    pair.move_at(1050);
    pair.pass(40);
    assert_eq!(pair.peer().last_move.map(|(_, delta)| delta), Some(false));
    let world = World::at(1150, &[1, 2, 3, 4]);
    pair.show(&world);
    assert_eq!(pair.client.entities().count(), 4);
    pair.move_at(1100);
    pair.pass(40);
    assert_eq!(pair.peer().last_move.map(|(_, delta)| delta), Some(true));
}

#[test]
fn level_time_is_monotonic() {
    let mut pair = Pair::playing(Protocol::OA_71);
    pair.show(&World::at(999, &[]));
    let (before, after) = (LevelTime(1000), LevelTime(999));
    assert_eq!(pair.faults(), [ProtocolErrorKind::TimeBackwards { before, after }]);
    assert_eq!(pair.client.snapshot().map(|s| s.head.server_time), Some(before));
    pair.show(&World::at(1000, &[]));
    assert_eq!(pair.faults().len(), 1, "the same time is no fault");
}

#[test]
fn packets_keep_their_rate_and_repeat_usercmds() {
    let mut pair = Pair::playing(Protocol::IOQ3_71);
    let before = pair.peer().packets;
    for ms in 0..990 {
        if ms % 11 == 0 {
            pair.move_at(1000 + ms);
        }
        pair.pass(1);
    }
    assert_eq!(pair.peer().packets - before, 31, "one at both ends, 33 ms between them");
    assert_eq!(pair.peer().last_move, Some((6, true)), "three new ones and three again");
    let times: Vec<_> = pair.peer().moves.iter().map(|usercmd| usercmd.server_time).collect();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 11), "{times:?}");
    assert!(times.len() >= 88);
}

#[test]
fn ping_does_not_depend_on_time_of_playerstate() {
    for command_time in [0, 1040, 5000] {
        let mut pair = Pair::playing(Protocol::OA_71);
        assert_eq!(pair.client.ping_ms(), None);
        // The next packet acknowledges the first snapshot, which is the base of the second.
        pair.move_at(1040);
        let due = pair.client.next_frame();
        pair.pass(due.since(pair.now).0 + 30);
        let mut world = World::at(1100, &[]);
        (world.player.command_time, world.player.client_num) = (command_time, 5);
        pair.show(&world);
        // The packet leaves with the next step of a millisecond.
        assert_eq!(pair.client.ping_ms(), Some(29), "{command_time}");
    }
}

#[test]
fn reliable_commands_survive_loss_once_and_in_order() {
    for wire in Protocol::CURRENT {
        let mut pair = Pair::playing(wire);
        let mut random = 12_345_u32;
        let mut lost = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 30 == 0
        };
        let mut packet = Vec::new();
        for step in 1..=400 {
            if step <= 300 && step % 2 == 0 {
                pair.client.send_command(pair.now, &format!("say {step}%")).unwrap();
                pair.peer().commands.add(format!("chat \"{step}\"").into()).unwrap();
            }
            pair.now += Millis(34);
            pair.move_at(1000 + step * 34);
            pair.client.frame(pair.now);
            while pair.client.poll_transmit(&mut packet).is_some() {
                if !lost() {
                    pair.server.handle(0, &packet);
                }
            }
            let datagrams = pair.peer().next_snapshot(&World::at(1000 + step * 34, &[1]));
            if !lost() {
                pair.deliver(&datagrams);
            }
        }
        let expected: Vec<_> = (1..=150).map(|n| format!("say {}.", n * 2)).collect();
        assert_eq!(pair.peer().heard, expected);
        let heard: Vec<_> = pair
            .events
            .iter()
            .filter_map(|event| match event {
                ClientEvent::ServerCommand(text) => Some(text.clone()),
                _ => None,
            })
            .collect();
        let expected: Vec<_> = (1..=150).map(|n| format!("chat \"{}\"", n * 2)).collect();
        assert_eq!(heard, expected);
        assert_eq!(pair.faults(), []);
        assert_eq!(pair.client.last_server_command(), command(150));
        assert_eq!(pair.client.unacknowledged_commands(), 0);
        assert!(pair.client.is_acknowledged(command(150)));
        // Their keys followed the commands.
        assert!(pair.peer().moves.iter().all(|usercmd| usercmd.forwardmove == 127));
        assert!(pair.client.statistics().lost_messages > 50);
    }
}

#[test]
fn long_configstring_is_joined_and_restart_changes_server_id() {
    let mut pair = Pair::playing(Protocol::OA_71);
    pair.move_at(1001);
    let long = "abcdefghij".repeat(250);
    let pieces = [("bcs0", &long[..999]), ("bcs1", &long[999..1998]), ("bcs2", &long[1998..])];
    for (name, piece) in pieces {
        pair.peer().commands.add(format!("{name} 30 \"{piece}\"\n").into()).unwrap();
    }
    pair.peer().commands.add("map_restart\n".into()).unwrap();
    pair.peer().commands.add("cs 1 \"\\sv_serverid\\11\"\n".into()).unwrap();
    let world = World::at(1050, &[]);
    // The client sees them twice, for its acknowledgement is still on its way.
    pair.show(&world);
    pair.show(&world);
    assert_eq!(
        pair.events,
        [
            ClientEvent::Configstring(ConfigIndex::at(30)),
            ClientEvent::MapRestart,
            ClientEvent::Configstring(ConfigIndex::SYSTEMINFO),
            ClientEvent::Snapshot,
            ClientEvent::Snapshot,
        ]
    );
    assert_eq!(pair.client.configstring(ConfigIndex::at(30)), long);
    assert_eq!(pair.client.state(), ConnectionState::Active);
    pair.pass(40);
    assert_eq!(pair.peer().head.server_id, ServerId(11));
    assert_eq!(pair.peer().last_move, None, "usercmds of before are forgotten");
    pair.move_at(1060);
    pair.pass(40);
    assert_eq!(pair.peer().last_move, Some((1, true)));
}

#[test]
fn map_change_keeps_the_connection() {
    for wire in Protocol::CURRENT {
        let mut pair = Pair::playing(wire);
        pair.client.send_command(pair.now, "say before").unwrap();
        pair.peer().commands.add("print \"before\"".into()).unwrap();
        pair.move_at(1000);
        pair.show(&World::at(1010, &[4]));
        pair.pass(40);
        pair.peer().commands.add("print \"with it\"".into()).unwrap();
        pair.events.clear();
        pair.level(&Level::with_id(20));
        let told = ClientEvent::ServerCommand("print \"with it\"".to_owned());
        assert_eq!(pair.events, [told, ClientEvent::Gamestate]);
        assert_eq!(pair.client.state(), ConnectionState::Primed);
        assert!(pair.client.snapshot().is_none());
        assert_eq!(pair.client.level_time(pair.now), LevelTime(0));
        pair.move_at(0);
        pair.pass(40);
        assert_eq!(pair.peer().head.server_id, ServerId(20));
        assert_eq!(pair.peer().last_move, Some((1, false)));
        // The new level's time is its own, and begins when the client is in.
        pair.show(&World::at(9000, &[]).not_active());
        assert_eq!(pair.client.state(), ConnectionState::Primed);
        pair.show(&World::at(40, &[7]));
        assert_eq!(pair.client.state(), ConnectionState::Active);
        assert_eq!(pair.client.level_time(pair.now + Millis(5)), LevelTime(45));
        assert_eq!(pair.faults(), []);
        pair.client.send_command(pair.now, "say after").unwrap();
        pair.pass(40);
        assert_eq!(pair.peer().heard, ["say before", "say after"]);
    }
}

#[test]
fn gamestate_sets_last_server_command() {
    let mut pair = Pair::playing(Protocol::IOQ3_71);
    for _ in 0..3 {
        pair.peer().commands.add("print \"never sent\"".into()).unwrap();
    }
    pair.peer().commands.acknowledge_all();
    pair.level(&Level::with_id(20));
    assert_eq!(pair.client.last_server_command(), command(3));
    pair.peer().commands.add("print \"sent\"".into()).unwrap();
    pair.show(&World::at(40, &[]));
    assert_eq!(pair.client.last_server_command(), command(4));
    assert_eq!(pair.faults(), []);
}

#[test]
fn userinfo_changes_are_sent() {
    let mut pair = Pair::playing(Protocol::IOQ3_71);
    pair.client.set_userinfo(pair.now, InfoString::parse("\\name\\other")).unwrap();
    pair.pass(40);
    assert_eq!(pair.peer().heard, ["userinfo \"\\name\\other\""]);
    let long = InfoString::parse(&format!("\\name\\{}", "x".repeat(1000)));
    assert!(pair.client.set_userinfo(pair.now, long).is_err());
    assert_eq!(pair.client.userinfo().get("name"), Some("other"));
}

#[test]
fn disconnect_is_sent_three_times() {
    let mut pair = Pair::playing(Protocol::OA_71);
    let before = pair.peer().packets;
    pair.client.disconnect(pair.now);
    pair.pass(1000);
    assert_eq!(pair.peer().packets - before, 3);
    assert_eq!(pair.peer().heard, ["disconnect"]);
    assert_eq!(pair.events, [ClientEvent::Disconnected(DisconnectReason::Left)]);
    assert_eq!(pair.client.state(), ConnectionState::Disconnected);
    assert_eq!(pair.client.next_frame(), Millis::NEVER);
    assert_eq!(pair.client.send_command(pair.now, "say x"), Err(CommandError::NotConnected));
}

#[test]
fn client_applies_server_commands() {
    let mut pair = Pair::playing(Protocol::OA_71);
    pair.peer().commands.add("disconnect \"was kicked\"".into()).unwrap();
    pair.show(&World::at(1050, &[]));
    let ending = DisconnectReason::ServerSaid("was kicked".to_owned());
    assert_eq!(pair.events, [ClientEvent::Disconnected(ending.clone())]);
    assert_eq!(pair.client.disconnect_reason(), Some(&ending));
    pair.show(&World::at(1100, &[]));
    pair.pass(3000);
    assert_eq!(pair.events.len(), 1, "nothing follows");
}

#[test]
fn server_without_connection_is_accepted_after_silence() {
    let mut pair = Pair::playing(Protocol::Q3_68);
    let goodbye = vec![b"\xff\xff\xff\xffdisconnect".to_vec()];
    pair.pass(2999);
    pair.deliver(&goodbye);
    assert_eq!(pair.events, []);
    pair.pass(1);
    pair.deliver(&goodbye);
    assert_eq!(pair.events, [ClientEvent::Disconnected(DisconnectReason::Forgotten)]);
}

#[test]
fn silence_times_out_the_connection() {
    let mut pair = Pair::playing(Protocol::IOQ3_71);
    pair.now += Millis::seconds(199);
    pair.pass(40);
    assert_eq!(pair.client.state(), ConnectionState::Active);
    pair.now += Millis::seconds(1);
    pair.pass(40);
    assert_eq!(pair.client.disconnect_reason(), Some(&DisconnectReason::TimedOut));
}

#[test]
fn too_many_commands_disconnect_cleanly() {
    let mut pair = Pair::playing(Protocol::OA_71);
    for _ in 0..64 {
        pair.client.send_command(pair.now, &"x".repeat(1022)).unwrap();
    }
    let overflow = Err(CommandError::Refused(AddError::Overflow));
    assert_eq!(pair.client.send_command(pair.now, "one more"), overflow);
    assert_eq!(pair.client.disconnect_reason(), Some(&DisconnectReason::CommandOverflow));
    // What fits into a packet is sent, in order: a packet of them all would be no message.
    pair.pass(1);
    assert!((8..=64).contains(&pair.peer().heard.len()), "{}", pair.peer().heard.len());
}

#[test]
fn commands_beyond_one_packet_follow_in_the_next() {
    let mut pair = Pair::playing(Protocol::OA_71);
    for number in 0..64 {
        pair.client.send_command(pair.now, &format!("{number} {}", "xyz".repeat(300))).unwrap();
    }
    for step in 1..20 {
        pair.move_at(1000 + step * 40);
        pair.pass(40);
        pair.show(&World::at(1000 + step * 40, &[]));
    }
    assert_eq!(pair.peer().heard.len(), 64);
    assert_eq!(pair.client.unacknowledged_commands(), 0);
}

#[test]
fn protocol_error_names_position_and_ignores_message() {
    let mut pair = Pair::playing(Protocol::IOQ3_71);
    // In a young connection messages out of sequence are taken for those of an earlier one.
    pair.pass(2000);
    let sequence = pair.peer().channel.next_sequence();
    let mut writer = BitWriter::new();
    let message = |writer: &mut BitWriter, write: &dyn Fn(&mut BitWriter)| {
        server_message::begin(writer, Protocol::Q3_68, command(0));
        writer.byte(ServerOp::Nop as u8);
        server_message::write_command(writer, command(1), b"print \"x\"");
        write(writer);
        server_message::end(writer);
        writer.message().to_vec()
    };
    for write in [
        &(|w: &mut BitWriter| w.byte(77)) as &dyn Fn(&mut BitWriter),
        &|w| w.byte(ServerOp::Configstring as u8),
        // A gamestate with a configstring that has no place.
        &|w| {
            w.byte(ServerOp::Gamestate as u8);
            w.long(0);
            w.byte(ServerOp::Configstring as u8);
            w.short(1024);
            w.big_string(b"x");
        },
    ] {
        let bytes = message(&mut writer, write);
        let datagrams = pair.peer().send(&bytes);
        pair.deliver(&datagrams);
        let fault = pair.faults().pop();
        assert!(
            matches!(fault, Some(ProtocolErrorKind::Unreadable { at_bit, .. }) if at_bit > 100),
            "{fault:?}"
        );
        assert_eq!(pair.client.last_server_command(), command(0), "no part of it counts");
    }
    assert_eq!(pair.client.statistics().faults, 3);
    let ClientEvent::ProtocolError(first) = &pair.events[0] else { panic!("{:?}", pair.events) };
    assert_eq!(first.sequence, sequence);
    assert!(first.to_string().starts_with(&format!("server message {sequence}: at bit ")));

    // It continues, and acknowledges its last snapshot.
    let world = World::at(1050, &[1]);
    pair.show(&world);
    assert_eq!(pair.client.entities().count(), 1);
    // An acknowledgement of what was never sent is a fault too.
    server_message::begin(&mut writer, Protocol::Q3_68, command(9));
    server_message::end(&mut writer);
    let bytes = writer.message().to_vec();
    let datagrams = pair.peer().send(&bytes);
    pair.deliver(&datagrams);
    assert!(matches!(pair.faults().last(), Some(ProtocolErrorKind::Acknowledge(_))));
}

#[test]
fn forged_sequence_jump_is_rejected() {
    let mut pair = Pair::playing(Protocol::OA_71);
    let mut forged = 0x7fff_fffe_u32.to_le_bytes().to_vec();
    forged.extend_from_slice(&[0x55; 40]);
    pair.deliver(&[forged]);
    pair.show(&World::at(1050, &[1]));
    assert_eq!(pair.client.entities().count(), 1);
    assert_eq!(pair.client.statistics().faults, 0);
}

#[test]
fn stale_message_is_ignored_after_reconnect() {
    for wire in Protocol::CURRENT {
        // A client that rejoins within seconds has the same address, qport and challenge as before.
        let mut before = Pair::playing(wire);
        let peer = before.peer();
        for _ in 0..5 {
            peer.commands.add("print \"of yesterday\"".into()).unwrap();
        }
        peer.commands.acknowledge(command(4)).unwrap();
        let near = peer.next_snapshot(&World::at(1050, &[1]));
        peer.commands.acknowledge(command(5)).unwrap();
        let far = (0..100).map(|_| peer.next_snapshot(&World::at(1100, &[1]))).last().unwrap();
        let mut writer = BitWriter::new();
        server_message::begin(&mut writer, Protocol::Q3_68, command(1));
        server_message::end(&mut writer);
        let bytes = writer.message().to_vec();
        let acknowledging = peer.send(&bytes);

        let mut pair = Pair::new(wire);
        pair.join();
        pair.deliver(&near);
        pair.deliver(&far);
        pair.deliver(&acknowledging);
        assert_eq!(pair.client.statistics().messages, 0, "{wire:?}");
        pair.level(&Level::with_id(3));
        assert_eq!(pair.client.state(), ConnectionState::Primed, "{wire:?}");
        assert_eq!(pair.client.statistics().faults, 0, "{wire:?}");
    }
}

#[test]
fn late_message_does_not_affect_new_connection() {
    for wire in Protocol::CURRENT {
        for is_same_challenge in [true, false] {
            let mut before = Pair::playing(wire);
            if !is_same_challenge {
                let challenge = Challenge(before.peer().channel.challenge().0 ^ 0x1234);
                let channel = Channel::new(ChannelSide::Server, wire, challenge, Qport(4660));
                before.peer().channel = channel.resumed(Sequence(3), Sequence(1));
            }
            let far = (0..100).map(|_| before.peer().next_snapshot(&World::at(1100, &[1]))).last();
            let mut writer = BitWriter::new();
            server_message::begin(&mut writer, Protocol::Q3_68, command(1));
            server_message::end(&mut writer);
            let message = writer.message().to_vec();
            let acknowledging = before.peer().send(&message);

            let mut pair = Pair::new(wire);
            pair.join();
            pair.level(&Level::with_id(3));
            pair.pass(100);
            pair.deliver(&far.unwrap());
            pair.deliver(&acknowledging);
            assert_eq!(pair.client.statistics().messages, 1, "{wire:?} {is_same_challenge}");
            pair.show(&World::at(1050, &[1]));
            assert_eq!(
                pair.client.state(),
                ConnectionState::Active,
                "{wire:?} {is_same_challenge}"
            );
            assert_eq!(pair.faults(), [], "{wire:?} {is_same_challenge}");

            // Once nothing can be late any more, the same is the server's mistake.
            pair.pass(2000);
            pair.deliver(&acknowledging);
            let is_fault = is_same_challenge || wire != Protocol::IOQ3_71;
            assert_eq!(pair.faults().len(), usize::from(is_fault), "{wire:?} {is_same_challenge}");
        }
    }
}

/// A client at each stage.
fn at_every_stage(wire: &'static Protocol) -> [Pair; 4] {
    let mut connected = Pair::new(wire);
    connected.join();
    let mut primed = Pair::new(wire);
    primed.join();
    primed.level(&Level::with_id(3));
    [Pair::new(wire), connected, primed, Pair::playing(wire)]
}

const COMMANDS: &[&str] =
    &["challengeResponse ", "connectResponse ", "print\n", "echo ", "disconnect"];

proptest! {
    #[test]
    fn arbitrary_datagrams_are_safe(
        datagrams in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..8),
        sequence in 0..200_u32,
        fragment in any::<bool>(),
    ) {
        for wire in Protocol::live() {
            for mut pair in at_every_stage(wire) {
                for (number, bytes) in datagrams.iter().enumerate() {
                    pair.deliver(std::slice::from_ref(bytes));
                    let bit = if fragment { 1 << 31 } else { 0 };
                    let head = (sequence + number as u32) | bit;
                    pair.deliver(&[[&head.to_le_bytes()[..], bytes].concat()]);
                    let command = COMMANDS[number % COMMANDS.len()].as_bytes();
                    pair.deliver(&[[b"\xff\xff\xff\xff", command, bytes].concat()]);
                }
                pair.now += Millis(5000);
                pair.client.frame(pair.now);
                while pair.client.poll_transmit(&mut Vec::new()).is_some() {}
            }
        }
    }

    #[test]
    fn arbitrary_server_messages_are_safe(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..400), 1..12),
        operations in prop::collection::vec(0..12_u8, 12),
        wire in prop::sample::select(vec![Protocol::IOQ3_71, Protocol::Q3_43, Protocol::Q3_66]),
    ) {
        let mut pair = Pair::playing(wire);
        for (body, operation) in bodies.iter().zip(&operations) {
            let mut writer = BitWriter::new();
            server_message::begin(&mut writer, wire, command(0));
            writer.byte(*operation);
            writer.data(body);
            let message = writer.message().to_vec();
            let datagrams = pair.peer().send(&message);
            pair.deliver(&datagrams);
            pair.client.push_usercmd(UserCmd::default());
            pair.now += Millis(40);
            pair.client.frame(pair.now);
        }
        // After any message it still sends, unless it was dropped.
        let waits = pair.client.poll_transmit(&mut Vec::new()).is_some();
        prop_assert!(waits || pair.client.disconnect_reason().is_some());
    }

    #[test]
    fn flipped_bits_in_messages_are_safe(flips in prop::collection::vec((0..2000_usize, 0..8_u8), 1..4)) {
        let mut pair = Pair::new(Protocol::IOQ3_71);
        pair.join();
        let mut level = Level::with_id(3);
        level.configstrings.push((40, "text ".repeat(60)));
        let mut datagrams = pair.peer().gamestate(&level);
        datagrams.extend(pair.peer().snapshot(&World::at(10, &[1, 2, 3]), None));
        for (at, bit) in flips {
            // Behind the header, which the checksum guards.
            let datagram = &mut datagrams[at % 2];
            let len = datagram.len() - 8;
            datagram[8 + at % len] ^= 1 << bit;
        }
        pair.deliver(&datagrams);
        pair.pass(40);
    }

    #[test]
    fn arbitrary_server_commands_are_safe(
        wire in prop::sample::select(vec![Protocol::OA_71, Protocol::Q3_43]),
        texts in prop::collection::vec(r#"(cs|bcs0|bcs1|bcs2|map_restart|disconnect|print) ?-?[0-9]{0,5} ?"?[\x01-\x7f]{0,300}"#, 1..40)
    ) {
        let mut pair = Pair::playing(wire);
        for (step, text) in texts.into_iter().enumerate() {
            pair.peer().commands.add(text.into()).unwrap();
            pair.show(&World::at(1000 + step as i32, &[]));
            pair.move_at(1000 + step as i32);
            pair.pass(34);
        }
    }
}

#[test]
fn native_client_falls_back_to_68() {
    for (falls_back, expected) in [(true, Protocol::Q3_68), (false, Protocol::IOQ3_71)] {
        let mut options = options(Protocol::IOQ3_71);
        options.falls_back = falls_back;
        let mut client = Client::new(options, Millis(0)).unwrap();
        client.frame(Millis(0));
        let mut packet = Vec::new();
        assert!(client.poll_transmit(&mut packet).is_some());
        let Ok(Message::GetChallenge(request)) = Message::parse(&packet) else { panic!() };
        assert_eq!(request.gamename, "Quake3Arena");
        let ours = request.client_challenge.unwrap();
        assert!(ours != Challenge(0));
        let text = format!("challengeResponse 5 {ours} 68");
        let mut datagram = b"\xff\xff\xff\xff".to_vec();
        WireText::from(text.as_str()).push_to(&mut datagram);
        client.handle_datagram(Millis(1), server_address(), &datagram);
        assert_eq!(client.protocol(), expected);
        assert_eq!(client.state(), ConnectionState::Challenging);
        client.frame(Millis(1));
        client.poll_transmit(&mut packet);
        let Ok(Message::Connect(connect)) = Message::parse(&packet) else { panic!() };
        assert_eq!(connect.userinfo().unwrap().int("protocol"), Some(expected.number));
    }
}

#[test]
fn snapshots_record_their_message_sequence() {
    let mut pair = Pair::playing(Protocol::IOQ3_71);
    pair.peer().commands.add("print \"x\"".into()).unwrap();
    let sequence: Sequence = pair.peer().channel.next_sequence();
    pair.show(&World::at(1050, &[]));
    let snapshot = pair.client.snapshot().unwrap();
    assert_eq!((snapshot.sequence, snapshot.command), (sequence, command(1)));
    assert!(snapshot.is_active());
}
