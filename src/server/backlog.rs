//! Reliable commands on their way to one client: those it has yet to acknowledge, and those that wait
//! for room behind them.
//!
//! A client can hold 64 commands. When many things happen at once (sixty players join within a second),
//! what does not fit waits here instead of costing the client its place: a configstring is remembered
//! by its index and told with the value it has when its turn comes, however often it changed; of chat
//! and prints the oldest go when too many wait.
//!
//! Invariants: commands are numbered in the order they were queued; a configstring waits at most once;
//! waiting is bounded. Source of the limits: Quake III protocol 68, reliable commands.

use std::{collections::VecDeque, sync::Arc};

use super::configstrings::Configstrings;
use crate::{
    model::{ConfigIndex, limits::MAX_RELIABLE_COMMANDS},
    netchan::OutgoingCommands,
};

/// Commands under way at most. Places are left for what a client is told when it is dropped.
const MAX_UNDER_WAY: usize = MAX_RELIABLE_COMMANDS - 4;
/// Bytes under way at most, so that a message with all of them has room for a snapshot.
const MAX_BYTES_UNDER_WAY: usize = 9 * 1024;
/// Bytes that may be under way to the slowest client.
const LEAST_BYTES_UNDER_WAY: usize = 1024;
/// Texts that wait at most.
const MAX_WAITING_TEXTS: usize = 256;

/// Commands that a client can live without.
const DISPENSABLE: [&str; 4] = ["print ", "chat ", "tchat ", "cp "];

#[derive(Clone, Debug)]
enum Waiting {
    Text(Arc<str>),
    Configstring(ConfigIndex),
}

/// The client does not acknowledge, and what waits for it can't be thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overflow;

/// One client's commands.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    pub(super) commands: OutgoingCommands,
    waiting: VecDeque<Waiting>,
    texts: usize,
    /// Prints and chat that were thrown away.
    pub(super) discarded: u64,
}

impl Backlog {
    /// How many wait for their turn.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Queues a text for the client.
    pub(super) fn push_text(&mut self, text: Arc<str>) -> Result<(), Overflow> {
        if self.texts == MAX_WAITING_TEXTS {
            let dispensable = |waiting: &Waiting| match waiting {
                Waiting::Text(text) => DISPENSABLE.iter().any(|head| text.starts_with(head)),
                Waiting::Configstring(_) => false,
            };
            let oldest = self.waiting.iter().position(dispensable).ok_or(Overflow)?;
            self.waiting.remove(oldest);
            self.texts -= 1;
            self.discarded += 1;
        }
        self.waiting.push_back(Waiting::Text(text));
        self.texts += 1;
        Ok(())
    }

    /// Queues the present and all later values of a configstring until it is told.
    pub(super) fn push_configstring(&mut self, index: ConfigIndex) {
        let waits = |waiting: &Waiting| matches!(waiting, Waiting::Configstring(i) if *i == index);
        if !self.waiting.iter().any(waits) {
            self.waiting.push_back(Waiting::Configstring(index));
        }
    }

    /// Forgets the configstrings that wait: a gamestate has their values. Texts stay.
    pub(super) fn clear_configstrings(&mut self) {
        self.waiting.retain(|waiting| matches!(waiting, Waiting::Text(_)));
    }

    /// Forgets what waits. What is under way stays.
    pub(super) fn clear_waiting(&mut self) {
        self.waiting.clear();
        self.texts = 0;
    }

