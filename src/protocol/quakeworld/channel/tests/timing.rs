//! Latency, ping and loss.

use super::*;
use crate::quakeworld::channel::timing::{ClientTiming, Fate, NO_PING, ServerTiming};

#[test]
fn latency_falls_at_once_and_rises_slowly() {
    let mut timing = ClientTiming::default();
    for (sequence, delay, expected) in [(1, 50, 50.0), (2, 80, 51.0), (3, 80, 52.0), (4, 30, 30.0)]
    {
        timing.sent(sequence, Millis(1000));
        timing.answered(sequence, sequence, Millis(1000 + delay));
        assert_eq!(timing.latency_ms(), Some(expected));
    }
    timing.sent(5, Millis(1000));
    assert_eq!(timing.answered(5, 5, Millis(2001)), None);
    assert_eq!(timing.latency_ms(), Some(30.0));
}

#[test]
fn loss_counts_neither_choked_nor_rejected_packets() {
    let mut timing = ClientTiming::default();
    for sequence in 1..=256 {
        timing.sent(sequence, Millis(0));
        // Each fourth packet is answered; the two before it are choked; one is lost.
        if sequence % 4 == 0 {
            timing.answered(sequence, sequence, Millis(1));
            timing.choked(sequence, 2);
        }
    }
    assert_eq!(timing.loss_percent(256), 25);
    assert_eq!(
        [252, 253, 254, 255].map(|at| timing.fate(at)),
        [Fate::Answered, Fate::Pending, Fate::Choked, Fate::Choked]
    );
    timing.rejected(252);
    assert_eq!((timing.fate(252), timing.loss_percent(256)), (Fate::Rejected, 25));
    // Packets on their way are not lost.
    for sequence in 257..=280 {
        timing.sent(sequence, Millis(0));
    }
    assert!(timing.loss_percent(280) <= 25);
}

#[test]
fn implausible_acknowledgments_are_not_measured() {
    let mut timing = ClientTiming::default();
    timing.sent(10, Millis(0));
    assert_eq!(timing.answered(11, 10, Millis(5)), None);
    assert_eq!(timing.answered(9, 10, Millis(5)), None);
    timing.choked(3, 255);
    assert_eq!(timing.loss_percent(10), 0);
    assert_eq!(timing.answered(10, 10, Millis(5)), Some(Millis(5)));
}

#[test]
fn ping_is_the_mean_over_answered_frames() {
    let mut timing = ServerTiming::default();
    assert_eq!(timing.ping(), NO_PING);
    timing.accepted(0, 1, Millis(1000));
    assert_eq!(timing.ping(), NO_PING);
    for step in 1..=100 {
        timing.accepted(step, step + 1, Millis(1000 + u64::from(step) * 30));
    }
    assert_eq!(timing.ping(), 30);
}

#[test]
fn running_means_follow_packets_slowly() {
    let (mut client, mut server) = pair();
    for step in 0..1000 {
        let question = transmit(&mut client, &[], Millis(step * 20));
        receive(&mut server, &question, Millis(step * 20)).unwrap();
        let answer = transmit(&mut server, &[], Millis(step * 20));
        receive(&mut client, &answer, Millis(step * 20)).unwrap();
    }
    assert!((client.receive_interval_ms() - 20.0).abs() < 0.1);
    assert!((client.frame_latency() - 1.0).abs() < 0.01);
    assert_eq!(client.last_received(), Some(Millis(999 * 20)));
}
