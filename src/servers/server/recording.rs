//! Server-side demos: one recording for each recorded client, in the format of its protocol.
//!
//! ```text
//! Idle ── record, sv_autoRecord ──► Waiting ── first full snapshot ──► Running
//!   ▲                                  ▲                                 │
//!   └── client leaves, stoprecord      └────────── level ends ───────────┘
//! ```
//!
//! A recording begins with a gamestate of the configstrings in force, then a snapshot without delta base,
//! which the server makes for it. After that the bytes of a snapshot are those that the client was sent,
//! before scrambling. A file ends with its level: the next level begins another file.
//!
//! Invariants: output is bounded; without recordings a snapshot costs one comparison; nothing here changes
//! what a client is sent, except that one snapshot is full.
//! Source: demo files of Quake III protocols 43 to 71. Engine names: `SV_Record`, `cl_autoRecordDemo`.

use std::{collections::VecDeque, sync::Arc};

use super::{
    client::{Client, ClientSlots},
    current_level::Level,
    match_recording::{MatchRecording, MatchWish, SnapshotContent},
};
use crate::{
    model::{ClientNum, CommandNum, Millis, Sequence, UnixMillis, limits::MAX_CLIENTS, text},
    node::{RecordingContent, RecordingPiece},
    serving::gamestate_message::{GamestateContent, write_gamestate},
    wire::{
        bits::BitWriter,
        demo_file::{self, END_MARK},
        numbers::GameNumbers,
        server_message,
    },
};

/// Bytes and time that a recording is gathered before it is handed to the writer. A write of 8 KiB costs
/// almost as much as one of 64.
const GATHER_BYTES: usize = 64 * 1024;
const GATHER: Millis = Millis::seconds(5);
/// Maximum bytes that wait for the driver. Each frame polls them, so more means that no driver polls.
const MAX_WAITING: usize = 64 << 20;
/// Maximum characters of a player's name in a file name.
const MAX_PLAYER_LEN: usize = 24;
/// Maximum characters of the name that an operator gives.
const MAX_NAME_LEN: usize = 40;

/// Recording state of one client slot.
#[derive(Debug, Default)]
enum SlotState {
    #[default]
    Idle,
    /// Stopped by the operator: no automatic recording until the client has left.
    Stopped,
    /// To be recorded from the next snapshot on.
    Waiting(Option<Arc<str>>),
    Running(Recording),
}

/// A recording in progress.
#[derive(Debug)]
struct Recording {
    number: u64,
    /// Name that the operator gave, for the next level.
    name: Option<Arc<str>>,
    /// First snapshot. Older ones are not used as delta bases, since the file does not hold them.
    first: Sequence,
    gathered: Vec<u8>,
    handed_at: Millis,
}

/// All recordings of a server, and their output.
#[derive(Debug)]
pub(crate) struct Recordings {
    slots: Box<[SlotState; MAX_CLIENTS]>,
    /// Recording of the match, while one runs.
    pub(super) of_match: Option<Box<MatchRecording>>,
    /// Recording of the match for the live stream, while `sv_relayAddress` is set.
    pub(super) live: Option<Box<MatchRecording>>,
    /// Pieces of the live stream for the driver.
    pub(super) live_output: VecDeque<Vec<u8>>,
    /// Whether pieces were dropped because no driver polls them.
    pub(super) has_live_gap: bool,
    pub(super) match_wish: MatchWish,
    /// Name of `record all`; clients that enter later are recorded too.
    all: Option<Option<Arc<str>>>,
    /// Slots that are not idle.
    in_use: u32,
    /// Whether the server stops, so that nothing begins any more.
    is_ended: bool,
    /// Calendar time at the zero of the server's clock, for file names.
    epoch: Option<UnixMillis>,
    next_number: u64,
    writer: BitWriter,
    output: VecDeque<RecordingPiece>,
    waiting_bytes: usize,
    /// Whether output was lost because no driver polls it.
    is_lost: bool,
}

impl Default for Recordings {
    fn default() -> Self {
        Self {
            slots: Box::new([const { SlotState::Idle }; MAX_CLIENTS]),
            of_match: None,
            live: None,
            live_output: VecDeque::new(),
            has_live_gap: false,
            match_wish: MatchWish::Auto,
            all: None,
            in_use: 0,
            is_ended: false,
            epoch: None,
            next_number: 0,
            writer: BitWriter::new(),
            output: VecDeque::new(),
            waiting_bytes: 0,
            is_lost: false,
        }
    }
}

