//! Server role (`fragd serve`).

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    rc::Rc,
};

use super::reload::{Reload, ReloadCounters};
use fragd::{
    cli::{ExitStatus, ServeOptions, TraceFiles},
    io::{
        self, Clock, Console, ConsoleSocket, ExitReason, GameFolder, GameLog, Listen, LogFile,
        LogKind, Options, Progress, RecordingFolder, Recordings, Signals, Sockets, StreamFile,
        live::LiveListener,
    },
    journal::{RecordedAssets, Recorder, Start},
    model::{Millis, UnixMillis, assets::Assets, state_folder::StateFolder},
    node::{LocalPort, Observed, Observer, Trace},
    server::{AUDIT_FILE, Server, ends_with_start},
    settings::{LogLevel, Settings, key},
    trace::Role,
};

/// Interval between updates of the loop counters.
const COUNT_INTERVAL: Millis = Millis::seconds(2);
/// Environment variable that names the config file.
const CONFIG_VARIABLE: &str = "FRAGD_CONFIG";
/// Traced connections: four times the largest number of players.
const MAX_LINES: usize = 256;

/// Hosts a server until it stops.
pub(crate) fn run(options: &ServeOptions) -> ExitStatus {
    let read = [("--config", &options.config)];
    let TraceFiles { trace, pcap } = &options.files;
    let written = [("--journal", &options.journal), ("--trace", trace), ("--pcap", pcap)];
    if let Err(what) = super::output::check_files(read, written) {
        eprintln!("fragd: {what}");
        return ExitStatus::UsageError;
    }
    let config = match config(options, io::read_config) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("fragd: {error}");
            return ExitStatus::UsageError;
        }
    };
    let config = config.as_ref().map(|(path, text)| (path.as_str(), text.as_str()));
    let mut settings = match options.build(config) {
        Ok(built) => built,
        Err(faults) => {
            for fault in faults.lines() {
                eprintln!("fragd: {fault}");
            }
            return ExitStatus::UsageError;
        }
    };
    if let Err(error) = io::logging::init_background(level(settings.choice(key::SV_LOG_LEVEL))) {
        eprintln!("fragd: log thread not started: {error}");
        return ExitStatus::Failed;
    }
    while let Some(note) = settings.poll_note() {
        log::warn!("{note}");
    }
    match host(options, settings, config) {
        Ok(()) => ExitStatus::Done,
        Err(error) => {
            let (what, status) = match &error {
                HostError::Start(what) => (what, ExitStatus::UsageError),
                HostError::System(what) => (what, ExitStatus::Failed),
            };
            io::logging::fatal(what);
            status
        }
    }
}

/// Reads the config file. Returns its path and its text.
pub(super) fn config(
    options: &ServeOptions,
    read: fn(&Path) -> Result<String, io::FileError>,
) -> Result<Option<(String, String)>, String> {
    // Container images set the variable, so that other arguments keep their configuration.
    let variable = || std::env::var_os(CONFIG_VARIABLE).filter(|path| !path.is_empty());
    let (path, origin) = match (&options.config, variable()) {
        (Some(path), _) => (path.clone(), String::new()),
        (None, Some(path)) => (PathBuf::from(path), format!("{CONFIG_VARIABLE}: ")),
        (None, None) => return Ok(None),
    };
    let text = read(&path).map_err(|error| format!("{origin}{error}"))?;
    Ok(Some((path.display().to_string(), text)))
}

/// Why a server does not run.
enum HostError {
    /// A script, map or mod that the operator named, or a combination of settings.
    Start(String),
    /// Any other reason.
    System(String),
}

impl From<String> for HostError {
    fn from(what: String) -> Self {
        Self::System(what)
    }
}

fn host(
    asked: &ServeOptions,
    settings: Settings,
    config: Option<(&str, &str)>,
) -> Result<(), HostError> {
    // The sockets first: a busy port should be the only message.
    let sockets = Sockets::listen(&listens(&settings)).map_err(|error| error.to_string())?;
    if settings.int(key::NET_ENABLED) & 8 == 0 {
        let joined = sockets.join_lan_group();
        log::debug!("LAN scans over IPv6: multicast group joined on {joined} interfaces");
    }
    let entropy =
        io::random_bytes().map_err(|error| format!("random numbers not available: {error}"))?;
    let signals = Signals::install().map_err(|error| format!("signals not available: {error}"))?;

    let clock = Clock::start();
    let began = UnixMillis(io::unix_millis());
    let data = super::game_data::find(&settings).map_err(HostError::Start)?;
    let offered = data.offered();
    let mut data: Box<dyn Assets> = Box::new(data);
    let recorder = start_recorder(asked, start(config, entropy, began))?;
    if let Some(recorder) = &recorder {
        data = Box::new(RecordedAssets::new(data, Rc::clone(recorder)));
    }
    let begun = clock.now();
    let reloads = ReloadCounters::default();
    let state =
        super::state::folder(&settings, asked.journal.is_some()).map_err(HostError::Start)?;
    let reload = Reload::new(asked, &settings, state.clone(), reloads.clone());
    let builder = super::server_of(asked, settings, entropy, began);
    let builder = builder.assets(data).state(state.clone());
    let server = builder.start().map_err(HostError::Start)?;
    log::info!("server ready: first level loaded in {} ms", clock.now().since(begun).0);
    // Scripts have set what these read.
    let settings = server.settings();
    io::logging::set_level(level(settings.choice(key::SV_LOG_LEVEL)));
    let services = Services::start(&server, offered, reloads, state.as_deref())?;
    let mut observers: Vec<Box<dyn Observer>> = Vec::new();
    if let Some(recorder) = &recorder {
        observers.push(Box::new(Rc::clone(recorder)));
    }
    let locals = sockets.addresses(LocalPort(0)).map(|at| (LocalPort(0), at)).collect();
    if let Some(tap) = super::tap::open(&asked.files, locals, began, Role::Server, MAX_LINES)? {
        observers.push(Box::new(tap));
    }
    if Trace::is_enabled() {
        observers.push(Box::new(Trace));
    }
    play(sockets, (signals, reload), &clock, services, &mut Observed::new(server, observers))?;
    if let Some(recorder) = recorder {
        recorder.borrow_mut().end();
    }
    Ok(())
}

