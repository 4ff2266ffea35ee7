//! Items on real maps: resting position, pickup, transport and drop.

use std::fmt::Write as _;

use fragd::{
    bg::items,
    game::{Game as _, Ruleset},
    model::{ClientNum, CommandArgs, EntityNum, EntityShared, EntityState, SvFlags, Vec3},
    world::{Bsp, MapEntities, TraceQuery},
};

use crate::{
    deathmatch::{FRAME_MS, Level, Lift, lifts, spot_at},
    installed_maps,
};

const ITEM: i32 = 2;
const NODRAW: i32 = 0x80;
/// Events at a place: the entity's type.
const GLOBAL_PICKUP: i32 = 13 + 20;
const GLOBAL_SOUND: i32 = 13 + 46;

fn is_shown((state, shared): &(&EntityState, &EntityShared)) -> bool {
    state.e_type == ITEM
        && state.e_flags & NODRAW == 0
        && !shared.sv_flags.contains(SvFlags::NO_CLIENT)
        && shared.is_linked()
}

fn shown(level: &Level) -> Vec<(EntityState, EntityShared)> {
    level.entities().filter(is_shown).map(|(state, shared)| (*state, *shared)).collect()
}

/// Items of the map that free for all uses.
fn of_map(bsp: &Bsp, ruleset: &Ruleset) -> Vec<(i32, items::ItemKind)> {
    let entities = MapEntities::parse(&bsp.entity_text).expect("entities");
    let is_set = |value: Option<&str>| value.is_some_and(|value| value != "0");
    let counts = |entity: &&fragd::world::entity_string::MapEntity| {
        !is_set(entity.field("notfree")) && !is_set(entity.field("notq3a"))
    };
    let all = entities.all().iter().filter(counts);
    all.filter_map(|entity| ruleset.items.by_class(entity.classname()))
        .map(|(number, item)| (number, item.kind))
        .collect()
}

#[test]
fn map_items_rest_on_floor_and_are_sent() {
    for (map, ruleset) in
        [("oa_dm1", Ruleset::BASEOA), ("oa_dm1", Ruleset::BASEQ3), ("oa_dm4", Ruleset::BASEOA)]
    {
        let Some(bsp) = installed_maps::load(map) else { return };
        let expected = of_map(&bsp, ruleset);
        let mut level = Level::start(map, ruleset).expect("the map was there");
        let timed = |kind| matches!(kind, items::ItemKind::Powerup | items::ItemKind::Rune);
        let at_once = expected.iter().filter(|(_, kind)| !timed(*kind)).count();
        let lost = level.host.printed.iter().filter(|line| line.contains("it is gone")).count();
        assert_eq!(shown(&level).len() + lost, at_once, "{map}");
        assert!(at_once > 10, "{map} has {at_once} items");
        for (state, shared) in shown(&level) {
            assert_eq!(shared.contents, 0x4000_0000);
            assert_eq!(
                (shared.mins, shared.maxs),
                (Vec3::new(-15.0, -15.0, -15.0), Vec3::new(15.0, 15.0, 15.0))
            );
            assert_eq!((state.pos.kind, state.pos.base), (0, shared.current_origin));
            let below = shared.current_origin - Vec3::new(0.0, 0.0, 1.0);
            let fall = TraceQuery::line(shared.current_origin, below, 1);
            let fall = fall.with_box(shared.mins, shared.maxs);
            let ground = level.host.world.map().trace(&fall);
            assert!(
                ground.fraction < 1.0 || state.ground_entity_num != EntityNum::WORLD.index() as i32
            );
        }
        let bits = level.host.configstrings[27].clone();
        for (number, digit) in bits.bytes().enumerate() {
            let is_there = expected.iter().any(|&(item, _)| item as usize == number);
            let marked = is_there || [8, 10].contains(&number);
            assert_eq!(digit == b'1', marked, "{map}: item {number} of {bits}");
        }
        let powerups =
            expected.iter().filter(|(_, kind)| *kind == items::ItemKind::Powerup).count();
        let sound = level.host.configstrings[288..544]
            .iter()
            .any(|name| name == "sound/items/poweruprespawn.wav");
        assert_eq!(sound, powerups > 0, "{map}");
        let before = shown(&level).len();
        let mut sounds = 0;
        for frame in 0..60_000 / FRAME_MS {
            level.frame(FRAME_MS);
            assert!(frame * FRAME_MS > 29_000 || shown(&level).len() == before, "{map}: too early");
            sounds = sounds.max(level.of_type(GLOBAL_SOUND));
        }
        assert_eq!(shown(&level).len(), before + powerups, "{map}");
        assert_eq!(sounds > 0, powerups > 0, "{map}");
    }
}

