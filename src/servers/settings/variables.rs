//! Variables: values outside the table, created by `set` or registered by the game with flags.
//!
//! Invariants: at most [`MAX_VARIABLES`] variables; a row of the table keeps its own flags when the
//! game registers its name. A rejected change leaves everything as it was.
//! Source: set commands and registration of the game interface, version 8. Engine names: `Cvar_Get`,
//! `Cvar_Register`, `CVAR_ROM`, `modificationCount`.

use super::{
    MAX_NAME_LEN, Settings,
    author::Author,
    change::{Change, ChangeSource, SetCommand},
    constraints::check_info,
    error::SettingError,
    ignored::is_ignored,
    startup::keep_for_module,
    suggestion::nearest_setting,
    table::{SETTINGS, key},
};
use crate::{
    cvar::{Flags, check_text, quoted},
    model::limits::MAX_STRING_LEN,
};

/// Maximum number of variables.
pub(super) const MAX_VARIABLES: usize = 512;

/// Prefixes of the settings of a server, which no module has.
const SERVER_PREFIXES: [&str; 4] = ["com_", "fs_", "net_", "sv_"];

/// A variable outside the table.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: String,
    /// Flags of `sets` and of the game's registration.
    pub(super) flags: Flags,
    /// Value that takes effect with the next map.
    pub(super) latched: Option<String>,
    /// Author of the value, or of the latched one if that has less right.
    pub(super) author: Author,
    /// Number of changes, 1 after the creation.
    pub(super) changes: u32,
    /// Default of the game, if it registered the variable.
    pub(super) default: Option<String>,
}

impl Variable {
    /// The longer of the value and the latched value.
    pub(super) fn longest(&self) -> &str {
        let latched = self.latched.as_deref().unwrap_or_default();
        if latched.len() > self.value.len() { latched } else { &self.value }
    }
}

impl Settings {
    /// Registers a setting of the game. An unknown name becomes a variable with the default; a known
    /// variable keeps its value, takes a latched one, and gets the flags in addition. A read-only
    /// variable takes the default. A row of the table is not changed. `author` is that of the default.
    ///
    /// # Errors
    /// The reason; nothing has changed.
    pub fn register(
        &mut self,
        author: Author,
        name: &str,
        default: &str,
        flags: Flags,
    ) -> Result<(), SettingError> {
        if self.values().row_named(name).is_some() {
            return Ok(());
        }
        let known = position(&self.variables, name).map(|at| &self.variables[at]);
        let (value, author) = match known {
            // A game sets its own read-only settings, and they outlive its restart: `g_restarted`.
            Some(own) if !flags.has(Flags::READ_ONLY) || own.flags.has(Flags::READ_ONLY) => {
                (own.latched.as_ref().unwrap_or(&own.value).clone(), own.author)
            }
            _ => (default.to_owned(), author),
        };
        let flags = known.map_or(flags, |own| own.flags.and(flags));
        self.put_variable(author, name, value, flags)?;
        if let Some(at) = position(&self.variables, name) {
            self.variables[at].default.get_or_insert_with(|| default.to_owned());
        }
        Ok(())
    }

    /// Default of a setting, or of a variable that the game registered.
    #[must_use]
    pub fn default_of(&self, name: &str) -> Option<&str> {
        match self.values().row_named(name) {
            Some(row) => Some(SETTINGS[row].in_game(self.game()).default),
            None => self.variables[position(&self.variables, name)?].default.as_deref(),
        }
    }

    /// Removes a variable that neither the table nor the game declares. Returns whether there was one.
    pub fn unset(&mut self, name: &str) -> bool {
        let Some(at) =
            position(&self.variables, name).filter(|&at| self.variables[at].default.is_none())
        else {
            return false;
        };
        let flags = self.variables.remove(at).flags;
        self.count_change(flags);
        true
    }

    /// Number of changes of a setting or variable; `None` for an unknown name.
    #[must_use]
    pub fn change_count(&self, name: &str) -> Option<u32> {
        match self.values().row_named(name) {
            Some(row) => Some(self.slots[row].changes),
            None => position(&self.variables, name).map(|at| self.variables[at].changes),
        }
    }

    pub(super) fn set_variable(
        &mut self,
        author: Author,
        command: SetCommand,
        source: ChangeSource,
        name: &str,
        value: &str,
    ) -> Result<Change, SettingError> {
        let known = position(&self.variables, name);
        let mut flags = known.map_or(Flags::PLAIN, |at| self.variables[at].flags);
        if source != ChangeSource::Game {
            check_protection(self, name, flags)?;
        }
        if command == SetCommand::Sets {
            flags = flags.and(Flags::SERVERINFO);
        }
        let waits = flags.has(Flags::LATCHED) && self.started && source != ChangeSource::Game;
        if let Some(at) = known.filter(|_| waits) {
            return latch_variable(self, at, (flags, author), value);
        }
        let change = self.put_variable(author, name, value.to_owned(), flags)?;
        // The config file has tables for variables, so that only names for a module come without one.
        let is_noted = source != ChangeSource::Game
            && (source != ChangeSource::File || command == SetCommand::Seta);
        if known.is_none() && is_noted && !is_ignored(name) {
            note_unknown(self, command, source, name);
        }
        Ok(change)
    }

