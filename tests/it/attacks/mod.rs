//! Known attacks on Quake III servers, each against a running server with players beside it.
//!
//! `rows.csv` names every attack by its number and the tests that cover it. Three players, one per
//! protocol, play beside the attack. At the end all of them are in the game, and their snapshots
//! equaled the server's at every step. No two snapshots were further apart than [`WORST_GAP`], and an
//! unknown address gets a response.

mod amplification;
mod connectionless;
mod files;
mod finite;
mod legacy;
mod messages;
mod netchan;
mod overload;
mod quakeworld;
mod raw_client;
mod rows;
mod shared;
mod slots;
mod userinfo;
mod work;

use std::net::SocketAddr;

use fragd::{
    client::Protocol,
    model::{ConfigIndex, Millis, Qport, ServerId},
    node::{LocalPort, Node as _, Route},
    observe::Counter,
    relay::{Broadcast, BroadcastOptions},
    server::Server,
    sim::{Actor, Network},
    wire::info::InfoString,
};

use crate::{
    relay::still,
    sim_fixture::{OPEN, SERVER, SimFixture},
};

/// Longest time between two snapshots of a player beside an attack: a frame of 50 ms plus one step.
const WORST_GAP: Millis = Millis(60);
/// Interval between observations of players.
const STEP: Millis = Millis(10);
/// The seed of every fixture.
const SEED: u64 = 91;

/// A player who does no harm, and how it is served.
struct Honest {
    node: usize,
    snapshots: u64,
    last: Millis,
    worst_gap: Millis,
}

/// Server, three players and an attacker.
struct AttackFixture {
    sim: SimFixture,
    honest: Vec<Honest>,
    /// Longest time that they may be without a snapshot.
    worst_gap: Millis,
    /// Datagrams to addresses without a node, not yet read.
    mail: Vec<(SocketAddr, Vec<u8>)>,
}

impl AttackFixture {
    /// The same on server and relay, with settings that both have.
    fn each(set: &[(&str, &str)]) -> impl Iterator<Item = Self> {
        let options = relay_options(&[&OPEN[..], set].concat());
        let relay = Actor::Broadcast(Box::new(Broadcast::new(still(), options, [7; 32])));
        [Self::new(set), Self::around(SimFixture::around(SEED, relay))].into_iter()
    }

    /// Three players in the game, on a server with these settings.
    fn new(set: &[(&str, &str)]) -> Self {
        Self::around(SimFixture::new(SEED, set))
    }

    fn around(mut sim: SimFixture) -> Self {
        let _ = sim.network.take_outside();
        let nodes = Protocol::CURRENT.map(|wire| sim.join(wire, "honest"));
        sim.run_for(Millis::seconds(3));
        let now = sim.network.now();
        let honest = nodes.map(|node| Honest {
            node,
            snapshots: sim.player(node).client().statistics().snapshots,
            last: now,
            worst_gap: Millis(0),
        });
        let mut fixture =
            Self { sim, honest: honest.into(), worst_gap: WORST_GAP, mail: Vec::new() };
        fixture.run_for(500);
        fixture.honest.iter_mut().for_each(|honest| honest.worst_gap = Millis(0));
        fixture
    }

    fn now(&self) -> Millis {
        self.sim.network.now()
    }

    fn server(&self) -> &Server {
        self.sim.server()
    }

