//! Load tests of silent servers, with bots that stay outside, and with seconds without values.

use super::*;

#[test]
fn mute_bots_pass_only_if_accepted() {
    for (ailment, refusal, verdict, words) in [
        (
            Ailment::Well,
            None,
            Verdict::Passed,
            "accepted 4 of 4 bots, which stayed out of the game",
        ),
        (Ailment::Silent, None, Verdict::NoAnswer, "10.0.0.1:27960 does not answer"),
        (Ailment::Babbles, None, Verdict::Unreadable, "is not a Quake III server"),
        (Ailment::Well, Some("full\n"), Verdict::Refused, "refused all 4 bots: full"),
    ] {
        let mut test = Match::new(BotsOptions {
            behavior: "mute".parse().unwrap(),
            ..options(Protocol::OA_71, 4, 20)
        });
        test.ailment = ailment;
        test.server.refusal = refusal.map(str::to_owned);
        test.run(60);
        let summary = test.bots.summary();
        assert_eq!(summary.verdict, verdict, "{summary}");
        assert!(summary.sentence.contains(words), "{summary}");
        let took = test.passed();
        assert!(took <= 13_000 || verdict == Verdict::Passed, "{took} ms: {summary}");
        assert_eq!(summary.total.active, 0);
    }
}

#[test]
fn frozen_server_is_silent_and_not_invalid() {
    for (stopped, verdict, words) in [
        (0..12_000, Verdict::NoAnswer, "10.0.0.1:27960 does not answer"),
        // Frozen after the challenges.
        (8..12_000, Verdict::NoAnswer, "was silent for 1"),
        // Late answers to all requests, most of them repeated.
        (0..10_900, Verdict::Failed, "join_p50<1500ms"),
    ] {
        let mut test =
            Match::new(BotsOptions { joins_per_second: 1000, ..options(Protocol::OA_71, 4, 30) });
        test.stopped = stopped.clone();
        test.run(60);
        let summary = test.bots.summary();
        assert_eq!(summary.verdict, verdict, "{stopped:?}: {summary}");
        assert!(summary.sentence.contains(words), "{stopped:?}: {summary}");
    }
}

#[test]
fn silent_server_is_named_among_several() {
    for (expect, verdict, words) in [
        ("", Verdict::NoAnswer, "10.0.0.2:27961 does not answer: 2 of 2 bots did not join"),
        (
            "in_game=4",
            Verdict::Failed,
            "failed: in_game=4: in_game was 2, off by 2; 10.0.0.2:27961 does not answer: 2 of 2 bots",
        ),
    ] {
        let mut test = Match::new(BotsOptions {
            servers: vec![server_address(), silent_address()],
            expectations: expectations(expect),
            ..options(Protocol::OA_71, 4, 15)
        });
        test.run(60);
        let summary = test.bots.summary();
        assert_eq!(summary.verdict, verdict, "{summary}");
        assert!(summary.sentence.contains(words), "{summary}");
        assert!(!summary.sentence.contains("10.0.0.1"), "{summary}");
    }
    let mut test = Match::new(BotsOptions {
        servers: vec![server_address(), silent_address()],
        ..options(Protocol::OA_71, 4, 15)
    });
    test.server.refusal = Some("full\n".to_owned());
    test.run(60);
    let sentence = test.bots.summary().sentence;
    assert_eq!(sentence, "10.0.0.1:27960 refused all 2 bots: full; 10.0.0.2:27961 does not answer");
}

#[test]
fn stop_during_joins_fails_by_default() {
    // Most bots join after the stop, so that the median join is fast.
    let mut test = Match::new(options(Protocol::OA_71, 64, 10));
    test.stopped = 0..2000;
    test.run(20);
    let summary = test.bots.summary();
    assert!(summary.total.join_ms.p50 < 1500, "{summary}");
    assert!((1950..=2050).contains(&summary.total.server_silence_max_ms), "{summary}");
    assert_eq!((summary.exit_code, summary.cause), (1, Some(Cause::Expectation)), "{summary}");
    assert!(summary.sentence.contains("server_silence_max<1750ms"), "{summary}");
}

