//! Trial: a server and players under seeded faults, with safety and liveness checks.
//!
//! Phases alternate: faults drawn from the seed, then recovery without faults. Checked at every step:
//! - each snapshot equals the server's record of it;
//! - reliable commands arrive once and in order;
//! - no client is sent more than its rate allows, and no datagram is too long;
//! - the internal invariants of server and clients hold.
//!
//! Checked in every recovery: within [`RECOVERY_LIMIT`] all players play, and each receives every other's line.
//!
//! Invariant: the same options and server give the same run. Flipped bits are not detected by the protocol:
//! after such a phase all players join again, and only internal invariants are checked until then.

mod checks;
mod events;

use self::checks::Checks;
use super::{
    Actor, Network, NodeId, TrialReport, Violation,
    command_order::{CommandOrderChecker, NumberedLine},
    fault_rates::FaultRates,
};
use crate::{
    impairment::{Impairment, SeededRng},
    model::Millis,
    node::LocalPort,
    server::Server,
};

/// Index of the server among the nodes. Players follow.
const SERVER: NodeId = 0;
/// Maximum time from the end of all faults until every player is in the game.
pub const RECOVERY_LIMIT: Millis = Millis::seconds(15);
/// Maximum time from then until every player has received every other player's line.
const BROADCAST_LIMIT: Millis = Millis::seconds(5);
/// Interval between events.
const EVENT_INTERVAL: Millis = Millis(250);
/// Time after a fault phase in which datagrams in flight arrive and stalls end.
const SETTLE_TIME: Millis = Millis::seconds(4);
/// Settings of a server in a trial, in addition to those of its level.
///
/// They disable flood protection and address limits, and shorten the client timeout.
pub const SETTINGS: [(&str, &str); 6] = [
    ("sv_maxclients", "64"),
    ("sv_maxclientsPerIP", "0"),
    ("sv_floodProtect", "0"),
    ("sv_lanForceRate", "0"),
    ("sv_maxRate", "0"),
    ("sv_timeout", "30"),
];
/// Userinfo rates of the players, in bytes per second.
const RATES: [u32; 3] = [90_000, 25_000, 8000];

/// Options of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialOptions {
    /// Random seed of faults, input and identities.
    pub seed: u64,
    /// Duration in virtual time.
    pub span: Millis,
    /// Number of players, 1 to 64.
    pub players: u8,
    /// Whether to run without faults, with joins, leaves and map changes only.
    pub calm: bool,
    /// Maps to change to.
    pub maps: Vec<String>,
}

/// State of one player across its connections.
#[derive(Debug, Default)]
struct PlayerSlot {
    life: u32,
    line: u32,
    command_order: CommandOrderChecker,
    /// Number of source ports that it has had, over all connections.
    ports: u16,
    /// Time of its next join; `None` while it is online.
    back_at: Option<Millis>,
}

/// A running trial.
pub struct Trial {
    options: TrialOptions,
    network: Network,
    actors: Vec<Actor>,
    slots: Vec<PlayerSlot>,
    rng: SeededRng,
    checks: Checks,
    /// Numbered lines of the console so far.
    console_line: u32,
    /// Time of the last leave that may have left a slot occupied: its disconnect message may be lost.
    abandoned_at: Option<Millis>,
    report: TrialReport,
}

impl Trial {
    /// Creates a trial of `server`, an [`Actor::Server`] or [`Actor::Recorded`] with [`SETTINGS`].
    #[must_use]
    pub fn new(options: TrialOptions, server: Actor) -> Self {
        let mut network = Network::new(options.seed, Impairment::latency(Millis(20)), Millis(1000));
        network.trace_node(SERVER);
        let mut trial = Self {
            network,
            actors: vec![server],
            slots: Vec::new(),
            rng: SeededRng::new(options.seed ^ 0x7ea7_0f5e),
            checks: Checks::default(),
            console_line: 0,
            abandoned_at: None,
            report: TrialReport::default(),
            options,
        };
        for place in 0..usize::from(trial.options.players.clamp(1, 64)) {
            trial.actors.push(Actor::Offline);
            trial.slots.push(PlayerSlot::default());
            trial.join(place, LocalPort(0));
        }
        trial
    }

    /// Runs the trial to its end or to the first violation.
    ///
    /// # Errors
    /// The violation.
    pub fn run(&mut self) -> Result<TrialReport, Violation> {
        self.run_watched(|_| {})
    }

    /// Runs the trial like [`Self::run`], and calls `watch` with the time after each fault phase.
    ///
    /// # Errors
    /// The violation.
    pub fn run_watched(&mut self, mut watch: impl FnMut(Millis)) -> Result<TrialReport, Violation> {
        let end = self.network.now() + self.options.span;
        let mut result = self.recover();
        while result.is_ok() && self.network.now() < end {
            result = self.fault_phase();
            watch(self.network.now());
        }
        result.map(|()| self.report()).map_err(|what| {
            let (at, what) = self.checks.failure.take().unwrap_or((self.network.now(), what));
            Violation { at, fault_phase: self.report.fault_phases, what }
        })
    }

