//! Tests of exit rules and team scores.

use super::*;

#[test]
fn time_limit_is_exact_and_tie_continues_match() {
    let mut level = Match::with(Ruleset::BASEOA, &[("timelimit", "1"), ("fraglimit", "9")], 2);
    let end = level.game.clients.started.0 + 60_000;
    level.score(0, 3);
    level.score(1, 3);
    while level.now.0 < end + 5000 {
        level.frame();
        assert!(
            !level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_over()),
            "a tie ends at {}",
            level.now
        );
    }
    level.score(1, 1);
    assert!(level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_over()));
    assert!(level.was_told("print \"Timelimit hit.\n\""));
    assert_eq!(level.logged("Exit: "), ["Timelimit hit."]);

    let mut level = Match::with(Ruleset::BASEQ3, &[("timelimit", "1")], 2);
    level.score(0, 1);
    let end = level.game.clients.started.0 + 60_000;
    level.run(end - level.now.0 - FRAME_MS);
    assert!(!level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_over()));
    level.frame();
    assert!(level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_over()));
}

#[test]
fn single_player_hits_no_fraglimit_in_openarena() {
    for (ruleset, ends) in [(Ruleset::BASEOA, false), (Ruleset::BASEQ3, true)] {
        let mut level = Match::with(ruleset, &[("fraglimit", "3")], 1);
        level.score(0, 3);
        assert_eq!(
            level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_over()),
            ends,
            "{}",
            ruleset.folder
        );
    }
}

#[test]
fn team_score_ends_team_match() {
    for (kind, scores, said, reason) in [
        (GameType::TeamDeathmatch, [20, 3], "Red hit the fraglimit.", "Fraglimit hit."),
        (GameType::CaptureTheFlag, [2, 8], "Blue hit the capturelimit.", "Capturelimit hit."),
    ] {
        let settings = [("fraglimit", "20"), ("capturelimit", "8")];
        let mut level = Match::with(Ruleset::BASEQ3, &settings, 2);
        level.game.set_game_type(kind);
        level.score(0, 50);
        assert!(
            !level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_over()),
            "a player's score ends nothing"
        );
        level.game.clients.team_scores = scores;
        level.score(0, 1);
        assert!(level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_over()));
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
fn team_change_keeps_team_score_in_openarena() {
    // Bob changes his team and then disconnects. Compares blue's score and the logged killers.
    for (ruleset, blue, killers) in [
        (Ruleset::BASEOA, [0, 0], vec!["1 1 20: p1", "1022 1 20: <world>"]),
        (Ruleset::BASEQ3, [-1, -1], vec!["1 1 20: p1"]),
    ] {
        let mut level = Match::with(ruleset, &[], 2);
        level.game.set_game_type(GameType::TeamDeathmatch);
        for (number, color) in [(0, TeamColor::Red), (1, TeamColor::Blue)] {
            let role = Role::Playing(Some(color));
            level.change_role(number, role);
        }
        level.game.clients.team_scores = [0; 2];
        level.host.logged.clear();
        level.host.events.clear();
        let own = |level: &Match| level.game.clients.team_scores;
        level.change_role(1, Role::Playing(Some(TeamColor::Red)));
        assert_eq!(own(&level), [0, blue[0]], "{}", ruleset.folder);
        // A sum of the events equals the score of the team.
        let told = level.host.events.iter().rfind(|event| event.starts_with("TeamScore {"));
        let score = format!("TeamScore {{ team: Blue, score: {}, ", blue[0]);
        assert!(told.is_some_and(|event| event.starts_with(&score)), "{:?}", level.host.events);
        level.leave(1);
        assert_eq!(own(&level), [0, blue[1]], "{}", ruleset.folder);
        let kills: Vec<String> =
            killers.iter().map(|killer| format!("{killer} killed p1 by MOD_SUICIDE")).collect();
        assert_eq!(level.logged("Kill: "), kills, "{}", ruleset.folder);
    }
}

#[test]
fn tied_teams_continue_and_rank_as_tied() {
    let mut level = Match::with(Ruleset::BASEQ3, &[("fraglimit", "20")], 2);
    level.game.set_game_type(GameType::TeamDeathmatch);
    level.game.clients.team_scores = [20, 20];
    level.score(0, 1);
    assert!(!level.game.with(&mut level.host, |_, sys| sys.fight.match_state.is_over()));
    assert_eq!(level.rank(1), 2);
}
