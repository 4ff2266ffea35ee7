//! Server builder: settings, game data, entropy and rules to a running server.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
};

use crate::{
    game::{Deathmatch, Flight, Ruleset, movement::PmoveVariant},
    model::{
        UnixMillis,
        assets::{Assets, GAME_MODULE, MAX_GAME_MODULE_LEN, MemoryAssets},
        state_folder::StateFolder,
    },
    qagame::GameModule,
    qvm::{Engine, EngineError, Executable, Image, MAX_FILE, Program, Symbols},
    server::{
        CodeOrigin, GameFactory, GameRequest, Geometry, Server, ServerStart, has_mod, start_error,
    },
    settings::{Choice as _, GameCode, SetCommand, Settings, key},
};

/// Symbols of the game module in the game data.
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

    /// Sets console lines that run in order around the first level, as those of a command line.
    #[must_use]
    pub fn lines(mut self, lines: Vec<String>) -> Self {
        self.start.lines = lines;
        self
    }

    /// Sets the folder of the files that outlast the server, such as the list of bans.
    #[must_use]
    pub fn state(mut self, folder: Option<Rc<dyn StateFolder>>) -> Self {
        self.start.state = folder;
        self
    }

    /// Makes every random number of the rules and of a module the same, for comparisons.
    #[cfg(feature = "sim")]
    #[must_use]
    pub(crate) fn fixed_random(mut self, value: u16) -> Self {
        self.fixed_random = Some(value);
        self
    }

    /// Creates the server and loads its first level. A first map that cannot be loaded runs in free flight.
    #[must_use]
    pub fn build(self) -> Server {
        let Self { settings, assets, rules, start, fixed_random } = self;
        let assets: Rc<dyn Assets> = Rc::from(assets);
        let rules = rules.unwrap_or_else(|| {
            let native = native_rules(&settings, fixed_random);
            let fs_game = settings.text(key::FS_GAME).to_owned();
            let log = RulesLog {
                assets: Rc::clone(&assets),
                folder: Some(fs_game).filter(|_| has_mod(&settings)),
                logged: Cell::default(),
            };
            selected_rules(native, log, fixed_random)
        });
        let fallback = rules_of(&settings);
        Server::new(settings, Box::new(assets), rules, start).with_fallback_rules(fallback)
    }

    /// As [`Self::build`], for an operator.
    ///
    /// # Errors
    /// A script of the command line that is missing, or a first map that cannot be loaded.
    pub fn start(mut self) -> Result<Server, String> {
        self.start.is_strict = true;
        let server = self.build();
        match start_error(&server) {
            Some(error) => Err(error.to_owned()),
            None => Ok(server),
        }
    }
}

/// Returns the factory of the rules that each request selects. The log says which rules run and why. A module that
/// cannot run is named with the reason, and the rules of the program replace it. Without geometry it makes free flight.
fn selected_rules(native: GameFactory, log: RulesLog, fixed_random: Option<u16>) -> GameFactory {
    // Levels share the code, and compiling takes longer than a frame.
    let (interpreted, compiled) = (KnownCode::default(), KnownCode::default());
    Box::new(move |request| {
        if request.geometry == Geometry::None {
            return native(request);
        }
        let (engine, code) = match request.code {
            GameCode::Native => {
                log.native(request);
                return native(request);
            }
            GameCode::Interpreted => (Engine::Interpreter, &interpreted),
            GameCode::Compiled => (Engine::Compiled, &compiled),
        };
        match executable_of(code, request.module, &*log.assets, engine, fixed_random) {
            Ok(executable) => {
                log.module(request, &executable);
                Box::new(GameModule::new(executable))
            }
            Err(error) => {
                let place =
                    log.assets.find(GAME_MODULE).map(|found| format!(" of {}", found.place));
                let (place, library) = (place.unwrap_or_default(), log.library());
                log::error!("game rules: native; game module{place} not used: {error}{library}");
                native(request)
            }
        }
    })
}

/// Log of the rules of levels.
struct RulesLog {
    assets: Rc<dyn Assets>,
    /// Folder of the mod, if there is one.
    folder: Option<String>,
    /// Rules that were logged last. A restart after a fault does not repeat them.
    logged: Cell<Option<(GameCode, CodeOrigin, u32)>>,
}

impl RulesLog {
    /// Whether a level has other rules than the one before.
    fn is_news(&self, request: GameRequest) -> bool {
        let rules = Some((request.code, request.origin, request.module));
        self.logged.replace(rules) != rules
    }

