//! Messages of a client: moves, string commands, delta requests.
//!
//! Source: QuakeWorld protocol 28, messages of the client.

use super::{
    bytes::{Coord, Element, ReadFault, ReadResult, Reader, Text, Writer},
    moves::MoveMessage,
    table::messages,
};

messages! {
    /// Message of a client.
    ClientMessage;
    /// No content.
    1 "nop" Nop;
    /// Newest usercmds.
    3 "move" Move(message: MoveMessage<'a>);
    /// Command line.
    4 "stringcmd" StringCommand {
        /// Command with its arguments.
        text: Text<'a>
    };
    /// Request for changes of the entities.
    5 "delta" Delta {
        /// Low byte of the base's sequence.
        sequence: u8
    };
    /// Origin of a spectator.
    6 "tmove" TeleportMove {
        /// Origin.
        origin: [Coord; 3]
    };
    /// Part of a screenshot.
    7 "upload" Upload(part: Upload<'a>);
    /// Voice of the player.
    83 "voice" Voice(voice: ClientVoice<'a>);
}

/// Part of a screenshot that the server asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Upload<'a> {
    /// Percentage of the file so far.
    pub percent: u8,
    /// Bytes.
    pub bytes: &'a [u8],
}

impl<'a> Element<'a> for Upload<'a> {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        let len: i16 = reader.read()?;
        let percent = reader.read()?;
        let count = usize::try_from(len)
            .map_err(|_| ReadFault::Unknown("upload length", i64::from(len)))?;
        Ok(Self { percent, bytes: reader.take(count)? })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.write(&(self.bytes.len().min(0x7fff) as i16));
        writer.write(&self.percent);
        writer.put(&self.bytes[..self.bytes.len().min(0x7fff)]);
    }
}

/// Voice of the client's player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientVoice<'a> {
    /// Sequence and flags.
    pub sequence: u8,
    /// Encoded sound.
    pub bytes: &'a [u8],
}

impl<'a> Element<'a> for ClientVoice<'a> {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        let (sequence, len) = (reader.read()?, reader.read::<u16>()?);
        Ok(Self { sequence, bytes: reader.take(usize::from(len))? })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.write(&self.sequence);
        writer.write(&(self.bytes.len() as u16));
        writer.put(self.bytes);
    }
}
