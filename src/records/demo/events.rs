//! Events of a demo: frags, flags, chat, levels, and names of players, with their times.
//!
//! A frag is an obituary entity. It is in the snapshots of a third of a second and counts once, as in a
//! client: an entity with an event has it when it appears. Source: the base game's client.
//! Engine names: `CG_Obituary`, `CG_CheckEvents`.

use std::{fmt, sync::Arc};

use crate::{
    bg::{EntityType, Event, MeansOfDeath, TeamSound, configstring},
    client::CommandEffect,
    model::{
        ClientNum, CommandArgs, ConfigIndex, EntityState, LevelTime,
        text::{ColorCodes, atoi},
    },
    wire::{Protocol, info::InfoString},
};

use super::{
    chat::{self, ChatWords},
    clock::DemoClock,
    reader::{DemoMessage, DemoReader, DemoSnapshot},
};

/// Client number and name of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoPlayer {
    /// Client number.
    pub number: ClientNum,
    /// Name without color codes.
    pub name: String,
}

/// Event of a demo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoEvent {
    /// Time since the first snapshot of the demo, in ms.
    pub demo_ms: u64,
    /// Server time of the newest snapshot.
    pub time: LevelTime,
    /// Position of its message in the file, in bytes.
    pub offset: usize,
    /// Content.
    pub kind: DemoEventKind,
}

/// Kinds of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DemoEventKind {
    /// Level begins.
    Level {
        /// Name of the map.
        map: String,
    },
    /// Level restarts in place.
    Restart,
    /// Player dies.
    Frag {
        /// Player who dies.
        victim: DemoPlayer,
        /// Player who killed; `None` for the world.
        killer: Option<DemoPlayer>,
        /// Name of the means of death.
        means: &'static str,
    },
    /// Flag taken, returned or captured.
    Flag(&'static str),
    /// Chat.
    Chat {
        /// Whether it was for a team.
        is_team: bool,
        /// Text, with the name of the player.
        text: String,
    },
    /// Text of the server or the game to the player.
    Print(String),
    /// Player enters, or changes the name.
    Name(DemoPlayer),
    /// Player leaves.
    Leave(DemoPlayer),
    /// Server ends the connection, with the reason.
    Disconnect(String),
}

impl DemoEventKind {
    /// Name in JSON output.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Level { .. } => "level",
            Self::Restart => "restart",
            Self::Frag { .. } => "frag",
            Self::Flag(_) => "flag",
            Self::Chat { is_team: false, .. } => "chat",
            Self::Chat { is_team: true, .. } => "team_chat",
            Self::Print(_) => "print",
            Self::Name(_) => "name",
            Self::Leave(_) => "leave",
            Self::Disconnect(_) => "disconnect",
        }
    }
}

impl fmt::Display for DemoEventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level { map } => write!(f, "level: {map}"),
            Self::Restart => f.write_str("level restarted"),
            Self::Frag { victim, killer: Some(killer), means }
                if killer.number == victim.number =>
            {
                write!(f, "frag: {} killed themselves ({means})", victim.name)
            }
            Self::Frag { victim, killer: Some(killer), means } => {
                write!(f, "frag: {} killed {} ({means})", killer.name, victim.name)
            }
            Self::Frag { victim, killer: None, means } => {
                write!(f, "frag: {} died ({means})", victim.name)
            }
            Self::Flag(what) => write!(f, "flag: {what}"),
            Self::Chat { is_team: false, text } => write!(f, "chat: {text}"),
            Self::Chat { is_team: true, text } => write!(f, "team chat: {text}"),
            Self::Print(text) => write!(f, "print: {text}"),
            Self::Name(player) => write!(f, "client {}: {}", player.number, player.name),
            Self::Leave(player) => write!(f, "client {} left: {}", player.number, player.name),
            Self::Disconnect(reason) => write!(f, "disconnect: {reason}"),
        }
    }
}

/// Finder of events in the messages of one demo.
#[derive(Debug, Default)]
pub struct EventFinder {
    clock: DemoClock,
    last: Option<Arc<DemoSnapshot>>,
    /// Names without colors, by client number.
    names: Vec<Option<String>>,
    /// Color codes that names and texts do not show.
    colors: ColorCodes,
}

