//! Server's end: mirrored sequences, spill buffers, pacing, plausibility.

use super::*;
use crate::quakeworld::channel::pacing::{PUBLISHER_BACKLOG, Pacer};

#[test]
fn answers_carry_the_sequence_of_their_question() {
    let (mut client, mut server) = pair();
    for step in [1, 2, 5, 6, 40] {
        while client.outgoing() < step {
            transmit(&mut client, &[], Millis(0));
        }
        deliver(&mut client, &mut server, &[]);
        let answer = transmit(&mut server, &[], Millis(0));
        assert_eq!((answer[0], answer[4]), (step as u8, step as u8));
        receive(&mut client, &answer, Millis(0)).unwrap();
    }
}

#[test]
fn two_questions_get_one_answer() {
    let (mut client, mut server) = pair();
    deliver(&mut client, &mut server, &[]);
    deliver(&mut client, &mut server, &[]);
    assert!(server.is_answer_due());
    let answer = transmit(&mut server, &[], Millis(0));
    assert_eq!((answer[0], server.is_answer_due()), (2, false));
}

#[test]
fn slipped_sequences_get_no_answer() {
    let (mut client, mut server) = pair();
    deliver(&mut client, &mut server, &[]);
    for _ in 0..3 {
        transmit(&mut server, &[], Millis(0));
    }
    assert_eq!(server.outgoing(), 4);
    for sequence in 2..6 {
        deliver(&mut client, &mut server, &[]);
        assert_eq!(server.is_answer_due(), sequence >= 4, "{sequence}");
    }
}

#[test]
fn spill_buffers_keep_order_and_pieces() {
    let (mut client, mut server) = pair();
    // Four pieces fit into each of five buffers.
    for at in 0..20 {
        server.queue_reliable(&[at; 300]).unwrap();
    }
    assert_eq!(server.queue_reliable(&[20; 300]), Err(Overflowed));
    server.queue.overflowed = false;
    let mut received = Vec::new();
    for _ in 0..5 {
        deliver(&mut client, &mut server, &[]);
        received.push(deliver(&mut server, &mut client, &[]));
    }
    assert!(received.iter().all(|message| message.len() == 1200));
    let marks: Vec<_> = received.concat().chunks(300).map(|piece| piece[0]).collect();
    assert!(marks.into_iter().eq(0..20));
}

#[test]
fn spill_buffers_leave_one_by_one() {
    let (mut client, mut server) = pair();
    let piece = [7; 1000];
    for _ in 0..5 {
        server.queue_reliable(&piece).unwrap();
    }
    assert_eq!((server.queued_len(), server.reliable_room()), (5000, 0));
    let mut received = 0;
    for _ in 0..5 {
        deliver(&mut client, &mut server, &[]);
        received += deliver(&mut server, &mut client, &[]).len();
    }
    assert_eq!((received, server.queued_len()), (5000, 0));
    assert_eq!(server.reliable_room(), MAX_MESSAGE_LEN);
}

#[test]
fn spill_buffers_overflow_behind_the_fourth() {
    let (_, mut server) = pair();
    for _ in 0..5 {
        server.queue_reliable(&[1; 1450]).unwrap();
    }
    assert_eq!(server.queue_reliable(&[1]), Err(Overflowed));
    assert_eq!(server.queued_len(), 5 * 1450);
}

#[test]
fn message_beyond_the_limit_overflows() {
    let (_, mut server) = pair();
    assert_eq!(server.queue_reliable(&[1; 1451]), Err(Overflowed));
    let (_, mut server) = pair();
    server.set_max_message(100);
    assert_eq!(server.max_message(), MIN_MESSAGE_LIMIT);
    assert_eq!(server.queue_reliable(&[1; 1351]), Err(Overflowed));
}

#[test]
fn pacer_permits_backlog_and_lifts() {
    let mut pacer = Pacer::default();
    pacer.set_rate(100);
    assert_eq!(pacer.rate(), 500);
    pacer.set_backlog(PUBLISHER_BACKLOG);
    let now = Millis(10_000);
    // 200 bytes of backlog at 500 bytes per second are 400 ms.
    pacer.charge(199, now);
    assert!(pacer.may_send(now));
    pacer.charge(1, now);
    assert!(!pacer.may_send(now));
    assert!(pacer.may_send(Millis(10_001)));
    pacer.charge(5000, now);
    assert!(!pacer.may_send(Millis(19_000)));
    pacer.lift(now);
    assert!(pacer.may_send(now));
}

#[test]
fn duplicates_count_for_the_rate() {
    let (mut client, mut server) = pair();
    server.set_duplicates(2);
    deliver(&mut client, &mut server, &[]);
    transmit(&mut server, &[0; 992], Millis(0));
    // 3,000 bytes at 2,500 per second, less 400 bytes of backlog.
    assert!(!server.may_send(Millis(1040)));
    assert!(server.may_send(Millis(1041)));
}

#[test]
fn implausible_headers_change_nothing() {
    let (mut client, mut server) = pair();
    deliver(&mut client, &mut server, &[]);
    let far = Header {
        sequence: MAX_JUMP + 3,
        is_reliable: true,
        acknowledged: 0,
        parity: true,
        qport: Some(QPORT),
    };
    let mut out = Vec::new();
    far.write(&mut out);
    assert!(matches!(server.receive(&out), Err(DropReason::FarAhead { .. })));
    out.clear();
    Header { sequence: 2, acknowledged: 9, ..far }.write(&mut out);
    assert_eq!(server.receive(&out), Err(DropReason::Unsent(9)));
    for len in 0..10 {
        let short = DropReason::Header(HeaderError::Short(len));
        assert_eq!(server.receive(&out[..len]), Err(short));
    }
    assert_eq!(
        server.receive(b"\xff\xff\xff\xffping\n"),
        Err(DropReason::Header(HeaderError::Connectionless))
    );
    assert_eq!((server.incoming(), server.lost()), (1, 0));
}

#[test]
fn received_packet_counts_only_after_its_commit() {
    let (mut client, server) = pair();
    let datagram = transmit(&mut client, b"x", Millis(0));
    for _ in 0..3 {
        assert_eq!(server.receive(&datagram).unwrap().payload, b"x");
    }
    assert!(!server.is_answer_due());
}

#[test]
fn sequences_end_before_they_look_connectionless() {
    let (mut client, _) = pair();
    client.outgoing = LAST_SEQUENCE;
    client.queue_reliable(b"r").unwrap();
    let last = transmit(&mut client, &[], Millis(0));
    assert_eq!(last[..4], [0xfe, 0xff, 0xff, 0xff]);
    let sent = client.transmit(&[], Millis(0), &mut Vec::new());
    assert_eq!(sent, Err(SendError::Exhausted));
}
