//! Cut of a demo: a demo of a part that plays alone.
//!
//! It begins with a gamestate of the configstrings at that time and a full snapshot. Other messages are
//! copied. Only a snapshot whose delta base is not in the cut is encoded again, relative to the newest one,
//! and a message with a part that clients refuse without that part.
//! Invariant: every cut is read without an error.
//! Source: demo files of Quake III protocols 43 to 71.

use std::{fmt, sync::Arc};

use thiserror::Error;

use crate::{
    client::CommandEffect,
    model::{CommandNum, LevelTime, limits::PACKET_BACKUP},
    wire::{Protocol, gamestate::Gamestate, server_message},
};

use super::{
    clock::DemoClock,
    reader::{DemoCommand, DemoMessage, DemoReader},
    writer::{DemoLength, DemoWriter, Written},
};

/// Result of a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutReport {
    /// Messages of the new demo, its gamestate included.
    pub messages: usize,
    /// Snapshots that were encoded again.
    pub recoded: usize,
    /// Messages that cannot be decoded, which were left out.
    pub skipped: usize,
    /// Time of the first snapshot in the demo, in ms.
    pub from_ms: u64,
    /// Time of the last snapshot in the demo, in ms.
    pub to_ms: u64,
    /// Server time of the first snapshot.
    pub first: LevelTime,
}

/// Errors of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CutError {
    /// Range that ends before it begins.
    #[error(
        "--from {from_ms} ms is after --to {to_ms} ms (expected a time before it; the demo has {play_ms} ms)"
    )]
    Reversed {
        /// Begin of the range.
        from_ms: u64,
        /// End of the range.
        to_ms: u64,
        /// Length of the whole demo.
        play_ms: u64,
    },
    /// No snapshot in the range.
    #[error("{0}")]
    Empty(EmptyRange),
    /// Gamestate longer than a message.
    #[error("gamestate exceeds a message")]
    Gamestate,
    /// Demo whose messages are read and not written.
    #[error("demos of protocol {0} are not cut: they have fields that are not written")]
    Protocol(i32),
}

/// Range of a demo without a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyRange {
    /// Begin of the range.
    pub from_ms: u64,
    /// End of the range; `None` for the end of the demo.
    pub to_ms: Option<u64>,
    /// Length of the whole demo.
    pub play_ms: u64,
}

impl fmt::Display for EmptyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from_ms, to_ms, play_ms } = self;
        match to_ms {
            Some(to_ms) => write!(f, "no snapshot from {from_ms} ms to {to_ms} ms")?,
            None => write!(f, "no snapshot after {from_ms} ms")?,
        }
        write!(f, ": the demo has {play_ms} ms")
    }
}

/// Cuts a demo to the snapshots from `from_ms` to `to_ms`, as times since its first snapshot.
///
/// # Errors
/// [`CutError`].
pub fn cut(
    protocol: &'static Protocol,
    bytes: &[u8],
    from_ms: u64,
    to_ms: u64,
) -> Result<(Vec<u8>, CutReport), CutError> {
    check_order(protocol, bytes, from_ms, to_ms)?;
    if protocol.is_quake_live() {
        return Err(CutError::Protocol(protocol.number));
    }
    let mut reader = DemoReader::new(protocol, bytes);
    let mut clock = DemoClock::default();
    let mut cutter = Cutter::new(protocol);
    while let Some(item) = reader.next() {
        let message = match item {
            Ok(message) => message,
            Err(error) => {
                let is_lost = cutter.begun.is_some() && !error.is_of_a_part();
                cutter.report.skipped += usize::from(is_lost && error.sequence.is_some());
                continue;
            }
        };
        let at_ms = clock.advance(&message);
        if at_ms > to_ms {
            cutter.drop_next_level();
            break;
        }
        if cutter.begun.is_some() {
            cutter.add(&reader, &message, at_ms);
        } else if message.snapshot.is_some() && at_ms >= from_ms {
            cutter.begin(&reader, &message, at_ms)?;
        }
    }
    if cutter.begun.is_none() {
        // Up to the end of the range only; the message names the length of the demo.
        for message in reader.flatten() {
            clock.advance(&message);
        }
        let to_ms = Some(to_ms).filter(|&to_ms| to_ms != u64::MAX);
        let range = EmptyRange { from_ms, to_ms, play_ms: clock.elapsed_ms() };
        return Err(CutError::Empty(range));
    }
    let report = CutReport { messages: cutter.demo.messages(), ..cutter.report };
    Ok((cutter.demo.finish(), report))
}

