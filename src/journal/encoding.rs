//! Encoding of record values: variable-length numbers, text, addresses.
//!
//! Invariant: [`Cursor`] never reads past its input and returns no more bytes than the input has.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use crate::node::{LocalPort, Route};

/// Appends a number, seven bits per byte, lowest first.
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the length and then the bytes.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends the length and then the text.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

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

/// Error in the body of a record.
pub(super) type DecodeError = &'static str;

/// Sequential reader of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn byte(&mut self) -> Result<u8, DecodeError> {
        let (first, rest) = self.0.split_first().ok_or("a record ends too early")?;
        self.0 = rest;
        Ok(*first)
    }

    pub(super) fn number(&mut self) -> Result<u64, DecodeError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number of more than 64 bits")
    }

    /// Reads a number that fits its type.
    pub(super) fn small<T: TryFrom<u64>>(&mut self) -> Result<T, DecodeError> {
        T::try_from(self.number()?).map_err(|_| "a number out of range")
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or("a record ends too early")?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let len = self.small()?;
        self.take(len)
    }

    pub(super) fn text(&mut self) -> Result<String, DecodeError> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| "text that is not UTF-8")
    }

    /// Reads four bytes, lowest first.
    pub(super) fn word(&mut self) -> Result<u32, DecodeError> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)))
    }

    pub(super) fn route(&mut self) -> Result<Route, DecodeError> {
        let local = LocalPort(self.small()?);
        Ok(Route { local, remote: self.address()? })
    }

    pub(super) fn address(&mut self) -> Result<SocketAddr, DecodeError> {
        Ok(match self.byte()? {
            4 => {
                let octets: [u8; 4] = self.take(4)?.try_into().map_err(|_| "an address")?;
                SocketAddr::new(IpAddr::V4(Ipv4Addr::from(octets)), self.small()?)
            }
            6 => {
                let octets: [u8; 16] = self.take(16)?.try_into().map_err(|_| "an address")?;
                let (flow, scope) = (self.small()?, self.small()?);
                let ip = Ipv6Addr::from(octets);
                SocketAddr::V6(SocketAddrV6::new(ip, self.small()?, flow, scope))
            }
            _ => return Err("an address of no known family"),
        })
    }

    /// Checks that no byte is left.
    pub(super) fn end(self) -> Result<(), DecodeError> {
        if self.0.is_empty() { Ok(()) } else { Err("a record goes on too long") }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_take_the_bytes_they_need() {
        for (number, len) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (u64::MAX, 10)]
        {
            let mut out = Vec::new();
            put_number(&mut out, number);
            assert_eq!(out.len(), len, "{number}");
            assert_eq!(Cursor(&out).number(), Ok(number));
        }
        assert!(Cursor(&[0x80; 10]).number().is_err());
        assert!(
            Cursor(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).number().is_err()
        );
    }

    #[test]
    fn routes_come_back() {
        for remote in ["127.0.0.1:27960", "[fe80::1%3]:1", "[2001:db8::5]:65535"] {
            let route = Route { local: LocalPort(9), remote: remote.parse().unwrap() };
            let mut out = Vec::new();
            put_route(&mut out, route);
            let mut cursor = Cursor(&out);
            assert_eq!(cursor.route(), Ok(route));
            assert_eq!(cursor.end(), Ok(()));
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = Cursor(&bytes).route();
            let _ = Cursor(&bytes).text();
            let _ = Cursor(&bytes).number();
        }
    }
}
