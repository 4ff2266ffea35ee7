//! A server and players in virtual time.

use std::{panic, time::Instant};

use fragd::{
    cli::{Outcome, SimOptions},
    io::{self, GameData, assets::base_paths},
    model::{LevelTime, Millis, assets::Assets},
    settings::{Choice as _, Settings},
    sim::{Actor, Failure, Figures, Plan, SETTINGS, Trial},
};
use serde_json::json;

use super::serve;

/// Runs a trial and says what came of it.
pub(crate) fn run(options: &SimOptions) -> Outcome {
    io::logging::init(log::LevelFilter::Error);
    let again = again(options);
    let (plan, server) = match prepare(options) {
        Ok(prepared) => prepared,
        Err(what) => {
            eprintln!("fragd: {what}");
            return Outcome::Misused;
        }
    };
    let began = Instant::now();
    let mut trial = Trial::new(plan, server);
    let ran = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        let result = trial.run();
        (result, trial.figures())
    }));
    let seconds = began.elapsed().as_secs_f64();
    let Ok((result, figures)) = ran else {
        eprintln!("fragd: it panicked, as said above; again: {again}");
        return Outcome::Failed;
    };
    let failure = result.err();
    if options.json {
        println!("{:#}", json(&figures, failure.as_ref(), seconds, &again));
    } else {
        print!("{}", text(&figures, seconds));
        match &failure {
            None => println!("verdict         all held"),
            Some(failure) => println!("verdict         {failure}\nagain           {again}"),
        }
    }
    if failure.is_some() { Outcome::Failed } else { Outcome::Done }
}

/// The command that has the same run again.
fn again(options: &SimOptions) -> String {
    let SimOptions { seed, minutes, bots, .. } = options;
    let mut again = format!("fragd sim --seed {seed} --minutes {minutes} --bots {bots}");
    if options.calm {
        again += " --calm";
    }
    if let Some(map) = &options.map {
        again += &format!(" --map {map} --game {}", options.game);
    }
    if options.level_time > 0 {
        again += &format!(" --level-time {}", options.level_time);
    }
    if !options.basepath.is_empty() {
        again += &format!(" --basepath '{}'", options.basepath);
    }
    again
}

fn prepare(options: &SimOptions) -> Result<(Plan, Actor), String> {
    let folder = options.game.name();
    let mut settings = Settings::new(options.game);
    let mut data = GameData::default();
    let mut maps = vec!["sim1".to_owned(), "sim2".to_owned()];
    if let Some(map) = &options.map {
        data = GameData::open(&base_paths(&options.basepath, folder), &[folder]);
        if data.find(&format!("maps/{map}.bsp")).is_none() {
            return Err(format!("there is no map {map}; fragd maps lists those that are found"));
        }
        maps = vec![map.clone()];
    }
    for (name, value) in SETTINGS.into_iter().chain([("map", maps[0].as_str())]) {
        settings.set(name, value).map_err(|error| error.to_string())?;
    }
    settings.start().map_err(|error| error.to_string())?;
    // Secret is nothing here, and the same again everything.
    let mut entropy = [7; 32];
    entropy[..8].copy_from_slice(&options.seed.to_le_bytes());
    let mut server = serve::server(settings, Box::new(data), entropy)?;
    if options.level_time > 0 {
        server.start_clock_at(LevelTime(options.level_time));
    }
    let plan = Plan {
        seed: options.seed,
        span: Millis::seconds(u64::from(options.minutes) * 60),
        players: options.bots,
        calm: options.calm,
        maps,
    };
    Ok((plan, Actor::Server(Box::new(server))))
}

/// Simulated hours in a minute of the wall's clock.
fn speed(figures: &Figures, seconds: f64) -> f64 {
    figures.time.0 as f64 / 3_600_000.0 / (seconds / 60.0).max(1e-9)
}

fn text(figures: &Figures, seconds: f64) -> String {
    let Figures { stretches, joins, maps, rebinds, stalls, strangers, .. } = figures;
    format!(
        "time            {:.1} min simulated in {seconds:.1} s, {:.2} hours a minute\n\
         weather         {stretches} stretches, {rebinds} new ports, {stalls} stalls and jumps\n\
         people          {joins} joins, {maps} maps begun, {strangers} datagrams of strangers\n\
         traffic         {} datagrams, {} bytes\n\
         compared        {} snapshots, {} numbered lines\n\
         healing         {} at the longest\n\
         above the rate  {} bytes at the most\n\
         transcript      {:08x}\n",
        figures.time.0 as f64 / 60_000.0,
        speed(figures, seconds),
        figures.datagrams,
        figures.bytes,
        figures.snapshots,
        figures.lines,
        figures.slowest_healing,
        figures.most_above_rate,
        figures.transcript,
    )
}

fn json(
    figures: &Figures,
    failure: Option<&Failure>,
    seconds: f64,
    again: &str,
) -> serde_json::Value {
    let failure = failure.map(|failure| {
        json!({ "time_ms": failure.at.0, "stretch": failure.stretch, "what": failure.what, "again": again })
    });
    json!({
        "verdict": if failure.is_none() { "held" } else { "failed" },
        "failure": failure,
        "time_ms": figures.time.0,
        "seconds": seconds,
        "hours_per_minute": speed(figures, seconds),
        "stretches": figures.stretches,
        "joins": figures.joins,
        "maps": figures.maps,
        "rebinds": figures.rebinds,
        "stalls": figures.stalls,
        "strangers": figures.strangers,
        "datagrams": figures.datagrams,
        "bytes": figures.bytes,
        "snapshots": figures.snapshots,
        "lines": figures.lines,
        "slowest_healing_ms": figures.slowest_healing.0,
        "most_above_rate_bytes": figures.most_above_rate,
        "transcript": format!("{:08x}", figures.transcript),
    })
}
