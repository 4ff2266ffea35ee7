//! Tests of whole matches with given scores, from warm-up to the next level.

mod limits;
mod phases;

use super::*;
use crate::game::Host;
use crate::game::deathmatch::{Deathmatch, damage::death::suicide, rules::client_context};
use crate::model::{Buttons, CommandArgs, ConfigIndex, EntityNum, UserCmd};
use crate::world::MapEntities;
use crate::{
    bg::{GameType, Persistent, PmType, TIED, TeamColor, configstring},
    game::{Game, LevelStart, Ruleset, clients::Role, conformance::TestHost},
};

const FRAME_MS: i32 = 50;

/// A server that runs the queued console commands.
struct Match {
    game: Deathmatch,
    host: TestHost,
    now: LevelTime,
    bots: u64,
    /// Queued commands and their times.
    queued: Vec<(i32, String)>,
    /// Whether the server runs the commands.
    runs_commands: bool,
}

fn client(number: usize) -> ClientNum {
    ClientNum::new(number).expect("a client number")
}

impl Match {
    fn change_role(&mut self, number: usize, role: Role) {
        self.game.with(&mut self.host, |cx, sys| {
            client_context(cx, sys, |clients| clients.change_role(client(number), role));
        });
    }

    fn start(ruleset: &'static Ruleset, settings: &[(&str, &str)]) -> Self {
        let mut host = TestHost::of_ruleset(ruleset);
        for (name, value) in settings {
            host.set_setting(name, value);
        }
        let (game, now) = (Deathmatch::new(ruleset), LevelTime(10_000));
        let mut this = Self { game, host, now, bots: 0, queued: Vec::new(), runs_commands: true };
        this.begin_level(false);
        this
    }

    /// Starts a match with clients 0 to `count` in the game.
    fn with(ruleset: &'static Ruleset, settings: &[(&str, &str)], count: usize) -> Self {
        let mut this = Self::start(ruleset, settings);
        (0..count).for_each(|number| this.join(number));
        this
    }

    fn begin_level(&mut self, restart: bool) {
        self.game
            .init(&mut self.host, LevelStart { time: self.now, seed: 1, restart })
            .expect("no fault");
        // Enough spawn points, or each spawn telefrags the last.
        let spots: String = (0..64)
            .map(|n| format!("{{ classname info_player_start origin \"{} 0 0\" }}\n", n * 200))
            .collect();
        let text = format!("{{ classname worldspawn }}\n{spots}");
        let entities = MapEntities::parse(text.as_bytes()).expect("sound entities");
        entities
            .of_class("info_player_start")
            .for_each(|spot| self.game.systems.spawn_points.add(spot, None));
        for _ in 0..3 {
            self.now = self.now + 100;
            self.game.run_frame(&mut self.host, self.now).expect("no fault");
        }
    }

    fn join(&mut self, number: usize) {
        self.host.userinfos[number] = format!("\\name\\p{number}\\model\\sarge");
        let bot = self.bots & 1 << number != 0;
        self.game.client_connect(&mut self.host, client(number), true, bot).expect("room");
        self.game.client_begin(&mut self.host, client(number)).expect("no fault");
    }

    fn leave(&mut self, number: usize) {
        self.game.client_disconnect(&mut self.host, client(number)).expect("no fault");
        self.host.userinfos[number].clear();
    }

    /// Changes or restarts the level; all clients stay.
    fn change_level(&mut self, restart: bool) {
        self.game.shutdown(&mut self.host, restart).expect("no fault");
        if !restart {
            self.host.clear_level();
        }
        self.begin_level(restart);
        for number in 0..64 {
            if !self.host.userinfos[number].is_empty() {
                let bot = self.bots & 1 << number != 0;
                let client = client(number);
                self.game.client_connect(&mut self.host, client, false, bot).expect("room");
                self.game.client_begin(&mut self.host, client).expect("no fault");
            }
        }
        self.frame();
    }

    fn frame(&mut self) {
        self.now = self.now + FRAME_MS;
        self.game.run_frame(&mut self.host, self.now).expect("no fault");
        for line in std::mem::take(&mut self.host.queued) {
            let restart = line == "map_restart 0";
            self.queued.push((self.now.0, line));
            if self.runs_commands {
                self.change_level(restart);
            }
        }
    }

