//! Level in force and its last frames, as viewers are sent them.
//!
//! Invariants: server time never decreases within a level; a frame's entities are stored once for all
//! views; configstrings and baselines fit a gamestate. The systeminfo has the server id of this node
//! and names no archives, since it serves no files.

use crate::{
    bg::{configstring, pm_flag},
    model::{
        Baselines, ClientNum, ConfigIndex, EntityNum, EntitySet, FrameNum, FrameRing, LevelTime,
        PlayerState, ServerId, limits::MAX_SNAPSHOT_ENTITIES,
    },
    serving::{
        configstrings::{Configstrings, SetOutcome},
        connection::ServedLevel,
    },
    wire::{bits::BitWriter, gamestate, info::InfoString, snapshot::AreaMask},
};

use super::source::{Frame, Level, View, Visible};

/// Frames kept as delta bases: those of 28 snapshots at 5 a second, at 20 frames a second.
pub(super) const FRAMES_KEPT: usize = 128;
/// Most views of a frame.
pub(super) const MAX_VIEWS: usize = 64;
/// Time by which the usercmds of a viewer may be ahead before its client shows a connection problem.
/// While the source is paused, a client's clock runs ahead by up to half a second.
const COMMAND_TIME_AHEAD: i32 = 1000;
/// Keys of the systeminfo that name archives. Clients would ask for them and load no others.
const ARCHIVE_KEYS: [&str; 5] =
    ["sv_paks", "sv_pakNames", "sv_referencedPaks", "sv_referencedPakNames", "sv_pure"];
/// Player entry of the viewers' own number.
const VIEWER_ENTRY: &str =
    "n\\viewer\\t\\3\\model\\sarge\\hmodel\\sarge\\c1\\4\\c2\\5\\hc\\100\\w\\0\\l\\0\\tt\\0\\tl\\0";

/// A view of a stored frame.
#[derive(Clone, Debug)]
pub(super) struct StoredView {
    pub(super) player: ClientNum,
    pub(super) state: PlayerState,
    pub(super) seen: EntitySet,
    pub(super) areas: AreaMask,
}

/// Views of a frame; its entities are in the ring.
#[derive(Clone, Debug, Default)]
struct StoredFrame {
    number: Option<FrameNum>,
    time: LevelTime,
    views: Vec<StoredView>,
}

/// The level in force and its last frames.
#[derive(Debug)]
pub(super) struct CurrentLevel {
    pub(super) configstrings: Configstrings,
    pub(super) baselines: Baselines,
    /// Server id of the level; 0 before the first.
    pub(super) server_id: ServerId,
    pub(super) checksum_feed: i32,
    /// Client number of every viewer.
    pub(super) viewer_number: ClientNum,
    /// Whether the number belongs to a spectator of the source, whose entry is kept.
    has_spectator: bool,
    pub(super) is_odd: bool,
    ring: FrameRing,
    frames: Vec<StoredFrame>,
    newest: FrameNum,
    has_frame: bool,
    /// Name that the serverinfo shows.
    hostname: String,
    /// Speed of the time, if it was set; otherwise that of the source.
    timescale: Option<f32>,
}

impl CurrentLevel {
    pub(super) fn new(checksum_feed: i32) -> Self {
        Self {
            configstrings: Configstrings::new(1),
            baselines: Baselines::default(),
            server_id: ServerId(0),
            checksum_feed,
            viewer_number: ClientNum::all().next_back().expect("there are client numbers"),
            has_spectator: false,
            is_odd: false,
            ring: FrameRing::new(FRAMES_KEPT),
            frames: vec![StoredFrame::default(); FRAMES_KEPT],
            newest: FrameNum::default(),
            has_frame: false,
            hostname: String::new(),
            timescale: None,
        }
    }

