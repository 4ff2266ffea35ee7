//! Relay state apart from the source: level, viewers, guards, outbox; the sink of the source.
//!
//! Invariants: a drop that is caused while a message is written takes effect behind it; text of viewers
//! and sources cannot end a command or add another one.

use std::{collections::VecDeque, sync::Arc};

use super::{
    body_cache::BodyCache,
    commands,
    current_level::CurrentLevel,
    options::BroadcastOptions,
    source::{Audience, Control, Frame, Level, Sink},
    viewer::{Viewer, ViewerKey, ViewerRole, Viewers},
};
use crate::{
    bans::BanStore,
    bg::PmType,
    model::{
        ClientNum, ConfigIndex, Millis, UnixMillis,
        limits::{MAX_NAME_LEN, MAX_SERVER_COMMAND_LEN},
        text,
    },
    node::{Drain, Outbox},
    observe::Counter,
    serving::{
        connection::{ReceiveBuffer, log_disconnect},
        guards::{GuardKeys, Guards},
        pacing::SendRate,
        stats::Stats,
    },
    wire::{bits::BitWriter, info::InfoString, text::WireText, userinfo::Userinfo},
};

/// Most lines of console output that wait.
const MAX_CONSOLE_LINES: usize = 1024;
/// Requests to the source that wait for the next frame.
const MAX_REQUESTS: usize = 64;
/// Commands of a source that a client handles itself, or that concern the recorded client alone.
const NOT_FORWARDED: [&str; 8] =
    ["disconnect", "cs", "bcs0", "bcs1", "bcs2", "clientLevelShot", "loaddefered", "reconnect"];

/// Counters of datagrams that were dropped.
const DROPPED: [Counter; 15] = [
    Counter::PacketsInUnmatched,
    Counter::PacketsOutOfOrder,
    Counter::MalformedHeader,
    Counter::MalformedPacket,
    Counter::MalformedMessage,
    Counter::MalformedConnectionless,
    Counter::FalseAcknowledge,
    Counter::UnprovenMessages,
    Counter::MessagesOverLimit,
    Counter::ConnectionlessIgnored,
    Counter::QueriesLimited,
    Counter::ChallengesLimited,
    Counter::QueriesShed,
    Counter::ConnectsShed,
    Counter::SequencedShed,
];

/// Counters of a broadcast since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BroadcastCounts {
    /// Viewers that were admitted.
    pub admitted: u64,
    /// Connects that were rejected.
    pub rejected: u64,
    /// Frames of the source.
    pub frames: u64,
    /// Frames of the source that broke its order.
    pub refused_frames: u64,
    /// Snapshots sent.
    pub snapshots: u64,
    /// Snapshots with a delta base.
    pub deltas: u64,
    /// Snapshots that were withheld for the rate of the viewer.
    pub rate_delayed: u64,
    /// Datagrams that were malformed, unproven or over a limit.
    pub dropped_datagrams: u64,
}

/// Everything but the source.
#[derive(Debug)]
pub(super) struct RelayState {
    pub(super) options: BroadcastOptions,
    /// Time of the call that is processed.
    pub(super) now: Millis,
    pub(super) current: CurrentLevel,
    pub(super) viewers: Viewers,
    pub(super) guards: Guards,
    pub(super) outbox: Outbox,
    /// The message that is written.
    pub(super) writer: BitWriter,
    pub(super) bodies: BodyCache,
    pub(super) stats: Stats,
    /// Drops that were requested while a message was sent, with their reasons.
    pub(super) drops: Vec<(ViewerKey, String)>,
    pub(super) tap: (),
    /// Memory of the message that is processed; none before the first.
    pub(super) receive_buffer: Option<Box<ReceiveBuffer>>,
    pub(super) console: VecDeque<String>,
    /// Last scoreboard of the source and its time.
    pub(super) scores: Option<(Millis, Arc<str>)>,
    /// Whether a viewer waits for a scoreboard that the source is to send.
    pub(super) scores_wanted: bool,
    /// Requests of viewers and operator to the source.
    pub(super) requests: VecDeque<(Option<ViewerKey>, Control)>,
    /// Viewer that paused the source, with the time of its entry.
    pub(super) paused_by: Option<(Millis, ViewerKey)>,
    /// Time from which a viewer may control the source again, while several watch.
    pub(super) controls_from: Millis,
    /// Whether the source has a timeline, which viewers may control.
    pub(super) has_timeline: bool,
    pub(super) drain: Drain,
    pub(super) bans: BanStore,
    /// Calendar time at the zero of the clock.
    pub(super) began: UnixMillis,
    /// Reason of the loss of the source, until its next level.
    pub(super) lost: Option<String>,
    /// Counts of frames and rates; [`Self::counts`] adds those of the statistics.
    pub(super) counts: BroadcastCounts,
}

