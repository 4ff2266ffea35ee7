//! Messages from a server to a client: an acknowledgement, operations, an end.
//!
//! ```text
//! reliableAcknowledge long | { operation byte | body }* | 8
//! ```
//!
//! The bodies of gamestates and snapshots are read by `gamestate` and `snapshot`, for a snapshot needs
//! what came before it. Source: Quake III protocol 68, server messages.

use super::{
    Result, WireError,
    bits::{BitReader, BitWriter},
    protocol::Protocol,
};
use crate::model::CommandNum;

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)+) => {
        /// What a part of a server message is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum ServerOp {
            $($(#[$doc])* $name = $code,)+
        }

        impl ServerOp {
            /// Every operation, by code.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Reads an operation byte.
            ///
            /// # Errors
            /// As [`BitReader::bits`], and [`WireError::Operation`].
            pub fn read(reader: &mut BitReader<'_>) -> Result<Self> {
                match reader.byte()? {
                    $($code => Ok(Self::$name),)+
                    unknown => Err(WireError::Operation(unknown)),
                }
            }
        }
    };
}

operations! {
    /// Nothing: padding.
    Nop = 1,
    /// A new level.
    Gamestate = 2,
    /// Inside a gamestate.
    Configstring = 3,
    /// Inside a gamestate.
    Baseline = 4,
    /// A reliable command.
    Command = 5,
    /// A block of a file.
    Download = 6,
    /// What the client sees now.
    Snapshot = 7,
    /// The message ends; also the lists of a gamestate.
    End = 8,
    /// Voice, obsolete.
    VoiceSpeex = 9,
    /// Voice.
    VoiceOpus = 10,
}

/// Begins a message of that protocol: the number of the last client command that was executed.
pub fn begin(writer: &mut BitWriter, protocol: &Protocol, reliable_acknowledge: CommandNum) {
    writer.begin(protocol.encoding);
    writer.long(reliable_acknowledge.0);
}

/// Adds a reliable command.
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

/// Ends a message.
pub fn end(writer: &mut BitWriter) {
    writer.byte(ServerOp::End as u8);
}

/// Where a voice packet of a server comes from, and how it is to be heard. The sound itself is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voice {
    /// Who speaks.
    pub sender: i16,
    /// Grows when the speaker begins anew.
    pub generation: u8,
    /// Number of the first frame.
    pub sequence: i32,
    /// Frames in the packet.
    pub frames: u8,
    /// 1: from a place; 2: direct.
    pub flags: u8,
}

/// Reads a voice packet behind its operation byte and skips its sound.
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

/// Passes over `len` coded bytes. Each is at least one bit of the message, so the loop is bounded by it.
pub(super) fn skip(reader: &mut BitReader<'_>, len: i16) -> Result<()> {
    let len = u16::try_from(len)
        .map_err(|_| WireError::OutOfRange { what: "voice length", number: i64::from(len) })?;
    for _ in 0..len {
        reader.byte()?;
    }
    Ok(())
}
