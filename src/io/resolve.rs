//! Host name resolution: `host[:port]` to a socket address.
//!
//! Invariant: the result is canonical (never an IPv4-mapped IPv6 address), so it equals the source address of
//! the reply.

use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// Maximum length of an address, in bytes: a domain name has at most 253, a port 6.
const TEXT_MAX: usize = 270;

/// Resolves an address: `host`, `host:port`, `1.2.3.4:27961`, `::1` or `[::1]:27960`.
///
/// The system's name service may block for seconds, so call it before the loop starts. An IPv4 address is
/// preferred, because most Quake servers have no other. The error is a sentence for the operator.
pub fn resolve(text: &str, default_port: u16) -> Result<SocketAddr, String> {
    // At least one address is found.
    resolve_families(text, default_port).map(|found| found[0])
}

/// Resolves an address to at least one and at most one of each family, IPv4 first.
pub(super) fn resolve_families(text: &str, default_port: u16) -> Result<Vec<SocketAddr>, String> {
    let (host, port) = split_host_port(text, default_port)?;
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip.to_canonical(), port)]);
    }
    let found = (host, port)
        .to_socket_addrs()
        .map_err(|error| format!("host '{host}' not found: {error}"))?;
    let (mut v4, mut v6) = (None, None);
    for mut address in found {
        address.set_ip(address.ip().to_canonical());
        let family = if address.is_ipv4() { &mut v4 } else { &mut v6 };
        family.get_or_insert(address);
    }
    let found: Vec<_> = v4.into_iter().chain(v6).collect();
    if found.is_empty() {
        return Err(format!("host '{host}' not found: no address"));
    }
    Ok(found)
}

/// Splits `text` into host (without brackets) and port.
fn split_host_port(text: &str, default_port: u16) -> Result<(&str, u16), String> {
    let text = text.trim();
    if text.len() > TEXT_MAX {
        return Err(format!("address too long: {} bytes (max {TEXT_MAX})", text.len()));
    }
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let Some((host, after)) = rest.split_once(']') else {
            return Err(format!("invalid address '{text}' (expected ']' after the IPv6 address)"));
        };
        // The name service interprets a zone such as the one of fe80::1%eth0.
        let address = host.split('%').next().unwrap_or(host);
        if address.parse::<Ipv6Addr>().is_err() {
            return Err(format!("invalid IPv6 address '{host}' in '{text}'"));
        }
        match after {
            "" => (host, None),
            _ => match after.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None => {
                    return Err(format!("invalid address '{text}' (expected ':port' after ']')"));
                }
            },
        }
    } else if text.matches(':').count() > 1 {
        // Several colons without brackets are an IPv6 address without a port.
        let address = text.split('%').next().unwrap_or(text);
        if address.parse::<Ipv6Addr>().is_err() {
            return Err(format!(
                "invalid address '{text}' (expected host:port, or [address]:port for IPv6)"
            ));
        }
        (text, None)
    } else {
        match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        }
    };
    if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(format!("invalid host in '{}'", text.escape_default()));
    }
    let Some(port) = port else { return Ok((host, default_port)) };
    match port.parse::<u16>() {
        // The parser also accepts a sign.
        Ok(port_number) if port_number != 0 && !port.starts_with('+') => Ok((host, port_number)),
        _ => Err(format!("invalid port '{port}' in '{text}' (expected 1 to 65535)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_parse() {
        for (text, address) in [
            ("127.0.0.1", "127.0.0.1:27960"),
            (" 127.0.0.1:27961 ", "127.0.0.1:27961"),
            ("::1", "[::1]:27960"),
            ("[::1]", "[::1]:27960"),
            ("[::1]:27999", "[::1]:27999"),
            ("2001:db8::2", "[2001:db8::2]:27960"),
            ("[::ffff:10.0.0.1]:5", "10.0.0.1:5"),
            ("::ffff:10.0.0.1", "10.0.0.1:27960"),
            ("0.0.0.0:65535", "0.0.0.0:65535"),
        ] {
            assert_eq!(resolve(text, 27960), Ok(address.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn localhost_resolves_to_loopback() {
        let address = resolve("localhost:1234", 27960).unwrap();
        assert!(address.ip().is_loopback());
        assert_eq!(address.port(), 1234);
    }

    #[test]
    fn invalid_addresses_are_rejected() {
        for (text, hint) in [
            ("", "invalid host"),
            (":27960", "invalid host"),
            ("a b", "invalid host"),
            ("a\nb", "invalid host"),
            ("host:", "invalid port"),
            ("host:0", "invalid port"),
            ("host:65536", "invalid port"),
            ("host:+5", "invalid port"),
            ("host:-5", "invalid port"),
            ("host:q3", "invalid port"),
            ("[::1", "expected ']'"),
            ("[::1]27960", "expected ':port'"),
            ("[host]:1", "invalid IPv6 address"),
            ("[]:1", "invalid IPv6 address"),
            ("a:b:c", "[address]:port"),
        ] {
            let error = resolve(text, 27960).unwrap_err();
            assert!(error.contains(hint), "{text:?}: {error}");
        }
        assert!(resolve(&"x".repeat(10_000), 1).unwrap_err().len() < 100);
    }

    #[test]
    fn unknown_host_is_named_in_the_error() {
        // The top-level domain `invalid` is reserved and never exists.
        let error = resolve("no-such-host.invalid", 1).unwrap_err();
        assert!(error.contains("no-such-host.invalid"), "{error}");
    }
}
