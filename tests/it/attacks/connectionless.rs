//! Attacks by connectionless packets: floods, reflection, forged sources, rcon guessing.

use std::net::SocketAddr;

use fragd::{
    model::Millis,
    node::{LocalPort, Node as _},
    observe::Counter,
    settings::key,
    sim::Network,
    wire::{connect::write_connect, info::InfoString},
};

use super::{
    AttackFixture, SEED, anyone, oob,
    raw_client::{RawClient, challenge, connect},
};
use crate::sim_fixture::SERVER;

fn far(host: u8) -> SocketAddr {
    ([198, 51, 100, host], 27_960).into()
}

/// Sends requests at a rate per millisecond for ten seconds. Returns responses and their bytes.
fn flood(
    fixture: &mut AttackFixture,
    text: &str,
    per_ms: u32,
    ms: u32,
    from: impl Fn(u32) -> SocketAddr,
) -> (usize, usize) {
    let (mut answers, mut bytes) = (0, 0);
    for i in 0..ms * per_ms {
        for reply in fixture.send(from(i), &oob(text)) {
            answers += 1;
            bytes += reply.len();
        }
        if (i + 1).is_multiple_of(per_ms * 10) {
            fixture.run_for(10);
        }
    }
    (answers, bytes)
}

#[test]
fn c1_c2_forged_source_gets_burst_then_one_response_per_second() {
    for text in ["getstatus", "getinfo xxx"] {
        for mut fixture in AttackFixture::each(&[]) {
            let (answers, bytes) = flood(&mut fixture, text, 1, 10_000, |_| far(1));
            assert!((19..=20).contains(&answers), "{text}: {answers} answers");
            assert!(bytes < 20 * 1400, "{text}: {bytes} bytes");
            assert_eq!(fixture.count(Counter::QueriesLimited) as usize, 10_000 - answers);
            fixture.check();
        }
    }
}

#[test]
fn c3_distributed_query_flood_leaves_players_responses() {
    for mut fixture in AttackFixture::each(&[]) {
        for second in 0..10 {
            flood(&mut fixture, "getinfo", 2, 1000, |i| anyone(second * 2000 + i));
            // Asked by the player's other program, at the height of the flood.
            let (SocketAddr::V4(mut browser), port) = (fixture.address_of(0), 40_000) else {
                panic!()
            };
            browser.set_port(port);
            let info = fixture.ask(browser.into(), "getinfo");
            assert_eq!(info.len(), 1, "second {second}");
        }
        fixture.check();
    }
}

#[test]
fn c4_many_forged_sources_cost_no_frames_or_responses() {
    for mut fixture in AttackFixture::each(&[]) {
        let (answers, _) = flood(&mut fixture, "getinfo", 50, 2000, anyone);
        // The budget over all: a hundred at once and a hundred a second.
        assert!((100..=302).contains(&answers), "{answers} answers");
        fixture.check();
    }
}

#[test]
fn c5_tracker_with_two_queries_per_interval_is_always_answered() {
    for mut fixture in AttackFixture::each(&[]) {
        for round in 0..60 {
            for _ in 0..2 {
                assert_eq!(fixture.ask(far(7), "getstatus").len(), 1, "round {round}");
            }
            fixture.run_for(10_000);
        }
        fixture.check();
    }
}

#[test]
fn c5_twenty_browsers_per_second_are_all_answered() {
    for mut fixture in AttackFixture::each(&[]) {
        for browser in 0..20 * 30 {
            // As a browser asks: the list first, and then the players of each server.
            for text in ["getinfo xxx", "getstatus"] {
                assert_eq!(fixture.ask(anyone(browser), text).len(), 1, "browser {browser}");
            }
            fixture.run_for(50);
        }
        fixture.check();
    }
}

#[test]
fn c1_c2_total_responses_keep_configured_rate() {
    let mut fixture = AttackFixture::new(&[("sv_queryGlobalRate", "5000")]);
    let (_, bytes) = flood(&mut fixture, "getstatus", 1, 20_000, anyone);
    // Three seconds' worth at once, twenty seconds' worth since, and one answer.
    assert!((100_000..=23 * 5000 + 1400).contains(&bytes), "{bytes} bytes");
    fixture.check();
}

