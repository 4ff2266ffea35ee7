//! Items: spawn, pickup, effects, respawn and drops.
//!
//! A map item drops to the floor once the movers exist (`spawn`). A touch grants it to the player (`pickups`,
//! `grant`), hides it and schedules its respawn (`respawn`). Items of a dead player fly, land and expire
//! (`drop`). Timed effects are in `powerups`, team flags in `flags`. `pickups` and `holdables` are beside this folder.
//!
//! Invariants: a hidden item has no contents; the timer of an item chain never shows two of its members at
//! once; a dropped item is removed after 30 seconds. Source: the base game's items; OpenArena's.
//!
//! Engine names: `Touch_Item`, `RespawnItem`, `LaunchItem`, `FinishSpawningItem`.

pub(super) mod drop;
pub(super) mod flag_stands;
pub(super) mod flags;
pub(super) mod grant;
pub(super) mod powerups;
pub(super) mod respawn;
pub(super) mod spawn;

pub(super) use self::{
    flag_stands::{blue as blue_stand, red as red_stand},
    powerups::speed_of,
};
use self::{respawn::respawn_item, spawn::drop_to_floor};
use super::entity_kinds::{EntityKind, ItemState, ItemThink};
use super::{context::Context, entities::Entities, entities::Entity, flag::color_of_item};
use crate::bg::{Event, configstring, items::ITEMS, items::ItemKind};
use crate::game::Ruleset;
use crate::model::{ClientNum, EntityNum, Vec3, limits::MAX_CLIENTS};

/// Half the width of an item, in units.
const RADIUS: f32 = 15.0;
/// Bounding box of an item, relative to its origin.
const MINS: Vec3 = Vec3::new(-RADIUS, -RADIUS, -RADIUS);
const MAXS: Vec3 = Vec3::new(RADIUS, RADIUS, RADIUS);

/// Item state of one player that is not part of its playerstate.
#[derive(Clone, Copy, Debug, Default)]
struct CarriedItems {
    /// Rune entity that stays hidden until its holder dies.
    rune: Option<EntityNum>,
    /// Time since each weapon last regained ammunition, in ms.
    since_rounds_ms: [i32; 16],
}

/// Item state of the level besides the entities themselves.
#[derive(Clone, Debug)]
pub(super) struct Items {
    /// Whether clients precache an item, by item index.
    registered: [bool; ITEMS.len()],
    /// Carried items by client number.
    carried: [CarriedItems; MAX_CLIENTS],
    flags: flags::FlagStatuses,
}

impl Default for Items {
    fn default() -> Self {
        Self {
            registered: [false; ITEMS.len()],
            carried: [CarriedItems::default(); MAX_CLIENTS],
            flags: flags::FlagStatuses::default(),
        }
    }
}

impl Items {
    /// Registers the items of a fresh spawn, so that clients load them.
    pub(super) fn register_arms(&mut self, cx: &Context<'_>) {
        let (ruleset, arms) = (cx.clients.ruleset, cx.frame.combat.loadout);
        if arms.replaces_items() {
            return arms.items(ruleset).for_each(|number| self.register_item(number));
        }
        for &number in ruleset.equipment.starting_items {
            self.registered[number] = true;
        }
    }

    /// Returns one digit per item of the game: 1 for a registered item.
    fn bits(&self, ruleset: &Ruleset) -> String {
        self.registered[..ruleset.items.len()]
            .iter()
            .map(|&on| if on { '1' } else { '0' })
            .collect()
    }

    /// Registers an item for precaching by clients; only valid during level start.
    pub(crate) fn register_item(&mut self, number: i32) {
        let index = usize::try_from(number).ok();
        if let Some(registered) = index.and_then(|index| self.registered.get_mut(index)) {
            *registered = true;
        }
    }

    /// Sends the registered items in their configstring.
    pub(crate) fn publish_items(&self, cx: &mut Context<'_>) {
        cx.host.set_configstring(configstring::ITEMS, &self.bits(cx.clients.ruleset));
    }
}

impl Entities {
    pub(crate) fn pickup(&self, number: EntityNum) -> Option<(&Entity, &ItemState)> {
        let entity = self.get(number)?;
        match &entity.kind {
            EntityKind::Item(pickup) => Some((entity, pickup)),
            _ => None,
        }
    }

