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

/// Lists servers of many hosts: `hosts` times 32.
fn fill(net: &mut Net, hosts: u8) {
    for host in 1..=hosts {
        for port in 1..=32 {
            assert!(net.register(&format!("192.0.2.{host}:{port}"), "QuakeArena-1", Q3));
        }
        net.pass(1000);
    }
}

/// Sends `per_second` list requests for `seconds`, and asks as a client every 3.2 seconds. Returns its answers.
fn list_flood(net: &mut Net, seconds: u32, source: impl Fn(u32) -> SocketAddr) -> Vec<bool> {
    let mut answers = Vec::new();
    let route = |from| Route::new(LocalPort(0), from);
    let request = packet("getservers 68 empty full");
    for number in 0..seconds * 300 {
        let now = Millis(net.now + u64::from(number) * 10 / 3);
        net.master.handle_datagram(now, route(source(number)), &request);
        net.drain();
        if number % 960 == 959 {
            net.master.handle_datagram(now, route(address("203.0.113.7:5")), &request);
            answers.push(!net.drain().is_empty());
        }
    }
    answers
}

#[test]
fn c38_list_is_answered_with_one_retry_in_flood() {
    let mut net = Net::new(|_| ());
    fill(&mut net, 64);
    let answers = list_flood(&mut net, 30, |number| {
        SocketAddr::from(((number.wrapping_mul(2_654_435_761) | 1 << 24).to_be_bytes(), 5))
    });
    assert!(answers.len() == 9 && answers[1..].iter().all(|one| *one), "{answers:?}");
    assert!(net.master.counter(MasterCounter::AnswersOverBudget) > 3000);
}

#[test]
fn c39_list_is_answered_beside_forged_ports_of_its_address() {
    let mut net = Net::new(|_| ());
    assert!(net.register("192.0.2.1:1", "QuakeArena-1", Q3));
    let answers = list_flood(&mut net, 30, |number| {
        SocketAddr::from(([203, 0, 113, 7], 1024 + (number.wrapping_mul(7919) % 60_000) as u16))
    });
    assert!(answers[1..].iter().all(|one| *one), "{answers:?}");
    assert!(net.master.counter(MasterCounter::ListsAnswered) < 70, "few answers for one host");
}

#[test]
fn c39_listed_server_is_challenged_beside_forged_ports() {
    let mut net = Net::new(|_| ());
    assert!(net.register("192.0.2.1:27960", "QuakeArena-1", Q3));
    for minute in 0..4u32 {
        for number in 0..2000u32 {
            let port = 1024 + (number * 7 + minute) % 20_000;
            net.say(&format!("192.0.2.1:{port}"), "heartbeat QuakeArena-1\n");
            net.now += 3;
        }
        assert!(net.register("192.0.2.1:27960", "QuakeArena-1", Q3), "in minute {minute}");
    }
    // A forger that names the port, too, delays nothing: the server answers what it is sent.
    let sent: usize =
        (0..1000).map(|_| net.say("192.0.2.1:27960", "heartbeat QuakeArena-1\n").len()).sum();
    assert!((1..=65).contains(&sent), "{sent} challenges in one second");
}

#[test]
fn school_of_one_ipv6_network_gets_lists() {
    let mut net = Net::new(|_| ());
    fill(&mut net, 16);
    for pupil in 0..32 {
        for _ in 0..3 {
            let from = format!("[2001:db8:5:{pupil:x}::1]:27960");
            assert!(!net.say(&from, "getserversExt Quake3Arena 68 empty full").is_empty());
        }
        net.now += 100;
    }
}

#[test]
fn c40_ipv6_line_leaves_the_list_to_others() {
    let mut net = Net::new(|options| options.max_servers = 1024);
    let mut listed = 0;
    for subnet in 0..128 {
        for port in 1..=32 {
            let from = format!("[2001:db8:5:{subnet:x}::1]:{port}");
            listed += u32::from(net.register(&from, "QuakeArena-1", Q3));
        }
        net.pass(2500);
    }
    assert_eq!(listed, 64);
    assert!(net.register("192.0.2.1:27960", "QuakeArena-1", Q3));
    let text = net.master.state_text(Millis(net.now), crate::model::UnixMillis(0));
    let mut restored = Net::new(|options| options.max_servers_per_address = 8);
    let count = restored.master.restore(Millis(net.now), crate::model::UnixMillis(0), &text);
    assert_eq!(count, Ok(17), "16 of the line, by the limits in force");
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
