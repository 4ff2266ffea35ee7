//! Tests of missiles, mines, hooks and the kamikaze.

use super::*;
use crate::game::deathmatch::hit::Hit;
use crate::model::{EntityNum, LevelTime};

#[test]
fn rocket_flies_hits_and_splashes() {
    for ruleset in Ruleset::ALL {
        let (mut room, one, other) = duel(ruleset, Weapon::RocketLauncher, &[]);
        let near = room.join(2, 300.0, 60.0, 0.0);
        room.fire(one);
        let fired_at = room.now.0;
        let rocket = room.missiles()[0];
        assert_eq!((rocket.pos.kind, rocket.pos.time, rocket.weapon), (2, fired_at - 50, 5));
        assert_eq!(rocket.pos.base, Vec3::new(14.0, 0.0, MUZZLE_Z));
        assert_eq!(rocket.pos.delta, Vec3::new(900.0, 0.0, 0.0));
        assert_eq!(rocket.other_entity_num, 0, "the shooter, or none");
        room.frame();
        let flown = room.game.entities.missile_positions();
        assert_eq!(flown, [Vec3::new(14.0 + 90.0, 0.0, MUZZLE_Z)], "100 ms of flight");
        // 271 − 50 ms: the rocket hits the box at 285 in the fifth frame.
        room.run_for(250);
        assert!(room.missiles().is_empty());
        assert_eq!(room.obituaries(), [6], "{}", ruleset.folder);
        assert!(room.health(other) <= 0);
        // The box of the second player is 285..315 by 45..75, enlarged by one unit: 44 units away.
        let lost = 100 - room.health(near);
        assert_eq!(lost, (100.0 * (1.0_f32 - 44.0 / 120.0)) as i32, "{}", ruleset.folder);
        let end = room.entities().find(|state| state.weapon == 5 && state.e_type == 0);
        let end = end.expect("its end");
        assert_eq!((end.event & 0xff, end.event_parm), (Event::MissileHit as i32, 143));
        assert_eq!((end.other_entity_num, end.pos.base[0]), (1, 284.0));
        assert_eq!(room.player(one).accuracy.of(5), (1, 1), "one hit for one rocket");
        room.run_for(400);
        assert!(!room.entities().any(|state| state.weapon == 5 && state.e_type == 0));
    }
}

#[test]
fn missile_hits_player_at_current_position() {
    for ruleset in Ruleset::ALL {
        let (mut room, one, _) = duel(ruleset, Weapon::RocketLauncher, &[]);
        let near = room.join(2, 300.0, 200.0, 0.0);
        room.fire(one);
        room.run_for(250);
        assert_eq!(room.missiles().len(), 1, "it hits in the next frame");
        // Places of the last frame do not count, also with lag compensation.
        room.move_to(near, Vec3::new(300.0, 60.0, STANDING), Vec3::ZERO);
        room.frame();
        assert!(room.missiles().is_empty());
        let lost = 100 - room.health(near);
        assert_eq!(lost, (100.0 * (1.0_f32 - 44.0 / 120.0)) as i32, "{}", ruleset.folder);
    }
}

#[test]
fn splash_damages_and_throws_its_attacker() {
    let wall = ([100.0, -100.0, 0.0], [120.0, 100.0, 200.0], Stuff::Metal);
    for ruleset in Ruleset::ALL {
        let mut room = TestRoom::with(ruleset, &[wall], &[]);
        let one = room.join(0, 0.0, 0.0, 0.0);
        room.arm(one, Weapon::RocketLauncher, 10);
        room.fire(one);
        room.run_for(100);
        // Explodes 84 units from the box: 100 · (1 − 84 / 120) = 30, half of it as self damage.
        assert_eq!(room.health(one), 100 - 15, "{}", ruleset.folder);
        let end = room.entities().find(|state| state.weapon == 5 && state.e_type == 0);
        let end = end.expect("its end");
        assert_eq!((end.event & 0xff, end.event_parm), (Event::MissileMissMetal as i32, 143));
        let push = room.state(one).velocity.length();
        assert!((push - 150.0).abs() < 1.0, "{push}");
    }
}

