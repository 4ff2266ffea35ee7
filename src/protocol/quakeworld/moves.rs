//! Move messages: three usercmds with loss and checksum, and the usercmds to run after a loss.
//!
//! Source: QuakeWorld protocol 28, move message.

use super::{
    bytes::{Element, ReadResult, Reader, Writer},
    checksum::move_checksum,
    usercmd::Usercmd,
};

/// Largest encoded move message: number, checksum, loss and three usercmds of 16 bytes.
pub const MAX_MOVE_LEN: usize = 3 + 3 * 16;

/// Message of a client with its newest usercmds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveMessage<'a> {
    /// Checksum as received.
    pub checksum: u8,
    /// Loss that the client measures, in percent.
    pub loss: u8,
    /// Usercmds of the packet two before, of the packet before, and of this packet.
    pub commands: [Usercmd; 3],
    /// Bytes that the checksum covers, as received.
    body: &'a [u8],
}

impl<'a> MoveMessage<'a> {
    /// Whether the checksum belongs to a packet with this sequence.
    #[must_use]
    pub fn is_valid(&self, sequence: u32) -> bool {
        self.checksum == move_checksum(self.body, sequence)
    }

    /// Returns the newest usercmd.
    #[must_use]
    pub const fn newest(&self) -> &Usercmd {
        &self.commands[2]
    }

    /// Calls `run` with the usercmds to run, oldest first, when `lost` packets before this one are missing.
    ///
    /// `remembered` is the newest usercmd of the message before. It is repeated without its buttons for each packet
    /// that is missing beyond two. With 20 and more missing packets it is not repeated.
    pub fn run_after_loss(&self, lost: u32, remembered: &Usercmd, mut run: impl FnMut(&Usercmd)) {
        if (3..MAX_REPEATED).contains(&lost) {
            let repeated = Usercmd { buttons: 0, ..*remembered };
            for _ in 2..lost {
                run(&repeated);
            }
        }
        let first = 2 - lost.min(2) as usize;
        self.commands[first..].iter().for_each(run);
    }
}

/// Appends a move message of the packet `sequence`, with its number.
pub fn write_move(writer: &mut Writer<'_>, sequence: u32, loss: u8, commands: &[Usercmd; 3]) {
    writer.write(&MOVE);
    let at = writer.len();
    writer.write(&0_u8);
    writer.write(&loss);
    write_commands(writer, commands);
    let checksum = move_checksum(writer.since(at + 1), sequence);
    writer.patch(at, checksum);
}

/// Appends three usercmds, each as the difference to the one before.
fn write_commands(writer: &mut Writer<'_>, commands: &[Usercmd; 3]) {
    let mut from = &Usercmd::ZERO;
    for command in commands {
        command.write_delta(writer, from);
        from = command;
    }
}

/// Number of a move message.
pub const MOVE: u8 = 3;

/// Number of missing packets from which the last usercmd is not repeated.
pub const MAX_REPEATED: u32 = 20;

impl<'a> Element<'a> for MoveMessage<'a> {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        let checksum = reader.read()?;
        let start = reader.offset();
        let loss = reader.read()?;
        let oldest = Usercmd::read_delta(reader, &Usercmd::ZERO)?;
        let previous = Usercmd::read_delta(reader, &oldest)?;
        let newest = Usercmd::read_delta(reader, &previous)?;
        let commands = [oldest, previous, newest];
        Ok(Self { checksum, loss, commands, body: reader.since(start) })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.write(&self.checksum);
        writer.write(&self.loss);
        write_commands(writer, &self.commands);
    }
}
