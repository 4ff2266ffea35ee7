//! Movement types of a player (`pm_type`).
//!
//! Source: the base game's interface between server and client game.

wire_enum! {
    /// How a player moves.
    pub enum PmType {
        /// Walks, swims, falls.
        Normal = 0,
        /// Flies through everything.
        Noclip = 1,
        /// Flies, stopped by walls.
        Spectator = 2,
        /// Lies.
        Dead = 3,
        /// Cannot move.
        Freeze = 4,
        /// Looks at the scoreboard.
        Intermission = 5,
        /// The same, in the single-player game.
        SinglePlayerIntermission = 6,
    }
}
