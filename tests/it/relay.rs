//! Broadcast on a simulated network: viewers of a scripted source, of a server, of another relay.

use allocation_counter::measure;
use fragd::{
    client::Protocol,
    impairment::Impairment,
    model::{
        ClientNum, ConfigIndex, EntityNum, EntitySet, EntityState, LevelTime, Millis, PlayerState,
        Vec3,
    },
    node::{Hosted as _, Input, LocalPort, Node as _, OutputKind, Route, take_text},
    relay::{
        Audience, Broadcast, BroadcastOptions, Control, Frame, Level, ServerSource,
        ServerSourceOptions, Sink, Source, Timeline, View, Visible,
    },
    sim::{Actor, Network, Player},
    wire::snapshot::AreaMask,
};

use crate::sim_fixture;

/// Interval of frames in ms.
const STEP: i32 = 50;
/// Players of the scripted level.
const PLAYERS: usize = 3;

/// Play whose every frame follows from its time.
struct Scripted {
    due: Millis,
    time: i32,
    levels: u32,
}

/// Entities of a frame. Some rest, some move, some come and go.
fn entities(time: i32) -> Vec<EntityState> {
    (0..90)
        .filter(|number| number % 7 != 0 || (time / 400 + number) % 3 != 0)
        .map(|number| EntityState {
            e_type: 2,
            pos: fragd::model::Trajectory::interpolate(
                Vec3::new(
                    (number * 10 + if number % 3 == 0 { time / 10 % 900 } else { 0 }) as f32,
                    4.0,
                    8.0,
                ),
                Vec3::ZERO,
            ),
            ..EntityState::numbered(EntityNum::new(number as usize).unwrap())
        })
        .collect()
}

fn player(number: usize, time: i32) -> PlayerState {
    PlayerState {
        client_num: number as i32,
        origin: Vec3::new(time as f32, number as f32, 24.0),
        weapon: 1 + (time / 1000 % 8),
        ..PlayerState::default()
    }
}

/// Entities that a player sees: those with a bit of its own.
fn visible(number: usize, time: i32) -> EntitySet {
    let mut set = EntitySet::default();
    let shown = |entity: usize| (entity + time as usize / 300).is_multiple_of(number + 2);
    (0..90)
        .filter(|&entity| shown(entity))
        .for_each(|entity| set.insert(EntityNum::new(entity).unwrap()));
    set
}

fn level() -> Level {
    let mut configstrings = vec![
        (ConfigIndex::SERVERINFO, "\\mapname\\scripted\\sv_hostname\\Script".to_owned()),
        (ConfigIndex::SYSTEMINFO, "\\sv_serverid\\77\\sv_paks\\1 2\\sv_pure\\1".to_owned()),
    ];
    for number in 0..PLAYERS {
        configstrings.push((ConfigIndex::at(544 + number as u16), format!("n\\P{number}\\t\\0")));
    }
    Level { configstrings, baselines: entities(0), spectator: None }
}

impl Source for Scripted {
    fn name(&self) -> String {
        "Script".to_owned()
    }

    fn advance(&mut self, now: Millis, sink: &mut dyn Sink) {
        if now < self.due {
            return;
        }
        self.due = now + Millis(STEP as u64);
        // A level of twenty seconds; the next one starts with an earlier time.
        if self.levels == 0 || self.time > 20_000 {
            self.levels += 1;
            self.time = 100;
            sink.level(level());
        }
        self.time += STEP;
        let time = self.time;
        if time % 1000 == 0 {
            sink.command(Audience::All, &format!("print \"second {}\n\"", time / 1000));
            sink.command(Audience::Followers(ClientNum::new(1).unwrap()), "cp \"for one\n\"");
            sink.configstring(ConfigIndex::at(6), &(time / 1000).to_string());
        }
        let states: Vec<_> = (0..PLAYERS).map(|number| player(number, time)).collect();
        let sets: Vec<_> = (0..PLAYERS).map(|number| visible(number, time)).collect();
        let views: Vec<_> = (0..PLAYERS)
            .map(|number| View {
                player: ClientNum::new(number).unwrap(),
                state: &states[number],
                visible: Visible::Set(&sets[number]),
                areas: AreaMask::new(&[number as u8]).unwrap(),
            })
            .collect();
        let entities = entities(time);
        let frame =
            Frame { time: LevelTime(time), is_odd: false, entities: &entities, views: &views };
        sink.frame(&frame);
        if time % 2000 == 0 {
            // A source that breaks the order is ignored.
            sink.frame(&Frame { time: LevelTime(time - 1000), ..frame });
        }
    }

