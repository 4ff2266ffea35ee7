//! How a setting is changed: by which command, by whom, and what came of it.
//!
//! Source: the console's commands of Quake III servers.

/// What a successful `set` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was so already.
    Unchanged,
    /// The value is new.
    Changed,
    /// The value waits for the next map.
    Latched,
}

/// The console's four ways to set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetCommand {
    /// `set`.
    Set,
    /// `seta`: once kept over restarts, here as `set`.
    Seta,
    /// `sets`: also shows the variable in the serverinfo.
    Sets,
    /// `setu`: means something to clients only, here as `set`.
    Setu,
}

impl SetCommand {
    /// The command of that name, in any case.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [("set", Self::Set), ("seta", Self::Seta), ("sets", Self::Sets), ("setu", Self::Setu)]
            .into_iter()
            .find_map(|(name, command)| name.eq_ignore_ascii_case(word).then_some(command))
    }
}

/// Who changes a setting, which decides what may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// A person on the command line or the console, who is told of names that are in no table.
    Operator,
    /// The config file, which has a place for names that are in no table.
    File,
    /// The rules of the game: also what is read only or a cheat.
    Game,
}