#[test]
fn c6_challenge_flood_keeps_clients_joining() {
    for mut fixture in AttackFixture::each(&[]) {
        let honest = challenge(&mut fixture, far(1));
        flood(&mut fixture, "getchallenge", 40, 2000, anyone);
        let replies = connect(&mut fixture, far(1), 7, honest, &[("name", "late")]);
        assert_eq!(replies, [format!("connectResponse {}", honest.0)]);
        assert!(fixture.count(Counter::ChallengesLimited) > 40_000);
        fixture.check();
    }
}

#[test]
fn c7_challenges_do_not_predict_the_next_one() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut seen = std::collections::HashSet::new();
        let mut ones = [0u32; 31];
        let mut before = 0;
        for i in 0..2000u32 {
            let made = challenge(&mut fixture, anyone(i)).0;
            assert!(made > 0 && seen.insert(made), "{made} came twice");
            assert!(made.abs_diff(before) > 16, "{made} follows {before}");
            before = made;
            ones.iter_mut().enumerate().for_each(|(bit, ones)| *ones += made as u32 >> bit & 1);
            fixture.run_for(u64::from(i % 10 == 0) * 10);
        }
        assert!(ones.iter().all(|ones| (850..1150).contains(ones)), "{ones:?}");
        fixture.check();
    }
}

#[test]
fn c8_m37_connect_without_challenge_opens_no_slot() {
    for mut fixture in AttackFixture::each(&[]) {
        let (mut told, mut bytes_in, mut bytes_out) = (0, 0, 0);
        let mut request = Vec::new();
        let info = InfoString::parse("\\protocol\\68\\qport\\1\\challenge\\1");
        write_connect(&info, &mut request).unwrap();
        for i in 0..20_000 {
            bytes_in += request.len();
            for reply in fixture.send(far(1), &request) {
                told += 1;
                bytes_out += reply.len();
            }
            if i % 40 == 39 {
                fixture.run_for(10);
            }
        }
        // Five seconds: three at once, and one a second.
        assert!((3..=8).contains(&told), "{told}");
        assert!(bytes_out * 1000 < bytes_in, "{bytes_out} of {bytes_in}");
        assert_eq!(fixture.clients(), 3);
        // From everywhere: twenty at once and twenty a second.
        let mut told = 0;
        for i in 0..20_000 {
            told += fixture.send(anyone(i), &request).len();
            if i % 40 == 39 {
                fixture.run_for(10);
            }
        }
        assert!(told <= 20 + 5 * 20 + 1, "{told}");
        fixture.check();
    }
}

#[test]
fn c9_silent_clients_are_few_and_time_out_early() {
    for mut fixture in AttackFixture::each(&[("sv_maxclientsPerIP", "3")]) {
        let mut let_in = 0;
        for qport in 0..64 {
            let port = 1000 + qport;
            let from = SocketAddr::from(([198, 51, 100, 1], port));
            let_in += u32::from(RawClient::knock(&mut fixture, from, qport).is_ok());
            fixture.run_for(20);
        }
        assert_eq!(let_in, 3);
        fixture.run_for(6000);
        let info = fixture.ask(far(9), "getinfo").concat();
        assert!(info.contains("\\clients\\3\\"), "only the players are left: {info}");
        // Each that said nothing makes the address wait for longer.
        let mut let_in = 0;
        for round in 0..120 {
            let from = SocketAddr::from(([198, 51, 100, 1], 2000 + round));
            let_in += u32::from(RawClient::knock(&mut fixture, from, 100 + round).is_ok());
            fixture.run_for(1000);
        }
        assert!(let_in <= 12, "{let_in} in two minutes");
        // Another address of the same network is not limited.
        assert!(RawClient::knock(&mut fixture, far(2), 5).is_ok());
        fixture.check();
    }
}

#[test]
fn c10_active_fake_clients_are_limited_by_address_and_network() {
    // A relay has no limit of IPv4 networks.
    let mut fixture =
        AttackFixture::new(&[("sv_maxclientsPerIP", "3"), ("sv_maxclientsPerSubnet", "5")]);
    let mut let_in = Vec::new();
    for host in 1..=6 {
        for port in 0..6 {
            let from = SocketAddr::from(([198, 51, 100, host], 1000 + port));
            match RawClient::knock(&mut fixture, from, u16::from(host) * 100 + port) {
                Ok(mut attacker) => {
                    attacker.enter(&mut fixture);
                    let_in.push(host);
                }
                Err(text) => assert!(text.contains("Too many connections.") || text.is_empty()),
            }
        }
    }
    assert_eq!(let_in, [1, 1, 1, 2, 2]);
    // Another network is not full.
    let other = ([198, 51, 101, 1], 1000).into();
    assert!(RawClient::knock(&mut fixture, other, 9).is_ok());
    fixture.check();
}

