//! Addresses of options: servers `HOST[:PORT]`, own addresses `IP` and `IP:PORT`.
//!
//! A host is a name, an IPv4 address, or an IPv6 address with or without brackets. An own address is one of this machine:
//! never a name.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use thiserror::Error;

/// Default port.
const DEFAULT_PORT: u16 = 27960;
/// Maximum length of a host name, in bytes.
const MAX_HOST_LEN: usize = 253;

/// Server address with an unresolved host name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    /// Name or address, without brackets.
    pub host: String,
    /// UDP port, not 0.
    pub port: u16,
    /// Whether the text named the port.
    pub has_port: bool,
}

/// Reason for rejecting a server address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AddressError {
    /// An empty, too long or malformed host.
    #[error(
        "invalid host (expected a name, e.g. dm.example.org, or an address, e.g. 127.0.0.1 or [::1])"
    )]
    Host,
    /// An invalid port.
    #[error("invalid port (expected an integer from 1 to 65535)")]
    Port,
}

impl From<SocketAddr> for ServerAddress {
    fn from(address: SocketAddr) -> Self {
        Self { host: address.ip().to_string(), port: address.port(), has_port: true }
    }
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
        let has_port = port.is_some();
        let port = match port {
            Some(port) => port.parse().ok().filter(|&port| port != 0).ok_or(AddressError::Port)?,
            None => DEFAULT_PORT,
        };
        Ok(Self { host: host.to_owned(), port, has_port })
    }
}

/// Parses an address of this machine. The port is another option.
pub(super) fn own_ip(text: &str) -> Result<IpAddr, String> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let remedy = if text.parse::<SocketAddr>().is_ok() { "; --port sets the port" } else { "" };
    bare.parse().map_err(|_| {
        format!("expected an IPv4 or IPv6 address, e.g. 192.0.2.1 or ::1, without port{remedy}")
    })
}

/// Parses an address of this machine with its port.
pub(super) fn own_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "expected an address and a port, e.g. 127.0.0.1:9527, or 0.0.0.0:9527 for all addresses"
            .to_owned()
    })
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
    fn server_addresses_are_parsed() {
        for (text, host, port) in [
            ("127.0.0.1", "127.0.0.1", 27960),
            ("dm.example.org:1", "dm.example.org", 1),
            ("[::1]", "::1", 27960),
            ("[fe80::1%eth0]:65535", "fe80::1%eth0", 65535),
            ("2001:db8::1", "2001:db8::1", 27960),
        ] {
            let address: ServerAddress = text.parse().unwrap();
            assert_eq!((address.host.as_str(), address.port), (host, port), "{text}");
            let again: ServerAddress = address.to_string().parse().unwrap();
            assert_eq!((again.host, again.port), (address.host, address.port));
        }
    }

    #[test]
    fn errors_of_own_addresses_name_what_is_right() {
        assert_eq!(own_ip("[::1]"), own_ip("::1"));
        assert!(own_ip("127.0.0.1").is_ok() && own_address("127.0.0.1:80").is_ok());
        let error = own_ip("127.0.0.1:27950").expect_err("a port");
        assert!(error.contains("192.0.2.1") && error.ends_with("--port sets the port"), "{error}");
        let error = own_ip("localhost").expect_err("a name");
        assert!(error.ends_with("without port"), "{error}");
        for text in ["8080", "localhost:80", "127.0.0.1"] {
            assert!(own_address(text).expect_err(text).contains("127.0.0.1:9527"), "{text}");
        }
    }

    #[test]
    fn options_with_own_addresses_explain_errors() {
        for (line, hint) in [
            ("master --bind 127.0.0.1:27950", "--port sets the port"),
            ("relay --from x --bind 127.0.0.1:1", "--port sets the port"),
            ("decoy --bind [::1]:1", "--port sets the port"),
            ("decoy --bind localhost", "without port"),
            ("master --http 8080", "127.0.0.1:9527"),
            ("proxy --to x --metrics 9090", "127.0.0.1:9527"),
            ("relay --from x --offer foo", "127.0.0.1:9527"),
            ("trace x.pcap --server localhost:1", "127.0.0.1:9527"),
        ] {
            let words = std::iter::once("fragd").chain(line.split(' ')).map(Into::into);
            let error = super::super::parse(words).expect_err(line);
            assert!(error.to_string().contains(hint), "{line}: {error}");
        }
    }

    #[test]
    fn invalid_server_addresses_are_rejected() {
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
