//! UDP downloads over simulated networks: loss, reordering, many clients, rates, hostile requests.

use fragd::{
    client::Protocol,
    impairment::Impairment,
    model::{ClientNum, Millis, assets::MemoryAssets},
    observe::{Counter, Value},
    server::Server,
    sim::Actor,
};

use crate::{
    sample_maps::{TestMap, YARD},
    sim_fixture::{SimFixture, server_with},
};

/// Length of the arena's archive, about.
const LEN: usize = 450_000;

/// Bytes without a pattern, as in a compressed archive.
fn archive(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..len).map(next).collect()
}

fn assets(len: usize) -> MemoryAssets {
    let mut assets = MemoryAssets::default();
    let map = TestMap::test_yard(YARD).file();
    assets.insert_pack("baseoa", "yard", &archive(len), &[("maps/yard.bsp", &map)]).unwrap();
    assets.insert_pack("baseoa", "secret", &archive(9), &[("x.cfg", b"x")]).unwrap();
    assets
}

/// A server of one archive. Its clients count as LAN clients, which have no rate.
fn fixture(seed: u64, len: usize, set: &[(&str, &str)]) -> SimFixture {
    let mut all = vec![
        ("map", "yard"),
        ("sv_maxclients", "64"),
        ("sv_maxclientsPerIP", "0"),
        ("sv_lanNetworks", "any"),
        ("sv_dlRate", "0"),
    ];
    all.extend_from_slice(set);
    let server = server_with(Box::new(assets(len)), &all);
    SimFixture::around(seed, Actor::Server(Box::new(server)))
}

fn join(fixture: &mut SimFixture, protocol: &'static Protocol) -> usize {
    let node = fixture.join(protocol, "loader");
    fixture.player(node).downloads = true;
    node
}

/// Runs until the player has a file or enough time has passed. Returns the time.
fn run_until_loaded(fixture: &mut SimFixture, node: usize, limit: Millis) -> Millis {
    let start = fixture.network.now();
    while fixture.player(node).files.is_empty() && fixture.network.now().since(start) < limit {
        fixture.run_for(Millis(10));
    }
    fixture.network.now().since(start)
}

fn run_until_begun(fixture: &mut SimFixture, node: usize) {
    for _ in 0..1000 {
        if fixture.player(node).client().download_progress().is_some() {
            return;
        }
        fixture.run_for(Millis(10));
    }
    panic!("no download began");
}

fn count(fixture: &SimFixture, counter: Counter) -> u64 {
    fixture.server().counters().get(counter)
}

/// Clients that download, as monitoring counts them.
fn downloading_clients(server: &Server) -> i64 {
    let sample = server.samples().find(|sample| sample.name == "q3_downloads_active");
    match sample.expect("a gauge").value {
        Value::Gauge(count) => count,
        Value::Counter(_) | Value::Duration(_) | Value::Histogram(_) => panic!("not a gauge"),
    }
}

#[test]
fn players_of_every_protocol_download_and_enter() {
    for protocol in Protocol::CURRENT {
        let mut fixture = fixture(1, LEN, &[]);
        let node = join(&mut fixture, protocol);
        fixture.run_for(Millis::seconds(4));
        let player = fixture.player(node);
        assert_eq!(player.files.len(), 1, "{protocol}: {:?}", player.failed_downloads);
        assert!(player.files[0] == ("baseoa/yard.pk3".to_owned(), archive(LEN)), "{protocol}");
        assert!(player.is_active() && player.levels == 2, "{protocol}: {}", player.levels);
        fixture.check_no_faults();
        assert_eq!(count(&fixture, Counter::DownloadsCompleted), 1);
        assert_eq!(count(&fixture, Counter::DownloadBlocksResent), 0);
    }
}

#[test]
fn sizes_around_a_block_arrive_whole() {
    for len in [0, 1, 1023, 1024, 1025, 65_536, 65_537] {
        let mut fixture = fixture(2, len, &[]);
        let node = join(&mut fixture, Protocol::CURRENT[0]);
        fixture.run_for(Millis::seconds(3));
        let player = fixture.player(node);
        assert_eq!(player.files.first().map(|(_, bytes)| bytes.len()), Some(len));
        assert!(player.is_active(), "{len}");
        fixture.check_no_faults();
    }
}

