//! Forged datagrams of players and of the server.
//!
//! Sources are other ports of the same host, and other hosts.

use std::net::UdpSocket;

use fragd::observe::Counter;

use super::fixture::{LoopbackFixture, PLAYERS, mail, oob, socket_at};

/// Rounds, each of which takes up every player.
const ROUNDS: usize = 400;
const PER_SECOND: usize = 3000;

/// Header of a player's datagram.
fn head(sequence: u32, qport: u16) -> Vec<u8> {
    [&sequence.to_le_bytes()[..], &qport.to_le_bytes()].concat()
}

/// Sends forged datagrams of each player from its own host and another one, made of a sequence and
/// its qport. None is answered, and the players' own datagrams count throughout.
fn forge(make: impl Fn(usize, u16) -> Vec<u8>) {
    let fixture = LoopbackFixture::new(&[]);
    // The players' own host, and another.
    let from = [UdpSocket::bind("127.0.0.1:0").unwrap(), socket_at(4, 1)];
    let (moves, stray) =
        (fixture.count(Counter::Moves), fixture.count(Counter::PacketsInUnmatched));
    fixture.storm(ROUNDS * PLAYERS * from.len(), PER_SECOND, |n| {
        let (socket, n) = (&from[n % from.len()], n / from.len());
        let datagram = make(n / PLAYERS, fixture.qport_of(n % PLAYERS).0);
        let _ = socket.send_to(&datagram, fixture.server);
    });
    fixture.wait("they are counted", |fixture| {
        let dropped =
            [Counter::MalformedPacket, Counter::MalformedMessage, Counter::PacketsOutOfOrder];
        let stray = fixture.count(Counter::PacketsInUnmatched) - stray;
        let dropped: u64 = dropped.into_iter().map(|counter| fixture.count(counter)).sum();
        stray >= (ROUNDS * PLAYERS / 2) as u64 && dropped >= ROUNDS as u64
    });
    assert!(from.iter().all(|socket| mail(socket).is_empty()), "nobody is answered");
    // If real datagrams were stale now, no player would move.
    let moved = fixture.count(Counter::Moves);
    assert!(moved > moves);
    fixture.wait("players move", |fixture| fixture.count(Counter::Moves) >= moved + 3 * 30);
    fixture.check();
}

#[test]
fn n1_garbage_in_a_players_name_is_dropped() {
    let bodies: [&[u8]; 4] = [&[], &[0x55; 12], &[0xff; 60], &[0; 1200]];
    forge(|n, qport| [&head(1_000_000 + n as u32, qport)[..], bodies[n % bodies.len()]].concat());
}

#[test]
fn n2_n3_sequence_jumps_make_no_real_datagram_stale() {
    let numbers = [0, 1, 5000, 0x3fff_ffff, 0x4000_0000, 0x7fff_fffe, 0x7fff_ffff];
    forge(|n, qport| [&head(numbers[n % numbers.len()], qport)[..], &[0x5a; 30]].concat());
}

#[test]
fn n5_n6_n7_n8_unrelated_fragments_delay_no_client() {
    // Start and length: whole ones, overlaps, gaps, lies, without an end.
    let pieces =
        [(0, 1300), (1300, 1300), (650, 1300), (2600, 1300), (0, 0xffff), (0x8000, 100), (0, 0)];
    forge(|n, qport| {
        let (start, len): (u16, u16) = pieces[n % pieces.len()];
        let number = (2_000_000 + n as u32 / 7 + n as u32 % 2) | 1 << 31;
        let body = [0x33; 1300];
        [&head(number, qport)[..], &start.to_le_bytes(), &len.to_le_bytes(), &body].concat()
    });
}

#[test]
fn client_port_ignores_other_senders() {
    let fixture = LoopbackFixture::new(&[]);
    let strangers = [UdpSocket::bind("127.0.0.1:0").unwrap(), socket_at(4, 2)];
    let disconnect = oob("disconnect");
    let print = oob("print\nleave\n");
    let snapshot = [&0x7fff_fffe_u32.to_le_bytes()[..], &[0x77; 200]].concat();
    let datagrams: [&[u8]; 5] = [&disconnect, &print, &snapshot, &[0xff; 4], &[]];
    fixture.storm(2000, PER_SECOND, |n| {
        let to = fixture.address_of(n % PLAYERS);
        let _ = strangers[n % 2].send_to(datagrams[n % datagrams.len()], to);
    });
    fixture.check();
}
