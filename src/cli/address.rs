//! `HOST[:PORT]` as people write it: a name, an IPv4 address, an IPv6 address with or without brackets.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// Port when none is given.
const DEFAULT_PORT: u16 = 27960;
/// Longest host name, in bytes.
const MAX_HOST_LEN: usize = 253;

/// A server to talk to, its name not yet looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    /// Name or address, without brackets.
    pub host: String,
    /// UDP port, not 0.
    pub port: u16,
}

/// Why text names no server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AddressError {
    /// The part for the host is empty, too long, or holds what no name holds.
    #[error("the host is a name such as dm.example.org, or an address such as 127.0.0.1 or [::1]")]
    Host,
    /// The part after the host is no port.
    #[error("the port is a number from 1 to 65535")]
    Port,
}

impl FromStr for ServerAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (host, rest) = rest.split_once(']').ok_or(AddressError::Host)?;
            let port = match rest {
                "" => None,
                _ => Some(rest.strip_prefix(':').ok_or(AddressError::Port)?),
            };
            (host, port)
        } else if text.matches(':').count() > 1 {
            (text, None)
        } else {
            text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)))
        };
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:%".contains(&byte);
        if host.is_empty() || host.len() > MAX_HOST_LEN || !host.bytes().all(legal) {
            return Err(AddressError::Host);
        }
        let port = match port {
            Some(port) => port.parse().ok().filter(|&port| port != 0).ok_or(AddressError::Port)?,
            None => DEFAULT_PORT,
        };
        Ok(Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_in_every_usual_way() {
        for (text, host, port) in [
            ("127.0.0.1", "127.0.0.1", 27960),
            ("dm.example.org:1", "dm.example.org", 1),
            ("[::1]", "::1", 27960),
            ("[fe80::1%eth0]:65535", "fe80::1%eth0", 65535),
            ("2001:db8::1", "2001:db8::1", 27960),
        ] {
            let address: ServerAddress = text.parse().unwrap();
            assert_eq!((address.host.as_str(), address.port), (host, port), "{text}");
            assert_eq!(address.to_string().parse(), Ok(address));
        }
    }

    #[test]
    fn what_names_no_server_is_refused() {
        for (text, error) in [
            ("", AddressError::Host),
            (":27960", AddressError::Host),
            ("a b", AddressError::Host),
            ("http://x", AddressError::Port),
            ("[::1", AddressError::Host),
            ("[]:1", AddressError::Host),
            ("x:", AddressError::Port),
            ("x:0", AddressError::Port),
            ("x:65536", AddressError::Port),
            ("[::1]27960", AddressError::Port),
        ] {
            assert_eq!(text.parse::<ServerAddress>(), Err(error), "{text:?}");
        }
    }
}
