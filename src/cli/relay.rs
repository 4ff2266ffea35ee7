//! Options of `relay`, and of every other broadcast to viewers.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    str::FromStr,
};

use clap::Args;

use super::info_text::{info_text, server_password};
use super::number::{ANY_U32, number};
use super::protocol_help::protocol_help;
use super::{
    Duration, ServerAddress,
    address::{own_address, own_ip},
    game_folder,
};
use crate::{
    client::ProtocolChoice,
    model::Millis,
    relay::{BroadcastOptions, MAX_DELAY, MAX_VIEWERS},
    settings::GameFolder,
};

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd relay --from dm.example.org                   show a server to viewers on UDP 27960
  fragd relay --from 127.0.0.1 --port 27970 --delay 30s
  fragd relay --from dm.example.org --cycle 20s       follow another player every 20 seconds
  fragd relay --from 127.0.0.1:27970 --port 27980     show another relay
  fragd relay --from tcp://dm.example.org:27970       live stream of a fragd server: all players

The relay is one spectator of the server, named by --name, and takes one slot. Clients join the relay as \
they join a server: /connect HOST:27960. In the game, /score shows the scoreboard and /say is chat among \
viewers. If the server is lost, viewers are told, and the relay reconnects.
A pure server (sv_pure 1) accepts the relay if its pk3 files are installed here; --basepath names their folder.
On the console: status, say, kick, follow, follownext, help, quit; with demo play also pause, speed and seek.
Exit codes: 0 stopped, 1 failure, 2 usage error, 4 refused by a pure server.";

/// Longest drain.
const MAX_DRAIN: Millis = Millis::seconds(86_400);

/// Options of `relay`.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct RelayOptions {
    /// Server to show, default port 27960; or live stream of a fragd server, tcp://HOST:PORT
    #[arg(long, value_name = "HOST[:PORT]")]
    pub from: RelayFrom,
    /// Name of the spectator on the server
    #[arg(long, value_name = "NAME", default_value = "relay", value_parser = spectator_name)]
    pub name: String,
    /// Password of the server (g_password)
    #[arg(long, value_name = "TEXT", value_parser = server_password)]
    pub password: Option<String>,
    /// File with the password of the live stream (sv_relayPassword); without it, the variable FRAGD_RELAY_PASSWORD is the password
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// TCP address on which other relays get the live stream, with the same password
    #[arg(long, value_name = "IP:PORT", value_parser = own_address)]
    pub offer: Option<SocketAddr>,
    /// Protocol of the server.
    #[arg(long, value_name = "PROTOCOL", default_value = "auto",
        help = protocol_help("or auto, that of the server"))]
    pub protocol: ProtocolChoice,
    /// Directories that contain the game folder, for pure servers; separated as in PATH
    #[arg(long, value_name = "FOLDERS", default_value = "", hide_default_value = true)]
    pub basepath: String,
    /// Game folder of that data
    #[arg(long, value_name = "NAME", default_value = "baseoa", value_parser = game_folder)]
    pub game: GameFolder,
    /// Follow the next player after TIME [default: when the player leaves]
    #[arg(long, value_name = "TIME")]
    pub cycle: Option<Duration>,
    /// Time between the server and the viewers, up to 10m
    #[arg(long, value_name = "TIME", value_parser = delay)]
    pub delay: Option<Duration>,
    /// Options for viewers
    #[command(flatten)]
    pub viewers: ViewerOptions,
}

/// Source of a relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelayFrom {
    /// A server, joined as a spectator.
    Server(ServerAddress),
    /// The live stream of a fragd server, as `HOST:PORT`.
    Stream(String),
}

impl FromStr for RelayFrom {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(address) = text.strip_prefix("tcp://") else {
            return text
                .parse()
                .map(Self::Server)
                .map_err(|error: <ServerAddress as FromStr>::Err| error.to_string());
        };
        let port = address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        match port {
            Some(1..) => Ok(Self::Stream(address.to_owned())),
            _ => Err("expected tcp://HOST:PORT, e.g. tcp://dm.example.org:27970".to_owned()),
        }
    }
}

