//! Changes of settings: set commands, sources and results.
//!
//! Source: the set commands of Quake III server consoles.

/// Result of an accepted change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The setting had the value already.
    Unchanged,
    /// The value is new and in effect.
    Changed,
    /// The value takes effect with the next map.
    Latched,
}

/// Set commands of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetCommand {
    /// `set`.
    Set,
    /// `seta`: archives the cvar in other servers, here the same as `set`.
    Seta,
    /// `sets`: also adds the variable to the serverinfo.
    Sets,
    /// `setu`: for clients, here the same as `set`.
    Setu,
}

impl SetCommand {
    /// The command of a name, case-insensitive.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [("set", Self::Set), ("seta", Self::Seta), ("sets", Self::Sets), ("setu", Self::Setu)]
            .into_iter()
            .find_map(|(name, command)| name.eq_ignore_ascii_case(word).then_some(command))
    }
}

/// Source of a change, which decides the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeSource {
    /// Command line or console; an unknown name gives a note.
    Operator,
    /// The config file, which has tables for variables.
    File,
    /// The game, which may also write read-only and cheat-protected settings.
    Game,
}
