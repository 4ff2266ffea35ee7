//! Tests of decoys: answers, heartbeats, files.

use std::net::SocketAddr;

use super::*;
use crate::{
    discovery::{Game, MasterRequest},
    node::Input,
    wire::{connectionless::StatusResponse, info::InfoString},
};

const MASTER: &str = "10.0.0.9:27950";

fn game(word: &str) -> &'static Game {
    Game::by_word(word).unwrap()
}

fn client() -> SocketAddr {
    "10.0.0.1:5000".parse().unwrap()
}

/// Returns the answer of the only decoy to a datagram; empty for silence.
fn answer(decoy: Decoy, datagram: &[u8]) -> Vec<u8> {
    let mut decoys = Decoys::new(vec![decoy], Vec::new(), Millis(0));
    let route = Route::new(LocalPort(0), client());
    decoys.handle_datagram(Millis(1), route, datagram);
    let mut packet = Vec::new();
    let to = decoys.poll_transmit(&mut packet);
    assert_eq!(to, (!packet.is_empty()).then_some(route));
    assert_eq!(decoys.queries(), u64::from(!packet.is_empty()));
    packet
}

fn drain(decoys: &mut Decoys) -> Vec<(u16, Vec<u8>)> {
    let (mut packet, mut sent) = (Vec::new(), Vec::new());
    while let Some(route) = decoys.poll_transmit(&mut packet) {
        assert_eq!(route.remote, MASTER.parse().unwrap());
        sent.push((route.local.0, packet.clone()));
    }
    sent
}

#[test]
fn quake3_answer_equals_the_captured_one() {
    let mut decoy = Decoy::new(game("q3"), "Welcome DUEL Server");
    decoy.map = Some("pro-q3dm6".into());
    decoy.max_clients = 8;
    decoy.gametype = Some(1);
    decoy.r#mod = "cpma".into();
    decoy.players = vec![DecoyPlayer { name: "x".into(), ..DecoyPlayer::default() }; 2];
    let expected = b"\xff\xff\xff\xffinfoResponse\n\\game\\cpma\\punkbuster\\0\\pure\\1\\gametype\\1\
        \\sv_maxclients\\8\\clients\\2\\mapname\\pro-q3dm6\\hostname\\Welcome DUEL Server\\protocol\\68\
        \\challenge\\xxx";
    assert_eq!(answer(decoy.clone(), b"\xff\xff\xff\xffgetinfo xxx"), expected);
    let bare = answer(decoy.clone(), b"\xff\xff\xff\xffgetinfo\n");
    assert_eq!(bare, expected[..expected.len() - 14]);
    let long = [b"\xff\xff\xff\xffgetinfo ", &[b'x'; 129][..]].concat();
    assert_eq!(answer(decoy.clone(), &long), b"");
    assert_eq!(answer(decoy, b"\xff\xffgetInfo\0\x01\0\0\0"), b"");
}

#[test]
fn enemy_territory_answer_has_the_captured_order() {
    let mut decoy = Decoy::new(game("et"), "myServerName");
    decoy.map = Some("fun_tennis".into());
    decoy.max_clients = 10;
    decoy.r#mod = "etpro".into();
    decoy.punkbuster = true;
    let expected = "infoResponse\n\\challenge\\xxx\\protocol\\84\\hostname\\myServerName\\serverload\\0\
        \\mapname\\fun_tennis\\clients\\0\\sv_maxclients\\10\\gametype\\2\\pure\\1\\game\\etpro\
        \\sv_allowAnonymous\\0\\friendlyFire\\0\\maxlives\\0\\needpass\\0\\punkbuster\\1\\gamename\\et\
        \\g_antilag\\1\\weaprestrict\\100\\balancedteams\\1";
    assert_eq!(answer(decoy.clone(), b"\xff\xff\xff\xffgetinfo xxx")[4..], *expected.as_bytes());
    // The challenge may not be longer than 64 characters, nor have characters of an info string.
    let challenge = |text: &str| [b"\xff\xff\xff\xffgetstatus ", text.as_bytes()].concat();
    assert_ne!(answer(decoy.clone(), &challenge(&"x".repeat(64))), b"");
    for text in ["a\\b", "a/b", "a%b", "a;b", &"x".repeat(65)] {
        assert_eq!(answer(decoy.clone(), &challenge(text)), b"", "{text}");
    }
    assert_eq!(
        answer(decoy, b"\xff\xff\xff\xffgetchallenge"),
        b"\xff\xff\xff\xffchallengeResponse 1000000"
    );
}

#[test]
fn status_lists_players_within_one_datagram() {
    let mut decoy = Decoy::new(game("q3"), "noname");
    let player = DecoyPlayer { name: "^1Visor \"x\"".into(), score: -1, ping: 999 };
    decoy.players = vec![player; 64];
    let made = answer(decoy, b"\xff\xff\xff\xffgetstatus 4711");
    assert!(made.len() <= 1396, "{}", made.len());
    let Ok(Message::StatusResponse(status)) = Message::parse(&made) else { panic!("no status") };
    let StatusResponse { info, .. } = status;
    assert_eq!(InfoString::from_wire(info).get("challenge"), Some("4711"));
    assert!(status.players().count() > 40);
    assert!(status.players().all(|player| player.name == "^1Visor .x." && player.score == -1));
}

