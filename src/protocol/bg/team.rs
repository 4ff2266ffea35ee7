//! Teams, and sounds about them.
//!
//! Source: the base game's interface between server and client game.

wire_enum! {
    /// A team (`team_t`).
    pub enum Team {
        /// No team: every player plays alone.
        Free = 0,
        /// Red.
        Red = 1,
        /// Blue.
        Blue = 2,
        /// Spectators.
        Spectator = 3,
    }
}

wire_enum! {
    /// A team sound: parameter of [`Event::GlobalTeamSound`](super::Event::GlobalTeamSound).
    pub enum TeamSound {
        /// Red captured the blue flag.
        RedCaptured = 0,
        /// Blue captured the red flag.
        BlueCaptured = 1,
        /// The blue flag was returned.
        BlueReturned = 2,
        /// The red flag was returned.
        RedReturned = 3,
        /// Red took the blue flag.
        RedTook = 4,
        /// Blue took the red flag.
        BlueTook = 5,
        /// Red scored.
        RedScored = 8,
        /// Blue scored.
        BlueScored = 9,
        /// Red took the lead.
        RedLeads = 10,
        /// Blue took the lead.
        BlueLeads = 11,
        /// The teams are tied.
        Tied = 12,
        /// Kamikaze explosion.
        Kamikaze = 13,
    }
}
