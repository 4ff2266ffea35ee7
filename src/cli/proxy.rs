//! Options of `proxy`.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    str::FromStr,
};

use clap::{Args, ValueEnum};

use super::number::{ANY_U64, number};
use super::{BindAddresses, Duration, ServerAddress, TraceFiles, address::own_address};
use crate::{
    impairment::Impairment,
    proxy::{self, MAX_SESSIONS, SESSIONS, SESSIONS_PER_ADDRESS, SessionNetwork},
};

/// Default port of QuakeWorld servers.
const QUAKEWORLD_PORT: u16 = 27500;

/// Examples and exit codes of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  clients connect to 127.0.0.1:27970 and play on the server
    fragd proxy --listen 27970 --to dm.example.org
  clients of QuakeWorld connect to 127.0.0.1:27510 and play on the server, port 27500
    fragd proxy --listen 27510 --to qw.example.org --protocol quakeworld
  a line with 100 ms, jitter and loss, for clients that have no such options
    fragd proxy --listen 27970 --to 127.0.0.1 --network latency=100ms,jitter=20ms,loss=2%
  a slow uplink only
    fragd proxy --listen 27970 --to 127.0.0.1 --uplink latency=60ms,rate=3000
  every datagram decoded as JSON lines, and as a packet capture with comments
    fragd proxy --listen 27970 --to 127.0.0.1 --trace line.jsonl --pcap line.pcapng
  through a SOCKS5 server that relays UDP; the file has one line, USER:PASSWORD
    fragd proxy --listen 27970 --to dm.example.org --socks5 127.0.0.1:1080 --socks5-login login.txt
  a server on this machine, which counts and bans clients by session addresses that stay the same
    fragd proxy --listen 27970 --to 127.0.0.1 --session-key some-secret-word
  session addresses of another network, after `ip route add local 198.18.0.0/15 dev lo`
    fragd proxy --listen 27970 --to 127.0.0.1 --session-network 198.18.0.0/15

A server at a loopback or private address may trust the proxy, and so all of its clients.
Its sv_lanNetworks and sv_rconAllow decide. Session addresses let it tell clients apart.

The trace shows the side of the clients: all that they send, and what arrives at them.
Console commands: status, quit.
Exit codes: 0 stopped, 1 failure, 2 usage error.";

/// Options of `proxy`.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct ProxyArguments {
    /// UDP port for clients, or address and port; repeat for an IPv4 and an IPv6 address with one port
    #[arg(long, value_name = "[IP:]PORT", default_value = "27960")]
    pub listen: Vec<ListenAddress>,
    /// Server to pass clients on to; default port 27960, of QuakeWorld 27500
    #[arg(long, value_name = "HOST[:PORT]")]
    pub to: ServerAddress,
    /// Family of the server and its clients [default: by the requests of each client]
    #[arg(long, value_name = "FAMILY", value_enum)]
    pub protocol: Option<ProxyProtocol>,
    /// Impair both directions: latency=40ms,jitter=10ms,loss=1%,dup=1%,reorder=1%,rate=8000 (bytes/s)
    #[arg(long, value_name = "IMPAIRMENT")]
    pub network: Option<Impairment>,
    /// Impair the client-to-server direction only
    #[arg(long, value_name = "IMPAIRMENT")]
    pub uplink: Option<Impairment>,
    /// Impair the server-to-client direction only
    #[arg(long, value_name = "IMPAIRMENT")]
    pub downlink: Option<Impairment>,
    /// Random seed of the impairment [default: random]
    #[arg(long, value_name = "N", value_parser = number::<u64>(ANY_U64))]
    pub seed: Option<u64>,
    /// Maximum clients
    #[arg(long, value_name = "N", default_value_t = SESSIONS,
        value_parser = number::<u16>(1..=i128::from(MAX_SESSIONS)))]
    pub clients: u16,
    /// Maximum clients of one address
    #[arg(long, value_name = "N", default_value_t = SESSIONS_PER_ADDRESS,
        value_parser = number::<u16>(1..=i128::from(MAX_SESSIONS)))]
    pub clients_per_address: u16,
    /// Silence of a client after which its port is closed [default: 240s]
    #[arg(long, value_name = "TIME")]
    pub idle: Option<Duration>,
    /// Silence of the server after which its clients are disconnected [default: 20s]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<Duration>,
    /// Pass on rcon, and unknown commands of clients with a session; the server sees the session address
    #[arg(long)]
    pub rcon: bool,
    /// Network of session addresses, or none [default: 127.64.0.0/10 for a server at IPv4 loopback]
    #[arg(long, value_name = "NETWORK", conflicts_with = "socks5")]
    pub session_network: Option<SessionNetworkChoice>,
    /// Secret word that keeps session addresses the same after a restart [default: random]
    #[arg(long, value_name = "WORD")]
    pub session_key: Option<String>,
    /// SOCKS5 server to reach the server through; default port 1080
    #[arg(long, value_name = "HOST[:PORT]")]
    pub socks5: Option<String>,
    /// File with the login of the SOCKS5 server: one line, USER:PASSWORD
    #[arg(long, value_name = "FILE", requires = "socks5")]
    pub socks5_login: Option<PathBuf>,
    /// Trace and capture of the clients' side of every line.
    #[command(flatten)]
    pub files: TraceFiles,
    /// Serve counters over HTTP at this address, for Prometheus
    #[arg(long, value_name = "IP:PORT", value_parser = own_address)]
    pub metrics: Option<SocketAddr>,
}

