//! Events of a match: order, numbers and means.

use crate::bg::{MeansOfDeath, Persistent, items::ItemKind};
use crate::game::deathmatch::{
    damage::damage_player, hit::Hit, pickups::give_new_item, spawn_points::SpawnPoints,
    tests::room::TestRoom, think::spawn,
};
use crate::game::{GameEvent, Ruleset};
use crate::world::MapEntities;

#[test]
fn frag_emits_events_with_numbers_and_means() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let players = [room.join(0, 0.0, 0.0, 0.0), room.join(1, 300.0, 0.0, 180.0)];
    let [one, other] = players;
    for client in players {
        let spawned = format!("Spawn {{ client: {client:?}, ");
        assert!(room.host.events.iter().any(|event| event.starts_with(&spawned)));
    }
    room.host.events.clear();
    let (means, health) = (MeansOfDeath::Gauntlet, room.health(other));
    for damage in [20, 9999] {
        let hit = Hit { attacker: Some(one), ..Hit::by_world(damage, means) };
        room.game.with(&mut room.host, |cx, sys| damage_player(cx, &mut sys.fight, other, &hit));
    }
    let hit =
        |health| GameEvent::Hit { attacker: Some(one), victim: other, means, health, armor: 0 };
    let expected = [
        hit(20),
        hit(health - 20),
        GameEvent::Kill { killer: Some(one), victim: other, means },
        GameEvent::Score { client: one, points: 1, score: 1 },
        GameEvent::ScoringAction { client: one },
        GameEvent::Award { client: one, award: Persistent::Gauntlet },
    ];
    assert_eq!(room.host.events, expected.map(|event| format!("{event:?}")));
}

#[test]
fn pickup_emits_item_number_and_class() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let client = room.join(0, 0.0, 0.0, 0.0);
    let (item, found) = Ruleset::BASEQ3.items.by_tag(ItemKind::Weapon, 5).expect("a weapon");
    room.host.events.clear();
    room.game.with(&mut room.host, |cx, sys| give_new_item(cx, &mut sys.fight, client, item));
    let expected = GameEvent::Pickup { client, item, class: found.class };
    assert_eq!(room.host.events, [format!("{expected:?}")]);
}

#[test]
fn spared_self_damage_emits_no_hit() {
    for (dmflags, hits) in [("0", 1), ("1024", 0)] {
        let mut room = TestRoom::with(Ruleset::BASEOA, &[], &[("dmflags", dmflags)]);
        let client = room.join(0, 0.0, 0.0, 0.0);
        room.host.events.clear();
        let hit = Hit { attacker: Some(client), ..Hit::by_world(20, MeansOfDeath::RocketSplash) };
        room.game.with(&mut room.host, |cx, sys| damage_player(cx, &mut sys.fight, client, &hit));
        assert_eq!(room.host.events.len(), hits, "{dmflags}: {:?}", room.host.events);
    }
}

#[test]
fn spawn_precedes_the_kills_that_it_causes() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let [one, other] = [room.join(0, 0.0, 0.0, 0.0), room.join(1, 300.0, 0.0, 180.0)];
    // The only spawn point is where the other player stands.
    let text = "{ classname worldspawn }\n{ classname info_player_deathmatch origin \"300 0 16\" }";
    let point = MapEntities::parse(text.as_bytes()).expect("sound entities");
    room.game.systems.spawn_points = SpawnPoints::default();
    let found = point.of_class("info_player_deathmatch").next().expect("the spawn point");
    room.game.systems.spawn_points.add(found, None);
    room.host.events.clear();
    room.game.with(&mut room.host, |cx, sys| spawn(cx, sys, one, false));
    let killed = format!("Kill {{ killer: Some({one:?}), victim: {other:?}, ");
    let position = |start: &str| room.host.events.iter().position(|event| event.starts_with(start));
    let spawned = position("Spawn {").expect("a spawn");
    assert!(position(&killed).is_some_and(|kill| spawned < kill), "{:?}", room.host.events);
}
