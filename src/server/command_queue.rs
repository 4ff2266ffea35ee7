//! Reliable commands on their way to one client: those it has yet to acknowledge, and those that wait
//! for room behind them.
//!
//! A client can hold 64 commands. When many things happen at once (sixty players join within a second),
//! what does not fit waits here instead of costing the client its place: a configstring is remembered
//! by its index and told with the value it has when its turn comes, however often it changed; of chat
//! and prints the oldest go when too many wait.
//!
//! Invariants: commands are numbered in the order they were queued; a configstring waits at most once;
//! pending is bounded. Source of the limits: Quake III protocol 68, reliable commands.

use std::{collections::VecDeque, sync::Arc};

use super::configstrings::Configstrings;
use crate::{
    model::{ConfigIndex, limits::MAX_RELIABLE_COMMANDS},
    netchan::OutgoingCommands,
};

/// Commands under way at most. Places are left for what a client is told when it is dropped.
const MAX_UNACKNOWLEDGED: usize = MAX_RELIABLE_COMMANDS - 4;
/// Bytes under way at most, so that a message with all of them has room for a snapshot.
const MAX_UNACKNOWLEDGED_BYTES: usize = 9 * 1024;
/// Bytes that may be under way to the slowest client.
const MIN_UNACKNOWLEDGED_BYTES: usize = 1024;
/// Texts that wait at most.
const MAX_PENDING_TEXTS: usize = 256;

/// Commands that a client can live without.
const DROPPABLE: [&str; 4] = ["print ", "chat ", "tchat ", "cp "];

#[derive(Clone, Debug)]
enum PendingCommand {
    Text(Arc<str>),
    Configstring(ConfigIndex),
}

/// The client does not acknowledge, and what waits for it can't be thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overflow;

/// One client's commands.
#[derive(Debug, Default)]
pub(super) struct CommandQueue {
    pub(super) commands: OutgoingCommands,
    pending: VecDeque<PendingCommand>,
    texts: usize,
    /// Prints and chat that were thrown away.
    pub(super) discarded: u64,
}

impl CommandQueue {
    /// How many wait for their turn.
    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Queues a text for the client.
    pub(super) fn push_text(&mut self, text: Arc<str>) -> Result<(), Overflow> {
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

    /// Queues the present and all later values of a configstring until it is told.
    pub(super) fn push_configstring(&mut self, index: ConfigIndex) {
        let waits = |pending: &PendingCommand| matches!(pending, PendingCommand::Configstring(i) if *i == index);
        if !self.pending.iter().any(waits) {
            self.pending.push_back(PendingCommand::Configstring(index));
        }
    }

    /// Forgets the configstrings that wait: a gamestate has their values. Texts stay.
    pub(super) fn clear_configstrings(&mut self) {
        self.pending.retain(|pending| matches!(pending, PendingCommand::Text(_)));
    }

    /// Forgets what waits. What is under way stays.
    pub(super) fn clear_pending(&mut self) {
        self.pending.clear();
        self.texts = 0;
    }

    /// Numbers as much of what waits as there is room for, with at most so many bytes under way.
    pub(super) fn fill_window(&mut self, configstrings: &Configstrings, most_bytes: usize) {
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
    fn a_configstring_that_changes_often_is_told_once() {
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
    fn what_does_not_fit_waits_in_order() {
        let strings = Configstrings::new(1);
        let mut queue = CommandQueue::default();
        for i in 0..200 {
            queue.push_text(format!("scores {i}").into()).unwrap();
        }
        let mut told = Vec::new();
        while told.len() < 200 {
            queue.fill_window(&strings, MAX_UNACKNOWLEDGED_BYTES);
            assert!(queue.commands.outstanding() <= MAX_UNACKNOWLEDGED);
            told.extend(texts(&queue));
            queue.commands.acknowledge(queue.commands.last()).unwrap();
        }
        assert!(told.iter().enumerate().all(|(i, text)| *text == format!("scores {i}")));
        assert_eq!(queue.commands.last(), CommandNum(200));
    }

    #[test]
    fn chat_makes_room_and_the_rest_overflows() {
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
    fn a_long_configstring_goes_whole_or_waits() {
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