/// Starts the recording of the journal, if one is asked for.
fn start_recorder(
    asked: &ServeOptions,
    start: Start,
) -> Result<Option<Rc<RefCell<Recorder>>>, String> {
    let Some(path) = &asked.journal else { return Ok(None) };
    let mut file = StreamFile::create("journal", path).map_err(|error| error.to_string())?;
    log::info!("recording input to journal {}", path.display());
    let sink = Box::new(move |bytes: &[u8]| file.write(bytes));
    let recorder = Recorder::new(&start, sink).limited(asked.journal_bytes());
    Ok(Some(Rc::new(RefCell::new(recorder))))
}

/// Services of a server beside its UDP sockets: files, threads and TCP ports that its settings name.
#[derive(Default)]
struct Services {
    game_log: Option<GameLog>,
    audit_log: Option<GameLog>,
    recordings: Option<Recordings>,
    game_folder: Option<GameFolder>,
    live: Option<LiveListener>,
    console: Option<ConsoleSocket>,
    progress: Option<Progress<'static, Server>>,
}

impl Services {
    /// Starts the services. A server that ends with its start uses none, since another one may run with the same
    /// settings: so a configuration is checked.
    fn start(
        server: &Server,
        offered: io::assets::OfferedPacks,
        reloads: ReloadCounters,
        state: Option<&dyn StateFolder>,
    ) -> Result<Self, String> {
        if ends_with_start(server) {
            log::info!("quit at the start: no file written, no TCP port opened");
            return Ok(Self::default());
        }
        let settings = server.settings();
        let http = io::HttpCounters::default();
        let progress = super::monitoring::start(settings, &http, reloads)?;
        start_http(settings, offered, http)?;
        Ok(Self {
            game_log: open_game_log(settings)?,
            audit_log: open_audit_log(settings, state)?,
            recordings: Some(Recordings::new(recording_folder(settings))),
            game_folder: super::game_data::own_folder(settings).map(GameFolder::new),
            live: start_live(settings)?,
            console: super::console::listen(
                "sv_console",
                Some(settings.text(key::SV_CONSOLE).as_ref()),
            )?,
            progress,
        })
    }
}

/// Runs the server until it stops.
fn play<O: Observer>(
    sockets: Sockets,
    (signals, mut reload): (Signals, Reload),
    clock: &Clock,
    services: Services,
    server: &mut Observed<Server, O>,
) -> Result<(), String> {
    let Services { game_log, audit_log, recordings, game_folder, live, console, progress } =
        services;
    for address in sockets.addresses(LocalPort(0)) {
        log::info!("listening on UDP {address}");
    }
    for address in sockets.addresses(LocalPort(1)) {
        log::info!("listening on UDP {address}, announced as protocol 43");
    }
    let mut reopener = game_log.as_ref().map(GameLog::reopener);
    let progress = progress.map(|Progress { first, interval, mut call }| Progress {
        first,
        interval,
        call: Box::new(move |node: &Observed<Server, O>, now, counters: &_| {
            call(node.node(), now, counters);
        }) as Box<io::ProgressFn<'_, _>>,
    });
    let options = Options {
        signals: Some(signals),
        on_hangup: Some(Box::new(move || {
            reopener.iter_mut().for_each(|reopen| reopen());
            reload.run()
        })),
        game_log,
        audit_log,
        recordings,
        game_folder,
        live,
        console_socket: console,
        console: Console::Edited(super::is_secret_line),
        count_interval: COUNT_INTERVAL,
        progress,
        grace: Millis(1000),
        ..Options::default()
    };
    let summary = io::run(server, sockets, clock, options)
        .map_err(|error| format!("event loop failed: {error}"))?;
    if summary.reason == ExitReason::Finished {
        log::info!("stopped");
    }
    Ok(())
}

