//! Reader of packet files: pcap and pcapng, both byte orders, micro- and nanoseconds.
//!
//! Bytes are pushed as they arrive, so that a growing file or a pipe is read live.
//!
//! Invariant: at most one block is collected, of 16 MiB at most. Source: draft-ietf-opsawg-pcapng,
//! draft-ietf-opsawg-pcap.

use pcap_parser::{
    Block, parse_block_be, parse_block_le, parse_pcap_frame, parse_pcap_frame_be,
    parse_pcap_frame_modified, parse_pcap_header, traits::PcapNGPacketBlock as _,
};
use thiserror::Error;

/// Longest block or packet that is read, in bytes.
const MAX_BLOCK_LEN: usize = 16 << 20;
/// Maximum number of interfaces of a section.
const MAX_INTERFACES: usize = 1024;
/// Type of a section header block, which reads the same in both byte orders.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Length of the header of a pcap file.
const PCAP_HEADER_LEN: usize = 24;

/// Error of a packet file, with the offset of the block.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("byte {offset}: {kind}")]
pub struct CaptureError {
    /// Offset of the block or packet in the file.
    pub offset: u64,
    /// Problem.
    pub kind: CaptureErrorKind,
}

/// Problem of a packet file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CaptureErrorKind {
    /// Neither pcap nor pcapng.
    #[error("unknown file format (expected pcap or pcapng)")]
    Format,
    /// Length that no writer uses.
    #[error("invalid block length: {0} bytes (max {MAX_BLOCK_LEN})")]
    Length(u64),
    /// Block whose content contradicts its length.
    #[error("invalid block content")]
    Content,
    /// Packet of an interface that was not described.
    #[error("packet of unknown interface {0}")]
    Interface(u32),
    /// End of the file inside a block.
    #[error("file ends inside a block: {0} bytes of it")]
    Truncated(usize),
}

/// A captured packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Calendar time in µs since 1970; 0 when the file has none.
    pub time_us: u64,
    /// Link type, as registered for pcap files.
    pub link_type: i32,
    /// Captured bytes.
    pub bytes: &'a [u8],
    /// Whether the capture cut the packet.
    pub is_cut: bool,
}

/// Interface of a section.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: i32,
    /// Timestamp units per second.
    units: u64,
    /// Seconds to add.
    offset: i64,
}

#[derive(Clone, Copy, Debug)]
enum Format {
    Unknown,
    Pcap { big_endian: bool, modified: bool, units: u64, link_type: i32 },
    Pcapng { big_endian: bool },
}

/// Place of a packet in the buffer.
struct Found {
    time_us: u64,
    link_type: i32,
    start: usize,
    len: usize,
    is_cut: bool,
}

/// Reader of a packet file.
#[derive(Debug)]
pub struct PacketReader {
    buffer: Vec<u8>,
    /// Bytes of the buffer that are read.
    at: usize,
    /// Offset of the buffer's start in the file.
    offset: u64,
    format: Format,
    interfaces: Vec<Interface>,
}

impl Default for PacketReader {
    fn default() -> Self {
        Self::new()
    }
}

impl PacketReader {
    /// Creates the reader of a file.
    #[must_use]
    pub fn new() -> Self {
        Self {
            buffer: Vec::new(),
            at: 0,
            offset: 0,
            format: Format::Unknown,
            interfaces: Vec::new(),
        }
    }

