//! Tests of the game table, the readers and the writers.

use std::net::SocketAddr;

use super::{quake4, quakeworld, services::*, *};
use crate::wire::{
    connectionless::{ListFilter, ListRequest, StatusResponse},
    text::WireText,
};

fn text(text: &str) -> WireText<'_> {
    text.into()
}

fn marked(text: &str) -> Vec<u8> {
    [b"\xff\xff\xff\xff", text.as_bytes()].concat()
}

#[test]
fn game_words_and_tags_are_unique() {
    for (number, game) in GAMES.iter().enumerate() {
        assert_eq!(Game::by_word(&game.word.to_uppercase()), Some(game));
        let others = &GAMES[..number];
        assert!(others.iter().all(|other| other.name != game.name && other.word != game.word));
        for protocol in game.protocols {
            assert_eq!(Game::by_protocol(*protocol), Some(game));
        }
    }
    let found = |tag| Game::by_heartbeat(text(tag)).map(|(game, ends)| (game.word, ends));
    assert_eq!(found("QuakeArena-1"), Some(("q3", false)));
    assert_eq!(found("ETFlatline-1"), Some(("et", true)));
    assert_eq!(found("WolfFlatline-1"), Some(("rtcw", true)));
    assert_eq!((found("DarkPlaces"), found("quakearena-1"), found("")), (None, None, None));
    assert_eq!(Game::by_name(text("wolfmp")).map(|game| game.word), Some("rtcw"));
    assert_eq!(Game::by_protocol(71), None);
}

#[test]
fn info_text_is_read_in_place() {
    let info = InfoText::new(text("\\a\\1\\A\\2\\b\\\\a\\3\\c"));
    let pairs: Vec<_> = info.pairs().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(pairs, ["a=1", "A=2", "b=", "a=3", "c="]);
    assert_eq!((info.get("A"), info.get("C")), (Some(text("2")), None));
    assert_eq!(info.get_ignore_case("C"), Some(text("")));
    assert_eq!(InfoText::new(text("")).pairs().count(), 0);
    let long = "x".repeat(256);
    assert!(InfoText::new(text(&format!("\\a\\{long}"))).has_long_part());
    assert!(!InfoText::new(text(&format!("\\{}\\1", &long[1..]))).has_long_part());
}

