//! Unit tests of free flight through the game interface.

mod commands;

use super::*;
use crate::model::Buttons;
use crate::{
    bg::{entity_flag, pm_flag},
    game::conformance::{self, TestHost},
};

fn client(number: usize) -> ClientNum {
    ClientNum::new(number).expect("a client number")
}

/// A level at time 1000 with connected players.
struct Fixture {
    game: Flight,
    host: TestHost,
    now: LevelTime,
}

impl Fixture {
    fn new(ruleset: &'static Ruleset) -> Self {
        let mut fixture = Self {
            game: Flight::new(ruleset),
            host: TestHost::of_ruleset(ruleset),
            now: LevelTime(1000),
        };
        fixture.host.set_setting("mapname", "oa_dm1");
        let start = LevelStart { time: fixture.now, seed: 1, restart: false };
        fixture.game.init(&mut fixture.host, start).expect("no fault");
        fixture
    }

    fn with(ruleset: &'static Ruleset, names: &[&str]) -> Self {
        let mut fixture = Self::new(ruleset);
        for (number, name) in names.iter().enumerate() {
            fixture.connect(number, &format!("\\name\\{name}\\model\\sarge")).expect("room");
            fixture.game.client_begin(&mut fixture.host, client(number)).expect("no fault");
        }
        fixture.forget();
        fixture
    }

    fn connect(&mut self, number: usize, userinfo: &str) -> Result<(), String> {
        userinfo.clone_into(&mut self.host.userinfos[number]);
        let connected = self.game.client_connect(&mut self.host, client(number), true, false);
        connected.map_err(|error| error.to_string())
    }

    fn forget(&mut self) {
        self.host.sent.clear();
        self.host.told.clear();
    }

    fn frame(&mut self, ms: i32) {
        self.now = self.now + ms;
        self.game.run_frame(&mut self.host, self.now).expect("no fault");
    }

    fn think(&mut self, number: usize, command: UserCmd) {
        self.host.usercmds[number] = command;
        self.game.client_think(&mut self.host, client(number), &command).expect("no fault");
    }

    /// Returns a usercmd at the level time.
    fn command(&self) -> UserCmd {
        UserCmd { server_time: self.now.0, ..UserCmd::default() }
    }

    fn press(&mut self, number: usize, buttons: Buttons) {
        let command = self.command();
        self.think(number, UserCmd { buttons, ..command });
        self.think(number, command);
    }

    /// Runs a client command and returns the commands sent to the client.
    fn say(&mut self, number: usize, line: &str) -> Vec<String> {
        self.forget();
        self.game
            .client_command(&mut self.host, client(number), &CommandArgs::parse(line))
            .expect("no fault");
        let sent = self.host.sent.iter().filter(|(to, _)| to.is_none_or(|to| to == client(number)));
        sent.map(|(_, text)| text.clone()).collect()
    }

    fn state(&self, number: usize) -> &PlayerState {
        Game::player(&self.game, client(number))
    }

    fn is_visible(&self, number: usize) -> bool {
        let entity = self.game.entity(client(number).into());
        entity.is_some_and(|entity| entity.shared.is_linked() && entity.state.e_type == 1)
    }
}

#[test]
fn flight_conforms() {
    for ruleset in Ruleset::ALL {
        conformance::check(|| Box::new(Flight::new(ruleset)));
    }
}

#[test]
fn level_start_sets_configstrings_in_order() {
    let fixture = Fixture::new(Ruleset::BASEQ3);
    let items = format!("cs 27 \"00000000101{}\"", "0".repeat(25));
    assert_eq!(
        fixture.host.told,
        [
            "cs 289 \"sound/player/fry.wav\"",
            "cs 20 \"baseq3-1\"",
            "cs 21 \"1000\"",
            "cs 2 \"music/sonic6.ogg\"",
            "cs 3 \"Place of Two Deaths (converted from q1 sources)\"",
            &items,
            "cs 6 \"-9999\"",
            "cs 7 \"-9999\"",
        ]
    );
    let oa = Fixture::new(Ruleset::BASEOA);
    assert_eq!(oa.host.configstring(configstring::GAME_VERSION), "baseoa-1");
    assert_eq!(oa.host.configstring(configstring::ITEMS).len(), 61);
}

