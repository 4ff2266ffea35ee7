//! Reliable commands of one direction, as its sender and as its receiver keep them.
//!
//! A command is repeated in every message until the other end acknowledges its number. The newest that
//! was acknowledged keys the other end's messages, so its text stays until a later one takes its place.
//!
//! ```text
//! acknowledged (text kept: the key) | acknowledged + 1 ..= last (sent again and again, at most 64)
//! ```
//!
//! Invariants: numbers count from 1 without gaps; the texts kept are exactly those of
//! `acknowledged..=last`, number 0 having the empty text; a text is one that the other end reads as it
//! was written. Source: Quake III protocol 68, reliable commands.

use std::{collections::VecDeque, sync::Arc};

use thiserror::Error;

use crate::model::{
    CommandNum,
    limits::{MAX_RELIABLE_COMMANDS, MAX_SERVER_COMMAND_LEN, MAX_STRING_LEN},
    text::truncated,
};

/// Longest text, in bytes, of either direction. One byte more fits too, but then the oldest peers leave
/// its end unread and mistake it for what follows.
pub const MAX_COMMAND_LEN: usize = MAX_SERVER_COMMAND_LEN;

/// Why a command was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AddError {
    /// The other end has not acknowledged for so long that it would lose commands. It is to be dropped.
    #[error("{MAX_RELIABLE_COMMANDS} commands wait for acknowledgement")]
    Overflow,
    /// Longer than every peer can read.
    #[error("a command of {0} bytes, more than {MAX_COMMAND_LEN}")]
    TooLong(usize),
    /// A zero byte inside, where the other end would stop reading.
    #[error("a zero byte inside a command")]
    ZeroByte,
}

/// Why an acknowledgement cannot be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AckError {
    /// It names a command that was never sent.
    #[error("command {acknowledged} acknowledged, the last is {last}")]
    Future {
        /// The number acknowledged.
        acknowledged: CommandNum,
        /// The newest command.
        last: CommandNum,
    },
    /// It is older than any other end that still follows can be.
    #[error("command {acknowledged} acknowledged, {last} is too far ahead of it")]
    TooOld {
        /// The number acknowledged.
        acknowledged: CommandNum,
        /// The newest command.
        last: CommandNum,
    },
}

/// Commands that this end sends.
///
/// Texts are shared: one that goes to every client is stored once.
#[derive(Clone, Debug)]
pub struct OutgoingCommands {
    last: CommandNum,
    acknowledged: CommandNum,
    /// Of `acknowledged..=last`.
    texts: VecDeque<Arc<str>>,
}

impl Default for OutgoingCommands {
    fn default() -> Self {
        Self::new()
    }
}

impl OutgoingCommands {
    /// No command yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            last: CommandNum(0),
            acknowledged: CommandNum(0),
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

    /// Adds the command that says goodbye, for which one place more is kept.
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

    /// The newest command's number.
    #[must_use]
    pub fn last(&self) -> CommandNum {
        self.last
    }

    /// The newest command that the other end is known to have.
    #[must_use]
    pub fn acknowledged(&self) -> CommandNum {
        self.acknowledged
    }

