//! Server and three players over real sockets, observed beside an attack.
//!
//! Server and players run the program's own loop, each in a thread. Loads are bounded, because other
//! work runs on the same machine. Missed messages are judged by the server's sequence numbers, so that
//! a late machine does not look like a server that skips a client.

use std::{
    io::{PipeWriter, Write as _},
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::{Arc, Mutex, RwLock, RwLockReadGuard, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use fragd::{
    client::{Protocol, Statistics},
    game::{Flight, Game, Ruleset},
    io::{
        Clock, Console, ConsoleOutput, ExitReason, Listen, Options, Progress, RunSummary, Sockets,
        run,
    },
    model::{Millis, Qport, assets::MemoryAssets},
    node::{Hosted, Input, LocalPort, Node, Output, OutputKind, Route},
    observe::{Counter, Counters},
    server::Server,
    settings::Settings,
    sim::Player,
};

/// Longest gap between snapshots in server time: ten frames of 50 ms, because other work runs on
/// the machine.
const WORST_GAP_MS: i32 = 500;
/// Time limit of any step.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Time limit of threads.
const DEADLINE: Millis = Millis::seconds(90);
/// Players in a fixture.
pub(crate) const PLAYERS: usize = Protocol::CURRENT.len();
/// Ports of their router; one is unused at first.
const PORTS: u16 = PLAYERS as u16 + 1;

/// Attacks run beside each other; what measures the whole machine runs alone.
static MACHINE: RwLock<()> = RwLock::new(());

/// Waits until nothing else runs.
pub(crate) fn alone() -> impl Drop {
    MACHINE.write().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A server with these settings, of free flight on no map.
pub(crate) fn server(set: &[(&str, &str)]) -> Server {
    let mut settings = Settings::default();
    for (name, value) in set {
        settings.set(name, value).unwrap();
    }
    let rules = Box::new(|_| -> Box<dyn Game> { Box::new(Flight::new(Ruleset::BASEOA)) });
    Server::new(settings, Box::new(MemoryAssets::default()), rules, [3; 32])
}

/// One free port of this machine.
pub(crate) fn listen() -> Sockets {
    let ip4 = Some(Ipv4Addr::LOCALHOST);
    Sockets::listen(&[Listen {
        ip4,
        ip6: None,
        port: 0,
        separates_connectionless: true,
        ..Listen::default()
    }])
    .unwrap()
}

/// A socket on 127.0.`net`.`host`; elsewhere than on Linux there may be only one address.
pub(crate) fn socket_at(net: u8, host: u8) -> UdpSocket {
    let socket = UdpSocket::bind((Ipv4Addr::new(127, 0, net, host), 0))
        .unwrap_or_else(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    socket
}

/// A connectionless packet.
pub(crate) fn oob(text: impl AsRef<[u8]>) -> Vec<u8> {
    [b"\xff\xff\xff\xff", text.as_ref()].concat()
}

/// Received datagrams so far.
pub(crate) fn mail(socket: &UdpSocket) -> Vec<Vec<u8>> {
    socket.set_nonblocking(true).unwrap();
    let mut buffer = [0; 65_536];
    let mail = std::iter::from_fn(|| {
        let len = socket.recv(&mut buffer).ok()?;
        Some(buffer[..len].to_vec())
    });
    let mail = mail.collect();
    socket.set_nonblocking(false).unwrap();
    mail
}

/// The text of the next answer, or none within five seconds.
pub(crate) fn answer(socket: &UdpSocket) -> Option<String> {
    let mut buffer = [0; 65_536];
    let len = socket.recv(&mut buffer).ok()?;
    Some(String::from_utf8_lossy(buffer[..len].get(4..)?).into_owned())
}

/// Last observation of the server.
#[derive(Clone, Default)]
struct Look {
    counters: Counters,
    oversize: u64,
    players: usize,
}

/// Last observation of a player.
#[derive(Clone, Copy, Default)]
struct Sight {
    active: bool,
    faults: usize,
    statistics: Statistics,
    /// Level time of the newest snapshot.
    level_ms: i32,
    worst_gap_ms: i32,
}

/// Players on the ports of one router.
struct Room {
    players: Vec<Player>,
    sights: Arc<Mutex<Vec<Sight>>>,
    /// Assignment of router ports to players.
    moves: mpsc::Receiver<(usize, LocalPort)>,
    stopped: bool,
}

impl Room {
    fn look(&mut self) {
        let mut sights = self.sights.lock().unwrap();
        for (player, sight) in self.players.iter_mut().zip(sights.iter_mut()) {
            if let Some(snapshot) = player.client().snapshot() {
                let level_ms = snapshot.head.server_time.0;
                if sight.level_ms != 0 {
                    sight.worst_gap_ms = sight.worst_gap_ms.max(level_ms - sight.level_ms);
                }
                sight.level_ms = level_ms;
            }
            player.seen.clear();
            sight.active = player.is_active();
            sight.faults = player.faults.len();
            sight.statistics = player.client().statistics();
        }
    }
}

impl Node for Room {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        for player in self.players.iter_mut().filter(|player| player.port() == route.local) {
            player.handle_datagram(now, route, bytes);
        }
        self.look();
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        while let Ok((player, port)) = self.moves.try_recv() {
            self.players[player].set_port(port);
        }
        for player in self.players.iter_mut().filter(|player| player.next_frame() <= now) {
            player.frame(now);
        }
        self.look();
    }

    fn next_frame(&self) -> Millis {
        self.players.iter().map(Player::next_frame).min().unwrap()
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.players.iter_mut().find_map(|player| player.poll_transmit(packet))
    }

    fn is_finished(&self) -> bool {
        self.stopped
    }
}

impl Hosted for Room {
    fn handle_input(&mut self, _: Millis, input: Input<'_>) {
        self.stopped |= matches!(input, Input::ConsoleLine(_) | Input::Stop(_));
    }

    fn poll_output(&mut self, _: OutputKind) -> Option<Output> {
        None
    }

    fn local_ports(&self) -> u16 {
        PORTS
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }
}

/// Server, players and attacker.
pub(crate) struct LoopbackFixture {
    pub(crate) server: SocketAddr,
    /// Ports of the players' router.
    ports: Vec<SocketAddr>,
    look: Arc<Mutex<Look>>,
    sights: Arc<Mutex<Vec<Sight>>>,
    before: Vec<Sight>,
    moves: mpsc::Sender<(usize, LocalPort)>,
    consoles: [PipeWriter; 2],
    threads: [JoinHandle<RunSummary>; 2],
    /// Messages that a player may miss, by player: those under way to a port that it left.
    pub(crate) may_miss: [u64; PLAYERS],
    begun: Instant,
    _machine: RwLockReadGuard<'static, ()>,
}

impl LoopbackFixture {
    /// Three players in the game on a server with these settings.
    pub(crate) fn new(set: &[(&str, &str)]) -> Self {
        let machine = MACHINE.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (hosting, hosted) = listen_and_host(set);
        let (server, look, console, host) = hosting;
        hosted.recv_timeout(PATIENCE).unwrap();
        let (room, ports, sights, moves, way_out) = seat(server);
        let mut fixture = Self {
            server,
            ports,
            look,
            sights,
            before: Vec::new(),
            moves,
            consoles: [console, way_out],
            threads: [host, room],
            may_miss: [0; PLAYERS],
            begun: Instant::now(),
            _machine: machine,
        };
        fixture.wait("everybody plays", |fixture| {
            fixture.sights.lock().unwrap().iter().all(|s| s.active && s.statistics.snapshots >= 5)
        });
        let mut sights = fixture.sights.lock().unwrap();
        sights.iter_mut().for_each(|sight| sight.worst_gap_ms = 0);
        let before = sights.clone();
        drop(sights);
        fixture.before = before;
        fixture.begun = Instant::now();
        fixture
    }

    /// Waits for something that comes soon.
    pub(crate) fn wait(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn count(&self, counter: Counter) -> u64 {
        self.look.lock().unwrap().counters.get(counter)
    }

    /// Datagrams that were longer than any the protocol knows.
    pub(crate) fn oversize(&self) -> u64 {
        self.look.lock().unwrap().oversize
    }

    /// Players in the game.
    pub(crate) fn active(&self) -> usize {
        self.look.lock().unwrap().players
    }

    /// Seconds since the attack began, and a bit, for what is answered once a second.
    pub(crate) fn seconds(&self) -> usize {
        self.begun.elapsed().as_secs() as usize + 1
    }

    /// Source address of a player's packets.
    pub(crate) fn address_of(&self, player: usize) -> SocketAddr {
        self.ports[player]
    }

    pub(crate) fn qport_of(&self, player: usize) -> Qport {
        Qport(qport_seed(player) as u16)
    }

    /// Gives a player another port of its router.
    pub(crate) fn move_port(&self, player: usize, port: usize) {
        self.moves.send((player, LocalPort(port as u16))).unwrap();
    }

    /// Snapshots that a player was sent.
    pub(crate) fn snapshots(&self, player: usize) -> u64 {
        self.sights.lock().unwrap()[player].statistics.snapshots
    }

    /// Types a line into the server's console.
    pub(crate) fn console(&mut self, line: &str) {
        writeln!(self.consoles[0], "{line}").unwrap();
    }

    /// Sends `count` datagrams, `per_second` of them, in steps of a millisecond.
    pub(crate) fn storm(&self, count: usize, per_second: usize, mut send: impl FnMut(usize)) {
        let begun = Instant::now();
        let mut sent = 0;
        while sent < count {
            let due = begun.elapsed().as_micros() as usize * per_second / 1_000_000;
            for number in sent..due.min(count) {
                send(number);
            }
            sent = sent.max(due.min(count));
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// All players continue without missing a message, an unknown address gets a response, and the
    /// server ends as expected.
    pub(crate) fn check(mut self) {
        let stranger = socket_at(9, 9);
        // Its turn may come after a flood's: browsers ask again, too.
        let info = (0..20).find_map(|_| {
            stranger.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
            stranger.send_to(&oob("getinfo alive"), self.server).unwrap();
            answer(&stranger)
        });
        let info = info.expect("the server answers");
        assert!(info.contains("\\challenge\\alive"), "{info}");
        // Some more frames, so that what went wrong shows.
        let (from, frames) = (self.count(Counter::Frames), 10);
        self.wait("frames go on", |fixture| fixture.count(Counter::Frames) >= from + frames);

        let sights = self.sights.lock().unwrap().clone();
        for (player, (now, before)) in sights.iter().zip(&self.before).enumerate() {
            let since = now.statistics - before.statistics;
            assert!(now.active, "player {player} is gone");
            assert_eq!(now.faults, 0, "player {player}");
            let missed = since.lost_messages + since.discarded_snapshots;
            assert!(missed <= self.may_miss[player], "player {player} missed {missed}");
            assert!(since.snapshots >= frames, "player {player}: {} snapshots", since.snapshots);
            let worst = now.worst_gap_ms;
            assert!(worst <= WORST_GAP_MS, "player {player}: {worst} ms without a snapshot");
        }
        assert_eq!(self.count(Counter::SequencedShed), 0, "nothing of a player is shed");
        assert_eq!(self.count(Counter::ReliableOverflows), 0);
        for console in &mut self.consoles {
            writeln!(console, "quit").unwrap();
        }
        for thread in self.threads {
            assert_eq!(thread.join().unwrap().reason, ExitReason::Finished);
        }
    }
}

type Hosting = (SocketAddr, Arc<Mutex<Look>>, PipeWriter, JoinHandle<RunSummary>);

/// Starts the server. The first received datagram shows that it runs.
fn listen_and_host(set: &[(&str, &str)]) -> (Hosting, mpsc::Receiver<()>) {
    let mut all = vec![("sv_maxclients", "64")];
    all.extend_from_slice(set);
    let set: Vec<_> = all.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    let sockets = listen();
    let address = sockets.addresses(LocalPort(0)).next().unwrap();
    let (lines, console) = std::io::pipe().unwrap();
    let look = Arc::new(Mutex::new(Look::default()));
    let (tell, told) = mpsc::channel();
    let shared = Arc::clone(&look);
    let host = thread::spawn(move || {
        let set: Vec<_> = set.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let mut server = server(&set);
        tell.send(()).unwrap();
        let options = Options {
            console: Console::Reader(Box::new(lines)),
            output: ConsoleOutput::Writer(Box::new(std::io::sink())),
            progress: Some(Progress {
                first: Millis(0),
                interval: Millis(5),
                call: Box::new(move |server: &Server, _, engine| {
                    *shared.lock().unwrap() = Look {
                        counters: server.counters().clone(),
                        oversize: engine.oversize,
                        players: server.active_clients(),
                    };
                }),
            }),
            deadline: DEADLINE,
            ..Options::default()
        };
        run(&mut server, sockets, &Clock::start(), options).unwrap()
    });
    ((address, look, console, host), told)
}

type Seats = (
    JoinHandle<RunSummary>,
    Vec<SocketAddr>,
    Arc<Mutex<Vec<Sight>>>,
    mpsc::Sender<(usize, LocalPort)>,
    PipeWriter,
);

fn qport_seed(player: usize) -> u64 {
    0x1234 + 0x1111 * player as u64
}

/// Lets the players join.
fn seat(server: SocketAddr) -> Seats {
    let sockets = Sockets::ephemeral(PORTS, server.ip()).unwrap();
    let ports = (0..PLAYERS as u16)
        .map(|port| sockets.addresses(LocalPort(port)).next().unwrap().port())
        .map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        .collect();
    let (lines, way_out) = std::io::pipe().unwrap();
    let sights = Arc::new(Mutex::new(vec![Sight::default(); PLAYERS]));
    let (send, moves) = mpsc::channel();
    let shared = Arc::clone(&sights);
    let room = thread::spawn(move || {
        let clock = Clock::start();
        let players = Protocol::CURRENT.iter().enumerate().map(|(number, wire)| {
            let name = format!("honest{number}");
            let mut player = Player::new(server, wire, &name, qport_seed(number), clock.now());
            player.set_port(LocalPort(number as u16));
            player
        });
        let mut room = Room { players: players.collect(), sights: shared, moves, stopped: false };
        let console = Console::Reader(Box::new(lines));
        let options = Options { console, deadline: DEADLINE, ..Options::default() };
        run(&mut room, sockets, &clock, options).unwrap()
    });
    (room, ports, sights, send, way_out)
}
