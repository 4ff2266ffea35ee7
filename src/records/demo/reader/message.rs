//! Decoded messages of a demo, and their counts.

use std::{fmt, sync::Arc};

use crate::{
    client::CommandEffect,
    model::{CommandNum, EntityState, PlayerState, text::counted},
    wire::{
        demo_file::Record, gamestate::Gamestate, server_message::Voice, snapshot::SnapshotHeader,
    },
};

use super::super::spare_fields::SpareFields;

/// Decoded message of a demo.
#[derive(Clone, Debug)]
pub struct DemoMessage<'a> {
    /// Position of its record in the file, in bytes.
    pub offset: usize,
    /// Sequence of the message.
    pub sequence: u32,
    /// Number of the last client command that the server had executed.
    pub acknowledge: CommandNum,
    /// The message as recorded.
    pub bytes: &'a [u8],
    /// Reliable commands in wire order, with repeated ones.
    pub commands: Vec<DemoCommand>,
    /// Gamestate of a new level.
    pub gamestate: Option<Arc<Gamestate>>,
    /// Snapshot, with all entities.
    pub snapshot: Option<Arc<DemoSnapshot>>,
    /// Whether a snapshot was left out, because its gamestate or delta base is missing.
    pub lacks_snapshot: bool,
    /// Headers of voice packets.
    pub voices: Vec<Voice>,
    /// Blocks of a download.
    pub downloads: Vec<DemoDownload>,
    /// Fields of the gamestate's baselines that the structs lack.
    pub baseline_spares: SpareFields,
}

impl DemoMessage<'_> {
    /// A message without parts.
    pub(super) fn empty<'a>(record: &Record<'a>, acknowledge: CommandNum) -> DemoMessage<'a> {
        DemoMessage {
            offset: record.offset,
            sequence: record.sequence,
            acknowledge,
            bytes: record.message,
            commands: Vec::new(),
            gamestate: None,
            snapshot: None,
            lacks_snapshot: false,
            voices: Vec::new(),
            downloads: Vec::new(),
            baseline_spares: SpareFields::default(),
        }
    }
}

/// Block of a download, without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DemoDownload {
    /// Low 16 bits of its number.
    pub number: u16,
    /// Size of the file, with the first block.
    pub file_size: Option<u32>,
    /// Bytes in the block; 0 at the end of the file. `None` for a refusal.
    pub len: Option<usize>,
}

/// Reliable command of a demo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoCommand {
    /// Number of the command.
    pub number: CommandNum,
    /// Text of the command.
    pub text: String,
    /// Whether this is its first message. A server repeats a command until it is acknowledged.
    pub is_new: bool,
    /// Effect on the level; `None` for commands of the game and repeated ones.
    pub effect: Option<CommandEffect>,
    /// Whether the client itself refuses it, so that it had no effect.
    pub is_refused: bool,
}

/// Decoded snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct DemoSnapshot {
    /// Header: server time, flags, area mask, delta base.
    pub head: SnapshotHeader,
    /// Playerstate of the viewed player.
    pub player: PlayerState,
    /// Entities, ascending by number.
    pub entities: Vec<EntityState>,
    /// Fields that the structs lack.
    pub spares: SpareFields,
}

/// Counts of what a reader has decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DemoCounts {
    /// Records.
    pub messages: usize,
    /// Gamestates.
    pub gamestates: usize,
    /// Snapshots.
    pub snapshots: usize,
    /// Snapshots with a delta base.
    pub deltas: usize,
    /// Reliable commands, each counted once.
    pub commands: usize,
    /// Errors.
    pub errors: usize,
    /// Notes.
    pub notes: usize,
}

impl fmt::Display for DemoCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, gamestates, snapshots, deltas, commands, errors, notes } = self;
        write!(
            f,
            // Scripts read the count of messages, in the plural.
            "{messages} messages, {}, {} ({}), {}, {}, {}",
            counted(*gamestates, "gamestate"),
            counted(*snapshots, "snapshot"),
            counted(*deltas, "delta"),
            counted(*commands, "command"),
            counted(*errors, "error"),
            counted(*notes, "note"),
        )
    }
}
