//! Shader remaps that targets switch on.
//!
//! Source: the base game's shader remaps. Engine names: `AddRemap`, `BuildShaderStateConfig`.

use crate::bg::configstring;
use crate::game::deathmatch::{context::Context, targets::Targets};
use crate::game::userinfo::clean_text;
use crate::model::EntityNum;
use crate::world::entity_string::MapEntity;
use std::fmt::Write as _;

/// Maximum number of active remaps.
const MAX_REMAPS: usize = 128;
/// Maximum length of a shader name, in bytes.
const MAX_NAME: usize = 63;
/// Maximum length of the configstring, in bytes.
const MAX_LIST: usize = 4000;

/// Replacement of a shader.
#[derive(Clone, Debug)]
struct Remap {
    from: Box<str>,
    to: Box<str>,
}

/// Shader remaps of a level.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShaderRemaps {
    /// Remaps by the entity that activates them.
    causes: Vec<(EntityNum, Remap)>,
    /// Active remaps, each with its time in seconds.
    done: Vec<(Remap, f32)>,
}

impl ShaderRemaps {
    pub(crate) fn clear(&mut self) {
        self.causes.clear();
        self.done.clear();
    }

    /// Stores the remap of a map entity, if it has one.
    pub(crate) fn read(&mut self, map_entity: &MapEntity, number: EntityNum) {
        let name = |key| {
            let name = clean_text(map_entity.field(key).unwrap_or_default(), MAX_NAME);
            (!name.is_empty()).then(|| name.into_boxed_str())
        };
        if let (Some(from), Some(to)) = (name("targetShaderName"), name("targetShaderNewName")) {
            self.causes.push((number, Remap { from, to }));
        }
    }

    fn fire(&mut self, number: EntityNum, seconds: f32) -> bool {
        let Some((_, cause)) = self.causes.iter().find(|(cause, _)| *cause == number) else {
            return false;
        };
        let known = |(done, _): &&mut (Remap, f32)| done.from.eq_ignore_ascii_case(&cause.from);
        if let Some(done) = self.done.iter_mut().find(known) {
            *done = (cause.clone(), seconds);
        } else if self.done.len() < MAX_REMAPS {
            self.done.push((cause.clone(), seconds));
        }
        true
    }

    fn list(&self) -> String {
        let mut list = String::new();
        for (Remap { from, to }, seconds) in &self.done {
            let before = list.len();
            let _ = write!(list, "{from}={to}:{seconds:5.2}@");
            if list.len() > MAX_LIST {
                list.truncate(before);
                break;
            }
        }
        list
    }
}

impl Targets {
    /// Activates the shader remap of an entity that fires.
    pub(crate) fn remap_shader(&mut self, cx: &mut Context<'_>, number: EntityNum) {
        let seconds = cx.clients.now.0 as f32 * 0.001;
        if self.remaps.fire(number, seconds) {
            cx.host.set_configstring(configstring::SHADER_STATE, &self.remaps.list());
        }
    }
}
