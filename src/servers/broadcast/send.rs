//! Send pass: gamestates, snapshots and fragments, each within the rate of its viewer.
//!
//! Invariants: no snapshot is written while messages of the viewer are queued, since its sequence would
//! be unknown. A viewer that loads the level is sent commands alone once a second: acknowledged, they show
//! that the gamestate is lost, and their time cannot break the order of server times.
//! Source: Quake III protocol 68, gamestate, snapshot, rate and pacing; the rules are ioquake3's.

use super::{
    house::House,
    stage::Stage,
    viewer::{Viewer, ViewerState},
    viewers::ViewerKey,
};
use crate::{
    model::{ClientNum, FrameNum, Millis},
    netchan::{Transmitted, transmission_ms},
    serving::pacing::{
        GAMESTATE_INTERVAL, MessageKind, SentGamestate, fragment_copies, fragment_spacing,
    },
    wire::{
        bits::BitWriter,
        connectionless::{ConnectResponse, Message},
        gamestate,
        server_message::{self, ServerOp},
        snapshot::SnapFlags,
    },
};

/// Interval of messages to a viewer that loads the level.
const PRIMED_INTERVAL: Millis = Millis::seconds(1);
/// Interval of snapshots while the source shows no new frame. Clients show a connection problem without.
const IDLE_INTERVAL: Millis = Millis(100);
/// Interval of messages to a zombie, which repeat the reason.
const ZOMBIE_INTERVAL: Millis = Millis(100);
/// Times after `connect` at which `connectResponse` is resent to a silent viewer.
const RESPONSES_AFTER: [Millis; 3] = [Millis(500), Millis(1000), Millis(2000)];
/// Interval of passes while nothing waits.
pub(super) const TICK: Millis = Millis(50);
/// Interval of passes while fragments or frames wait.
pub(super) const BUSY_TICK: Millis = Millis(5);

impl House {
    /// Sends everything that is due. Returns whether fragments or frames wait.
    pub(super) fn send_pass(&mut self) -> bool {
        let mut keys = std::mem::take(&mut self.keys);
        self.viewers.collect_keys(&mut keys);
        let mut is_busy = false;
        for &key in &keys {
            self.send_fragments(key);
            self.resend_gamestate(key);
            match self.due_message(key) {
                Some(DueMessage::Snapshot(frame)) => self.send_snapshot(key, frame),
                Some(DueMessage::Commands) => self.send_commands(key),
                None => {}
            }
            is_busy |= self.viewers.get(key).is_some_and(|viewer| self.is_waiting(viewer));
        }
        self.keys = keys;
        is_busy
    }

    /// Whether fragments, or a frame that came early, wait for a viewer.
    fn is_waiting(&self, viewer: &Viewer) -> bool {
        let is_behind = match &viewer.state {
            ViewerState::Active { last: Some((_, frame)), .. } => {
                self.stage.newest().is_some_and(|newest| newest != *frame)
            }
            _ => false,
        };
        is_behind || viewer.channel.is_busy()
    }

    /// Granted rate of a viewer in bytes per second; `None` without limit.
    fn granted_rate(&self, viewer: &Viewer) -> Option<u32> {
        if viewer.remote.address().ip().to_canonical().is_loopback() {
            return None;
        }
        let requested = viewer.send_rate.requested_bytes_per_sec.unsigned_abs();
        Some(match self.options.max_rate {
            0 => requested,
            most => requested.min(most.max(1000)),
        })
    }

    /// Time until the next datagram of a viewer may be sent.
    fn send_delay(&self, viewer: &Viewer) -> Millis {
        let is_ipv6 = viewer.remote.address().ip().to_canonical().is_ipv6();
        let cost = self
            .granted_rate(viewer)
            .map_or(0, |rate| transmission_ms(viewer.channel.last_datagram_len(), is_ipv6, rate));
        let rate = (viewer.sent_at + Millis(cost)).since(self.now);
        let spacing = if viewer.is_active() {
            Millis(0)
        } else {
            (viewer.sent_at + viewer.spacing).since(self.now)
        };
        rate.max(spacing)
    }

    /// Sends queued fragments and messages of a viewer, within its rate.
    fn send_fragments(&mut self, key: ViewerKey) {
        while let Some(viewer) = self.viewers.get(key) {
            if !viewer.channel.is_busy() || self.send_delay(viewer) > Millis(0) {
                return;
            }
            let Self { viewers, outbox, now, .. } = self;
            let Some(viewer) = viewers.get_mut(key) else { return };
            let mut transmitted = None;
            outbox.push_with(viewer.route(), |out| transmitted = viewer.channel.transmit_next(out));
            record_transmitted(viewer, *now, transmitted);
        }
    }

    /// Resends a gamestate that the viewer has lost.
    fn resend_gamestate(&mut self, key: ViewerKey) {
        let is_due = self.viewers.get(key).is_some_and(|viewer| match &viewer.state {
            ViewerState::Primed { gamestate, .. } => {
                gamestate.is_lost
                    && !viewer.channel.is_busy()
                    && self.now.since(gamestate.at) >= GAMESTATE_INTERVAL
            }
            _ => false,
        });
        if is_due {
            self.send_gamestate(key);
        }
    }

