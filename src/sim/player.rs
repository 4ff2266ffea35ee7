//! Scripted player of a simulation: joins, moves, sends commands and records what it receives.

use std::net::{IpAddr, SocketAddr};

use crate::{
    client::{
        Client, ClientEvent, ClientOptions, ConnectionState, DisconnectReason, Protocol,
        ProtocolError,
    },
    impairment::SeededRng,
    model::{Buttons, Millis, Qport, Sequence, UserCmd},
    node::{Hosted, LocalPort, LoopCounters, Node, Route},
    server::Server,
    wire::{bits::BitWriter, info::InfoString},
};

/// Time between two usercmds.
const MOVE_INTERVAL: Millis = Millis(16);

/// What somebody at the keys feels like.
#[derive(Debug)]
struct RandomInput {
    rng: SeededRng,
    /// The move from which on something else is pressed.
    until: u32,
    keys: UserCmd,
}

impl RandomInput {
    fn next_usercmd(&mut self, moves: u32) -> UserCmd {
        let Self { rng, until, keys } = self;
        if moves >= *until {
            *until = moves + 5 + rng.below(60) as u32;
            let mut way = |stays| match rng.below(stays) {
                0 => -127,
                1 => 127,
                _ => 0,
            };
            (keys.forwardmove, keys.rightmove, keys.upmove) = (way(3), way(4), way(6));
            keys.buttons = if rng.chance(400) { Buttons::ATTACK } else { Buttons::default() };
            keys.weapon = 1 + rng.below(9) as u8;
            keys.angles[0] = rng.below(4000) as i32;
        }
        keys.angles[1] = (keys.angles[1] + rng.below(900) as i32) & 0xffff;
        *keys
    }
}

/// The player.
#[derive(Debug)]
pub struct Player {
    pub(super) client: Client,
    /// Memory for what [`super::check_snapshots`] writes.
    pub(super) writer: BitWriter,
    next_move: Millis,
    moves: u32,
    /// Which of its router's ports it has now.
    port: LocalPort,
    is_touched: bool,
    /// What it does besides walking on, if it does anything.
    random_input: Option<RandomInput>,
    /// Gamestates it was sent.
    pub levels: u32,
    /// What is held down.
    pub buttons: Buttons,
    /// Reliable commands that its game was given, in order.
    pub heard: Vec<String>,
    /// Messages that brought a snapshot since they were last taken; what it showed, the client keeps.
    pub seen: Vec<Sequence>,
    /// What the server did wrong.
    pub faults: Vec<ProtocolError>,
    /// Why it was not let in, last.
    pub refusal: Option<String>,
}

impl Player {
    /// A player who joins `server` at `now`.
    ///
    /// # Panics
    /// When the name makes no userinfo.
    #[must_use]
    pub fn new(
        server: SocketAddr,
        wire: &'static Protocol,
        name: &str,
        seed: u64,
        now: Millis,
    ) -> Self {
        let pairs = [("name", name), ("rate", "90000"), ("snaps", "20"), ("model", "sarge")];
        Self::with_userinfo(server, wire, &pairs, (Qport(seed as u16), seed), now)
    }

    /// A player with these pairs in its userinfo.
    ///
    /// # Panics
    /// When they make no userinfo.
    #[must_use]
    pub fn with_userinfo(
        server: SocketAddr,
        wire: &'static Protocol,
        pairs: &[(&str, &str)],
        (qport, seed): (Qport, u64),
        now: Millis,
    ) -> Self {
        let mut info = InfoString::normal();
        for (key, value) in pairs {
            info.set(key, value).expect("a plain pair");
        }
        let options = ClientOptions::new(server, wire, info, qport, seed);
        let client = Client::new(options, now).expect("a short userinfo");
        Self {
            client,
            writer: BitWriter::new(),
            next_move: now,
            moves: 0,
            port: LocalPort(0),
            is_touched: true,
            random_input: None,
            levels: 0,
            buttons: Buttons::default(),
            heard: Vec::new(),
            seen: Vec::new(),
            faults: Vec::new(),
            refusal: None,
        }
    }

    /// Lets the player run about, jump and shoot as `seed` says, instead of walking in circles.
    pub fn use_random_input(&mut self, seed: u64) {
        self.random_input =
            Some(RandomInput { rng: SeededRng::new(seed), until: 0, keys: UserCmd::default() });
    }

