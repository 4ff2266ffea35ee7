//! Numbers of the game in each protocol: events, entity types, animations, configstrings and so on.
//!
//! fragd uses the numbers of 1.32 everywhere. A connection or demo of protocol 43 or 45 has others; its states, texts
//! and usercmds are translated where they enter and leave. Numbers that the older game lacks are not sent: its client
//! ends the connection for some, and shows a wrong effect for others.
//!
//! Invariants: a state that is sent holds only numbers that the older game has; the translation of a state depends on
//! nothing but the state, so that both sides of a delta agree.
//! Source: `tests/vectors/map_68_to_43.csv`, tried with a client game of 1.16n. Engine names: `EV_*`, `ET_*`, `CS_*`,
//! `PERS_*`.

use std::borrow::Cow;

use super::{
    info::InfoString,
    number_tables::{
        CONFIGSTRINGS, CONFIGSTRINGS_QUAKE_LIVE, EVENTS, EVENTS_QUAKE_LIVE, PERSISTENT,
        PERSISTENT_QUAKE_LIVE, Table,
    },
    protocol::Protocol,
};
use crate::model::{ConfigIndex, EntityState, PlayerState, UserCmd, text::truncated};

/// Numbers of events, entity types, animations, configstrings and other vocabulary of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameNumbers {
    /// Those of 1.32.
    Current,
    /// Those of 1.11 to 1.17.
    Release116,
    /// Those of Quake Live, which are read from demos and not sent.
    QuakeLive,
}

/// First entity type of events: the type less this number is the event.
const FIRST_EVENT_TYPE: [i32; 2] = [13, 12];
/// Entity type of an item and of a team.
const ITEM_TYPE: i32 = 2;
const TEAM_TYPE: i32 = 12;
/// Last item and last weapon that the older game has.
const LAST_ITEM: i32 = 35;
const LAST_WEAPON: i32 = 10;
/// Bits of an event besides its number, which change when it repeats.
const EVENT_TOGGLES: i32 = 0x300;
/// Bit of an animation that changes when it repeats.
const ANIMATION_TOGGLE: i32 = 0x80;
/// Flags of an entity that the older game has.
const ENTITY_FLAGS: i32 = 0xffff;
/// `pm_flags` that the older game has.
const MOVE_FLAGS: i32 = !(1 << 14);
/// `pm_type` of an intermission of single player, and the older number.
const SINGLE_PLAYER_INTERMISSION: [i32; 2] = [6, 5];
/// Button of any key: of 1.32 and of the older game.
const ANY_KEY: [i32; 2] = [2048, 128];
/// Buttons that both have at one place.
const BUTTONS: i32 = 0x1f;
/// Number of characters of the list of items.
const ITEM_LIST_LEN: usize = 36;
/// Numbers per player in `scores`.
const SCORES_PER_PLAYER: [usize; 2] = [14, 6];
/// Longest values of players in `scores`.
const MAX_SCORES_LEN: usize = 980;
/// Longest value of a configstring in one command.
const MAX_CHANGE_LEN: usize = 990;

/// Commands that the older game has, besides those that are translated.
const COMMANDS: [&str; 9] = [
    "print",
    "chat",
    "tchat",
    "cp",
    "tinfo",
    "map_restart",
    "loaddefered",
    "clientLevelShot",
    "rank",
];
/// Keys of a player's configstring that the older game reads.
const PLAYER_KEYS: [&str; 8] = ["n", "t", "model", "c1", "hc", "w", "l", "skill"];
/// Keys of the systeminfo that original servers send, in both spellings.
const SYSTEM_KEYS: [[&str; 2]; 7] = [
    ["sv_serverid", "sv_serverid"],
    ["sv_pure", "sv_pure"],
    ["sv_paks", "sv_paks"],
    ["timescale", "timescale"],
    ["sv_cheats", "sv_cheats"],
    ["g_synchronousClients", "g_syncronousClients"],
    ["fs_game", "fs_game"],
];
/// Configstrings with a form of their own, and the players' entries.
const SERVERINFO: usize = 0;
const SYSTEMINFO: usize = 1;
const ITEMS: usize = 27;
const PLAYERS: std::ops::Range<usize> = 544..608;

