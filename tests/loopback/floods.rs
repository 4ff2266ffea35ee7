//! Floods of queries, challenges, connects, rcon passwords and datagrams of invalid length.

use std::net::UdpSocket;

use fragd::{
    observe::Counter,
    wire::{connect::write_connect, info::InfoString},
};

use super::fixture::{LoopbackFixture, PLAYERS, answer, mail, oob, socket_at};

/// Datagrams of a flood, and how many a second.
const FLOOD: usize = 5000;
const PER_SECOND: usize = 5000;
/// Bytes of the headers of UDP and IPv4, which every datagram has.
const HEADERS: usize = 28;

/// A `connect` with these pairs.
pub(super) fn connect(pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut info = InfoString::normal();
    for (key, value) in pairs {
        info.set(key, value).unwrap();
    }
    let mut bytes = Vec::new();
    write_connect(&info, &mut bytes).unwrap();
    bytes
}

/// The challenge of a socket's address.
pub(super) fn challenge(fixture: &LoopbackFixture, socket: &UdpSocket) -> String {
    // Requests may be shed at the height of a flood.
    for _ in 0..5 {
        socket.send_to(&oob("getchallenge"), fixture.server).unwrap();
        if let Some(reply) = answer(socket) {
            return reply.strip_prefix("challengeResponse ").unwrap().to_owned();
        }
    }
    panic!("no challenge");
}

/// Sends the same over and over from these sockets, and waits until the server has counted it. Returns
/// the answers.
fn flood(
    fixture: &LoopbackFixture,
    from: &[UdpSocket],
    request: &[u8],
    counters: &[Counter],
) -> Vec<Vec<u8>> {
    let counted = || counters.iter().map(|&counter| fixture.count(counter)).sum::<u64>();
    let before = counted();
    fixture.storm(FLOOD, PER_SECOND, |n| {
        let _ = from[n % from.len()].send_to(request, fixture.server);
    });
    // The kernel may drop some.
    fixture.wait("the flood is counted", |_| counted() - before >= FLOOD as u64 / 2);
    from.iter().flat_map(mail).collect()
}

const QUERIES: [Counter; 3] =
    [Counter::QueriesAnswered, Counter::QueriesLimited, Counter::QueriesShed];

#[test]
fn c1_getstatus_flood_gets_burst_then_one_per_second() {
    let fixture = LoopbackFixture::new(&[]);
    let answers = flood(&fixture, &[socket_at(1, 1)], &oob("getstatus"), &QUERIES);
    assert!((1..=10 + fixture.seconds()).contains(&answers.len()), "{} answers", answers.len());
    assert!(answers.iter().all(|answer| answer.len() <= 1400));
    fixture.check();
}

#[test]
fn c2_getinfo_flood_gets_burst_then_one_per_second() {
    let fixture = LoopbackFixture::new(&[]);
    let answers = flood(&fixture, &[socket_at(1, 2)], &oob("getinfo xxx"), &QUERIES);
    assert!((1..=10 + fixture.seconds()).contains(&answers.len()), "{} answers", answers.len());
    fixture.check();
}

#[test]
fn c4_distributed_query_flood_is_not_amplified() {
    let fixture = LoopbackFixture::new(&[]);
    let from: Vec<_> = (0..200u8).map(|i| socket_at(2 + i / 100, 1 + i % 100)).collect();
    let request = oob("getstatus");
    let answers = flood(&fixture, &from, &request, &QUERIES);
    let bytes: usize = answers.iter().map(|answer| answer.len() + HEADERS).sum();
    let sent = FLOOD * (request.len() + HEADERS);
    assert!((1..sent).contains(&bytes), "{bytes} bytes for {sent}");
    fixture.check();
}

#[test]
fn c6_getchallenge_flood_blocks_no_join() {
    let fixture = LoopbackFixture::new(&[]);
    let counters = [Counter::PacketsInConnectionless];
    let answers = flood(&fixture, &[socket_at(1, 3)], &oob("getchallenge"), &counters);
    // A hundred at once and a hundred a second.
    assert!((1..=100 + 100 * fixture.seconds()).contains(&answers.len()), "{}", answers.len());
    assert!(
        fixture.count(Counter::ChallengesLimited) + fixture.count(Counter::ConnectsShed) > 1000
    );
    let late = socket_at(1, 4);
    let challenge = challenge(&fixture, &late);
    let pairs = [("protocol", "71"), ("qport", "9"), ("challenge", &challenge), ("name", "late")];
    late.send_to(&connect(&pairs), fixture.server).unwrap();
    let reply = answer(&late).expect("an answer");
    assert!(reply.starts_with("connectResponse"), "{reply}");
    fixture.check();
}

