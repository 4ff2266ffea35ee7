//! Stages of a start: command line and config file, scripts, first level.
//!
//! Invariant: startup-only settings are write protected after the command line, those that scripts may set after the
//! start of the first level. Private slots never exceed the slots of a level that begins.

use super::{
    author::Author,
    change::{Change, ChangeSource, SetCommand},
    constraints::check_combinations,
    error::SettingError,
    module_texts,
    notes::Note,
    relations::{fit_private_slots, note_empty_ranges},
    store::Settings,
    table::{key, row_named},
    variables::position,
};
use crate::cvar::{GameCode, Value};

/// Maximum number of names that are kept until the rules are known.
const MAX_FOR_MODULE: usize = 64;

/// Game code that sources which are not read yet will select.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpectedCode {
    /// Whether `vm_game` selects a game module, if a source sets it.
    pub has_module: Option<bool>,
    /// Whether a mod is loaded, whose module runs if `vm_game` is not set.
    pub has_mod: bool,
}

/// Values that wait for the next level.
#[derive(Debug)]
pub(crate) struct Latched {
    rows: Vec<Option<Value>>,
    variables: Vec<(String, String)>,
}

impl Settings {
    /// Ends the startup: from now on, startup-only settings are write protected.
    ///
    /// # Errors
    /// When valid values form an invalid combination.
    pub fn start(&mut self) -> Result<(), SettingError> {
        check_combinations(self)?;
        self.started = true;
        Ok(())
    }

    /// Takes the values that wait for the next level, to put them back behind the load of a level.
    pub(crate) fn take_latched(&mut self) -> Latched {
        let rows = self.slots.iter_mut().map(|slot| slot.latched.take()).collect();
        let variables = self.variables.iter_mut().filter_map(|own| {
            let latched = own.latched.take()?;
            Some((own.name.clone(), latched))
        });
        Latched { rows, variables: variables.collect() }
    }

    /// Puts back values of [`Self::take_latched`].
    pub(crate) fn restore_latched(&mut self, latched: Latched) {
        for (slot, value) in self.slots.iter_mut().zip(latched.rows) {
            slot.latched = value.or(slot.latched.take());
        }
        for (name, value) in latched.variables {
            if let Some(at) = position(&self.variables, &name) {
                self.variables[at].latched = Some(value);
            }
        }
    }

    /// Begins the first level: settings of the start are write protected.
    pub fn begin_first_level(&mut self) {
        self.has_level = true;
        self.begin_level();
    }

    /// Begins a level: latched values are in effect, and values that its other values do not allow are reduced.
    pub fn begin_level(&mut self) {
        self.apply_latched();
        fit_private_slots(self, None);
        note_empty_ranges(self);
    }

    /// Announces what later sources set, so that undeclared names are accepted for a game module. The default ends the
    /// announcement.
    pub fn expect_code(&mut self, expected: ExpectedCode) {
        self.expected = expected;
    }

    /// Whether undeclared names may be settings of a game module.
    pub(crate) fn hosts_module(&self) -> bool {
        // Whether a mod has a module is not known before the start.
        let has_mod = self.expected.has_mod || !self.text(key::FS_GAME).is_empty();
        let may_host_mod = has_mod && !self.knows_mod && !self.is_chosen(key::VM_GAME);
        let selected = self
            .runs_module
            .unwrap_or_else(|| self.choice(key::VM_GAME) != GameCode::Native || may_host_mod);
        let waits = || self.latched("vm_game").is_some_and(|code| code != "0");
        self.expected.has_module.unwrap_or_else(|| selected || waits())
    }

    /// Sets the rules that follow from the mod, since `vm_game` was not set. Without a module, names that were
    /// accepted for it are noted, and values are checked. Returns the errors of the values, which are reset.
    pub fn follow_mod(&mut self, code: GameCode) -> Vec<String> {
        self.knows_mod = true;
        // The row accepts all values of its type.
        let _ = self.write(key::VM_GAME, code);
        if code != GameCode::Native {
            return Vec::new();
        }
        note_for_module(self);
        module_texts::read_again(self)
    }

