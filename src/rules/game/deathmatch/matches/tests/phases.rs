//! Tests of warm-up, intermission, tournament and level change.

use super::*;
use crate::game::{FileLimits, GameFiles};
use crate::model::assets::MemoryAssets;

#[test]
fn ready_humans_end_intermission_after_five_seconds() {
    let mut level = Match::start(Ruleset::BASEOA, &[("fraglimit", "1")]);
    level.bots = 0b100;
    (0..3).for_each(|number| level.join(number));
    level.score(0, 1);
    let queued = level.now.0;
    level.run(2000);
    level.press(0, Buttons::USE_HOLDABLE);
    level.press(1, Buttons::ATTACK);
    level.run(10_000);
    assert_eq!(level.queued, [(queued + 6000, "map_restart 0".to_owned())]);
}

#[test]
fn intermission_waits_for_ready_clients_unless_only_bots_remain() {
    let mut level = Match::with(Ruleset::BASEQ3, &[("fraglimit", "1")], 2);
    level.score(0, 1);
    level.run(120_000);
    assert_eq!(level.queued, []);
    // The last human disconnects more than fifteen seconds into the intermission.
    level.bots = 0b100;
    level.join(2);
    level.leave(0);
    level.leave(1);
    level.run(10_000 + 2 * FRAME_MS);
    assert_eq!(level.queued.len(), 1);
}

#[test]
fn client_joining_during_intermission_sees_scoreboard() {
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
fn intermission_commands_follow_ruleset() {
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
fn tournament_rotates_challengers() {
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
        assert_eq!(level.queued.len(), 1, "a restart begins the match");
        assert!(!level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_warmup()));
        assert_eq!(roles(&level), [true, true, false, false]);

        level.score(1, 2);
        level.run(1000);
        assert!(level.entry(1).contains("\\w\\1\\l\\0\\"), "{}", level.entry(1));
        assert!(level.entry(0).contains("\\w\\0\\l\\1\\"), "{}", level.entry(0));
        (0..4).for_each(|number| level.press(number, Buttons::ATTACK));
        level.run(6000);
        assert_eq!(level.queued.len(), 2);
        assert_eq!(level.queued[1].1, "map_restart 0");
        // The next challenger has joined, and the loser waits behind the other.
        level.frame();
        assert_eq!(roles(&level), [false, true, true, false]);
        assert!(level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_warmup()));
        assert!(level.entry(1).contains("\\w\\1\\l\\0\\"));
        assert_eq!(level.game.clients.next_challenger(), Some(client(3)));
        level.run(5000);
        assert!(!level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_warmup()));

        // A player who is behind and disconnects has lost. The longest waiting spectator joins.
        level.score(1, -1);
        level.leave(1);
        assert!(level.entry(2).contains("\\w\\1\\l\\0\\"), "{}", level.entry(2));
        level.frame();
        assert_eq!((level.role(2), level.role(3)), (Role::Playing(None), Role::Playing(None)));
        assert!(level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_warmup()));
        level.run(5000);

        // A player who becomes a spectator has lost, too.
        level.say(3, "team s");
        assert!(level.entry(3).contains("\\w\\0\\l\\1\\"), "{}", level.entry(3));
        level.frame();
        assert_eq!(roles(&level), [true, false, true, false]);
    }
}

#[test]
fn tournament_leader_who_disconnects_leaves_no_winner() {
    let settings = [("g_gametype", "1"), ("g_warmup", "0"), ("fraglimit", "9")];
    let mut level = Match::with(Ruleset::BASEQ3, &settings, 2);
    level.frame();
    assert!(!level.host.sent_to_all().iter().any(|line| line.contains("entered the game")));
    level.score(0, 2);
    level.leave(0);
    assert!(level.entry(1).contains("\\w\\0\\l\\0\\"), "{}", level.entry(1));
}

