//! Send pass: the view that each viewer is due for, within its rate.
//!
//! Invariant: a viewer that loads the level is sent commands alone once a second. Acknowledged, they show
//! that the gamestate is lost, and their time cannot break the order of server times.
//! Source: Quake III protocol 68, snapshot; the rules are ioquake3's.

use super::{
    body_cache::ViewIndex,
    current_level::CurrentLevel,
    state::RelayState,
    viewer::{Viewer, ViewerKey, ViewerState},
};
use crate::{
    model::{ClientNum, FrameNum, Millis},
    observe::Counter,
    serving::{connection::Service as _, pacing::MessageKind},
    wire::snapshot::SnapFlags,
};

/// Interval of messages to a viewer that loads the level.
const PRIMED_INTERVAL: Millis = Millis::seconds(1);
/// Interval of snapshots while the source shows no new frame. Clients show a connection problem without.
const IDLE_INTERVAL: Millis = Millis(100);
/// Interval of messages to a zombie, which repeat the reason.
const ZOMBIE_INTERVAL: Millis = Millis(100);
/// Interval of passes while nothing waits.
pub(super) const TICK: Millis = Millis(50);
/// Interval of passes while fragments or frames wait.
pub(super) const BUSY_TICK: Millis = Millis(5);

impl RelayState {
    /// Sends everything that is due. Returns whether fragments or frames wait.
    pub(super) fn send_pass(&mut self) -> bool {
        self.connections().send_queued_fragments();
        self.resend_gamestates();
        let mut is_busy = false;
        for key in self.viewers.keys() {
            match self.due_message(key) {
                Some(DueMessage::View(frame)) => self.send_view(key, frame),
                Some(DueMessage::Commands) => {
                    if let Some(viewer) = self.viewers.get_mut(key) {
                        viewer.note_message(self.now);
                    }
                    self.connections().send_commands(key);
                }
                None => {}
            }
            is_busy |= self.viewers.get(key).is_some_and(|viewer| self.is_waiting(viewer));
        }
        self.process_pending_drops();
        is_busy
    }

    /// Whether fragments, or a frame that came early, wait for a viewer.
    fn is_waiting(&self, viewer: &Viewer) -> bool {
        let is_behind = match &viewer.state {
            ViewerState::Active(active) => {
                let last = active.snapshots.last_at.and(active.snapshots.last_frame);
                last.zip(self.current.newest()).is_some_and(|(last, newest)| last != newest)
            }
            _ => false,
        };
        is_behind || viewer.channel.is_busy()
    }

    /// Message that a viewer is due for.
    fn due_message(&mut self, key: ViewerKey) -> Option<DueMessage> {
        let viewer = self.viewers.get(key)?;
        let passed = |at: Millis| self.now.since(at);
        let commands = |is_due: bool| is_due.then_some(DueMessage::Commands);
        let due = match &viewer.state {
            // The protocol is unknown before the first packet, which is answered with a gamestate.
            ViewerState::Connected(_) => None,
            ViewerState::Primed(primed) => {
                let last_at = primed.snapshots.last_at.unwrap_or(primed.gamestate.at);
                commands(passed(last_at) >= PRIMED_INTERVAL)
            }
            ViewerState::Zombie(zombie) => {
                let is_due = zombie.last_at.is_none_or(|at| passed(at) >= ZOMBIE_INTERVAL);
                commands(is_due && viewer.protocol_known)
            }
            ViewerState::Active(active) => {
                let Some(newest) = self.current.newest() else {
                    return commands(passed(viewer.sent_at) >= PRIMED_INTERVAL);
                };
                let is_due = active.snapshots.last_at.is_none_or(|at| {
                    // Frames of a live source arrive a few ms early or late.
                    let interval = Millis(viewer.send_rate.snapshot_interval.0 * 3 / 4);
                    let is_new = active.snapshots.last_frame != Some(newest);
                    passed(at) >= interval && (is_new || passed(at) >= IDLE_INTERVAL)
                });
                is_due.then_some(DueMessage::View(newest))
            }
        }?;
        let was_delayed = viewer.rate_delayed;
        if self.connections().is_ready(key) {
            return Some(due);
        }
        let is_delayed = self.viewers.get(key).is_some_and(|viewer| viewer.rate_delayed);
        self.counts.rate_delayed += u64::from(is_delayed && !was_delayed);
        None
    }

    /// Writes and sends the snapshot of a frame.
    fn send_view(&mut self, key: ViewerKey, number: FrameNum) {
        let Some(at) = self.viewers.get(key).map(|viewer| self.view_of(viewer)) else { return };
        let Self { viewers, current, writer, bodies, stats, options, now, .. } = self;
        let Some(viewer) = viewers.get_mut(key) else { return };
        let Some(view) = current.views(number).get(at) else { return };
        viewer.begin_snapshot(writer, &current.configstrings, options, *now, current.time());
        let sequence = viewer.channel.next_sequence();
        let mut base_view = None;
        let base = viewer.delta_base(viewer.delta_request(), |sent| {
            let is_same =
                sent.view == Some(view.player) && current.ring().frame(sent.frame).is_some();
            base_view = view_index(current, sent.frame, view.player).filter(|_| is_same);
            base_view.is_some()
        });
        let base = base.map(|(age, sent)| (age, sent.frame));
        writer.long(current.time().0);
        writer.byte(base.map_or(0, |(age, _)| age));
        let flags = SnapFlags::default()
            .with(SnapFlags::RATE_DELAYED, viewer.rate_delayed)
            .with(SnapFlags::SERVER_COUNT, current.is_odd);
        writer.byte(flags.0);
        let body_base = base.and_then(|(_, frame)| Some(ViewIndex { frame, at: base_view? }));
        bodies.append(writer, current, ViewIndex { frame: number, at }, body_base);
        if writer.overflowed() {
            // Without the snapshot, the commands are fewer next time.
            viewer.skip_snapshot(number, *now);
            self.connections().send_commands(key);
            return;
        }
        let player = view.player;
        viewer.record_snapshot(sequence, number, view.seen.len(), *now, *now, |sent| {
            *sent = Some(player);
        });
        let counter = if base.is_some() { Counter::SnapshotsDelta } else { Counter::SnapshotsFull };
        stats.bump(counter);
        self.connections().transmit(key, MessageKind::Snapshot);
    }
}

/// A message that is due.
enum DueMessage {
    /// The view of a frame.
    View(FrameNum),
    /// Reliable commands alone.
    Commands,
}

/// Index of a player's view in a frame.
fn view_index(current: &CurrentLevel, frame: FrameNum, player: ClientNum) -> Option<usize> {
    current.views(frame).iter().position(|view| view.player == player)
}