impl EventFinder {
    /// A finder that removes these color codes from names and texts.
    #[must_use]
    pub fn with_colors(colors: ColorCodes) -> Self {
        Self { colors, ..Self::default() }
    }

    /// Passes the events of a message to `found`. Must be called for every message, behind the reader.
    pub fn read(
        &mut self,
        reader: &DemoReader<'_>,
        message: &DemoMessage<'_>,
        found: &mut dyn FnMut(DemoEvent),
    ) {
        let demo_ms = self.clock.advance(message);
        let time = self.clock.server_time();
        let mut found = |kind| found(DemoEvent { demo_ms, time, offset: message.offset, kind });
        if message.gamestate.is_some() {
            self.last = None;
            self.names.clear();
            let info = InfoString::parse_big(reader.configstring(ConfigIndex::SERVERINFO));
            found(DemoEventKind::Level { map: info.get("mapname").unwrap_or("").to_owned() });
            ClientNum::all().for_each(|number| self.read_name(reader, number, &mut found));
        }
        for command in message.commands.iter().filter(|command| command.is_new) {
            match &command.effect {
                Some(CommandEffect::Configstring(index)) => {
                    let index = reader.protocol().numbers.received_index(*index);
                    let number = index
                        .and_then(|index| index.index().checked_sub(configstring::PLAYERS.into()));
                    if let Some(number) = number.and_then(ClientNum::new) {
                        self.read_name(reader, number, &mut found);
                    }
                }
                Some(CommandEffect::MapRestart) => found(DemoEventKind::Restart),
                Some(CommandEffect::Disconnect(reason)) => {
                    found(DemoEventKind::Disconnect(self.plain(reason)));
                }
                Some(CommandEffect::Piece | CommandEffect::Passed) => {}
                None => self.found_text(reader, &command.text, &mut found),
            }
        }
        if let Some(snapshot) = &message.snapshot {
            for entity in new_events(reader.protocol(), self.last.as_deref(), snapshot) {
                self.entity_event(&entity, &mut found);
            }
            self.last = Some(Arc::clone(snapshot));
        }
    }

    /// Time since the first snapshot, in ms.
    #[must_use]
    pub const fn elapsed_ms(&self) -> u64 {
        self.clock.elapsed_ms()
    }

    /// Name of a player without color codes; the client number where no name is known.
    #[must_use]
    pub fn player(&self, number: ClientNum) -> DemoPlayer {
        let name = self.names.get(number.index()).and_then(Option::as_deref);
        DemoPlayer { number, name: name.map_or_else(|| format!("client {number}"), str::to_owned) }
    }

    fn read_name(
        &mut self,
        reader: &DemoReader<'_>,
        number: ClientNum,
        found: &mut dyn FnMut(DemoEventKind),
    ) {
        let info = InfoString::parse_big(reader.game_string(configstring::player(number)));
        let name = info.get("n").map(|name| self.plain(name));
        self.names.resize(self.names.len().max(number.index() + 1), None);
        let before = std::mem::replace(&mut self.names[number.index()], name.clone());
        match (before, name) {
            (Some(name), None) => found(DemoEventKind::Leave(DemoPlayer { number, name })),
            (before, Some(name)) if before.as_ref() != Some(&name) => {
                found(DemoEventKind::Name(DemoPlayer { number, name }));
            }
            _ => {}
        }
    }