#[test]
fn missile_vanishes_in_sky_and_explodes_after_lifetime() {
    let sky = ([100.0, -100.0, 0.0], [120.0, 100.0, 200.0], Stuff::Sky);
    let (mut room, one, _) = duel(Ruleset::BASEQ3, Weapon::RocketLauncher, &[sky]);
    room.fire(one);
    room.run_for(200);
    assert!(!room.entities().any(|state| state.weapon == 5 && state.number > 63));

    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let one = room.join(0, 0.0, 0.0, 0.0);
    room.arm(one, Weapon::GrenadeLauncher, 10);
    room.fire(one);
    let grenade = room.missiles()[0];
    // (1, 0, 0.2) at 700, truncated.
    assert_eq!(grenade.pos.delta, Vec3::new(686.0, 0.0, 137.0));
    assert_eq!((grenade.pos.kind, grenade.e_flags), (5, 0x20));
    room.run_for(2450);
    assert_eq!(room.missiles().len(), 1);
    room.frame();
    let end = room.entities().find(|state| state.weapon == 4 && state.e_type == 0);
    let end = end.expect("its end");
    assert_eq!((end.event & 0xff, end.event_parm), (Event::MissileMiss as i32, 5), "points up");
    assert!(room.missiles().is_empty());
}

#[test]
fn grenade_bounces_at_65_percent_and_rests() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let one = room.join(0, 0.0, 0.0, 0.0);
    room.arm(one, Weapon::GrenadeLauncher, 10);
    room.fire(one);
    let mut bounces = 0;
    let mut last = room.missiles()[0];
    for _ in 0..49 {
        room.frame();
        let Some(&now) = room.missiles().first() else { break };
        if now.event != last.event && now.event != 0 {
            assert_eq!(now.event & 0xff, Event::GrenadeBounce);
            assert_eq!(now.event >> 8, ((last.event >> 8) + 1) & 3, "counted modulo 4");
            if bounces == 0 {
                // Falls from 50 with 137 upward: 0.564 s, at −314; two hundredths are lost to whole frames.
                assert!((now.pos.delta[0] - 686.0 * 0.65).abs() < 0.1, "{:?}", now.pos);
                assert!((200.0..212.0).contains(&now.pos.delta[2]), "{:?}", now.pos);
                assert_eq!(now.pos.time, room.now.0);
            }
            bounces += 1;
        }
        last = now;
    }
    assert!(bounces >= 3, "{bounces}");
}

#[test]
fn due_grenade_explodes_before_its_move_in_openarena() {
    for (ruleset, events) in [(Ruleset::BASEQ3, 2), (Ruleset::BASEOA, 1)] {
        let fire = || {
            let mut room = TestRoom::new(ruleset);
            let one = room.join(0, 0.0, 0.0, 0.0);
            room.arm(one, Weapon::GrenadeLauncher, 10);
            room.fire(one);
            room
        };
        let mut room = fire();
        let frames = (1..).find(|_| {
            room.frame();
            room.missiles()[0].event != 0
        });
        let until_bounce_ms = 50 * frames.expect("a bounce");
        let mut room = fire();
        let number = EntityNum::new(room.missiles()[0].number as usize).unwrap();
        let end = room.now + until_bounce_ms;
        room.game.with(&mut room.host, |cx, _| {
            cx.entities.get_mut(number).unwrap().think_at = Some(end);
        });
        room.run_for(until_bounce_ms);
        let end = room.entities().find(|state| state.weapon == 4 && state.e_type == 0).unwrap();
        assert_eq!(end.event, Event::MissileMiss as i32 | events << 8);
    }
}

