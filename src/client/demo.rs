//! Demo reader: decodes every message of a recorded demo to its last bit.
//!
//! A demo is `{ sequence long | length long | message }*` and ends with two longs of −1. Messages are
//! complete, not scrambled, and begin with the acknowledgement. Errors are undecodable values, deltas
//! without their base, and trailing bytes behind the end of a message.
//!
//! Invariants: memory is bounded for any input. Source: Quake III protocol 68, server messages.

use std::{collections::BTreeMap, fmt};

use crate::{
    model::{
        Baselines, EntityNum, EntityState, PlayerState,
        limits::{MAX_MESSAGE_LEN, PACKET_BACKUP},
    },
    wire::{
        bits::BitReader,
        entity::{self, EntityUpdate},
        gamestate, player,
        server_message::{self, ServerOp},
        snapshot,
    },
};

/// Bits that a whole message may have behind its end: its writer rounds up to the next byte.
const MAX_PADDING: usize = 8;

/// Receiver of faults: message number and description.
pub type Report<'a> = &'a mut dyn FnMut(u32, &str);

/// Decoder of one or more demos. Its text is a summary of the counts.
pub struct DemoReader {
    native: bool,
    baselines: Baselines,
    /// Snapshots by message number.
    snapshots: BTreeMap<u32, (PlayerState, Vec<EntityState>)>,
    messages: usize,
    gamestates: usize,
    shown: usize,
    deltas: usize,
    commands: usize,
    /// Faults found.
    pub faults: usize,
}

impl fmt::Display for DemoReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, gamestates, shown, deltas, commands, faults, .. } = self;
        write!(
            f,
            "{messages} messages, {gamestates} gamestates, {shown} snapshots ({deltas} deltas), \
             {commands} commands, {faults} faults"
        )
    }
}

impl DemoReader {
    /// Creates a reader of protocol 71 (`native`) or 68 demos.
    #[must_use]
    pub fn new(native: bool) -> Self {
        Self {
            native,
            baselines: Baselines::new(Vec::new()),
            snapshots: BTreeMap::new(),
            messages: 0,
            gamestates: 0,
            shown: 0,
            deltas: 0,
            commands: 0,
            faults: 0,
        }
    }

    /// Decodes a whole demo file.
    pub fn file(&mut self, mut bytes: &[u8], report: Report<'_>) {
        let mut fault = |this: &mut Self, sequence, what: &str| {
            this.faults += 1;
            report(sequence, what);
        };
        loop {
            let Some((head, rest)) = bytes.split_first_chunk::<8>() else {
                return fault(self, 0, "the file ends without its end mark");
            };
            let [a, b, c, d, e, f, g, h] = *head;
            let (sequence, len) = (u32::from_le_bytes([a, b, c, d]), [e, f, g, h]);
            let len = u32::from_le_bytes(len);
            if (sequence, len) == (u32::MAX, u32::MAX) {
                if !rest.is_empty() {
                    fault(self, sequence, "data behind the end mark");
                }
                return;
            }
            let len = len as usize;
            if len > MAX_MESSAGE_LEN || len > rest.len() {
                return fault(self, sequence, &format!("invalid message length: {len} bytes"));
            }
            let (message, rest) = rest.split_at(len);
            bytes = rest;
            self.messages += 1;
            if let Err(what) = self.message(sequence, message) {
                fault(self, sequence, &what);
            }
        }
    }

    fn message(&mut self, sequence: u32, message: &[u8]) -> Result<(), String> {
        let mut reader = BitReader::new(message);
        self.parts(sequence, &mut reader).map_err(|what| {
            format!("bit {} of {}: {what}", reader.bit_position(), message.len() * 8)
        })?;
        let left = message.len() * 8 - reader.bit_position();
        if left > MAX_PADDING {
            return Err(format!("{left} bits behind the end of the message"));
        }
        Ok(())
    }

    fn parts(&mut self, sequence: u32, reader: &mut BitReader<'_>) -> Result<(), String> {
        let say = |error: crate::wire::WireError| error.to_string();
        reader.long().map_err(say)?;
        loop {
            match ServerOp::read(reader).map_err(say)? {
                ServerOp::End => return Ok(()),
                ServerOp::Nop => {}
                ServerOp::Command => {
                    server_message::read_command(reader).map_err(say)?;
                    self.commands += 1;
                }
                ServerOp::Gamestate => {
                    let read = gamestate::read(reader).map_err(say)?;
                    self.baselines = Baselines::new(read.baselines);
                    self.snapshots.clear();
                    self.gamestates += 1;
                }
                ServerOp::Snapshot => self.snapshot(sequence, reader)?,
                ServerOp::VoiceOpus if self.native => {
                    server_message::read_voice(reader).map_err(say)?;
                }
                other => return Err(format!("{other:?} not allowed here")),
            }
        }
    }

    fn snapshot(&mut self, sequence: u32, reader: &mut BitReader<'_>) -> Result<(), String> {
        let say = |error: crate::wire::WireError| error.to_string();
        let head = snapshot::read_head(reader).map_err(say)?;
        let none = (PlayerState::default(), Vec::new());
        let back = u32::from(head.delta_num);
        let base = match back {
            0 => &none,
            _ => sequence
                .checked_sub(back)
                .filter(|_| (back as usize) < PACKET_BACKUP)
                .and_then(|base| self.snapshots.get(&base))
                .ok_or_else(|| format!("delta base {back} messages back is missing"))?,
        };
        let player = player::read_delta(reader, &base.0).map_err(say)?;
        let baseline = |number: EntityNum| self.baselines.get(number.index() as i32);
        let mut entities = Vec::new();
        entity::read_list(reader, base.1.iter(), baseline, |listed| {
            entities.push(match listed {
                EntityUpdate::Unchanged(kept) => *kept,
                EntityUpdate::Changed(told) => told,
            });
        })
        .map_err(say)?;
        self.shown += 1;
        self.deltas += usize::from(back > 0);
        self.snapshots.insert(sequence, (player, entities));
        while self.snapshots.len() > PACKET_BACKUP {
            self.snapshots.pop_first();
        }
        Ok(())
    }
}