#[test]
fn c11_n11_client_behind_same_address_takes_no_slot() {
    for mut fixture in AttackFixture::each(&[]) {
        for victim in 0..3 {
            let mut from = fixture.address_of(victim);
            from.set_port(40_000 + victim as u16);
            let qport = fixture.qport_of(victim).0;
            let mut attacker = RawClient::knock(&mut fixture, from, qport).expect("let in");
            attacker.idle(&mut fixture);
            assert_eq!(attacker.qport, fixture.qport_of(victim));
        }
        let info = fixture.ask(far(9), "getinfo").concat();
        assert!(info.contains("\\clients\\6\\"), "each has a slot of its own: {info}");
        fixture.run_for(2000);
        fixture.check();
    }
}

#[test]
fn c13_c14_c30_malformed_connects_and_short_packets_are_dropped() {
    for mut fixture in AttackFixture::each(&[]) {
        let bomb = |len: u16, body: &[u8]| {
            [b"\xff\xff\xff\xffconnect ".as_slice(), &len.to_be_bytes(), body].concat()
        };
        let mut packets: Vec<Vec<u8>> = (0..=5).map(|len| vec![0xff; len]).collect();
        packets.extend([
            vec![0xff; 64],
            oob(vec![0xff; 1000]),
            oob("connect"),
            oob("connect "),
            oob(["connect ", &"A".repeat(2000)].concat()),
            oob("connectResponse 1"),
            oob("connectx \"\\name\\x\""),
            bomb(65_535, &[]),
            bomb(65_535, &[0xff; 40]),
            bomb(65_535, &[0x55; 1300]),
            bomb(1024, &[0; 3]),
            bomb(0, &[0; 3]),
        ]);
        for _ in 0..50 {
            for (i, packet) in packets.iter().enumerate() {
                let from = SocketAddr::from(([198, 51, 100, i as u8], 999));
                let replies = fixture.send(from, packet);
                assert!(replies.iter().all(|reply| reply.len() < 120), "packet {i}");
            }
            fixture.run_for(20);
        }
        assert_eq!(fixture.clients(), 3);
        assert!(fixture.count(Counter::MalformedConnectionless) > 400);
        fixture.check();
    }
}

#[test]
fn c15_c16_c17_c18_only_short_harmless_challenge_is_echoed() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut info = |argument: &[u8]| {
            fixture.run_for(1000);
            let replies = fixture.ask(far(1), [b"getinfo ", argument].concat());
            assert!(replies.len() <= 1);
            replies.into_iter().next()
        };
        let plain = info(b"").expect("an answer");
        let keys = |text: &str| {
            let mut keys: Vec<_> = text.split('\\').skip(1).step_by(2).map(str::to_owned).collect();
            keys.sort();
            keys
        };
        assert!(info(&[b'A'; 128]).is_some());
        for len in [129, 500, 1000, 1300] {
            assert_eq!(info(&vec![b'A'; len]), None, "{len}");
        }
        for (sent, echoed) in [
            (&b"a\\hostname\\evil"[..], None),
            (b"a;b", None),
            (b"a\"b", Some("a")),
            (b"%s%n", Some(".s.n")),
            (b"\xfe\xff", Some("..")),
            (b"\"x;quit\"", None),
            (b"x\nquit", Some("x")),
        ] {
            let reply = info(sent).expect("an answer");
            let mut expected = keys(&plain);
            match echoed {
                Some(text) => {
                    assert!(reply.contains(&format!("\\challenge\\{text}\\")), "{reply}");
                    expected.push("challenge".to_owned());
                    expected.sort();
                }
                None => assert!(!reply.contains("challenge"), "{reply}"),
            }
            assert_eq!(keys(&reply), expected, "each key once: {reply}");
            assert!(!reply.contains("evil") && !reply.contains("quit"));
        }
        fixture.run_for(2000);
        fixture.check();
    }
}