#[test]
fn lossy_download_is_fast_and_repeats_little() {
    let (mut worst, mut repeated, mut blocks) = (Millis(0), 0, 0);
    for seed in 1..=10 {
        let mut fixture = fixture(seed, LEN, &[]);
        let node = join(&mut fixture, Protocol::CURRENT[0]);
        run_until_begun(&mut fixture, node);
        // A ping of 50 ms.
        fixture.network.set_impairment(Impairment { loss: 20, ..Impairment::latency(Millis(25)) });
        worst = worst.max(run_until_loaded(&mut fixture, node, Millis::seconds(20)));
        assert!(fixture.player(node).files[0].1 == archive(LEN), "seed {seed}");
        repeated += count(&fixture, Counter::DownloadBlocksResent);
        blocks += count(&fixture, Counter::DownloadBlocks);
        fixture.check_no_faults();
    }
    assert!(worst < Millis::seconds(5), "{worst}");
    let total = blocks as f64 / (blocks - repeated) as f64;
    assert!(total < 1.1, "{total} times the bytes");
}

#[test]
fn reordered_and_duplicated_blocks_do_no_harm() {
    for seed in 1..=5 {
        let mut fixture = fixture(seed, 200_000, &[]);
        let node = join(&mut fixture, Protocol::CURRENT[seed as usize % Protocol::CURRENT.len()]);
        run_until_begun(&mut fixture, node);
        fixture.network.set_impairment(Impairment {
            loss: 100,
            duplication: 100,
            reordering: 100,
            jitter: Millis(5),
            ..Impairment::latency(Millis(20))
        });
        run_until_loaded(&mut fixture, node, Millis::seconds(60));
        assert!(fixture.player(node).files[0].1 == archive(200_000), "seed {seed}");
        fixture.check_no_faults();
    }
}

#[test]
fn loopback_download_takes_less_than_a_second() {
    let mut fixture = fixture(3, LEN, &[]);
    fixture.network.set_impairment(Impairment::latency(Millis(0)));
    let node = join(&mut fixture, Protocol::CURRENT[0]);
    run_until_begun(&mut fixture, node);
    let time = run_until_loaded(&mut fixture, node, Millis::seconds(5));
    assert!(time < Millis::seconds(1), "{time}");
}

#[test]
fn shared_rate_and_client_rate_are_kept() {
    // The shared rate, in kilobytes.
    let mut slow = fixture(4, LEN, &[("sv_dlRate", "100")]);
    let nodes: Vec<_> = (0..3).map(|_| join(&mut slow, Protocol::CURRENT[0])).collect();
    run_until_begun(&mut slow, nodes[0]);
    let before = count(&slow, Counter::BytesOut);
    slow.run_for(Millis::seconds(10));
    let sent = count(&slow, Counter::BytesOut) - before;
    assert!((950_000..1_080_000).contains(&sent), "{sent} bytes in 10 s");
    // Each has its share.
    for node in nodes {
        let (done, _) = slow.player(node).client().download_progress().unwrap();
        assert!((250_000..360_000).contains(&done), "{done}");
    }
    // The rate of a client on the internet: 90,000 bytes per second with headers.
    let mut far = fixture(4, LEN, &[("sv_lanNetworks", "private")]);
    let node = join(&mut far, Protocol::CURRENT[0]);
    run_until_begun(&mut far, node);
    let time = run_until_loaded(&mut far, node, Millis::seconds(20));
    assert!((Millis(5000)..Millis(7500)).contains(&time), "{time}");
}

#[test]
fn many_downloads_delay_no_snapshot_of_others() {
    let mut fixture = fixture(5, LEN, &[]);
    let player = fixture.join(Protocol::CURRENT[0], "player");
    fixture.run_for(Millis::seconds(2));
    let before = fixture.player(player).client().statistics().snapshots;
    let nodes: Vec<_> = (0..32).map(|_| join(&mut fixture, Protocol::CURRENT[0])).collect();
    fixture.run_for(Millis::seconds(8));
    let snapshots = fixture.player(player).client().statistics().snapshots - before;
    assert!((158..=161).contains(&snapshots), "{snapshots} snapshots in 8 s");
    for node in nodes {
        let loader = fixture.player(node);
        assert!(loader.files[0].1.len() == LEN && loader.is_active(), "{node}");
    }
    fixture.check_no_faults();
    assert_eq!(count(&fixture, Counter::DownloadsCompleted), 32);
}

