//! Items in numbers, without a map: effects, conditions, respawn times.

use super::*;
use crate::game::deathmatch::{
    combat::death::suicide,
    environment::feel_surroundings,
    items::flags::touch_team_item,
    items::holdables::use_holdable,
    items::powerups::run_player_timers,
    items::remove_item,
    items::respawn::{hide_item, use_item},
    items::touch::{give_item, touch_item},
};
use crate::game::{Host, deathmatch::Deathmatch};
use crate::model::{LevelTime, SvFlags, UserCmd};
use crate::{
    bg::{
        EntityType, Event, GameType, Persistent, Powerup, UNLIMITED_AMMO, UNTIL_LOST, Weapon,
        contents, entity_flag, items::ItemKind,
    },
    game::{Game, LevelStart, conformance::TestHost, deathmatch::entities::EntityKind},
};

/// Where everything lies.
const HERE: Vec3 = Vec3::new(0.0, 0.0, 0.0);

struct Level {
    game: Deathmatch,
    host: TestHost,
    now: LevelTime,
}

impl Level {
    fn new(ruleset: &'static Ruleset) -> Self {
        let mut level = Self {
            game: Deathmatch::new(ruleset),
            host: TestHost::of_ruleset(ruleset),
            now: LevelTime(1300),
        };
        let start = LevelStart { time: level.now, seed: 5, restart: false };
        level.game.init(&mut level.host, start);
        level
    }

    fn join(&mut self, number: usize) -> ClientNum {
        let client = ClientNum::new(number).unwrap();
        let userinfo = "\\name\\taker\\cg_predictItems\\1";
        userinfo.clone_into(&mut self.host.userinfos[number]);
        self.game.client_connect(&mut self.host, client, true, false).unwrap();
        self.game.client_begin(&mut self.host, client);
        // Out of the world, so that nobody who comes later crushes it.
        let player = self.game.clients.players[number].as_mut().unwrap();
        player.shared.linked = 0;
        player.state.origin = HERE;
        player.state.event_sequence = 0;
        client
    }

    fn state(&mut self, client: ClientNum) -> &mut crate::model::PlayerState {
        &mut self.game.clients.players[client.index()].as_mut().unwrap().state
    }

    /// An item that lies at a place, as the map would have it.
    fn lay(&mut self, class: &str, fill: impl FnOnce(&mut ItemState)) -> EntityNum {
        let (number, item) = self.game.clients.ruleset.items.by_class(class).unwrap();
        let mut pickup = ItemState::new(number, item);
        fill(&mut pickup);
        let mut entity = Entity::new(EntityKind::Item(Box::new(pickup)), HERE);
        entity.state.e_type = EntityType::Item as i32;
        entity.state.modelindex = number;
        entity.shared.contents = contents::TRIGGER;
        let (now, started) = self.game.with(&mut self.host, |cx, _| cx.clock());
        let place = self.game.entities.add(entity, now, started).unwrap();
        self.game.entities.link(&mut self.host, place);
        place
    }

    fn frames(&mut self, ms: i32) {
        for _ in 0..ms / 50 {
            self.now = self.now + 50;
            self.game.run_frame(&mut self.host, self.now);
        }
    }

    fn touch(&mut self, client: ClientNum, number: EntityNum) {
        self.game.with(&mut self.host, |cx, sys| touch_item(cx, sys, client, number));
    }

    fn is_there(&self, number: EntityNum) -> bool {
        self.game.entities.get(number).is_some_and(|entity| {
            entity.shared.contents == contents::TRIGGER
                && entity.state.e_flags & entity_flag::NODRAW == 0
                && !entity.shared.sv_flags.contains(SvFlags::NO_CLIENT)
        })
    }

    fn shown(&self, event: Event) -> Vec<(crate::model::EntityState, crate::model::EntityShared)> {
        let entities =
            self.game.entities.numbers().filter_map(|number| self.game.entities.get(number));
        entities
            .filter(|entity| entity.state.e_type == EntityType::with_event(event))
            .map(|entity| (entity.state, entity.shared))
            .collect()
    }

    /// The dropped items, with their numbers and counts.
    fn dropped(&self) -> Vec<(EntityNum, i32, i32)> {
        let numbers = self.game.entities.numbers();
        numbers
            .filter_map(|number| {
                let (_, pickup) = self.game.entities.pickup(number)?;
                pickup.is_dropped.then_some((number, pickup.number, pickup.count))
            })
            .collect()
    }
}

/// Class, what it changes from 50 health, 0 armour, 3 rounds (after), seconds until it is back.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gives {
    Health(i32),
    Armor(i32),
    Rounds(usize, i32),
    Weapon(usize, i32),
    Powerup(usize, i32),
    Holds,
    Rune,
}
use Gives::{Armor, Health, Holds, Rounds, Rune};

