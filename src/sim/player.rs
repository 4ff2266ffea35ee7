//! A client with somebody at the keys, as a simulation needs one: it joins, moves, says what it is told
//! to, and keeps everything it hears.

use std::net::SocketAddr;

use crate::{
    client::{Client, ClientEvent, ClientOptions, ClientWire, Ending, Fault, Stage},
    model::{Buttons, EntityState, Millis, PlayerState, Qport, Sequence, UserCmd},
    node::{LocalPort, Node, Route},
    wire::info::Info,
};

/// Time between two usercmds.
const MOVE_INTERVAL: Millis = Millis(16);

/// What one snapshot showed.
#[derive(Clone, Debug)]
pub struct SeenView {
    /// The message that brought it.
    pub sequence: Sequence,
    /// The player viewed from.
    pub player: PlayerState,
    /// The entities seen, ascending.
    pub entities: Vec<EntityState>,
}

/// The player.
#[derive(Debug)]
pub struct Player {
    client: Client,
    next_move: Millis,
    moves: u32,
    /// What is held down.
    pub buttons: Buttons,
    /// Reliable commands that its game was given, in order.
    pub heard: Vec<String>,
    /// Snapshots since they were last taken.
    pub seen: Vec<SeenView>,
    /// What the server did wrong.
    pub faults: Vec<Fault>,
    /// Why it was not let in, last.
    pub refusal: Option<String>,
}

impl Player {
    /// A player who joins `server` at `now`.
    ///
    /// # Panics
    /// When the name makes no userinfo.
    #[must_use]
    pub fn new(server: SocketAddr, wire: ClientWire, name: &str, seed: u64, now: Millis) -> Self {
        let mut info = Info::normal();
        for (key, value) in [("name", name), ("rate", "90000"), ("snaps", "20"), ("model", "sarge")]
        {
            info.set(key, value).expect("a plain name");
        }
        let options = ClientOptions::new(server, wire, info, Qport(seed as u16), seed);
        let client = Client::new(options, now).expect("a short userinfo");
        Self {
            client,
            next_move: now,
            moves: 0,
            buttons: Buttons::default(),
            heard: Vec::new(),
            seen: Vec::new(),
            faults: Vec::new(),
            refusal: None,
        }
    }

    /// The connection.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether the player is in the game.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.client.stage() == Stage::Active
    }

    /// Why it ended, if it did.
    #[must_use]
    pub fn ending(&self) -> Option<&Ending> {
        self.client.ending()
    }

    /// Types a command.
    pub fn type_command(&mut self, now: Millis, text: &str) -> bool {
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

    fn after(&mut self) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::ServerCommand(text) => self.heard.push(text),
                ClientEvent::Fault(fault) => self.faults.push(fault),
                ClientEvent::Refused(text) => self.refusal = Some(text),
                ClientEvent::Snapshot => {
                    if let Some(snapshot) = self.client.snapshot() {
                        self.seen.push(SeenView {
                            sequence: snapshot.sequence,
                            player: snapshot.player,
                            entities: self.client.entities().copied().collect(),
                        });
                    }
                }
                ClientEvent::Connected
                | ClientEvent::Gamestate
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
        self.client.handle_datagram(now, route.remote, bytes);
        self.after();
    }

    fn frame(&mut self, now: Millis) {
        if now >= self.next_move {
            self.next_move = now + MOVE_INTERVAL;
            if matches!(self.client.stage(), Stage::Primed | Stage::Active) {
                self.moves = self.moves.wrapping_add(1);
                let turn = self.moves.wrapping_mul(311) as i32 & 0xffff;
                self.client.push_move(UserCmd {
                    server_time: self.client.level_time(now).0,
                    angles: [0, turn, 0],
                    buttons: self.buttons,
                    weapon: 2,
                    forwardmove: 127,
                    rightmove: 0,
                    upmove: 0,
                });
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
        Some(Route { local: LocalPort(0), remote })
    }

    fn stop(&mut self, now: Millis, _reason: &str) {
        self.leave(now);
    }

    fn is_finished(&self) -> bool {
        false
    }
}
