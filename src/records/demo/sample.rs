//! Sample demos of tests.

use crate::{
    bg::{EntityType, Event},
    model::{
        ClientNum, CommandNum, ConfigIndex, EntityNum, EntityState, LevelTime, PlayerState, Vec3,
    },
    wire::{
        Protocol,
        bits::BitWriter,
        demo_file::{END_MARK, write_record},
        gamestate,
        server_message::{self, ServerOp},
        snapshot::{self, SnapshotHeader, SnapshotView},
    },
};

/// Server time of the gamestate.
pub(crate) const START: i32 = 10_000;
/// Snapshots of [`duel`].
pub(crate) const SNAPSHOTS: usize = 60;

/// A demo that is written message by message.
pub(crate) struct SampleDemo {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sequence: u32,
    pub(crate) time: i32,
    pub(crate) player: PlayerState,
    pub(crate) entities: Vec<EntityState>,
    last: (PlayerState, Vec<EntityState>),
    baselines: [EntityState; 1],
    writer: BitWriter,
    protocol: &'static Protocol,
}

impl SampleDemo {
    /// A demo with the gamestate of a duel of clients 2 and 5.
    pub(crate) fn new() -> Self {
        Self::with_serverinfo("\\mapname\\oa_dm1\\g_gametype\\0\\sv_hostname\\Sample")
    }

    /// The same with another serverinfo.
    pub(crate) fn with_serverinfo(serverinfo: &str) -> Self {
        Self::of(Protocol::Q3_68, serverinfo)
    }

    /// The same in a protocol. States and texts are given in numbers of 1.32.
    pub(crate) fn of(protocol: &'static Protocol, serverinfo: &str) -> Self {
        let mut demo = Self {
            bytes: Vec::new(),
            sequence: 40,
            time: START,
            player: PlayerState { client_num: 2, ..PlayerState::default() },
            entities: vec![EntityState {
                e_type: EntityType::Player as i32,
                client_num: 5,
                ..numbered(5)
            }],
            last: Default::default(),
            baselines: [EntityState { e_type: 2, ..numbered(70) }],
            writer: BitWriter::new(),
            protocol,
        };
        demo.gamestate(serverinfo);
        demo
    }

    /// Appends the gamestate of a level.
    pub(crate) fn gamestate(&mut self, serverinfo: &str) {
        server_message::begin(&mut self.writer, self.protocol, CommandNum(0));
        self.writer.byte(ServerOp::Gamestate as u8);
        let strings: [(u16, &str); 7] = [
            (0, serverinfo),
            (1, "\\sv_serverid\\7"),
            (5, "old"),
            (21, "700"),
            (546, "n\\^1Ann\\t\\0"),
            (549, "n\\Ben\\t\\0"),
            (612, "Base"),
        ];
        let strings: Vec<_> = strings
            .iter()
            .filter_map(|(at, text)| self.protocol.sent_configstring(ConfigIndex::at(*at), text))
            .collect();
        gamestate::write(
            &mut self.writer,
            CommandNum(0),
            strings.iter().map(|(index, text)| (*index, text.as_bytes())),
            self.baselines.iter(),
            ClientNum::new(2).expect("a slot"),
            self.protocol.encoding.messages.has_end_mark.then_some(99),
        );
        server_message::end(&mut self.writer);
        let message = self.writer.message().to_vec();
        self.record(&message);
    }

    /// Appends a record of the next sequence.
    pub(crate) fn record(&mut self, message: &[u8]) {
        write_record(&mut self.bytes, self.sequence, message);
        self.sequence += 1;
    }

    /// Appends a snapshot of the states, 50 ms later, and commands in front of it.
    pub(crate) fn snapshot(&mut self, is_delta: bool, commands: &[(i32, &str)]) {
        let message = self.encoded(is_delta, commands);
        self.record(&message);
    }

    /// Message of the next snapshot.
    pub(crate) fn encoded(&mut self, is_delta: bool, commands: &[(i32, &str)]) -> Vec<u8> {
        self.time += 50;
        self.player.command_time = self.time;
        server_message::begin(&mut self.writer, self.protocol, CommandNum(3));
        // Texts of commands are those of 1.32 that the older game has, too.
        for (number, text) in commands {
            server_message::write_command(&mut self.writer, CommandNum(*number), text.as_bytes());
        }
        snapshot::begin(&mut self.writer, CommandNum(0));
        let head = SnapshotHeader {
            server_time: LevelTime(self.time),
            delta_num: u8::from(is_delta),
            ..SnapshotHeader::default()
        };
        let numbers = self.protocol.numbers;
        let player = numbers.sent_player(&self.player);
        let entities: Vec<_> =
            self.entities.iter().filter_map(|entity| numbers.sent_entity(entity)).collect();
        let zero = (PlayerState::default(), Vec::new());
        let (old_player, old) = if is_delta { &self.last } else { &zero };
        let nothing = EntityState::default();
        snapshot::write(
            &mut self.writer,
            &head,
            SnapshotView { player: old_player, entities: old.iter() },
            SnapshotView { player: &player, entities: entities.iter() },
            |number| self.baselines.iter().find(|state| state.number == number).unwrap_or(&nothing),
        );
        server_message::end(&mut self.writer);
        self.last = (player, entities);
        self.writer.message().to_vec()
    }

    /// Shows an obituary in the next snapshots, until [`Self::clear_events`].
    pub(crate) fn obituary(&mut self, victim: i32, killer: i32, means: i32) {
        self.entities.push(EntityState {
            e_type: EntityType::with_event(Event::Obituary),
            event_parm: means,
            other_entity_num: victim,
            other_entity_num2: killer,
            ..numbered(90)
        });
    }

    /// Removes event entities.
    pub(crate) fn clear_events(&mut self) {
        self.entities.retain(|entity| entity.e_type < EntityType::Events as i32);
    }

    /// Ends the demo.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.bytes.extend(END_MARK);
        self.bytes
    }
}

fn numbered(number: usize) -> EntityState {
    EntityState::numbered(EntityNum::new(number).expect("a number"))
}

/// A demo of three seconds: two frags, chat, and commands that are repeated.
pub(crate) fn duel() -> Vec<u8> {
    duel_of(Protocol::Q3_68)
}

/// The same in a protocol.
pub(crate) fn duel_of(protocol: &'static Protocol) -> Vec<u8> {
    let mut demo =
        SampleDemo::of(protocol, "\\mapname\\oa_dm1\\g_gametype\\0\\sv_hostname\\Sample");
    for number in 0..SNAPSHOTS {
        demo.player.origin = Vec3::new(number as f32 + 1.0, 0.0, 24.0);
        demo.entities[0].pos.base = Vec3::new(0.0, number as f32 * 4.0, 24.0);
        match number {
            20 => demo.obituary(5, 2, 10),
            40 => demo.obituary(2, 1022, 19),
            26 | 46 => demo.clear_events(),
            _ => {}
        }
        let commands: &[(i32, &str)] = match number {
            10..=12 => &[(1, "cs 5 \"new\""), (2, "chat \"^1Ann^7: hello\"")],
            30 => &[(3, "cs 549 \"n\\Benny\\t\\0\"")],
            _ => &[],
        };
        demo.snapshot(number > 0, commands);
    }
    demo.finish()
}
