//! The values of all settings, and of the variables that operators made up.
//!
//! Invariants: `slots[row]` belongs to `SETTINGS[row]`; a value in a slot is one that its row takes; a
//! change that is refused leaves everything as it was.

use std::{collections::VecDeque, fmt, net::IpAddr};

use super::{
    MAX_NAME_LEN,
    change::{Change, SetCommand, Writer},
    error::{SettingError, quoted},
    nearest::nearest_setting,
    networks::Networks,
    setting::{Address, Choice, Flag, Flags, Float, GameProfile, Int, Key, Setting, Text},
    table::{SETTINGS, is_ignored, key, row_named},
    value::{Value, check_text},
};
use crate::model::limits::{MAX_INFO_LEN, MAX_STRING_LEN};

/// Variables of their own that operators may make.
const MAX_VARIABLES: usize = 512;
/// Notes that wait to be read; later ones are lost.
const MAX_NOTES: usize = 64;
/// Share of the serverinfo from which on the operator is warned, in percent.
const WARN_PERCENT: usize = 80;

/// The values of one row.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) value: Value,
    /// Takes the value's place with the next map.
    pub(super) waiting: Option<Value>,
    /// Whether somebody chose the value; a change of game leaves it alone.
    chosen: bool,
    /// Whether `sets` put it into the serverinfo.
    shown: bool,
}

/// A variable in no table.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: String,
    /// Whether it travels in the serverinfo.
    pub(super) shown: bool,
}

/// The values of all settings.
#[derive(Clone, Debug)]
pub struct Settings {
    game: GameProfile,
    pub(super) slots: Vec<Slot>,
    pub(super) variables: Vec<Variable>,
    pub(super) started: bool,
    version: u64,
    serverinfo_version: u32,
    systeminfo_version: u32,
    notes: VecDeque<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self::new(GameProfile::BaseOa)
    }
}

impl Settings {
    /// The defaults of `game`, before the start.
    #[must_use]
    pub fn new(game: GameProfile) -> Self {
        let slots = SETTINGS
            .iter()
            .map(|setting| Slot {
                value: default_value(setting, game),
                waiting: None,
                chosen: false,
                shown: false,
            })
            .collect();
        Self {
            game,
            slots,
            variables: Vec::new(),
            started: false,
            version: 0,
            serverinfo_version: 0,
            systeminfo_version: 0,
            notes: VecDeque::new(),
        }
    }

    /// Ends the time in which everything may still be chosen.
    ///
    /// # Errors
    /// When values that are right alone are wrong together.
    pub fn start(&mut self) -> Result<(), SettingError> {
        self.check_together()?;
        self.started = true;
        Ok(())
    }

    // Reading.

    /// A whole number.
    #[must_use]
    pub fn int(&self, key: Key<Int>) -> i32 {
        self.slots[key.row()].value.int
    }

    /// A flag.
    #[must_use]
    pub fn flag(&self, key: Key<Flag>) -> bool {
        self.slots[key.row()].value.int != 0
    }

    /// A finite number.
    #[must_use]
    pub fn float(&self, key: Key<Float>) -> f32 {
        self.slots[key.row()].value.float
    }

    /// Text.
    #[must_use]
    pub fn text(&self, key: Key<Text>) -> &str {
        &self.slots[key.row()].value.text
    }

    /// One of a few.
    #[must_use]
    pub fn choice<C: Choice>(&self, key: Key<C>) -> C {
        C::ALL[self.slots[key.row()].value.int as usize]
    }

    /// An address to bind.
    #[must_use]
    pub fn address(&self, key: Key<Address>) -> IpAddr {
        self.slots[key.row()].value.text.parse().expect("checked when it was set")
    }

    /// A list of networks.
    #[must_use]
    pub fn networks(&self, key: Key<Networks>) -> &Networks {
        &self.slots[key.row()].value.networks
    }

