//! Model and sound indexes: asset names, numbered without gaps in the order of registration.
//!
//! Source: the base game's registration of models and sounds.

use crate::bg::configstring;
use crate::game::{Host, userinfo::clean_text};
use crate::model::ConfigIndex;

/// Size of each block of configstrings.
const MAX_NAMES: u16 = 256;
/// Sound of jump pads and teleporters.
pub(super) const PAD_SOUND: &str = "sound/world/jumppad.wav";

/// Returns the index of a name in a block of configstrings.
///
/// A new name takes the first free index. Returns 0, which clients ignore, when the block is full.
fn register(host: &mut dyn Host, first: u16, name: &str) -> i32 {
    let name = clean_text(name, 63);
    if name.is_empty() {
        return 0;
    }
    for offset in 1..MAX_NAMES {
        let Some(index) = ConfigIndex::new(usize::from(first + offset)) else { break };
        let taken = host.configstring(index);
        if taken == name {
            return i32::from(offset);
        }
        if taken.is_empty() {
            host.set_configstring(index, &name);
            return i32::from(offset);
        }
    }
    host.print(&format!("no room for {name}"));
    0
}

/// Returns the index of a sound.
pub(super) fn sound_index(host: &mut dyn Host, name: &str) -> i32 {
    register(host, configstring::SOUNDS, name)
}

/// Returns the index of a model.
pub(super) fn model_index(host: &mut dyn Host, name: &str) -> i32 {
    register(host, configstring::MODELS, name)
}