#[test]
fn master_reads_only_exact_beginnings() {
    let read =
        |line: &str| MasterRequest::parse(&marked(line)).map(|request| format!("{request:?}"));
    assert_eq!(read("heartbeat QuakeArena-1\n"), Ok("Heartbeat(\"QuakeArena-1\")".into()));
    for line in ["Heartbeat QuakeArena-1\n", "heartbeat\n", "infoResponse \\a\\1", "GETSERVERS 68"]
    {
        assert_eq!(read(line), Err(DiscoveryError::Command), "{line}");
    }
    assert_eq!(read(""), Err(DiscoveryError::Short(4)));
    assert_eq!(read(&format!("heartbeat {}", "x".repeat(2035))), Err(DiscoveryError::Long(2049)));
    let tag = |len| read(&format!("heartbeat {}", "x".repeat(len)));
    assert!(tag(63).is_ok() && tag(64).is_err());
    for line in ["getinfo xxx", "motd \"\\motd\\x\"", "ipAuthorize 1 accept", "status", "print\nx"]
    {
        assert_eq!(read(line), Err(DiscoveryError::Command), "{line}");
    }
    for bytes in
        [&b""[..], b"x", b"ax", b"a\n1", b"a\nx\n1\n", b"\xff\xff", b"\xff\xffgetInfo\0\0\0\0\0"]
    {
        assert!(MasterRequest::parse(bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn list_request_without_protocol_or_name_is_refused() {
    let read = |line: &str| {
        MasterRequest::parse(&marked(line)).map(|request| match request {
            MasterRequest::GetServers(ListRequest { game, protocol, .. }) => {
                (game.unwrap_or_default().to_string(), protocol)
            }
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(read("getservers 68"), Ok((String::new(), 68)));
    assert_eq!(read("getservers -1"), Ok((String::new(), -1)));
    assert_eq!(read("getservers 4TheFun 68"), Ok(("4TheFun".into(), 68)));
    assert_eq!(read("getserversExt et 84 ipv6"), Ok(("et".into(), 84)));
    for line in [
        "getservers ",
        "getservers 68x",
        "getservers et",
        "getservers Two Words 68",
        "getservers \"Two Words\" 68",
        "getserversExt et empty",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
}

#[test]
fn lists_of_every_form_are_read_back() {
    let v4 = |last: u16| SocketAddr::from(([10, 0, (last >> 8) as u8, last as u8], 1000 + last));
    let v6: SocketAddr = "[2001:db8::1]:27960".parse().unwrap();
    for (format, with_v6, packets) in [
        (ListFormat::Quake3, false, 4),
        (ListFormat::Quake3Ext, true, 4),
        (ListFormat::Quake4, false, 3),
        (ListFormat::QuakeWorld, false, 3),
    ] {
        let servers: Vec<_> = (0..600).map(v4).chain([v6]).collect();
        let mut left = servers.iter().copied().peekable();
        let (mut read, mut count, mut last) = (Vec::new(), 0, false);
        while !last {
            let mut packet = Vec::new();
            last = format.write(&mut packet, &mut left);
            assert!(packet.len() <= 1400);
            let list = ListPacket::parse(&packet).expect("a list");
            assert_eq!((list.format(), list.format().family()), (format, format.family()));
            assert_eq!(list.has_end_mark(), last && format.family() == Family::Quake3);
            read.extend(list.servers());
            count += 1;
        }
        assert_eq!(count, packets, "{format:?}");
        assert_eq!(read, servers[..600 + usize::from(with_v6)], "{format:?}");
    }
    assert_eq!(ListPacket::parse(b"\xff\xff\xff\xffinfoResponse\n"), None);
    assert_eq!(ListPacket::parse(b""), None);
}

#[test]
fn service_packets_are_read_back() {
    let info = InfoText::new(text("\\challenge\\5\\motd\\Hello there"));
    let status = StatusResponse { info: text("\\a\\1"), player_lines: text("1 2 \"x\"\n") };
    let words = GetUpdateInfo::Words { version: text("ET 2.60"), platform: text("linux-i386") };
    let accept = IpAuthorize { challenge: -5, verdict: Verdict::Accept, reason: text("") };
    for packet in [
        ServicePacket::GetMotd(info),
        ServicePacket::Motd(Motd { info }),
        ServicePacket::GetUpdateInfo(words),
        ServicePacket::GetUpdateInfo(GetUpdateInfo::Info(info)),
        ServicePacket::UpdateResponse(UpdateResponse::default()),
        ServicePacket::UpdateResponse(UpdateResponse {
            available: true,
            file: text("a b.exe"),
            files: Some(text("c.pk3")),
        }),
        ServicePacket::GetBlockedServers(84),
        ServicePacket::GetKeyAuthorize(GetKeyAuthorize { anonymous: true, key: text("abc123") }),
        ServicePacket::GetIpAuthorize(GetIpAuthorize {
            challenge: 7,
            address: text("10.0.0.1"),
            game: text(""),
            strict: true,
        }),
        ServicePacket::IpAuthorize(accept),
        ServicePacket::IpAuthorize(IpAuthorize {
            verdict: Verdict::Deny(text("deny")),
            reason: text("key in use"),
            ..accept
        }),
        ServicePacket::GameComplete(status),
    ] {
        let mut made = Vec::new();
        packet.write(&mut made);
        assert_eq!(ServicePacket::parse(&made), Ok(packet), "{}", made.escape_ascii());
    }
    for line in
        ["ipAuthorize", "ipAuthorize x accept", "ipAuthorize 1", "getIpAuthorize 1", "getinfo"]
    {
        assert!(ServicePacket::parse(&marked(line)).is_err(), "{line}");
    }
}

#[test]
fn damaged_message_of_the_day_is_read() {
    let packet = marked("motd \"challenge\\29862\\motd>Welcome!!!\\\"");
    let Ok(ServicePacket::Motd(motd)) = ServicePacket::parse(&packet) else { panic!("no message") };
    assert_eq!((motd.challenge(), motd.text()), (Some(29_862), Some(text("Welcome!!!"))));
}

#[test]
fn quake4_state_is_read_back() {
    let players = [
        quake4::Player { slot: 3, ping: 50, rate: 25_000, name: text("^1Strogg"), clan: text("") },
        quake4::Player { slot: 31, ping: 999, rate: 1, name: text(""), clan: text("x") },
    ];
    let pairs = [("si_name", "a b"), ("fs_game_base", ""), ("si_map", "mp/q4dm1")];
    let mut made = Vec::new();
    quake4::write_info_response(&mut made, 77, pairs, players);
    let Ok(quake4::Packet::InfoResponse(response)) = quake4::Packet::parse(&made) else {
        panic!("no response")
    };
    assert_eq!((response.challenge, response.protocol), (77, quake4::PROTOCOL));
    let read: Vec<_> = response.pairs().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    assert_eq!(read, pairs.map(|(key, value)| (key.to_owned(), value.to_owned())));
    assert_eq!(response.get("SI_MAP"), Some(text("mp/q4dm1")));
    assert_eq!(response.players().collect::<Vec<_>>(), players);
    assert_eq!(response.os_mask(), Some(7));
    for len in 0..made.len() {
        let Ok(quake4::Packet::InfoResponse(cut)) = quake4::Packet::parse(&made[..len]) else {
            continue;
        };
        assert!(cut.pairs().count() <= 3 && cut.players().count() <= 2 && cut.os_mask() != Some(0));
    }
}

#[test]
fn quake4_requests_are_read_back() {
    use quake4::{AuthKey, GameAuth, GetServers, Packet};
    for packet in [
        Packet::Heartbeat,
        Packet::GetServers(GetServers {
            protocol: 5,
            game: text("q4mp"),
            filter: 3,
            ..Default::default()
        }),
        Packet::GetInfo(u32::MAX),
        Packet::GameAuth(GameAuth { protocol: 1, key: Some(text("abc")), expansion_key: None }),
        Packet::AuthKey(AuthKey::Accepted(text("id"))),
        Packet::AuthKey(AuthKey::Refused(text("no"))),
        Packet::AuthKey(AuthKey::RefusedCode(2)),
    ] {
        let mut made = Vec::new();
        packet.write(&mut made);
        assert_eq!(Packet::parse(&made), Ok(packet));
    }
}

#[test]
fn quakeworld_packets_are_read_back() {
    use quakeworld::{AckForm, Packet, Player, Status};
    let mut lines = Vec::new();
    let player =
        Player { user_id: 3, frags: Some(-2), ping: 38, name: text("x y"), ..Player::default() };
    let spectator = Player { frags: None, team: Some(text("red")), ..player };
    player.write(&mut lines);
    spectator.write(&mut lines);
    let status =
        Status { info: InfoText::new(text("\\map\\dm4")), player_lines: WireText::new(&lines) };
    assert_eq!(status.players().collect::<Vec<_>>(), [player, spectator]);
    for packet in [
        Packet::Heartbeat { number: 17, players: 4 },
        Packet::Shutdown,
        Packet::Ping { marked: false },
        Packet::Ping { marked: true },
        Packet::Ack(AckForm::Bare),
        Packet::Ack(AckForm::Line),
        Packet::Ack(AckForm::Zero),
        Packet::ListRequest,
        Packet::GetStatus(None),
        Packet::GetStatus(Some(23)),
        Packet::Status(status),
        Packet::GetChallenge,
        Packet::Accepted,
    ] {
        let mut made = Vec::new();
        packet.write(&mut made);
        assert_eq!(Packet::parse(&made), Ok(packet), "{}", made.escape_ascii());
    }
}

#[test]
fn quakeworld_names_become_ascii() {
    let name = WireText::new(b"\\s\\\xd4\xe5\xf3\xf4\x10\x92\x11\x80");
    let player = quakeworld::Player { name, ..Default::default() };
    assert_eq!(player.plain_name(), "Test[0].");
}

#[test]
fn list_filters_reach_the_master() {
    let datagram = marked("getserversExt Quake3Arena 71 ipv6 empty full");
    let filter = ListFilter { empty: true, full: true, ipv6: true, ..ListFilter::default() };
    let request =
        ListRequest { extended: true, game: Some(text("Quake3Arena")), protocol: 71, filter };
    assert_eq!(MasterRequest::parse(&datagram), Ok(MasterRequest::GetServers(request)));
}

#[test]
fn integers_have_c_prefixes() {
    let cases =
        [("68", 68), ("-1", -1), ("+7", 7), ("0", 0), ("0x44", 68), ("-0X1f", -31), ("0104", 68)];
    for (word, value) in cases {
        assert_eq!(integer(text(word)), Some(value), "{word}");
    }
    for word in
        ["", "-", "0x", "68a", "4TheFun", "09", "--1", "0x-1", " 1", "99999999999", "\u{e9}"]
    {
        assert_eq!(integer(text(word)), None, "{word}");
    }
}