    pub(crate) fn pickup_mut(&mut self, number: EntityNum) -> Option<&mut ItemState> {
        match &mut self.get_mut(number)?.kind {
            EntityKind::Item(pickup) => Some(pickup),
            _ => None,
        }
    }
}

/// Schedules the next action of an item, in ms from now.
pub(super) fn schedule(cx: &mut Context<'_>, number: EntityNum, step: ItemThink, in_ms: i32) {
    let now = cx.clients.now;
    if let Some(entity) = cx.entities.get_mut(number)
        && let EntityKind::Item(pickup) = &mut entity.kind
    {
        pickup.step = step;
        entity.think_at = (step != ItemThink::Rest).then(|| now + in_ms);
    }
}
impl Items {
    /// Runs the scheduled action or the flight of an item.
    pub(crate) fn run_item(&mut self, cx: &mut Context<'_>, number: EntityNum) {
        let hit = self.fly(cx, number);
        let now = cx.clients.now;
        let Some((entity, pickup)) = cx.entities.pickup(number) else { return };
        let step = pickup.step;
        if entity.think_at.is_some_and(|at| at.distance(now) <= 0) {
            schedule(cx, number, ItemThink::Rest, 0);
            match step {
                ItemThink::Rest => {}
                ItemThink::Settle => drop_to_floor(cx, number),
                ItemThink::Respawn => respawn_item(cx, number),
                ItemThink::Vanish => {
                    self.discard_item(cx, number, flags::ReturnAnnouncement::Sound)
                }
            }
        }
        if let Some(trace) = hit {
            self.land(cx, number, &trace);
        }
    }
}

/// Removes an item entity for good. The last member of a chain passes the lead to the rest.
pub(super) fn remove_item(cx: &mut Context<'_>, number: EntityNum) {
    cx.entities.remove(cx.host, number, cx.clients.now);
    let rest: Vec<EntityNum> = cx.entities.chain_of(number).collect();
    for &member in &rest {
        if let Some(pickup) = cx.entities.pickup_mut(member) {
            pickup.captain = rest.first().copied();
        }
    }
}
impl Entities {
    /// Returns the members of an item chain, its first member included.
    pub(crate) fn chain_of(&self, captain: EntityNum) -> impl Iterator<Item = EntityNum> {
        self.numbers().filter(move |&number| {
            self.pickup(number).is_some_and(|(_, pickup)| pickup.captain == Some(captain))
        })
    }
}

impl Items {
    /// Removes an item that blocks a mover; a flag returns to its base.
    pub(crate) fn crush_item(&mut self, cx: &mut Context<'_>, number: EntityNum) {
        let Some((entity, pickup)) = cx.entities.pickup(number) else { return };
        let at = entity.shared.current_origin;
        if pickup.item.kind == ItemKind::Team {
            self.discard_item(cx, number, flags::ReturnAnnouncement::Sound);
        } else {
            cx.temp_entity(at, Event::ItemPop, |_, _| {});
            remove_item(cx, number);
        }
    }

    /// Discards an item that no player can pick up: removes it, but returns a flag to its base.
    fn discard_item(
        &mut self,
        cx: &mut Context<'_>,
        number: EntityNum,
        words: flags::ReturnAnnouncement,
    ) {
        let Some((_, pickup)) = cx.entities.pickup(number) else { return };
        match color_of_item(pickup.number).filter(|_| cx.clients.game_type.has_flags()) {
            Some(flag) => self.return_flag(cx, flag, words),
            None => remove_item(cx, number),
        }
    }

    /// Notes the rune that a player picked up.
    pub(crate) fn carry_rune(&mut self, client: ClientNum, rune: Option<EntityNum>) {
        self.carried[client.index()] = CarriedItems { rune, since_rounds_ms: [0; 16] };
    }

    /// Clears the carried items of a client that spawns or disconnects.
    pub(crate) fn clear_carried(&mut self, client: ClientNum) {
        self.carried[client.index()] = CarriedItems::default();
    }
}

#[cfg(test)]
mod tests;
