//! A server and players through good and bad weather, and what must hold all the while.
//!
//! Time goes in stretches: faults drawn from the seed, then a pause in which everything heals. Checked
//! at every step: what a player took from a snapshot is what the server meant to send; reliable commands
//! are heard once and in order; nothing is sent faster than a rate allows, or in datagrams that no
//! network carries; the server is sound inside. Checked in every pause: within [`HEALING`] everybody
//! plays and hears everybody.
//!
//! Invariant: the same plan and server give the same run. After a stretch that flips bits, which nothing
//! in the protocol notices, players begin anew; until then only soundness is asked.

use std::fmt;

use super::{
    Actor, Network, NodeId, Player,
    bandwidth::Bandwidth,
    ears::{Ears, Said},
    views::compare_views,
    weather::Weather,
};
use crate::{
    client::ClientWire,
    model::{Millis, Qport},
    node::{LocalPort, Node as _},
    server::Server,
    shape::{Dice, Shape},
};

/// The server's place among the nodes. Players follow.
const SERVER: NodeId = 0;
/// Once nothing goes wrong any more, everybody plays within this time.
pub const HEALING: Millis = Millis::seconds(15);
/// And hears everybody within this time more.
const ROLL_CALL: Millis = Millis::seconds(5);
/// How far apart events are.
const MOMENT: Millis = Millis(250);
/// What is under way is gone after this, and machines run again.
const SETTLING: Millis = Millis::seconds(4);
/// Settings that a server in a trial needs beside those of its level: players talk as fast as they
/// like, all come from one network, and who is gone is noticed soon.
pub const SETTINGS: [(&str, &str); 6] = [
    ("sv_maxclients", "64"),
    ("sv_maxclientsPerIP", "0"),
    ("sv_floodProtect", "0"),
    ("sv_lanForceRate", "0"),
    ("sv_maxRate", "0"),
    ("sv_timeout", "30"),
];
/// Rates that players ask for.
const RATES: [u32; 3] = [90_000, 25_000, 8000];

/// What a trial is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// All chance grows from it.
    pub seed: u64,
    /// Virtual time.
    pub span: Millis,
    /// Players, 1 to 64.
    pub players: u8,
    /// No faults: people come and go, maps change.
    pub calm: bool,
    /// Maps to change to.
    pub maps: Vec<String>,
}

/// What a trial came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Virtual time.
    pub time: Millis,
    /// Stretches of weather.
    pub stretches: u32,
    /// Datagrams that were sent by anybody.
    pub datagrams: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Snapshots that were compared.
    pub snapshots: u64,
    /// Numbered lines that were heard.
    pub lines: u64,
    /// Times that a player began to join.
    pub joins: u32,
    /// Maps that were begun, restarts included.
    pub maps: u32,
    /// Times that a player's router gave it another port.
    pub rebinds: u32,
    /// Machines that stalled, and clocks that jumped.
    pub stalls: u32,
    /// Datagrams of strangers.
    pub strangers: u64,
    /// Longest time until everybody played again.
    pub slowest_healing: Millis,
    /// Most bytes that a client was sent above its rate at a time.
    pub most_above_rate: u64,
    /// Checksum of the whole run.
    pub transcript: u32,
}

/// What did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When.
    pub at: Millis,
    /// In which stretch, from 1.
    pub stretch: u32,
    /// What.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}, stretch {}: {}", self.at, self.stretch, self.what)
    }
}

/// One of the people.
#[derive(Debug, Default)]
struct Person {
    life: u32,
    line: u32,
    ears: Ears,
    /// Ports of its router that it has had, in all its lives.
    ports: u16,
    /// Away until then; `None` while it is there.
    back_at: Option<Millis>,
}

