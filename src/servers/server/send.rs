//! Send path: gamestates, snapshots and fragments, each within the rate of its client.
//!
//! Invariants: no snapshot is written while messages of the client are queued, since its sequence
//! would be unknown. A message that is too long loses entities, never commands. A gamestate fits a
//! message (`configstrings` counts it); with too many commands in front of it, these are sent alone
//! first. The gamestate of a level is sent to a client at most once a second, and again only when
//! the client has lost the last one.
//! Source: Quake III protocol 68, gamestate, snapshot, rate and pacing; the rules are ioquake3's.
//! Engine names: `SV_SendClientGameState`, `SV_SendClientSnapshot`, `SV_Netchan_TransmitNextFragment`.

use super::{
    Server,
    client::{Client, ClientState},
    core::Core,
    downloads, rate,
    stats::Stats,
};
use crate::{
    model::{ClientNum, Millis, PlayerState, limits::MAX_SNAPSHOT_ENTITIES},
    netchan::Transmitted,
    node::{Outbox, Route},
    observe::Counter,
    serving::{
        delta_cache::DeltaCache,
        pacing::{MessageKind, fragment_copies, fragment_spacing},
    },
    settings::{Settings, key},
    wire::{
        bits::BitWriter,
        gamestate,
        server_message::{self, ServerOp},
        snapshot::{self, SnapFlags, SnapshotHeader},
    },
};

/// Interval of snapshots to a client that loads the level.
const IDLE_INTERVAL: Millis = Millis(1000);
/// Times after `connect` at which `connectResponse` is resent to a silent client.
const RESPONSES_AFTER: [Millis; 3] = [Millis(500), Millis(1000), Millis(2000)];

/// Sends messages and connectionless packets; its memory is reused.
#[derive(Debug, Default)]
pub(super) struct Sender {
    outbox: Outbox,
    /// The message that is written.
    writer: BitWriter,
    /// Entity deltas to the newest frame, encoded once for all clients.
    deltas: DeltaCache,
}

impl Sender {
    /// Queues a datagram. Returns its length.
    pub(super) fn push(&mut self, route: Route, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        self.outbox.push_with(route, write)
    }

    /// Moves the next datagram into `packet`.
    pub(super) fn poll(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    /// Message that is written.
    pub(super) fn writer(&mut self) -> &mut BitWriter {
        &mut self.writer
    }

    /// Discards encoded deltas, since baselines have changed.
    pub(super) fn clear_deltas(&mut self) {
        self.deltas.clear();
    }
}

/// Value of `sv_autoRecord` that records players.
const AUTO_PLAYERS: i32 = 1;

impl Server {
    /// Sends the gamestate to a client that joins.
    pub(super) fn send_gamestate(&mut self, number: ClientNum) {
        if self.faults.has_ended_level() {
            // The next level has another gamestate; this one may lack configstrings.
            return;
        }
        let Core { clients, level, sender, now, .. } = &mut self.core;
        let writer = &mut sender.writer;
        let Some(client) = clients.get_mut(number) else { return };
        let is_retry = match client.state {
            ClientState::Connected(_) => false,
            ClientState::Primed(_) => true,
            ClientState::Active(_) | ClientState::Zombie(_) => return,
        };
        if is_retry {
            // Texts queued since the first gamestate belong to this level and are not sent otherwise.
            client.queue.clear_configstrings();
        } else {
            // Texts of another level. None were queued since it ended.
            client.queue.clear_pending();
        }
        begin_message(writer, client);
        writer.byte(ServerOp::Gamestate as u8);
        gamestate::write(
            writer,
            client.queue.commands.last(),
            level.configstrings.iter().map(|(index, text)| (index, text.as_bytes())),
            level.baselines.all().iter(),
            number,
            level.checksum_feed,
        );
        server_message::end(writer);
        if writer.overflowed() {
            if client.queue.commands.outstanding() > 0 {
                self.core.send_commands(number);
            } else {
                log::error!("map {}: gamestate exceeds a message", level.map);
                self.drop_client(number, "gamestate overflow");
            }
            return;
        }
        // The snapshot behind it is due at once: acknowledged alone, it shows that the gamestate is
        // lost.
        client.prime(*now);
        client.channel.set_fragment_copies(fragment_copies(is_retry));
        self.core.stats.bump(Counter::GamestatesSent);
        self.core.transmit(number, MessageKind::Gamestate { is_retry });
        if let Some(client) = self.core.clients.get_mut(number) {
            client.channel.set_fragment_copies(1);
        }
    }

    /// Resends gamestates to clients that have lost theirs.
    pub(super) fn resend_gamestates(&mut self) {
        for number in self.core.clients.numbers() {
            let due = self.core.clients.get(number).and_then(Client::gamestate_due);
            if due.is_some_and(|due| due <= self.core.now) {
                self.send_gamestate(number);
            }
        }
    }

