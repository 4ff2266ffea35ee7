//! Simulated network of a master, 200 servers and 20 browsers under loss, duplication and forged traffic.

use std::net::SocketAddr;

use fragd::{
    browser::{Browser, BrowserOptions, MasterOptions as AskedMaster, Question, ServerState},
    discovery::{GAMES, HEARTBEAT_INTERVAL},
    impairment::Impairment,
    master::{Master, MasterOptions},
    model::Millis,
    node::{Hosted, Input, LocalPort, Node, Outbox, Output, OutputKind, Route},
    sim::Network,
    wire::connectionless::{HEARTBEAT_TAG, Message},
};

const SERVERS: usize = 200;
const BROWSERS: usize = 20;
/// Nodes: the master, then the servers, then the browsers.
const MASTER: usize = 0;
const FIRST_SERVER: usize = 1;
const FIRST_BROWSER: usize = FIRST_SERVER + SERVERS;
/// Time between the starts of two rounds of a browser.
const ROUND: Millis = Millis::seconds(120);
/// Time for which a master lists a server after its last answer.
const LISTED: Millis = Millis::seconds(900);

/// Server that does nothing but announce itself and answer.
#[derive(Debug)]
struct Announcer {
    master: SocketAddr,
    next_heartbeat: Millis,
    dead: bool,
    outbox: Outbox,
}

/// Node of the simulated network.
#[derive(Debug)]
enum Peer {
    Master(Box<Master>),
    Server(Announcer),
    Browser(Box<Browser>),
}

impl Peer {
    fn node(&mut self) -> &mut dyn Hosted {
        match self {
            Self::Master(node) => node.as_mut(),
            Self::Server(node) => node,
            Self::Browser(node) => node.as_mut(),
        }
    }

    fn browser(&self) -> Option<&Browser> {
        if let Self::Browser(browser) = self { Some(browser) } else { None }
    }
}

impl Node for Announcer {
    fn handle_datagram(&mut self, _: Millis, route: Route, bytes: &[u8]) {
        let Ok(Message::GetInfo(query)) = Message::parse(bytes) else { return };
        if self.dead {
            return;
        }
        let text = format!(
            "\\challenge\\{}\\protocol\\68\\hostname\\sim\\mapname\\q3dm17\\clients\\2\
             \\sv_maxclients\\8\\gametype\\0",
            query.challenge
        );
        let message = Message::InfoResponse(text.as_str().into());
        self.outbox.push_with(route, |out| message.write(out));
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        if now >= self.next_heartbeat && !self.dead {
            self.next_heartbeat = now + HEARTBEAT_INTERVAL;
            let route = Route::new(LocalPort(0), self.master);
            let message = Message::Heartbeat(HEARTBEAT_TAG.into());
            self.outbox.push_with(route, |out| message.write(out));
        }
    }

    fn next_frame(&self) -> Millis {
        if self.dead { Millis::NEVER } else { self.next_heartbeat }
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        false
    }
}

impl Hosted for Announcer {
    fn handle_input(&mut self, _: Millis, _: Input<'_>) {}

    fn poll_output(&mut self, _: OutputKind) -> Option<Output> {
        None
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }
}

impl Node for Peer {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.node().handle_datagram(now, route, bytes);
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        self.node().frame(now);
    }

    fn next_frame(&self) -> Millis {
        match self {
            Self::Master(node) => node.next_frame(),
            Self::Server(node) => node.next_frame(),
            Self::Browser(node) => node.next_frame(),
        }
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.node().poll_transmit(packet)
    }

    fn is_finished(&self) -> bool {
        false
    }
}

