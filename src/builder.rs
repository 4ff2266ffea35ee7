//! Server builder: settings, game data, entropy and rules to a running server.

use crate::{
    game::{Deathmatch, Flight, Ruleset, movement::PmoveVariant},
    model::{
        UnixMillis,
        assets::{Assets, MemoryAssets},
    },
    qagame::GameModule,
    qvm::{Engine, Executable, Image, MAX_FILE, Program, Symbols},
    server::{GameFactory, Geometry, Server, ServerStart},
    settings::{Choice as _, GameCode, Settings, key},
};

/// Game module and its symbols in the game data.
const MODULE: &str = "vm/qagame.qvm";
const SYMBOLS: &str = "vm/qagame.map";

/// Builder of a [`Server`]; see [`Server::builder`].
pub struct ServerBuilder {
    settings: Settings,
    entropy: [u8; 32],
    assets: Box<dyn Assets>,
    rules: Option<GameFactory>,
    started_at: Option<UnixMillis>,
}

impl Server {
    /// Starts to build a server. `entropy` must come from a cryptographic random source: challenges are
    /// keyed with it.
    #[must_use]
    pub fn builder(settings: Settings, entropy: [u8; 32]) -> ServerBuilder {
        let assets = Box::new(MemoryAssets::default());
        ServerBuilder { settings, entropy, assets, rules: None, started_at: None }
    }
}

impl ServerBuilder {
    /// Sets the source of game files. Without one the server runs free flight.
    #[must_use]
    pub fn assets(mut self, assets: impl Assets + 'static) -> Self {
        self.assets = Box::new(assets);
        self
    }

    /// Sets the rules factory. Without one the settings choose the rules: see [`rules_of`].
    #[must_use]
    pub fn rules(mut self, rules: GameFactory) -> Self {
        self.rules = Some(rules);
        self
    }

    /// Sets the calendar time at the zero of the server's clock, for `g_timestamp`.
    #[must_use]
    pub fn started_at(mut self, at: Option<UnixMillis>) -> Self {
        self.started_at = at;
        self
    }

    /// Creates the server and loads its first level.
    #[must_use]
    pub fn build(self) -> Server {
        let Self { settings, entropy, assets, rules, started_at } = self;
        let rules = rules.unwrap_or_else(|| {
            let module = module_of(&settings, &*assets).unwrap_or_else(|error| {
                log::error!("game module not used: {error}; running the rules of the program");
                None
            });
            module.unwrap_or_else(|| rules_of(&settings))
        });
        let fallback = rules_of(&settings);
        let start = ServerStart { entropy, epoch: started_at };
        Server::new(settings, assets, rules, start).with_fallback_rules(fallback)
    }
}

/// Returns the factory of the game module that `vm_game` selects; `None` for the rules of the program. Without
/// geometry it makes free flight.
///
/// # Errors
/// A sentence that names the file and the reason, if the module cannot run.
fn module_of(settings: &Settings, assets: &dyn Assets) -> Result<Option<GameFactory>, String> {
    let engine = match settings.choice(key::VM_GAME) {
        GameCode::Native => return Ok(None),
        GameCode::Interpreted => Engine::Interpreter,
        GameCode::Compiled => Engine::Compiled,
    };
    let bytes = assets.read(MODULE, MAX_FILE as u64).map_err(|error| error.to_string())?;
    let symbols = assets.read(SYMBOLS, MAX_FILE as u64).ok();
    let symbols = symbols.map(|bytes| Symbols::parse(&String::from_utf8_lossy(&bytes)));
    let named = |error: &dyn std::error::Error| format!("{MODULE}: {error}");
    let image = Image::parse(&bytes).map_err(|error| named(&error))?;
    let program = Program::verify_with(image, symbols.unwrap_or_default());
    let program = program.map_err(|error| named(&error))?;
    log::info!("game module {MODULE}: {} instructions", program.instructions().len());
    // Levels share the code: compiling takes longer than a frame.
    let executable = Executable::new(program.clone(), engine).or_else(|error| {
        log::warn!("{MODULE}: {error}; interpreting it");
        Executable::new(program, Engine::Interpreter)
    });
    let executable = executable.map_err(|error| named(&error))?;
    let flight = rules_of(settings);
    Ok(Some(Box::new(move |geometry| match geometry {
        Geometry::None => flight(geometry),
        Geometry::Map => Box::new(GameModule::new(executable.clone())),
    })))
}

/// Returns the rules factory that the settings name. It makes deathmatch on maps and free flight without
/// geometry, with the ruleset of `game` and the movement of `g_movement`.
#[must_use]
pub fn rules_of(settings: &Settings) -> GameFactory {
    let ruleset = Ruleset::of_folder(settings.choice(key::GAME).name()).unwrap_or(Ruleset::BASEOA);
    let movement = settings.choice(key::G_MOVEMENT).name();
    let variant = PmoveVariant::named(movement).unwrap_or(PmoveVariant::of_ruleset(ruleset));
    Box::new(move |geometry| match geometry {
        Geometry::Map => Box::new(Deathmatch::moving_as(variant)),
        Geometry::None => Box::new(Flight::new(variant.ruleset)),
    })
}