    /// Puts a value into effect and creates the variable if it is new.
    fn put_variable(
        &mut self,
        author: Author,
        name: &str,
        value: String,
        flags: Flags,
    ) -> Result<Change, SettingError> {
        let legal = |byte: u8| matches!(byte, b' '..=b'~') && !b"\\\";".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME_LEN || !name.bytes().all(legal) {
            return Err(SettingError::BadName { name: quoted(name) });
        }
        check_text(name, flags, &value, MAX_STRING_LEN)?;
        let known = position(&self.variables, name);
        let (at, old) = match known {
            Some(at) => {
                let old = self.variables[at].clone();
                let changes = old.changes + u32::from(old.value != value);
                if old.value == value && old.flags == flags && old.latched.is_none() {
                    self.variables[at].author = author;
                    return Ok(Change::Unchanged);
                }
                let new = Variable { value, flags, latched: None, author, changes, ..old.clone() };
                self.variables[at] = new;
                (at, Some(old))
            }
            None if self.variables.len() == MAX_VARIABLES => {
                return Err(SettingError::TooMany { name: name.to_owned(), max: MAX_VARIABLES });
            }
            None => {
                let name = name.to_owned();
                let (latched, default) = (None, None);
                let new = Variable { name, value, flags, latched, author, changes: 1, default };
                self.variables.push(new);
                (self.variables.len() - 1, None)
            }
        };
        if let Err(error) = check_info(self, name, flags) {
            match old {
                Some(old) => self.variables[at] = old,
                None => self.variables.truncate(at),
            }
            return Err(error);
        }
        self.count_change(flags);
        Ok(Change::Changed)
    }
}

/// Index of a variable by its name, case-insensitive.
pub(super) fn position(variables: &[Variable], name: &str) -> Option<usize> {
    variables.iter().position(|own| own.name.eq_ignore_ascii_case(name))
}

/// Puts the latched values of variables into effect.
pub(super) fn apply_latched_variables(settings: &mut Settings) {
    for at in 0..settings.variables.len() {
        let own = &mut settings.variables[at];
        if let Some(value) = own.latched.take()
            && value != own.value
        {
            own.value = value;
            own.changes += 1;
            let flags = own.flags;
            settings.count_change(flags);
        }
    }
}

/// Checks the flags that forbid a change by the operator.
fn check_protection(settings: &Settings, name: &str, flags: Flags) -> Result<(), SettingError> {
    let name = || name.to_owned();
    if flags.has(Flags::READ_ONLY) {
        return Err(SettingError::ReadOnly { name: name() });
    }
    if flags.has(Flags::INIT) && settings.started {
        return Err(SettingError::InitOnly { name: name(), in_scripts: false });
    }
    if flags.has(Flags::CHEAT) && !settings.flag(key::SV_CHEATS) {
        return Err(SettingError::Cheat { name: name() });
    }
    Ok(())
}

/// Stores a value that takes effect with the next map. The value in effect clears it.
fn latch_variable(
    settings: &mut Settings,
    at: usize,
    (flags, author): (Flags, Author),
    value: &str,
) -> Result<Change, SettingError> {
    let old = settings.variables[at].clone();
    check_text(&old.name, flags, value, MAX_STRING_LEN)?;
    let latched = (value != old.value).then(|| value.to_owned());
    let change = if latched.is_some() { Change::Latched } else { Change::Unchanged };
    let author = author.least(old.author);
    settings.variables[at] = Variable { latched, flags, author, ..old.clone() };
    if let Err(error) = check_info(settings, &old.name, flags) {
        settings.variables[at] = old;
        return Err(error);
    }
    if flags != old.flags {
        settings.count_change(flags);
    }
    Ok(change)
}

