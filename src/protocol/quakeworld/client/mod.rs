//! QuakeWorld client: handshake, signon, levels, frames, usercmds, commands.
//!
//! ```text
//! datagram ─ Client ┬ Handshake ─ getchallenge, connect
//!                   └ Channel ─ messages ─┬ LevelState: rules, names, players, stats, baselines
//!                                         ├ Frames: players and entities of the last 64 answers
//!                                         └ signon: commands that the server asks for
//! usercmd ─ move message with the two before it, delta request ─ datagram
//! ```
//!
//! The owner gives datagrams, time and usercmds, and takes datagrams and [`ClientEvent`]s. Each usercmd makes one
//! packet, in the game as before it. Prediction starts from [`Client::own_state`] and runs
//! [`Client::commands_after`].
//!
//! Invariants: a packet is valid to its end before anything of it is applied; memory is bounded for any server.
//! Source: QuakeWorld protocol 28, duties of a client.

mod download;
mod event;
mod frames;
mod handshake;
mod level;
mod receive;
mod stufftext;

#[cfg(test)]
mod tests;

use std::{collections::VecDeque, net::SocketAddr};

pub use event::{
    ClientEvent, ClientOptions, ClientState, CommandError, ContentError, DisconnectReason,
    Statistics,
};
pub use frames::{Entity, Frame, Frames};
pub use handshake::{Handshake, Progress};
pub use level::{LevelState, MAX_ENTITIES, MAX_LIGHT_STYLES, MAX_PLAYERS, MAX_STATS, Player};

use super::{
    bytes::Writer,
    channel::{
        Channel, End, MAX_MESSAGE_LEN,
        header::CONNECTIONLESS,
        timing::{ClientTiming, FRAMES},
    },
    connectionless::{Reply, Request},
    extensions::Extensions,
    level::Download,
    moves::write_move,
    packet::ServerMessages,
    players::PlayerInfo,
    usercmd::Usercmd,
};
use crate::model::Millis;
use download::Transfer;
use stufftext::StuffText;

/// Time without a packet of ours after which one is sent.
const KEEPALIVE: Millis = Millis(200);
/// Maximum number of events that wait; older ones are dropped.
const MAX_EVENTS: usize = 1024;
/// Maximum number of datagrams that wait; older ones are dropped.
const MAX_OUTBOX: usize = 64;
/// Number of the message with a string command.
const STRING_COMMAND: u8 = 4;
/// Number of the message that asks for changes only.
const DELTA: u8 = 5;

/// Connection to one server.
#[derive(Debug)]
pub struct Client {
    options: ClientOptions,
    state: ClientState,
    handshake: Handshake,
    channel: Channel,
    timing: ClientTiming,
    frames: Frames,
    level: Box<LevelState>,
    extensions: Extensions,
    stuff: StuffText,
    transfer: Option<Transfer>,
    /// Number of the newest chunked download.
    download_id: i32,
    events: VecDeque<ClientEvent>,
    outbox: VecDeque<Vec<u8>>,
    /// Memory of sent datagrams.
    spare: Vec<Vec<u8>>,
    /// Unreliable message of the next packet.
    message: Vec<u8>,
    statistics: Statistics,
    last_sent: Millis,
    last_received: Millis,
    disconnect_reason: Option<DisconnectReason>,
}

impl Client {
    /// Creates a client that starts to connect.
    #[must_use]
    pub fn new(options: ClientOptions, now: Millis) -> Self {
        Self {
            state: ClientState::Challenging,
            handshake: Handshake::new(options.qport, options.extensions, options.retry, now),
            channel: Channel::new(End::Client(options.qport)).starting_at_one(),
            timing: ClientTiming::default(),
            frames: Frames::default(),
            level: Box::default(),
            extensions: Extensions::NONE,
            stuff: StuffText::default(),
            transfer: None,
            download_id: 0,
            events: VecDeque::new(),
            outbox: VecDeque::new(),
            spare: Vec::new(),
            message: Vec::with_capacity(MAX_MESSAGE_LEN),
            statistics: Statistics::default(),
            last_sent: now,
            last_received: now,
            disconnect_reason: None,
            options,
        }
    }