const BASE: &[(&str, Gives, i32)] = &[
    ("item_armor_shard", Armor(5), 25),
    ("item_armor_combat", Armor(50), 25),
    ("item_armor_body", Armor(100), 25),
    ("item_health_small", Health(55), 35),
    ("item_health", Health(75), 35),
    ("item_health_large", Health(100), 35),
    ("item_health_mega", Health(150), 35),
    ("weapon_shotgun", Gives::Weapon(3, 10), 5),
    ("weapon_machinegun", Gives::Weapon(2, 40), 5),
    ("weapon_grenadelauncher", Gives::Weapon(4, 10), 5),
    ("weapon_rocketlauncher", Gives::Weapon(5, 10), 5),
    ("weapon_lightning", Gives::Weapon(6, 100), 5),
    ("weapon_railgun", Gives::Weapon(7, 10), 5),
    ("weapon_plasmagun", Gives::Weapon(8, 50), 5),
    ("weapon_bfg", Gives::Weapon(9, 20), 5),
    ("weapon_grapplinghook", Gives::Weapon(10, -1), 5),
    ("ammo_shells", Rounds(3, 13), 40),
    ("ammo_bullets", Rounds(2, 53), 40),
    ("ammo_grenades", Rounds(4, 8), 40),
    ("ammo_cells", Rounds(8, 33), 40),
    ("ammo_lightning", Rounds(6, 63), 40),
    ("ammo_rockets", Rounds(5, 8), 40),
    ("ammo_slugs", Rounds(7, 13), 40),
    ("ammo_bfg", Rounds(9, 18), 40),
    ("holdable_teleporter", Holds, 60),
    ("holdable_medkit", Holds, 60),
    ("item_quad", Gives::Powerup(1, 30), 120),
    ("item_enviro", Gives::Powerup(2, 30), 120),
    ("item_haste", Gives::Powerup(3, 30), 120),
    ("item_invis", Gives::Powerup(4, 30), 120),
    ("item_regen", Gives::Powerup(5, 30), 120),
    ("item_flight", Gives::Powerup(6, 60), 120),
];

const OPEN: &[(&str, Gives, i32)] = &[
    ("holdable_kamikaze", Holds, 60),
    ("holdable_portal", Holds, 60),
    ("holdable_invulnerability", Holds, 60),
    ("ammo_nails", Rounds(11, 23), 40),
    ("ammo_mines", Rounds(12, 13), 40),
    ("ammo_belt", Rounds(13, 103), 40),
    ("weapon_nailgun", Gives::Weapon(11, 10), 5),
    ("weapon_prox_launcher", Gives::Weapon(12, 5), 5),
    ("weapon_chaingun", Gives::Weapon(13, 80), 5),
    ("item_scout", Rune, 0),
    ("item_guard", Rune, 0),
    ("item_doubler", Rune, 0),
    ("item_ammoregen", Rune, 0),
];

fn check(ruleset: &'static Ruleset, (class, gives, back_s): (&str, Gives, i32)) {
    let mut level = Level::new(ruleset);
    let client = level.join(0);
    let stats = ruleset.stats;
    let (number, _) = ruleset.items.by_class(class).unwrap();
    let state = level.state(client);
    state.stats[stats.health] = 50;
    state.stats[stats.weapons] = 0;
    state.ammo = [3; 16];
    let place = level.lay(class, |_| {});
    level.touch(client, place);
    let now = level.now;
    let state = *level.state(client);
    match gives {
        Health(health) => assert_eq!(state.stats[stats.health], health, "{class}"),
        Armor(armor) => assert_eq!(state.stats[stats.armor], armor, "{class}"),
        Rounds(tag, rounds) => assert_eq!(state.ammo[tag], rounds, "{class}"),
        Gives::Weapon(tag, rounds) => {
            assert_eq!(state.stats[stats.weapons], 1 << tag, "{class}");
            assert_eq!(state.ammo[tag], rounds, "{class}: what is missing of the quantity");
        }
        Gives::Powerup(tag, seconds) => {
            assert_eq!(state.powerups[tag], 1000 + seconds * 1000, "{class}: from a whole second");
        }
        Holds => assert_eq!(state.stats[stats.holdable], number, "{class}"),
        Rune => assert_eq!(state.stats[2], number, "{class}"),
    }
    let is_powerup = matches!(gives, Gives::Powerup(..));
    if is_powerup {
        assert_eq!((state.external_event & 0xff, state.external_event_parm), (19, number));
        let heard = level.shown(Event::GlobalItemPickup);
        assert_eq!((heard.len(), heard[0].0.event_parm), (1, number));
        assert!(heard[0].1.sv_flags.contains(SvFlags::BROADCAST));
    } else {
        assert_eq!(
            (state.event_sequence, state.events[0]),
            (1, Event::ItemPickup as i32),
            "{class}"
        );
        assert_eq!(state.event_parms[0], number);
        assert_eq!(level.shown(Event::GlobalItemPickup).len(), 0);
    }
    assert!(!level.is_there(place), "{class}");
    let due = level.game.entities.get(place).unwrap().think_at;
    let expected = (back_s != 0).then(|| now + back_s * 1000);
    assert_eq!(due, expected, "{class}");
    if let Some(due) = due {
        level.now = due + -50;
        level.frames(50);
        assert!(level.is_there(place), "{class} is back");
        let entity = level.game.entities.get(place).unwrap();
        assert_eq!(entity.state.event & 0xff, Event::ItemRespawn);
        let sounds = level.shown(Event::GlobalSound);
        let loud = is_powerup || class == "holdable_kamikaze";
        assert_eq!(sounds.len(), usize::from(loud), "{class}");
    }
}