#[test]
fn second_client_is_announced_in_documented_order() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &["alpha"]);
    fixture.connect(1, "\\name\\beta").expect("room");
    fixture.game.client_begin(&mut fixture.host, client(1)).expect("no fault");
    let entry = "n\\beta\\t\\0\\model\\\\hmodel\\\\g_redteam\\\\g_blueteam\\\\c1\\\\c2\\\\hc\\100\
                 \\w\\0\\l\\0\\tt\\0\\tl\\0";
    assert_eq!(
        fixture.host.told,
        [
            &format!("cs 545 \"{entry}\""),
            "print \"beta^7 connected\n\"",
            "cs 7 \"0\"",
            "print \"beta^7 entered the game\n\"",
        ]
    );
}

#[test]
fn entering_player_has_health_and_weapons_for_the_hud() {
    let fixture = Fixture::with(Ruleset::BASEQ3, &["alpha"]);
    let state = fixture.state(0);
    assert_eq!(state.stats[..7], [125, 0, 6, 0, 0, 0, 100]);
    assert_eq!((state.weapon, state.weaponstate, state.viewheight), (2, 0, 26));
    assert_eq!((state.ammo[1], state.ammo[2], state.ammo[10]), (-1, 100, -1));
    assert_eq!((state.legs_anim, state.torso_anim), (22, 11));
    assert_eq!((state.gravity, state.speed, state.pm_type), (800, 320, 1));
    assert_eq!((state.pm_flags, state.pm_time), (576, 100));
    assert_eq!((state.persistant[4], state.command_time), (1, 900));
    let oa = Fixture::with(Ruleset::BASEOA, &["alpha"]);
    assert_eq!(oa.state(0).stats[..8], [125, 0, 0, 6, 0, 0, 0, 100]);
    assert!(oa.is_visible(0));
}

#[test]
fn openarena_client_gets_respawn_command() {
    let mut fixture = Fixture::new(Ruleset::BASEOA);
    fixture.connect(0, "\\name\\alpha").expect("room");
    fixture.game.client_begin(&mut fixture.host, client(0)).expect("no fault");
    assert_eq!(fixture.host.sent_to(client(0)), ["respawn 0", "cp \"\""]);
}

#[test]
fn password_is_required_from_remote_clients() {
    let mut fixture = Fixture::new(Ruleset::BASEOA);
    fixture.host.set_setting("g_password", "secret");
    assert_eq!(fixture.connect(0, "\\name\\a"), Err("Invalid password".to_owned()));
    assert_eq!(
        fixture.connect(0, "\\name\\a\\password\\wrong"),
        Err("Invalid password".to_owned())
    );
    assert!(fixture.host.told.iter().all(|line| !line.contains("connected")));
    assert_eq!(fixture.connect(0, "\\name\\a\\password\\secret"), Ok(()));
    fixture.host.local = true;
    assert_eq!(fixture.connect(1, "\\name\\b"), Ok(()));
    fixture.host.local = false;
    fixture.host.set_setting("g_password", "none");
    assert_eq!(fixture.connect(2, "\\name\\c"), Ok(()));
}

#[test]
fn players_spawn_apart_with_angles_of_spawn_point() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let fixture = Fixture::with(Ruleset::BASEOA, &names);
    for one in 0..names.len() {
        for other in 0..one {
            let away = (fixture.state(one).origin - fixture.state(other).origin).length();
            assert!(away > MIN_SPAWN_DISTANCE, "{one} and {other} are {away} apart");
        }
    }
    let mut turned = Fixture::new(Ruleset::BASEOA);
    turned.host.usercmds[0] = UserCmd { angles: [5000, 30_000, 0], ..UserCmd::default() };
    turned.connect(0, "\\name\\a").expect("room");
    turned.game.client_begin(&mut turned.host, client(0)).expect("no fault");
    let spot = turned.state(0).viewangles;
    let command = UserCmd { server_time: 1000, ..turned.host.usercmds[0] };
    turned.think(0, command);
    let turn = (turned.state(0).viewangles - spot).0.map(|angle| angle.rem_euclid(360.0));
    assert_eq!(turn, [0.0; 3]);
}