#[test]
fn bounce_in_a_frame_is_timed_in_floats() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    room.game.with(&mut room.host, |cx, _| {
        cx.clients.now = LevelTime(18_060);
        cx.frame.ms = 50;
        // 18,034.9995 has no float: the next one is 18,035.
        assert_eq!(cx.time_within_frame(0.499_99), LevelTime(18_035));
        assert_eq!(cx.time_within_frame(0.49), LevelTime(18_034));
        assert_eq!(cx.time_within_frame(0.0), LevelTime(18_010));
        cx.clients.now = LevelTime(100_000_051);
        assert_eq!(cx.time_within_frame(0.5), LevelTime(100_000_026), "more than 4.6 hours");
    });
}

#[test]
fn plasma_and_bfg_have_their_damage() {
    for (number, left, speed) in [(8, 80, 2000.0), (9, 50, 2000.0)] {
        let (mut room, one, other) = duel(Ruleset::BASEQ3, number, &[]);
        room.player(other).state.stats[0] = if number == 9 { 150 } else { 100 };
        room.fire(one);
        assert_eq!(room.missiles()[0].pos.delta, Vec3::new(speed, 0.0, 0.0));
        room.run_for(200);
        assert_eq!(
            room.health(other),
            left,
            "weapon {number}: no splash damage for the direct hit"
        );
    }
}

#[test]
fn nailgun_fires_spread_of_nails() {
    let (mut room, one, other) = duel(Ruleset::BASEOA, Weapon::Nailgun, &[]);
    room.player(other).state.stats[0] = 900;
    room.put(other, Vec3::new(60.0, 0.0, 24.125), Vec3::ZERO);
    room.fire(one);
    let nails = room.missiles();
    assert_eq!(nails.len(), 15);
    for nail in &nails {
        assert_eq!((nail.pos.time, nail.other_entity_num), (room.now.0, 0), "no prestep");
        let speed = nail.pos.delta.length();
        assert!((553.0..2356.0).contains(&speed), "{speed}");
    }
    room.run_for(200);
    assert_eq!(room.health(other), 900 - 15 * 20);
    assert_eq!(room.player(one).accuracy.of(11), (1, 15), "one shot");
    let mut q3 = duel(Ruleset::BASEQ3, Weapon::Nailgun, &[]).0;
    let one = ClientNum::new(0).expect("it");
    q3.fire(one);
    assert!(q3.missiles().is_empty(), "a weapon that this game does not have");
}

#[test]
fn mine_sticks_arms_and_explodes() {
    let (mut room, one, other) = duel(Ruleset::BASEOA, Weapon::ProxLauncher, &[]);
    room.put(one, Vec3::new(0.0, 0.0, 24.125), Vec3::new(45.0, 180.0, 0.0));
    room.fire(one);
    room.run_for(300);
    let mine = room.missiles()[0];
    assert_eq!((mine.pos.kind, mine.event & 0xff), (0, Event::ProximityMineStick as i32));
    assert_eq!(mine.pos.base[2], 1.0, "on the floor, rounded up toward the muzzle");
    room.put(one, Vec3::new(1000.0, 0.0, 24.125), Vec3::ZERO);
    room.run_for(1600);
    assert_eq!(room.missiles()[0].loop_sound, 0, "not armed yet");
    room.run_for(500);
    assert_ne!(room.missiles()[0].loop_sound, 0);
    let at = mine.pos.base;
    room.put(other, at + Vec3::new(0.0, 151.0, 23.125), Vec3::ZERO);
    room.run_for(200);
    assert_eq!(room.missiles()[0].event, 0);
    room.put(other, at + Vec3::new(0.0, 100.0, 23.125), Vec3::ZERO);
    room.frame();
    let mine = room.missiles()[0];
    assert_eq!((mine.event & 0xff, mine.loop_sound), (Event::ProximityMineTrigger as i32, 0));
    room.run_for(450);
    assert_eq!(room.health(other), 100);
    room.frame();
    // 84 units from the box: 100 · (1 − 84 / 150) = 44.
    assert_eq!(room.health(other), 100 - 44);
    assert!(room.missiles().is_empty());
}