#[test]
fn every_item_gives_what_it_says_and_comes_back_in_time() {
    for ruleset in Ruleset::ALL {
        for &row in BASE {
            check(ruleset, row);
        }
    }
    for &row in OPEN {
        check(Ruleset::BASEOA, row);
    }
    // Each item of the table is checked above, but for the placeholder, the gauntlet, and what belongs
    // to teams.
    let others = |ruleset: &Ruleset| {
        (1..ruleset.items.len())
            .map(|number| &ITEMS[number])
            .filter(|item| item.kind != ItemKind::Team && item.class != "weapon_gauntlet")
            .count()
    };
    assert_eq!(others(Ruleset::BASEQ3), BASE.len());
    assert_eq!(others(Ruleset::BASEOA), BASE.len() + OPEN.len());
}

#[test]
fn nobody_gets_more_than_the_most() {
    for ruleset in Ruleset::ALL {
        let stats = ruleset.stats;
        let mut level = Level::new(ruleset);
        let client = level.join(0);
        for (class, stat, before, after) in [
            ("item_health", stats.health, 90, 100),
            ("item_health_mega", stats.health, 150, 200),
            ("item_health_small", stats.health, 198, 200),
            ("item_armor_body", stats.armor, 150, 200),
        ] {
            let place = level.lay(class, |_| {});
            level.state(client).stats[stat] = before;
            level.touch(client, place);
            assert_eq!(level.state(client).stats[stat], after, "{class}");
        }
        let place = level.lay("ammo_bullets", |pickup| pickup.count = 86_400);
        level.state(client).ammo[2] = 199;
        level.touch(client, place);
        assert_eq!(level.state(client).ammo[2], 200);
        // What is full stays.
        let place = level.lay("ammo_bullets", |_| {});
        level.touch(client, place);
        assert!(level.is_there(place));
        // Somebody with more than the most, or without end, loses nothing.
        for rounds in [999, UNLIMITED_AMMO] {
            let place = level.lay("weapon_machinegun", |_| {});
            level.state(client).ammo[2] = rounds;
            level.touch(client, place);
            assert_eq!(level.state(client).ammo[2], rounds);
        }
    }
}

#[test]
fn weapons_bring_what_is_missing_and_all_of_it_when_dropped_or_in_teams() {
    for (count, dropped, game_type, before, after) in [
        (0, false, GameType::FreeForAll, 0, 10),
        (0, false, GameType::FreeForAll, 4, 10),
        (0, false, GameType::FreeForAll, 10, 11),
        (25, false, GameType::FreeForAll, 4, 25),
        (-1, false, GameType::FreeForAll, 4, 4),
        (0, true, GameType::FreeForAll, 4, 14),
        (0, false, GameType::TeamDeathmatch, 4, 14),
        (0, false, GameType::TeamDeathmatch, 195, 200),
    ] {
        let mut level = Level::new(Ruleset::BASEQ3);
        let client = level.join(0);
        level.game.clients.game_type = game_type;
        level.state(client).ammo[5] = before;
        let place = level.lay("weapon_rocketlauncher", |pickup| {
            (pickup.count, pickup.is_dropped) = (count, dropped);
        });
        level.touch(client, place);
        assert_eq!(level.state(client).ammo[5], after, "{count} {dropped} {game_type:?} {before}");
        assert_eq!(level.game.entities.get(place).is_none(), dropped, "dropped ones are gone");
        if !dropped {
            let seconds = if game_type == GameType::TeamDeathmatch { 30 } else { 5 };
            let due = level.game.entities.get(place).unwrap().think_at;
            assert_eq!(due, Some(level.now + seconds * 1000));
        }
    }
}

#[test]
fn weapons_that_are_back_at_once_stay() {
    let mut level = Level::new(Ruleset::BASEOA);
    level.host.set_setting("g_weaponrespawn", "0");
    let client = level.join(0);
    let place = level.lay("weapon_bfg", |_| {});
    level.touch(client, place);
    assert!(level.is_there(place));
    assert_eq!((level.state(client).ammo[9], level.state(client).event_sequence), (20, 0));
}

