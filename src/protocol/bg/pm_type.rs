//! Movement types of a player (`pm_type`).
//!
//! Source: the base game's interface between server and client game. Engine names: `PM_*`.

wire_enum! {
    /// A movement type (`pm_type`).
    pub enum PmType {
        /// Normal: walks, swims and falls.
        Normal = 0,
        /// Noclip: flies through everything.
        Noclip = 1,
        /// Spectator: flies, stopped by walls.
        Spectator = 2,
        /// Dead: no control, falls.
        Dead = 3,
        /// Frozen: no movement.
        Freeze = 4,
        /// Intermission: views the scoreboard.
        Intermission = 5,
        /// Intermission of the single-player game.
        SinglePlayerIntermission = 6,
    }
}
