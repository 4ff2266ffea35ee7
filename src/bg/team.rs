//! Teams, and sounds about them.
//!
//! Source: the base game's interface between server and client game.

wire_enum! {
    /// Which side a player is on.
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
}

wire_enum! {
    /// Parameter of [`Event::GlobalTeamSound`](super::Event::GlobalTeamSound).
    pub enum TeamSound {
        /// Red captured the blue flag.
        RedCaptured = 0,
        /// Blue captured the red flag.
        BlueCaptured = 1,
        /// The blue flag is back.
        BlueReturned = 2,
        /// The red flag is back.
        RedReturned = 3,
        /// Red took the blue flag.
        RedTook = 4,
        /// Blue took the red flag.
        BlueTook = 5,
        /// Red scored.
        RedScored = 8,
        /// Blue scored.
        BlueScored = 9,
        /// Red leads.
        RedLeads = 10,
        /// Blue leads.
        BlueLeads = 11,
        /// The teams are even.
        Tied = 12,
        /// A kamikaze.
        Kamikaze = 13,
    }
}
