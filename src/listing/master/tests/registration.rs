//! Registration: heartbeats, responses, limits, life, state file.

use super::*;

const DP: &str = "\\gamename\\Game\\protocol\\5\\clients\\2\\sv_maxclients\\8";

#[test]
fn known_and_declared_heartbeats_are_challenged() {
    let declared = vec![("Warsow".to_owned(), "Warsow-1".to_owned())];
    let mut net = Net::new(|options| options.games.declared = declared);
    for word in ["QuakeArena-1", "DarkPlaces", "Wolfenstein-1", "EnemyTerritory-1", "Warsow-1"] {
        assert!(net.beat("192.0.2.1:27960", word).is_some(), "{word}");
    }
    for word in ["Warsow", "ETFlatline-1", "WolfFlatline-1", "quakearena-1", "x", ""] {
        assert_eq!(net.beat("192.0.2.1:27960", word), None, "{word}");
    }
    assert_eq!(net.say("192.0.2.1:27960", "HEARTBEAT DarkPlaces\n"), []);
    assert_eq!(net.say("192.0.2.1:27960", &format!("heartbeat {}\n", "x".repeat(64))), []);
}

#[test]
fn response_without_required_values_is_refused() {
    let cases = [
        ("\\protocol\\68\\clients\\0\\sv_maxclients\\8", true),
        ("\\protocol\\-1\\clients\\0\\sv_maxclients\\8", true),
        ("\\protocol\\0\\clients\\0\\sv_maxclients\\8", true),
        ("\\protocol\\0x44\\clients\\0\\sv_maxclients\\8", true),
        ("\\protocol\\68x\\clients\\0\\sv_maxclients\\8", false),
        ("\\protocol\\\\clients\\0\\sv_maxclients\\8", false),
        ("\\clients\\0\\sv_maxclients\\8", false),
        ("\\protocol\\68\\sv_maxclients\\8", false),
        ("\\protocol\\68\\clients\\0", false),
        ("\\protocol\\68\\clients\\0\\sv_maxclients\\0", false),
        ("\\protocol\\68\\clients\\0\\sv_maxclients\\8\\gametype\\a b", false),
        ("\\protocol\\68\\clients\\0\\sv_maxclients\\8\\gamename\\Quake3Arena", true),
        ("\\protocol\\68\\clients\\0\\sv_maxclients\\8\\gamename\\quake3arena", false),
        ("\\protocol\\68\\clients\\0\\sv_maxclients\\8\\gamename\\", false),
        ("\\PROTOCOL\\68\\clients\\0\\sv_maxclients\\8", false),
        ("", false),
    ];
    for (info, listed) in cases {
        let mut net = Net::new(|_| ());
        assert_eq!(net.register("192.0.2.1:27960", "QuakeArena-1", info), listed, "{info}");
        assert_eq!(net.listed("192.0.2.1:27960"), listed, "{info}");
    }
}

#[test]
fn game_name_follows_heartbeat_and_rules() {
    let declared = vec![("Warsow".to_owned(), "Warsow-1".to_owned())];
    for (word, name, listed) in [
        ("DarkPlaces", Some("Game"), true),
        ("DarkPlaces", Some("4TheFun"), true),
        ("DarkPlaces", Some("My Game"), false),
        ("DarkPlaces", None, false),
        ("Warsow-1", None, true),
        ("Warsow-1", Some("Warsow"), true),
        ("Warsow-1", Some("SomethingElse"), false),
    ] {
        let mut net = Net::new(|options| options.games.declared.clone_from(&declared));
        let name_pair = name.map(|name| format!("\\gamename\\{name}")).unwrap_or_default();
        let info = format!("\\protocol\\5\\clients\\2\\sv_maxclients\\8{name_pair}");
        assert_eq!(net.register("192.0.2.1:1", word, &info), listed, "{word} {name:?}");
    }
}

#[test]
fn descriptions_keep_printable_characters_only() {
    let mut net = Net::new(|_| ());
    let info = "\\protocol\\68\\clients\\2\\sv_maxclients\\8\\hostname\\a\x1bb\\mapname\\\x1b[31mq3\\game\\\x01m\x7f";
    assert!(net.register("192.0.2.1:1", "QuakeArena-1", info));
    let server = net.master.registry.find(address("192.0.2.1:1")).expect("it is listed");
    let shown = &net.master.registry.get(server).expect("a server").description;
    assert_eq!((&*shown.name, &*shown.map, &*shown.modification), ("ab", "[31mq3", "m"));
}

#[test]
fn keys_and_values_of_256_bytes_are_refused() {
    for (len, listed) in [(255, true), (256, false), (312, false)] {
        let long = "x".repeat(len);
        let (key, value) = (format!("{DP}\\{long}\\1"), format!("{DP}\\other\\{long}"));
        let mut net = Net::new(|_| ());
        assert_eq!(net.register("192.0.2.1:1", "DarkPlaces", &key), listed, "key of {len}");
        assert_eq!(net.register("192.0.2.1:2", "DarkPlaces", &value), listed, "value of {len}");
    }
}

