//! Item spawning: items of the map, their place on the floor, their chains.
//!
//! Source: the base game's item spawning; OpenArena's settings for it.

use crate::game::deathmatch::{
    context::Context,
    entities::Entities,
    items::Items,
    items::{plan, remove_item},
    systems::Systems,
};
use std::collections::BTreeMap;

use super::{ItemState, ItemThink, MAXS, MINS};
use crate::model::{EntityNum, Vec3, text::leading_int};
use crate::world::entity_string::MapEntity;
use crate::{
    bg::{
        EntityType, Holdable, contents, entity_flag,
        items::{Item, ItemKind},
    },
    game::{
        deathmatch::{entities::EntityKind, names},
        settings::key,
        userinfo::clean_text,
    },
};

/// When items fall to the floor, after the load: movers are there by then. Milliseconds.
const SETTLE_MS: i32 = 200;
/// How far down a floor is looked for.
const DEPTH: f32 = 4096.0;
/// Spawn flag of an item that stays in the air.
const FLOATS: i32 = 1;
/// Seconds until powerups are there for the first time, and by how much they vary.
const FIRST_POWERUP_S: (f32, f32) = (45.0, 15.0);
/// How much of its speed is left to an item that fell off something.
const BOUNCE: f32 = 0.5;
/// Most that a map's `count` says: a day in seconds.
const MAX_COUNT: i32 = 86_400;
/// Seconds that a map says at most.
const MAX_WAIT_S: f32 = 86_400.0;
/// What is heard when a powerup is back, and when a kamikaze is.
pub(super) const POWERUP_SOUND: &str = "sound/items/poweruprespawn.wav";
pub(super) const KAMIKAZE_SOUND: &str = "sound/items/kamikazerespawn.wav";

/// The sound with which an item comes back, if everybody hears it.
pub(super) fn return_sound(item: &Item) -> Option<&'static str> {
    match item.kind {
        ItemKind::Powerup => Some(POWERUP_SOUND),
        ItemKind::Holdable if item.tag == Holdable::Kamikaze => Some(KAMIKAZE_SOUND),
        _ => None,
    }
}

/// Makes an item of an entity of the map. False when its class is no item's.
pub(in crate::game::deathmatch) fn spawn_item(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    map_entity: &MapEntity,
) -> bool {
    let ruleset = cx.clients.ruleset;
    let Some(own) = ruleset.items.by_class(map_entity.classname()) else { return false };
    let (number, item) = replacement(cx, own.1).unwrap_or(own);
    sys.items.register_item(number);
    if let Some(name) = return_sound(item) {
        names::sound(cx.host, name);
    }
    if is_disabled(cx, item) {
        return true;
    }
    let pickup = ItemState {
        count: map_entity.int("count").unwrap_or(0).clamp(-1, MAX_COUNT),
        wait: map_entity.float("wait").unwrap_or(0.0).clamp(-1.0, MAX_WAIT_S),
        random: map_entity.float("random").unwrap_or(0.0).clamp(0.0, MAX_WAIT_S),
        is_silent: item.kind == ItemKind::Powerup
            && map_entity.spawn_value("noglobalsound").is_some_and(|value| value != "0"),
        chain: map_entity.field("team").unwrap_or_default().into(),
        bounce: BOUNCE,
        ..ItemState::new(number, item)
    };
    let Some(place) = sys.targets.add(cx, map_entity, EntityKind::Item(Box::new(pickup))) else {
        return true;
    };
    if let Some(entity) = cx.entities.get_mut(place)
        && item.kind == ItemKind::Rune
    {
        entity.state.generic1 = entity.spawnflags;
    }
    plan(cx, place, ItemThink::Settle, SETTLE_MS);
    true
}

