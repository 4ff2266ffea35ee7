//! QuakeWorld server role (`fragd qw`).

use std::{cell::RefCell, net::IpAddr, path::PathBuf, rc::Rc};

use fragd::{
    cli::{ExitStatus, QwOptions, TraceFiles},
    io::{
        self, BindError, Clock, Console, ConsoleSocket, ExitReason, Listen, Options, Progress,
        Signals, Sockets, StreamFile, assets::QuakeData,
    },
    journal::{RecordedAssets, Recorder, Start},
    model::{Millis, UnixMillis, assets::Assets},
    node::{LocalPort, Observed, Observer, Trace},
    qwserver::{QwServer, ServerOptions, Settings, StartError, settings::key},
    trace::Role,
};

/// Interval between updates of the loop counters.
const COUNT_INTERVAL: Millis = Millis::seconds(2);

/// Traced connections: twice the largest number of clients.
const MAX_LINES: usize = 64;

/// Why a server does not run.
enum Failure {
    /// A file, option or map that the operator named.
    Usage(String),
    /// Any other reason.
    System(String),
}

/// Hosts a server until it stops.
pub(crate) fn run(options: &QwOptions) -> ExitStatus {
    let level = if options.verbose { log::LevelFilter::Debug } else { log::LevelFilter::Info };
    let read = [("--config", &options.config)];
    let TraceFiles { trace, pcap } = &options.files;
    let written = [("--journal", &options.journal), ("--trace", trace), ("--pcap", pcap)];
    if let Err(what) = super::output::check_files(read, written) {
        eprintln!("fragd: {what}");
        return ExitStatus::UsageError;
    }
    if let Err(error) = io::logging::init_background(level) {
        eprintln!("fragd: log thread not started: {error}");
        return ExitStatus::Failed;
    }
    let (what, status) = match host(options) {
        Ok(()) => return ExitStatus::Done,
        Err(Failure::Usage(what)) => (what, ExitStatus::UsageError),
        Err(Failure::System(what)) => (what, ExitStatus::Failed),
    };
    io::logging::fatal(&what);
    status
}

fn host(options: &QwOptions) -> Result<(), Failure> {
    let config = options
        .config
        .as_deref()
        .map(|path| io::read_config(path).map(|text| (path.display().to_string(), text)));
    let config = config.transpose().map_err(|error| Failure::Usage(error.to_string()))?;
    let named = config.as_ref().map(|(path, text)| (path.as_str(), text.as_str()));
    let settings = options.build(named).map_err(Failure::Usage)?;
    let system =
        |what: &str, error: &dyn std::fmt::Display| Failure::System(format!("{what}: {error}"));
    let entropy =
        io::random_bytes().map_err(|error| system("random numbers not available", &error))?;
    let signals = Signals::install().map_err(|error| system("signals not available", &error))?;
    let clock = Clock::start();
    let began = UnixMillis(io::unix_millis());
    let recorder = start_recorder(options, named, entropy, began).map_err(Failure::System)?;
    let folders = options.folders(&settings);
    warn_about_missing(options, &folders);
    let mut data: Box<dyn Assets> = Box::new(QuakeData::open(folders));
    if let Some(recorder) = &recorder {
        data = Box::new(RecordedAssets::new(data, Rc::clone(recorder)));
    }
    let made = server_options(options, settings, data, entropy, began);
    // A replay starts at the same time.
    let mut server = QwServer::start(made, Millis(0)).map_err(|error| {
        let StartError::Map { output, .. } = &error;
        output.lines().for_each(|line| log::warn!("{line}"));
        Failure::Usage(error.to_string())
    })?;
    keep_bans(&mut server, options.journal.is_some()).map_err(Failure::Usage)?;
    let sockets = Sockets::listen(&[listen(options, server.settings())])
        .map_err(|error| Failure::System(advice(&error)))?;
    for address in sockets.addresses(LocalPort(0)) {
        log::info!("listening on UDP {address}");
    }
    let recording =
        recorder.iter().map(|recorder| Box::new(Rc::clone(recorder)) as Box<dyn Observer>);
    let mut observers: Vec<Box<dyn Observer>> = recording.collect();
    let locals = sockets.addresses(LocalPort(0)).map(|at| (LocalPort(0), at)).collect();
    let tap = super::tap::open(&options.files, locals, began, Role::Server, MAX_LINES);
    if let Some(tap) = tap.map_err(Failure::System)? {
        observers.push(Box::new(tap));
    }
    if Trace::is_enabled() {
        observers.push(Box::new(Trace));
    }
    let mut server = Observed::new(server, observers);
    let progress = metrics(options).map_err(Failure::System)?;
    let console_socket = console_socket(server.node().settings()).map_err(Failure::System)?;
    let run_options = Options {
        signals: Some(signals),
        console_socket,
        console: Console::Edited(super::is_secret_line),
        count_interval: COUNT_INTERVAL,
        progress,
        grace: Millis(1000),
        ..Options::default()
    };
    let summary = io::run(&mut server, sockets, &clock, run_options)
        .map_err(|error| system("event loop failed", &error))?;
    if summary.reason == ExitReason::Finished {
        log::info!("stopped");
    }
    if let Some(recorder) = recorder {
        recorder.borrow_mut().end();
    }
    Ok(())
}

