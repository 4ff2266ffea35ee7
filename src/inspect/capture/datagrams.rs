//! Datagrams of a packet file: link layers, IP with fragments, UDP.
//!
//! Link types: Ethernet with VLAN tags, Linux cooked 1 and 2, raw IP, null and loopback.
//!
//! Invariant: at most 64 packets are reassembled at a time. Source: RFC 768, 791, 8200; link types
//! of draft-ietf-opsawg-pcaplinktype.

use std::net::{IpAddr, SocketAddr};

use etherparse::{
    EtherType, IpNumber, NetSlice, SlicedPacket, TransportSlice, UdpSlice, defrag::IpDefragPool,
};

use super::packets::{CaptureError, Packet, PacketReader};

/// Number of later fragments after which an incomplete packet is given up.
const MAX_FRAGMENT_AGE: u64 = 64;

/// A UDP datagram of a packet file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Calendar time in µs since 1970. Of a fragmented packet that of its last fragment.
    pub time_us: u64,
    /// Source.
    pub from: SocketAddr,
    /// Destination.
    pub to: SocketAddr,
    /// Payload.
    pub bytes: &'a [u8],
}

/// Numbers of packets that gave no datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Packets of another protocol.
    pub others: u64,
    /// Packets cut by the capture.
    pub cut: u64,
    /// Invalid packets.
    pub invalid: u64,
    /// Packets of an unsupported link type, and that type.
    pub link_type: Option<(i32, u64)>,
}

/// Reader of the datagrams of a packet file.
pub struct DatagramReader {
    packets: PacketReader,
    fragments: IpDefragPool<u64, ()>,
    /// Number of fragments so far.
    clock: u64,
    skipped: Skipped,
    payload: Vec<u8>,
}

impl std::fmt::Debug for DatagramReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatagramReader").field("skipped", &self.skipped).finish_non_exhaustive()
    }
}

impl Default for DatagramReader {
    fn default() -> Self {
        Self::new()
    }
}

/// Addresses and place of a datagram.
struct Route {
    from: SocketAddr,
    to: SocketAddr,
}

/// Result of one packet.
enum Parsed {
    Datagram(Route),
    /// Fragment of an incomplete packet.
    Pending,
    Other,
    Invalid,
    LinkType,
}

impl DatagramReader {
    /// Creates the reader of a file.
    #[must_use]
    pub fn new() -> Self {
        Self {
            packets: PacketReader::new(),
            fragments: IpDefragPool::new(),
            clock: 0,
            skipped: Skipped::default(),
            payload: Vec::new(),
        }
    }

    /// Appends bytes of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        self.packets.push(bytes);
    }

    /// Returns the next datagram, or `None` when more bytes are needed.
    ///
    /// # Errors
    /// As [`PacketReader::poll`].
    pub fn poll(&mut self) -> Result<Option<Datagram<'_>>, CaptureError> {
        loop {
            let Some(packet) = self.packets.poll()? else { return Ok(None) };
            let (time_us, link_type, is_cut) = (packet.time_us, packet.link_type, packet.is_cut);
            let parsed = parse(&packet, &mut self.fragments, &mut self.clock, &mut self.payload);
            match parsed {
                Parsed::Datagram(Route { from, to }) => {
                    return Ok(Some(Datagram { time_us, from, to, bytes: &self.payload }));
                }
                Parsed::Pending => {}
                Parsed::Other => self.skipped.others += 1,
                Parsed::Invalid if is_cut => self.skipped.cut += 1,
                Parsed::Invalid => self.skipped.invalid += 1,
                Parsed::LinkType => {
                    let count = self.skipped.link_type.map_or(0, |(_, count)| count);
                    self.skipped.link_type = Some((link_type, count + 1));
                }
            }
        }
    }

    /// Checks the end of the file.
    ///
    /// # Errors
    /// As [`PacketReader::finish`].
    pub fn finish(&self) -> Result<(), CaptureError> {
        self.packets.finish()
    }

    /// Packets that gave no datagram so far.
    #[must_use]
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }
}

/// Returns the layers of a packet; `None` for an unsupported link type.
fn slice<'a>(packet: &Packet<'a>) -> Option<Result<SlicedPacket<'a>, ()>> {
    let bytes = packet.bytes;
    let behind = |len: usize| bytes.get(len..).ok_or(());
    let ether = |at: usize, len: usize| {
        let kind = bytes.get(at..).and_then(|rest| rest.first_chunk::<2>()).ok_or(())?;
        let kind = EtherType(u16::from_be_bytes(*kind));
        SlicedPacket::from_ether_type(kind, behind(len)?).map_err(|_| ())
    };
    let ip = |len| SlicedPacket::from_ip(behind(len)?).map_err(|_| ());
    Some(match packet.link_type {
        // Null and loopback: four bytes of address family, which the IP version repeats.
        0 | 108 => ip(4),
        1 => SlicedPacket::from_ethernet(bytes).map_err(|_| ()),
        // Raw IP, with two older numbers, and the types of one version.
        12 | 14 | 101 | 228 | 229 => ip(0),
        113 => ether(14, 16),
        276 => ether(0, 20),
        _ => return None,
    })
}

fn parse(
    packet: &Packet<'_>,
    fragments: &mut IpDefragPool<u64, ()>,
    clock: &mut u64,
    payload: &mut Vec<u8>,
) -> Parsed {
    let sliced = match slice(packet) {
        None => return Parsed::LinkType,
        Some(Err(())) => return Parsed::Invalid,
        Some(Ok(sliced)) => sliced,
    };
    let (source, destination): (IpAddr, IpAddr) = match &sliced.net {
        Some(NetSlice::Ipv4(ip)) => {
            (ip.header().source_addr().into(), ip.header().destination_addr().into())
        }
        Some(NetSlice::Ipv6(ip)) => {
            (ip.header().source_addr().into(), ip.header().destination_addr().into())
        }
        Some(NetSlice::Arp(_)) | None => return Parsed::Other,
    };
    let route = |from: u16, to: u16| Route {
        from: SocketAddr::new(source, from),
        to: SocketAddr::new(destination, to),
    };
    if sliced.is_ip_payload_fragmented() {
        *clock += 1;
        let oldest = clock.saturating_sub(MAX_FRAGMENT_AGE);
        fragments.retain(|added| *added >= oldest);
        let whole = match fragments.process_sliced_packet(&sliced, *clock, ()) {
            Err(_) => return Parsed::Invalid,
            Ok(None) => return Parsed::Pending,
            Ok(Some(whole)) => whole,
        };
        let parsed = match UdpSlice::from_slice(&whole.payload) {
            Ok(udp) if whole.ip_number == IpNumber::UDP => {
                payload.clear();
                payload.extend_from_slice(udp.payload());
                Parsed::Datagram(route(udp.source_port(), udp.destination_port()))
            }
            Ok(_) => Parsed::Other,
            Err(_) => Parsed::Invalid,
        };
        fragments.return_buf(whole);
        return parsed;
    }
    match &sliced.transport {
        Some(TransportSlice::Udp(udp)) => {
            payload.clear();
            payload.extend_from_slice(udp.payload());
            Parsed::Datagram(route(udp.source_port(), udp.destination_port()))
        }
        _ => Parsed::Other,
    }
}
