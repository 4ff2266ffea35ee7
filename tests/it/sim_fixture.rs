//! Simulated server with players, checked at every step.

use fragd::{
    client::Protocol,
    game::{Flight, Game, Ruleset},
    impairment::Impairment,
    model::{
        Millis,
        assets::{Assets, MemoryAssets},
    },
    node::{Hosted as _, Input, LocalPort, Output, OutputKind},
    server::Server,
    settings::Settings,
    sim::{Actor, Network, Player, check_snapshots},
};

/// The server's place among the nodes.
pub(crate) const SERVER: usize = 0;

/// Settings of a server for many clients of one address.
pub(crate) const OPEN: [(&str, &str); 2] = [("sv_maxclients", "64"), ("sv_maxclientsPerIP", "0")];

/// Server, players and the network between them.
pub(crate) struct SimFixture {
    pub(crate) network: Network,
    pub(crate) actors: Vec<Actor>,
    /// Snapshots that were compared with what the server meant.
    pub(crate) compared: u64,
    seed: u64,
}

pub(crate) fn server(set: &[(&str, &str)]) -> Server {
    server_with(Box::new(MemoryAssets::default()), set)
}

/// A server that reads its maps from `assets`.
pub(crate) fn server_with(assets: Box<dyn Assets>, set: &[(&str, &str)]) -> Server {
    let mut settings = Settings::default();
    for (name, value) in set {
        settings.set(name, value).unwrap_or_else(|error| panic!("{error}"));
    }
    let mut entropy = [0; 32];
    entropy.iter_mut().zip(1..).for_each(|(byte, i)| *byte = i);
    let is_quake3 = set.contains(&("game", "baseq3"));
    let ruleset = if is_quake3 { Ruleset::BASEQ3 } else { Ruleset::BASEOA };
    let rules = Box::new(move |_| -> Box<dyn Game> { Box::new(Flight::new(ruleset)) });
    Server::new(settings, assets, rules, entropy)
}

impl SimFixture {
    /// A server with these settings on a network that only takes time.
    pub(crate) fn new(seed: u64, set: &[(&str, &str)]) -> Self {
        let all = [&OPEN[..], set].concat();
        Self::around(seed, Actor::Server(Box::new(server(&all))))
    }

    /// A server that was made elsewhere, on such a network.
    pub(crate) fn around(seed: u64, server: Actor) -> Self {
        Self {
            network: Network::new(seed, Impairment::latency(Millis(20)), Millis(1000)),
            actors: vec![server],
            compared: 0,
            seed,
        }
    }

    /// Lets a player begin to join and returns its place among the nodes.
    pub(crate) fn join(&mut self, wire: &'static Protocol, name: &str) -> usize {
        let node = self.actors.len();
        let server = Network::address(SERVER, LocalPort(0));
        let seed = self.seed * 1000 + node as u64;
        let player = Player::new(server, wire, name, seed, self.network.now());
        self.actors.push(Actor::Player(Box::new(player)));
        node
    }

    pub(crate) fn server(&self) -> &Server {
        self.actors[SERVER].server().unwrap()
    }

    pub(crate) fn console(&mut self, line: &str) {
        let now = self.network.now();
        self.actors[SERVER].handle_input(now, Input::ConsoleLine(line));
    }

    /// The next text of the server's console.
    pub(crate) fn server_output(&mut self) -> Option<String> {
        match self.actors[SERVER].poll_output(OutputKind::Console) {
            Some(Output::Console(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn player(&mut self, node: usize) -> &mut Player {
        self.actors[node].player().unwrap()
    }

    pub(crate) fn players(&mut self) -> impl Iterator<Item = &mut Player> {
        self.actors.iter_mut().filter_map(Actor::player)
    }

    /// Lets time pass. At every step each snapshot that a client took equals what the server sent it.
    pub(crate) fn run_for(&mut self, span: Millis) {
        let end = self.network.now() + span;
        let Self { network, actors, compared, seed } = self;
        network.run_until(actors, end, |network, actors| {
            let (server, players) = actors.split_at_mut(1);
            let Some(server) = server[0].server() else { return };
            for (at, actor) in players.iter_mut().enumerate() {
                let Some(player) = actor.player() else { continue };
                *compared += check_snapshots(server, 1 + at, player)
                    .unwrap_or_else(|what| panic!("seed {seed}, {}: {what}", network.now()));
            }
        });
    }

    /// No client met a protocol error.
    pub(crate) fn check_no_faults(&mut self) {
        let seed = self.seed;
        for (i, player) in self.players().enumerate() {
            assert!(player.faults.is_empty(), "seed {seed}, player {i}: {:?}", player.faults);
        }
    }
}