#[test]
fn keys_of_the_map_change_what_and_when() {
    let mut level = Level::new(Ruleset::BASEQ3);
    let client = level.join(0);
    let now = level.now;
    let due = |level: &mut Level, fill: &dyn Fn(&mut ItemState)| {
        level.state(client).powerups = [0; 16];
        let place = level.lay("item_quad", fill);
        level.touch(client, place);
        let until = level.state(client).powerups[Powerup::Quad];
        (level.game.entities.get(place).unwrap().think_at.map(|at| at.distance(now)), until)
    };
    assert_eq!(due(&mut level, &|pickup| pickup.wait = 7.0), (Some(7000), 31_000));
    assert_eq!(due(&mut level, &|pickup| pickup.wait = -1.0), (None, 31_000));
    assert_eq!(due(&mut level, &|pickup| pickup.count = 5), (Some(120_000), 6000));
    let times: Vec<i32> = (0..40)
        .filter_map(|_| due(&mut level, &|pickup| (pickup.wait, pickup.random) = (10.0, 9.5)).0)
        .collect();
    assert!(times.iter().all(|ms| (1000..=19_500).contains(ms)), "{times:?}");
    assert!(times.iter().any(|&ms| ms < 6000) && times.iter().any(|&ms| ms > 14_000));
    level.frames(400);
    level.state(client).powerups = [0; 16];
    let place = level.lay("item_quad", |pickup| pickup.is_silent = true);
    level.touch(client, place);
    let heard = level.shown(Event::GlobalItemPickup);
    assert!(heard[0].1.sv_flags.contains(SvFlags::SINGLE_CLIENT));
    assert_eq!(heard[0].1.single_client, 0);
}

#[test]
fn a_second_powerup_lengthens_the_first_and_its_end_ends_it() {
    let mut level = Level::new(Ruleset::BASEQ3);
    let client = level.join(0);
    for expected in [31_000, 61_000] {
        let place = level.lay("item_haste", |_| {});
        level.touch(client, place);
        assert_eq!(level.state(client).powerups[Powerup::Haste], expected);
    }
    level.state(client).powerups[Powerup::RedFlag] = UNTIL_LOST;
    level.now = LevelTime(60_950);
    level.frames(50);
    assert_eq!(level.state(client).powerups[Powerup::Haste], 61_000, "its last frame");
    level.frames(50);
    assert_eq!(level.state(client).powerups[Powerup::Haste], 0);
    assert_eq!(level.state(client).powerups[Powerup::RedFlag], UNTIL_LOST);
}

#[test]
fn clients_that_do_not_predict_are_told() {
    let mut level = Level::new(Ruleset::BASEOA);
    let client = level.join(0);
    for userinfo in ["\\name\\a\\cg_predictItems\\0", "\\name\\a"] {
        userinfo.clone_into(&mut level.host.userinfos[0]);
        level.state(client).external_event = 0;
        let place = level.lay("item_armor_shard", |_| {});
        level.touch(client, place);
        let state = level.state(client);
        assert_eq!(
            (state.event_sequence, state.external_event & 0xff),
            (0, Event::ItemPickup as i32)
        );
        assert_eq!(state.external_event_parm, 1);
    }
}

#[test]
fn a_chain_shows_one_of_its_items_at_a_time() {
    let mut level = Level::new(Ruleset::BASEOA);
    let client = level.join(0);
    let classes = ["item_health", "item_armor_body", "weapon_bfg"];
    let members = classes.map(|class| level.lay(class, |pickup| pickup.chain = "a".into()));
    let lonely = level.lay("item_health_mega", |_| {});
    level.game.entities.get_mut(members[2]).unwrap().targetname = "called".into();
    level.game.entities.join_item_chains();
    assert_eq!(level.game.entities.chain_of(members[0]).collect::<Vec<_>>(), members);
    assert_eq!(&*level.game.entities.get(members[0]).unwrap().targetname, "called");
    assert_eq!(&*level.game.entities.get(members[2]).unwrap().targetname, "");
    for &member in &members[1..] {
        level.game.with(&mut level.host, |cx, _| hide_item(cx, member));
    }
    let mut seen = [0; 3];
    for _ in 0..60 {
        let there: Vec<usize> = (0..3).filter(|&at| level.is_there(members[at])).collect();
        assert_eq!(there.len(), 1);
        seen[there[0]] += 1;
        level.state(client).stats[0] = 1;
        level.state(client).stats[4] = 0;
        level.touch(client, members[there[0]]);
        level.frames(40_000);
    }
    assert!(seen.iter().all(|&count| count > 8), "{seen:?}");
    assert!(level.is_there(lonely));
    // A captain that is gone leaves its chain to the next.
    level.game.with(&mut level.host, |cx, _| remove_item(cx, members[0]));
    assert_eq!(level.game.entities.chain_of(members[1]).collect::<Vec<_>>(), members[1..]);
}

