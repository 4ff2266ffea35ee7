//! File format: magic, pieces, header, index.
//!
//! ```text
//! file     MAGIC | version: 4 bytes | pieces | trailer: offset of the index, 8 bytes; END_MAGIC
//! piece    kind: 1 byte | length: 4 bytes | CRC-32 of kind and content: 4 bytes | content
//! ```
//!
//! Fixed numbers have the lowest byte first. `docs/multiview.md` describes the contents.

use std::fmt;

use thiserror::Error;

use crate::model::{
    LevelTime, UnixMillis,
    encoding::{Cursor, DecodeError, put_number, put_text, unzigzag, zigzag},
    text::counted,
};

/// Magic of a file. Its line ends reveal a copy in text mode.
pub const MAGIC: [u8; 8] = *b"\x89FRGM\r\n\x1a";
/// Magic at the end of a complete file.
pub(super) const END_MAGIC: [u8; 8] = *b"FRGM-END";
/// Format version, the only one that is read.
pub(super) const FORMAT_VERSION: u32 = 1;
/// Length of magic and version.
pub const FILE_HEAD_LEN: usize = 12;
/// Length of the head of a piece.
pub const PIECE_HEAD_LEN: usize = 9;
/// Length of the trailer.
pub(super) const TRAILER_LEN: usize = 16;
/// Largest content of a piece in bytes.
pub const MAX_PIECE_LEN: usize = 4 << 20;
/// Largest uncompressed content of a piece in bytes.
pub(super) const MAX_RECORDS_LEN: usize = 8 << 20;
/// Longest text of the header, and most players and chunks of an index.
const MAX_ITEMS: usize = 1 << 20;
/// Maximum number of sessions of an index.
pub(super) const MAX_SESSIONS: usize = 1 << 16;

/// Kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PieceKind {
    /// The [`Header`].
    Header = b'H',
    /// Records that start with a key frame, behind its server time in 4 bytes. Starts a deflate stream.
    Key = b'K',
    /// Records that continue the deflate stream.
    Records = b'R',
    /// The [`Index`].
    Index = b'I',
}

impl PieceKind {
    /// Returns the kind of a byte.
    #[must_use]
    pub const fn of(byte: u8) -> Option<Self> {
        match byte {
            b'H' => Some(Self::Header),
            b'K' => Some(Self::Key),
            b'R' => Some(Self::Records),
            b'I' => Some(Self::Index),
            _ => None,
        }
    }
}

/// Appends a piece.
pub fn put_piece(out: &mut Vec<u8>, kind: PieceKind, content: &[u8]) {
    out.push(kind as u8);
    out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    out.extend_from_slice(&checksum(kind, content).to_le_bytes());
    out.extend_from_slice(content);
}

fn checksum(kind: PieceKind, content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[kind as u8]);
    hasher.update(content);
    hasher.finalize()
}

/// A piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Its kind.
    pub kind: PieceKind,
    /// Its content.
    pub content: &'a [u8],
    /// Bytes of content that the input lacks.
    pub missing: usize,
}

/// Damage of a file, found in a piece.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    /// The file is not a recording.
    #[error("not a fragd multi-view recording")]
    Magic,
    /// The format version is unknown.
    #[error("multi-view format version {0} (expected {FORMAT_VERSION})")]
    Version(u32),
    /// The input ends.
    #[error("file cut off: {} of a piece missing", counted(*.missing, "byte"))]
    Cut {
        /// Bytes that the piece lacks at least.
        missing: usize,
    },
    /// Kind that no piece has.
    #[error("unknown kind of piece: {0}")]
    Kind(u8),
    /// Length that no piece has.
    #[error("invalid length of a piece: {0} (expected 0 to {MAX_PIECE_LEN})")]
    Length(u32),
    /// Content that was changed.
    #[error("wrong checksum of a piece")]
    Checksum,
    /// Compressed data that is invalid or too long.
    #[error("invalid compressed data")]
    Deflate,
    /// Content that is not what its kind says.
    #[error("byte {at} of the records of a piece: {what}")]
    Record {
        /// Position in the uncompressed content.
        at: usize,
        /// The fault.
        what: String,
    },
}

impl FormatError {
    /// Returns the error of a record.
    #[must_use]
    pub fn record(at: usize, what: impl fmt::Display) -> Self {
        Self::Record { at, what: what.to_string() }
    }
}

/// Reads the next piece of `input`. A piece that is cut is returned with what there is of it.
///
/// # Errors
/// A head that is cut off or invalid; a wrong checksum.
pub fn read_piece(input: &[u8]) -> Result<Piece<'_>, FormatError> {
    let Some((head, rest)) = input.split_first_chunk::<PIECE_HEAD_LEN>() else {
        return Err(FormatError::Cut { missing: PIECE_HEAD_LEN - input.len() });
    };
    let [kind, a, b, c, d, sum @ ..] = *head;
    let kind = PieceKind::of(kind).ok_or(FormatError::Kind(kind))?;
    let len = u32::from_le_bytes([a, b, c, d]);
    if len as usize > MAX_PIECE_LEN {
        return Err(FormatError::Length(len));
    }
    let content = &rest[..rest.len().min(len as usize)];
    let missing = len as usize - content.len();
    if missing == 0 && checksum(kind, content) != u32::from_le_bytes(sum) {
        return Err(FormatError::Checksum);
    }
    Ok(Piece { kind, content, missing })
}

/// Description of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Program and version that wrote it.
    pub program: String,
    /// Calendar time of its start in ms since 1970-01-01 UTC; 0 if unknown.
    pub started_unix_ms: u64,
    /// Map.
    pub map: String,
    /// Game folder.
    pub game: String,
    /// Name of the server.
    pub host_name: String,
    /// Server frames per second.
    pub frames_per_second: u32,
}

