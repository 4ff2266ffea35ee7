//! Scripted player of a simulation: joins, moves, sends commands and records what it receives.

use std::net::{IpAddr, SocketAddr};

use crate::{
    client::{
        Client, ClientEvent, ClientOptions, ConnectionState, DisconnectReason, DownloadEvent,
        Protocol, ProtocolError,
    },
    impairment::SeededRng,
    model::{Buttons, Millis, Qport, Sequence, UserCmd},
    node::{Hosted, Input, LocalPort, Node, Output, OutputKind, Route},
    server::Server,
    wire::{bits::BitWriter, info::InfoString},
};

/// Time between two usercmds.
const MOVE_INTERVAL: Millis = Millis(16);
/// Longest archive that a player downloads, in bytes.
const MAX_FILE_LEN: usize = 1 << 26;

/// Random input of a player.
#[derive(Debug)]
struct RandomInput {
    rng: SeededRng,
    /// Usercmd number at which the keys change.
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

/// Scripted player with its client.
#[derive(Debug)]
pub struct Player {
    pub(super) client: Client,
    /// Scratch buffer of [`super::check_snapshots`].
    pub(super) writer: BitWriter,
    next_move: Millis,
    moves: u32,
    /// Source port, as assigned by its NAT router.
    port: LocalPort,
    is_touched: bool,
    /// Random input; `None` walks in circles.
    random_input: Option<RandomInput>,
    /// Gamestates received.
    pub levels: u32,
    /// Pressed buttons.
    pub buttons: Buttons,
    /// Server commands received, in order.
    pub heard: Vec<String>,
    /// Sequences of messages with a snapshot that are not checked yet. The client stores the snapshots.
    pub seen: Vec<Sequence>,
    /// Protocol errors of the server.
    pub faults: Vec<ProtocolError>,
    /// Reason of the last refusal.
    pub refusal: Option<String>,
    /// Whether the player downloads the archives that the server references.
    pub downloads: bool,
    /// Archives that the player has, with their bytes.
    pub files: Vec<(String, Vec<u8>)>,
    /// Reasons of failed downloads.
    pub failed_downloads: Vec<String>,
}

impl Player {
    /// Creates a player who joins `server` at `now`.
    ///
    /// # Panics
    /// When the name is not valid in a userinfo.
    #[must_use]
    pub fn new(
        server: SocketAddr,
        wire: &'static Protocol,
        name: &str,
        seed: u64,
        now: Millis,
    ) -> Self {
        let guid = format!("{seed:032X}");
        let pairs = [
            ("name", name),
            ("rate", "90000"),
            ("snaps", "20"),
            ("model", "sarge"),
            ("cl_guid", &guid),
        ];
        Self::with_userinfo(server, wire, &pairs, Qport(seed as u16), seed, now)
    }

    /// Creates a player with the given userinfo pairs.
    ///
    /// # Panics
    /// When the pairs are not a valid userinfo.
    #[must_use]
    pub fn with_userinfo(
        server: SocketAddr,
        wire: &'static Protocol,
        pairs: &[(&str, &str)],
        qport: Qport,
        seed: u64,
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
            downloads: false,
            files: Vec::new(),
            failed_downloads: Vec::new(),
        }
    }

    /// Replaces walking in circles with random movement, jumps and shots.
    pub fn use_random_input(&mut self, seed: u64) {
        self.random_input =
            Some(RandomInput { rng: SeededRng::new(seed), until: 0, keys: UserCmd::default() });
    }

    /// Rebinds the player to another source port. Datagrams to the previous port are lost.
    pub fn set_port(&mut self, port: LocalPort) {
        self.port = port;
    }

    /// Current source port.
    #[must_use]
    pub fn port(&self) -> LocalPort {
        self.port
    }