#[test]
fn c8_connects_without_a_challenge_open_no_slot() {
    let fixture = LoopbackFixture::new(&[]);
    let request = connect(&[("protocol", "71"), ("qport", "1"), ("challenge", "1")]);
    let counters = [Counter::ConnectsRefused, Counter::ConnectsShed];
    let answers = flood(&fixture, &[socket_at(1, 5)], &request, &counters);
    // Three at once and one a second.
    assert!((1..=3 + fixture.seconds()).contains(&answers.len()), "{} answers", answers.len());
    assert_eq!(fixture.count(Counter::ConnectsAccepted), PLAYERS as u64);
    fixture.check();
}

#[test]
fn c11_c12_connects_from_one_port_hold_one_slot() {
    let fixture = LoopbackFixture::new(&[]);
    let socket = socket_at(1, 6);
    let challenge = challenge(&fixture, &socket);
    let heard = fixture.count(Counter::PacketsInConnectionless);
    fixture.storm(FLOOD, PER_SECOND, |n| {
        let qport = (n % 60_000).to_string();
        let pairs = [("protocol", "71"), ("qport", &qport), ("challenge", &challenge)];
        let _ = socket.send_to(&connect(&pairs), fixture.server);
    });
    fixture.wait("the flood is counted", |fixture| {
        fixture.count(Counter::PacketsInConnectionless) - heard >= FLOOD as u64 / 2
    });
    // One at once, and again whenever the time to wait is over.
    let accepted = fixture.count(Counter::ConnectsAccepted) - PLAYERS as u64;
    assert!((1..=1 + fixture.seconds() as u64 / 2).contains(&accepted), "{accepted} let in");
    fixture.check();
}

#[test]
fn c19_password_guessing_fails_and_admin_is_served() {
    let fixture = LoopbackFixture::new(&[("rconPassword", "a-long-password")]);
    let socket = socket_at(1, 7);
    let counters = [Counter::RconRefused, Counter::ConnectsShed];
    let request = oob("rcon guess status");
    let answers = flood(&fixture, &[socket.try_clone().unwrap()], &request, &counters);
    assert!(answers.len() <= 1 + fixture.seconds(), "{} answers", answers.len());
    assert_eq!(fixture.count(Counter::RconAccepted), 0);
    // Ten passwords a second are compared while the address is locked out, and the last guesses may be
    // answered yet, so the administrator asks more than once.
    let status = (0..10).find_map(|_| {
        socket.send_to(&oob("rcon a-long-password status"), fixture.server).unwrap();
        answer(&socket).filter(|text| text.contains("map: "))
    });
    assert!(status.is_some(), "the right password is answered");
    fixture.wait("it is counted", |fixture| fixture.count(Counter::RconAccepted) >= 1);
    fixture.check();
}

#[test]
fn c30_empty_short_and_oversized_datagrams_are_counted_and_dropped() {
    let fixture = LoopbackFixture::new(&[]);
    let socket = socket_at(1, 8);
    let lengths = [0, 1, 2, 3, 4, 5, 6, 1400, 2048, 2049, 9000, 60_000];
    let (rounds, too_long) = (40, 3);
    fixture.storm(lengths.len() * rounds, 500, |n| {
        let _ = socket.send_to(&vec![b'a'; lengths[n % lengths.len()]], fixture.server);
    });
    // One of 0 to 5 bytes has no header of a client, longer ones are nobody's.
    fixture.wait("they are counted", |fixture| {
        fixture.oversize() >= (too_long * rounds / 2) as u64
            && fixture.count(Counter::MalformedHeader) >= 3 * rounds as u64
            && fixture.count(Counter::PacketsInUnmatched) >= rounds as u64
    });
    assert!(mail(&socket).is_empty(), "nobody is answered");
    fixture.check();
}

#[test]
fn c30_four_bytes_of_255_alone_are_counted_and_dropped() {
    let fixture = LoopbackFixture::new(&[]);
    let socket = socket_at(1, 9);
    let counters = [Counter::MalformedConnectionless, Counter::QueriesShed];
    let counted = |fixture: &LoopbackFixture| {
        fixture.count(Counter::ConnectionlessIgnored)
            + counters.iter().map(|&counter| fixture.count(counter)).sum::<u64>()
    };
    fixture.storm(FLOOD, PER_SECOND, |n| {
        let _ = socket.send_to(&[0xff; 8][..4 + n % 5], fixture.server);
    });
    fixture.wait("they are counted", |fixture| counted(fixture) >= FLOOD as u64 / 2);
    assert!(mail(&socket).is_empty(), "nobody is answered");
    fixture.check();
}