/// A trial under way.
pub struct Trial {
    plan: Plan,
    network: Network,
    actors: Vec<Actor>,
    people: Vec<Person>,
    dice: Dice,
    checks: Checks,
    /// Lines of the console so far.
    console_line: u32,
    /// When somebody last fell silent without a word.
    abandoned_at: Option<Millis>,
    figures: Figures,
}

/// What is checked at every step.
#[derive(Debug, Default)]
struct Checks {
    bandwidth: Bandwidth,
    /// Datagrams may be cut, so players may complain of what they cannot read.
    cuts: bool,
    /// Datagrams may be something else than what was sent.
    damages: bool,
    snapshots: u64,
    lines: u64,
    failure: Option<(Millis, String)>,
}

impl Checks {
    fn step(&mut self, network: &mut Network, actors: &mut [Actor], people: &mut [Person]) {
        if self.failure.is_none()
            && let Err(what) = self.look(network, actors, people)
        {
            self.failure = Some((network.now(), what));
        }
    }

    fn look(
        &mut self,
        network: &mut Network,
        actors: &mut [Actor],
        people: &mut [Person],
    ) -> Result<(), String> {
        for passage in network.take_noted().filter(|passage| !passage.is_connectionless) {
            let Some((node, _)) = Network::owner(passage.to) else { continue };
            if !self.damages && node > SERVER {
                self.bandwidth.add(&passage, rate(node))?;
            }
        }
        let (server, players) = actors.split_at_mut(SERVER + 1);
        let server = server[SERVER].server().ok_or("there is no server")?;
        server.soundness()?;
        for (place, (actor, person)) in players.iter_mut().zip(people).enumerate() {
            let Some(player) = actor.player() else { continue };
            if self.damages {
                player.seen.clear();
                player.heard.clear();
            }
            self.snapshots += compare_views(server, SERVER + 1 + place, player)
                .map_err(|what| format!("player {place}: {what}"))?;
            for fault in player.faults.drain(..) {
                if !self.cuts {
                    return Err(format!("player {place}: {fault}"));
                }
                log::debug!("{}: player {place}: {fault}", network.now());
            }
            if !player.heard.is_empty() {
                let (at, levels, heard) = (network.now(), player.levels, &player.heard);
                log::trace!("{at}: player {place}, gamestate {levels}: {heard:?}");
            }
            let is_behind = player.client().server_id() != Some(server.server_id());
            let heard = player.heard.iter().map(String::as_str);
            self.lines += person
                .ears
                .hear_all(player.levels, is_behind, heard)
                .map_err(|what| format!("player {place}: {what}"))?;
            player.heard.clear();
        }
        Ok(())
    }
}

impl Trial {
    /// A trial of `server`, which is a [`Actor::Server`] or [`Actor::Recorded`] made with [`SETTINGS`].
    #[must_use]
    pub fn new(plan: Plan, server: Actor) -> Self {
        let mut network = Network::new(plan.seed, Shape::latency(Millis(20)), Millis(1000));
        network.note(SERVER);
        let mut trial = Self {
            network,
            actors: vec![server],
            people: Vec::new(),
            dice: Dice::new(plan.seed ^ 0x7ea7_0f5e),
            checks: Checks::default(),
            console_line: 0,
            abandoned_at: None,
            figures: Figures::default(),
            plan,
        };
        for place in 0..usize::from(trial.plan.players.clamp(1, 64)) {
            trial.actors.push(Actor::Nobody);
            trial.people.push(Person::default());
            trial.join(place, LocalPort(0));
        }
        trial
    }

    /// Runs the plan to its end, or to the first thing that does not hold.
    ///
    /// # Errors
    /// What does not hold.
    pub fn run(&mut self) -> Result<Figures, Failure> {
        let end = self.network.now() + self.plan.span;
        let mut result = self.heal();
        while result.is_ok() && self.network.now() < end {
            result = self.stretch();
        }
        result.map(|()| self.figures()).map_err(|what| {
            let (at, what) = self.checks.failure.take().unwrap_or((self.network.now(), what));
            Failure { at, stretch: self.figures.stretches, what }
        })
    }