impl ProxyArguments {
    /// Returns the options of the node for a resolved server. `seed` is the default of `--seed`.
    #[must_use]
    pub fn build(&self, server: SocketAddr, seed: u64) -> proxy::ProxyOptions {
        let mut options = proxy::ProxyOptions::new(server);
        let both = self.network.unwrap_or_default();
        options.name = self.server().to_string();
        options.family = self.protocol.map(ProxyProtocol::family);
        options.uplink = self.uplink.unwrap_or(both);
        options.downlink = self.downlink.unwrap_or(both);
        options.seed = self.seed.unwrap_or(seed);
        options.sessions = self.clients;
        options.sessions_per_address = self.clients_per_address;
        options.passes_rcon = self.rcon;
        options.session_key = self.session_key.as_deref().map(proxy::session_key);
        if let Some(Duration(idle)) = self.idle {
            options.idle = idle;
        }
        if let Some(Duration(silence)) = self.timeout {
            options.server_timeout = silence;
        }
        options
    }
}

impl ProxyArguments {
    /// Returns the server, with the default port of its family.
    #[must_use]
    pub fn server(&self) -> ServerAddress {
        let is_quakeworld = self.protocol == Some(ProxyProtocol::Quakeworld);
        let mut server = self.to.clone();
        if is_quakeworld && !server.has_port {
            server.port = QUAKEWORLD_PORT;
        }
        server
    }

    /// Returns the addresses and the port for clients.
    ///
    /// # Errors
    /// Values that do not go together: several ports, or several addresses of one family.
    pub fn listen_addresses(&self) -> Result<(BindAddresses, u16), String> {
        let Some(first) = self.listen.first() else { return Ok((BindAddresses::ALL, 27_960)) };
        if let Some(other) = self.listen.iter().find(|listen| listen.port != first.port) {
            return Err(format!(
                "--listen names two ports: {} and {} (expected one)",
                first.port, other.port
            ));
        }
        let ips: Vec<IpAddr> = self.listen.iter().filter_map(|listen| listen.ip).collect();
        if ips.len() < self.listen.len() && self.listen.len() > 1 {
            return Err("--listen names a port of all addresses twice (expected it once, or an IPv4 and an IPv6 \
                        address)"
                .to_owned());
        }
        BindAddresses::check("--listen", &ips)?;
        Ok((BindAddresses::of(&ips).unwrap_or(BindAddresses::ALL), first.port))
    }
}

/// Family of the server and its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProxyProtocol {
    /// Quake III and its descendants
    Quake3,
    /// QuakeWorld
    Quakeworld,
}

impl ProxyProtocol {
    const fn family(self) -> proxy::Family {
        match self {
            Self::Quake3 => proxy::Family::Quake3,
            Self::Quakeworld => proxy::Family::QuakeWorld,
        }
    }
}

/// Network of session addresses, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionNetworkChoice {
    /// The address that the system chooses.
    None,
    /// One address of this network for each host.
    Network(SessionNetwork),
}

