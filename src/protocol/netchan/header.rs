//! Netchan header of a datagram.
//!
//! ```text
//! u32 sequence, highest bit: a fragment | u16 qport | u32 checksum | u16 start | u16 len | bytes
//!                                         to server   native only    └── fragment only ─┘
//! ```
//!
//! All little-endian. The optional fields depend on the sender, on the framing and on the fragment
//! bit; [`HeaderLayout`] is that table and drives reading and writing. Source: Quake III protocol
//! 68, ioquake3 protocol 71: netchan headers and checksum.

use thiserror::Error;

use crate::{
    model::{Challenge, Qport, Sequence},
    wire::protocol::{Framing, Protocol},
};

/// Length of a full fragment in bytes; messages of this length or more are fragmented.
pub const FRAGMENT_LEN: usize = 1300;
/// Longest header in bytes: checksummed, from a client, of a fragment.
pub const MAX_HEADER_LEN: usize = 14;
/// Longest datagram that a channel sends, in bytes.
pub const MAX_DATAGRAM_LEN: usize = FRAGMENT_LEN + MAX_HEADER_LEN;
/// Shortest datagram that identifies a client, in bytes.
pub const MIN_CLIENT_DATAGRAM_LEN: usize = 6;

const FRAGMENT_BIT: u32 = !Sequence::MASK;

/// Side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelSide {
    /// Server.
    Server,
    /// Client.
    Client,
}

impl ChannelSide {
    /// Returns the opposite side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Server => Self::Client,
            Self::Client => Self::Server,
        }
    }
}

/// Whether a datagram is connectionless.
#[must_use]
pub fn is_connectionless(datagram: &[u8]) -> bool {
    datagram.starts_with(&[0xff; 4])
}

/// Returns sequence and qport of a client's datagram, before its protocol is known. `None` for
/// short or connectionless datagrams.
#[must_use]
pub fn peek_client_header(datagram: &[u8]) -> Option<(Sequence, Qport)> {
    if is_connectionless(datagram) {
        return None;
    }
    let (sequence, rest) = datagram.split_first_chunk()?;
    let (qport, _) = rest.split_first_chunk()?;
    let sequence = u32::from_le_bytes(*sequence) & Sequence::MASK;
    Some((Sequence(sequence), Qport(u16::from_le_bytes(*qport))))
}

/// Detects the protocol of a sequenced datagram, among those with the number of `guess`. It is the
/// one whose header checksum is right, else the one without a checksum.
///
/// Scrambled messages start with Huffman codes, which are never the 0 of the first checksum. Of
/// later ones, one in four billion is mistaken for checksummed. A checksummed datagram of an
/// earlier connection from the same address is mistaken for scrambled. The result is therefore
/// valid only after the message is decoded completely.
#[must_use]
pub fn detect_protocol(
    guess: &'static Protocol,
    sender: ChannelSide,
    challenge: Challenge,
    datagram: &[u8],
) -> &'static Protocol {
    let fits = |protocol: &&Protocol| {
        protocol.framing.checksum
            && HeaderLayout::new(sender, protocol.framing)
                .read(datagram)
                .is_ok_and(|(header, _)| header.checksum == checksum(challenge, header.sequence))
    };
    let without = || {
        let mut others = Protocol::with_number(guess.number);
        others.find(|other| guess.framing.checksum && !other.framing.checksum)
    };
    Protocol::with_number(guess.number).find(fits).or_else(without).unwrap_or(guess)
}

/// Returns the checksum of a header. It requires the challenge, except for message 1, where it is 0
/// under every challenge.
#[must_use]
pub const fn checksum(challenge: Challenge, sequence: Sequence) -> u32 {
    let challenge = challenge.0 as u32;
    challenge ^ sequence.0.wrapping_mul(challenge)
}

/// Fields of a header. A field that the layout lacks is 0 when read and ignored when written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Number of the message.
    pub sequence: Sequence,
    /// Qport of the client.
    pub qport: Qport,
    /// See [`checksum`].
    pub checksum: u32,
    /// Range of the fragment, unless the datagram has the whole message.
    pub fragment: Option<FragmentRange>,
}

/// Range of a fragment in its message, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentRange {
    /// Offset in the message.
    pub start: u16,
    /// Length; a full [`FRAGMENT_LEN`] means that more fragments follow.
    pub len: u16,
}