/// Facts of a snapshot besides its bytes.
pub(super) struct SnapshotFacts<'a> {
    pub(super) number: ClientNum,
    pub(super) sequence: Sequence,
    pub(super) level: &'a Level,
    pub(super) now: Millis,
}

impl Recordings {
    /// Sets the calendar time at the zero of the server's clock.
    pub(super) fn set_epoch(&mut self, epoch: Option<UnixMillis>) {
        self.epoch = epoch;
    }

    /// Returns the delta base that a client in the game requests, if its recording holds it.
    ///
    /// `auto` is `sv_autoRecord`.
    pub(super) fn delta_request(
        &mut self,
        number: ClientNum,
        numbers: GameNumbers,
        acknowledged: Option<Sequence>,
        auto: bool,
    ) -> Option<Sequence> {
        let acknowledged = acknowledged.filter(|base| {
            // Messages in older numbers are not recorded with the match.
            if !numbers.is_current() {
                return true;
            }
            let mut matches = self.of_match.iter().chain(&self.live);
            matches.all(|recording| recording.allows_base(number, *base))
        });
        let slot = &mut self.slots[number.index()];
        match slot {
            SlotState::Idle if (auto && !self.is_ended) || self.all.is_some() => {
                *slot = SlotState::Waiting(self.all.clone().flatten());
                self.in_use += 1;
                None
            }
            SlotState::Idle | SlotState::Stopped => acknowledged,
            SlotState::Waiting(_) => None,
            SlotState::Running(recording) => {
                acknowledged.filter(|base| base.distance(recording.first) >= 0)
            }
        }
    }

    /// Whether snapshots of a client are recorded, or will be.
    fn is_wanted(&self, number: ClientNum) -> bool {
        self.in_use > 0
            && matches!(self.slots[number.index()], SlotState::Waiting(_) | SlotState::Running(_))
    }

    /// Records a snapshot message that was written.
    pub(super) fn snapshot_written(
        &mut self,
        client: &Client,
        facts: &SnapshotFacts<'_>,
        content: &SnapshotContent<'_>,
        message: &[u8],
    ) {
        for recording in self.matches_mut() {
            recording.snapshot(facts.number, client, content);
        }
        if self.is_wanted(facts.number) && client.is_active() {
            self.snapshot(client, facts, message);
        }
    }

    /// Records the snapshot message of a client in the game.
    fn snapshot(&mut self, client: &Client, facts: &SnapshotFacts<'_>, message: &[u8]) {
        let slot = &mut self.slots[facts.number.index()];
        if let SlotState::Waiting(name) = slot {
            let name = name.take();
            self.begin(client, facts, name);
        }
        let SlotState::Running(recording) = &mut self.slots[facts.number.index()] else { return };
        demo_file::write_record(&mut recording.gathered, facts.sequence.0, message);
        if recording.gathered.len() >= GATHER_BYTES
            || facts.now.since(recording.handed_at) >= GATHER
        {
            // Allocated once for each piece, which the writer's thread takes.
            let next = Vec::with_capacity(GATHER_BYTES + GATHER_BYTES / 4);
            let piece = std::mem::replace(&mut recording.gathered, next);
            recording.handed_at = facts.now;
            let number = recording.number;
            self.hand_over(number, RecordingContent::Data(piece));
        }
    }

    /// Begins a file with the gamestate in force.
    fn begin(&mut self, client: &Client, facts: &SnapshotFacts<'_>, name: Option<Arc<str>>) {
        let SnapshotFacts { number, sequence, level, now } = *facts;
        let protocol = client.channel.protocol();
        // Commands behind the last acknowledged one are in the snapshots that follow.
        let known = client.queue.commands.unacknowledged().next();
        let known = known.map_or(client.queue.commands.last(), |(next, _)| CommandNum(next.0 - 1));
        let writer = &mut self.writer;
        server_message::begin(writer, protocol, client.incoming.last());
        let has_feed = protocol.encoding.messages.has_end_mark;
        let content = GamestateContent {
            configstrings: &level.configstrings,
            baselines: &level.baselines,
            client: number,
            checksum_feed: has_feed.then_some(level.checksum_feed),
        };
        write_gamestate(writer, protocol, known, content);
        server_message::end(writer);
        if writer.overflowed() {
            log::error!("client {number} not recorded: gamestate exceeds a message");
            self.slots[number.index()] = SlotState::Stopped;
            return;
        }
        let mut gathered = Vec::with_capacity(GATHER_BYTES + GATHER_BYTES / 4);
        demo_file::write_record(&mut gathered, sequence.0.wrapping_sub(1), writer.message());
        let calendar = self.epoch.map(|epoch| epoch + now);
        let file = file_name(name.as_deref(), &level.map, &client.name, number, calendar, now);
        let extension = protocol.extension.to_owned();
        let recording = self.next_number;
        self.next_number += 1;
        self.slots[number.index()] = SlotState::Running(Recording {
            number: recording,
            name,
            first: sequence,
            gathered,
            handed_at: now,
        });
        self.hand_over(recording, RecordingContent::Begin { name: file, extension });
    }

