//! Stalls of the server and of the bots, intermissions and map changes in a load test.

use super::*;
use fragd::node::Input;

const EXPECT: &str = "snapshot_gap_p99<120ms,loss<1%";

/// A run of 8 bots and 30 s, with stalls of server and bots at these times.
fn stalled(expect: &str, server: std::ops::Range<u64>, bots: std::ops::Range<u64>) -> Summary {
    let mut test = Match::new(BotsOptions {
        expectations: expectations(expect),
        ..options(Protocol::OA_71, 8, 30)
    });
    (test.stopped, test.bots_stopped) = (server, bots);
    test.run(40);
    assert!(test.bots.is_finished());
    test.bots.summary()
}

#[test]
fn stopped_server_fails_at_any_time_of_run() {
    let healthy = stalled(EXPECT, 0..0, 0..0);
    assert_eq!((healthy.verdict, healthy.cause), (Verdict::Passed, None), "{healthy}");
    assert_eq!(healthy.total.time_without_snapshot_max_ms, 0);
    for start in [500, 14_000, 28_000, 29_000, 29_200, 29_700, 29_900] {
        let summary = stalled(EXPECT, start..start + 2000, 0..0);
        assert_eq!(summary.verdict, Verdict::Failed, "{start}: {summary}");
        assert_eq!((summary.cause, summary.exit_code), (Some(Cause::Expectation), 1));
        let total = &summary.total;
        assert!((2000..=2100).contains(&total.snapshot_gap_ms.max), "{start}: {summary}");
        assert!(total.snapshot_gap_ms.p99 >= 1990, "{start}: {summary}");
        assert_eq!(total.snapshot_gap_ms.p50, 50);
        assert!((0.06..0.07).contains(&total.time_without_snapshot), "{start}: {summary}");
        assert!((2000..=2100).contains(&total.time_without_snapshot_max_ms));
        assert!(total.loop_lateness_ms.max <= 1, "{start}: {summary}");
    }
}

#[test]
fn server_stopped_from_the_start_fails_without_expectations() {
    let summary = stalled("", 0..2000, 0..0);
    assert_eq!((summary.verdict, summary.exit_code), (Verdict::Failed, 1), "{summary}");
    assert!(summary.sentence.contains("join_p50<1500ms"), "{}", summary.sentence);
    let raised = "join_p50<3s,server_silence_max<3s";
    assert_eq!(stalled(raised, 0..2000, 0..0).verdict, Verdict::Passed);
}

#[test]
fn server_silent_at_the_end_fails_without_expectations() {
    let summary = stalled("", 29_500..90_000, 0..0);
    assert_eq!(summary.verdict, Verdict::Failed, "{summary}");
    assert!(summary.sentence.contains("server_silence_max<1750ms"), "{}", summary.sentence);
    let failed = summary.stages[0].failed_expectations.iter();
    assert!(failed.clone().any(|one| one.starts_with("snapshot_gap_max")), "{summary}");
    assert!((31_900..=32_100).contains(&((summary.total.seconds * 1000.0) as u64)), "{summary}");
}

#[test]
fn shipped_scenarios_fail_with_stopped_server() {
    for name in ["bad_networks", "join_storm", "players64", "query_flood", "smoke"] {
        let path = format!("{}/config/loadtests/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let file = LoadTest::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        for stop in [None, Some(1), Some(20), Some(100), Some(900), Some(5_000)] {
            let mut asked = file.clone().build(vec![server_address()], 1);
            asked.protocol = Protocol::OA_71.into();
            asked.queries = QueryFlood::default();
            asked.rebind = Millis(0);
            asked.stages.truncate(1);
            let mut test = Match::new(asked);
            test.stopped = stop.map_or(0..0, |start| start..start + 2000);
            test.run(50);
            assert!(test.bots.is_finished(), "{name}");
            let summary = test.bots.summary();
            let verdict = if stop.is_some() { Verdict::Failed } else { Verdict::Passed };
            assert_eq!(summary.verdict, verdict, "{name} at {stop:?}: {summary}");
            let is_late = stop == Some(5_000);
            assert!(!is_late || summary.total.snapshot_gap_ms.max > 1900, "{name}: {summary}");
        }
    }
}