/// What an operator has put in an item's place.
fn replacement(cx: &mut Context<'_>, item: &Item) -> Option<(i32, &'static Item)> {
    if !cx.clients.ruleset.item_settings {
        return None;
    }
    let wanted = clean_text(cx.host.setting(&format!("replace_{}", item.class)), 63);
    let found = cx.clients.ruleset.items.by_class(&wanted);
    if found.is_none() && !wanted.is_empty() && wanted != "0" {
        let class = item.class;
        cx.host.print(&format!("replace_{class} names {wanted}, which is no item: {class} stays"));
    }
    found
}

/// Whether an operator wants to do without an item.
fn is_disabled(cx: &Context<'_>, item: &Item) -> bool {
    leading_int(cx.host.setting(&format!("disable_{}", item.class))) != 0
        || (item.kind == ItemKind::Rune && !cx.host.settings().flag(key::G_RUNES))
        || (item.kind != ItemKind::Team && cx.frame.combat.loadout.replaces_items())
}
impl Entities {
    /// Joins the items of one name into chains: all but the first of each hide. What aims at one of them
    /// aims at the first.
    pub(in crate::game::deathmatch) fn join_item_chains(&mut self) {
        let mut captains: BTreeMap<Box<str>, EntityNum> = BTreeMap::new();
        for number in self.numbers() {
            let Some((_, pickup)) = self.pickup(number) else { continue };
            if pickup.chain.is_empty() {
                continue;
            }
            let captain = *captains.entry(pickup.chain.clone()).or_insert(number);
            if let Some(pickup) = self.pickup_mut(number) {
                pickup.captain = Some(captain);
            }
            if captain == number {
                continue;
            }
            let name = self.get_mut(number).map(|entity| std::mem::take(&mut entity.targetname));
            if let (Some(name), Some(entity)) = (name, self.get_mut(captain))
                && !name.is_empty()
            {
                entity.targetname = name;
            }
        }
    }
}

/// Lays an item on the floor below it. One inside something solid is gone.
pub(super) fn drop_to_floor(cx: &mut Context<'_>, number: EntityNum) {
    let Some((entity, pickup)) = cx.entities.pickup(number) else { return };
    let (origin, floats) = (entity.state.origin, entity.spawnflags & FLOATS != 0);
    let (item, modelindex) = (pickup.item, pickup.number);
    let waits =
        pickup.captain.is_some_and(|captain| captain != number) || !entity.targetname.is_empty();
    let floor = (!floats).then(|| {
        let below = origin - Vec3::new(0.0, 0.0, DEPTH);
        cx.host.world().map(|world| {
            world.scene(&*cx, number).trace(origin, MINS, MAXS, below, contents::SOLID)
        })
    });
    let floor = floor.flatten();
    if floor.is_some_and(|trace| trace.startsolid) {
        let at = origin.0.map(|coordinate| format!("{coordinate:.0}")).join(" ");
        cx.host.print(&format!("the {} at {at} is inside something solid: it is gone", item.class));
        remove_item(cx, number);
        return;
    }
    let Some(entity) = cx.entities.get_mut(number) else { return };
    entity.state.e_type = EntityType::Item as i32;
    entity.state.modelindex = modelindex;
    entity.state.modelindex2 = 0;
    entity.shared.mins = MINS;
    entity.shared.maxs = MAXS;
    entity.set_origin(floor.map_or(origin, |trace| trace.endpos));
    if let Some(trace) = floor {
        entity.state.ground_entity_num = trace.entity.index() as i32;
    }
    if waits || item.kind == ItemKind::Powerup {
        entity.state.e_flags |= entity_flag::NODRAW;
        entity.shared.contents = 0;
        if !waits {
            let (least, spread) = FIRST_POWERUP_S;
            let seconds = least + spread * cx.rng.either_way();
            plan(cx, number, ItemThink::Respawn, (seconds * 1000.0) as i32);
        }
    } else {
        entity.shared.contents = contents::TRIGGER;
        cx.entities.link(cx.host, number);
    }
}
impl Items {
    /// Items of a new level: none yet.
    pub(in crate::game::deathmatch) fn clear_items(&mut self, cx: &mut Context<'_>) {
        *self = Self::default();
        self.clear(cx.clients.ruleset);
    }
}
