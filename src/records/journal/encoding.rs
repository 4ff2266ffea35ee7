//! Encoding of routes and addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

pub(super) use crate::model::encoding::{Cursor, DecodeError, put_bytes, put_number, put_text};
use crate::node::{LocalPort, Route};

/// Appends a route.
pub(super) fn put_route(out: &mut Vec<u8>, route: Route) {
    put_number(out, u64::from(route.local.0));
    match route.local_ip {
        None => out.push(0),
        Some(ip) => put_ip(out, ip),
    }
    put_address(out, route.remote);
}

/// Appends an address without a port.
fn put_ip(out: &mut Vec<u8>, ip: IpAddr) {
    match ip {
        IpAddr::V4(ip) => {
            out.push(4);
            out.extend_from_slice(&ip.octets());
        }
        IpAddr::V6(ip) => {
            out.push(6);
            out.extend_from_slice(&ip.octets());
        }
    }
}

/// Appends an address and its port.
pub(super) fn put_address(out: &mut Vec<u8>, address: SocketAddr) {
    put_ip(out, address.ip());
    if let SocketAddr::V6(address) = address {
        put_number(out, u64::from(address.flowinfo()));
        put_number(out, u64::from(address.scope_id()));
    }
    put_number(out, u64::from(address.port()));
}

/// Reads a route.
pub(super) fn route(from: &mut Cursor<'_>) -> Result<Route, DecodeError> {
    let local = LocalPort(from.small()?);
    let local_ip = match from.byte()? {
        0 => None,
        family => Some(ip(from, family)?),
    };
    Ok(Route { local, local_ip, remote: address(from)? })
}

/// Reads an address without a port, behind the byte of its family.
fn ip(from: &mut Cursor<'_>, family: u8) -> Result<IpAddr, DecodeError> {
    match family {
        4 => {
            let octets: [u8; 4] = from.take(4)?.try_into().map_err(|_| "an address")?;
            Ok(Ipv4Addr::from(octets).into())
        }
        6 => {
            let octets: [u8; 16] = from.take(16)?.try_into().map_err(|_| "an address")?;
            Ok(Ipv6Addr::from(octets).into())
        }
        _ => Err("an address of no known family"),
    }
}

/// Reads an address and its port.
pub(super) fn address(from: &mut Cursor<'_>) -> Result<SocketAddr, DecodeError> {
    let family = from.byte()?;
    Ok(match ip(from, family)? {
        IpAddr::V4(ip) => SocketAddr::new(ip.into(), from.small()?),
        IpAddr::V6(ip) => {
            let (flow, scope) = (from.small()?, from.small()?);
            SocketAddrV6::new(ip, from.small()?, flow, scope).into()
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn routes_come_back() {
        for remote in ["127.0.0.1:27960", "[fe80::1%3]:1", "[2001:db8::5]:65535"] {
            for local_ip in [None, Some("127.0.1.1"), Some("2001:db8::7")] {
                let local_ip = local_ip.map(|ip| ip.parse().unwrap());
                let remote = remote.parse().unwrap();
                let route = Route { local: LocalPort(9), local_ip, remote };
                let mut out = Vec::new();
                put_route(&mut out, route);
                let mut cursor = Cursor(&out);
                assert_eq!(super::route(&mut cursor), Ok(route));
                assert_eq!(cursor.end(), Ok(()));
            }
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = super::route(&mut Cursor(&bytes));
        }
    }
}
