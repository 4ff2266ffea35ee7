//! Simulation of a QuakeWorld server.

use std::panic;

use fragd::{
    cli::{ExitStatus, SimOptions},
    model::{Millis, UnixMillis, assets::MemoryAssets},
    qwserver::{QwServer, ServerOptions, Settings},
    sim::{QuakeWorldReport, QuakeWorldTrial, QuakeWorldTrialOptions, Violation},
};
use serde_json::json;

use super::{Cost, RunMonitor};

/// Slots of players on a QuakeWorld server.
const MOST_PLAYERS: u8 = 32;
/// Calendar time of the trial's start. Nothing depends on it but the texts of the server.
const BEGAN: UnixMillis = UnixMillis(1_000_000_000_000);

/// Runs a trial and prints its report.
pub(super) fn run(options: &SimOptions, reproduce: &str) -> ExitStatus {
    if options.bots > MOST_PLAYERS {
        eprintln!(
            "fragd: --bots {} too many for --quakeworld (expected 1 to {MOST_PLAYERS})",
            options.bots
        );
        return ExitStatus::UsageError;
    }
    let plan = QuakeWorldTrialOptions {
        seed: options.seed,
        span: Millis::seconds(u64::from(options.minutes) * 60),
        players: options.bots.into(),
        is_calm: options.calm,
    };
    let server = match server(options.seed, plan.players) {
        Ok(server) => server,
        Err(what) => {
            eprintln!("fragd: {what}");
            return ExitStatus::Failed;
        }
    };
    let mut watch = RunMonitor::new(plan.span);
    let mut trial = QuakeWorldTrial::new(plan, server, Millis(0));
    let ran = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        let result = trial.run_watched(|time| watch.look(time));
        (result, trial.report())
    }));
    let Ok((result, report)) = ran else {
        eprintln!("fragd: panicked (see above); reproduce with: {reproduce}");
        return ExitStatus::Failed;
    };
    let cost = watch.finish(report.time);
    let failure = result.err();
    let text = if options.json {
        format!("{:#}\n", as_json(&report, failure.as_ref(), &cost, reproduce))
    } else {
        as_text(&report, failure.as_ref(), &cost, reproduce)
    };
    let outcome = if failure.is_some() { ExitStatus::Failed } else { ExitStatus::Done };
    crate::roles::output::show(&text, outcome)
}

/// Makes a server of the seed, with slots for all bots and for those that rejoin.
fn server(seed: u64, players: u16) -> Result<QwServer, String> {
    let mut settings = Settings::default();
    let slots = (players * 2).min(u16::from(MOST_PLAYERS)).to_string();
    for (name, value) in [("maxclients", slots.as_str()), ("maxspectators", "0")] {
        settings.set(name, value).map_err(|error| error.to_string())?;
    }
    let mut entropy = [7; 32];
    entropy[..8].copy_from_slice(&seed.to_le_bytes());
    let assets = Box::new(MemoryAssets::default());
    let options = ServerOptions { settings, assets, entropy, began: BEGAN, lines: Vec::new() };
    QwServer::start(options, Millis(0)).map_err(|error| error.to_string())
}

fn as_text(
    report: &QuakeWorldReport,
    failure: Option<&Violation>,
    cost: &Cost,
    reproduce: &str,
) -> String {
    let text = format!(
        "time            {:.1} min simulated in {:.1} s, {:.2} hours per minute\n\
         faults          {} stalls, {} map changes, {} hostile datagrams\n\
         clients         {} joins\n\
         traffic         {} datagrams, {} bytes, longest {}\n\
         answers         {}, {} compared with their prediction, {} at another place\n",
        report.time.0 as f64 / 60_000.0,
        cost.seconds,
        cost.speed(report.time),
        report.stalls,
        report.maps,
        report.injected_datagrams,
        report.joins,
        report.datagrams,
        report.bytes,
        report.longest_datagram,
        report.answers,
        report.predicted,
        report.mispredicted,
    );
    text + &super::ending(cost, &format!("{:016x}", report.transcript), failure, reproduce)
}

fn as_json(
    report: &QuakeWorldReport,
    failure: Option<&Violation>,
    cost: &Cost,
    reproduce: &str,
) -> serde_json::Value {
    let failure = failure.map(|failure| super::failure_json(failure, reproduce));
    json!({
        "verdict": if failure.is_none() { "passed" } else { "failed" },
        "failure": failure,
        "time_ms": report.time.0,
        "seconds": cost.seconds,
        "hours_per_minute": cost.speed(report.time),
        "stalls": report.stalls,
        "maps": report.maps,
        "injected_datagrams": report.injected_datagrams,
        "joins": report.joins,
        "datagrams": report.datagrams,
        "bytes": report.bytes,
        "longest_datagram_bytes": report.longest_datagram,
        "answers": report.answers,
        "predicted": report.predicted,
        "mispredicted": report.mispredicted,
        "transcript": format!("{:016x}", report.transcript),
    })
}
