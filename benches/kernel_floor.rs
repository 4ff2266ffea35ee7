//! Kernel floor of a server: processor time of an event loop that only receives and sends.
//!
//! The clients of this benchmark send packets as players do, and a node without rules answers each of them
//! with one datagram per frame. What a real server takes above that is its own work.
//!
//! ```sh
//! cargo bench --bench kernel_floor -- CLIENTS BYTES SECONDS      # 60 clients, 750 bytes, 10 s
//! ```
//!
//! Prints milliseconds of processor time per client and second of the loop's thread, and its wake-ups per
//! second. Needs Linux.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail by panic")]

use std::{
    env,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use fragd::{
    io::{self, Clock, Listen, Options, Sockets},
    model::Millis,
    node::{Hosted, Input, LocalPort, Node, Output, OutputKind, Route},
};
use nix::time::{ClockId, clock_gettime};

/// Interval of the frames.
const FRAME: Millis = Millis(50);
/// Length of a packet of a client, in bytes.
const PACKET_BYTES: usize = 80;
/// Mean time between two packets of a client.
const PACKET_INTERVAL: Duration = Duration::from_millis(29);

/// Node that sends a datagram to every known client in each frame.
struct Floor {
    clients: Vec<SocketAddr>,
    bytes: usize,
    next_frame: Millis,
    end: Millis,
    now: Millis,
    /// Clients that still get a datagram in this frame.
    waiting: usize,
}

impl Node for Floor {
    fn handle_datagram(&mut self, _: Millis, route: Route, _: &[u8]) {
        if !self.clients.contains(&route.remote) {
            self.clients.push(route.remote);
        }
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        self.now = now;
        self.next_frame += FRAME;
        self.waiting = self.clients.len();
    }

    fn next_frame(&self) -> Millis {
        self.next_frame
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.waiting = self.waiting.checked_sub(1)?;
        packet.resize(self.bytes, 0);
        Some(Route::new(LocalPort(0), self.clients[self.waiting]))
    }

    fn is_finished(&self) -> bool {
        self.now >= self.end
    }
}

impl Hosted for Floor {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        if let Input::Stop(_) = input {
            self.end = now;
        }
    }

    fn poll_output(&mut self, _: OutputKind) -> Option<Output> {
        None
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn receive_coalescing(&self) -> Millis {
        FRAME
    }
}

fn main() {
    let numbers: Vec<usize> = env::args().filter_map(|argument| argument.parse().ok()).collect();
    let number = |index: usize, default| numbers.get(index).copied().unwrap_or(default);
    let (clients, bytes, seconds) = (number(0, 60), number(1, 750), number(2, 10));
    let listen = Listen {
        ip4: Some(Ipv4Addr::LOCALHOST),
        ip6: None,
        port: 0,
        separates_connectionless: true,
        ..Listen::default()
    };
    let sockets = Sockets::listen(&[listen]).unwrap();
    let address = sockets.addresses(LocalPort(0)).next().unwrap();
    let stop = AtomicBool::new(false);
    let (cpu, wakeups) = thread::scope(|scope| {
        scope.spawn(|| send_packets(clients, address, &stop));
        let end = Millis::seconds(seconds as u64);
        let mut node = Floor {
            clients: Vec::new(),
            bytes,
            next_frame: Millis(0),
            end,
            now: Millis(0),
            waiting: 0,
        };
        let before = thread_time();
        let summary = io::run(&mut node, sockets, &Clock::start(), Options::default()).unwrap();
        stop.store(true, Ordering::Relaxed);
        (thread_time() - before, summary.counters.wakeups)
    });
    let client_seconds = (clients * seconds) as f64;
    println!(
        "{:.3} ms of CPU per client and second, {:.0} wake-ups per second",
        cpu.as_secs_f64() * 1000.0 / client_seconds,
        wakeups as f64 / seconds as f64
    );
}

fn thread_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

/// Sends packets of all clients until the end, each client at times of its own, and reads the answers.
fn send_packets(clients: usize, to: SocketAddr, stop: &AtomicBool) {
    let sockets: Vec<_> = (0..clients)
        .map(|_| {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        })
        .collect();
    let begun = Instant::now();
    let mut due: Vec<_> = (0..clients)
        .map(|client| begun + PACKET_INTERVAL * client as u32 / clients as u32)
        .collect();
    let mut answer = [0; 2048];
    while !stop.load(Ordering::Relaxed) {
        let now = Instant::now();
        for (socket, due) in sockets.iter().zip(&mut due) {
            if *due <= now {
                *due += PACKET_INTERVAL;
                let _ = socket.send_to(&[1; PACKET_BYTES], to);
                while socket.recv_from(&mut answer).is_ok() {}
            }
        }
        thread::sleep(Duration::from_micros(200));
    }
}
