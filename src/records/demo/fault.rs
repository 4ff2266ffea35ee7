//! Faults of a demo: errors, and notes about what clients play without an error.
//!
//! Invariant: each has its byte offset. Source: playback of demos by clients of Quake III protocols 66 to 71.

use std::fmt;

use thiserror::Error;

use crate::{
    client::ProtocolErrorKind,
    model::{CommandNum, LevelTime, text::counted},
    wire::{WireError, demo_file::RecordError},
};

/// Error of a demo, with its position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct DemoError {
    /// Position in the file, in bytes: of the record, or of the first undecodable bit.
    pub offset: usize,
    /// Sequence of the message; `None` for an error of the file.
    pub sequence: Option<u32>,
    /// Description.
    pub kind: DemoErrorKind,
}

impl DemoError {
    /// Whether the file ends early, as after a crash of its recorder. All before it was read.
    #[must_use]
    pub const fn is_early_end(&self) -> bool {
        matches!(
            self.kind,
            DemoErrorKind::Record(RecordError::NoEndMark | RecordError::CutOff { .. })
        )
    }

    /// Whether it is that of one part of a message, which was read except for that part.
    #[must_use]
    pub const fn is_of_a_part(&self) -> bool {
        matches!(
            self.kind,
            DemoErrorKind::MissingBase(_) | DemoErrorKind::NoGamestate | DemoErrorKind::Refused(_)
        )
    }
}

impl fmt::Display for DemoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_position(f, self.offset, self.sequence)?;
        write!(f, "{}", self.kind)
    }
}

fn write_position(f: &mut fmt::Formatter<'_>, offset: usize, sequence: Option<u32>) -> fmt::Result {
    write!(f, "byte {offset}")?;
    if let Some(sequence) = sequence {
        write!(f, ", message {sequence}")?;
    }
    f.write_str(": ")
}

/// Kinds of errors.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DemoErrorKind {
    /// Error of the file's records. No message follows it.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Undecodable value.
    #[error("bit {bit} of {bits}: {error}")]
    Undecodable {
        /// Position in the message, in bits.
        bit: usize,
        /// Length of the message, in bits.
        bits: usize,
        /// Error of the decoder.
        error: WireError,
    },
    /// Delta base that the demo does not hold. The rest of the message was applied.
    #[error("delta base {} back is missing", counted(*.0, "message"))]
    MissingBase(u8),
    /// Snapshot before the first gamestate. The rest of the message was applied.
    #[error("snapshot without gamestate")]
    NoGamestate,
    /// Second gamestate or snapshot in one message.
    #[error("second gamestate or snapshot in one message")]
    RepeatedPart,
    /// Command that a client refuses. The rest of the message was applied.
    #[error(transparent)]
    Refused(#[from] ProtocolErrorKind),
}

/// Note about a part of a demo: unusual, but played by clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DemoNote {
    /// Position of the record in the file, in bytes.
    pub offset: usize,
    /// Sequence of the message; `None` for a note about the file.
    pub sequence: Option<u32>,
    /// Description.
    pub kind: DemoNoteKind,
}

impl fmt::Display for DemoNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_position(f, self.offset, self.sequence)?;
        write!(f, "{}", self.kind)
    }
}

/// Kinds of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemoNoteKind {
    /// Commands that were not recorded, e.g. between the gamestate and the first full snapshot.
    MissingCommands {
        /// First of them.
        first: CommandNum,
        /// Last of them.
        last: CommandNum,
    },
    /// Server time that begins again, as with a new level.
    TimeRestarts {
        /// Server time of the previous snapshot.
        before: LevelTime,
        /// Server time of this snapshot.
        after: LevelTime,
    },
    /// Part of a long configstring whose begin was not recorded.
    UnbegunConfigstring,
    /// Bits behind the end of a message, more than a writer fills up.
    TrailingBits(usize),
    /// Bytes behind the end mark of the file.
    TrailingBytes(usize),
    /// Missing end of a recording that is not complete.
    Unfinished(RecordError),
}

impl fmt::Display for DemoNoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingCommands { first, last } if first == last => {
                write!(f, "command {first} was not recorded")
            }
            Self::MissingCommands { first, last } => {
                write!(f, "commands {first} to {last} were not recorded")
            }
            Self::TimeRestarts { before, after } => {
                write!(f, "server time restarts: {after} after {before}")
            }
            Self::UnbegunConfigstring => {
                f.write_str("part of a long configstring whose begin was not recorded")
            }
            Self::TrailingBits(bits) => {
                write!(f, "{} behind the end of the message", counted(*bits, "bit"))
            }
            Self::TrailingBytes(bytes) => {
                write!(f, "{} behind the end mark", counted(*bytes, "byte"))
            }
            Self::Unfinished(error) => write!(f, "{error}; the recording is not complete"),
        }
    }
}
