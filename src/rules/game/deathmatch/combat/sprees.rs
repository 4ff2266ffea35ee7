//! Sprees of OpenArena: messages and sounds for series of frags and of deaths.
//!
//! A spree of frags ends with a death, and a spree of deaths with a frag. Levels follow each other after
//! `g_spreeDiv` frags. Source: OpenArena 0.8.8. Engine names: `G_RunStreakLogic`, `G_CheckForSpree`,
//! `G_checkForMultiKill`.

use crate::bg::Event;
use crate::game::deathmatch::combat::spree_file::{Announcement, MAX_MESSAGE, Series, SpreeFile};
use crate::game::deathmatch::{asset_index::sound_index, context::Context};
use crate::game::{Host, settings::key, userinfo::clean_text};
use crate::model::{ClientNum, SvFlags, Vec3, assets::GamePath, limits::MAX_CLIENTS, text};

/// Longest name in a message, in bytes.
const MAX_NAME: usize = 31;

/// Lengths of the running series of a player.
#[derive(Clone, Copy, Debug, Default)]
struct SeriesLengths {
    kills: i32,
    deaths: i32,
    /// Frags in quick succession.
    multiple: i32,
}

/// Announcements of a level, and the series of all players.
#[derive(Debug)]
pub(crate) struct Sprees {
    file: SpreeFile,
    /// Frags or deaths from one level to the next.
    divisor: i32,
    players: [SeriesLengths; MAX_CLIENTS],
}

impl Default for Sprees {
    fn default() -> Self {
        let players = [SeriesLengths::default(); MAX_CLIENTS];
        Self { file: SpreeFile::default(), divisor: 1, players }
    }
}

impl Sprees {
    /// Reads the announcements of a new level.
    pub(crate) fn start(&mut self, cx: &mut Context<'_>) {
        *self = Self::default();
        if !cx.clients.ruleset.scoring.has_sprees {
            return;
        }
        let settings = cx.host.settings();
        self.divisor = settings.int(key::G_SPREE_DIV).max(1);
        let has_multiple = settings.flag(key::G_ALT_EXCELLENT);
        self.file = read_file(cx.host);
        if has_multiple && self.file.of(Series::Multiple).is_empty() {
            cx.host.print("g_altExcellent needs multiple kills in the file of g_sprees: using 0");
            cx.host.set_setting(key::G_ALT_EXCELLENT.setting().name, "0");
        }
    }

    /// Ends all series of a client that connects.
    pub(super) fn reset_client(&mut self, client: ClientNum) {
        self.players[client.index()] = SeriesLengths::default();
    }

    /// Counts a death, and the frag of a player that is neither the victim nor a teammate.
    pub(crate) fn count_death(
        &mut self,
        cx: &mut Context<'_>,
        victim: ClientNum,
        killer: Option<ClientNum>,
    ) {
        if !cx.clients.ruleset.scoring.has_sprees {
            return;
        }
        let lengths = &mut self.players[victim.index()];
        lengths.kills = 0;
        lengths.deaths = lengths.deaths.saturating_add(1);
        let deaths = lengths.deaths;
        self.announce(cx, victim, Series::Deaths, deaths);
        let Some(killer) = killer else { return };
        if killer == victim || cx.clients.are_mates(victim, killer) {
            return;
        }
        let lengths = &mut self.players[killer.index()];
        lengths.deaths = 0;
        lengths.kills = lengths.kills.saturating_add(1);
        let kills = lengths.kills;
        self.announce(cx, killer, Series::Kills, kills);
    }

    /// Counts a frag for multiple kills. `is_quick` is whether it soon follows another one.
    pub(super) fn count_multiple(
        &mut self,
        cx: &mut Context<'_>,
        killer: ClientNum,
        is_quick: bool,
    ) {
        let length = &mut self.players[killer.index()].multiple;
        if !is_quick {
            *length = 1;
        } else if cx.clients.ruleset.scoring.has_sprees
            && cx.host.settings().flag(key::G_ALT_EXCELLENT)
        {
            *length = length.saturating_add(1);
            let length = *length;
            self.announce(cx, killer, Series::Multiple, length);
        }
    }