/// Reasons why a header is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// Datagram that ends inside its header.
    #[error("too short for a netchan header: {0} bytes")]
    Short(usize),
    /// Fragment longer than any sender's, or than its datagram.
    #[error("fragment of {len} bytes announced, {left} received")]
    FragmentLen {
        /// Announced length, in bytes.
        len: u16,
        /// Bytes behind the header.
        left: usize,
    },
}

/// Optional fields of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderLayout {
    qport: bool,
    checksum: bool,
}

impl HeaderLayout {
    /// Returns the layout of datagrams from `sender`.
    #[must_use]
    pub const fn new(sender: ChannelSide, framing: Framing) -> Self {
        Self { qport: matches!(sender, ChannelSide::Client), checksum: framing.checksum }
    }

    /// Splits a datagram into header and payload. A fragment's payload has its announced length.
    ///
    /// # Errors
    /// [`HeaderError`]. The caller filters connectionless datagrams.
    #[inline]
    pub fn read(self, datagram: &[u8]) -> Result<(Header, &[u8]), HeaderError> {
        let mut reader = Fields { rest: datagram, len: datagram.len() };
        let word = reader.u32()?;
        let mut header = Header { sequence: Sequence(word & Sequence::MASK), ..Header::default() };
        if self.qport {
            header.qport = Qport(reader.u16()?);
        }
        if self.checksum {
            header.checksum = reader.u32()?;
        }
        if word & FRAGMENT_BIT == 0 {
            return Ok((header, reader.rest));
        }
        let span = FragmentRange { start: reader.u16()?, len: reader.u16()? };
        header.fragment = Some(span);
        let left = reader.rest.len();
        match reader.rest.get(..usize::from(span.len)) {
            Some(bytes) if bytes.len() <= FRAGMENT_LEN => Ok((header, bytes)),
            Some(_) | None => Err(HeaderError::FragmentLen { len: span.len, left }),
        }
    }

    /// Appends the header to `out`.
    pub fn write(self, header: &Header, out: &mut Vec<u8>) {
        let fragment_bit = if header.fragment.is_some() { FRAGMENT_BIT } else { 0 };
        out.extend_from_slice(&(header.sequence.0 | fragment_bit).to_le_bytes());
        if self.qport {
            out.extend_from_slice(&header.qport.0.to_le_bytes());
        }
        if self.checksum {
            out.extend_from_slice(&header.checksum.to_le_bytes());
        }
        if let Some(span) = header.fragment {
            out.extend_from_slice(&span.start.to_le_bytes());
            out.extend_from_slice(&span.len.to_le_bytes());
        }
    }
}

