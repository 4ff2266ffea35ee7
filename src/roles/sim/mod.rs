//! Simulation role (`fragd sim`).

mod quakeworld;

use std::{panic, time::Instant};

use fragd::{
    cli::{ExitStatus, SimOptions},
    io::{self, GameData, process::Processes},
    model::{LevelTime, Millis, assets::Assets},
    server::Server,
    settings::{Choice as _, Settings},
    sim::{Actor, SETTINGS, Trial, TrialOptions, TrialReport, Violation},
};
use serde_json::json;

/// Runs a trial and prints its report.
pub(crate) fn run(options: &SimOptions) -> ExitStatus {
    io::logging::init(log::LevelFilter::Error);
    let reproduce = reproduce_command(options);
    if options.quakeworld {
        return quakeworld::run(options, &reproduce);
    }
    let (plan, server) = match prepare(options) {
        Ok(prepared) => prepared,
        Err(what) => {
            eprintln!("fragd: {what}");
            return ExitStatus::UsageError;
        }
    };
    let mut watch = RunMonitor::new(plan.span);
    let mut trial = Trial::new(plan, server);
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
        format!("{:#}\n", json(&report, failure.as_ref(), &cost, &reproduce))
    } else {
        text(&report, failure.as_ref(), &cost, &reproduce)
    };
    let outcome = if failure.is_some() { ExitStatus::Failed } else { ExitStatus::Done };
    super::output::show(&text, outcome)
}

/// Monitors the cost of a running trial.
struct RunMonitor {
    processes: Processes,
    began: Instant,
    span: Millis,
    next: Millis,
    memory: Vec<(Millis, u64)>,
}

/// Cost of a run.
struct Cost {
    seconds: f64,
    /// Resident bytes of this process, over virtual time.
    memory: Vec<(Millis, u64)>,
}

impl RunMonitor {
    /// Samples per run, and progress lines per run.
    const LOOKS: u64 = 100;
    const LOOKS_A_LINE: usize = 5;
    /// Virtual time from which a run prints progress.
    const LONG: Millis = Millis::seconds(6 * 3600);

    fn new(span: Millis) -> Self {
        let (processes, began) = (Processes::new(), Instant::now());
        Self { processes, began, span, next: Millis(0), memory: Vec::new() }
    }

    /// Takes a sample if one is due.
    fn look(&mut self, time: Millis) {
        if time < self.next {
            return;
        }
        self.next = time + Millis(self.span.0 / Self::LOOKS);
        self.note(time);
        let looks = self.memory.len();
        if self.span >= Self::LONG && looks % Self::LOOKS_A_LINE == 1 {
            let (hours, mebibytes) = (hours(time), mebibytes(self.memory[looks - 1].1));
            let seconds = self.began.elapsed().as_secs_f64();
            eprintln!("{hours:7.1} h simulated in {seconds:.0} s, {mebibytes:.1} MiB");
        }
    }

    fn note(&mut self, time: Millis) {
        let used = self.processes.used(None);
        self.memory.extend(used.map(|used| (time, used.memory_bytes)));
    }

    fn finish(mut self, time: Millis) -> Cost {
        self.note(time);
        Cost { seconds: self.began.elapsed().as_secs_f64(), memory: self.memory }
    }
}

impl Cost {
    /// Memory after a tenth, half and all of the run.
    fn memory(&self) -> Option<[f64; 3]> {
        let last = self.memory.len().checked_sub(1)?;
        Some([last / 10, last / 2, last].map(|at| mebibytes(self.memory[at].1)))
    }

    /// Returns simulated hours per minute of real time.
    fn speed(&self, time: Millis) -> f64 {
        hours(time) / (self.seconds / 60.0).max(1e-9)
    }
}