impl RelayState {
    pub(super) fn new(options: BroadcastOptions, keys: GuardKeys, feed: i32) -> Self {
        Self {
            options,
            now: Millis(0),
            current: CurrentLevel::new(feed),
            viewers: Viewers::default(),
            guards: Guards::new(keys),
            outbox: Outbox::default(),
            writer: BitWriter::new(),
            bodies: BodyCache::new(),
            stats: Stats::default(),
            drops: Vec::new(),
            tap: (),
            receive_buffer: None,
            console: VecDeque::new(),
            scores: None,
            scores_wanted: false,
            requests: VecDeque::new(),
            paused_by: None,
            controls_from: Millis(0),
            has_timeline: false,
            drain: Drain::default(),
            bans: BanStore::default(),
            began: UnixMillis(0),
            lost: None,
            counts: BroadcastCounts::default(),
        }
    }

    /// Counters since the start.
    pub(super) fn counts(&self) -> BroadcastCounts {
        let counters = self.stats.counters();
        let sum = |all: &[Counter]| all.iter().map(|&counter| counters.get(counter)).sum();
        BroadcastCounts {
            admitted: counters.get(Counter::ConnectsAccepted),
            rejected: counters.get(Counter::ConnectsRefused),
            snapshots: sum(&[Counter::SnapshotsDelta, Counter::SnapshotsFull]),
            deltas: counters.get(Counter::SnapshotsDelta),
            dropped_datagrams: sum(&DROPPED),
            ..self.counts
        }
    }

    /// Prints to the operator.
    pub(super) fn print_line(&mut self, line: impl Into<String>) {
        if self.console.len() < MAX_CONSOLE_LINES {
            self.console.push_back(line.into() + "\n");
        }
    }

    /// Queues a reliable command for a viewer, if it has the level.
    pub(super) fn send_command(&mut self, key: ViewerKey, text: &Arc<str>) {
        let Some(viewer) = self.viewers.get_mut(key).filter(|viewer| viewer.has_level()) else {
            return;
        };
        if viewer.queue.push_text(Arc::clone(text)).is_err() {
            self.drop_viewer(key, "Server command overflow");
        }
    }

    /// Queues a reliable command for every viewer that has the level and passes the test.
    pub(super) fn send_command_to(&mut self, text: &Arc<str>, test: impl Fn(&Viewer) -> bool) {
        for key in self.viewers.keys() {
            if self.viewers.get(key).is_some_and(&test) {
                self.send_command(key, text);
            }
        }
    }

    /// Prints a line in the consoles of all viewers.
    pub(super) fn tell_all(&mut self, text: &str) {
        let command = Arc::from(print_command(text));
        self.send_command_to(&command, |_| true);
    }

    /// Prints a line in a viewer's console.
    pub(super) fn tell(&mut self, key: ViewerKey, text: &str) {
        self.send_command(key, &Arc::from(print_command(text)));
    }

    /// Shows a text in the middle of all viewers' screens, and prints it.
    pub(super) fn proclaim(&mut self, text: &str) {
        let command = Arc::from(format!("cp \"{}\n\"", harmless(text)));
        self.send_command_to(&command, |_| true);
        self.tell_all(text);
    }

    /// Queues a configstring of the level for every viewer that has the level.
    pub(super) fn send_configstring(&mut self, index: ConfigIndex) {
        for (_, viewer) in self.viewers.iter_mut().filter(|(_, viewer)| viewer.has_level()) {
            viewer.queue.push_configstring(index);
        }
    }

    /// Drops a viewer with a reason, which it is sent for a while.
    pub(super) fn drop_viewer(&mut self, key: ViewerKey, reason: &str) {
        let now = self.now;
        let Some(viewer) = self.viewers.get_mut(key).filter(|viewer| !viewer.is_zombie()) else {
            return;
        };
        log_disconnect::<ViewerRole>(key, &viewer.name, reason);
        self.stats.bump(Counter::ClientsDropped);
        viewer.queue.clear_pending();
        viewer.end(&self.current.configstrings, reason, now);
    }

    /// Stores a userinfo, with the name and send rate in it.
    pub(super) fn set_userinfo(&mut self, key: ViewerKey, info: InfoString) {
        let max_snaps = i32::try_from(self.options.max_snaps).unwrap_or(i32::MAX);
        let Some(viewer) = self.viewers.get_mut(key) else { return };
        let name = text::truncated(Userinfo(&info).name(), MAX_NAME_LEN);
        let shown = !text::strip_colors(name).trim().is_empty();
        viewer.name = if shown { harmless(name) } else { "viewer".to_owned() };
        viewer.send_rate = SendRate::requested(&info, max_snaps);
        viewer.userinfo = info;
    }

    /// Greets a viewer that has loaded a level.
    pub(super) fn greet(&mut self, key: ViewerKey) {
        let Some(viewer) = self.viewers.get_mut(key) else { return };
        let is_new = viewer.own.entered.is_none();
        viewer.own.entered.get_or_insert(self.now);
        let name = viewer.name.clone();
        if is_new {
            self.tell(key, &format!("{name}^7 entered the game"));
            let count = self.viewers.present().count();
            let plural = if count == 1 { "viewer" } else { "viewers" };
            let has_controls = self.has_timeline && self.options.viewers_control;
            let controls = if has_controls { commands::CONTROL_HELP } else { "" };
            self.tell(key, &format!("{count} {plural}. {}{controls}", commands::HELP));
        }
        if let Some(reason) = self.lost.clone() {
            self.tell(key, &format!("The source is lost: {reason}. Waiting for it ..."));
        }
        if let Some((_, scores)) = self.scores.clone() {
            self.send_command(key, &scores);
        }
    }

