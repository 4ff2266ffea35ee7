//! Snapshot: header, playerstate, entity list.
//!
//! ```text
//! 7 | [reliableAcknowledge long] | serverTime long | deltaNum byte | flags byte | area bytes byte + mask | playerstate | entity list
//! ```
//!
//! The acknowledgement is here in protocol 43 only. Invariant: the area mask has at most 32 bytes. Source: Quake III protocol 68, snapshot.

use super::{
    Result, WireError,
    bits::{BitReader, BitWriter},
    entity, player,
    server_message::ServerOp,
};
use crate::model::{CommandNum, EntityState, LevelTime, PlayerState, limits::MAX_AREA_BYTES};

/// Flags of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapFlags(pub u8);

impl SnapFlags {
    /// A snapshot was skipped since the last one because of the client's rate.
    pub const RATE_DELAYED: Self = Self(1);
    /// The client is not in the game.
    pub const NOT_ACTIVE: Self = Self(2);
    /// Toggles with every level load and restart.
    pub const SERVER_COUNT: Self = Self(4);

    /// Whether all bits of `flags` are set.
    #[must_use]
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns these flags with `flags` set or cleared.
    #[must_use]
    pub const fn with(self, flags: Self, set: bool) -> Self {
        if set { Self(self.0 | flags.0) } else { Self(self.0 & !flags.0) }
    }
}

/// Area mask: bit `a` is set when area `a` is not visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AreaMask {
    bytes: [u8; MAX_AREA_BYTES],
    len: u8,
}

impl AreaMask {
    /// Creates a mask, or returns `None` for more than 32 bytes.
    #[must_use]
    pub fn new(mask: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_AREA_BYTES];
        bytes.get_mut(..mask.len())?.copy_from_slice(mask);
        Some(Self { bytes, len: mask.len() as u8 })
    }

    /// Bytes of the mask.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Header of a snapshot, before playerstate and entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotHeader {
    /// Level time of the snapshot.
    pub server_time: LevelTime,
    /// Distance of the delta base in messages; 0 for a full snapshot.
    pub delta_num: u8,
    /// Flags.
    pub flags: SnapFlags,
    /// Area mask.
    pub areas: AreaMask,
}

/// Content of a snapshot or delta base: playerstate and entities ascending by number.
#[derive(Clone, Debug)]
pub struct SnapshotView<'a, I> {
    /// Playerstate of the viewed player.
    pub player: &'a PlayerState,
    /// Visible entities.
    pub entities: I,
}

/// Begins a snapshot with its operation byte.
///
/// Where messages do not begin with it, the number of the last executed client command follows.
pub fn begin(writer: &mut BitWriter, reliable_acknowledge: CommandNum) {
    writer.byte(ServerOp::Snapshot as u8);
    if !writer.encoding().messages.acknowledges_first {
        writer.long(reliable_acknowledge.0);
    }
}

/// Reads the acknowledged client command behind the operation byte, where messages do not begin with it.
///
/// # Errors
/// As [`BitReader::bits`].
pub fn read_acknowledge(reader: &mut BitReader<'_>) -> Result<Option<CommandNum>> {
    let is_first = reader.encoding().messages.acknowledges_first;
    (!is_first).then(|| reader.long().map(CommandNum)).transpose()
}

/// Writes the header and playerstate of a snapshot, behind [`begin`]. The base of a full
/// snapshot is the zero playerstate.
pub fn write_head(
    writer: &mut BitWriter,
    head: &SnapshotHeader,
    old_player: &PlayerState,
    player: &PlayerState,
) {
    writer.long(head.server_time.0);
    writer.byte(head.delta_num);
    writer.byte(head.flags.0);
    write_view(writer, &head.areas, old_player, player);
}

/// Writes the part of [`write_head`] behind the flags, which does not depend on the message.
pub fn write_view(
    writer: &mut BitWriter,
    areas: &AreaMask,
    old_player: &PlayerState,
    player: &PlayerState,
) {
    writer.byte(areas.len);
    writer.data(areas.bytes());
    player::write_delta(writer, old_player, player);
}

/// Writes the body of a snapshot, behind [`begin`]. The base of a full snapshot is the
/// zero playerstate without entities.
pub fn write<'a>(
    writer: &mut BitWriter,
    head: &SnapshotHeader,
    old: SnapshotView<'a, impl Iterator<Item = &'a EntityState>>,
    new: SnapshotView<'a, impl Iterator<Item = &'a EntityState>>,
    baseline: impl Fn(i32) -> &'a EntityState,
) {
    write_head(writer, head, old.player, new.player);
    entity::write_list(writer, old.entities, new.entities, baseline);
}

/// Reads the header of a snapshot, behind [`read_acknowledge`]; playerstate and entity list follow.
///
/// # Errors
/// As [`BitReader::bits`], and an area mask of more than 32 bytes.
pub fn read_head(reader: &mut BitReader<'_>) -> Result<SnapshotHeader> {
    let server_time = LevelTime(reader.long()?);
    let delta_num = reader.byte()?;
    let flags = SnapFlags(reader.byte()?);
    let len = reader.byte()?;
    let mut areas = AreaMask { bytes: [0; MAX_AREA_BYTES], len };
    let bytes = areas
        .bytes
        .get_mut(..usize::from(len))
        .ok_or(WireError::OutOfRange { what: "area mask length", number: i64::from(len) })?;
    reader.data(bytes)?;
    Ok(SnapshotHeader { server_time, delta_num, flags, areas })
}
