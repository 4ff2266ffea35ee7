//! Table of all settings, and lookup by name.

pub use crate::game::settings::SETTINGS;

use super::Setting;

/// Typed keys of all settings.
pub mod key {
    pub use crate::{cvar::engine::key::*, game::settings::key::*};
}

/// Index of a setting by its name, case-insensitive.
pub(super) fn row_named(name: &str) -> Option<usize> {
    SETTINGS.iter().position(|setting| setting.name.eq_ignore_ascii_case(name))
}

/// Whether a row belongs to the rules, so that a game module has its own meaning of it.
pub(super) fn is_of_game(row: usize) -> bool {
    row >= crate::cvar::engine::ROWS.len()
}

/// Row of a setting by its name, case-insensitive.
#[must_use]
pub fn setting_named(name: &str) -> Option<&'static Setting> {
    row_named(name).map(|row| &SETTINGS[row])
}