/// Reader of fields from the front of a datagram.
struct Fields<'a> {
    rest: &'a [u8],
    /// Length of the whole datagram, in bytes.
    len: usize,
}

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], HeaderError> {
        let (field, rest) = self.rest.split_first_chunk().ok_or(HeaderError::Short(self.len))?;
        self.rest = rest;
        Ok(*field)
    }

    fn u32(&mut self) -> Result<u32, HeaderError> {
        self.take().map(u32::from_le_bytes)
    }

    fn u16(&mut self) -> Result<u16, HeaderError> {
        self.take().map(u16::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every layout as bytes: sender, protocol, fragment or not, header.
    const LAYOUTS: [(ChannelSide, &Protocol, bool, &[u8]); 8] = [
        (ChannelSide::Client, Protocol::OA_71, false, &[5, 1, 0, 0, 0x34, 0x12]),
        (ChannelSide::Client, Protocol::IOQ3_71, false, &[5, 1, 0, 0, 0x34, 0x12, 9, 8, 7, 6]),
        (ChannelSide::Client, Protocol::OA_71, true, &[5, 1, 0, 0x80, 0x34, 0x12, 0x14, 5, 3, 0]),
        (
            ChannelSide::Client,
            Protocol::IOQ3_71,
            true,
            &[5, 1, 0, 0x80, 0x34, 0x12, 9, 8, 7, 6, 0x14, 5, 3, 0],
        ),
        (ChannelSide::Server, Protocol::OA_71, false, &[5, 1, 0, 0]),
        (ChannelSide::Server, Protocol::IOQ3_71, false, &[5, 1, 0, 0, 9, 8, 7, 6]),
        (ChannelSide::Server, Protocol::OA_71, true, &[5, 1, 0, 0x80, 0x14, 5, 3, 0]),
        (ChannelSide::Server, Protocol::IOQ3_71, true, &[5, 1, 0, 0x80, 9, 8, 7, 6, 0x14, 5, 3, 0]),
    ];

    #[test]
    fn header_layouts_round_trip() {
        for (sender, protocol, fragment, bytes) in LAYOUTS {
            let layout = HeaderLayout::new(sender, protocol.framing);
            let header = Header {
                sequence: Sequence(0x105),
                qport: Qport(if sender == ChannelSide::Client { 0x1234 } else { 0 }),
                checksum: if protocol.framing.checksum { 0x0607_0809 } else { 0 },
                fragment: fragment.then_some(FragmentRange { start: 1300, len: 3 }),
            };
            let mut datagram = Vec::new();
            layout.write(&header, &mut datagram);
            assert_eq!(datagram, bytes, "{sender:?} {protocol} {fragment}");
            datagram.extend_from_slice(b"abc");
            assert_eq!(layout.read(&datagram), Ok((header, &b"abc"[..])));
            for len in 0..bytes.len() {
                let short = layout.read(&datagram[..len]);
                assert_eq!(short, Err(HeaderError::Short(len)), "{sender:?} {protocol} {fragment}");
            }
        }
    }

    #[test]
    fn n6_overlong_fragment_is_rejected() {
        let layout = HeaderLayout::new(ChannelSide::Server, Protocol::OA_71.framing);
        let datagram = |start: u16, len: u16, bytes: usize| {
            let mut datagram = vec![1, 0, 0, 0x80];
            datagram.extend_from_slice(&start.to_le_bytes());
            datagram.extend_from_slice(&len.to_le_bytes());
            datagram.resize(8 + bytes, 0);
            datagram
        };
        for (len, left) in [(0xffff, 0), (0xffff, 1300), (4, 3), (1301, 1301), (0x8000, 0x8000)] {
            assert_eq!(
                layout.read(&datagram(0, len, left)),
                Err(HeaderError::FragmentLen { len, left })
            );
        }
        let datagram = datagram(0, 2, 9);
        assert_eq!(layout.read(&datagram).expect("fits").1.len(), 2, "the rest is ignored");
    }

    #[test]
    fn client_header_is_read_before_protocol_is_known() {
        assert_eq!(
            peek_client_header(&[1, 0, 0, 0x80, 0x34, 0x12]),
            Some((Sequence(1), Qport(0x1234)))
        );
        assert_eq!(peek_client_header(&[1, 0, 0, 0, 0x34]), None);
        assert_eq!(peek_client_header(&[0xff; 8]), None);
        assert_eq!(peek_client_header(&[]), None);
    }

    #[test]
    fn first_datagram_tells_protocols_of_one_number_apart() {
        let challenge = Challenge(-0x1234_5678);
        let mut datagram = Vec::new();
        let header = Header {
            sequence: Sequence(3),
            checksum: checksum(challenge, Sequence(3)),
            ..Header::default()
        };
        HeaderLayout::new(ChannelSide::Client, Protocol::IOQ3_71.framing)
            .write(&header, &mut datagram);
        for guess in [Protocol::OA_71, Protocol::IOQ3_71] {
            let detect = |challenge, datagram| {
                detect_protocol(guess, ChannelSide::Client, challenge, datagram)
            };
            assert_eq!(detect(challenge, &datagram[..]), Protocol::IOQ3_71);
            assert_eq!(detect(Challenge(7), &datagram), Protocol::OA_71);
            assert_eq!(detect(challenge, &datagram[..9]), Protocol::OA_71);
            assert_eq!(detect(challenge, &[]), Protocol::OA_71);
        }
        let only = detect_protocol(Protocol::Q3_68, ChannelSide::Client, challenge, &datagram);
        assert_eq!(only, Protocol::Q3_68, "no other has number 68");
    }

    #[test]
    fn checksum_wraps_and_ignores_fragment_bit() {
        assert_eq!(checksum(Challenge(3), Sequence(5)), 3 ^ 15);
        assert_eq!(checksum(Challenge(-1), Sequence(2)), 0xffff_ffff ^ 0xffff_fffe);
        assert_eq!(checksum(Challenge(0), Sequence(2)), 0);
        let layout = HeaderLayout::new(ChannelSide::Server, Protocol::IOQ3_71.framing);
        let mut datagram = Vec::new();
        let span = Some(FragmentRange { start: 0, len: 0 });
        let header = Header { sequence: Sequence(9), fragment: span, ..Header::default() };
        layout.write(&header, &mut datagram);
        assert_eq!(layout.read(&datagram).expect("whole").0.sequence, Sequence(9));
    }
}
