//! One snapshot: the head, the player, the entities.
//!
//! ```text
//! serverTime long | deltaNum byte | flags byte | area bytes byte + mask | playerstate | entity list
//! ```
//!
//! Invariant: the area mask has at most 32 bytes. Source: Quake III protocol 68, snapshot.

use super::{
    Result, WireError,
    bits::{BitReader, BitWriter},
    entity, player,
};
use crate::model::{EntityState, LevelTime, PlayerState, limits::MAX_AREA_BYTES};

/// What a snapshot says of its own sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapFlags(pub u8);

impl SnapFlags {
    /// A snapshot was skipped since the last one, because of the client's rate.
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

    /// These flags, with `flags` set or cleared.
    #[must_use]
    pub const fn with(self, flags: Self, set: bool) -> Self {
        if set { Self(self.0 | flags.0) } else { Self(self.0 & !flags.0) }
    }
}

/// Areas that are hidden: bit `a` is set when area `a` can't be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AreaMask {
    bytes: [u8; MAX_AREA_BYTES],
    len: u8,
}

impl AreaMask {
    /// A mask of these bytes, or `None` when there are more than 32.
    #[must_use]
    pub fn new(mask: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_AREA_BYTES];
        bytes.get_mut(..mask.len())?.copy_from_slice(mask);
        Some(Self { bytes, len: mask.len() as u8 })
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// What stands in front of the player and the entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotHeader {
    /// Level time of the snapshot.
    pub server_time: LevelTime,
    /// 0: complete. Else it is relative to the message that many numbers back.
    pub delta_num: u8,
    /// What happened to the sending.
    pub flags: SnapFlags,
    /// What is hidden.
    pub areas: AreaMask,
}

/// What a snapshot is relative to, or what it shows: a player and entities ascending by number.
#[derive(Clone, Debug)]
pub struct SnapshotView<'a, I> {
    /// The player viewed from.
    pub player: &'a PlayerState,
    /// The entities seen.
    pub entities: I,
}

/// Writes the body of a snapshot up to its entities, behind its operation byte. A complete one is
/// relative to the zero player.
pub fn write_head(
    writer: &mut BitWriter,
    head: &SnapshotHeader,
    old_player: &PlayerState,
    player: &PlayerState,
) {
    writer.long(head.server_time.0);
    writer.byte(head.delta_num);
    writer.byte(head.flags.0);
    writer.byte(head.areas.len);
    writer.data(head.areas.bytes());
    player::write_delta(writer, old_player, player);
}

/// Writes the body of a snapshot, behind its operation byte. A complete one is relative to the zero
/// player and no entities.
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

/// Reads a snapshot's head; the player and the entity list follow.
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
