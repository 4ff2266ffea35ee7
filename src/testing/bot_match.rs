//! Bot match fixture: an OpenArena server and bots in one process, on a lossless network.
//!
//! The same seed gives the same match, datagram for datagram.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash as _, Hasher as _},
    sync::Arc,
};

use crate::{
    bots::{Behavior, Behaviors, Bots, BotsOptions},
    client::Protocol,
    game::{Deathmatch, Game, Ruleset},
    impairment::Impairment,
    model::{Millis, assets::MemoryAssets},
    node::{Hosted, Input, LocalPort, Node, Output, OutputKind, Route, take_text},
    server::Server,
    settings::Settings,
    sim::{Actor, Network},
    world::{Bsp, CollisionMap, TracePrecision},
};

/// Duration of the bots' stay: longer than any match.
const STAY: Millis = Millis::seconds(3600);

/// Input of a node, with its time.
#[derive(Debug)]
enum RecordedInput {
    Datagram(Millis, Route, Vec<u8>),
    /// A call of its frame.
    Frame(Millis),
    /// All pending datagrams were taken; total bytes so far.
    Drained(Millis, u64),
}

impl RecordedInput {
    fn at(&self) -> Millis {
        match self {
            Self::Datagram(at, ..) | Self::Frame(at) | Self::Drained(at, _) => *at,
        }
    }
}

/// Node whose inputs, sent datagrams and log are recorded.
struct RecordingNode {
    actor: Actor,
    sent: DefaultHasher,
    sent_bytes: u64,
    inputs: Option<Vec<RecordedInput>>,
    log: String,
}

impl RecordingNode {
    fn new(actor: Actor) -> Self {
        Self { actor, sent: DefaultHasher::new(), sent_bytes: 0, inputs: None, log: String::new() }
    }
}

impl Node for RecordingNode {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        if let Some(inputs) = &mut self.inputs {
            inputs.push(RecordedInput::Datagram(now, route, bytes.to_vec()));
        }
        self.actor.handle_datagram(now, route, bytes);
    }

    fn expect_datagram(&self, bytes: &[u8]) {
        self.actor.expect_datagram(bytes);
    }

    fn frame(&mut self, now: Millis) {
        if let Some(inputs) = &mut self.inputs {
            inputs.push(RecordedInput::Frame(now));
        }
        self.actor.frame(now);
    }

    fn next_frame(&self) -> Millis {
        self.actor.next_frame()
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        let Some(route) = self.actor.poll_transmit(packet) else {
            if let Some(inputs) = &mut self.inputs
                && let Some(RecordedInput::Datagram(at, ..) | RecordedInput::Frame(at)) =
                    inputs.last()
            {
                let at = *at;
                inputs.push(RecordedInput::Drained(at, self.sent_bytes));
            }
            return None;
        };
        self.sent_bytes += packet.len() as u64;
        (route.remote, route.local.0, &*packet).hash(&mut self.sent);
        Some(route)
    }

    fn is_finished(&self) -> bool {
        self.actor.is_finished()
    }
}

impl Hosted for RecordingNode {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        self.actor.handle_input(now, input);
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        self.log.push_str(&take_text(&mut self.actor, OutputKind::GameLog));
        self.actor.poll_output(kind)
    }

    fn local_ports(&self) -> u16 {
        self.actor.local_ports()
    }

    fn receive_coalescing(&self) -> Millis {
        self.actor.receive_coalescing()
    }
}

/// Server on a map, given by name and file.
pub fn server((map, file): (&str, &[u8]), seed: u64, set: &[(&str, &str)]) -> Server {
    let mut settings = Settings::default();
    let usual = [("sv_maxclients", "64"), ("sv_maxclientsPerIP", "0"), ("map", map)];
    for (name, value) in usual.iter().chain(set) {
        settings.set(name, value).unwrap_or_else(|error| panic!("{error}"));
    }
    settings.start().unwrap();
    let mut assets = MemoryAssets::default();
    assets.insert(&format!("maps/{map}.bsp"), file.to_vec()).unwrap();
    let rules = Box::new(|_| -> Box<dyn Game> { Box::new(Deathmatch::new(Ruleset::BASEOA)) });
    Server::new(settings, Box::new(assets), rules, [seed as u8; 32])
}

/// A server and its bots.
pub struct BotMatch {
    pub network: Network,
    nodes: [RecordingNode; 2],
}

impl BotMatch {
    /// Bot match with 20 ms of latency; the map is a name and its file.
    pub fn on(map: (&str, &[u8]), count: u16, seed: u64, set: &[(&str, &str)]) -> Self {
        Self::over(Impairment::latency(Millis(20)), map, count, seed, set)
    }

