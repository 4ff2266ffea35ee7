//! Events of a fault phase: joins, leaves, chat and injected faults.

use super::{PlayerSlot, SERVER, Trial, rate};
use crate::{
    client::Protocol,
    model::{Millis, Qport, UnixMillis},
    node::{Hosted as _, Input, LocalPort},
    server::accepts_protocol,
    sim::{Actor, Fault, FaultRates, Network, NodeId, NumberedLine, Player},
};

/// Seconds of a year.
const YEAR_S: u64 = 365 * 86_400;

impl Trial {
    /// Draws and runs the events of one moment.
    pub(super) fn events(&mut self, rates: &FaultRates) {
        self.rejoin_players();
        if self.rng.chance(rates.rebinds)
            && let Some(place) = self.random_present_player()
        {
            let port = self.new_port(place);
            if let Some(player) = self.player(place) {
                player.set_port(port);
                self.report.faults.add(Fault::Rebind);
            }
        }
        if self.rng.chance(rates.server_stalls) {
            self.stall(SERVER, 2000, Fault::ServerStall);
        }
        if self.rng.chance(rates.player_stalls) {
            let node = 1 + self.rng.below(self.slots.len() as u64) as usize;
            self.stall(node, 3500, Fault::PlayerStall);
        }
        if self.rng.chance(rates.server_jumps) {
            self.jump_clock(SERVER, Fault::ServerJump);
        }
        if self.rng.chance(rates.player_jumps) {
            let node = 1 + self.rng.below(self.slots.len() as u64) as usize;
            self.jump_clock(node, Fault::PlayerJump);
        }
        if self.rng.chance(rates.leaves)
            && let Some(place) = self.random_present_player()
        {
            self.leave(place);
        }
        if self.rng.chance(rates.maps) {
            self.change_map();
        }
        if self.rng.chance(rates.floods) {
            self.flood();
        }
        if self.rng.chance(rates.calendar_steps) {
            self.step_calendar();
        }
        if self.rng.chance(rates.talk) && !rates.damages() {
            let place = self.rng.below(self.slots.len() as u64 + 1) as usize;
            let _ = self.say(place);
        }
    }

    fn stall(&mut self, node: NodeId, most_ms: u64, fault: Fault) {
        let span = Millis(20 + self.rng.below(most_ms));
        self.network.stall(node, span);
        self.report.faults.add(fault);
    }

    fn jump_clock(&mut self, node: NodeId, fault: Fault) {
        let span = Millis(1 + self.rng.below(4000));
        self.network.jump_clock(node, span);
        self.report.faults.add(fault);
    }

    /// Sets the server's calendar to any time of two decades.
    fn step_calendar(&mut self) {
        let to = UnixMillis((1_700_000_000 + self.rng.below(20 * YEAR_S)) * 1000);
        let now = self.network.clock(SERVER);
        self.actors[SERVER].handle_input(now, Input::Calendar(to));
        self.report.faults.add(Fault::Calendar);
    }

    /// Draws a player. `None` when that one is away.
    pub(super) fn random_present_player(&mut self) -> Option<usize> {
        let place = self.rng.below(self.slots.len() as u64) as usize;
        self.slots[place].back_at.is_none().then_some(place)
    }

    pub(super) fn player(&mut self, place: usize) -> Option<&mut Player> {
        self.actors[SERVER + 1 + place].player()
    }

    /// Whether a player is online and its connection has not ended.
    pub(super) fn is_playing(&mut self, place: usize) -> bool {
        self.player(place).is_some_and(|player| player.disconnect_reason().is_none())
    }

    /// Whether a player waits for a server that has dropped its connection.
    pub(super) fn is_forgotten(&mut self, place: usize) -> bool {
        let (servers, players) = self.actors.split_at_mut(SERVER + 1);
        let host = Network::address(SERVER + 1 + place, LocalPort(0)).ip();
        let server = servers[SERVER].server();
        server
            .zip(players[place].player())
            .is_some_and(|(server, player)| player.is_forgotten_by(server, host))
    }

    pub(super) fn first_inactive_player(&mut self) -> Option<usize> {
        (0..self.slots.len())
            .find(|&place| !self.player(place).is_some_and(|player| player.is_active()))
    }

    /// Starts a new connection of a player.
    pub(super) fn join(&mut self, place: usize, port: LocalPort) {
        let node = SERVER + 1 + place;
        let slot = &mut self.slots[place];
        let life = slot.life + 1;
        *slot = PlayerSlot { life, ports: slot.ports, ..PlayerSlot::default() };
        self.report.joins += 1;
        let seed = self.options.seed.wrapping_mul(0x9e37_79b9).wrapping_add(place as u64);
        let seed = seed.wrapping_add(u64::from(life) << 32);
        let rate = rate(node).to_string();
        let name = format!("p{place}");
        let pairs = [("name", name.as_str()), ("rate", &rate), ("snaps", "20"), ("model", "sarge")];
        let wire = self.protocol_of(place);
        let server = Network::address(SERVER, LocalPort(0));
        let qport = Qport(1000 + place as u16);
        let now = self.network.clock(node);
        let mut player = Player::with_userinfo(server, wire, &pairs, qport, seed, now);
        player.use_random_input(seed);
        player.set_port(port);
        self.actors[node] = Actor::Player(Box::new(player));
    }

