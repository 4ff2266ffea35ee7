//! Client of protocols 43 to 67 against a scripted server: numbers, texts, scrambling.

use fragd::{
    client::{ClientEvent, ConnectionState, DisconnectReason, Protocol},
    model::{Buttons, ConfigIndex, EntityState, Millis, PlayerState, UserCmd},
    relay::{
        Audience, Frame, Level as RelayLevel, ServerSource, ServerSourceOptions, Sink, Source as _,
    },
};

use crate::{
    client::Pair,
    scripted_server::{Level, ScriptedServer, World},
};

/// World in the numbers of 1.16: a missile, an obituary, and a player with a reward.
fn older_world(time: i32) -> World {
    let mut world = World::at(time, &[3, 9]);
    world.entities[0].event = 58 | 0x100;
    world.entities[1].e_type = 12 + 58;
    world.player.client_num = 2;
    world.player.persistant[7] = 11;
    world.player.events = [47, 64];
    world
}

fn older_level(server_id: i32) -> Level {
    let mut level = Level::with_id(server_id);
    let texts = [(12, "baseq3-1"), (13, "500"), (672, "Quad"), (27, "10")];
    level.configstrings.extend(texts.map(|(index, text)| (index, text.to_owned())));
    level.baselines = vec![EntityState { number: 3, e_type: 12 + 1, ..EntityState::default() }];
    level
}

fn entities(pair: &Pair) -> Vec<(i32, i32, i32)> {
    pair.client.entities().map(|entity| (entity.number, entity.e_type, entity.event)).collect()
}

#[test]
fn client_of_43_shows_numbers_of_132() {
    for wire in [Protocol::Q3_43, Protocol::Q3_45] {
        let mut pair = Pair::new(wire);
        pair.join();
        // Servers send snapshots before the gamestate.
        pair.show(&World::at(10, &[]).not_active());
        pair.level(&older_level(7));
        let text = |pair: &Pair, at| pair.client.configstring(ConfigIndex::at(at)).to_owned();
        assert_eq!([20, 21, 608, 27].map(|at| text(&pair, at)), ["baseq3-1", "500", "Quad", "10"]);
        assert_eq!((text(&pair, 12), pair.client.client_num()), (String::new(), None));

        for time in [1000, 1050, 1100] {
            pair.show(&older_world(time));
            pair.move_at(time);
            pair.pass(50);
            let player = pair.client.player().expect("a snapshot");
            assert_eq!((player.persistant[6], player.persistant[7]), (11, 0));
            assert_eq!(player.events, [48, 76]);
            assert_eq!(entities(&pair), [(3, 0, 60 | 0x100), (9, 13 + 60, 0)]);
        }
        assert_eq!(pair.client.client_num().map(|num| num.index()), Some(2));
        assert_eq!(pair.peer().last_move.map(|(_, delta)| delta), Some(true));
        assert!(pair.client.statistics().delta_snapshots > 0);
        assert_eq!(pair.faults(), []);
    }
}

#[test]
fn commands_and_usercmds_of_43_are_translated() {
    let mut pair = Pair::playing(Protocol::Q3_43);
    let texts = ["cs 14 1", "cs 3000 x", "scores 1 2 3 0 5 40 9 0 0", "print \"a\""];
    for text in texts {
        pair.peer().commands.add(text.into()).expect("room");
    }
    pair.show(&World::at(1050, &[]));
    assert_eq!(pair.client.configstring(ConfigIndex::at(22)), "1");
    let shown = |event: &ClientEvent| match event {
        ClientEvent::ServerCommand(text) => Some(text.clone()),
        _ => None,
    };
    let shown: Vec<_> = pair.events.iter().filter_map(shown).collect();
    assert_eq!(shown, ["scores 1 2 3 0 5 40 9 0 0 0 0 0 0 0 0 0 0", "print \"a\""]);

    let usercmd = UserCmd { server_time: 1060, buttons: Buttons(2048 | 1), ..UserCmd::default() };
    pair.client.push_usercmd(usercmd);
    pair.pass(50);
    assert_eq!(pair.peer().moves.last().map(|last| last.buttons.0), Some(128 | 1));
    assert_eq!(pair.client.last_usercmd(), Some(&usercmd));

    pair.peer().commands.add("disconnect was kicked".into()).expect("room");
    pair.show(&World::at(1100, &[]));
    let said = DisconnectReason::ServerSaid("was kicked".to_owned());
    assert_eq!(pair.client.disconnect_reason(), Some(&said));
}

