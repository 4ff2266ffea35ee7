//! Deferral of the datagrams of connections, over real sockets.
//!
//! Frames are long, so that a busy machine does not change the order of events.
#![cfg(target_os = "linux")]

use std::{
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use super::*;
use crate::{
    io::{Listen, batch::tests::arrival_times},
    node::{Input, LocalPort, Node, Outbox, Output, OutputKind, Route},
};

/// Node that records datagrams and answers connectionless packets.
struct Recorder {
    outbox: Outbox,
    frame_length: Millis,
    /// Interval in which datagrams of connections may wait.
    coalescing: Millis,
    /// Time, completed frames and bytes of each datagram.
    handled: Vec<(Millis, u64, Vec<u8>)>,
    frames: u64,
    /// Time of the last call.
    latest: Millis,
    /// Stall of the second frame.
    stall: Duration,
}

impl Recorder {
    fn new(frame_length: Millis) -> Self {
        Self {
            outbox: Outbox::default(),
            frame_length,
            coalescing: frame_length,
            handled: Vec::new(),
            frames: 0,
            latest: Millis(0),
            stall: Duration::ZERO,
        }
    }

    fn at(&mut self, now: Millis) {
        assert!(now >= self.latest, "time went back: {now} after {}", self.latest);
        self.latest = now;
    }

    fn handled(&self, bytes: &[u8]) -> (Millis, u64) {
        let (at, frames, _) =
            self.handled.iter().find(|(.., had)| had == bytes).expect("datagram is handled");
        (*at, *frames)
    }
}

impl Node for Recorder {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.at(now);
        self.handled.push((now, self.frames, bytes.to_vec()));
        if bytes.starts_with(&[0xff; 4]) {
            self.outbox.push(route, bytes);
        }
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        self.at(now);
        self.frames += 1;
        if self.frames == 2 {
            thread::sleep(self.stall);
        }
    }

    fn next_frame(&self) -> Millis {
        Millis(self.frames * self.frame_length.0)
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.handled.iter().any(|(.., bytes)| bytes.ends_with(b"bye"))
    }
}

impl Hosted for Recorder {
    fn handle_input(&mut self, _: Millis, input: Input<'_>) {
        if let Input::Stop(reason) = input {
            panic!("not finished in time: {reason}");
        }
    }

