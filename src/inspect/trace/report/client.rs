//! Statistics of one client: counts, snapshots, ping and lagometer.

use super::Counts;
use crate::{
    chart::Lagometer,
    model::{Millis, text::escaped},
    trace::record::{Direction, Record, RecordKind},
    wire::{info::InfoString, snapshot::SnapFlags},
};

/// Number of sent messages whose times are kept for the ping.
const KEPT: usize = 64;
/// Longest interval between two snapshots of one level; a longer one is a pause.
const MAX_GAP_MS: u64 = 10_000;

/// Statistics of one client.
#[derive(Debug)]
pub(super) struct ClientReport {
    /// Name of the userinfo, escaped.
    pub(super) name: String,
    pub(super) protocol: &'static str,
    pub(super) counts: [Counts; 2],
    pub(super) snapshots: u64,
    pub(super) full: u64,
    pub(super) rate_delayed: u64,
    pub(super) missing_bases: u64,
    pub(super) gaps: Gaps,
    pub(super) pings: Gaps,
    pub(super) lagometer: Lagometer,
    start_us: u64,
    /// Sequence and time of the last messages to the client.
    sent: [(u32, u64); KEPT],
    /// Newest acknowledged message.
    acknowledged: u32,
    last_snapshot_us: Option<u64>,
}

/// Sum and maximum of durations.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gaps {
    count: u64,
    sum_ms: u64,
    pub(super) max_ms: u64,
}

impl Gaps {
    fn add(&mut self, ms: u64) {
        self.count += 1;
        self.sum_ms += ms;
        self.max_ms = self.max_ms.max(ms);
    }

    /// Mean in ms.
    pub(super) fn mean(&self) -> u64 {
        self.sum_ms / self.count.max(1)
    }
}

impl ClientReport {
    pub(super) fn new(start_us: u64) -> Self {
        Self {
            name: String::new(),
            protocol: "",
            counts: Default::default(),
            snapshots: 0,
            full: 0,
            rate_delayed: 0,
            missing_bases: 0,
            gaps: Gaps::default(),
            pings: Gaps::default(),
            lagometer: Lagometer::new(Millis(0), Millis(0)),
            start_us,
            sent: [(0, 0); KEPT],
            acknowledged: 0,
            last_snapshot_us: None,
        }
    }

    /// Adds a datagram of this client.
    pub(super) fn add(&mut self, record: &Record) {
        self.counts[record.direction as usize].add(record);
        if let Some(protocol) = record.protocol {
            self.protocol = protocol.name;
        }
        let now = Millis(record.time_us.saturating_sub(self.start_us) / 1000);
        match record.direction {
            Direction::ToClient => self.add_from_server(record, now),
            Direction::ToServer => self.add_from_client(record, now),
        }
    }

    fn add_from_server(&mut self, record: &Record, now: Millis) {
        if let Some(sequence) = record.sequence
            && !matches!(record.kind, RecordKind::Ignored | RecordKind::Undecoded)
        {
            let slot = &mut self.sent[sequence.0 as usize % KEPT];
            if slot.0 != sequence.0 {
                *slot = (sequence.0, record.time_us);
            }
        }
        let sample = self.lagometer.at(now);
        sample.lost = sample.lost.saturating_add(short(u64::from(record.lost)));
        if record.from_server.gamestate.is_some() {
            self.name_from_gamestate(record);
            self.last_snapshot_us = None;
        }
        if !record.from_server.has_snapshot {
            return;
        }
        let flags = record.from_server.snapshot.head.flags;
        let delayed = flags.contains(SnapFlags::RATE_DELAYED);
        let before = self.last_snapshot_us.replace(record.time_us);
        let gap = before.map(|before| record.time_us.saturating_sub(before) / 1000);
        let gap = gap.filter(|gap| *gap <= MAX_GAP_MS);
        let sample = self.lagometer.at(now);
        sample.snapshots = sample.snapshots.saturating_add(1);
        sample.rate_delayed = sample.rate_delayed.saturating_add(u16::from(delayed));
        if let Some(gap) = gap {
            sample.gap_ms = sample.gap_ms.max(short(gap));
            self.gaps.add(gap);
        }
        self.snapshots += 1;
        self.full += u64::from(record.delta_base().is_none());
        self.rate_delayed += u64::from(delayed);
        self.missing_bases += u64::from(record.missing.delta_base);
    }

    fn add_from_client(&mut self, record: &Record, now: Millis) {
        if record.message_bytes == 0 || record.fault.is_some() {
            return;
        }
        for command in &record.commands {
            if let Some(info) = command.text.strip_prefix("userinfo ") {
                self.take_name(&InfoString::parse(info.trim().trim_matches('"')));
            }
        }
        let Some(sequence) = record.from_client.head.acknowledged() else { return };
        if sequence.0 <= self.acknowledged {
            return;
        }
        self.acknowledged = sequence.0;
        let (kept, sent_us) = self.sent[sequence.0 as usize % KEPT];
        if kept == sequence.0 {
            let ping = record.time_us.saturating_sub(sent_us) / 1000;
            self.pings.add(ping);
            let sample = self.lagometer.at(now);
            sample.ping_ms = sample.ping_ms.max(short(ping));
        }
    }

    /// Takes the name of the client's own player configstring.
    fn name_from_gamestate(&mut self, record: &Record) {
        let Some(gamestate) = &record.from_server.gamestate else { return };
        let index = PLAYERS + gamestate.client_num.index();
        let own = gamestate.configstrings.iter().find(|(at, _)| at.index() == index);
        if let Some(name) =
            own.and_then(|(_, text)| InfoString::parse(text).get("n").map(str::to_owned))
        {
            self.name = escaped(name.as_bytes());
        }
    }

    fn take_name(&mut self, info: &InfoString) {
        if let Some(name) = info.get("name") {
            self.name = escaped(name.as_bytes());
        }
    }
}

/// First configstring of players.
const PLAYERS: usize = 544;

fn short(value: u64) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}