/// Checks that a range does not end before it begins.
///
/// # Errors
/// [`CutError::Reversed`].
pub fn check_order(
    protocol: &'static Protocol,
    bytes: &[u8],
    from_ms: u64,
    to_ms: u64,
) -> Result<(), CutError> {
    if from_ms <= to_ms {
        return Ok(());
    }
    let mut clock = DemoClock::default();
    for message in DemoReader::new(protocol, bytes).flatten() {
        clock.advance(&message);
    }
    Err(CutError::Reversed { from_ms, to_ms, play_ms: clock.elapsed_ms() })
}

struct Cutter {
    demo: DemoWriter,
    /// Sequence of the first message whose snapshot can be a delta base.
    begun: Option<u32>,
    /// Sequences of the snapshots that the cut holds, as a reader of the cut stores them.
    held: [Option<u32>; PACKET_BACKUP],
    /// The cut up to a gamestate behind its last snapshot.
    next_level: Option<DemoLength>,
    report: CutReport,
}

impl Cutter {
    fn new(protocol: &'static Protocol) -> Self {
        Self {
            demo: DemoWriter::new(protocol),
            begun: None,
            held: [None; PACKET_BACKUP],
            next_level: None,
            report: CutReport::default(),
        }
    }

    /// Writes the gamestate in force and the first snapshot.
    fn begin(
        &mut self,
        reader: &DemoReader<'_>,
        message: &DemoMessage<'_>,
        at_ms: u64,
    ) -> Result<(), CutError> {
        let (Some(baselines), Some(first)) = (reader.baselines(), &message.snapshot) else {
            return Ok(());
        };
        // The begin of a long configstring takes the last numbers in front of the new commands.
        let open = reader.open_configstring().map_or(Vec::new(), |(index, text)| {
            server_message::open_configstring_commands(index, text)
        });
        let new = message.commands.iter().find(|command| command.is_new);
        let known = new.map_or(reader.command(), |command| before(command.number, 1));
        let known = before(known, open.len() as i32);
        let gamestate = Gamestate {
            command_num: known,
            configstrings: reader.configstrings().map(|(at, text)| (at, text.to_owned())).collect(),
            baselines: baselines.all().to_vec(),
            client_num: reader.client_num(),
            checksum_feed: reader.checksum_feed(),
        };
        let sequence = message.sequence.wrapping_sub(1);
        if !self.demo.write_gamestate(sequence, message.acknowledge, &gamestate) {
            return Err(CutError::Gamestate);
        }
        self.begun = Some(message.sequence);
        self.report = CutReport { from_ms: at_ms, first: first.head.server_time, ..self.report };
        let mut first = message.clone();
        first.commands = begin_commands(known, &open, &message.commands);
        self.recode(reader, &first);
        self.report.to_ms = at_ms;
        Ok(())
    }

    fn add(&mut self, reader: &DemoReader<'_>, message: &DemoMessage<'_>, at_ms: u64) {
        if message.gamestate.is_some() {
            self.next_level = Some(self.demo.length());
            self.begun = Some(message.sequence);
            self.held = [None; PACKET_BACKUP];
        }
        self.report.to_ms = at_ms;
        if !self.is_copied(message) {
            self.recode(reader, message);
            return;
        }
        self.demo.copy(message);
        if message.snapshot.is_some() {
            self.hold(message.sequence);
        }
    }

    /// Whether a message means the same in the cut. Its parts were read, and its delta base is in the cut.
    fn is_copied(&self, message: &DemoMessage<'_>) -> bool {
        let is_whole = !message.lacks_snapshot && !message.commands.iter().any(|c| c.is_refused);
        is_whole
            && message.snapshot.as_ref().is_none_or(|snapshot| {
                let back = u32::from(snapshot.head.delta_num);
                let base = message.sequence.wrapping_sub(back);
                back == 0 || self.held[base as usize % PACKET_BACKUP] == Some(base)
            })
    }

    fn hold(&mut self, sequence: u32) {
        self.held[sequence as usize % PACKET_BACKUP] = Some(sequence);
        self.next_level = None;
    }

    /// Removes the gamestate of a level of which the cut has no snapshot.
    fn drop_next_level(&mut self) {
        if let Some(length) = self.next_level {
            self.demo.truncate(length);
        }
    }

    /// Writes a message again, with a delta snapshot where the cut holds a base.
    fn recode(&mut self, reader: &DemoReader<'_>, message: &DemoMessage<'_>) {
        let written = self.demo.write(message, reader.baselines());
        self.report.skipped += usize::from(written == Written::Part);
        if written == Written::Whole && message.snapshot.is_some() {
            self.report.recoded += 1;
            self.hold(message.sequence);
        }
    }
}

