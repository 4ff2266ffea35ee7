//! Ports on demand with real sockets, directly and through a SOCKS5 server.

use std::{
    collections::VecDeque,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    thread,
    time::Duration,
};

use crate::{
    io::{Clock, Listen, Login, Options, Output, Sockets, Socks5, run, socks5},
    model::Millis,
    node::{Hosted, LocalPort, LoopCounters, Node, Outbox, PortChange, Route},
};

/// Interval between repeated datagrams.
const RETRY: Millis = Millis(100);

/// Sends a numbered word from a new port until it is answered, some times.
struct Caller {
    peer: SocketAddr,
    rounds: u8,
    done: u8,
    next: Millis,
    changes: VecDeque<PortChange>,
    outbox: Outbox,
    failures: Vec<LocalPort>,
}

impl Caller {
    fn new(peer: SocketAddr, rounds: u8) -> Self {
        let changes = VecDeque::from([PortChange::Open(LocalPort(3), peer)]);
        let (next, outbox) = (Millis(0), Outbox::default());
        Self { peer, rounds, done: 0, next, changes, outbox, failures: Vec::new() }
    }

    fn route(&self) -> Route {
        Route { local: LocalPort(3), remote: self.peer }
    }
}

impl Node for Caller {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        assert_eq!(route, self.route());
        if bytes != [self.done] {
            return;
        }
        self.done += 1;
        self.next = now;
        self.changes.push_back(PortChange::Close(LocalPort(3)));
        self.changes.push_back(PortChange::Open(LocalPort(3), self.peer));
    }

    fn frame(&mut self, now: Millis) {
        self.next = now + RETRY;
        self.outbox.push(self.route(), &[self.done]);
    }

    fn next_frame(&self) -> Millis {
        self.next
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.done >= self.rounds
    }
}

impl Hosted for Caller {
    fn handle_console_line(&mut self, _: Millis, _: &str) {}

    fn set_loop_counters(&mut self, _: Millis, _: &LoopCounters) {}

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }

    fn poll_console(&mut self) -> Option<String> {
        None
    }

    fn poll_game_log(&mut self) -> Option<String> {
        None
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn stop(&mut self, _: Millis, _: &str) {
        self.rounds = 0;
    }

    fn poll_port_change(&mut self) -> Option<PortChange> {
        self.changes.pop_front()
    }

    fn handle_port_failure(&mut self, _: Millis, port: LocalPort) {
        self.failures.push(port);
    }
}

/// Answers each datagram with its bytes, and returns the sources of `words` different ones.
fn echo(words: u8) -> (SocketAddr, thread::JoinHandle<Vec<SocketAddr>>) {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let address = socket.local_addr().unwrap();
    let thread = thread::spawn(move || {
        let mut sources = Vec::new();
        let mut buffer = [0; 64];
        while sources.len() < usize::from(words) {
            let (len, from) = socket.recv_from(&mut buffer).unwrap();
            assert_eq!(len, 1);
            if usize::from(buffer[0]) == sources.len() {
                sources.push(from);
            }
            socket.send_to(&buffer[..len], from).unwrap();
        }
        sources
    });
    (address, thread)
}

fn call(peer: SocketAddr, rounds: u8, relay: Option<Socks5>) -> Caller {
    let listen = Listen { ip4: Some(Ipv4Addr::LOCALHOST), ip6: None, port: 0, ..Listen::default() };
    let sockets = Sockets::listen(&[listen]).unwrap().with_ports_on_demand(4, relay);
    let mut caller = Caller::new(peer, rounds);
    let options = Options {
        deadline: Millis::seconds(20),
        output: Output::Writer(Box::new(std::io::sink())),
        ..Options::default()
    };
    run(&mut caller, sockets, &Clock::start(), options).unwrap();
    caller
}

#[test]
fn reopened_port_has_another_number() {
    let (peer, thread) = echo(3);
    let caller = call(peer, 3, None);
    assert_eq!((caller.done, caller.failures.len()), (3, 0));
    let sources = thread.join().unwrap();
    assert!(sources.windows(2).all(|pair| pair[0] != pair[1]), "{sources:?}");
}

/// Relays one association: login, then datagrams until the control connection ends.
fn relay_one(mut control: TcpStream) {
    let mut exchange = |expected: &[u8], reply: &[u8]| {
        let mut received = vec![0; expected.len()];
        control.read_exact(&mut received).unwrap();
        assert_eq!(received, expected);
        control.write_all(reply).unwrap();
    };
    exchange(&[5, 2, 0, 2], &[5, 2]);
    exchange(b"\x01\x04user\x06secret", &[1, 0]);
    let relay = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = relay.local_addr().unwrap().port().to_be_bytes();
    exchange(&[5, 3, 0, 1, 0, 0, 0, 0, 0, 0], &[5, 0, 0, 1, 0, 0, 0, 0, port[0], port[1]]);
    control.set_nonblocking(true).unwrap();
    relay.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let (mut client, mut buffer) = (None, [0; 256]);
    loop {
        if let Ok((len, from)) = relay.recv_from(&mut buffer) {
            if client.is_none_or(|client| client == from) {
                client = Some(from);
                let (to, payload) = socks5::unwrap(&buffer[..len]).unwrap();
                relay.send_to(payload, to).unwrap();
            } else if let Some(client) = client {
                let mut packet = buffer[..len].to_vec();
                socks5::wrap(from, &mut packet);
                relay.send_to(&packet, client).unwrap();
            }
        }
        // A closed connection is readable and empty.
        if matches!(control.read(&mut [0]), Ok(0)) {
            return;
        }
    }
}

#[test]
fn relay_serves_each_port_by_its_own_association() {
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = server.local_addr().unwrap();
    let relay = thread::spawn(move || {
        // The first connection is lost before its handshake ends.
        drop(server.accept().unwrap());
        for _ in 0..2 {
            relay_one(server.accept().unwrap().0);
        }
    });
    let (peer, thread) = echo(2);
    let login = Login::new("user", "secret");
    let caller = call(peer, 2, Some(Socks5 { address, login }));
    assert_eq!(caller.done, 2);
    let sources = thread.join().unwrap();
    assert_ne!(sources[0], sources[1]);
    drop(relay);
}
