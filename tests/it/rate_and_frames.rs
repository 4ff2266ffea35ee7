//! Client rate, snaps, and frame timing.

use fragd::{
    client::Protocol,
    model::{Millis, Sequence},
    node::Node as _,
    observe::Counter,
};

use crate::sim_fixture::{SimFixture, server};

/// Data received by one player in ten seconds: bytes with network headers, and snapshots.
fn served(rate: &str, snaps: &str, crowd: usize, set: &[(&str, &str)]) -> (u64, u64) {
    let mut sim = SimFixture::new(5, set);
    let node = sim.join(Protocol::OA_71, "slow");
    for i in 0..crowd {
        sim.join(Protocol::IOQ3_71, &format!("p{i}"));
    }
    sim.run_for(Millis::seconds(5));
    let now = sim.network.now();
    assert!(sim.player(node).change_userinfo(now, "rate", rate));
    assert!(sim.player(node).change_userinfo(now, "snaps", snaps));
    sim.run_for(Millis::seconds(3));
    let before = sim.player(node).client().statistics();
    sim.run_for(Millis::seconds(10));
    let after = sim.player(node).client().statistics();
    sim.check_no_faults();
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
    let mut sim = SimFixture::new(5, &[("rconPassword", "")]);
    let node = sim.join(Protocol::OA_71, "fast");
    for i in 0..30 {
        sim.join(Protocol::IOQ3_71, &format!("p{i}"));
    }
    sim.run_for(Millis::seconds(5));
    let now = sim.network.now();
    assert!(sim.player(node).change_userinfo(now, "rate", "90000"));
    sim.run_for(Millis::seconds(2));
    let received = |sim: &mut SimFixture| {
        let before = sim.player(node).client().statistics();
        sim.run_for(Millis::seconds(5));
        let after = sim.player(node).client().statistics();
        after.bytes_in - before.bytes_in + 28 * (after.datagrams_in - before.datagrams_in)
    };
    let shown = |sim: &mut SimFixture| {
        while sim.server_output().is_some() {}
        sim.console("status");
        let mut text = String::new();
        while let Some(part) = sim.server_output() {
            text.push_str(&part);
        }
        let line = text.lines().find(|line| line.contains("fast")).unwrap_or_default();
        line.split_whitespace().last().unwrap_or_default().to_owned()
    };
    let unlimited = received(&mut sim);
    assert!(unlimited > 50_000, "{unlimited} bytes in five seconds");
    assert_eq!(shown(&mut sim), "90000");
    sim.console("set sv_maxRate 4000");
    assert_eq!(shown(&mut sim), "4000");
    sim.run_for(Millis::seconds(1));
    let limited = received(&mut sim);
    assert!(limited <= 5 * 4400, "{limited} bytes in five seconds");
    sim.console("set sv_minRate 30000");
    assert_eq!(shown(&mut sim), "30000");
    sim.run_for(Millis::seconds(1));
    assert!(received(&mut sim) > 2 * limited);
}

#[test]
fn skipped_snapshots_set_rate_delayed() {
    let mut sim = SimFixture::new(6, &[]);
    let node = sim.join(Protocol::OA_71, "slow");
    for i in 0..30 {
        sim.join(Protocol::IOQ3_71, &format!("p{i}"));
    }
    sim.run_for(Millis::seconds(5));
    let now = sim.network.now();
    sim.player(node).change_userinfo(now, "rate", "3000");
    sim.run_for(Millis::seconds(5));
    assert!(sim.server().counters().get(Counter::SnapshotsHeldByRate) > 10);
    let flags = sim.player(node).client().snapshot().unwrap().head.flags;
    assert!(flags.contains(fragd::wire::snapshot::SnapFlags::RATE_DELAYED));
}

/// Time that an empty server sleeps longer than a frame.
const ALONE: Millis = Millis(850);

#[test]
fn empty_server_runs_many_frames_at_once() {
    let mut server = server(&[]);
    server.frame(Millis(1000));
    let (first, time) = (server.counters().get(Counter::Frames), server.level_time());
    for wake in 1..=100 {
        let now = server.next_frame();
        assert_eq!(now, Millis(1000 + wake * 900));
        server.frame(now);
    }
    assert_eq!(server.counters().get(Counter::Frames) - first, 1800);
    assert_eq!(server.level_time().0 - time.0, 90_000);
    assert_eq!(server.counters().get(Counter::FramesSkipped), 0);
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
    assert_eq!(server.counters().get(Counter::FramesSkipped), 0);

    // Ten seconds lost: those of one are made up for, the rest is forfeited, the grid stays.
    now += Millis::seconds(10);
    server.frame(now);
    let made_up = server.counters().get(Counter::Frames) - first - 2000;
    assert_eq!(made_up, 20);
    assert_eq!(server.counters().get(Counter::FramesSkipped), 180);
    let next = Millis(server.next_frame().0 - ALONE.0);
    assert!(next > now && next <= now + Millis(50) && next.0.is_multiple_of(50), "{next}");
    server.frame(now + Millis(1));
    assert_eq!(server.counters().get(Counter::Frames) - first - 2000, 20, "not due yet");
}

#[test]
fn client_without_delta_gets_full_snapshots() {
    // Its first snapshots are whole; from the first acknowledged one on they are deltas.
    let mut sim = SimFixture::new(8, &[]);
    let node = sim.join(Protocol::Q3_68, "p");
    sim.join(Protocol::Q3_68, "q");
    sim.run_for(Millis::seconds(3));
    let statistics = sim.player(node).client().statistics();
    let whole = statistics.snapshots - statistics.delta_snapshots;
    assert!((1..=4).contains(&whole), "{whole} whole snapshots");
    assert!(statistics.delta_snapshots > 40);
    let latest = sim.player(node).client().snapshot().unwrap();
    assert!(latest.head.delta_num >= 1 && latest.sequence > Sequence(40));
}
