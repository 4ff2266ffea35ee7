//! Options of `query`.

use clap::Args;

use super::ServerAddress;
use super::number::{ANY_U32, number};
use crate::discovery::{Family, GAMES, Game};

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd query 127.0.0.1
  fragd query dm.example.org:27961 --settings
  fragd query [::1]:27960 --json --timeout 500
  fragd query 127.0.0.1:28004 --game q4
  fragd query --pid 1                            health check: the server of a process, on any port

The server is asked as a server of every game, and the answer names the game. Without a port, each game is \
asked at its own: 27960 (Quake III, RtCW, Enemy Territory), 28004 (Quake 4), 27500 (QuakeWorld).
Exit codes: 0 answer, 1 no answer, 2 usage error.";

/// Options of `query`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct QueryOptions {
    /// Server to query; default port that of each game
    #[arg(value_name = "HOST[:PORT]", required_unless_present = "pid")]
    pub server: Option<ServerAddress>,
    /// Query the server that a process of this machine runs, on any port (Linux)
    #[arg(long, value_name = "PID", conflicts_with = "server",
        value_parser = number::<u32>(ANY_U32))]
    pub pid: Option<u32>,
    /// Ask as one game only: q3, rtcw, et, q4 or qw
    #[arg(long, value_name = "GAME", value_parser = super::decoy::game)]
    pub game: Option<&'static Game>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Milliseconds to wait for a reply
    #[arg(long = "timeout", value_name = "MS", default_value_t = 2000,
        value_parser = number::<u32>(1..=60_000))]
    pub timeout_ms: u32,
    /// Print all settings of the serverinfo
    #[arg(long)]
    pub settings: bool,
}

impl QueryOptions {
    /// Returns the port to ask as a server of `family`, if it is to be asked.
    #[must_use]
    pub fn port(&self, server: &ServerAddress, family: Family) -> Option<u16> {
        if self.game.is_some_and(|game| game.family != family) {
            return None;
        }
        let default = GAMES.iter().find(|game| game.family == family)?.server_port;
        Some(if server.has_port { server.port } else { default })
    }
}
