//! Reliable commands of one direction, for sender and receiver.
//!
//! A command is repeated in every message until the peer acknowledges its number. The newest
//! acknowledged command is the key of the peer's messages, so its text is kept until a later one
//! replaces it.
//!
//! ```text
//! acknowledged (text kept: the key) | acknowledged + 1 ..= last (resent, at most 64)
//! ```
//!
//! Invariants: numbers count from 1 without gaps; the texts kept are exactly those of
//! `acknowledged..=last`, with an empty text for number 0; the peer reads every text as it was
//! written. Source: Quake III protocol 68, reliable commands.

use std::{collections::VecDeque, sync::Arc};

use thiserror::Error;

use super::scramble::command_hash;
use crate::model::{
    CommandNum,
    limits::{MAX_RELIABLE_COMMANDS, MAX_SERVER_COMMAND_LEN, MAX_STRING_LEN},
    text::truncated,
};

/// Longest text of either direction, in bytes. With one byte more, the oldest engines leave the
/// terminator unread and mistake it for the next operation.
pub const MAX_COMMAND_LEN: usize = MAX_SERVER_COMMAND_LEN;

/// Reasons why a command was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AddError {
    /// Too many unacknowledged commands: the peer would lose some and must be dropped.
    #[error("{MAX_RELIABLE_COMMANDS} commands unacknowledged")]
    Overflow,
    /// Longer than every engine can read.
    #[error("command too long: {0} bytes (max {MAX_COMMAND_LEN})")]
    TooLong(usize),
    /// Zero byte in the text, where the peer would stop reading.
    #[error("zero byte in a command")]
    ZeroByte,
}

/// Reasons why an acknowledgement is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AckError {
    /// Command that was never sent.
    #[error("command {acknowledged} acknowledged, the last is {last}")]
    Future {
        /// Acknowledged number.
        acknowledged: CommandNum,
        /// Newest command.
        last: CommandNum,
    },
    /// Older than any peer that still follows can acknowledge.
    #[error("command {acknowledged} acknowledged, too old: the last is {last}")]
    TooOld {
        /// Acknowledged number.
        acknowledged: CommandNum,
        /// Newest command.
        last: CommandNum,
    },
}

/// Commands that this side sends.
///
/// Texts are shared: one that goes to every client is stored once.
#[derive(Clone, Debug)]
pub struct OutgoingCommands {
    last: CommandNum,
    acknowledged: CommandNum,
    /// Hash of the acknowledged command, which is part of the key of nearly every message.
    acknowledged_hash: u32,
    /// Texts of `acknowledged..=last`.
    texts: VecDeque<Arc<str>>,
}

impl Default for OutgoingCommands {
    fn default() -> Self {
        Self::new()
    }
}

