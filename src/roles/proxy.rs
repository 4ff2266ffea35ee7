//! Proxy role (`fragd proxy`).

use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

use super::{output, tap};
use fragd::{
    cli::{BindAddresses, ExitStatus, ProxyArguments, SessionNetworkChoice, TraceFiles},
    io::{self, BindError, Clock, Console, Listen, Login, Options, Signals, Sockets, Socks5},
    limits::Reach,
    model::{Millis, UnixMillis},
    node::{LocalPort, NodeEvent, Observed, Observer, Trace},
    proxy::{Proxy, SessionNetwork},
    trace::Role,
};

/// Interval between updates of the loop counters.
const COUNT_INTERVAL: Millis = Millis::seconds(2);
/// Default port of SOCKS5 servers.
const SOCKS5_PORT: u16 = 1080;
/// Ports of a proxy besides those of its sessions.
const OTHER_PORTS: u16 = 2;

/// Runs a proxy until it is stopped.
pub(crate) fn run(arguments: &ProxyArguments) -> ExitStatus {
    let read = [("--socks5-login", &arguments.socks5_login)];
    let TraceFiles { trace, pcap } = &arguments.files;
    if let Err(what) = output::check_files(read, [("--trace", trace), ("--pcap", pcap)]) {
        eprintln!("fragd: {what}");
        return ExitStatus::UsageError;
    }
    if let Err(error) = io::logging::init_background(log::LevelFilter::Info) {
        eprintln!("fragd: log thread not started: {error}");
        return ExitStatus::Failed;
    }
    match host(arguments) {
        Ok(()) => ExitStatus::Done,
        Err(what) => {
            io::logging::fatal(&what);
            ExitStatus::Failed
        }
    }
}

fn host(arguments: &ProxyArguments) -> Result<(), String> {
    let listen = listen(arguments)?;
    let sockets = Sockets::listen(&[listen]).map_err(|error| advice(&error))?;
    let to = arguments.server();
    let server = io::resolve(&to.to_string(), to.port)?;
    let relay = relay(arguments)?;
    if let Some(relay) = &relay {
        log::info!("reaching the server through SOCKS5 server {}", relay.address);
    }
    let sockets =
        sockets.with_ports_on_demand(arguments.clients.saturating_add(OTHER_PORTS), relay);
    let random = || io::random_bytes().map(u64::from_le_bytes);
    let secret = random().map_err(|error| format!("random numbers not available: {error}"))?;
    let signals = Signals::install().map_err(|error| format!("signals not available: {error}"))?;
    let progress = arguments
        .metrics
        .map(|address| super::monitoring::serve("--metrics", address, Vec::new))
        .transpose()?;
    let clock = Clock::start();
    let mut options = arguments.build(server, secret.rotate_left(17));
    options.session_network = session_network(arguments, server)?;
    warn_of_trust(server, options.session_network);
    for (name, impairment) in [("uplink", options.uplink), ("downlink", options.downlink)] {
        if !impairment.is_clear() {
            log::info!("{name} impaired: {impairment}");
        }
    }
    let observers = observers(arguments, &sockets, &clock)?;
    for address in sockets.addresses(LocalPort(0)) {
        log::info!("listening on UDP {address} for clients of {}", arguments.server());
    }
    let mut node = Observed::new(Proxy::new(options, secret, clock.now()), observers);
    let options = Options {
        signals: Some(signals),
        console: Console::Edited(super::is_secret_line),
        count_interval: COUNT_INTERVAL,
        progress,
        ..Options::default()
    };
    io::run(&mut node, sockets, &clock, options)
        .map_err(|error| format!("event loop failed: {error}"))?;
    log::info!("stopped");
    Ok(())
}

/// Starts the captures that the arguments name.
fn observers(
    arguments: &ProxyArguments,
    sockets: &Sockets,
    clock: &Clock,
) -> Result<Vec<Box<dyn Observer>>, String> {
    let mut observers: Vec<Box<dyn Observer>> = Vec::new();
    let locals = sockets.addresses(LocalPort(0)).map(|at| (LocalPort(0), at)).collect();
    let began = UnixMillis(io::unix_millis().saturating_sub(clock.now().0));
    // A client that comes back leaves its old line for a while.
    let lines = 2 * usize::from(arguments.clients);
    if let Some(tap) = tap::open(&arguments.files, locals, began, Role::Server, lines)? {
        observers.push(Box::new(ClientSide(tap)));
    }
    if Trace::is_enabled() {
        observers.push(Box::new(Trace));
    }
    Ok(observers)
}

/// Observer of the datagrams between proxy and clients. With both sides, each connection would be there twice.
struct ClientSide<O>(O);

