//! A connection that stands: messages in both directions, and what they change.
//!
//! ```text
//! receive ─ channel ─ open ─ Inbound::read ─┬ a fault: as if the message never came
//!                                           └ good: acknowledge, commands, gamestate or snapshot
//! send ──── numbers, unacknowledged commands, usercmds ─ channel
//! ```
//!
//! Invariants: a message counts whole or not at all; commands are obeyed once, in order, before the
//! snapshot they precede; the level's time never goes back while the client is in it.
//! Source: Quake III protocol 68, packets of a client, delta requests, commands.

use std::sync::Arc;

use crate::{
    model::{
        Baselines, CommandNum, ConfigIndex, LevelTime, Millis, Qport, Sequence, ServerId, UserCmd,
        limits::{MAX_MESSAGE_LEN, MAX_PACKET_USERCMDS, MAX_RELIABLE_COMMANDS},
    },
    netchan::{
        AckError, AddError, Channel, ChannelSide, CommandOrder, IncomingCommands, OutgoingCommands,
        ReceivedMessage, SendError, UnscrambleError, channel::MAX_LOST_AT_START, detect_protocol,
        usercmd_key,
    },
    node::{Outbox, Route},
    wire::{
        bits::BitWriter,
        client_message::{self, ClientHeader},
        protocol::Protocol,
    },
};

use super::{
    event::{ClientEvent, DisconnectReason, Events, ProtocolError, ProtocolErrorKind},
    handshake::Granted,
    history::SnapshotHistory,
    inbound::Inbound,
    level::{CommandEffect, LevelState},
    level_clock::LevelClock,
    statistics::Statistics,
    usercmds::UsercmdHistory,
};

/// Time between packets before the first gamestate.
const IDLE_INTERVAL: Millis = Millis(1000);
/// Time in which datagrams of an earlier connection to the same server may still arrive.
const STALE_MESSAGE_TIME: Millis = Millis::seconds(2);
/// A message this long takes no further command: the longest one and all usercmds still fit.
const COMMAND_BITS: usize = (MAX_MESSAGE_LEN - 4096) * 8;

/// One connection, from the server's yes on.
#[derive(Debug)]
pub(super) struct Connection {
    channel: Channel,
    commands: OutgoingCommands,
    server_commands: IncomingCommands,
    level: Option<LevelState>,
    nothing: Baselines,
    history: SnapshotHistory,
    moves: UsercmdHistory,
    clock: LevelClock,
    ping: Option<Millis>,
    detection: Detection,
    packet_interval: Millis,
    next_packet: Millis,
    began: Millis,
    pub(super) last_heard: Millis,
    // Memory used again for every message.
    message: Vec<u8>,
    inbound: Inbound,
    writer: BitWriter,
}

/// How far the client has found out which framing the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detection {
    /// It is known.
    Done,
    /// The framing is the first guess, and nothing was sent.
    Untried,
    /// Something was sent in the present framing, and nothing has come back: the next packet tries the other.
    Tried,
    /// The last datagram of the server had the present framing. No message could be read yet.
    Seen,
}

/// What happened to a datagram.
#[derive(Debug)]
pub(super) enum ReceiveOutcome {
    /// Nobody of ours sent it, or it came too late.
    Dropped,
    /// It was taken, or is a fault of the server's.
    Taken,
    /// It ends the connection.
    Ended(DisconnectReason),
}

impl Connection {
    pub(super) fn new(
        now: Millis,
        granted: Granted,
        qport: Qport,
        packets_per_second: u32,
        packet_dup: u32,
    ) -> Self {
        let interval = 1000 / packets_per_second.clamp(15, 125);
        Self {
            channel: Channel::new(ChannelSide::Client, granted.protocol, granted.challenge, qport),
            commands: OutgoingCommands::new(),
            server_commands: IncomingCommands::new(),
            level: None,
            nothing: Baselines::default(),
            history: SnapshotHistory::new(),
            moves: UsercmdHistory::new(packet_dup),
            clock: LevelClock::default(),
            ping: None,
            detection: Detection::Done,
            packet_interval: Millis(u64::from(interval)),
            next_packet: now,
            began: now,
            last_heard: now,
            message: Vec::new(),
            inbound: Inbound::default(),
            writer: BitWriter::new(),
        }
    }

    /// Takes the present framing for a guess: the first messages of the server tell which one it speaks, and
    /// until then each packet tries the other one. A server of ioquake3 drops packets of the wrong framing by
    /// their checksum, or speaks up before it hears any; others cannot read them.
    pub(super) fn detect_protocol(&mut self) {
        self.detection = Detection::Untried;
    }

