//! How fast clients are served and how frames keep their time.

use fragd::{
    client::ClientWire,
    model::{Millis, Sequence},
    node::Node as _,
    observe::Counter,
};

use crate::arena::{Arena, server};

/// What one player receives in ten seconds, in bytes with network headers, and in snapshots.
fn served(rate: &str, snaps: &str, crowd: usize, set: &[(&str, &str)]) -> (u64, u64) {
    let mut arena = Arena::new(5, set);
    let node = arena.join(ClientWire::Compat71, "slow");
    for i in 0..crowd {
        arena.join(ClientWire::Native71, &format!("p{i}"));
    }
    arena.run_for(Millis::seconds(5));
    let now = arena.network.now();
    assert!(arena.player(node).change_userinfo(now, "rate", rate));
    assert!(arena.player(node).change_userinfo(now, "snaps", snaps));
    arena.run_for(Millis::seconds(3));
    let before = arena.player(node).client().statistics();
    arena.run_for(Millis::seconds(10));
    let after = arena.player(node).client().statistics();
    arena.check_no_faults();
    let datagrams = after.datagrams_in - before.datagrams_in;
    let bytes = after.bytes_in - before.bytes_in + 28 * datagrams;
    (bytes, after.snapshots - before.snapshots)
}

#[test]
fn snapshots_follow_requested_snaps() {
    for (snaps, expected) in [("20", 200), ("10", 100), ("5", 50), ("1", 10), ("1000", 200)] {
        let (_, snapshots) = served("90000", snaps, 2, &[]);
        assert!(snapshots.abs_diff(expected) <= 1, "snaps {snaps}: {snapshots}");
    }
}

#[test]
fn server_respects_client_rate() {
    for rate in [3000u64, 8000, 25_000] {
        let (bytes, snapshots) = served(&rate.to_string(), "20", 30, &[]);
        assert!(bytes <= rate * 10 + rate / 10, "rate {rate}: {bytes} bytes in ten seconds");
        // And the rate is used, as far as there is something to say.
        assert!(bytes * 10 >= rate * 10 * 5 || snapshots >= 199, "rate {rate}: {bytes} bytes");
    }
}

#[test]
fn operator_limits_bound_client_rate() {
    let (bytes, _) = served("90000", "20", 30, &[("sv_maxRate", "4000")]);
    assert!(bytes <= 44_000, "{bytes}");
    let (_, snapshots) = served("1000", "20", 30, &[("sv_minRate", "90000")]);
    assert!(snapshots >= 199, "{snapshots}");
}

#[test]
fn rate_limits_apply_at_once_to_connected_clients() {
    let mut arena = Arena::new(5, &[("rconPassword", "")]);
    let node = arena.join(ClientWire::Compat71, "fast");
    for i in 0..30 {
        arena.join(ClientWire::Native71, &format!("p{i}"));
    }
    arena.run_for(Millis::seconds(5));
    let now = arena.network.now();
    assert!(arena.player(node).change_userinfo(now, "rate", "90000"));
    arena.run_for(Millis::seconds(2));
    let received = |arena: &mut Arena| {
        let before = arena.player(node).client().statistics();
        arena.run_for(Millis::seconds(5));
        let after = arena.player(node).client().statistics();
        after.bytes_in - before.bytes_in + 28 * (after.datagrams_in - before.datagrams_in)
    };
    let shown = |arena: &mut Arena| {
        while arena.server_output().is_some() {}
        arena.console("status");
        let mut text = String::new();
        while let Some(part) = arena.server_output() {
            text.push_str(&part);
        }
        let line = text.lines().find(|line| line.contains("fast")).unwrap_or_default();
        line.split_whitespace().last().unwrap_or_default().to_owned()
    };
    let unlimited = received(&mut arena);
    assert!(unlimited > 50_000, "{unlimited} bytes in five seconds");
    assert_eq!(shown(&mut arena), "90000");
    arena.console("set sv_maxRate 4000");
    assert_eq!(shown(&mut arena), "4000");
    arena.run_for(Millis::seconds(1));
    let limited = received(&mut arena);
    assert!(limited <= 5 * 4400, "{limited} bytes in five seconds");
    arena.console("set sv_minRate 30000");
    assert_eq!(shown(&mut arena), "30000");
    arena.run_for(Millis::seconds(1));
    assert!(received(&mut arena) > 2 * limited);
}

