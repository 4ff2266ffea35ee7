//! Overload beside eight bots on a map.
//!
//! First many cheap datagrams from two hundred addresses, then the costliest datagrams of each kind at
//! 10 and 40 Mbit/s. These tests use the machine's clock. The kernel's accounting of the threads and a
//! thread that only sleeps separate delays by the machine: a run in which a thread had to wait for a
//! processor is repeated once. After that it is judged by the server's processor time alone.

use std::{
    net::{SocketAddr, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fragd::{
    bots::{Bots, BotsOptions, Stage, StageSummary},
    client::Protocol,
    game::{Deathmatch, Game, Ruleset},
    io::{Clock, Options, Progress, Sockets, run},
    model::{Millis, assets::MemoryAssets},
    node::{Hosted as _, LocalPort, LoopCounters},
    observe::{Counter, Counters},
    server::Server,
    settings::Settings,
};

use super::{
    costly,
    fixture::{alone, answer, listen, oob, server, socket_at},
    floods::connect,
    sample_maps::{TestMap, YARD},
    sched::{Heartbeat, SchedWatch},
};

/// Bytes of the headers of UDP and IPv4, which every datagram has.
pub(super) const HEADERS: usize = 28;
const BOTS: u16 = 8;
/// Duration of the bots' play and of the server.
const PLAY: Millis = Millis::seconds(4);
const RUN: Millis = Millis::seconds(6);
/// Datagrams of the flood of cheap ones, a second: bounded, for others share the machine.
const FLOOD_PER_SECOND: u32 = 40_000;
/// Duration without load, and with each load.
const QUIET: Millis = Millis(1500);
const LOADED: Millis = Millis(1500);
/// The loads.
const MBIT_PER_SECOND: [u64; 2] = [10, 40];
/// Longest time that a bot may be without a snapshot: a frame is 50 ms.
const WORST_GAP_MS: u64 = 100;
/// Nine tenths of the bots' pings are at most so long.
const PING_P90_MS: u64 = 60;
/// Share of a processor that the server may use: three times what it does on a busy machine.
const MOST_PROCESSOR: f64 = 0.4;
/// Wait for a processor that counts as a delay by the machine.
const STALL: Duration = Duration::from_millis(25);
/// Backlog beyond which a sender drops unsent load.
const MOST_BEHIND: Duration = Duration::from_millis(5);

/// Longest snapshot gap beside the flood of cheap datagrams, which is not repeated on a busy
/// machine.
const WORST_FLOOD_GAP_MS: u64 = 500;

/// Sends the n-th datagram or message; returns its bytes, with those of headers.
pub(super) type Load = Box<dyn FnMut(&Target, usize) -> usize + Send>;

/// The server under load.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
}

impl Target {
    /// The challenge of a socket's address.
    pub(super) fn challenge(&self, socket: &UdpSocket) -> String {
        socket.send_to(&oob("getchallenge"), self.address).unwrap();
        let reply = answer(socket).expect("a challenge");
        reply.strip_prefix("challengeResponse ").unwrap().to_owned()
    }

    /// The answer to a `connect` with these pairs.
    pub(super) fn connect(&self, socket: &UdpSocket, pairs: &[(&str, &str)]) -> String {
        socket.send_to(&connect(pairs), self.address).unwrap();
        answer(socket).expect("an answer")
    }
}

/// Measurements beside a load.
struct Measured {
    stages: Vec<StageSummary>,
    counters: Counters,
    engine: LoopCounters,
    sent_bytes: u64,
    /// Share of a processor that the server used, with each load.
    processor: Vec<f64>,
    /// Longest wait for a processor of the server, of the bots and of the sender.
    waits: [Duration; 3],
    /// Longest delay of a thread that only sleeps.
    stall: Duration,
}

impl Measured {
    /// Violated time limits, by the machine's clock.
    fn late(&self) -> Option<String> {
        let figures = self.stages.iter().skip(1).map(|stage| &stage.total);
        let bad = figures.zip(MBIT_PER_SECOND).find_map(|(stage, mbit)| {
            let (gap, ping) = (stage.snapshot_gap_ms.max, stage.ping_ms.p90);
            (gap > WORST_GAP_MS || ping > PING_P90_MS)
                .then(|| format!("{mbit} Mbit/s: {gap} ms without a snapshot, ping p90 {ping} ms"))
        });
        let dropped = self.engine.kernel;
        bad.or_else(|| (dropped > 0).then(|| format!("{dropped} datagrams dropped by the kernel")))
    }

    fn was_held_up(&self) -> bool {
        self.stall >= STALL || self.waits.iter().any(|&wait| wait >= STALL)
    }
}

/// A server on a map that things collide with.
fn server_with_map() -> Server {
    let mut settings = Settings::default();
    for (name, value) in [("sv_maxclients", "64"), ("map", "yard"), ("g_log", "")] {
        settings.set(name, value).unwrap();
    }
    let mut assets = MemoryAssets::default();
    assets.insert("maps/yard.bsp", TestMap::test_yard(YARD).file()).unwrap();
    let rules = Box::new(|_| -> Box<dyn Game> { Box::new(Deathmatch::new(Ruleset::BASEOA)) });
    Server::new(settings, Box::new(assets), rules, [3; 32])
}

/// Samples a thread's processor time every few milliseconds.
fn sampling<'a, N: ?Sized + 'a>(watch: &SchedWatch) -> Option<Progress<'a, N>> {
    let watch = watch.clone();
    Some(Progress {
        first: Millis(0),
        interval: Millis(5),
        call: Box::new(move |_, _, _| watch.sample()),
    })
}