const PASSWORD: [(&str, &str); 2] =
    [("rconPassword", "a-long-password"), ("sv_rconAllow", "198.51.100.0/24")];

#[test]
fn c19_c20_c21_rcon_guessing_fails_and_locks_no_admin_out() {
    let mut fixture = AttackFixture::new(&PASSWORD);
    let (answers, bytes) = flood(&mut fixture, "rcon guess status", 1, 10_000, |_| far(1));
    assert!(answers <= 11, "at most one a second: {answers}");
    assert!(bytes < 10_000 * 21 / 40, "{bytes} bytes for 210 000");
    // The guesses came from the admin's address. Once they end, the admin is heard at once.
    fixture.run_for(100);
    let status = fixture.ask(far(1), "rcon a-long-password status").concat();
    assert!(status.contains("map: "), "{status}");
    // From elsewhere even the right one is not answered.
    let elsewhere = ([203, 0, 113, 1], 5).into();
    assert!(fixture.ask(elsewhere, "rcon a-long-password status").is_empty());
    assert_eq!(fixture.count(Counter::RconRefused), 10_001);
    fixture.check();
}

#[test]
fn c22_rcon_password_is_useless_from_other_networks() {
    let mut fixture = AttackFixture::new(&PASSWORD);
    let sniffed = "rcon a-long-password set sv_hostname changed";
    for host in 0..100 {
        let elsewhere = ([203, 0, 113, host], 27_960).into();
        assert!(fixture.ask(elsewhere, sniffed).is_empty());
    }
    assert_eq!(fixture.count(Counter::RconAccepted), 0);
    assert_ne!(fixture.server().settings().text(key::SV_HOSTNAME), "changed");
    // The operator's network is served despite requests from elsewhere.
    assert_eq!(fixture.ask(far(1), sniffed).len(), 1);
    assert_eq!(fixture.server().settings().text(key::SV_HOSTNAME), "changed");
    fixture.check();
}

#[test]
fn c23_rcon_lines_are_bounded() {
    let mut fixture = AttackFixture::new(&PASSWORD);
    let words = "a ".repeat(600);
    for line in [
        format!("echo {}", "A".repeat(1000)),
        format!("echo {words}"),
        words.clone(),
        format!("set x {}", "A".repeat(1000)),
        "\"".repeat(300),
        ";".repeat(1000),
        "vstr a;".repeat(140),
        "set a \"vstr a;vstr a\";vstr a".to_owned(),
    ] {
        let replies = fixture.send(far(1), &oob(format!("rcon a-long-password {line}")));
        let longest = replies.iter().map(Vec::len).max().unwrap_or(0);
        assert!(longest <= 1024 && replies.len() <= 200, "{} of {longest}", replies.len());
        fixture.run_for(1100);
    }
    fixture.check();
}

#[test]
fn c24_network_text_never_runs_as_console_line() {
    let mut fixture = AttackFixture::new(&[("rconPassword", "a-long-password")]);
    let hostname = fixture.server().settings().text(key::SV_HOSTNAME).to_owned();
    for line in ["quit", "map evil", "set sv_hostname evil", "sv_hostname evil", "kick all"] {
        for head in ["getinfo", "getstatus", "getchallenge", "rcon", "rcon x", "echo", "print"] {
            for text in [
                format!("{head} \"x;{line}\""),
                format!("{head} x\n{line}"),
                format!("{head} x;{line}"),
                format!("{head}\n{line}\n"),
                line.to_owned(),
            ] {
                fixture.send(far(1), &oob(text));
            }
        }
        fixture.run_for(100);
    }
    assert!(!fixture.server().is_finished(), "nobody quit");
    assert_eq!(fixture.clients(), 3, "nobody was kicked");
    assert_eq!(fixture.server().settings().text(key::SV_HOSTNAME), hostname);
    assert_eq!(fixture.server().settings().text(key::MAPNAME), "oa_dm1");
    fixture.check();
}

