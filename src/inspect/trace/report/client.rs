//! Statistics of one client: counts, snapshots, ping and lagometer.

use super::{Counts, facts::Facts};
use crate::{
    chart::Lagometer,
    model::{Millis, text::escaped},
    quakeworld::{ClientMessage, ServerMessage, info},
    trace::{
        family::Traced,
        quakeworld::{self, Message},
        record::{Direction, Record, RecordKind},
    },
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
    /// QuakeWorld: sequence and time of the last packets of the client.
    asked: [(u32, u64); KEPT],
    /// QuakeWorld: newest acknowledgment of each direction.
    newest_acknowledged: [u32; 2],
    /// QuakeWorld: times from a packet to its acknowledgment, by the direction of the latter.
    halves_ms: [Option<u64>; 2],
    /// QuakeWorld: own slot.
    slot: Option<u8>,
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
            asked: [(0, 0); KEPT],
            newest_acknowledged: [0; 2],
            halves_ms: [None; 2],
            slot: None,
            last_snapshot_us: None,
        }
    }

    /// Adds a datagram of this client.
    pub(super) fn add(&mut self, facts: &Facts<'_>) {
        self.counts[facts.direction as usize].add(facts);
        if let Some(protocol) = facts.protocol {
            self.protocol = protocol;
        }
        let now = Millis(facts.time_us.saturating_sub(self.start_us) / 1000);
        match (facts.record, facts.direction) {
            (Traced::Quake3(record), Direction::ToClient) => self.add_from_server(record, now),
            (Traced::Quake3(record), Direction::ToServer) => self.add_from_client(record, now),
            (Traced::QuakeWorld(record), _) => self.add_quakeworld(record, now),
        }
    }

    /// Adds a datagram of QuakeWorld. The latency is that of the client: from its packet to the observed answer, and
    /// from there to its acknowledgment.
    fn add_quakeworld(&mut self, record: &quakeworld::Record, now: Millis) {
        if matches!(record.kind, RecordKind::Ignored | RecordKind::Undecoded) {
            return;
        }
        let Some(header) = record.header else { return };
        let side = record.direction as usize;
        let (answers, questions) = (&mut self.sent, &mut self.asked);
        let (own, other) = match record.direction {
            Direction::ToServer => (questions, answers),
            Direction::ToClient => (answers, questions),
        };
        own[header.sequence as usize % KEPT] = (header.sequence, record.time_us);
        let (kept, sent_us) = other[header.acknowledged as usize % KEPT];
        let is_newer = header.acknowledged > self.newest_acknowledged[side];
        if kept == header.acknowledged && is_newer {
            self.newest_acknowledged[side] = kept;
            self.halves_ms[side] = Some(record.time_us.saturating_sub(sent_us) / 1000);
            if let [Some(one), Some(other)] = self.halves_ms {
                let latency = one + other;
                let sample = self.lagometer.at(now);
                sample.ping_ms = sample.ping_ms.max(short(latency));
                self.pings.add(latency);
            }
        }
        for (_, message) in record.messages() {
            match message {
                Message::Client(ClientMessage::StringCommand { text }) => {
                    let mut words = text.words();
                    if words.next().is_some_and(|word| word == "setinfo")
                        && words.next().is_some_and(|word| word == "name")
                    {
                        self.name = escaped(words.next().unwrap_or_default().bytes());
                    }
                }
                Message::Server(ServerMessage::ServerData(data)) => {
                    self.slot = Some(data.player);
                    self.last_snapshot_us = None;
                }
                Message::Server(ServerMessage::UpdateUserinfo { player, info, .. })
                    if Some(player) == self.slot =>
                {
                    let name = info::value(info.bytes(), "name").unwrap_or_default();
                    self.name = escaped(name);
                }
                _ => {}
            }
        }
        if record.direction == Direction::ToClient {
            self.add_frame(record, now);
        }
    }

    /// Adds the loss, choke and frame of a packet of the server.
    fn add_frame(&mut self, record: &quakeworld::Record, now: Millis) {
        let sample = self.lagometer.at(now);
        sample.lost = sample.lost.saturating_add(short(u64::from(record.lost)));
        sample.rate_delayed = sample.rate_delayed.saturating_add(short(u64::from(record.choked)));
        self.rate_delayed += u64::from(record.choked);
        if record.kind == RecordKind::Snapshot {
            self.add_snapshot(record.time_us, now);
            self.full += u64::from(record.base.is_none());
            self.missing_bases += u64::from(record.is_base_missing);
        }
    }

    /// Counts a snapshot and the time since the one before.
    fn add_snapshot(&mut self, time_us: u64, now: Millis) {
        let before = self.last_snapshot_us.replace(time_us);
        let gap = before.map(|before| time_us.saturating_sub(before) / 1000);
        let sample = self.lagometer.at(now);
        sample.snapshots = sample.snapshots.saturating_add(1);
        if let Some(gap) = gap.filter(|gap| *gap <= MAX_GAP_MS) {
            sample.gap_ms = sample.gap_ms.max(short(gap));
            self.gaps.add(gap);
        }
        self.snapshots += 1;
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
        self.add_snapshot(record.time_us, now);
        let sample = self.lagometer.at(now);
        sample.rate_delayed = sample.rate_delayed.saturating_add(u16::from(delayed));
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
        let Some(client) = gamestate.client_num else { return };
        let index = PLAYERS + client.index();
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