    fn poll_output(&mut self, _: OutputKind) -> Option<Output> {
        None
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn receive_coalescing(&self) -> Millis {
        self.coalescing
    }
}

fn sockets(buffer_bytes: usize) -> (Sockets, SocketAddr) {
    let listen = Listen {
        ip4: Some(Ipv4Addr::LOCALHOST),
        ip6: None,
        port: 0,
        buffer_bytes,
        separates_connectionless: true,
        ..Listen::default()
    };
    let sockets = Sockets::listen(&[listen]).unwrap();
    let address = sockets.addresses(LocalPort(0)).next().unwrap();
    (sockets, address)
}

fn client() -> UdpSocket {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket
}

/// Runs `node` while `peer` sends.
fn run_with(
    node: &mut Recorder,
    buffer_bytes: usize,
    peer: impl FnOnce(&UdpSocket, SocketAddr) + Send,
) -> LoopCounters {
    let (sockets, address) = sockets(buffer_bytes);
    let _times = arrival_times();
    thread::scope(|scope| {
        scope.spawn(|| peer(&client(), address));
        let options = Options { deadline: Millis::seconds(20), ..Options::default() };
        run(node, sockets, &Clock::start(), options).unwrap().counters
    })
}

#[test]
fn deferred_datagrams_have_their_time_of_arrival() {
    let mut node = Recorder::new(Millis(400));
    let counters = run_with(&mut node, 1 << 20, |client, to| {
        thread::sleep(Duration::from_millis(450));
        for number in 0..20 {
            client.send_to(&[number], to).unwrap();
            thread::sleep(Duration::from_millis(10));
        }
        client.send_to(b"bye", to).unwrap();
    });
    let first = node.handled(&[0]).0;
    let last = node.handled(b"bye").0;
    assert!(last.since(first) >= Millis(199), "{first} to {last}");
    for pair in node.handled.windows(2) {
        // A sleep never ends early; times are rounded down.
        assert!(pair[1].0.since(pair[0].0) >= Millis(9), "{:?}", node.handled);
    }
    assert!(counters.wakeups <= 8, "{} wake-ups for 21 datagrams", counters.wakeups);
}

#[test]
fn few_clients_datagrams_are_handled_at_once() {
    let mut node = Recorder::new(Millis(3000));
    node.coalescing = Millis(0);
    let counters = run_with(&mut node, 1 << 20, |client, to| {
        for number in 0..20 {
            client.send_to(&[number], to).unwrap();
            thread::sleep(Duration::from_millis(10));
        }
        client.send_to(b"bye", to).unwrap();
    });
    assert_eq!(node.frames, 1, "all are handled before the next frame");
    assert!(counters.wakeups >= 10, "{} wake-ups", counters.wakeups);
}

#[test]
fn connectionless_packet_is_answered_while_datagrams_wait() {
    let mut node = Recorder::new(Millis(3000));
    run_with(&mut node, 1 << 20, |client, to| {
        thread::sleep(Duration::from_millis(100));
        client.send_to(b"waits", to).unwrap();
        thread::sleep(Duration::from_millis(100));
        let begun = Instant::now();
        client.send_to(b"\xff\xff\xff\xffgetinfo", to).unwrap();
        let mut answer = [0; 64];
        let (len, from) = client.recv_from(&mut answer).unwrap();
        assert_eq!((&answer[..len], from), (&b"\xff\xff\xff\xffgetinfo"[..], to));
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(1), "{took:?} in a frame of 3 s");
        client.send_to(b"\xff\xff\xff\xffbye", to).unwrap();
    });
    // The wake-up for the query reads the earlier datagram, too, and in order.
    let (waited, query) = (node.handled(b"waits"), node.handled(b"\xff\xff\xff\xffgetinfo"));
    assert!(query.0.since(waited.0) >= Millis(99), "{:?}", node.handled);
    assert_eq!((waited.1, query.1), (1, 1));
}

#[test]
fn datagrams_of_a_stall_precede_the_next_frame() {
    let frame = Millis(200);
    let mut node = Recorder::new(frame);
    node.stall = Duration::from_millis(3 * frame.0);
    run_with(&mut node, 1 << 20, |client, to| {
        // The second frame is due at 200 ms and ends at 800 ms.
        thread::sleep(Duration::from_millis(300));
        client.send_to(b"before", to).unwrap();
        thread::sleep(Duration::from_millis(200));
        client.send_to(b"after", to).unwrap();
        thread::sleep(Duration::from_millis(800));
        client.send_to(b"bye", to).unwrap();
    });
    // The third frame is due at 400 ms.
    assert_eq!(node.handled(b"before").1, 2, "{:?}", node.handled);
    assert!(node.handled(b"after").1 > 2, "{:?}", node.handled);
}

#[test]
fn small_queue_is_read_before_it_overflows() {
    // Under 700 datagrams fit; 2000 arrive in a frame.
    const COUNT: u16 = 2000;
    let mut node = Recorder::new(Millis(5000));
    let counters = run_with(&mut node, 1 << 18, |client, to| {
        let begun = Instant::now();
        for number in 0..COUNT {
            // The load rises from 100 per second tenfold.
            let due = if number < 50 {
                Duration::from_millis(10 * u64::from(number))
            } else {
                Duration::from_millis(500 + u64::from(number - 50))
            };
            thread::sleep(due.saturating_sub(begun.elapsed()));
            client.send_to(&number.to_le_bytes(), to).unwrap();
        }
        client.send_to(b"bye", to).unwrap();
    });
    assert_eq!(node.handled.len(), usize::from(COUNT) + 1);
    assert!(counters.wakeups < u64::from(COUNT) / 2, "{} wake-ups", counters.wakeups);
}
