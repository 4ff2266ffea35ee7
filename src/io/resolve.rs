//! Host name resolution: `host[:port]` to a socket address.
//!
//! Invariant: the result is canonical (never an IPv4-mapped IPv6 address), so it equals the source address of
//! the reply.

use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// Longest text taken, in bytes: a domain name has at most 253, a port 6.
const TEXT_MAX: usize = 270;

/// Finds the address that `text` names: `host`, `host:port`, `1.2.3.4:27961`, `::1`, `[::1]:27960`.
///
/// Asks the system's name service, so it may block for seconds: call it before the loop starts. Of
/// several addresses an IPv4 one wins, since most Quake servers have no other. The error is a sentence
/// for the operator.
pub fn resolve(text: &str, default_port: u16) -> Result<SocketAddr, String> {
    let (host, port) = split_host_port(text, default_port)?;
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip.to_canonical(), port));
    }
    let found = (host, port)
        .to_socket_addrs()
        .map_err(|error| format!("cannot find the address of '{host}': {error}"))?;
    let mut first = None;
    for mut address in found {
        address.set_ip(address.ip().to_canonical());
        if address.is_ipv4() {
            return Ok(address);
        }
        first.get_or_insert(address);
    }
    first.ok_or_else(|| format!("'{host}' has no address"))
}

/// Cuts `text` into host (without brackets) and port.
fn split_host_port(text: &str, default_port: u16) -> Result<(&str, u16), String> {
    let text = text.trim();
    if text.len() > TEXT_MAX {
        return Err(format!("an address of {} characters is too long", text.len()));
    }
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let Some((host, after)) = rest.split_once(']') else {
            return Err(format!("'{text}' lacks the ']' that ends the IPv6 address"));
        };
        // A zone, as in fe80::1%eth0, is the name service's business.
        let address = host.split('%').next().unwrap_or(host);
        if address.parse::<Ipv6Addr>().is_err() {
            return Err(format!("'{host}' in '{text}' is no IPv6 address"));
        }
        match after {
            "" => (host, None),
            _ => match after.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None => {
                    return Err(format!("'{after}' after ']' in '{text}' should be ':port'"));
                }
            },
        }
    } else if text.matches(':').count() > 1 {
        // Several colons without brackets: an IPv6 address whose port cannot be told from its end.
        let address = text.split('%').next().unwrap_or(text);
        if address.parse::<Ipv6Addr>().is_err() {
            return Err(format!(
                "'{text}' is no address: write host:port, or [address]:port for IPv6"
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
        return Err(format!("'{}' names no host", text.escape_default()));
    }
    let Some(port) = port else { return Ok((host, default_port)) };
    match port.parse::<u16>() {
        // The parser also takes a sign, which no port has.
        Ok(port_number) if port_number != 0 && !port.starts_with('+') => Ok((host, port_number)),
        _ => Err(format!("'{port}' in '{text}' is no port: ports are numbers from 1 to 65535")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type() {
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
    fn localhost_is_here() {
        let address = resolve("localhost:1234", 27960).unwrap();
        assert!(address.ip().is_loopback());
        assert_eq!(address.port(), 1234);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, hint) in [
            ("", "names no host"),
            (":27960", "names no host"),
            ("a b", "names no host"),
            ("a\nb", "names no host"),
            ("host:", "is no port"),
            ("host:0", "is no port"),
            ("host:65536", "is no port"),
            ("host:+5", "is no port"),
            ("host:-5", "is no port"),
            ("host:q3", "is no port"),
            ("[::1", "lacks the ']'"),
            ("[::1]27960", "should be ':port'"),
            ("[host]:1", "is no IPv6 address"),
            ("[]:1", "is no IPv6 address"),
            ("a:b:c", "[address]:port"),
        ] {
            let error = resolve(text, 27960).unwrap_err();
            assert!(error.contains(hint), "{text:?}: {error}");
        }
        assert!(resolve(&"x".repeat(10_000), 1).unwrap_err().len() < 100);
    }

    #[test]
    fn an_unknown_name_is_quoted() {
        // Reserved never to exist.
        let error = resolve("no-such-host.invalid", 1).unwrap_err();
        assert!(error.contains("no-such-host.invalid"), "{error}");
    }
}