impl OutgoingCommands {
    /// Creates an empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self {
            last: CommandNum(0),
            acknowledged: CommandNum(0),
            acknowledged_hash: command_hash(b""),
            texts: VecDeque::from([Arc::default()]),
        }
    }

    /// Adds a command and returns its number.
    ///
    /// # Errors
    /// [`AddError`]; nothing was added then.
    pub fn add(&mut self, text: Arc<str>) -> Result<CommandNum, AddError> {
        self.add_within(MAX_RELIABLE_COMMANDS, text)
    }

    /// Adds the disconnect command, for which one more slot is reserved.
    ///
    /// # Errors
    /// As [`OutgoingCommands::add`].
    pub fn add_disconnect(&mut self, text: Arc<str>) -> Result<CommandNum, AddError> {
        self.add_within(MAX_RELIABLE_COMMANDS + 1, text)
    }

    fn add_within(&mut self, limit: usize, text: Arc<str>) -> Result<CommandNum, AddError> {
        if text.len() > MAX_COMMAND_LEN {
            return Err(AddError::TooLong(text.len()));
        }
        if text.contains('\0') {
            return Err(AddError::ZeroByte);
        }
        if self.outstanding() >= limit {
            return Err(AddError::Overflow);
        }
        self.last = self.last.next();
        self.texts.push_back(text);
        Ok(self.last)
    }

    /// Number of the newest command.
    #[must_use]
    pub fn last(&self) -> CommandNum {
        self.last
    }

    /// Newest command that the peer has acknowledged.
    #[must_use]
    pub fn acknowledged(&self) -> CommandNum {
        self.acknowledged
    }

    /// Number of unacknowledged commands.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.texts.len() - 1
    }

    /// Iterates over the commands for the next message, oldest first.
    pub fn unacknowledged(&self) -> impl ExactSizeIterator<Item = (CommandNum, &Arc<str>)> + Clone {
        let first = self.acknowledged.0;
        self.texts
            .iter()
            .enumerate()
            .skip(1)
            .map(move |(at, text)| (CommandNum(first.wrapping_add_unsigned(at as u32)), text))
    }

    /// Returns the text of a command, from the newest acknowledged one on. Number 0 has the empty
    /// text.
    #[must_use]
    pub fn get(&self, number: CommandNum) -> Option<&Arc<str>> {
        let place = usize::try_from(number.distance(self.acknowledged)).ok()?;
        self.texts.get(place)
    }

    /// Returns the [`command_hash`] of the text that [`Self::get`] returns, or of an empty one.
    #[must_use]
    pub fn hash_of(&self, number: CommandNum) -> u32 {
        if number == self.acknowledged {
            self.acknowledged_hash
        } else {
            command_hash(self.get(number).map_or(&[], |text| text.as_bytes()))
        }
    }

    /// Returns the command whose number has this low byte. Only the low byte is always readable in
    /// a scrambled message, and it is unique among the stored commands.
    #[must_use]
    pub fn get_by_low_byte(&self, low: u8) -> Option<(CommandNum, &Arc<str>)> {
        let place = low.wrapping_sub(self.acknowledged.0 as u8);
        let number = CommandNum(self.acknowledged.0.wrapping_add(i32::from(place)));
        self.texts.get(usize::from(place)).map(|text| (number, text))
    }

    /// Records that the peer has every command up to `number`. A number older than the last one
    /// changes nothing.
    ///
    /// # Errors
    /// [`AckError`]: the message must be ignored.
    pub fn acknowledge(&mut self, number: CommandNum) -> Result<(), AckError> {
        let (acknowledged, last) = (number, self.last);
        match last.distance(number) {
            ..0 => return Err(AckError::Future { acknowledged, last }),
            behind if behind > MAX_RELIABLE_COMMANDS as i64 => {
                return Err(AckError::TooOld { acknowledged, last });
            }
            _ => {}
        }
        if number.distance(self.acknowledged) > 0 {
            while number.distance(self.acknowledged) > 0 {
                self.texts.pop_front();
                self.acknowledged = self.acknowledged.next();
            }
            self.update_hash();
        }
        Ok(())
    }

    /// Marks every command as acknowledged. A client does so when a server acknowledges one that is
    /// too old.
    pub fn acknowledge_all(&mut self) {
        self.acknowledged = self.last;
        self.texts.drain(..self.texts.len() - 1);
        self.update_hash();
    }

    fn update_hash(&mut self) {
        self.acknowledged_hash =
            command_hash(self.texts.front().map_or(&[], |text| text.as_bytes()));
    }
}

/// Order of a received command relative to those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOrder {
    /// Already received: resent before the acknowledgement arrived.
    Duplicate,
    /// Next expected command.
    Next,
    /// At least one before it is lost forever.
    Lost,
}

/// Commands that this side receives.
#[derive(Clone, Debug, Default)]
pub struct IncomingCommands {
    last: CommandNum,
    text: Arc<str>,
}

impl IncomingCommands {
    /// Creates the state before the first command.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Newest accepted command, which our messages acknowledge.
    #[must_use]
    pub fn last(&self) -> CommandNum {
        self.last
    }