    /// The game that the values are for.
    #[must_use]
    pub fn game(&self) -> GameProfile {
        self.game
    }

    /// A setting's or variable's value as text, by its name in any case. Secrets too: for the server,
    /// not for showing.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        match row_named(name) {
            Some(row) => Some(&self.slots[row].value.text),
            None => self.variable_named(name).map(|at| self.variables[at].value.as_str()),
        }
    }

    /// The value that waits for the next map.
    #[must_use]
    pub fn latched(&self, name: &str) -> Option<&str> {
        let waiting = self.slots[row_named(name)?].waiting.as_ref()?;
        Some(&waiting.text)
    }

    /// A setting's flags now: those of its row, and what `sets` added. `None` for variables.
    #[must_use]
    pub fn flags(&self, name: &str) -> Option<Flags> {
        row_named(name).map(|row| self.row_flags(row))
    }

    /// The serverinfo's pairs in the order of the table, then those of variables. Empty values are left
    /// out, as an info string has no place for them.
    pub fn serverinfo(&self) -> impl Iterator<Item = (&str, &str)> {
        self.info(Flags::SERVERINFO).filter(|(_, value)| !value.is_empty())
    }

    /// The systeminfo's pairs in the order of the table. Empty values are kept: they empty the client's.
    pub fn systeminfo(&self) -> impl Iterator<Item = (&str, &str)> {
        self.info(Flags::SYSTEMINFO)
    }

    /// Grows with every change of a value.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Grows with each change of the serverinfo.
    #[must_use]
    pub fn serverinfo_version(&self) -> u32 {
        self.serverinfo_version
    }

    /// Grows with each change of the systeminfo.
    #[must_use]
    pub fn systeminfo_version(&self) -> u32 {
        self.systeminfo_version
    }

    /// The operator's own variables in the order they were made: name, value, whether in the serverinfo.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.variables.iter().map(|own| (own.name.as_str(), own.value.as_str(), own.shown))
    }

    /// The next sentence that the operator should read, oldest first.
    pub fn poll_note(&mut self) -> Option<String> {
        self.notes.pop_front()
    }

    // Writing.

    /// Changes a setting by its name in any case, as an operator does.
    ///
    /// # Errors
    /// Why not, and what would be right. Nothing has changed then.
    pub fn set(&mut self, name: &str, value: &str) -> Result<Change, SettingError> {
        self.set_with(SetCommand::Set, Writer::Operator, name, value)
    }

    /// Changes a setting by its name in any case. A name in no table makes a variable.
    ///
    /// # Errors
    /// Why not, and what would be right. Nothing has changed then.
    pub fn set_with(
        &mut self,
        command: SetCommand,
        writer: Writer,
        name: &str,
        value: &str,
    ) -> Result<Change, SettingError> {
        let before = self.shown_len();
        let change = match row_named(name) {
            Some(row) => self.set_row(command, writer, row, value),
            None => self.set_variable(command, writer, name, value),
        }?;
        let after = self.shown_len();
        let warn_from = MAX_INFO_LEN * WARN_PERCENT / 100;
        if before < warn_from && after >= warn_from {
            self.note(format!(
                "serverinfo takes {after} bytes of at most {MAX_INFO_LEN}; beyond that, changes are refused"
            ));
        }
        Ok(change)
    }

    /// Writes a setting from within the server, whatever its flags say, at once.
    ///
    /// # Errors
    /// When the row does not take the value.
    pub fn write<T>(
        &mut self,
        key: Key<T>,
        value: impl fmt::Display,
    ) -> Result<Change, SettingError> {
        let row = key.row();
        let setting = &SETTINGS[row];
        let text = value.to_string();
        let value = Value::parse(setting.name, &setting.kind, self.row_flags(row), &text)?;
        self.replace(row, value)
    }

    /// Puts everything that waited for the next map in force.
    pub fn apply_latched(&mut self) {
        for row in 0..self.slots.len() {
            if let Some(value) = self.slots[row].waiting.take()
                && value != self.slots[row].value
            {
                self.slots[row].value = value;
                self.changed(self.row_flags(row));
            }
        }
    }

    fn set_row(
        &mut self,
        command: SetCommand,
        writer: Writer,
        row: usize,
        text: &str,
    ) -> Result<Change, SettingError> {
        let setting = &SETTINGS[row];
        let name = || setting.name.to_owned();
        let show = command == SetCommand::Sets && !self.row_flags(row).has(Flags::SERVERINFO);
        let flags = match command {
            SetCommand::Sets => self.row_flags(row).and(Flags::SERVERINFO),
            SetCommand::Set | SetCommand::Seta | SetCommand::Setu => self.row_flags(row),
        };
        if show && flags.has(Flags::SECRET) {
            return Err(SettingError::Secret { name: name() });
        }
        if flags.has(Flags::READ_ONLY) && writer != Writer::Game {
            return Err(SettingError::ReadOnly { name: name() });
        }
        let value = Value::parse(setting.name, &setting.kind, flags, text)?;
        let slot = &self.slots[row];
        if value == slot.value && slot.waiting.is_none() && !show {
            self.slots[row].chosen = true;
            return Ok(Change::Unchanged);
        }
        if flags.has(Flags::INIT) && self.started {
            return Err(SettingError::InitOnly { name: name() });
        }
        if flags.has(Flags::CHEAT) && writer != Writer::Game && !self.flag(key::SV_CHEATS) {
            return Err(SettingError::Cheat { name: name() });
        }
        let kept = self.slots[row].clone();
        self.slots[row].shown |= show;
        self.slots[row].chosen = true;
        // What the game sets, it plays by from then on.
        let waits = flags.has(Flags::LATCHED) && self.started && writer != Writer::Game;
        let change = if waits {
            self.latch(row, value)
        } else if row == key::GAME.row() {
            self.choose_game(value)
        } else {
            self.replace(row, value)
        };
        match change {
            Ok(Change::Unchanged) if show => {
                self.changed(Flags::SERVERINFO);
                Ok(Change::Changed)
            }
            Ok(change) => Ok(change),
            Err(error) => {
                self.slots[row] = kept;
                Err(error)
            }
        }
    }

    /// Takes the value now, or leaves everything as it was.
    fn replace(&mut self, row: usize, value: Value) -> Result<Change, SettingError> {
        let flags = self.row_flags(row);
        let old = self.slots[row].clone();
        let changed = value != old.value;
        let slot = &mut self.slots[row];
        slot.value = value;
        slot.waiting = None;
        if let Err(error) = self.check_row(row) {
            self.slots[row] = old;
            return Err(error);
        }
        if changed {
            self.changed(flags);
        }
        Ok(if changed { Change::Changed } else { Change::Unchanged })
    }

    /// Lets the value wait; the value in force takes the waiting one's place away.
    fn latch(&mut self, row: usize, value: Value) -> Result<Change, SettingError> {
        let slot = &mut self.slots[row];
        let old = slot.waiting.take();
        if value == slot.value {
            return Ok(Change::Unchanged);
        }
        slot.waiting = Some(value);
        if let Err(error) = self.check_row(row) {
            self.slots[row].waiting = old;
            return Err(error);
        }
        Ok(Change::Latched)
    }

    /// Gives every setting that nobody chose the default of another game.
    fn choose_game(&mut self, value: Value) -> Result<Change, SettingError> {
        let kept = self.clone();
        self.game = GameProfile::ALL[value.int as usize];
        self.slots[key::GAME.row()].value = value;
        for (slot, setting) in self.slots.iter_mut().zip(SETTINGS) {
            if !slot.chosen {
                slot.value = default_value(setting, self.game);
            }
        }
        if let Err(error) = self.check_info("game", Flags::SERVERINFO) {
            *self = kept;
            return Err(error);
        }
        self.changed(Flags::SERVERINFO.and(Flags::SYSTEMINFO));
        Ok(Change::Changed)
    }

    fn set_variable(
        &mut self,
        command: SetCommand,
        writer: Writer,
        name: &str,
        value: &str,
    ) -> Result<Change, SettingError> {
        let legal = |byte: u8| byte.is_ascii_graphic() && !b"\\\";".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME_LEN || !name.bytes().all(legal) {
            return Err(SettingError::BadName { name: quoted(name) });
        }
        let known = self.variable_named(name);
        let shown = command == SetCommand::Sets || known.is_some_and(|at| self.variables[at].shown);
        let flags = if shown { Flags::SERVERINFO } else { Flags::PLAIN };
        check_text(name, flags, value, MAX_STRING_LEN)?;
        let new = Variable { name: name.to_owned(), value: value.to_owned(), shown };
        let (at, old) = match known {
            Some(at) => {
                let old = &self.variables[at];
                if old.value == value && old.shown == shown {
                    return Ok(Change::Unchanged);
                }
                (at, Some(std::mem::replace(&mut self.variables[at], new)))
            }
            None if self.variables.len() == MAX_VARIABLES => {
                return Err(SettingError::TooMany { name: name.to_owned(), max: MAX_VARIABLES });
            }
            None => {
                self.variables.push(new);
                (self.variables.len() - 1, None)
            }
        };
        if let Err(error) = self.check_info(name, flags) {
            match old {
                Some(old) => self.variables[at] = old,
                None => self.variables.truncate(at),
            }
            return Err(error);
        }
        if old.is_none() && writer == Writer::Operator && !is_ignored(name) {
            self.note_unknown(command, name);
        }
        self.changed(flags);
        Ok(Change::Changed)
    }

    // The rest.

    fn info(&self, flag: Flags) -> impl Iterator<Item = (&str, &str)> {
        let settings = SETTINGS.iter().zip(&self.slots).enumerate();
        let settings = settings.filter(move |&(row, _)| self.row_flags(row).has(flag));
        let own = self.variables.iter().filter(move |own| own.shown && flag == Flags::SERVERINFO);
        settings
            .map(|(_, (setting, slot))| (setting.name, slot.value.text.as_str()))
            .chain(own.map(|own| (own.name.as_str(), own.value.as_str())))
    }

    pub(super) fn row_flags(&self, row: usize) -> Flags {
        let flags = SETTINGS[row].column(self.game).flags;
        if self.slots[row].shown { flags.and(Flags::SERVERINFO) } else { flags }
    }

    pub(super) fn row_text(&self, row: usize) -> &str {
        &self.slots[row].value.text
    }

    fn variable_named(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|own| own.name.eq_ignore_ascii_case(name))
    }

    fn changed(&mut self, flags: Flags) {
        self.version = self.version.wrapping_add(1);
        if flags.has(Flags::SERVERINFO) {
            self.serverinfo_version = self.serverinfo_version.wrapping_add(1);
        }
        if flags.has(Flags::SYSTEMINFO) {
            self.systeminfo_version = self.systeminfo_version.wrapping_add(1);
        }
    }

    fn note_unknown(&mut self, command: SetCommand, name: &str) {
        let meant = nearest_setting(name).map(|near| format!("; did you mean {near}?"));
        // A key of one's own in the serverinfo is a habit, not a slip.
        if command == SetCommand::Sets && meant.is_none() {
            return;
        }
        let meant = meant.unwrap_or_default();
        self.note(format!("no setting is named {name}: kept as a variable of your own{meant}"));
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push_back(note);
        }
    }
}

/// The value that a row's default stands for.
fn default_value(setting: &Setting, game: GameProfile) -> Value {
    let column = setting.column(game);
    Value::parse(setting.name, &setting.kind, column.flags, column.default)
        .expect("defaults are values that their rows take")
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