#[test]
fn policy_decides_by_name() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let mut net = Net::new(|options| options.games.accept = names(&["Game"]));
    assert!(net.register("192.0.2.1:1", "DarkPlaces", DP));
    assert!(!net.register("192.0.2.1:2", "QuakeArena-1", Q3));
    let mut net = Net::new(|options| options.games.reject = names(&["Game"]));
    assert!(!net.register("192.0.2.1:1", "DarkPlaces", DP));
    assert!(net.register("192.0.2.1:2", "QuakeArena-1", Q3));
}

#[test]
fn loopback_needs_permission_or_mapping() {
    for server in ["127.0.0.1:5", "[::1]:5"] {
        assert_eq!(Net::new(|_| ()).beat(server, "DarkPlaces"), None, "{server}");
        let mut allowed = Net::new(|options| options.allow_loopback = true);
        assert!(allowed.register(server, "DarkPlaces", DP), "{server}");
    }
    let mapping = "127.0.0.1=203.0.113.7".parse().unwrap();
    let mut net = Net::new(|options| options.mappings = vec![mapping]);
    assert!(net.register("127.0.0.1:5", "DarkPlaces", DP));
    assert_eq!(net.ask(CLIENT, "getservers Game 5"), Some(vec!["203.0.113.7:5".to_owned()]));
    assert_eq!(net.beat("[::1]:5", "DarkPlaces"), None);
}

#[test]
fn networks_allow_and_deny() {
    let networks = |text: &str| crate::cvar::Networks::parse(text).unwrap();
    let mut net = Net::new(|options| options.deny = networks("192.0.2.0/24"));
    assert_eq!(net.beat("192.0.2.1:5", "DarkPlaces"), None);
    assert_eq!(net.ask("192.0.2.1:5", "getservers Game 5"), None);
    assert!(net.register("203.0.113.1:5", "DarkPlaces", DP));
    let mut net = Net::new(|options| options.allow = Some(networks("192.0.2.0/24")));
    assert!(net.register("192.0.2.1:5", "DarkPlaces", DP));
    assert_eq!(net.beat("203.0.113.1:5", "DarkPlaces"), None);
    assert!(net.ask("203.0.113.1:5", "getservers Game 5").is_some(), "clients come from anywhere");
}

#[test]
fn places_are_reserved_by_earlier_heartbeats() {
    let mut net = Net::new(|options| options.max_servers = 2);
    assert!(net.beat("192.0.2.1:5", "DarkPlaces").is_some());
    assert!(net.beat("192.0.2.2:5", "DarkPlaces").is_some());
    assert_eq!(net.beat("192.0.2.3:5", "DarkPlaces"), None, "both places are reserved");
    assert!(net.beat("192.0.2.1:5", "DarkPlaces").is_some(), "its own place is no obstacle");
    assert!(net.register("192.0.2.1:5", "DarkPlaces", DP));
    let late: Vec<_> = net.pass(2500).into_iter().map(|(to, _)| to).collect();
    assert_eq!(
        late,
        [address("192.0.2.3:5")],
        "the second did not answer, so the third has its turn"
    );
    assert!(net.register("192.0.2.3:5", "DarkPlaces", DP));
    assert_eq!(net.beat("192.0.2.4:5", "DarkPlaces"), None, "the list is full");
    assert_eq!(net.pass(5000), [], "and stays so");
}

#[test]
fn servers_per_address_are_limited() {
    for host in ["192.0.2.1", "[2001:db8::1]"] {
        let mut net = Net::new(|options| options.max_servers_per_address = 2);
        assert!(net.register(&format!("{host}:1"), "DarkPlaces", DP));
        assert!(net.beat(&format!("{host}:2"), "DarkPlaces").is_some());
        assert_eq!(net.beat(&format!("{host}:3"), "DarkPlaces"), None);
        assert!(net.register(&format!("{host}:2"), "DarkPlaces", DP));
        assert_eq!(net.beat(&format!("{host}:3"), "DarkPlaces"), None);
        assert!(net.register(&format!("{host}:1"), "DarkPlaces", DP), "a listed one goes on");
    }
    let mut net = Net::new(|options| options.max_servers_per_address = 1);
    assert!(net.register("[2001:db8::1]:1", "DarkPlaces", DP));
    assert_eq!(net.beat("[2001:db8::ffff]:1", "DarkPlaces"), None, "one /64 is one address");
    assert!(net.register("[2001:db8:0:1::1]:1", "DarkPlaces", DP));
}