    /// Ends the file of a slot. Returns the name for the next one.
    fn finish(&mut self, number: ClientNum) -> Option<Option<Arc<str>>> {
        match std::mem::take(&mut self.slots[number.index()]) {
            SlotState::Running(mut recording) => {
                recording.gathered.extend(END_MARK);
                self.hand_over(recording.number, RecordingContent::Data(recording.gathered));
                self.hand_over(recording.number, RecordingContent::End);
                Some(recording.name)
            }
            SlotState::Waiting(name) => Some(name),
            SlotState::Idle | SlotState::Stopped => None,
        }
    }

    /// Ends the recording of a client that leaves.
    pub(super) fn leave(&mut self, number: ClientNum) {
        for recording in self.matches_mut() {
            recording.leave(number);
        }
        if !matches!(self.slots[number.index()], SlotState::Idle) {
            self.finish(number);
            self.slots[number.index()] = SlotState::Idle;
            self.in_use -= 1;
        }
    }

    /// Ends the files of a level. The clients are recorded again on the next one.
    pub(super) fn end_level(&mut self) {
        self.finish_match();
        self.live = None;
        if self.match_wish == MatchWish::Stop {
            self.match_wish = MatchWish::Auto;
        }
        if self.in_use == 0 {
            return;
        }
        for number in ClientNum::all() {
            let stopped = matches!(self.slots[number.index()], SlotState::Stopped);
            let next = self.finish(number);
            self.slots[number.index()] = match next {
                Some(name) => SlotState::Waiting(name),
                None if stopped => SlotState::Stopped,
                None => SlotState::Idle,
            };
        }
    }

    /// Ends all files, because the server stops.
    pub(super) fn end_all(&mut self) {
        self.all = None;
        self.is_ended = true;
        self.finish_match();
        self.live = None;
        ClientNum::all().for_each(|number| self.leave(number));
    }

    /// Starts to record a client. Returns false if it is recorded already.
    fn start(&mut self, number: ClientNum, name: Option<Arc<str>>) -> bool {
        if self.is_wanted(number) {
            return false;
        }
        let slot = &mut self.slots[number.index()];
        self.in_use += u32::from(matches!(slot, SlotState::Idle));
        *slot = SlotState::Waiting(name);
        true
    }

    /// Stops the recording of a client until it has left. Returns false if it is not recorded.
    fn stop(&mut self, number: ClientNum) -> bool {
        if !self.is_wanted(number) {
            return false;
        }
        self.finish(number);
        self.slots[number.index()] = SlotState::Stopped;
        true
    }

    /// Whether the server stops, so that nothing begins any more.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Begins the file of a match. Returns the number of the recording.
    pub(super) fn begin_match(&mut self, name: Option<&str>, map: &str, now: Millis) -> u64 {
        let calendar = self.epoch.map(|epoch| epoch + now);
        let name = format!("{}_match", file_start(name, map, calendar, now));
        let number = self.next_number;
        self.next_number += 1;
        let extension = "mv".to_owned();
        self.hand_over(number, RecordingContent::Begin { name, extension });
        number
    }

    pub(super) fn hand_over(&mut self, recording: u64, content: RecordingContent) {
        let piece = RecordingPiece { recording, content };
        if self.is_lost || self.waiting_bytes + piece.len() > MAX_WAITING {
            if !std::mem::replace(&mut self.is_lost, true) {
                log::error!("recordings stopped: output not polled");
            }
            return;
        }
        self.waiting_bytes += piece.len();
        self.output.push_back(piece);
    }

