//! Server messages: acknowledgement, operations, end.
//!
//! ```text
//! reliableAcknowledge long | { operation byte | body }* | 8
//! ```
//!
//! In protocol 43 the acknowledgement is part of a snapshot instead, and messages before 66 lack the end mark: less
//! than a byte is left then. `gamestate` and `snapshot` read the bodies of gamestates and snapshots, because a snapshot needs
//! its delta base. Source: Quake III protocol 68, server messages.

use std::sync::Arc;

use super::{
    Result, WireError,
    bits::{BitReader, BitWriter},
    protocol::Protocol,
};
use crate::model::{CommandNum, ConfigIndex, text};

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)+) => {
        /// Operation of a server message.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum ServerOp {
            $($(#[$doc])* $name = $code,)+
        }

        impl ServerOp {
            /// Every operation, by code.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Reads an operation byte. The end of a message without an end mark is read as [`ServerOp::End`].
            ///
            /// # Errors
            /// As [`BitReader::bits`], and [`WireError::Operation`].
            pub fn read(reader: &mut BitReader<'_>) -> Result<Self> {
                if is_at_end(reader) {
                    return Ok(Self::End);
                }
                match reader.byte()? {
                    $($code => Ok(Self::$name),)+
                    unknown => Err(WireError::Operation(unknown)),
                }
            }
        }
    };
}

operations! {
    /// No operation, for padding.
    Nop = 1,
    /// Gamestate of a new level.
    Gamestate = 2,
    /// Configstring, inside a gamestate.
    Configstring = 3,
    /// Baseline, inside a gamestate.
    Baseline = 4,
    /// Reliable command.
    Command = 5,
    /// Download block.
    Download = 6,
    /// Snapshot.
    Snapshot = 7,
    /// End of the message, and of the lists of a gamestate.
    End = 8,
    /// Voice packet in the obsolete Speex codec.
    VoiceSpeex = 9,
    /// Voice packet in the Opus codec.
    VoiceOpus = 10,
}

/// Whether a message without an end mark has ended: less than a byte is left.
pub(super) fn is_at_end(reader: &BitReader<'_>) -> bool {
    !reader.encoding().messages.has_end_mark && reader.bits_left() < 8
}

/// Starts a message of a protocol. The header is the number of the last executed client command, unless snapshots have
/// it: see [`snapshot::begin`](super::snapshot::begin).
pub fn begin(writer: &mut BitWriter, protocol: &Protocol, reliable_acknowledge: CommandNum) {
    writer.begin(protocol.encoding);
    if protocol.encoding.messages.acknowledges_first {
        writer.long(reliable_acknowledge.0);
    }
}

/// Reads the header of a message: the acknowledged client command, or `None` if it is in a snapshot.
///
/// # Errors
/// As [`BitReader::bits`].
pub fn read_acknowledge(reader: &mut BitReader<'_>) -> Result<Option<CommandNum>> {
    let is_first = reader.encoding().messages.acknowledges_first;
    is_first.then(|| reader.long().map(CommandNum)).transpose()
}

/// Appends a reliable command.
pub fn write_command(writer: &mut BitWriter, number: CommandNum, text: &[u8]) {
    writer.byte(ServerOp::Command as u8);
    writer.long(number.0);
    writer.string(text);
}

/// Reads a reliable command behind its operation byte.
///
/// # Errors
/// As [`BitReader::bits`].
pub fn read_command(reader: &mut BitReader<'_>) -> Result<(CommandNum, String)> {
    Ok((CommandNum(reader.long()?), reader.string()?))
}

/// Length of a configstring from which it is sent in parts.
const PART_LIMIT: usize = 1000;

/// Returns the reliable commands that set a configstring: one, or several for a long text.
#[must_use]
pub fn configstring_commands(index: ConfigIndex, value: &str) -> Vec<Arc<str>> {
    if value.len() < PART_LIMIT {
        return vec![format!("cs {index} \"{value}\"\n").into()];
    }
    let mut commands = Vec::new();
    let mut rest = value;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(text::truncated(rest, PART_LIMIT - 1).len());
        let kind = match (commands.is_empty(), after.is_empty()) {
            (true, _) => "bcs0",
            (false, false) => "bcs1",
            (false, true) => "bcs2",
        };
        commands.push(format!("{kind} {index} \"{part}\"\n").into());
        rest = after;
    }
    commands
}

/// Returns the reliable commands that begin a long configstring with a text and leave it open.
#[must_use]
pub fn open_configstring_commands(index: i32, begun: &str) -> Vec<Arc<str>> {
    let mut commands = Vec::new();
    let mut rest = begun;
    while !rest.is_empty() || commands.is_empty() {
        let (part, after) = rest.split_at(text::truncated(rest, PART_LIMIT - 1).len());
        let kind = if commands.is_empty() { "bcs0" } else { "bcs1" };
        commands.push(format!("{kind} {index} \"{part}\"\n").into());
        rest = after;
    }
    commands
}

/// Ends a message.
pub fn end(writer: &mut BitWriter) {
    if writer.encoding().messages.has_end_mark {
        writer.byte(ServerOp::End as u8);
    }
}

/// Header of a server's voice packet. The audio data is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voice {
    /// Client number of the speaker.
    pub sender: i16,
    /// Generation; incremented when the speaker starts again.
    pub generation: u8,
    /// Number of the first frame.
    pub sequence: i32,
    /// Frames in the packet.
    pub frames: u8,
    /// Playback flags. 1: positional; 2: direct.
    pub flags: u8,
}

/// Reads the header of a voice packet behind its operation byte and skips its audio data.
///
/// # Errors
/// As [`BitReader::bits`]; a negative length.
pub fn read_voice(reader: &mut BitReader<'_>) -> Result<Voice> {
    let sender = reader.short()?;
    let generation = reader.byte()?;
    let sequence = reader.long()?;
    let frames = reader.byte()?;
    let len = reader.short()?;
    let flags = reader.bits(2)? as u8;
    skip(reader, len)?;
    Ok(Voice { sender, generation, sequence, frames, flags })
}

/// Skips `len` coded bytes. Each takes at least one bit of the message, so the loop is bounded.
pub(super) fn skip(reader: &mut BitReader<'_>, len: i16) -> Result<()> {
    let len = u16::try_from(len)
        .map_err(|_| WireError::OutOfRange { what: "voice length", number: i64::from(len) })?;
    for _ in 0..len {
        reader.byte()?;
    }
    Ok(())
}