#[test]
fn tournament_intermission_ends_when_player_disconnects() {
    let settings = [("g_gametype", "1"), ("g_warmup", "0"), ("fraglimit", "2")];
    let mut level = Match::with(Ruleset::BASEOA, &settings, 2);
    level.frame();
    assert!(
        !level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_warmup()),
        "no countdown where there is no time for one"
    );
    level.score(0, 2);
    level.run(2000);
    level.leave(1);
    level.frame();
    assert_eq!(level.queued.len(), 1);
    assert_eq!(level.queued[0].1, "map_restart 0");
}

#[test]
fn countdown_restarts_on_setting_or_player_change() {
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
fn one_second_warmup_ends_per_ruleset() {
    for (ruleset, restarts) in [(Ruleset::BASEQ3, 0), (Ruleset::BASEOA, 1)] {
        let mut level = Match::with(ruleset, &[("g_doWarmup", "1"), ("g_warmup", "1")], 2);
        level.run(500);
        assert_eq!(level.queued.len(), restarts, "{}", ruleset.folder);
        assert!(!level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_warmup()));
        assert_eq!(level.string(configstring::WARMUP), "");
    }
}

#[test]
fn rotation_starts_at_d1_without_nextmap() {
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
        assert_eq!(level.queued.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>(), [asked]);
        assert_eq!(crate::game::Host::setting(&level.host, "nextmap"), then);
    }
}

#[test]
fn pool_of_game_type_chooses_next_map() {
    let maps = |text: &str| {
        let mut assets = MemoryAssets::default();
        assets.insert("maps_dm.cfg.org", text.as_bytes().to_vec()).expect("a legal name");
        Some(GameFiles::new(std::rc::Rc::new(assets), FileLimits { bytes: 0, files: 0 }))
    };
    let file = "oa_dm3 oa_dm1\nOA_DM2 gone // oa_dm9";
    for (choice, nextmap, file, current, asked) in [
        ("0", "map_restart 0", file, "oa_dm1", "vstr nextmap"),
        ("2", "map_restart 0", file, "oa_dm1", "map oa_dm2"),
        ("2", "", file, "oa_dm2", "map oa_dm3"),
        ("2", "", file, "q3dm1", "map oa_dm3"),
        ("2", "map oa_dm7", file, "oa_dm1", "vstr nextmap"),
        ("1", "", "oa_dm1 oa_dm2", "oa_dm1", "map oa_dm2"),
        ("1", "", "oa_dm1", "oa_dm1", "map_restart 0"),
    ] {
        let settings = [("fraglimit", "1"), ("g_autonextmap", choice), ("nextmap", nextmap)];
        let mut level = Match::with(Ruleset::BASEQ3, &settings, 1);
        level.host.maps = ["oa_dm1", "oa_dm2", "oa_dm3", "oa_dm9"].map(str::to_owned).to_vec();
        level.host.files = maps(file);
        crate::game::Host::set_setting(&mut level.host, "mapname", current);
        level.score(0, 1);
        level.run(1000);
        level.press(0, Buttons::ATTACK);
        level.run(6000);
        let lines: Vec<_> = level.queued.iter().map(|(_, line)| line.as_str()).collect();
        assert_eq!(lines, [asked], "{choice} {nextmap} {current}");
    }
}

#[test]
fn ineffective_level_change_is_replaced_by_restart() {
    let settings = [("fraglimit", "1"), ("nextmap", "echo nowhere")];
    let mut level = Match::with(Ruleset::BASEQ3, &settings, 1);
    level.runs_commands = false;
    level.score(0, 1);
    level.run(1000);
    level.press(0, Buttons::ATTACK);
    level.run(8000);
    let lines: Vec<_> = level.queued.iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!(lines[..2], ["vstr nextmap", "map_restart 0"]);
    assert_eq!(level.queued[1].0 - level.queued[0].0, LEVEL_CHANGE_TIMEOUT_MS);
}