#[test]
fn stall_fails_by_default_behind_any_link() {
    let link: Impairment = "latency=250ms,jitter=20ms,loss=3%".parse().unwrap();
    for stopped in [0..2300, 6000..8000] {
        let mut test = Match::new(BotsOptions {
            uplink: link,
            downlink: link,
            ..options(Protocol::OA_71, 2, 12)
        });
        test.stopped = stopped.clone();
        test.run(30);
        let summary = test.bots.summary();
        let silence = summary.total.server_silence_max_ms;
        assert!((1900..=2150).contains(&silence), "{stopped:?}: {silence} ms, {summary}");
        let is_silence = |one: &&fragd::bots::ExpectationResult| one.metric == "server_silence_max";
        let stages = &summary.stages[0].expectations;
        assert!(!stages.iter().find(is_silence).unwrap().passed, "{stopped:?}: {summary}");
    }
    let mut healthy =
        Match::new(BotsOptions { uplink: link, downlink: link, ..options(Protocol::OA_71, 2, 12) });
    healthy.run(30);
    let silence = healthy.bots.summary().total.server_silence_max_ms;
    assert!(silence < 200, "{silence} ms: a link may lose datagrams");
}

#[test]
fn interrupted_run_accuses_no_server_of_bots_that_begin() {
    let mut test =
        Match::new(BotsOptions { joins_per_second: 1, ..options(Protocol::OA_71, 8, 30) });
    test.run(4);
    test.bots.handle_input(test.now, Input::Stop("interrupted"));
    test.run(5);
    let summary = test.bots.summary();
    assert_eq!(summary.cause, Some(Cause::Interrupted), "{summary}");
    assert!(!summary.sentence.contains("until then"), "{summary}");
}

#[test]
fn restart_is_counted_once_for_all_bots() {
    let mut test = Match::new(options(Protocol::OA_71, 4, 10));
    test.run(4);
    for peer in test.server.peers.values_mut() {
        peer.commands.add("map_restart".into()).unwrap();
    }
    test.run(20);
    let summary = test.bots.summary();
    let total = &summary.total;
    assert_eq!((total.map_changes, total.map_restarts), (0, 1), "{summary}");
    assert_eq!(summary.samples.iter().map(|sample| sample.map_restarts).sum::<u64>(), 1);
    assert!(summary.to_string().contains("0 map changes, 1 restart;"), "{summary}");
    assert!(summary.to_html().contains("0 map changes, 1 restart;"));
    assert!(summary.to_csv().contains(",map_changes,map_restarts,"));
}

#[test]
fn join_of_another_level_is_no_map_change() {
    let mut test =
        Match::new(BotsOptions { joins_per_second: 1, ..options(Protocol::OA_71, 2, 10) });
    test.run_for(Millis(900));
    // A restart gives the level another id, which the first bot does not join again.
    test.level = 9;
    test.run(20);
    let summary = test.bots.summary();
    assert_eq!(summary.total.active, 2, "{summary}");
    assert_eq!((summary.total.map_changes, summary.total.map_change_ms.count), (0, 0), "{summary}");
    assert!(!summary.to_string().contains("map change"), "{summary}");
}

#[test]
fn every_second_of_the_run_has_a_sample() {
    for seconds in [1, 3] {
        let mut test = Match::new(options(Protocol::OA_71, 2, seconds));
        test.run(20);
        let summary = test.bots.summary();
        let numbers: Vec<_> = summary.samples.iter().map(|sample| sample.second).collect();
        assert_eq!(numbers, Vec::from_iter(1..=seconds), "{summary}");
        assert_eq!(summary.to_csv().lines().count() as u64, seconds + 1);
    }
    // The stage waits for a late snapshot, which the last sample shows.
    let mut test = Match::new(options(Protocol::OA_71, 2, 3));
    test.stopped = 2_900..4_400;
    test.run(20);
    let samples = test.bots.summary().samples;
    assert_eq!(samples.iter().map(|sample| sample.second).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(samples[4].worst_gap_ms >= Some(1_450), "{samples:?}");
}

#[test]
fn seconds_without_a_snapshot_have_no_ping() {
    let mut test = Match::new(BotsOptions {
        expectations: expectations("snapshot_gap_max<9s"),
        ..options(Protocol::OA_71, 2, 10)
    });
    test.stopped = 4_000..8_000;
    test.run(30);
    let summary = test.bots.summary();
    let has_ping: Vec<_> =
        summary.samples.iter().map(|sample| sample.ping_p50_ms.is_some()).collect();
    assert_eq!(has_ping[3..9], [true, false, false, false, false, true], "{has_ping:?}");
    let row = summary.to_csv().lines().nth(7).unwrap().to_owned();
    assert!(row.starts_with(",7,2,0,") && row.contains(",,,,"), "{row}");
    assert!(summary.to_html().contains("<polyline"));
}