/// Sends the load at each rate in turn, each from its time on.
fn send(
    target: &Target,
    load: &mut Load,
    begun: Instant,
    over: &AtomicBool,
    watch: &SchedWatch,
) -> u64 {
    let (mut number, mut sent, mut total) = (0, 0.0, 0);
    let mut since = None;
    while !over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(1));
        watch.sample();
        let Some(elapsed) = begun.elapsed().checked_sub(Duration::from_millis(QUIET.0)) else {
            continue;
        };
        let stage = (elapsed.as_millis() as u64 / LOADED.0).min(1) as usize;
        let bytes_per_second = (MBIT_PER_SECOND[stage] * 125_000) as f64;
        let now = Instant::now();
        sent -= bytes_per_second * (now - since.replace(now).unwrap_or(now)).as_secs_f64();
        sent = f64::max(sent, -bytes_per_second * MOST_BEHIND.as_secs_f64());
        while sent < 0.0 {
            let bytes = load(target, number);
            sent += bytes as f64;
            total += bytes as u64;
            number += 1;
        }
    }
    total
}

/// Lets eight bots play beside a load.
fn play_beside(make: fn(&Target) -> Load) -> Measured {
    let sockets = listen();
    let target = Target { address: sockets.addresses(LocalPort(0)).next().unwrap() };
    let watches: [SchedWatch; 3] = Default::default();
    let progress = watches[0].clone();
    let host = thread::spawn(move || {
        let mut server = server_with_map();
        let deadline = Millis(QUIET.0 + 2 * LOADED.0 + 1500);
        let options = Options {
            deadline,
            count_interval: Millis(300),
            progress: sampling(&progress),
            ..Options::default()
        };
        let summary = run(&mut server, sockets, &Clock::start(), options).unwrap();
        (summary.counters, server.counters().clone())
    });
    let mut load = make(&target);
    let heartbeat = Heartbeat::start();
    let begun = Instant::now();
    let (over, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (stop, total, watch) = (Arc::clone(&over), Arc::clone(&sent), watches[2].clone());
    let sender = thread::spawn(move || {
        total.store(send(&target, &mut load, begun, &stop, &watch), Ordering::Relaxed);
    });

    let clock = Clock::start();
    let mut options = BotsOptions::new(target.address, Protocol::OA_71, BOTS, QUIET);
    options.stages = [QUIET, LOADED, LOADED].map(|duration| Stage { bots: BOTS, duration }).into();
    options.seed = 7;
    let mut bots = Bots::new(options, clock.now());
    let sockets = Sockets::ephemeral(bots.local_ports(), target.address.ip()).unwrap();
    let options = Options { deadline: RUN, progress: sampling(&watches[1]), ..Options::default() };
    run(&mut bots, sockets, &clock, options).unwrap();
    over.store(true, Ordering::Relaxed);
    let from = begun + Duration::from_millis(QUIET.0);
    let stall = heartbeat.worst_stall(from);
    sender.join().unwrap();
    let (engine, counters) = host.join().unwrap();

    let loaded = Duration::from_millis(LOADED.0);
    Measured {
        stages: bots.summary().stages,
        counters,
        engine,
        sent_bytes: sent.load(Ordering::Relaxed),
        processor: [0, 1]
            .map(|n| watches[0].share(from + loaded * n, from + loaded * (n + 1)))
            .into(),
        waits: watches.map(|watch| watch.worst_wait(from)),
        stall,
    }
}

/// Bots keep their snapshots and pings under load, and the kernel drops nothing. The counters must
/// show the load.
fn check(make: fn(&Target) -> Load, counters: &[Counter]) {
    let _machine = alone();
    for attempt in 0..2 {
        let measured = play_beside(make);
        let Measured { processor, waits, stall, sent_bytes, engine, .. } = &measured;
        let shown: Vec<_> = measured
            .stages
            .iter()
            .map(|s| (s.total.snapshot_gap_ms.max, s.total.ping_ms.p90))
            .collect();
        let counted: Vec<_> =
            counters.iter().map(|&counter| measured.counters.get(counter)).collect();
        println!(
            "{sent_bytes} bytes; gap and ping p90 by stage {shown:?}; server {processor:.2?} of a \
             processor; waits {waits:?}, stall {stall:?}; {counted:?} of {counters:?}; {engine:?}"
        );
        for stage in &measured.stages {
            let figures = &stage.total;
            assert_eq!((figures.active, figures.dropped), (usize::from(BOTS), 0), "bots stay");
        }
        assert!(counted.iter().sum::<u64>() > 100, "the load reaches the server: {counted:?}");
        let most = processor.iter().copied().fold(0.0, f64::max);
        assert!(most <= MOST_PROCESSOR, "the server needs {most:.2} of a processor");
        let Some(late) = measured.late() else { return };
        assert!(
            measured.was_held_up(),
            "{late}, and no thread waited for a processor: {waits:?}, stall {stall:?}"
        );
        println!("attempt {attempt}: {late}; threads waited {waits:?}, stall {stall:?}");
    }
    println!("not judged by time: the machine is too busy");
}

#[test]
fn c13_connects_with_many_pairs_affect_no_player() {
    check(costly::connects_of_many_pairs, &[Counter::ConnectsRefused, Counter::ConnectsShed]);
}

#[test]
fn c14_connects_with_costly_streams_affect_no_player() {
    check(costly::connects_of_deep_streams, &[Counter::ConnectsRefused, Counter::ConnectsShed]);
}

#[test]
fn c11_challenged_connects_with_many_pairs_affect_no_player() {
    check(costly::connects_with_a_challenge, &[Counter::PacketsInConnectionless]);
}

#[test]
fn c1_c2_c6_c19_long_connectionless_packets_affect_no_player() {
    check(costly::questions, &[Counter::QueriesLimited, Counter::QueriesShed]);
}

#[test]
fn m5_messages_full_of_commands_affect_no_player() {
    check(costly::commands, &[Counter::MessagesOverLimit]);
}

#[test]
fn m11_messages_full_of_usercmds_affect_no_player() {
    check(costly::moves, &[Counter::Moves, Counter::MovesOverLimit]);
}

#[test]
fn m6_userinfo_changes_with_many_pairs_affect_no_player() {
    check(costly::userinfos, &[Counter::CommandsOverLimit]);
}

#[test]
fn n7_messages_of_many_fragments_affect_no_player() {
    check(costly::fragments, &[Counter::ClientCommands, Counter::CommandsOverLimit]);
}

/// Sends queries, requests for challenges and refused connects from two hundred addresses of this
/// machine. Returns how many were sent.
fn flood(server: SocketAddr, over: &AtomicBool) -> u64 {
    let from: Vec<_> = (0..200u8).map(|i| socket_at(1 + i / 100, 1 + i % 100)).collect();
    let requests: [&[u8]; 5] = [
        &oob("getinfo xxx"),
        &oob("getstatus"),
        &oob("getchallenge"),
        &connect(&[("protocol", "68"), ("qport", "1"), ("challenge", "1")]),
        b"\x01\0\0\0\x07\0stray stray stray",
    ];
    let begun = Instant::now();
    let mut sent = 0u64;
    while !over.load(Ordering::Relaxed) {
        let due = begun.elapsed().as_millis() as u64 * u64::from(FLOOD_PER_SECOND) / 1000;
        while sent < due {
            let n = sent as usize;
            let _ = from[n % from.len()].send_to(requests[n % requests.len()], server);
            sent += 1;
        }
        thread::sleep(Duration::from_millis(1));
    }
    sent
}

#[test]
fn eight_bots_are_unaffected_by_distributed_flood() {
    let _machine = alone();
    let sockets = listen();
    let address = sockets.addresses(LocalPort(0)).next().unwrap();
    let host = thread::spawn(move || {
        let mut server = server(&[]);
        let options = Options { deadline: RUN, ..Options::default() };
        let summary = run(&mut server, sockets, &Clock::start(), options).unwrap();
        (summary.counters, server.counters().clone())
    });
    let over = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&over);
    let flooder = thread::spawn(move || flood(address, &stop));

    let clock = Clock::start();
    let mut options = BotsOptions::new(address, Protocol::OA_71, BOTS, PLAY);
    options.seed = 7;
    let mut bots = Bots::new(options, clock.now());
    let sockets = Sockets::ephemeral(bots.local_ports(), address.ip()).unwrap();
    run(&mut bots, sockets, &clock, Options { deadline: RUN, ..Options::default() }).unwrap();
    over.store(true, Ordering::Relaxed);
    let sent = flooder.join().unwrap();
    let (engine, counted) = host.join().unwrap();

    let total = bots.summary().total;
    println!("{sent} sent, {engine:?}\n{total:?}");
    assert!(sent > 20_000, "{sent} sent");
    assert!(engine.received > sent / 4, "{} of {sent} arrived", engine.received);
    assert_eq!((total.active, total.dropped), (usize::from(BOTS), 0), "all bots are in and stay");
    let worst = total.snapshot_gap_ms.max;
    assert!(worst <= WORST_FLOOD_GAP_MS, "{worst} ms without a snapshot");
    let limited = [Counter::QueriesLimited, Counter::QueriesShed, Counter::ConnectsRefused];
    let limited: u64 = limited.iter().map(|&counter| counted.get(counter)).sum();
    assert!(limited > 1000, "the flood was turned away: {limited}");
}
