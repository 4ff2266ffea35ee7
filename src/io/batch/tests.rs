//! Tests of batches over real sockets.

use super::*;
use std::{net, thread, time::Duration};

fn bound(ip: &str) -> Option<UdpSocket> {
    let socket = net::UdpSocket::bind((ip, 0)).ok()?;
    socket.set_nonblocking(true).unwrap();
    Some(UdpSocket::from_std(socket))
}

/// Returns every method of sending and receiving, over both families where available.
fn ways() -> impl Iterator<Item = (&'static str, Batching)> {
    ["127.0.0.1", "::1"].into_iter().flat_map(|ip| [(ip, Batching::BEST), (ip, Batching::One)])
}

fn received_datagrams(received: &ReceiveBatch) -> impl Iterator<Item = Datagram<'_>> {
    (0..received.len()).map(|index| received.datagram(index))
}

fn fill(received: &mut ReceiveBatch, socket: &UdpSocket, family: Family) -> ReceiveStatus {
    for _ in 0..200 {
        received.clear();
        let fill = received.fill(0, socket, family).unwrap();
        if received.len() > 0 {
            return fill;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("nothing arrived");
}

#[test]
fn batch_arrives_as_sent() {
    for (ip, batching) in ways() {
        let (Some(a), Some(b)) = (bound(ip), bound(ip)) else { continue };
        let (from, to) = (a.local_addr().unwrap(), b.local_addr().unwrap());
        let mut outgoing = SendBatch::new();
        let mut received = ReceiveBatch::new(batching);
        for round in 0u8..3 {
            for number in 0..BATCH as u8 {
                // Lengths from 0 to the maximum.
                let len = DATAGRAM_BYTES_MAX * usize::from(number) / (BATCH - 1);
                outgoing.next_slot().resize(len, number ^ round);
                outgoing.commit(to);
            }
            assert!(outgoing.is_full());
            let (datagrams, addresses) = outgoing.datagrams();
            let mut sent = 0;
            while sent < BATCH {
                sent += send(&a, &datagrams[sent..], &addresses[sent..], None, batching).unwrap();
            }
            outgoing.sent();
            assert_eq!(outgoing.len(), 0);

            assert_eq!(fill(&mut received, &b, Family::of(&to)), ReceiveStatus::More);
            let mut number = 0;
            for Datagram { from: sender, bytes, .. } in received_datagrams(&received) {
                assert_eq!(sender, from);
                let len = DATAGRAM_BYTES_MAX * usize::from(number) / (BATCH - 1);
                assert_eq!(bytes.unwrap(), vec![number ^ round; len]);
                number += 1;
            }
            assert_eq!(usize::from(number), BATCH);
            received.clear();
            assert_eq!(received.fill(0, &b, Family::of(&to)).unwrap(), ReceiveStatus::Drained);
            assert_eq!(received_datagrams(&received).count(), 0);
        }
    }
}

#[test]
fn oversize_datagram_is_reported() {
    for (ip, batching) in ways() {
        let (Some(a), Some(b)) = (bound(ip), bound(ip)) else { continue };
        let to = b.local_addr().unwrap();
        let mut received = ReceiveBatch::new(batching);
        for len in [DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MAX + 1, SLOT_BYTES, 9000] {
            a.send_to(&vec![1; len], to).unwrap();
            fill(&mut received, &b, Family::of(&to));
            let Datagram { bytes, .. } = received_datagrams(&received).next().unwrap();
            assert_eq!(bytes.map(<[u8]>::len), (len == DATAGRAM_BYTES_MAX).then_some(len));
        }
    }
}

#[test]
fn uncommitted_datagram_survives_a_send() {
    let mut outgoing = SendBatch::new();
    let to = "127.0.0.1:9".parse().unwrap();
    for text in [b"one", b"two"] {
        outgoing.next_slot().extend_from_slice(text);
        outgoing.commit(to);
    }
    outgoing.next_slot().extend_from_slice(b"three");
    outgoing.sent();
    outgoing.commit(to);
    assert_eq!(outgoing.datagrams().0, [b"three"]);
}

#[test]
fn peer_addresses_are_canonical() {
    assert_eq!(canonical("[::ffff:10.1.2.3]:5".parse().unwrap()), "10.1.2.3:5".parse().unwrap());
    let labelled = net::SocketAddrV6::new("fe80::1".parse().unwrap(), 5, 77, 3);
    let plain = net::SocketAddrV6::new("fe80::1".parse().unwrap(), 5, 0, 3);
    assert_eq!(canonical(labelled.into()), plain.into());
}

/// Waits until the kernel records arrival times, which it begins a while after the first socket asks for them.
/// It continues while the returned socket is open.
#[cfg(target_os = "linux")]
pub(in crate::io) fn arrival_times() -> UdpSocket {
    let socket = super::super::bind::open("127.0.0.1:0".parse().unwrap(), 1 << 16).unwrap();
    let to = socket.local_addr().unwrap();
    let mut received = ReceiveBatch::new(Batching::BEST);
    for _ in 0..1000 {
        let sent = std::time::SystemTime::now();
        socket.send_to(b"probe", to).unwrap();
        thread::sleep(Duration::from_millis(10));
        fill(&mut received, &socket, Family::V4);
        let stamp = received.datagram(0).stamp.unwrap();
        let sent = sent.duration_since(std::time::UNIX_EPOCH).unwrap();
        if stamp < sent + Duration::from_millis(10) {
            return socket;
        }
    }
    panic!("the kernel records no arrival times");
}

#[cfg(target_os = "linux")]
#[test]
fn datagrams_of_several_sockets_are_in_order_of_arrival() {
    let open = || super::super::bind::open("127.0.0.1:0".parse().unwrap(), 1 << 16).unwrap();
    let (a, b) = (open(), open());
    let _times = arrival_times();
    let sender = net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for number in 0..6_u8 {
        let to = if number % 2 == 0 { &a } else { &b };
        sender.send_to(&[number], to.local_addr().unwrap()).unwrap();
        thread::sleep(Duration::from_millis(2));
    }
    let mut received = ReceiveBatch::new(Batching::BEST);
    for (number, socket) in [(7, &b), (5, &a)] {
        let status = received.fill(number, socket, Family::V4).unwrap();
        assert_eq!(status, ReceiveStatus::Drained);
    }
    received.order_by_arrival();
    let all: Vec<_> = received_datagrams(&received).collect();
    let numbers: Vec<_> = all.iter().map(|one| (one.socket, one.bytes.unwrap()[0])).collect();
    assert_eq!(numbers, [(5, 0), (7, 1), (5, 2), (7, 3), (5, 4), (7, 5)]);
    for pair in all.windows(2) {
        // A sleep never ends early.
        assert!(pair[1].stamp.unwrap() - pair[0].stamp.unwrap() >= Duration::from_millis(1));
    }
}

#[test]
fn batch_with_room_for_some_is_full() {
    for (ip, batching) in ways() {
        let (Some(a), Some(b)) = (bound(ip), bound(ip)) else { continue };
        let to = b.local_addr().unwrap();
        for _ in 0..BATCH - 2 {
            a.send_to(b"first", to).unwrap();
        }
        let mut received = ReceiveBatch::new(batching);
        assert_eq!(fill(&mut received, &b, Family::of(&to)), ReceiveStatus::Drained);
        for _ in 0..3 {
            a.send_to(b"second", to).unwrap();
        }
        let status = received.fill(1, &b, Family::of(&to)).unwrap();
        assert_eq!((status, received.len()), (ReceiveStatus::More, BATCH));
        received.clear();
        received.fill(1, &b, Family::of(&to)).unwrap();
        assert_eq!(received_datagrams(&received).next().unwrap().bytes, Some(&b"second"[..]));
    }
}