    /// Its router gives it that port. What comes to the one before is lost.
    pub fn set_port(&mut self, port: LocalPort) {
        self.port = port;
    }

    /// The port of its router that it has.
    #[must_use]
    pub fn port(&self) -> LocalPort {
        self.port
    }

    /// The connection.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether the player is in the game.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.client.stage() == ConnectionState::Active
    }

    /// Whether it waits for the gamestate of a connection that `server` has given up, `host` being where
    /// it connected from. A newcomer that the server does not hear is dropped without a word, and a real
    /// player connects again long before the client times out. The challenge tells the connection from
    /// an earlier one of the same host and qport, whose slot the server may still keep.
    #[must_use]
    pub fn is_forgotten_by(&self, server: &Server, host: IpAddr) -> bool {
        let challenge =
            self.client.challenge().filter(|_| self.client.stage() == ConnectionState::Connected);
        challenge.is_some_and(|challenge| !server.knows(host, challenge))
    }

    /// Why it ended, if it did.
    #[must_use]
    pub fn ending(&self) -> Option<&DisconnectReason> {
        self.client.ending()
    }

    /// Types a command.
    pub fn send_command(&mut self, now: Millis, text: &str) -> bool {
        self.client.send_command(now, text).is_ok()
    }

    /// Changes one pair of the userinfo. False when there is no room for it.
    pub fn change_userinfo(&mut self, now: Millis, key: &str, value: &str) -> bool {
        let mut info = self.client.userinfo().clone();
        info.set(key, value).is_ok() && self.client.set_userinfo(now, info).is_ok()
    }

    /// Leaves politely.
    pub fn leave(&mut self, now: Millis) {
        self.client.disconnect(now);
    }

    /// Whether anything has happened to it since the last time.
    pub(super) fn take_updated(&mut self) -> bool {
        std::mem::take(&mut self.is_touched)
    }

    fn after(&mut self) {
        self.is_touched = true;
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::ServerCommand(text) => self.heard.push(text),
                ClientEvent::ProtocolError(fault) => self.faults.push(fault),
                ClientEvent::Refused(text) => self.refusal = Some(text),
                ClientEvent::Snapshot => {
                    self.seen.extend(self.client.snapshot().map(|snapshot| snapshot.sequence));
                }
                ClientEvent::Gamestate => self.levels += 1,
                ClientEvent::Connected
                | ClientEvent::Entered
                | ClientEvent::Configstring(_)
                | ClientEvent::MapRestart
                | ClientEvent::Print(_)
                | ClientEvent::Disconnected(_) => {}
            }
        }
    }
}

impl Node for Player {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        if route.local != self.port {
            return;
        }
        self.client.handle_datagram(now, route.remote, bytes);
        self.after();
    }

    fn frame(&mut self, now: Millis) {
        if now >= self.next_move {
            self.next_move = now + MOVE_INTERVAL;
            if matches!(self.client.stage(), ConnectionState::Primed | ConnectionState::Active) {
                self.moves = self.moves.wrapping_add(1);
                let turn = self.moves.wrapping_mul(311) as i32 & 0xffff;
                let keys = self
                    .random_input
                    .as_mut()
                    .map(|random_input| random_input.next_usercmd(self.moves));
                let keys = keys.unwrap_or(UserCmd {
                    angles: [0, turn, 0],
                    buttons: self.buttons,
                    weapon: 2,
                    forwardmove: 127,
                    ..UserCmd::default()
                });
                self.client
                    .push_usercmd(UserCmd { server_time: self.client.level_time(now).0, ..keys });
            }
        }
        self.client.frame(now);
        self.after();
    }

    fn next_frame(&self) -> Millis {
        self.next_move.min(self.client.next_frame())
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        let remote = self.client.poll_transmit(packet)?;
        Some(Route { local: self.port, remote })
    }

    fn is_finished(&self) -> bool {
        false
    }
}

impl Hosted for Player {
    fn handle_console_line(&mut self, _: Millis, _: &str) {}

    fn set_loop_counters(&mut self, _: Millis, _: &LoopCounters) {}

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }

    fn poll_console(&mut self) -> Option<String> {
        None
    }

    fn poll_game_log(&mut self) -> Option<String> {
        None
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn stop(&mut self, now: Millis, _reason: &str) {
        self.leave(now);
    }
}