    fn next_due(&self) -> Millis {
        self.due
    }

    fn status(&self, _: Millis) -> String {
        "scripted".to_owned()
    }
}

fn entropy(seed: u8) -> [u8; 32] {
    std::array::from_fn(|at| seed.wrapping_mul(31).wrapping_add(at as u8))
}

fn broadcast(source: Box<dyn Source>, options: BroadcastOptions) -> Actor {
    Actor::Broadcast(Box::new(Broadcast::new(source, options, entropy(3))))
}

fn scripted(options: BroadcastOptions) -> Actor {
    broadcast(Box::new(Scripted { due: Millis(0), time: 0, levels: 0 }), options)
}

fn relay_of(node: usize, options: BroadcastOptions) -> Actor {
    let source = ServerSource::new(ServerSourceOptions {
        server: Network::address(node, LocalPort(0)),
        protocol: "auto".parse().unwrap(),
        name: "relay".to_owned(),
        password: None,
        cycle: None,
        seed: 5 + node as u64,
        packs: None,
    });
    broadcast(Box::new(source), options)
}

fn join(network: &Network, to: usize, wire: &'static Protocol, name: &str, seed: u64) -> Actor {
    let server = Network::address(to, LocalPort(0));
    Actor::Player(Box::new(Player::new(server, wire, name, seed, network.now())))
}

fn viewer(actors: &mut [Actor], node: usize) -> &mut Player {
    actors[node].player().unwrap()
}

/// Compares the new snapshots of a viewer with the script. Returns their number.
fn check_views(player: &mut Player) -> usize {
    let seen = std::mem::take(&mut player.seen);
    let mut compared = 0;
    for sequence in seen {
        let Some((snapshot, shown)) = player.client().view(sequence) else { continue };
        let (time, number) = (snapshot.head.server_time.0, snapshot.player.client_num as usize);
        let expected = self::player(number, time);
        let viewed = &snapshot.player;
        assert_eq!((viewed.origin, viewed.weapon), (expected.origin, expected.weapon), "{time}");
        assert_eq!(viewed.pm_flags & 4096, 4096, "a follower");
        assert_eq!(snapshot.head.areas.bytes(), [number as u8]);
        let set = visible(number, time);
        let wanted = entities(time);
        let wanted =
            wanted.iter().filter(|e| set.contains(EntityNum::new(e.number as usize).unwrap()));
        let got: Vec<_> = shown.collect();
        assert!(wanted.eq(got.iter().copied()), "entities of {number} at {time}");
        compared += 1;
    }
    compared
}

#[test]
fn viewers_see_frames_of_their_player_under_faults() {
    let harm =
        Impairment { loss: 50, duplication: 30, reordering: 30, ..Impairment::latency(Millis(30)) };
    let mut network = Network::new(7, harm, Millis(1000));
    let mut actors = vec![scripted(BroadcastOptions::default())];
    for number in 0..9 {
        let wire = Protocol::CURRENT[number % 3];
        actors.push(join(&network, 0, wire, &format!("viewer{number}"), 90 + number as u64));
    }
    let mut compared = 0;
    for step in 0..70 {
        for node in 1..actors.len() {
            if step == 12 + node as u64 {
                let now = network.now();
                let line =
                    ["follow 1", "follow P2", "follownext", "say !follow 1", "score"][node % 5];
                viewer(&mut actors, node).send_command(now, line);
            }
        }
        let end = network.now() + Millis(500);
        network.run_until(&mut actors, end, |_, actors| {
            let (relay, viewers) = actors.split_at_mut(1);
            compared +=
                viewers.iter_mut().filter_map(Actor::player).map(check_views).sum::<usize>();
            relay[0].broadcast().unwrap().check_invariants().unwrap();
        });
    }
    let mut heard_alone = 0;
    for node in 1..actors.len() {
        let player = viewer(&mut actors, node);
        assert!(player.faults.is_empty(), "viewer {node}: {:?}", player.faults);
        assert!(player.is_active(), "viewer {node}: {:?}", player.disconnect_reason());
        assert_eq!(player.levels, 2, "viewer {node}");
        assert_ne!(player.client().client_num().unwrap().index(), 0, "no player's number");
        let heard = |text: &str| player.heard.iter().filter(|said| said.contains(text)).count();
        assert!(heard("second ") > 20, "viewer {node}");
        let second = player.client().configstring(ConfigIndex::at(6));
        assert!(second.parse::<i32>().unwrap() > 0, "{second}");
        heard_alone += usize::from(heard("for one") > 0);
        assert!(node % 5 != 4 || heard("scores 3 ") == 1, "{:?}", player.heard);
        let info = player.client().configstring(ConfigIndex::SYSTEMINFO);
        assert!(!info.contains("sv_paks") && info.contains("\\sv_pure\\0"), "{info}");
    }
    // Nodes 3 and 8 follow by chat, 5 by name, 2 and 7 by "next", 1 and 6 P2.
    assert!((4..9).contains(&heard_alone), "{heard_alone}");
    assert!(compared > 3000, "{compared}");
    let counts = actors[0].broadcast().unwrap().counts();
    assert!(counts.deltas * 10 > counts.snapshots * 7, "{counts:?}");
    assert!(counts.refused_frames > 5, "{counts:?}");
}

