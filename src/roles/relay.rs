//! Relay role (`fragd relay`), and the hosting of any broadcast.

use std::net::SocketAddr;

use fragd::{
    cli::{
        BindAddresses, Duration, ExitStatus, RelayFrom, RelayOptions, ServerAddress, ViewerOptions,
    },
    io::{
        self, BindError, Clock, Console, ExitReason, Listen, Options, Signals, Sockets,
        live::{LiveListener, LiveReceiver},
    },
    model::{Millis, UnixMillis, text::escaped},
    node::{Hosted as _, LocalPort},
    relay::{Broadcast, BroadcastOptions, ServerSource, ServerSourceOptions, Source, StreamSource},
    stream::{PublisherOptions, SubscriberEvent},
};

/// Shortest password of a live stream, in bytes.
const MIN_PASSWORD_LEN: usize = 8;
/// Most relays of one live stream.
const MAX_RELAYS: usize = 32;

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
        Err(failure) => failure.report(),
    }
}

/// Failure of a broadcast, and the exit status.
pub(super) struct Failure {
    what: String,
    status: ExitStatus,
}

impl From<String> for Failure {
    fn from(what: String) -> Self {
        Self { what, status: ExitStatus::Failed }
    }
}

impl Failure {
    /// Logs the failure.
    pub(super) fn report(self) -> ExitStatus {
        io::logging::fatal(&self.what);
        self.status
    }
}

fn relay(options: &RelayOptions) -> Result<(), Failure> {
    match &options.from {
        RelayFrom::Server(server) => relay_server(server, options),
        RelayFrom::Stream(address) => relay_stream(address, options),
    }
}

/// Relays the live stream of a fragd server or of another relay.
fn relay_stream(address: &str, options: &RelayOptions) -> Result<(), Failure> {
    let password = stream_password(options)?;
    let mut receiver = LiveReceiver::start(address, &password, &options.name)
        .map_err(|error| format!("thread of the live stream not started: {error}"))?;
    let mut offered = match &options.offer {
        Some(offer) => Some(self::offer("--offer", *offer, &password, Millis(0))?),
        None => None,
    };
    let input = move || {
        let event = receiver.poll_event()?;
        if let (SubscriberEvent::Pieces(pieces), Some(offered)) = (&event, &mut offered) {
            offered.write(pieces.clone());
        }
        Some(event)
    };
    log::info!("relaying the live stream of {address}");
    let source = StreamSource::new(address, Box::new(input));
    host(Box::new(source), &options.viewers, options.viewers.broadcast(options.delay))
}

/// Returns the password of the live stream: a file's first line, or the environment's.
fn stream_password(options: &RelayOptions) -> Result<String, String> {
    match &options.password_file {
        Some(path) => {
            let text =
                io::read_config(path).map_err(|error| format!("--password-file: {error}"))?;
            Ok(text.lines().next().unwrap_or_default().to_owned())
        }
        None => std::env::var("FRAGD_RELAY_PASSWORD").map_err(|_| {
            "no password of the live stream; set --password-file FILE or FRAGD_RELAY_PASSWORD"
                .to_owned()
        }),
    }
}

/// Offers a live stream on a TCP address. `option` names the origin of the address in errors.
pub(super) fn offer(
    option: &str,
    address: SocketAddr,
    password: &str,
    delay: Millis,
) -> Result<LiveListener, String> {
    if password.len() < MIN_PASSWORD_LEN {
        return Err(format!(
            "{option}: password of the live stream too short (expected at least {MIN_PASSWORD_LEN} \
             characters in sv_relayPassword)"
        ));
    }
    let seed =
        io::random_bytes().map_err(|error| format!("random numbers not available: {error}"))?;
    let listener = LiveListener::start(
        address,
        PublisherOptions {
            password: password.to_owned(),
            delay,
            max_relays: MAX_RELAYS,
            seed: u64::from_le_bytes(seed),
        },
    )
    .map_err(|error| format!("{option}: cannot listen on TCP {address}: {error}"))?;
    log::info!("live stream for relays on TCP {}", listener.address());
    Ok(listener)
}

fn relay_server(server: &ServerAddress, options: &RelayOptions) -> Result<(), Failure> {
    let server = io::resolve(&server.to_string(), server.port)
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
        packs: Some(super::installed_packs(&options.basepath, options.game)),
    });
    log::info!("relaying {server}");
    host(Box::new(source), &options.viewers, options.viewers.broadcast(options.delay))
}

/// Hosts a broadcast of `source` until it stops.
pub(super) fn host<'a>(
    source: Box<dyn Source + 'a>,
    options: &ViewerOptions,
    broadcast: BroadcastOptions,
) -> Result<(), Failure> {
    let entropy =
        io::random_bytes().map_err(|error| format!("random numbers not available: {error}"))?;
    let mut node = Broadcast::new(source, broadcast, entropy);
    let named = ("--state", options.state.as_deref().unwrap_or_default());
    let state = super::state::named_folder(named, (options.port.into(), ""), false)?;
    let mut listens = vec![viewer_listen(options)];
    if node.local_ports() > 1 {
        let port = Listen { port: 0, buffer_bytes: SOURCE_BUFFER_BYTES, ..Listen::default() };
        listens.push(port);
    }
    let sockets = Sockets::listen(&listens).map_err(|error| advice(&error))?;
    let signals = Signals::install().map_err(|error| format!("signals not available: {error}"))?;
    let clock = Clock::start();
    node.keep_bans(state, UnixMillis(io::unix_millis()));
    for address in sockets.addresses(LocalPort(0)) {
        log::info!("listening on UDP {address}");
    }
    let console_socket = super::console::listen("--console", options.console.as_deref())?;
    let run_options = Options {
        signals: Some(signals),
        console_socket,
        console: Console::Edited(super::is_secret_line),
        grace: Millis(1000),
        ..Options::default()
    };
    let summary = io::run(&mut node, sockets, &clock, run_options)
        .map_err(|error| format!("event loop failed: {error}"))?;
    if let Some(reason) = node.source().failure() {
        return Err(Failure { what: escaped(reason.as_bytes()), status: ExitStatus::Refused });
    }
    if summary.reason == ExitReason::Finished {
        log::info!("stopped");
    }
    Ok(())
}

/// Addresses and port of the viewers.
fn viewer_listen(options: &ViewerOptions) -> Listen {
    let BindAddresses { ip4, ip6 } = BindAddresses::of(&options.bind).unwrap_or(BindAddresses::ALL);
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
