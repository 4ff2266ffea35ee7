//! Send path: gamestates, commands and fragments, each within the rate of its client.
//!
//! Invariants: no snapshot is written while messages of the client are queued, since its sequence
//! would be unknown. A gamestate fits a message (`configstrings` counts it); with too many commands in front of it,
//! these are sent alone first. The gamestate of a level is sent to a client at most once a second, and again only when
//! the client has lost the last one.
//! Source: Quake III protocol 68, gamestate, snapshot, rate and pacing; the rules are ioquake3's.
//! Engine names: `SV_SendClientGameState`, `SV_Netchan_TransmitNextFragment`.

use super::{
    Connections, Role, Slots, Tap as _,
    rate::Readiness,
    slots::SlotKey as _,
    state::{Connection, ConnectionState},
};
use crate::{
    model::{Challenge, ClientNum, LevelTime, Millis},
    netchan::Transmitted,
    node::Route,
    observe::Counter,
    serving::{
        command_queue::SnapshotTimes,
        configstrings::Configstrings,
        gamestate_message::{GamestateContent, write_gamestate},
        pacing::{MessageKind, fragment_copies, fragment_spacing},
        stats::Stats,
    },
    wire::{
        bits::BitWriter,
        connectionless::{ConnectResponse, Message},
        server_message, snapshot,
    },
};

/// Times after `connect` at which `connectResponse` is resent to a silent client.
const RESPONSES_AFTER: [Millis; 3] = [Millis(500), Millis(1000), Millis(2000)];

/// A gamestate does not fit a message.
pub(super) struct GamestateOverflow;

impl<R: Role> Connection<R> {
    /// Begins a message with the unacknowledged commands of the client.
    pub(crate) fn begin_message(&self, writer: &mut BitWriter) {
        server_message::begin(writer, self.channel.protocol(), self.incoming.last());
        for (number, text) in self.queue.commands.unacknowledged() {
            server_message::write_command(writer, number, text.as_bytes());
        }
    }

    /// Begins a message with a snapshot. Pending commands are numbered while there is room.
    pub(crate) fn begin_snapshot(
        &mut self,
        writer: &mut BitWriter,
        configstrings: &Configstrings,
        rates: &R::Rates,
        now: Millis,
        level: LevelTime,
    ) {
        let played = self.is_active().then_some(LevelTime(self.last_usercmd.server_time));
        let budget = if self.queue.pending() > 0 { self.command_budget(rates) } else { 0 };
        self.queue.fill_window(configstrings, SnapshotTimes { now, level, played }, budget);
        self.begin_message(writer);
        snapshot::begin(writer, self.incoming.last());
    }

    /// Records a datagram that was sent.
    fn record_transmitted(
        &mut self,
        stats: &mut Stats,
        now: Millis,
        transmitted: Option<Transmitted<MessageKind>>,
    ) {
        let Some(transmitted) = transmitted else { return };
        self.sent_at = now;
        self.spacing = fragment_spacing(transmitted.kind);
        stats.bump(Counter::PacketsOutSequenced);
        stats.add(Counter::BytesOut, self.channel.last_datagram_len() as u64);
        if transmitted.first
            && let MessageKind::Gamestate { .. } = transmitted.kind
            && let ConnectionState::Primed(primed) = &mut self.state
        {
            primed.gamestate.sequence = Some(transmitted.sequence);
        }
    }
}

