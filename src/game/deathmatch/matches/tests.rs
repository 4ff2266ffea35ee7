//! Whole matches with given scores: from the warm-up to the next level.

use super::*;
use crate::game::Host;
use crate::game::deathmatch::{Deathmatch, combat::death::suicide, rules::client_context};
use crate::model::{Buttons, ConfigIndex, EntityNum, UserCmd, Words};
use crate::world::MapEntities;
use crate::{
    bg::{GameType, Persistent, PmType, TIED, TeamColor, configstring},
    game::{Game, LevelStart, Ruleset, clients::Role, conformance::TestHost},
};

const FRAME_MS: i32 = 50;

/// A server that carries out what the game asks for.
struct Match {
    game: Deathmatch,
    host: TestHost,
    now: LevelTime,
    bots: u64,
    /// Lines that the game had the server run, and when.
    led: Vec<(i32, String)>,
    /// Whether the server runs them.
    obeys: bool,
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
        let mut this = Self { game, host, now, bots: 0, led: Vec::new(), obeys: true };
        this.begin_level(false);
        this
    }

    /// The same with clients 0 to `count` in the game.
    fn with(ruleset: &'static Ruleset, settings: &[(&str, &str)], count: usize) -> Self {
        let mut this = Self::start(ruleset, settings);
        (0..count).for_each(|number| this.join(number));
        this
    }

    fn begin_level(&mut self, restart: bool) {
        self.game.init(&mut self.host, LevelStart { time: self.now, seed: 1, restart });
        // Room for everybody, or each kills the one before.
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
            self.game.run_frame(&mut self.host, self.now);
        }
    }

    fn join(&mut self, number: usize) {
        self.host.userinfos[number] = format!("\\name\\p{number}\\model\\sarge");
        let bot = self.bots & 1 << number != 0;
        self.game.client_connect(&mut self.host, client(number), true, bot).expect("room");
        self.game.client_begin(&mut self.host, client(number));
    }

    fn leave(&mut self, number: usize) {
        self.game.client_disconnect(&mut self.host, client(number));
        self.host.userinfos[number].clear();
    }

    /// Another level, or this one anew, with everybody who is there.
    fn change_level(&mut self, restart: bool) {
        self.game.shutdown(&mut self.host, restart);
        if !restart {
            self.host.clear_level();
        }
        self.begin_level(restart);
        for number in 0..64 {
            if !self.host.userinfos[number].is_empty() {
                let bot = self.bots & 1 << number != 0;
                let client = client(number);
                self.game.client_connect(&mut self.host, client, false, bot).expect("room");
                self.game.client_begin(&mut self.host, client);
            }
        }
        self.frame();
    }

    fn frame(&mut self) {
        self.now = self.now + FRAME_MS;
        self.game.run_frame(&mut self.host, self.now);
        for line in std::mem::take(&mut self.host.queued) {
            let restart = line == "map_restart 0";
            self.led.push((self.now.0, line));
            if self.obeys {
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

    /// Gives points, as a frag does.
    fn score(&mut self, number: usize, points: i32) {
        let player = self.game.clients.players[number].as_mut().expect("a player");
        player.state.persistant[Persistent::Score] += points;
        self.game.clients.rank(&mut self.host);
        self.game.with(&mut self.host, |cx, sys| sys.match_state.check_limits(cx));
    }

    fn scores(&self, number: usize) -> i32 {
        self.game.clients.score(client(number))
    }

    fn press(&mut self, number: usize, buttons: Buttons) {
        for buttons in [buttons, Buttons::default()] {
            let command = UserCmd { server_time: self.now.0, buttons, ..UserCmd::default() };
            self.host.usercmds[number] = command;
            self.game.client_think(&mut self.host, client(number), &command);
        }
    }

    fn say(&mut self, number: usize, line: &str) {
        self.game.client_command(&mut self.host, client(number), &Words::parse(line));
    }

    fn string(&self, index: ConfigIndex) -> &str {
        use crate::game::Host as _;
        self.host.configstring(index)
    }

    fn entry(&self, number: usize) -> &str {
        self.string(configstring::player(client(number)))
    }

    /// Lines of the log that begin with a word, without it.
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
fn eight_players_go_from_warmup_to_the_next_map() {
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

        // Nobody scores.
        level.game.with(&mut level.host, |cx, sys| suicide(cx, sys, client(1)));
        assert!((0..8).all(|number| level.scores(number) == 0), "{}", ruleset.folder);

        level.run(19_000 - FRAME_MS);
        assert!(
            level.game.with(&mut level.host, |_, sys| sys.match_state.is_warmup())
                && level.led.is_empty()
        );
        level.run(2 * FRAME_MS);
        assert_eq!(level.led, [(start + FRAME_MS, "map_restart 0".to_owned())]);
        assert!(!level.game.with(&mut level.host, |_, sys| sys.match_state.is_warmup()));
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

        // What comes too late does not count as another end.
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

        // One of eight is ready after two seconds: ten seconds more, from the fifth on.
        level.run(2000);
        level.press(5, Buttons::ATTACK);
        level.frame();
        assert_eq!(level.ready_bits(0), 1 << 5);
        level.led.clear();
        level.run(20_000);
        assert_eq!(level.led, [(queued + 16_000, "vstr nextmap".to_owned())]);
        assert!((0..8).all(|number| level.scores(number) == 0));
        assert!((0..8).all(|number| level.game.clients.plays(client(number))));
        assert_eq!(level.string(configstring::INTERMISSION), "");
    }
}

#[test]
fn time_runs_out_to_the_millisecond_and_a_tie_is_played_on() {
    let mut level = Match::with(Ruleset::BASEOA, &[("timelimit", "1"), ("fraglimit", "9")], 2);
    let end = level.game.clients.started.0 + 60_000;
    level.score(0, 3);
    level.score(1, 3);
    while level.now.0 < end + 5000 {
        level.frame();
        assert!(
            !level.game.with(&mut level.host, |_, sys| sys.match_state.is_over()),
            "a tie ends at {}",
            level.now
        );
    }
    level.score(1, 1);
    assert!(level.game.with(&mut level.host, |_, sys| sys.match_state.is_over()));
    assert!(level.was_told("print \"Timelimit hit.\n\""));
    assert_eq!(level.logged("Exit: "), ["Timelimit hit."]);

    let mut level = Match::with(Ruleset::BASEQ3, &[("timelimit", "1")], 2);
    level.score(0, 1);
    let end = level.game.clients.started.0 + 60_000;
    level.run(end - level.now.0 - FRAME_MS);
    assert!(!level.game.with(&mut level.host, |_, sys| sys.match_state.is_over()));
    level.frame();
    assert!(level.game.with(&mut level.host, |_, sys| sys.match_state.is_over()));
}

#[test]
fn one_player_alone_hits_no_fraglimit_in_openarena() {
    for (ruleset, ends) in [(Ruleset::BASEOA, false), (Ruleset::BASEQ3, true)] {
        let mut level = Match::with(ruleset, &[("fraglimit", "3")], 1);
        level.score(0, 3);
        assert_eq!(
            level.game.with(&mut level.host, |_, sys| sys.match_state.is_over()),
            ends,
            "{}",
            ruleset.folder
        );
    }
}

#[test]
fn teams_end_a_match_by_their_own_scores() {
    for (kind, scores, said, reason) in [
        (GameType::TeamDeathmatch, [20, 3], "Red hit the fraglimit.", "Fraglimit hit."),
        (GameType::CaptureTheFlag, [2, 8], "Blue hit the capturelimit.", "Capturelimit hit."),
    ] {
        let settings = [("fraglimit", "20"), ("capturelimit", "8")];
        let mut level = Match::with(Ruleset::BASEQ3, &settings, 2);
        level.game.clients.game_type = kind;
        level.score(0, 50);
        assert!(
            !level.game.with(&mut level.host, |_, sys| sys.match_state.is_over()),
            "a player's score ends nothing"
        );
        level.game.clients.team_scores = scores;
        level.score(0, 1);
        assert!(level.game.with(&mut level.host, |_, sys| sys.match_state.is_over()));
        assert!(level.was_told(&format!("print \"{said}\n\"")));
        assert_eq!(level.logged("Exit: "), [reason]);
        assert_eq!(level.logged("red:"), [format!("{}  blue:{}", scores[0], scores[1])]);
        let [red, blue] = scores.map(|score| score.to_string());
        assert_eq!(level.string(configstring::SCORES1), red);
        assert_eq!(level.string(configstring::SCORES2), blue);
        let leads = i32::from(scores[1] > scores[0]);
        assert_eq!((level.rank(0), level.rank(1)), (leads, leads));
    }
}

#[test]
fn a_team_pays_for_no_leaver_in_openarena() {
    // Bob goes to the other side, and then leaves; what blue has, and who is said to have killed him.
    for (ruleset, blue, killers) in [
        (Ruleset::BASEOA, [0, 0], vec!["1 1 20: p1", "1022 1 20: <world>"]),
        (Ruleset::BASEQ3, [-1, -1], vec!["1 1 20: p1"]),
    ] {
        let mut level = Match::with(ruleset, &[], 2);
        level.game.clients.game_type = GameType::TeamDeathmatch;
        for (number, color) in [(0, TeamColor::Red), (1, TeamColor::Blue)] {
            let role = Role::Playing(Some(color));
            level.change_role(number, role);
        }
        level.game.clients.team_scores = [0; 2];
        level.host.logged.clear();
        let own = |level: &Match| level.game.clients.team_scores;
        level.change_role(1, Role::Playing(Some(TeamColor::Red)));
        assert_eq!(own(&level), [0, blue[0]], "{}", ruleset.folder);
        level.leave(1);
        assert_eq!(own(&level), [0, blue[1]], "{}", ruleset.folder);
        let kills: Vec<String> =
            killers.iter().map(|killer| format!("{killer} killed p1 by MOD_SUICIDE")).collect();
        assert_eq!(level.logged("Kill: "), kills, "{}", ruleset.folder);
    }
}

#[test]
fn tied_teams_play_on_and_are_ranked_as_tied() {
    let mut level = Match::with(Ruleset::BASEQ3, &[("fraglimit", "20")], 2);
    level.game.clients.game_type = GameType::TeamDeathmatch;
    level.game.clients.team_scores = [20, 20];
    level.score(0, 1);
    assert!(!level.game.with(&mut level.host, |_, sys| sys.match_state.is_over()));
    assert_eq!(level.rank(1), 2);
}

#[test]
fn all_ready_leave_after_five_seconds_and_bots_are_not_asked() {
    let mut level = Match::start(Ruleset::BASEOA, &[("fraglimit", "1")]);
    level.bots = 0b100;
    (0..3).for_each(|number| level.join(number));
    level.score(0, 1);
    let queued = level.now.0;
    level.run(2000);
    level.press(0, Buttons::USE_HOLDABLE);
    level.press(1, Buttons::ATTACK);
    level.run(10_000);
    assert_eq!(level.led, [(queued + 6000, "map_restart 0".to_owned())]);
}

#[test]
fn nobody_ready_means_nobody_leaves_unless_only_bots_are_there() {
    let mut level = Match::with(Ruleset::BASEQ3, &[("fraglimit", "1")], 2);
    level.score(0, 1);
    level.run(120_000);
    assert_eq!(level.led, []);
    // The last human leaves: fifteen seconds at least have gone by.
    level.bots = 0b100;
    level.join(2);
    level.leave(0);
    level.leave(1);
    level.run(10_000 + 2 * FRAME_MS);
    assert_eq!(level.led.len(), 1);
}

#[test]
fn who_comes_at_the_end_sees_the_scoreboard_too() {
    let mut level = Match::with(Ruleset::BASEOA, &[("fraglimit", "1")], 2);
    level.score(0, 1);
    level.run(3000);
    level.host.sent.clear();
    level.join(7);
    assert_eq!(level.game.player(client(7)).pm_type, PmType::Intermission as i32);
    for number in [0, 7] {
        let told = level.host.sent_to(client(number));
        assert!(told.iter().any(|text| text.starts_with("scores 3 ")), "{number}: {told:?}");
    }
}

#[test]
fn at_the_end_the_base_game_says_what_openarena_ignores() {
    for (ruleset, said) in [(Ruleset::BASEQ3, true), (Ruleset::BASEOA, false)] {
        let mut level = Match::with(ruleset, &[("fraglimit", "1")], 2);
        level.score(0, 1);
        level.run(2000);
        for (line, always) in [("team s", false), ("kill now", false), ("say good game", true)] {
            level.host.sent.clear();
            level.say(1, line);
            let text = line.strip_prefix("say ").unwrap_or(line);
            let chat = format!("chat \"p1^7\x19: ^2{text}\"");
            assert_eq!(level.was_told(&chat), always || said, "{}: {line}", ruleset.folder);
        }
        assert_eq!(level.role(1), Role::Playing(None));
        level.host.sent.clear();
        level.say(1, "score");
        assert_eq!(level.host.sent_to(client(1)).len(), 1);
    }
}

#[test]
fn a_tournament_goes_from_pair_to_pair() {
    for ruleset in Ruleset::ALL {
        let settings = [("g_gametype", "1"), ("g_warmup", "5"), ("fraglimit", "2")];
        let mut level = Match::with(ruleset, &settings, 1);
        level.frame();
        assert_eq!(level.string(configstring::WARMUP), "-1");
        (1..4).for_each(|number| level.join(number));
        let roles = |level: &Match| [0, 1, 2, 3].map(|n| level.game.clients.plays(client(n)));
        assert_eq!(roles(&level), [true, true, false, false]);
        level.frame();
        assert_eq!(level.string(configstring::WARMUP), (level.now.0 + 4000).to_string());
        level.run(5000);
        assert_eq!(level.led.len(), 1, "the match begins by a restart");
        assert!(!level.game.with(&mut level.host, |_, sys| sys.match_state.is_warmup()));
        assert_eq!(roles(&level), [true, true, false, false]);

        level.score(1, 2);
        level.run(1000);
        assert!(level.entry(1).contains("\\w\\1\\l\\0\\"), "{}", level.entry(1));
        assert!(level.entry(0).contains("\\w\\0\\l\\1\\"), "{}", level.entry(0));
        (0..4).for_each(|number| level.press(number, Buttons::ATTACK));
        level.run(6000);
        assert_eq!(level.led.len(), 2);
        assert_eq!(level.led[1].1, "map_restart 0");
        // The next in line has come in, and the loser waits behind the other.
        level.frame();
        assert_eq!(roles(&level), [false, true, true, false]);
        assert!(level.game.with(&mut level.host, |_, sys| sys.match_state.is_warmup()));
        assert!(level.entry(1).contains("\\w\\1\\l\\0\\"));
        assert_eq!(level.game.clients.next_challenger(), Some(client(3)));
        level.run(5000);
        assert!(!level.game.with(&mut level.host, |_, sys| sys.match_state.is_warmup()));

        // Who leaves has lost; whoever waited longest comes in.
        level.leave(1);
        assert!(level.entry(2).contains("\\w\\1\\l\\0\\"), "{}", level.entry(2));
        level.frame();
        assert_eq!((level.role(2), level.role(3)), (Role::Playing(None), Role::Playing(None)));
        assert!(level.game.with(&mut level.host, |_, sys| sys.match_state.is_warmup()));
        level.run(5000);

        // Who stops playing has lost, too.
        level.say(3, "team s");
        assert!(level.entry(3).contains("\\w\\0\\l\\1\\"), "{}", level.entry(3));
        level.frame();
        assert_eq!(roles(&level), [true, false, true, false]);
    }
}

#[test]
fn a_tournament_player_who_leaves_at_the_end_ends_it() {
    let settings = [("g_gametype", "1"), ("g_warmup", "0"), ("fraglimit", "2")];
    let mut level = Match::with(Ruleset::BASEOA, &settings, 2);
    level.frame();
    assert!(
        !level.game.with(&mut level.host, |_, sys| sys.match_state.is_warmup()),
        "no countdown where there is no time for one"
    );
    level.score(0, 2);
    level.run(2000);
    level.leave(1);
    level.frame();
    assert_eq!(level.led.len(), 1);
    assert_eq!(level.led[0].1, "map_restart 0");
}

#[test]
fn a_countdown_begins_again_when_its_length_changes_or_players_leave() {
    let mut level = Match::with(Ruleset::BASEQ3, &[("g_doWarmup", "1"), ("g_warmup", "20")], 2);
    level.run(3000);
    crate::game::Host::set_setting(&mut level.host, "g_warmup", "8");
    level.frame();
    assert_eq!(level.string(configstring::WARMUP), (level.now.0 + 7000).to_string());
    level.leave(1);
    level.frame();
    assert_eq!(level.string(configstring::WARMUP), "-1");
    assert_eq!(level.logged("Warmup:").len(), 2);
}

#[test]
fn a_short_warmup_ends_at_once_or_by_a_restart() {
    for (ruleset, restarts) in [(Ruleset::BASEQ3, 0), (Ruleset::BASEOA, 1)] {
        let mut level = Match::with(ruleset, &[("g_doWarmup", "1"), ("g_warmup", "1")], 2);
        level.run(500);
        assert_eq!(level.led.len(), restarts, "{}", ruleset.folder);
        assert!(!level.game.with(&mut level.host, |_, sys| sys.match_state.is_warmup()));
        assert_eq!(level.string(configstring::WARMUP), "");
    }
}

#[test]
fn a_rotation_begins_with_d1_when_no_level_was_named() {
    for (nextmap, asked, then) in [
        ("", "vstr d1", "vstr d2"),
        ("map_restart 0", "vstr d1", "vstr d2"),
        ("vstr d7", "vstr nextmap", "vstr d7"),
    ] {
        let settings = [("fraglimit", "1"), ("d1", "map oa_dm1"), ("nextmap", nextmap)];
        let mut level = Match::with(Ruleset::BASEQ3, &settings, 1);
        level.score(0, 1);
        level.run(1000);
        level.press(0, Buttons::ATTACK);
        level.run(6000);
        assert_eq!(level.led.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>(), [asked]);
        assert_eq!(crate::game::Host::setting(&level.host, "nextmap"), then);
    }
}

#[test]
fn a_line_that_leads_nowhere_is_made_up_for_by_a_restart() {
    let settings = [("fraglimit", "1"), ("nextmap", "echo nowhere")];
    let mut level = Match::with(Ruleset::BASEQ3, &settings, 1);
    level.obeys = false;
    level.score(0, 1);
    level.run(1000);
    level.press(0, Buttons::ATTACK);
    level.run(8000);
    let lines: Vec<_> = level.led.iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!(lines[..2], ["vstr nextmap", "map_restart 0"]);
    assert_eq!(level.led[1].0 - level.led[0].0, PATIENCE_MS);
}

#[test]
fn sessions_outlive_levels_but_not_their_game_type() {
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
fn the_log_tells_a_match_from_its_beginning_to_its_end() {
    for (ruleset, first, second) in [
        (Ruleset::BASEQ3, "ClientConnect: 0", "ClientUserinfoChanged: 0 n\\p0\\t\\0\\"),
        (Ruleset::BASEOA, "ClientUserinfoChanged: 0 n\\p0\\t\\0\\", "ClientConnect: 0"),
    ] {
        let mut level = Match::with(ruleset, &[("fraglimit", "1")], 1);
        level.leave(0);
        level.run(5000);
        level.change_level(true);
        // Leaving is a death in one of the games.
        level.host.logged.retain(|(_, line)| !line.starts_with("Kill:"));
        let lines: Vec<_> = level.host.logged.iter().map(|(_, line)| line.as_str()).collect();
        let rule = "-".repeat(60);
        let expected =
            [&rule, "InitGame: ", first, second, "ClientBegin: 0", "ClientDisconnect: 0"];
        assert!(lines.len() >= 10, "{lines:#?}");
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.starts_with(expected), "{line} is not {expected}");
        }
        let end = lines.iter().position(|line| *line == "ShutdownGame:").expect("an end");
        assert_eq!(lines[end + 1..end + 3], [&rule, &rule]);
        // The clock begins anew with the level; OpenArena's only with another level.
        let (ended, begun) = (level.host.logged[end].0, level.host.logged[end + 2].0);
        assert_eq!((ended, begun), (5300, if ruleset.log_clock_runs_on { 5300 } else { 0 }));
    }
}
