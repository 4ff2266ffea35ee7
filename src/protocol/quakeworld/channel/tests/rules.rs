//! Rules of the overview of QuakeWorld's network, one test for each.

use std::net::SocketAddr;

use super::*;
use crate::quakeworld::channel::{
    header::{Header, Sender},
    pacing::ChokeCounter,
    peer::{AddressMatch, Peer},
    timing::{ClientTiming, FRAMES, frame_index},
};

#[test]
fn sequence_grows_by_one_with_each_packet() {
    let mut client = client();
    for expected in 0..200 {
        let datagram = transmit(&mut client, &[], Millis(0));
        let (header, _) = Header::parse(&datagram, Sender::Client).unwrap();
        assert_eq!(header.sequence, expected);
    }
}

#[test]
fn sequence_reveals_lost_duplicate_and_late_packets() {
    let (mut client, mut server) = pair();
    let sent: Vec<_> = (0..5).map(|byte| transmit(&mut client, &[byte], Millis(0))).collect();
    assert_eq!(receive(&mut server, &sent[0], Millis(0)), Ok(vec![0]));
    assert_eq!(server.receive(&sent[3]).unwrap().lost, 2);
    receive(&mut server, &sent[3], Millis(0)).unwrap();
    assert_eq!(server.lost(), 2);
    for late in [&sent[3], &sent[1], &sent[0]] {
        assert!(matches!(server.receive(late), Err(DropReason::Old { last: 4, .. })));
    }
    assert_eq!(receive(&mut server, &sent[4], Millis(0)), Ok(vec![4]));
}

#[test]
fn strongest_bit_of_sequence_marks_reliable_data() {
    let (mut client, _) = pair();
    client.queue_reliable(b"r").unwrap();
    let with = transmit(&mut client, b"u", Millis(0));
    let without = transmit(&mut client, b"u", Millis(0));
    assert_eq!(with[..4], [1, 0, 0, 0x80]);
    assert_eq!(without[..4], [2, 0, 0, 0]);
    assert_eq!((&with[10..], &without[10..]), (&b"ru"[..], &b"u"[..]));
}

#[test]
fn acknowledgment_is_the_newest_received_sequence() {
    let (mut client, mut server) = pair();
    for _ in 0..3 {
        transmit(&mut client, &[], Millis(0));
    }
    deliver(&mut client, &mut server, &[]);
    let answer = transmit(&mut server, &[], Millis(0));
    assert_eq!(answer[4..8], [4, 0, 0, 0]);
    receive(&mut client, &answer, Millis(0)).unwrap();
    assert_eq!(client.acknowledged(), 4);
}

#[test]
fn qport_follows_the_header_of_client_packets_only() {
    let (mut client, mut server) = pair();
    let question = transmit(&mut client, b"x", Millis(0));
    assert_eq!(question[8..], [0x34, 0x12, b'x']);
    receive(&mut server, &question, Millis(0)).unwrap();
    assert_eq!(transmit(&mut server, b"x", Millis(0))[8..], *b"x");
}

#[test]
fn qport_names_a_client_behind_changing_ports() {
    let address = |text: &str| -> SocketAddr { text.parse().unwrap() };
    let mut peer = Peer::new(address("10.0.0.1:27001"), QPORT);
    assert_eq!(peer.matches(address("10.0.0.1:27001"), QPORT), AddressMatch::Same);
    assert_eq!(peer.matches(address("10.0.0.1:40000"), QPORT), AddressMatch::Moved);
    assert_eq!(peer.matches(address("10.0.0.1:27001"), Qport(1)), AddressMatch::Other);
    assert_eq!(peer.matches(address("10.0.0.2:27001"), QPORT), AddressMatch::Other);
    assert!(peer.accept(address("10.0.0.1:40000")));
    assert_eq!(peer.address(), address("10.0.0.1:40000"));
}

#[test]
fn qport_of_another_client_is_ignored() {
    let (_, mut server) = pair();
    let mut other = Channel::new(End::Client(Qport(7))).starting_at_one();
    let datagram = transmit(&mut other, &[], Millis(0));
    assert_eq!(receive(&mut server, &datagram, Millis(0)), Err(DropReason::Qport));
}

#[test]
fn unreliable_message_is_sent_once() {
    let (mut client, mut server) = pair();
    transmit(&mut client, b"lost", Millis(0));
    for _ in 0..5 {
        assert_eq!(deliver(&mut client, &mut server, b"new"), b"new");
        deliver(&mut server, &mut client, &[]);
    }
}

#[test]
fn reliable_message_waits_for_the_one_in_flight() {
    let (mut client, mut server) = pair();
    client.queue_reliable(b"one").unwrap();
    assert_eq!(deliver(&mut client, &mut server, &[]), b"one");
    client.queue_reliable(b"two").unwrap();
    client.queue_reliable(b"three").unwrap();
    assert_eq!(deliver(&mut client, &mut server, &[]), b"");
    deliver(&mut server, &mut client, &[]);
    assert_eq!(deliver(&mut client, &mut server, &[]), b"twothree");
}

#[test]
fn reliable_message_goes_before_the_unreliable_one() {
    let (mut client, mut server) = pair();
    client.queue_reliable(b"reliable").unwrap();
    assert_eq!(deliver(&mut client, &mut server, b"unreliable"), b"reliableunreliable");
}

