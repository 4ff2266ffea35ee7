//! Writes from within the server, which ignore flags, and latched values that take effect.

use std::fmt;

use super::{Settings, apply_latched_variables};
use crate::{
    cvar::{Key, Text, Value},
    settings::{author::Author, change::Change, error::SettingError, table::SETTINGS},
};

impl Settings {
    /// Writes a setting from within the server at once, ignoring its flags.
    ///
    /// # Errors
    /// When the row does not accept the value.
    pub fn write<T>(
        &mut self,
        key: Key<T>,
        value: impl fmt::Display,
    ) -> Result<Change, SettingError> {
        let row = key.row();
        let setting = &SETTINGS[row];
        let text = value.to_string();
        let value = Value::parse(setting.name, &setting.kind, self.row_flags(row), &text)?;
        let change = self.replace(row, value)?;
        self.slots[row].author = Author::Operator;
        Ok(change)
    }

    /// Writes a setting as a choice of the operator, ignoring its flags.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn choose<T>(
        &mut self,
        key: Key<T>,
        value: impl fmt::Display,
    ) -> Result<Change, SettingError> {
        let change = self.write(key, value)?;
        self.slots[key.row()].chosen = true;
        Ok(change)
    }

    /// Puts all latched values into effect.
    pub fn apply_latched(&mut self) {
        for row in 0..self.slots.len() {
            if let Some(value) = self.slots[row].latched.take()
                && value != *self.values.value(row)
            {
                self.values.replace(row, value);
                self.slots[row].changes += 1;
                self.count_change(self.row_flags(row));
            }
        }
        apply_latched_variables(self);
    }
}

/// Writes back a text that a setting had, with the author that it had.
///
/// # Errors
/// As [`Settings::write`].
pub fn write_back(
    settings: &mut Settings,
    key: Key<Text>,
    value: &str,
    author: Author,
) -> Result<Change, SettingError> {
    let change = settings.write(key, value)?;
    settings.slots[key.row()].author = author;
    Ok(change)
}