    fn found_text(
        &self,
        reader: &DemoReader<'_>,
        command: &str,
        found: &mut dyn FnMut(DemoEventKind),
    ) {
        // Most commands are scores and team overlays; those are not split into words.
        let Some(name) = command.split_ascii_whitespace().next() else { return };
        if name == "print" {
            let text = self.plain(CommandArgs::parse(command).get(1));
            match text {
                text if text.is_empty() => {}
                text if text.starts_with(chat::SERVER_SAYS) => {
                    found(DemoEventKind::Chat { is_team: false, text });
                }
                text => found(DemoEventKind::Print(text)),
            }
            return;
        }
        let Some(form) = chat::form_of(name) else { return };
        let words = CommandArgs::parse(command);
        let client = |at| usize::try_from(atoi(words.get(at))).ok().and_then(ClientNum::new);
        let speaker = |at| client(at).map_or_else(String::new, |number| self.player(number).name);
        let text = match form.words {
            ChatWords::Text => self.plain(words.get(1)),
            ChatWords::Location => {
                let location = usize::try_from(atoi(words.get(2))).ok();
                let location = location.and_then(configstring::location);
                let location = location.map_or("", |index| reader.game_string(index));
                let location = match self.plain(location) {
                    unnamed if unnamed.is_empty() => String::new(),
                    location => format!(" ({location})"),
                };
                format!("({}){location}: {}", speaker(1), self.plain(&words.rest(3)))
            }
            ChatWords::Voice => format!("{}: [{}]", speaker(2), self.plain(words.get(4))),
        };
        found(DemoEventKind::Chat { is_team: form.is_team, text });
    }

    /// Text without color codes and control characters, e.g. the separators of chat.
    fn plain(&self, told: &str) -> String {
        self.colors.strip(told).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn entity_event(&self, entity: &EntityState, found: &mut dyn FnMut(DemoEventKind)) {
        let client = |number: i32| usize::try_from(number).ok().and_then(ClientNum::new);
        match Event::try_from(entity.e_type - EntityType::Events as i32) {
            Ok(Event::Obituary) => {
                let Some(victim) = client(entity.other_entity_num) else { return };
                found(DemoEventKind::Frag {
                    victim: self.player(victim),
                    killer: client(entity.other_entity_num2).map(|number| self.player(number)),
                    means: MeansOfDeath::try_from(entity.event_parm)
                        .unwrap_or(MeansOfDeath::Unknown)
                        .name(),
                });
            }
            Ok(Event::GlobalTeamSound) => {
                if let Ok(sound) = TeamSound::try_from(entity.event_parm)
                    && let Some(text) = flag_text(sound)
                {
                    found(DemoEventKind::Flag(text));
                }
            }
            _ => {}
        }
    }
}

/// Entities whose event appears in a snapshot, in numbers of 1.32.
fn new_events<'a>(
    protocol: &'static Protocol,
    last: Option<&'a DemoSnapshot>,
    snapshot: &'a DemoSnapshot,
) -> impl Iterator<Item = EntityState> {
    let before = last.map_or(&[][..], |last| &last.entities);
    let first = protocol.numbers.first_event_type();
    let new = snapshot.entities.iter().filter(move |entity| {
        entity.e_type > first
            && !before
                .binary_search_by_key(&entity.number, |old| old.number)
                .is_ok_and(|at| before[at].e_type == entity.e_type)
    });
    new.map(move |entity| protocol.numbers.received_entity(entity))
}

