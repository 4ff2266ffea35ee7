//! Ports on demand with real sockets, directly and through a SOCKS5 server.

use std::{
    collections::VecDeque,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    thread,
    time::Duration,
};

use crate::{
    io::{Clock, ConsoleOutput, Listen, Login, Options, Sockets, Socks5, run, socks5},
    model::Millis,
    node::{Hosted, Input, LocalPort, Node, Outbox, Output, OutputKind, PortChange, Route},
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
        let changes =
            VecDeque::from([PortChange::Open { local: LocalPort(3), peer, source: None }]);
        let (next, outbox) = (Millis(0), Outbox::default());
        Self { peer, rounds, done: 0, next, changes, outbox, failures: Vec::new() }
    }

    fn route(&self) -> Route {
        Route::new(LocalPort(3), self.peer)
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
        let (local, peer) = (LocalPort(3), self.peer);
        self.changes.push_back(PortChange::Open { local, peer, source: None });
    }

    fn expect_datagram(&self, _: &[u8]) {}

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
    fn handle_input(&mut self, _: Millis, input: Input<'_>) {
        match input {
            Input::PortFailed(port) => self.failures.push(port),
            Input::Stop(_) => self.rounds = 0,
            Input::ConsoleLine(_)
            | Input::LoopCounters(_)
            | Input::Calendar(_)
            | Input::Lookup(_)
            | Input::Oversize(_) => {}
        }
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        if kind == OutputKind::PortChange {
            self.changes.pop_front().map(Output::PortChange)
        } else {
            None
        }
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
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
        output: ConsoleOutput::Writer(Box::new(std::io::sink())),
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

/// Parts of a SOCKS5 server's replies that servers fill in differently.
#[derive(Clone, Copy)]
struct Habits {
    /// Address of the relay without its port.
    relay: &'static [u8],
    /// Address and port of a sender; none for the real ones.
    sender: Option<&'static [u8]>,
    /// Time between two bytes of a reply.
    pause: Duration,
}

const USUAL: Habits = Habits { relay: &[1, 0, 0, 0, 0], sender: None, pause: Duration::ZERO };

/// Relays one association: login, then datagrams until the control connection ends.
fn relay_one(mut control: TcpStream, habits: Habits) {
    let mut exchange = |expected: &[u8], reply: &[u8]| {
        let mut received = vec![0; expected.len()];
        control.read_exact(&mut received).unwrap();
        assert_eq!(received, expected);
        for byte in reply.chunks(if habits.pause.is_zero() { reply.len() } else { 1 }) {
            control.write_all(byte).unwrap();
            thread::sleep(habits.pause);
        }
    };
    exchange(&[5, 2, 0, 2], &[5, 2]);
    exchange(b"\x01\x04user\x06secret", &[1, 0]);
    let relay = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = relay.local_addr().unwrap().port().to_be_bytes();
    let reply = [&[5, 0, 0], habits.relay, &port].concat();
    exchange(&[5, 3, 0, 1, 0, 0, 0, 0, 0, 0], &reply);
    control.set_nonblocking(true).unwrap();
    relay.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let (mut client, mut buffer) = (None, [0; 256]);
    loop {
        if let Ok((len, from)) = relay.recv_from(&mut buffer) {
            if client.is_none_or(|client| client == from) {
                client = Some(from);
                let nobody = (Ipv4Addr::UNSPECIFIED, 0).into();
                let (to, payload) = socks5::unwrap(&buffer[..len], nobody).unwrap();
                relay.send_to(payload, to).unwrap();
            } else if let Some(client) = client {
                let mut packet = buffer[..len].to_vec();
                match habits.sender {
                    None => socks5::wrap(from, &mut packet),
                    Some(sender) => drop(packet.splice(..0, [&[0, 0, 0], sender].concat())),
                }
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
            relay_one(server.accept().unwrap().0, USUAL);
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

#[test]
fn relay_serves_with_the_habits_of_servers() {
    let named = &[3, 9, b'l', b'o', b'c', b'a', b'l', b'h', b'o', b's', b't'];
    let any6 = &[4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let sender = &[3, 4, b'h', b'o', b's', b't', 0, 0];
    let in_bytes = Habits { pause: Duration::from_millis(2), ..USUAL };
    for habits in [
        Habits { relay: named, ..USUAL },
        Habits { relay: any6, ..USUAL },
        Habits { relay: &[1, 127, 0, 0, 1], ..USUAL },
        Habits { sender: Some(sender), ..USUAL },
        Habits { sender: Some(&[1, 0, 0, 0, 0, 0, 0]), ..USUAL },
        Habits { relay: named, ..in_bytes },
    ] {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = server.local_addr().unwrap();
        let relay = thread::spawn(move || relay_one(server.accept().unwrap().0, habits));
        let (peer, thread) = echo(1);
        let caller = call(peer, 1, Some(Socks5 { address, login: Login::new("user", "secret") }));
        assert_eq!(caller.done, 1, "{:?} {:?}", habits.relay, habits.sender);
        thread.join().unwrap();
        drop(relay);
    }
}