    /// What it came to so far.
    #[must_use]
    pub fn figures(&self) -> Figures {
        Figures {
            time: self.network.now(),
            datagrams: self.network.sent(),
            bytes: self.network.bytes_sent(),
            snapshots: self.checks.snapshots,
            lines: self.checks.lines,
            most_above_rate: self.checks.bandwidth.fullest(),
            transcript: self.network.transcript(),
            ..self.figures
        }
    }

    /// The server.
    #[must_use]
    pub fn server(&self) -> Option<&Server> {
        self.actors[SERVER].server()
    }

    /// The server as it was handed in.
    #[must_use]
    pub fn into_server(mut self) -> Actor {
        self.actors.swap_remove(SERVER)
    }

    /// Faults for a while, then healing.
    fn stretch(&mut self) -> Result<(), String> {
        self.figures.stretches += 1;
        let weather = if self.plan.calm { Weather::calm() } else { Weather::draw(&mut self.dice) };
        log::debug!("stretch {} at {}: {weather:?}", self.figures.stretches, self.network.now());
        self.network.set_shape(weather.shape);
        self.checks.cuts = weather.cuts();
        self.checks.damages = weather.damages();
        let moments = if self.plan.calm { 1200 } else { 20 + self.dice.below(120) };
        for _ in 0..moments {
            self.events(&weather);
            self.pass(MOMENT)?;
        }
        self.heal()
    }

    /// Nothing goes wrong any more: everybody has to play and to hear everybody.
    fn heal(&mut self) -> Result<(), String> {
        self.network.set_shape(Shape::latency(Millis(20)));
        self.pass(SETTLING)?;
        for place in 0..self.people.len() {
            if self.checks.damages {
                self.vanish(place);
            }
            if self.people[place].back_at.is_some() || !self.plays_on(place) {
                self.join(place, LocalPort(0));
            }
        }
        (self.checks.cuts, self.checks.damages) = (false, false);
        self.checks.bandwidth.forget();
        let began = self.network.now();
        while let Some(place) = self.someone_outside() {
            if self.network.now().since(began) > HEALING {
                let player = self.actors[SERVER + 1 + place].player();
                let stage = player.map(|player| (player.client().stage(), player.refusal.clone()));
                return Err(format!(
                    "player {place} is outside {HEALING} after all is well: {stage:?}"
                ));
            }
            self.pass(MOMENT)?;
        }
        let took = self.network.now().since(began);
        self.figures.slowest_healing = self.figures.slowest_healing.max(took);
        self.roll_call()?;
        self.check_slots()
    }

    /// Everybody says a line, and everybody has to hear it.
    fn roll_call(&mut self) -> Result<(), String> {
        let called: Vec<_> = (0..=self.people.len()).map(|place| self.say(place)).collect();
        let began = self.network.now();
        loop {
            self.pass(MOMENT)?;
            let deaf = (0..self.people.len()).find_map(|place| {
                let heard = |said: &&Option<Said>| match said {
                    Some(said) => self.people[place].ears.last_of(said.speaker) == Some(*said),
                    None => false,
                };
                let missing = called.iter().find(|said| !heard(said))?;
                Some((place, *missing))
            });
            let Some((place, missing)) = deaf else { return Ok(()) };
            if self.network.now().since(began) > ROLL_CALL {
                let missing = missing.map_or("somebody who cannot speak".to_owned(), Said::words);
                return Err(format!("player {place} does not hear \"{missing}\""));
            }
        }
    }

    /// Every slot is somebody's.
    fn check_slots(&mut self) -> Result<(), String> {
        let now = self.network.now();
        // Who fell silent keeps a slot until the server gives up on it.
        let settled = self.abandoned_at.is_none_or(|at| now.since(at) > Millis::seconds(40));
        let used = self.server().map_or(0, Server::active_clients);
        if settled && used != self.people.len() {
            return Err(format!("{used} clients play, and {} people", self.people.len()));
        }
        Ok(())
    }