/// A place on the floor of a map: where its first player begins.
fn floor(bsp: &Bsp) -> Vec3 {
    let entities = MapEntities::parse(&bsp.entity_text).expect("entities");
    let spot = entities.of_class("info_player_deathmatch").next().expect("a spot");
    spot.origin() + Vec3::new(0.0, 0.0, 9.0)
}

fn item_at(class: &str, at: Vec3, more: &str) -> String {
    let [x, y, z] = at.0;
    format!("{{ classname {class} origin \"{x} {y} {z}\" {more} }}\n")
}

#[test]
fn player_picks_up_item_on_touch() {
    let Some(bsp) = installed_maps::load("oa_dm1") else { return };
    let at = floor(&bsp);
    for ruleset in Ruleset::ALL {
        let all = [
            spot_at(at),
            item_at("weapon_rocketlauncher", at, "target door"),
            item_at("item_health_mega", at, "spawnflags 1"),
            item_at("item_health", at, ""),
            item_at("item_armor_body", at + Vec3::new(0.0, 0.0, 3000.0), "spawnflags 1"),
            item_at("item_armor_shard", at, "targetname later"),
        ]
        .concat();
        let mut level = Level::with_entities("oa_dm1", ruleset, &all).expect("the map was there");
        assert_eq!(shown(&level).len(), 4);
        let floating = shown(&level).into_iter().find(|(state, _)| state.modelindex == 7);
        assert_eq!(floating.map(|(state, _)| state.pos.base), Some(at), "it stays in the air");
        let client = level.join(0);
        level.idle(client, 200);
        let stats = ruleset.stats;
        let state = *level.state(client);
        assert_eq!(state.stats[stats.weapons], 1 << 1 | 1 << 2 | 1 << 5);
        assert_eq!(state.ammo[5], 10);
        assert_eq!(state.stats[stats.health], 200, "125 and 100 are 200 at most");
        assert_eq!(state.stats[stats.armor], 0, "what is hidden or far is not taken");
        let left: Vec<i32> = shown(&level).iter().map(|(state, _)| state.modelindex).collect();
        assert_eq!(left, [5, 3], "25 health are of no use now");
        let log: Vec<&str> = level
            .host
            .printed
            .iter()
            .map(String::as_str)
            .filter(|line| line.starts_with("Item:"))
            .collect();
        assert_eq!(log.len(), 2);
        assert!(log.contains(&"Item: 0 weapon_rocketlauncher"), "{log:?}");
        // It respawns after five seconds under a standing player, who picks it up again.
        level.idle(client, 4700);
        assert_eq!(level.state(client).ammo[5], 10);
        level.idle(client, 500);
        assert_eq!(level.state(client).ammo[5], 11);
    }
}

#[test]
fn items_in_solid_are_removed_and_logged() {
    let Some(bsp) = installed_maps::load("oa_dm1") else { return };
    let at = floor(&bsp);
    let wall = at - Vec3::new(0.0, 0.0, 40.0);
    let all =
        [spot_at(at), item_at("item_quad", wall, ""), item_at("weapon_nothing", at, "")].concat();
    let level = Level::with_entities("oa_dm1", Ruleset::BASEQ3, &all).expect("the map was there");
    assert_eq!(level.of_type(ITEM), 0);
    let lines = &level.host.printed;
    assert!(lines.iter().any(|line| line.starts_with("item item_quad at ")), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.contains("weapon_nothing removed: unknown class")),
        "{lines:?}"
    );
}

