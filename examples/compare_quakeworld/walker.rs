//! Client that runs a script on a server and notes each answer.

use std::{collections::HashMap, io, net::SocketAddr, net::UdpSocket};

use fragd::{
    model::{Millis, Qport},
    quakeworld::{
        Client, Extensions, Usercmd,
        channel::header::{CONNECTIONLESS, Header, Sender},
        client::{ClientEvent, ClientOptions, ClientState},
        info::{Info, MAX_INFO_LEN},
        players::PlayerInfo,
    },
};

use crate::script::{Gate, MSEC, RISE, Script, ScriptStep, idle};

/// Idle usercmds before the script.
const BEFORE: usize = 100;
/// Longest wait at a gate; movers of the map have a cycle of eight seconds.
const GATE_TIMEOUT: Millis = Millis::seconds(20);

/// A client with its place in the script.
pub(crate) struct Walker {
    /// Address of the server.
    pub(crate) server: SocketAddr,
    client: Client,
    socket: UdpSocket,
    checksum: i32,
    next: Millis,
    before: usize,
    at: usize,
    last: Usercmd,
    /// Step of each sequence.
    steps: HashMap<u32, usize>,
    newest: u32,
    /// Own player behind each step.
    pub(crate) answers: HashMap<usize, PlayerInfo>,
    /// Height of the mover of the current gate in the newest answer.
    height: Option<f32>,
    was_away: bool,
    /// Time of the last step.
    stepped: Millis,
    /// Heights above the lift while it moved, in eighths of a unit, with their counts.
    pub(crate) riding: HashMap<i32, usize>,
    /// Reason why it ended early.
    pub(crate) fault: Option<String>,
}

impl Walker {
    /// Connects to a server.
    ///
    /// # Errors
    /// Those of the socket.
    pub(crate) fn new(
        server: SocketAddr,
        qport: u16,
        checksum: i32,
        now: Millis,
    ) -> io::Result<Self> {
        let mut info = Info::new(MAX_INFO_LEN);
        for (key, value) in [("name", "walker"), ("rate", "100000"), ("*z_ext", "383")] {
            info.set_any(key.as_bytes(), value.as_bytes()).map_err(io::Error::other)?;
        }
        let socket = UdpSocket::bind(if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
        socket.set_nonblocking(true)?;
        let extensions = Extensions::NONE;
        let options =
            ClientOptions { extensions, ..ClientOptions::new(server, Qport(qport), info) };
        Ok(Self {
            server,
            client: Client::new(options, now),
            socket,
            checksum,
            next: now,
            before: 0,
            at: 0,
            last: idle(Usercmd::ZERO),
            steps: HashMap::new(),
            newest: 0,
            answers: HashMap::new(),
            height: None,
            was_away: false,
            stepped: now,
            riding: HashMap::new(),
            fault: None,
        })
    }

    /// Whether the script has ended.
    #[must_use]
    pub(crate) fn is_done(&self, script: &Script) -> bool {
        self.fault.is_some() || self.at >= script.steps.len()
    }

    /// Leaves the server.
    pub(crate) fn leave(&mut self, now: Millis) {
        self.client.disconnect(now);
        self.flush(false);
    }

    /// Receives, and sends the next usercmd when it is due.
    pub(crate) fn tick(&mut self, now: Millis, script: &Script) {
        self.receive(now, script);
        self.client.frame(now);
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::MapNeeded { .. } => self.client.map_ready(self.checksum),
                ClientEvent::Disconnected(reason) => self.fault = Some(reason.to_string()),
                ClientEvent::Refused(text) => {
                    self.fault = Some(String::from_utf8_lossy(&text).trim().to_owned());
                }
                _ => {}
            }
        }
        self.flush(false);
        if now < self.next || self.client.state() < ClientState::Connected {
            return;
        }
        self.next = now.max(self.next + Millis(u64::from(MSEC)));
        let is_lost = self.send(now, script);
        self.flush(is_lost);
    }

    /// Sends the next usercmd. Returns whether the network loses it.
    fn send(&mut self, now: Millis, script: &Script) -> bool {
        if self.client.state() != ClientState::Active || self.before < BEFORE {
            self.before += usize::from(self.client.state() == ClientState::Active);
            self.client.push_usercmd(self.last, now);
            return false;
        }
        if let Some(ScriptStep::Gate(gate)) = script.steps.get(self.at)
            && self.passes(*gate)
        {
            self.at += 1;
        }
        match script.steps.get(self.at) {
            Some(ScriptStep::Move { command, is_lost, .. }) => {
                self.stepped = now;
                self.steps.insert(self.client.next_sequence(), self.at);
                self.last = *command;
                self.at += 1;
                self.client.push_usercmd(*command, now);
                *is_lost
            }
            _ => {
                if now.since(self.stepped) > GATE_TIMEOUT {
                    self.fault = Some(format!("step {}: mover at {:?}", self.at, self.height));
                }
                self.last = idle(self.last);
                self.client.push_usercmd(self.last, now);
                false
            }
        }
    }

    /// Whether the mover of a gate has just arrived.
    fn passes(&mut self, gate: Gate) -> bool {
        let target = if gate.is_high { RISE } else { 0.0 };
        let is_there = self.height == Some(target);
        self.was_away |= self.height.is_some() && !is_there;
        is_there && std::mem::take(&mut self.was_away)
    }

    fn flush(&mut self, is_lost: bool) {
        let mut packet = Vec::new();
        while let Some(to) = self.client.poll_transmit(&mut packet) {
            if !is_lost && let Err(error) = self.socket.send_to(&packet, to) {
                self.fault = Some(error.to_string());
            }
        }
    }

    fn receive(&mut self, now: Millis, script: &Script) {
        let mut buffer = [0; 2048];
        while let Ok((len, from)) = self.socket.recv_from(&mut buffer) {
            let bytes = &buffer[..len];
            if !bytes.starts_with(CONNECTIONLESS)
                && let Ok((header, _)) = Header::parse(bytes, Sender::Server)
                && let Some(step) = self.steps.get(&header.sequence)
                && let Some(ScriptStep::Move { is_answer_lost: true, .. }) = script.steps.get(*step)
            {
                continue;
            }
            self.client.handle_datagram(now, from, bytes);
            self.note(script);
        }
    }

    /// Notes the own player of a new answer.
    fn note(&mut self, script: &Script) {
        let Some(frame) = self.client.frames().newest() else { return };
        let level = self.client.level();
        let own = frame.player(level.player).copied();
        let Some(own) = own.filter(|_| frame.sequence > self.newest) else { return };
        let gate = match script.steps.get(self.at) {
            Some(ScriptStep::Gate(gate)) => Some(*gate),
            _ => None,
        };
        let height = |model: usize| {
            let name = format!("*{model}");
            let is_mover = |number: u16| level.model(usize::from(number)) == name.as_bytes();
            let found = frame.entities().iter().find(|(_, state)| is_mover(state.model));
            found.map(|(_, state)| state.origin[2])
        };
        self.newest = frame.sequence;
        self.height = gate.and_then(|gate| height(gate.model));
        if let Some(step) = self.steps.get(&frame.sequence) {
            self.answers.insert(*step, own);
        } else if let (Some(Gate { model: 1, is_high: true }), Some(height)) = (gate, self.height)
            && 0.0 < height
            && height < RISE
        {
            *self.riding.entry(((own.origin[2] - height) * 8.0) as i32).or_default() += 1;
        }
    }
}
