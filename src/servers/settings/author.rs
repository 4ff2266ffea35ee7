//! Author of a console text or of a value: the right that it runs with.
//!
//! Invariant: a text that is made of parts has the least right of their authors.

use std::fmt;

use super::{
    change::Change,
    error::SettingError,
    store::{Settings, Slot},
    table::{SETTINGS, key},
    variables::position,
};
use crate::cvar::Flags;

/// Author of a text, least right first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Author {
    /// The game module that runs.
    Module,
    /// A mod, by a script of its archives or its `autoexec.cfg`.
    Mod,
    /// The operator, or the program itself.
    #[default]
    Operator,
}

impl Author {
    /// The author of a text that also has a part of another author.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        self.min(other)
    }

    /// The author of a row whose value was changed, after another one. A latched value has the least right.
    pub(super) fn of_slot(self, before: Self, slot: &Slot) -> Self {
        if slot.latched.is_some() { self.least(before) } else { self }
    }

    /// Whether the text may do everything that a console does.
    #[must_use]
    pub fn is_operator(self) -> bool {
        self == Self::Operator
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Module => "the game module",
            Self::Mod => "a script of the mod",
            Self::Operator => "the operator",
        })
    }
}

/// Text of a setting or variable as a game module reads it. Passwords are empty, unless the operator trusts the mod.
/// The password of the server is not hidden, since the module checks it.
#[must_use]
pub fn shown_to_module<'a>(settings: &'a Settings, name: &str) -> Option<&'a str> {
    let is_hidden = |row| {
        row != key::G_PASSWORD.row()
            && settings.row_flags(row).has(Flags::SECRET)
            && !settings.flag(key::SV_TRUST_MOD)
    };
    if settings.values().row_named(name).is_some_and(is_hidden) {
        Some("")
    } else {
        settings.get(name)
    }
}

/// Author of the value of a setting or variable.
#[must_use]
pub fn author_of(settings: &Settings, name: &str) -> Option<Author> {
    match settings.values().row_named(name) {
        Some(row) => Some(settings.slots[row].author),
        None => position(&settings.variables, name).map(|at| settings.variables[at].author),
    }
}

/// Whether texts of an author may do everything that a console does.
#[must_use]
pub fn is_trusted(settings: &Settings, author: Author) -> bool {
    author.is_operator() || settings.flag(key::SV_TRUST_MOD)
}

/// Refuses a change of an operator-only row to other authors. The same value is not a change, since a script of a mod
/// may repeat a default. Returns nothing if the change is permitted.
pub(super) fn check_author(
    settings: &Settings,
    author: Author,
    row: usize,
    show: bool,
    text: &str,
) -> Option<Result<Change, SettingError>> {
    let flags = settings.row_flags(row);
    // A startup-only setting is refused to all authors.
    let is_fixed = flags.has(Flags::INIT) && settings.started;
    if !flags.has(Flags::PROTECTED) || is_fixed || is_trusted(settings, author) {
        return None;
    }
    let is_same = !show && !flags.has(Flags::SECRET) && text == settings.row_text(row);
    let refusal = SettingError::Protected { name: SETTINGS[row].name.to_owned(), author };
    Some(if is_same { Ok(Change::Unchanged) } else { Err(refusal) })
}