#[test]
fn delayed_relay_has_a_name_before_its_first_level() {
    let options = BroadcastOptions { delay: Millis::seconds(3), ..BroadcastOptions::default() };
    let source = Box::new(Scripted { due: Millis(0), time: 0, levels: 0 });
    let mut relay = Broadcast::new(source, options, entropy(3));
    let route = Route::new(LocalPort(0), ([192, 0, 2, 1], 27_960).into());
    let mut shown = |at, map: &str| {
        relay.frame(Millis(at));
        for query in ["getinfo xyz", "getstatus xyz"] {
            let bytes = [&b"\xff\xff\xff\xff"[..], query.as_bytes()].concat();
            relay.handle_datagram(Millis(at), route, &bytes);
            let mut packet = Vec::new();
            assert_eq!(relay.poll_transmit(&mut packet), Some(route), "{query}");
            let text = String::from_utf8_lossy(&packet).into_owned();
            assert!(text.contains("hostname\\Script") && text.contains(map), "{at}: {text}");
        }
    };
    shown(0, "mapname\\nomap");
    shown(3001, "mapname\\scripted");
}

#[test]
fn relay_reports_lost_source_and_continues() {
    let harm = Impairment { loss: 20, ..Impairment::latency(Millis(20)) };
    let mut network = Network::new(11, harm, Millis(1000));
    let mut actors = vec![
        Actor::Server(Box::new(sim_fixture::server(&[("sv_hostname", "Origin")]))),
        relay_of(0, BroadcastOptions::default()),
        join(&network, 0, Protocol::OA_71, "kim", 21),
        join(&network, 0, Protocol::IOQ3_71, "lou", 22),
        // The chained relay comes second, with a delay.
        relay_of(1, BroadcastOptions { delay: Millis::seconds(3), ..BroadcastOptions::default() }),
    ];
    let run = |network: &mut Network, actors: &mut Vec<Actor>, seconds| {
        let end = network.now() + Millis::seconds(seconds);
        network.run_until(actors, end, |_, _| {});
    };
    run(&mut network, &mut actors, 12);
    for (number, wire) in Protocol::CURRENT.into_iter().enumerate() {
        actors.push(join(&network, 1, wire, "near", 40 + number as u64));
        actors.push(join(&network, 4, wire, "far", 50 + number as u64));
    }
    run(&mut network, &mut actors, 20);
    let shown = |actors: &mut Vec<Actor>, node| {
        let player = viewer(actors, node);
        assert!(player.faults.is_empty(), "{node}: {:?}", player.faults);
        assert!(player.is_active(), "{node}: {:?}", player.refusal);
        let snapshot = player.client().snapshot().unwrap();
        (snapshot.head.server_time.0, snapshot.player.client_num)
    };
    let (now, followed) = shown(&mut actors, 5);
    assert!((1..=2).contains(&followed), "a player: {followed}");
    let (then, _) = shown(&mut actors, 6);
    assert!((2900..3600).contains(&(now - then)), "delayed by {}", now - then);
    let info = viewer(&mut actors, 6).client().configstring(ConfigIndex::SERVERINFO).to_owned();
    assert!(info.contains("\\sv_hostname\\Origin (relay)"), "{info}");

    let server = std::mem::replace(&mut actors[0], Actor::Offline);
    drop(server);
    run(&mut network, &mut actors, 20);
    for node in [5, 7, 9] {
        let player = viewer(&mut actors, node);
        assert!(player.heard.iter().any(|said| said.contains("source is lost")), "{node}");
        assert!(player.is_active() && player.faults.is_empty());
    }
    let levels = viewer(&mut actors, 5).levels;
    actors[0] = Actor::Server(Box::new(sim_fixture::server(&[("sv_hostname", "Origin")])));
    run(&mut network, &mut actors, 40);
    for node in 5..actors.len() {
        let player = viewer(&mut actors, node);
        assert!(player.levels > levels, "viewer {node} has the new level");
        assert!(player.faults.is_empty(), "{:?}", player.faults);
        assert!(player.is_active(), "{node}");
    }
}

