//! What `replay` is asked.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    str::FromStr,
};

use clap::Args;

use crate::model::Millis;

/// Examples of use.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd serve --map oa_dm1 --journal server.journal
  fragd replay server.journal                  does it send the same again?
  fragd replay server.journal --until 90s
  fragd replay server.journal --dump --client 192.0.2.7
  fragd replay server.journal --json --basepath /srv/quake3

A journal replays wherever the maps that it was made with are found; they are known by length and
checksum. One that is cut off or damaged replays up to that place, which is named.
Exit codes: 0 every datagram is the same, cut off or not; 1 one differs, or the journal is damaged other
than by being cut off; 2 wrong command line, no journal, or no map.";

/// What `replay` is asked.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Journal to live through
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Stop at this time of the server's clock, such as 90s, 1500ms, 20m, 3h
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub until: Option<Millis>,
    /// List the inputs instead of replaying them
    #[arg(long)]
    pub dump: bool,
    /// List only what came from this address
    #[arg(long, value_name = "ADDRESS[:PORT]", requires = "dump")]
    pub client: Option<Peer>,
    /// As JSON; with --dump a line for each input
    #[arg(long)]
    pub json: bool,
    /// Folders that hold the game's data folder, separated as in PATH, instead of the server's
    #[arg(long, value_name = "FOLDERS", conflicts_with = "dump")]
    pub basepath: Option<String>,
}

/// An address, and perhaps one port of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    ip: IpAddr,
    port: Option<u16>,
}

impl Peer {
    /// Whether `address` is meant.
    #[must_use]
    pub fn is(&self, address: SocketAddr) -> bool {
        self.ip == address.ip().to_canonical()
            && self.port.is_none_or(|port| port == address.port())
    }
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self { ip: address.ip().to_canonical(), port: Some(address.port()) });
        }
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        match bare.parse::<IpAddr>() {
            Ok(ip) => Ok(Self { ip: ip.to_canonical(), port: None }),
            Err(_) => {
                Err("it takes an address such as 192.0.2.7, 192.0.2.7:27960 or [::1]".to_owned())
            }
        }
    }
}

/// Reads a time: a number with `ms`, `s`, `m` or `h` behind it, seconds without.
fn time(text: &str) -> Result<Millis, String> {
    let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))
        .unwrap_or((text, 1000));
    let ms = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    ms.map(Millis).ok_or_else(|| "it takes a time such as 90s, 1500ms, 20m or 3h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_peers_are_read() {
        assert_eq!(time("90s"), Ok(Millis(90_000)));
        assert_eq!(time("1500ms"), Ok(Millis(1500)));
        assert_eq!(time("7"), Ok(Millis(7000)));
        assert!(["", "s", "-1s", "99999999999999999999h"].iter().all(|text| time(text).is_err()));
        let peer: Peer = "192.0.2.7".parse().unwrap();
        assert!(
            peer.is("192.0.2.7:5".parse().unwrap()) && !peer.is("192.0.2.8:5".parse().unwrap())
        );
        assert!(peer.is("[::ffff:192.0.2.7]:5".parse().unwrap()));
        let peer: Peer = "[::1]:7".parse().unwrap();
        assert!(peer.is("[::1]:7".parse().unwrap()) && !peer.is("[::1]:8".parse().unwrap()));
        assert!("host".parse::<Peer>().is_err() && "[::1]".parse::<Peer>().is_ok());
    }
}
