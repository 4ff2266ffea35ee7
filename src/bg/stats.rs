//! Statistics of a player state: the index of each one.
//!
//! The layout differs between games. Source: the base game's and OpenArena's statistics.

/// Where each statistic stands in a player state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatLayout {
    /// Health.
    pub health: usize,
    /// Item index of the holdable.
    pub holdable: usize,
    /// Item index of the rune, in games that have them.
    pub rune: Option<usize>,
    /// One bit for each weapon owned.
    pub weapons: usize,
    /// Armour.
    pub armor: usize,
    /// Yaw of the view when dead, degrees.
    pub dead_yaw: usize,
    /// Bits of the clients that are ready to leave the scoreboard.
    pub clients_ready: usize,
    /// Highest health that items give.
    pub max_health: usize,
}
