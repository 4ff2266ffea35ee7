//! Write to a file of a game, for the driver.
//!
//! Writes of a file are coalesced until the driver takes them, so a slow disk costs no memory.

use super::assets::GamePath;

/// New content of a file from an offset to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWrite {
    /// File, below the folder of the game.
    pub path: GamePath,
    /// Bytes before this offset stay.
    pub offset: u64,
    /// Content from the offset on. The file ends behind it.
    pub bytes: Vec<u8>,
    /// Whether the file is synced to disk.
    pub sync: bool,
}
