//! Generator of demos: messages of a recorded connection, with what a reader must find in them.
//!
//! It writes messages with the codecs, and has no code of the reader.

use std::collections::BTreeMap;

use fragd::{
    bg::{EntityType, Event},
    impairment::SeededRng,
    model::{
        ClientNum, CommandNum, ConfigIndex, EntityNum, EntityState, LevelTime, PlayerState, Vec3,
    },
    wire::{
        Protocol,
        bits::BitWriter,
        demo_file::write_record,
        gamestate,
        server_message::{self, ServerOp},
        snapshot::{self, SnapshotHeader, SnapshotView},
    },
};

/// Protocols of generated demos.
const PROTOCOLS: [&Protocol; 6] = [
    Protocol::Q3_68,
    Protocol::IOQ3_71,
    Protocol::Q3_43,
    Protocol::Q3_45,
    Protocol::Q3_48,
    Protocol::Q3_66,
];

/// Snapshot that a reader must show.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    pub(super) time: LevelTime,
    pub(super) player: PlayerState,
    pub(super) entities: Vec<EntityState>,
    /// Configstrings behind its message.
    pub(super) strings: BTreeMap<u16, String>,
    /// Chat in its message.
    pub(super) chat: Vec<String>,
    /// Time since the first snapshot, in ms.
    pub(super) at_ms: u64,
}

/// Content that a reader must find in a demo.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) shown: Vec<Shown>,
    pub(super) levels: usize,
    pub(super) errors: usize,
    pub(super) notes: usize,
    pub(super) frags: u32,
}

/// Demo that is written message by message.
pub(super) struct DemoFile {
    pub(super) rng: SeededRng,
    pub(super) protocol: &'static Protocol,
    pub(super) bytes: Vec<u8>,
    pub(super) found: Found,
    /// Sequence of the next message.
    pub(super) sequence: u32,
    /// Server time of the newest snapshot.
    pub(super) time: i32,
    /// Number of the newest command.
    pub(super) command: i32,
    /// Lowest distance of a delta base; 0 for a full snapshot.
    pub(super) is_full: bool,
    /// Bytes behind the next message.
    pub(super) spare: usize,
    /// Voice packets in the next message.
    pub(super) voices: usize,
    strings: BTreeMap<u16, String>,
    /// States of this level, by sequence.
    bases: Vec<(u32, PlayerState, Vec<EntityState>)>,
    player: PlayerState,
    entities: Vec<EntityState>,
    baseline: EntityState,
    /// Commands of the last messages, which are repeated.
    unacknowledged: Vec<(i32, String)>,
    /// Server time of the newest snapshot of the level, if it has one.
    last_time: Option<i32>,
    writer: BitWriter,
}

fn numbered(number: usize) -> EntityState {
    EntityState::numbered(EntityNum::new(number).unwrap())
}

