//! Header of a channel packet: sequence, acknowledgment, qport.
//!
//! Source: QuakeWorld protocol 28, packet.

use thiserror::Error;

use crate::model::Qport;

/// Mark of a connectionless packet.
pub const CONNECTIONLESS: &[u8] = b"\xff\xff\xff\xff";
/// Bit of the reliable message, and of its parity.
const FLAG: u32 = 1 << 31;
/// Largest sequence. The next one with a reliable message would look connectionless.
pub const LAST_SEQUENCE: u32 = FLAG - 2;

/// Side that sent a packet. Only clients send a qport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// Client.
    Client,
    /// Server.
    Server,
}

impl Sender {
    /// Length of the header in bytes.
    #[must_use]
    pub const fn header_len(self) -> usize {
        match self {
            Self::Client => 10,
            Self::Server => 8,
        }
    }
}

/// Header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Sequence of the packet, 31 bits.
    pub sequence: u32,
    /// Whether the packet holds the reliable message.
    pub is_reliable: bool,
    /// Newest sequence that the sender received.
    pub acknowledged: u32,
    /// Parity of the reliable messages that the sender received.
    pub parity: bool,
    /// Qport of a client.
    pub qport: Option<Qport>,
}

/// Fault of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// Connectionless packet.
    #[error("connectionless packet")]
    Connectionless,
    /// Shorter than a header.
    #[error("packet too short: {0} bytes")]
    Short(usize),
}

impl Header {
    /// Reads the header of a datagram and returns it with the payload.
    ///
    /// # Errors
    /// See [`HeaderError`].
    pub fn parse(datagram: &[u8], sender: Sender) -> Result<(Self, &[u8]), HeaderError> {
        if datagram.starts_with(CONNECTIONLESS) {
            return Err(HeaderError::Connectionless);
        }
        let short = HeaderError::Short(datagram.len());
        let (words, rest) = datagram.split_first_chunk::<8>().ok_or(short)?;
        let [a, b, c, d, e, f, g, h] = *words;
        let (first, second) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        let (qport, payload) = match sender {
            Sender::Client => {
                let (qport, payload) = rest.split_first_chunk::<2>().ok_or(short)?;
                (Some(Qport(u16::from_le_bytes(*qport))), payload)
            }
            Sender::Server => (None, rest),
        };
        let header = Self {
            sequence: first & !FLAG,
            is_reliable: first & FLAG != 0,
            acknowledged: second & !FLAG,
            parity: second & FLAG != 0,
            qport,
        };
        Ok((header, payload))
    }

    /// Appends the header.
    pub fn write(&self, out: &mut Vec<u8>) {
        let word = |number: u32, flag: bool| number | if flag { FLAG } else { 0 };
        out.extend_from_slice(&word(self.sequence, self.is_reliable).to_le_bytes());
        out.extend_from_slice(&word(self.acknowledged, self.parity).to_le_bytes());
        if let Some(qport) = self.qport {
            out.extend_from_slice(&qport.0.to_le_bytes());
        }
    }
}
