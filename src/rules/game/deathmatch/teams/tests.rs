//! Tests of capture the flag in open space.

use crate::bg::{
    EntityType, Event, MeansOfDeath, Persistent, TeamColor, entity_flag, player_event,
};
use crate::game::deathmatch::{
    context::Context, damage::damage_player, damage::death::suicide, entities::Entity,
    entity_kinds::EntityKind, entity_kinds::ItemState, hit::Hit, pickups::touch_team_item,
    systems::Systems,
};
use crate::game::{
    Deathmatch, Game, GameEvent, Host as _, LevelStart, Ruleset, TeamScoreCause,
    conformance::TestHost,
};
use crate::model::{ClientNum, CommandArgs, LevelTime, UserCmd, Vec3};

/// Adds the bonus of a kill, as the level's mode does.
fn add_frag_bonus(cx: &mut Context<'_>, sys: &mut Systems, victim: ClientNum, killer: ClientNum) {
    (sys.fight.hooks.kill_bonus)(cx, &mut sys.fight, victim, killer);
}

fn client(number: usize) -> ClientNum {
    ClientNum::new(number).expect("a client number")
}

/// Starts a level with clients 0 and 1 in red and 2 and 3 in blue, far from each other.
fn field(ruleset: &'static Ruleset, game_type: &str) -> (Deathmatch, TestHost) {
    let mut host = TestHost::of_ruleset(ruleset);
    host.set_setting("g_gametype", game_type);
    let mut game = Deathmatch::new(ruleset);
    game.init(&mut host, LevelStart { time: LevelTime(1000), seed: 1, restart: false })
        .expect("no fault");
    for (number, team) in ["red", "red", "blue", "blue"].into_iter().enumerate() {
        host.userinfos[number] = format!("\\name\\p{number}");
        game.client_connect(&mut host, client(number), true, false).expect("room");
        game.client_begin(&mut host, client(number)).expect("no fault");
        game.client_command(
            &mut host,
            client(number),
            &CommandArgs::parse(&format!("team {team}")),
        )
        .expect("no fault");
        put(&mut game, number, 5000.0 * (number + 1) as f32);
        game.clients.players[number].as_mut().expect("there").unlink(&mut host);
    }
    host.sent.clear();
    host.told.clear();
    (game, host)
}

fn put(game: &mut Deathmatch, number: usize, along: f32) {
    let player = game.clients.players[number].as_mut().expect("there");
    player.state.origin = Vec3::new(along, 0.0, 0.0);
}

fn persistant_of(game: &Deathmatch, number: usize, index: Persistent) -> i32 {
    Game::player(game, client(number)).persistant[index]
}

fn scores(game: &Deathmatch) -> [i32; 4] {
    [0, 1, 2, 3].map(|number| persistant_of(game, number, Persistent::Score))
}

/// Returns the team sounds of the frame.
fn sounds(game: &Deathmatch) -> Vec<i32> {
    (64..256)
        .filter_map(|number| game.entity(crate::model::EntityNum::new(number)?))
        .filter(|entity| entity.state.e_type == 13 + 47)
        .map(|entity| entity.state.event_parm)
        .collect()
}

#[test]
fn openarena_marks_team_kills_and_suicides() {
    for (ruleset, marked) in [(Ruleset::BASEOA, 1), (Ruleset::BASEQ3, 0)] {
        let (mut game, mut host) = field(ruleset, "4");
        game.with(&mut host, |cx, sys| suicide(cx, &mut sys.fight, client(0)));
        let obituary = (64..256)
            .filter_map(|number| game.entity(crate::model::EntityNum::new(number)?))
            .find(|entity| entity.state.e_type == EntityType::with_event(Event::Obituary));
        assert_eq!(obituary.expect("it is told").state.generic1, marked, "{}", ruleset.folder);
    }
}

