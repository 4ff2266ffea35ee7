//! Connection as an observer between both ends sees it: sequences, reliable messages, extensions, delta bases.
//!
//! Invariants: a packet changes nothing before it is read to its end; memory is that of 64 frames.
//! Source: QuakeWorld protocol 28, channel.

use super::{
    payload::Content,
    record::{Fault, Record, Reliable},
};
use crate::{
    model::Qport,
    quakeworld::{
        Extensions,
        channel::{
            DropReason, MAX_JUMP,
            header::{Header, Sender},
            timing::{FRAMES, frame_index},
        },
        extensions::{
            FTE_256_ENTITIES, FTE_BIG_COORDS, FTE_CHUNKED, FTE_ENTITIES_2048, FTE_MODEL16,
            FTE_SPAWN_STATIC2, FTE2_VOICE, MVD1_ANGLE_REASON, MVD1_FLOAT_COORDS,
        },
    },
    trace::record::Direction,
};

/// Extensions that ezQuake and MVDSV agree on.
const USUAL_FTE: u32 =
    FTE_MODEL16 | FTE_ENTITIES_2048 | FTE_SPAWN_STATIC2 | FTE_256_ENTITIES | FTE_CHUNKED;
/// Extensions that a connection may have whose start was not observed, likeliest first.
pub(super) const CANDIDATES: [Extensions; 6] = [
    Extensions::NONE,
    Extensions { fte: USUAL_FTE, fte2: FTE2_VOICE, mvd1: MVD1_FLOAT_COORDS },
    Extensions { fte: USUAL_FTE, fte2: 0, mvd1: 0 },
    Extensions { fte: USUAL_FTE | FTE_BIG_COORDS, fte2: 0, mvd1: MVD1_FLOAT_COORDS },
    Extensions { fte: USUAL_FTE, fte2: 0, mvd1: MVD1_FLOAT_COORDS | MVD1_ANGLE_REASON },
    Extensions { fte: 0, fte2: 0, mvd1: MVD1_FLOAT_COORDS },
];

/// One side of the connection, by the packets that it sent.
#[derive(Clone, Copy, Debug, Default)]
struct TracedSide {
    newest: Option<u32>,
    /// Parity with which the other side acknowledges the reliable message in flight.
    awaited: Option<bool>,
    /// Parity of its newest packet.
    parity: bool,
}

/// Extensions in force.
#[derive(Clone, Copy, Debug)]
enum InForce {
    Known(Extensions),
    /// Which of [`CANDIDATES`] have read all packets.
    Candidates([bool; CANDIDATES.len()]),
}

/// State of both directions.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) qport: Option<Qport>,
    /// Whether it was observed from its first packet.
    is_whole: bool,
    /// By direction.
    sides: [TracedSide; 2],
    extensions: InForce,
    /// Sequences of the last frames, and whether their entities are known.
    frames: [(u32, bool); FRAMES],
}

/// Side that sends in a direction.
pub(super) const fn sender(direction: Direction) -> Sender {
    match direction {
        Direction::ToServer => Sender::Client,
        Direction::ToClient => Sender::Server,
    }
}

/// Returns the newest sequence up to `newest` with this low byte.
const fn with_low_byte(newest: u32, low: u8) -> u32 {
    newest.saturating_sub((newest as u8).wrapping_sub(low) as u32)
}

impl Connection {
    /// Creates the state of a new connection.
    pub(super) fn new(qport: Qport) -> Self {
        Self {
            qport: Some(qport),
            is_whole: true,
            extensions: InForce::Known(Extensions::NONE),
            ..Self::resumed()
        }
    }

    /// Creates the state of a connection whose start was not observed.
    pub(super) fn resumed() -> Self {
        Self {
            qport: None,
            is_whole: false,
            sides: [TracedSide::default(); 2],
            extensions: InForce::Candidates([true; CANDIDATES.len()]),
            frames: [(0, false); FRAMES],
        }
    }

    /// Newest sequence of a direction.
    pub(super) fn newest(&self, direction: Direction) -> Option<u32> {
        self.sides[direction as usize].newest
    }

    /// Parity of the reliable messages that the sender of a direction received.
    pub(super) fn parity(&self, direction: Direction) -> bool {
        self.sides[direction as usize].parity
    }

