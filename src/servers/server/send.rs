//! Snapshots: one for each client that is due, within its rate.
//!
//! Invariants: no snapshot is written while messages of the client are queued, since its sequence
//! would be unknown. A message that is too long loses entities, never commands.
//! Source: Quake III protocol 68, snapshot; the rules are ioquake3's.
//! Engine names: `SV_SendClientSnapshot`.

use super::{
    client::ClientState, core::Core, downloads::send::next_due, match_recording::SnapshotContent,
    recording::SnapshotFacts, sender::Sender, state::Server,
};
use crate::{
    model::{ClientNum, Millis, PlayerState, limits::MAX_SNAPSHOT_ENTITIES},
    observe::Counter,
    serving::{
        connection::{Service as _, next_send_time},
        delta_cache::SeenFrame,
        pacing::MessageKind,
    },
    settings::key,
    wire::{
        bits::BitWriter,
        numbers::GameNumbers,
        server_message,
        snapshot::{self, SnapFlags, SnapshotHeader},
    },
};

/// Interval of snapshots to a client that loads the level.
const IDLE_INTERVAL: Millis = Millis(1000);

/// Value of `sv_autoRecord` that records players.
const AUTO_PLAYERS: i32 = 1;

/// Sends a snapshot to every client that is due for one.
pub(super) fn send_snapshots(server: &mut Server) {
    for number in ClientNum::all() {
        if server.core.snapshot_due(number) {
            send_snapshot(server, number);
        }
    }
}

/// Sends a snapshot without rate delay.
pub(super) fn send_snapshot(server: &mut Server, number: ClientNum) {
    let mut limit = MAX_SNAPSHOT_ENTITIES;
    while !write_snapshot(server, number, limit) {
        if limit == 0 {
            // Unreachable: commands alone are bounded to fit.
            server.drop_client(number, "snapshot overflow");
            return;
        }
        limit /= 2;
        server.core.stats.bump(Counter::SnapshotsTruncated);
    }
}

/// Writes and sends a snapshot with at most `limit` entities. Returns false if it is too long.
fn write_snapshot(server: &mut Server, number: ClientNum, limit: usize) -> bool {
    let Server { core, game, .. } = server;
    let Core { clients, level, frames, sender, stats, recordings, .. } = core;
    let Sender { writer, deltas, .. } = sender;
    let Some(client) = clients.get_mut(number) else { return true };
    client.expect_snapshot();
    client.begin_snapshot(writer, &level.configstrings, &core.settings, core.now, level.time);
    let active = client.is_active();
    let null_player = PlayerState::default();
    let sanitized;
    let numbers = client.channel.protocol().numbers;
    let (player, (mut seen, areas)) = if active {
        let player = game.player(number);
        sanitized = player.sanitized();
        stats.add(Counter::StatesSanitized, u64::from(sanitized.is_some()));
        let player = sanitized.as_ref().unwrap_or(player);
        (player, frames.visible_to(player, level.world.as_ref(), limit))
    } else {
        (&null_player, Default::default())
    };
    if !numbers.is_current() {
        frames.remove_unsent(&mut seen, numbers);
    }
    let sequence = client.channel.next_sequence();
    let auto = core.settings.int(key::SV_AUTO_RECORD) & AUTO_PLAYERS != 0;
    let wanted = active
        .then(|| recordings.delta_request(number, numbers, client.delta_request(), auto))
        .flatten();
    // The frame of a snapshot without entities, as clients get them while they load, is not read.
    let base = client.delta_base(wanted, |sent| {
        sent.view.seen.is_empty() || frames.ring().frame(sent.frame).is_some()
    });
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
    let old_player = base.map_or(&null_player, |(_, sent)| &sent.view.player);
    write_head(writer, numbers, &head, [old_player, player]);
    let old = base.map(|(_, sent)| SeenFrame { frame: sent.frame, seen: &sent.view.seen });
    let newest = SeenFrame { frame: frames.newest(), seen: &seen };
    deltas.write_list(writer, numbers, frames.ring(), &level.baselines, old, newest);
    server_message::end(writer);
    if writer.overflowed() {
        return false;
    }
    let content = SnapshotContent { head: &head, player, seen: &seen };
    let facts = SnapshotFacts { number, sequence, level, now: core.now };
    recordings.snapshot_written(client, &facts, &content, writer.message());
    let (frame, at) = (frames.newest(), core.frame_time);
    client.record_snapshot(sequence, frame, seen.len(), at, core.now, |view| {
        view.player = *player;
        view.seen.clone_from(&seen);
    });
    core.stats.bump(if is_delta { Counter::SnapshotsDelta } else { Counter::SnapshotsFull });
    core.send_message(number, MessageKind::Snapshot);
    true
}

/// Writes the header and playerstate of a snapshot, in the numbers of the client.
fn write_head(
    writer: &mut BitWriter,
    numbers: GameNumbers,
    head: &SnapshotHeader,
    [old, new]: [&PlayerState; 2],
) {
    if numbers.is_current() {
        snapshot::write_head(writer, head, old, new);
    } else {
        snapshot::write_head(writer, head, &numbers.sent_player(old), &numbers.sent_player(new));
    }
}

impl Core {
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
            ClientState::Zombie(zombie) => (client.send_rate.snapshot_interval, zombie.last_at),
        };
        let scaled = (interval.0 as f64 * f64::from(self.settings.float(key::TIMESCALE))) as u64;
        if last_at.is_some_and(|last_at| self.frame_time.since(last_at) < Millis(scaled))
            || client.is_zombie() && !client.protocol_known
        {
            return false;
        }
        self.connections().is_ready(number)
    }

    /// Sends the message in the writer, or queues it behind earlier fragments.
    pub(super) fn send_message(&mut self, number: ClientNum, kind: MessageKind) {
        self.connections().transmit(number, kind);
    }

    /// Time at which a datagram is due next, apart from frames.
    pub(super) fn next_send_time(&self) -> Millis {
        next_send_time(&self.clients, &self.settings, self.now).min(next_due(self))
    }
}
