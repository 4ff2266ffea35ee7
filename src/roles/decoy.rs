//! Decoy role (`fragd decoy`).

use std::{
    collections::BTreeSet,
    net::{IpAddr, SocketAddr},
};

use fragd::{
    cli::{BindAddresses, DecoyOptions, ExitStatus},
    decoy::{Decoy, DecoyFile, Decoys, generate},
    io::{self, BindError, Clock, Listen, Options, Signals, Sockets},
};

/// Port of masters.
const MASTER_PORT: u16 = 27_950;

/// Kernel queue of one decoy for each direction, in bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// Answers queries until a signal arrives.
pub(crate) fn run(options: &DecoyOptions) -> ExitStatus {
    let (decoys, masters) = match describe(options) {
        Ok(described) => described,
        Err(what) => {
            eprintln!("fragd: {what}");
            return ExitStatus::UsageError;
        }
    };
    match play(options, decoys, masters) {
        Ok(status) => status,
        Err(what) => {
            eprintln!("fragd: {what}");
            ExitStatus::Failed
        }
    }
}

/// Returns the decoys and the masters that options and file name.
fn describe(options: &DecoyOptions) -> Result<(Vec<Decoy>, Vec<SocketAddr>), String> {
    let mut masters = options.master.clone();
    let decoys = match &options.config {
        None => generate(options.count as usize, &options.game, options.seed),
        Some(path) => {
            let text = io::read_config(path).map_err(|error| error.to_string())?;
            let file =
                DecoyFile::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            masters.extend(file.masters);
            file.servers
        }
    };
    let masters: Result<_, _> = masters
        .iter()
        .map(|master| io::resolve(master, MASTER_PORT).map_err(|error| format!("master: {error}")))
        .collect();
    Ok((decoys, masters?))
}

fn play(
    options: &DecoyOptions,
    mut decoys: Vec<Decoy>,
    masters: Vec<SocketAddr>,
) -> Result<ExitStatus, String> {
    let sockets = open(options, &mut decoys)?;
    let signals = Signals::install().map_err(|error| format!("signals not available: {error}"))?;
    let status = super::output::show(&listing(options, &decoys), ExitStatus::Done);
    let clock = Clock::start();
    let mut node = Decoys::new(decoys, masters, clock.now());
    let run_options = Options { signals: Some(signals), ..Options::default() };
    io::run(&mut node, sockets, &clock, run_options)
        .map_err(|error| format!("event loop failed: {error}"))?;
    eprintln!("fragd: {} queries answered", node.queries());
    Ok(status)
}

/// Opens a port for each decoy and stores it. Busy ports are skipped, except those that the file names.
fn open(options: &DecoyOptions, decoys: &mut [Decoy]) -> Result<Sockets, String> {
    let named: Vec<_> = decoys.iter().map(|decoy| decoy.port).collect();
    let mut busy: BTreeSet<u16> = named.iter().flatten().copied().collect();
    loop {
        let mut free = (options.port..=u16::MAX).filter(|port| !busy.contains(port));
        for (decoy, port) in decoys.iter_mut().zip(&named) {
            decoy.port = Some(port.or_else(|| free.next()).ok_or_else(|| {
                format!(
                    "no port left above 65535: {} decoys (expected a lower --port)",
                    named.len()
                )
            })?);
        }
        let listens: Vec<_> =
            decoys.iter().map(|decoy| listen(&options.bind, decoy.port)).collect();
        match Sockets::listen(&listens) {
            Ok(sockets) => return Ok(sockets),
            Err(BindError::Busy { address }) if busy.insert(address.port()) => {}
            Err(BindError::Busy { address }) => {
                return Err(format!("port of the file in use: {address} (expected a free one)"));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn listen(bind: &[IpAddr], port: Option<u16>) -> Listen {
    let BindAddresses { ip4, ip6 } = BindAddresses::of(bind).unwrap_or(BindAddresses::ALL);
    let port = port.unwrap_or(0);
    Listen { ip4, ip6, port, buffer_bytes: BUFFER_BYTES, ..Listen::default() }
}

/// Returns the decoys for standard output.
fn listing(options: &DecoyOptions, decoys: &[Decoy]) -> String {
    let addresses = |decoy: &Decoy| {
        let port = decoy.port.unwrap_or(0);
        let all: Vec<String> =
            options.bind.iter().map(|ip| SocketAddr::new(*ip, port).to_string()).collect();
        all
    };
    let address = |decoy: &Decoy| addresses(decoy).join(" and ");
    if options.json {
        let one = |decoy: &Decoy| {
            serde_json::json!({
                "address": addresses(decoy).first(),
                "addresses": addresses(decoy),
                "game": decoy.game.word,
                "name": decoy.name,
                "map": decoy.map(),
                "clients": decoy.players.len(),
                "max_clients": decoy.max_clients,
            })
        };
        let all: Vec<_> = decoys.iter().map(one).collect();
        return format!("{}\n", serde_json::Value::from(all));
    }
    let (Some(first), Some(last)) = (decoys.first(), decoys.last()) else { return String::new() };
    format!("{} decoys on UDP {} to {}\n", decoys.len(), address(first), address(last))
}
