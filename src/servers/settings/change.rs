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
    /// `seta`: also archives the setting.
    Seta,
    /// `sets`: also adds the variable to the serverinfo.
    Sets,
    /// `setu`: for clients, here as `set`, but never archived.
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

/// Source of a change, which decides how values are read and what is noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeSource {
    /// A caller in the program: values are exact; an unknown name gives a note.
    Operator,
    /// Console line: values are read as the consoles of other servers read them; an unknown name gives a note.
    Console,
    /// Script or command line: as a console line. An unknown name gives a note only if it is near a known one.
    Script,
    /// The config file, which has tables for variables.
    File,
    /// The game, which may also write read-only and cheat-protected settings.
    Game,
}

impl ChangeSource {
    /// Whether the leading number of a value counts, and the nearest accepted one replaces it.
    pub(super) const fn is_lenient(self) -> bool {
        matches!(self, Self::Console | Self::Script)
    }
}