/// Whether a configstring is the entry of a player, which has one place in all protocols.
#[must_use]
pub fn is_player_entry(index: ConfigIndex) -> bool {
    PLAYERS.contains(&index.index())
}

/// Returns an animation that the older game has.
fn older_animation(animation: i32) -> i32 {
    let toggle = animation & ANIMATION_TOGGLE;
    toggle
        | match animation & !ANIMATION_TOGGLE {
            // Backing off crouched and walking: forward crouched, and running.
            32 => 13,
            33 => 16,
            // Gestures of a team.
            25..=30 => 6,
            older @ 0..=24 => older,
            _ => 0,
        }
}

/// Returns an event that the older game has, or none.
fn older_event(event: i32) -> i32 {
    EVENTS.older(event & !EVENT_TOGGLES).map_or(0, |older| event & EVENT_TOGGLES | older)
}

/// Returns the sum of a player's awards, and the kind of the newest one by the flags of the player.
fn older_rewards(player: &PlayerState) -> [i32; 2] {
    let [impressive, excellent, humiliation] = [9, 10, 13].map(|at: usize| player.persistant[at]);
    let kind = match player.e_flags {
        flags if flags & (1 << 15) != 0 => 1,
        flags if flags & (1 << 3) != 0 => 2,
        flags if flags & (1 << 18) != 0 => 3,
        flags if flags & (1 << 6) != 0 => 4,
        _ => 0,
    };
    [impressive.wrapping_add(excellent).wrapping_add(humiliation), kind]
}

impl GameNumbers {
    /// Whether the numbers are those that fragd uses.
    #[must_use]
    pub const fn is_current(self) -> bool {
        matches!(self, Self::Current)
    }

    /// Returns an entity as it is sent, or `None` if the older game has no such entity.
    #[must_use]
    pub fn sent_entity(self, entity: &EntityState) -> Option<EntityState> {
        if self.is_current() {
            return Some(*entity);
        }
        let [first, older_first] = FIRST_EVENT_TYPE;
        let e_type = match entity.e_type {
            TEAM_TYPE => return None,
            ITEM_TYPE if !(1..=LAST_ITEM).contains(&entity.modelindex) => return None,
            event if event >= first => {
                EVENTS.older(event.wrapping_sub(first))?.wrapping_add(older_first)
            }
            other => other,
        };
        if !(0..=LAST_WEAPON).contains(&entity.weapon) {
            return None;
        }
        Some(EntityState {
            e_type,
            event: older_event(entity.event),
            e_flags: entity.e_flags & ENTITY_FLAGS,
            legs_anim: older_animation(entity.legs_anim),
            torso_anim: older_animation(entity.torso_anim),
            generic1: 0,
            ..*entity
        })
    }

    /// Returns an entity as the base of a delta: the null state for one that is not sent.
    #[must_use]
    pub fn sent_base(self, entity: &EntityState) -> EntityState {
        let hidden = || EntityState { number: entity.number, ..EntityState::default() };
        self.sent_entity(entity).unwrap_or_else(hidden)
    }

    /// Returns the first entity type of events: the type less this number is the event.
    #[must_use]
    pub const fn first_event_type(self) -> i32 {
        FIRST_EVENT_TYPE[matches!(self, Self::Release116) as usize]
    }

    /// Returns an event that was received, without its toggles, in numbers of 1.32; `None` if 1.32 has none.
    #[must_use]
    pub fn received_event(self, event: i32) -> Option<i32> {
        match self {
            Self::Current => Some(event),
            Self::Release116 => EVENTS.newer(event),
            Self::QuakeLive => EVENTS_QUAKE_LIVE.newer(event),
        }
    }

    /// Returns the place of a persistent value that was received; `None` if 1.32 has none.
    #[must_use]
    pub fn received_persistent(self, at: usize) -> Option<usize> {
        let table = match self {
            Self::Current => return Some(at),
            Self::Release116 => &PERSISTENT,
            Self::QuakeLive => &PERSISTENT_QUAKE_LIVE,
        };
        table.newer(at as i32).and_then(|newer| usize::try_from(newer).ok())
    }

