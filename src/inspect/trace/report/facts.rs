//! Facts of a datagram of either family that the report counts.

use std::net::SocketAddr;

use crate::trace::{
    family::Traced,
    parts::PartBits,
    quakeworld,
    record::{Direction, Record, RecordKind},
};

/// Name of the protocol of QuakeWorld.
const QUAKEWORLD: &str = "QuakeWorld 28";

/// Common facts of both families.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    pub(super) record: Traced<'a>,
    pub(super) time_us: u64,
    pub(super) direction: Direction,
    pub(super) server: SocketAddr,
    pub(super) client: SocketAddr,
    pub(super) bytes: usize,
    pub(super) kind: RecordKind,
    pub(super) protocol: Option<&'static str>,
    pub(super) sequence: Option<u32>,
    pub(super) lost: u32,
    pub(super) message_bytes: usize,
    pub(super) bits: PartBits,
}

impl<'a> Facts<'a> {
    pub(super) fn new(record: Traced<'a>) -> Self {
        macro_rules! common {
            ($of:ident, $protocol:expr, $sequence:expr) => {
                Self {
                    record,
                    time_us: $of.time_us,
                    direction: $of.direction,
                    server: $of.server,
                    client: $of.client,
                    bytes: $of.bytes,
                    kind: $of.kind,
                    protocol: $protocol,
                    sequence: $sequence,
                    lost: $of.lost,
                    message_bytes: $of.message_bytes,
                    bits: $of.bits,
                }
            };
        }
        match record {
            Traced::Quake3(of) => common!(
                of,
                of.protocol.map(|protocol| protocol.name),
                of.sequence.map(|sequence| sequence.0)
            ),
            Traced::QuakeWorld(of) => {
                common!(of, Some(QUAKEWORLD), of.header.map(|header| header.sequence))
            }
        }
    }

    /// Bytes of the datagram that are not part of its message.
    pub(super) fn framing(&self) -> u64 {
        let payload = match self.record {
            Traced::Quake3(Record { fragment: Some(span), .. }) => usize::from(span.len),
            _ => self.message_bytes,
        };
        self.bytes.saturating_sub(payload) as u64
    }

    /// Describes the content of a message.
    pub(super) fn words(&self) -> String {
        let mut words = vec![self.kind.name().to_owned()];
        match self.record {
            Traced::Quake3(record) => quake3_words(record, &mut words),
            Traced::QuakeWorld(record) => quakeworld_words(record, &mut words),
        }
        words.join(", ")
    }
}

fn quake3_words(record: &Record, words: &mut Vec<String>) {
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
}

fn quakeworld_words(record: &quakeworld::Record, words: &mut Vec<String>) {
    if let Some(base) = record.base {
        words.push(format!("delta to {base}"));
    }
    for (count, what) in [(record.entities, "entities"), (record.players, "players")] {
        if count > 0 {
            words.push(format!("{count} {what}"));
        }
    }
    let mut messages: Vec<&str> = record.messages().map(|(_, message)| message.name()).collect();
    messages.dedup();
    words.extend(messages.into_iter().map(str::to_owned));
}