    /// Numbers as much of what waits as there is room for, with at most so many bytes under way.
    pub(super) fn advance(&mut self, configstrings: &Configstrings, most_bytes: usize) {
        let most_bytes = most_bytes.clamp(LEAST_BYTES_UNDER_WAY, MAX_BYTES_UNDER_WAY);
        while let Some(next) = self.waiting.front() {
            let pieces = match next {
                Waiting::Text(text) => vec![Arc::clone(text)],
                Waiting::Configstring(index) => configstrings.commands(*index),
            };
            let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
            let under_way: usize = self.commands.unacknowledged().map(|(_, text)| text.len()).sum();
            let fits = self.commands.outstanding() + pieces.len() <= MAX_UNDER_WAY
                && (bytes + under_way <= most_bytes || under_way == 0);
            if !fits {
                break;
            }
            if let Some(Waiting::Text(_)) = self.waiting.pop_front() {
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

    fn texts(backlog: &Backlog) -> Vec<String> {
        backlog.commands.unacknowledged().map(|(_, text)| text.to_string()).collect()
    }

    #[test]
    fn a_configstring_that_changes_often_is_told_once() {
        let mut strings = Configstrings::new(1);
        let mut backlog = Backlog::default();
        for i in 0..100 {
            strings.set(ConfigIndex::at(6), &i.to_string());
            backlog.push_configstring(ConfigIndex::at(6));
        }
        backlog.advance(&strings, MAX_BYTES_UNDER_WAY);
        assert_eq!(texts(&backlog), ["cs 6 \"99\"\n"]);
    }

    #[test]
    fn what_does_not_fit_waits_in_order() {
        let strings = Configstrings::new(1);
        let mut backlog = Backlog::default();
        for i in 0..200 {
            backlog.push_text(format!("scores {i}").into()).unwrap();
        }
        let mut told = Vec::new();
        while told.len() < 200 {
            backlog.advance(&strings, MAX_BYTES_UNDER_WAY);
            assert!(backlog.commands.outstanding() <= MAX_UNDER_WAY);
            told.extend(texts(&backlog));
            backlog.commands.acknowledge(backlog.commands.last()).unwrap();
        }
        assert!(told.iter().enumerate().all(|(i, text)| *text == format!("scores {i}")));
        assert_eq!(backlog.commands.last(), CommandNum(200));
    }

    #[test]
    fn chat_makes_room_and_the_rest_overflows() {
        let mut backlog = Backlog::default();
        for i in 0..1000 {
            backlog.push_text(format!("print \"{i}\"").into()).unwrap();
        }
        assert_eq!(backlog.discarded, 1000 - MAX_WAITING_TEXTS as u64);
        for i in 0..MAX_WAITING_TEXTS {
            backlog.push_text(format!("scores {i}").into()).unwrap();
        }
        assert_eq!(backlog.push_text("scores".into()), Err(Overflow));
        backlog.clear_waiting();
        assert_eq!(backlog.push_text("scores".into()), Ok(()));
    }

    #[test]
    fn gamestate_replaces_configstrings_and_keeps_texts() {
        let strings = Configstrings::new(8);
        let mut backlog = Backlog::default();
        backlog.push_text("print \"1\"".into()).unwrap();
        backlog.push_configstring(ConfigIndex::at(6));
        backlog.push_text("print \"2\"".into()).unwrap();
        backlog.clear_configstrings();
        backlog.advance(&strings, MAX_BYTES_UNDER_WAY);
        assert_eq!(texts(&backlog), ["print \"1\"", "print \"2\""]);
        assert_eq!((backlog.waiting(), backlog.texts), (0, 0));
    }

    #[test]
    fn a_long_configstring_goes_whole_or_waits() {
        let mut strings = Configstrings::new(1);
        strings.set(ConfigIndex::at(9), &"x".repeat(8000));
        let mut backlog = Backlog::default();
        for i in 0..MAX_UNDER_WAY - 5 {
            backlog.push_text(format!("scores {i}").into()).unwrap();
        }
        backlog.push_configstring(ConfigIndex::at(9));
        backlog.advance(&strings, MAX_BYTES_UNDER_WAY);
        assert_eq!(backlog.commands.outstanding(), MAX_UNDER_WAY - 5);
        backlog.commands.acknowledge(CommandNum(20)).unwrap();
        backlog.advance(&strings, MAX_BYTES_UNDER_WAY);
        assert!(texts(&backlog).last().unwrap().starts_with("bcs2 9 "));
    }
}