    /// Lets time pass and checks each step of it.
    fn pass(&mut self, span: Millis) -> Result<(), String> {
        let end = self.network.now() + span;
        let Self { network, actors, people, checks, .. } = self;
        network.run_until(actors, end, |network, actors| checks.step(network, actors, people));
        match &self.checks.failure {
            Some((_, what)) => Err(what.clone()),
            None => Ok(()),
        }
    }

    /// What happens in one moment.
    fn events(&mut self, weather: &Weather) {
        self.come_back();
        if self.dice.chance(weather.rebinds)
            && let Some(place) = self.anybody()
        {
            let port = self.new_port(place);
            if let Some(player) = self.player(place) {
                player.set_port(port);
                self.figures.rebinds += 1;
            }
        }
        if self.dice.chance(weather.server_stalls) {
            let span = Millis(20 + self.dice.below(2000));
            self.network.stall(SERVER, span);
            self.figures.stalls += 1;
        }
        if self.dice.chance(weather.player_stalls) {
            let node = 1 + self.dice.below(self.people.len() as u64) as usize;
            let span = Millis(20 + self.dice.below(3500));
            self.network.stall(node, span);
            self.figures.stalls += 1;
        }
        if self.dice.chance(weather.jumps) {
            let node = self.dice.below(self.actors.len() as u64) as usize;
            let span = Millis(1 + self.dice.below(4000));
            self.network.jump_clock(node, span);
            self.figures.stalls += 1;
        }
        if self.dice.chance(weather.leaves)
            && let Some(place) = self.anybody()
        {
            self.leave(place);
        }
        if self.dice.chance(weather.maps) {
            self.change_map();
        }
        if self.dice.chance(weather.floods) {
            self.flood();
        }
        if self.dice.chance(weather.talk) && !weather.damages() {
            let place = self.dice.below(self.people.len() as u64 + 1) as usize;
            let _ = self.say(place);
        }
    }

    /// Somebody who is there.
    fn anybody(&mut self) -> Option<usize> {
        let place = self.dice.below(self.people.len() as u64) as usize;
        self.people[place].back_at.is_none().then_some(place)
    }

    fn player(&mut self, place: usize) -> Option<&mut Player> {
        self.actors[SERVER + 1 + place].player()
    }

    /// Whether a player is there and has not ended.
    fn plays_on(&mut self, place: usize) -> bool {
        self.player(place).is_some_and(|player| player.ending().is_none())
    }

    fn someone_outside(&mut self) -> Option<usize> {
        (0..self.people.len())
            .find(|&place| !self.player(place).is_some_and(|player| player.is_active()))
    }

    /// A player begins a new life.
    fn join(&mut self, place: usize, port: LocalPort) {
        let node = SERVER + 1 + place;
        let person = &mut self.people[place];
        let life = person.life + 1;
        *person = Person { life, ports: person.ports, ..Person::default() };
        self.figures.joins += 1;
        let seed = self.plan.seed.wrapping_mul(0x9e37_79b9).wrapping_add(place as u64);
        let seed = seed.wrapping_add(u64::from(life) << 32);
        let rate = rate(node).to_string();
        let name = format!("p{place}");
        let pairs = [("name", name.as_str()), ("rate", &rate), ("snaps", "20"), ("model", "sarge")];
        let wire = ClientWire::ALL[place % ClientWire::ALL.len()];
        let server = Network::address(SERVER, LocalPort(0));
        let qport = Qport(1000 + place as u16);
        let now = self.network.clock(node);
        let mut player = Player::with_userinfo(server, wire, &pairs, (qport, seed), now);
        player.be_restless(seed);
        player.set_port(port);
        self.actors[node] = Actor::Player(Box::new(player));
    }