    /// Goes over to another framing. The numbers of messages go on.
    fn change_protocol(&mut self, protocol: &'static Protocol) {
        let (challenge, qport) = (self.channel.challenge(), self.channel.qport());
        let (next, last) = (self.channel.next_sequence(), self.channel.last_received());
        self.channel =
            Channel::new(ChannelSide::Client, protocol, challenge, qport).resumed(next, last);
    }

    /// Takes the framing of a datagram of the server for the server's.
    fn note_protocol(&mut self, now: Millis, datagram: &[u8]) {
        let (known, challenge) = (self.channel.protocol(), self.channel.challenge());
        let protocol = detect_protocol(known, ChannelSide::Server, challenge, datagram);
        if protocol != known {
            self.change_protocol(protocol);
            // What was sent before could not be read.
            self.next_packet = now;
        }
        self.detection = Detection::Seen;
    }

    pub(super) fn level(&self) -> Option<&LevelState> {
        self.level.as_ref()
    }

    pub(super) fn history(&self) -> &SnapshotHistory {
        &self.history
    }

    pub(super) fn channel(&self) -> &Channel {
        &self.channel
    }

    pub(super) fn check_invariants(&self) -> Result<(), String> {
        self.channel.check_invariants()?;
        let outstanding = self.commands.outstanding();
        if outstanding > MAX_RELIABLE_COMMANDS + 1 {
            return Err(format!("{outstanding} commands are under way"));
        }
        Ok(())
    }

    pub(super) fn ping(&self) -> Option<Millis> {
        self.ping
    }

    pub(super) fn last_server_command(&self) -> CommandNum {
        self.server_commands.last()
    }

    pub(super) fn commands(&self) -> &OutgoingCommands {
        &self.commands
    }

    pub(super) fn next_packet(&self) -> Millis {
        self.next_packet
    }

    pub(super) fn level_time(&self, now: Millis) -> LevelTime {
        let time = self.clock.read(now);
        match self.moves.last() {
            Some(last) if time.distance(LevelTime(last.server_time)) < 0 => {
                LevelTime(last.server_time)
            }
            _ => time,
        }
    }

    pub(super) fn last_usercmd(&self) -> Option<&UserCmd> {
        self.moves.last()
    }

    pub(super) fn push_usercmd(&mut self, usercmd: UserCmd) {
        if self.level.is_some() {
            self.moves.push(usercmd);
        }
    }

    pub(super) fn add_command(&mut self, text: Arc<str>) -> Result<CommandNum, AddError> {
        self.commands.add(text)
    }

    /// Adds the client's last command, for which there is always room.
    pub(super) fn add_disconnect(&mut self) {
        // Refused only when it is there already.
        let _ = self.commands.add_disconnect("disconnect".into());
    }

    /// Takes a sequenced datagram of the server's.
    pub(super) fn receive(
        &mut self,
        now: Millis,
        datagram: &[u8],
        events: &mut Events,
        statistics: &mut Statistics,
    ) -> ReceiveOutcome {
        if self.detection != Detection::Done {
            self.note_protocol(now, datagram);
        }
        let received = match self.channel.receive(datagram, &mut self.message) {
            Ok(Some(received)) => received,
            Ok(None) => {
                self.last_heard = now;
                return ReceiveOutcome::Taken;
            }
            Err(_) => return ReceiveOutcome::Dropped,
        };
        let sequence = received.sequence;
        match self.read(&received) {
            Ok(()) if self.is_stale_message(now, &received) => return ReceiveOutcome::Dropped,
            Ok(()) => {}
            Err(kind) if self.may_be_stale_message(now, &received, kind) => {
                return ReceiveOutcome::Dropped;
            }
            // It may be of the other framing after all.
            Err(_) if self.detection != Detection::Done => return ReceiveOutcome::Dropped,
            Err(kind) => {
                fault(events, statistics, sequence, kind);
                return ReceiveOutcome::Taken;
            }
        }
        self.last_heard = now;
        self.detection = Detection::Done;
        statistics.messages += 1;
        statistics.lost_messages += u64::from(received.lost);
        self.channel.commit(received);
        match self.apply(now, sequence, events, statistics) {
            Some(ending) => ReceiveOutcome::Ended(ending),
            None => ReceiveOutcome::Taken,
        }
    }

    /// Whether what was read is late, from an earlier connection. A server that gives a client which
    /// reconnects at once the same challenge leaves nothing else to tell the two apart: a connection
    /// begins with a gamestate or the first command, and its numbers do not leap.
    fn is_stale_message(&self, now: Millis, received: &ReceivedMessage) -> bool {
        let is_first = self.is_first();
        let command = self.inbound.commands.first().map(|(number, _)| *number);
        let leaps = received.lost > MAX_LOST_AT_START && (is_first || self.is_young(now));
        let begins_behind = is_first && command.is_some_and(|number| number != CommandNum(1));
        self.inbound.gamestate.is_none() && (leaps || begins_behind)
    }

