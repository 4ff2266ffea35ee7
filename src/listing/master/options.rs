//! Options of a master: limits, policies, address mappings, texts of the services.

use std::{
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use thiserror::Error;

use crate::cvar::Networks;

use super::{authorization::AuthorizationPolicy, games::GamePolicy};

/// Default number of servers on the list.
pub const MAX_SERVERS: usize = 4096;
/// Default number of servers per address.
pub const MAX_SERVERS_PER_ADDRESS: usize = 32;
/// Default of the flood protection.
pub const FLOOD_PROTECTION: u32 = 16;
/// Default budget of answers to unproven addresses, in bytes per second.
pub const ANSWER_BYTES_PER_SECOND: u64 = 2 << 20;

/// Options of a master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MasterOptions {
    /// Whether to list servers of this machine by their loopback address.
    pub allow_loopback: bool,
    /// Maximum number of servers, at least 1.
    pub max_servers: usize,
    /// Maximum number of servers per IPv4 address or IPv6 /64; 0 disables the limit.
    pub max_servers_per_address: usize,
    /// Number of a quick list request of one address that is refused first; 0 disables the limit.
    pub flood_protection: u32,
    /// Bytes per second by which answers to unproven addresses may exceed their requests; 0 disables the limit.
    pub answer_bytes_per_second: u64,
    /// Declared, accepted and rejected games.
    pub games: GamePolicy,
    /// Addresses that clients get instead of the source addresses.
    pub mappings: Vec<AddressMapping>,
    /// Networks whose servers are listed; `None` lists all.
    pub allow: Option<Networks>,
    /// Networks that get no answer.
    pub deny: Networks,
    /// Message of the day.
    pub motd: Vec<MotdRule>,
    /// Newer releases.
    pub updates: Vec<UpdateRule>,
    /// Policy of the key authorization; `None` disables it.
    pub authorization: Option<AuthorizationPolicy>,
    /// Number of local ports. All of them answer everything.
    pub ports: u16,
}

impl Default for MasterOptions {
    fn default() -> Self {
        Self {
            allow_loopback: false,
            max_servers: MAX_SERVERS,
            max_servers_per_address: MAX_SERVERS_PER_ADDRESS,
            flood_protection: FLOOD_PROTECTION,
            answer_bytes_per_second: ANSWER_BYTES_PER_SECOND,
            games: GamePolicy::default(),
            mappings: Vec::new(),
            allow: None,
            deny: Networks::default(),
            motd: Vec::new(),
            updates: Vec::new(),
            authorization: None,
            ports: 1,
        }
    }
}

/// Message of the day for clients of a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MotdRule {
    /// Beginning of the client's version, e.g. `ET 2.60`; empty for every version.
    pub version: String,
    /// The message.
    pub text: String,
}

/// Newer release for clients of a version and platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateRule {
    /// Beginning of the client's version; empty for every version.
    pub version: String,
    /// Beginning of the client's platform; empty for every platform.
    pub platform: String,
    /// Installer, or the files for ET: Legacy.
    pub file: String,
    /// Message of ET: Legacy.
    pub message: String,
}

/// Address that clients get instead of a source address: for servers behind the master's own NAT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressMapping {
    from: (IpAddr, Option<u16>),
    to: (IpAddr, Option<u16>),
}

/// Error of an address mapping.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "invalid address mapping '{0}' (expected FROM[:PORT]=TO[:PORT], e.g. 192.168.1.5=203.0.113.7)"
)]
pub struct MappingError(String);

impl FromStr for AddressMapping {
    type Err = MappingError;

    fn from_str(text: &str) -> Result<Self, MappingError> {
        let error = || MappingError(text.to_owned());
        let (from, to) = text.split_once('=').ok_or_else(error)?;
        let from = endpoint(from).ok_or_else(error)?;
        let to = endpoint(to).ok_or_else(error)?;
        // Two servers cannot share a fixed port.
        let is_one = to.1.is_none() || from.1.is_some();
        if from.0.is_ipv4() == to.0.is_ipv4() && is_one {
            Ok(Self { from, to })
        } else {
            Err(error())
        }
    }
}

impl AddressMapping {
    /// Returns the address that clients get for a source address, if the mapping covers it.
    pub(super) fn map(&self, source: SocketAddr) -> Option<SocketAddr> {
        let covers =
            self.from.0 == source.ip() && self.from.1.is_none_or(|port| port == source.port());
        covers.then(|| SocketAddr::new(self.to.0, self.to.1.unwrap_or(source.port())))
    }
}

/// Parses an IP address with or without a port; `[::1]:5` for IPv6 with a port.
fn endpoint(text: &str) -> Option<(IpAddr, Option<u16>)> {
    if let Ok(ip) = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        return Some((ip.to_canonical(), None));
    }
    let address: SocketAddr = text.parse().ok()?;
    (address.port() != 0).then(|| (address.ip().to_canonical(), Some(address.port())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapping_replaces_address_and_port() {
        let map = |mapping: &str, source: &str| {
            let mapping: AddressMapping = mapping.parse().unwrap();
            mapping.map(source.parse().unwrap()).map(|address| address.to_string())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(map("10.0.0.1=203.0.113.7", "10.0.0.1:5"), some("203.0.113.7:5"));
        assert_eq!(map("10.0.0.1=203.0.113.7", "10.0.0.2:5"), None);
        assert_eq!(map("10.0.0.1:5=203.0.113.7:6", "10.0.0.1:5"), some("203.0.113.7:6"));
        assert_eq!(map("10.0.0.1:5=203.0.113.7:6", "10.0.0.1:7"), None);
        assert_eq!(map("[fd00::1]:5=2001:db8::1", "[fd00::1]:5"), some("[2001:db8::1]:5"));
    }

    #[test]
    fn invalid_mapping_names_the_expected_form() {
        for text in
            ["", "10.0.0.1", "a=b", "10.0.0.1=::1", "10.0.0.1=203.0.113.7:6", "1.2.3.4:0=5.6.7.8"]
        {
            let error = text.parse::<AddressMapping>().unwrap_err().to_string();
            assert!(
                error.contains(&format!("'{text}' (expected FROM[:PORT]=TO[:PORT]")),
                "{error}"
            );
        }
    }
}