    /// Index of the view that a viewer is shown in the newest frame.
    pub(super) fn view_of(&self, viewer: &Viewer) -> usize {
        let views = self.current.current_views();
        let chosen =
            viewer.own.choice.and_then(|choice| views.iter().position(|v| v.player == choice));
        chosen.unwrap_or(0)
    }

    /// Player that a viewer is shown.
    pub(super) fn followed(&self, viewer: &Viewer) -> Option<ClientNum> {
        Some(self.current.current_views().get(self.view_of(viewer))?.player)
    }

    /// Viewers that have entered, with the time of each.
    pub(super) fn entered(&self) -> impl Iterator<Item = (Millis, ViewerKey)> {
        self.viewers.present().filter_map(|(key, viewer)| Some((viewer.own.entered?, key)))
    }

    /// Queues a request to continue, if the viewer that paused the source has left. The others could only wait.
    pub(super) fn continue_without_pauser(&mut self) {
        if let Some(pauser) = self.paused_by
            && self.entered().all(|viewer| viewer != pauser)
        {
            self.paused_by = None;
            self.request(None, Control::Pause);
        }
    }

    /// Queues a request to the source.
    pub(super) fn request(&mut self, key: Option<ViewerKey>, control: Control) {
        if self.requests.len() < MAX_REQUESTS {
            self.requests.push_back((key, control));
        }
    }

    /// Whether the newest frame is an intermission, in which clients show the scoreboard.
    pub(super) fn is_intermission(&self) -> bool {
        let views = self.current.current_views();
        views.first().is_some_and(|view| view.state.pm_type == PmType::Intermission as i32)
    }

    /// Stores a scoreboard and sends it to the viewers that wait for it.
    fn take_scores(&mut self, text: &Arc<str>) {
        self.scores = Some((self.now, Arc::clone(text)));
        let to_all = self.is_intermission();
        self.send_command_to(text, |viewer| to_all || viewer.own.wants_scores);
        for (_, viewer) in self.viewers.iter_mut() {
            viewer.own.wants_scores = false;
        }
    }
}

impl Sink for RelayState {
    fn level(&mut self, level: Level) {
        let is_first = !self.current.has_level();
        self.current.begin(level);
        self.bodies.clear();
        self.scores = None;
        let now = self.now;
        self.viewers.iter_mut().for_each(|(_, viewer)| viewer.await_gamestate(now));
        if self.lost.take().is_some() && !is_first {
            log::info!("source reconnected");
        }
        log::info!("level {} begins", text::escaped(self.current.info_value("mapname").as_bytes()));
    }

    fn configstring(&mut self, index: ConfigIndex, text: &str) {
        if self.current.has_level() && self.current.set(index, text) {
            self.send_configstring(index);
        }
    }

    fn command(&mut self, audience: Audience, text: &str) {
        let word = text.split_ascii_whitespace().next().unwrap_or_default();
        if NOT_FORWARDED.contains(&word)
            || text.len() > MAX_SERVER_COMMAND_LEN
            || text.contains('\0')
        {
            return;
        }
        let command: Arc<str> = Arc::from(text);
        if word == "scores" {
            self.take_scores(&command);
            return;
        }
        match audience {
            Audience::All => self.send_command_to(&command, |_| true),
            Audience::Followers(player) => {
                let views = self.current.current_views();
                let at = views.iter().position(|view| view.player == player);
                let Some(at) = at else { return };
                let first = at == 0;
                let shown = |choice: Option<ClientNum>| {
                    choice.is_some_and(|choice| views.iter().any(|view| view.player == choice))
                };
                let followers: Vec<_> = self
                    .viewers
                    .iter()
                    .filter(|(_, viewer)| {
                        viewer.own.choice == Some(player) || first && !shown(viewer.own.choice)
                    })
                    .map(|(key, _)| key)
                    .collect();
                followers.into_iter().for_each(|key| self.send_command(key, &command));
            }
        }
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        self.counts.frames += 1;
        if !self.current.record(frame) {
            self.counts.refused_frames += 1;
        }
    }

    fn lost(&mut self, reason: &str) {
        // A source that never showed a level logs its reasons itself.
        if self.lost.is_none() && self.current.has_level() {
            log::warn!("source lost: {}", text::escaped(reason.as_bytes()));
            self.proclaim(&format!("The source is lost: {reason}. Waiting for it ..."));
        }
        self.lost = Some(reason.to_owned());
    }
}

/// Text without bytes that end a command or a line.
pub(super) fn harmless(text: &str) -> String {
    let text = WireText::from(text).to_string();
    text.chars().map(|c| if matches!(c, '"' | '\n' | '\r') { '\'' } else { c }).collect()
}

fn print_command(text: &str) -> String {
    format!("print \"{}\n\"", text::truncated(&harmless(text), MAX_SERVER_COMMAND_LEN - 16))
}