fn hours(time: Millis) -> f64 {
    time.0 as f64 / 3_600_000.0
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Returns the command that reproduces the run.
fn reproduce_command(options: &SimOptions) -> String {
    let SimOptions { seed, minutes, bots, .. } = options;
    let mut reproduce = format!("fragd sim --seed {seed} --minutes {minutes} --bots {bots}");
    if options.quakeworld {
        reproduce += " --quakeworld";
    }
    if options.calm {
        reproduce += " --calm";
    }
    if let Some(map) = &options.map {
        reproduce += &format!(" --map {map} --game {}", options.game);
    }
    if options.level_time > 0 {
        reproduce += &format!(" --level-time {}", options.level_time);
    }
    if !options.basepath.is_empty() {
        reproduce += &format!(" --basepath '{}'", options.basepath);
    }
    reproduce
}

fn prepare(options: &SimOptions) -> Result<(TrialOptions, Actor), String> {
    let folder = options.game.name();
    let mut settings = Settings::new(options.game);
    let mut data = GameData::default();
    let mut maps = vec!["sim1".to_owned(), "sim2".to_owned()];
    if let Some(map) = &options.map {
        data = super::game_data::open(&options.basepath, None, folder)?;
        if data.find(&format!("maps/{map}.bsp")).is_none() {
            return Err(format!("map {map} not found; fragd maps lists the installed maps"));
        }
        maps = vec![map.clone()];
    }
    for (name, value) in SETTINGS.into_iter().chain([("map", maps[0].as_str())]) {
        settings.set(name, value).map_err(|error| error.to_string())?;
    }
    settings.start().map_err(|error| error.to_string())?;
    // Nothing here is secret; determinism is all that matters.
    let mut entropy = [7; 32];
    entropy[..8].copy_from_slice(&options.seed.to_le_bytes());
    let mut server = Server::builder(settings, entropy).assets(data).build();
    if options.level_time > 0 {
        server.start_clock_at(LevelTime(options.level_time));
    }
    let plan = TrialOptions {
        seed: options.seed,
        span: Millis::seconds(u64::from(options.minutes) * 60),
        players: options.bots,
        calm: options.calm,
        maps,
    };
    Ok((plan, Actor::Server(Box::new(server))))
}

fn text(report: &TrialReport, failure: Option<&Violation>, cost: &Cost, reproduce: &str) -> String {
    let TrialReport { fault_phases, joins, injected_datagrams, faults, .. } = report;
    let (tried, missed): (Vec<_>, Vec<_>) = faults.iter().partition(|(_, count)| *count > 0);
    let tried = tried.iter().map(|(name, count)| format!("{count} {name}"));
    let missed: Vec<_> = missed.iter().map(|(name, _)| *name).collect();
    let mut text = format!(
        "time            {:.1} min simulated in {:.1} s, {:.2} hours per minute\n\
         fault phases    {fault_phases}\n\
         faults          {}\n",
        report.time.0 as f64 / 60_000.0,
        cost.seconds,
        cost.speed(report.time),
        tried.collect::<Vec<_>>().join(", "),
    );
    if !missed.is_empty() {
        text += &format!("not injected    {}\n", missed.join(", "));
    }
    text += &format!(
        "clients         {joins} joins, {} map loads, {injected_datagrams} injected datagrams\n\
         traffic         {} datagrams, {} bytes, longest {}\n\
         checked         {} of {} snapshots, {} numbered lines\n\
         recovery        {} at most\n\
         rate excess     {} bytes at most\n",
        report.maps(),
        report.datagrams,
        report.bytes,
        report.longest_datagram,
        report.snapshots,
        report.snapshots + report.snapshots_forgotten,
        report.lines,
        report.slowest_recovery,
        report.most_above_rate,
    );
    text + &ending(cost, &format!("{:08x}", report.transcript), failure, reproduce)
}

/// Returns the last lines of a report: memory, transcript, verdict.
fn ending(cost: &Cost, transcript: &str, failure: Option<&Violation>, reproduce: &str) -> String {
    let mut text = String::new();
    if let Some([early, middle, end]) = cost.memory() {
        text += &format!(
            "memory          {early:.1} MiB at 10%, {middle:.1} MiB at 50%, {end:.1} MiB at the end\n"
        );
    }
    text += &format!("transcript      {transcript}\n");
    text += &match failure {
        None => "verdict         passed\n".to_owned(),
        Some(failure) => format!("verdict         {failure}\nreproduce       {reproduce}\n"),
    };
    text
}

/// Returns a violation with the command that reproduces it.
fn failure_json(failure: &Violation, reproduce: &str) -> serde_json::Value {
    json!({ "time_ms": failure.at.0, "fault_phase": failure.fault_phase, "what": failure.what, "reproduce": reproduce })
}

fn json(
    report: &TrialReport,
    failure: Option<&Violation>,
    cost: &Cost,
    reproduce: &str,
) -> serde_json::Value {
    let failure = failure.map(|failure| failure_json(failure, reproduce));
    let faults = report.faults.iter().map(|(name, count)| (name.replace(' ', "_"), json!(count)));
    let memory =
        cost.memory.iter().map(|(time, bytes)| json!({ "time_ms": time.0, "bytes": bytes }));
    json!({
        "verdict": if failure.is_none() { "passed" } else { "failed" },
        "failure": failure,
        "time_ms": report.time.0,
        "seconds": cost.seconds,
        "hours_per_minute": cost.speed(report.time),
        "fault_phases": report.fault_phases,
        "faults": faults.collect::<serde_json::Map<_, _>>(),
        "joins": report.joins,
        "maps": report.maps(),
        "injected_datagrams": report.injected_datagrams,
        "datagrams": report.datagrams,
        "bytes": report.bytes,
        "longest_datagram_bytes": report.longest_datagram,
        "snapshots": report.snapshots,
        "snapshots_forgotten": report.snapshots_forgotten,
        "lines": report.lines,
        "slowest_recovery_ms": report.slowest_recovery.0,
        "most_above_rate_bytes": report.most_above_rate,
        "memory": memory.collect::<Vec<_>>(),
        "transcript": format!("{:08x}", report.transcript),
    })
}
