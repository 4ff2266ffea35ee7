//! Decoded server message, complete before any of it is applied.
//!
//! Invariant: reading changes no state that the client relies on; a message has at most one
//! gamestate or snapshot. Source: Quake III protocol 68, server messages.

use crate::{
    model::{Baselines, CommandNum, Sequence},
    wire::{
        WireError,
        bits::BitReader,
        download::{self, Block},
        gamestate::{self, Gamestate},
        server_message::{self, ServerOp},
        snapshot,
    },
};

use super::{
    event::ProtocolErrorKind,
    history::{PendingSnapshot, SnapshotHistory},
};

/// Content of a message. Reused for its memory.
#[derive(Debug, Default)]
pub(super) struct Inbound {
    /// Reliable commands in wire order.
    pub(super) commands: Vec<(CommandNum, String)>,
    pub(super) gamestate: Option<Gamestate>,
    pub(super) snapshot: Option<PendingSnapshot>,
    /// Acknowledged client command; `None` if the message has none.
    pub(super) acknowledged: Option<CommandNum>,
    /// Download blocks in wire order.
    pub(super) blocks: Vec<Block>,
    /// Number of the next block of a download.
    pub(super) expected_block: u32,
    /// Bits behind the end of the message.
    pub(super) rest_bits: usize,
}

impl Inbound {
    /// Reads the unscrambled message `sequence`. `voice` is the value of its protocol.
    ///
    /// # Errors
    /// [`ProtocolErrorKind::Unreadable`] and [`ProtocolErrorKind::RepeatedPart`].
    pub(super) fn read(
        &mut self,
        mut reader: BitReader<'_>,
        voice: bool,
        sequence: Sequence,
        history: &mut SnapshotHistory,
        baselines: &Baselines,
    ) -> Result<(), ProtocolErrorKind> {
        self.commands.clear();
        self.gamestate = None;
        self.snapshot = None;
        self.blocks.clear();
        let result = self.read_ops(&mut reader, voice, sequence, history, baselines);
        self.rest_bits = reader.bits_left();
        result.map_err(|error| match error {
            Stopped::Second => ProtocolErrorKind::RepeatedPart,
            Stopped::Wire(error) => {
                ProtocolErrorKind::Unreadable { at_bit: reader.bit_position(), error }
            }
        })
    }

    fn read_ops(
        &mut self,
        reader: &mut BitReader<'_>,
        voice: bool,
        sequence: Sequence,
        history: &mut SnapshotHistory,
        baselines: &Baselines,
    ) -> Result<(), Stopped> {
        self.acknowledged = server_message::read_acknowledge(reader)?;
        loop {
            match ServerOp::read(reader)? {
                ServerOp::End => return Ok(()),
                ServerOp::Nop => {}
                ServerOp::Command => self.commands.push(server_message::read_command(reader)?),
                ServerOp::Gamestate => {
                    self.only_part()?;
                    self.gamestate = Some(gamestate::read(reader)?);
                }
                ServerOp::Snapshot => {
                    self.only_part()?;
                    let acknowledged = snapshot::read_acknowledge(reader)?;
                    self.acknowledged = acknowledged.or(self.acknowledged);
                    self.snapshot = Some(history.read(reader, sequence, baselines, &mut ())?);
                }
                ServerOp::Download => {
                    let expected = self.expected_block + self.blocks.len() as u32;
                    self.blocks.push(download::read(reader, expected)?);
                }
                ServerOp::VoiceSpeex | ServerOp::VoiceOpus if voice => {
                    server_message::read_voice(reader)?;
                }
                other @ (ServerOp::Configstring
                | ServerOp::Baseline
                | ServerOp::VoiceSpeex
                | ServerOp::VoiceOpus) => {
                    return Err(Stopped::Wire(WireError::Operation(other as u8)));
                }
            }
        }
    }

    fn only_part(&self) -> Result<(), Stopped> {
        if self.gamestate.is_some() || self.snapshot.is_some() {
            return Err(Stopped::Second);
        }
        Ok(())
    }
}

/// Reason why reading stopped.
enum Stopped {
    Second,
    Wire(WireError),
}

impl From<WireError> for Stopped {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}