    /// Logs that the rules of the program run.
    fn native(&self, request: GameRequest) {
        if !self.is_news(request) {
            return;
        }
        let code = self.folder.as_ref().map(|_| self.assets.mod_code()).unwrap_or_default();
        match (&self.folder, request.origin) {
            (None, CodeOrigin::Setting) => log::info!("game rules: native (vm_game 0)"),
            (None, CodeOrigin::Mod) => {
                log::info!("game rules: native (vm_game not set, no mod)");
            }
            (Some(folder), CodeOrigin::Setting) if code.bytecode.is_some() => log::warn!(
                "game rules: native (vm_game 0); {GAME_MODULE} of {folder} not used (vm_game 2 runs it)"
            ),
            (Some(folder), _) if code.native.is_some() => {
                log::warn!("game rules: native; {folder} has no {GAME_MODULE}{}", self.library())
            }
            (Some(folder), _) => log::info!("game rules: native; {folder} has no {GAME_MODULE}"),
        }
    }

    /// Logs that a module runs.
    fn module(&self, request: GameRequest, executable: &Executable) {
        if !self.is_news(request) {
            return;
        }
        let place = self.assets.find(GAME_MODULE).map(|found| found.place).unwrap_or_default();
        let reason = match request.origin {
            CodeOrigin::Setting => format!("vm_game {}", request.code),
            CodeOrigin::Mod => "vm_game not set, fs_game has a module".to_owned(),
        };
        let (len, how) = (executable.instruction_count(), executable.description());
        log::info!("game rules: {GAME_MODULE} of {place} ({reason}); {len} instructions, {how}");
    }

    /// Returns the part of a line that names a native module of the mod. Those are not run.
    fn library(&self) -> String {
        let code = self.folder.as_ref().map(|_| self.assets.mod_code()).unwrap_or_default();
        let text = |name| format!("; native module {name} not supported");
        code.native.map(text).unwrap_or_default()
    }
}

/// Code of one engine, with the checksum of its module.
type KnownCode = RefCell<Option<(u32, Executable)>>;

/// Returns the code of the module in the game data, which is compiled once for each engine and file.
///
/// # Errors
/// A sentence that names the file and the reason, if the module cannot run.
fn executable_of(
    known: &KnownCode,
    checksum: u32,
    assets: &dyn Assets,
    engine: Engine,
    fixed_random: Option<u16>,
) -> Result<Executable, String> {
    if let Some((_, executable)) = known.borrow().as_ref().filter(|(known, _)| *known == checksum) {
        return Ok(executable.clone());
    }
    let program = read_module(assets, fixed_random)?;
    let executable = match engine {
        Engine::Interpreter => Executable::new(&program, engine),
        Engine::Compiled => Executable::compiled_beside(&program, |end| match end {
            Ok(how) => log::info!("{GAME_MODULE}: {how}"),
            Err(error) => log_interpreted(&error),
        })
        .or_else(|error| {
            log_interpreted(&error);
            Executable::new(&program, Engine::Interpreter)
        }),
    };
    let executable = executable.map_err(|error| format!("{GAME_MODULE}: {error}"))?;
    known.replace(Some((checksum, executable.clone())));
    Ok(executable)
}

/// Logs that a module is interpreted because it was not compiled.
fn log_interpreted(error: &EngineError) {
    log::warn!("{GAME_MODULE}: {error}; interpreted, which costs about three times the CPU");
}

/// Reads and verifies the module of the game data.
fn read_module(assets: &dyn Assets, fixed_random: Option<u16>) -> Result<Arc<Program>, String> {
    let bytes = assets.read(GAME_MODULE, MAX_GAME_MODULE_LEN).map_err(|error| error.to_string())?;
    let symbols = assets.read(SYMBOLS, MAX_FILE as u64).ok();
    let symbols = symbols.map(|bytes| Symbols::parse(&String::from_utf8_lossy(&bytes)));
    let named = |error: &dyn std::error::Error| format!("{GAME_MODULE}: {error}");
    let mut image = Image::parse(&bytes).map_err(|error| named(&error))?;
    // A module with another library keeps its own random numbers.
    if let Some(value) = fixed_random {
        let _ = image.fix_random(value);
    }
    let program = Program::verify_with(image, symbols.unwrap_or_default());
    program.map_err(|error| named(&error))
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