    /// A port that the player's router has not given it before. Routers do not give one again soon.
    fn new_port(&mut self, place: usize) -> LocalPort {
        let person = &mut self.people[place];
        person.ports = person.ports % 20_000 + 1;
        LocalPort(person.ports)
    }

    /// A player leaves, politely or by falling silent, for a while.
    fn leave(&mut self, place: usize) {
        let now = self.network.clock(SERVER + 1 + place);
        if self.dice.chance(500) {
            if let Some(player) = self.player(place) {
                player.leave(now);
            }
        } else {
            self.vanish(place);
        }
        let back_at = self.network.now() + Millis(500 + self.dice.below(12_000));
        self.people[place].back_at = Some(back_at);
    }

    /// A player falls silent.
    fn vanish(&mut self, place: usize) {
        self.abandoned_at = Some(self.network.now());
        self.actors[SERVER + 1 + place] = Actor::Nobody;
    }

    /// Who was away long enough joins again, and so does who was thrown out.
    fn come_back(&mut self) {
        let now = self.network.now();
        for place in 0..self.people.len() {
            if self.people[place].back_at.is_none() && !self.plays_on(place) {
                self.people[place].back_at = Some(now + Millis::seconds(2));
            }
            if self.people[place].back_at.is_some_and(|at| at <= now) {
                // With many players there are no slots to spare for who was left behind.
                let moves = self.people.len() <= 16 && self.dice.chance(500);
                let port = if moves { self.new_port(place) } else { LocalPort(0) };
                self.join(place, port);
            }
        }
    }

    /// Somebody says the next line; the console does, whose place is behind the players'.
    fn say(&mut self, speaker: usize) -> Option<Said> {
        if speaker == self.people.len() {
            self.console_line += 1;
            let said = Said { speaker, life: 0, line: self.console_line };
            self.console(&said.words());
            return Some(said);
        }
        let now = self.network.clock(SERVER + 1 + speaker);
        let person = &self.people[speaker];
        let said = Said { speaker, life: person.life, line: person.line + 1 };
        let player = self.player(speaker).filter(|player| player.is_active())?;
        if !player.type_command(now, &said.words()) {
            return None;
        }
        self.people[speaker].line += 1;
        Some(said)
    }

    fn console(&mut self, line: &str) {
        let now = self.network.clock(SERVER);
        self.actors[SERVER].handle_line(now, line);
    }

    fn change_map(&mut self) {
        self.figures.maps += 1;
        let which = self.dice.below(self.plan.maps.len() as u64 + 1) as usize;
        match self.plan.maps.get(which).cloned() {
            Some(map) => self.console(&format!("map {map}")),
            None => self.console("map_restart 0"),
        }
    }

    /// Strangers ask, and send rubbish.
    fn flood(&mut self) {
        let count = 1 + self.dice.below(60);
        for _ in 0..count {
            let host = self.dice.below(250) as u8;
            let port = 1024 + self.dice.below(60_000) as u16;
            let from = ([203, 0, 113, host], port).into();
            let mut bytes = vec![255; 4];
            match self.dice.below(6) {
                0 => bytes.extend_from_slice(b"getinfo xxx"),
                1 => bytes.extend_from_slice(b"getstatus"),
                2 => bytes.extend_from_slice(b"getchallenge 7 Quake3Arena"),
                3 => bytes.extend_from_slice(b"connect \"\\protocol\\68\\challenge\\1\""),
                4 => bytes.extend_from_slice(b"rcon guess status"),
                _ => {
                    bytes.clear();
                    let len = self.dice.below(200);
                    bytes.extend((0..len).map(|_| self.dice.below(256) as u8));
                }
            }
            self.network.inject(from, SERVER, &bytes);
        }
        self.figures.strangers += count;
    }
}

/// What the player on a node asks for.
fn rate(node: NodeId) -> u32 {
    RATES[node % RATES.len()]
}
