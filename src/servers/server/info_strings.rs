//! Info strings of the settings: serverinfo and systeminfo.

use super::core::Core;
use crate::{model::ConfigIndex, settings::Settings, wire::info::InfoString};

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

/// Publishes serverinfo and systeminfo if a setting in them has changed.
pub(super) fn publish_settings(core: &mut Core) {
    let settings = &core.settings;
    let versions = (settings.serverinfo_version(), settings.systeminfo_version());
    if versions == core.published && !core.level.configstrings.is_empty() {
        return;
    }
    core.published = versions;
    let (serverinfo, systeminfo) = (serverinfo(settings), systeminfo(settings));
    core.publish(ConfigIndex::SYSTEMINFO, systeminfo.as_str());
    core.publish(ConfigIndex::SERVERINFO, serverinfo.as_str());
}
