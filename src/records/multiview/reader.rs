//! File reader: records of a whole file, with the place of each fault.
//!
//! A file that is cut gives the records in front of the cut and then the fault. Behind damage, reading
//! continues with the next key frame.
//!
//! Invariant: each piece is read once, so the work is bounded by the file.

use std::fmt;

use super::{
    decoder::{Decoder, Record, key_time},
    format::{
        END_MAGIC, FILE_HEAD_LEN, FORMAT_VERSION, FormatError, Header, Index, IndexedKey, MAGIC,
        MAX_SESSIONS, PIECE_HEAD_LEN, PieceKind, Session, TRAILER_LEN, read_piece,
    },
};
use crate::model::{ClientNum, LevelTime};

/// Fault of a file, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Offset in the file, of the piece in which the fault is.
    pub offset: usize,
    /// The fault.
    pub error: FormatError,
}

impl Fault {
    /// Whether the file ends inside a piece, as while it is written.
    #[must_use]
    pub const fn is_early_end(&self) -> bool {
        matches!(self.error, FormatError::Cut { .. })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.error)
    }
}

impl std::error::Error for Fault {}

/// Reader of one file.
pub struct Reader<'a> {
    bytes: &'a [u8],
    header: Header,
    decoder: Decoder,
    /// Offset of the next piece.
    next: usize,
    /// Offset of the piece that is read.
    piece: usize,
    /// Fault behind the records of the piece.
    pending: Option<Fault>,
    /// Whether pieces are skipped up to the next key frame.
    resyncs: bool,
    ended: bool,
}