#[test]
fn flag_is_taken_and_captured() {
    for ruleset in Ruleset::ALL {
        let (mut game, mut host) = field(ruleset, "4");
        assert!(game.with(&mut host, |cx, sys| touch_team_item(
            cx,
            &mut sys.fight,
            client(0),
            TeamColor::Blue,
            false,
            Vec3::ZERO
        )));
        assert_eq!(host.configstring(crate::model::ConfigIndex::at(23)), "01");
        assert_eq!(host.sent_to_all(), ["print \"p0^7 got the BLUE flag!\n\""]);
        assert_eq!(sounds(&game), [4]);
        host.sent.clear();
        assert!(!game.with(&mut host, |cx, sys| touch_team_item(
            cx,
            &mut sys.fight,
            client(0),
            TeamColor::Red,
            false,
            Vec3::ZERO
        )));
        assert_eq!(host.configstring(crate::model::ConfigIndex::at(23)), "00");
        assert_eq!(host.configstring(crate::model::ConfigIndex::at(6)), "1");
        assert_eq!(host.sent_to_all(), ["print \"p0^7 captured the BLUE flag!\n\""]);
        assert_eq!(sounds(&game), [4, 10, 0]);
        assert_eq!((scores(&game), game.clients.team_scores), ([5, 0, 0, 0], [1, 0]));
        let event =
            GameEvent::TeamScore { team: TeamColor::Red, score: 1, cause: TeamScoreCause::Capture };
        assert!(host.events.contains(&format!("{event:?}")), "{:?}", host.events);
        assert_eq!(persistant_of(&game, 0, Persistent::Captures), 1);
        let flags = Game::player(&game, client(0)).e_flags;
        assert_ne!(flags & entity_flag::AWARD_CAPTURE, 0);
        game.run_frame(&mut host, LevelTime(3050)).expect("no fault");
        let command = UserCmd { server_time: 3050, ..UserCmd::default() };
        game.client_think(&mut host, client(0), &command).expect("no fault");
        let flags = Game::player(&game, client(0)).e_flags;
        assert_eq!(flags & entity_flag::AWARD_CAPTURE, 0);
    }
}

#[test]
fn m38_flag_is_dropped_when_its_carrier_begins_again() {
    for ruleset in Ruleset::ALL {
        let (mut game, mut host) = field(ruleset, "4");
        game.with(&mut host, |cx, sys| {
            touch_team_item(cx, &mut sys.fight, client(0), TeamColor::Blue, false, Vec3::ZERO)
        });
        game.client_begin(&mut host, client(0)).expect("no fault");
        assert_eq!(host.configstring(crate::model::ConfigIndex::at(23)), "02", "on the ground");
    }
}

#[test]
fn team_sound_follows_score_lead_and_tie() {
    let (mut game, mut host) = field(Ruleset::BASEQ3, "4");
    for (number, own, sound) in [
        (0, TeamColor::Red, 10),
        (2, TeamColor::Blue, 12),
        (2, TeamColor::Blue, 11),
        (2, TeamColor::Blue, 9),
    ] {
        game.with(&mut host, |cx, sys| {
            touch_team_item(cx, &mut sys.fight, client(number), own.other(), false, Vec3::ZERO)
        });
        let before = sounds(&game).len();
        game.with(&mut host, |cx, sys| {
            touch_team_item(cx, &mut sys.fight, client(number), own, false, Vec3::ZERO)
        });
        assert_eq!(sounds(&game)[before], sound);
    }
    assert_eq!(game.clients.team_scores, [1, 3]);
}