/// Notes an undeclared name that is new.
fn note_unknown(settings: &mut Settings, command: SetCommand, source: ChangeSource, name: &str) {
    let meant = nearest_setting(name).map(|near| format!("; did you mean {near}?"));
    // Custom keys of the serverinfo and steps of a rotation in a script are usual.
    let lower = name.to_ascii_lowercase();
    let is_of_server = SERVER_PREFIXES.iter().any(|prefix| lower.starts_with(prefix));
    let is_usual = command == SetCommand::Sets || source == ChangeSource::Script && !is_of_server;
    if is_usual && meant.is_none() {
        return;
    }
    let meant = meant.unwrap_or_default();
    let text = format!("unknown setting {name}: stored as a variable{meant}");
    // A module has settings of its own, which may have names near others, but none of the server.
    if settings.hosts_module() && !is_of_server {
        keep_for_module(settings, name, text);
    } else {
        settings.notes.push_about(name, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(settings: &mut Settings, name: &str, value: &str) -> Result<Change, SettingError> {
        settings.set(name, value)
    }

    #[test]
    fn registered_setting_has_default_flags_and_changes() {
        let mut settings = Settings::default();
        settings.register(Author::Module, "g_mode", "5", Flags::SERVERINFO).expect("a name");
        assert_eq!((settings.get("g_mode"), settings.change_count("g_mode")), (Some("5"), Some(1)));
        assert!(settings.serverinfo().any(|pair| pair == ("g_mode", "5")));
        assert_eq!(set(&mut settings, "g_mode", "6"), Ok(Change::Changed));
        assert_eq!(set(&mut settings, "G_MODE", "6"), Ok(Change::Unchanged));
        assert_eq!(settings.change_count("g_mode"), Some(2));
        settings.register(Author::Module, "g_mode", "7", Flags::SYSTEMINFO).expect("known");
        assert_eq!(settings.get("g_mode"), Some("6"), "the value stays");
        assert!(settings.systeminfo().any(|pair| pair == ("g_mode", "6")));
        assert_eq!(settings.change_count("unknown"), None);
    }

    #[test]
    fn registration_keeps_operator_value_and_table_rows() {
        let mut settings = Settings::default();
        set(&mut settings, "g_own", "early").expect("a variable");
        settings.register(Author::Module, "g_own", "late", Flags::PLAIN).expect("known");
        assert_eq!(settings.get("g_own"), Some("early"));
        settings.register(Author::Module, "g_own", "build 3", Flags::READ_ONLY).expect("known");
        assert_eq!(settings.get("g_own"), Some("build 3"));
        settings
            .set_with(SetCommand::Set, ChangeSource::Game, "g_own", "1")
            .expect("a setting of the game");
        settings.register(Author::Module, "g_own", "build 3", Flags::READ_ONLY).expect("known");
        assert_eq!(settings.get("g_own"), Some("1"), "the next level reads what this one wrote");
        let speed = settings.get("g_speed").map(str::to_owned);
        settings.register(Author::Module, "g_speed", "999", Flags::READ_ONLY).expect("a row");
        assert_eq!(settings.get("g_speed"), speed.as_deref());
        let before = settings.change_count("g_speed");
        assert_eq!(set(&mut settings, "g_speed", "321"), Ok(Change::Changed));
        assert_eq!(settings.change_count("g_speed"), before.map(|count| count + 1));
    }

    #[test]
    fn registered_flags_restrict_operators() {
        let mut settings = Settings::default();
        settings.register(Author::Module, "g_version", "1", Flags::READ_ONLY).expect("a name");
        settings.register(Author::Module, "g_debug", "0", Flags::CHEAT).expect("a name");
        settings.start().expect("valid");
        for name in ["g_version", "g_debug"] {
            assert!(set(&mut settings, name, "2").is_err(), "{name}");
            let change = settings.set_with(SetCommand::Set, ChangeSource::Game, name, "2");
            assert_eq!(change, Ok(Change::Changed), "{name}");
        }
    }

    #[test]
    fn latched_variable_waits_for_next_map_or_registration() {
        let mut settings = Settings::default();
        settings.register(Author::Module, "g_kind", "1", Flags::LATCHED).expect("a name");
        settings.start().expect("valid");
        assert_eq!(set(&mut settings, "g_kind", "2"), Ok(Change::Latched));
        assert_eq!((settings.get("g_kind"), settings.latched("g_kind")), (Some("1"), Some("2")));
        assert_eq!(set(&mut settings, "g_kind", "1"), Ok(Change::Unchanged));
        assert_eq!(settings.latched("g_kind"), None);
        for (value, by_map) in [("2", true), ("3", false)] {
            assert_eq!(set(&mut settings, "g_kind", value), Ok(Change::Latched));
            if by_map {
                settings.apply_latched();
            } else {
                settings.register(Author::Module, "g_kind", "1", Flags::LATCHED).expect("known");
            }
            assert_eq!((settings.get("g_kind"), settings.latched("g_kind")), (Some(value), None));
        }
        assert_eq!(settings.change_count("g_kind"), Some(3));
    }

    #[test]
    fn registration_beyond_the_serverinfo_changes_nothing() {
        let mut settings = Settings::default();
        let long = "x".repeat(1000);
        assert!(settings.register(Author::Module, "g_long", &long, Flags::SERVERINFO).is_err());
        assert_eq!(settings.get("g_long"), None);
        for name in ["", "a\tb", "a;b", "a\\b"] {
            assert!(settings.register(Author::Module, name, "", Flags::PLAIN).is_err(), "{name:?}");
        }
    }
}
