//! Journal reader: records from bytes that arrive in pieces.
//!
//! Invariants: an entry is returned only if its checksum holds; nothing is returned after the first damage;
//! at most one record and one piece are held.

use std::fmt;

use thiserror::Error;

use super::{
    asset_answer::AssetAnswer,
    encoding::{self, Cursor, DecodeError},
    format::{
        Entry, FORMAT_VERSION, JournalEnd, JournalInput, MAGIC, MAX_BODY_LEN, MAX_ROUTES, Sent,
        Start, kind,
    },
};
use crate::{
    model::{Millis, UnixMillis},
    node::{LocalPort, Lookup, LookupAnswer, LoopCounters, Route},
};

/// Error that makes a journal unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum JournalOpenError {
    /// The file is not a journal.
    #[error("not a fragd journal")]
    NoJournal,
    /// The format version is unknown.
    #[error(
        "journal format: {0} (expected {FORMAT_VERSION}; replay it with the fragd that recorded it)"
    )]
    Version(u32),
    /// The start record is damaged.
    #[error("journal damaged in its first record: {0}")]
    NoStart(Damage),
}

/// First damage of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the damaged record in bytes.
    pub offset: u64,
    /// Number of the damaged record, from 0.
    pub record: u64,
    /// Kind of damage.
    pub kind: DamageKind,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in record {} at byte {}", self.kind, self.record, self.offset)
    }
}

/// Kind of damage of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DamageKind {
    /// The journal ends within the record or without an end record.
    #[error("cut off")]
    CutOff,
    /// Bytes of this record or of one before it changed.
    #[error("wrong checksum")]
    Checksum,
    /// The length is out of range.
    #[error("wrong length")]
    Length,
    /// The checksum holds but the content is invalid.
    #[error("{0}")]
    Senseless(&'static str),
    /// Data follows the end record.
    #[error("data after the end")]
    BehindEnd,
}

/// An entry and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Number of the record, from 0.
    pub record: u64,
    /// Offset in bytes.
    pub offset: u64,
    /// The entry.
    pub entry: Entry,
}

/// Incremental journal reader.
#[derive(Debug, Default)]
pub struct Reader {
    bytes: Vec<u8>,
    /// Start of the next record in `bytes`.
    at: usize,
    /// Offset of `bytes` in the journal.
    base: u64,
    record: u64,
    running: u32,
    now: Millis,
    routes: Vec<Route>,
    head_read: bool,
    ended: bool,
}

impl Reader {
    /// Creates a reader at the start of a journal.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the next piece of the journal.
    pub fn feed(&mut self, piece: &[u8]) {
        self.bytes.drain(..self.at);
        self.base += self.at as u64;
        self.at = 0;
        self.bytes.extend_from_slice(piece);
    }

    /// Reads magic and version. Returns false while they are incomplete.
    ///
    /// # Errors
    /// The file is not a journal, or its format is unknown.
    pub fn read_head(&mut self) -> Result<bool, JournalOpenError> {
        if self.head_read {
            return Ok(true);
        }
        let mut head = Cursor(&self.bytes);
        let common = self.bytes.len().min(MAGIC.len());
        if self.bytes[..common] != MAGIC[..common] {
            return Err(JournalOpenError::NoJournal);
        }
        let (Ok(_), Ok(version)) = (head.take(MAGIC.len()), head.word()) else { return Ok(false) };
        if version != FORMAT_VERSION {
            return Err(JournalOpenError::Version(version));
        }
        self.at = MAGIC.len() + 4;
        self.head_read = true;
        Ok(true)
    }

    /// Returns the next entry, or `None` while more bytes are needed.
    ///
    /// # Errors
    /// The journal is damaged.
    pub fn next_entry(&mut self) -> Result<Option<Located>, Damage> {
        while self.head_read {
            let (offset, record) = (self.offset(), self.record);
            let damage = |kind| Damage { offset, record, kind };
            let Some((from, to)) = self.next_body().map_err(damage)? else { return Ok(None) };
            if self.ended {
                return Err(damage(DamageKind::BehindEnd));
            }
            let mut body = Cursor(&self.bytes[from..to]);
            let entry = read_body(&mut body, &mut self.now, &mut self.routes)
                .and_then(|entry| body.end().map(|()| entry))
                .map_err(|wrong| damage(DamageKind::Senseless(wrong)))?;
            self.at = to + 4;
            self.record += 1;
            self.ended = matches!(entry, Some(Entry::End(_)));
            if let Some(entry) = entry {
                return Ok(Some(Located { record, offset, entry }));
            }
        }
        Ok(None)
    }

    /// Ends the input.
    ///
    /// # Errors
    /// The journal is cut off.
    pub fn finish(&self) -> Result<(), Damage> {
        let (offset, record) = (self.offset(), self.record);
        if self.ended && self.at == self.bytes.len() {
            return Ok(());
        }
        let kind = if self.ended { DamageKind::BehindEnd } else { DamageKind::CutOff };
        Err(Damage { offset, record, kind })
    }

    fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Returns the range of the next body, if the record is complete and its checksum holds.
    fn next_body(&mut self) -> Result<Option<(usize, usize)>, DamageKind> {
        let rest = &self.bytes[self.at..];
        let mut cursor = Cursor(rest);
        // The longest length that is allowed takes four bytes.
        let len = match cursor.number() {
            Ok(len) => usize::try_from(len).unwrap_or(usize::MAX),
            Err(_) if rest.len() < 5 => return Ok(None),
            Err(_) => return Err(DamageKind::Length),
        };
        if !(1..=MAX_BODY_LEN).contains(&len) {
            return Err(DamageKind::Length);
        }
        let head = rest.len() - cursor.0.len();
        let (Ok(_), Ok(sum)) = (cursor.take(len), cursor.word()) else { return Ok(None) };
        let mut hasher = crc32fast::Hasher::new_with_initial(self.running);
        hasher.update(&rest[..head + len]);
        let running = hasher.finalize();
        if running != sum {
            return Err(DamageKind::Checksum);
        }
        self.running = running;
        Ok(Some((self.at + head, self.at + head + len)))
    }
}

/// Decodes a record body. `None` for records that only concern the reader.
fn read_body(
    body: &mut Cursor<'_>,
    now: &mut Millis,
    routes: &mut Vec<Route>,
) -> Result<Option<Entry>, DecodeError> {
    const HAVE_TIME: [u8; 8] = [
        kind::DATAGRAM,
        kind::FRAME,
        kind::LINE,
        kind::STOP,
        kind::COUNTED,
        kind::LOOKUP,
        kind::PORT_FAILED,
        kind::CALENDAR,
    ];

    let kind = body.byte()?;
    if HAVE_TIME.contains(&kind) {
        *now += Millis(body.number()?);
    }
    let input = match kind {
        kind::START => return Ok(Some(Entry::Start(Box::new(Start::read(body)?)))),
        kind::ROUTE => {
            read_route(body, routes)?;
            return Ok(None);
        }
        kind::SENT => {
            let mut sent = Vec::new();
            while !body.0.is_empty() {
                let route = known(routes, body)?;
                sent.push(Sent { route, len: body.small()?, checksum: body.word()? });
            }
            return Ok(Some(Entry::Sent(sent)));
        }
        kind::ASSET => return Ok(Some(Entry::Asset(AssetAnswer::read(body)?))),
        kind::END => {
            let end = match body.0 {
                [] => JournalEnd::Run,
                [1] => JournalEnd::Limit,
                _ => return Err("an end that nobody knows"),
            };
            *body = Cursor(&[]);
            return Ok(Some(Entry::End(end)));
        }
        kind::DATAGRAM => {
            let route = known(routes, body)?;
            JournalInput::Datagram(route, body.take(body.0.len())?.to_vec())
        }
        kind::FRAME => JournalInput::Frame,
        kind::LINE => JournalInput::Line(body.text()?),
        kind::STOP => JournalInput::Stop(body.text()?),
        kind::COUNTED => {
            let mut values = Vec::new();
            while !body.0.is_empty() {
                values.push(body.number()?);
            }
            JournalInput::Counted(Box::new(LoopCounters::from_values(values)))
        }
        kind::CALENDAR => JournalInput::Calendar(UnixMillis(body.number()?)),
        kind::LOOKUP => JournalInput::Lookup(read_lookup(body)?),
        kind::PORT_FAILED => JournalInput::PortFailed(LocalPort(body.small()?)),
        _ => return Err("a record of a kind that nobody knows"),
    };
    Ok(Some(Entry::Input(*now, input)))
}

/// Reads the route of a slot, which is a known or the next one.
fn read_route(body: &mut Cursor<'_>, routes: &mut Vec<Route>) -> Result<(), DecodeError> {
    let slot: usize = body.small()?;
    let route = encoding::route(body)?;
    if slot < routes.len() {
        routes[slot] = route;
    } else if slot == routes.len() && slot < MAX_ROUTES {
        routes.push(route);
    } else {
        return Err("a route in a slot that is not next");
    }
    Ok(())
}

/// Reads the answer to a lookup.
fn read_lookup(body: &mut Cursor<'_>) -> Result<LookupAnswer, DecodeError> {
    let lookup = Lookup { name: body.text()?, default_port: body.small()? };
    let found = match body.small::<usize>()?.checked_sub(1) {
        None => Err(body.text()?),
        // Each takes a byte at least, so the record's length bounds the list.
        Some(count) => Ok((0..count).map(|_| encoding::address(body)).collect::<Result<_, _>>()?),
    };
    Ok(LookupAnswer { lookup, found })
}

/// Returns the route of a slot.
fn known(routes: &[Route], body: &mut Cursor<'_>) -> Result<Route, DecodeError> {
    let slot: usize = body.small()?;
    routes.get(slot).copied().ok_or("a route that was never named")
}
