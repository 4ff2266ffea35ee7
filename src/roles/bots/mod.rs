//! Load-test role (`fragd bots`).

mod progress;
mod quakeworld_maps;

use std::{collections::HashMap, io::IsTerminal as _, net::SocketAddr, path::Path, sync::Arc};

use fragd::{
    bots::{
        self, BotProtocol, Bots, Expectations, FindMap, GameProtocol, Machine, ResourceMeter,
        ResourceUsage, RunInfo, Summary, Verdict,
    },
    cli::{BotsOptions, ExitStatus, LoadTest, ProcessIds, ServerAddress},
    io::{
        self, Clock, ConsoleOutput, GameData, Options, Processes, Progress, Signals, Sockets,
        machine::MachineInfo, task::Task,
    },
    model::{Millis, UnixMillis, assets::Assets as _, text::escaped},
    node::{Hosted as _, LocalPort, Observed},
    settings::Choice as _,
    trace::Role,
    world::{Bsp, CollisionMap, TracePrecision, bsp::MAX_FILE_LEN},
};

use super::output;
use progress::ProgressDisplay;
use quakeworld_maps::find_quakeworld_map;

/// Port of QuakeWorld servers.
const QUAKEWORLD_PORT: u16 = 27_500;
/// Maximum size of a baseline, in bytes.
const MAX_BASELINE_LEN: u64 = 64 << 20;

/// Reason why a load test did not start, and the exit status.
struct Refusal(String, ExitStatus);

/// Runs a load test and prints its summary.
pub(crate) fn run(options: &BotsOptions) -> ExitStatus {
    io::logging::init(log::LevelFilter::Warn);
    let summary = match play(options) {
        Ok(summary) => summary,
        Err(Refusal(what, outcome)) => {
            eprintln!("fragd: {what}");
            return outcome;
        }
    };
    let text = if options.json { summary.to_json() + "\n" } else { summary.to_string() };
    let verdict = outcome(summary.verdict);
    let mut outcome = output::show(&text, verdict);
    // A terminal has already shown the summary.
    if verdict != ExitStatus::Done && (options.json || !std::io::stdout().is_terminal()) {
        eprintln!("fragd: {}", summary.sentence);
    }
    let files: [(&str, &Option<_>, &dyn Fn() -> String); 3] = [
        ("--csv", &options.csv, &|| summary.to_csv()),
        ("--report", &options.report, &|| summary.to_html()),
        ("--junit", &options.junit, &|| summary.to_junit()),
    ];
    for (option, path, write) in files {
        if let Some(path) = path
            && let Err(what) = output::write_file(path, write().as_bytes())
        {
            eprintln!("fragd: {option} {what}");
            outcome = ExitStatus::Failed;
        }
    }
    outcome
}

/// Returns the exit status.
fn outcome(verdict: Verdict) -> ExitStatus {
    match verdict {
        Verdict::Passed => ExitStatus::Done,
        Verdict::Failed => ExitStatus::Failed,
        Verdict::NoAnswer => ExitStatus::NoAnswer,
        Verdict::Refused => ExitStatus::Refused,
        Verdict::Lost => ExitStatus::Lost,
        Verdict::Unreadable => ExitStatus::Unreadable,
        Verdict::GeneratorLate => ExitStatus::GeneratorLate,
        Verdict::Interrupted => ExitStatus::Interrupted,
    }
}

/// Rejects result files whose folder does not exist or that would replace another file of the run.
fn check_result_files(options: &BotsOptions) -> Result<(), Refusal> {
    let files = [
        ("--csv", &options.csv),
        ("--report", &options.report),
        ("--junit", &options.junit),
        ("--trace", &options.files.trace),
        ("--pcap", &options.files.pcap),
    ];
    for (option, path) in files {
        let Some(path) = path else { continue };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let what = match folder {
            Some(folder) if !folder.is_dir() => {
                format!(
                    "folder {} not found (expected a file in an existing folder)",
                    folder.display()
                )
            }
            _ if path.is_dir() => "is a folder (expected a file)".to_owned(),
            _ => continue,
        };
        return Err(Refusal(
            format!("{option} {}: {what}", path.display()),
            ExitStatus::UsageError,
        ));
    }
    let read = [("--scenario", &options.scenario), ("--baseline", &options.baseline)];
    output::check_files(read, files).map_err(|what| Refusal(what, ExitStatus::UsageError))
}