impl Header {
    /// Calendar time of the start, if known.
    #[must_use]
    pub fn started_at(&self) -> Option<UnixMillis> {
        (self.started_unix_ms != 0).then_some(UnixMillis(self.started_unix_ms))
    }

    /// Appends the content of the header's piece.
    pub fn write(&self, out: &mut Vec<u8>) {
        put_text(out, &self.program);
        put_number(out, self.started_unix_ms);
        put_text(out, &self.map);
        put_text(out, &self.game);
        put_text(out, &self.host_name);
        put_number(out, u64::from(self.frames_per_second));
    }

    /// Reads the content of a header's piece. Values behind the known ones are ignored.
    ///
    /// # Errors
    /// A value that is cut off or invalid.
    pub fn read(content: &[u8]) -> Result<Self, FormatError> {
        let mut from = Cursor(content);
        let mut read = || {
            Ok(Self {
                program: from.text()?,
                started_unix_ms: from.number()?,
                map: from.text()?,
                game: from.text()?,
                host_name: from.text()?,
                frames_per_second: from.small()?,
            })
        };
        read().map_err(|what: DecodeError| FormatError::record(content.len() - from.0.len(), what))
    }
}

/// Key frame of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedKey {
    /// Offset of its piece in the file.
    pub offset: u64,
    /// Its server time.
    pub time: LevelTime,
}

/// Part of a recording in which one player used one client slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Client slot.
    pub client: u8,
    /// Name of the player at the start.
    pub name: String,
    /// Server time of its first and last message.
    pub from: LevelTime,
    /// Server time of its last message.
    pub to: LevelTime,
}

/// Index of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Key frames, ascending.
    pub keys: Vec<IndexedKey>,
    /// Players, in the order of their starts.
    pub sessions: Vec<Session>,
    /// Number of frames.
    pub frames: u64,
    /// Server time of the last frame.
    pub end: LevelTime,
}

impl Index {
    /// Appends the content of the index's piece.
    pub fn write(&self, out: &mut Vec<u8>) {
        put_number(out, self.frames);
        put_time(out, self.end);
        put_number(out, self.keys.len() as u64);
        for key in &self.keys {
            put_number(out, key.offset);
            put_time(out, key.time);
        }
        put_number(out, self.sessions.len() as u64);
        for session in &self.sessions {
            out.push(session.client);
            put_text(out, &session.name);
            put_time(out, session.from);
            put_time(out, session.to);
        }
    }

    /// Reads the content of an index's piece.
    ///
    /// # Errors
    /// A value that is cut off or invalid.
    pub fn read(content: &[u8]) -> Result<Self, FormatError> {
        let mut from = Cursor(content);
        Self::read_from(&mut from)
            .map_err(|what| FormatError::record(content.len() - from.0.len(), what))
    }

    fn read_from(from: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let mut index = Self { frames: from.number()?, end: time(from)?, ..Self::default() };
        // Each takes two bytes at least, so the length of the piece bounds both lists.
        for _ in 0..from.small::<usize>()?.min(MAX_ITEMS) {
            index.keys.push(IndexedKey { offset: from.number()?, time: time(from)? });
        }
        for _ in 0..from.small::<usize>()?.min(MAX_SESSIONS) {
            let (client, name) = (from.byte()?, from.text()?);
            index.sessions.push(Session { client, name, from: time(from)?, to: time(from)? });
        }
        Ok(index)
    }
}

/// Appends a server time.
pub(super) fn put_time(out: &mut Vec<u8>, time: LevelTime) {
    put_number(out, zigzag(i64::from(time.0)));
}

/// Reads a server time.
pub(super) fn time(from: &mut Cursor<'_>) -> Result<LevelTime, DecodeError> {
    i32::try_from(unzigzag(from.number()?)).map(LevelTime).map_err(|_| "a time out of range")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_and_index_survive() {
        let header = Header {
            program: "fragd 1".to_owned(),
            started_unix_ms: 5,
            map: "oa_dm1".to_owned(),
            game: "baseoa".to_owned(),
            host_name: "x".to_owned(),
            frames_per_second: 20,
        };
        let mut out = Vec::new();
        header.write(&mut out);
        assert_eq!(Header::read(&out), Ok(header));
        assert!(Header::read(&out[..out.len() - 1]).is_err());
        let index = Index {
            keys: vec![IndexedKey { offset: 400, time: LevelTime(-5) }],
            sessions: vec![Session {
                client: 3,
                name: "a".to_owned(),
                from: LevelTime(1),
                to: LevelTime(99),
            }],
            frames: 7,
            end: LevelTime(100),
        };
        let mut out = Vec::new();
        index.write(&mut out);
        assert_eq!(Index::read(&out), Ok(index));
        for len in 0..out.len() {
            assert!(Index::read(&out[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn changed_piece_is_an_error() {
        let mut file = Vec::new();
        put_piece(&mut file, PieceKind::Records, b"content");
        let piece = read_piece(&file).expect("a piece");
        assert_eq!((piece.kind, piece.content), (PieceKind::Records, &b"content"[..]));
        let cut = read_piece(&file[..file.len() - 2]).expect("a cut piece");
        assert_eq!((cut.missing, cut.content), (2, &b"conte"[..]));
        for (at, byte, error) in [
            (0, b'K', FormatError::Checksum),
            (0, 0, FormatError::Kind(0)),
            (4, 0x7f, FormatError::Length(0x7f00_0007)),
            (10, b'x', FormatError::Checksum),
        ] {
            let mut changed = file.clone();
            changed[at] = byte;
            assert_eq!(read_piece(&changed), Err(error));
        }
        assert_eq!(read_piece(&file[..3]), Err(FormatError::Cut { missing: 6 }));
    }
}
