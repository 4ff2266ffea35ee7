//! Far more than the server serves, from two hundred addresses, while eight bots play.
//!
//! The only one that looks at the wall's clock, generously: other work runs beside.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fragd::{
    bots::{Bots, BotsOptions},
    client::ClientWire,
    io::{Clock, Options, Sockets, run},
    model::Millis,
    node::{LocalPort, Node as _},
    observe::Counter,
};

use super::{
    floods::connect,
    scene::{alone, listen, oob, server, socket_at},
};

const BOTS: u16 = 8;
/// How long the bots play, and the server runs.
const PLAY: Millis = Millis::seconds(4);
const RUN: Millis = Millis::seconds(6);
/// Datagrams of the flood, a second: bounded, for others share the machine.
const FLOOD_PER_SECOND: u32 = 40_000;
/// Longest time that a bot may be without a snapshot: a frame is 50 ms.
const WORST_GAP_MS: u64 = 500;

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
fn eight_bots_play_through_a_flood_from_two_hundred_addresses() {
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
    let mut options = BotsOptions::new(address, ClientWire::Compat71, BOTS, PLAY);
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
    assert!(worst <= WORST_GAP_MS, "{worst} ms without a snapshot");
    let limited = [Counter::QueriesLimited, Counter::QueriesShed, Counter::ConnectsRefused];
    let limited: u64 = limited.iter().map(|&counter| counted.get(counter)).sum();
    assert!(limited > 1000, "the flood was turned away: {limited}");
}