impl DemoFile {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = SeededRng::new(seed);
        let protocol = PROTOCOLS[rng.below(PROTOCOLS.len() as u64) as usize];
        let (sequence, time, command) = (
            1 + rng.below(5000) as u32,
            100_000 + rng.below(400_000) as i32,
            rng.below(300) as i32,
        );
        Self {
            rng,
            protocol,
            bytes: Vec::new(),
            found: Found::default(),
            sequence,
            time,
            command,
            is_full: false,
            spare: 0,
            voices: 0,
            strings: BTreeMap::new(),
            bases: Vec::new(),
            player: PlayerState { client_num: 2, ..PlayerState::default() },
            entities: vec![numbered(70)],
            baseline: EntityState { e_type: 2, modelindex: 7, ..numbered(70) },
            unacknowledged: Vec::new(),
            last_time: None,
            writer: BitWriter::new(),
        }
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.rng.below(limit)
    }

    /// Appends a message as a record of the next sequence.
    pub(super) fn record(&mut self, message: &[u8]) {
        write_record(&mut self.bytes, self.sequence, message);
        self.sequence += 1;
    }

    /// Appends the gamestate of another level.
    pub(super) fn level(&mut self, map: &str) {
        self.found.levels += 1;
        self.strings = [
            (0, format!("\\mapname\\{map}\\protocol\\{}", self.protocol.number)),
            (1, format!("\\sv_serverid\\{}", self.found.levels)),
            (546, "n\\^1Ann\\t\\0".to_owned()),
            (549, "n\\Ben\\t\\0".to_owned()),
        ]
        .into();
        let location = self.protocol.numbers.sent_index(ConfigIndex::at(612)).unwrap();
        self.strings.insert(location.index() as u16, "^1Red base".to_owned());
        for _ in 0..self.below(40) {
            let (index, len) = (32 + self.below(400) as u16, 1 + self.below(40) as usize);
            self.strings.insert(index, "s".repeat(len));
        }
        self.bases.clear();
        self.last_time = None;
        self.unacknowledged.clear();
        server_message::begin(&mut self.writer, self.protocol, CommandNum(0));
        self.writer.byte(ServerOp::Gamestate as u8);
        gamestate::write(
            &mut self.writer,
            CommandNum(self.command),
            self.strings.iter().map(|(index, text)| (ConfigIndex::at(*index), text.as_bytes())),
            [self.baseline].iter(),
            ClientNum::new(2).unwrap(),
            // Older demos have none.
            self.protocol.encoding.messages.has_end_mark.then_some(77),
        );
        server_message::end(&mut self.writer);
        let message = self.writer.message().to_vec();
        self.record(&message);
    }

    /// Changes the states as half a second of play might.
    fn play(&mut self) {
        self.player.command_time = self.time;
        self.player.origin = Vec3::new(self.below(4000) as f32, self.below(4000) as f32, 24.5);
        for _ in 0..self.below(4) {
            let number = self.below(1000) as usize;
            match self.entities.binary_search_by_key(&(number as i32), |entity| entity.number) {
                Ok(at) => drop(self.entities.remove(at)),
                Err(at) if self.entities.len() < 60 => self.entities.insert(at, numbered(number)),
                Err(_) => {}
            }
        }
        for at in 0..self.entities.len() {
            if self.entities[at].number < 1000 && self.rng.chance(300) {
                let (value, type_number) = (self.below(9000), self.below(12) as i32);
                let entity = &mut self.entities[at];
                entity.pos.base = Vec3::new(value as f32 / 8.0, 1.0, -24.0);
                (entity.e_type, entity.event_parm) = (type_number, value as i32 & 0xff);
            }
        }
    }

    /// Numbers a command.
    fn numbered(&mut self, text: &str) -> (i32, String) {
        self.command += 1;
        (self.command, text.to_owned())
    }

    /// Appends a snapshot 50 ms later, with commands in front of it.
    pub(super) fn frame(&mut self, commands: &[&str]) {
        self.told(commands, &[]);
    }

    /// Appends a snapshot with commands, one of which is chat that a reader lists as `chat`.
    pub(super) fn told(&mut self, commands: &[&str], chat: &[&str]) {
        self.time += 50;
        self.play();
        let base = self.base();
        self.message(commands, base);
        let elapsed = self.last_time.map_or(0, |last| (self.time - last).max(0) as u64);
        let before = self.found.shown.last().map_or(0, |shown| shown.at_ms);
        self.last_time = Some(self.time);
        self.found.shown.push(Shown {
            time: LevelTime(self.time),
            player: self.player,
            entities: self.entities.clone(),
            strings: self.strings.clone(),
            chat: chat.iter().map(|&text| text.to_owned()).collect(),
            at_ms: before + elapsed,
        });
        self.bases.push((self.sequence - 1, self.player, self.entities.clone()));
    }

    /// Appends a snapshot with the obituary of a player whom another one has killed, and one without it.
    pub(super) fn frag(&mut self) {
        let obituary = EntityState {
            e_type: EntityType::with_event(Event::Obituary),
            event_parm: 7,
            other_entity_num: 5,
            other_entity_num2: 2,
            ..numbered(1010)
        };
        self.entities.extend(self.protocol.numbers.sent_entity(&obituary));
        self.found.frags += 1;
        self.frame(&[]);
        self.entities.retain(|entity| entity.number != 1010);
        self.frame(&[]);
    }

    /// Appends a snapshot whose delta base is not in the file.
    pub(super) fn baseless(&mut self, commands: &[&str]) {
        self.time += 50;
        self.sequence += 40;
        let (player, entities) = (PlayerState::default(), vec![numbered(9)]);
        self.message(commands, Some((3, player, entities)));
        self.found.errors += 1;
    }

    /// A delta base: one of the last snapshots, or none for a full snapshot.
    fn base(&mut self) -> Option<(u8, PlayerState, Vec<EntityState>)> {
        let sequence = self.sequence;
        self.bases.retain(|(base, ..)| sequence - base < 32);
        if std::mem::take(&mut self.is_full) || self.bases.is_empty() {
            return None;
        }
        let newest = if self.rng.chance(700) { 1 } else { 1 + self.below(6) as usize };
        let at = self.bases.len().saturating_sub(newest);
        let (base, player, entities) = self.bases[at].clone();
        Some(((sequence - base) as u8, player, entities))
    }

    fn message(&mut self, commands: &[&str], base: Option<(u8, PlayerState, Vec<EntityState>)>) {
        let new: Vec<_> = commands.iter().map(|text| self.numbered(text)).collect();
        // An acknowledgement is some messages late.
        if self.rng.chance(500) {
            self.unacknowledged.clear();
        }
        self.unacknowledged.extend(new);
        let writer = &mut self.writer;
        server_message::begin(writer, self.protocol, CommandNum(3));
        for (number, text) in &self.unacknowledged {
            server_message::write_command(writer, CommandNum(*number), text.as_bytes());
        }
        for number in 0..std::mem::take(&mut self.voices) {
            writer.byte(ServerOp::VoiceOpus as u8);
            writer.short(number as i16);
            writer.byte(1);
            writer.long(40);
            writer.byte(3);
            writer.short(2);
            writer.bits(1, 2);
            writer.byte(0xaa);
            writer.byte(0x55);
        }
        snapshot::begin(writer, CommandNum(3));
        let null = (PlayerState::default(), Vec::new());
        let (delta_num, player, entities) = base.unwrap_or((0, null.0, null.1));
        let head = SnapshotHeader {
            server_time: LevelTime(self.time),
            delta_num,
            ..SnapshotHeader::default()
        };
        let (nothing, baseline) = (EntityState::default(), self.baseline);
        snapshot::write(
            writer,
            &head,
            SnapshotView { player: &player, entities: entities.iter() },
            SnapshotView { player: &self.player, entities: self.entities.iter() },
            |number| if number == 70 { &baseline } else { &nothing },
        );
        server_message::end(writer);
        let mut message = writer.message().to_vec();
        message.resize(message.len() + std::mem::take(&mut self.spare), 0);
        self.record(&message);
    }

    /// Expects a configstring that the commands of the next message set.
    pub(super) fn expect_string(&mut self, index: u16, text: &str) {
        self.strings.insert(index, text.to_owned());
    }

    /// Changes a configstring with the commands that a server sends, in one message or in several.
    pub(super) fn string(&mut self, index: u16, text: &str, is_spread: bool) {
        let commands = server_message::configstring_commands(ConfigIndex::at(index), text);
        let commands: Vec<&str> = commands.iter().map(|command| &**command).collect();
        let in_front = if is_spread { commands.len() - 1 } else { 0 };
        for command in &commands[..in_front] {
            self.frame(&[command]);
        }
        self.strings.insert(index, text.to_owned());
        self.frame(&commands[in_front..]);
    }
}
