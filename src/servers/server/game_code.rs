//! Choice of the rules of a level: those of the program, or a game module.
//!
//! A value of `vm_game` that was set decides. Otherwise the folder of the mod does: its module runs, as on servers whose
//! default is the module. The module of the game itself runs only if `vm_game` selects it.
//! Source: mods of Quake III. Engine names: `VM_Create`, `fs_game`.

use crate::{
    game::Game,
    model::assets::{Assets, GAME_MODULE, MAX_GAME_MODULE_LEN},
    settings::{Choice as _, GameCode, Settings, key},
};

/// Creates the game that levels request.
pub type GameFactory = Box<dyn Fn(GameRequest) -> Box<dyn Game>>;

/// Game that a level needs. A level with another request than the one before gets a new game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameRequest {
    /// Whether the map is loaded.
    pub geometry: Geometry,
    /// Rules that `vm_game` or the mod selects.
    pub code: GameCode,
    /// Reason for these rules.
    pub origin: CodeOrigin,
    /// Checksum of the game module, since its file may be replaced between levels; 0 for the rules of the program.
    pub module: u32,
}

/// Whether a level has the geometry of its map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Geometry {
    /// The map is loaded: entities collide.
    Map,
    /// Open space, since no map is loaded.
    None,
}

/// Reason for the rules of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeOrigin {
    /// `vm_game` was set.
    Setting,
    /// `vm_game` was not set: the folder of the mod decides.
    Mod,
}

/// Request before the first level. Scripts that run before it find the value of `vm_game` that follows from the mod.
/// Also returns errors of values that only a module would accept.
pub(super) fn first_request(
    settings: &mut Settings,
    assets: &dyn Assets,
) -> (GameRequest, Vec<String>) {
    let (code, origin) = next_code(settings, assets);
    let mut errors = Vec::new();
    if origin == CodeOrigin::Mod {
        errors = settings.follow_mod(code);
        while let Some(note) = settings.poll_note() {
            log::warn!("{note}");
        }
    }
    (GameRequest { geometry: Geometry::None, code, origin, module: 0 }, errors)
}

/// Request of the next level. A latched `vm_game` takes effect with it.
pub(super) fn next_request(
    settings: &Settings,
    assets: &dyn Assets,
    geometry: Geometry,
) -> GameRequest {
    let (code, origin) = next_code(settings, assets);
    let code = match (geometry, origin) {
        (Geometry::None, CodeOrigin::Mod) => GameCode::Native,
        _ => code,
    };
    let is_module = geometry == Geometry::Map && code != GameCode::Native;
    let module = is_module.then(|| assets.read(GAME_MODULE, MAX_GAME_MODULE_LEN).ok()).flatten();
    let module = module.map_or(0, |bytes| crc32fast::hash(&bytes));
    GameRequest { geometry, code, origin, module }
}

/// Rules of the next level, and the reason for them.
fn next_code(settings: &Settings, assets: &dyn Assets) -> (GameCode, CodeOrigin) {
    let latched = settings.latched("vm_game").and_then(GameCode::named);
    let chosen =
        latched.or(settings.is_chosen(key::VM_GAME).then(|| settings.choice(key::VM_GAME)));
    match chosen {
        Some(code) => (code, CodeOrigin::Setting),
        None if has_mod(settings) && assets.mod_code().bytecode.is_some() => {
            (GameCode::Compiled, CodeOrigin::Mod)
        }
        None => (GameCode::Native, CodeOrigin::Mod),
    }
}

/// Whether a mod is loaded. The folder of the game itself is none.
pub(crate) fn has_mod(settings: &Settings) -> bool {
    let folder = settings.text(key::FS_GAME);
    !folder.is_empty() && !folder.eq_ignore_ascii_case(settings.choice(key::GAME).name())
}
