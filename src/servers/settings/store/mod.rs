//! Store of settings and variables.
//!
//! Invariants: `slots[row]` belongs to `SETTINGS[row]`. A rejected change leaves everything as it was.

use std::net::{IpAddr, SocketAddr};

use super::{
    author::{Author, check_author, is_trusted},
    change::{Change, ChangeSource, SetCommand},
    constraints::{check_info, check_row, shown_len},
    error::SettingError,
    module_texts,
    notes::{Note, Notes},
    relations::{NotedRanges, adjust_after},
    secrets::is_secret_name,
    startup::ExpectedCode,
    table::{SETTINGS, key},
    variables::{Variable, apply_latched_variables, position},
};
use crate::cvar::{
    Address, Choice, Endpoint, Flag, Flags, Float, GameFolder, Int, Key, Networks, Text, Value,
    Values, quoted,
};
use crate::model::limits::MAX_INFO_LEN;

/// Fill level of the serverinfo that gives a warning, in percent.
const WARN_PERCENT: usize = 80;

/// Returns a value as clients of the original show it, if it has other characters than printable ASCII.
fn printable(value: &str) -> Option<String> {
    let shown = |c| match c {
        ' '..='~' => c,
        '\t' => ' ',
        _ => '.',
    };
    value.contains(|c| !matches!(c, ' '..='~')).then(|| value.chars().map(shown).collect())
}

/// State of one row beside its value.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    /// Value that takes effect with the next map.
    pub(super) latched: Option<Value>,
    /// Whether the value was set: a change of game keeps it.
    pub(super) chosen: bool,
    /// Place of the last change, e.g. `server.cfg:5`.
    pub(super) place: Option<String>,
    /// Author of the value, or of the latched one if that has less right.
    pub(super) author: Author,
    /// Whether `sets` added the row to the serverinfo.
    shown: bool,
    /// Number of changes.
    pub(super) changes: u32,
}

/// Settings and variables of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    values: Values,
    pub(super) slots: Vec<Slot>,
    pub(super) variables: Vec<Variable>,
    pub(super) started: bool,
    /// Whether the first level has begun.
    pub(super) has_level: bool,
    version: u64,
    serverinfo_version: u32,
    systeminfo_version: u32,
    pub(super) notes: Notes,
    /// Game code that later sources select, while not all are read.
    pub(super) expected: ExpectedCode,
    /// Notes about names that were accepted for a module, which may not run.
    pub(super) for_module: Vec<Note>,
    /// Whether it is known whether the mod has a module.
    pub(super) knows_mod: bool,
    /// Whether the level runs a module.
    pub(super) runs_module: Option<bool>,
    pub(super) noted_ranges: NotedRanges,
}

impl Default for Settings {
    fn default() -> Self {
        Self::new(GameFolder::BaseOa)
    }
}

impl Settings {
    /// The defaults of `game`, before the start.
    #[must_use]
    pub fn new(game: GameFolder) -> Self {
        Self {
            values: Values::new(SETTINGS, game),
            slots: vec![Slot::default(); SETTINGS.len()],
            variables: Vec::new(),
            started: false,
            has_level: false,
            version: 0,
            serverinfo_version: 0,
            systeminfo_version: 0,
            notes: Notes::default(),
            expected: ExpectedCode::default(),
            for_module: Vec::new(),
            knows_mod: false,
            runs_module: None,
            noted_ranges: NotedRanges::default(),
        }
    }

    // Reading.

    /// Current values, for readers that need no store.
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Value of an integer setting.
    #[must_use]
    pub fn int(&self, key: Key<Int>) -> i32 {
        self.values.int(key)
    }

    /// Value of a flag.
    #[must_use]
    pub fn flag(&self, key: Key<Flag>) -> bool {
        self.values.flag(key)
    }

    /// Value of a number, finite.
    #[must_use]
    pub fn float(&self, key: Key<Float>) -> f32 {
        self.values.float(key)
    }

