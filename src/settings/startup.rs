//! Stages of a start: command line and config file, scripts, first level.
//!
//! Invariant: startup-only settings are write protected after the command line, those that scripts may set after the
//! start of the first level. Private slots never exceed the slots of a level.

use super::{
    constraints::{check_combinations, check_pairs},
    error::SettingError,
    store::Settings,
    table::key,
    variables::position,
};
use crate::cvar::{GameCode, Value};

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

    /// Ends the startup before scripts run: they may change the number of slots after that of private ones.
    ///
    /// # Errors
    /// As [`Self::start`], without the slots.
    pub fn start_before_scripts(&mut self) -> Result<(), SettingError> {
        check_pairs(self)?;
        self.started = true;
        self.expect_scripts();
        Ok(())
    }

    /// Announces scripts: until the first level, private slots are not compared with slots.
    pub fn expect_scripts(&mut self) {
        self.runs_scripts = true;
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

    /// Begins the first level: latched values are in effect, settings of the start are write protected. Private slots
    /// beyond all slots are reduced, with a note.
    pub fn begin_first_level(&mut self) {
        self.apply_latched();
        self.runs_scripts = false;
        let (private, slots) = (self.int(key::SV_PRIVATE_CLIENTS), self.int(key::SV_MAXCLIENTS));
        if private > slots {
            // A smaller number is accepted.
            let _ = self.write(key::SV_PRIVATE_CLIENTS, slots);
            self.note(format!(
                "sv_privateClients: {private} read as {slots} (expected at most sv_maxclients, {slots})"
            ));
        }
        self.has_level = true;
    }

    /// Announces what later sources set, so that undeclared names are accepted for a game module. The default ends the
    /// announcement.
    pub fn expect_code(&mut self, expected: ExpectedCode) {
        self.expected = expected;
    }

    /// Whether undeclared names may be settings of a game module.
    pub(crate) fn hosts_module(&self) -> bool {
        let selected = self.choice(key::VM_GAME) != GameCode::Native;
        self.expected.has_module.unwrap_or(
            selected
                || self.latched("vm_game").is_some_and(|code| code != "0")
                || self.may_host_mod(),
        )
    }

    /// Whether the module of a mod runs if it has one, which is not known before the start.
    pub(super) fn may_host_mod(&self) -> bool {
        let has_mod = self.expected.has_mod || !self.text(key::FS_GAME).is_empty();
        !self.has_level
            && has_mod
            && !self.is_chosen(key::VM_GAME)
            && self.expected.has_module.is_none()
    }

    /// Sets the rules that follow from the mod, since `vm_game` was not set. Names that were accepted for a module are
    /// noted if there is none.
    pub fn follow_mod(&mut self, code: GameCode) {
        // The row accepts all values of its type.
        let _ = self.write(key::VM_GAME, code);
        for name in std::mem::take(&mut self.for_module) {
            if code == GameCode::Native {
                self.note(format!("unknown setting {name}: stored as a variable"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_slots_are_compared_with_first_level() {
        let mut settings = Settings::default();
        settings.start_before_scripts().expect("defaults");
        for (name, value) in [("sv_privateClients", "10"), ("sv_maxclients", "32")] {
            settings.set(name, value).expect("the order does not matter");
        }
        settings.begin_first_level();
        assert_eq!(settings.int(key::SV_PRIVATE_CLIENTS), 10);
        assert_eq!(settings.poll_note(), None);
        assert!(settings.set("sv_privateClients", "33").is_err());

        let mut settings = Settings::default();
        settings.start_before_scripts().expect("defaults");
        settings.set("sv_privateClients", "10").expect("compared later");
        settings.begin_first_level();
        assert_eq!(settings.int(key::SV_PRIVATE_CLIENTS), 8);
        let note = settings.poll_note().expect("a note");
        assert!(note.starts_with("sv_privateClients: 10 read as 8"), "{note}");
    }

    #[test]
    fn game_log_is_set_until_first_level() {
        let mut settings = Settings::default();
        settings.start_before_scripts().expect("defaults");
        settings.set("g_log", "server.log").expect("before the first level");
        assert!(settings.set("net_port", "1").is_err());
        settings.begin_first_level();
        let error = settings.set("g_log", "other.log").expect_err("it is open").to_string();
        assert!(error.starts_with("g_log is write protected."), "{error}");
        assert_eq!(settings.text(key::G_LOG), "server.log");
    }
}
