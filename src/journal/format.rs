//! What stands in a journal, and how each kind of record is written and read.
//!
//! ```text
//! journal  MAGIC, version: 4 bytes
//! record   length of the body: number, body, checksum: 4 bytes
//! body     kind: 1 byte, values
//! ```
//!
//! Numbers have seven bits a byte, the lowest first; times are the milliseconds since the input before.
//! The checksum is CRC-32 over all records so far, this one's length and body included: a record that is
//! lost, doubled or moved is as visible as a changed one. Routes are named once and meant by a slot then;
//! a slot may be given to another route when there are more than [`MAX_ROUTES`].

use super::{
    assets::AssetAnswer,
    encoding::{Cursor, DecodeError, put_bytes, put_number, put_text},
};
use crate::{
    model::Millis,
    node::{LoopCounters, Route},
};

/// What a journal begins with. The line ends show a copy that was taken for text.
pub const MAGIC: [u8; 8] = *b"\x89FRGJ\r\n\x1a";
/// Version of the format that is written, and the only one that is read.
pub const FORMAT_VERSION: u32 = 1;
/// Longest body of a record: lists of files and the config file are the long ones.
pub(super) const MAX_BODY_LEN: usize = 16 << 20;
/// Routes that have a slot at a time.
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
}

/// What a node was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Version of the program that wrote the journal.
    pub program: String,
    /// When, in milliseconds since 1970-01-01 UTC, at the zero of the times of inputs.
    pub began_unix_ms: u64,
    /// The program's arguments, without its own name.
    pub arguments: Vec<String>,
    /// Name and text of the config file, if there was one.
    pub config: Option<(String, String)>,
    /// The random bytes that the node was given.
    pub entropy: [u8; 32],
}

/// Something from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A datagram arrived.
    Datagram(Route, Vec<u8>),
    /// A frame was run.
    Frame,
    /// The operator typed a line.
    Line(String),
    /// The node was told to stop, for that reason.
    Stop(String),
    /// The node was told what the loop had counted.
    Counted(LoopCounters),
}

/// A datagram that was sent, by what it can be known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its way.
    pub route: Route,
    /// Its length in bytes.
    pub len: u32,
    /// Its [`checksum`].
    pub checksum: u32,
}

/// One record, routes put in their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The first record.
    Start(Box<Start>),
    /// Something from outside, and when.
    Input(Millis, Input),
    /// What was sent upon the input before, in order.
    Sent(Vec<Sent>),
    /// What was said of a game file, while the input before was served.
    Asset(AssetAnswer),
    /// Nothing follows.
    End(JournalEnd),
}

/// Why a journal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalEnd {
    /// The run ended as runs should.
    Run,
    /// The journal has as many bytes as it may have; the run went on.
    Limit,
}

/// The checksum of a datagram or a file: CRC-32, as archives have it.
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