fn flag_text(sound: TeamSound) -> Option<&'static str> {
    match sound {
        TeamSound::RedCaptured => Some("red captured the blue flag"),
        TeamSound::BlueCaptured => Some("blue captured the red flag"),
        TeamSound::BlueReturned => Some("blue flag returned"),
        TeamSound::RedReturned => Some("red flag returned"),
        TeamSound::RedTook => Some("red took the blue flag"),
        TeamSound::BlueTook => Some("blue took the red flag"),
        TeamSound::RedScored
        | TeamSound::BlueScored
        | TeamSound::RedLeads
        | TeamSound::BlueLeads
        | TeamSound::Tied
        | TeamSound::Kamikaze => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample::{self, SampleDemo};

    fn events(demo: &[u8]) -> Vec<(u64, String)> {
        events_of(Protocol::Q3_68, demo)
    }

    fn events_of(protocol: &'static Protocol, demo: &[u8]) -> Vec<(u64, String)> {
        let mut reader = DemoReader::new(protocol, demo);
        let mut finder = EventFinder::default();
        let mut found = Vec::new();
        while let Some(item) = reader.next() {
            let Ok(message) = item else { continue };
            finder.read(&reader, &message, &mut |event| {
                found.push((event.demo_ms, event.kind.to_string()));
            });
        }
        found
    }

    #[test]
    fn events_have_names_and_times() {
        let expected = [
            (0, "level: oa_dm1"),
            (0, "client 2: Ann"),
            (0, "client 5: Ben"),
            (500, "chat: Ann: hello"),
            (1000, "frag: Ann killed Ben (MOD_RAILGUN)"),
            (1500, "client 5: Benny"),
            (2000, "frag: Ann died (MOD_FALLING)"),
        ];
        let expected = expected.map(|(at, text)| (at, text.to_owned()));
        for protocol in [Protocol::Q3_68, Protocol::Q3_43, Protocol::Q3_48, Protocol::Q3_67] {
            assert_eq!(events_of(protocol, &sample::duel_of(protocol)), expected, "{protocol}");
        }
    }

    #[test]
    fn flags_and_commands_are_events() {
        let mut demo = SampleDemo::new();
        demo.snapshot(false, &[(1, "map_restart\n"), (2, "print \"^1Red^7 \n\"")]);
        demo.entities.push(EntityState {
            number: 80,
            e_type: EntityType::with_event(Event::GlobalTeamSound),
            event_parm: TeamSound::RedTook as i32,
            ..EntityState::default()
        });
        demo.snapshot(true, &[(3, "tchat \"\u{19}Ann\u{19}: go\""), (4, "cs 549 \"\"")]);
        demo.snapshot(true, &[(5, "scores 0 0 0"), (6, "disconnect \"bye\"")]);
        let found: Vec<_> = events(&demo.finish()).split_off(3);
        let expected = [
            (0, "level restarted"),
            (0, "print: Red"),
            (50, "team chat: Ann: go"),
            (50, "client 5 left: Ben"),
            (50, "flag: red took the blue flag"),
            (100, "disconnect: bye"),
        ];
        assert_eq!(found, expected.map(|(at, text)| (at, text.to_owned())));
    }

    #[test]
    fn chat_of_mods_is_listed_as_chat() {
        let mut demo = SampleDemo::new();
        demo.snapshot(false, &[(1, "cs 612 \"^1Red base\""), (2, "mm2 2 4 \"TOOK ^4QUAD\"")]);
        demo.snapshot(
            true,
            &[(3, "mm2 5 0 two words"), (4, "mm2 99 -1 x"), (5, "tell \"[Ann]: hi\"")],
        );
        demo.snapshot(true, &[(6, "vtchat 0 5 50 \"yes\""), (7, "print \"server: soon\n\"")]);
        demo.snapshot(true, &[(8, "mm3 2 4 \"unknown\""), (9, "tinfo 0")]);
        let found: Vec<_> = events(&demo.finish()).split_off(3);
        let expected = [
            (0, "team chat: (Ann) (Red base): TOOK QUAD"),
            (50, "team chat: (Ben): two words"),
            (50, "team chat: (): x"),
            (50, "chat: [Ann]: hi"),
            (100, "team chat: Ben: [yes]"),
            (100, "chat: server: soon"),
        ];
        assert_eq!(found, expected.map(|(at, text)| (at, text.to_owned())));
    }

    #[test]
    fn hex_colors_are_removed_on_request() {
        let mut demo = SampleDemo::new();
        demo.snapshot(false, &[(1, "cs 549 \"n\\^xFF8000Benny\""), (2, "chat \"^xF0FBen: ^xhi\"")]);
        let demo = demo.finish();
        for (colors, name, chat) in [
            (ColorCodes::Short, "FF8000Benny", "F0FBen: hi"),
            (ColorCodes::Hex, "Benny", "Ben: hi"),
        ] {
            let mut reader = DemoReader::new(Protocol::Q3_68, &demo);
            let mut finder = EventFinder::with_colors(colors);
            let mut found = Vec::new();
            while let Some(item) = reader.next() {
                let message = item.expect("a message");
                finder.read(&reader, &message, &mut |event| found.push(event.kind.to_string()));
            }
            assert_eq!(found[3..], [format!("client 5: {name}"), format!("chat: {chat}")]);
        }
    }
}