#[test]
fn player_flight_moves_its_entity() {
    let mut fixture = Fixture::with(Ruleset::BASEOA, &["alpha", "beta"]);
    let before = fixture.state(0).origin;
    for _ in 0..10 {
        fixture.frame(50);
        let command = UserCmd { upmove: 127, ..fixture.command() };
        fixture.think(0, command);
    }
    let state = *fixture.state(0);
    assert!((state.velocity[2] - 320.0).abs() < 0.01, "{:?}", state.velocity);
    assert!(state.origin[2] > before[2] + 100.0);
    let entity = fixture.game.entity(EntityNum::from(client(0))).expect("an entity");
    assert_eq!(entity.state.pos.base, state.origin.truncated());
    assert_eq!(entity.state.pos.kind, 1);
    assert_eq!(entity.shared.current_origin, state.origin);
    assert!(entity.shared.absmin[2] < state.origin[2] && entity.shared.linkcount > 1);
}

#[test]
fn usercmd_time_is_clamped_to_level_time() {
    let mut fixture = Fixture::with(Ruleset::BASEOA, &["alpha"]);
    fixture.frame(5000);
    for (asked, got) in [(i32::MIN, 5000), (4000, 5000), (i32::MAX, 6200), (0, 6200)] {
        let command = UserCmd { server_time: asked, ..UserCmd::default() };
        fixture.think(0, command);
        assert_eq!(fixture.state(0).command_time, got, "asked {asked}");
    }
    fixture.host.set_setting("pmove_fixed", "1");
    fixture.frame(1000);
    let command = UserCmd { server_time: 6995, ..UserCmd::default() };
    fixture.think(0, command);
    // Rounded up to a multiple of 11.
    assert_eq!(fixture.state(0).command_time, 6996);
}

#[test]
fn synchronous_clients_move_in_server_frames() {
    let mut fixture = Fixture::with(Ruleset::BASEOA, &["alpha"]);
    fixture.host.set_setting("g_synchronousClients", "1");
    fixture.frame(50);
    let before = fixture.state(0).command_time;
    let command = fixture.command();
    fixture.think(0, command);
    assert_eq!(fixture.state(0).command_time, before);
    fixture.frame(50);
    assert_eq!(fixture.state(0).command_time, command.server_time);
}

#[test]
fn spectators_fly_without_visible_entity() {
    for ruleset in Ruleset::ALL {
        let mut fixture = Fixture::with(ruleset, &["alpha", "beta"]);
        let told = fixture.say(0, "team s");
        assert!(told.contains(&"cp \"alpha^7 joined the spectators.\n\"".to_owned()), "{told:?}");
        assert!(!fixture.is_visible(0) && fixture.is_visible(1));
        assert_eq!((fixture.state(0).persistant[3], fixture.state(0).speed), (3, 400));
        assert!(fixture.host.configstring(configstring::player(client(0))).contains("\\t\\3\\"));
        fixture.frame(50);
        let before = fixture.state(0).origin;
        let command = UserCmd { upmove: 127, ..fixture.command() };
        fixture.think(0, command);
        assert!(fixture.state(0).origin[2] > before[2]);
        fixture.frame(50);
        assert!(!fixture.is_visible(0));

        let refused = fixture.say(0, "team free");
        assert_eq!(refused, ["print \"May not switch teams more than once per 5 seconds.\n\""]);
        fixture.frame(5000);
        let told = fixture.say(0, "team free");
        assert!(told.contains(&"cp \"alpha^7 joined the battle.\n\"".to_owned()), "{told:?}");
        assert!(told.contains(&"print \"alpha^7 entered the game\n\"".to_owned()), "{told:?}");
        assert!(fixture.is_visible(0));
    }
}

#[test]
fn client_can_connect_as_spectator() {
    for (ruleset, key) in [(Ruleset::BASEQ3, "teampref"), (Ruleset::BASEOA, "team")] {
        let mut fixture = Fixture::new(ruleset);
        fixture.connect(0, &format!("\\name\\a\\{key}\\spectator")).expect("room");
        fixture.game.client_begin(&mut fixture.host, client(0)).expect("no fault");
        assert_eq!(fixture.state(0).persistant[3], 3);
        assert!(fixture.host.sent_to_all().iter().all(|text| !text.contains("entered")));
        assert_eq!(fixture.state(0).origin, fixture.game.map.view.origin);
    }
}

