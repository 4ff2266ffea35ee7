//! A level's beginning: its configstrings, and what a thing that stands for an entity of the map begins
//! with.
//!
//! Invariants: models and sounds are registered without gaps, in the order of the entity text. Source:
//! the base game's start of a level.

use super::{
    Deathmatch,
    teams::Fight,
    things::{Thing, What},
};
use crate::model::{EntityNum, text::leading_int};
use crate::world::{MapEntities, entity_string::MapEntity};
use crate::{
    bg::{GameType, configstring, items::ItemKind},
    game::{Host, LevelStart, userinfo::clean_text},
};

/// Gravity where the map says nothing.
const GRAVITY: &str = "800";

impl Deathmatch {
    /// Everything that a level begins with.
    pub(super) fn start_level(&mut self, host: &mut dyn Host, start: &LevelStart) {
        self.things.clear();
        self.clear_items();
        self.spots.clear();
        self.remaps.clear();
        self.fight = Fight::default();
        let number = leading_int(host.setting("g_gametype"));
        let game_type = GameType::of_number(number).filter(|&kind| kind.is_for_many());
        if game_type.is_none() {
            host.print(&format!(
                "game type {number} is not played here, only 0, 1, 3 and 4: g_gametype is 0 now"
            ));
            host.set_setting("g_gametype", "0");
        }
        self.people.play_game_type(game_type.unwrap_or_default());
        let parsed = host.world().map(|world| MapEntities::parse(&world.bsp().entity_text));
        let entities = match parsed {
            Some(Ok(entities)) => Some(entities),
            Some(Err(error)) => {
                host.print(&format!("the map's {error}; it is played without entities"));
                None
            }
            None => None,
        };
        let world = entities.as_ref().map(MapEntities::world);
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
        if let Some(entities) = &entities {
            self.spots.read_view(entities);
            self.spawn_entities(host, entities);
        }
        self.register_shooters();
        self.register_arms();
        self.join_item_chains();
        self.publish_flags(host);
        self.publish_items(host);
        if profile.clears_intermission {
            host.set_configstring(configstring::INTERMISSION, "");
        }
        self.dig_graves();
        self.join_mover_teams(host);
        self.aim_portals(host);
        if !start.restart {
            self.people.publish_scores(host);
        }
        if entities.is_some() && self.spots.is_empty() {
            host.print("the map has no spawn points; players begin at its origin");
        }
        self.people.log_start(host);
        self.begin_match(host, start.restart);
    }

    /// Clients load the weapons that everybody comes with.
    fn register_arms(&mut self) {
        for number in self.combat.arms.items(self.people.profile) {
            self.register_item(number);
        }
    }

    /// Clients load the weapons that the level fires.
    fn register_shooters(&mut self) {
        let weapons: Vec<i32> = self.shooters().collect();
        for weapon in weapons {
            if let Some((number, _)) = self.people.profile.items.by_tag(ItemKind::Weapon, weapon) {
                self.register_item(number);
            }
        }
    }

    /// Adds a thing that stands for an entity of the map.
    pub(super) fn add(&mut self, entity: &MapEntity, what: What) -> Option<EntityNum> {
        let (now, started) = self.clock();
        let mut thing = Thing::new(what, entity.origin());
        thing.state.origin = entity.origin();
        thing.state.angles = entity.angles();
        thing.target = entity.field("target").unwrap_or_default().into();
        thing.targetname = entity.field("targetname").unwrap_or_default().into();
        thing.spawnflags = entity.int("spawnflags").unwrap_or(0);
        let number = self.things.add(thing, now, started)?;
        self.remaps.read(entity, number);
        Some(number)
    }

    /// Gives a thing the brushes that the map drew for it. False when there are none.
    pub(super) fn give_brushes(
        &mut self,
        host: &dyn Host,
        entity: &MapEntity,
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
}