#[test]
fn viewers_beyond_the_limits_are_rejected() {
    let mut network = Network::new(3, Impairment::latency(Millis(10)), Millis(1000));
    let options = BroadcastOptions { max_viewers: 4, ..BroadcastOptions::default() };
    let mut actors = vec![scripted(options)];
    for number in 0..7 {
        actors.push(join(&network, 0, Protocol::Q3_68, "viewer", 60 + number));
    }
    let end = network.now() + Millis::seconds(8);
    network.run_until(&mut actors, end, |_, _| {});
    let active = (1..8).filter(|&node| viewer(&mut actors, node).is_active()).count();
    assert_eq!(active, 4);
    let refused = (1..8)
        .filter(|&node| viewer(&mut actors, node).refusal.as_deref() == Some("Server is full"));
    assert_eq!(refused.count(), 3);
    // A place becomes free at once for the next attempt.
    let now = network.now();
    let left = (1..8).find(|&node| viewer(&mut actors, node).is_active()).unwrap();
    viewer(&mut actors, left).leave(now);
    let end = network.now() + Millis::seconds(10);
    network.run_until(&mut actors, end, |_, _| {});
    let active = (1..8).filter(|&node| viewer(&mut actors, node).is_active()).count();
    assert_eq!(active, 4, "another one took the place");
    assert_eq!(actors[0].broadcast().unwrap().viewers(), 4);
}

#[test]
fn hostile_datagrams_store_nothing_and_stop_no_viewer() {
    let mut network = Network::new(4, Impairment::latency(Millis(5)), Millis(1000));
    let mut actors = vec![scripted(BroadcastOptions::default())];
    actors.push(join(&network, 0, Protocol::OA_71, "viewer", 70));
    let end = network.now() + Millis::seconds(4);
    network.run_until(&mut actors, end, |_, _| {});
    let address = Network::address(1, LocalPort(0));
    let mut state = 9_u64;
    for round in 0..3000_u32 {
        let mut bytes: Vec<u8> = (0..round % 90)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as u8
            })
            .collect();
        match round % 4 {
            0 => bytes.splice(0..0, *b"\xff\xff\xff\xffconnect ").for_each(drop),
            1 => bytes.splice(0..0, *b"\xff\xff\xff\xffgetstatus ").for_each(drop),
            2 => bytes.splice(0..0, *b"\xff\xff\xff\xffgetchallenge 1").for_each(drop),
            _ => {}
        }
        // Half of them claim to be the viewer.
        let from = if round % 2 == 0 {
            address
        } else {
            ([10, 9, (round >> 8) as u8, round as u8], 5).into()
        };
        network.inject(from, 0, &bytes);
        if round % 100 == 0 {
            let end = network.now() + Millis(100);
            network.run_until(&mut actors, end, |_, actors| {
                actors[0].broadcast().unwrap().check_invariants().unwrap();
            });
        }
    }
    let relay = actors[0].broadcast().unwrap();
    assert_eq!(relay.viewers(), 1);
    assert!(relay.counts().dropped_datagrams > 1000, "{:?}", relay.counts());
    let player = viewer(&mut actors, 1);
    assert!(player.is_active() && player.faults.is_empty());
}

