//! State of the bot library: its settings and the scripts that the module reads.
//!
//! Invariants: number and length of settings, and number of open scripts, are bounded.
//! Source: the game interface, version 8. Engine names: `BotLibVarSet`, `PC_LoadSourceHandle`.

use std::collections::BTreeMap;

use super::script::Script;
use crate::model::text::truncated;

/// Most settings of the library. The original has fewer.
const MAX_VARIABLES: usize = 256;
/// Longest name and value of a setting, in bytes.
const MAX_VARIABLE_LEN: usize = 256;
/// Most open scripts; handles are 1 to this number.
const MAX_SCRIPTS: usize = 64;

/// Settings and open scripts.
#[derive(Debug, Default)]
pub(super) struct BotLibrary {
    is_set_up: bool,
    /// Whether the log says that the library is not available.
    is_logged: bool,
    variables: BTreeMap<String, String>,
    scripts: Vec<Option<Script>>,
}

impl BotLibrary {
    /// State at the start of the next level.
    pub(super) fn next_level(&self) -> Self {
        Self { is_logged: self.is_logged, ..Self::default() }
    }

    /// Whether the module has set the library up in this level.
    pub(super) fn is_set_up(&self) -> bool {
        self.is_set_up
    }

    /// Records a setup. Returns whether it is the first one of the module.
    pub(super) fn set_up(&mut self) -> bool {
        self.is_set_up = true;
        !std::mem::replace(&mut self.is_logged, true)
    }

    /// Stores a setting, unless there are too many.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let [name, value] = [name, value].map(|text| truncated(text, MAX_VARIABLE_LEN).to_owned());
        if self.variables.len() < MAX_VARIABLES || self.variables.contains_key(&name) {
            self.variables.insert(name, value);
        }
    }

    /// Returns a setting; empty if unset.
    pub(super) fn get(&self, name: &str) -> &str {
        self.variables.get(truncated(name, MAX_VARIABLE_LEN)).map_or("", String::as_str)
    }

    /// Opens a script. Returns its handle, or `None` if too many are open.
    pub(super) fn open(&mut self, script: Script) -> Option<i32> {
        let free = self.scripts.iter().position(Option::is_none);
        let index = free.or((self.scripts.len() < MAX_SCRIPTS).then_some(self.scripts.len()))?;
        if index == self.scripts.len() {
            self.scripts.push(None);
        }
        self.scripts[index] = Some(script);
        i32::try_from(index + 1).ok()
    }

    /// Returns an open script.
    pub(super) fn script(&mut self, handle: i32) -> Option<&mut Script> {
        let index = usize::try_from(handle).ok()?.checked_sub(1)?;
        self.scripts.get_mut(index)?.as_mut()
    }

    /// Closes a script. Returns whether it was open.
    pub(super) fn free_script(&mut self, handle: i32) -> bool {
        let index = usize::try_from(handle).ok().and_then(|handle| handle.checked_sub(1));
        index.and_then(|index| self.scripts.get_mut(index)?.take()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_scripts_are_bounded() {
        let mut library = BotLibrary::default();
        (0..1000).for_each(|number| library.set(&number.to_string(), &"v".repeat(1000)));
        assert_eq!(library.get("7").len(), MAX_VARIABLE_LEN);
        assert_eq!(library.get("999"), "");
        library.set("7", "new");
        assert_eq!(library.get("7"), "new");
        let handles: Vec<_> =
            (0..70).map_while(|_| library.open(Script::new("x", Vec::new()))).collect();
        assert_eq!((handles.len(), handles[0]), (MAX_SCRIPTS, 1));
        assert!(library.free_script(5) && !library.free_script(5) && !library.free_script(-1));
        assert_eq!(library.open(Script::new("x", Vec::new())), Some(5));
    }

    #[test]
    fn setup_is_logged_once_for_all_levels() {
        let mut library = BotLibrary::default();
        assert!(library.set_up() && !library.set_up());
        let mut next = library.next_level();
        assert!(!next.is_set_up() && !next.set_up() && next.is_set_up());
    }
}