#[test]
fn a_quad_that_is_worth_nothing_waits_until_it_is() {
    for (ruleset, comes) in [(Ruleset::BASEOA, false), (Ruleset::BASEQ3, true)] {
        let mut level = Level::new(ruleset);
        let client = level.join(0);
        level.host.set_setting("g_quadfactor", "1");
        let place = level.lay("item_quad", |_| {});
        level.touch(client, place);
        level.now = level.now + 120_000;
        level.frames(2000);
        assert_eq!(level.is_there(place), comes, "{}", ruleset.folder);
        level.host.set_setting("g_quadfactor", "3");
        level.frames(2000);
        assert!(level.is_there(place));
    }
}

#[test]
fn enemies_in_front_of_a_powerup_are_denied_it() {
    let mut level = Level::new(Ruleset::BASEQ3);
    let taker = level.join(0);
    let cases = [
        (Vec3::new(-100.0, 0.0, 0.0), 0.0, 1),
        (Vec3::new(-193.0, 0.0, 0.0), 0.0, 0),
        (Vec3::new(-100.0, 0.0, 0.0), 180.0, 0),
        (Vec3::new(-100.0, 0.0, 0.0), 66.0, 1),
        (Vec3::new(-100.0, 0.0, 0.0), 67.0, 0),
    ];
    let others: Vec<ClientNum> = (1..=cases.len()).map(|number| level.join(number)).collect();
    for (&other, (origin, yaw, _)) in others.iter().zip(cases) {
        level.state(other).origin = origin;
        level.state(other).viewangles = Vec3::new(0.0, yaw, 0.0);
    }
    let place = level.lay("item_quad", |_| {});
    level.touch(taker, place);
    for (&other, (origin, yaw, denied)) in others.iter().zip(cases) {
        let bits = level.state(other).persistant[Persistent::PlayerEvents];
        assert_eq!(bits, denied, "{origin:?} {yaw}");
    }
    assert_eq!(level.state(taker).persistant[Persistent::PlayerEvents], 0);
    // The dead take nothing, and are denied nothing.
    level.state(others[0]).stats[0] = 0;
    level.frames(121_000);
    assert!(level.is_there(place));
    level.touch(others[0], place);
    assert!(level.is_there(place));
}

#[test]
fn the_dead_drop_their_weapon_and_powerups() {
    let mut level = Level::new(Ruleset::BASEQ3);
    let client = level.join(0);
    let now = level.now;
    {
        let player = level.game.clients.players[0].as_mut().unwrap();
        let state = &mut player.state;
        state.stats[2] |= 1 << 5;
        state.ammo[5] = 1;
        state.powerups[Powerup::Quad] = now.0 + 12_700;
        state.powerups[Powerup::Flight] = now.0 + 400;
        state.powerups[Powerup::Haste] = now.0;
        player.entity.weapon = Weapon::RocketLauncher as i32;
        player.entity.pos.base = Vec3::new(8.0, 16.0, 24.0);
        player.entity.apos.base = Vec3::new(70.0, 90.0, 0.0);
    }
    level.game.with(&mut level.host, |cx, sys| sys.items.drop_at_death(cx, client));
    let dropped = level.dropped();
    let kinds: Vec<(i32, i32)> = dropped.iter().map(|&(_, item, count)| (item, count)).collect();
    assert_eq!(kinds, [(12, 0), (28, 12), (33, 1)]);
    for (&(number, ..), yaw) in dropped.iter().zip([90.0_f32, 135.0, 180.0]) {
        let entity = level.game.entities.get(number).unwrap();
        let (pos, state) = (entity.state.pos, &entity.state);
        assert_eq!(pos.base, Vec3::new(8.0, 16.0, 24.0));
        assert_eq!((pos.kind, pos.time), (5, now.0));
        assert!((pos.delta[0] - 150.0 * yaw.to_radians().cos()).abs() < 0.01, "{pos:?}");
        assert!((pos.delta[1] - 150.0 * yaw.to_radians().sin()).abs() < 0.01, "{pos:?}");
        assert!((150.0..=250.0).contains(&pos.delta[2]), "{pos:?}");
        assert_eq!((state.modelindex2, state.e_flags), (1, entity_flag::BOUNCE_HALF));
    }
    // They are gone after thirty seconds.
    level.frames(29_950);
    assert_eq!(level.dropped().len(), 3);
    level.frames(100);
    assert_eq!(level.dropped().len(), 0);
}

