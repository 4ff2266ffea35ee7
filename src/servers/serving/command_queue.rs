//! Reliable command queue of one client: commands that are sent and unacknowledged, then those pending.
//!
//! A client stores 64 commands. It acknowledges them on receipt, but its cgame executes them when the level time of
//! their snapshot is played: much later if it loads the level or is slow. A command that leaves the store before that is an
//! error of the client, so the window also counts acknowledged commands that were not played. If more happens at once (sixty players join within a second), the
//! rest is pending, and the client is not dropped for it. A configstring is queued by index and
//! sent with the value it has then, however often it changed. Of prints and chat the oldest are
//! discarded when too many are pending.
//!
//! Invariants: commands are numbered in the order they were queued; a configstring is pending at
//! most once; the queue is bounded. Source of the limits: Quake III protocol 68, reliable commands.
//! Engine names: `SV_AddServerCommand`, `reliableCommands`, `reliableAcknowledge`.

use std::{borrow::Cow, collections::VecDeque, sync::Arc};

use super::configstrings::Configstrings;
use crate::{
    model::{CommandNum, ConfigIndex, LevelTime, Millis, limits::MAX_RELIABLE_COMMANDS},
    netchan::OutgoingCommands,
    wire::Protocol,
};

/// Maximum number of commands that are unacknowledged or not played. The others of the 64 are left for a drop and its reason.
const MAX_UNACKNOWLEDGED: usize = MAX_RELIABLE_COMMANDS - 4;
/// Maximum bytes of unacknowledged commands, so that a message with all of them has room for a
/// snapshot.
const MAX_UNACKNOWLEDGED_BYTES: usize = 9 * 1024;
/// Unacknowledged bytes that the slowest client is granted.
const MIN_UNACKNOWLEDGED_BYTES: usize = 1024;
/// Time after which acknowledged commands count as played by a client whose usercmds do not reach their level time.
const PLAY_LIMIT: Millis = Millis::seconds(5);
/// Maximum number of pending texts.
const MAX_PENDING_TEXTS: usize = 256;

/// Commands that may be discarded.
const DROPPABLE: [&str; 4] = ["print ", "chat ", "tchat ", "cp "];

/// A command that is not numbered yet.
#[derive(Clone, Debug)]
enum PendingCommand {
    Text(Arc<str>),
    /// The value that the configstring has when it is numbered.
    Configstring(ConfigIndex),
}

/// Too many commands are pending that may not be discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

/// Times of a snapshot that decide which commands its client has played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SnapshotTimes {
    pub(crate) now: Millis,
    /// Level time of the snapshot.
    pub(crate) level: LevelTime,
    /// Level time of the newest usercmd; `None` for a client that loads the level.
    pub(crate) played: Option<LevelTime>,
}

/// Commands that the cgame of a client has executed.
#[derive(Clone, Copy, Debug, Default)]
struct PlayedCommands {
    last: CommandNum,
    /// Level time from which on the acknowledged commands up to a number are played.
    next: Option<(LevelTime, CommandNum)>,
    /// Time since which commands wait for the next ones to be played.
    held_since: Option<Millis>,
}

impl PlayedCommands {
    /// Follows the acknowledged commands. A snapshot that the client has not received yet is later than those that
    /// brought them.
    fn update(&mut self, acknowledged: CommandNum, times: SnapshotTimes) {
        if acknowledged == self.last {
            self.held_since = None;
            return;
        }
        let (due, number) = *self.next.get_or_insert((times.level, acknowledged));
        let is_played = times.played.is_some_and(|played| played.distance(due) >= 0);
        let is_late = self.held_since.is_some_and(|since| times.now.since(since) >= PLAY_LIMIT);
        if is_played || is_late {
            *self = Self { last: number, next: None, held_since: None };
        }
    }
}

/// Reliable commands to one client.
#[derive(Debug)]
pub(crate) struct CommandQueue {
    /// Protocol whose commands the client knows.
    protocol: &'static Protocol,
    pub(crate) commands: OutgoingCommands,
    pending: VecDeque<PendingCommand>,
    texts: usize,
    played: PlayedCommands,
    /// Number of prints and chat lines that were discarded.
    pub(crate) discarded: u64,
}

impl CommandQueue {
    /// Creates an empty queue.
    pub(crate) fn new(protocol: &'static Protocol) -> Self {
        Self {
            protocol,
            commands: OutgoingCommands::default(),
            pending: VecDeque::new(),
            texts: 0,
            played: PlayedCommands::default(),
            discarded: 0,
        }
    }

    /// Number of pending commands.
    pub(crate) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Queues a text for the client.
    pub(crate) fn push_text(&mut self, text: Arc<str>) -> Result<(), Overflow> {
        if self.texts == MAX_PENDING_TEXTS {
            let dispensable = |pending: &PendingCommand| match pending {
                PendingCommand::Text(text) => DROPPABLE.iter().any(|head| text.starts_with(head)),
                PendingCommand::Configstring(_) => false,
            };
            let oldest = self.pending.iter().position(dispensable).ok_or(Overflow)?;
            self.pending.remove(oldest);
            self.texts -= 1;
            self.discarded += 1;
        }
        self.pending.push_back(PendingCommand::Text(text));
        self.texts += 1;
        Ok(())
    }