fn play(options: &BotsOptions) -> Result<Summary, Refusal> {
    check_result_files(options)?;
    let failed = |what: String| Refusal(what, ExitStatus::Failed);
    let test = match &options.scenario {
        Some(path) => LoadTest::clone(&options.test).merged_with(scenario(path)?),
        None => LoadTest::clone(&options.test),
    };
    let is_quakeworld = test.protocol == Some(BotProtocol::Fixed(GameProtocol::QuakeWorld));
    let servers: Result<Vec<_>, _> = options
        .connect
        .iter()
        .map(|one| match one {
            ServerAddress { host, has_port: false, .. } if is_quakeworld => {
                io::resolve(host, QUAKEWORLD_PORT)
            }
            _ => io::resolve(&one.to_string(), one.port),
        })
        .collect();
    let servers = servers.map_err(|what| Refusal(what, ExitStatus::NoAnswer))?;
    let Some(&first) = servers.first() else {
        return Err(Refusal("no server given".to_owned(), ExitStatus::UsageError));
    };
    if servers.iter().any(|server| server.is_ipv4() != first.is_ipv4()) {
        let what = "mixed IPv4 and IPv6 servers (expected one family)".to_owned();
        return Err(Refusal(what, ExitStatus::UsageError));
    }
    let seed = io::random_bytes()
        .map_err(|error| failed(format!("random numbers not available: {error}")))?;
    let mut asked = test.build(servers, u64::from_le_bytes(seed));
    check_warmup(&asked)?;
    if let Some(fault) = asked.ramp_fault() {
        return Err(Refusal(fault, ExitStatus::UsageError));
    }
    asked.packs = Some(super::installed_packs(&options.basepath, options.game));
    if let Some(path) = &options.baseline {
        asked.expectations.extend(&baseline(path, options)?);
    }
    let mut meter = Processes::new();
    let mut pids: Vec<u32> = options.pid.iter().flat_map(|ProcessIds(ids)| ids.clone()).collect();
    pids.sort_unstable();
    pids.dedup();
    if let Some(pid) = pids.iter().find(|pid| meter.used(Some(**pid)).is_none()) {
        return Err(Refusal(format!("--pid: process {pid} not found"), ExitStatus::UsageError));
    }
    let clock = Clock::start();
    asked.run = run_info(&clock);
    let meter = Box::new(ProcessMeter {
        processes: meter,
        servers: pids,
        ended_cpu_us: 0,
        last_cpu_us: HashMap::new(),
    });
    let bots = Bots::with_maps_and_meter(asked, clock.now(), find_map(options), Some(meter))
        .with_quakeworld_maps(find_quakeworld_map(&options.basepath));
    drive(options, bots, first, &clock).map_err(failed)
}

/// Reads the expectations of a baseline.
fn baseline(path: &Path, options: &BotsOptions) -> Result<Expectations, Refusal> {
    let misused =
        |what: String| Refusal(format!("{}: {what}", path.display()), ExitStatus::UsageError);
    let text = io::read_file(path, MAX_BASELINE_LEN)
        .map_err(|error| Refusal(format!("--baseline: {error}"), ExitStatus::UsageError))?;
    let text = String::from_utf8(text)
        .map_err(|_| misused("not UTF-8 (expected a result of --json)".to_owned()))?;
    let has_processes = !options.pid.is_empty();
    Expectations::from_baseline(&text, options.regression, has_processes).map_err(misused)
}

/// Rejects a warm-up that leaves nothing of the first stage.
fn check_warmup(test: &bots::BotsOptions) -> Result<(), Refusal> {
    let first = test.stages.first().map_or(Millis(0), |stage| stage.duration);
    if test.warmup < first {
        return Ok(());
    }
    let (warmup, first) = (test.warmup, first.0 / 1000);
    let what = format!("warmup too long: {warmup} (expected less than the first stage, {first} s)");
    Err(Refusal(what, ExitStatus::UsageError))
}

/// Returns version, time, machine and command line, for the header of the results.
fn run_info(clock: &Clock) -> RunInfo {
    let MachineInfo { host, cpu, cores, os } = MachineInfo::read();
    RunInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        epoch: Some(UnixMillis(io::unix_millis().saturating_sub(clock.now().0))),
        machine: Machine { host, cpu, cores, os },
        options: command_line(std::env::args().skip(1)),
    }
}

/// Returns the command line, quoted for a shell. The password is masked.
fn command_line(arguments: impl Iterator<Item = String>) -> String {
    let mut words = Vec::new();
    let mut is_secret = false;
    for argument in arguments {
        let word = match argument.split_once('=') {
            _ if is_secret => "***".to_owned(),
            Some(("--password", _)) => "--password=***".to_owned(),
            _ => argument.clone(),
        };
        is_secret = argument == "--password";
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,:/@%+*[]".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            words.push(word);
        } else {
            words
                .push(format!("'{}'", escaped(word.as_bytes()).to_string().replace('\'', "'\\''")));
        }
    }
    words.join(" ")
}

fn scenario(path: &Path) -> Result<LoadTest, Refusal> {
    let misused =
        |what: String| Refusal(format!("{}: {what}", path.display()), ExitStatus::UsageError);
    let text = io::read_config(path)
        .map_err(|error| Refusal(error.to_string(), ExitStatus::UsageError))?;
    LoadTest::parse(&text).map_err(misused)
}