    /// Returns the report up to now.
    #[must_use]
    pub fn report(&self) -> TrialReport {
        TrialReport {
            time: self.network.now(),
            datagrams: self.network.sent(),
            bytes: self.network.bytes_sent(),
            longest_datagram: self.network.longest(),
            faults: self.network.faults().with(self.report.faults),
            snapshots: self.checks.snapshots,
            snapshots_forgotten: self.checks.forgotten,
            lines: self.checks.lines,
            most_above_rate: self.checks.rate_checker.fullest(),
            transcript: self.network.transcript(),
            ..self.report
        }
    }

    /// Server of the trial.
    #[must_use]
    pub fn server(&self) -> Option<&Server> {
        self.actors[SERVER].server()
    }

    /// Returns the server node, in its final state.
    #[must_use]
    pub fn into_server(mut self) -> Actor {
        self.actors.swap_remove(SERVER)
    }

    /// Runs one fault phase and the recovery after it.
    fn fault_phase(&mut self) -> Result<(), String> {
        self.report.fault_phases += 1;
        let rates =
            if self.options.calm { FaultRates::calm() } else { FaultRates::draw(&mut self.rng) };
        log::debug!(
            "fault phase {} at {}: {rates:?}",
            self.report.fault_phases,
            self.network.now()
        );
        self.network.set_impairment(rates.impairment);
        self.checks.cuts = rates.cuts();
        self.checks.damages = rates.damages();
        let moments = if self.options.calm { 1200 } else { 20 + self.rng.below(120) };
        for _ in 0..moments {
            self.events(&rates);
            self.advance(EVENT_INTERVAL)?;
        }
        self.recover()
    }

    /// Ends all faults and checks recovery: all players play, and each receives the lines of all others.
    fn recover(&mut self) -> Result<(), String> {
        self.network.set_impairment(Impairment::latency(Millis(20)));
        self.advance(SETTLE_TIME)?;
        for place in 0..self.slots.len() {
            if self.checks.damages {
                self.vanish(place);
            }
            let is_away = self.slots[place].back_at.is_some() || !self.is_playing(place);
            if is_away || self.is_forgotten(place) {
                self.join(place, LocalPort(0));
            }
        }
        (self.checks.cuts, self.checks.damages) = (false, false);
        self.checks.rate_checker.clear();
        let began = self.network.now();
        while let Some(place) = self.first_inactive_player() {
            if self.network.now().since(began) > RECOVERY_LIMIT {
                let player = self.actors[SERVER + 1 + place].player();
                let stage = player.map(|player| (player.client().state(), player.refusal.clone()));
                return Err(format!(
                    "player {place} is not in the game {RECOVERY_LIMIT} after the last fault: {stage:?}"
                ));
            }
            self.advance(EVENT_INTERVAL)?;
        }
        let took = self.network.now().since(began);
        self.report.slowest_recovery = self.report.slowest_recovery.max(took);
        self.check_broadcast()?;
        self.check_slots()
    }

    /// Sends a line from every player and the console, and checks that every player receives all.
    fn check_broadcast(&mut self) -> Result<(), String> {
        let sent: Vec<_> = (0..=self.slots.len()).map(|place| self.say(place)).collect();
        let began = self.network.now();
        loop {
            self.advance(EVENT_INTERVAL)?;
            let incomplete = (0..self.slots.len()).find_map(|place| {
                let received = |line: &&Option<NumberedLine>| match line {
                    Some(line) => {
                        self.slots[place].command_order.last_of(line.speaker) == Some(*line)
                    }
                    None => false,
                };
                let missing = sent.iter().find(|line| !received(line))?;
                Some((place, *missing))
            });
            let Some((place, missing)) = incomplete else { return Ok(()) };
            if self.network.now().since(began) > BROADCAST_LIMIT {
                let missing =
                    missing.map_or("a line that could not be sent".to_owned(), NumberedLine::words);
                return Err(format!("player {place} did not receive \"{missing}\""));
            }
        }
    }

    /// Checks that the server's active clients are the players.
    fn check_slots(&mut self) -> Result<(), String> {
        let now = self.network.now();
        // A player without a disconnect message holds a slot until it times out.
        let settled = self.abandoned_at.is_none_or(|at| now.since(at) > Millis::seconds(40));
        let used = self.server().map_or(0, Server::active_clients);
        if settled && used != self.slots.len() {
            return Err(format!("{used} active clients for {} players", self.slots.len()));
        }
        Ok(())
    }

    /// Runs the network for a time and checks each step.
    fn advance(&mut self, span: Millis) -> Result<(), String> {
        let end = self.network.now() + span;
        let Self { network, actors, slots, checks, .. } = self;
        network.run_until(actors, end, |network, actors| checks.step(network, actors, slots));
        match &self.checks.failure {
            Some((_, what)) => Err(what.clone()),
            None => Ok(()),
        }
    }
}

/// Returns the userinfo rate of the player on a node, in bytes per second.
fn rate(node: NodeId) -> u32 {
    RATES[node % RATES.len()]
}