    /// Queues a configstring, with the value that it has when it is sent.
    pub(crate) fn push_configstring(&mut self, index: ConfigIndex) {
        let waits = |pending: &PendingCommand| matches!(pending, PendingCommand::Configstring(i) if *i == index);
        if !self.pending.iter().any(waits) {
            self.pending.push_back(PendingCommand::Configstring(index));
        }
    }

    /// Discards pending configstrings, whose values a gamestate holds. Texts stay.
    pub(crate) fn clear_configstrings(&mut self) {
        self.pending.retain(|pending| matches!(pending, PendingCommand::Text(_)));
    }

    /// Discards pending commands. Unacknowledged ones stay.
    pub(crate) fn clear_pending(&mut self) {
        self.pending.clear();
        self.texts = 0;
    }

    /// Records that a gamestate is sent. Its cgame also executes commands that the one before did not, but level times
    /// of another level say nothing about it.
    pub(crate) fn begin_level(&mut self) {
        self.played.next = None;
    }

    /// Numbers pending commands for a snapshot while there is room, up to `most_bytes` of unacknowledged commands.
    pub(crate) fn fill_window(
        &mut self,
        configstrings: &Configstrings,
        times: SnapshotTimes,
        most_bytes: usize,
    ) {
        self.played.update(self.commands.acknowledged(), times);
        if self.pending.is_empty() {
            return;
        }
        let most_bytes = most_bytes.clamp(MIN_UNACKNOWLEDGED_BYTES, MAX_UNACKNOWLEDGED_BYTES);
        let unplayed = self.commands.last().distance(self.played.last);
        let room = MAX_UNACKNOWLEDGED.saturating_sub(usize::try_from(unplayed).unwrap_or(0));
        if !self.number_pending(configstrings, room, most_bytes) {
            self.played.held_since.get_or_insert(times.now);
        }
    }

    /// Numbers a command of a connection that ends.
    pub(crate) fn push_last(&mut self, command: &Arc<str>) {
        if let Some(command) = self.sent(command) {
            let _ = self.commands.add_disconnect(command);
        }
    }

    /// Returns a command as the client knows it; `None` if it has no such command.
    fn sent(&self, command: &Arc<str>) -> Option<Arc<str>> {
        match self.protocol.sent_command(command)? {
            Cow::Borrowed(_) => Some(Arc::clone(command)),
            Cow::Owned(command) => Some(command.into()),
        }
    }

    /// Numbers pending commands as the last ones of a connection, while there is room for unacknowledged ones.
    pub(crate) fn fill_last(&mut self, configstrings: &Configstrings) {
        self.number_pending(configstrings, MAX_UNACKNOWLEDGED, MAX_UNACKNOWLEDGED_BYTES);
    }