    fn received_toggled(self, event: i32) -> i32 {
        let newer = self.received_event(event & !EVENT_TOGGLES);
        newer.map_or(0, |newer| event & EVENT_TOGGLES | newer)
    }

    /// Returns an entity that was received, in numbers of 1.32.
    #[must_use]
    pub fn received_entity(self, entity: &EntityState) -> EntityState {
        if self.is_current() {
            return *entity;
        }
        let (first, older_first) = (FIRST_EVENT_TYPE[0], self.first_event_type());
        let e_type = if entity.e_type >= older_first {
            first + self.received_event(entity.e_type.wrapping_sub(older_first)).unwrap_or(0)
        } else {
            entity.e_type
        };
        EntityState { e_type, event: self.received_toggled(entity.event), ..*entity }
    }

    /// Returns a playerstate as it is sent.
    #[must_use]
    pub fn sent_player(self, player: &PlayerState) -> PlayerState {
        if self.is_current() {
            return *player;
        }
        let mut persistant = [0; 16];
        for (at, value) in player.persistant.iter().enumerate() {
            if let Some(older) = PERSISTENT.older(at as i32) {
                persistant[older as usize & 15] = *value;
            }
        }
        [persistant[5], persistant[6]] = older_rewards(player);
        let [newest, older] = SINGLE_PLAYER_INTERMISSION;
        PlayerState {
            persistant,
            pm_type: if player.pm_type == newest { older } else { player.pm_type },
            pm_flags: player.pm_flags & MOVE_FLAGS,
            weapon: if (0..=LAST_WEAPON).contains(&player.weapon) { player.weapon } else { 0 },
            e_flags: player.e_flags & ENTITY_FLAGS,
            legs_anim: older_animation(player.legs_anim),
            torso_anim: older_animation(player.torso_anim),
            events: player.events.map(older_event),
            external_event: older_event(player.external_event) & 0xff,
            generic1: 0,
            jumppad_ent: 0,
            loop_sound: 0,
            ..*player
        }
    }

    /// Returns a playerstate that was received, in numbers of 1.32.
    #[must_use]
    pub fn received_player(self, player: &PlayerState) -> PlayerState {
        if self.is_current() {
            return *player;
        }
        let mut persistant = [0; 16];
        for (at, value) in player.persistant.iter().enumerate() {
            if let Some(newer) = self.received_persistent(at) {
                persistant[newer & 15] = *value;
            }
        }
        PlayerState {
            persistant,
            events: player.events.map(|event| self.received_toggled(event)),
            external_event: self.received_toggled(player.external_event),
            ..*player
        }
    }

    const fn configstrings(self) -> &'static Table {
        if matches!(self, Self::QuakeLive) { &CONFIGSTRINGS_QUAKE_LIVE } else { &CONFIGSTRINGS }
    }

    /// Returns the index of a configstring as it is sent; `None` if the older game has no such string.
    #[must_use]
    pub fn sent_index(self, index: ConfigIndex) -> Option<ConfigIndex> {
        if self.is_current() {
            return Some(index);
        }
        let older = self.configstrings().older(index.index() as i32)?;
        usize::try_from(older).ok().and_then(ConfigIndex::new)
    }

    /// Returns the index of a configstring that was received, in numbers of 1.32.
    #[must_use]
    pub fn received_index(self, index: ConfigIndex) -> Option<ConfigIndex> {
        if self.is_current() {
            return Some(index);
        }
        let newer = self.configstrings().newer(index.index() as i32)?;
        usize::try_from(newer).ok().and_then(ConfigIndex::new)
    }

    /// Returns a usercmd as it is sent.
    #[must_use]
    pub fn sent_usercmd(self, usercmd: &UserCmd) -> UserCmd {
        let mut sent = *usercmd;
        if !self.is_current() {
            sent.buttons.0 = translated_buttons(usercmd.buttons.0, ANY_KEY);
        }
        sent
    }

    /// Returns a usercmd that was received, in numbers of 1.32.
    #[must_use]
    pub fn received_usercmd(self, usercmd: &UserCmd) -> UserCmd {
        let mut received = *usercmd;
        if !self.is_current() {
            let [any, older_any] = ANY_KEY;
            received.buttons.0 = translated_buttons(usercmd.buttons.0, [older_any, any]);
        }
        received
    }
}