#[test]
fn stopped_bots_are_named_as_cause() {
    for start in [500, 14_000, 27_900] {
        let summary = stalled(EXPECT, 0..0, start..start + 2000);
        assert_eq!(summary.verdict, Verdict::GeneratorLate, "{start}: {summary}");
        assert_eq!((summary.cause, summary.exit_code), (Some(Cause::GeneratorLateness), 7));
        assert!(summary.sentence.starts_with("load generator was late: lateness_"), "{summary}");
        assert!((1960..=2000).contains(&summary.total.loop_lateness_ms.max), "{start}: {summary}");
        // The spoiled samples cover the stall and the time in which the bots catch up.
        let ends: Vec<_> = summary.samples.iter().map(|sample| sample.seconds).collect();
        let spoiled: Vec<_> =
            (0..ends.len()).filter(|&place| summary.samples[place].is_spoiled).collect();
        let stall = [start as f64 / 1000.0, (start + 2000) as f64 / 1000.0];
        let (first, last) = (spoiled[0], *spoiled.last().unwrap());
        assert!(first.checked_sub(1).map_or(0.0, |before| ends[before]) <= stall[0], "{ends:?}");
        let caught_up = (stall[1] + 0.2).min(*ends.last().unwrap());
        assert!(ends[last] >= caught_up && spoiled.len() <= 2, "{start}: {spoiled:?} {ends:?}");
        for (place, sample) in summary.samples.iter().enumerate() {
            let ping = sample.ping_max_ms.unwrap_or(0);
            assert!(ping < 150 || spoiled.contains(&place), "{start}: {place} {sample:?}");
        }
    }
    let raised =
        stalled("lateness_max<3s,lateness_p95<3s,snapshot_gap_max<3s", 0..0, 9_000..11_000);
    assert_eq!(raised.verdict, Verdict::Passed, "{raised}");
}

#[test]
fn short_stop_of_bots_is_named_as_cause() {
    // Shorter than the limit of the lateness, and longer than that of the gaps.
    let summary = stalled(EXPECT, 0..0, 14_000..14_450);
    assert_eq!(summary.exit_code, 7, "{summary}");
    assert_eq!(summary.cause, Some(Cause::GeneratorLateness), "{summary}");
    let sentence = &summary.sentence;
    assert!(
        sentence.contains("late by up to 4") && sentence.contains("snapshot_gap_"),
        "{sentence}"
    );
    // A longer stop of the server is not excused by it.
    let both = stalled(EXPECT, 8_000..10_000, 14_000..14_450);
    assert_eq!((both.exit_code, both.cause), (1, Some(Cause::Expectation)), "{both}");
}

#[test]
fn server_killed_in_an_early_stage_is_lost() {
    let mut test = Match::new(BotsOptions {
        stages: "4:8s,8:8s".parse::<Stages>().unwrap().0,
        ..options(Protocol::OA_71, 1, 1)
    });
    test.stopped = 4_000..90_000;
    test.run(40);
    let summary = test.bots.summary();
    assert_eq!((summary.exit_code, summary.cause), (5, Some(Cause::Silent)), "{summary}");
    assert!(summary.sentence.contains("4 of 4 bots timed out"), "{summary}");
    assert_eq!((summary.stages.len(), summary.capacity), (1, Some(0)), "{summary}");
}

#[test]
fn interrupted_stage_is_not_passed_and_no_limit() {
    let mut test = Match::new(BotsOptions {
        stages: "2:5s,4:5s".parse::<Stages>().unwrap().0,
        ..options(Protocol::OA_71, 1, 1)
    });
    test.run(7);
    test.bots.handle_input(test.now, Input::Stop(""));
    let summary = test.bots.summary();
    assert_eq!((summary.exit_code, summary.capacity), (8, Some(2)), "{summary}");
    let stages: Vec<_> =
        summary.stages.iter().map(|stage| (stage.passed, stage.is_interrupted)).collect();
    assert_eq!((stages, summary.is_capacity_limit), (vec![(true, false), (false, true)], false));
}

#[test]
fn stall_across_stages_counts_in_both() {
    let mut test = Match::new(BotsOptions {
        stages: "4:10s,8:10s".parse::<Stages>().unwrap().0,
        expectations: "snapshot_gap_max<9s,server_silence_max<9s".parse().unwrap(),
        ..options(Protocol::OA_71, 1, 1)
    });
    // The first stage waits two seconds for late snapshots.
    test.stopped = 9_000..13_000;
    test.run(40);
    let summary = test.bots.summary();
    let gaps: Vec<_> = summary.stages.iter().map(|stage| stage.total.snapshot_gap_ms.max).collect();
    assert!((2900..=3100).contains(&gaps[0]) && (900..=1200).contains(&gaps[1]), "{gaps:?}");
}

