//! Relay role (`fragd relay`), and the hosting of any broadcast.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fragd::{
    broadcast::{Broadcast, BroadcastOptions, ServerSource, ServerSourceOptions, Source},
    cli::{Duration, ExitStatus, RelayOptions, ViewerOptions},
    io::{self, BindError, Clock, Console, ExitReason, Listen, Options, Signals, Sockets},
    model::Millis,
    node::{Hosted as _, LocalPort},
};

/// Kernel queue of the source's port for each direction, in bytes.
const SOURCE_BUFFER_BYTES: usize = 1 << 20;

/// Relays a server until it is stopped.
pub(crate) fn run(options: &RelayOptions) -> ExitStatus {
    if let Err(error) = io::logging::init_background(log::LevelFilter::Info) {
        eprintln!("fragd: log thread not started: {error}");
        return ExitStatus::Failed;
    }
    match relay(options) {
        Ok(()) => ExitStatus::Done,
        Err(what) => {
            io::logging::fatal(&what);
            ExitStatus::Failed
        }
    }
}

fn relay(options: &RelayOptions) -> Result<(), String> {
    let server = io::resolve(&options.from.to_string(), options.from.port)
        .map_err(|error| format!("--from: {error}"))?;
    let seed =
        io::random_bytes().map_err(|error| format!("random numbers not available: {error}"))?;
    let source = ServerSource::new(ServerSourceOptions {
        server,
        protocol: options.protocol,
        name: options.name.clone(),
        password: options.password.clone(),
        cycle: options.cycle.map(|Duration(cycle)| cycle),
        seed: u64::from_le_bytes(seed),
    });
    log::info!("relaying {server}");
    host(Box::new(source), &options.viewers, options.viewers.broadcast(options.delay))
}

/// Hosts a broadcast of `source` until it stops.
pub(super) fn host<'a>(
    source: Box<dyn Source + 'a>,
    options: &ViewerOptions,
    broadcast: BroadcastOptions,
) -> Result<(), String> {
    let entropy =
        io::random_bytes().map_err(|error| format!("random numbers not available: {error}"))?;
    let mut node = Broadcast::new(source, broadcast, entropy);
    let mut listens = vec![viewer_listen(options)];
    if node.local_ports() > 1 {
        let port = Listen { port: 0, buffer_bytes: SOURCE_BUFFER_BYTES, ..Listen::default() };
        listens.push(port);
    }
    let sockets = Sockets::listen(&listens).map_err(|error| advice(&error))?;
    let signals = Signals::install().map_err(|error| format!("signals not available: {error}"))?;
    let clock = Clock::start();
    for address in sockets.addresses(LocalPort(0)) {
        log::info!("listening on UDP {address}");
    }
    let run_options = Options {
        signals: Some(signals),
        console: Console::Stdin,
        grace: Millis(1000),
        ..Options::default()
    };
    let summary = io::run(&mut node, sockets, &clock, run_options)
        .map_err(|error| format!("event loop failed: {error}"))?;
    if summary.reason == ExitReason::Finished {
        log::info!("stopped");
    }
    Ok(())
}

/// Addresses and port of the viewers.
fn viewer_listen(options: &ViewerOptions) -> Listen {
    let (ip4, ip6) = match options.bind {
        None => (Some(Ipv4Addr::UNSPECIFIED), Some(Ipv6Addr::UNSPECIFIED)),
        Some(IpAddr::V4(ip)) => (Some(ip), None),
        Some(IpAddr::V6(ip)) => (None, Some(ip)),
    };
    Listen { ip4, ip6, port: options.port, ..Listen::default() }
}

/// Returns the error of a port with the remedy for a broadcast.
fn advice(error: &BindError) -> String {
    match error {
        BindError::Busy { address } => format!(
            "UDP port {} on {} in use; stop the other server or set --port",
            address.port(),
            address.ip()
        ),
        BindError::NotOurs { address } => format!(
            "{} is not an address of this machine; set --bind to one of its addresses",
            address.ip()
        ),
        other => other.to_string(),
    }
}