#[test]
fn flag_taken_sound_pauses_while_both_flags_are_away() {
    let (mut game, mut host) = field(Ruleset::BASEQ3, "4");
    let mut take = |game: &mut Deathmatch, number: usize, flag: TeamColor| {
        let before = sounds(game).len();
        game.with(&mut host, |cx, sys| {
            touch_team_item(cx, &mut sys.fight, client(number), flag, false, Vec3::ZERO)
        });
        sounds(game).len() - before
    };
    assert_eq!([0, 1].map(|number| take(&mut game, number, TeamColor::Blue)), [1, 1]);
    assert_eq!(take(&mut game, 2, TeamColor::Red), 1);
    assert_eq!(take(&mut game, 0, TeamColor::Blue), 0, "both are away");
    game.clients.now = LevelTime(11_001);
    assert_eq!(take(&mut game, 0, TeamColor::Blue), 1, "after 10 s");
}

#[test]
fn capture_makes_team_taunt_and_shows_points_at_flag() {
    let (mut game, mut host) = field(Ruleset::BASEQ3, "4");
    let at = Vec3::new(1.0, 2.0, 3.0);
    game.with(&mut host, |cx, sys| {
        touch_team_item(cx, &mut sys.fight, client(0), TeamColor::Blue, false, at);
        sys.fight.team_state.record_carrier_hurt(cx, client(0), client(2));
        touch_team_item(cx, &mut sys.fight, client(0), TeamColor::Red, false, at);
    });
    let plum = (64..256)
        .filter_map(|number| game.entity(crate::model::EntityNum::new(number)?))
        .find(|entity| entity.state.e_type == EntityType::with_event(Event::ScorePlum));
    assert_eq!(plum.expect("it is shown").state.pos.base, at);
    game.with(&mut host, |cx, sys| add_frag_bonus(cx, sys, client(2), client(1)));
    assert_eq!(scores(&game)[1], 0, "no danger after the capture");
    for number in 0..4 {
        let command = UserCmd { server_time: 1050, ..UserCmd::default() };
        game.client_think(&mut host, client(number), &command).expect("no fault");
        let torso = Game::player(&game, client(number)).torso_timer;
        assert_eq!(torso > 0, number < 2, "client {number}");
    }
}

#[test]
fn death_of_carrier_near_own_flag_is_announced() {
    for (distance, toggled) in [(150.0, player_event::HOLY_SHIT), (250.0, 0)] {
        let (mut game, mut host) = field(Ruleset::BASEQ3, "4");
        game.with(&mut host, |cx, _| {
            let (number, item) = cx.clients.ruleset.items.by_class("team_CTF_redflag").expect("it");
            let kind = EntityKind::Item(Box::new(ItemState::new(number, item)));
            let (now, started) = cx.clock();
            cx.entities.add(Entity::new(kind, Vec3::ZERO), now, started);
        });
        put(&mut game, 0, distance);
        game.with(&mut host, |cx, sys| {
            touch_team_item(cx, &mut sys.fight, client(0), TeamColor::Blue, false, Vec3::ZERO);
            damage_player(
                cx,
                &mut sys.fight,
                client(0),
                &Hit { attacker: Some(client(2)), ..Hit::by_world(500, MeansOfDeath::Rocket) },
            );
        });
        for number in [0, 2] {
            assert_eq!(persistant_of(&game, number, Persistent::PlayerEvents), toggled);
        }
    }
}

