//! Master role (`fragd master`).

use std::path::Path;

use super::master_pages::{self, MasterPages};
use fragd::{
    cli::{ExitStatus, MasterArguments, MasterSettings},
    io::{self, BindError, Clock, Console, Listen, Options, Progress, Signals, Sockets, StateFile},
    master::Master,
    model::{Millis, UnixMillis},
    node::LocalPort,
};

/// Interval between updates of the loop counters.
const COUNT_INTERVAL: Millis = Millis::seconds(2);
/// Interval between two writes of the state file.
const STATE_INTERVAL: Millis = Millis::seconds(30);

/// Runs a master until it is stopped.
pub(crate) fn run(arguments: &MasterArguments) -> ExitStatus {
    let settings = match settings(arguments) {
        Ok(settings) => settings,
        Err(what) => {
            eprintln!("fragd: {what}");
            return ExitStatus::UsageError;
        }
    };
    let level = if settings.verbose { log::LevelFilter::Debug } else { log::LevelFilter::Info };
    if let Err(error) = io::logging::init_background(level) {
        eprintln!("fragd: log thread not started: {error}");
        return ExitStatus::Failed;
    }
    match host(&settings) {
        Ok(()) => ExitStatus::Done,
        Err(what) => {
            io::logging::fatal(&what);
            ExitStatus::Failed
        }
    }
}

/// Reads the files that the arguments name.
fn settings(arguments: &MasterArguments) -> Result<MasterSettings, String> {
    let read = |path: Option<&Path>| match path {
        None => Ok(None),
        Some(path) => io::read_config(path)
            .map(|text| Some((path.display().to_string(), text)))
            .map_err(|error| error.to_string()),
    };
    let config = read(arguments.config.as_deref())?;
    let policy = read(arguments.authorize.as_deref())?;
    arguments.build(
        config.as_ref().map(|(path, text)| (path.as_str(), text.as_str())),
        policy.as_ref().map(|(path, text)| (path.as_str(), text.as_str())),
    )
}

fn host(settings: &MasterSettings) -> Result<(), String> {
    let listens: Vec<_> = settings.ports.iter().map(|&port| listen(settings, port)).collect();
    let sockets = Sockets::listen(&listens).map_err(|error| advice(&error))?;
    let secret =
        io::random_bytes().map_err(|error| format!("random numbers not available: {error}"))?;
    let signals = Signals::install().map_err(|error| format!("signals not available: {error}"))?;
    let clock = Clock::start();
    let mut master = Master::new(settings.options.clone(), secret, clock.now())
        .map_err(|error| error.to_string())?;
    let state = match &settings.state {
        None => None,
        Some(path) => Some(open_state(&mut master, path, &clock)?),
    };
    for port in 0..settings.options.ports {
        for address in sockets.addresses(LocalPort(port)) {
            log::info!("listening on UDP {address}");
        }
    }
    let mut saved = master.changes();
    let mut pages = settings.http.map(MasterPages::start).transpose()?;
    let mut next_save = clock.now() + STATE_INTERVAL;
    let file = state.as_ref();
    let progress = (file.is_some() || pages.is_some()).then(|| Progress {
        first: Millis(0),
        interval: if pages.is_some() { master_pages::INTERVAL } else { STATE_INTERVAL },
        call: Box::new(move |master: &Master, now, _: &_| {
            if let Some(pages) = &mut pages {
                pages.update(master, now);
            }
            let Some(file) = file.filter(|_| now >= next_save) else { return };
            next_save = now + STATE_INTERVAL;
            if master.changes() != saved && file.write(state_text(master, now)) {
                saved = master.changes();
            }
        }) as Box<io::ProgressFn<'_, Master>>,
    });
    let console_socket = super::console::listen("--console", settings.console.as_deref())?;
    let options = Options {
        signals: Some(signals),
        console_socket,
        console: Console::Edited(super::is_secret_line),
        count_interval: COUNT_INTERVAL,
        progress,
        grace: Millis(1000),
        ..Options::default()
    };
    let run = io::run(&mut master, sockets, &clock, options);
    if let Some(file) = state {
        file.finish(state_text(&master, clock.now()));
    }
    run.map_err(|error| format!("event loop failed: {error}"))?;
    log::info!("stopped");
    Ok(())
}

/// Restores the list from the state file and starts its thread.
fn open_state(master: &mut Master, path: &Path, clock: &Clock) -> Result<StateFile, String> {
    if let Some(text) = StateFile::read(path)? {
        let listed = master
            .restore(clock.now(), UnixMillis(io::unix_millis()), &text)
            .map_err(|error| format!("state file {}: {error}", path.display()))?;
        log::info!("state file {}: {listed} servers listed", path.display());
    }
    StateFile::start(path.to_owned())
}

fn state_text(master: &Master, now: Millis) -> String {
    master.state_text(now, UnixMillis(io::unix_millis()))
}

fn listen(settings: &MasterSettings, port: u16) -> Listen {
    Listen { ip4: settings.ip4, ip6: settings.ip6, port, ..Listen::default() }
}

/// Returns the error of a port with the remedy for a master.
fn advice(error: &BindError) -> String {
    match error {
        BindError::Busy { address } => format!(
            "UDP port {} on {} in use; stop the other master or set --port",
            address.port(),
            address.ip()
        ),
        BindError::NotOurs { address } => format!(
            "{} is not an address of this machine; set --bind, or ip4 and ip6 of the config file, to its addresses",
            address.ip()
        ),
        other => other.to_string(),
    }
}
