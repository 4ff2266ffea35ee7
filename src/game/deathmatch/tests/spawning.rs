//! Tests of spawns: occupied spawn points, weapons of the spawn point, synchronous clients.

use super::room::{STANDING, TestRoom};
use crate::bg::{MeansOfDeath, Weapon};
use crate::game::{
    Ruleset,
    deathmatch::{
        combat::{Hit, damage::damage_player},
        think::{spawn, teleport},
    },
};
use crate::model::{EntityNum, Vec3};

#[test]
fn arriving_player_gibs_dead_body() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let one = room.join(0, 0.0, 0.0, 0.0);
    let dead = room.join(1, 500.0, 0.0, 0.0);
    let hit = Hit::by_world(110, MeansOfDeath::Lava);
    room.game.with(&mut room.host, |cx, sys| {
        damage_player(cx, sys, dead, &hit);
        assert!(!sys.combat.players[1].gibbed);
        teleport(cx, sys, one, Vec3::new(500.0, 0.0, STANDING), Vec3::new(0.0, 90.0, 0.0));
        assert!(sys.combat.players[1].gibbed);
    });
    assert_eq!(room.player(one).entity.angles, Vec3::new(0.0, 90.0, 0.0));
}

#[test]
fn dead_body_occupies_spawn_point() {
    for ruleset in Ruleset::ALL {
        let mut room = TestRoom::new(ruleset);
        let one = room.join(0, 0.0, 0.0, 0.0);
        // Bodies on all spawn points but the last, x = 1500.
        for number in 1..16 {
            let x = 200.0 * (number - 1) as f32 - 1500.0;
            let client = room.join(number, x, -1900.0, 0.0);
            let hit = Hit::by_world(110, MeansOfDeath::Lava);
            room.game.with(&mut room.host, |cx, sys| damage_player(cx, sys, client, &hit));
        }
        for _ in 0..8 {
            room.game.with(&mut room.host, |cx, sys| spawn(cx, sys, one, false));
            assert_eq!(room.state(one).origin[0], 1500.0, "{}", ruleset.folder);
        }
    }
}

#[test]
fn spawn_raises_highest_weapon() {
    for (ruleset, weapons, raised) in [
        (Ruleset::BASEQ3, vec![Weapon::Railgun, Weapon::RocketLauncher], Weapon::Railgun),
        (Ruleset::BASEQ3, vec![Weapon::Grapple], Weapon::Grapple),
        (Ruleset::BASEOA, vec![Weapon::Grapple], Weapon::Machinegun),
        (Ruleset::BASEOA, vec![], Weapon::Machinegun),
    ] {
        let gifts: String = weapons
            .iter()
            .map(|weapon| {
                let items = &ruleset.items;
                let kind = crate::bg::items::ItemKind::Weapon;
                let class = items.by_tag(kind, *weapon as i32).expect("an item").1.class;
                format!("{{ classname {class} targetname w origin \"0 900 100\" }}\n")
            })
            .collect();
        let text = format!(
            "{{ classname target_give target w targetname g }}\n{gifts}\
             {{ classname info_player_deathmatch origin \"0 0 16\" target g }}\n"
        );
        let mut room = TestRoom::of(ruleset, &[], &[], &text);
        let one = room.join(0, 0.0, 500.0, 0.0);
        let at = |room: &TestRoom| room.state(one).origin;
        let there = (0..200).any(|_| {
            room.put(one, Vec3::new(0.0, -1900.0, STANDING), Vec3::ZERO);
            room.game.with(&mut room.host, |cx, sys| spawn(cx, sys, one, false));
            at(&room)[1] == 0.0
        });
        assert!(there, "the spawn point is chosen");
        assert_eq!(room.state(one).weapon, raised as i32, "{} {weapons:?}", ruleset.folder);
    }
}

#[test]
fn synchronous_clients_run_before_entities() {
    let mut room = TestRoom::with(Ruleset::BASEQ3, &[], &[("g_synchronousClients", "1")]);
    let one = room.join(0, 0.0, 0.0, 0.0);
    room.arm(one, Weapon::RocketLauncher, 10);
    let now = room.now.0;
    room.player(one).state.command_time = now;
    room.think(one, crate::model::Buttons::ATTACK);
    room.frame();
    let rocket = room.missiles()[0];
    let number = EntityNum::new(rocket.number as usize).expect("a number");
    let entity = room.game.entities.get(number).expect("the rocket");
    let flown = entity.shared.current_origin;
    assert_ne!(flown, rocket.pos.base, "the rocket flies in the frame of its launch");
}
