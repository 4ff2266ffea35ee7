//! Encoding of routes and addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

pub(super) use crate::model::encoding::{Cursor, DecodeError, put_bytes, put_number, put_text};
use crate::node::{LocalPort, Route};

/// Appends a route.
pub(super) fn put_route(out: &mut Vec<u8>, route: Route) {
    put_number(out, u64::from(route.local.0));
    put_address(out, route.remote);
}

/// Appends an address and its port.
pub(super) fn put_address(out: &mut Vec<u8>, address: SocketAddr) {
    match address {
        SocketAddr::V4(address) => {
            out.push(4);
            out.extend_from_slice(&address.ip().octets());
        }
        SocketAddr::V6(address) => {
            out.push(6);
            out.extend_from_slice(&address.ip().octets());
            put_number(out, u64::from(address.flowinfo()));
            put_number(out, u64::from(address.scope_id()));
        }
    }
    put_number(out, u64::from(address.port()));
}

/// Reads a route.
pub(super) fn route(from: &mut Cursor<'_>) -> Result<Route, DecodeError> {
    let local = LocalPort(from.small()?);
    Ok(Route { local, remote: address(from)? })
}

/// Reads an address and its port.
pub(super) fn address(from: &mut Cursor<'_>) -> Result<SocketAddr, DecodeError> {
    Ok(match from.byte()? {
        4 => {
            let octets: [u8; 4] = from.take(4)?.try_into().map_err(|_| "an address")?;
            SocketAddr::new(IpAddr::V4(Ipv4Addr::from(octets)), from.small()?)
        }
        6 => {
            let octets: [u8; 16] = from.take(16)?.try_into().map_err(|_| "an address")?;
            let (flow, scope) = (from.small()?, from.small()?);
            let ip = Ipv6Addr::from(octets);
            SocketAddr::V6(SocketAddrV6::new(ip, from.small()?, flow, scope))
        }
        _ => return Err("an address of no known family"),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn routes_come_back() {
        for remote in ["127.0.0.1:27960", "[fe80::1%3]:1", "[2001:db8::5]:65535"] {
            let route = Route { local: LocalPort(9), remote: remote.parse().unwrap() };
            let mut out = Vec::new();
            put_route(&mut out, route);
            let mut cursor = Cursor(&out);
            assert_eq!(super::route(&mut cursor), Ok(route));
            assert_eq!(cursor.end(), Ok(()));
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = super::route(&mut Cursor(&bytes));
        }
    }
}