impl<R: Role> Connections<'_, R> {
    /// Queues a connectionless packet. Returns its length.
    pub(crate) fn answer(&mut self, route: Route, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        self.stats.bump(Counter::PacketsOutConnectionless);
        self.outbox.push_with(route, write)
    }

    /// Sends the gamestate to a client that joins.
    pub(super) fn send_gamestate(&mut self, key: R::Key) -> Result<(), GamestateOverflow> {
        let Some(client) = self.slots.get_mut(key) else { return Ok(()) };
        let is_retry = match client.state {
            ConnectionState::Connected(_) => false,
            ConnectionState::Primed(_) => true,
            ConnectionState::Active(_) | ConnectionState::Zombie(_) => return Ok(()),
        };
        if is_retry {
            // Texts queued since the first gamestate belong to this level and are not sent otherwise.
            client.queue.clear_configstrings();
        } else {
            // Texts of another level. None were queued since it ended.
            client.queue.clear_pending();
        }
        let (writer, level) = (&mut *self.writer, &self.level);
        client.begin_message(writer);
        let content = GamestateContent {
            configstrings: level.configstrings,
            baselines: level.baselines,
            client: level.client_number.unwrap_or_else(|| ClientNum::at(key.index())),
            checksum_feed: Some(level.checksum_feed),
        };
        let command = client.queue.commands.last();
        write_gamestate(writer, client.channel.protocol(), command, content);
        server_message::end(writer);
        if writer.overflowed() {
            if client.queue.commands.outstanding() == 0 {
                return Err(GamestateOverflow);
            }
            if client.rate_delay(self.rates, self.now) == Millis(0) {
                self.send_commands(key);
            }
            return Ok(());
        }
        client.prime(self.now);
        client.queue.begin_level();
        if client.channel.protocol().filters_fragments {
            client.channel.set_fragment_copies(fragment_copies(is_retry));
        }
        self.stats.bump(Counter::GamestatesSent);
        self.transmit(key, MessageKind::Gamestate { is_retry });
        if let Some(client) = self.slots.get_mut(key) {
            client.channel.set_fragment_copies(1);
        }
        Ok(())
    }

    /// Resends `connectResponse` to silent clients: the only copy may be lost, and a client retries
    /// after three seconds only. Their addresses are proven, and all copies are shorter than the
    /// `connect`.
    pub(crate) fn resend_connect_responses(&mut self) {
        for key in self.slots.keys() {
            let Some(client) = self.slots.get_mut(key) else { continue };
            if client.has_sent_message() {
                continue;
            }
            let ConnectionState::Connected(connected) = &mut client.state else { continue };
            let due = RESPONSES_AFTER.get(usize::from(connected.responses_resent));
            if due.is_some_and(|&due| self.now.since(client.connected_at) >= due) {
                connected.responses_resent += 1;
                let (route, challenge) = (client.route(), client.channel.challenge());
                self.accept(route, challenge);
            }
        }
    }

    /// Answers a `connect` that is accepted.
    pub(super) fn accept(&mut self, route: Route, challenge: Challenge) {
        let response = ConnectResponse { challenge: Some(challenge), protocol: None };
        self.answer(route, |out| Message::ConnectResponse(response).write(out));
    }

    /// Sends the unacknowledged commands of a client.
    pub(crate) fn send_commands(&mut self, key: R::Key) {
        let Some(client) = self.slots.get_mut(key) else { return };
        client.begin_message(self.writer);
        server_message::end(self.writer);
        self.transmit(key, MessageKind::Commands);
    }

    /// Whether a message that is due is sent now. If a snapshot is withheld for the rate, the next one has the flag.
    pub(crate) fn is_ready(&mut self, key: R::Key) -> bool {
        let Some(client) = self.slots.get_mut(key) else { return false };
        let withheld = match client.readiness(self.rates, self.now) {
            Readiness::Ready => return true,
            Readiness::Spaced => return false,
            Readiness::Queued => Counter::SnapshotsHeldByQueue,
            Readiness::Delayed => Counter::SnapshotsHeldByRate,
        };
        self.stats.bump(withheld);
        // A joining client is delayed by its gamestate, which is not flagged.
        client.rate_delayed |= client.is_active();
        false
    }

    /// Sends the message in the writer, or queues it behind earlier fragments.
    pub(crate) fn transmit(&mut self, key: R::Key, kind: MessageKind) {
        let Some(client) = self.slots.get_mut(key) else { return };
        let message = self.writer.message();
        self.tap.message(key, client, kind, message);
        let mut result = Ok(None);
        self.outbox.push_with(client.route(), |out| {
            result = client.channel.send(message, client.incoming.text(), kind, out);
        });
        match result {
            Ok(transmitted) => client.record_transmitted(self.stats, self.now, transmitted),
            Err(error) => {
                log::debug!("{} {key}: {error}", R::NOUN);
                self.drops.push((key, error.to_string()));
            }
        }
    }

    /// Sends queued fragments and messages, within the rates of the clients.
    pub(crate) fn send_queued_fragments(&mut self) {
        let now = self.now;
        for (_, client) in self.slots.iter_mut() {
            while client.channel.is_busy() && client.send_delay(self.rates, now) == Millis(0) {
                let mut transmitted = None;
                self.outbox.push_with(client.route(), |out| {
                    transmitted = client.channel.transmit_next(out);
                });
                client.record_transmitted(self.stats, now, transmitted);
            }
        }
    }
}

/// Time at which queued fragments or a lost gamestate are due next.
pub(crate) fn next_send_time<R: Role>(slots: &Slots<R>, rates: &R::Rates, now: Millis) -> Millis {
    let due = slots.iter().filter_map(|(_, client)| {
        if client.channel.is_busy() {
            return Some(now + client.send_delay(rates, now));
        }
        client.gamestate_due()
    });
    due.min().unwrap_or(Millis::NEVER)
}