    /// Appends bytes of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.at);
        self.offset += self.at as u64;
        self.at = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next packet, or `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`CaptureError`]; the rest of the file cannot be read.
    pub fn poll(&mut self) -> Result<Option<Packet<'_>>, CaptureError> {
        let found = loop {
            let rest = self.buffer.get(self.at..).unwrap_or_default();
            let step = match self.format {
                Format::Unknown => self.recognize(rest),
                Format::Pcap { big_endian, modified, units, link_type } => {
                    pcap_packet(rest, big_endian, modified, units, link_type)
                }
                Format::Pcapng { big_endian } => self.block(rest, big_endian),
            };
            let start = self.at;
            match step.map_err(|kind| CaptureError { offset: self.offset + start as u64, kind })? {
                PacketPart::More => return Ok(None),
                PacketPart::Format(format, len) => {
                    self.format = format;
                    self.at += len;
                }
                PacketPart::Section { big_endian, len } => {
                    self.format = Format::Pcapng { big_endian };
                    self.interfaces.clear();
                    self.at += len;
                }
                PacketPart::Interface(interface, len) => {
                    if self.interfaces.len() < MAX_INTERFACES {
                        self.interfaces.push(interface);
                    }
                    self.at += len;
                }
                PacketPart::Skip(len) => self.at += len,
                PacketPart::Packet(found, len) => {
                    self.at += len;
                    break Found { start: start + found.start, ..found };
                }
            }
        };
        let Found { time_us, link_type, start, len, is_cut } = found;
        let bytes = self.buffer.get(start..start + len).unwrap_or_default();
        Ok(Some(Packet { time_us, link_type, bytes, is_cut }))
    }

    /// Checks the end of the file.
    ///
    /// # Errors
    /// The file ends inside a block, or is not a packet file.
    pub fn finish(&self) -> Result<(), CaptureError> {
        let left = self.buffer.len() - self.at;
        let offset = self.offset + self.at as u64;
        match self.format {
            Format::Unknown => Err(CaptureError { offset, kind: CaptureErrorKind::Format }),
            _ if left > 0 => Err(CaptureError { offset, kind: CaptureErrorKind::Truncated(left) }),
            Format::Pcap { .. } | Format::Pcapng { .. } => Ok(()),
        }
    }

    /// Recognizes the format by the first bytes.
    fn recognize(&self, rest: &[u8]) -> Result<PacketPart, CaptureErrorKind> {
        let Some(magic) = rest.first_chunk::<4>() else { return Ok(PacketPart::More) };
        if *magic == SECTION_HEADER {
            return Ok(PacketPart::Format(Format::Pcapng { big_endian: false }, 0));
        }
        if rest.len() < PCAP_HEADER_LEN {
            let known = [0xa1b2_c3d4_u32, 0xa1b2_3c4d, 0xa1b2_cd34, 0xd4c3_b2a1, 0x4d3c_b2a1];
            let is_known = known.contains(&u32::from_le_bytes(*magic));
            return if is_known { Ok(PacketPart::More) } else { Err(CaptureErrorKind::Format) };
        }
        let (_, header) = parse_pcap_header(rest).map_err(|_| CaptureErrorKind::Format)?;
        let units = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
        let format = Format::Pcap {
            big_endian: header.is_bigendian(),
            modified: header.is_modified_format(),
            units,
            // The upper bits give the length of a frame check sequence.
            link_type: header.network.0 & 0x0fff_ffff,
        };
        Ok(PacketPart::Format(format, PCAP_HEADER_LEN))
    }

    /// Reads a block of a pcapng file.
    fn block(&self, rest: &[u8], big_endian: bool) -> Result<PacketPart, CaptureErrorKind> {
        let Some(head) = rest.first_chunk::<12>() else { return Ok(PacketPart::More) };
        let big_endian = if head.starts_with(&SECTION_HEADER) {
            match head[8..12] {
                [0x4d, 0x3c, 0x2b, 0x1a] => false,
                [0x1a, 0x2b, 0x3c, 0x4d] => true,
                _ => return Err(CaptureErrorKind::Content),
            }
        } else {
            big_endian
        };
        let len = word(head, 4, big_endian) as usize;
        if !(12..=MAX_BLOCK_LEN).contains(&len) || !len.is_multiple_of(4) {
            return Err(CaptureErrorKind::Length(len as u64));
        }
        let Some(whole) = rest.get(..len) else { return Ok(PacketPart::More) };
        let parse = if big_endian { parse_block_be } else { parse_block_le };
        let (_, block) = parse(whole).map_err(|_| CaptureErrorKind::Content)?;
        match &block {
            Block::SectionHeader(_) => Ok(PacketPart::Section { big_endian, len }),
            Block::InterfaceDescription(described) => {
                let units = described.ts_resolution().filter(|units| *units > 0);
                let interface = Interface {
                    link_type: described.linktype.0,
                    units: units.ok_or(CaptureErrorKind::Content)?,
                    offset: described.ts_offset(),
                };
                Ok(PacketPart::Interface(interface, len))
            }
            Block::EnhancedPacket(packet) => {
                let index = packet.if_id;
                let interface = self.interface(index)?;
                let stamp = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let time_us = microseconds(stamp, interface);
                let bytes = packet.packet_data();
                let link_type = interface.link_type;
                let is_cut = packet.truncated();
                Ok(PacketPart::Packet(
                    Found { time_us, link_type, start: 28, len: bytes.len(), is_cut },
                    len,
                ))
            }
            Block::SimplePacket(packet) => {
                let link_type = self.interface(0)?.link_type;
                let bytes = packet.packet_data();
                let is_cut = packet.origlen as usize > bytes.len();
                Ok(PacketPart::Packet(
                    Found { time_us: 0, link_type, start: 12, len: bytes.len(), is_cut },
                    len,
                ))
            }
            _ => Ok(PacketPart::Skip(len)),
        }
    }

    fn interface(&self, index: u32) -> Result<&Interface, CaptureErrorKind> {
        self.interfaces.get(index as usize).ok_or(CaptureErrorKind::Interface(index))
    }
}

/// Progress of reading.
enum PacketPart {
    /// More bytes are needed.
    More,
    /// The format, and the length of its header.
    Format(Format, usize),
    /// A section begins.
    Section { big_endian: bool, len: usize },
    /// An interface of the section.
    Interface(Interface, usize),
    /// A block without a packet.
    Skip(usize),
    /// A packet; its place is relative to the block.
    Packet(Found, usize),
}

fn word(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let word =
        bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()).copied().unwrap_or_default();
    if big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}

/// Reads a packet of a pcap file.
fn pcap_packet(
    rest: &[u8],
    big_endian: bool,
    modified: bool,
    units: u64,
    link_type: i32,
) -> Result<PacketPart, CaptureErrorKind> {
    let head = if modified { 24 } else { 16 };
    if rest.len() < head {
        return Ok(PacketPart::More);
    }
    let len = word(rest, 8, big_endian) as usize;
    if len > MAX_BLOCK_LEN {
        return Err(CaptureErrorKind::Length(len as u64));
    }
    if rest.len() < head + len {
        return Ok(PacketPart::More);
    }
    let parse = match (big_endian, modified) {
        (true, _) => parse_pcap_frame_be,
        (false, true) => parse_pcap_frame_modified,
        (false, false) => parse_pcap_frame,
    };
    let (_, frame) = parse(rest).map_err(|_| CaptureErrorKind::Content)?;
    let fraction = u64::from(frame.ts_usec) * 1_000_000 / units;
    let time_us = u64::from(frame.ts_sec) * 1_000_000 + fraction;
    let is_cut = frame.origlen as usize > frame.data.len();
    let found = Found { time_us, link_type, start: head, len: frame.data.len(), is_cut };
    Ok(PacketPart::Packet(found, head + len))
}

/// Converts a timestamp of an interface.
fn microseconds(stamp: u64, interface: &Interface) -> u64 {
    let us = u128::from(stamp) * 1_000_000 / u128::from(interface.units.max(1));
    let us = us as i128 + i128::from(interface.offset) * 1_000_000;
    u64::try_from(us.max(0)).unwrap_or(u64::MAX)
}