fn drive(
    options: &BotsOptions,
    bots: Bots,
    server: SocketAddr,
    clock: &Clock,
) -> Result<Summary, String> {
    let ports = bots.local_ports();
    let sockets = Sockets::ephemeral(ports, server.ip()).map_err(|error| error.to_string())?;
    let signals = Signals::install().map_err(|error| format!("signals not available: {error}"))?;
    let locals = (0..ports)
        .map(LocalPort)
        .flat_map(|port| sockets.addresses(port).map(move |at| (port, at)));
    let began = UnixMillis(io::unix_millis().saturating_sub(clock.now().0));
    let max_lines = usize::from(ports) * 2;
    let tap = super::tap::open(&options.files, locals.collect(), began, Role::Client, max_lines)?;
    let display = ProgressDisplay::new();
    let interval = display.interval();
    let run_options = Options {
        signals: Some(signals),
        // Events of bots go to the progress display; standard output has only the summary.
        output: ConsoleOutput::Writer(display.output()),
        progress: Some(Progress {
            first: interval,
            interval,
            call: Box::new(move |bots: &Observed<Bots, _>, _, _: &_| display.show(bots.node())),
        }),
        ..Options::default()
    };
    let mut observed = Observed::new(bots, Vec::from_iter(tap));
    io::run(&mut observed, sockets, clock, run_options)
        .map_err(|error| format!("event loop failed: {error}"))?;
    Ok(observed.node().summary())
}

/// Resource usage of the server processes and of this process.
struct ProcessMeter {
    processes: Processes,
    servers: Vec<u32>,
    /// CPU time of server processes that have ended.
    ended_cpu_us: u64,
    /// Last CPU time of each server process.
    last_cpu_us: HashMap<u32, u64>,
}

impl ProcessMeter {
    fn used(&mut self, pid: Option<u32>) -> Option<ResourceUsage> {
        let io::process::Used { cpu_us, memory_bytes, .. } = self.processes.used(pid)?;
        Some(ResourceUsage { cpu_us, memory_bytes })
    }
}

impl ResourceMeter for ProcessMeter {
    fn server(&mut self) -> Option<ResourceUsage> {
        let mut all = ResourceUsage { cpu_us: self.ended_cpu_us, memory_bytes: 0 };
        for pid in self.servers.clone() {
            if let Some(one) = self.used(Some(pid)) {
                self.last_cpu_us.insert(pid, one.cpu_us);
                all.cpu_us += one.cpu_us;
                all.memory_bytes += one.memory_bytes;
                continue;
            }
            log::warn!("--pid: process {pid} has ended");
            self.servers.retain(|&server| server != pid);
            let used = self.last_cpu_us.remove(&pid).unwrap_or(0);
            self.ended_cpu_us += used;
            all.cpu_us += used;
        }
        (!self.servers.is_empty()).then_some(all)
    }

    fn own(&mut self) -> Option<ResourceUsage> {
        self.used(None)
    }
}

/// Finds maps in the game data. Bots without maps navigate by touch.
fn find_map(options: &BotsOptions) -> Option<FindMap> {
    let game = options.game.name();
    let data = super::game_data::open(&options.basepath, None, game).ok()?;
    if data.is_empty() {
        return None;
    }
    let data = Arc::new(data);
    let mut loading: Vec<MapTask> = Vec::new();
    Some(Box::new(move |name| {
        if let Some(place) = loading.iter().position(|(known, _)| known == name) {
            let found = loading[place].1.as_ref().and_then(Task::poll)?;
            // A missing map is not searched again.
            loading[place].1 = None;
            return found.ok().flatten();
        }
        if loading.len() >= MAX_MAP_TASKS {
            loading.remove(0);
        }
        let (data, file) = (Arc::clone(&data), format!("maps/{name}.bsp"));
        let task = Task::start("map", move || load_map(&data, &file)).ok();
        loading.push((name.to_owned(), task));
        None
    }))
}

/// Name of a map, and the thread that loads it; `None` once it has ended.
type MapTask = (String, Option<Task<Option<Arc<CollisionMap>>>>);

/// Maximum maps that are remembered as loaded or missing. Bots keep as many.
const MAX_MAP_TASKS: usize = 8;

/// Loads a map for navigation. It takes longer than a snapshot interval, so that it has a thread.
fn load_map(data: &GameData, file: &str) -> Option<Arc<CollisionMap>> {
    let file = data.read(file, MAX_FILE_LEN as u64).ok()?;
    let map = CollisionMap::new(&Bsp::load(&file).ok()?, TracePrecision::Single).ok()?;
    Some(Arc::new(map))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_masked_in_the_command_line() {
        let line = |words: &[&str]| command_line(words.iter().map(ToString::to_string));
        assert_eq!(
            line(&["bots", "--password", "secret", "-n", "4"]),
            "bots --password '***' -n 4".replace('\'', "")
        );
        assert_eq!(line(&["--password=secret", "a b"]), "--password=*** 'a b'");
        assert_eq!(line(&["--expect", "loss<1%"]), "--expect 'loss<1%'");
    }
}