    /// Sends a snapshot to every client that is due for one.
    pub(super) fn send_snapshots(&mut self) {
        for number in ClientNum::all() {
            if self.core.snapshot_due(number) {
                self.send_snapshot(number);
            }
        }
    }

    /// Sends a snapshot without rate delay.
    pub(super) fn send_snapshot(&mut self, number: ClientNum) {
        let mut limit = MAX_SNAPSHOT_ENTITIES;
        while !self.write_snapshot(number, limit) {
            if limit == 0 {
                // Unreachable: commands alone are bounded to fit.
                self.drop_client(number, "snapshot overflow");
                return;
            }
            limit /= 2;
            self.core.stats.bump(Counter::SnapshotsTruncated);
        }
    }

    /// Writes and sends a snapshot with at most `limit` entities. Returns false if it is too long.
    fn write_snapshot(&mut self, number: ClientNum, limit: usize) -> bool {
        let Self { core, game, .. } = self;
        let Core { clients, level, frames, sender, stats, recordings, .. } = core;
        let Sender { writer, deltas, .. } = sender;
        let Some(client) = clients.get_mut(number) else { return true };
        if client.queue.pending() > 0 {
            let most_bytes = rate::reliable_budget(&core.settings, client);
            client.queue.fill_window(&level.configstrings, most_bytes);
        }
        client.expect_snapshot();
        begin_message(writer, client);
        let active = client.is_active();
        let null_player = PlayerState::default();
        let sanitized;
        let (player, (seen, areas)) = if active {
            let player = game.player(number);
            sanitized = player.sanitized();
            stats.add(Counter::StatesSanitized, u64::from(sanitized.is_some()));
            let player = sanitized.as_ref().unwrap_or(player);
            (player, frames.visible_to(player, level.world.as_ref(), limit))
        } else {
            (&null_player, Default::default())
        };
        let sequence = client.channel.next_sequence();
        let window = client.channel.protocol().delta_window;
        let base = match &client.state {
            ClientState::Active(active) => {
                let auto = core.settings.int(key::SV_AUTO_RECORD) & AUTO_PLAYERS != 0;
                let wanted = recordings.delta_request(number, active.delta_request, auto);
                active.snapshots.history.delta_base(sequence, wanted, frames.ring(), window)
            }
            ClientState::Connected(_) | ClientState::Primed(_) | ClientState::Zombie(_) => None,
        };
        let head = SnapshotHeader {
            server_time: level.time,
            delta_num: base.map_or(0, |(age, _)| age),
            flags: SnapFlags::default()
                .with(SnapFlags::RATE_DELAYED, client.rate_delayed)
                .with(SnapFlags::NOT_ACTIVE, !active)
                .with(SnapFlags::SERVER_COUNT, level.odd),
            areas,
        };
        let is_delta = base.is_some();
        writer.byte(ServerOp::Snapshot as u8);
        let old_player = base.map_or(&null_player, |(_, sent)| &sent.player);
        snapshot::write_head(writer, &head, old_player, player);
        let old = base.map(|(_, sent)| (sent.frame, &sent.seen));
        let known = (frames.ring(), &level.baselines);
        deltas.write_list(writer, known, old, (frames.newest(), &seen));
        server_message::end(writer);
        if writer.overflowed() {
            return false;
        }
        for recording in recordings.matches_mut() {
            recording.snapshot(number, client, &head, player, &seen);
        }
        client.record_snapshot(
            (sequence, frames.newest(), core.frame_time),
            player,
            &seen,
            core.now,
        );
        core.stats.bump(if is_delta { Counter::SnapshotsDelta } else { Counter::SnapshotsFull });
        core.record_snapshot(number, sequence);
        core.transmit(number, MessageKind::Snapshot);
        true
    }
}

impl Core {
    /// Resends `connectResponse` to silent clients: the only copy may be lost, and a client retries
    /// after three seconds only. Their addresses are proven, and all copies are shorter than the
    /// `connect`.
    pub(super) fn resend_connect_responses(&mut self) {
        for number in self.clients.numbers() {
            let now = self.now;
            let Some(client) = self.clients.get_mut(number) else { continue };
            if client.has_sent_message() {
                continue;
            }
            let ClientState::Connected(connected) = &mut client.state else { continue };
            let due = RESPONSES_AFTER.get(usize::from(connected.responses_resent));
            if due.is_some_and(|&due| now.since(client.connected_at) >= due) {
                connected.responses_resent += 1;
                let (route, challenge) = (Self::route(client), client.channel.challenge());
                self.accept(route, challenge);
            }
        }
    }

    /// Sends the unacknowledged commands of a client, within its rate.
    fn send_commands(&mut self, number: ClientNum) {
        let Self { clients, sender, settings, now, .. } = self;
        let writer = &mut sender.writer;
        let Some(client) = clients.get_mut(number) else { return };
        if rate::rate_delay(settings, client, *now) > Millis(0) {
            return;
        }
        begin_message(writer, client);
        server_message::end(writer);
        self.transmit(number, MessageKind::Commands);
    }