    fn run(&mut self, ms: i32) {
        let end = self.now + ms;
        while self.now < end {
            self.frame();
        }
    }

    /// Adds points as a frag does.
    fn score(&mut self, number: usize, points: i32) {
        let player = self.game.clients.players[number].as_mut().expect("a player");
        player.state.persistant[Persistent::Score] += points;
        self.game.clients.rank(&mut self.host);
        self.game.with(&mut self.host, |cx, sys| sys.fight.match_state.check_limits(cx));
    }

    fn scores(&self, number: usize) -> i32 {
        self.game.clients.score(client(number))
    }

    fn press(&mut self, number: usize, buttons: Buttons) {
        for buttons in [buttons, Buttons::default()] {
            let command = UserCmd { server_time: self.now.0, buttons, ..UserCmd::default() };
            self.host.usercmds[number] = command;
            self.game.client_think(&mut self.host, client(number), &command).expect("no fault");
        }
    }

    fn say(&mut self, number: usize, line: &str) {
        self.game
            .client_command(&mut self.host, client(number), &CommandArgs::parse(line))
            .expect("no fault");
    }

    fn string(&self, index: ConfigIndex) -> &str {
        use crate::game::Host as _;
        self.host.configstring(index)
    }

    fn entry(&self, number: usize) -> &str {
        self.string(configstring::player(client(number)))
    }

    /// Returns the game log lines that start with a word, without the word.
    fn logged(&self, word: &str) -> Vec<&str> {
        self.host.logged.iter().filter_map(|(_, line)| line.strip_prefix(word)).collect()
    }

    fn was_told(&self, text: &str) -> bool {
        self.host.sent_to_all().contains(&text)
    }

    fn role(&self, number: usize) -> Role {
        self.game.clients.role(client(number))
    }

    fn rank(&self, number: usize) -> i32 {
        self.game.player(client(number)).persistant[Persistent::Rank]
    }

    fn ready_bits(&self, number: usize) -> i32 {
        self.game.player(client(number)).stats[self.game.clients.ruleset.stats.clients_ready]
    }
}

#[test]
fn match_of_eight_runs_from_warmup_to_next_map() {
    for ruleset in Ruleset::ALL {
        let settings = [
            ("g_doWarmup", "1"),
            ("g_warmup", "20"),
            ("fraglimit", "5"),
            ("nextmap", "map oa_dm2"),
        ];
        let mut level = Match::start(ruleset, &settings);
        assert_eq!(level.string(configstring::WARMUP), "-1");
        level.join(0);
        level.run(2000);
        assert_eq!(level.string(configstring::WARMUP), "-1");
        assert_eq!(level.logged("Warmup:"), [""]);
        (1..8).for_each(|number| level.join(number));
        level.frame();
        let start = level.now.0 + 19_000;
        assert_eq!(level.string(configstring::WARMUP), start.to_string());

        // A kill does not score.
        level.game.with(&mut level.host, |cx, sys| suicide(cx, &mut sys.fight, client(1)));
        assert!((0..8).all(|number| level.scores(number) == 0), "{}", ruleset.folder);

        level.run(19_000 - FRAME_MS);
        assert!(
            level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_warmup())
                && level.queued.is_empty()
        );
        level.run(2 * FRAME_MS);
        assert_eq!(level.queued, [(start + FRAME_MS, "map_restart 0".to_owned())]);
        assert!(!level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_warmup()));
        assert_eq!(level.string(configstring::WARMUP), "");
        assert_eq!(level.logged("Warmup:"), [""]);

        level.score(2, 4);
        level.score(6, 4);
        assert_eq!((level.rank(2), level.rank(6), level.rank(0)), (TIED, TIED, 2 | TIED));
        level.score(3, 5);
        let queued = level.now.0;
        assert_eq!(level.rank(3), 0);
        assert!(level.was_told("print \"p3^7 hit the fraglimit.\n\""));
        assert_eq!(level.string(configstring::INTERMISSION), "1");
        assert_eq!(level.logged("Exit: "), ["Fraglimit hit."]);
        let scores = level.logged("score: ");
        assert_eq!(scores.len(), 8);
        assert_eq!(scores[..2], ["5  ping: 0  client: 3 p3", "4  ping: 0  client: 2 p2"]);
        assert!(level.logged("red:").is_empty());

        // A score after the end does not end the match again.
        level.score(4, 9);
        level.run(1000 - FRAME_MS);
        assert_eq!(level.logged("Exit: ").len(), 1);
        assert!(!level.game.clients.intermission);
        level.host.sent.clear();
        level.frame();
        assert!(level.game.clients.intermission);
        for number in 0..8 {
            let player = level.game.player(client(number));
            assert_eq!(player.pm_type, PmType::Intermission as i32);
            assert_eq!(player.origin, level.game.player(client(0)).origin);
            let entity = level.game.entity(EntityNum::from(client(number))).expect("an entity");
            assert!(!entity.shared.is_linked());
            let told = level.host.sent_to(client(number));
            let boards = told.iter().filter(|text| text.starts_with("scores 8 0 0")).count();
            assert_eq!(boards, 1, "{told:?}");
        }

        // One of eight is ready after two seconds. Ten more seconds follow from the fifth on.
        level.run(2000);
        level.press(5, Buttons::ATTACK);
        level.frame();
        assert_eq!(level.ready_bits(0), 1 << 5);
        level.queued.clear();
        level.run(20_000);
        assert_eq!(level.queued, [(queued + 16_000, "vstr nextmap".to_owned())]);
        assert!((0..8).all(|number| level.scores(number) == 0));
        assert!((0..8).all(|number| level.game.clients.plays(client(number))));
        assert_eq!(level.string(configstring::INTERMISSION), "");
    }
}