    /// Returns the protocol of a player: all that the server accepts now, in turn.
    fn protocol_of(&self, place: usize) -> &'static Protocol {
        let accepts =
            |row: &&Protocol| self.server().is_some_and(|server| accepts_protocol(server, row));
        let accepted: Vec<_> = Protocol::distinct().filter(accepts).collect();
        let among = if accepted.is_empty() { &Protocol::CURRENT[..] } else { &accepted };
        among[place % among.len()]
    }

    /// Returns a source port that the player has not had before. NAT routers do not reuse a port soon.
    pub(super) fn new_port(&mut self, place: usize) -> LocalPort {
        let slot = &mut self.slots[place];
        slot.ports = slot.ports % 20_000 + 1;
        LocalPort(slot.ports)
    }

    /// Takes a player offline for a while, with a disconnect message or by silence.
    pub(super) fn leave(&mut self, place: usize) {
        let now = self.network.clock(SERVER + 1 + place);
        if self.rng.chance(500) {
            if let Some(player) = self.player(place) {
                player.leave(now);
                self.report.faults.add(Fault::Leave);
            }
        } else {
            self.vanish(place);
            self.report.faults.add(Fault::Silence);
        }
        self.abandoned_at = Some(self.network.now());
        let back_at = self.network.now() + Millis(500 + self.rng.below(12_000));
        self.slots[place].back_at = Some(back_at);
    }

    /// Takes a player offline without a disconnect message.
    pub(super) fn vanish(&mut self, place: usize) {
        self.abandoned_at = Some(self.network.now());
        self.actors[SERVER + 1 + place] = Actor::Offline;
    }

    /// Joins players whose absence is over, and schedules dropped players to rejoin.
    pub(super) fn rejoin_players(&mut self) {
        let now = self.network.now();
        for place in 0..self.slots.len() {
            if self.slots[place].back_at.is_none() && !self.is_playing(place) {
                self.slots[place].back_at = Some(now + Millis::seconds(2));
            }
            if self.slots[place].back_at.is_some_and(|at| at <= now) {
                // With many players the server has no spare slots for abandoned connections.
                let moves = self.slots.len() <= 16 && self.rng.chance(500);
                let port = if moves { self.new_port(place) } else { LocalPort(0) };
                if moves {
                    self.abandoned_at = Some(now);
                }
                self.join(place, port);
            }
        }
    }

    /// Sends the next numbered line of a player, or of the console, whose index follows the players'.
    pub(super) fn say(&mut self, speaker: usize) -> Option<NumberedLine> {
        if speaker == self.slots.len() {
            self.console_line += 1;
            let line = NumberedLine { speaker, life: 0, line: self.console_line };
            self.console(&line.words());
            return Some(line);
        }
        let now = self.network.clock(SERVER + 1 + speaker);
        let slot = &self.slots[speaker];
        let line = NumberedLine { speaker, life: slot.life, line: slot.line + 1 };
        let player = self.player(speaker).filter(|player| player.is_active())?;
        if !player.send_command(now, &line.words()) {
            return None;
        }
        self.slots[speaker].line += 1;
        Some(line)
    }

    pub(super) fn console(&mut self, line: &str) {
        let now = self.network.clock(SERVER);
        self.actors[SERVER].handle_input(now, Input::ConsoleLine(line));
    }

    pub(super) fn change_map(&mut self) {
        let which = self.rng.below(self.options.maps.len() as u64 + 1) as usize;
        match self.options.maps.get(which).cloned() {
            Some(map) => {
                self.report.faults.add(Fault::Map);
                self.console(&format!("map {map}"));
            }
            None => {
                self.report.faults.add(Fault::Restart);
                self.console("map_restart 0");
            }
        }
    }

    /// Injects queries and random datagrams from other addresses.
    pub(super) fn flood(&mut self) {
        let count = 1 + self.rng.below(60);
        for _ in 0..count {
            let host = self.rng.below(250) as u8;
            let port = 1024 + self.rng.below(60_000) as u16;
            let from = ([203, 0, 113, host], port).into();
            let mut bytes = vec![255; 4];
            match self.rng.below(6) {
                0 => bytes.extend_from_slice(b"getinfo xxx"),
                1 => bytes.extend_from_slice(b"getstatus"),
                2 => bytes.extend_from_slice(b"getchallenge 7 Quake3Arena"),
                3 => bytes.extend_from_slice(b"connect \"\\protocol\\68\\challenge\\1\""),
                4 => bytes.extend_from_slice(b"rcon guess status"),
                _ => {
                    bytes.clear();
                    let len = self.rng.below(200);
                    bytes.extend((0..len).map(|_| self.rng.below(256) as u8));
                }
            }
            self.network.inject(from, SERVER, &bytes);
        }
        self.report.faults.add(Fault::Flood);
        self.report.injected_datagrams += count;
    }
}