    /// Value of a text setting.
    #[must_use]
    pub fn text(&self, key: Key<Text>) -> &str {
        self.values.text(key)
    }

    /// Value of a setting with a list of words.
    #[must_use]
    pub fn choice<C: Choice>(&self, key: Key<C>) -> C {
        self.values.choice(key)
    }

    /// Value of an address to bind.
    #[must_use]
    pub fn address(&self, key: Key<Address>) -> IpAddr {
        self.values.address(key)
    }

    /// Value of an address and port to listen on; `None` for an empty one.
    #[must_use]
    pub fn endpoint(&self, key: Key<Endpoint>) -> Option<SocketAddr> {
        self.values.endpoint(key)
    }

    /// Value of a list of networks.
    #[must_use]
    pub fn networks(&self, key: Key<Networks>) -> &Networks {
        self.values.networks(key)
    }

    /// Whether a value was set, even to the default.
    #[must_use]
    pub fn is_chosen<T>(&self, key: Key<T>) -> bool {
        self.slots[key.row()].chosen
    }

    /// The game whose defaults and flags apply.
    #[must_use]
    pub fn game(&self) -> GameFolder {
        self.values.game()
    }

    /// Text of a setting or variable by its name, case-insensitive. Includes secrets: for the server, not
    /// for display.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        match self.values.row_named(name) {
            Some(row) => Some(self.row_text(row)),
            None => position(&self.variables, name).map(|at| self.variables[at].value.as_str()),
        }
    }

    /// The value that takes effect with the next map.
    #[must_use]
    pub fn latched(&self, name: &str) -> Option<&str> {
        match self.values.row_named(name) {
            Some(row) => self.slots[row].latched.as_ref().map(|value| value.text.as_str()),
            None => self.variables[position(&self.variables, name)?].latched.as_deref(),
        }
    }

    /// Current flags of a setting: those of its row, and serverinfo after `sets`. `None` for variables.
    #[must_use]
    pub fn flags(&self, name: &str) -> Option<Flags> {
        self.values.row_named(name).map(|row| self.row_flags(row))
    }

    /// Pairs of the serverinfo in the order of the table, then those of variables. Empty values are left
    /// out.
    pub fn serverinfo(&self) -> impl Iterator<Item = (&str, &str)> {
        self.info(Flags::SERVERINFO).filter(|(_, value)| !value.is_empty())
    }

    /// Pairs of the systeminfo in the order of the table. Empty values are sent: they clear the client's.
    pub fn systeminfo(&self) -> impl Iterator<Item = (&str, &str)> {
        self.info(Flags::SYSTEMINFO)
    }

    /// Number that grows with each change of a value.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Number that grows with each change of the serverinfo.
    #[must_use]
    pub fn serverinfo_version(&self) -> u32 {
        self.serverinfo_version
    }

    /// Number that grows with each change of the systeminfo.
    #[must_use]
    pub fn systeminfo_version(&self) -> u32 {
        self.systeminfo_version
    }

    /// Variables in creation order: name, value, flags.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str, Flags)> {
        self.variables.iter().map(|own| (own.name.as_str(), own.value.as_str(), own.flags))
    }

    // Writing.

    /// Changes a setting by its name, case-insensitive, as an operator does.
    ///
    /// # Errors
    /// The reason and the accepted values; nothing has changed.
    pub fn set(&mut self, name: &str, value: &str) -> Result<Change, SettingError> {
        self.set_with(SetCommand::Set, ChangeSource::Operator, name, value)
    }

    /// Changes a setting by its name, case-insensitive, as an operator does. A name outside the table creates a variable.
    ///
    /// # Errors
    /// The reason and the accepted values; nothing has changed.
    pub fn set_with(
        &mut self,
        command: SetCommand,
        source: ChangeSource,
        name: &str,
        value: &str,
    ) -> Result<Change, SettingError> {
        self.set_by(Author::Operator, command, source, name, value)
    }

    /// Changes a setting by its name, with the right of an author, who becomes that of the value.
    ///
    /// # Errors
    /// The reason and the accepted values; nothing has changed.
    pub fn set_by(
        &mut self,
        author: Author,
        command: SetCommand,
        source: ChangeSource,
        name: &str,
        value: &str,
    ) -> Result<Change, SettingError> {
        let before = shown_len(self);
        let printable = printable(value).filter(|_| source.is_lenient() && !is_secret_name(name));
        if let Some(printable) = &printable {
            self.notes.push(format!(
                "{name}: {} read as \"{printable}\" (expected printable ASCII)",
                quoted(value)
            ));
        }
        let value = printable.as_deref().unwrap_or(value);
        let change = match self.values.row_named(name) {
            Some(row) => self.set_row(author, command, source, row, value),
            None => self.set_variable(author, command, source, name, value),
        }?;
        let after = shown_len(self);
        let warn_from = MAX_INFO_LEN * WARN_PERCENT / 100;
        if before < warn_from && after >= warn_from {
            self.notes.push(format!(
                "serverinfo nearly full: {after} bytes (max {MAX_INFO_LEN}); changes beyond that are rejected"
            ));
        }
        Ok(change)
    }

    fn set_row(
        &mut self,
        author: Author,
        command: SetCommand,
        source: ChangeSource,
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
        if let Some(kept) = check_author(self, author, row, show, text) {
            return kept;
        }
        if show && flags.has(Flags::SECRET) {
            return Err(SettingError::Secret { name: name() });
        }
        if flags.has(Flags::READ_ONLY) && source != ChangeSource::Game {
            return Err(SettingError::ReadOnly { name: name() });
        }
        let (value, is_other) = self.read_value(source, row, flags, text)?;
        let slot = &self.slots[row];
        if value == *self.values.value(row) && slot.latched.is_none() && !show {
            self.slots[row].chosen = true;
            self.slots[row].author = author;
            self.finish_change(row, is_other, text);
            return Ok(Change::Unchanged);
        }
        if flags.has(Flags::INIT) && self.started || flags.has(Flags::EARLY) && self.has_level {
            let in_scripts = flags.has(Flags::EARLY);
            return Err(SettingError::InitOnly { name: name(), in_scripts });
        }
        let may_cheat = source == ChangeSource::Game && is_trusted(self, author);
        if flags.has(Flags::CHEAT) && !may_cheat && !self.flag(key::SV_CHEATS) {
            return Err(SettingError::Cheat { name: name() });
        }
        let kept = self.slots[row].clone();
        self.slots[row].shown |= show;
        self.slots[row].chosen = true;
        let kept_author = self.slots[row].author;
        // A value that the game sets takes effect at once.
        let waits = flags.has(Flags::LATCHED) && self.started && source != ChangeSource::Game;
        let change = if waits {
            self.latch(row, value)
        } else if row == key::GAME.row() {
            choose_game(self, value)
        } else {
            self.replace(row, value)
        };
        match change {
            Err(error) => {
                self.slots[row] = kept;
                return Err(error);
            }
            Ok(_) => {
                self.slots[row].author = author.of_slot(kept_author, &self.slots[row]);
                self.finish_change(row, is_other, text);
            }
        }
        if change == Ok(Change::Unchanged) && show {
            self.count_change(Flags::SERVERINFO);
            return Ok(Change::Changed);
        }
        change
    }

    /// Reads a value as its source gives it. Returns whether another number than the given one was taken.
    fn read_value(
        &self,
        source: ChangeSource,
        row: usize,
        flags: Flags,
        text: &str,
    ) -> Result<(Value, bool), SettingError> {
        let setting = &SETTINGS[row];
        // A module reads the text of its settings itself.
        if self.hosts_module() && module_texts::is_kept(row) {
            return Ok((Value::of_module(setting.name, &setting.kind, flags, text)?, false));
        }
        if source.is_lenient() {
            return Ok(Value::read(setting.name, &setting.kind, flags, text)?);
        }
        Ok((Value::parse(setting.name, &setting.kind, flags, text)?, false))
    }

    /// Notes the place of a change, and that another number than the given one was taken.
    fn finish_change(&mut self, row: usize, is_other: bool, given: &str) {
        self.slots[row].place.clone_from(&self.notes.place);
        if !adjust_after(self, row, given) && is_other {
            let setting = &SETTINGS[row];
            let slot = &self.slots[row];
            let taken = slot.latched.as_ref().unwrap_or(self.values.value(row)).text.clone();
            let (name, given) = (setting.name, quoted(given));
            self.notes.push(format!("{name}: {given} read as {taken} (expected {})", setting.kind));
        }
    }

    /// Puts a value into effect, unless it breaks a constraint.
    pub(super) fn replace(&mut self, row: usize, value: Value) -> Result<Change, SettingError> {
        let flags = self.row_flags(row);
        let changed = value != *self.values.value(row);
        let latched = self.slots[row].latched.take();
        let old = self.values.replace(row, value);
        if let Err(error) = check_row(self, row) {
            self.values.replace(row, old);
            self.slots[row].latched = latched;
            return Err(error);
        }
        if changed {
            self.slots[row].changes += 1;
            self.count_change(flags);
        }
        Ok(if changed { Change::Changed } else { Change::Unchanged })
    }

    /// Latches a value. The value in effect clears the latched one.
    fn latch(&mut self, row: usize, value: Value) -> Result<Change, SettingError> {
        let old = self.slots[row].latched.take();
        if value == *self.values.value(row) {
            return Ok(Change::Unchanged);
        }
        self.slots[row].latched = Some(value);
        if let Err(error) = check_row(self, row) {
            self.slots[row].latched = old;
            return Err(error);
        }
        Ok(Change::Latched)
    }

    // Helpers.

    fn info(&self, flag: Flags) -> impl Iterator<Item = (&str, &str)> {
        let rows = (0..SETTINGS.len()).filter(move |&row| self.row_flags(row).has(flag));
        let own = self.variables.iter().filter(move |own| own.flags.has(flag));
        rows.map(|row| (SETTINGS[row].name, self.row_text(row)))
            .chain(own.map(|own| (own.name.as_str(), own.value.as_str())))
    }

    pub(super) fn row_flags(&self, row: usize) -> Flags {
        let flags = SETTINGS[row].in_game(self.values.game()).flags;
        if self.slots[row].shown { flags.and(Flags::SERVERINFO) } else { flags }
    }

    pub(super) fn row_text(&self, row: usize) -> &str {
        &self.values.value(row).text
    }

    pub(super) fn count_change(&mut self, flags: Flags) {
        self.version = self.version.wrapping_add(1);
        if flags.has(Flags::SERVERINFO) {
            self.serverinfo_version = self.serverinfo_version.wrapping_add(1);
        }
        if flags.has(Flags::SYSTEMINFO) {
            self.systeminfo_version = self.systeminfo_version.wrapping_add(1);
        }
    }
}

/// Changes the game: rows that were never set take its defaults.
fn choose_game(settings: &mut Settings, value: Value) -> Result<Change, SettingError> {
    let kept = settings.clone();
    let game = GameFolder::ALL[value.int as usize];
    settings.values.replace(key::GAME.row(), value);
    settings.values.change_game(game, |row| settings.slots[row].chosen);
    if let Err(error) = check_info(settings, "game", Flags::SERVERINFO) {
        *settings = kept;
        return Err(error);
    }
    settings.slots.iter_mut().for_each(|slot| slot.changes += 1);
    settings.count_change(Flags::SERVERINFO.and(Flags::SYSTEMINFO));
    Ok(Change::Changed)
}

mod server_writes;
pub use server_writes::write_back;

#[cfg(test)]
mod tests;