#[test]
fn mine_can_be_shot_and_ticks_on_player() {
    let (mut room, one, other) = duel(Ruleset::BASEOA, Weapon::ProxLauncher, &[]);
    room.put(one, Vec3::new(0.0, 0.0, 24.125), Vec3::new(20.0, 0.0, 0.0));
    room.put(other, Vec3::new(100.0, 0.0, 24.125), Vec3::ZERO);
    room.fire(one);
    room.run_for(200);
    assert_ne!(room.state(other).e_flags & 2, 0, "it ticks");
    room.put(one, Vec3::new(1000.0, 0.0, 24.125), Vec3::ZERO);
    room.run_for(9800);
    assert_eq!(room.health(other), 100);
    room.run_for(400);
    assert!(room.health(other) <= 0, "{}", room.health(other));
    assert_eq!(room.obituaries(), [25]);
    assert_eq!(room.state(other).e_flags & 2, 0);

    let (mut room, one, other) = duel(Ruleset::BASEOA, Weapon::ProxLauncher, &[]);
    room.put(one, Vec3::new(0.0, 0.0, 24.125), Vec3::new(45.0, 180.0, 0.0));
    room.fire(one);
    room.run_for(500);
    room.put(one, Vec3::new(1000.0, 0.0, 24.125), Vec3::ZERO);
    room.run_for(2500);
    let number = crate::model::EntityNum::new(room.missiles()[0].number as usize).expect("it");
    assert!(room.game.with(&mut room.host, |cx, sys| sys.fight.combat.is_damageable(cx, number)));
    let hit =
        Hit { attacker: Some(other), ..Hit::by_world(1, crate::bg::MeansOfDeath::Machinegun) };
    room.game.with(&mut room.host, |cx, sys| damage_entity(cx, &mut sys.fight, number, &hit));
    room.frame();
    assert!(room.missiles().is_empty());
}

#[test]
fn hook_pulls_until_attack_is_released() {
    for ruleset in Ruleset::ALL {
        let mut room = TestRoom::new(ruleset);
        let one = room.join(0, 1000.0, 0.0, 0.0);
        room.arm(one, Weapon::Grapple, -1);
        room.fire(one);
        let hook = room.missiles()[0];
        assert_eq!((hook.pos.delta[0], hook.other_entity_num, hook.weapon), (800.0, 0, 10));
        room.player(one).command.buttons = Buttons::ATTACK;
        for _ in 0..36 {
            room.think(one, Buttons::ATTACK);
            room.frame();
        }
        let state = room.state(one);
        assert_ne!(state.pm_flags & pm_flag::GRAPPLE_PULL, 0, "{}", ruleset.folder);
        assert_eq!(state.grapple_point[0], 2047.0);
        assert!(state.origin[0] > 1050.0, "it is pulled: {:?}", state.origin);
        assert!(room.entities().any(|state| state.e_type == 11));
        room.think(one, Buttons::default());
        assert_eq!(room.state(one).pm_flags & pm_flag::GRAPPLE_PULL, 0);
        assert!(!room.entities().any(|state| state.e_type == 11));
    }
}

#[test]
fn kamikaze_kills_players_in_radius() {
    let mut room = TestRoom::new(Ruleset::BASEOA);
    let one = room.join(0, 0.0, 0.0, 0.0);
    let near = room.join(1, 300.0, 0.0, 0.0);
    let far = room.join(2, 1500.0, 0.0, 0.0);
    let between = room.join(3, 0.0, 800.0, 0.0);
    room.game.with(&mut room.host, |cx, sys| start_kamikaze(cx, &mut sys.fight, one));
    assert!(room.health(one) <= 0);
    assert_eq!(room.obituaries(), [26]);
    assert_eq!(room.events(Event::Kamikaze).len(), 1);
    assert_eq!(room.event(Event::GlobalTeamSound).event_parm, 13);
    room.run_for(2200);
    assert!(room.health(near) <= 0);
    assert_eq!(room.health(between), 75, "only the shockwave reaches it");
    assert_eq!(room.health(far), 100);
    assert!(room.events(Event::Kamikaze).is_empty());
}