    /// Returns the next piece for the driver.
    pub(super) fn poll(&mut self) -> Option<RecordingPiece> {
        let piece = self.output.pop_front()?;
        self.waiting_bytes -= piece.len();
        Some(piece)
    }

    /// Starts `record all`. Returns the number of clients that are recorded from now on.
    pub(super) fn start_all(&mut self, clients: &ClientSlots, name: Option<&str>) -> usize {
        let name: Option<Arc<str>> = name.map(Arc::from);
        self.all = Some(name.clone());
        clients.present().filter(|(number, _)| self.start(*number, name.clone())).count()
    }

    /// Starts to record one client. Returns false if it is recorded already.
    pub(super) fn start_one(&mut self, number: ClientNum, name: Option<&str>) -> bool {
        self.start(number, name.map(Arc::from))
    }

    /// Stops all recordings. Returns their number.
    pub(super) fn stop_all(&mut self, clients: &ClientSlots) -> usize {
        self.all = None;
        clients.present().filter(|(number, _)| self.stop(*number)).count()
    }

    /// Stops one recording. Returns false if the client is not recorded.
    pub(super) fn stop_one(&mut self, number: ClientNum) -> bool {
        self.stop(number)
    }
}

/// Whether an operator's name for recordings is valid: letters, digits, `_`, `-` and `.`.
pub(super) fn is_recording_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=MAX_NAME_LEN).contains(&name.len())
        && name.bytes().all(legal)
        && !name.starts_with('.')
        && !name.contains("..")
}

/// Returns the name of a file: time or the operator's name, map, player.
fn file_name(
    name: Option<&str>,
    map: &str,
    player: &str,
    number: ClientNum,
    calendar: Option<UnixMillis>,
    now: Millis,
) -> String {
    let plain: String = text::strip_colors(player).chars().map(file_char).collect();
    let plain = plain.trim_matches('_');
    let player = match plain.get(..plain.len().min(MAX_PLAYER_LEN)) {
        None | Some("") => format!("player{number}"),
        Some(plain) => plain.to_owned(),
    };
    format!("{}_{player}", file_start(name, map, calendar, now))
}

/// Returns the start of a file's name: time or the operator's name, then the map.
fn file_start(name: Option<&str>, map: &str, calendar: Option<UnixMillis>, now: Millis) -> String {
    let digits = |at: UnixMillis| {
        let time = at.to_string().replace(['-', ':'], "");
        time.replace(' ', "-")
    };
    let begin = match (name, calendar) {
        (Some(name), _) => name.to_owned(),
        (None, Some(calendar)) => digits(calendar),
        (None, None) => format!("{:08}", now.0 / 1000),
    };
    let map: String = map.rsplit('/').next().unwrap_or(map).chars().map(file_char).collect();
    format!("{begin}_{map}")
}

fn file_char(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_have_time_map_and_player() {
        let number = ClientNum::new(7).expect("a slot");
        let (calendar, now) = (Some(UnixMillis(1_700_000_000_000)), Millis(90_000));
        let name = |given, player| file_name(given, "mod/oa_dm1", player, number, calendar, now);
        assert_eq!(name(None, "^1Kim"), "20231114-221320_oa_dm1_Kim");
        assert_eq!(name(Some("final"), "a/b\\c..d"), "final_oa_dm1_a_b_c__d");
        assert_eq!(name(None, "^7../"), "20231114-221320_oa_dm1_player7");
        assert_eq!(name(Some("x"), &"n".repeat(99)).len(), "x_oa_dm1_".len() + MAX_PLAYER_LEN);
        assert_eq!(file_name(None, "m", "p", number, None, now), "00000090_m_p");
    }

    #[test]
    fn recording_names_stay_in_the_folder() {
        assert!(["final", "a-b_c.1"].into_iter().all(is_recording_name));
        for name in ["", "../x", "a/b", "a\\b", ".hidden", "a b", "a..b", &"x".repeat(41)] {
            assert!(!is_recording_name(name), "{name:?}");
        }
    }

    #[test]
    fn output_is_bounded_without_a_driver() {
        let mut recordings = Recordings::default();
        for _ in 0..200 {
            recordings.hand_over(1, RecordingContent::Data(vec![0; 1 << 20]));
        }
        assert!(recordings.waiting_bytes <= MAX_WAITING);
        let polled = std::iter::from_fn(|| recordings.poll()).count();
        assert_eq!((polled, recordings.waiting_bytes), (64, 0));
    }
}
