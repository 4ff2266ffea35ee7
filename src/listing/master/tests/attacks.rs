//! Attacks on a master: forged heartbeats, reply loops, amplification, injected names.

use super::*;

#[test]
fn c28_infos_without_our_challenge_list_nothing() {
    let mut net = Net::new(|_| ());
    let challenge = net.beat("192.0.2.1:1", "QuakeArena-1").unwrap();
    for (from, challenge) in [
        ("192.0.2.1:1", "xxx"),
        ("192.0.2.1:1", ""),
        ("192.0.2.1:2", challenge.as_str()),
        ("192.0.2.2:1", challenge.as_str()),
    ] {
        net.say(from, &format!("infoResponse\n{Q3}\\challenge\\{challenge}"));
    }
    net.say("192.0.2.1:1", &format!("infoResponse\n{Q3}"));
    assert_eq!(net.master.servers(), 0);
    net.pass(2500);
    net.say("192.0.2.1:1", &format!("infoResponse\n{Q3}\\challenge\\{challenge}"));
    assert_eq!(net.master.servers(), 0, "late");
}

#[test]
fn c28_forged_heartbeats_take_no_place_and_no_memory() {
    let mut net = Net::new(|options| options.max_servers = 100);
    let beat = packet("heartbeat QuakeArena-1\n");
    let mut reflected = 0;
    for number in 0..200_000u32 {
        let from =
            SocketAddr::from(((number.wrapping_mul(2_654_435_761) | 1 << 24).to_be_bytes(), 5));
        let route = Route::new(LocalPort(0), from);
        net.master.handle_datagram(Millis(net.now + u64::from(number / 100)), route, &beat);
        reflected += net.drain().iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    }
    assert!(reflected <= 200_000 * beat.len(), "no amplification");
    net.now += 2000;
    assert!(net.register("192.0.2.1:1", "QuakeArena-1", Q3), "an honest server is listed");
    assert_eq!(net.master.servers(), 1);
}

#[test]
fn c28_reservations_of_a_forged_address_delay_its_servers_only() {
    let mut net = Net::new(|_| ());
    // 40 heartbeats with the source of one host reserve all of its 32 places.
    for port in 1..=40 {
        net.say(&format!("192.0.2.1:{port}"), "heartbeat QuakeArena-1\n");
    }
    assert_eq!(net.beat("192.0.2.1:27960", "QuakeArena-1"), None);
    let late = net.pass(2500);
    let own = late.iter().find(|(to, _)| *to == address("192.0.2.1:27960"));
    let text = String::from_utf8(own.expect("deferred, not refused").1[12..].to_vec()).unwrap();
    net.say("192.0.2.1:27960", &format!("infoResponse\n{Q3}\\challenge\\{text}"));
    assert!(net.listed("192.0.2.1:27960"));
}

#[test]
fn c28_victim_of_forged_heartbeats_gets_few_challenges() {
    let mut net = Net::new(|_| ());
    let sent: usize = (1..=10_000)
        .map(|port| net.say(&format!("192.0.2.1:{port}"), "heartbeat QuakeArena-1\n").len())
        .sum();
    assert!(sent <= 64, "{sent} challenges in one second");
}

#[test]
fn c25_replies_and_queries_are_never_answered() {
    let mut net = Net::new(|options| options.allow_loopback = true);
    for text in [
        "getinfo xxx",
        "getstatus",
        "getchallenge",
        "statusResponse\n\\a\\b\n",
        "challengeResponse 5",
        "getserversResponse\\EOT\0\0\0",
        "getserversExtResponse\\EOT\0\0\0",
        "print\nx\n",
        "echo x",
        "disconnect",
        "motd \"\\motd\\x\"",
        "updateResponse 0",
        "ipAuthorize 5 accept",
        "gameCompleteStatus\n\\a\\b\n",
        "rcon x quit",
        "l\n",
        "d\n",
    ] {
        for from in ["192.0.2.1:27960", "127.0.0.1:27950"] {
            assert_eq!(net.say(from, text), [], "{text}");
        }
    }
    assert_eq!(net.send("192.0.2.1:1", b"l"), []);
    assert_eq!(net.send("192.0.2.1:1", b"\xff\xffservers\0"), []);
    assert_eq!(net.send("192.0.2.1:1", b""), []);
}

#[test]
fn list_answers_to_unproven_addresses_keep_the_budget() {
    let mut net = Net::new(|options| {
        options.max_servers_per_address = 0;
        options.answer_bytes_per_second = 10_000;
    });
    for port in 1..=150 {
        assert!(net.register(&format!("192.0.2.1:{port}"), "QuakeArena-1", Q3));
    }
    let mut sent = 0;
    for second in 0..10 {
        for client in 0..200u32 {
            let from = SocketAddr::from(((0xcb00_7100 + second * 256 + client).to_be_bytes(), 9));
            sent += net
                .say(&from.to_string(), "getservers 68")
                .iter()
                .map(|one| one.1.len())
                .sum::<usize>();
        }
        net.pass(1000);
    }
    assert!((90_000..130_000).contains(&sent), "ten seconds and a burst of two: {sent}");
    assert!(net.ask("192.0.2.1:9", "getservers 68").is_some(), "a listed host is proven");
}

#[test]
fn c29_names_and_game_types_cannot_be_injected() {
    let mut net = Net::new(|options| options.flood_protection = 0);
    assert!(net.register("192.0.2.1:1", "QuakeArena-1", Q3));
    for request in [
        "getservers 68 gametype=\\x",
        "getservers 68 gametype=a;b",
        "getservers \"a b\" 68",
        "getservers a\\b 68",
    ] {
        assert_eq!(net.ask(CLIENT, request), None, "{request}");
    }
    assert_eq!(net.ask(CLIENT, "getservers 68 gametype="), None);
}

#[test]
fn datagrams_of_any_bytes_are_survived() {
    let mut net = Net::new(|options| options.allow_loopback = true);
    let mut state = 12_345u64;
    let starts: [&[u8]; 8] = [
        b"\xff\xff\xff\xffheartbeat ",
        b"\xff\xff\xff\xffinfoResponse\n",
        b"\xff\xff\xff\xffgetservers ",
        b"\xff\xff\xff\xffgetIpAuthorize ",
        b"\xff\xffinfoResponse\0",
        b"\xff\xffgetServers\0",
        b"a\n",
        b"",
    ];
    for round in 0..20_000usize {
        let mut bytes = starts[round % starts.len()].to_vec();
        for _ in 0..round % 90 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            bytes.push((state >> 56) as u8);
        }
        net.send("192.0.2.1:7", &bytes);
    }
    net.send("192.0.2.1:7", &[0xff; 65_000]);
    assert_eq!(net.master.servers(), 0);
}
