//! Tests of the query: requests, responses, results.

use proptest::prelude::*;

use super::*;
use crate::wire::connectionless::{CommandKind, StatusPlayer, write_status_response};

fn server() -> SocketAddr {
    ([10, 0, 0, 1], 27_960).into()
}

fn route(remote: SocketAddr) -> Route {
    Route::new(LocalPort(0), remote)
}

/// Returns the request sent by the query: its command and challenge.
fn asked(query: &mut Query, now: u64) -> Vec<(CommandKind, String)> {
    query.frame(Millis(now));
    let mut packet = Vec::new();
    let mut asked = Vec::new();
    while let Some(to) = query.poll_transmit(&mut packet) {
        assert_eq!(to, route(server()));
        let message = Message::parse(&packet).unwrap();
        let (Message::GetInfo(query) | Message::GetStatus(query)) = message else {
            panic!("{message:?}")
        };
        asked.push((message.kind(), query.challenge.to_string()));
    }
    asked
}

fn info_response(challenge: &str) -> Vec<u8> {
    let text = format!(
        "\\challenge\\{challenge}\\hostname\\^1Frag\\mapname\\oa_dm1\\clients\\1\
        \\sv_maxclients\\8\\g_humanplayers\\1\\gamename\\Quake3Arena\\protocol\\71"
    );
    let mut out = Vec::new();
    Message::InfoResponse(WireText::from(text.as_str())).write(&mut out);
    out
}

fn status_response(challenge: &str) -> Vec<u8> {
    let info =
        InfoString::parse(&format!("\\sv_hostname\\^1Frag\\fraglimit\\20\\challenge\\{challenge}"));
    let player = StatusPlayer { score: -3, ping: 48, name: WireText::from("^2Sarge") };
    let mut out = Vec::new();
    write_status_response(&mut out, &info, [player], 1400);
    out
}

#[test]
fn both_responses_complete_the_result() {
    let mut query = Query::new(QueryOptions::new(server(), 7), Millis(100));
    let first = asked(&mut query, 100);
    let [(CommandKind::GetInfo, info), (CommandKind::GetStatus, status)] = &first[..] else {
        panic!("{first:?}")
    };
    assert_ne!(info, status);
    query.handle_datagram(Millis(130), route(server()), &info_response(info));
    assert!(!query.is_finished());
    // Only the missing one is requested again.
    let again = asked(&mut query, 1100);
    assert_eq!(again.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [CommandKind::GetStatus]);
    query.handle_datagram(Millis(1150), route(server()), &status_response(&again[0].1));
    assert!(query.is_finished());
    assert_eq!(query.next_frame(), Millis::NEVER);

    let result = query.result().unwrap();
    assert_eq!(result.ping_ms, 30);
    assert_eq!(
        result.to_string(),
        "address   10.0.0.1:27960\nping      30 ms\nanswered  Quake III Arena\nname      Frag\nmap       oa_dm1\n\
         game      Quake3Arena\nprotocol  71\nplayers   1 (1 human) of 8\n\n \
         score  ping  name\n    -3    48  Sarge\n"
    );
    assert_eq!(result.settings(), "fraglimit    20\nsv_hostname  Frag\n");
    let json: serde_json::Value = serde_json::from_str(&result.to_json()).unwrap();
    assert_eq!(json["info"]["hostname"], "^1Frag");
    assert_eq!(json["info"].get("challenge"), None);
    assert_eq!(json["status"]["fraglimit"], "20");
    assert_eq!(json["players"][0]["score"], -3);
    assert_eq!(json["players"][0]["name"], "Sarge");
}

#[test]
fn datagrams_that_answer_nothing_are_counted() {
    let mut query = Query::new(QueryOptions::new(server(), 7), Millis(0));
    let first = asked(&mut query, 0);
    for bytes in [&b"random"[..], b"", b"\xff\xff\xff\xffprint\nno\n", &info_response("x")] {
        query.handle_datagram(Millis(10), route(server()), bytes);
    }
    query.handle_input(Millis(10), Input::Oversize(route(server())));
    let other = ([10, 0, 0, 2], 27_960).into();
    query.handle_datagram(Millis(10), route(other), b"random");
    query.handle_input(Millis(10), Input::Oversize(route(other)));
    assert_eq!(query.rejected(), Rejected { oversize: 1, invalid: 4 });
    query.handle_datagram(Millis(20), route(server()), &info_response(&first[0].1));
    query.handle_datagram(Millis(20), route(server()), &info_response(&first[0].1));
    assert_eq!(query.rejected().invalid, 4, "a copy of an answer");
}

#[test]
fn late_response_is_timed_from_its_own_request() {
    let mut query = Query::new(QueryOptions::new(server(), 7), Millis(0));
    let first = asked(&mut query, 0);
    asked(&mut query, 1000);
    query.handle_datagram(Millis(1200), route(server()), &info_response(&first[0].1));
    assert_eq!(query.result().map(|result| result.ping_ms), Some(1200));
}

#[test]
fn unrequested_responses_are_ignored() {
    let mut query = Query::new(QueryOptions::new(server(), 7), Millis(0));
    let first = asked(&mut query, 0);
    let stranger = route(([10, 0, 0, 2], 27_960).into());
    query.handle_datagram(Millis(1), stranger, &info_response(&first[0].1));
    query.handle_datagram(Millis(1), route(server()), &info_response(&first[1].1));
    query.handle_datagram(Millis(1), route(server()), &info_response("xyz"));
    query.handle_datagram(Millis(1), route(server()), b"\xff\xff\xff\xffinfoResponse\n\\a\\1");
    assert_eq!(query.result(), None);
}