#[test]
fn mine_near_own_flag_waits_a_fifteenth() {
    let flags = "{ classname team_CTF_redflag origin \"0 400 40\" }\n\
        { classname team_CTF_blueflag origin \"1800 0 40\" }\n";
    for (x, waits_ms) in [(0.0, 20_000 / 15), (-1500.0, 20_000)] {
        let mut room = TestRoom::of(Ruleset::BASEOA, &[], &[("g_gametype", "4")], flags);
        let one = room.join(0, x, 0.0, 0.0);
        room.game
            .client_command(&mut room.host, one, &CommandArgs::parse("team red"))
            .expect("no fault");
        (room.player(one).state.pm_flags, room.player(one).state.pm_time) = (0, 0);
        room.arm(one, Weapon::ProxLauncher, 10);
        room.put(one, Vec3::new(x, 0.0, 24.125), Vec3::new(45.0, 180.0, 0.0));
        room.fire(one);
        room.run_for(300);
        room.put(one, Vec3::new(x, -1500.0, 24.125), Vec3::ZERO);
        let settled = room.now;
        while room.missiles()[0].loop_sound == 0 {
            room.frame();
            assert!(room.now.distance(settled) < 3000, "it is armed in time");
        }
        let armed = room.now;
        while !room.missiles().is_empty() {
            room.frame();
            assert!(room.now.distance(armed) <= waits_ms + 100, "{x}");
        }
        assert!(room.now.distance(armed) >= waits_ms, "{x}");
    }
}

#[test]
fn hook_follows_its_victim_once() {
    for ruleset in Ruleset::ALL {
        let (mut room, one, other) = duel(ruleset, Weapon::Grapple, &[]);
        room.arm(one, Weapon::Grapple, -1);
        room.fire(one);
        room.player(one).command.buttons = Buttons::ATTACK;
        let frame = |room: &mut TestRoom| {
            room.think(one, Buttons::ATTACK);
            room.frame();
        };
        while room.state(one).pm_flags & pm_flag::GRAPPLE_PULL == 0 {
            frame(&mut room);
            assert!(room.now.0 < 3000, "it hits");
        }
        let y = |room: &TestRoom| room.state(one).grapple_point[1];
        let step = |room: &mut TestRoom, to: f32| {
            room.put(other, Vec3::new(300.0, to, STANDING), Vec3::ZERO);
            frame(room);
        };
        step(&mut room, 40.0);
        assert_eq!(y(&room).abs() as i32, 0, "{}", ruleset.folder);
        step(&mut room, 80.0);
        assert!((y(&room) - 80.0).abs() <= 1.0, "after 100 ms: {}", y(&room));
        for to in [120.0, 160.0, 200.0] {
            step(&mut room, to);
        }
        assert!((y(&room) - 80.0).abs() <= 1.0, "not again: {}", y(&room));
    }
}

#[test]
fn only_living_enemies_count_as_hits() {
    let mut room = TestRoom::with(Ruleset::BASEOA, &[], &[("g_gametype", "3")]);
    let clients = [0, 1, 2, 3].map(|n| room.join(n, 200.0 * n as f32, 0.0, 0.0));
    for (client, team) in clients.into_iter().zip(["red", "red", "blue", "blue"]) {
        let words = CommandArgs::parse(&format!("team {team}"));
        room.game.client_command(&mut room.host, client, &words).expect("no fault");
    }
    let [one, mate, enemy, dead] = clients;
    room.player(dead).state.stats[0] = 0;
    room.game.with(&mut room.host, |cx, sys| {
        let good = |number: EntityNum| sys.fight.combat.is_good_hit(cx, one, number);
        let counted = [one, mate, enemy, dead].map(|client| good(client.into()));
        assert_eq!(counted, [false, false, true, false]);
        let others: Vec<_> = cx.entities.numbers().chain([EntityNum::WORLD]).collect();
        assert!(others.into_iter().all(|number| !good(number)));
    });
}