    /// Decodes a packet.
    pub(super) fn decode(
        &mut self,
        direction: Direction,
        datagram: &[u8],
        record: &mut Record,
    ) -> Result<(), Fault> {
        let (header, payload) =
            Header::parse(datagram, sender(direction)).map_err(DropReason::from)?;
        record.header = Some(header);
        if header.qport.is_some() && self.qport.is_some() && header.qport != self.qport {
            return Err(DropReason::Qport.into());
        }
        let sequence = header.sequence;
        let gap = self.gap(direction, sequence)?;
        let content = self.read(direction, payload, sequence, gap)?;
        let before = self.in_force();
        record.set_payload(payload, before);
        record.kind = content.kind;
        record.bits = content.bits;
        record.lost = gap.saturating_sub(content.choked);
        record.choked = content.choked;
        record.entities = content.entities;
        record.players = content.players;
        record.runs = content.runs;
        record.has_bad_checksum = content.has_bad_checksum;
        record.asked_base = content.asked_base.map(|low| with_low_byte(header.acknowledged, low));
        if content.has_level {
            self.extensions = InForce::Known(content.extensions);
            self.frames = [(0, false); FRAMES];
        }
        if let Some(from) = content.update {
            self.update(sequence, from, record);
        }
        self.count(direction, &header, record);
        if sequence == 0 {
            // Every receiver drops it, and gets its reliable message later.
            return Err(DropReason::Old { sequence, last: 0 }.into());
        }
        Ok(())
    }

    /// Number of packets missing before this one.
    fn gap(&self, direction: Direction, sequence: u32) -> Result<u32, DropReason> {
        let gap = match self.newest(direction) {
            Some(last) if sequence <= last => return Err(DropReason::Old { sequence, last }),
            Some(last) => sequence - last - 1,
            None if self.is_whole => sequence.saturating_sub(1),
            None => 0,
        };
        if gap > MAX_JUMP {
            let last = self.newest(direction).unwrap_or(0);
            return Err(DropReason::FarAhead { sequence, last });
        }
        Ok(gap)
    }

    /// Extensions to read the next packet with.
    fn in_force(&self) -> Extensions {
        match self.extensions {
            InForce::Known(extensions) => extensions,
            InForce::Candidates(alive) => {
                let first = alive.iter().position(|alive| *alive);
                CANDIDATES[first.unwrap_or(0)]
            }
        }
    }

    fn read(
        &mut self,
        direction: Direction,
        payload: &[u8],
        sequence: u32,
        gap: u32,
    ) -> Result<Content, Fault> {
        let read = |extensions| Content::read(direction, payload, extensions, sequence, gap);
        let InForce::Candidates(alive) = &mut self.extensions else {
            return Ok(read(self.in_force())?);
        };
        let mut readable = [false; CANDIDATES.len()];
        let mut result = None;
        for (at, extensions) in CANDIDATES.into_iter().enumerate().filter(|(at, _)| alive[*at]) {
            let content = read(extensions);
            readable[at] = content.is_ok();
            // The reading of the first candidate that remains; without one the first fault.
            if result.is_none() || matches!(result, Some(Err(_))) && content.is_ok() {
                result = Some(content);
            }
        }
        if readable.contains(&true) {
            *alive = readable;
        }
        let content = result.unwrap_or_else(|| read(Extensions::NONE))?;
        Ok(content)
    }

    /// Notes an entity update with its base.
    fn update(&mut self, sequence: u32, from: Option<u8>, record: &mut Record) {
        let mut is_known = true;
        if let Some(low) = from {
            let base = with_low_byte(sequence.saturating_sub(1), low);
            is_known = self.frames[frame_index(base)] == (base, true);
            record.base = Some(base);
            record.is_base_missing = !is_known;
        }
        self.frames[frame_index(sequence)] = (sequence, is_known);
    }

    /// Notes the header: newest sequence, reliable message of the sender, acknowledgment of the other side's.
    fn count(&mut self, direction: Direction, header: &Header, record: &mut Record) {
        let [own, peer] = match direction {
            Direction::ToServer => [0, 1],
            Direction::ToClient => [1, 0],
        };
        if self.sides[peer].awaited == Some(header.parity) {
            self.sides[peer].awaited = None;
            record.delivers = true;
        }
        let peer_parity = self.sides[peer].parity;
        let own = &mut self.sides[own];
        own.parity = header.parity;
        own.newest = Some(header.sequence);
        if header.is_reliable {
            record.reliable =
                if own.awaited.is_some() { Reliable::Repeated } else { Reliable::Sent };
            own.awaited.get_or_insert(!peer_parity);
        }
    }
}