#[test]
fn c25_responses_trigger_no_responses_or_loops() {
    for mut fixture in AttackFixture::each(&[]) {
        for text in [
            "infoResponse\n\\challenge\\x\\hostname\\y",
            "statusResponse\n\\sv_hostname\\x\n0 5 \"a\"\n",
            "print\nhello\n",
            "echo hello",
            "challengeResponse 5",
            "connectResponse 5",
            "getserversResponse\\\x01\x02\x03\x04\x05\x06\\EOT",
        ] {
            assert!(fixture.ask(far(1), text).is_empty(), "{text}");
        }
        // As if the server itself had asked.
        let own = Network::address(SERVER, LocalPort(0));
        for text in ["getinfo x", "getstatus", "getchallenge", "rcon x y", "connect \"\\x\\y\""] {
            let before = fixture.count(Counter::PacketsInConnectionless);
            fixture.sim.network.inject(own, SERVER, &oob(text));
            fixture.run_for(1000);
            let heard = fixture.count(Counter::PacketsInConnectionless) - before;
            assert!(heard <= 2, "{text}: {heard} datagrams: the packet and its answer, no loop");
        }
        fixture.check();
    }
}

#[test]
fn c26_c27_forged_disconnects_and_authorizations_change_nothing() {
    for mut fixture in AttackFixture::each(&[]) {
        for _ in 0..20 {
            for victim in 0..3 {
                let from = fixture.address_of(victim);
                for text in
                    ["disconnect", "disconnect\n", "ipAuthorize 1 accept", "ipAuthorize 1 deny"]
                {
                    assert!(fixture.ask(from, text).is_empty());
                }
            }
            fixture.run_for(100);
        }
        assert_eq!(fixture.clients(), 3);
        fixture.check();
    }
}

#[test]
fn c28_c29_server_lists_are_neither_sent_nor_accepted() {
    for mut fixture in AttackFixture::each(&[]) {
        for text in [
            "heartbeat QuakeArena-1\n",
            "getservers 68 empty full",
            "getservers 68 gametype=\\x",
            "getserversExt \"a b\" 71 ipv6",
            "getserversResponse\\\x7f\0\0\x01\x6d\x38\\EOT\0\0\0",
        ] {
            assert!(fixture.ask(far(1), text).is_empty(), "{text}");
        }
        assert_eq!(
            fixture.count(Counter::ConnectionlessIgnored)
                + fixture.count(Counter::MalformedConnectionless),
            5
        );
        fixture.check();
    }
}

#[test]
fn c31_invalid_sources_get_no_relevant_response() {
    // The loop drops them; a server that is handed one all the same does not fall over it.
    for mut fixture in AttackFixture::each(&[("rconPassword", "a-long-password")]) {
        let accepted = fixture.count(Counter::ConnectsAccepted);
        for from in ["1.2.3.4:0", "0.0.0.0:5", "255.255.255.255:9", "224.0.0.1:1", "[ff02::1]:7"] {
            let from: SocketAddr = from.parse().unwrap();
            let mut answers = 0;
            for text in
                ["getinfo", "getstatus", "getchallenge", "connect x", "rcon x status", "disconnect"]
            {
                for reply in fixture.ask(from, text) {
                    answers += 1;
                    assert!(reply.len() < 1400 && !reply.starts_with("connectResponse"), "{reply}");
                    assert!(!reply.starts_with("print"), "{reply}");
                }
            }
            assert!(answers <= 3, "{from}: {answers} answers to three questions");
            // A number of no player from there, and one of a player.
            let qport = fixture.qport_of(0).0.to_le_bytes();
            for sequence in [1u32, 0x7fff_ffff] {
                let datagram = [&sequence.to_le_bytes()[..], &qport, &[0; 20]].concat();
                assert!(fixture.send(from, &datagram).is_empty());
            }
        }
        fixture.run_for(100);
        assert_eq!(fixture.count(Counter::ConnectsAccepted), accepted, "no slot is given");
        assert_eq!(fixture.clients(), 3);
        assert!(
            fixture.mail.iter().all(|(to, _)| to.port() != 0),
            "nothing is sent to port 0 later"
        );
        fixture.check();
    }
}

#[test]
fn attack_scenario_is_reproducible() {
    let run = || {
        let mut fixture = AttackFixture::new(&[]);
        flood(&mut fixture, "getinfo", 3, 200, anyone);
        (fixture.now(), fixture.sim.network.sent(), fixture.sim.compared)
    };
    assert_eq!(run(), run());
    assert!(run().0 > Millis(SEED));
}