    /// Returns the state of the connection.
    #[must_use]
    pub const fn state(&self) -> ClientState {
        self.state
    }

    /// Returns the reason of the disconnect.
    #[must_use]
    pub const fn disconnect_reason(&self) -> Option<&DisconnectReason> {
        self.disconnect_reason.as_ref()
    }

    /// Returns the state of the level.
    #[must_use]
    pub fn level(&self) -> &LevelState {
        &self.level
    }

    /// Returns the frames.
    #[must_use]
    pub const fn frames(&self) -> &Frames {
        &self.frames
    }

    /// Returns the extensions in force.
    #[must_use]
    pub const fn extensions(&self) -> Extensions {
        self.extensions
    }

    /// Returns the counters.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        Statistics { missing: self.channel.lost(), ..self.statistics }
    }

    /// Returns the measured latencies and losses.
    #[must_use]
    pub const fn timing(&self) -> &ClientTiming {
        &self.timing
    }

    /// Returns the loss of the last 256 packets in percent.
    #[must_use]
    pub fn loss_percent(&self) -> u8 {
        self.timing.loss_percent(self.channel.outgoing().saturating_sub(1))
    }

    /// Returns the own player in the newest answer, with the sequence of the last usercmd that ran.
    #[must_use]
    pub fn own_state(&self) -> Option<(u32, &PlayerInfo)> {
        let frame = self.frames.newest()?;
        Some((frame.sequence, frame.player(self.level.player)?))
    }

    /// Iterates over the usercmds that were sent after a sequence, oldest first.
    pub fn commands_after(&self, sequence: u32) -> impl Iterator<Item = (u32, &Usercmd)> {
        let end = self.channel.outgoing();
        let first = sequence.saturating_add(1).max(end.saturating_sub(FRAMES as u32));
        (first..end).filter_map(|number| Some((number, &self.frames.get(number)?.command)))
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// Replaces the content of `out` with the next datagram and returns its destination.
    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) -> Option<SocketAddr> {
        let mut datagram = self.outbox.pop_front()?;
        std::mem::swap(out, &mut datagram);
        self.spare.push(datagram);
        Some(self.options.server)
    }

    /// Runs the timers: handshake, keepalive, timeout.
    pub fn frame(&mut self, now: Millis) {
        match self.state {
            ClientState::Disconnected => {}
            ClientState::Challenging | ClientState::Connecting => {
                let mut datagram = self.spare.pop().unwrap_or_default();
                if self.handshake.poll(self.options.userinfo.as_bytes(), now, &mut datagram) {
                    self.send(datagram);
                } else {
                    self.spare.push(datagram);
                }
                let is_challenged = self.handshake.is_challenged();
                self.state =
                    if is_challenged { ClientState::Connecting } else { ClientState::Challenging };
            }
            _ => {
                if now.since(self.last_received) >= self.options.timeout {
                    return self.end(DisconnectReason::TimedOut);
                }
                if now.since(self.last_sent) >= KEEPALIVE {
                    self.push_usercmd(Usercmd::ZERO, now);
                }
            }
        }
    }

    /// Sequence of the next packet.
    #[must_use]
    pub const fn next_sequence(&self) -> u32 {
        self.channel.outgoing()
    }

    /// Sends a packet with this usercmd.
    pub fn push_usercmd(&mut self, command: Usercmd, now: Millis) {
        if !self.is_connected() {
            return;
        }
        let sequence = self.channel.outgoing();
        let before = |back: u32| sequence.checked_sub(back);
        let [oldest, previous] =
            [2, 1].map(|back| before(back).map_or(Usercmd::ZERO, |at| self.frames.command(at)));
        let base = self.frames.base_for(sequence);
        let loss = self.loss_percent();
        let mut message = std::mem::take(&mut self.message);
        message.clear();
        let mut writer = Writer::new(&mut message, MAX_MESSAGE_LEN, self.extensions);
        if let Some(transfer) = &mut self.transfer {
            transfer.write_requests(&mut writer);
        }
        write_move(&mut writer, sequence, loss, &[oldest, previous, command]);
        if let Some(base) = base {
            writer.write(&DELTA);
            writer.write(&(base as u8));
        }
        let left_out = self.transmit(&message, now);
        self.message = message;
        if let Some(left_out) = left_out {
            self.frames.start(sequence, command, base.filter(|_| !left_out));
        }
    }

    /// Queues a string command, e.g. `say hello`. It arrives reliably.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub fn command(&mut self, text: &[u8]) -> Result<(), CommandError> {
        if !self.is_connected() {
            return Err(CommandError::NotConnected);
        }
        if text.iter().any(|byte| matches!(byte, 0 | b'\n' | b'\r')) {
            return Err(CommandError::Character);
        }
        if self.channel.reliable_room() < text.len() + 2 {
            return Err(CommandError::Full);
        }
        self.queue_string(text);
        Ok(())
    }

    /// Changes a setting of the player, on the server too.
    ///
    /// # Errors
    /// See [`CommandError`]; an invalid setting is [`CommandError::Character`].
    pub fn set_info(&mut self, key: &str, value: &str) -> Result<(), CommandError> {
        let info = &mut self.options.userinfo;
        info.set(key.as_bytes(), value.as_bytes()).map_err(|_| CommandError::Character)?;
        self.command(format!("setinfo \"{key}\" \"{value}\"").as_bytes())
    }

    /// Follows a player as a spectator; `None` flies freely.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub fn track(&mut self, slot: Option<u8>) -> Result<(), CommandError> {
        match slot {
            Some(slot) => self.command(format!("ptrack {slot}").as_bytes()),
            None => self.command(b"ptrack"),
        }
    }

    /// Whether string commands are on their way.
    #[must_use]
    pub fn has_unacknowledged(&self) -> bool {
        self.channel.has_unacknowledged()
    }

    /// Asks for a file. A download in progress is given up.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub fn download(&mut self, name: &str) -> Result<(), CommandError> {
        self.command(format!("download \"{name}\"").as_bytes())?;
        self.transfer = Some(Transfer::new(name.as_bytes()));
        Ok(())
    }

    /// Continues the signon with the checksum of the map, see [`ClientEvent::MapNeeded`].
    pub fn map_ready(&mut self, checksum: i32) {
        if self.state != ClientState::Map {
            return;
        }
        if let Some([player, eyes]) = self.options.model_checksums {
            self.queue_string(format!("setinfo pmodel {player}").as_bytes());
            self.queue_string(format!("setinfo emodel {eyes}").as_bytes());
        }
        let count = self.level.server_count;
        self.queue_string(format!("prespawn {count} 0 {checksum}").as_bytes());
        self.state = ClientState::Spawning;
    }

    /// Leaves the server. The last packets wait in the outbox.
    pub fn disconnect(&mut self, now: Millis) {
        if self.is_connected() {
            for _ in 0..3 {
                self.transmit(b"\x04drop\0", now);
            }
        }
        self.end(DisconnectReason::Client);
    }

    /// Handles a datagram.
    pub fn handle_datagram(&mut self, now: Millis, from: SocketAddr, datagram: &[u8]) {
        if from != self.options.server || self.state == ClientState::Disconnected {
            self.statistics.ignored += 1;
        } else if datagram.starts_with(CONNECTIONLESS) {
            self.handle_connectionless(now, datagram);
        } else if self.is_connected() {
            self.handle_packet(now, datagram);
        } else {
            self.statistics.ignored += 1;
        }
    }

    fn handle_packet(&mut self, now: Millis, datagram: &[u8]) {
        let Ok(received) = self.channel.receive(datagram) else {
            self.statistics.ignored += 1;
            return;
        };
        let messages = match ServerMessages::checked(received.payload, self.extensions) {
            Ok(messages) => messages,
            Err(error) => return self.end(DisconnectReason::Message(error)),
        };
        self.channel.commit(&received, now);
        self.last_received = now;
        self.statistics.received += 1;
        self.statistics.received_bytes += datagram.len() as u64;
        let newest = self.channel.outgoing().saturating_sub(1);
        if let Some(latency) = self.timing.answered(received.header.acknowledged, newest, now) {
            self.statistics.latency_sum += latency.0;
            self.statistics.latency_count += 1;
        }
        self.apply(&received, messages);
    }

    fn handle_connectionless(&mut self, now: Millis, datagram: &[u8]) {
        let Ok(reply) = Reply::parse(datagram) else {
            self.statistics.ignored += 1;
            return;
        };
        self.statistics.received += 1;
        self.statistics.received_bytes += datagram.len() as u64;
        match reply {
            Reply::Ping => {
                let mut out = self.spare.pop().unwrap_or_default();
                Request::Ack.write(&mut out);
                self.send(out);
            }
            Reply::Chunk { id, number, bytes } => {
                let is_current = self.transfer.as_ref().and_then(Transfer::chunked_id) == Some(id);
                if is_current && self.is_connected() {
                    self.receive_part(Download::Chunk { number, bytes });
                }
            }
            Reply::Print { text } if self.handshake.is_accepted() => {
                let text = text.strip_suffix(b"\0").unwrap_or(text).to_vec();
                self.push_event(ClientEvent::Print { level: 2, text });
            }
            _ => match self.handshake.receive(&reply, now) {
                Some(Progress::Challenged) => self.frame(now),
                Some(Progress::Accepted) => {
                    self.last_received = now;
                    self.state = ClientState::Connected;
                    self.push_event(ClientEvent::Accepted);
                    self.queue_string(b"new");
                }
                Some(Progress::Printed(text)) => {
                    let text = text.strip_suffix(b"\0").unwrap_or(text).to_vec();
                    self.push_event(ClientEvent::Refused(text));
                }
                None => {}
            },
        }
    }

    fn is_connected(&self) -> bool {
        (ClientState::Connected..ClientState::Disconnected).contains(&self.state)
    }

    /// Queues a string command of the protocol. Without room, the connection ends.
    fn queue_string(&mut self, text: &[u8]) {
        if !self.is_connected() {
            return;
        }
        let mut piece = self.spare.pop().unwrap_or_default();
        piece.clear();
        piece.push(STRING_COMMAND);
        piece.extend_from_slice(text);
        piece.push(0);
        let is_queued = self.channel.queue_reliable(&piece).is_ok();
        self.spare.push(piece);
        if !is_queued {
            self.end(DisconnectReason::Overflowed);
        }
    }

    /// Sends a packet. Returns whether its unreliable message was left out; `None` without a packet.
    fn transmit(&mut self, unreliable: &[u8], now: Millis) -> Option<bool> {
        let mut datagram = self.spare.pop().unwrap_or_default();
        let Ok(sent) = self.channel.transmit(unreliable, now, &mut datagram) else {
            self.end(DisconnectReason::Overflowed);
            return None;
        };
        self.timing.sent(sent.sequence, now);
        self.last_sent = now;
        self.statistics.repeated += u64::from(sent.is_repeated);
        self.send(datagram);
        Some(sent.left_out)
    }

    fn send(&mut self, datagram: Vec<u8>) {
        if self.outbox.len() >= MAX_OUTBOX
            && let Some(oldest) = self.outbox.pop_front()
        {
            self.spare.push(oldest);
        }
        self.statistics.sent += 1;
        self.statistics.sent_bytes += datagram.len() as u64;
        self.outbox.push_back(datagram);
    }

    fn push_event(&mut self, event: ClientEvent) {
        if self.events.len() >= MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    fn end(&mut self, reason: DisconnectReason) {
        if self.state != ClientState::Disconnected {
            self.state = ClientState::Disconnected;
            self.push_event(ClientEvent::Disconnected(reason.clone()));
            self.disconnect_reason = Some(reason);
        }
    }
}