    /// The relay under attack; `None` if a server is.
    fn relay(&self) -> Option<&Broadcast<'static>> {
        self.sim.actors[SERVER].broadcast()
    }

    fn count(&self, counter: Counter) -> u64 {
        self.relay().map_or_else(|| self.server().counters(), Broadcast::counters).get(counter)
    }

    /// Clients in the game, or viewers.
    fn clients(&self) -> usize {
        self.relay().map_or_else(|| self.server().active_clients(), Broadcast::viewers)
    }

    /// Server id of the level in force, as players have it.
    fn server_id(&mut self) -> ServerId {
        let node = self.honest[0].node;
        let info = self.sim.player(node).client().configstring(ConfigIndex::SYSTEMINFO).to_owned();
        ServerId(InfoString::parse_big(&info).int("sv_serverid").expect("a server id"))
    }

    /// Address of a player.
    fn address_of(&self, honest: usize) -> SocketAddr {
        Network::address(self.honest[honest].node, LocalPort(0))
    }

    /// The qport of a player.
    fn qport_of(&self, honest: usize) -> Qport {
        Qport((SEED * 1000 + self.honest[honest].node as u64) as u16)
    }

    /// Lets time pass and looks at the players.
    fn run_for(&mut self, ms: u64) {
        let end = self.now() + Millis(ms);
        while self.now() < end {
            let step = STEP.min(end.since(self.now()));
            self.sim.run_for(step);
            let now = self.now();
            for honest in &mut self.honest {
                let snapshots = self.sim.player(honest.node).client().statistics().snapshots;
                honest.worst_gap = honest.worst_gap.max(now.since(honest.last));
                if snapshots != honest.snapshots {
                    honest.snapshots = snapshots;
                    honest.last = now;
                }
            }
        }
        self.mail.extend(self.sim.network.take_outside());
    }

    /// Hands the server a datagram at this very moment, and returns what it answers to that address.
    fn send(&mut self, from: SocketAddr, bytes: &[u8]) -> Vec<Vec<u8>> {
        let now = self.now();
        let server = &mut self.sim.actors[SERVER];
        server.handle_datagram(now, Route::new(LocalPort(0), from), bytes);
        let (mut packet, mut replies) = (Vec::new(), Vec::new());
        while let Some(to) = self.sim.actors[SERVER].poll_transmit(&mut packet) {
            if to.remote == from {
                replies.push(packet.clone());
                continue;
            }
            let from = Network::address(SERVER, LocalPort(0));
            let owner = (0..self.sim.actors.len())
                .find(|&node| Network::address(node, LocalPort(0)) == to.remote);
            match owner {
                Some(node) => self.sim.network.inject(from, node, &packet),
                None => self.mail.push((to.remote, packet.clone())),
            }
        }
        replies
    }

    /// The same with the text of a connectionless packet; the answers' text.
    fn ask(&mut self, from: SocketAddr, text: impl AsRef<[u8]>) -> Vec<String> {
        let replies = self.send(from, &oob(text));
        replies.iter().map(|reply| String::from_utf8_lossy(&reply[4..]).into_owned()).collect()
    }

    /// All players are in the game, without a gap or protocol error. The server answers an unknown
    /// address within a second.
    fn check(mut self) {
        self.run_for(1000);
        let info = self.ask(([192, 0, 2, 250], 9).into(), "getinfo alive");
        assert!(info.len() == 1 && info[0].contains("\\challenge\\alive"), "{info:?}");
        for (i, honest) in self.honest.iter().enumerate() {
            let player = self.sim.player(honest.node);
            assert!(player.is_active(), "player {i}: {:?}", player.disconnect_reason());
            let worst = honest.worst_gap;
            assert!(worst <= self.worst_gap, "player {i}: {worst} without a snapshot");
        }
        assert!(self.relay().is_some() || self.sim.compared > 100, "views were compared");
        self.sim.check_no_faults();
    }
}

/// Options of a relay for settings of a server. A setting that a relay lacks fails the test.
fn relay_options(set: &[(&str, &str)]) -> BroadcastOptions {
    let mut options = BroadcastOptions::default();
    for (name, value) in set {
        let number = || value.parse::<u32>().expect("a number");
        match *name {
            "sv_maxclients" => options.max_viewers = number(),
            "sv_maxclientsPerIP" => {
                options.max_per_address =
                    if number() == 0 { options.max_viewers } else { number() };
            }
            "sv_timeout" => options.timeout = Millis::seconds(number().into()),
            // A relay has no remote console.
            "rconPassword" => {}
            _ => panic!("a relay has no {name}: test the server alone, with `new`"),
        }
    }
    options
}

/// A connectionless packet.
fn oob(text: impl AsRef<[u8]>) -> Vec<u8> {
    [b"\xff\xff\xff\xff", text.as_ref()].concat()
}

/// One of very many far addresses.
fn anyone(i: u32) -> SocketAddr {
    let [_, a, b, c] = i.wrapping_mul(0x9e37_79b1).to_be_bytes();
    SocketAddr::from(([20 + a % 80, a, b, c], 1024 + (i % 60_000) as u16))
}
