//! Info strings of the settings: serverinfo and systeminfo.

use crate::{settings::Settings, wire::info::InfoString};

/// The systeminfo as an info string.
pub(super) fn systeminfo(settings: &Settings) -> InfoString {
    let mut info = InfoString::big();
    for (name, value) in settings.systeminfo() {
        let _ = info.set_cleaned(name, value);
    }
    info
}

/// The serverinfo as an info string.
pub(super) fn serverinfo(settings: &Settings) -> InfoString {
    let mut info = InfoString::normal();
    for (name, value) in settings.serverinfo() {
        // The settings reject a value that does not fit.
        let _ = info.set_cleaned(name, value);
    }
    info
}
