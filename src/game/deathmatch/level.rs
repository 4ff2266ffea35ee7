//! A level's beginning: its configstrings, and a thing for each entity of the map, by a table of classes.
//!
//! Invariants: models and sounds are registered without gaps, in the order of the entity text; classes
//! that nobody knows are named once. Source: the base game's spawn functions.

use std::collections::BTreeMap;

use super::{
    Deathmatch,
    things::{Thing, What},
    triggers::{Cause, Hurt, Trigger},
};
use crate::game::{
    GameType, Host, LevelStart, configstring,
    direction_bytes::direction_byte,
    numbers::{EntityType, contents},
    userinfo::clean_text,
};
use crate::model::{ConfigIndex, EntityNum, SvFlags, Vec3, text::leading_int};
use crate::world::{Entities, entities::Entity};

/// When pads are aimed, and when triggers that need no touch fire, after the load; milliseconds.
const AIM_MS: i32 = 100;
const START_MS: i32 = 300;
/// Names of models and sounds that fit.
const MAX_NAMES: u16 = 256;
/// Names of unknown classes that are printed.
const MAX_NAMED: usize = 16;
/// Gravity where the map says nothing.
const GRAVITY: &str = "800";
/// Heard where one is thrown or vanishes.
const PAD_SOUND: &str = "sound/world/jumppad.wav";

/// What becomes of an entity of one class.
type Spawn = fn(&mut Deathmatch, &mut dyn Host, &Entity);

/// The classes that are known, by name.
const CLASSES: &[(&str, Spawn)] = &[
    ("info_player_deathmatch", spot),
    ("info_player_start", spot),
    ("info_player_intermission", place),
    ("info_notnull", place),
    ("target_position", place),
    ("misc_teleporter_dest", place),
    ("info_camp", place),
    ("target_location", nothing),
    ("item_botroam", nothing),
    ("light", nothing),
    ("misc_model", nothing),
    ("info_null", nothing),
    ("func_group", nothing),
    ("path_corner", nothing),
    ("trigger_push", pad),
    ("trigger_teleport", teleporter),
    ("trigger_hurt", hurt),
    ("trigger_multiple", touch_trigger),
    ("trigger_always", start_trigger),
    ("func_timer", timer),
    ("target_relay", relay),
    ("target_delay", delay),
    ("target_print", print),
    ("target_teleporter", target_teleporter),
    ("target_kill", target_kill),
    ("target_speaker", speaker),
    ("misc_portal_surface", portal),
    ("misc_portal_camera", camera),
    ("func_static", Deathmatch::spawn_static),
    ("func_rotating", Deathmatch::spawn_rotating),
    ("func_bobbing", Deathmatch::spawn_bobbing),
    ("func_pendulum", Deathmatch::spawn_pendulum),
    ("func_door", Deathmatch::spawn_door),
    ("func_plat", Deathmatch::spawn_plat),
    ("func_button", Deathmatch::spawn_button),
    ("func_train", Deathmatch::spawn_train),
];

/// Beginnings of classes of things to pick up, and of teams' things: known, and not in play.
const NOT_IN_PLAY: [&str; 10] = [
    "item_",
    "weapon_",
    "ammo_",
    "holdable_",
    "team_",
    "domination_",
    "info_player_dd",
    "shooter_",
    "target_",
    "info_",
];