    /// Protocol client of the player.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether the player is in the game.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.client.state() == ConnectionState::Active
    }

    /// Whether the player waits for the gamestate of a connection from `host` that `server` has dropped.
    ///
    /// A server drops a new client that stays silent without a message, and a real player reconnects long
    /// before the client times out. The challenge distinguishes the connection from an earlier one of the
    /// same host and qport, whose slot the server may still hold.
    #[must_use]
    pub fn is_forgotten_by(&self, server: &Server, host: IpAddr) -> bool {
        let challenge =
            self.client.challenge().filter(|_| self.client.state() == ConnectionState::Connected);
        challenge.is_some_and(|challenge| !server.knows(host, challenge))
    }

    /// Reason of the disconnect, if the connection has ended.
    #[must_use]
    pub fn disconnect_reason(&self) -> Option<&DisconnectReason> {
        self.client.disconnect_reason()
    }

    /// Sends a reliable command. Returns whether it was accepted.
    pub fn send_command(&mut self, now: Millis, text: &str) -> bool {
        self.client.send_command(now, text).is_ok()
    }

    /// Changes one pair of the userinfo. Returns whether the result is valid and was sent.
    pub fn change_userinfo(&mut self, now: Millis, key: &str, value: &str) -> bool {
        let mut info = self.client.userinfo().clone();
        info.set(key, value).is_ok() && self.client.set_userinfo(now, info).is_ok()
    }

    /// Requests an archive. Returns whether the request was accepted.
    pub fn download(&mut self, now: Millis, name: &str) -> bool {
        self.client.download(now, name, MAX_FILE_LEN).is_ok()
    }

    /// Disconnects with a disconnect message.
    pub fn leave(&mut self, now: Millis) {
        self.client.disconnect(now);
    }

    /// Returns whether the player received a datagram or ran since the last call.
    pub(super) fn take_updated(&mut self) -> bool {
        std::mem::take(&mut self.is_touched)
    }

    /// Downloads the next missing archive. Returns whether there was one.
    fn download_next(&mut self, now: Millis) -> bool {
        let has = |name: &str| self.files.iter().any(|(own, _)| own == name);
        let packs = self.client.referenced_packs();
        let missing = packs.iter().find(|pack| !has(&pack.name));
        missing.is_some_and(|pack| self.client.download(now, &pack.name, MAX_FILE_LEN).is_ok())
    }

    fn after(&mut self, now: Millis) {
        self.is_touched = true;
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::ServerCommand(text) => self.heard.push(text),
                ClientEvent::ProtocolError(fault) => self.faults.push(fault),
                ClientEvent::Refused(text) => self.refusal = Some(text),
                ClientEvent::Snapshot => {
                    self.seen.extend(self.client.snapshot().map(|snapshot| snapshot.sequence));
                }
                ClientEvent::Gamestate => {
                    self.levels += 1;
                    if self.downloads {
                        self.download_next(now);
                    }
                }
                ClientEvent::Download(DownloadEvent::Finished { name, bytes }) => {
                    self.files.push((name, bytes));
                    if !self.download_next(now) {
                        let _ = self.client.finish_downloads(now);
                    }
                }
                ClientEvent::Download(DownloadEvent::Failed { reason, .. }) => {
                    self.failed_downloads.push(reason);
                }
                ClientEvent::Connected
                | ClientEvent::Entered
                | ClientEvent::ProofRequired
                | ClientEvent::Configstring(_)
                | ClientEvent::MapRestart
                | ClientEvent::Print(_)
                | ClientEvent::Scrambling(_)
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
        self.after(now);
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        if now >= self.next_move {
            self.next_move = now + MOVE_INTERVAL;
            if matches!(self.client.state(), ConnectionState::Primed | ConnectionState::Active) {
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
        self.after(now);
    }

    fn next_frame(&self) -> Millis {
        self.next_move.min(self.client.next_frame())
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        let remote = self.client.poll_transmit(packet)?;
        Some(Route::new(self.port, remote))
    }

    fn is_finished(&self) -> bool {
        false
    }
}

impl Hosted for Player {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        if let Input::Stop(_) = input {
            self.leave(now);
        }
    }

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
