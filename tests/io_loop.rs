//! Event loop over real sockets on the loopback interface.
//!
//! Datagrams arrive complete, frames keep their time under a flood, an idle loop sleeps, and disconnect
//! messages leave before exit. Time limits are generous for busy machines; a broken loop exceeds them.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{
    cell::RefCell,
    io::{Cursor, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    rc::Rc,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use fragd::{
    io::{
        Clock, Console, ConsoleOutput, ExitReason, Listen, Options, Progress, RunSummary, Sockets,
        run,
    },
    model::Millis,
    node::{Hosted, Input, LocalPort, LoopCounters, Node, Outbox, Output, OutputKind, Route},
};

const FRAME: Millis = Millis(20);

/// Sends back what it gets, reversed.
#[derive(Default)]
struct Echo {
    outbox: Outbox,
    output: Vec<String>,
    lines: Vec<String>,
    seen: u64,
    /// Time to handle a datagram.
    work: Duration,
    frames: u64,
    started: Option<Millis>,
    next: Millis,
    last_frame: Millis,
    longest_gap: Millis,
    latest: Millis,
    /// Peer that receives a message at the end.
    peers: Vec<Route>,
    /// A datagram of these bytes finishes it.
    last_word: &'static [u8],
    finished: bool,
    stop_reason: Option<String>,
    stubborn: bool,
    silent: bool,
    /// Holds the third frame up for some frames, in which a datagram goes there.
    hold_up: Option<(UdpSocket, SocketAddr)>,
    /// Frames that had run when the first datagram was handled.
    frames_before: Option<u64>,
    /// Counters that the loop reported last.
    counted: LoopCounters,
}

impl Echo {
    fn at(&mut self, now: Millis) {
        assert!(now >= self.latest, "time went back");
        self.latest = now;
    }
}

impl Node for Echo {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.at(now);
        self.seen += 1;
        self.frames_before.get_or_insert(self.frames);
        let begun = Instant::now();
        while begun.elapsed() < self.work {}
        if !self.last_word.is_empty() && bytes == self.last_word {
            self.finished = true;
        }
        if !self.silent {
            self.outbox.push_with(route, |packet| packet.extend(bytes.iter().rev()));
        }
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        self.at(now);
        assert!(now >= self.next, "a frame ran early");
        let started = *self.started.get_or_insert(now);
        if self.frames > 0 {
            self.longest_gap = self.longest_gap.max(now.since(self.last_frame));
        }
        self.last_frame = now;
        self.frames += 1;
        if self.frames == 3
            && let Some((from, to)) = self.hold_up.take()
        {
            thread::sleep(Duration::from_millis(3 * FRAME.0));
            from.send_to(b"bye", to).unwrap();
        }
        self.next = started + Millis(self.frames * FRAME.0);
    }

    fn next_frame(&self) -> Millis {
        self.next
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Hosted for Echo {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        self.at(now);
        match input {
            Input::ConsoleLine(line) => {
                self.output.push(format!("ran {line}\n"));
                self.lines.push(line.to_owned());
                if line == "quit" {
                    self.finished = true;
                }
            }
            Input::LoopCounters(counters) => self.counted = *counters,
            Input::Stop(reason) => {
                self.stop_reason = Some(reason.to_owned());
                for (number, route) in self.peers.iter().enumerate() {
                    self.outbox.push(*route, format!("goodbye {number} {reason}").as_bytes());
                }
                self.finished = !self.stubborn;
            }
            Input::Calendar(_) | Input::Lookup(_) | Input::PortFailed(_) | Input::Oversize(_) => {}
        }
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        let has_text = kind == OutputKind::Console && !self.output.is_empty();
        has_text.then(|| Output::Console(self.output.remove(0)))
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }
}

fn listen(ip: IpAddr) -> Option<Sockets> {
    let listen = match ip {
        IpAddr::V4(ip) => Listen { ip4: Some(ip), ip6: None, port: 0, ..Listen::default() },
        IpAddr::V6(ip) => Listen { ip4: None, ip6: Some(ip), port: 0, ..Listen::default() },
    };
    Sockets::listen(&[listen]).ok()
}

fn localhost() -> Sockets {
    listen(Ipv4Addr::LOCALHOST.into()).expect("a loopback interface")
}

fn address(sockets: &Sockets) -> SocketAddr {
    sockets.addresses(LocalPort(0)).next().expect("bound")
}

fn client(ip: IpAddr) -> UdpSocket {
    let socket = UdpSocket::bind((ip, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    socket
}

/// Upper bound of every run.
fn within<'a, N>(seconds: u64) -> Options<'a, N> {
    Options { deadline: Millis::seconds(seconds), ..Options::default() }
}

#[test]
fn datagrams_arrive_whole_both_ways() {
    for ip in [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()] {
        // A machine without IPv6 has nothing to show here.
        let Some(sockets) = listen(ip) else { continue };
        let server = address(&sockets);
        let asker = thread::spawn(move || {
            let client = client(ip);
            let (rounds, window) = (40u32, 50u32);
            let packet = |number: u32| -> Vec<u8> {
                let len = 4 + number as usize * 37 % 1397;
                let filler = (0..len - 4).map(|at| (at as u32 * 31 + number) as u8);
                number.to_le_bytes().into_iter().chain(filler).collect()
            };
            let mut buffer = [0; 4096];
            for round in 0..rounds {
                for number in round * window..(round + 1) * window {
                    client.send_to(&packet(number), server).unwrap();
                }
                for number in round * window..(round + 1) * window {
                    let (len, from) = client.recv_from(&mut buffer).unwrap();
                    assert_eq!(from, server);
                    buffer[..len].reverse();
                    assert_eq!(buffer[..len], packet(number), "datagram {number}");
                }
            }
            client.send_to(b"bye", server).unwrap();
            let (len, _) = client.recv_from(&mut buffer).unwrap();
            assert_eq!(&buffer[..len], b"eyb", "even the last datagram is answered");
            u64::from(rounds * window)
        });
        let mut node = Echo { last_word: b"bye", ..Echo::default() };
        let summary = run(&mut node, sockets, &Clock::start(), within(20)).unwrap();
        let asked = asker.join().unwrap();
        assert_eq!(summary.reason, ExitReason::Finished);
        assert_eq!(node.stop_reason, None, "ended by the last word, not by the deadline");
        assert_eq!(summary.counters.received, asked + 1);
        assert_eq!(summary.counters.sent, asked + 1);
        assert_eq!(summary.counters.received_bytes, summary.counters.sent_bytes);
    }
}

/// Only Linux tells the local address of a datagram.
#[cfg(target_os = "linux")]
#[test]
fn replies_leave_from_address_that_was_asked() {
    for separates_connectionless in [false, true] {
        let ip4 = Some(Ipv4Addr::UNSPECIFIED);
        let all = Listen { ip4, ip6: None, port: 0, separates_connectionless, ..Listen::default() };
        let sockets = Sockets::listen(&[all]).unwrap();
        let port = address(&sockets).port();
        let asker = thread::spawn(move || {
            let client = client(Ipv4Addr::LOCALHOST.into());
            let mut buffer = [0; 64];
            for round in 0..20u8 {
                for last in 1..=3u8 {
                    let server = SocketAddr::from(([127, 0, 0, last], port));
                    client.send_to(&[0xff, 0xff, 0xff, 0xff, round, last], server).unwrap();
                    client.send_to(&[round, last], server).unwrap();
                }
                for _ in 0..6 {
                    let (len, from) = client.recv_from(&mut buffer).unwrap();
                    let asked = [buffer[0], buffer[1]];
                    assert!(len == 2 || buffer[2..len] == [0xff; 4]);
                    assert_eq!(from, SocketAddr::from(([127, 0, 0, asked[0]], port)));
                    assert_eq!(asked[1], round);
                }
            }
            client.send_to(b"bye", SocketAddr::from(([127, 0, 0, 2], port))).unwrap();
        });
        let mut node = Echo { last_word: b"bye", ..Echo::default() };
        let summary = run(&mut node, sockets, &Clock::start(), within(20)).unwrap();
        asker.join().unwrap();
        assert_eq!((summary.reason, summary.counters.send_errors), (ExitReason::Finished, 0));
    }
}

#[test]
fn flood_costs_datagrams_but_no_frames() {
    // Twice as much as the node can handle, for a second.
    const FLOOD: u64 = 20_000;
    const WORK: Duration = Duration::from_micros(100);
    let sockets = localhost();
    let server = address(&sockets);
    let flood = thread::spawn(move || {
        let client = client(Ipv4Addr::LOCALHOST.into());
        let packet = [0xff; 1000];
        let started = Instant::now();
        for number in 0..FLOOD {
            while started.elapsed() < WORK / 2 * u32::try_from(number).unwrap() {
                thread::sleep(Duration::from_micros(500));
            }
            let _ = client.send_to(&packet, server);
        }
        // Despite losses, one of these gets through.
        for _ in 0..100 {
            thread::sleep(Duration::from_millis(10));
            let _ = client.send_to(b"bye", server);
        }
    });
    let mut node = Echo { last_word: b"bye", silent: true, work: WORK, ..Echo::default() };
    let options = Options { count_interval: Millis(50), ..within(30) };
    let summary = run(&mut node, sockets, &Clock::start(), options).unwrap();
    flood.join().unwrap();
    assert_eq!(node.stop_reason, None, "the flood ended before the deadline");
    assert!(node.seen > FLOOD / 20, "{} datagrams arrived", node.seen);
    let due = node.latest.since(node.started.unwrap()).0 / FRAME.0;
    assert!(due >= 40, "the flood lasted");
    assert!(node.frames > due / 2, "{} of {due} frames: {summary:?}", node.frames);
    let longest = node.longest_gap.max(node.latest.since(node.last_frame));
    assert!(longest < Millis(500), "no frame for {longest}");
    // What did not arrive is counted where the kernel tells. A slow machine may send no faster than it
    // receives.
    let LoopCounters { received, kernel, .. } = node.counted;
    assert!(received > 0 && received <= node.seen, "{summary:?}");
    let lost_many = cfg!(target_os = "linux") && node.seen < FLOOD * 3 / 4;
    assert!(kernel > 0 || !lost_many, "{summary:?}");
    assert!(received + kernel <= FLOOD + 100, "{summary:?}");
}

#[test]
fn datagrams_received_during_stall_follow_overdue_frame() {
    let sockets = localhost();
    let hold_up = Some((client(Ipv4Addr::LOCALHOST.into()), address(&sockets)));
    let mut node = Echo { last_word: b"bye", hold_up, ..Echo::default() };
    run(&mut node, sockets, &Clock::start(), within(20)).unwrap();
    assert_eq!(node.stop_reason, None, "it arrived");
    assert!(node.frames_before > Some(3), "{:?} frames before", node.frames_before);
}

#[test]
fn idle_loop_wakes_once_per_frame() {
    let mut node = Echo::default();
    let options = Options { deadline: Millis(1000), ..Options::default() };
    let RunSummary { counters, reason } =
        run(&mut node, localhost(), &Clock::start(), options).unwrap();
    assert_eq!(reason, ExitReason::Finished);
    assert_eq!(node.stop_reason.as_deref(), Some("Time is up"));
    assert_eq!(counters.frames, node.frames);
    assert!((25..=51).contains(&counters.frames), "{counters:?}");
    assert!(counters.wakeups < 2 * counters.frames, "{counters:?}");
}

#[test]
fn disconnect_messages_are_sent_before_exit() {
    const PEERS: usize = 150;
    let sockets = localhost();
    let client = client(Ipv4Addr::LOCALHOST.into());
    let remote = client.local_addr().unwrap();
    let peers = vec![Route::new(LocalPort(0), remote); PEERS];
    let mut node = Echo { peers, ..Echo::default() };
    let options = Options { deadline: Millis(50), ..Options::default() };
    let summary = run(&mut node, sockets, &Clock::start(), options).unwrap();
    assert_eq!(summary.counters.sent, PEERS as u64);
    let mut buffer = [0; 100];
    for number in 0..PEERS {
        let len = client.recv(&mut buffer).unwrap();
        assert_eq!(buffer[..len], *format!("goodbye {number} Time is up").as_bytes());
    }
}

#[test]
fn node_that_does_not_finish_is_abandoned() {
    let mut node = Echo { stubborn: true, ..Echo::default() };
    let options = Options { deadline: Millis(20), grace: Millis(100), ..Options::default() };
    let started = Instant::now();
    let summary = run(&mut node, localhost(), &Clock::start(), options).unwrap();
    assert_eq!(summary.reason, ExitReason::GraceOver);
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[test]
fn oversized_and_unroutable_datagrams_are_only_counted() {
    let sockets = localhost();
    let server = address(&sockets);
    let client = client(Ipv4Addr::LOCALHOST.into());
    let closed = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let mut node = Echo { last_word: b"bye", ..Echo::default() };
    for remote in [closed, "[::1]:9".parse().unwrap(), closed] {
        node.outbox.push(Route::new(LocalPort(0), remote), b"anybody there?");
    }
    node.outbox.push(Route::new(LocalPort(7), closed), b"from a port we lack");
    client.send_to(&[1; 2049], server).unwrap();
    client.send_to(&[2; 30_000], server).unwrap();
    client.send_to(&[3; 2048], server).unwrap();
    client.send_to(b"", server).unwrap();
    client.send_to(b"bye", server).unwrap();
    let summary = run(&mut node, sockets, &Clock::start(), within(10)).unwrap();
    assert_eq!(node.stop_reason, None);
    let LoopCounters { received, oversize, no_socket, .. } = summary.counters;
    assert_eq!((received, oversize, no_socket), (3, 2, 2));
    let mut buffer = [0; 4096];
    assert_eq!(client.recv(&mut buffer).unwrap(), 2048);
}

/// Text that a test reads back.
#[derive(Clone, Default)]
struct Screen(Rc<RefCell<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn console_lines_run_in_order_except_long_ones() {
    let mut text = String::new();
    for number in 0..500 {
        text += &format!("echo {number}\n");
    }
    text += &"x".repeat(5000);
    text += "\nstatus\r\nquit";
    let screen = Screen::default();
    let mut node = Echo::default();
    let options = Options {
        console: Console::Reader(Box::new(Cursor::new(text))),
        output: ConsoleOutput::Writer(Box::new(screen.clone())),
        ..within(10)
    };
    run(&mut node, localhost(), &Clock::start(), options).unwrap();
    assert_eq!(node.stop_reason, None);
    assert_eq!(node.lines.len(), 502);
    assert_eq!(node.lines[499..], ["echo 499", "status", "quit"]);
    let shown = String::from_utf8(screen.0.borrow().clone()).unwrap();
    assert!(shown.starts_with("ran echo 0\nran echo 1\n"), "{shown}");
    assert!(shown.ends_with("ran status\nran quit\n"), "{shown}");
}

#[test]
fn loop_survives_end_of_console_input() {
    let mut node = Echo::default();
    let options = Options {
        console: Console::Reader(Box::new(std::io::empty())),
        deadline: Millis(300),
        ..Options::default()
    };
    let summary = run(&mut node, localhost(), &Clock::start(), options).unwrap();
    assert_eq!(node.stop_reason.as_deref(), Some("Time is up"));
    assert!(summary.counters.wakeups < 2 * summary.counters.frames + 2, "{summary:?}");
}

#[test]
fn loop_survives_broken_terminal() {
    struct Broken;
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    }
    let mut node = Echo::default();
    let options = Options {
        console: Console::Reader(Box::new(Cursor::new("a\nb\nquit\n"))),
        output: ConsoleOutput::Writer(Box::new(Broken)),
        ..within(10)
    };
    run(&mut node, localhost(), &Clock::start(), options).unwrap();
    assert_eq!(node.lines, ["a", "b", "quit"]);
}

#[test]
fn progress_is_reported_periodically() {
    let told = RefCell::new(Vec::new());
    let mut node = Echo::default();
    let options = Options {
        deadline: Millis(500),
        progress: Some(Progress {
            first: Millis(0),
            interval: Millis(100),
            call: Box::new(|node: &Echo, now, counters: &LoopCounters| {
                assert_eq!(node.frames, counters.frames);
                told.borrow_mut().push(now);
            }),
        }),
        ..Options::default()
    };
    run(&mut node, localhost(), &Clock::start(), options).unwrap();
    let told = told.into_inner();
    assert!((2..=6).contains(&told.len()), "{told:?}");
    assert!(told[0] < Millis(100), "{told:?}");
    assert!(told.windows(2).all(|pair| pair[1].since(pair[0]) >= Millis(100)), "{told:?}");
}

/// A client on each of its ports, each awaiting its own answer.
struct Crowd {
    ports: u16,
    outbox: Outbox,
    answered: Vec<u32>,
    server: SocketAddr,
    next: Millis,
    stopped: bool,
}

impl Node for Crowd {
    fn handle_datagram(&mut self, _: Millis, route: Route, bytes: &[u8]) {
        assert_eq!(route.remote, self.server);
        let port = u16::from_be_bytes(bytes.try_into().unwrap());
        assert_eq!(port, route.local.0, "an answer came to another port than asked");
        self.answered[usize::from(port)] += 1;
    }
    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        // Those that lost their answer ask again.
        for port in (0..self.ports).filter(|port| self.answered[usize::from(*port)] == 0) {
            let route = Route::new(LocalPort(port), self.server);
            self.outbox.push(route, &port.to_le_bytes());
        }
        self.next = now + Millis(200);
    }
    fn next_frame(&self) -> Millis {
        self.next
    }
    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }
    fn is_finished(&self) -> bool {
        self.stopped || self.answered.iter().all(|count| *count > 0)
    }
}

impl Hosted for Crowd {
    fn handle_input(&mut self, _: Millis, input: Input<'_>) {
        if let Input::Stop(_) = input {
            self.stopped = true;
        }
    }

    fn poll_output(&mut self, _: OutputKind) -> Option<Output> {
        None
    }

    fn local_ports(&self) -> u16 {
        self.ports
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }
}

#[test]
fn hundreds_of_ports_exchange_datagrams_with_one_server() {
    const PORTS: u16 = 600;
    let server_sockets = localhost();
    let server = address(&server_sockets);
    let (done, ending) = mpsc::channel();
    let echo = thread::spawn(move || {
        let mut node = Echo { last_word: b"bye", ..Echo::default() };
        let summary = run(&mut node, server_sockets, &Clock::start(), within(20)).unwrap();
        done.send(()).unwrap();
        summary
    });
    let sockets = Sockets::ephemeral(PORTS, server.ip()).unwrap();
    assert_eq!(sockets.len(), usize::from(PORTS));
    let mut crowd = Crowd {
        ports: PORTS,
        outbox: Outbox::default(),
        answered: vec![0; usize::from(PORTS)],
        server,
        next: Millis(0),
        stopped: false,
    };
    let summary = run(&mut crowd, sockets, &Clock::start(), within(10)).unwrap();
    assert!(!crowd.stopped, "{:?} {summary:?}", crowd.answered);
    assert!(summary.counters.sent >= u64::from(PORTS));
    let client = client(Ipv4Addr::LOCALHOST.into());
    while ending.recv_timeout(Duration::from_millis(50)).is_err() {
        client.send_to(b"bye", server).unwrap();
    }
    assert!(echo.join().unwrap().counters.received > u64::from(PORTS));
}

#[test]
fn node_with_too_many_ports_is_rejected() {
    let mut crowd = Crowd {
        ports: 2,
        outbox: Outbox::default(),
        answered: vec![0; 2],
        server: "127.0.0.1:9".parse().unwrap(),
        next: Millis(0),
        stopped: false,
    };
    let error = run(&mut crowd, localhost(), &Clock::start(), within(1)).unwrap_err();
    assert!(error.to_string().contains("too few ports: 1 (expected 2)"), "{error}");
}

/// Signals belong to the whole process, so each test of them runs itself again as a child.
#[cfg(unix)]
mod signals {
    use super::*;
    use fragd::io::Signals;
    use rustix::process::{Pid, Signal, kill_process};
    use std::{
        env,
        io::{BufRead as _, BufReader, Read as _},
        process::{self, Child, Command, ExitStatus, Stdio},
    };

    const ROLE: &str = "FRAGD_TEST_SIGNALS";

    struct Runner {
        child: Child,
        text: BufReader<process::ChildStdout>,
    }

    /// Starts `child_process_runs_signal_loop` and waits until it runs.
    fn start(role: &str) -> Runner {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["signals::child_process_runs_signal_loop", "--exact", "--nocapture"])
            .env(ROLE, role)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut text = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("child runs") {
            line.clear();
            assert_ne!(text.read_line(&mut line).unwrap(), 0, "the child ended early");
        }
        Runner { child, text }
    }

    impl Runner {
        fn signal(&self, signal: Signal) {
            let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
            kill_process(pid, signal).unwrap();
        }

        fn end(mut self) -> (ExitStatus, String) {
            let mut rest = String::new();
            self.text.read_to_string(&mut rest).unwrap();
            (self.child.wait().unwrap(), rest)
        }

        fn await_line(&mut self, hint: &str) {
            let mut line = String::new();
            while !line.contains(hint) {
                line.clear();
                assert_ne!(self.text.read_line(&mut line).unwrap(), 0, "the child ended early");
            }
        }
    }

    /// Does nothing unless a test below starts it.
    #[test]
    fn child_process_runs_signal_loop() {
        let Ok(role) = env::var(ROLE) else { return };
        let mut node = Echo { stubborn: role == "stubborn", ..Echo::default() };
        node.output.push("child runs\n".to_owned());
        let options = Options {
            signals: Some(Signals::install().unwrap()),
            on_hangup: Some(Box::new(|| {
                println!("hung up");
                Vec::new()
            })),
            console: Console::Stdin,
            grace: Millis::seconds(15),
            ..within(20)
        };
        if role.starts_with("hanging") {
            println!("child runs");
            thread::sleep(Duration::from_secs(20));
        }
        let summary = run(&mut node, localhost(), &Clock::start(), options).unwrap();
        println!("told: {:?}", node.stop_reason);
        println!("{} wakeups, {} frames", summary.counters.wakeups, summary.counters.frames);
        process::exit(if summary.counters.wakeups < 2 * summary.counters.frames + 10 {
            0
        } else {
            9
        });
    }

    #[test]
    fn first_signal_disconnects_clients() {
        for (signal, number) in [(Signal::TERM, 15), (Signal::INT, 2)] {
            let child = start("polite");
            thread::sleep(Duration::from_millis(200));
            child.signal(signal);
            let (status, text) = child.end();
            assert!(text.contains(&format!("told: Some(\"Received signal {number}\")")), "{text}");
            assert!(status.success(), "{status}: {text}");
        }
    }

    #[test]
    fn second_or_early_signal_ends_process_at_once() {
        for (role, signals) in [("stubborn", 2), ("hanging before the loop", 1)] {
            let child = start(role);
            let started = Instant::now();
            for _ in 0..signals {
                thread::sleep(Duration::from_millis(100));
                child.signal(Signal::TERM);
            }
            let (status, _) = child.end();
            assert_eq!(status.code(), Some(128 + 15), "{role}");
            assert!(started.elapsed() < Duration::from_secs(8), "{role}");
        }
    }

    #[test]
    fn hangup_signal_runs_hook_and_continues() {
        let mut child = start("polite");
        child.signal(Signal::HUP);
        child.await_line("hung up");
        child.signal(Signal::TERM);
        assert!(child.end().0.success());
    }
}