#[test]
fn operator_and_viewers_ask_the_source() {
    let mut network = Network::new(5, Impairment::latency(Millis(5)), Millis(1000));
    let mut actors = vec![scripted(BroadcastOptions::default())];
    actors.push(join(&network, 0, Protocol::IOQ3_71, "viewer", 70));
    let end = network.now() + Millis::seconds(4);
    network.run_until(&mut actors, end, |_, _| {});
    let now = network.now();
    viewer(&mut actors, 1).send_command(now, "say !pause");
    actors[0].handle_input(now, Input::ConsoleLine("status"));
    actors[0].handle_input(now, Input::ConsoleLine("say hello"));
    // The network drops console output.
    let status: String = take_text(&mut actors[0], OutputKind::Console);
    let end = network.now() + Millis::seconds(2);
    network.run_until(&mut actors, end, |_, _| {});
    assert!(status.contains("source:  scripted") && status.contains("viewer -> P0"), "{status}");
    let heard = viewer(&mut actors, 1).heard.join("");
    assert!(heard.contains("no pause") && heard.contains("[server]: ^2hello"), "{heard}");
    let now = network.now();
    actors[0].handle_input(now, Input::ConsoleLine("quit"));
    let end = network.now() + Millis::seconds(1);
    network.run_until(&mut actors, end, |_, _| {});
    assert!(viewer(&mut actors, 1).disconnect_reason().is_some());
}

/// Play that shows the same states again and again.
struct Still {
    due: Millis,
    time: i32,
    entities: Vec<EntityState>,
    player: PlayerState,
}

/// An endless play of one level.
pub(crate) fn still() -> Box<dyn Source> {
    let (entities, player) = (entities(100), player(0, 100));
    Box::new(Still { due: Millis(0), time: 0, entities, player })
}

impl Source for Still {
    fn name(&self) -> String {
        "Still".to_owned()
    }

    fn advance(&mut self, now: Millis, sink: &mut dyn Sink) {
        if now < self.due {
            return;
        }
        self.due = now + Millis(STEP as u64);
        if self.time == 0 {
            sink.level(level());
        }
        self.time += STEP;
        let number = self.time as usize % self.entities.len();
        self.entities[number].pos.base.0[0] += 1.0;
        let view = View {
            player: ClientNum::new(0).unwrap(),
            state: &self.player,
            visible: Visible::All,
            areas: AreaMask::default(),
        };
        let (time, entities) = (LevelTime(self.time), &self.entities);
        sink.frame(&Frame { time, is_odd: false, entities, views: &[view] });
    }

    fn next_due(&self) -> Millis {
        self.due
    }

    fn status(&self, _: Millis) -> String {
        String::new()
    }
}

#[test]
fn snapshots_of_many_viewers_allocate_nothing_per_viewer() {
    let mut network = Network::new(6, Impairment::latency(Millis(10)), Millis(1000));
    let mut actors = vec![broadcast(still(), BroadcastOptions::default())];
    for number in 0..60 {
        let wire = Protocol::CURRENT[number % 3];
        actors.push(join(&network, 0, wire, "viewer", 300 + number as u64));
    }
    let end = network.now() + Millis::seconds(6);
    network.run_until(&mut actors, end, |_, _| {});
    let before = actors[0].broadcast().unwrap().counts();
    let mut packet = Vec::with_capacity(2000);
    let (mut now, mut sent) = (network.now(), 0);
    let node = &mut actors[0];
    let mut frames = |count: u32| {
        for _ in 0..count {
            now += Millis(STEP as u64);
            node.frame(now);
            while node.poll_transmit(&mut packet).is_some() {
                sent += 1;
            }
        }
    };
    frames(4);
    let allocated = measure(|| frames(10)).count_total;
    assert!(sent >= 14 * 60, "{sent} datagrams");
    assert!(allocated < 10 * 6, "{allocated} allocations in 10 frames of 60 viewers");
    let after = actors[0].broadcast().unwrap().counts();
    assert_eq!(after.snapshots - before.snapshots, 14 * 60);
    assert_eq!(after.deltas - before.deltas, 14 * 60, "each from an acknowledged base");
}

/// Returns what a viewer has heard since the last call.
fn heard(actors: &mut [Actor], node: usize) -> String {
    std::mem::take(&mut viewer(actors, node).heard).join("")
}

