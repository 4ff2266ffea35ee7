//! Comparison of the native rules with a module (`fragd qvm compare`).

use std::time::Instant;

use fragd::{
    cli::{CompareOptions, EngineChoice, ExitStatus},
    io,
    settings::Choice as _,
    sim::comparison::{self, Differences, Explanation, Play, Rules},
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
fn plays(options: &CompareOptions) -> Result<Vec<Play>, String> {
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
    let game = options.game.name();
    plays.retain(|play| play.rules.as_deref().is_none_or(|rules| rules == game));
    plays.retain(|play| play.name.contains(&options.play));
    if plays.is_empty() {
        return Err(format!("no play with '{}' in its name", options.play));
    }
    Ok(plays)
}

fn compare(options: &CompareOptions) -> Result<Differences, String> {
    let game = options.game.name();
    let data = game_data::open(&options.basepath, None, game)?;
    let mut image = Vec::new();
    Module::read(&options.module)?.image.write(&mut image);
    let symbols = match &options.module.map {
        Some(path) => read(path)?,
        None => Vec::new(),
    };
    let rules = Rules {
        game: options.game,
        module: &image,
        symbols: &symbols,
        engine: match options.engine {
            EngineChoice::Interpreter => "1",
            EngineChoice::Compiled => "2",
        },
        data: &data,
    };
    let mut found = Differences::default();
    for play in plays(options)? {
        found.merge(comparison::compare(&play, &rules).map_err(|error| error.to_string())?);
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
        "{} plays, {} frames, {} values compared in {seconds:.1} s: {} kinds of differences, {} unexplained\n",
        found.plays,
        found.frames,
        found.compared,
        found.kinds().len(),
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