impl Deathmatch {
    /// Everything that a level begins with.
    pub(super) fn start_level(&mut self, host: &mut dyn Host, start: &LevelStart) {
        self.things.clear();
        self.spots.clear();
        if leading_int(host.setting("g_gametype")) != 0 {
            host.print("deathmatch knows no teams yet: g_gametype is 0 now");
            host.set_setting("g_gametype", "0");
        }
        let number = leading_int(host.setting("g_gametype"));
        self.people.play_game_type(GameType::of_number(number).unwrap_or_default());
        let parsed = host.world().map(|world| Entities::parse(&world.bsp().entity_text));
        let entities = match parsed {
            Some(Ok(entities)) => Some(entities),
            Some(Err(error)) => {
                host.print(&format!("the map's {error}; it is played without entities"));
                None
            }
            None => None,
        };
        let world = entities.as_ref().map(Entities::world);
        let key = |name: &str| {
            let text = world.and_then(|world| world.text_field(name)).unwrap_or_default();
            clean_text(&text, 255)
        };
        let profile = self.people.profile;
        let custom = clean_text(host.setting("g_music"), 127);
        let replaced =
            profile.music_setting && !custom.is_empty() && !custom.eq_ignore_ascii_case("none");
        let music = if replaced { custom } else { key("music") };
        let motd = clean_text(host.setting("g_motd"), 255);
        for (index, text) in [
            (configstring::FRY_SOUND, configstring::FRY_SOUND_FILE),
            (configstring::GAME_VERSION, profile.version),
            (configstring::LEVEL_START_TIME, &start.time.to_string()),
            (configstring::MUSIC, &music),
            (configstring::MESSAGE, &key("message")),
            (configstring::MOTD, &motd),
        ] {
            host.set_configstring(index, text);
        }
        if let Some(world) = world {
            let gravity = world.spawn_value("gravity").unwrap_or(GRAVITY);
            host.set_setting("g_gravity", &leading_int(gravity).clamp(0, 0xffff).to_string());
            self.refresh_movement(host);
        }
        host.set_configstring(configstring::WARMUP, "");
        if let Some(entities) = &entities {
            self.spots.read_view(entities);
            self.spawn_entities(host, entities);
        }
        host.set_configstring(configstring::ITEMS, &profile.item_bits());
        if profile.clears_intermission {
            host.set_configstring(configstring::INTERMISSION, "");
        }
        self.dig_graves();
        self.join_mover_teams(host);
        self.aim_portals();
        if !start.restart {
            self.people.publish_scores(host);
        }
        if entities.is_some() && self.spots.is_empty() {
            host.print("the map has no spawn points; players begin at its origin");
        }
        self.people.log_start(host);
    }

    /// Portals show what their cameras see; those without are mirrors.
    fn aim_portals(&mut self) {
        for number in self.things.numbers() {
            let is_portal = self
                .things
                .get(number)
                .is_some_and(|thing| thing.state.e_type == EntityType::Portal as i32);
            let Some(camera) = is_portal.then(|| self.pick_target(number)).flatten() else {
                continue;
            };
            let Some(seen) = self.things.get(camera) else { continue };
            let (at, angles) = (seen.state.origin, seen.state.angles);
            let (flags, roll) = (seen.spawnflags, seen.state.client_num);
            let looks_at = self.pick_target(camera).and_then(|target| self.things.get(target));
            let direction = looks_at.map_or_else(
                || Self::direction_of(angles),
                |target| crate::game::movement::velocity::direction(target.state.origin - at),
            );
            let Some(thing) = self.things.get_mut(number) else { continue };
            thing.state.origin2 = at;
            thing.state.frame = match flags {
                flags if flags & 1 != 0 => 25,
                flags if flags & 2 != 0 => 75,
                _ => 0,
            };
            thing.state.powerups = i32::from(flags & 4 == 0);
            thing.state.client_num = roll;
            thing.state.event_parm = direction_byte(direction);
        }
    }

    fn spawn_entities(&mut self, host: &mut dyn Host, entities: &Entities) {
        let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
        for entity in entities.all().iter().skip(1) {
            let class = entity.classname();
            if !self.is_for_this_game(entity) {
                continue;
            }
            let known = CLASSES.iter().find(|(name, _)| name.eq_ignore_ascii_case(class));
            if let Some((name, spawn)) = known {
                if name.eq_ignore_ascii_case("func_train") {
                    self.spawn_train_on(host, entity, entities);
                } else {
                    spawn(self, host, entity);
                }
            } else if !NOT_IN_PLAY.iter().any(|start| class.to_ascii_lowercase().starts_with(start))
            {
                *unknown.entry(clean_text(class, 63)).or_default() += 1;
            }
        }
        for (class, count) in unknown.iter().take(MAX_NAMED) {
            host.print(&format!("the map has {count} entities of class {class}, which is unknown"));
        }
        if unknown.len() > MAX_NAMED {
            host.print(&format!("and {} more unknown classes", unknown.len() - MAX_NAMED));
        }
    }

    /// Whether the filters of an entity let it into what is played.
    fn is_for_this_game(&self, entity: &Entity) -> bool {
        let game_type = self.people.game_type;
        let set = |key| entity.spawn_value(key).is_some_and(|value| leading_int(value) != 0);
        let listed = |key| entity.spawn_value(key).map(|list| list.contains(game_type.key()));
        let is_oa = self.people.profile == crate::game::Profile::BASEOA;
        let unwanted = set(if game_type.has_teams() { "notteam" } else { "notfree" })
            || set("notq3a")
            || listed("gametype") == Some(false)
            || (is_oa && listed("!gametype") == Some(true));
        !unwanted
    }

    /// Adds a thing that stands for an entity of the map.
    pub(super) fn add(&mut self, entity: &Entity, what: What) -> Option<EntityNum> {
        let (now, started) = self.clock();
        let mut thing = Thing::new(what, entity.origin());
        thing.state.origin = entity.origin();
        thing.state.angles = entity.angles();
        thing.target = entity.field("target").unwrap_or_default().into();
        thing.targetname = entity.field("targetname").unwrap_or_default().into();
        thing.spawnflags = entity.int("spawnflags").unwrap_or(0);
        self.things.add(thing, now, started)
    }

