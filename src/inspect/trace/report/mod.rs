//! Report of a trace: clients with lagometers, bandwidth by kind of data, largest messages, costly fields.
//!
//! Invariant: memory is bounded by the numbers of clients and intervals, not by the length of the trace.

mod client;
mod costs;
mod facts;
mod page;
mod timeline;

use std::{collections::HashMap, net::SocketAddr};

use super::{
    family::Traced,
    parts::Part,
    record::{Direction, RecordKind},
};
use client::ClientReport;
use costs::FieldCosts;
use facts::Facts;
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
    fn add(&mut self, facts: &Facts<'_>) {
        self.datagrams += 1;
        self.bytes += facts.bytes as u64;
        self.lost += u64::from(facts.lost);
        self.ignored += u64::from(facts.kind == RecordKind::Ignored);
        self.undecoded += u64::from(facts.kind == RecordKind::Undecoded);
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
    pub fn add<'a>(&mut self, record: impl Into<Traced<'a>>) {
        let facts = Facts::new(record.into());
        if self.start_us == u64::MAX {
            self.start_us = facts.time_us;
        }
        self.end_us = self.end_us.max(facts.time_us);
        let side = facts.direction as usize;
        self.counts[side].add(&facts);
        for (part, bits) in facts.bits.iter() {
            self.parts[side][part as usize] += u64::from(bits);
        }
        match facts.kind {
            RecordKind::Connectionless => self.connectionless[side] += facts.bytes as u64,
            RecordKind::Ignored | RecordKind::Undecoded => {}
            _ => self.framing[side] += facts.framing(),
        }
        self.add_to_timeline(&facts);
        if let Traced::Quake3(record) = facts.record {
            self.fields.add(record);
        }
        self.add_to_client(&facts);
        self.add_to_largest(&facts);
    }

    fn add_to_timeline(&mut self, facts: &Facts<'_>) {
        let since = facts.time_us.saturating_sub(self.start_us);
        let row = self.timelines[facts.direction as usize].at(since);
        for (part, bits) in facts.bits.iter() {
            row[Layer::of(part) as usize] += f64::from(bits) / 8.0;
        }
        let rest = match facts.kind {
            RecordKind::Connectionless | RecordKind::Ignored | RecordKind::Undecoded => {
                facts.bytes as u64
            }
            _ => facts.framing(),
        };
        row[Layer::Other as usize] += rest as f64;
    }

    fn add_to_client(&mut self, facts: &Facts<'_>) {
        let key = (facts.server, facts.client);
        if !self.clients.contains_key(&key) {
            // A query needs no section.
            if facts.sequence.is_none() || facts.protocol.is_none() {
                return;
            }
            if self.clients.len() >= MAX_CLIENTS {
                self.other_clients += 1;
                return;
            }
        }
        let start_us = self.start_us;
        self.clients.entry(key).or_insert_with(|| ClientReport::new(start_us)).add(facts);
    }

    fn add_to_largest(&mut self, facts: &Facts<'_>) {
        let bytes = facts.message_bytes;
        let smallest = self.largest.last().map_or(0, |message| message.bytes);
        if bytes == 0 || self.largest.len() >= LARGEST && bytes <= smallest {
            return;
        }
        let at = self.largest.partition_point(|message| message.bytes >= bytes);
        self.largest.insert(
            at,
            LargeMessage {
                time_us: facts.time_us,
                client: facts.client,
                direction: facts.direction,
                sequence: facts.sequence.unwrap_or_default(),
                bytes,
                words: facts.words(),
            },
        );
        self.largest.truncate(LARGEST);
    }

    /// Length of the trace in seconds.
    fn seconds(&self) -> f64 {
        self.end_us.saturating_sub(self.start_us) as f64 / 1e6
    }
}