#[test]
fn quake4_and_quakeworld_requests_are_answered() {
    let mut decoy = Decoy::new(game("q4"), "Strogg");
    decoy.players = vec![DecoyPlayer { name: "a".into(), score: 1, ping: 50 }];
    let made = answer(decoy.clone(), b"\xff\xffgetInfo\0\x07\0\0\0");
    let Ok(quake4::Packet::InfoResponse(response)) = quake4::Packet::parse(&made) else {
        panic!("no response")
    };
    assert_eq!((response.challenge, response.players().count()), (7, 1));
    assert_eq!(response.get("si_name"), Some("Strogg".into()));
    decoy.game = game("qw");
    let made = answer(decoy.clone(), b"\xff\xff\xff\xffstatus\n");
    let Ok(quakeworld::Packet::Status(status)) = quakeworld::Packet::parse(&made) else {
        panic!("no status")
    };
    assert_eq!(status.info.get("hostname"), Some("Strogg".into()));
    assert_eq!(status.players().next().map(|player| player.frags), Some(Some(1)));
    let settings_only = answer(decoy.clone(), b"\xff\xff\xff\xffstatus 1\n");
    assert!(settings_only.ends_with(b"\\map\\dm4\n\0"));
    assert_eq!(answer(decoy, b"k\0"), b"l");
}

#[test]
fn heartbeats_come_every_300_s_and_at_the_end() {
    let decoys = ["q3", "et", "rtcw", "q4", "qw"].map(|word| Decoy::new(game(word), word));
    let mut decoys = Decoys::new(decoys.into(), vec![MASTER.parse().unwrap()], Millis(1000));
    assert_eq!((decoys.next_frame(), decoys.local_ports()), (Millis(1000), 5));
    decoys.frame(Millis(1100));
    let sent = drain(&mut decoys);
    assert_eq!(sent.iter().map(|(local, _)| *local).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert!(sent.iter().all(|(_, packet)| MasterRequest::parse(packet).is_ok()));
    assert_eq!(sent[0].1, b"\xff\xff\xff\xffheartbeat QuakeArena-1\n");
    assert_eq!(sent[4].1, b"a\n1\n0\n");
    assert_eq!(decoys.next_frame(), Millis(301_000));
    decoys.frame(Millis(301_500));
    decoys.frame(Millis(301_502));
    let again = drain(&mut decoys);
    assert_eq!((again.len(), &again[4].1[..]), (5, &b"a\n2\n0\n"[..]));
    decoys.handle_input(Millis(302_000), Input::Stop("end"));
    let last: Vec<_> = drain(&mut decoys).into_iter().map(|(local, _)| local).collect();
    assert_eq!(last, [0, 0, 1, 2, 4]);
    assert!(decoys.is_finished());
}

#[test]
fn generated_decoys_repeat_with_their_seed() {
    let games = [game("q3"), game("et")];
    let decoys = generate(1000, &games, 7);
    assert_eq!(decoys, generate(1000, &games, 7));
    assert_ne!(decoys, generate(1000, &games, 8));
    assert_eq!(decoys.iter().filter(|decoy| decoy.game == games[0]).count(), 500);
    assert!(decoys.iter().all(|decoy| decoy.players.len() <= usize::from(decoy.max_clients)));
    assert!(decoys.iter().any(|decoy| decoy.players.is_empty()));
    assert_eq!(generate(usize::MAX, &[], 1).len(), MAX_DECOYS);
}

#[test]
fn faulty_files_are_refused_with_line_and_expectation() {
    let file = DecoyFile::parse(
        "masters = [\"[::1]:27950\"]\n[[server]]\nname = \"a\"\n[[server]]\nname = \"b\"\n\
         game = \"QW\"\nplayers = [{ name = \"c\", score = 3 }]\n",
    );
    let file = file.unwrap();
    assert_eq!((file.masters.len(), file.servers.len()), (1, 2));
    assert_eq!((file.servers[0].game.word, file.servers[1].game.word), ("q3", "qw"));
    assert_eq!((file.servers[1].map(), file.servers[1].players[0].score), ("dm4", 3));
    let long = format!("[[server]]\nname = \"{}\"", "x".repeat(101));
    for (text, line, part) in [
        ("[[server]]\nname = \"a\"\ngame = \"q2\"", "line 3: ", "q3, rtcw, et, q4, qw"),
        ("[[server]]\nname = 5", "line 2: name: ", "(expected text in quotes)"),
        ("[[server]]\nname = \"a\"\nmaps = \"b\"", "line 3: ", "maps"),
        ("[[server]]\nname = \"a\"\nmax_clients = 300", "line 3: max_clients: ", "300"),
        (&long, "line 2: ", "101 bytes"),
        ("[[server]]\nname = \"a\"\nname = \"b\"", "line 3: ", "duplicate key name"),
        ("", "0 [[server]] tables", "expected 1"),
        ("[[server", "line 1: ", ""),
    ] {
        let error = DecoyFile::parse(text).unwrap_err();
        assert!(error.starts_with(line) && error.contains(part), "{text}: {error}");
    }
}