    /// Whether a message with that fault is more likely late, from an earlier connection, than the
    /// server's mistake: it is keyed by or acknowledges what was never sent, or is out of sequence in a
    /// young connection. With another challenge it cannot even be read.
    fn may_be_stale_message(
        &self,
        now: Millis,
        received: &ReceivedMessage,
        kind: ProtocolErrorKind,
    ) -> bool {
        let is_of_others = matches!(
            kind,
            ProtocolErrorKind::Acknowledge(_)
                | ProtocolErrorKind::Opening(UnscrambleError::UnknownCommand(_))
        );
        received.far_ahead
            || is_of_others && self.is_first()
            || received.lost > 0 && self.is_young(now)
    }

    /// Whether no message was taken yet.
    fn is_first(&self) -> bool {
        self.channel.last_received() == Sequence(0)
    }

    fn is_young(&self, now: Millis) -> bool {
        now.since(self.began) < STALE_MESSAGE_TIME
    }

    /// Reads the message, and believes its acknowledgement once all of it could be read.
    fn read(&mut self, received: &ReceivedMessage) -> Result<(), ProtocolErrorKind> {
        let sequence = received.sequence;
        let acknowledged =
            self.channel.unscramble_server_message(sequence, &self.commands, &mut self.message)?;
        let baselines = self.level.as_ref().map_or(&self.nothing, |level| &level.baselines);
        let reader = self.channel.reader(&self.message);
        let voice = self.channel.protocol().voice;
        self.inbound.read(reader, voice, sequence, &mut self.history, baselines)?;
        match self.commands.acknowledge(acknowledged) {
            Err(AckError::TooOld { .. }) => self.commands.acknowledge_all(),
            Err(error @ AckError::Future { .. }) => {
                return Err(ProtocolErrorKind::Acknowledge(error));
            }
            Ok(()) => {}
        }
        Ok(())
    }

    /// Lets a message that proved good take effect.
    fn apply(
        &mut self,
        now: Millis,
        sequence: Sequence,
        events: &mut Events,
        statistics: &mut Statistics,
    ) -> Option<DisconnectReason> {
        let mut commands = std::mem::take(&mut self.inbound.commands);
        let mut ending = None;
        for (number, text) in commands.drain(..) {
            if ending.is_none() {
                ending = self.command(sequence, number, text, events, statistics);
            }
        }
        self.inbound.commands = commands;
        if ending.is_some() {
            return ending;
        }
        if let Some(gamestate) = self.inbound.gamestate.take() {
            self.server_commands.skip_to(gamestate.command_num);
            let level = LevelState::new(gamestate);
            if level.server_id == ServerId(0) {
                fault(events, statistics, sequence, ProtocolErrorKind::NoServerId);
            }
            self.level = Some(level);
            self.history.forget();
            self.moves.forget();
            self.clock = LevelClock::default();
            self.ping = None;
            // The server waits for the first usercmd.
            self.next_packet = now;
            events.push(ClientEvent::Gamestate);
        }
        self.apply_snapshot(now, sequence, events, statistics);
        None
    }

    /// Takes a reliable command that is new.
    fn command(
        &mut self,
        sequence: Sequence,
        number: CommandNum,
        text: String,
        events: &mut Events,
        statistics: &mut Statistics,
    ) -> Option<DisconnectReason> {
        let last = self.server_commands.last();
        match self.server_commands.order(number) {
            CommandOrder::Duplicate => return None,
            CommandOrder::Next => {}
            // What is missing never comes. A client of the game goes on as long as its ring might
            // have held it, and keys its messages with what came.
            CommandOrder::Lost => {
                fault(
                    events,
                    statistics,
                    sequence,
                    ProtocolErrorKind::CommandGap { last, got: number },
                );
                if number.distance(last) > MAX_RELIABLE_COMMANDS as i64 {
                    return None;
                }
                self.server_commands.skip_to(CommandNum(number.0 - 1));
            }
        }
        self.server_commands.take(number, &text);
        statistics.server_commands += 1;
        let obeyed = match &mut self.level {
            Some(level) => level.apply_command(&text),
            // Without a level only a goodbye has a meaning.
            None if text.starts_with("disconnect") => {
                Ok(CommandEffect::Disconnect(text["disconnect".len()..].trim().replace('"', "")))
            }
            None => Ok(CommandEffect::Passed),
        };
        match obeyed {
            Ok(CommandEffect::Configstring(index)) => events.push(ClientEvent::Configstring(index)),
            Ok(CommandEffect::Piece) => {}
            Ok(CommandEffect::MapRestart) => {
                self.moves.forget();
                events.push(ClientEvent::MapRestart);
            }
            Ok(CommandEffect::Disconnect(reason)) => {
                return Some(DisconnectReason::ServerSaid(reason));
            }
            Ok(CommandEffect::Passed) => events.push(ClientEvent::ServerCommand(text)),
            Err(kind) => fault(events, statistics, sequence, kind),
        }
        None
    }