    /// Sends the gamestate to a viewer that joins.
    pub(super) fn send_gamestate(&mut self, key: ViewerKey) {
        let Self { viewers, stage, writer, now, .. } = self;
        let Some(viewer) = viewers.get_mut(key).filter(|_| stage.has_level()) else { return };
        let (since, is_retry) = match viewer.state {
            ViewerState::Connected { since, .. } => (since, false),
            ViewerState::Primed { since, .. } => (since, true),
            ViewerState::Active { .. } | ViewerState::Zombie { .. } => return,
        };
        if is_retry {
            viewer.queue.clear_configstrings();
        }
        begin_message(writer, viewer);
        writer.byte(ServerOp::Gamestate as u8);
        gamestate::write(
            writer,
            viewer.queue.commands.last(),
            stage.configstrings.iter().map(|(index, text)| (index, text.as_bytes())),
            stage.baselines.all().iter(),
            stage.viewer_number,
            stage.checksum_feed,
        );
        server_message::end(writer);
        if writer.overflowed() {
            if viewer.queue.commands.outstanding() > 0 {
                self.send_commands(key);
            } else {
                self.drop_viewer(key, "gamestate overflow");
            }
            return;
        }
        let gamestate = SentGamestate { at: *now, sequence: None, is_lost: false };
        viewer.state = ViewerState::Primed { since, gamestate, last_at: *now };
        viewer.sent.clear();
        viewer.channel.set_fragment_copies(fragment_copies(is_retry));
        self.transmit(key, MessageKind::Gamestate { is_retry });
        if let Some(viewer) = self.viewers.get_mut(key) {
            viewer.channel.set_fragment_copies(1);
        }
    }

    /// Message that a viewer is due for.
    fn due_message(&mut self, key: ViewerKey) -> Option<DueMessage> {
        let viewer = self.viewers.get(key)?;
        let now = self.now;
        let due = match &viewer.state {
            // The protocol is unknown before the first packet, which is answered with a gamestate.
            ViewerState::Connected { .. } => return None,
            ViewerState::Primed { last_at, .. } => {
                (now.since(*last_at) >= PRIMED_INTERVAL).then_some(DueMessage::Commands)
            }
            ViewerState::Zombie { last_at, .. } => {
                let is_due = now.since(*last_at) >= ZOMBIE_INTERVAL && viewer.protocol_known;
                is_due.then_some(DueMessage::Commands)
            }
            ViewerState::Active { last, .. } => {
                let Some(newest) = self.stage.newest() else {
                    let is_due = now.since(viewer.sent_at) >= PRIMED_INTERVAL;
                    return is_due.then_some(DueMessage::Commands);
                };
                let is_due = last.is_none_or(|(at, frame)| {
                    let passed = now.since(at);
                    // Frames of a live source arrive a few ms early or late.
                    let interval = Millis(viewer.send_rate.snapshot_interval.0 * 3 / 4);
                    passed >= interval && (frame != newest || passed >= IDLE_INTERVAL)
                });
                is_due.then_some(DueMessage::Snapshot(newest))
            }
        };
        let is_withheld = viewer.channel.is_busy() || self.send_delay(viewer) > Millis(0);
        if due.is_some() && is_withheld {
            let viewer = self.viewers.get_mut(key)?;
            if viewer.is_active() && !viewer.rate_delayed {
                viewer.rate_delayed = true;
                self.counts.rate_delayed += 1;
            }
            return None;
        }
        due
    }

    /// Writes and sends the snapshot of a frame.
    fn send_snapshot(&mut self, key: ViewerKey, number: FrameNum) {
        let at = match self.viewers.get(key) {
            Some(viewer) => self.view_of(viewer),
            None => return,
        };
        let budget = self.command_budget(key);
        let Self { viewers, stage, writer, bodies, now, .. } = self;
        let Some(viewer) = viewers.get_mut(key) else { return };
        let Some(view) = stage.views(number).get(at) else { return };
        viewer.queue.fill_window(&stage.configstrings, budget);
        begin_message(writer, viewer);
        let sequence = viewer.channel.next_sequence();
        let ViewerState::Active { delta_request, last } = &mut viewer.state else { return };
        let base = viewer.sent.delta_base(
            (sequence, view.player),
            *delta_request,
            viewer.channel.protocol().delta_window,
        );
        let base = base.and_then(|(age, frame)| {
            stage.ring().frame(frame)?;
            Some((age, frame, view_index(stage, frame, view.player)?))
        });
        writer.byte(ServerOp::Snapshot as u8);
        writer.long(stage.time().0);
        writer.byte(base.map_or(0, |(age, _, _)| age));
        let flags = SnapFlags::default()
            .with(SnapFlags::RATE_DELAYED, viewer.rate_delayed)
            .with(SnapFlags::SERVER_COUNT, stage.is_odd);
        writer.byte(flags.0);
        let body_base = base.map(|(_, frame, view)| (frame, view));
        bodies.append(writer, stage, (number, at), body_base);
        *last = Some((*now, number));
        if writer.overflowed() {
            // Without the snapshot, the commands are fewer next time.
            self.send_commands(key);
            return;
        }
        viewer.sent.record((sequence, *now), (number, view.player), view.seen.len());
        viewer.rate_delayed = false;
        self.counts.snapshots += 1;
        self.counts.deltas += u64::from(base.is_some());
        self.transmit(key, MessageKind::Snapshot);
    }

