//! Teams, and sounds about them.
//!
//! Source: the base game's interface between server and client game.

/// Which side a player is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Team {
    /// Everyone for themselves.
    Free = 0,
    /// Red.
    Red = 1,
    /// Blue.
    Blue = 2,
    /// Watches.
    Spectator = 3,
}

/// What happened to the teams.
pub mod team_sound {
    /// Red captured the blue flag.
    pub const RED_CAPTURED: i32 = 0;
    /// Blue captured the red flag.
    pub const BLUE_CAPTURED: i32 = 1;
    /// The blue flag is back.
    pub const BLUE_RETURNED: i32 = 2;
    /// The red flag is back.
    pub const RED_RETURNED: i32 = 3;
    /// Red took the blue flag.
    pub const RED_TOOK: i32 = 4;
    /// Blue took the red flag.
    pub const BLUE_TOOK: i32 = 5;
    /// Red scored.
    pub const RED_SCORED: i32 = 8;
    /// Blue scored.
    pub const BLUE_SCORED: i32 = 9;
    /// Red leads.
    pub const RED_LEADS: i32 = 10;
    /// Blue leads.
    pub const BLUE_LEADS: i32 = 11;
    /// The teams are even.
    pub const TIED: i32 = 12;
    /// A kamikaze.
    pub const KAMIKAZE: i32 = 13;
}