impl<O: Observer> Observer for ClientSide<O> {
    fn observe(&mut self, event: &NodeEvent<'_>) {
        match event {
            NodeEvent::Received(_, route, _) | NodeEvent::Sent(_, route, _)
                if route.local != LocalPort(0) => {}
            event => self.0.observe(event),
        }
    }
}

/// Returns the network of session addresses, if there is one.
fn session_network(
    arguments: &ProxyArguments,
    server: SocketAddr,
) -> Result<Option<SessionNetwork>, String> {
    match arguments.session_network {
        Some(SessionNetworkChoice::None) => Ok(None),
        Some(SessionNetworkChoice::Network(network)) if !network.suits(server.ip()) => {
            Err(format!(
                "--session-network {network} not usable for server {server} (expected a network of its address family)"
            ))
        }
        Some(SessionNetworkChoice::Network(network)) if is_available(network) => Ok(Some(network)),
        Some(SessionNetworkChoice::Network(network)) => Err(format!(
            "--session-network {network} not an address range of this machine; make it local, on Linux with `{}`",
            if network.suits(Ipv4Addr::LOCALHOST.into()) {
                format!("ip route add local {network} dev lo")
            } else {
                format!(
                    "ip -6 route add local {network} dev lo; sysctl net.ipv6.ip_nonlocal_bind=1"
                )
            }
        )),
        None if arguments.socks5.is_some() || !server.ip().is_loopback() => Ok(None),
        None if !SessionNetwork::LOOPBACK.suits(server.ip()) => Ok(None),
        None => {
            let network = Some(SessionNetwork::LOOPBACK).filter(|network| is_available(*network));
            if network.is_none() {
                log::warn!("session addresses not available: this system has no 127.64.0.0/10");
            }
            Ok(network)
        }
    }
}

/// Whether this machine can send from a network. Any of its addresses will do: the system has all of them or none.
fn is_available(network: SessionNetwork) -> bool {
    io::check_source(network.address_of(Ipv4Addr::LOCALHOST.into(), 0)).is_ok()
}

/// Warns of a server that may trust the address of the proxy, and so all clients.
fn warn_of_trust(server: SocketAddr, network: Option<SessionNetwork>) {
    let reach = Reach::of(server.ip());
    if reach == Reach::Public {
        return;
    }
    let name = reach.name();
    match network {
        Some(network) => log::warn!(
            "server {server} has a {name} address: clients have session addresses of {network} there; keep this network out \
             of its sv_lanNetworks and sv_rconAllow{}, or they hold for every client",
            if network == SessionNetwork::LOOPBACK { ", as the defaults of fragd do" } else { "" }
        ),
        None => log::warn!(
            "server {server} has a {name} address and sees all clients at the address of the proxy: its sv_lanNetworks and \
             sv_rconAllow hold for every client; set both without this address, or use {}--session-network",
            if server.ip() == Ipv6Addr::LOCALHOST { "--to 127.0.0.1 or " } else { "" }
        ),
    }
}

/// Returns the SOCKS5 server with its login.
fn relay(arguments: &ProxyArguments) -> Result<Option<Socks5>, String> {
    let Some(name) = &arguments.socks5 else { return Ok(None) };
    let address = io::resolve(name, SOCKS5_PORT).map_err(|error| format!("--socks5: {error}"))?;
    let login = arguments.socks5_login.as_deref().map(read_login).transpose()?;
    Ok(Some(Socks5 { address, login }))
}

/// Reads the login of a SOCKS5 server.
fn read_login(path: &Path) -> Result<Login, String> {
    let text = io::read_config(path).map_err(|error| error.to_string())?;
    let line = text.lines().next().unwrap_or_default();
    let login = line.split_once(':').and_then(|(user, password)| Login::new(user, password));
    login.ok_or_else(|| {
        format!("{}: invalid login (expected one line, USER:PASSWORD)", path.display())
    })
}

fn listen(arguments: &ProxyArguments) -> Result<Listen, String> {
    let (BindAddresses { ip4, ip6 }, port) = arguments.listen_addresses()?;
    Ok(Listen { ip4, ip6, port, ..Listen::default() })
}

/// Returns the error of the port with the remedy for a proxy.
fn advice(error: &BindError) -> String {
    match error {
        BindError::Busy { address } => format!(
            "UDP port {} on {} in use; choose another port with --listen",
            address.port(),
            address.ip()
        ),
        BindError::NotOurs { address } => {
            format!("{} is not an address of this machine; change --listen", address.ip())
        }
        other => other.to_string(),
    }
}
