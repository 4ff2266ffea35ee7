//! Options of `replay`.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    str::FromStr,
};

use clap::Args;

use crate::model::Millis;

/// Examples and exit codes of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd serve --map oa_dm1 --journal server.journal
  fragd replay server.journal                  compare every datagram
  fragd replay server.journal --until 90s
  fragd replay server.journal --dump --client 192.0.2.7
  fragd replay server.journal --json --basepath /srv/quake3

A replay needs the maps of the recording, identified by length and checksum. A truncated or damaged \
journal is replayed up to the damage, whose position is reported.
Exit codes: 0 identical, also up to where a journal is cut off; 1 diverged, or the journal is damaged; \
2 usage error, not a journal, or map not found; 9 nothing compared: no datagram sent in the replayed part.";

/// Options of `replay`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Journal to replay
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Stop at this time of the recording, e.g. 90s, 1500ms, 20m or 3h
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub until: Option<Millis>,
    /// List the inputs instead of replaying them
    #[arg(long)]
    pub dump: bool,
    /// List only inputs from this address
    #[arg(long, value_name = "ADDRESS[:PORT]", requires = "dump")]
    pub client: Option<AddressFilter>,
    /// Print JSON; with --dump, one line per input
    #[arg(long)]
    pub json: bool,
    /// Directories that contain the game folder, separated as in PATH; default those of the recording
    #[arg(long, value_name = "FOLDERS", conflicts_with = "dump")]
    pub basepath: Option<String>,
}

/// Filter by address, optionally with a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressFilter {
    ip: IpAddr,
    port: Option<u16>,
}

impl AddressFilter {
    /// Whether `address` passes the filter.
    #[must_use]
    pub fn matches(&self, address: SocketAddr) -> bool {
        self.ip == address.ip().to_canonical()
            && self.port.is_none_or(|port| port == address.port())
    }
}

impl fmt::Display for AddressFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => SocketAddr::new(self.ip, port).fmt(f),
            None => self.ip.fmt(f),
        }
    }
}

impl FromStr for AddressFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self { ip: address.ip().to_canonical(), port: Some(address.port()) });
        }
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        match bare.parse::<IpAddr>() {
            Ok(ip) => Ok(Self { ip: ip.to_canonical(), port: None }),
            Err(_) => {
                Err("expected an address, e.g. 192.0.2.7, 192.0.2.7:27960 or [::1]".to_owned())
            }
        }
    }
}

/// Parses a time: a number with the unit `ms`, `s`, `m` or `h`; default seconds.
fn time(text: &str) -> Result<Millis, String> {
    let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))
        .unwrap_or((text, 1000));
    let ms = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    ms.map(Millis).ok_or_else(|| "expected a time, e.g. 90s, 1500ms, 20m or 3h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_address_filters_are_parsed() {
        assert_eq!(time("90s"), Ok(Millis(90_000)));
        assert_eq!(time("1500ms"), Ok(Millis(1500)));
        assert_eq!(time("7"), Ok(Millis(7000)));
        assert!(["", "s", "-1s", "99999999999999999999h"].iter().all(|text| time(text).is_err()));
        let peer: AddressFilter = "192.0.2.7".parse().unwrap();
        assert!(
            peer.matches("192.0.2.7:5".parse().unwrap())
                && !peer.matches("192.0.2.8:5".parse().unwrap())
        );
        assert!(peer.matches("[::ffff:192.0.2.7]:5".parse().unwrap()));
        let peer: AddressFilter = "[::1]:7".parse().unwrap();
        assert!(
            peer.matches("[::1]:7".parse().unwrap()) && !peer.matches("[::1]:8".parse().unwrap())
        );
        assert!(
            "host".parse::<AddressFilter>().is_err() && "[::1]".parse::<AddressFilter>().is_ok()
        );
    }
}
