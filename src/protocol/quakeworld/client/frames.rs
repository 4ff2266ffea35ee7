//! Frames of a client: usercmd, delta base and received state of each sequence.
//!
//! Invariants: 64 frames; a frame that is not valid is never a delta base.
//! Source: QuakeWorld protocol 28, packet entities and delta requests.

use super::{
    super::{
        channel::timing::{FRAMES, frame_index},
        entities::{DeltaList, EntityState},
        players::PlayerInfo,
        usercmd::Usercmd,
    },
    event::ContentError,
    level::{LevelState, MAX_PLAYERS},
};

/// Entity of a frame with its number.
pub type Entity = (u16, EntityState);

/// One frame.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Sequence of the packet and of its answer.
    pub sequence: u32,
    /// Usercmd of the packet.
    pub command: Usercmd,
    /// Sequence of the delta base that the packet asks for.
    pub(super) base: Option<u32>,
    /// Whether the entities are known.
    pub is_valid: bool,
    /// Whether players were received.
    pub has_answer: bool,
    players: Vec<PlayerInfo>,
    entities: Vec<Entity>,
}

impl Frame {
    /// Returns the players in sight, in the order of their slots.
    #[must_use]
    pub fn players(&self) -> &[PlayerInfo] {
        &self.players
    }

    /// Returns a player in sight.
    #[must_use]
    pub fn player(&self, slot: u8) -> Option<&PlayerInfo> {
        self.players.iter().find(|info| info.player == slot)
    }

    /// Returns the entities in sight, ascending by number.
    #[must_use]
    pub fn entities(&self) -> &[Entity] {
        &self.entities
    }
}

/// Result of an entity update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Update {
    Applied,
    /// The base is not the one that was asked for, or is not known.
    Rejected,
}

/// Ring of frames.
#[derive(Debug)]
pub struct Frames {
    ring: Vec<Frame>,
    /// Newest sequence with known entities.
    newest_valid: Option<u32>,
    /// Newest sequence with an answer.
    newest_answer: Option<u32>,
    /// Memory for the entities of the next frame.
    scratch: Vec<Entity>,
}

impl Default for Frames {
    fn default() -> Self {
        let ring = vec![Frame::default(); FRAMES];
        Self { ring, newest_valid: None, newest_answer: None, scratch: Vec::new() }
    }
}

impl Frames {
    /// Returns the frame of a sequence while it is remembered.
    #[must_use]
    pub fn get(&self, sequence: u32) -> Option<&Frame> {
        Some(&self.ring[frame_index(sequence)]).filter(|frame| frame.sequence == sequence)
    }

    /// Returns the newest frame with an answer of the server.
    #[must_use]
    pub fn newest(&self) -> Option<&Frame> {
        self.newest_answer.and_then(|sequence| self.get(sequence))
    }

    /// Returns the newest frame with known entities.
    #[must_use]
    pub fn newest_valid(&self) -> Option<&Frame> {
        self.newest_valid.and_then(|sequence| self.get(sequence))
    }

    /// Forgets what the server sent, at the start of a level.
    pub(super) fn forget(&mut self) {
        (self.newest_valid, self.newest_answer) = (None, None);
        for frame in &mut self.ring {
            (frame.is_valid, frame.has_answer, frame.base) = (false, false, None);
        }
    }

    /// Returns the base to ask for in the packet `sequence`.
    pub(super) fn base_for(&self, sequence: u32) -> Option<u32> {
        self.newest_valid.filter(|base| sequence.wrapping_sub(*base) < FRAMES as u32 - 1)
    }

    /// Starts the frame of a packet.
    pub(super) fn start(&mut self, sequence: u32, command: Usercmd, base: Option<u32>) {
        let frame = &mut self.ring[frame_index(sequence)];
        (frame.sequence, frame.command, frame.base) = (sequence, command, base);
        (frame.is_valid, frame.has_answer) = (false, false);
        frame.players.clear();
    }

    /// Returns the usercmd of a packet; zero when it is not remembered.
    pub(super) fn command(&self, sequence: u32) -> Usercmd {
        self.get(sequence).map_or(Usercmd::ZERO, |frame| frame.command)
    }

    /// Adds a player to the answer `sequence`.
    pub(super) fn add_player(
        &mut self,
        sequence: u32,
        info: PlayerInfo,
    ) -> Result<(), ContentError> {
        if usize::from(info.player) >= MAX_PLAYERS {
            return Err(ContentError::Slot(info.player));
        }
        let frame = &mut self.ring[frame_index(sequence)];
        if frame.sequence != sequence {
            return Ok(());
        }
        if frame.players.iter().any(|other| other.player == info.player) {
            return Err(ContentError::Player(info.player));
        }
        frame.players.push(info);
        frame.has_answer = true;
        self.newest_answer = self.newest_answer.max(Some(sequence));
        Ok(())
    }

    /// Applies an entity update of the answer `sequence`. `from` is the low byte of its base.
    ///
    /// `asked` is the newest packet that the server had received.
    pub(super) fn update(
        &mut self,
        sequence: u32,
        asked: u32,
        from: Option<u8>,
        deltas: DeltaList<'_>,
        level: &LevelState,
        max: usize,
    ) -> Result<Update, ContentError> {
        let base = match from {
            None => None,
            Some(byte) => {
                let base = self.get(asked).and_then(|frame| frame.base);
                let base = base.filter(|base| *base as u8 == byte);
                match base.filter(|base| self.get(*base).is_some_and(|frame| frame.is_valid)) {
                    Some(base) => Some(base),
                    None => {
                        self.newest_valid = None;
                        return Ok(Update::Rejected);
                    }
                }
            }
        };
        let mut entities = std::mem::take(&mut self.scratch);
        let old = base.and_then(|base| self.get(base)).map_or(&[][..], Frame::entities);
        merge(old, deltas, level, &mut entities);
        let count = entities.len();
        let frame = &mut self.ring[frame_index(sequence)];
        if frame.sequence == sequence && count <= max {
            std::mem::swap(&mut frame.entities, &mut entities);
            (frame.is_valid, frame.has_answer) = (true, true);
            self.newest_valid = Some(sequence);
            self.newest_answer = self.newest_answer.max(Some(sequence));
        }
        self.scratch = entities;
        if count > max { Err(ContentError::Entities(count)) } else { Ok(Update::Applied) }
    }
}

/// Writes the entities that deltas make of `old` into `out`. Both lists ascend.
fn merge(old: &[Entity], deltas: DeltaList<'_>, level: &LevelState, out: &mut Vec<Entity>) {
    out.clear();
    let mut rest = old;
    for delta in deltas.iter() {
        let before = rest.iter().take_while(|(number, _)| *number < delta.number).count();
        out.extend_from_slice(&rest[..before]);
        rest = &rest[before..];
        let known = rest.first().filter(|(number, _)| *number == delta.number).copied();
        if known.is_some() {
            rest = &rest[1..];
        }
        if !delta.is_removal() {
            let base = known.map_or_else(|| level.baseline(delta.number), |(_, state)| state);
            out.push((delta.number, delta.apply(&base)));
        }
    }
    out.extend_from_slice(rest);
}