#[test]
fn skipped_snapshots_set_rate_delayed() {
    let mut arena = Arena::new(6, &[]);
    let node = arena.join(ClientWire::Compat71, "slow");
    for i in 0..30 {
        arena.join(ClientWire::Native71, &format!("p{i}"));
    }
    arena.run_for(Millis::seconds(5));
    let now = arena.network.now();
    arena.player(node).change_userinfo(now, "rate", "3000");
    arena.run_for(Millis::seconds(5));
    assert!(arena.server().counters().get(Counter::SnapshotsHeldByRate) > 10);
    let flags = arena.player(node).client().snapshot().unwrap().head.flags;
    assert!(flags.contains(fragd::wire::snapshot::SnapFlags::RATE_DELAYED));
}

/// How much longer than a frame a server sleeps that nobody is on.
const ALONE: Millis = Millis(150);

#[test]
fn empty_server_runs_four_frames_at_once() {
    let mut server = server(&[]);
    server.frame(Millis(1000));
    let (first, time) = (server.counters().get(Counter::Frames), server.level_time());
    for wake in 1..=100 {
        let now = server.next_frame();
        assert_eq!(now, Millis(1000 + wake * 200));
        server.frame(now);
    }
    assert_eq!(server.counters().get(Counter::Frames) - first, 400);
    assert_eq!(server.level_time().0 - time.0, 20_000);
    assert_eq!(server.counters().get(Counter::FramesForfeited), 0);
}

#[test]
fn frames_neither_drift_nor_burst() {
    let mut server = server(&[]);
    let mut now = Millis(1000);
    server.frame(now);
    let first = server.counters().get(Counter::Frames);
    // A clock that is always a little late: still twenty frames a second, on the same grid.
    for frame in 1..=2000 {
        now = Millis(1000 + frame * 50 + 7);
        server.frame(now);
    }
    assert_eq!(server.counters().get(Counter::Frames) - first, 2000);
    assert_eq!(server.next_frame(), Millis(1000 + 2001 * 50 + ALONE.0));
    assert_eq!(server.counters().get(Counter::FramesForfeited), 0);

    // Ten seconds lost: those of one are made up for, the rest is forfeited, the grid stays.
    now += Millis::seconds(10);
    server.frame(now);
    let made_up = server.counters().get(Counter::Frames) - first - 2000;
    assert_eq!(made_up, 20);
    assert_eq!(server.counters().get(Counter::FramesForfeited), 180);
    let next = Millis(server.next_frame().0 - ALONE.0);
    assert!(next > now && next <= now + Millis(50) && next.0.is_multiple_of(50), "{next}");
    server.frame(now + Millis(1));
    assert_eq!(server.counters().get(Counter::Frames) - first - 2000, 20, "not due yet");
}

#[test]
fn client_without_delta_gets_full_snapshots() {
    // Its first snapshots are whole; from the first acknowledged one on they are deltas.
    let mut arena = Arena::new(8, &[]);
    let node = arena.join(ClientWire::Protocol68, "p");
    arena.join(ClientWire::Protocol68, "q");
    arena.run_for(Millis::seconds(3));
    let statistics = arena.player(node).client().statistics();
    let whole = statistics.snapshots - statistics.delta_snapshots;
    assert!((1..=4).contains(&whole), "{whole} whole snapshots");
    assert!(statistics.delta_snapshots > 40);
    let latest = arena.player(node).client().snapshot().unwrap();
    assert!(latest.head.delta_num >= 1 && latest.sequence > Sequence(40));
}