#[test]
fn what_is_dropped_depends_on_the_weapon_and_the_game() {
    let weapon_of = |wielded: i32, rounds: i32, state: i32, wanted: u8| {
        let mut level = Level::new(Ruleset::BASEOA);
        let client = level.join(0);
        let player = level.game.clients.players[0].as_mut().unwrap();
        player.state.stats[3] = 0x3ffe;
        player.state.ammo = [rounds; 16];
        player.state.weaponstate = state;
        player.command = UserCmd { weapon: wanted, ..UserCmd::default() };
        player.entity.weapon = wielded;
        level.game.with(&mut level.host, |cx, sys| sys.items.drop_at_death(cx, client));
        level.dropped().first().map(|&(_, number, _)| number)
    };
    assert_eq!(weapon_of(Weapon::Gauntlet as i32, 9, 0, 5), None);
    assert_eq!(weapon_of(Weapon::Machinegun as i32, 9, 0, 5), None);
    assert_eq!(weapon_of(Weapon::Grapple as i32, 9, 0, 5), None);
    assert_eq!(weapon_of(Weapon::Railgun as i32, 0, 0, 0), None, "nothing in it");
    assert_eq!(weapon_of(Weapon::Railgun as i32, 9, 0, 0), Some(14));
    assert_eq!(weapon_of(Weapon::Chaingun as i32, 9, 0, 0), Some(51));
    assert_eq!(weapon_of(Weapon::Machinegun as i32, 9, 2, 5), Some(12), "the one that was wanted");
    assert_eq!(weapon_of(Weapon::Machinegun as i32, 9, 2, 200), None);

    let mut level = Level::new(Ruleset::BASEOA);
    let client = level.join(0);
    level.game.clients.game_type = GameType::TeamDeathmatch;
    level.state(client).powerups[Powerup::Quad] = 99_000;
    level.game.with(&mut level.host, |cx, sys| sys.items.drop_at_death(cx, client));
    assert_eq!(level.dropped(), [], "powerups stay with the dead of team deathmatch");
}

#[test]
fn runes_work_until_their_holder_dies() {
    let mut level = Level::new(Ruleset::BASEOA);
    let client = level.join(0);
    let guard = level.lay("item_guard", |_| {});
    let scout = level.lay("item_scout", |_| {});
    level.touch(client, guard);
    level.touch(client, scout);
    assert!(!level.is_there(guard) && level.is_there(scout), "one at a time");
    let state = level.state(client);
    assert_eq!((state.stats[0], state.stats[4], state.stats[7]), (200, 200, 200));
    // Regains up to half of the doubled maximum, a tenth more, then slowly up to all of it.
    state.stats[0] = 30;
    level.game.with(&mut level.host, |cx, sys| run_player_timers(cx, sys, client, 1000));
    assert_eq!(level.state(client).stats[0], 45);
    level.state(client).stats[0] = 100;
    level.game.with(&mut level.host, |cx, sys| run_player_timers(cx, sys, client, 2000));
    assert_eq!(level.state(client).stats[0], 110);
    level.frames(50);
    let now = level.now.0;
    assert_eq!(level.state(client).powerups[Powerup::Guard], now, "others see it");
    level.game.with(&mut level.host, |cx, sys| suicide(cx, sys, client));
    assert!(level.is_there(guard));
    assert_eq!(level.state(client).stats[2], 0);
    assert_eq!(level.dropped(), []);
}

#[test]
fn the_rune_of_ammunition_gives_rounds_back() {
    let mut level = Level::new(Ruleset::BASEOA);
    let client = level.join(0);
    let rune = level.lay("item_ammoregen", |_| {});
    level.touch(client, rune);
    level.state(client).ammo = [0; 16];
    for _ in 0..60 {
        level.game.with(&mut level.host, |cx, sys| run_player_timers(cx, sys, client, 100));
    }
    let ammo = level.state(client).ammo;
    assert_eq!(ammo[2..10], [24, 4, 3, 3, 20, 3, 20, 1], "six seconds");
    assert_eq!(ammo[11..14], [4, 3, 30]);
    for _ in 0..600 {
        level.game.with(&mut level.host, |cx, sys| run_player_timers(cx, sys, client, 200));
    }
    let ammo = level.state(client).ammo;
    assert_eq!(ammo[2..10], [50, 10, 10, 10, 50, 10, 50, 10]);
    assert_eq!(ammo[11..14], [10, 5, 100]);
}

#[test]
fn a_second_takes_from_what_is_above_the_maximum() {
    for ruleset in Ruleset::ALL {
        let stats = ruleset.stats;
        let mut level = Level::new(ruleset);
        let client = level.join(0);
        let state = level.state(client);
        (state.stats[stats.health], state.stats[stats.armor]) = (150, 120);
        level.game.with(&mut level.host, |cx, sys| run_player_timers(cx, sys, client, 999));
        assert_eq!(level.state(client).stats[stats.health], 150);
        level.game.with(&mut level.host, |cx, sys| run_player_timers(cx, sys, client, 1));
        level.game.with(&mut level.host, |cx, sys| run_player_timers(cx, sys, client, 30_000));
        let state = level.state(client);
        assert_eq!((state.stats[stats.health], state.stats[stats.armor]), (119, 100));
        state.powerups[Powerup::Regeneration] = i32::MAX;
        state.external_event = 0;
        level.game.with(&mut level.host, |cx, sys| run_player_timers(cx, sys, client, 1000));
        let state = level.state(client);
        assert_eq!(state.stats[stats.health], 124);
        assert_eq!(state.external_event & 0xff, Event::PowerupRegen);
        state.powerups[Powerup::Regeneration] = 0;
        state.stats[stats.health] = 90;
        level.host.set_setting("g_regen", "8");
        level.game.with(&mut level.host, |cx, sys| run_player_timers(cx, sys, client, 1000));
        let expected = if ruleset.item_settings { 98 } else { 90 };
        assert_eq!(level.state(client).stats[stats.health], expected);
    }
}