/// Number of a command some commands earlier.
fn before(number: CommandNum, by: i32) -> CommandNum {
    CommandNum(number.0.wrapping_sub(by))
}

/// Commands of the first message of a cut: the begin of a long configstring, and the new commands. Those that
/// have changed the gamestate already are empty.
fn begin_commands(
    known: CommandNum,
    open: &[Arc<str>],
    commands: &[DemoCommand],
) -> Vec<DemoCommand> {
    let command = |number, text: &str| DemoCommand {
        number,
        text: text.to_owned(),
        is_new: true,
        effect: None,
        is_refused: false,
    };
    let opened = (1..).zip(open).map(|(at, text)| command(before(known, -at), text));
    let new = commands.iter().filter(|command| command.is_new).map(|new| {
        let is_done =
            matches!(new.effect, Some(CommandEffect::Configstring(_) | CommandEffect::Piece));
        let text = if is_done || new.is_refused { "" } else { &new.text };
        command(new.number, text)
    });
    opened.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{demo::sample, model::PlayerState};

    /// Times, playerstates and entities of a demo without errors.
    fn shown(demo: &[u8]) -> Vec<(LevelTime, PlayerState, Vec<crate::model::EntityState>)> {
        let reader = DemoReader::new(Protocol::Q3_68, demo);
        reader
            .map(|item| item.expect("a message"))
            .filter_map(|message| message.snapshot)
            .map(|s| (s.head.server_time, s.player, s.entities.clone()))
            .collect()
    }

    #[test]
    fn cut_shows_the_same_play_as_its_part() {
        let demo = sample::duel();
        let all = shown(&demo);
        for (from, to) in [(0, u64::MAX), (475, 1999), (1000, 1000), (2950, 9000)] {
            let (part, report) = cut(Protocol::Q3_68, &demo, from, to).expect("a cut");
            let inside = |(i, _): &(usize, _)| (from..=to).contains(&(*i as u64 * 50));
            let expected: Vec<_> =
                all.iter().enumerate().filter(inside).map(|(_, shown)| shown.clone()).collect();
            assert_eq!(shown(&part), expected, "{from} to {to}");
            assert_eq!((report.messages, report.skipped), (expected.len() + 1, 0));
            assert_eq!(report.recoded, 1, "the first snapshot alone");
        }
    }

    #[test]
    fn cut_has_the_configstrings_and_commands_of_its_time() {
        let demo = sample::duel();
        // The message at 500 ms has new commands, that at 550 ms repeats them.
        for (from, commands) in [(500, 3), (550, 1), (1600, 0)] {
            let (part, _) = cut(Protocol::Q3_68, &demo, from, u64::MAX).expect("a cut");
            let mut reader = DemoReader::new(Protocol::Q3_68, &part);
            assert!(reader.by_ref().all(|item| item.is_ok()));
            assert_eq!(reader.counts().commands, commands, "{from}");
            let player = reader.configstring(crate::model::ConfigIndex::at(549));
            assert_eq!(player, "n\\Benny\\t\\0");
        }
    }

    #[test]
    fn cut_of_a_damaged_demo_keeps_what_is_good() {
        let demo = sample::duel();
        for len in (0..demo.len()).step_by(7) {
            let Ok((part, _)) = cut(Protocol::Q3_68, &demo[..len], 100, u64::MAX) else { continue };
            let read = shown(&part);
            assert_eq!(read, shown_from(&demo, read.len()));
        }
        let none = cut(Protocol::Q3_68, &demo, 60_000, 70_000).expect_err("nothing there");
        let range = EmptyRange { from_ms: 60_000, to_ms: Some(70_000), play_ms: 2950 };
        assert_eq!(none, CutError::Empty(range));
    }

    #[test]
    fn empty_ranges_are_named_with_the_whole_length() {
        let demo = sample::duel();
        let refused =
            |from, to| cut(Protocol::Q3_68, &demo, from, to).expect_err("none").to_string();
        let reversed = refused(2000, 1000);
        assert_eq!(
            reversed,
            "--from 2000 ms is after --to 1000 ms (expected a time before it; the demo has 2950 ms)"
        );
        // Between two snapshots, long before the end.
        assert_eq!(
            refused(1001, 1049),
            "no snapshot from 1001 ms to 1049 ms: the demo has 2950 ms"
        );
        assert_eq!(refused(9000, u64::MAX), "no snapshot after 9000 ms: the demo has 2950 ms");
    }

    fn shown_from(
        demo: &[u8],
        count: usize,
    ) -> Vec<(LevelTime, PlayerState, Vec<crate::model::EntityState>)> {
        shown(demo).into_iter().skip(2).take(count).collect()
    }
}