    /// How many commands wait for acknowledgement.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.texts.len() - 1
    }

    /// The commands that belong into the next message, oldest first.
    pub fn unacknowledged(&self) -> impl ExactSizeIterator<Item = (CommandNum, &Arc<str>)> {
        let first = self.acknowledged.0;
        self.texts
            .iter()
            .enumerate()
            .skip(1)
            .map(move |(at, text)| (CommandNum(first.wrapping_add_unsigned(at as u32)), text))
    }

    /// The text of a command, from the newest acknowledged one on. Number 0 has the empty text.
    #[must_use]
    pub fn get(&self, number: CommandNum) -> Option<&Arc<str>> {
        let place = usize::try_from(number.distance(self.acknowledged)).ok()?;
        self.texts.get(place)
    }

    /// The command whose number has that low byte: all that is readable for certain of a number in a
    /// scrambled message, and enough, for far fewer than 256 are kept.
    #[must_use]
    pub fn get_by_low_byte(&self, low: u8) -> Option<(CommandNum, &Arc<str>)> {
        let place = low.wrapping_sub(self.acknowledged.0 as u8);
        let number = CommandNum(self.acknowledged.0.wrapping_add(i32::from(place)));
        self.texts.get(usize::from(place)).map(|text| (number, text))
    }

    /// Notes that the other end has every command up to `number`. An older number than it said before
    /// changes nothing.
    ///
    /// # Errors
    /// [`AckError`]: the message that says so is not to be believed.
    pub fn acknowledge(&mut self, number: CommandNum) -> Result<(), AckError> {
        let (acknowledged, last) = (number, self.last);
        match last.distance(number) {
            ..0 => return Err(AckError::Future { acknowledged, last }),
            behind if behind > MAX_RELIABLE_COMMANDS as i64 => {
                return Err(AckError::TooOld { acknowledged, last });
            }
            _ => {}
        }
        while number.distance(self.acknowledged) > 0 {
            self.texts.pop_front();
            self.acknowledged = self.acknowledged.next();
        }
        Ok(())
    }

    /// Takes every command as acknowledged. A client does so when a server names one that is too old.
    pub fn acknowledge_all(&mut self) {
        self.acknowledged = self.last;
        self.texts.drain(..self.texts.len() - 1);
    }
}

/// How a command that arrived stands to those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOrder {
    /// It was there already: sent again before the acknowledgement arrived.
    Duplicate,
    /// It is the one awaited.
    Next,
    /// At least one between was never seen, and never will be.
    Lost,
}

/// Commands that this end receives.
#[derive(Clone, Debug, Default)]
pub struct IncomingCommands {
    last: CommandNum,
    text: Arc<str>,
}

impl IncomingCommands {
    /// No command yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The newest command taken, which this end's messages acknowledge.
    #[must_use]
    pub fn last(&self) -> CommandNum {
        self.last
    }

    /// Its text, which keys this end's messages; empty before the first.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// How a command of that number stands to those before. Changes nothing.
    #[must_use]
    pub fn order(&self, number: CommandNum) -> CommandOrder {
        match number.distance(self.last) {
            ..=0 => CommandOrder::Duplicate,
            1 => CommandOrder::Next,
            _ => CommandOrder::Lost,
        }
    }

    /// Takes a command if it is the one awaited. The text is kept as far as a peer would store it.
    pub fn take(&mut self, number: CommandNum, text: &str) -> CommandOrder {
        let order = self.order(number);
        if order == CommandOrder::Next {
            self.last = number;
            self.text = truncated(text, MAX_STRING_LEN).into();
        }
        order
    }

    /// Goes on behind `number`: a gamestate says where its server's commands stand. The text stays, for
    /// those up to `number` come in the same message or came before.
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
    fn commands_wait_until_acknowledged_and_the_acknowledged_text_stays() {
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
    fn with_all_places_taken_the_acknowledged_text_is_still_there() {
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
    fn m1_acknowledgements_that_cannot_be_true_are_refused() {
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
    fn the_low_byte_finds_commands_across_its_wrap() {
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
    fn texts_that_a_peer_would_read_otherwise_are_refused() {
        let mut commands = OutgoingCommands::new();
        assert!(commands.add("x".repeat(1022).into()).is_ok());
        assert_eq!(commands.add("x".repeat(1023).into()), Err(AddError::TooLong(1023)));
        assert_eq!(commands.add("a\0b".into()), Err(AddError::ZeroByte));
        assert_eq!(commands.last(), CommandNum(1));
    }

    #[test]
    fn a_broadcast_is_stored_once() {
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
    fn received_commands_come_once_and_in_order() {
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
