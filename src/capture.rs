//! Packet capture: a node's datagrams as a pcapng file, for Wireshark.
//!
//! Link type RAW: each packet starts with a synthesized IPv4 or IPv6 header and a UDP header with valid
//! checksums. Timestamps are the calendar time of the node's clock. The writers on the registry are
//! unmaintained or bring a parser along, so the three block types are encoded here.
//!
//! Source: draft-ietf-opsawg-pcapng; RFC 768, 791, 1071, 8200.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::{
    model::{Millis, UnixMillis},
    node::{LocalPort, NodeEvent, Observer, Route},
};

/// Receiver of the file's bytes, in order.
pub type CaptureSink = Box<dyn FnMut(&[u8])>;

/// Protocol number of UDP.
const UDP: u8 = 17;
/// Link type of packets that start with an IP header.
const LINKTYPE_RAW: u16 = 101;

/// Observer that captures the datagrams of a node.
pub struct Capture {
    locals: Vec<(LocalPort, SocketAddr)>,
    started_at: UnixMillis,
    now: Millis,
    sink: CaptureSink,
    block: Vec<u8>,
}

impl Capture {
    /// Starts a capture. `locals` are the bound addresses, `started_at` the calendar time at the zero of the
    /// node's clock.
    #[must_use]
    pub fn new(
        locals: Vec<(LocalPort, SocketAddr)>,
        started_at: UnixMillis,
        mut sink: CaptureSink,
    ) -> Self {
        let mut head = Vec::new();
        // Section header: byte order, version 1.0, unknown section length.
        block(&mut head, 0x0a0d_0d0a, |body| {
            body.extend(0x1a2b_3c4d_u32.to_le_bytes());
            body.extend([1, 0, 0, 0]);
            body.extend([0xff; 8]);
        });
        // Interface description: no snap length, timestamps in microseconds (the default).
        block(&mut head, 1, |body| {
            body.extend(LINKTYPE_RAW.to_le_bytes());
            body.extend([0; 6]);
        });
        sink(&head);
        Self { locals, started_at, now: Millis(0), sink, block: head }
    }

    /// Returns the bound address for a route.
    fn local(&self, route: Route) -> SocketAddr {
        let fits = |at: &SocketAddr| at.is_ipv4() == route.remote.is_ipv4();
        let known = self.locals.iter().find(|(port, at)| *port == route.local && fits(at));
        known.map_or((Ipv4Addr::UNSPECIFIED, 0).into(), |(_, at)| *at)
    }

    fn packet(&mut self, from: SocketAddr, to: SocketAddr, payload: &[u8]) {
        let time_us = (self.started_at.0 + self.now.0) * 1000;
        self.block.clear();
        block(&mut self.block, 6, |body| {
            body.extend([0; 4]);
            body.extend(((time_us >> 32) as u32).to_le_bytes());
            body.extend((time_us as u32).to_le_bytes());
            let lengths = body.len();
            body.extend([0; 8]);
            let start = body.len();
            ip_packet(body, from, to, payload);
            let len = ((body.len() - start) as u32).to_le_bytes();
            body[lengths..start].copy_from_slice(&[len, len].concat());
        });
        (self.sink)(&self.block);
    }
}

impl Observer for Capture {
    fn observe(&mut self, event: &NodeEvent<'_>) {
        match *event {
            NodeEvent::Received(now, route, bytes) => {
                self.now = now;
                self.packet(route.remote, self.local(route), bytes);
            }
            NodeEvent::Sent(route, bytes) => self.packet(self.local(route), route.remote, bytes),
            NodeEvent::Frame(now)
            | NodeEvent::ConsoleLine(now, _)
            | NodeEvent::LoopCounters(now, _)
            | NodeEvent::Lookup(now, _)
            | NodeEvent::Stop(now, _) => self.now = now,
        }
    }
}

/// Appends a block: type, length, body padded to four bytes, length.
fn block(out: &mut Vec<u8>, kind: u32, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    write(out);
    out.resize(out.len().next_multiple_of(4), 0);
    let len = ((out.len() - start + 4) as u32).to_le_bytes();
    out[start + 4..start + 8].copy_from_slice(&len);
    out.extend(len);
}