    fn apply_snapshot(
        &mut self,
        now: Millis,
        sequence: Sequence,
        events: &mut Events,
        statistics: &mut Statistics,
    ) {
        let Some(staged) = self.inbound.snapshot.take() else { return };
        let Some(level) = &mut self.level else {
            statistics.early_snapshots += 1;
            return;
        };
        if !staged.usable {
            statistics.discarded_snapshots += 1;
            return;
        }
        let after = staged.head.server_time;
        // Times of snapshots from before the client was in the game may belong to the level before.
        if level.entered
            && let Some(before) = self.history.current().map(|current| current.head.server_time)
            && after.distance(before) < 0
        {
            fault(events, statistics, sequence, ProtocolErrorKind::TimeBackwards { before, after });
            return;
        }
        statistics.snapshots += 1;
        statistics.delta_snapshots += u64::from(staged.head.delta_num != 0);
        self.history.accept(sequence, staged, self.server_commands.last());
        let Some(current) = self.history.current() else { return };
        if current.is_active() {
            self.clock.set(now, after);
            let round_trip = self.moves.round_trip(now, current.player.command_time);
            self.ping = round_trip.or(self.ping);
            if !level.entered {
                level.entered = true;
                events.push(ClientEvent::Entered);
            }
        }
        events.push(ClientEvent::Snapshot);
    }

    /// Sends a packet if it is time.
    ///
    /// # Errors
    /// When the connection has used up its numbers.
    pub(super) fn frame(
        &mut self,
        now: Millis,
        route: Route,
        outbox: &mut Outbox,
    ) -> Result<(), SendError> {
        if now < self.next_packet {
            return Ok(());
        }
        let interval = if self.level.is_some() { self.packet_interval } else { IDLE_INTERVAL };
        self.next_packet += interval;
        if self.next_packet <= now {
            self.next_packet = now + interval;
        }
        match self.detection {
            Detection::Untried => self.detection = Detection::Tried,
            Detection::Tried => self.change_protocol(self.channel.protocol().next_with_number()),
            Detection::Done | Detection::Seen => {}
        }
        self.send(now, route, outbox)
    }

    /// Sends a packet.
    ///
    /// # Errors
    /// As [`Channel::send`].
    pub(super) fn send(
        &mut self,
        now: Millis,
        route: Route,
        outbox: &mut Outbox,
    ) -> Result<(), SendError> {
        let writer = &mut self.writer;
        let head = ClientHeader {
            server_id: self.level.as_ref().map_or(ServerId(0), |level| level.server_id),
            message_acknowledge: self.channel.last_received().0 as i32,
            reliable_acknowledge: self.server_commands.last(),
        };
        client_message::begin(writer, self.channel.protocol(), &head);
        for (number, text) in self.commands.unacknowledged() {
            // The rest follows when these are acknowledged.
            if writer.bit_len() > COMMAND_BITS {
                break;
            }
            client_message::write_command(writer, number, text.as_bytes());
        }
        let text = self.server_commands.text();
        if let Some(level) = &self.level {
            let mut moves = [UserCmd::default(); MAX_PACKET_USERCMDS];
            let count = self.moves.select(&mut moves);
            let key = usercmd_key(level.checksum_feed, head.message_acknowledge, text.as_bytes());
            // Only a message that is a snapshot we have may be built upon.
            let newest = self.history.current().map(|current| current.sequence);
            let delta = newest == Some(self.channel.last_received());
            client_message::write_moves(writer, delta, key, &moves[..count]);
            self.moves.sent(now);
        }
        client_message::end(writer);
        debug_assert!(!writer.overflowed(), "a packet of a client is bounded");
        let channel = &mut self.channel;
        let mut sent = Ok(());
        outbox.push_with(route, |out| {
            sent = channel.send(writer.message(), text, (), out).map(|_| ());
        });
        while channel.is_busy() {
            outbox.push_with(route, |out| {
                channel.transmit_next(out);
            });
        }
        sent
    }

    pub(super) fn configstring(&self, index: ConfigIndex) -> &str {
        self.level.as_ref().map_or("", |level| level.configstring(index))
    }
}

fn fault(
    events: &mut Events,
    statistics: &mut Statistics,
    sequence: Sequence,
    kind: ProtocolErrorKind,
) {
    statistics.faults += 1;
    events.push(ClientEvent::ProtocolError(ProtocolError { sequence, kind }));
}
