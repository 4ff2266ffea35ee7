//! Framing: messages of one kind and length in a byte stream.
//!
//! ```text
//! message   kind: 1 byte | length: 4 bytes, lowest first | content
//! ```
//!
//! Invariant: the reader holds at most one message of its limit and one received piece.

use super::StreamError;

/// Length of the head of a message.
const HEAD_LEN: usize = 5;

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum MessageKind {
    Hello = b'h',
    Login = b'l',
    Welcome = b'w',
    Refused = b'r',
    Pieces = b'p',
    Seal = b's',
    Alive = b'a',
    End = b'e',
}

impl MessageKind {
    const fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            b'h' => Self::Hello,
            b'l' => Self::Login,
            b'w' => Self::Welcome,
            b'r' => Self::Refused,
            b'p' => Self::Pieces,
            b's' => Self::Seal,
            b'a' => Self::Alive,
            b'e' => Self::End,
            _ => return None,
        })
    }
}

/// Returns the content of a whole message.
pub(super) fn content_of(message: &[u8]) -> &[u8] {
    message.get(HEAD_LEN..).unwrap_or_default()
}

/// Appends a message.
pub(super) fn put_message(out: &mut Vec<u8>, kind: MessageKind, content: &[&[u8]]) {
    let len: usize = content.iter().map(|part| part.len()).sum();
    out.push(kind as u8);
    out.extend_from_slice(&u32::try_from(len).expect("messages are bounded").to_le_bytes());
    for part in content {
        out.extend_from_slice(part);
    }
}

/// Reader of messages from a byte stream.
#[derive(Debug)]
pub(super) struct MessageReader {
    buffer: Vec<u8>,
    /// Bytes of the buffer that were returned.
    read: usize,
    /// Position of the buffer's first byte in the stream.
    position: u64,
    /// Longest content.
    max_len: u32,
}

impl MessageReader {
    pub(super) const fn new(max_len: u32) -> Self {
        Self { buffer: Vec::new(), read: 0, position: 0, max_len }
    }

    /// Changes the longest content.
    pub(super) fn allow(&mut self, max_len: u32) {
        self.max_len = max_len;
    }

    /// Takes received bytes. All messages must be read before the next call.
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.read);
        self.position += self.read as u64;
        self.read = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Position in the stream behind the last message read.
    pub(super) fn position(&self) -> u64 {
        self.position + self.read as u64
    }

    /// Returns the next complete message, or `None`.
    pub(super) fn next(&mut self) -> Result<Option<(MessageKind, &[u8])>, StreamError> {
        let at = self.position();
        let Some((head, rest)) = self.buffer[self.read..].split_first_chunk::<HEAD_LEN>() else {
            return Ok(None);
        };
        let [kind, len @ ..] = *head;
        let kind = MessageKind::of(kind).ok_or(StreamError::Kind { at, kind })?;
        let len = u32::from_le_bytes(len);
        if len > self.max_len {
            return Err(StreamError::Length { at, len, max: self.max_len });
        }
        let Some(content) = rest.get(..len as usize) else { return Ok(None) };
        self.read += HEAD_LEN + content.len();
        Ok(Some((kind, content)))
    }
}
