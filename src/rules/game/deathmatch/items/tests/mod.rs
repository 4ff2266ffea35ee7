//! Tests of items without a map: pickup effects, conditions and respawn times.

mod drops;
mod pickups;
mod powerups;

use super::*;
use crate::bg::{
    EntityType, Event, GameType, Persistent, Powerup, TeamColor, UNLIMITED_AMMO, UNTIL_LOST,
    Weapon, contents, entity_flag, items::ItemKind,
};
use crate::game::deathmatch::entity_kinds::EntityKind;
use crate::game::deathmatch::{
    damage::death::suicide, holdables::use_holdable, items::powerups::run_player_timers,
    items::remove_item, items::respawn::hide_item, items::respawn::use_item,
    world_effects::apply_world_effects,
};
use crate::game::deathmatch::{pickups::give_item, pickups::touch_team_item, touch::touch_item};
use crate::game::{Game, LevelStart, conformance::TestHost};
use crate::game::{Host, deathmatch::Deathmatch};
use crate::model::{LevelTime, SvFlags, UserCmd};

/// Origin of every test item.
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
        level.game.init(&mut level.host, start).expect("no fault");
        level
    }

    fn join(&mut self, number: usize) -> ClientNum {
        let client = ClientNum::new(number).unwrap();
        let userinfo = "\\name\\taker\\cg_predictItems\\1";
        userinfo.clone_into(&mut self.host.userinfos[number]);
        self.game.client_connect(&mut self.host, client, true, false).unwrap();
        self.game.client_begin(&mut self.host, client).expect("no fault");
        // Unlinked, so that a later spawn does not telefrag it.
        let player = self.game.clients.players[number].as_mut().unwrap();
        player.shared.linked = 0;
        player.state.origin = HERE;
        player.state.event_sequence = 0;
        client
    }

    fn state(&mut self, client: ClientNum) -> &mut crate::model::PlayerState {
        &mut self.game.clients.players[client.index()].as_mut().unwrap().state
    }

    /// Adds an item as a map entity would.
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
            self.game.run_frame(&mut self.host, self.now).expect("no fault");
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

    /// Dropped items with their item index and count.
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

/// State after a pickup that starts with 50 health, no armor and 3 rounds of each weapon.
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
            assert_eq!(state.ammo[tag], rounds, "{class}: up to the quantity");
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
        assert!(level.is_there(place), "{class} respawned");
        let entity = level.game.entities.get(place).unwrap();
        assert_eq!(entity.state.event & 0xff, Event::ItemRespawn);
        let sounds = level.shown(Event::GlobalSound);
        let loud = is_powerup || class == "holdable_kamikaze";
        assert_eq!(sounds.len(), usize::from(loud), "{class}");
    }
}

/// Two teams with a flag each.
fn flags(ruleset: &'static Ruleset) -> (Level, [ClientNum; 2], [EntityNum; 2]) {
    let mut level = Level::new(ruleset);
    level.game.set_game_type(GameType::CaptureTheFlag);
    let players = [level.join(0), level.join(1)];
    // Red joins last: a spawn at the only spawn point telefrags the player there.
    for (player, team) in players.into_iter().zip(["team red", "team blue"]).rev() {
        level
            .game
            .client_command(&mut level.host, player, &crate::model::CommandArgs::parse(team))
            .expect("no fault");
    }
    level.host.sent.clear();
    let flags = ["team_CTF_redflag", "team_CTF_blueflag"].map(|class| level.lay(class, |_| {}));
    (level, players, flags)
}