impl FromStr for SessionNetworkChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("none") {
            return Ok(Self::None);
        }
        text.parse().map(Self::Network).map_err(|error: String| format!("{error}; or none"))
    }
}

/// Port for clients, on one address or on all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenAddress {
    /// Address; `None` for all of both families.
    pub ip: Option<IpAddr>,
    /// Port; 0 for any free one.
    pub port: u16,
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(port) = text.parse() {
            return Ok(Self { ip: None, port });
        }
        let address: Result<SocketAddr, _> = text.parse();
        address.map(|address| Self { ip: Some(address.ip()), port: address.port() }).map_err(|_| {
            "expected a port, e.g. 27970, or an address, e.g. 127.0.0.1:27970".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::{cli::Command, model::Millis};

    fn run(line: &str) -> Result<Box<ProxyArguments>, String> {
        let words = format!("fragd proxy {line}");
        match super::super::parse(words.split_whitespace().map(OsString::from)) {
            Ok(Command::Proxy(arguments)) => Ok(Box::new(arguments)),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn directions_override_the_network() {
        let arguments =
            run("--listen [::1]:5 --to a:9 --network latency=40ms --downlink loss=1% --timeout 7s")
                .unwrap();
        let listen = ListenAddress { ip: Some("::1".parse().unwrap()), port: 5 };
        assert_eq!(arguments.listen, [listen]);
        let both = run("--listen [::1]:5 --listen 127.0.0.1:5 --to a").unwrap();
        let (addresses, port) = both.listen_addresses().unwrap();
        assert_eq!(addresses.ip4.zip(addresses.ip6).unwrap().1, std::net::Ipv6Addr::LOCALHOST);
        assert_eq!(port, 5);
        let all = run("--to a").unwrap().listen_addresses();
        assert_eq!(all, Ok((BindAddresses::ALL, 27_960)));
        let options = arguments.build("192.0.2.1:9".parse().unwrap(), 3);
        assert_eq!((options.uplink.latency, options.downlink.loss), (Millis(40), 10));
        assert_eq!(options.downlink.latency, Millis(0));
        assert_eq!((options.name.as_str(), options.seed), ("a:9", 3));
        assert_eq!(options.server_timeout, Millis::seconds(7));
    }

    #[test]
    fn rcon_and_session_addresses_are_options() {
        let server = "127.0.0.1:9".parse().unwrap();
        let usual = run("--to a").unwrap();
        assert_eq!((usual.rcon, usual.session_network), (false, None));
        let options = usual.build(server, 3);
        assert_eq!((options.passes_rcon, options.session_key), (false, None));
        let other = run("--to a --rcon --session-network None --session-key w").unwrap();
        assert_eq!(other.session_network, Some(SessionNetworkChoice::None));
        let options = other.build(server, 3);
        assert_eq!(
            (options.passes_rcon, options.session_key),
            (true, Some(proxy::session_key("w")))
        );
        let named = run("--to a --session-network 198.18.0.0/15").unwrap().session_network;
        assert_eq!(named, Some(SessionNetworkChoice::Network("198.18.0.0/15".parse().unwrap())));
    }

    #[test]
    fn usage_errors_name_the_expected_value() {
        for (line, because) in [
            ("--listen 5", "--to"),
            ("--listen x --to a", "expected a port"),
            ("--listen 127.0.0.1:5 --listen [::1]:6 --to a", "two ports: 5 and 6"),
            ("--listen 127.0.0.1:5 --listen 127.0.0.2:5 --to a", "two IPv4 addresses"),
            ("--listen 5 --listen [::1]:5 --to a", "all addresses twice"),
            ("--to a --network latency=x", "0 to 10000"),
            ("--to a --clients 0", "1..=4096"),
            ("--to a --socks5-login f", "--socks5"),
            ("--to a --session-network 127.64.0.0", "e.g. 198.18.0.0/15; or none"),
            ("--to a --session-network 10.0.0.1/8", "expected zeros"),
            ("--to a --session-network none --socks5 b", "--socks5"),
        ] {
            let error = run(line).unwrap_err();
            assert!(error.contains(because), "{line}: {error}");
        }
    }
}
