//! One of the two servers of a comparison, with its clients and a network without delay.

use super::{
    client::{ComparedClient, SERVER},
    play::{Keys, PlayAction},
};
use crate::{
    model::{Millis, limits::MAX_CLIENTS},
    node::{Hosted as _, Input, LocalPort, Node as _, Output, OutputKind, Route, take_text},
    server::Server,
    wire::protocol::Protocol,
};

/// Time between two usercmds of a client. Frames of the server are a multiple of it.
pub(super) const STEP: Millis = Millis(10);
/// Most exchanges of datagrams in a step. Answers to answers end long before.
const MAX_EXCHANGES: usize = 16;

/// A server and its clients.
pub(super) struct ComparedSide {
    pub(super) server: Server,
    pub(super) clients: Vec<ComparedClient>,
    pub(super) now: Millis,
    /// Time of the last server frame.
    framed: Millis,
    /// Console texts of the server, oldest first.
    pub(super) console: Vec<String>,
    /// Lines of the game log since the last comparison.
    pub(super) log: Vec<String>,
    protocol: &'static Protocol,
    packet: Vec<u8>,
}

impl ComparedSide {
    pub(super) fn new(server: Server, protocol: &'static Protocol) -> Self {
        Self {
            server,
            clients: Vec::new(),
            now: Millis(0),
            framed: Millis(0),
            console: Vec::new(),
            log: Vec::new(),
            protocol,
            packet: Vec::new(),
        }
    }

    /// Connects a player.
    pub(super) fn join(&mut self, pairs: &[(String, String)]) -> Result<(), String> {
        if self.clients.len() >= MAX_CLIENTS {
            return Err(format!("too many players (max {MAX_CLIENTS})"));
        }
        let client = ComparedClient::new(self.clients.len(), pairs, self.protocol, self.now)?;
        self.clients.push(client);
        Ok(())
    }

    /// Takes an action of a play that concerns one side.
    pub(super) fn take(&mut self, action: &PlayAction) -> Result<(), String> {
        match action {
            PlayAction::Join(pairs) => self.join(pairs)?,
            PlayAction::Keys(client, keys) => self.hold(*client, *keys),
            PlayAction::Lag(client, lag_ms) => self.delay(*client, *lag_ms),
            PlayAction::Command(client, text) => self.command(*client, text),
            PlayAction::Console(line) => self.run_console(line),
            PlayAction::Leave(client) => self.leave(*client),
            PlayAction::Wait(_) | PlayAction::Begin => {}
        }
        Ok(())
    }

    /// Clients that have no gamestate yet, one bit each.
    pub(super) fn loading(&self) -> u64 {
        let clients = self.clients.iter().enumerate();
        clients.filter(|(_, client)| client.is_loading()).fold(0, |set, (at, _)| set | 1 << at)
    }

    /// Makes clients send no usercmds, by one bit each.
    pub(super) fn hold_back(&mut self, clients: u64) {
        for (at, client) in self.clients.iter_mut().enumerate() {
            client.waits = clients >> at & 1 != 0;
        }
    }

    /// Drops the texts since the last observation.
    pub(super) fn clear_texts(&mut self) {
        self.log.clear();
        self.clients.iter_mut().for_each(|client| client.commands.clear());
    }

    fn hold(&mut self, client: usize, keys: Keys) {
        if let Some(client) = self.clients.get_mut(client) {
            client.keys = keys;
        }
    }

    fn delay(&mut self, client: usize, lag_ms: u16) {
        if let Some(client) = self.clients.get_mut(client) {
            client.lag_ms = lag_ms;
        }
    }

    fn command(&mut self, client: usize, text: &str) {
        let now = self.now;
        if let Some(client) = self.clients.get_mut(client) {
            // A client that is not connected sends nothing; the comparison shows it.
            let _ = client.client.send_command(now, text);
        }
    }

    fn leave(&mut self, client: usize) {
        let now = self.now;
        if let Some(client) = self.clients.get_mut(client) {
            client.client.disconnect(now);
        }
    }

    fn run_console(&mut self, line: &str) {
        self.server.handle_input(self.now, Input::ConsoleLine(line));
    }

    /// Runs one step, with a server frame if one is due. Returns whether there was a frame.
    pub(super) fn step(&mut self) -> bool {
        let ahead = self.now.since(self.framed);
        let time = self.server.level_time() + ahead.0 as i32;
        for client in &mut self.clients {
            let number = client.client.client_num();
            let player = number.and_then(|number| self.server.player(number));
            client.think(time, player);
        }
        self.exchange();
        let due = self.now >= self.server.next_frame();
        if due {
            self.framed = self.now;
        }
        self.server.frame(self.now);
        self.exchange();
        while let Some(Output::Console(text)) = self.server.poll_output(OutputKind::Console) {
            self.console.push(text);
        }
        let lines = take_text(&mut self.server, OutputKind::GameLog);
        self.log.extend(lines.lines().map(str::to_owned));
        self.now += STEP;
        due
    }

    /// Delivers datagrams until none is under way.
    fn exchange(&mut self) {
        let now = self.now;
        for _ in 0..MAX_EXCHANGES {
            let mut is_quiet = true;
            for client in &mut self.clients {
                client.client.frame(now);
                while client.client.poll_transmit(&mut self.packet).is_some() {
                    let route = Route::new(LocalPort(0), client.address);
                    self.server.handle_datagram(now, route, &self.packet);
                    is_quiet = false;
                }
            }
            while let Some(route) = self.server.poll_transmit(&mut self.packet) {
                is_quiet = false;
                let at = self.clients.iter_mut().find(|client| client.address == route.remote);
                if let Some(client) = at {
                    client.client.handle_datagram(now, SERVER, &self.packet);
                }
            }
            for client in &mut self.clients {
                client.take_events();
            }
            if is_quiet {
                return;
            }
        }
    }
}
