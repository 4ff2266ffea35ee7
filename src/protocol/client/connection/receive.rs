//! Receive path of a connection: decode a message, then apply it as a whole.
//!
//! Invariants: a message with an error changes nothing; commands are applied once, in order, before the
//! snapshot behind them; the server time never decreases while the client is in the game.
//! Source: Quake III protocol 68, commands, snapshot acceptance.

use std::borrow::Cow;

use crate::{
    model::{CommandNum, Millis, Sequence, ServerId, limits::MAX_RELIABLE_COMMANDS},
    netchan::{
        AckError, CommandOrder, ReceivedMessage, UnscrambleError, channel::MAX_LOST_AT_START,
    },
    wire::{Protocol, gamestate::Gamestate},
};

use super::{
    super::{
        event::{ClientEvent, DisconnectReason, Events, ProtocolError, ProtocolErrorKind},
        level::{CommandEffect, LevelState},
        level_clock::LevelClock,
        statistics::Statistics,
    },
    Connection,
    detection::Detection,
    scrambling::EitherRead,
};

/// Time in which datagrams of an earlier connection to the same server may still arrive.
const STALE_MESSAGE_TIME: Millis = Millis::seconds(2);

/// Outcome of a received datagram.
#[derive(Debug)]
pub(in crate::client) enum ReceiveOutcome {
    /// Ignored: not from this connection, or late.
    Dropped,
    /// Accepted, or a protocol error of the server.
    Taken,
    /// End of the connection by the server.
    Ended(DisconnectReason),
    /// End of the connection by this client.
    Left(DisconnectReason),
    /// The server uses another framing than the client may use.
    OtherFraming(&'static Protocol),
}

impl Connection {
    /// Handles a sequenced datagram of the server.
    pub(in crate::client) fn receive(
        &mut self,
        now: Millis,
        datagram: &[u8],
        events: &mut Events,
        statistics: &mut Statistics,
    ) -> ReceiveOutcome {
        if self.detection != Detection::Done {
            self.adopt_protocol(now, datagram);
        }
        if let Some(protocol) = self.proven_other_framing(now, datagram) {
            return ReceiveOutcome::OtherFraming(protocol);
        }
        let received = match self.channel.receive(datagram, &mut self.message) {
            Ok(Some(received)) => received,
            Ok(None) => {
                self.received_at = now;
                return ReceiveOutcome::Taken;
            }
            Err(_) => return ReceiveOutcome::Dropped,
        };
        let sequence = received.sequence;
        let read = match self.scrambling {
            None => self.read(&received),
            Some(detection) => match self.read_either(&received, detection, events) {
                EitherRead::Taken => Ok(()),
                EitherRead::Other => return ReceiveOutcome::Dropped,
                EitherRead::Refused(other) => return ReceiveOutcome::OtherFraming(other),
                EitherRead::Unreadable(kind) => Err(kind),
            },
        };
        match read {
            Ok(()) if self.is_stale_message(now, &received) => return ReceiveOutcome::Dropped,
            Ok(()) => {}
            Err(kind) if self.may_be_stale_message(now, &received, kind) => {
                return ReceiveOutcome::Dropped;
            }
            // It may have the other framing.
            Err(_) if self.detection != Detection::Done => return ReceiveOutcome::Dropped,
            Err(_) if self.has_other_framing(datagram) => return ReceiveOutcome::Dropped,
            Err(kind) => {
                fault(events, statistics, sequence, kind);
                return ReceiveOutcome::Taken;
            }
        }
        self.received_at = now;
        self.detection = Detection::Done;
        self.other = None;
        statistics.messages += 1;
        statistics.lost_messages += u64::from(received.lost);
        self.channel.commit(received);
        self.apply(now, sequence, events, statistics)
    }

    /// Whether a message is late, from an earlier connection.
    ///
    /// A server may give a reconnecting client the same challenge, so only the content differs: a
    /// connection starts with a gamestate or the first command, and its numbers do not jump.
    pub(super) fn is_stale_message(&self, now: Millis, received: &ReceivedMessage) -> bool {
        let is_first = self.is_first();
        let command = self.inbound.commands.first().map(|(number, _)| *number);
        let leaps = received.lost > MAX_LOST_AT_START && (is_first || self.is_young(now));
        let begins_behind = is_first && command.is_some_and(|number| number != CommandNum(1));
        self.inbound.gamestate.is_none() && (leaps || begins_behind)
    }

    /// Whether an undecodable message is probably late instead of a protocol error. It is scrambled
    /// with or acknowledges a command never sent, or is out of sequence in a young connection. With
    /// another challenge it cannot be decoded at all.
    fn may_be_stale_message(
        &self,
        now: Millis,
        received: &ReceivedMessage,
        kind: ProtocolErrorKind,
    ) -> bool {
        let is_of_others = matches!(
            kind,
            ProtocolErrorKind::Acknowledge(_)
                | ProtocolErrorKind::Unscramble(UnscrambleError::UnknownCommand(_))
        );
        received.far_ahead
            || is_of_others && self.is_first()
            || received.lost > 0 && self.is_young(now)
    }

    /// Whether no message was accepted yet.
    fn is_first(&self) -> bool {
        self.channel.last_received() == Sequence(0)
    }

    fn is_young(&self, now: Millis) -> bool {
        now.since(self.started) < STALE_MESSAGE_TIME
    }