    /// Sends the unacknowledged commands of a viewer.
    fn send_commands(&mut self, key: ViewerKey) {
        let Self { viewers, writer, now, .. } = self;
        let Some(viewer) = viewers.get_mut(key) else { return };
        begin_message(writer, viewer);
        server_message::end(writer);
        match &mut viewer.state {
            ViewerState::Primed { last_at, .. } | ViewerState::Zombie { last_at, .. } => {
                *last_at = *now;
            }
            ViewerState::Connected { .. } | ViewerState::Active { .. } => {}
        }
        self.transmit(key, MessageKind::Commands);
    }

    /// Most bytes of unacknowledged commands: a quarter of the rate between two snapshots.
    fn command_budget(&self, key: ViewerKey) -> usize {
        let Some(viewer) = self.viewers.get(key) else { return 0 };
        self.granted_rate(viewer).map_or(usize::MAX, |rate| {
            (u64::from(rate) * viewer.send_rate.snapshot_interval.0 / 4000) as usize
        })
    }

    /// Sends the message in the writer, or queues it behind earlier fragments.
    fn transmit(&mut self, key: ViewerKey, kind: MessageKind) {
        let Self { viewers, outbox, writer, now, .. } = self;
        let Some(viewer) = viewers.get_mut(key) else { return };
        let mut result = Ok(None);
        outbox.push_with(viewer.route(), |out| {
            result = viewer.channel.send(writer.message(), viewer.incoming.text(), kind, out);
        });
        match result {
            Ok(transmitted) => record_transmitted(viewer, *now, transmitted),
            Err(error) => {
                let reason = error.to_string();
                self.drop_viewer(key, &reason);
            }
        }
    }

    /// Sends the reason to all viewers at once, without regard to rates, as the server stops.
    pub(super) fn disconnect_all(&mut self, reason: &str, copies: usize) {
        let mut keys = std::mem::take(&mut self.keys);
        self.viewers.collect_keys(&mut keys);
        for &key in &keys {
            self.drop_viewer(key, reason);
            if self.viewers.get(key).is_some_and(|viewer| viewer.protocol_known) {
                if let Some(viewer) = self.viewers.get_mut(key) {
                    viewer.channel.clear_unsent();
                }
                (0..copies).for_each(|_| self.send_commands(key));
            }
        }
        self.keys = keys;
    }

    /// Resends `connectResponse` to silent viewers, since the only copy may be lost.
    pub(super) fn resend_connect_responses(&mut self) {
        let Self { viewers, outbox, now, .. } = self;
        for (_, viewer) in viewers.iter_mut().filter(|(_, viewer)| !viewer.has_sent_message()) {
            let (route, challenge) = (viewer.route(), viewer.channel.challenge());
            let connected_at = viewer.connected_at;
            let ViewerState::Connected { responses_resent, .. } = &mut viewer.state else {
                continue;
            };
            let due = RESPONSES_AFTER.get(usize::from(*responses_resent));
            if due.is_some_and(|&due| now.since(connected_at) >= due) {
                *responses_resent += 1;
                let response = ConnectResponse { challenge: Some(challenge), protocol: None };
                outbox.push_with(route, |out| Message::ConnectResponse(response).write(out));
            }
        }
    }
}

/// A message that is due.
enum DueMessage {
    /// The snapshot of a frame.
    Snapshot(FrameNum),
    /// Reliable commands alone.
    Commands,
}

/// Index of a player's view in a frame.
fn view_index(stage: &Stage, frame: FrameNum, player: ClientNum) -> Option<usize> {
    stage.views(frame).iter().position(|view| view.player == player)
}

/// Begins a message with the unacknowledged commands of a viewer.
fn begin_message(writer: &mut BitWriter, viewer: &Viewer) {
    server_message::begin(writer, viewer.channel.protocol(), viewer.incoming.last());
    for (number, text) in viewer.queue.commands.unacknowledged() {
        server_message::write_command(writer, number, text.as_bytes());
    }
}

/// Records a datagram that was sent.
fn record_transmitted(
    viewer: &mut Viewer,
    now: Millis,
    transmitted: Option<Transmitted<MessageKind>>,
) {
    let Some(transmitted) = transmitted else { return };
    viewer.sent_at = now;
    viewer.spacing = fragment_spacing(transmitted.kind);
    if transmitted.first
        && let MessageKind::Gamestate { .. } = transmitted.kind
        && let ViewerState::Primed { gamestate, .. } = &mut viewer.state
    {
        gamestate.sequence = Some(transmitted.sequence);
    }
}