/// Appends an IP packet with a UDP datagram.
fn ip_packet(out: &mut Vec<u8>, from: SocketAddr, to: SocketAddr, payload: &[u8]) {
    let udp_len = u16::try_from(8 + payload.len()).unwrap_or(u16::MAX);
    let mut pseudo = Vec::with_capacity(40);
    if let (IpAddr::V4(from), IpAddr::V4(to)) = (from.ip(), to.ip()) {
        let start = out.len();
        out.extend([0x45, 0]);
        out.extend(udp_len.saturating_add(20).to_be_bytes());
        // No identification, do not fragment, 64 hops.
        out.extend([0, 0, 0x40, 0, 64, UDP, 0, 0]);
        out.extend(from.octets());
        out.extend(to.octets());
        let sum = checksum(&[&out[start..]]);
        out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
        pseudo.extend(from.octets());
        pseudo.extend(to.octets());
    } else {
        let octets = |ip: IpAddr| match ip {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        };
        out.extend([0x60, 0, 0, 0]);
        out.extend(udp_len.to_be_bytes());
        out.extend([UDP, 64]);
        for ip in [from.ip(), to.ip()] {
            out.extend(octets(ip));
            pseudo.extend(octets(ip));
        }
    }
    let start = out.len();
    for word in [from.port(), to.port(), udp_len, 0] {
        out.extend(word.to_be_bytes());
    }
    out.extend_from_slice(payload);
    pseudo.extend([0, UDP]);
    pseudo.extend(udp_len.to_be_bytes());
    // 0 means "no checksum", so a computed 0 is sent as its complement.
    let sum = Some(checksum(&[&pseudo, &out[start..]])).filter(|sum| *sum != 0).unwrap_or(0xffff);
    out[start + 6..start + 8].copy_from_slice(&sum.to_be_bytes());
}

/// Returns the Internet checksum. Each part but the last has an even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let mut sum: u32 = words
        .map(|word| u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0)))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, rc::Rc};

    use super::*;

    fn capture(remote: &str, local: &str) -> Vec<u8> {
        let bytes = Rc::new(RefCell::new(Vec::new()));
        let to = Rc::clone(&bytes);
        let sink = Box::new(move |piece: &[u8]| to.borrow_mut().extend_from_slice(piece));
        let locals = vec![(LocalPort(0), local.parse().unwrap())];
        let mut capture = Capture::new(locals, UnixMillis(1_000_000), sink);
        let route = Route { local: LocalPort(0), remote: remote.parse().unwrap() };
        capture.observe(&NodeEvent::Received(Millis(500), route, b"abc"));
        capture.observe(&NodeEvent::Sent(route, b"answer"));
        drop(capture);
        bytes.take()
    }

    #[test]
    fn capture_has_valid_blocks_and_checksums() {
        for (remote, local, header) in
            [("192.0.2.7:5", "127.0.0.1:27960", 20), ("[2001:db8::1]:5", "[::1]:27960", 40)]
        {
            let bytes = capture(remote, local);
            let mut rest = &bytes[..];
            let mut kinds = Vec::new();
            while !rest.is_empty() {
                let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
                let len = word(4) as usize;
                assert_eq!(word(len - 4) as usize, len, "length at both ends");
                kinds.push(word(0));
                if word(0) == 6 {
                    assert_eq!(u64::from(word(12)) << 32 | u64::from(word(16)), 1_000_500_000);
                    let packet = &rest[28..28 + word(20) as usize];
                    let udp = &packet[header..];
                    let addresses = &packet[if header == 20 { 12 } else { 8 }..header];
                    let pseudo = [addresses, &[0, UDP], &udp[4..6]].concat();
                    assert_eq!(checksum(&[&pseudo, udp]), 0, "UDP checksum");
                    if header == 20 {
                        assert_eq!(checksum(&[&packet[..20]]), 0, "IP checksum");
                    }
                }
                rest = &rest[len..];
            }
            assert_eq!(kinds, [0x0a0d_0d0a, 1, 6, 6], "{remote}");
        }
    }
}