#[test]
fn unreliable_message_without_room_is_left_out() {
    let (mut client, _) = pair();
    client.queue_reliable(&[1; 1000]).unwrap();
    let mut out = Vec::new();
    let sent = client.transmit(&[2; 449], Millis(0), &mut out).unwrap();
    assert!(sent.left_out && out.len() == 1010);
    let (mut client, _) = pair();
    client.queue_reliable(&[1; 1000]).unwrap();
    let sent = client.transmit(&[2; 448], Millis(0), &mut out).unwrap();
    assert!(!sent.left_out && out.len() == MAX_DATAGRAM_LEN);
}

#[test]
fn parity_flips_with_each_accepted_reliable_message() {
    let (mut client, mut server) = pair();
    let mut parities = Vec::new();
    for text in [&b"a"[..], b"b", b"", b"c"] {
        client.queue_reliable(text).unwrap();
        deliver(&mut client, &mut server, &[]);
        let answer = transmit(&mut server, &[], Millis(0));
        parities.push(answer[7] >> 7);
        receive(&mut client, &answer, Millis(0)).unwrap();
    }
    assert_eq!(parities, [1, 0, 0, 1]);
}

#[test]
fn equal_parity_clears_the_message_in_flight() {
    let (mut client, mut server) = pair();
    client.queue_reliable(b"r").unwrap();
    deliver(&mut client, &mut server, &[]);
    assert!(client.has_unacknowledged());
    deliver(&mut server, &mut client, &[]);
    assert!(!client.has_unacknowledged());
}

#[test]
fn lost_reliable_message_is_repeated_unchanged() {
    let (mut client, mut server) = pair();
    client.queue_reliable(b"old").unwrap();
    let lost = transmit(&mut client, &[], Millis(0));
    assert_eq!(lost[0], 1);
    client.queue_reliable(b"new").unwrap();
    // The loss shows when a packet two later is acknowledged.
    for _ in 2..=3 {
        assert_eq!(deliver(&mut client, &mut server, &[]), b"");
        deliver(&mut server, &mut client, &[]);
    }
    assert_eq!(deliver(&mut client, &mut server, &[]), b"old");
    deliver(&mut server, &mut client, &[]);
    assert_eq!(deliver(&mut client, &mut server, &[]), b"new");
}

#[test]
fn overflow_of_the_queue_ends_the_connection() {
    let (mut client, _) = pair();
    client.queue_reliable(&[1; 1000]).unwrap();
    client.queue_reliable(&[2; 450]).unwrap();
    assert_eq!(client.queue_reliable(&[3]), Err(Overflowed));
    assert!(client.is_overflowed());
    let sent = client.transmit(&[], Millis(0), &mut Vec::new());
    assert_eq!(sent, Err(SendError::Overflowed(Overflowed)));
    client.clear_reliable();
    client.queue_reliable(b"end").unwrap();
    assert_eq!(transmit(&mut client, &[], Millis(0))[10..], *b"end");
}

#[test]
fn server_sends_only_in_answer() {
    let (mut client, mut server) = pair();
    assert!(!server.is_answer_due());
    deliver(&mut client, &mut server, &[]);
    assert!(server.is_answer_due());
    deliver(&mut server, &mut client, &[]);
    assert!(!server.is_answer_due());
}

#[test]
fn rate_skips_answers_and_choke_counts_them() {
    let (mut client, mut server) = pair();
    server.pacer().set_rate(1000);
    let mut choke = ChokeCounter::default();
    let mut choked = Vec::new();
    for step in 0..40 {
        let now = Millis(1000 + step * 20);
        let question = transmit(&mut client, &[], now);
        receive(&mut server, &question, now).unwrap();
        if server.may_send(now) {
            choked.push(choke.take().unwrap_or(0));
            transmit(&mut server, &[0; 92], now);
        } else {
            choke.add();
            server.skip_answer();
        }
    }
    // 100 bytes take 100 ms: each fifth answer leaves once the backlog of 400 bytes is used up.
    assert_eq!(choked, [0, 0, 0, 0, 0, 1, 4, 4, 4, 4, 4, 4]);
}

#[test]
fn frames_are_indexed_by_sequence_with_a_mask() {
    assert_eq!(FRAMES, 64);
    for sequence in [0, 1, 63, 64, 65, 1000, u32::MAX >> 1] {
        assert_eq!(frame_index(sequence), sequence as usize % FRAMES);
    }
}

#[test]
fn latency_is_the_time_between_packet_and_acknowledgment() {
    let (mut client, mut server) = pair();
    let mut timing = ClientTiming::default();
    let mut datagrams = Vec::new();
    for step in 0..10 {
        let now = Millis(100 + step * 13);
        timing.sent(client.outgoing(), now);
        datagrams.push(transmit(&mut client, &[], now));
    }
    receive(&mut server, &datagrams[4], Millis(0)).unwrap();
    let answer = transmit(&mut server, &[], Millis(0));
    receive(&mut client, &answer, Millis(300)).unwrap();
    let sent_at = 100 + 4 * 13;
    let sample = timing.answered(client.acknowledged(), client.outgoing() - 1, Millis(300));
    assert_eq!(sample, Some(Millis(300 - sent_at)));
}