    /// Its text, the key of our messages; empty before the first.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Returns the order of a command number, without a change of state.
    #[must_use]
    pub fn order(&self, number: CommandNum) -> CommandOrder {
        match number.distance(self.last) {
            ..=0 => CommandOrder::Duplicate,
            1 => CommandOrder::Next,
            _ => CommandOrder::Lost,
        }
    }

    /// Accepts a command if it is the next one. The text is truncated to the length that engines
    /// store.
    pub fn take(&mut self, number: CommandNum, text: &str) -> CommandOrder {
        let order = self.order(number);
        if order == CommandOrder::Next {
            self.last = number;
            self.text = truncated(text, MAX_STRING_LEN).into();
        }
        order
    }

    /// Continues behind `number`, the last command before a gamestate. The text is kept, because
    /// commands up to `number` are in the same message or came before.
    pub fn skip_to(&mut self, number: CommandNum) {
        self.last = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_commands(count: usize) -> OutgoingCommands {
        let mut commands = OutgoingCommands::new();
        for number in 1..=count {
            let added = commands.add(format!("command {number}").into());
            assert_eq!(added, Ok(CommandNum(number as i32)));
        }
        commands
    }

    fn text(commands: &OutgoingCommands, number: i32) -> Option<&str> {
        commands.get(CommandNum(number)).map(|text| &**text)
    }

    #[test]
    fn acknowledged_command_text_is_kept_as_key() {
        let mut commands = with_commands(3);
        assert_eq!(text(&commands, 0), Some(""));
        assert_eq!(commands.acknowledge(CommandNum(2)), Ok(()));
        let waiting: Vec<_> =
            commands.unacknowledged().map(|(number, text)| (number.0, &**text)).collect();
        assert_eq!(waiting, [(3, "command 3")]);
        assert_eq!(text(&commands, 1), None);
        assert_eq!(text(&commands, 2), Some("command 2"), "it keys what the client sends");
        assert_eq!(text(&commands, 3), Some("command 3"));
        assert_eq!(text(&commands, 4), None);
        assert_eq!(commands.acknowledge(CommandNum(1)), Ok(()), "an old one changes nothing");
        assert_eq!(commands.acknowledged(), CommandNum(2));
    }

    #[test]
    fn hash_of_a_command_is_that_of_its_text() {
        let check = |commands: &OutgoingCommands| {
            for number in -1..6 {
                let text = text(commands, number).unwrap_or_default();
                let hash = commands.hash_of(CommandNum(number));
                assert_eq!(hash, command_hash(text.as_bytes()), "{number}");
            }
        };
        let mut commands = with_commands(4);
        check(&commands);
        for acknowledged in [1, 3, 2] {
            assert_eq!(commands.acknowledge(CommandNum(acknowledged)), Ok(()));
            check(&commands);
        }
        commands.acknowledge_all();
        check(&commands);
    }

    #[test]
    fn full_command_queue_keeps_acknowledged_text() {
        let mut commands = with_commands(10);
        assert_eq!(commands.acknowledge(CommandNum(10)), Ok(()));
        for _ in 0..64 {
            assert!(commands.add("more".into()).is_ok());
        }
        assert_eq!(commands.add("one too many".into()), Err(AddError::Overflow));
        assert_eq!(commands.outstanding(), 64);
        assert_eq!(text(&commands, 10), Some("command 10"));
        assert_eq!(commands.get_by_low_byte(10).map(|found| found.0), Some(CommandNum(10)));
        assert_eq!(commands.get_by_low_byte(74).map(|found| found.0), Some(CommandNum(74)));
        assert_eq!(commands.get_by_low_byte(75), None);
        assert_eq!(commands.add_disconnect("disconnect".into()), Ok(CommandNum(75)));
        assert_eq!(commands.add_disconnect("twice".into()), Err(AddError::Overflow));
        assert_eq!(commands.acknowledge(CommandNum(75)), Ok(()));
        assert_eq!(commands.outstanding(), 0);
    }

    #[test]
    fn m1_impossible_acknowledgements_are_rejected() {
        let mut commands = with_commands(40);
        assert_eq!(commands.acknowledge(CommandNum(40)), Ok(()));
        for _ in 41..=70 {
            assert!(commands.add("x".into()).is_ok());
        }
        let last = CommandNum(70);
        for number in [71, i32::MAX, 0x7fff_ffff - 1] {
            let acknowledged = CommandNum(number);
            assert_eq!(
                commands.acknowledge(acknowledged),
                Err(AckError::Future { acknowledged, last })
            );
        }
        for number in [5, 0, -1, i32::MIN + 71] {
            let acknowledged = CommandNum(number);
            assert_eq!(
                commands.acknowledge(acknowledged),
                Err(AckError::TooOld { acknowledged, last })
            );
        }
        assert!(commands.acknowledge(CommandNum(i32::MIN)).is_err());
        assert_eq!(commands.acknowledge(CommandNum(6)), Ok(()));
        assert_eq!(commands.acknowledged(), CommandNum(40));
        assert_eq!(commands.outstanding(), 30);
        assert_eq!(commands.acknowledge(CommandNum(70)), Ok(()));
    }

    #[test]
    fn command_lookup_by_low_byte_survives_wrap() {
        let mut commands = OutgoingCommands::new();
        for number in 1..=300 {
            assert!(commands.add(format!("{number}").into()).is_ok());
            if number == 250 {
                commands.acknowledge_all();
            } else if number < 250 {
                assert_eq!(commands.acknowledge(CommandNum(number)), Ok(()));
            }
        }
        for number in 250..=300 {
            let found = commands.get_by_low_byte(number as u8);
            assert_eq!(
                found.map(|(found, text)| (found.0, text.to_string())),
                Some((number, format!("{number}")))
            );
        }
        assert_eq!(commands.get_by_low_byte(249), None);
        assert_eq!(commands.get_by_low_byte(45), None);
    }

    #[test]
    fn ambiguous_command_texts_are_rejected() {
        let mut commands = OutgoingCommands::new();
        assert!(commands.add("x".repeat(1022).into()).is_ok());
        assert_eq!(commands.add("x".repeat(1023).into()), Err(AddError::TooLong(1023)));
        assert_eq!(commands.add("a\0b".into()), Err(AddError::ZeroByte));
        assert_eq!(commands.last(), CommandNum(1));
    }

    #[test]
    fn broadcast_text_is_stored_once() {
        let text: Arc<str> = "print \"hello\n\"".into();
        let mut clients = vec![OutgoingCommands::new(); 64];
        for client in &mut clients {
            assert!(client.add(Arc::clone(&text)).is_ok());
        }
        assert_eq!(Arc::strong_count(&text), 65);
        clients.iter_mut().for_each(OutgoingCommands::acknowledge_all);
        assert_eq!(Arc::strong_count(&text), 65, "as the key");
    }

    #[test]
    fn received_commands_are_accepted_once_and_in_order() {
        let mut commands = IncomingCommands::new();
        assert_eq!((commands.last(), &**commands.text()), (CommandNum(0), ""));
        assert_eq!(commands.take(CommandNum(0), "x"), CommandOrder::Duplicate);
        assert_eq!(commands.take(CommandNum(2), "b"), CommandOrder::Lost);
        assert_eq!(commands.take(CommandNum(1), "a"), CommandOrder::Next);
        assert_eq!(commands.take(CommandNum(1), "other"), CommandOrder::Duplicate);
        for number in [-1, i32::MIN, i32::MIN + 1] {
            assert_eq!(commands.take(CommandNum(number), "x"), CommandOrder::Duplicate, "{number}");
        }
        assert_eq!(commands.take(CommandNum(i32::MAX), "x"), CommandOrder::Lost);
        assert_eq!((commands.last(), &**commands.text()), (CommandNum(1), "a"));
        commands.skip_to(CommandNum(7));
        assert_eq!(commands.take(CommandNum(8), &"é".repeat(800)), CommandOrder::Next);
        assert_eq!(commands.text().len(), 1022, "cut where a peer stops storing, at a border");
    }
}