#[test]
fn server_is_listed_for_900_seconds() {
    let mut net = Net::new(|_| ());
    assert!(net.register("192.0.2.1:27960", "QuakeArena-1", Q3));
    net.pass(899_000);
    let all = "getservers 68 empty full";
    assert_eq!(net.ask(CLIENT, all).map(|list| list.len()), Some(1));
    assert!(net.beat("192.0.2.1:27960", "QuakeArena-1").is_some());
    net.pass(1000);
    assert_eq!(
        net.ask(CLIENT, all).map(|list| list.len()),
        Some(0),
        "a heartbeat prolongs nothing"
    );
    net.pass(1000);
    assert!(!net.listed("192.0.2.1:27960"));
    assert!(net.register("192.0.2.1:27960", "QuakeArena-1", Q3));
    net.pass(600_000);
    assert!(net.register("192.0.2.1:27960", "QuakeArena-1", Q3));
    net.pass(899_000);
    assert_eq!(net.ask(CLIENT, all).map(|list| list.len()), Some(1), "a response does");
}

#[test]
fn enemy_territory_servers_are_probed_every_four_minutes() {
    let mut net = Net::new(|_| ());
    let info = "\\protocol\\84\\clients\\0\\sv_maxclients\\10\\gamename\\et";
    assert!(net.register("192.0.2.1:27960", "EnemyTerritory-1", info));
    assert!(net.register("192.0.2.2:27960", "QuakeArena-1", Q3));
    assert_eq!(net.pass(239_000), []);
    let probes = net.pass(2000);
    let [challenge, status, getinfo] = probes.as_slice() else { panic!("{probes:?}") };
    assert_eq!(challenge.1, packet("getchallenge"));
    assert_eq!(status.1, packet("getstatus"));
    assert!(getinfo.1.starts_with(b"\xff\xff\xff\xffgetinfo "));
    assert!(probes.iter().all(|(to, _)| *to == address("192.0.2.1:27960")));
    let token = String::from_utf8(getinfo.1[12..].to_vec()).unwrap();
    assert_eq!(net.say("192.0.2.1:27960", "challengeResponse 12345"), []);
    assert_eq!(net.say("192.0.2.1:27960", "statusResponse\n\\a\\b\n"), []);
    net.say("192.0.2.1:27960", &format!("infoResponse\n\\challenge\\{token}{info}"));
    assert_eq!(net.say("192.0.2.1:27960", "gameCompleteStatus\n\\a\\b\n"), []);
    assert_eq!(net.master.counter(MasterCounter::GamesCompleted), 1);
    assert_eq!(net.pass(898_000).len(), 9, "three more probes in the prolonged life");
    assert!(net.listed("192.0.2.1:27960"));
    net.pass(5000);
    assert!(!net.listed("192.0.2.1:27960"), "without answers it ends");
}

#[test]
fn list_survives_a_restart() {
    let mut net = Net::new(|_| ());
    let et = "\\protocol\\84\\clients\\0\\sv_maxclients\\10\\gamename\\et\\hostname\\a\"b";
    assert!(net.register("192.0.2.1:1", "EnemyTerritory-1", et));
    assert!(net.register("[2001:db8::1]:2", "DarkPlaces", DP));
    net.pass(300_000);
    assert!(net.register("192.0.2.2:3", "QuakeArena-1", Q3));
    let saved = crate::model::UnixMillis(1_700_000_000_000);
    let text = net.master.state_text(Millis(net.now), saved);
    let restart = |pass: u64, change: fn(&mut MasterOptions)| {
        let mut net = Net::new(change);
        let later = crate::model::UnixMillis(saved.0 + pass);
        let listed = net.master.restore(Millis(net.now), later, &text).unwrap();
        assert_eq!(listed, net.master.servers());
        net
    };
    let same = restart(0, |_| ());
    let rows = |net: &Net| {
        let mut rows: Vec<_> = net.master.rows(Millis(net.now)).collect();
        rows.sort_by_key(|row| row.address);
        rows
    };
    assert_eq!(rows(&same), rows(&net));
    assert_eq!(restart(601_000, |_| ()).master.servers(), 1, "time goes on while it is down");
    assert_eq!(restart(0, |options| options.max_servers = 2).master.servers(), 2);
    let reject = |options: &mut MasterOptions| options.games.reject.extend(["et".to_owned()]);
    assert_eq!(restart(0, reject).master.servers(), 2);
    let mut probed = restart(0, |_| ());
    assert_eq!(probed.pass(241_000).len(), 3);
}

#[test]
fn damaged_state_names_its_line() {
    let mut net = Net::new(|_| ());
    assert!(net.register("192.0.2.1:1", "QuakeArena-1", Q3));
    let saved = crate::model::UnixMillis(5);
    let text = net.master.state_text(Millis(net.now), saved);
    let mut fresh = Net::new(|_| ());
    let mut error =
        |text: &str| fresh.master.restore(Millis(0), saved, text).unwrap_err().to_string();
    assert!(error("").starts_with("line 1: no header"));
    assert!(error("{\"format\":\"x\",\"saved_unix_ms\":1}").contains("expected fragd-master-1"));
    let cut = &text[..text.len() - 10];
    assert!(error(cut).starts_with("line 2: "), "{}", error(cut));
    assert_eq!(fresh.master.servers(), 0);
}