/// Warns about a folder of the options that does not exist.
fn warn_about_missing(options: &QwOptions, folders: &[PathBuf]) {
    // The first folder is that of --gamedir.
    let named = [options.basedir.as_ref(), options.gamedir.as_ref().and(folders.first())];
    if let Some(missing) = named.into_iter().flatten().find(|folder| !folder.is_dir()) {
        log::warn!("folder not found: {} (see --basedir and --gamedir)", missing.display());
    }
}

/// Opens the state folder that the settings name. Scripts may have named it, and bans of a script stay.
fn keep_bans(server: &mut QwServer, has_journal: bool) -> Result<(), String> {
    let values = server.settings().values();
    let named = (key::SV_STATE.setting().name, values.text(key::SV_STATE));
    let port = (values.int(key::NET_PORT), "");
    server.keep_bans(super::state::named_folder(named, port, has_journal)?);
    Ok(())
}

/// Returns everything that the server is made from, as it starts and as it is replayed.
pub(super) fn server_options(
    options: &QwOptions,
    settings: Settings,
    assets: Box<dyn Assets>,
    entropy: [u8; 32],
    began: UnixMillis,
) -> ServerOptions {
    ServerOptions { settings, assets, entropy, began, lines: options.lines.clone() }
}

/// Starts the metrics endpoint, if one is asked for.
fn metrics<O: Observer + 'static>(
    options: &QwOptions,
) -> Result<Option<Progress<'static, Observed<QwServer, O>>>, String> {
    let Some(address) = options.metrics else { return Ok(None) };
    super::monitoring::serve("--metrics", address, Vec::new).map(Some)
}

/// Listens for consoles, if `sv_console` names a path.
fn console_socket(settings: &Settings) -> Result<Option<ConsoleSocket>, String> {
    let path = settings.values().text(key::SV_CONSOLE);
    super::console::listen(key::SV_CONSOLE.setting().name, Some(path.as_ref()))
}

/// Starts the recording of the journal, if one is asked for.
fn start_recorder(
    options: &QwOptions,
    config: Option<(&str, &str)>,
    entropy: [u8; 32],
    began: UnixMillis,
) -> Result<Option<Rc<RefCell<Recorder>>>, String> {
    let Some(path) = &options.journal else { return Ok(None) };
    let arguments = std::env::args_os().skip(1);
    let start = Start {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        began_unix_ms: began.0,
        arguments: arguments.map(|word| word.to_string_lossy().into_owned()).collect(),
        config: config.map(|(path, text)| (path.to_owned(), text.to_owned())),
        entropy,
    };
    let mut file = StreamFile::create("journal", path).map_err(|error| error.to_string())?;
    log::info!("recording input to journal {}", path.display());
    let sink = Box::new(move |bytes: &[u8]| file.write(bytes));
    let recorder = Recorder::new(&start, sink).limited(options.journal_bytes());
    Ok(Some(Rc::new(RefCell::new(recorder))))
}

/// Returns the addresses and the port. With `--bind`, only the named families.
fn listen(options: &QwOptions, settings: &Settings) -> Listen {
    let values = settings.values();
    let is_named = |is_v4: bool| {
        options.bind.is_empty() || options.bind.iter().any(|ip| ip.is_ipv4() == is_v4)
    };
    let ip4 = match values.address(key::NET_IP) {
        IpAddr::V4(ip) => Some(ip),
        IpAddr::V6(_) => None,
    };
    let ip6 = match values.address(key::NET_IP6) {
        IpAddr::V6(ip) => Some(ip),
        IpAddr::V4(_) => None,
    };
    Listen {
        ip4: ip4.filter(|_| is_named(true)),
        ip6: ip6.filter(|_| is_named(false)),
        port: u16::try_from(values.int(key::NET_PORT)).unwrap_or(27500),
        ..Listen::default()
    }
}

/// Returns the error of a port with the remedy.
fn advice(error: &BindError) -> String {
    match error {
        BindError::Busy { address } => format!(
            "UDP port {} on {} in use; stop the other server or set --port",
            address.port(),
            address.ip()
        ),
        BindError::NotOurs { address } => {
            format!("{} is not an address of this machine; set --bind", address.ip())
        }
        other => other.to_string(),
    }
}