/// Returns the start record of the journal.
fn start(config: Option<(&str, &str)>, entropy: [u8; 32], began: UnixMillis) -> Start {
    let arguments = std::env::args_os().skip(1);
    Start {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        began_unix_ms: began.0,
        arguments: arguments.map(|word| word.to_string_lossy().into_owned()).collect(),
        config: config.map(|(path, text)| (path.to_owned(), text.to_owned())),
        entropy,
    }
}

/// Opens the game log, if `g_log` names one.
fn open_game_log(settings: &Settings) -> Result<Option<GameLog>, String> {
    let path = settings.text(key::G_LOG);
    if path.is_empty() {
        return Ok(None);
    }
    let mebibytes = u64::try_from(settings.int(key::G_LOG_SIZE)).unwrap_or(0);
    let file = LogFile {
        kind: LogKind::Game,
        path: path.into(),
        sync: settings.flag(key::G_LOGSYNC),
        max_bytes: Some(mebibytes << 20).filter(|&bytes| bytes > 0),
    };
    GameLog::start(file).map(Some).map_err(|error| format!("game log thread not started: {error}"))
}

/// Opens the audit log in the state folder, if there is one.
fn open_audit_log(
    settings: &Settings,
    state: Option<&dyn StateFolder>,
) -> Result<Option<GameLog>, String> {
    let Some(state) = state else { return Ok(None) };
    let mebibytes = u64::try_from(settings.int(key::SV_AUDIT_SIZE)).unwrap_or(0);
    let file = LogFile {
        kind: LogKind::Audit,
        path: state.path_of(AUDIT_FILE).into(),
        sync: true,
        max_bytes: Some(mebibytes << 20).filter(|&bytes| bytes > 0),
    };
    GameLog::start(file).map(Some).map_err(|error| format!("audit log thread not started: {error}"))
}

/// Returns the folder of recordings and its limits.
fn recording_folder(settings: &Settings) -> RecordingFolder {
    let limit = |key| u64::try_from(settings.int(key)).ok().filter(|&limit| limit > 0);
    RecordingFolder {
        path: settings.text(key::SV_DEMO_FOLDER).into(),
        max_bytes: limit(key::SV_DEMO_SIZE).map(|mebibytes| mebibytes << 20),
        max_files: limit(key::SV_DEMO_FILES).and_then(|files| usize::try_from(files).ok()),
    }
}

/// Starts the live stream for relays, if `sv_relayAddress` names an address.
fn start_live(settings: &Settings) -> Result<Option<LiveListener>, String> {
    let Some(address) = settings.endpoint(key::SV_RELAY_ADDRESS) else { return Ok(None) };
    let delay = u64::try_from(settings.int(key::SV_RELAY_DELAY)).unwrap_or(0);
    let password = settings.text(key::SV_RELAY_PASSWORD);
    super::relay::offer("sv_relayAddress", address, password, Millis::seconds(delay)).map(Some)
}

/// Starts the HTTP server of downloads, if `sv_http` names an address.
fn start_http(
    settings: &Settings,
    offered: io::assets::OfferedPacks,
    counters: io::HttpCounters,
) -> Result<(), String> {
    let Some(address) = settings.endpoint(key::SV_HTTP) else { return Ok(()) };
    let bound = io::http::serve(address, offered, counters)
        .map_err(|error| format!("sv_http: cannot listen on {address}: {error}"))?;
    log::info!("serving downloads on http://{bound}");
    Ok(())
}

/// Returns the addresses of the server's port and, if set, of its port for protocol 43.
fn listens(settings: &Settings) -> Vec<Listen> {
    let first = listen(settings);
    let second = u16::try_from(settings.int(key::NET_PORT43)).ok().filter(|&port| port != 0);
    let second = second.map(|port| Listen { port, port6: None, ..first.clone() });
    [first].into_iter().chain(second).collect()
}

/// Returns the addresses and the port of the settings.
fn listen(settings: &Settings) -> Listen {
    let families = settings.int(key::NET_ENABLED);
    let port = |key| u16::try_from(settings.int(key)).ok();
    let v4 = match settings.address(key::NET_IP) {
        std::net::IpAddr::V4(ip) => Some(ip),
        std::net::IpAddr::V6(_) => None,
    };
    let v6 = match settings.address(key::NET_IP6) {
        std::net::IpAddr::V6(ip) => Some(ip),
        std::net::IpAddr::V4(_) => None,
    };
    Listen {
        ip4: v4.filter(|_| families & 1 != 0),
        ip6: v6.filter(|_| families & 2 != 0),
        port: port(key::NET_PORT).unwrap_or(27960),
        port6: port(key::NET_PORT6).filter(|&port| port != 0),
        separates_connectionless: true,
        ..Listen::default()
    }
}

fn level(level: LogLevel) -> log::LevelFilter {
    match level {
        LogLevel::Error => log::LevelFilter::Error,
        LogLevel::Warn => log::LevelFilter::Warn,
        LogLevel::Info => log::LevelFilter::Info,
        LogLevel::Debug => log::LevelFilter::Debug,
        LogLevel::Trace => log::LevelFilter::Trace,
    }
}