#[test]
fn download_goes_on_across_map_changes() {
    let mut fixture = fixture(6, LEN, &[("sv_dlRate", "200")]);
    let node = join(&mut fixture, Protocol::CURRENT[0]);
    run_until_begun(&mut fixture, node);
    for line in ["map yard", "map_restart 0", "map yard"] {
        fixture.run_for(Millis(300));
        fixture.console(line);
    }
    fixture.run_for(Millis::seconds(5));
    let player = fixture.player(node);
    assert!(player.files[0].1 == archive(LEN), "{:?}", player.failed_downloads);
    assert!(player.is_active());
    assert_eq!(count(&fixture, Counter::DownloadsStarted), 1);
    fixture.check_no_faults();
}

#[test]
fn status_shows_progress_and_disconnects_free_the_download() {
    let mut fixture = fixture(7, LEN, &[("sv_dlRate", "50")]);
    let node = join(&mut fixture, Protocol::CURRENT[0]);
    run_until_begun(&mut fixture, node);
    fixture.run_for(Millis::seconds(4));
    assert_eq!(downloading_clients(fixture.server()), 1);
    while fixture.server_output().is_some() {}
    fixture.console("status");
    let lines: Vec<_> = std::iter::from_fn(|| fixture.server_output()).collect();
    let line = lines.iter().find(|line| line.contains("downloads")).expect("a line");
    assert!(line.starts_with("client 0 downloads baseoa/yard.pk3: 3"), "{line}");
    let now = fixture.network.now();
    fixture.player(node).leave(now);
    fixture.run_for(Millis::seconds(4));
    assert_eq!(downloading_clients(fixture.server()), 0);
    let before = count(&fixture, Counter::DownloadBlocks);
    fixture.run_for(Millis::seconds(2));
    assert_eq!(count(&fixture, Counter::DownloadBlocks), before);
}

#[test]
fn silent_downloader_is_dropped_without_a_flood() {
    let mut fixture = fixture(8, LEN, &[]);
    let node = join(&mut fixture, Protocol::CURRENT[0]);
    run_until_begun(&mut fixture, node);
    fixture.run_for(Millis(200));
    let before = count(&fixture, Counter::PacketsOutSequenced);
    fixture.network.set_impairment(Impairment { loss: 1000, ..Impairment::default() });
    fixture.run_for(Millis::seconds(40));
    let sent = count(&fixture, Counter::PacketsOutSequenced) - before;
    // One window, then probes and a snapshot each second.
    assert!(sent < 48 + 40 + 60, "{sent}");
    assert_eq!(downloading_clients(fixture.server()), 0);
    assert_eq!(count(&fixture, Counter::ClientsDropped), 1);
}

/// The texts of refusals that a client gets for a request.
fn refusal_of(request: &str) -> (Vec<String>, SimFixture) {
    let mut fixture = fixture(9, LEN, &[]);
    let node = fixture.join(Protocol::CURRENT[0], "loader");
    for _ in 0..100 {
        fixture.run_for(Millis(10));
        if fixture.player(node).levels > 0 {
            break;
        }
    }
    let now = fixture.network.now();
    fixture.player(node).download(now, request);
    fixture.run_for(Millis(500));
    (fixture.player(node).failed_downloads.clone(), fixture)
}

#[test]
fn requests_for_other_files_are_refused_with_the_reason() {
    for request in [
        "baseoa/secret.pk3",
        "baseoa/../baseoa/yard.pk3",
        "../../../etc/passwd",
        "/etc/passwd",
        "baseoa\\yard.pk3",
        "server.cfg",
        "baseq3/pak0.pk3",
        "baseoa/yard.pk3.pk3",
    ] {
        let (texts, fixture) = refusal_of(request);
        assert_eq!(texts.len(), 1, "{request}");
        assert!(texts[0].contains(request), "{texts:?}");
        assert_eq!(count(&fixture, Counter::DownloadBlocks), 0, "{request}");
    }
}

/// A client in the middle of a download.
fn downloading(set: &[(&str, &str)]) -> (SimFixture, usize) {
    let mut fixture = fixture(10, LEN, set);
    let node = join(&mut fixture, Protocol::CURRENT[0]);
    run_until_begun(&mut fixture, node);
    fixture.run_for(Millis(100));
    (fixture, node)
}

#[test]
fn wrong_block_numbers_end_the_connection() {
    for text in ["nextdl 9999999", "nextdl -1", "nextdl 99999999999999999999", "nextdl x"] {
        let (mut fixture, node) = downloading(&[("sv_dlRate", "10")]);
        let now = fixture.network.now();
        // A client that has acknowledged block 0 does so again with "x".
        fixture.player(node).send_command(now, text);
        fixture.run_for(Millis::seconds(1));
        let reason = fixture.player(node).disconnect_reason().map(ToString::to_string);
        assert_eq!(reason.as_deref(), Some("broken download"), "{text}");
        assert!(fixture.server().player(ClientNum::new(0).unwrap()).is_none());
    }
}