    /// Decodes a message without any effect.
    pub(super) fn decode(&mut self, received: &ReceivedMessage) -> Result<(), ProtocolErrorKind> {
        let sequence = received.sequence;
        self.channel.unscramble_server_message(sequence, &self.commands, &mut self.message)?;
        let baselines = self.level.as_ref().map_or(&self.no_baselines, |level| &level.baselines);
        let reader = self.channel.reader(&self.message);
        self.inbound.expected_block = self.download.expected_block();
        let voice = self.channel.protocol().voice;
        self.inbound.read(reader, voice, sequence, &mut self.history, baselines)
    }

    /// Decodes a message, then applies its acknowledgement.
    pub(super) fn read(&mut self, received: &ReceivedMessage) -> Result<(), ProtocolErrorKind> {
        self.decode(received)?;
        let Some(acknowledged) = self.inbound.acknowledged else { return Ok(()) };
        match self.commands.acknowledge(acknowledged) {
            Err(AckError::TooOld { .. }) => self.commands.acknowledge_all(),
            Err(error @ AckError::Future { .. }) => {
                return Err(ProtocolErrorKind::Acknowledge(error));
            }
            Ok(()) => {}
        }
        Ok(())
    }

    /// Applies a decoded message.
    fn apply(
        &mut self,
        now: Millis,
        sequence: Sequence,
        events: &mut Events,
        statistics: &mut Statistics,
    ) -> ReceiveOutcome {
        let mut commands = std::mem::take(&mut self.inbound.commands);
        let mut ending = None;
        for (number, text) in commands.drain(..) {
            if ending.is_none() {
                ending = self.command(sequence, number, text, events, statistics);
            }
        }
        self.inbound.commands = commands;
        if let Some(ending) = ending {
            return ReceiveOutcome::Ended(ending);
        }
        if let Some(gamestate) = self.inbound.gamestate.take()
            && let Some(reason) = self.begin_level(now, sequence, gamestate, events, statistics)
        {
            return ReceiveOutcome::Left(reason);
        }
        self.apply_snapshot(now, sequence, events, statistics);
        for block in std::mem::take(&mut self.inbound.blocks) {
            self.apply_block(now, block, events);
        }
        ReceiveOutcome::Taken
    }

    /// Begins the level of a gamestate. Returns the reason for which the client leaves: it cannot prove its archives.
    fn begin_level(
        &mut self,
        now: Millis,
        sequence: Sequence,
        mut gamestate: Gamestate,
        events: &mut Events,
        statistics: &mut Statistics,
    ) -> Option<DisconnectReason> {
        let protocol = self.channel.protocol();
        self.server_commands.skip_to(gamestate.command_num);
        // Baselines are delta bases and keep the numbers of the wire.
        gamestate.configstrings.retain_mut(|(index, _)| {
            let received = protocol.numbers.received_index(*index);
            *index = received.unwrap_or(*index);
            received.is_some()
        });
        let level = LevelState::new(gamestate);
        if level.server_id == ServerId(0) {
            fault(events, statistics, sequence, ProtocolErrorKind::NoServerId);
        }
        let failure = self.proof.answer(protocol, &level, &mut self.commands, events);
        self.level = Some(level);
        self.download.end_for_gamestate(events);
        self.history.forget();
        self.usercmds.forget();
        self.clock = LevelClock::default();
        self.ping = None;
        // The server waits for the first usercmd.
        self.hasten_packet(now);
        events.push(ClientEvent::Gamestate);
        failure
    }

    /// Handles a reliable command.
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
            // Missing commands are lost. A client of the game continues while its ring could have
            // held them, and scrambles with those received.
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
        // The text of the wire is a key; the client shows that of 1.32. A configstring that 1.32 lacks means nothing.
        let translated = match self.channel.protocol().received_command(&text)? {
            Cow::Owned(translated) => Some(translated),
            Cow::Borrowed(_) => None,
        };
        let text = translated.unwrap_or(text);
        let obeyed = match &mut self.level {
            Some(level) => level.apply_command(&text),
            // Before the gamestate only a disconnect has a meaning.
            None if text.starts_with("disconnect") => {
                Ok(CommandEffect::Disconnect(text["disconnect".len()..].trim().replace('"', "")))
            }
            None => Ok(CommandEffect::Passed),
        };
        match obeyed {
            Ok(CommandEffect::Configstring(index)) => events.push(ClientEvent::Configstring(index)),
            Ok(CommandEffect::Piece) => {}
            Ok(CommandEffect::MapRestart) => {
                self.usercmds.forget();
                events.push(ClientEvent::MapRestart);
            }
            Ok(CommandEffect::Disconnect(reason)) => {
                return Some(match &self.level {
                    Some(level) => self.proof.explain(level, reason),
                    None => DisconnectReason::ServerSaid(reason),
                });
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
        // Snapshots from before the client entered the game may have the time of the previous
        // level.
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
            level.learn_client_num(&current.player);
            self.clock.set(now, after);
            let round_trip = self.usercmds.round_trip(now, current.delta_base());
            self.ping = round_trip.or(self.ping);
            if !level.entered && self.proof.is_accepted(&self.commands) {
                level.entered = true;
                events.push(ClientEvent::Entered);
            }
        }
        events.push(ClientEvent::Snapshot);
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