#[test]
fn first_viewer_alone_controls_a_watched_source() {
    let mut network = Network::new(5, Impairment::latency(Millis(5)), Millis(1000));
    let mut actors = vec![scripted(BroadcastOptions::default())];
    actors.push(join(&network, 0, Protocol::IOQ3_71, "first", 70));
    let run = |network: &mut Network, actors: &mut [Actor], ms: u64| {
        let end = network.now() + Millis(ms);
        network.run_until(actors, end, |_, _| {});
    };
    run(&mut network, &mut actors, 4000);
    let asks = |network: &mut Network, actors: &mut [Actor], node: usize, line: &str| {
        let now = network.now();
        heard(actors, node);
        viewer(actors, node).send_command(now, line);
        run(network, actors, 500);
        heard(actors, node)
    };
    for _ in 0..3 {
        let alone = asks(&mut network, &mut actors, 1, "say !seek 0");
        assert!(alone.contains("no pause"), "no limit while it is alone: {alone}");
    }
    actors.push(join(&network, 0, Protocol::IOQ3_71, "second", 71));
    run(&mut network, &mut actors, 4000);
    let second = asks(&mut network, &mut actors, 2, "say !pause");
    assert!(second.contains("only the first viewer controls"), "{second}");
    let first = asks(&mut network, &mut actors, 1, "say !seek 0");
    assert!(first.contains("no pause"), "{first}");
    let again = asks(&mut network, &mut actors, 1, "say !pause");
    assert!(again.contains("Again in 10 s"), "{again}");
    run(&mut network, &mut actors, 10_000);
    assert!(asks(&mut network, &mut actors, 1, "say !pause").contains("no pause"));
    run(&mut network, &mut actors, 3000);
    assert!(asks(&mut network, &mut actors, 1, "say !pause").contains("no pause"));
    // The next viewer takes over.
    let now = network.now();
    viewer(&mut actors, 1).send_command(now, "disconnect");
    run(&mut network, &mut actors, 3000);
    assert!(asks(&mut network, &mut actors, 2, "say !pause").contains("no pause"));
}

/// A script that viewers can pause.
struct Pausable {
    script: Scripted,
    is_paused: bool,
}

impl Source for Pausable {
    fn name(&self) -> String {
        self.script.name()
    }

    fn advance(&mut self, now: Millis, sink: &mut dyn Sink) {
        if !self.is_paused {
            self.script.advance(now, sink);
        }
    }

    fn next_due(&self) -> Millis {
        if self.is_paused { Millis::NEVER } else { self.script.next_due() }
    }

    fn status(&self, now: Millis) -> String {
        self.script.status(now)
    }

    fn control(&mut self, _: Millis, request: Control) -> Result<String, String> {
        if request != Control::Pause {
            return Err("no timeline".to_owned());
        }
        self.is_paused = !self.is_paused;
        Ok(if self.is_paused { "paused" } else { "continues" }.to_owned())
    }

    fn timeline(&self) -> Option<Timeline> {
        Some(Timeline { position_ms: 0, speed: 1.0, is_paused: self.is_paused })
    }
}

#[test]
fn source_continues_when_the_viewer_that_paused_leaves() {
    let mut network = Network::new(6, Impairment::latency(Millis(5)), Millis(1000));
    let script = Scripted { due: Millis(0), time: 0, levels: 0 };
    let source = Pausable { script, is_paused: false };
    let mut actors = vec![broadcast(Box::new(source), BroadcastOptions::default())];
    let run = |network: &mut Network, actors: &mut [Actor], ms: u64| {
        let end = network.now() + Millis(ms);
        network.run_until(actors, end, |_, _| {});
    };
    let is_paused = |actors: &mut [Actor]| {
        let timeline = actors[0].broadcast().unwrap().source().timeline();
        timeline.is_some_and(|timeline| timeline.is_paused)
    };
    for (node, name) in [(1, "first"), (2, "second")] {
        actors.push(join(&network, 0, Protocol::IOQ3_71, name, 80 + node));
        run(&mut network, &mut actors, 3000);
    }
    viewer(&mut actors, 1).send_command(network.now(), "say !pause");
    run(&mut network, &mut actors, 3000);
    assert!(is_paused(&mut actors), "while its viewer watches");
    viewer(&mut actors, 1).send_command(network.now(), "disconnect");
    run(&mut network, &mut actors, 3000);
    assert!(!is_paused(&mut actors));
    assert!(heard(&mut actors, 2).contains("continues"));
}
