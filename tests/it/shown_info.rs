//! Serverinfo and status as browsers and clients see them.

use std::net::SocketAddr;

use fragd::{
    game::{Flight, Game, Ruleset},
    model::{Millis, UnixMillis, assets::MemoryAssets},
    node::{Hosted as _, Input, LocalPort, Node as _, OutputKind, Route, take_text},
    server::{Server, ServerStart},
    settings::Settings,
};

/// A server of a game that began on the last minute of 2025.
fn server(game: &str) -> Server {
    let mut settings = Settings::default();
    settings.set("game", game).unwrap();
    let ruleset = Ruleset::of_folder(game).unwrap();
    let rules = Box::new(move |_| -> Box<dyn Game> { Box::new(Flight::new(ruleset)) });
    let began = Some(UnixMillis(1_767_225_540_000));
    let start = ServerStart { epoch: began, ..[7; 32].into() };
    Server::new(settings, Box::new(MemoryAssets::default()), rules, start)
}

fn ask(server: &mut Server, now: Millis, question: &str) -> String {
    let remote = SocketAddr::from(([192, 0, 2, 1], 27960));
    let bytes = [b"\xff\xff\xff\xff", question.as_bytes()].concat();
    server.handle_datagram(now, Route::new(LocalPort(0), remote), &bytes);
    let mut packet = Vec::new();
    server.poll_transmit(&mut packet).expect("an answer");
    String::from_utf8(packet[4..].to_vec()).unwrap()
}

#[test]
fn level_start_time_is_shown_in_openarena_serverinfo() {
    let mut oa = server("baseoa");
    let first = "\\g_timestamp\\2025-12-31 23:59:00";
    assert!(ask(&mut oa, Millis(10), "getstatus").contains(first));
    let lines = |server: &mut Server| -> String {
        let log = take_text(server, OutputKind::GameLog);
        log.lines().filter(|line| line.contains("InitGame")).collect()
    };
    assert!(lines(&mut oa).contains(first), "the game log has it from the first level on");
    for (at, line, shown) in [
        (60_000, "map oa_dm2", "2026-01-01 00:00:00"),
        (90_500, "map_restart 0", "2026-01-01 00:00:30"),
    ] {
        oa.handle_input(Millis(at), Input::ConsoleLine(line));
        oa.frame(Millis(at));
        oa.frame(Millis(at + 50));
        let shown = format!("\\g_timestamp\\{shown}");
        let status = ask(&mut oa, Millis(at + 60), "getstatus");
        assert!(status.contains(&shown), "{line}: {status}");
        assert!(lines(&mut oa).contains(&shown), "{line}");
    }
    let status = ask(&mut server("baseq3"), Millis(10), "getstatus");
    assert!(!status.contains("g_timestamp"), "{status}");
}

/// VoIP and file lists are not announced. With downloads switched on, a client that misses a listed
/// file does not join.
#[test]
fn serverinfo_shows_only_served_features() {
    for game in ["baseoa", "baseq3"] {
        let server = server(game);
        let system: Vec<_> = server.settings().systeminfo().collect();
        for empty in ["sv_paks", "sv_pakNames", "sv_referencedPaks", "sv_referencedPakNames"] {
            assert!(system.contains(&(empty, "")), "{game} {empty}: {system:?}");
        }
        assert!(system.contains(&("sv_pure", "0")));
        let mut shown = system.iter().map(|(name, _)| *name);
        assert!(!shown.any(|name| name == "sv_voipProtocol"), "{system:?}");
        let names: Vec<_> = server.settings().serverinfo().map(|(name, _)| name).collect();
        for absent in ["sv_voip", "bot_minplayers"] {
            assert!(!names.contains(&absent), "{game} {absent}");
        }
        assert!(names.contains(&"sv_allowDownload") && names.contains(&"protocol"));
    }
    let info = ask(&mut server("baseoa"), Millis(10), "getinfo x");
    assert!(!info.contains("\\voip\\"), "{info}");
}
