//! Work per frame under attack, measured by counters.
//!
//! Virtual time shows no slowness, but counters show how many datagrams were read and how many were
//! shed unread. Ordinary clients are tested beside.

use std::net::SocketAddr;

use fragd::observe::Counter;

use super::{
    AttackFixture, anyone, oob,
    raw_client::{RawClient, challenge, connect},
};
use crate::costly_connects::{connect_of, deep_stream, many_pairs, pairs};

/// Units of decoding in a frame of 50 ms that connects of any address may use.
const DECODE_UNITS: u64 = 50 * 40;

/// Units that decoding a `connect` costs: a unit for 128 bits or bytes of text.
pub(super) fn units(packet: &[u8]) -> u64 {
    let text_len = u16::from_be_bytes([packet[12], packet[13]]);
    (u64::from(text_len) + 8 * packet.len() as u64) / 128
}

fn far(host: u8) -> SocketAddr {
    ([198, 51, 100, host], 27_960).into()
}

/// A datagram sent many times in each of twenty frames, from everywhere.
fn flood(fixture: &mut AttackFixture, datagram: &[u8], per_frame: u32) {
    for frame in 0..20 {
        for i in 0..per_frame {
            fixture.send(anyone(frame * per_frame + i), datagram);
        }
        fixture.run_for(50);
    }
}

#[test]
fn c13_c14_connect_decoding_is_limited_per_frame() {
    for packet in [many_pairs(), deep_stream()] {
        let units = units(&packet);
        for mut fixture in AttackFixture::each(&[]) {
            let before =
                [Counter::ConnectsRefused, Counter::ConnectsShed].map(|c| fixture.count(c));
            flood(&mut fixture, &packet, 200);
            let [decoded, shed] = [
                fixture.count(Counter::ConnectsRefused) - before[0],
                fixture.count(Counter::ConnectsShed) - before[1],
            ];
            assert_eq!(decoded + shed, 20 * 200, "none is accepted, none is lost");
            // The first datagrams may meet the rest of a frame that has begun.
            let budget = DECODE_UNITS / units;
            assert!(budget < 100, "{budget} a frame");
            assert!(
                (20 * budget..=21 * budget).contains(&decoded),
                "{decoded} of {budget} a frame"
            );
            fixture.check();
        }
    }
}

#[test]
fn c13_too_many_pairs_get_invalid_userinfo_rejection() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut knock = |host, pairs: String| {
            let challenge = challenge(&mut fixture, far(host)).0;
            let head = format!("\"\\challenge\\{challenge}\\qport\\{host}\\protocol\\71");
            let replies =
                fixture.send(far(host), &connect_of(format!("{head}{pairs}\"").as_bytes()));
            String::from_utf8(replies[0][4..].to_vec()).unwrap()
        };
        assert!(knock(1, pairs(93)).starts_with("connectResponse"));
        assert_eq!(knock(2, pairs(94)), "print\nInvalid userinfo.\n");
        fixture.check();
    }
}

#[test]
fn c4_query_parsing_is_limited_per_frame() {
    for mut fixture in AttackFixture::each(&[]) {
        let read = |fixture: &AttackFixture| {
            fixture.count(Counter::QueriesAnswered) + fixture.count(Counter::QueriesLimited)
        };
        let before = (read(&fixture), fixture.count(Counter::QueriesShed));
        // As many addresses as fill the table of budgets many times.
        flood(&mut fixture, &oob("getinfo"), 5000);
        let (read, shed) =
            (read(&fixture) - before.0, fixture.count(Counter::QueriesShed) - before.1);
        assert_eq!(read + shed, 20 * 5000);
        // A unit each, and those of the players' datagrams.
        assert!((20 * 1800..=21 * 2000).contains(&read), "{read}");
        fixture.check();
    }
}

#[test]
fn c8_forged_connects_do_not_block_their_address() {
    for mut fixture in AttackFixture::each(&[]) {
        let packet = many_pairs();
        for _ in 0..100 {
            // Twenty in each frame, in the name of one client.
            for _ in 0..20 {
                fixture.send(far(1), &packet);
            }
            fixture.run_for(50);
        }
        let honest = challenge(&mut fixture, far(1));
        let replies = connect(&mut fixture, far(1), 7, honest, &[("name", "late")]);
        assert_eq!(replies, [format!("connectResponse {}", honest.0)]);
        fixture.check();
    }
}