#[test]
fn client_of_66_finds_the_scrambling() {
    for wire in [Protocol::Q3_66, Protocol::Q3_66_CLEAR] {
        let mut pair = Pair::new(Protocol::Q3_66);
        pair.server.wire = wire;
        pair.join();
        pair.level(&Level::with_id(5));
        assert_eq!(pair.client.protocol(), wire, "at the first long message");
        for step in 0..12 {
            pair.show(&World::at(1000 + step * 50, &[1, 2]));
            pair.move_at(1000 + step * 50);
            pair.pass(50);
        }
        assert_eq!(pair.client.state(), ConnectionState::Active);
        assert!(pair.events.contains(&ClientEvent::Scrambling(wire)), "{:?}", pair.events);
        assert!(pair.peer().moves.len() > 8);
        assert_eq!(pair.faults(), []);
    }
}

#[test]
fn client_of_67_reports_servers_that_do_not_scramble() {
    let mut pair = Pair::new(Protocol::Q3_67);
    pair.server.wire = Protocol::Q3_67_CLEAR;
    pair.join();
    pair.level(&Level::with_id(5));
    let refused = ClientEvent::Refused(
        "Server uses protocol version 67 in its form 67-clear (yours is 67).".to_owned(),
    );
    assert!(pair.events.contains(&refused), "{:?}", pair.events);
    assert_eq!(pair.faults(), []);
}

#[test]
fn states_of_66_and_67_are_not_translated() {
    for wire in [Protocol::Q3_66, Protocol::Q3_67, Protocol::Q3_67_CLEAR] {
        let mut pair = Pair::playing(wire);
        let player = PlayerState { events: [76, 52], client_num: 1, ..PlayerState::default() };
        pair.show(&World { player, time: 1050, ..World::at(1050, &[]) });
        assert_eq!(pair.client.player(), Some(&player));
    }
}

/// Levels and frames of a source.
#[derive(Default)]
struct Told {
    levels: Vec<RelayLevel>,
    /// Number, type and event of the entities of each frame.
    frames: Vec<Vec<(i32, i32, i32)>>,
}

impl Sink for Told {
    fn level(&mut self, level: RelayLevel) {
        self.levels.push(level);
    }

    fn configstring(&mut self, _: ConfigIndex, _: &str) {}

    fn command(&mut self, _: Audience, _: &str) {}

    fn frame(&mut self, frame: &Frame<'_>) {
        let entities = frame.entities.iter();
        let numbers = entities.map(|entity| (entity.number, entity.e_type, entity.event));
        self.frames.push(numbers.collect());
    }

    fn lost(&mut self, reason: &str) {
        panic!("{reason}");
    }
}

#[test]
fn relay_of_a_43_server_has_numbers_of_132() {
    let address = ([10, 0, 0, 1], 27_960).into();
    let mut source = ServerSource::new(ServerSourceOptions {
        server: address,
        protocol: Protocol::Q3_43.into(),
        name: "relay".to_owned(),
        password: None,
        cycle: None,
        seed: 5,
        packs: None,
    });
    let mut server = ScriptedServer::new(Protocol::Q3_43);
    let mut told = Told::default();
    let mut level = older_level(7);
    level.baselines[0].e_type = 12 + 58;
    let mut packet = Vec::new();
    for time in (1000..3000).step_by(10) {
        let now = Millis(time);
        source.advance(now, &mut told);
        let mut replies = Vec::new();
        while source.poll_transmit(&mut packet).is_some() {
            replies.extend(server.handle(0, &packet));
        }
        if let Some(peer) = server.peers.get_mut(&0).filter(|_| time % 50 == 0) {
            let is_in_level = peer.head.server_id.0 == 7;
            replies.extend(match is_in_level {
                true => peer.next_snapshot(&older_world(time as i32)),
                false => peer.gamestate(&level),
            });
        }
        for reply in replies {
            source.handle_datagram(now, address, &reply, &mut told);
        }
    }
    let shown = told.levels.last().expect("a level");
    assert_eq!(shown.baselines[0].e_type, 13 + 60);
    let version = (ConfigIndex::at(20), "baseq3-1".to_owned());
    assert!(shown.configstrings.contains(&version));
    assert!(told.frames.len() > 20, "{}", told.frames.len());
    assert_eq!(told.frames.last(), Some(&vec![(3, 0, 60 | 0x100), (9, 13 + 60, 0)]));
}
