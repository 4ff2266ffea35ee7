//! Content of a packet: kind, parts, choke, delta base, usercmds to run. Read to its end before anything counts.

use crate::{
    quakeworld::{
        ClientMessage, Extensions, MessageError, ServerMessage, Usercmd,
        packet::{ClientMessages, ServerMessages},
    },
    trace::{
        parts::{Part, PartBits},
        record::{Direction, RecordKind},
    },
};

/// Content of a packet.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub(super) kind: RecordKind,
    pub(super) bits: PartBits,
    /// Extensions in force behind it.
    pub(super) extensions: Extensions,
    /// Whether a level starts.
    pub(super) has_level: bool,
    pub(super) choked: u32,
    pub(super) entities: u32,
    pub(super) players: u32,
    /// Entity update, with the low byte of its base.
    pub(super) update: Option<Option<u8>>,
    /// Low byte of the base that a client asks for.
    pub(super) asked_base: Option<u8>,
    pub(super) runs: Option<(u8, u32)>,
    pub(super) has_bad_checksum: bool,
}

impl Content {
    fn new(extensions: Extensions) -> Self {
        Self {
            kind: RecordKind::Empty,
            bits: PartBits::default(),
            extensions,
            has_level: false,
            choked: 0,
            entities: 0,
            players: 0,
            update: None,
            asked_base: None,
            runs: None,
            has_bad_checksum: false,
        }
    }

    /// Reads the payload of a packet with this sequence, after `lost` missing ones.
    pub(super) fn read(
        direction: Direction,
        payload: &[u8],
        extensions: Extensions,
        sequence: u32,
        lost: u32,
    ) -> Result<Self, MessageError> {
        let mut content = Self::new(extensions);
        match direction {
            Direction::ToClient => {
                let mut messages = ServerMessages::new(payload, extensions);
                let mut start = 0;
                while let Some(message) = messages.next() {
                    let part = content.add_from_server(&message?);
                    content.add(part, messages.offset() - start);
                    start = messages.offset();
                }
                content.extensions = messages.extensions();
            }
            Direction::ToServer => {
                let mut messages = ClientMessages::new(payload, extensions);
                let mut start = 0;
                while let Some(message) = messages.next() {
                    let part = content.add_from_client(&message?, sequence, lost);
                    content.add(part, messages.offset() - start);
                    start = messages.offset();
                }
            }
        }
        Ok(content)
    }

    /// Counts a message. The part of highest rank is the kind of the packet.
    fn add(&mut self, part: Part, bytes: usize) {
        self.bits.add(part, bytes * 8);
        let kind = match part {
            Part::Configstrings | Part::Baselines => RecordKind::Gamestate,
            Part::Player | Part::Entities => RecordKind::Snapshot,
            Part::Download => RecordKind::Download,
            Part::Usercmds => RecordKind::Usercmds,
            Part::Voice => RecordKind::Voice,
            _ => RecordKind::Commands,
        };
        if rank(kind) > rank(self.kind) {
            self.kind = kind;
        }
    }

    fn add_from_server(&mut self, message: &ServerMessage<'_>) -> Part {
        use ServerMessage as Of;
        match message {
            Of::ServerData(_) => {
                self.has_level = true;
                Part::Configstrings
            }
            Of::ModelList(_) | Of::SoundList(_) | Of::ModelListShort(_) => Part::Configstrings,
            Of::SpawnStatic(_)
            | Of::SpawnStatic2(_)
            | Of::SpawnBaseline { .. }
            | Of::SpawnBaseline2(_)
            | Of::SpawnStaticSound { .. } => Part::Baselines,
            Of::PlayerInfo(_) => {
                self.players += 1;
                Part::Player
            }
            Of::PacketEntities(deltas) => {
                self.entities = deltas.iter().count() as u32;
                self.update = Some(None);
                Part::Entities
            }
            Of::DeltaPacketEntities { from, deltas } => {
                self.entities = deltas.iter().count() as u32;
                self.update = Some(Some(*from));
                Part::Entities
            }
            Of::ChokeCount { count } => {
                self.choked += u32::from(*count);
                Part::Snapshot
            }
            Of::Download(_) => Part::Download,
            Of::Voice(_) => Part::Voice,
            _ => Part::Commands,
        }
    }

    fn add_from_client(&mut self, message: &ClientMessage<'_>, sequence: u32, lost: u32) -> Part {
        match message {
            ClientMessage::Move(moves) => {
                // Only the first move of a packet counts.
                if self.runs.is_none() {
                    let mut count = 0;
                    moves.run_after_loss(lost, &Usercmd::ZERO, |_| count += 1);
                    let own = lost.min(2) + 1;
                    self.runs = Some((own as u8, count - own));
                    self.has_bad_checksum = !moves.is_valid(sequence);
                }
                Part::Usercmds
            }
            ClientMessage::Delta { sequence } => {
                self.asked_base = Some(*sequence);
                Part::Header
            }
            ClientMessage::Upload(_) => Part::Download,
            ClientMessage::Voice(_) => Part::Voice,
            ClientMessage::TeleportMove { .. } => Part::Usercmds,
            ClientMessage::Nop | ClientMessage::StringCommand { .. } => Part::Commands,
        }
    }
}

/// Importance of a kind.
const fn rank(kind: RecordKind) -> u8 {
    match kind {
        RecordKind::Gamestate => 6,
        RecordKind::Snapshot => 5,
        RecordKind::Download => 4,
        RecordKind::Usercmds => 3,
        RecordKind::Voice => 2,
        RecordKind::Commands => 1,
        _ => 0,
    }
}