    /// The level as viewers are sent it.
    pub(super) fn served(&self) -> ServedLevel<'_> {
        ServedLevel {
            configstrings: &self.configstrings,
            baselines: &self.baselines,
            server_id: self.server_id,
            checksum_feed: self.checksum_feed,
            time: self.time(),
            client_number: Some(self.viewer_number),
        }
    }

    /// Whether there is a level.
    pub(super) fn has_level(&self) -> bool {
        self.server_id != ServerId(0)
    }

    pub(super) fn ring(&self) -> &FrameRing {
        &self.ring
    }

    /// Newest frame of the level.
    pub(super) fn newest(&self) -> Option<FrameNum> {
        self.has_frame.then_some(self.newest)
    }

    /// Server time of the newest frame.
    pub(super) fn time(&self) -> LevelTime {
        self.stored(self.newest).map_or(LevelTime(0), |frame| frame.time)
    }

    /// Views of a frame that is kept.
    pub(super) fn views(&self, number: FrameNum) -> &[StoredView] {
        self.stored(number).map_or(&[], |frame| &frame.views)
    }

    /// Views of the newest frame.
    pub(super) fn current_views(&self) -> &[StoredView] {
        if self.has_frame { self.views(self.newest) } else { &[] }
    }

    fn stored(&self, number: FrameNum) -> Option<&StoredFrame> {
        let frame = &self.frames[number.ring_index(FRAMES_KEPT)];
        (frame.number == Some(number)).then_some(frame)
    }

    /// Starts a level.
    pub(super) fn begin(&mut self, level: Level) {
        self.server_id = ServerId(self.server_id.0.wrapping_add(1).max(1));
        self.checksum_feed = self.checksum_feed.wrapping_mul(0x2545_f491).wrapping_add(0x1357_9bdf);
        self.configstrings = Configstrings::new(1);
        self.frames.iter_mut().for_each(|frame| frame.number = None);
        self.has_frame = false;
        let taken = |number: ClientNum| {
            let index = configstring::player(number);
            level.configstrings.iter().any(|(at, text)| *at == index && !text.is_empty())
        };
        let free = || ClientNum::all().rev().find(|&number| !taken(number));
        self.has_spectator = level.spectator.is_some();
        self.viewer_number = level.spectator.or_else(free).unwrap_or(self.viewer_number);
        for (index, text) in &level.configstrings {
            self.set(*index, text);
        }
        for index in [ConfigIndex::SERVERINFO, ConfigIndex::SYSTEMINFO] {
            if !level.configstrings.iter().any(|(at, _)| *at == index) {
                self.set(index, "");
            }
        }
        if !self.has_spectator {
            self.set(configstring::player(self.viewer_number), VIEWER_ENTRY);
        }
        let mut writer = BitWriter::new();
        let mut baselines = level.baselines;
        baselines.retain(|state| (0..EntityNum::NONE.index() as i32).contains(&state.number));
        let baselines = Baselines::new(baselines);
        let sizes =
            baselines.all().iter().map(|state| gamestate::baseline_bits(&mut writer, state));
        let kept = self.configstrings.add_baselines(sizes);
        self.baselines = Baselines::new(baselines.all()[..kept].to_vec());
    }

    /// Sets a configstring of the level. Returns whether viewers are sent the change.
    pub(super) fn set(&mut self, index: ConfigIndex, text: &str) -> bool {
        let outcome = match index {
            ConfigIndex::SERVERINFO => {
                let info = self.serverinfo(text);
                self.configstrings.set(index, info.as_str())
            }
            ConfigIndex::SYSTEMINFO => {
                let info = self.systeminfo(text);
                self.configstrings.set(index, info.as_str())
            }
            _ => self.configstrings.set(index, text),
        };
        if outcome == SetOutcome::Rejected {
            log::debug!("configstring {index} rejected: {} bytes", text.len());
        }
        outcome == SetOutcome::Changed
    }

    /// Serverinfo of the source under the name of this server.
    fn serverinfo(&self, text: &str) -> InfoString {
        let mut info = InfoString::parse(text);
        // The name is shortened if the rest leaves no room.
        let _ = info.set_cleaned("sv_hostname", &self.hostname);
        info
    }

    /// Serverinfo for browsers. Before the first level it has the name of this server, and no map.
    pub(super) fn public_info(&self) -> InfoString {
        let mut info = self.serverinfo(self.configstrings.get(ConfigIndex::SERVERINFO));
        if info.get("mapname").unwrap_or_default().is_empty() {
            let _ = info.set("mapname", "nomap");
        }
        info
    }

    /// Systeminfo of the source for clients that take no files from this server.
    fn systeminfo(&self, text: &str) -> InfoString {
        let mut info = InfoString::parse_big(text);
        for key in ARCHIVE_KEYS {
            info.remove(key);
        }
        let _ = info.set("sv_pure", "0");
        let _ = info.set("sv_serverid", &self.server_id.0.to_string());
        // Clients scale their clock by it and follow another speed without jumps.
        if let Some(timescale) = self.timescale {
            let _ = info.set("timescale", &timescale.to_string());
        }
        info
    }

    /// Sets the name of the server. Returns whether viewers are sent the change.
    pub(super) fn set_hostname(&mut self, hostname: &str) -> bool {
        if self.hostname == hostname {
            return false;
        }
        hostname.clone_into(&mut self.hostname);
        let text = self.configstrings.get(ConfigIndex::SERVERINFO).to_owned();
        self.has_level() && self.set(ConfigIndex::SERVERINFO, &text)
    }

    /// Sets the speed of the time. Returns whether viewers are sent the change.
    pub(super) fn set_timescale(&mut self, timescale: f32) -> bool {
        self.timescale = Some(timescale);
        let text = self.configstrings.get(ConfigIndex::SYSTEMINFO).to_owned();
        self.has_level() && self.set(ConfigIndex::SYSTEMINFO, &text)
    }

    /// Stores a frame. Returns false for one that breaks the order of a source.
    pub(super) fn record(&mut self, frame: &Frame<'_>) -> bool {
        let goes_back = self.has_frame && frame.time.distance(self.time()) < 0;
        if !self.has_level() || goes_back || frame.views.is_empty() {
            return false;
        }
        let (previous, number) = (self.newest, self.newest.next());
        let numbered = frame.entities.iter().filter_map(|state| {
            let number = state.entity_num()?;
            (number < EntityNum::WORLD).then_some((number, state))
        });
        self.ring.record(number, previous, numbered);
        let mut all = EntitySet::default();
        for entry in self.ring.frame(number).unwrap_or_default() {
            all.insert(entry.number);
        }
        let stored = &mut self.frames[number.ring_index(FRAMES_KEPT)];
        stored.number = Some(number);
        stored.time = frame.time;
        stored.views.clear();
        for view in frame.views.iter().take(MAX_VIEWS) {
            stored.views.push(stored_view(view, &all, frame.time));
        }
        self.newest = number;
        self.has_frame = true;
        self.is_odd = frame.is_odd;
        true
    }

    /// Name of a player, empty if the number has no player.
    pub(super) fn player_name(&self, number: ClientNum) -> &str {
        self.entry_value(number, "n")
    }

    /// Value of a player's entry.
    pub(super) fn entry_value(&self, number: ClientNum, key: &str) -> &str {
        let mut parts = self.configstrings.get(configstring::player(number)).split('\\');
        while let Some(name) = parts.next() {
            let value = parts.next().unwrap_or_default();
            if name == key {
                return value;
            }
        }
        ""
    }

    /// Value of the serverinfo, empty if missing.
    pub(super) fn info_value(&self, key: &str) -> String {
        let info = InfoString::parse(self.configstrings.get(ConfigIndex::SERVERINFO));
        info.get(key).unwrap_or_default().to_owned()
    }
}

/// Copies a view as a spectator of the player sees it.
fn stored_view(view: &View<'_>, all: &EntitySet, time: LevelTime) -> StoredView {
    let mut state = view.state.sanitized().unwrap_or(*view.state);
    // A client predicts nothing of a followed player.
    state.pm_flags |= pm_flag::FOLLOW;
    state.command_time = time.0.wrapping_add(COMMAND_TIME_AHEAD);
    let mut seen = all.clone();
    if let Visible::Set(set) = view.visible {
        seen.keep_all(set);
    }
    seen.keep_lowest(MAX_SNAPSHOT_ENTITIES);
    StoredView { player: view.player, state, seen, areas: view.areas }
}