fn translated_buttons(buttons: i32, [any, other_any]: [i32; 2]) -> i32 {
    buttons & BUTTONS | if buttons & any != 0 { other_any } else { 0 }
}

impl Protocol {
    /// Whether configstrings differ from those of today: their places, or the protocol in the serverinfo.
    #[must_use]
    pub const fn has_own_texts(&self) -> bool {
        self.number < 68
    }

    /// Returns a configstring as it is sent in a gamestate: its index and text.
    #[must_use]
    pub fn sent_configstring<'a>(
        &self,
        index: ConfigIndex,
        text: &'a str,
    ) -> Option<(ConfigIndex, Cow<'a, str>)> {
        if !self.has_own_texts() {
            return Some((index, Cow::Borrowed(text)));
        }
        let sent = self.numbers.sent_index(index)?;
        let text = match index.index() {
            SERVERINFO if self.numbers.is_current() => {
                let mut info = InfoString::parse_big(text);
                let _ = info.set("protocol", &self.number.to_string());
                Cow::Owned(info.as_str().to_owned())
            }
            _ if self.numbers.is_current() => Cow::Borrowed(text),
            SERVERINFO => {
                let mut info = InfoString::parse_big(text);
                let _ = info.set("protocol", &self.number.to_string());
                info.remove("sv_allowDownload");
                Cow::Owned(info.as_str().to_owned())
            }
            SYSTEMINFO => Cow::Owned(older_systeminfo(text)),
            ITEMS => Cow::Borrowed(truncated(text, ITEM_LIST_LEN)),
            _ if is_player_entry(index) => Cow::Owned(older_player(text)),
            _ => Cow::Borrowed(text),
        };
        Some((sent, text))
    }

    /// Returns the commands that send the change of a configstring. The older game has none for parts, so a longer text
    /// is cut.
    #[must_use]
    pub fn sent_change(&self, index: ConfigIndex, text: &str) -> Option<String> {
        let (index, text) = self.sent_configstring(index, text)?;
        Some(format!("cs {index} \"{}\"\n", truncated(&text, MAX_CHANGE_LEN)))
    }

    /// Adds the keys of 1.32 to the userinfo of a client that has older ones.
    pub fn translate_userinfo(&self, info: &mut InfoString) {
        if !self.numbers.is_current()
            && info.get("color1").is_none()
            && let Some(color) = info.get("color").map(str::to_owned)
        {
            // Without room the color is that of a client without one.
            let _ = info.set("color1", &color);
        }
    }

    /// Returns a command of the server as it is sent, or `None` if the older game has no such command.
    #[must_use]
    pub fn sent_command<'a>(&self, command: &'a str) -> Option<Cow<'a, str>> {
        if self.numbers.is_current() {
            return Some(Cow::Borrowed(command));
        }
        let (name, rest) = command.split_once(' ').unwrap_or((command.trim_end(), ""));
        match name {
            "scores" => Some(Cow::Owned(regrouped_scores(rest, SCORES_PER_PLAYER))),
            "disconnect" => {
                Some(Cow::Owned(format!("disconnect {}", rest.trim().replace('"', ""))))
            }
            known if COMMANDS.contains(&known) => Some(Cow::Borrowed(command)),
            _ => None,
        }
    }

    /// Returns a command of the server that was received, in numbers of 1.32.
    #[must_use]
    pub fn received_command<'a>(&self, command: &'a str) -> Option<Cow<'a, str>> {
        if self.numbers.is_current() {
            return Some(Cow::Borrowed(command));
        }
        let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
        match name {
            "cs" | "bcs0" | "bcs1" | "bcs2" => {
                let (index, text) = rest.split_once(' ')?;
                let index = index.parse().ok().and_then(ConfigIndex::new)?;
                let index = self.numbers.received_index(index)?;
                Some(Cow::Owned(format!("{name} {index} {text}")))
            }
            "scores" if self.numbers == GameNumbers::Release116 => {
                let [newest, older] = SCORES_PER_PLAYER;
                Some(Cow::Owned(regrouped_scores(rest, [older, newest])))
            }
            _ => Some(Cow::Borrowed(command)),
        }
    }
}

