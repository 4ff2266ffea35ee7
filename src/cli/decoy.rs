//! Options of `decoy`.

use std::{net::IpAddr, path::PathBuf};

use clap::Args;

use super::address::own_ip;
use super::number::{ANY_U64, number};
use crate::{decoy::MAX_DECOYS, discovery::Game};

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd decoy                                       ten Quake III servers on 127.0.0.1:28960 and up
  fragd decoy --count 1000 --game q3 --game et --master 127.0.0.1
  fragd decoy --config servers.toml --json          servers from a file, listed as JSON
  fragd decoy --count 5000 --port 20000 --seed 7

A file has one table per server; only the name is required:
  masters = [\"127.0.0.1:27950\"]
  [[server]]
  game = \"et\"                    q3, rtcw, et, q4 or qw
  name = \"Fun Tennis\"
  map = \"fun_tennis\"
  max_clients = 10
  players = [{ name = \"^1Alice\", score = 12, ping = 48 }]
Other keys: gametype, protocol, mod, pure, password, punkbuster, port.

Decoys answer any sender and send more than they get. Keep them on loopback or in a private network.
Exit codes: 0 stopped by a signal, 1 failure, 2 usage or file error.";

/// Options of `decoy`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct DecoyOptions {
    /// Read decoys from a TOML file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["count", "game", "seed"])]
    pub config: Option<PathBuf>,
    /// Number of generated decoys, 1 to 20000
    #[arg(long, value_name = "N", default_value_t = 10,
        value_parser = number::<u32>(1..=MAX_DECOYS as i128))]
    pub count: u32,
    /// Game of generated decoys: q3, rtcw, et, q4 or qw; repeat for several
    #[arg(long, value_name = "GAME", default_value = "q3", value_parser = game)]
    pub game: Vec<&'static Game>,
    /// Random seed of generated decoys
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::<u64>(ANY_U64))]
    pub seed: u64,
    /// UDP port of the first decoy; the others follow
    #[arg(long, value_name = "PORT", default_value_t = 28960,
        value_parser = number::<u16>(1..=65535))]
    pub port: u16,
    /// Address to listen on; repeat for IPv4 and IPv6
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", value_parser = own_ip)]
    pub bind: Vec<IpAddr>,
    /// Master to send heartbeats to; repeat for several; default port 27950
    #[arg(long, value_name = "HOST[:PORT]")]
    pub master: Vec<String>,
    /// Print the decoys as one JSON array
    #[arg(long)]
    pub json: bool,
}

/// Parses the word of a game.
pub(super) fn game(word: &str) -> Result<&'static Game, String> {
    Game::by_word(word).ok_or_else(|| "expected q3, rtcw, et, q4 or qw".to_owned())
}
