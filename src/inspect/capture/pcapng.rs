//! Writer of pcapng: link type RAW, synthesized IP and UDP headers, comments.
//!
//! The writers on the registry are unmaintained or bring a parser along, so the three block types are
//! encoded here. Source: draft-ietf-opsawg-pcapng; RFC 768, 791, 1071, 8200.

use std::net::{IpAddr, SocketAddr};

/// Protocol number of UDP.
const UDP: u8 = 17;
/// Link type of packets that start with an IP header.
const LINKTYPE_RAW: u16 = 101;
/// Option code of a comment.
const COMMENT: u16 = 1;

/// Appends the section header and the only interface.
pub(super) fn write_head(out: &mut Vec<u8>) {
    // Section header: byte order, version 1.0, unknown section length.
    block(out, 0x0a0d_0d0a, |body| {
        body.extend(0x1a2b_3c4d_u32.to_le_bytes());
        body.extend([1, 0, 0, 0]);
        body.extend([0xff; 8]);
    });
    // Interface description: no snap length, timestamps in microseconds (the default).
    block(out, 1, |body| {
        body.extend(LINKTYPE_RAW.to_le_bytes());
        body.extend([0; 6]);
    });
}

/// Appends a datagram with a comment; an empty comment is left out.
pub(super) fn write_datagram(
    out: &mut Vec<u8>,
    time_us: u64,
    from: SocketAddr,
    to: SocketAddr,
    payload: &[u8],
    comment: &str,
) {
    block(out, 6, |body| {
        body.extend([0; 4]);
        body.extend(((time_us >> 32) as u32).to_le_bytes());
        body.extend((time_us as u32).to_le_bytes());
        body.extend([0; 8]);
        let start = body.len();
        ip_packet(body, from, to, payload);
        let len = ((body.len() - start) as u32).to_le_bytes();
        // The length comes twice: as captured, as sent.
        body[start - 8..start - 4].copy_from_slice(&len);
        body[start - 4..start].copy_from_slice(&len);
        pad(body, start);
        if !comment.is_empty() {
            let text = &comment.as_bytes()[..comment.len().min(usize::from(u16::MAX))];
            body.extend(COMMENT.to_le_bytes());
            body.extend((text.len() as u16).to_le_bytes());
            let start = body.len();
            body.extend_from_slice(text);
            pad(body, start);
            // End of the options.
            body.extend([0; 4]);
        }
    });
}

/// Pads the part from `start` to four bytes.
fn pad(out: &mut Vec<u8>, start: usize) {
    out.resize(start + (out.len() - start).next_multiple_of(4), 0);
}

/// Appends a block: type, length, body padded to four bytes, length.
fn block(out: &mut Vec<u8>, kind: u32, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    write(out);
    pad(out, start);
    let len = ((out.len() - start + 4) as u32).to_le_bytes();
    out[start + 4..start + 8].copy_from_slice(&len);
    out.extend(len);
}

/// Appends an IP packet with a UDP datagram.
fn ip_packet(out: &mut Vec<u8>, from: SocketAddr, to: SocketAddr, payload: &[u8]) {
    let udp_len = u16::try_from(8 + payload.len()).unwrap_or(u16::MAX);
    let ip_start = out.len();
    let addresses = if let (IpAddr::V4(from), IpAddr::V4(to)) = (from.ip(), to.ip()) {
        out.extend([0x45, 0]);
        out.extend(udp_len.saturating_add(20).to_be_bytes());
        // No identification, do not fragment, 64 hops.
        out.extend([0, 0, 0x40, 0, 64, UDP, 0, 0]);
        out.extend(from.octets());
        out.extend(to.octets());
        let sum = checksum(&[&out[ip_start..]]);
        out[ip_start + 10..ip_start + 12].copy_from_slice(&sum.to_be_bytes());
        ip_start + 12..ip_start + 20
    } else {
        let octets = |ip: IpAddr| match ip {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        };
        out.extend([0x60, 0, 0, 0]);
        out.extend(udp_len.to_be_bytes());
        out.extend([UDP, 64]);
        out.extend(octets(from.ip()));
        out.extend(octets(to.ip()));
        ip_start + 8..ip_start + 40
    };
    let start = out.len();
    for word in [from.port(), to.port(), udp_len, 0] {
        out.extend(word.to_be_bytes());
    }
    out.extend_from_slice(payload);
    let [high, low] = udp_len.to_be_bytes();
    let sum = checksum(&[&out[addresses], &[0, UDP, high, low], &out[start..]]);
    // 0 means "no checksum", so a computed 0 is sent as its complement.
    let sum = Some(sum).filter(|sum| *sum != 0).unwrap_or(0xffff);
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
    use super::*;

    #[test]
    fn capture_has_valid_blocks_and_checksums() {
        for (remote, local, header) in
            [("192.0.2.7:5", "127.0.0.1:27960", 20), ("[2001:db8::1]:5", "[::1]:27960", 40)]
        {
            let (remote, local) = (remote.parse().unwrap(), local.parse().unwrap());
            let mut bytes = Vec::new();
            write_head(&mut bytes);
            write_datagram(&mut bytes, 1_000_500_000, remote, local, b"abc", "");
            write_datagram(&mut bytes, 1_000_500_000, local, remote, b"answer", "comment");
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
