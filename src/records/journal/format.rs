//! Journal file format: record kinds and their encoding.
//!
//! ```text
//! journal  MAGIC, version: 4 bytes
//! record   length of the body: number, body, checksum: 4 bytes
//! body     kind: 1 byte, values
//! ```
//!
//! Numbers have seven bits per byte, lowest first. Times are milliseconds since the previous input. The
//! checksum is CRC-32 over all records so far, including this record's length and body, so a lost,
//! duplicated or moved record is as visible as a changed one. A route is written once and then named by
//! a slot. Slots are reused when there are more than [`MAX_ROUTES`] routes.

use super::{
    asset_answer::AssetAnswer,
    encoding::{Cursor, DecodeError, put_bytes, put_number, put_text},
};
use crate::{
    model::{Millis, UnixMillis},
    node::{LocalPort, LookupAnswer, LoopCounters, Route},
};

/// Magic of a journal. Its line ends reveal a copy in text mode.
pub const MAGIC: [u8; 8] = *b"\x89FRGJ\r\n\x1a";
/// Format version, the only one that is read.
///
/// It changes with the encoding, and when the same inputs lead to other datagrams on purpose:
///
/// | version | difference to the previous one |
/// |---|---|
/// | 1 | |
/// | 2 | serverinfo does not announce settings without effect |
/// | 3 | archives that are offered for download are recorded |
/// | 4 | answers to name lookups; public servers send heartbeats |
/// | 5 | `+devmap` names the first level, and no level precedes it |
/// | 6 | folders are searched again before a level; scripts by path |
/// | 7 | local addresses of datagrams; ports that could not be opened |
/// | 8 | steps of the calendar |
pub const FORMAT_VERSION: u32 = 8;
/// Longest record body in bytes. The longest are file lists and the config file.
pub(super) const MAX_BODY_LEN: usize = 16 << 20;
/// Maximum routes with a slot.
pub(super) const MAX_ROUTES: usize = 1024;

/// Kinds of records.
pub(super) mod kind {
    pub(crate) const START: u8 = 1;
    pub(crate) const ROUTE: u8 = 2;
    pub(crate) const DATAGRAM: u8 = 3;
    pub(crate) const FRAME: u8 = 4;
    pub(crate) const LINE: u8 = 5;
    pub(crate) const STOP: u8 = 6;
    pub(crate) const SENT: u8 = 7;
    pub(crate) const ASSET: u8 = 8;
    pub(crate) const END: u8 = 9;
    pub(crate) const COUNTED: u8 = 10;
    pub(crate) const LOOKUP: u8 = 11;
    pub(crate) const PORT_FAILED: u8 = 12;
    pub(crate) const CALENDAR: u8 = 13;
}

/// Start record: everything that the node was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Version of the program that wrote the journal.
    pub program: String,
    /// Calendar time at the zero of the input times, in ms since 1970-01-01 UTC.
    pub began_unix_ms: u64,
    /// The program's arguments, without its own name.
    pub arguments: Vec<String>,
    /// Name and text of the config file, if there was one.
    pub config: Option<(String, String)>,
    /// The random bytes that the node was given.
    pub entropy: [u8; 32],
}

/// Input of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalInput {
    /// A datagram arrived.
    Datagram(Route, Vec<u8>),
    /// A frame was run.
    Frame,
    /// The operator typed a line.
    Line(String),
    /// The node was asked to stop, with a reason.
    Stop(String),
    /// The loop counters were updated.
    Counted(Box<LoopCounters>),
    /// The calendar was set.
    Calendar(UnixMillis),
    /// A name lookup was answered.
    Lookup(LookupAnswer),
    /// A port could not be opened.
    PortFailed(LocalPort),
}

/// Fingerprint of a sent datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its route.
    pub route: Route,
    /// Its length in bytes.
    pub len: u32,
    /// Its [`checksum`].
    pub checksum: u32,
}

/// Decoded record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The first record.
    Start(Box<Start>),
    /// An input and its time.
    Input(Millis, JournalInput),
    /// Datagrams sent after the previous input, in order.
    Sent(Vec<Sent>),
    /// Answer about a game file, given during the previous input.
    Asset(AssetAnswer),
    /// End of the journal.
    End(JournalEnd),
}

/// Reason why a journal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalEnd {
    /// The run ended.
    Run,
    /// The size limit was reached; the run continued.
    Limit,
}

/// Returns the checksum of a datagram or file: CRC-32, as in zip archives.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

impl Start {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_text(out, &self.program);
        put_number(out, self.began_unix_ms);
        put_number(out, self.arguments.len() as u64);
        for argument in &self.arguments {
            put_text(out, argument);
        }
        match &self.config {
            None => out.push(0),
            Some((name, text)) => {
                out.push(1);
                put_text(out, name);
                put_text(out, text);
            }
        }
        put_bytes(out, &self.entropy);
    }

    pub(super) fn read(from: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let (program, began_unix_ms) = (from.text()?, from.number()?);
        let count: usize = from.small()?;
        // Each takes a byte at least, so the record's length bounds the list.
        let arguments = (0..count).map(|_| from.text()).collect::<Result<_, _>>()?;
        let config = match from.byte()? {
            0 => None,
            1 => Some((from.text()?, from.text()?)),
            _ => return Err("a config file that is neither there nor not"),
        };
        let entropy = from.bytes()?.try_into().map_err(|_| "a wrong number of random bytes")?;
        Ok(Self { program, began_unix_ms, arguments, config, entropy })
    }
}