#[test]
fn flag_return_and_carrier_frag_count_as_assists() {
    let (mut game, mut host) = field(Ruleset::BASEQ3, "4");
    // Blue takes the red flag and is killed. Red returns the flag and captures.
    game.with(&mut host, |cx, sys| {
        touch_team_item(cx, &mut sys.fight, client(2), TeamColor::Red, false, Vec3::ZERO)
    });
    host.sent.clear();
    game.with(&mut host, |cx, sys| add_frag_bonus(cx, sys, client(2), client(1)));
    assert_eq!(host.sent_to_all(), ["print \"p1^7 fragged BLUE's flag carrier!\n\""]);
    game.with(&mut host, |cx, sys| {
        touch_team_item(cx, &mut sys.fight, client(1), TeamColor::Red, true, Vec3::ZERO)
    });
    assert_eq!(scores(&game), [0, 3, 0, 0], "2 for the carrier, 1 for the return");
    game.with(&mut host, |cx, sys| {
        touch_team_item(cx, &mut sys.fight, client(0), TeamColor::Blue, false, Vec3::ZERO)
    });
    game.with(&mut host, |cx, sys| {
        touch_team_item(cx, &mut sys.fight, client(0), TeamColor::Red, false, Vec3::ZERO)
    });
    assert_eq!(scores(&game), [5, 6, 0, 0], "1 and 2 for the assists");
    assert_eq!(persistant_of(&game, 1, Persistent::Assist), 2);
    // Assists expire after ten seconds.
    game.clients.now = LevelTime(11_000);
    game.with(&mut host, |cx, sys| {
        touch_team_item(cx, &mut sys.fight, client(0), TeamColor::Blue, false, Vec3::ZERO)
    });
    game.with(&mut host, |cx, sys| {
        touch_team_item(cx, &mut sys.fight, client(0), TeamColor::Red, false, Vec3::ZERO)
    });
    assert_eq!(scores(&game), [10, 6, 0, 0]);
}

#[test]
fn frag_of_player_who_hurt_carrier_scores_two() {
    let (mut game, mut host) = field(Ruleset::BASEQ3, "4");
    game.with(&mut host, |cx, sys| {
        touch_team_item(cx, &mut sys.fight, client(0), TeamColor::Blue, false, Vec3::ZERO)
    });
    game.with(&mut host, |cx, sys| {
        sys.fight.team_state.record_carrier_hurt(cx, client(0), client(2))
    });
    game.with(&mut host, |cx, sys| add_frag_bonus(cx, sys, client(2), client(1)));
    game.with(&mut host, |cx, sys| add_frag_bonus(cx, sys, client(2), client(1)));
    assert_eq!(scores(&game), [0, 2, 0, 0], "once");
    assert_eq!(persistant_of(&game, 1, Persistent::Defend), 1);
    game.with(&mut host, |cx, sys| {
        sys.fight.team_state.record_carrier_hurt(cx, client(0), client(2))
    });
    game.clients.now = LevelTime(9000);
    game.with(&mut host, |cx, sys| add_frag_bonus(cx, sys, client(2), client(1)));
    assert_eq!(scores(&game), [0, 2, 0, 0], "after 8 seconds");
}

#[test]
fn openarena_carrier_scores_two_for_its_enemy() {
    for (ruleset, points) in [(Ruleset::BASEOA, 2), (Ruleset::BASEQ3, 0)] {
        let (mut game, mut host) = field(ruleset, "4");
        game.with(&mut host, |cx, sys| {
            touch_team_item(cx, &mut sys.fight, client(0), TeamColor::Blue, false, Vec3::ZERO)
        });
        game.with(&mut host, |cx, sys| {
            sys.fight.team_state.record_carrier_hurt(cx, client(0), client(2))
        });
        game.with(&mut host, |cx, sys| add_frag_bonus(cx, sys, client(2), client(0)));
        assert_eq!(scores(&game), [points, 0, 0, 0], "{}", ruleset.folder);
    }
}

#[test]
fn openarena_judges_frag_near_carrier_by_killer() {
    for (ruleset, far, near) in [(Ruleset::BASEOA, 0, 1), (Ruleset::BASEQ3, 1, 2)] {
        let (mut game, mut host) = field(ruleset, "4");
        game.with(&mut host, |cx, sys| {
            touch_team_item(cx, &mut sys.fight, client(0), TeamColor::Blue, false, Vec3::ZERO)
        });
        put(&mut game, 2, 5900.0);
        game.with(&mut host, |cx, sys| add_frag_bonus(cx, sys, client(2), client(1)));
        assert_eq!(scores(&game), [0, far, 0, 0], "{}", ruleset.folder);
        put(&mut game, 1, 5900.0);
        put(&mut game, 2, 15_000.0);
        game.with(&mut host, |cx, sys| add_frag_bonus(cx, sys, client(2), client(1)));
        assert_eq!(scores(&game), [0, near, 0, 0], "{}", ruleset.folder);
    }
}

