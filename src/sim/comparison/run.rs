//! Run of a play: native rules beside a module, or beside the recording of one.

use std::fmt;

use super::{
    Play,
    differences::Differences,
    frame_check::{Sink, compare_observations},
    observation::Observation,
    play::PlayAction,
    recording::{PlayReader, PlayWriter, Recording},
    side::{ComparedSide, STEP},
};
use crate::{
    journal::checksum,
    model::{
        Millis,
        assets::{Assets, MemoryAssets},
    },
    server::Server,
    settings::{Choice as _, GameFolder, Settings, key},
    wire::protocol::Protocol,
};

/// Name of the map of an arena.
const ARENA: &str = "arena";
/// Longest time in which players join, in ms.
const JOIN_LIMIT: u64 = 10_000;

/// Rules that are compared: a ruleset, and the module or its recording.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// Ruleset of the native rules.
    pub game: GameFolder,
    /// Side that the native rules are compared with.
    pub reference: Reference<'a>,
    /// Game data with the maps that plays name.
    pub data: &'a dyn Assets,
}

/// Side that native rules are compared with.
#[derive(Clone, Copy)]
pub enum Reference<'a> {
    /// A module that runs.
    Module {
        /// Its image.
        image: &'a [u8],
        /// Its symbols; empty for none.
        symbols: &'a [u8],
        /// Value of `vm_game` for it.
        engine: &'a str,
    },
    /// Recording of a module in the same plays.
    Recording(&'a Recording),
}

/// Reason why a play was not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonError(String);

impl fmt::Display for ComparisonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ComparisonError {}

/// Settings of both servers. Plays may change them.
const SETTINGS: &[(&str, &str)] = &[
    ("sv_pure", "0"),
    ("sv_floodProtect", "0"),
    ("sv_maxclientsPerIP", "0"),
    ("sv_fps", "20"),
    ("sv_maxclients", "16"),
    ("fraglimit", "0"),
    ("timelimit", "0"),
    ("g_doWarmup", "0"),
    ("g_inactivity", "0"),
];

/// Compares the native rules with a module or its recording in a play.
///
/// # Errors
/// The play's map or settings are not valid, the module does not run, or the recording does not have the play.
pub fn compare(play: &Play, rules: &Rules<'_>) -> Result<Differences, ComparisonError> {
    run_play(play, rules, None)
}

/// Compares the native rules with a module in a play, and adds the side of the module to a recording.
///
/// # Errors
/// As in [`compare`]; also a recording as reference.
pub fn record(
    play: &Play,
    rules: &Rules<'_>,
    recording: &mut Recording,
) -> Result<Differences, ComparisonError> {
    run_play(play, rules, Some(recording))
}

fn run_play(
    play: &Play,
    rules: &Rules<'_>,
    recording: Option<&mut Recording>,
) -> Result<Differences, ComparisonError> {
    let error = |why: String| ComparisonError(format!("play {}: {why}", play.name));
    let map = map_file(play, rules).map_err(error)?;
    let native = side(play, rules, &map, None).map_err(error)?;
    let other = match rules.reference {
        Reference::Module { image, symbols, engine } => {
            let module = Module { image, symbols, engine };
            let side = side(play, rules, &map, Some(&module)).map_err(error)?;
            let writer = recording.is_some().then(Box::<PlayWriter>::default);
            Other::Running { side: Box::new(side), writer }
        }
        Reference::Recording(recording) => {
            Other::Recorded(Box::new(recording.play(play, rules.game).map_err(error)?))
        }
    };
    let mut run = Run {
        play,
        game: rules.game.name(),
        native,
        other,
        seen: [Observation::default(), Observation::default()],
        steps: 0,
        found: Differences::of_one_play(),
        has_begun: !play.actions.contains(&PlayAction::Begin),
        is_on: true,
    };
    play.chances.iter().for_each(|(kind, _)| run.found.use_chance(&play.family, kind, 0));
    run.run().map_err(error)?;
    let map_checksum = checksum(&map.1);
    match (run.other, recording) {
        (Other::Running { writer: Some(writer), .. }, Some(recording)) => {
            recording.add(play, map_checksum, *writer).map_err(error)?;
        }
        (Other::Recorded(reader), None) if run.found.unexplained() > 0 => {
            reader.check_map(map_checksum).map_err(error)?;
        }
        _ => {}
    }
    Ok(run.found)
}