#[test]
fn intermission_keeps_ping_and_is_measured() {
    for protocol in Protocol::CURRENT {
        let mut test = Match::new(BotsOptions {
            uplink: Impairment::latency(Millis(40)),
            downlink: Impairment::latency(Millis(40)),
            ..options(protocol, 4, 60)
        });
        // The playerstate's time stands still for 16 seconds.
        test.change = |passed, player| {
            player.client_num = 5;
            if (20_000..36_000).contains(&passed) {
                player.command_time = 20_000;
                player.pm_type = 5;
            }
        };
        test.run(70);
        let summary = test.bots.summary();
        let total = &summary.total;
        assert!((90..=140).contains(&total.ping_ms.p50), "{summary}");
        assert!(total.ping_ms.max <= 190, "{summary}");
        let median = |range: std::ops::Range<u64>| {
            let samples = summary.samples.iter().filter(|one| range.contains(&one.second));
            let mut pings: Vec<_> = samples.filter_map(|sample| sample.ping_p50_ms).collect();
            pings.sort_unstable();
            pings[pings.len() / 2]
        };
        let (play, intermission) = (median(5..19), median(22..35));
        assert!(play.abs_diff(intermission) <= 4, "{play} and {intermission}: {summary}");
        assert!((0.25..0.28).contains(&total.intermission), "{summary}");
        assert_eq!(total.snapshot_gap_ms.max, 50, "{summary}");
    }
}

#[test]
fn map_change_is_measured_apart_from_gaps() {
    let mut test = Match::new(BotsOptions {
        expectations: format!("{EXPECT},map_change_max<3s,server_silence_max<3s").parse().unwrap(),
        ..options(Protocol::IOQ3_71, 4, 30)
    });
    test.run(10);
    // Loading takes two seconds, without a snapshot.
    test.stopped = 10_000..12_001;
    test.run(2);
    for number in 0..4 {
        let datagrams = test.server.peers.get_mut(&number).unwrap().gamestate(&Level::with_id(9));
        test.send(number, datagrams);
    }
    test.run(40);
    let summary = test.bots.summary();
    let total = &summary.total;
    assert_eq!(summary.verdict, Verdict::Passed, "{summary}");
    assert_eq!((total.map_changes, total.map_change_ms.count), (1, 4), "{summary}");
    assert!((2000..=2300).contains(&total.map_change_ms.max), "{summary}");
    assert!(total.snapshot_gap_ms.max <= 60, "{summary}");
    assert!(summary.to_string().contains("1 map change, 0 restarts;"), "{summary}");
    assert_eq!(summary.samples.iter().map(|sample| sample.map_changes).sum::<u64>(), 1);
}

#[test]
fn refused_bots_name_cause_and_capacity() {
    let mut test = Match::new(BotsOptions {
        stages: "2:5s,4:5s,8:5s".parse::<Stages>().unwrap().0,
        ..options(Protocol::OA_71, 1, 1)
    });
    test.run(7);
    test.server.refusal = Some("Server is full\n".to_owned());
    test.run(60);
    let summary = test.bots.summary();
    assert_eq!((summary.verdict, summary.cause), (Verdict::Refused, Some(Cause::Refused)));
    assert_eq!((summary.exit_code, summary.capacity), (4, Some(4)), "{summary}");
    assert!(summary.sentence.contains("refused 4 of 8 bots: Server is full"), "{summary}");
    assert_eq!(summary.stages[2].failed_expectations.len(), 1, "{summary}");
    let json: serde_json::Value = serde_json::from_str(&summary.to_json()).unwrap();
    let (cause, stage) = (&json["cause"], &json["stages"][2]["expectations"][0]);
    assert_eq!((cause.as_str(), json["capacity"].as_u64()), (Some("refused"), Some(4)));
    assert_eq!((stage["metric"].as_str(), stage["limit"].as_f64()), (Some("in_game"), Some(8.0)));
    assert_eq!((stage["value"].as_f64(), stage["passed"].as_bool()), (Some(4.0), Some(false)));
}