#[test]
fn silent_server_ends_query_at_timeout() {
    let mut query = Query::new(QueryOptions::new(server(), 7), Millis(0));
    let mut questions = 0;
    while !query.is_finished() {
        let now = query.next_frame();
        assert!(now <= Millis(4000));
        questions += asked(&mut query, now.0).len();
    }
    assert_eq!(questions, 8);
    assert_eq!(query.result(), None);
}

proptest! {
    #[test]
    fn any_answer_is_safe(body in prop::collection::vec(any::<u8>(), 0..300), status in any::<bool>()) {
        let mut query = Query::new(QueryOptions::new(server(), 7), Millis(0));
        let first = asked(&mut query, 0);
        let mut datagram = b"\xff\xff\xff\xff".to_vec();
        datagram.extend_from_slice(if status { b"statusResponse\n" } else { b"infoResponse\n" });
        let challenge = &first[usize::from(status)].1;
        datagram.extend_from_slice(format!("\\challenge\\{challenge}\\x\\").as_bytes());
        datagram.extend_from_slice(&body);
        query.handle_datagram(Millis(1), route(server()), &datagram);
        let result = query.result().map(ToString::to_string).unwrap_or_default();
        prop_assert!(result.bytes().all(|byte| byte == b'\n' || (0x20..0x7f).contains(&byte)));
    }
}

#[test]
fn first_game_that_answers_is_told() {
    let at = |port: u16| -> SocketAddr { ([10, 0, 0, 1], port).into() };
    let all = QueryOptions {
        quake4: Some(at(28_004)),
        quakeworld: Some(at(27_500)),
        ..QueryOptions::new(server(), 7)
    };
    let start = || {
        let mut query = Query::new(all, Millis(0));
        query.frame(Millis(0));
        let (mut packet, mut sent) = (Vec::new(), Vec::new());
        while let Some(to) = query.poll_transmit(&mut packet) {
            sent.push((to.remote.port(), packet.clone()));
        }
        let ports: Vec<_> = sent.iter().map(|(port, _)| *port).collect();
        assert_eq!(ports, [27_960, 27_960, 28_004, 27_500]);
        (query, sent)
    };

    let (mut query, sent) = start();
    let Ok(quake4::Packet::GetInfo(challenge)) = quake4::Packet::parse(&sent[2].1) else {
        panic!("no request")
    };
    let respond = |challenge| {
        let player = quake4::Player { ping: 40, name: "^1Strogg".into(), ..Default::default() };
        let mut made = Vec::new();
        let pairs = [("si_name", "^2Four"), ("si_maxPlayers", "12"), ("si_map", "mp/q4dm1")];
        quake4::write_info_response(&mut made, challenge, pairs, [player]);
        made
    };
    query.handle_datagram(Millis(5), route(at(28_004)), &respond(challenge ^ 1));
    query.handle_datagram(Millis(5), route(server()), &respond(challenge));
    assert_eq!(query.result(), None, "neither our challenge nor the address");
    query.handle_datagram(Millis(9), route(at(28_004)), &respond(challenge));
    assert!(query.is_finished());
    let text = query.result().unwrap().to_string();
    for line in
        ["answered  Quake 4\n", "name      Four\n", "players   1 of 12\n", "protocol  2.85\n"]
    {
        assert!(text.contains(line), "{text}");
    }

    let (mut query, _) = start();
    let status = b"\xff\xff\xff\xffn\\hostname\\\xd4est\\map\\dm4\\maxclients\\8\n3 5 1 38 \"^a\" \"\" 4 13\n\0";
    query.handle_datagram(Millis(9), route(at(27_500)), status);
    let result = query.result().unwrap();
    assert_eq!((result.game, &result.players[0].name[..], query.is_finished()), ("qw", "^a", true));
    assert!(result.to_string().contains("name      Test\nmap       dm4\n"), "{result}");
}

#[test]
fn quake3_response_decides_against_other_games() {
    let other = SocketAddr::from(([10, 0, 0, 1], 27_960));
    let options = QueryOptions {
        quakeworld: Some(other),
        quake4: Some(other),
        ..QueryOptions::new(server(), 7)
    };
    let mut query = Query::new(options, Millis(0));
    query.frame(Millis(0));
    let mut packet = Vec::new();
    query.poll_transmit(&mut packet);
    let Ok(Message::GetInfo(asked)) = Message::parse(&packet) else { panic!("no request") };
    query.handle_datagram(Millis(5), route(other), &info_response(&asked.challenge.to_string()));
    query.handle_datagram(Millis(6), route(other), b"\xff\xff\xff\xffn\\map\\dm4\n\0");
    assert_eq!(query.result().map(|result| result.game), Some("q3"));
    assert!(!query.is_finished(), "the status is missing");
}

#[test]
fn games_of_one_family_are_told_apart() {
    for (pairs, word, title) in [
        ("\\gamename\\et\\protocol\\84", "et", "Enemy Territory"),
        ("\\protocol\\60", "rtcw", "Return to Castle Wolfenstein"),
        ("\\protocol\\68", "q3", "Quake III Arena"),
        ("\\protocol\\43\\hostname\\x", "q3", "Quake III Arena"),
        ("\\protocol\\3\\gamename\\Xonotic", "q3", "Xonotic"),
        ("\\hostname\\x", "q3", "Quake III Arena"),
    ] {
        let info = InfoString::parse(pairs);
        let info = info.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let mut result = QueryResult { info, ..QueryResult::default() };
        result.name_quake3();
        assert_eq!((result.game, &result.game_title[..]), (word, title), "{pairs}");
    }
}
