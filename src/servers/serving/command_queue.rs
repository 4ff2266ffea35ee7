//! Reliable command queue of one client: commands that are sent and unacknowledged, then those pending.
//!
//! A client stores 64 commands. If more happens at once (sixty players join within a second), the
//! rest is pending, and the client is not dropped for it. A configstring is queued by index and
//! sent with the value it has then, however often it changed. Of prints and chat the oldest are
//! discarded when too many are pending.
//!
//! Invariants: commands are numbered in the order they were queued; a configstring is pending at
//! most once; the queue is bounded. Source of the limits: Quake III protocol 68, reliable commands.
//! Engine names: `SV_AddServerCommand`, `reliableCommands`, `reliableAcknowledge`.

use std::{collections::VecDeque, sync::Arc};

use super::configstrings::Configstrings;
use crate::{
    model::{ConfigIndex, limits::MAX_RELIABLE_COMMANDS},
    netchan::OutgoingCommands,
};

/// Maximum number of unacknowledged commands. The others of the 64 are left for a drop and its reason.
const MAX_UNACKNOWLEDGED: usize = MAX_RELIABLE_COMMANDS - 4;
/// Maximum bytes of unacknowledged commands, so that a message with all of them has room for a
/// snapshot.
const MAX_UNACKNOWLEDGED_BYTES: usize = 9 * 1024;
/// Unacknowledged bytes that the slowest client is granted.
const MIN_UNACKNOWLEDGED_BYTES: usize = 1024;
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

/// Reliable commands to one client.
#[derive(Debug, Default)]
pub(crate) struct CommandQueue {
    pub(crate) commands: OutgoingCommands,
    pending: VecDeque<PendingCommand>,
    texts: usize,
    /// Number of prints and chat lines that were discarded.
    pub(crate) discarded: u64,
}

impl CommandQueue {
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

    /// Numbers pending commands while there is room, up to `most_bytes` of unacknowledged commands.
    pub(crate) fn fill_window(&mut self, configstrings: &Configstrings, most_bytes: usize) {
        let most_bytes = most_bytes.clamp(MIN_UNACKNOWLEDGED_BYTES, MAX_UNACKNOWLEDGED_BYTES);
        while let Some(next) = self.pending.front() {
            let pieces = match next {
                PendingCommand::Text(text) => vec![Arc::clone(text)],
                PendingCommand::Configstring(index) => configstrings.commands(*index),
            };
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
            for piece in pieces {
                // Texts were checked when they were queued, and there is room.
                let _ = self.commands.add(piece);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CommandNum;

    fn texts(queue: &CommandQueue) -> Vec<String> {
        queue.commands.unacknowledged().map(|(_, text)| text.to_string()).collect()
    }

    #[test]
    fn configstring_that_changes_often_is_sent_once() {
        let mut strings = Configstrings::new(1);
        let mut queue = CommandQueue::default();
        for i in 0..100 {
            strings.set(ConfigIndex::at(6), &i.to_string());
            queue.push_configstring(ConfigIndex::at(6));
        }
        queue.fill_window(&strings, MAX_UNACKNOWLEDGED_BYTES);
        assert_eq!(texts(&queue), ["cs 6 \"99\"\n"]);
    }

    #[test]
    fn commands_beyond_window_stay_pending_in_order() {
        let strings = Configstrings::new(1);
        let mut queue = CommandQueue::default();
        for i in 0..200 {
            queue.push_text(format!("scores {i}").into()).unwrap();
        }
        let mut sent = Vec::new();
        while sent.len() < 200 {
            queue.fill_window(&strings, MAX_UNACKNOWLEDGED_BYTES);
            assert!(queue.commands.outstanding() <= MAX_UNACKNOWLEDGED);
            sent.extend(texts(&queue));
            queue.commands.acknowledge(queue.commands.last()).unwrap();
        }
        assert!(sent.iter().enumerate().all(|(i, text)| *text == format!("scores {i}")));
        assert_eq!(queue.commands.last(), CommandNum(200));
    }

    #[test]
    fn full_queue_discards_chat_then_overflows() {
        let mut queue = CommandQueue::default();
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
        let mut queue = CommandQueue::default();
        queue.push_text("print \"1\"".into()).unwrap();
        queue.push_configstring(ConfigIndex::at(6));
        queue.push_text("print \"2\"".into()).unwrap();
        queue.clear_configstrings();
        queue.fill_window(&strings, MAX_UNACKNOWLEDGED_BYTES);
        assert_eq!(texts(&queue), ["print \"1\"", "print \"2\""]);
        assert_eq!((queue.pending(), queue.texts), (0, 0));
    }

    #[test]
    fn long_configstring_is_sent_whole_or_stays_pending() {
        let mut strings = Configstrings::new(1);
        strings.set(ConfigIndex::at(9), &"x".repeat(8000));
        let mut queue = CommandQueue::default();
        for i in 0..MAX_UNACKNOWLEDGED - 5 {
            queue.push_text(format!("scores {i}").into()).unwrap();
        }
        queue.push_configstring(ConfigIndex::at(9));
        queue.fill_window(&strings, MAX_UNACKNOWLEDGED_BYTES);
        assert_eq!(queue.commands.outstanding(), MAX_UNACKNOWLEDGED - 5);
        queue.commands.acknowledge(CommandNum(20)).unwrap();
        queue.fill_window(&strings, MAX_UNACKNOWLEDGED_BYTES);
        assert!(texts(&queue).last().unwrap().starts_with("bcs2 9 "));
    }
}