#[test]
fn players_beyond_setting_become_spectators() {
    let mut fixture = Fixture::new(Ruleset::BASEOA);
    fixture.host.set_setting("g_maxGameClients", "1");
    fixture.frame(50);
    for number in 0..2 {
        fixture.connect(number, "\\name\\a").expect("room");
        fixture.game.client_begin(&mut fixture.host, client(number)).expect("no fault");
    }
    assert_eq!((fixture.state(0).persistant[3], fixture.state(1).persistant[3]), (0, 3));
    fixture.say(1, "team free");
    assert_eq!(fixture.state(1).persistant[3], 3);
}

#[test]
fn followers_get_playerstate_of_followed_player() {
    let mut fixture = Fixture::with(Ruleset::BASEOA, &["alpha", "beta", "gamma"]);
    fixture.say(2, "team s");
    fixture.press(2, Buttons::ATTACK);
    assert_eq!(fixture.state(2).client_num, 0);
    assert_ne!(fixture.state(2).pm_flags & pm_flag::FOLLOW, 0);
    fixture.press(2, Buttons::ATTACK);
    fixture.frame(50);
    assert_eq!(
        (fixture.state(2).client_num, fixture.state(2).origin),
        (1, fixture.state(1).origin)
    );
    // A held button has no further effect.
    let held = UserCmd { buttons: Buttons::ATTACK, ..fixture.command() };
    fixture.think(2, held);
    assert_eq!(fixture.state(2).client_num, 0);
    fixture.think(2, held);
    assert_eq!(fixture.state(2).client_num, 0);

    fixture.say(2, "follow BETA");
    assert_eq!(fixture.state(2).client_num, 1);
    fixture.say(2, "followprev");
    assert_eq!(fixture.state(2).client_num, 0);
    fixture.press(2, Buttons::USE_HOLDABLE);
    let state = fixture.state(2);
    assert_eq!((state.client_num, state.pm_flags & pm_flag::FOLLOW), (2, 0));
    assert_eq!(state.origin, fixture.state(0).origin);
    assert_eq!(state.persistant[3], 3);
}

#[test]
fn followers_of_disconnected_player_become_free_spectators() {
    for leave in ["team s", "disconnect"] {
        let mut fixture = Fixture::with(Ruleset::BASEQ3, &["alpha", "beta"]);
        fixture.say(1, "follow alpha");
        assert_eq!(fixture.state(1).client_num, 0, "following makes a player a spectator");
        let followed_at = fixture.state(0).origin;
        if leave == "disconnect" {
            fixture.game.client_disconnect(&mut fixture.host, client(0)).expect("no fault");
        } else {
            fixture.say(0, leave);
        }
        assert_eq!(fixture.state(1).client_num, 1);
        // A disconnect leaves the view where it was, a team change moves it.
        let at = fixture.state(1).origin;
        assert_eq!(at == followed_at, leave == "disconnect", "{leave}: {at:?}");
        fixture.frame(50);
        assert_eq!(fixture.state(1).pm_flags & pm_flag::FOLLOW, 0);
    }
}

#[test]
fn auto_followers_select_first_or_second_player() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &["alpha", "beta", "gamma"]);
    fixture.say(0, "team follow2");
    assert_eq!(fixture.state(0).client_num, 2);
    fixture.say(2, "team s");
    fixture.frame(50);
    assert_eq!(fixture.state(0).client_num, 0);
    fixture.frame(6000);
    fixture.say(2, "team f");
    fixture.frame(50);
    assert_eq!(fixture.state(0).client_num, 2);
}

#[test]
fn attack_switches_camera_between_its_players() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &["alpha", "beta", "gamma"]);
    fixture.say(0, "team follow1");
    let mut seen = vec![fixture.state(0).client_num];
    for _ in 0..3 {
        fixture.say(0, "follownext");
        seen.push(fixture.state(0).client_num);
    }
    assert_eq!(seen, [1, 2, 1, 2]);
    fixture.say(2, "team s");
    fixture.frame(50);
    assert_eq!(fixture.game.clients.role(client(0)), Role::AutoFollowing(1), "still a camera");
}

