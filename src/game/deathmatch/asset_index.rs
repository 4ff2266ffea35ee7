//! Model and sound indexes: asset names, numbered without gaps in the order of registration.
//!
//! Source: the base game's registration of models and sounds.

use crate::model::ConfigIndex;
use crate::{
    bg::configstring,
    game::{Host, userinfo::clean_text},
};

/// Names of models and sounds that fit.
const MAX_NAMES: u16 = 256;
/// Heard where one is thrown or vanishes.
pub(super) const PAD_SOUND: &str = "sound/world/jumppad.wav";

/// The number of a name in a block of configstrings; a new one takes the first free place. 0 when there
/// is no room, which means nothing to clients.
fn register(host: &mut dyn Host, first: u16, name: &str) -> i32 {
    let name = clean_text(name, 63);
    if name.is_empty() {
        return 0;
    }
    for place in 1..MAX_NAMES {
        let Some(index) = ConfigIndex::new(usize::from(first + place)) else { break };
        let taken = host.configstring(index);
        if taken == name {
            return i32::from(place);
        }
        if taken.is_empty() {
            host.set_configstring(index, &name);
            return i32::from(place);
        }
    }
    host.print(&format!("no room for {name}"));
    0
}

/// The number of a sound.
pub(super) fn sound_index(host: &mut dyn Host, name: &str) -> i32 {
    register(host, configstring::SOUNDS, name)
}

/// The number of a model.
pub(super) fn model_index(host: &mut dyn Host, name: &str) -> i32 {
    register(host, configstring::MODELS, name)
}