#[test]
fn dropped_items_fall_and_can_be_picked_up() {
    let Some(bsp) = installed_maps::load("oa_dm1") else { return };
    let at = floor(&bsp);
    for ruleset in Ruleset::ALL {
        let all = [spot_at(at), item_at("item_quad", at, "")].concat();
        let mut level = Level::with_entities("oa_dm1", ruleset, &all).expect("the map was there");
        let client = level.join(0);
        for _ in 0..60_000 / FRAME_MS {
            if level.state(client).powerups[1] == 0 {
                level.idle(client, FRAME_MS);
            }
        }
        let until = level.state(client).powerups[1];
        assert!(until > level.now.0, "it took the quad");
        assert_eq!(until % 1000, 0);
        level
            .game
            .client_command(&mut level.host, client, &CommandArgs::parse("kill"))
            .expect("no fault");
        let flying = |level: &Level| {
            shown(level)
                .into_iter()
                .find(|(state, _)| state.modelindex2 == 1)
                .expect("it lies there")
        };
        let (state, _) = flying(&level);
        assert_eq!((state.modelindex, state.pos.kind), (28, 5));
        let across = (state.pos.delta[0].powi(2) + state.pos.delta[1].powi(2)).sqrt();
        assert!((across - 150.0).abs() < 0.01, "{across}");
        for _ in 0..40 {
            level.frame(FRAME_MS);
        }
        let (state, shared) = flying(&level);
        assert_eq!((state.pos.kind, state.ground_entity_num), (0, 1022), "it lies on the floor");
        assert_eq!(state.pos.base, state.pos.base.rounded());
        let below = shared.current_origin - Vec3::new(0.0, 0.0, 2.0);
        let fall = TraceQuery::line(shared.current_origin, below, 1);
        let ground = level.host.world.map().trace(&fall.with_box(shared.mins, shared.maxs));
        assert!(ground.fraction < 1.0 && !ground.startsolid);
    }
}

#[test]
fn plat_carries_items() {
    for Lift { map, text, way, at } in lifts().unwrap_or_default() {
        // Of no use to a player who has just spawned.
        let all = [spot_at(at), text, item_at("item_health", at, "")].concat();
        let mut level =
            Level::with_entities(map, Ruleset::BASEQ3, &all).expect("the map was there");
        let [(state, _)] = shown(&level)[..] else { panic!("one item") };
        let mover = level.entities().find(|(state, _)| state.e_type == 4).expect("the lift");
        assert_eq!(state.ground_entity_num, mover.0.number, "{map}: it lies on the lift");
        let from = state.pos.base[2];
        let client = level.join(0);
        let mut top = f32::MIN;
        for _ in 0..100 {
            level.idle(client, FRAME_MS);
            top = top.max(shown(&level)[0].0.pos.base[2]);
        }
        assert!((top - from - way).abs() < 1.0, "{map}: from {from} to {top} of {way}");
    }
}

#[test]
fn level_with_absurd_items_keeps_running() {
    let Some(bsp) = installed_maps::load("oa_dm1") else { return };
    let at = floor(&bsp);
    for ruleset in Ruleset::ALL {
        let mut all = spot_at(at);
        for number in 0..1022 {
            let item = &items::ITEMS[1 + number % (ruleset.items.len() - 1)];
            let key =
                ["count", "wait", "random", "spawnflags", "noglobalsound", "team", "targetname"]
                    [number % 7];
            let value =
                ["99999999999", "-99999999999", "1e30", "0", "x", "-1", "5"][number / 7 % 7];
            let far = Vec3::new((number % 3) as f32 * 8.0, 0.0, (number % 5) as f32);
            write!(all, "{}", item_at(item.class, at + far, &format!("{key} {value} target 5")))
                .expect("memory");
        }
        let mut level = Level::with_entities("oa_dm1", ruleset, &all).expect("the map was there");
        let players: Vec<ClientNum> = (0..4).map(|number| level.join(number)).collect();
        for round in 0..200 {
            for &player in &players {
                level.idle(player, FRAME_MS);
                for stat in level.state(player).stats {
                    assert!(i16::try_from(stat).is_ok(), "{stat} does not travel");
                }
            }
            level.frame(if round % 20 == 0 { 60_000 } else { FRAME_MS });
            if round % 10 == 0 {
                let victim = players[round / 10 % 4];
                level
                    .game
                    .client_command(&mut level.host, victim, &CommandArgs::parse("kill"))
                    .expect("no fault");
            }
        }
        assert!(level.game.entity_count() <= 1022);
        let loud = level.of_type(GLOBAL_PICKUP);
        println!("{}: {} items, {loud} heard", ruleset.folder, shown(&level).len());
    }
}
