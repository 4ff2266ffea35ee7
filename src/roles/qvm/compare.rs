//! Comparison of the native rules with a module (`fragd qvm compare`).

use std::{fs, io::Read as _, path::Path, time::Instant};

use fragd::{
    cli::{CompareOptions, EngineChoice, ExitStatus, ModuleFile},
    io,
    model::text::counted,
    settings::{Choice as _, GameFolder},
    sim::comparison::{
        self, Differences, Explanation, MAX_RECORDING_LEN, Play, Recording, Reference, Rules,
    },
};
use serde_json::json;

use super::{super::game_data, Module, output, read, read_text};

/// Runs the plays and prints their differences.
pub(super) fn run(options: &CompareOptions) -> ExitStatus {
    if options.known {
        return output::show(&comparison::known_table().to_string(), ExitStatus::Done);
    }
    io::logging::init(log::LevelFilter::Error);
    let start = Instant::now();
    let found = match compare(options) {
        Ok(found) => found,
        Err(what) => {
            eprintln!("fragd: {what}");
            return ExitStatus::Failed;
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    let text = if options.json {
        format!("{:#}\n", facts(&found, seconds))
    } else {
        summary(&found, seconds)
    };
    let is_explained = found.unexplained() == 0;
    output::show(&text, if is_explained { ExitStatus::Done } else { ExitStatus::Failed })
}

/// Returns the plays that the options select.
fn plays(options: &CompareOptions, game: GameFolder) -> Result<Vec<Play>, String> {
    if let Some(count) = options.random {
        let seeds = (0..u64::from(count)).map(|number| options.seed.wrapping_add(number));
        let play = |seed| {
            let players = usize::from(options.players);
            comparison::random_play(seed, &options.level, players, options.seconds)
        };
        return Ok(seeds.map(play).collect());
    }
    let mut plays = match &options.plays {
        Some(path) => {
            let named = |error| format!("{}: {error}", path.display());
            Play::parse(&read_text(path)?).map_err(named)?
        }
        None => comparison::built_in_plays().map_err(|error| error.to_string())?,
    };
    let game = game.name();
    plays.retain(|play| play.rules.as_deref().is_none_or(|rules| rules == game));
    plays.retain(|play| play.name.contains(&options.play));
    if plays.is_empty() {
        return Err(format!("no play with '{}' in its name", options.play));
    }
    Ok(plays)
}

/// Runs the plays.
fn compare(options: &CompareOptions) -> Result<Differences, String> {
    match (&options.against, &options.module) {
        (Some(path), _) => compare_with_recording(options, path),
        (None, Some(file)) => {
            let module = ModuleFile { file: file.clone(), map: options.map.clone() };
            compare_with_module(options, &module)
        }
        (None, None) => {
            Err("no module to compare with; name its file, or use --against".to_owned())
        }
    }
}

fn compare_with_module(
    options: &CompareOptions,
    module: &ModuleFile,
) -> Result<Differences, String> {
    let game = options.game.unwrap_or(GameFolder::BaseOa);
    let data = game_data::open(&options.basepath, None, game.name())?;
    let mut image = Vec::new();
    Module::read(module)?.image.write(&mut image);
    let symbols = match &module.map {
        Some(path) => read(path)?,
        None => Vec::new(),
    };
    let engine = match options.engine {
        EngineChoice::Interpreter => "1",
        EngineChoice::Compiled => "2",
    };
    let reference = Reference::Module { image: &image, symbols: &symbols, engine };
    let rules = Rules { game, reference, data: &data };
    let mut found = Differences::default();
    let mut recording = Recording::new(game, &image);
    for play in plays(options, game)? {
        let differences = match &options.record {
            Some(_) => comparison::record(&play, &rules, &mut recording),
            None => comparison::compare(&play, &rules),
        };
        found.merge(differences.map_err(|error| error.to_string())?);
    }
    if let Some(path) = &options.record {
        fs::write(path, recording.to_bytes())
            .map_err(|error| format!("{}: not writable: {error}", path.display()))?;
    }
    Ok(found)
}

fn compare_with_recording(options: &CompareOptions, path: &Path) -> Result<Differences, String> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| named(&error))?;
    let most = MAX_RECORDING_LEN as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(|error| named(&error))?;
    let recording = Recording::parse(&bytes).map_err(|error| named(&error))?;
    let own = GameFolder::named(recording.game())
        .ok_or_else(|| named(&format!("unknown game '{}'", recording.game())))?;
    let game = options.game.unwrap_or(own);
    let data = game_data::open(&options.basepath, None, game.name())?;
    let rules = Rules { game, reference: Reference::Recording(&recording), data: &data };
    let mut found = Differences::default();
    for play in plays(options, game)? {
        found.merge(comparison::compare(&play, &rules).map_err(|error| named(&error))?);
    }
    Ok(found)
}

fn summary(found: &Differences, seconds: f64) -> String {
    let mut text = String::new();
    for kind in found.kinds() {
        let why = kind.explanation.as_ref().map(|why| format!("\n    {why}"));
        text += &format!(
            "{} ({} in {} {})\n    first   {}, {} ms {}\n    native  {}\n    module  {}{}\n",
            kind.kind,
            kind.count,
            kind.plays,
            if kind.plays == 1 { "play" } else { "plays" },
            kind.play,
            kind.time_ms,
            kind.place,
            kind.native,
            kind.module,
            why.unwrap_or_default(),
        );
    }
    for (play, kind) in found.ineffective_chances() {
        text += &format!("play {play}: chance {kind} explains nothing\n");
    }
    text + &format!(
        "{}, {}, {} compared in {seconds:.1} s: {} of differences, {} unexplained\n",
        counted(found.plays, "play"),
        counted(found.frames, "frame"),
        counted(found.compared, "value"),
        counted(found.kinds().len(), "kind"),
        found.unexplained(),
    )
}

fn facts(found: &Differences, seconds: f64) -> serde_json::Value {
    let kinds = found.kinds().iter().map(|kind| {
        json!({
            "kind": kind.kind,
            "count": kind.count,
            "plays": kind.plays,
            "first": { "play": kind.play, "time_ms": kind.time_ms, "place": kind.place },
            "native": kind.native,
            "module": kind.module,
            "known": match &kind.explanation {
                Some(Explanation::Known(subject)) => Some(*subject),
                _ => None,
            },
            "chance": match &kind.explanation {
                Some(Explanation::Chance(reason)) => Some(reason),
                _ => None,
            },
        })
    });
    json!({
        "plays": found.plays,
        "frames": found.frames,
        "values": found.compared,
        "seconds": seconds,
        "unexplained": found.unexplained(),
        "differences": kinds.collect::<Vec<_>>(),
    })
}