    /// Gives a thing the brushes that the map drew for it. False when there are none.
    pub(super) fn give_brushes(
        &mut self,
        host: &dyn Host,
        entity: &Entity,
        number: EntityNum,
        contents: i32,
    ) -> bool {
        let model = entity.field("model").and_then(|name| {
            let world = host.world()?;
            let model = world.bsp().inline_model(name)?.index();
            Some((model, world.map().model_bounds(model)?))
        });
        let Some((thing, (model, [mins, maxs]))) = self.things.get_mut(number).zip(model) else {
            return false;
        };
        thing.state.modelindex = model as i32;
        thing.shared.bmodel = 1;
        thing.shared.mins = mins;
        thing.shared.maxs = maxs;
        thing.shared.contents = contents;
        true
    }

    /// A trigger drawn in the map, which clients are not told of unless `shown`.
    fn add_trigger(
        &mut self,
        host: &mut dyn Host,
        entity: &Entity,
        what: What,
        shown: Option<EntityType>,
    ) -> Option<EntityNum> {
        let number = self.add(entity, what)?;
        if !self.give_brushes(host, entity, number, contents::TRIGGER) {
            self.things.remove(host, number, self.people.now);
            return None;
        }
        let thing = self.things.get_mut(number)?;
        thing.state.angles = Vec3::ZERO;
        match shown {
            Some(kind) => thing.state.e_type = kind as i32,
            None => thing.shared.sv_flags = SvFlags::NO_CLIENT,
        }
        self.things.link(host, number);
        Some(number)
    }
}

/// The number of a name in a block of configstrings; a new one takes the first free place. 0 when there
/// is no room, which means nothing to clients.
fn register(host: &mut dyn Host, first: u16, name: &str) -> i32 {
    let name = clean_text(name, 63);
    if name.is_empty() {
        return 0;
    }
    for place in 1..MAX_NAMES {
        let Some(index) = ConfigIndex::new(usize::from(first + place)) else { break };
        let taken = host.configstring(index);
        if taken == name {
            return i32::from(place);
        }
        if taken.is_empty() {
            host.set_configstring(index, &name);
            return i32::from(place);
        }
    }
    host.print(&format!("no room for {name}"));
    0
}

/// The number of a sound.
pub(super) fn sound(host: &mut dyn Host, name: &str) -> i32 {
    register(host, configstring::SOUNDS, name)
}

/// The number of a model.
pub(super) fn model(host: &mut dyn Host, name: &str) -> i32 {
    register(host, configstring::MODELS, name)
}

fn nothing(_game: &mut Deathmatch, _host: &mut dyn Host, _entity: &Entity) {}

fn place(game: &mut Deathmatch, _host: &mut dyn Host, entity: &Entity) {
    game.add(entity, What::Place);
}

fn spot(game: &mut Deathmatch, _host: &mut dyn Host, entity: &Entity) {
    let number = game.add(entity, What::Place);
    game.spots.add(entity, number);
}

fn pad(game: &mut Deathmatch, host: &mut dyn Host, entity: &Entity) {
    sound(host, PAD_SOUND);
    let due = game.people.now + AIM_MS;
    let number = game.add_trigger(host, entity, What::Pad, Some(EntityType::PushTrigger));
    if let Some(pad) = number.and_then(|number| game.things.get_mut(number)) {
        pad.think_at = Some(due);
    }
}

fn teleporter(game: &mut Deathmatch, host: &mut dyn Host, entity: &Entity) {
    sound(host, PAD_SOUND);
    let spectators_only = entity.int("spawnflags").unwrap_or(0) & 1 != 0;
    let shown = (!spectators_only).then_some(EntityType::TeleportTrigger);
    game.add_trigger(host, entity, What::Teleporter { spectators_only }, shown);
}

fn hurt(game: &mut Deathmatch, host: &mut dyn Host, entity: &Entity) {
    let flags = entity.int("spawnflags").unwrap_or(0);
    let what = What::Hurt(Hurt {
        points: entity.int("dmg").filter(|&points| points != 0).unwrap_or(5),
        sound: sound(host, "sound/world/electro.wav"),
        next: game.people.now,
    });
    let number = game.add_trigger(host, entity, what, None);
    if let Some(number) = number.filter(|_| flags & 1 != 0) {
        game.things.unlink(host, number);
    }
}