#[test]
fn equal_scores_share_a_rank() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &["alpha", "beta", "gamma"]);
    let ranks = |fixture: &Fixture| [0, 1, 2].map(|n| fixture.state(n).persistant[2]);
    assert_eq!(ranks(&fixture), [0x4000; 3]);
    for (number, score) in [(0, 5), (1, 9), (2, 5)] {
        let player = fixture.game.clients.players[number].as_mut().expect("connected");
        player.state.persistant[0] = score;
    }
    fixture.game.clients.rank(&mut fixture.host);
    assert_eq!(ranks(&fixture), [0x4001, 0, 0x4001]);
    assert_eq!(fixture.host.configstring(configstring::SCORES1), "9");
    assert_eq!(fixture.host.configstring(configstring::SCORES2), "5");
    fixture.game.set_ping(client(1), 1500);
    let told = fixture.say(0, "score");
    assert!(told[0].starts_with("scores 3 0 0 1 9 999 0 0 0 0 0 0 0 0 0 1 0 0 5 0 "), "{told:?}");
}

#[test]
fn silent_client_gets_connection_flag() {
    for (ruleset, frames) in [(Ruleset::BASEQ3, 20), (Ruleset::BASEOA, 3)] {
        let mut fixture = Fixture::with(ruleset, &["alpha"]);
        let command = fixture.command();
        fixture.think(0, command);
        for frame in 0..=frames {
            assert_eq!(
                fixture.state(0).e_flags & entity_flag::CONNECTION,
                0,
                "{} frame {frame}",
                ruleset.folder
            );
            fixture.frame(50);
        }
        assert_ne!(fixture.state(0).e_flags & entity_flag::CONNECTION, 0, "{}", ruleset.folder);
        let command = fixture.command();
        fixture.think(0, command);
        fixture.frame(50);
        assert_eq!(fixture.state(0).e_flags & entity_flag::CONNECTION, 0);
    }
}

#[test]
fn entity_smoothing_depends_on_ruleset() {
    for (ruleset, kind) in [(Ruleset::BASEQ3, 3), (Ruleset::BASEOA, 1)] {
        let mut fixture = Fixture::with(ruleset, &["alpha"]);
        fixture.frame(50);
        let command = fixture.command();
        fixture.think(0, command);
        let entity = fixture.game.entity(EntityNum::from(client(0))).expect("an entity");
        assert_eq!(entity.state.pos.kind, kind);
        if kind == 3 {
            assert_eq!((entity.state.pos.time, entity.state.pos.duration), (1050, 50));
        }
    }
}

#[test]
fn roles_survive_restart_and_scores_do_not() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &["alpha", "beta"]);
    fixture.say(1, "team s");
    fixture.game.shutdown(&mut fixture.host, true).expect("no fault");
    let start = LevelStart { time: fixture.now + 100, seed: 2, restart: true };
    fixture.game.init(&mut fixture.host, start).expect("no fault");
    assert_eq!(fixture.game.entity_count(), 0);
    for number in 0..2 {
        fixture.game.client_connect(&mut fixture.host, client(number), false, false).expect("room");
        fixture.game.client_begin(&mut fixture.host, client(number)).expect("no fault");
    }
    assert_eq!((fixture.state(0).persistant[3], fixture.state(1).persistant[3]), (0, 3));
    assert_eq!(fixture.state(0).persistant[4], 1);
    assert_eq!(fixture.host.configstring(configstring::LEVEL_START_TIME), "1100");
    assert!(fixture.host.sent_to_all().iter().all(|text| !text.contains("connected")));
}

#[test]
fn disconnected_client_leaves_no_state() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &["alpha", "beta"]);
    fixture.game.client_disconnect(&mut fixture.host, client(0)).expect("no fault");
    assert!(fixture.game.entity(EntityNum::from(client(0))).is_none());
    assert_eq!(fixture.host.configstring(configstring::player(client(0))), "");
    assert_eq!(fixture.host.configstring(configstring::SCORES2), "-9999");
    assert_eq!(fixture.state(1).persistant[2], 0);
    assert_eq!(*fixture.state(0), PlayerState::default());
}