#[test]
fn c8_client_joins_beside_costly_connect_flood() {
    for mut fixture in AttackFixture::each(&[]) {
        let packet = many_pairs();
        for late in 1..=20 {
            let honest = challenge(&mut fixture, far(late));
            for i in 0..500 {
                fixture.send(anyone(u32::from(late) * 500 + i), &packet);
            }
            assert!(fixture.send(far(99), &packet).is_empty(), "the frame has had enough");
            let replies =
                connect(&mut fixture, far(late), late.into(), honest, &[("name", "late")]);
            assert_eq!(replies, [format!("connectResponse {}", honest.0)], "client {late}");
            fixture.run_for(50);
        }
        fixture.check();
    }
}

#[test]
fn clients_of_one_address_join_in_one_frame() {
    let mut fixture = AttackFixture::new(&[]);
    let pad = "x".repeat(300);
    for n in 0..61 {
        // The local network has no limit for each address; three players are in.
        let from = SocketAddr::from(([192, 168, 7, 7], 20_000 + n));
        let honest = challenge(&mut fixture, from);
        let replies =
            connect(&mut fixture, from, 100 + n, honest, &[("name", "lan"), ("pad", &pad)]);
        assert_eq!(replies, [format!("connectResponse {}", honest.0)], "client {n}");
    }
    assert_eq!(fixture.count(Counter::ConnectsShed), 0);
    // Fewer challenges and joins by and by: those who never spoke leave again.
    fixture.worst_gap = fragd::model::Millis(110);
    fixture.run_for(8000);
    fixture.check();
}

#[test]
fn sixty_joins_per_second_of_one_address_succeed() {
    for mut fixture in AttackFixture::each(&[("sv_maxclientsPerIP", "0")]) {
        for n in 0..60 {
            let from = SocketAddr::from(([198, 51, 100, 9], 20_000 + n));
            assert!(RawClient::knock(&mut fixture, from, 100 + n).is_ok(), "client {n}");
            fixture.run_for(10);
        }
        assert_eq!(fixture.count(Counter::ConnectsShed), 0);
        fixture.worst_gap = fragd::model::Millis(110);
        fixture.run_for(8000);
        fixture.check();
    }
}

#[test]
fn connect_resent_every_three_seconds_is_always_answered() {
    for mut fixture in AttackFixture::each(&[]) {
        let honest = challenge(&mut fixture, far(1));
        // The answer is lost again and again, and the slot is kept for five seconds.
        for round in 0..2 {
            let replies = connect(&mut fixture, far(1), 7, honest, &[("name", "late")]);
            assert_eq!(replies, [format!("connectResponse {}", honest.0)], "round {round}");
            fixture.run_for(3000);
        }
        fixture.check();
    }
}

#[test]
fn m5_message_commands_are_limited_to_client_window() {
    let mut fixture = AttackFixture::new(&[("sv_floodProtect", "0")]);
    let mut attacker = RawClient::join(&mut fixture, far(1), 7);
    let count = |fixture: &AttackFixture| {
        (fixture.count(Counter::ClientCommands), fixture.count(Counter::MalformedMessage))
    };
    let before = count(&fixture);
    attacker.say_all(&mut fixture, &["x"; 64]);
    assert_eq!(count(&fixture), (before.0 + 64, before.1));
    let said = attacker.said;
    attacker.say_all(&mut fixture, &["x"; 65]);
    assert_eq!(count(&fixture), (before.0 + 64, before.1 + 1), "the message is ignored whole");
    attacker.said = said;
    attacker.live(&mut fixture, 500);
    assert!(attacker.is_in(&mut fixture));
    fixture.check();
}

#[test]
fn m9_longest_client_command_is_read_completely_or_rejected() {
    let mut fixture = AttackFixture::new(&[("sv_floodProtect", "0")]);
    let mut attacker = RawClient::join(&mut fixture, far(1), 7);
    for len in [1021, 1022, 1023, 1024] {
        let before =
            (fixture.count(Counter::ClientCommands), fixture.count(Counter::MalformedMessage));
        let said = attacker.said;
        // Letters of short codes: the message is one datagram.
        let text = format!("say {}", "e".repeat(len - 4));
        attacker.say_raw(&mut fixture, text.as_bytes());
        let after =
            (fixture.count(Counter::ClientCommands), fixture.count(Counter::MalformedMessage));
        if len <= 1023 {
            assert_eq!(after, (before.0 + 1, before.1), "{len} bytes are one command");
        } else {
            assert_eq!(after, (before.0, before.1 + 1), "{len} bytes are no string");
            attacker.said = said;
        }
        fixture.run_for(600);
        attacker.read(&mut fixture);
        attacker.step(&mut fixture);
    }
    assert!(attacker.is_in(&mut fixture));
    fixture.check();
}