#[test]
fn session_survives_level_but_not_game_type_change() {
    let mut level = Match::with(Ruleset::BASEOA, &[], 3);
    level.say(1, "team s");
    level.say(2, "follow 0");
    level.run(6000);
    level.say(2, "team s");
    for restart in [true, false] {
        level.change_level(restart);
        assert_eq!([0, 1, 2].map(|n| level.role(n).plays()), [true, false, false]);
    }
    crate::game::Host::set_setting(&mut level.host, "g_gametype", "1");
    level.change_level(false);
    assert_eq!([0, 1, 2].map(|n| level.role(n).plays()), [true, true, false]);
}

#[test]
fn game_log_covers_whole_match() {
    for (ruleset, first, second) in [
        (Ruleset::BASEQ3, "ClientConnect: 0", "ClientUserinfoChanged: 0 n\\p0\\t\\0\\"),
        (Ruleset::BASEOA, "ClientUserinfoChanged: 0 n\\p0\\t\\0\\", "ClientConnect: 0"),
    ] {
        let mut level = Match::with(ruleset, &[("fraglimit", "1")], 1);
        level.leave(0);
        level.run(5000);
        level.change_level(true);
        // A disconnect counts as a death in one of the games.
        let by_death = |line: &str| line.starts_with("Kill:") || line.starts_with("PlayerScore:");
        level.host.logged.retain(|(_, line)| !by_death(line));
        let lines: Vec<_> = level.host.logged.iter().map(|(_, line)| line.as_str()).collect();
        let rule = "-".repeat(60);
        let expected =
            [&rule, "InitGame: ", first, second, "ClientBegin: 0", "ClientDisconnect: 0"];
        assert!(lines.len() >= 10, "{lines:#?}");
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.starts_with(expected), "{line} (expected {expected})");
        }
        let end =
            lines.iter().position(|line| *line == "ShutdownGame:").expect("a ShutdownGame line");
        assert_eq!(lines[end + 1..end + 3], [&rule, &rule]);
        // The level clock restarts with every level, OpenArena's only with another map.
        let (ended, begun) = (level.host.logged[end].0, level.host.logged[end + 2].0);
        assert_eq!((ended, begun), (5300, if ruleset.game_log.clock_runs_on { 5300 } else { 0 }));
    }
}