#[test]
fn endless_restarts_and_gamestate_requests_are_bounded() {
    let (mut fixture, node) = downloading(&[]);
    fixture.player(node).downloads = false;
    for _ in 0..60 {
        let now = fixture.network.now();
        fixture.player(node).download(now, "baseoa/yard.pk3");
        fixture.run_for(Millis(300));
    }
    let started = count(&fixture, Counter::DownloadsStarted);
    assert!(started <= 10, "{started}");
    let texts = &fixture.player(node).failed_downloads;
    assert!(texts.iter().any(|text| text.starts_with("Too many downloads")), "{texts:?}");

    let before = count(&fixture, Counter::GamestatesSent);
    for _ in 0..100 {
        let now = fixture.network.now();
        fixture.player(node).send_command(now, "donedl");
        fixture.run_for(Millis(100));
    }
    let gamestates = count(&fixture, Counter::GamestatesSent) - before;
    assert!(gamestates <= 17, "{gamestates}");
}

#[test]
fn players_in_the_game_download_nothing() {
    let mut fixture = fixture(11, LEN, &[]);
    let node = fixture.join(Protocol::CURRENT[0], "player");
    fixture.run_for(Millis::seconds(2));
    assert!(fixture.player(node).is_active());
    for text in ["download baseoa/yard.pk3", "nextdl 0", "stopdl", "donedl"] {
        let now = fixture.network.now();
        fixture.player(node).send_command(now, text);
        fixture.run_for(Millis(300));
    }
    assert!(fixture.player(node).is_active());
    assert_eq!(count(&fixture, Counter::DownloadBlocks), 0);
    assert_eq!(fixture.player(node).levels, 1);
}

#[test]
fn pure_server_without_game_modules_runs_unpure() {
    let mut fixture = fixture(12, LEN, &[("sv_pure", "1")]);
    let node = fixture.join(Protocol::CURRENT[0], "player");
    fixture.run_for(Millis::seconds(2));
    assert!(fixture.player(node).is_active());
    assert_eq!(fixture.server().settings().get("sv_pure"), Some("0"));
    assert_eq!(fixture.server().settings().get("sv_referencedPakNames"), Some("baseoa/yard"));
}

/// A pure server with an archive of game modules.
fn pure_fixture() -> SimFixture {
    let mut assets = assets(LEN);
    let modules: [(&str, &[u8]); 2] = [("vm/cgame.qvm", b"c"), ("vm/ui.qvm", b"u")];
    assets.insert_pack("baseoa", "modules", &archive(99), &modules).unwrap();
    let set = [("map", "yard"), ("sv_pure", "1"), ("sv_lanNetworks", "any")];
    SimFixture::around(13, Actor::Server(Box::new(server_with(Box::new(assets), &set))))
}

#[test]
fn pure_server_lists_archives_and_waits_for_proof() {
    let mut fixture = pure_fixture();
    let node = fixture.join(Protocol::CURRENT[0], "player");
    fixture.run_for(Millis::seconds(2));
    assert!(!fixture.player(node).is_active() && fixture.player(node).levels == 1);
    let setting = |name| fixture.server().settings().get(name).unwrap().to_owned();
    assert_eq!(setting("sv_pure"), "1");
    assert_eq!(setting("sv_pakNames"), "yard secret modules");
    assert_eq!(setting("sv_paks").split_whitespace().count(), 3);
    assert_eq!(setting("sv_referencedPakNames"), "baseoa/yard baseoa/modules");
    let packs = fixture.player(node).client().referenced_packs();
    assert_eq!(packs[1].name, "baseoa/modules.pk3");
}

#[test]
fn failed_proof_tells_the_player_file_and_remedy() {
    let mut fixture = pure_fixture();
    let node = fixture.join(Protocol::CURRENT[0], "player");
    fixture.run_for(Millis::seconds(1));
    let now = fixture.network.now();
    let id = fixture.player(node).client().server_id().unwrap();
    fixture.player(node).send_command(now, &format!("cp {id} 1 2 @ 1 2 3 "));
    fixture.run_for(Millis::seconds(1));
    let reason = fixture.player(node).disconnect_reason().map(ToString::to_string).unwrap();
    assert!(reason.starts_with("Unpure client: vm/cgame.qvm must be that of baseoa/modules.pk3"));
}