    /// Sets the rules that a level runs with, and those that it asked for. A module that cannot run is replaced by the
    /// rules of the program, so that names are not its own; its values stay for the next level.
    pub fn begin_rules(&mut self, code: GameCode, asked: GameCode) {
        let runs_module = code != GameCode::Native;
        let had_module = self.runs_module.replace(runs_module) != Some(false);
        if !self.is_chosen(key::VM_GAME) {
            self.knows_mod = true;
            // The row accepts all values of its type.
            let _ = self.write(key::VM_GAME, code);
        }
        if runs_module {
            self.for_module.clear();
            return;
        }
        note_for_module(self);
        if asked == GameCode::Native {
            for error in module_texts::read_again(self) {
                self.notes.push(format!("{error}; the default is used"));
            }
        } else if had_module {
            module_texts::note_numbers(self);
        }
    }

    /// Sets a setting to its default, as if it had not been set.
    ///
    /// # Errors
    /// As [`Self::set_with`]; nothing has changed.
    pub fn reset(
        &mut self,
        author: Author,
        source: ChangeSource,
        name: &str,
    ) -> Result<Change, SettingError> {
        let Some(default) = self.default_of(name).map(str::to_owned) else {
            return Err(SettingError::NoDefault { name: name.to_owned() });
        };
        let row = row_named(name);
        // The default of a variable is that of the game.
        let author = if row.is_none() { author.least(Author::Module) } else { author };
        if row == Some(key::VM_GAME.row()) && self.started {
            // The mod decides about the next level.
            let slot = &mut self.slots[key::VM_GAME.row()];
            let was_set = slot.latched.take().is_some() || slot.chosen;
            slot.chosen = false;
            return Ok(if was_set { Change::Latched } else { Change::Unchanged });
        }
        let change = self.set_by(author, SetCommand::Set, source, name, &default)?;
        if let Some(row) = row {
            self.slots[row].chosen = false;
        }
        Ok(change)
    }
}

/// Keeps the note about a name that a module may have.
pub(super) fn keep_for_module(settings: &mut Settings, name: &str, text: String) {
    if settings.runs_module.is_none() && settings.for_module.len() < MAX_FOR_MODULE {
        let text = format!("{}{text}", settings.notes.current_place());
        settings.for_module.push(Note { text, undeclared: Some(name.to_owned()) });
    }
}