#[test]
fn what_is_held_does_its_work_when_used() {
    for ruleset in Ruleset::ALL {
        let mut level = Level::new(ruleset);
        let client = level.join(0);
        level.state(client).stats[0] = 3;
        level.game.with(&mut level.host, |cx, sys| use_holdable(cx, sys, client, 2));
        assert_eq!(level.state(client).stats[0], 125);
        let flags = level.state(client).e_flags;
        level.state(client).origin = Vec3::new(500.0, 0.0, 0.0);
        level.game.with(&mut level.host, |cx, sys| use_holdable(cx, sys, client, 1));
        assert_eq!(level.state(client).origin, Vec3::new(0.0, 0.0, 1.0), "the only place there is");
        assert_eq!(level.state(client).e_flags ^ flags, entity_flag::TELEPORT);
        level.game.with(&mut level.host, |cx, sys| use_holdable(cx, sys, client, 5));
        let until = level.state(client).powerups[Powerup::Invulnerability];
        assert_eq!(until, level.now.0 + 10_000);
    }
}

/// Two teams with a flag each.
fn flags(ruleset: &'static Ruleset) -> (Level, [ClientNum; 2], [EntityNum; 2]) {
    let mut level = Level::new(ruleset);
    level.game.clients.game_type = GameType::CaptureTheFlag;
    let players = [level.join(0), level.join(1)];
    // Red comes last: whoever stands at the only spot does not survive that.
    for (player, team) in players.into_iter().zip(["team red", "team blue"]).rev() {
        level.game.client_command(&mut level.host, player, &crate::model::Words::parse(team));
    }
    level.host.sent.clear();
    let flags = [Flag::Red, Flag::Blue].map(|flag| {
        let row = flag.powerup() as i32 + 27;
        level.lay(ITEMS[row as usize].class, |_| {})
    });
    (level, players, flags)
}

#[test]
fn flags_go_home_when_they_are_lost() {
    for ruleset in Ruleset::ALL {
        let (mut level, [red, _], [_, blue_flag]) = flags(ruleset);
        let status = |level: &Level| level.host.configstring(configstring::FLAG_STATUS).to_owned();
        let carry = |level: &mut Level| {
            level.state(red).powerups[Powerup::BlueFlag] = UNTIL_LOST;
            level.game.with(&mut level.host, |cx, _| hide_item(cx, blue_flag));
        };
        carry(&mut level);
        level.game.with(&mut level.host, |cx, sys| sys.items.drop_at_death(cx, red));
        assert_eq!(status(&level), "02");
        let dropped = level.dropped();
        assert_eq!((dropped.len(), dropped[0].1), (1, 35));
        level.frames(29_900);
        assert!(!level.is_there(blue_flag));
        level.frames(200);
        assert_eq!(status(&level), "00");
        assert!(level.is_there(blue_flag) && level.dropped().is_empty());
        let sounds = level.shown(Event::GlobalTeamSound);
        assert_eq!((sounds.len(), sounds[0].0.event_parm), (1, 2), "the blue flag is back");
        let told = |level: &Level| {
            let line = "print \"The BLUE flag has returned!\n\"";
            level.host.sent_to_all().iter().filter(|&&sent| sent == line).count()
        };
        assert_eq!(told(&level), 0, "nothing is said");

        // One's own hand brings it home at once, and says so.
        carry(&mut level);
        level.game.with(&mut level.host, |cx, sys| suicide(cx, sys, red));
        assert!(level.is_there(blue_flag) && level.dropped().is_empty());
        assert_eq!(told(&level), 1);

        // A door that crushes it does, too.
        let (mut level, [red, _], [_, blue_flag]) = flags(ruleset);
        level.state(red).powerups[Powerup::BlueFlag] = UNTIL_LOST;
        level.game.with(&mut level.host, |cx, _| hide_item(cx, blue_flag));
        level.game.with(&mut level.host, |cx, sys| use_holdable(cx, sys, red, 1));
        assert_eq!(level.state(red).powerups[Powerup::BlueFlag], 0, "it stays behind");
        let dropped = level.dropped();
        level.game.with(&mut level.host, |cx, sys| sys.items.crush_item(cx, dropped[0].0));
        assert!(level.is_there(blue_flag) && level.dropped().is_empty());
    }
}

