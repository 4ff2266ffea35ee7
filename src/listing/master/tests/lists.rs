//! List requests: filters, names, protocols, order.

use super::*;

/// Master with one occupied, one empty and one full server of Quake III, and others.
fn net() -> Net {
    let mut net = Net::new(|options| options.flood_protection = 0);
    let info = |protocol: i32, clients: u8, more: &str| {
        format!("\\protocol\\{protocol}\\clients\\{clients}\\sv_maxclients\\8{more}")
    };
    for (from, word, info) in [
        ("192.0.2.1:1", "QuakeArena-1", info(68, 2, "\\gametype\\4")),
        ("192.0.2.2:1", "QuakeArena-1", info(68, 0, "")),
        ("192.0.2.3:1", "QuakeArena-1", info(68, 8, "\\gametype\\CTF")),
        ("192.0.2.4:1", "QuakeArena-1", info(71, 2, "")),
        ("192.0.2.5:1", "EnemyTerritory-1", info(84, 0, "")),
        ("192.0.2.6:1", "Wolfenstein-1", info(19, 2, "")),
        ("192.0.2.7:1", "DarkPlaces", info(5, 2, "\\gamename\\4TheFun")),
        ("[2001:db8::7]:1", "DarkPlaces", info(5, 2, "\\gamename\\4TheFun")),
        ("192.0.2.8:1", "DarkPlaces", info(77, 2, "\\gamename\\Game")),
    ] {
        assert!(net.register(from, word, &info), "{from}");
    }
    net
}

#[track_caller]
fn check(request: &str, expected: Option<&[&str]>) {
    let expected = expected
        .map(|servers| servers.iter().map(|server| (*server).to_owned()).collect::<Vec<_>>());
    assert_eq!(net().ask(CLIENT, request), expected, "{request}");
}

#[test]
fn words_select_servers() {
    check("getservers 68", Some(&["192.0.2.1:1"]));
    check("getservers 68 empty", Some(&["192.0.2.1:1", "192.0.2.2:1"]));
    check("getservers 68 full", Some(&["192.0.2.1:1", "192.0.2.3:1"]));
    check("getservers 68 full empty", Some(&["192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1"]));
    check("getservers 68 full ctf unknown", Some(&["192.0.2.1:1"]));
    check("getservers 68 full gametype=CTF", Some(&["192.0.2.3:1"]));
    check("getservers 68 full empty gametype=9 ffa", Some(&["192.0.2.2:1"]));
    check("getservers 68 tourney empty", Some(&[]));
    check("getservers 84", Some(&["192.0.2.5:1"]));
}

#[test]
fn game_is_found_by_name_or_protocol() {
    check("getservers Quake3Arena 68", Some(&["192.0.2.1:1"]));
    check("getservers 0x44", Some(&["192.0.2.1:1"]));
    check("getservers 71", Some(&["192.0.2.4:1"]));
    check("getservers 19", Some(&["192.0.2.6:1"]));
    check("getservers 77", Some(&[]));
    check("getservers Game 77", Some(&["192.0.2.8:1"]));
    check("getservers 4TheFun 5", Some(&["192.0.2.7:1"]));
    check("getservers game 77", Some(&[]));
    check("getservers -1", Some(&[]));
}

#[test]
fn invalid_requests_get_no_answer() {
    for request in [
        "getservers ",
        "getservers Game",
        "getservers Game 4TheFun",
        "getservers My Game 5",
        "getservers \"My Game\" 5",
        "getservers a;b 5",
        "getserversExt 68",
        "getserversExt 68 empty full",
        "getserversExt Game",
        "getservers",
        "GETSERVERS 68",
        "getservers\t68",
        "getserversResponse\\EOT",
    ] {
        check(request, None);
    }
}

#[test]
fn rejected_games_get_no_answer() {
    let reject =
        |options: &mut MasterOptions| options.games.reject.extend(["Quake3Arena".to_owned()]);
    let mut net = Net::new(reject);
    assert_eq!(net.ask(CLIENT, "getservers Quake3Arena 68"), None);
    assert_eq!(net.ask(CLIENT, "getservers 68"), None);
    assert_eq!(net.ask(CLIENT, "getservers 84"), Some(vec![]));
}

#[test]
fn extended_request_selects_address_families() {
    let (v4, v6) = ("192.0.2.7:1", "[2001:db8::7]:1");
    check("getserversExt 4TheFun 5", Some(&[v4, v6]));
    check("getserversExt 4TheFun 5 ipv4 ipv6", Some(&[v4, v6]));
    check("getserversExt 4TheFun 5 ipv6", Some(&[v6]));
    check("getserversExt 4TheFun 5 ipv4", Some(&[v4]));
    check("getservers 4TheFun 5 ipv6", Some(&[v4]));
}

#[test]
fn empty_answer_has_29_bytes() {
    let sent = Net::new(|_| ()).say(CLIENT, "getservers 68");
    assert_eq!(sent[0].1, packet("getserversResponse\\EOT\0\0\0"));
}

#[test]
fn walk_starts_anywhere_and_end_mark_addresses_come_last() {
    let mut net = Net::new(|options| {
        options.flood_protection = 0;
        options.max_servers_per_address = 0;
    });
    for port in 1..=300 {
        assert!(net.register(&format!("192.0.2.1:{port}"), "QuakeArena-1", Q3));
    }
    assert!(net.register("69.79.84.1:5", "QuakeArena-1", Q3));
    let mut firsts = std::collections::BTreeSet::new();
    for _ in 0..50 {
        let sent = net.say(CLIENT, "getservers 68");
        assert_eq!(sent.len(), 2);
        assert_eq!(sent[0].1.len(), 22 + 195 * 7 + 1, "195 records and a backslash");
        firsts.insert(sent[0].1[27..29].to_vec());
        let end = &sent[1].1[sent[1].1.len() - 14..];
        assert_eq!(end, b"\\EOT\x01\0\x05\\EOT\0\0\0");
    }
    assert!(firsts.len() > 30, "{} different starts", firsts.len());
}

#[test]
fn flood_protection_ignores_the_nth_request() {
    let mut net = Net::new(|options| options.flood_protection = 4);
    for client in 0..3 {
        let from = format!("198.51.100.9:{}", 1000 + client);
        assert!(net.ask(&from, "getservers 68").is_some());
    }
    assert_eq!(net.ask(CLIENT, "getservers 68"), None);
    assert!(net.ask("198.51.100.10:1", "getservers 68").is_some());
    net.pass(3000);
    assert!(net.ask(CLIENT, "getservers 68").is_some());
    assert_eq!(net.ask(CLIENT, "getservers 68"), None);
    let mut off = Net::new(|options| options.flood_protection = 0);
    assert!((0..1000).all(|_| off.ask(CLIENT, "getservers 68").is_some()));
}
