//! Attacks by clients of protocols 43, 45, 66 and 67, and by what looks like one.

use std::net::SocketAddr;

use fragd::{
    client::Protocol,
    model::{Buttons, UserCmd},
    observe::Counter,
    wire::connect::CONNECT_PREFIX,
};

use super::{
    AttackFixture,
    raw_client::{RawClient, challenge},
};

/// Settings with the numbers of 1.16n.
const BASEQ3: [(&str, &str); 1] = [("game", "baseq3")];
const OLDER: [&Protocol; 4] = [Protocol::Q3_43, Protocol::Q3_45, Protocol::Q3_66, Protocol::Q3_67];

fn far(host: u8) -> SocketAddr {
    ([198, 51, 100, host], 27960).into()
}

fn plain(text: &str) -> Vec<u8> {
    [CONNECT_PREFIX, text.as_bytes()].concat()
}

#[test]
fn l1_older_clients_enter_and_play() {
    for protocol in OLDER {
        let mut fixture = AttackFixture::new(&BASEQ3);
        let mut client = RawClient::knock_of(&mut fixture, far(1), 7, protocol).expect("let in");
        client.enter(&mut fixture);
        client.live(&mut fixture, 1000);
        assert!(client.is_in(&mut fixture), "{protocol}");
        let fire = UserCmd { buttons: Buttons(1), ..client.move_at(client.level_ms) };
        client.play(&mut fixture, &[fire]);
        client.live(&mut fixture, 500);
        assert_eq!(fixture.count(Counter::MalformedMessage), 0, "{protocol}");
        fixture.check();
    }
}

#[test]
fn l2_plain_connects_are_always_answered() {
    let mut fixture = AttackFixture::new(&BASEQ3);
    let challenge = challenge(&mut fixture, far(1)).0;
    let own =
        |number: i32| format!("\\challenge\\{challenge}\\qport\\9\\protocol\\{number}\\name\\a b");
    for (text, answer) in [
        (format!("\"{}\"", own(44)), "(yours is 44). Also: 43, 45, 66, 67, 71."),
        (format!("\"{}\"", own(68)), "A connect of protocol 68 is compressed."),
        ("\"".to_owned(), "Server uses protocol version 68 (yours is 0)."),
        ("\\".to_owned(), "Server uses protocol version 68 (yours is 0)."),
        (own(43), "connectResponse"),
    ] {
        fixture.run_for(2500);
        let replies = fixture.send(far(1), &plain(&text));
        let reply = replies.first().map(|reply| String::from_utf8_lossy(&reply[4..]).into_owned());
        assert!(reply.as_ref().is_some_and(|reply| reply.contains(answer)), "{text}: {reply:?}");
        assert!(replies.concat().len() <= plain(&text).len() + 80, "no amplification");
    }
    let long = format!("\"{}\\x\\{}\"", own(43), "y".repeat(1200));
    fixture.send(far(2), &plain(&long));
    assert_eq!(fixture.clients(), 3, "the accepted client has not entered");
    fixture.check();
}

#[test]
fn l3_plain_connects_without_challenge_open_no_slot() {
    let mut fixture = AttackFixture::new(&BASEQ3);
    for host in 0..100 {
        let text = format!("\"\\challenge\\{host}\\qport\\9\\protocol\\43\\name\\x\"");
        fixture.send(far(host), &plain(&text));
    }
    let rejections = fixture.count(Counter::ConnectsRefused);
    assert!(rejections > 0);
    fixture.check();
}

#[test]
fn l4_rules_of_other_numbers_refuse_with_reason() {
    for (set, told) in [
        (("game", "baseoa"), "which protocol 43 does not have"),
        (("sv_protocol43", "0"), "Server uses protocol version 71 (yours is 43)."),
    ] {
        let mut fixture = AttackFixture::new(&[set]);
        let refused = RawClient::knock_of(&mut fixture, far(1), 7, Protocol::Q3_43).err();
        assert!(refused.as_ref().is_some_and(|text| text.contains(told)), "{refused:?}");
        fixture.check();
    }
}

#[test]
fn l5_unscrambled_client_is_remembered() {
    let mut fixture = AttackFixture::new(&BASEQ3);
    let clear = Protocol::Q3_66_CLEAR;
    let mut client = RawClient::knock_of(&mut fixture, far(1), 7, clear).expect("let in");
    // It cannot read its gamestate and sends its disconnect message.
    for _ in 0..3 {
        let head = client.head();
        let datagram = client.datagram(&head, |writer| {
            fragd::wire::client_message::write_command(
                writer,
                fragd::model::CommandNum(1),
                b"disconnect",
            );
            fragd::wire::client_message::end(writer);
        });
        fixture.send(far(1), &datagram);
        fixture.run_for(50);
    }
    fixture.run_for(4000);
    let mut client = RawClient::knock_of(&mut fixture, far(1), 7, clear).expect("let in again");
    client.enter(&mut fixture);
    assert!(client.is_in(&mut fixture));
    fixture.check();
}

#[test]
fn l6_random_datagrams_of_older_clients_disturb_nobody() {
    for protocol in OLDER {
        let mut fixture = AttackFixture::new(&BASEQ3);
        let mut client = RawClient::knock_of(&mut fixture, far(1), 7, protocol).expect("let in");
        client.enter(&mut fixture);
        let mut seed = 7_u32;
        for len in 0..300 {
            let head = client.head();
            let datagram = client.datagram(&head, |writer| {
                for _ in 0..len % 60 {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    writer.byte((seed >> 24) as u8);
                }
            });
            fixture.send(far(1), &datagram);
            if len % 20 == 0 {
                fixture.run_for(50);
            }
        }
        fixture.check();
    }
}

#[test]
fn l7_downloads_of_older_clients_name_the_map() {
    let mut fixture = AttackFixture::new(&BASEQ3);
    let mut client = RawClient::knock_of(&mut fixture, far(1), 7, Protocol::Q3_43).expect("in");
    client.idle(&mut fixture);
    for _ in 0..6 {
        fixture.run_for(50);
        client.read(&mut fixture);
    }
    client.server_id = fixture.server_id();
    client.say(&mut fixture, "download baseq3/pak9.pk3");
    for _ in 0..6 {
        fixture.run_for(50);
        client.read(&mut fixture);
    }
    let said = client.heard.join(" ");
    assert!(said.contains("disconnect This protocol has no downloads. Install the map"), "{said}");
    fixture.check();
}
