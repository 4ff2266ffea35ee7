//! Item spawning: items of the map, drop to the floor, item chains.
//!
//! Source: the base game's item spawning; OpenArena's settings for it.

use crate::bg::{EntityType, Holdable, contents, entity_flag, items::Item, items::ItemKind};
use crate::game::deathmatch::entity_kinds::{EntityKind, ItemState, ItemThink};
use crate::game::deathmatch::items::{Items, MAXS, MINS, remove_item, schedule};
use crate::game::deathmatch::{
    asset_index, context::Context, entities::Entities, targets::Targets,
};
use crate::game::{settings::key, userinfo::clean_text};
use crate::model::{EntityNum, Trace, Vec3, text::atoi};
use crate::world::{TraceQuery, entity_string::MapEntity};
use std::collections::BTreeMap;

/// Delay of the drop to the floor after the map load, in ms. The movers have spawned by then.
const SETTLE_MS: i32 = 200;
/// Length of the trace to the floor, in units.
const DEPTH: f32 = 4096.0;
/// Spawn flag of an item that floats.
const FLOATS: i32 = 1;
/// First spawn of powerups in seconds, and its random variation.
const FIRST_POWERUP_S: (f32, f32) = (45.0, 15.0);
/// Fraction of the speed that a bouncing item keeps.
const BOUNCE: f32 = 0.5;
/// Maximum of the key `count`: a day in seconds.
const MAX_COUNT: i32 = 86_400;
/// Maximum of the key `wait`, in seconds.
const MAX_WAIT_S: f32 = 86_400.0;
/// Respawn sounds of powerups and of the kamikaze.
pub(crate) const POWERUP_SOUND: &str = "sound/items/poweruprespawn.wav";
pub(crate) const KAMIKAZE_SOUND: &str = "sound/items/kamikazerespawn.wav";

/// Returns the respawn sound that all clients hear, if the item has one.
pub(crate) fn respawn_sound(item: &Item) -> Option<&'static str> {
    match item.kind {
        ItemKind::Powerup => Some(POWERUP_SOUND),
        ItemKind::Holdable if item.tag == Holdable::Kamikaze => Some(KAMIKAZE_SOUND),
        _ => None,
    }
}

/// Spawns the item of a map entity. Returns false for a classname without an item.
pub(crate) fn spawn_item(
    cx: &mut Context<'_>,
    items: &mut Items,
    targets: &mut Targets,
    map_entity: &MapEntity,
) -> bool {
    let ruleset = cx.clients.ruleset;
    let Some(own) = ruleset.items.by_class(map_entity.classname()) else { return false };
    let (number, item) = replacement(cx, own.1).unwrap_or(own);
    items.register_item(number);
    if item.kind == ItemKind::Powerup {
        asset_index::sound_index(cx.host, POWERUP_SOUND);
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
    let Some(spawned) = targets.add(cx, map_entity, EntityKind::Item(Box::new(pickup))) else {
        return true;
    };
    if let Some(entity) = cx.entities.get_mut(spawned)
        && item.kind == ItemKind::Rune
    {
        entity.state.generic1 = entity.spawnflags;
    }
    schedule(cx, spawned, ItemThink::Settle, SETTLE_MS);
    true
}

/// Returns the item that settings put in place of another.
fn replacement(cx: &mut Context<'_>, item: &Item) -> Option<(i32, &'static Item)> {
    if !cx.clients.ruleset.equipment.has_settings {
        return None;
    }
    let wanted = clean_text(cx.host.setting(&format!("replace_{}", item.class)), 63);
    let found = cx.clients.ruleset.items.by_class(&wanted);
    if found.is_none() && !wanted.is_empty() && wanted != "0" {
        let class = item.class;
        cx.host.print(&format!("replace_{class}: unknown item {wanted}, keeping {class}"));
    }
    found
}

/// Whether a setting disables an item.
fn is_disabled(cx: &Context<'_>, item: &Item) -> bool {
    atoi(cx.host.setting(&format!("disable_{}", item.class))) != 0
        || (item.kind == ItemKind::Rune && !cx.host.settings().flag(key::G_RUNES))
        || (item.kind != ItemKind::Team && cx.frame.combat.loadout.replaces_items())
}
impl Entities {
    /// Joins items of one team name into chains. All members but the first hide. A target that names a
    /// member uses the first.
    pub(crate) fn join_item_chains(&mut self) {
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

/// Returns the trace of an item's fall; `None` without a map.
pub(crate) fn floor_below(cx: &Context<'_>, number: EntityNum, origin: Vec3) -> Option<Trace> {
    let below = origin - Vec3::new(0.0, 0.0, DEPTH);
    let fall = TraceQuery::line(origin, below, contents::SOLID).with_box(MINS, MAXS);
    Some(cx.host.world()?.scene(cx, number).trace(&fall))
}

/// Drops an item to the floor below it. An item that starts in solid is removed.
pub(crate) fn drop_to_floor(cx: &mut Context<'_>, number: EntityNum) {
    let Some((entity, pickup)) = cx.entities.pickup(number) else { return };
    let (origin, floats) = (entity.state.origin, entity.spawnflags & FLOATS != 0);
    let (item, modelindex) = (pickup.item, pickup.number);
    let waits =
        pickup.captain.is_some_and(|captain| captain != number) || !entity.targetname.is_empty();
    let floor = if floats { None } else { floor_below(cx, number, origin) };
    if floor.is_some_and(|trace| trace.startsolid) {
        let at = origin.0.map(|coordinate| format!("{coordinate:.0}")).join(" ");
        cx.host.print(&format!("item {} at {at} removed: starts in solid", item.class));
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
            let seconds = least + spread * cx.rng.crandom();
            schedule(cx, number, ItemThink::Respawn, (seconds * 1000.0) as i32);
        }
    } else {
        entity.shared.contents = contents::TRIGGER;
        cx.entities.link(cx.host, number);
    }
}
impl Items {
    /// Resets the items at level start.
    pub(crate) fn clear_items(&mut self, cx: &mut Context<'_>) {
        *self = Self::default();
        self.register_arms(cx);
    }
}