/// A trigger of some cause; how long it rests unless the map says so, in seconds.
fn trigger(entity: &Entity, cause: Cause, wait: f32) -> What {
    let wait = entity.float("wait").unwrap_or(wait);
    let mut random = entity.float("random").unwrap_or(0.0);
    if wait >= 0.0 && random >= wait {
        random = (wait - 0.1).max(0.0);
    }
    What::Trigger(Trigger { cause, wait, random, activator: None })
}

fn touch_trigger(game: &mut Deathmatch, host: &mut dyn Host, entity: &Entity) {
    game.add_trigger(host, entity, trigger(entity, Cause::Touch, 0.5), None);
}

fn start_trigger(game: &mut Deathmatch, _host: &mut dyn Host, entity: &Entity) {
    let due = game.people.now + START_MS;
    let number = game.add(entity, trigger(entity, Cause::Start, 0.0));
    if let Some(thing) = number.and_then(|number| game.things.get_mut(number)) {
        thing.think_at = Some(due);
    }
}

fn timer(game: &mut Deathmatch, _host: &mut dyn Host, entity: &Entity) {
    let on = entity.int("spawnflags").unwrap_or(0) & 1 != 0;
    let due = game.people.now + 100;
    let mut what = trigger(entity, Cause::Clock { on }, 1.0);
    if let What::Trigger(trigger) = &mut what
        && entity.float("random").is_none()
    {
        trigger.random = 1.0_f32.min((trigger.wait - 0.1).max(0.0));
    }
    let number = game.add(entity, what);
    if let Some(thing) = number.and_then(|number| game.things.get_mut(number)) {
        thing.think_at = on.then_some(due);
    }
}

fn relay(game: &mut Deathmatch, _host: &mut dyn Host, entity: &Entity) {
    game.add(entity, trigger(entity, Cause::Relay, 0.0));
}

fn delay(game: &mut Deathmatch, _host: &mut dyn Host, entity: &Entity) {
    let wait = entity.float("delay").unwrap_or(1.0);
    game.add(entity, trigger(entity, Cause::Delay, wait));
}

fn print(game: &mut Deathmatch, _host: &mut dyn Host, entity: &Entity) {
    let text = entity.text_field("message").unwrap_or_default();
    game.add(entity, trigger(entity, Cause::Print(text.into()), 0.0));
}

fn target_teleporter(game: &mut Deathmatch, _host: &mut dyn Host, entity: &Entity) {
    game.add(entity, trigger(entity, Cause::Teleport, 0.0));
}

fn target_kill(game: &mut Deathmatch, _host: &mut dyn Host, entity: &Entity) {
    game.add(entity, trigger(entity, Cause::Kill, 0.0));
}

fn speaker(game: &mut Deathmatch, host: &mut dyn Host, entity: &Entity) {
    let Some(noise) = entity.spawn_value("noise") else { return };
    let name = if noise.contains(".wav") { noise.to_owned() } else { format!("{noise}.wav") };
    let number = sound(host, &name);
    let flags = entity.int("spawnflags").unwrap_or(0);
    let Some(place) = game.add(entity, trigger(entity, Cause::Speaker(number), 0.0)) else {
        return;
    };
    let Some(thing) = game.things.get_mut(place) else { return };
    let tenths = |key| (entity.float(key).unwrap_or(0.0) * 10.0) as i32;
    thing.state.e_type = EntityType::Speaker as i32;
    thing.state.event_parm = number;
    thing.state.frame = tenths("wait");
    thing.state.client_num = tenths("random");
    if flags & 1 != 0 {
        thing.state.loop_sound = number;
    }
    if flags & 4 != 0 {
        thing.shared.sv_flags = SvFlags::BROADCAST;
    }
    game.things.link(host, place);
}

fn portal(game: &mut Deathmatch, host: &mut dyn Host, entity: &Entity) {
    let Some(number) = game.add(entity, What::Scenery) else { return };
    let Some(thing) = game.things.get_mut(number) else { return };
    thing.state.e_type = EntityType::Portal as i32;
    thing.shared.sv_flags = SvFlags::PORTAL;
    if thing.target.is_empty() {
        thing.state.origin2 = thing.state.origin;
    }
    game.things.link(host, number);
}

fn camera(game: &mut Deathmatch, host: &mut dyn Host, entity: &Entity) {
    let Some(number) = game.add(entity, What::Scenery) else { return };
    if let Some(thing) = game.things.get_mut(number) {
        thing.shared.sv_flags = SvFlags::NO_CLIENT;
        let roll = entity.float("roll").unwrap_or(0.0);
        thing.state.client_num = ((roll / 360.0 * 256.0) as i32) & 0xff;
    }
    game.things.link(host, number);
}