impl Hosted for Peer {
    fn handle_input(&mut self, _: Millis, _: Input<'_>) {}

    fn poll_output(&mut self, _: OutputKind) -> Option<Output> {
        None
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }
}

/// Address of the master that a peer uses: every other one uses the second.
fn master_address(number: u64) -> SocketAddr {
    if number.is_multiple_of(2) {
        Network::address(MASTER, LocalPort(0))
    } else {
        Network::second_address(MASTER, LocalPort(0))
    }
}

/// Returns the peers of the network. Servers and browsers start at different times.
fn peers() -> Vec<Peer> {
    let master = Master::new(MasterOptions::default(), [7; 32], Millis(0)).expect("a master");
    let mut peers = vec![Peer::Master(Box::new(master))];
    peers.extend((0..SERVERS as u64).map(|number| {
        let next_heartbeat = Millis(number * 1500);
        let master = master_address(number);
        Peer::Server(Announcer { master, next_heartbeat, dead: false, outbox: Outbox::default() })
    }));
    peers.extend((0..BROWSERS as u64).map(|number| {
        let question = Question { game: &GAMES[0], protocol: 68, extended: None };
        let asked = AskedMaster {
            label: "master".to_owned(),
            address: master_address(number),
            questions: vec![question],
        };
        let options = BrowserOptions {
            masters: vec![asked],
            watch: Some(ROUND),
            ..BrowserOptions::new(number)
        };
        // No round starts within four seconds before a check.
        Peer::Browser(Box::new(Browser::new(options, Millis(number * 5000 + 1000))))
    }));
    peers
}

/// Sends forged heartbeats, answers and lists from addresses that are not the sender's.
fn forge(network: &mut Network, number: u32) {
    let stranger: SocketAddr = ([203, 0, 113, number as u8], 1024 + (number % 999) as u16).into();
    let server = Network::address(FIRST_SERVER + number as usize % SERVERS, LocalPort(0));
    let master = Network::address(MASTER, LocalPort(0));
    let browser = FIRST_BROWSER + number as usize % BROWSERS;
    network.inject(stranger, MASTER, b"\xff\xff\xff\xffheartbeat QuakeArena-1\n");
    network.inject(server, MASTER, b"\xff\xff\xff\xffheartbeat ETFlatline-1\n");
    for challenge in ["xxx", "00000000", ""] {
        let answer = format!(
            "infoResponse\n\\challenge\\{challenge}\\protocol\\68\\hostname\\forged\
             \\clients\\1\\sv_maxclients\\8"
        );
        let answer = [b"\xff\xff\xff\xff", answer.as_bytes()].concat();
        network.inject(stranger, MASTER, &answer);
        network.inject(server, MASTER, &answer);
        network.inject(server, browser, &answer);
    }
    let list = b"\xff\xff\xff\xffgetserversResponse\\\xcb\x00\x71\x09\x6d\x38\\EOT\0\0\0";
    network.inject(stranger, browser, list);
    // Off the path, an attacker cannot know when the master's list is expected; this one always sends.
    let silent = b"\xff\xff\xff\xffgetserversResponse\\EOT\0\0\0";
    network.inject(master, browser, silent);
}

/// Returns the addresses of the servers that answered each browser's last round.
fn answered(peers: &[Peer]) -> Vec<Vec<SocketAddr>> {
    let of = |browser: &Browser| {
        let servers = browser.table().servers().iter();
        let answered = servers.filter(|server| server.state == ServerState::Answered);
        let mut found: Vec<_> = answered.map(|server| server.address).collect();
        found.sort_unstable();
        found
    };
    peers.iter().filter_map(Peer::browser).map(of).collect()
}

fn master_servers(peers: &[Peer]) -> usize {
    match &peers[MASTER] {
        Peer::Master(master) => master.servers(),
        _ => 0,
    }
}

#[test]
fn lists_are_complete_one_heartbeat_after_faults() {
    let faults = Impairment {
        latency: Millis(20),
        jitter: Millis(60),
        loss: 300,
        duplication: 200,
        reordering: 100,
        corruption: 20,
        ..Impairment::default()
    };
    let mut network = Network::new(11, faults, Millis(0));
    let mut peers = peers();
    for second in 0..600u32 {
        forge(&mut network, second);
        network.run_until(&mut peers, Millis::seconds(u64::from(second) + 1), |_, _| {});
    }
    for listed in answered(&peers) {
        assert!(listed.len() <= SERVERS, "no forged server answers");
    }

    network.set_impairment(Impairment::latency(Millis(40)));
    let healed = network.now();
    // One heartbeat, then one whole round of every browser.
    let complete = healed + HEARTBEAT_INTERVAL + ROUND + ROUND;
    network.run_until(&mut peers, complete, |_, _| {});
    let mut all: Vec<_> = (FIRST_SERVER..FIRST_BROWSER)
        .map(|server| Network::address(server, LocalPort(0)))
        .collect();
    all.sort_unstable();
    assert_eq!(master_servers(&peers), SERVERS);
    for listed in answered(&peers) {
        assert_eq!(listed, all);
    }

    // A tenth of the servers dies without a word.
    for peer in peers.iter_mut().skip(FIRST_SERVER).take(SERVERS / 10) {
        if let Peer::Server(server) = peer {
            server.dead = true;
        }
    }
    let died = network.now();
    network.run_until(&mut peers, died + LISTED + Millis::seconds(5), |_, _| {});
    assert_eq!(master_servers(&peers), SERVERS - SERVERS / 10);
    // Browsers forget a server after three rounds in which it neither answered nor was listed again.
    let end = network.now() + Millis(4 * ROUND.0);
    network.run_until(&mut peers, end, |_, _| {});
    for peer in &peers {
        let Some(browser) = peer.browser() else { continue };
        assert_eq!(browser.table().servers().len(), SERVERS - SERVERS / 10);
    }
}