/// Adds the notes that were kept, since no module has the names.
fn note_for_module(settings: &mut Settings) {
    for note in std::mem::take(&mut settings.for_module) {
        settings.notes.add(note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_forgets_that_a_setting_was_set() {
        let mut settings = Settings::default();
        settings.set("fs_game", "mymod").expect("a folder");
        settings.set("vm_game", "0").expect("a choice");
        settings.start().expect("defaults");
        settings.begin_first_level();
        settings.begin_rules(GameCode::Native, GameCode::Native);
        let reset = |settings: &mut Settings, name| {
            settings.reset(Author::Operator, ChangeSource::Console, name)
        };
        assert_eq!(reset(&mut settings, "vm_game"), Ok(Change::Latched));
        assert!(!settings.is_chosen(key::VM_GAME));
        assert_eq!(reset(&mut settings, "vm_game"), Ok(Change::Unchanged));
        settings.set("vm_game", "1").expect("a choice");
        assert_eq!(reset(&mut settings, "VM_GAME"), Ok(Change::Latched));
        assert_eq!(settings.latched("vm_game"), None);
        settings.begin_level();
        settings.begin_rules(GameCode::Compiled, GameCode::Compiled);
        assert_eq!(settings.get("vm_game"), Some("2"));
        // A module that cannot run is not shown.
        settings.begin_level();
        settings.begin_rules(GameCode::Native, GameCode::Native);
        assert_eq!(settings.get("vm_game"), Some("0"));
        settings.set("fraglimit", "5").expect("a number");
        assert_eq!(reset(&mut settings, "fraglimit"), Ok(Change::Changed));
        assert!(!settings.is_chosen(key::FRAGLIMIT));
        assert!(reset(&mut settings, "nosuch").is_err());
    }

    #[test]
    fn names_near_settings_are_those_of_a_module() {
        let near = |code: GameCode| {
            let mut settings = Settings::default();
            settings.set("fs_game", "mymod").expect("a folder");
            settings.start().expect("defaults");
            settings.follow_mod(code);
            settings.set_place(Some("server.cfg:5".to_owned()));
            for name in ["g_lms_mode", "g_gametypes"] {
                let set = SetCommand::Set;
                settings.set_with(set, ChangeSource::Script, name, "1").expect("a variable");
            }
            let before: Vec<_> = std::iter::from_fn(|| settings.poll_note()).collect();
            settings.begin_first_level();
            // The module of the mod is damaged.
            settings.begin_rules(GameCode::Native, GameCode::Native);
            let after: Vec<_> = std::iter::from_fn(|| settings.poll_note()).collect();
            (before, after)
        };
        let hint = "unknown setting g_gametypes: stored as a variable; did you mean g_gametype?";
        assert_eq!(near(GameCode::Native), (vec![hint.to_owned()], vec![]));
        assert_eq!(near(GameCode::Compiled), (vec![], vec![format!("server.cfg:5: {hint}")]));
    }

    #[test]
    fn values_for_a_module_are_checked_without_one() {
        let settings = |code: GameCode| {
            let mut settings = Settings::default();
            settings.set("fs_game", "mymod").expect("a folder");
            settings.set_place(Some("+set".to_owned()));
            for (name, value) in [("fraglimit", "99999"), ("timelimit", "abc"), ("g_speed", "32O")]
            {
                let set = SetCommand::Set;
                settings.set_with(set, ChangeSource::Script, name, value).expect("a module's");
            }
            settings.set_place(None);
            settings.start().expect("defaults");
            let errors = settings.follow_mod(code);
            (settings, errors)
        };
        let notes = |settings: &mut Settings| -> Vec<_> {
            std::iter::from_fn(|| settings.poll_note()).collect()
        };
        let (mut native, errors) = settings(GameCode::Native);
        let wrong = "+set: timelimit: invalid value \"abc\" (expected 0 for off, or an integer from 1 to 9999)";
        assert_eq!(errors, [wrong]);
        assert_eq!(notes(&mut native).len(), 2, "fraglimit and g_speed");
        let read = |settings: &Settings| {
            ["fraglimit", "timelimit", "g_speed"].map(|name| settings.get(name).map(str::to_owned))
        };
        assert_eq!(read(&native), ["9999", "0", "32"].map(|text| Some(text.to_owned())));
        let (mut module, errors) = settings(GameCode::Compiled);
        assert_eq!(errors, [""; 0]);
        assert_eq!(read(&module), ["99999", "abc", "32O"].map(|text| Some(text.to_owned())));
        // The module of the mod is damaged, or a fault has ended it: its values are read as numbers and stay.
        module.begin_first_level();
        module.begin_rules(GameCode::Native, GameCode::Compiled);
        assert_eq!(read(&module), ["99999", "abc", "32O"].map(|text| Some(text.to_owned())));
        let noted = notes(&mut module);
        let as_zero = "+set: timelimit: \"abc\" kept for the module; the rules of the program use 0 \
                       (expected 0 for off, or an integer from 1 to 9999)";
        assert!(noted.len() == 3 && noted.contains(&as_zero.to_owned()), "{noted:?}");
        module.begin_rules(GameCode::Native, GameCode::Compiled);
        assert!(notes(&mut module).is_empty(), "noted once");
        // The operator selects the rules of the program.
        module.begin_rules(GameCode::Native, GameCode::Native);
        assert_eq!(read(&module), read(&native));
        assert!(notes(&mut module).contains(&format!("{wrong}; the default is used")));
    }

    #[test]
    fn game_log_is_set_until_first_level() {
        let mut settings = Settings::default();
        settings.start().expect("defaults");
        settings.set("g_log", "server.log").expect("before the first level");
        assert!(settings.set("net_port", "1").is_err());
        settings.begin_first_level();
        let error = settings.set("g_log", "other.log").expect_err("it is open").to_string();
        assert!(error.starts_with("g_log is write protected."), "{error}");
        assert_eq!(settings.text(key::G_LOG), "server.log");
    }
}