    /// Returns the announcement of a series at its length. Above the last level, each multiple of the divisor has
    /// the last announcement of the file, and each longer multiple kill as well.
    fn announcement(&self, series: Series, length: i32) -> Option<&Announcement> {
        let list = self.file.of(series);
        let last = list.last()?;
        let (step, is_above) = match series {
            Series::Multiple => (1, length > last.level),
            _ => (self.divisor, (length / self.divisor) as usize >= list.len()),
        };
        if is_above {
            return Some(last).filter(|_| length % step == 0);
        }
        list.iter().find(|entry| entry.level.saturating_mul(step) == length)
    }

    fn announce(&self, cx: &mut Context<'_>, client: ClientNum, series: Series, length: i32) {
        let Some(found) = self.announcement(series, length) else { return };
        let Some(player) = cx.clients.player(client) else { return };
        let (message, at) = (message(found, &player.name, length), player.shared.current_origin);
        let sound = sound_index(cx.host, &found.sound);
        if series != Series::Deaths {
            cx.temp_entity(at, Event::GeneralSound, |state, _| state.event_parm = sound);
        } else if sound > 0 {
            cx.temp_entity(Vec3::ZERO, Event::GlobalSound, |state, shared| {
                state.event_parm = sound;
                shared.sv_flags = SvFlags::BROADCAST;
            });
        }
        let is_centered = series == Series::Deaths && found.is_centered;
        let command = if is_centered { "cp" } else { "chat" };
        cx.host.send_command(None, &format!("{command} \"{message}\""));
    }
}

/// Returns the message of a series. Each placeholder is replaced once: the name, then the number.
fn message(found: &Announcement, name: &str, length: i32) -> String {
    let name = clean_text(text::truncated(name, MAX_NAME), MAX_NAME);
    let named = found.message.replacen("[n]", &name, 1);
    let counted = text::truncated(&named, MAX_MESSAGE).replacen("[k]", &length.to_string(), 1);
    text::truncated(&counted, MAX_MESSAGE).to_owned()
}

