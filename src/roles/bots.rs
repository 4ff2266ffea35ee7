//! Load-test role (`fragd bots`).

mod progress;

use std::{
    fs,
    io::{IsTerminal as _, Write as _},
    net::SocketAddr,
    path::Path,
    sync::Arc,
};

use fragd::{
    bots::{Bots, FindMap, ResourceMeter, ResourceUsage, Sample, Summary, Verdict},
    cli::{BotsOptions, ExitStatus, LoadTest},
    io::{
        self, Clock, GameData, Options, Output, Processes, Progress, Signals, Sockets,
        assets::base_paths,
    },
    model::{UnixMillis, assets::Assets as _},
    node::{Hosted as _, LocalPort, Observed},
    settings::Choice as _,
    trace::Role,
    world::{Bsp, CollisionMap, TracePrecision, bsp::MAX_FILE_LEN},
};

use progress::ProgressDisplay;

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
    // A closed pipe, e.g. by `head`, is not an error.
    let _ = std::io::stdout().write_all(text.as_bytes());
    let mut outcome = outcome(summary.verdict);
    // A terminal has already shown the summary.
    if outcome != ExitStatus::Done && (options.json || !std::io::stdout().is_terminal()) {
        eprintln!("fragd: {}", summary.sentence);
    }
    let page = || summary.to_html().into_bytes();
    let files: [(&Option<_>, &dyn Fn() -> Vec<u8>); 2] =
        [(&options.csv, &|| seconds(&summary.samples)), (&options.report, &page)];
    for (path, write) in files {
        if let Some(path) = path
            && let Err(error) = fs::write(path, write())
        {
            eprintln!("fragd: {}: {error}", path.display());
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
    }
}

/// Encodes the samples as CSV, one line per second.
fn seconds(samples: &[Sample]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for sample in samples {
        writer.serialize(sample).expect("numbers into memory");
    }
    writer.into_inner().expect("into memory")
}

fn play(options: &BotsOptions) -> Result<Summary, Refusal> {
    let failed = |what: String| Refusal(what, ExitStatus::Failed);
    let test = match &options.scenario {
        Some(path) => LoadTest::clone(&options.test).merged_with(scenario(path)?),
        None => LoadTest::clone(&options.test),
    };
    let servers: Result<Vec<_>, _> =
        options.connect.iter().map(|one| io::resolve(&one.to_string(), one.port)).collect();
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
    let asked = test.build(servers, u64::from_le_bytes(seed));
    let mut meter = Processes::new();
    if let Some(pid) = options.pid.iter().find(|pid| meter.used(Some(**pid)).is_none()) {
        return Err(Refusal(format!("process {pid} not found"), ExitStatus::UsageError));
    }
    let clock = Clock::start();
    let meter = Box::new(ProcessMeter { processes: meter, servers: options.pid.clone() });
    let bots = Bots::with_maps_and_meter(asked, clock.now(), find_map(options), Some(meter));
    drive(options, bots, first, &clock).map_err(failed)
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
        output: Output::Writer(display.output()),
        progress: Some(Progress {
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
}

impl ProcessMeter {
    fn used(&mut self, pid: Option<u32>) -> Option<ResourceUsage> {
        let io::process::Used { cpu_us, memory_bytes } = self.processes.used(pid)?;
        Some(ResourceUsage { cpu_us, memory_bytes })
    }
}

impl ResourceMeter for ProcessMeter {
    fn server(&mut self) -> Option<ResourceUsage> {
        let pids = self.servers.clone();
        let used = pids.into_iter().map(|pid| self.used(Some(pid)));
        used.reduce(|all, one| {
            let (all, one) = (all?, one?);
            Some(ResourceUsage {
                cpu_us: all.cpu_us + one.cpu_us,
                memory_bytes: all.memory_bytes + one.memory_bytes,
            })
        })?
    }

    fn own(&mut self) -> Option<ResourceUsage> {
        self.used(None)
    }
}

/// Finds maps in the game data. Bots without maps navigate by touch.
fn find_map(options: &BotsOptions) -> Option<FindMap> {
    let game = options.game.name();
    let data = GameData::open(&base_paths(&options.basepath, game), &[game]).with_builtin(game);
    if data.is_empty() {
        return None;
    }
    Some(Box::new(move |name| {
        let file = data.read(&format!("maps/{name}.bsp"), MAX_FILE_LEN as u64).ok()?;
        let map = CollisionMap::new(&Bsp::load(&file).ok()?, TracePrecision::Single).ok()?;
        Some(Arc::new(map))
    }))
}