#[test]
fn warmup_is_left_out() {
    let mut test = Match::new(BotsOptions {
        warmup: Millis::seconds(5),
        expectations: EXPECT.parse().unwrap(),
        ..options(Protocol::OA_71, 4, 30)
    });
    test.stopped = 1_000..3_000;
    test.run(40);
    let summary = test.bots.summary();
    assert_eq!(summary.verdict, Verdict::Passed, "{summary}");
    assert!((24.9..=25.0).contains(&summary.total.seconds), "{summary}");
    assert_eq!(summary.total.join_ms.count, 4, "{summary}");
    assert!((1990..=2000).contains(&summary.total.snapshots), "{summary}");
}

#[test]
fn stop_across_end_of_warmup_is_measured() {
    // The server, the bots, and both stop from 5.5 to 7.5 s; the warm-up ends at 6 s.
    let stop = 5_500..7_500;
    for (server, bots, code) in
        [(stop.clone(), 0..0, 1), (0..0, stop.clone(), 7), (stop.clone(), stop.clone(), 7)]
    {
        let mut test = Match::new(BotsOptions {
            warmup: Millis::seconds(6),
            expectations: EXPECT.parse().unwrap(),
            ..options(Protocol::OA_71, 8, 12)
        });
        (test.stopped, test.bots_stopped) = (server, bots);
        test.run(30);
        let summary = test.bots.summary();
        assert_eq!(summary.exit_code, code, "{summary}");
        let total = &summary.total;
        assert!((5.9..=6.1).contains(&total.seconds) || code == 1, "{summary}");
        assert!(total.snapshot_gap_ms.max >= 1400, "{summary}");
    }
}

#[test]
fn limit_of_gaps_follows_the_snapshots_that_bots_request() {
    let mut test = Match::new(BotsOptions { snaps: 1, ..options(Protocol::OA_71, 2, 12) });
    test.run(30);
    let summary = test.bots.summary();
    let gap = summary.stages[0].expectations.iter().find(|one| one.metric == "snapshot_gap_max");
    assert_eq!(gap.map(|one| one.limit), Some(3000.0), "{summary}");
}

#[test]
fn small_lateness_excuses_no_longer_stop_of_the_server() {
    // The bots are late by less than the server stands still, and by more than their own limit.
    let both = stalled("", 8_000..10_000, 14_000..14_600);
    assert_eq!((both.exit_code, both.cause), (1, Some(Cause::Expectation)), "{both}");
    let sentence = &both.sentence;
    assert!(
        sentence.contains("server_silence_max<1750ms") && sentence.contains("late, too"),
        "{sentence}"
    );
    // One lateness does not change a median.
    let median = stalled("ping_p50<1ms", 0..0, 14_000..14_100);
    assert_eq!(median.exit_code, 1, "{median}");
}

#[test]
fn results_name_program_time_and_server() {
    let run = RunInfo {
        version: "1.2.3".to_owned(),
        epoch: Some(UnixMillis(951_868_800_000 - 1_000_000)),
        options: "bots -n 2 'a <b> & \"c\"'".to_owned(),
        ..RunInfo::default()
    };
    let mut test = Match::new(BotsOptions { run, ..options(Protocol::OA_71, 2, 3) });
    test.run(10);
    let summary = test.bots.summary();
    let csv = summary.to_csv();
    let mut lines = csv.lines();
    assert!(lines.next().unwrap().starts_with("time,second,in_game,"));
    assert!(lines.next().unwrap().starts_with("2000-03-01T00:00:01.00"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&summary.to_json()).unwrap();
    assert_eq!(json["started"], "2000-03-01T00:00:00.000Z");
    assert_eq!(
        (&json["version"], &json["servers"][0]["maps"][0]),
        (&"1.2.3".into(), &"test".into())
    );
    let junit = summary.to_junit();
    assert!(junit.contains("timestamp=\"2000-03-01T00:00:00\""), "{junit}");
    assert!(junit.contains("&lt;b&gt; &amp; &quot;c&quot;"), "{junit}");
    assert!(junit.contains("tests=\"9\" failures=\"0\" errors=\"0\""), "{junit}");
    for text in [summary.to_string(), summary.to_html(), junit] {
        assert!(text.contains("1.2.3") && text.contains("2000-03-01T00:00:00"), "{text}");
    }
}