#[test]
fn frag_near_own_carrier_scores_one() {
    let (mut game, mut host) = field(Ruleset::BASEQ3, "4");
    game.with(&mut host, |cx, sys| {
        touch_team_item(cx, &mut sys.fight, client(0), TeamColor::Blue, false, Vec3::ZERO)
    });
    game.with(&mut host, |cx, sys| add_frag_bonus(cx, sys, client(2), client(1)));
    assert_eq!(scores(&game), [0; 4], "out of range");
    put(&mut game, 1, 5900.0);
    game.with(&mut host, |cx, sys| add_frag_bonus(cx, sys, client(2), client(1)));
    assert_eq!(scores(&game), [0, 1, 0, 0]);
    game.with(&mut host, |cx, sys| add_frag_bonus(cx, sys, client(0), client(1)));
    assert_eq!(scores(&game), [0, 1, 0, 0], "a teammate scores nothing");
}

#[test]
fn player_points_count_for_team_in_team_deathmatch() {
    for (game_type, team_scores) in [("3", [2, -1]), ("4", [0, 0])] {
        let (mut game, mut host) = field(Ruleset::BASEQ3, game_type);
        game.with(&mut host, |cx, sys| {
            sys.fight.match_state.add_score(cx, client(0), 2, Vec3::ZERO)
        });
        game.with(&mut host, |cx, sys| {
            sys.fight.match_state.add_score(cx, client(2), -1, Vec3::ZERO)
        });
        assert_eq!(game.clients.team_scores, team_scores);
    }
}

#[test]
fn openarena_logs_flags_scores_and_awards() {
    for (ruleset, expected) in [
        (
            Ruleset::BASEOA,
            &[
                "CTF: 0 2 0: p0 got the BLUE flag!",
                "PlayerScore: 0 0: p0 now has 0 points",
                "CTF: 0 2 1: p0 captured the BLUE flag!",
                "Award: 0 4: p0 gained the CAPTURE award!",
                "Challenge: 0 303 1: Client 0 got award 303",
                "PlayerScore: 0 5: p0 now has 5 points",
                "PlayerScore: 2 1: p2 now has 1 points",
                "CTF: 2 2 2: p2 returned the BLUE flag!",
            ][..],
        ),
        (Ruleset::BASEQ3, &[]),
    ] {
        let (mut game, mut host) = field(ruleset, "4");
        host.logged.clear();
        game.with(&mut host, |cx, sys| {
            for (number, flag, is_dropped) in [
                (0, TeamColor::Blue, false),
                (0, TeamColor::Red, false),
                (2, TeamColor::Blue, true),
            ] {
                touch_team_item(cx, &mut sys.fight, client(number), flag, is_dropped, Vec3::ZERO);
            }
        });
        let lines: Vec<_> = host.logged.iter().map(|(_, line)| line.as_str()).collect();
        assert_eq!(lines, expected, "{}", ruleset.folder);
    }
}

#[test]
fn openarena_logs_team_scores_and_rail_awards() {
    let (mut game, mut host) = field(Ruleset::BASEOA, "3");
    host.logged.clear();
    game.with(&mut host, |cx, sys| {
        sys.fight.match_state.add_score(cx, client(2), 3, Vec3::ZERO);
        sys.fight.combat.count_rail_hits(cx, &sys.fight.match_state, client(1), 2);
    });
    let lines: Vec<_> = host.logged.iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!(
        lines,
        [
            "TeamScore: 2 3: Team 2 now has 3 points",
            "PlayerScore: 2 3: p2 now has 3 points",
            "Award: 1 2: p1 gained the IMPRESSIVE award!",
            "Challenge: 1 301 1: Client 1 got award 301",
        ]
    );
}
