//! Report of a trace: clients with lagometers, bandwidth by kind of data, largest messages, costly fields.
//!
//! Invariant: memory is bounded by the numbers of clients and intervals, not by the length of the trace.

mod client;
mod costs;
mod page;
mod timeline;

use std::{collections::HashMap, net::SocketAddr};

use super::{
    parts::Part,
    record::{Direction, Record, RecordKind},
};
use client::ClientReport;
use costs::FieldCosts;
use timeline::{Layer, Timeline};

/// Maximum clients with a section of their own.
const MAX_CLIENTS: usize = 128;
/// Number of largest messages.
const LARGEST: usize = 20;

/// Counts of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    datagrams: u64,
    bytes: u64,
    lost: u64,
    ignored: u64,
    undecoded: u64,
}

impl Counts {
    fn add(&mut self, record: &Record) {
        self.datagrams += 1;
        self.bytes += record.bytes as u64;
        self.lost += u64::from(record.lost);
        self.ignored += u64::from(record.kind == RecordKind::Ignored);
        self.undecoded += u64::from(record.kind == RecordKind::Undecoded);
    }
}

/// One of the largest messages.
#[derive(Clone, Debug)]
struct LargeMessage {
    time_us: u64,
    client: SocketAddr,
    direction: Direction,
    sequence: u32,
    bytes: usize,
    words: String,
}

/// Statistics of a trace.
#[derive(Debug)]
pub struct Report {
    start_us: u64,
    end_us: u64,
    /// By direction.
    counts: [Counts; 2],
    /// Bits of each part, by direction.
    parts: [[u64; Part::COUNT]; 2],
    /// Bytes of netchan headers, by direction.
    framing: [u64; 2],
    connectionless: [u64; 2],
    timelines: [Timeline; 2],
    clients: HashMap<(SocketAddr, SocketAddr), ClientReport>,
    other_clients: u64,
    largest: Vec<LargeMessage>,
    fields: FieldCosts,
}

impl Default for Report {
    fn default() -> Self {
        Self::new()
    }
}

impl Report {
    /// Creates an empty report.
    #[must_use]
    pub fn new() -> Self {
        Self {
            start_us: u64::MAX,
            end_us: 0,
            counts: Default::default(),
            parts: Default::default(),
            framing: [0; 2],
            connectionless: [0; 2],
            timelines: Default::default(),
            clients: HashMap::new(),
            other_clients: 0,
            largest: Vec::new(),
            fields: FieldCosts::default(),
        }
    }

    /// Adds a datagram.
    pub fn add(&mut self, record: &Record) {
        if self.start_us == u64::MAX {
            self.start_us = record.time_us;
        }
        self.end_us = self.end_us.max(record.time_us);
        let side = record.direction as usize;
        self.counts[side].add(record);
        for (part, bits) in record.bits.iter() {
            self.parts[side][part as usize] += u64::from(bits);
        }
        let framing = framing(record);
        match record.kind {
            RecordKind::Connectionless => self.connectionless[side] += record.bytes as u64,
            RecordKind::Ignored | RecordKind::Undecoded => {}
            _ => self.framing[side] += framing,
        }
        self.add_to_timeline(record, framing);
        self.fields.add(record);
        self.add_to_client(record);
        self.add_to_largest(record);
    }

    fn add_to_timeline(&mut self, record: &Record, framing: u64) {
        let since = record.time_us.saturating_sub(self.start_us);
        let row = self.timelines[record.direction as usize].at(since);
        for (part, bits) in record.bits.iter() {
            row[Layer::of(part) as usize] += f64::from(bits) / 8.0;
        }
        let rest = match record.kind {
            RecordKind::Connectionless | RecordKind::Ignored | RecordKind::Undecoded => {
                record.bytes as u64
            }
            _ => framing,
        };
        row[Layer::Other as usize] += rest as f64;
    }

    fn add_to_client(&mut self, record: &Record) {
        let key = (record.server, record.client);
        if !self.clients.contains_key(&key) {
            // A query needs no section.
            if record.sequence.is_none() || record.protocol.is_none() {
                return;
            }
            if self.clients.len() >= MAX_CLIENTS {
                self.other_clients += 1;
                return;
            }
        }
        let start_us = self.start_us;
        self.clients.entry(key).or_insert_with(|| ClientReport::new(start_us)).add(record);
    }

    fn add_to_largest(&mut self, record: &Record) {
        let bytes = record.message_bytes;
        let smallest = self.largest.last().map_or(0, |message| message.bytes);
        if bytes == 0 || self.largest.len() >= LARGEST && bytes <= smallest {
            return;
        }
        let at = self.largest.partition_point(|message| message.bytes >= bytes);
        self.largest.insert(
            at,
            LargeMessage {
                time_us: record.time_us,
                client: record.client,
                direction: record.direction,
                sequence: record.sequence.unwrap_or_default().0,
                bytes,
                words: words(record),
            },
        );
        self.largest.truncate(LARGEST);
    }

    /// Length of the trace in seconds.
    fn seconds(&self) -> f64 {
        self.end_us.saturating_sub(self.start_us) as f64 / 1e6
    }
}

/// Bytes of a datagram that are not part of its message.
fn framing(record: &Record) -> u64 {
    let payload = match record.fragment {
        Some(span) => usize::from(span.len),
        None => record.message_bytes,
    };
    record.bytes.saturating_sub(payload) as u64
}

/// Describes the content of a message.
fn words(record: &Record) -> String {
    let mut words = vec![record.kind.name().to_owned()];
    if record.from_server.has_snapshot {
        words.push(match record.delta_base() {
            Some(base) => format!("delta to {base}"),
            None => "full".to_owned(),
        });
        words.push(format!("{} entities", record.from_server.snapshot.entities.len()));
    }
    if let Some(gamestate) = &record.from_server.gamestate {
        words.push(format!("{} configstrings", gamestate.configstrings.len()));
        words.push(format!("{} baselines", gamestate.baselines.len()));
    }
    if !record.commands.is_empty() {
        words.push(format!("{} commands", record.commands.len()));
    }
    if !record.from_client.usercmds.is_empty() {
        words.push(format!("{} moves", record.from_client.usercmds.len()));
    }
    words.join(", ")
}