    /// Whether a snapshot of a client is due in this frame. If it is withheld for the rate, the
    /// next one has the flag.
    fn snapshot_due(&mut self, number: ClientNum) -> bool {
        let Some(client) = self.clients.get(number) else { return false };
        let (interval, last_at) = match &client.state {
            // The protocol is unknown before the first packet, which is answered with a gamestate.
            ClientState::Connected(_) => return false,
            ClientState::Primed(primed) => (IDLE_INTERVAL, primed.snapshots.last_at),
            ClientState::Active(active) => {
                (client.send_rate.snapshot_interval, active.snapshots.last_at)
            }
            ClientState::Zombie(zombie) => {
                (client.send_rate.snapshot_interval, zombie.last_snapshot_at)
            }
        };
        let scaled = (interval.0 as f64 * f64::from(self.settings.float(key::TIMESCALE))) as u64;
        if last_at.is_some_and(|last_at| self.frame_time.since(last_at) < Millis(scaled))
            || client.is_zombie() && !client.protocol_known
        {
            return false;
        }
        let withheld = if client.channel.is_busy() {
            Some(Counter::SnapshotsHeldByQueue)
        } else if rate::fragment_wait(client, self.now) > Millis(0) {
            return false;
        } else if rate::rate_delay(&self.settings, client, self.now) > Millis(0) {
            Some(Counter::SnapshotsHeldByRate)
        } else {
            None
        };
        if let Some(counter) = withheld {
            self.stats.bump(counter);
            // A joining client is delayed by its gamestate, which is not flagged.
            if let Some(client) = self.clients.get_mut(number).filter(|client| client.is_active()) {
                client.rate_delayed = true;
            }
        }
        withheld.is_none()
    }

    /// Sends the message in the writer, or queues it behind earlier fragments.
    pub(super) fn transmit(&mut self, number: ClientNum, kind: MessageKind) {
        let Self { clients, sender, stats, now, recordings, .. } = self;
        let Sender { outbox, writer, .. } = sender;
        let Some(client) = clients.get_mut(number) else { return };
        for recording in recordings.matches_mut() {
            recording.message(number, client, kind, writer.message());
        }
        let route = Self::route(client);
        let mut result = Ok(None);
        outbox.push_with(route, |out| {
            result = client.channel.send(writer.message(), client.incoming.text(), kind, out);
        });
        match result {
            Ok(transmitted) => record_transmitted(client, stats, *now, transmitted),
            Err(error) => {
                log::debug!("client {number}: {error}");
                self.pending_drops.push((number, error.to_string()));
            }
        }
    }

    /// Sends queued fragments and messages, within the rates of the clients.
    pub(super) fn send_queued_fragments(&mut self) {
        let Self { clients, sender, stats, now, settings, .. } = self;
        let outbox = &mut sender.outbox;
        for (_, client) in clients.iter_mut() {
            while client.channel.is_busy() && send_delay(settings, client, *now) == Millis(0) {
                let route = Self::route(client);
                let mut transmitted = None;
                outbox.push_with(route, |out| transmitted = client.channel.transmit_next(out));
                record_transmitted(client, stats, *now, transmitted);
            }
        }
    }

    /// Time at which [`Self::send_queued_fragments`] or [`Server::resend_gamestates`] is due next.
    pub(super) fn next_send_time(&self) -> Millis {
        self.clients
            .iter()
            .filter_map(|(_, client)| {
                if client.channel.is_busy() {
                    return Some(self.now + send_delay(&self.settings, client, self.now));
                }
                client.gamestate_due()
            })
            .min()
            .unwrap_or(Millis::NEVER)
            .min(downloads::next_due(self))
    }
}

/// Returns the time until the next datagram of a client may be sent.
fn send_delay(settings: &Settings, client: &Client, now: Millis) -> Millis {
    rate::rate_delay(settings, client, now).max(rate::fragment_wait(client, now))
}

/// Begins a message with the unacknowledged commands of a client.
fn begin_message(writer: &mut crate::wire::bits::BitWriter, client: &Client) {
    server_message::begin(writer, client.channel.protocol(), client.incoming.last());
    for (number, text) in client.queue.commands.unacknowledged() {
        server_message::write_command(writer, number, text.as_bytes());
    }
}

/// Records a datagram that was sent.
fn record_transmitted(
    client: &mut Client,
    stats: &mut Stats,
    now: Millis,
    transmitted: Option<Transmitted<MessageKind>>,
) {
    let Some(transmitted) = transmitted else { return };
    client.sent_at = now;
    client.spacing = fragment_spacing(transmitted.kind);
    stats.bump(Counter::PacketsOutSequenced);
    stats.add(Counter::BytesOut, client.channel.last_datagram_len() as u64);
    if transmitted.first
        && let MessageKind::Gamestate { .. } = transmitted.kind
        && let ClientState::Primed(primed) = &mut client.state
    {
        primed.gamestate.sequence = Some(transmitted.sequence);
    }
}