/// Options of a node with viewers.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ViewerOptions {
    /// UDP port for viewers
    #[arg(long, value_name = "PORT", default_value_t = 27960,
        value_parser = number::<u16>(1..=65535))]
    pub port: u16,
    /// Address for viewers; repeat for IPv4 and IPv6 [default: all addresses]
    #[arg(long, value_name = "IP", value_parser = own_ip)]
    pub bind: Vec<IpAddr>,
    /// Server name [default: the name of the source and "(relay)"]
    #[arg(long, value_name = "NAME", value_parser = hostname)]
    pub hostname: Option<String>,
    /// Maximum number of viewers
    #[arg(long = "viewers", value_name = "N", default_value_t = 512,
        value_parser = number::<u32>(1..=i128::from(MAX_VIEWERS)))]
    pub max_viewers: u32,
    /// Maximum number of viewers of one address; loopback has no limit
    #[arg(long, value_name = "N", default_value_t = 32,
        value_parser = number::<u32>(1..=i128::from(MAX_VIEWERS)))]
    pub per_address: u32,
    /// Maximum bytes per second to one viewer; 0 for the rate that the client asks for
    #[arg(long, value_name = "BYTES", default_value_t = 0,
        value_parser = number::<u32>(ANY_U32))]
    pub max_rate: u32,
    /// Maximum snapshots per second to one viewer
    #[arg(long, value_name = "N", default_value_t = 40,
        value_parser = number::<u32>(1..=125))]
    pub snaps: u32,
    /// Let only the console control the source, not viewers
    #[arg(long)]
    pub console_only: bool,
    /// Let viewers see the end of the match after SIGTERM, for TIME at most [default: end at once]
    #[arg(long, value_name = "TIME", value_parser = drain)]
    pub drain: Option<Duration>,
    /// Folder of the list of bans; none keeps it in memory [default: $STATE_DIRECTORY, else fragd/PORT in ~/.local/state]
    #[arg(long, value_name = "PATH")]
    pub state: Option<String>,
    /// Unix socket on which fragd console attaches, for the owner of the process
    #[arg(long, value_name = "PATH")]
    pub console: Option<PathBuf>,
}

impl ViewerOptions {
    /// Returns the options of the broadcast.
    #[must_use]
    pub fn broadcast(&self, delay: Option<Duration>) -> BroadcastOptions {
        BroadcastOptions {
            hostname: self.hostname.clone(),
            max_viewers: self.max_viewers,
            max_per_address: self.per_address,
            max_rate: self.max_rate,
            max_snaps: self.snaps,
            delay: delay.map_or(Millis(0), |Duration(delay)| delay),
            viewers_control: !self.console_only,
            drain_time: self.drain.map_or(Millis(0), |Duration(time)| time),
            ..BroadcastOptions::default()
        }
    }
}

/// Parses a delay.
fn delay(text: &str) -> Result<Duration, String> {
    let Duration(delay) = text.parse()?;
    if delay > MAX_DELAY {
        return Err("expected at most 10m".to_owned());
    }
    Ok(Duration(delay))
}

/// Parses the time of a drain.
fn drain(text: &str) -> Result<Duration, String> {
    let Duration(time) = text.parse()?;
    if time > MAX_DRAIN {
        return Err("expected at most 24h".to_owned());
    }
    Ok(Duration(time))
}

fn spectator_name(text: &str) -> Result<String, String> {
    info_text(text, 31)
}

fn hostname(text: &str) -> Result<String, String> {
    info_text(text, 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_servers_and_streams() {
        let stream = |text: &str| RelayFrom::Stream(text.to_owned());
        assert_eq!("tcp://a.example:27970".parse(), Ok(stream("a.example:27970")));
        assert_eq!("tcp://[::1]:1".parse(), Ok(stream("[::1]:1")));
        assert!(matches!("127.0.0.1".parse(), Ok(RelayFrom::Server(_))));
        for text in ["tcp://a.example", "tcp://a:0", "tcp://a:65536", "tcp://"] {
            assert!(text.parse::<RelayFrom>().is_err(), "{text}");
        }
    }
}