/// Reads the file of `g_sprees`; an empty name or a file that is not valid has no announcements.
fn read_file(host: &mut dyn Host) -> SpreeFile {
    let name = host.settings().text(key::G_SPREES).to_owned();
    if name.is_empty() {
        return SpreeFile::default();
    }
    let bytes = GamePath::new(name.as_bytes()).and_then(|path| host.files()?.read(&path));
    let Some(bytes) = bytes else {
        if name != key::G_SPREES.setting().in_game(host.settings().game()).default {
            host.print(&format!("g_sprees file not found: {name}"));
        }
        return SpreeFile::default();
    };
    SpreeFile::parse(&bytes).unwrap_or_else(|error| {
        host.print(&format!("g_sprees {name} {error}: no sprees"));
        SpreeFile::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    use crate::game::deathmatch::{
        damage::damage_player, damage::death::suicide, hit::Hit, tests::room::TestRoom,
        think::respawn,
    };
    use crate::game::{FileLimits, Game as _, GameFiles, LevelStart, Ruleset};
    use crate::{bg::MeansOfDeath, model::assets::MemoryAssets};

    const FILE: &str = "[kspree]\nlevel = 1\nmessage = [n]: [k] [k]\nsound = sound/a.wav\n\
        [kspree]\nlevel = 3\nmessage = [n]!\n\
        [dspree]\nlevel = 1\nprintpos = 1\nmessage = [n] dies\nsound = sound/b.wav\n\
        [mkill]\nkills = 2\nmessage = double by [n]\n";

    /// Starts a level whose file of `g_sprees` has a text.
    fn room(ruleset: &'static Ruleset, file: &str, settings: &[(&str, &str)]) -> TestRoom {
        let mut room = TestRoom::with(ruleset, &[], settings);
        let mut assets = MemoryAssets::default();
        assets.insert("sprees.dat", file.as_bytes().to_vec()).expect("a path");
        room.host.files = Some(GameFiles::new(Rc::new(assets), FileLimits { bytes: 0, files: 0 }));
        room.host.clear_level();
        // The level without the file has reset one of them.
        for (name, value) in settings {
            room.host.set_setting(name, value);
        }
        let start = LevelStart { time: room.now, seed: 3, restart: false };
        room.game.init(&mut room.host, start).expect("no fault");
        room
    }

    /// Kills and respawns a player, and returns the messages to all clients.
    fn kill(room: &mut TestRoom, killer: ClientNum, victim: ClientNum) -> Vec<String> {
        room.host.sent.clear();
        let hit = Hit { attacker: Some(killer), ..Hit::by_world(9999, MeansOfDeath::Rocket) };
        room.game.with(&mut room.host, |cx, sys| {
            damage_player(cx, &mut sys.fight, victim, &hit);
            respawn(cx, sys, victim);
        });
        let all = room.host.sent_to_all().into_iter();
        let told = |text: &&str| text.starts_with("chat ") || text.starts_with("cp ");
        all.filter(told).map(str::to_owned).collect()
    }

    #[test]
    fn series_are_announced_at_levels_in_openarena() {
        let mut room = room(Ruleset::BASEOA, FILE, &[("g_spreeDiv", "2")]);
        let (one, other) = (room.join(0, 0.0, 0.0, 0.0), room.join(1, 300.0, 0.0, 180.0));
        let told: Vec<_> = (0..6).map(|_| kill(&mut room, one, other)).collect();
        // Two announcements exist: the last one is for each multiple of two from the second level on.
        let expected: [&[&str]; 6] = [
            &[],
            &["cp \"player1 dies\"", "chat \"player0: 2 [k]\""],
            &[],
            &["cp \"player1 dies\"", "chat \"player0!\""],
            &[],
            &["cp \"player1 dies\"", "chat \"player0!\""],
        ];
        assert_eq!(told, expected);
        assert_eq!(room.events(Event::GlobalSound).len(), 3);
        assert_eq!(room.events(Event::GeneralSound).len(), 3);
        // A frag ends the deaths, and a death the frags.
        assert_eq!(kill(&mut room, other, one), [""; 0]);
        assert_eq!(kill(&mut room, one, other), [""; 0]);
        room.game.with(&mut room.host, |cx, sys| suicide(cx, &mut sys.fight, one));
        assert_eq!(kill(&mut room, one, other), ["cp \"player1 dies\""]);
    }

    #[test]
    fn multiple_frags_are_announced_with_their_setting() {
        for (setting, expected) in [("1", &["chat \"double by player0\""][..]), ("0", &[])] {
            let mut room = room(Ruleset::BASEOA, FILE, &[("g_altExcellent", setting)]);
            let (one, other) = (room.join(0, 0.0, 0.0, 0.0), room.join(1, 300.0, 0.0, 180.0));
            assert_eq!(kill(&mut room, one, other), [""; 0]);
            assert_eq!(kill(&mut room, one, other), expected);
            // Further quick frags repeat the last announcement.
            assert_eq!(kill(&mut room, one, other), expected);
            room.run_for(3000);
            assert_eq!(kill(&mut room, one, other), [""; 0]);
        }
    }

    #[test]
    fn base_game_has_no_sprees() {
        let settings = [("g_spreeDiv", "2"), ("g_altExcellent", "1")];
        let mut room = room(Ruleset::BASEQ3, FILE, &settings);
        let (one, other) = (room.join(0, 0.0, 0.0, 0.0), room.join(1, 300.0, 0.0, 180.0));
        for _ in 0..6 {
            assert_eq!(kill(&mut room, one, other), [""; 0]);
        }
    }

    #[test]
    fn problems_of_the_file_are_named() {
        let printed = |file: &str, settings: &[(&str, &str)]| {
            let room = room(Ruleset::BASEOA, file, settings);
            let named = |line: &&String| line.contains("g_sprees");
            let lines: Vec<_> = room.host.printed.iter().filter(named).cloned().collect();
            (lines.join(", "), room.host.setting("g_altExcellent").to_owned())
        };
        let with = |text: &str, value: &str| (text.to_owned(), value.to_owned());
        assert_eq!(printed("", &[]), with("", "0"));
        let error = "g_sprees sprees.dat line 1: unexpected text 'nonsense': no sprees";
        assert_eq!(printed("nonsense", &[]), with(error, "0"));
        let error = "g_sprees file not found: other.dat";
        assert_eq!(printed("", &[("g_sprees", "other.dat")]).0.rsplit(", ").next(), Some(error));
        let (text, value) = printed("", &[("g_altExcellent", "1")]);
        assert!(text.starts_with("g_altExcellent needs multiple kills"), "{text}");
        assert_eq!(value, "0");
    }

    #[test]
    fn messages_are_bounded_and_clean() {
        let found = Announcement { message: "[n][n] [k]".repeat(20), ..Announcement::default() };
        let text = message(&found, &"\"\x01é".repeat(99), i32::MAX);
        assert!(text.len() <= MAX_MESSAGE && text.is_ascii() && !text.contains('"'), "{text}");
        assert!(text.contains("2147483647"), "{text}");
    }
}
