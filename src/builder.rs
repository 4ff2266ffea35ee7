//! Server builder: settings, game data, entropy and rules to a running server.

use std::{cell::OnceCell, rc::Rc, sync::Arc};

use crate::{
    game::{Deathmatch, Flight, Ruleset, movement::PmoveVariant},
    model::{
        UnixMillis,
        assets::{Assets, MemoryAssets},
    },
    qagame::GameModule,
    qvm::{Engine, Executable, Image, MAX_FILE, Program, Symbols},
    server::{GameFactory, Geometry, Server, ServerStart},
    settings::{Choice as _, GameCode, SetCommand, Settings, key},
};

/// Game module and its symbols in the game data.
const MODULE: &str = "vm/qagame.qvm";
const SYMBOLS: &str = "vm/qagame.map";

/// Builder of a [`Server`]; see [`Server::builder`].
pub struct ServerBuilder {
    settings: Settings,
    assets: Box<dyn Assets>,
    rules: Option<GameFactory>,
    start: ServerStart,
    fixed_random: Option<u16>,
}

impl Server {
    /// Starts to build a server. `entropy` must come from a cryptographic random source: challenges are
    /// keyed with it.
    #[must_use]
    pub fn builder(settings: Settings, entropy: [u8; 32]) -> ServerBuilder {
        let assets = Box::new(MemoryAssets::default());
        ServerBuilder { settings, assets, rules: None, start: entropy.into(), fixed_random: None }
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
        self.start.epoch = at;
        self
    }

    /// Sets changes of settings that override the configuration of a mod.
    #[must_use]
    pub fn overrides(mut self, changes: Vec<(SetCommand, String, String)>) -> Self {
        self.start.overrides = changes;
        self
    }

    /// Sets console lines that run before the first level. Commands that need a level wait for the first frame.
    #[must_use]
    pub fn lines(mut self, lines: Vec<String>) -> Self {
        self.start.lines = lines;
        self
    }

    /// Makes every random number of the rules and of a module the same, for comparisons.
    #[cfg(feature = "sim")]
    #[must_use]
    pub(crate) fn fixed_random(mut self, value: u16) -> Self {
        self.fixed_random = Some(value);
        self
    }

    /// Creates the server and loads its first level.
    #[must_use]
    pub fn build(self) -> Server {
        let Self { settings, assets, rules, start, fixed_random } = self;
        let assets: Rc<dyn Assets> = Rc::from(assets);
        let rules = rules.unwrap_or_else(|| {
            let native = native_rules(&settings, fixed_random);
            selected_rules(native, Rc::clone(&assets), fixed_random)
        });
        let fallback = rules_of(&settings);
        Server::new(settings, Box::new(assets), rules, start).with_fallback_rules(fallback)
    }
}

/// Returns the factory of the rules that each request selects. A module that cannot run is named in the log, and
/// the rules of the program replace it. Without geometry it makes free flight.
fn selected_rules(
    native: GameFactory,
    assets: Rc<dyn Assets>,
    fixed_random: Option<u16>,
) -> GameFactory {
    // Levels share the code: compiling takes longer than a frame.
    let (interpreted, compiled) = (OnceCell::new(), OnceCell::new());
    Box::new(move |request| {
        let (engine, code) = match request.code {
            GameCode::Native => return native(request),
            GameCode::Interpreted => (Engine::Interpreter, &interpreted),
            GameCode::Compiled => (Engine::Compiled, &compiled),
        };
        if request.geometry == Geometry::None {
            return native(request);
        }
        match executable_of(code, &*assets, engine, fixed_random) {
            Ok(executable) => Box::new(GameModule::new(executable)),
            Err(error) => {
                log::error!("game module not used: {error}; running the rules of the program");
                native(request)
            }
        }
    })
}

/// Returns the code of the module in the game data, which is read once for each engine.
///
/// # Errors
/// A sentence that names the file and the reason, if the module cannot run.
fn executable_of(
    known: &OnceCell<Executable>,
    assets: &dyn Assets,
    engine: Engine,
    fixed_random: Option<u16>,
) -> Result<Executable, String> {
    if let Some(executable) = known.get() {
        return Ok(executable.clone());
    }
    let program = read_module(assets, fixed_random)?;
    let executable = Executable::new(&program, engine).or_else(|error| {
        log::warn!("{MODULE}: {error}; interpreting it");
        Executable::new(&program, Engine::Interpreter)
    });
    let executable = executable.map_err(|error| format!("{MODULE}: {error}"))?;
    Ok(known.get_or_init(|| executable).clone())
}

/// Reads and verifies the module of the game data.
fn read_module(assets: &dyn Assets, fixed_random: Option<u16>) -> Result<Arc<Program>, String> {
    let bytes = assets.read(MODULE, MAX_FILE as u64).map_err(|error| error.to_string())?;
    let symbols = assets.read(SYMBOLS, MAX_FILE as u64).ok();
    let symbols = symbols.map(|bytes| Symbols::parse(&String::from_utf8_lossy(&bytes)));
    let named = |error: &dyn std::error::Error| format!("{MODULE}: {error}");
    let mut image = Image::parse(&bytes).map_err(|error| named(&error))?;
    // A module with another library keeps its own random numbers.
    if let Some(value) = fixed_random {
        let _ = image.fix_random(value);
    }
    let program = Program::verify_with(image, symbols.unwrap_or_default());
    let program = program.map_err(|error| named(&error))?;
    log::info!("game module {MODULE}: {} instructions", program.instructions().len());
    Ok(program)
}

/// Returns the rules factory that the settings name. It makes deathmatch on maps and free flight without
/// geometry, with the ruleset of `game` and the movement of `g_movement`.
#[must_use]
pub fn rules_of(settings: &Settings) -> GameFactory {
    native_rules(settings, None)
}

/// Returns [`rules_of`] the settings, with every random number the same if one is given.
fn native_rules(settings: &Settings, fixed_random: Option<u16>) -> GameFactory {
    let ruleset = Ruleset::of_folder(settings.choice(key::GAME).name()).unwrap_or(Ruleset::BASEOA);
    let movement = settings.choice(key::G_MOVEMENT).name();
    let variant = PmoveVariant::named(movement).unwrap_or(PmoveVariant::of_ruleset(ruleset));
    Box::new(move |request| match request.geometry {
        Geometry::Map => Box::new(Deathmatch::moving_as(variant).with_fixed_random(fixed_random)),
        Geometry::None => Box::new(Flight::new(variant.ruleset)),
    })
}