/// Returns the keys of a systeminfo that the older game reads.
fn older_systeminfo(text: &str) -> String {
    let info = InfoString::parse_big(text);
    let mut older = InfoString::normal();
    for [key, older_key] in SYSTEM_KEYS {
        if let Some(value) = info.get(key) {
            let _ = older.set(older_key, value);
        }
    }
    older.as_str().to_owned()
}

/// Returns a player's entry with the keys that the older game reads. Its client does not choose the skin of a team.
fn older_player(text: &str) -> String {
    let info = InfoString::parse(text);
    let mut older = InfoString::normal();
    for key in PLAYER_KEYS {
        let Some(value) = info.get(key) else { continue };
        let team = match info.get("t") {
            Some("1") => Some("red"),
            Some("2") => Some("blue"),
            _ => None,
        };
        let _ = match team.filter(|_| key == "model") {
            Some(team) => {
                let model = value.split_once('/').map_or(value, |(model, _)| model);
                older.set(key, &format!("{model}/{team}"))
            }
            None => older.set(key, value),
        };
    }
    older.as_str().to_owned()
}

/// Returns a `scores` command with another number of values per player: more are left out, missing ones are 0. Players
/// without room in a command are left out.
fn regrouped_scores(values: &str, [each, each_then]: [usize; 2]) -> String {
    let mut words = values.split_ascii_whitespace();
    let [count, red, blue] = std::array::from_fn(|_| words.next().unwrap_or("0"));
    let words: Vec<_> = words.collect();
    let mut players = String::new();
    for (at, player) in words.chunks_exact(each).enumerate() {
        let before = players.len();
        for value in 0..each_then {
            players.push(' ');
            players.push_str(player.get(value).unwrap_or(&"0"));
        }
        if players.len() > MAX_SCORES_LEN {
            players.truncate(before);
            return format!("scores {at} {red} {blue}{players}");
        }
    }
    format!("scores {count} {red} {blue}{players}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn events_are_translated_in_both_directions() {
        for (newest, older) in
            [(1, 1), (46, 46), (48, 47), (51, 50), (53, 51), (54, 52), (56, 54), (60, 58), (76, 64)]
        {
            assert_eq!(EVENTS.older(newest), Some(older), "{newest}");
            assert_eq!(EVENTS.newer(older), Some(newest), "{older}");
        }
        assert_eq!(EVENTS.older(52), Some(50), "a miss on metal");
        for lacking in [47, 55, 65, 66, 75, 77, 82, -1] {
            assert_eq!(EVENTS.older(lacking), None, "{lacking}");
        }
        assert_eq!(EVENTS.newer(53), None, "a client of 1.16n ends the connection for it");
        assert_eq!(older_event(0x100 | 76), 0x100 | 64);
    }

    #[test]
    fn configstrings_have_their_older_places() {
        let sent = |at| GameNumbers::Release116.sent_index(ConfigIndex::at(at));
        for (newest, older) in
            [(0, 0), (20, 12), (23, 15), (27, 27), (544, 544), (608, 672), (671, 735)]
        {
            assert_eq!(sent(newest), Some(ConfigIndex::at(older)));
            let back = GameNumbers::Release116.received_index(ConfigIndex::at(older));
            assert_eq!(back, Some(ConfigIndex::at(newest)));
        }
        for lacking in [12, 19, 24, 26, 672, 1023] {
            assert_eq!(sent(lacking), None, "{lacking}");
        }
    }

    #[test]
    fn texts_are_those_of_older_servers() {
        let protocol = Protocol::Q3_43;
        let (index, text) = protocol
            .sent_configstring(ConfigIndex::at(545), r"\n\a\t\1\model\sarge/default\hmodel\x\c1\4")
            .expect("an entry");
        assert_eq!((index.index(), &*text), (545, r"\n\a\t\1\model\sarge/red\c1\4"));
        let (_, text) = protocol
            .sent_configstring(
                ConfigIndex::SERVERINFO,
                r"\protocol\71\sv_allowDownload\1\mapname\q3dm1",
            )
            .expect("the serverinfo");
        assert_eq!(text, r"\mapname\q3dm1\protocol\43");
        let (_, text) = protocol
            .sent_configstring(
                ConfigIndex::SYSTEMINFO,
                r"\sv_serverid\7\sv_pakNames\pak0\g_synchronousClients\1",
            )
            .expect("the systeminfo");
        assert_eq!(text, r"\sv_serverid\7\g_syncronousClients\1");
        let scores = "scores 1 2 3 0 5 40 9 0 0 55 1 1 1 1 1 1 1";
        assert_eq!(protocol.sent_command(scores).as_deref(), Some("scores 1 2 3 0 5 40 9 0 0"));
        assert_eq!(protocol.sent_command("remapShader a b"), None);
        assert_eq!(
            protocol.sent_command("disconnect \"full\"").as_deref(),
            Some("disconnect full")
        );
        assert_eq!(
            protocol.received_command("cs 12 \"baseq3-1\"").as_deref(),
            Some("cs 20 \"baseq3-1\"")
        );
    }

    #[test]
    fn scores_of_many_players_fit_in_a_command() {
        let players: String = (0..40).map(|at| format!(" {at} 100 50 20 0 0")).collect();
        let command = format!("scores 40 1 2{players}");
        let received = Protocol::Q3_43.received_command(&command).expect("scores");
        assert!(received.len() < 1023, "{}", received.len());
        let words: Vec<_> = received.split(' ').collect();
        let count: usize = words[1].parse().expect("a count");
        assert!(count > 20 && words.len() == 4 + count * 14, "{received}");
        assert!(received.starts_with(&format!("scores {count} 1 2 0 100 50 20 0 0 0 0")));
    }

    #[test]
    fn quake_live_has_its_own_numbers() {
        let numbers = GameNumbers::QuakeLive;
        for (newest, theirs) in [(60, 58), (47, 44), (53, 50), (40, 37), (19, 15)] {
            assert_eq!(numbers.received_event(theirs), Some(newest));
        }
        assert_eq!(numbers.received_event(85), None, "the end of a match");
        let obituary = EntityState { e_type: 13 + 58, ..EntityState::default() };
        assert_eq!(numbers.received_entity(&obituary).e_type, 13 + 60);
        for (newest, theirs) in [(5, 5), (21, 13), (23, 658), (544, 529), (607, 592)] {
            let [newest, theirs] = [newest, theirs].map(ConfigIndex::at);
            assert_eq!(numbers.received_index(theirs), Some(newest));
            assert_eq!(numbers.sent_index(newest), Some(theirs));
        }
        assert_eq!(numbers.received_persistent(7), Some(8), "deaths");
    }

    proptest! {
        #[test]
        fn no_state_holds_numbers_that_end_a_connection(
            e_type in any::<i32>(), event in any::<i32>(), anim in any::<i32>(),
            weapon in any::<i32>(), modelindex in any::<i32>(),
        ) {
            let state = EntityState {
                e_type, event, weapon, modelindex, legs_anim: anim, torso_anim: anim,
                ..EntityState::default()
            };
            if let Some(sent) = GameNumbers::Release116.sent_entity(&state) {
                prop_assert!(sent.e_type < 12 + 65 && sent.e_type != 12 + 53);
                let event = sent.event & 0xff;
                prop_assert!(event <= 64 && event != 53);
                prop_assert!(sent.legs_anim & 0x7f <= 24);
                prop_assert!((0..=10).contains(&sent.weapon));
            }
            let player = PlayerState { weapon, legs_anim: anim, events: [event; 2], ..PlayerState::default() };
            let sent = GameNumbers::Release116.sent_player(&player);
            prop_assert!(sent.events[0] & 0xff <= 64 && (0..=10).contains(&sent.weapon));
        }
    }
}