/// Returns name and bytes of the map of a play.
fn map_file(play: &Play, rules: &Rules<'_>) -> Result<(String, Vec<u8>), String> {
    if play.map.is_empty() {
        return Ok((ARENA.to_owned(), play.arena.compile(&play.name)?));
    }
    let path = format!("maps/{}.bsp", play.map);
    let bytes = rules.data.read(&path, crate::world::bsp::MAX_FILE_LEN as u64);
    Ok((play.map.clone(), bytes.map_err(|error| error.to_string())?))
}

/// A module that runs.
struct Module<'a> {
    image: &'a [u8],
    symbols: &'a [u8],
    engine: &'a str,
}

/// Creates a server with native rules, or with a module.
fn side(
    play: &Play,
    rules: &Rules<'_>,
    (map, bytes): &(String, Vec<u8>),
    module: Option<&Module<'_>>,
) -> Result<ComparedSide, String> {
    let mut assets = MemoryAssets::default();
    let map_name = format!("maps/{map}.bsp");
    let mut files = vec![(map_name.as_str(), bytes.as_slice())];
    if let Some(module) = module {
        files.extend([("vm/qagame.qvm", module.image), ("vm/qagame.map", module.symbols)]);
    }
    for (name, bytes) in files {
        assets.insert(name, bytes.to_vec()).map_err(|error| error.to_string())?;
    }
    for (name, text) in &play.files {
        assets.insert(name, text.clone().into_bytes()).map_err(|error| error.to_string())?;
    }
    let mut settings = Settings::new(rules.game);
    let own = play.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    // The modules are those of ioquake3 and OpenArena.
    let movement = match rules.game.name() {
        "baseq3" => "ioquake3",
        _ => "auto",
    };
    let engine = module.map_or("0", |module| module.engine);
    let more = [("map", map.as_str()), ("vm_game", engine), ("g_movement", movement)];
    let all = SETTINGS.iter().copied().chain(more);
    for (name, value) in all.chain(own) {
        settings.set(name, value).map_err(|error| error.to_string())?;
    }
    settings.write(key::SV_CHEATS, 1).map_err(|error| error.to_string())?;
    settings.start().map_err(|error| error.to_string())?;
    let server = Server::builder(settings, [9; 32]).assets(assets).fixed_random(play.luck).build();
    let protocol = match rules.game.name() {
        "baseoa" => Protocol::OA_71,
        _ => Protocol::IOQ3_71,
    };
    Ok(ComparedSide::new(server, protocol))
}

/// Side that native rules are compared with.
enum Other {
    /// A server with the module, and the writer of its recording.
    Running {
        side: Box<ComparedSide>,
        writer: Option<Box<PlayWriter>>,
    },
    Recorded(Box<PlayReader>),
}

/// A running comparison.
struct Run<'a> {
    play: &'a Play,
    /// Name of the ruleset.
    game: &'static str,
    native: ComparedSide,
    other: Other,
    /// Last observations of both sides.
    seen: [Observation; 2],
    /// Steps that were run.
    steps: u64,
    found: Differences,
    /// Whether the play has reached its comparison.
    has_begun: bool,
    /// Whether frames are compared from then on.
    is_on: bool,
}