    /// Bot match over an impaired network.
    pub fn over(
        impairment: Impairment,
        map: (&str, &[u8]),
        count: u16,
        seed: u64,
        set: &[(&str, &str)],
    ) -> Self {
        let server = server(map, seed, set);
        let network = Network::new(seed, impairment, Millis(1000));
        let address = Network::address(0, LocalPort(0));
        let options = BotsOptions {
            seed,
            joins_per_second: 16,
            behavior: Behaviors::default().with(Behavior::Wander).with(Behavior::Fight),
            ..BotsOptions::new(address, Protocol::Q3_68, count, STAY)
        };
        let bsp = Bsp::load(map.1).unwrap();
        let collision = Arc::new(CollisionMap::new(&bsp, TracePrecision::Single).unwrap());
        let find = Box::new(move |_: &str| Some(collision.clone()));
        let bots = Bots::with_maps_and_meter(options, network.now(), Some(find), None);
        let nodes = [Actor::Server(Box::new(server)), Actor::Bots(Box::new(bots))];
        Self { network, nodes: nodes.map(RecordingNode::new) }
    }

    pub fn run_for(&mut self, span: Millis) {
        let end = self.network.now() + span;
        self.network.run_until(&mut self.nodes, end, |_, _| {});
    }

    /// Runs up to the server's next frame. `frame` gets the call that runs it.
    pub fn next_frame(&mut self, frame: impl FnOnce(&mut dyn FnMut())) {
        let at = self.nodes[0].next_frame();
        self.network.run_until(&mut self.nodes, Millis(at.0 - 1), |_, _| {});
        frame(&mut || self.nodes[0].actor.frame(at));
    }

    pub fn server(&self) -> &Server {
        self.nodes[0].actor.server().unwrap()
    }

    pub fn bots(&self) -> &Bots {
        self.nodes[1].actor.bots().unwrap()
    }

    /// Log lines of the server.
    pub fn log(&self) -> &str {
        &self.nodes[0].log
    }

    /// Digest of all sent datagrams and logged lines.
    pub fn digest(&self) -> u64 {
        let mut all = DefaultHasher::new();
        for node in &self.nodes {
            (node.sent.finish(), &node.log).hash(&mut all);
        }
        all.finish()
    }
}

/// Replay of a recorded bot match on a new server, which must send as many bytes.
pub struct Replay {
    server: Server,
    inputs: Vec<RecordedInput>,
    /// Number of inputs replayed.
    passed: usize,
    now: Millis,
    sent_bytes: u64,
    packet: Vec<u8>,
}

impl Replay {
    /// Statistics of `count` bots on a map after the given time.
    pub fn of(map: (&str, &[u8]), count: u16, span: Millis) -> Self {
        let set = [("fraglimit", "0"), ("g_log", "")];
        let mut recorded = BotMatch::on(map, count, 7, &set);
        recorded.nodes[0].inputs = Some(Vec::new());
        let now = recorded.network.now();
        recorded.run_for(span);
        assert_eq!(recorded.server().active_clients(), usize::from(count));
        let inputs = recorded.nodes[0].inputs.take().unwrap_or_default();
        let server = server(map, 7, &set);
        Self { server, inputs, passed: 0, now, sent_bytes: 0, packet: Vec::new() }
    }

    /// Replays the inputs of a time span.
    pub fn run_for(&mut self, span: Millis) {
        self.now += span;
        // The inputs stay in memory: the server does not release them.
        while let Some(input) = self.inputs.get(self.passed).filter(|input| input.at() <= self.now)
        {
            self.passed += 1;
            // As the event loop does.
            if let Some(RecordedInput::Datagram(.., bytes)) = self.inputs.get(self.passed) {
                self.server.expect_datagram(bytes);
            }
            match input {
                RecordedInput::Datagram(at, route, bytes) => {
                    self.server.handle_datagram(*at, *route, bytes);
                }
                RecordedInput::Frame(at) => self.server.frame(*at),
                RecordedInput::Drained(_, sent_bytes) => {
                    while self.server.poll_transmit(&mut self.packet).is_some() {
                        self.sent_bytes += self.packet.len() as u64;
                    }
                    assert_eq!(
                        self.sent_bytes, *sent_bytes,
                        "the replay diverged from the recording"
                    );
                }
            }
            while self.server.poll_output(OutputKind::Console).is_some() {}
            while self.server.poll_output(OutputKind::GameLog).is_some() {}
        }
    }
}