impl<'a> Reader<'a> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// Another kind of file, an unknown version, or a header that is cut off or damaged.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        let fault = |offset, error| Fault { offset, error };
        let Some((head, rest)) = bytes.split_first_chunk::<FILE_HEAD_LEN>() else {
            let known = bytes.len().min(MAGIC.len());
            let error = if bytes[..known] == MAGIC[..known] {
                FormatError::Cut { missing: FILE_HEAD_LEN - bytes.len() }
            } else {
                FormatError::Magic
            };
            return Err(fault(0, error));
        };
        let (magic, version) = head.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(fault(0, FormatError::Magic));
        }
        let version = version.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        if version != FORMAT_VERSION {
            return Err(fault(MAGIC.len(), FormatError::Version(version)));
        }
        let piece = read_piece(rest).map_err(|error| fault(FILE_HEAD_LEN, error))?;
        if piece.kind != PieceKind::Header {
            return Err(fault(FILE_HEAD_LEN, FormatError::Kind(piece.kind as u8)));
        }
        if piece.missing > 0 {
            return Err(fault(FILE_HEAD_LEN, FormatError::Cut { missing: piece.missing }));
        }
        let header = Header::read(piece.content).map_err(|error| fault(FILE_HEAD_LEN, error))?;
        let next = FILE_HEAD_LEN + PIECE_HEAD_LEN + piece.content.len();
        Ok(Self {
            bytes,
            header,
            decoder: Decoder::default(),
            next,
            piece: next,
            pending: None,
            resyncs: false,
            ended: false,
        })
    }

    /// Description of the recording.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// State behind the last record.
    #[must_use]
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// Offset of the piece that is read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.piece
    }

    /// Returns the index at the end of the file, if it is there and valid.
    #[must_use]
    pub fn index(&self) -> Option<Index> {
        let (rest, magic) = self.bytes.split_last_chunk::<8>()?;
        let (_, offset) = rest.split_last_chunk::<8>()?;
        if *magic != END_MAGIC {
            return None;
        }
        let offset = usize::try_from(u64::from_le_bytes(*offset)).ok()?;
        let piece = read_piece(self.bytes.get(offset..)?).ok()?;
        let is_index = piece.kind == PieceKind::Index && piece.missing == 0;
        is_index.then(|| Index::read(piece.content).ok()).flatten()
    }

    /// Makes the index again from all records of the file. Sessions without a message give way to the next of their
    /// client, since compressed records of a start take almost no bytes.
    #[must_use]
    pub fn rebuilt_index(&self) -> Index {
        let mut index = Index::default();
        let Ok(mut reader) = Self::open(self.bytes) else { return index };
        // Place in the list of each client's session, and whether it has a message.
        let mut running = [None; 64];
        while let Some(record) = reader.next_record() {
            let Ok(record) = record else { continue };
            let now = reader.decoder.scene().time();
            match record {
                Record::Key => {
                    let time = key_time_at(self.bytes, reader.piece).unwrap_or(now);
                    index.keys.push(IndexedKey { offset: reader.piece as u64, time });
                }
                Record::Frame => {
                    index.frames += 1;
                    index.end = now;
                }
                Record::Start(client) => {
                    let name = reader.decoder.track(client).map(|track| track.name.to_string());
                    let session = Session {
                        client: client.index() as u8,
                        name: name.unwrap_or_default(),
                        from: now,
                        to: now,
                    };
                    match running[client.index()] {
                        Some((at, false)) => index.sessions[at] = session,
                        _ if index.sessions.len() < MAX_SESSIONS => {
                            running[client.index()] = Some((index.sessions.len(), false));
                            index.sessions.push(session);
                        }
                        _ => running[client.index()] = None,
                    }
                }
                Record::Message(client, _) => touch(&mut index, &mut running, client, now),
                Record::End(client) => running[client.index()] = None,
                Record::Configstring(_) | Record::Broadcast(_) => {}
            }
        }
        index
    }

    /// Continues at the last key frame not behind a server time. Without one, at the first.
    pub fn seek(&mut self, index: &Index, time: LevelTime) {
        let key = index.keys.iter().rev().find(|key| key.time <= time).or(index.keys.first());
        let Some(offset) = key.and_then(|key| usize::try_from(key.offset).ok()) else { return };
        if offset <= self.bytes.len() {
            self.next = offset;
            self.pending = None;
            self.resyncs = true;
            self.ended = false;
            self.decoder = Decoder::default();
        }
    }

    /// Returns the next record, or a fault and its place. `None` at the end of the file.
    pub fn next_record(&mut self) -> Option<Result<Record, Fault>> {
        loop {
            match self.decoder.next_record() {
                Ok(Some(record)) => return Some(Ok(record)),
                Ok(None) => {}
                Err(error) => {
                    self.resyncs = true;
                    // The fault behind the records, if any, is the cause of this one.
                    let fault = Fault { offset: self.piece, error };
                    return Some(Err(self.pending.take().unwrap_or(fault)));
                }
            }
            if let Some(fault) = self.pending.take() {
                self.resyncs = true;
                return Some(Err(fault));
            }
            if self.ended {
                return None;
            }
            if let Err(fault) = self.read_piece() {
                self.ended = true;
                return Some(Err(fault));
            }
        }
    }

    /// Feeds the next piece to the decoder.
    fn read_piece(&mut self) -> Result<(), Fault> {
        self.piece = self.next;
        let offset = self.next;
        let fault = |error| Fault { offset, error };
        let rest = &self.bytes[offset..];
        let piece = match read_piece(rest) {
            Ok(piece) => piece,
            // The length may be valid, so pieces behind this one may be found.
            Err(error @ FormatError::Checksum) => {
                let len = u32::from_le_bytes([rest[1], rest[2], rest[3], rest[4]]) as usize;
                self.next = offset + PIECE_HEAD_LEN + len;
                self.pending = Some(fault(error));
                return Ok(());
            }
            Err(error) => return Err(fault(error)),
        };
        self.next = offset + PIECE_HEAD_LEN + piece.content.len();
        let cut = (piece.missing > 0).then(|| fault(FormatError::Cut { missing: piece.missing }));
        if piece.kind == PieceKind::Index {
            self.ended = true;
            let trailer = &self.bytes[self.next..];
            self.pending = cut.or_else(|| {
                end_fault(trailer, offset).map(|error| Fault { offset: self.next, error })
            });
            return Ok(());
        }
        self.ended = cut.is_some();
        self.pending = cut;
        if self.resyncs && piece.kind != PieceKind::Key {
            return Ok(());
        }
        self.resyncs = false;
        if let Err(error) = self.decoder.piece(piece.kind, piece.content) {
            self.pending.get_or_insert(fault(error));
        }
        Ok(())
    }
}

/// Fault of the bytes behind the index at `index`.
fn end_fault(trailer: &[u8], index: usize) -> Option<FormatError> {
    let mut expected = (index as u64).to_le_bytes().to_vec();
    expected.extend(END_MAGIC);
    if trailer == expected {
        None
    } else if trailer.len() < TRAILER_LEN {
        Some(FormatError::Cut { missing: TRAILER_LEN - trailer.len() })
    } else {
        Some(FormatError::record(0, "wrong trailer behind the index"))
    }
}

fn key_time_at(bytes: &[u8], offset: usize) -> Option<LevelTime> {
    key_time(read_piece(bytes.get(offset..)?).ok()?.content)
}

/// Records a message in the running session of its client.
fn touch(
    index: &mut Index,
    running: &mut [Option<(usize, bool)>; 64],
    client: ClientNum,
    now: LevelTime,
) {
    if let Some((at, has_message)) = &mut running[client.index()] {
        *has_message = true;
        index.sessions[*at].to = now;
    }
}