impl Run<'_> {
    fn run(&mut self) -> Result<(), String> {
        let play = self.play;
        for pairs in &play.players {
            self.native.join(pairs)?;
            self.with_module(|side| side.join(pairs))?;
        }
        while !self.has_all_players() {
            self.step()?;
            if self.native.now >= Millis(JOIN_LIMIT) {
                return Err(self.missing_players());
            }
        }
        if let Other::Running { writer: Some(writer), .. } = &mut self.other {
            writer.join_steps = self.steps;
        }
        for action in &play.actions {
            self.take(action)?;
        }
        let faults = match &mut self.other {
            Other::Running { side, writer } => {
                let faults = side.server.counters().get(crate::observe::Counter::GameFaults);
                if let Some(writer) = writer {
                    writer.faults = faults;
                }
                faults
            }
            Other::Recorded(reader) => {
                reader.end()?;
                reader.faults()
            }
        };
        if faults > 0 {
            self.sink().0.add("module fault", "module", "-", &format!("{faults} faults"));
        }
        Ok(())
    }

    /// Calls a function with the server of the module, if it runs.
    fn with_module(
        &mut self,
        run: impl FnOnce(&mut ComparedSide) -> Result<(), String>,
    ) -> Result<(), String> {
        match &mut self.other {
            Other::Running { side, .. } => run(side),
            Other::Recorded(_) => Ok(()),
        }
    }

    /// Whether the players that join at the start are in the level on both sides.
    fn has_all_players(&self) -> bool {
        let joined = |side: &ComparedSide| side.clients.iter().all(|client| client.is_active());
        joined(&self.native)
            && match &self.other {
                Other::Running { side, .. } => joined(side),
                Other::Recorded(reader) => self.steps >= reader.join_steps(),
            }
    }

    /// Names the players that did not join.
    fn missing_players(&self) -> String {
        let mut sides = vec![("native rules", &self.native)];
        if let Other::Running { side, .. } = &self.other {
            sides.push(("module", side));
        }
        let mut texts = Vec::new();
        for (name, side) in sides {
            let late = side.clients.iter().enumerate().filter(|(_, client)| !client.is_active());
            texts.extend(late.map(|(number, client)| {
                let why = client.ended.as_deref().unwrap_or("no snapshot");
                format!("player {number} did not join with {name}: {why}")
            }));
        }
        texts.join("; ")
    }

    fn take(&mut self, action: &PlayAction) -> Result<(), String> {
        match action {
            PlayAction::Wait(ms) => {
                for _ in 0..(u64::from(*ms) / STEP.0) {
                    self.step()?;
                }
            }
            PlayAction::Begin => {
                self.has_begun = true;
                self.native.clear_texts();
                self.with_module(|side| {
                    side.clear_texts();
                    Ok(())
                })?;
            }
            action => {
                self.native.take(action)?;
                self.with_module(|side| side.take(action))?;
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), String> {
        let step = self.steps;
        self.steps += 1;
        // A gamestate of more packets takes longer; both sides enter the level in the same step.
        match &mut self.other {
            Other::Running { side, writer } => {
                let loading = side.loading();
                if let Some(writer) = writer {
                    writer.loading(step, loading);
                }
                let waiting = loading ^ self.native.loading();
                self.native.hold_back(waiting);
                side.hold_back(waiting);
                let frames = [self.native.step(), side.step()];
                if !self.has_begun {
                    self.native.clear_texts();
                    side.clear_texts();
                } else if frames.contains(&true) {
                    let [native, module] = &mut self.seen;
                    native.observe(&mut self.native);
                    module.observe(side);
                    if let Some(writer) = writer {
                        writer.frame(step, module);
                    }
                    self.compare_frame();
                }
            }
            Other::Recorded(reader) => {
                let waiting = reader.loading(step)? ^ self.native.loading();
                self.native.hold_back(waiting);
                let has_frame = self.native.step();
                if !self.has_begun {
                    self.native.clear_texts();
                    return Ok(());
                }
                let [native, module] = &mut self.seen;
                let is_recorded = reader.frame(step, module)?;
                if has_frame || is_recorded {
                    native.observe(&mut self.native);
                    self.compare_frame();
                }
            }
        }
        Ok(())
    }

    fn sink(&mut self) -> (Sink<'_>, &[Observation; 2]) {
        let Self { play, game, native, seen, found, .. } = self;
        (Sink { play, game, time_ms: native.now.0, found, has_rounding: false }, seen)
    }

    fn compare_frame(&mut self) {
        if !self.is_on {
            return;
        }
        let (mut sink, [native, module]) = self.sink();
        compare_observations(native, module, &mut sink);
        if sink.has_rounding && self.play.ends_at_rounding {
            self.is_on = false;
        }
    }
}