#[test]
fn flags_are_carried_returned_and_met() {
    let (mut level, [red, _], [red_flag, blue_flag]) = flags(Ruleset::BASEQ3);
    let touch = |level: &mut Level, flag, dropped| {
        level.game.with(&mut level.host, |cx, sys| touch_team_item(cx, sys, red, flag, dropped))
    };
    assert!(touch(&mut level, Flag::Blue, false), "it is carried away");
    assert_eq!(level.state(red).powerups[Powerup::BlueFlag], UNTIL_LOST);
    assert_eq!(level.host.configstring(configstring::FLAG_STATUS), "01");
    level.game.with(&mut level.host, |cx, sys| {
        sys.items.send_flag_home(cx, Flag::Blue, flags::ReturnAnnouncement::None)
    });
    assert_eq!(level.state(red).powerups[Powerup::BlueFlag], 0);
    assert!(level.is_there(blue_flag) && level.is_there(red_flag));
    assert_eq!(level.host.configstring(configstring::FLAG_STATUS), "00");
}

#[test]
fn a_level_without_room_loses_what_is_dropped_but_no_flag() {
    let (mut level, [red, _], [_, blue_flag]) = flags(Ruleset::BASEOA);
    level.game.with(&mut level.host, |cx, _| hide_item(cx, blue_flag));
    level.state(red).powerups[Powerup::BlueFlag] = UNTIL_LOST;
    level.state(red).powerups[Powerup::Quad] = 90_000;
    let (now, started) = level.game.with(&mut level.host, |cx, _| cx.clock());
    while level
        .game
        .entities
        .add(Entity::new(EntityKind::TargetPosition, HERE), now, started)
        .is_some()
    {}
    level.game.with(&mut level.host, |cx, sys| sys.items.drop_at_death(cx, red));
    assert_eq!(level.dropped(), []);
    assert!(level.is_there(blue_flag));
    let shard = EntityNum::new(64).unwrap();
    level.touch(red, shard);
    level.frames(1000);
}

#[test]
fn somebody_who_leaves_leaves_what_others_may_take() {
    for (ruleset, expected) in [(Ruleset::BASEQ3, 1), (Ruleset::BASEOA, 1)] {
        let mut level = Level::new(ruleset);
        let client = level.join(0);
        level.state(client).powerups[Powerup::Quad] = 90_000;
        level.game.client_disconnect(&mut level.host, client);
        assert_eq!(level.dropped().len(), expected, "{}", ruleset.folder);
        level.frames(31_000);
        assert_eq!(level.dropped().len(), 0);
    }
}

#[test]
fn the_level_shows_and_gives_hidden_items() {
    let mut level = Level::new(Ruleset::BASEQ3);
    let client = level.join(0);
    let place = level.lay("weapon_bfg", |_| {});
    level.game.with(&mut level.host, |cx, _| hide_item(cx, place));
    level.touch(client, place);
    assert_eq!(level.state(client).ammo[9], 0, "what is hidden can't be touched");
    level.game.with(&mut level.host, |cx, _| use_item(cx, place));
    assert!(level.is_there(place));
    level.game.with(&mut level.host, |cx, _| hide_item(cx, place));
    level.game.with(&mut level.host, |cx, sys| give_item(cx, sys, client, place));
    assert_eq!(level.state(client).ammo[9], 20);
    assert_eq!(level.game.entities.get(place).unwrap().think_at, None, "it is gone for good");
    assert!(!level.game.entities.get(place).unwrap().shared.is_linked());
}

#[test]
fn a_battle_suit_keeps_air_and_keeps_lava_out() {
    // Without a suit it drowns, and in water that shallow it burns.
    for (suited, level_of_lava, health) in
        [(true, 3, 125), (true, 2, 125), (false, 3, 121), (false, 2, 65)]
    {
        let mut level = Level::new(Ruleset::BASEQ3);
        let client = level.join(0);
        level.frames(1000);
        let now = level.now;
        let state = level.state(client);
        state.stats[0] = 125;
        state.external_event = 0;
        state.powerups[Powerup::BattleSuit] = if suited { i32::MAX } else { 0 };
        let body = &mut level.game.systems.combat.players[0];
        (body.water_level, body.water_type) = (level_of_lava, contents::LAVA);
        body.air_until = now + -1;
        body.pain_debounce_until = now;
        level.game.with(&mut level.host, |cx, sys| feel_surroundings(cx, sys, client));
        let shown = level.state(client).external_event & 0xff;
        let state = *level.state(client);
        assert_eq!(state.stats[0], health, "{suited} {level_of_lava}");
        assert_eq!(shown == Event::PowerupBattleSuit, suited);
        if suited && level_of_lava == 3 {
            assert_eq!(level.game.systems.combat.players[0].air_until.distance(now), 10_000);
        }
    }
}