    /// Numbers pending commands up to a count and to bytes that are unacknowledged. Returns whether the count was enough.
    fn number_pending(
        &mut self,
        configstrings: &Configstrings,
        mut room: usize,
        most_bytes: usize,
    ) -> bool {
        while let Some(next) = self.pending.front() {
            let pieces = match next {
                PendingCommand::Text(text) => self.sent(text).into_iter().collect(),
                PendingCommand::Configstring(index) => {
                    configstrings.commands(*index, self.protocol)
                }
            };
            if pieces.len() > room {
                return false;
            }
            let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
            let under_way: usize = self.commands.unacknowledged().map(|(_, text)| text.len()).sum();
            let fits = self.commands.outstanding() + pieces.len() <= MAX_UNACKNOWLEDGED
                && (bytes + under_way <= most_bytes || under_way == 0);
            if !fits {
                break;
            }
            if let Some(PendingCommand::Text(_)) = self.pending.pop_front() {
                self.texts -= 1;
            }
            room -= pieces.len();
            for piece in pieces {
                // Texts were checked when they were queued, and there is room.
                let _ = self.commands.add(piece);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills the window of a client that plays all commands that it acknowledged.
    fn fill(queue: &mut CommandQueue, configstrings: &Configstrings) {
        queue.played.last = queue.commands.acknowledged();
        let times = SnapshotTimes { now: Millis(0), level: LevelTime(0), played: None };
        queue.fill_window(configstrings, times, usize::MAX);
    }

    fn texts(queue: &CommandQueue) -> Vec<String> {
        queue.commands.unacknowledged().map(|(_, text)| text.to_string()).collect()
    }

    #[test]
    fn configstring_that_changes_often_is_sent_once() {
        let mut strings = Configstrings::new(1);
        let mut queue = CommandQueue::new(Protocol::Q3_68);
        for i in 0..100 {
            strings.set(ConfigIndex::at(6), &i.to_string());
            queue.push_configstring(ConfigIndex::at(6));
        }
        fill(&mut queue, &strings);
        assert_eq!(texts(&queue), ["cs 6 \"99\"\n"]);
    }

    #[test]
    fn commands_beyond_window_stay_pending_in_order() {
        let strings = Configstrings::new(1);
        let mut queue = CommandQueue::new(Protocol::Q3_68);
        for i in 0..200 {
            queue.push_text(format!("scores {i}").into()).unwrap();
        }
        let mut sent = Vec::new();
        while sent.len() < 200 {
            fill(&mut queue, &strings);
            assert!(queue.commands.outstanding() <= MAX_UNACKNOWLEDGED);
            sent.extend(texts(&queue));
            queue.commands.acknowledge(queue.commands.last()).unwrap();
        }
        assert!(sent.iter().enumerate().all(|(i, text)| *text == format!("scores {i}")));
        assert_eq!(queue.commands.last(), CommandNum(200));
    }

    #[test]
    fn full_queue_discards_chat_then_overflows() {
        let mut queue = CommandQueue::new(Protocol::Q3_68);
        for i in 0..1000 {
            queue.push_text(format!("print \"{i}\"").into()).unwrap();
        }
        assert_eq!(queue.discarded, 1000 - MAX_PENDING_TEXTS as u64);
        for i in 0..MAX_PENDING_TEXTS {
            queue.push_text(format!("scores {i}").into()).unwrap();
        }
        assert_eq!(queue.push_text("scores".into()), Err(Overflow));
        queue.clear_pending();
        assert_eq!(queue.push_text("scores".into()), Ok(()));
    }

    #[test]
    fn gamestate_replaces_configstrings_and_keeps_texts() {
        let strings = Configstrings::new(8);
        let mut queue = CommandQueue::new(Protocol::Q3_68);
        queue.push_text("print \"1\"".into()).unwrap();
        queue.push_configstring(ConfigIndex::at(6));
        queue.push_text("print \"2\"".into()).unwrap();
        queue.clear_configstrings();
        fill(&mut queue, &strings);
        assert_eq!(texts(&queue), ["print \"1\"", "print \"2\""]);
        assert_eq!((queue.pending(), queue.texts), (0, 0));
    }

    #[test]
    fn long_configstring_is_sent_whole_or_stays_pending() {
        let mut strings = Configstrings::new(1);
        strings.set(ConfigIndex::at(9), &"x".repeat(8000));
        let mut queue = CommandQueue::new(Protocol::Q3_68);
        for i in 0..MAX_UNACKNOWLEDGED - 5 {
            queue.push_text(format!("scores {i}").into()).unwrap();
        }
        queue.push_configstring(ConfigIndex::at(9));
        fill(&mut queue, &strings);
        assert_eq!(queue.commands.outstanding(), MAX_UNACKNOWLEDGED - 5);
        queue.commands.acknowledge(CommandNum(20)).unwrap();
        fill(&mut queue, &strings);
        assert!(texts(&queue).last().unwrap().starts_with("bcs2 9 "));
    }

    #[test]
    fn commands_wait_until_the_client_played_those_before() {
        let strings = Configstrings::new(1);
        // Usercmds that are 150 ms behind the level, after two seconds of loading.
        for delay in [50, 150, 400] {
            let mut queue = CommandQueue::new(Protocol::Q3_68);
            queue.begin_level();
            for i in 0..MAX_PENDING_TEXTS {
                queue.push_text(format!("scores {i}").into()).unwrap();
            }
            // Number of the last command by level time, and what the cgame executed.
            let mut sent: Vec<(i32, CommandNum)> = Vec::new();
            let mut executed = CommandNum(0);
            for frame in 0..400 {
                let level = frame * 50;
                let loads = level < 2000;
                let played = (!loads).then_some(LevelTime(level - delay));
                if let Some(LevelTime(played)) = played {
                    let known = sent.iter().rev().find(|(at, _)| *at <= played);
                    executed = known.map_or(executed, |(_, number)| *number);
                    queue.commands.acknowledge(queue.commands.last()).unwrap();
                }
                let times =
                    SnapshotTimes { now: Millis(level as u64), level: LevelTime(level), played };
                queue.fill_window(&strings, times, usize::MAX);
                sent.push((level, queue.commands.last()));
                let unplayed = queue.commands.last().distance(executed);
                assert!(unplayed <= MAX_UNACKNOWLEDGED as i64, "{unplayed} at {level}");
            }
            assert_eq!(executed, CommandNum(MAX_PENDING_TEXTS as i32), "delay {delay}");
        }
    }

    #[test]
    fn client_without_usercmds_gets_commands_after_seconds() {
        let strings = Configstrings::new(1);
        let mut queue = CommandQueue::new(Protocol::Q3_68);
        for i in 0..100 {
            queue.push_text(format!("scores {i}").into()).unwrap();
        }
        for ms in (0..5200).step_by(50) {
            let times =
                SnapshotTimes { now: Millis(ms), level: LevelTime(ms as i32), played: None };
            queue.fill_window(&strings, times, usize::MAX);
            queue.commands.acknowledge(queue.commands.last()).unwrap();
            let is_held = queue.commands.last() == CommandNum(60);
            assert_eq!(is_held, ms < 5000, "{ms}");
        }
    }
}
