//! Info strings of the settings: serverinfo and systeminfo.

use super::core::Core;
use crate::wire::info::InfoString;

impl Core {
    /// The systeminfo as an info string.
    pub(super) fn systeminfo(&self) -> InfoString {
        let mut info = InfoString::big();
        for (name, value) in self.settings.systeminfo() {
            let _ = info.set_cleaned(name, value);
        }
        info
    }

    /// The serverinfo as an info string.
    pub(super) fn serverinfo(&self) -> InfoString {
        let mut info = InfoString::normal();
        for (name, value) in self.settings.serverinfo() {
            // The settings reject a value that does not fit.
            let _ = info.set_cleaned(name, value);
        }
        info
    }
}
