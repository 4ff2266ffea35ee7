//! Items: spawn, pickup, effects, respawn and drops.
//!
//! An item of the map is put to the floor once the movers are there (`place`), given to who walks over
//! it (`take`, `effects`), hidden, and shown again (`come_back`). What the dead drop flies and lies
//! until somebody takes it (`toss`). What was taken works on: for a while (`powers`), when it is used
//! (`hold`), or until it is brought home (`flags`).
//!
//! Invariants: an item that can't be taken has no contents; one chain of items never shows two at once
//! by itself; what was dropped is gone after 30 seconds. Source: the base game's items; OpenArena's.

pub(super) mod drop;
pub(super) mod flag_stands;
pub(super) mod flags;
pub(super) mod grant;
pub(super) mod holdables;
pub(super) mod powerups;
pub(super) mod respawn;
pub(super) mod spawn;
pub(super) mod touch;

pub(super) use self::{
    flag_stands::{blue as blue_stand, red as red_stand},
    flags::Flag,
    powerups::speed_of,
};
use super::entities::{Entity, EntityKind};
use crate::game::deathmatch::{
    context::Context, entities::Entities, items::respawn::respawn_item, items::spawn::drop_to_floor,
};
use crate::model::{ClientNum, EntityNum, Vec3, limits::MAX_CLIENTS};
use crate::{
    bg::{
        Event, configstring,
        items::{ITEMS, Item, ItemKind},
    },
    game::Ruleset,
};

/// Half the width of an item.
const RADIUS: f32 = 15.0;
/// Box of an item, relative to its origin.
const MINS: Vec3 = Vec3::new(-RADIUS, -RADIUS, -RADIUS);
const MAXS: Vec3 = Vec3::new(RADIUS, RADIUS, RADIUS);

/// What an item does next by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemThink {
    /// Nothing.
    Rest,
    /// Falls to the floor and is there.
    Settle,
    /// Is there again.
    Respawn,
    /// Is gone for good; a flag goes home.
    Vanish,
}

/// Something to take.
#[derive(Clone, Debug)]
pub(super) struct ItemState {
    /// Its number and row.
    number: i32,
    item: &'static Item,
    /// Replaces the quantity unless 0; below 0 a weapon brings no rounds.
    count: i32,
    /// Replaces the seconds until it is back unless 0; below 0 it never is. And by how much they vary.
    wait: f32,
    random: f32,
    /// Heard only by who takes it.
    is_silent: bool,
    /// The map's name for its chain, and the first of that chain.
    chain: Box<str>,
    captain: Option<EntityNum>,
    step: ItemThink,
    /// How much of its speed is left when it hits something.
    bounce: f32,
    is_dropped: bool,
}

impl ItemState {
    fn new(number: i32, item: &'static Item) -> Self {
        Self {
            number,
            item,
            count: 0,
            wait: 0.0,
            random: 0.0,
            is_silent: false,
            chain: "".into(),
            captain: None,
            step: ItemThink::Rest,
            bounce: 0.0,
            is_dropped: false,
        }
    }
}

/// What a player carries that its state does not tell.
#[derive(Clone, Copy, Debug, Default)]
struct CarriedItems {
    /// The rune that is hidden while its holder lives.
    rune: Option<EntityNum>,
    /// Milliseconds since each weapon last got rounds back.
    since_rounds_ms: [i32; 16],
}

/// What the level knows of items besides the entities themselves.
#[derive(Clone, Debug)]
pub(super) struct Items {
    /// By item number: whether clients load it at the start.
    registered: [bool; ITEMS.len()],
    /// By client number.
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
    /// A level begins: nothing lies on it but what everybody begins with.
    pub(super) fn clear(&mut self, ruleset: &Ruleset) {
        *self = Self::default();
        for &number in ruleset.starting_items {
            self.registered[number] = true;
        }
    }

    /// One digit for each item that the game knows.
    fn bits(&self, ruleset: &Ruleset) -> String {
        self.registered[..ruleset.items.len()]
            .iter()
            .map(|&on| if on { '1' } else { '0' })
            .collect()
    }
}

impl Items {
    /// Has clients load an item at the start. To be called while a level begins.
    pub(in crate::game::deathmatch) fn register_item(&mut self, number: i32) {
        let place = usize::try_from(number).ok();
        if let Some(registered) = place.and_then(|place| self.registered.get_mut(place)) {
            *registered = true;
        }
    }

    /// Tells clients which items to load.
    pub(in crate::game::deathmatch) fn publish_items(&self, cx: &mut Context<'_>) {
        cx.host.set_configstring(configstring::ITEMS, &self.bits(cx.clients.ruleset));
    }
}

impl Entities {
    fn pickup(&self, number: EntityNum) -> Option<(&Entity, &ItemState)> {
        let entity = self.get(number)?;
        match &entity.kind {
            EntityKind::Item(pickup) => Some((entity, pickup)),
            _ => None,
        }
    }

    fn pickup_mut(&mut self, number: EntityNum) -> Option<&mut ItemState> {
        match &mut self.get_mut(number)?.kind {
            EntityKind::Item(pickup) => Some(pickup),
            _ => None,
        }
    }
}

/// Says what an item does next, and in how many milliseconds.
fn plan(cx: &mut Context<'_>, number: EntityNum, step: ItemThink, in_ms: i32) {
    let now = cx.clients.now;
    if let Some(entity) = cx.entities.get_mut(number)
        && let EntityKind::Item(pickup) = &mut entity.kind
    {
        pickup.step = step;
        entity.think_at = (step != ItemThink::Rest).then(|| now + in_ms);
    }
}
impl Items {
    /// An item's frame.
    pub(in crate::game::deathmatch) fn run_item(
        &mut self,
        cx: &mut Context<'_>,
        number: EntityNum,
    ) {
        let hit = self.fly(cx, number);
        let now = cx.clients.now;
        let Some((entity, pickup)) = cx.entities.pickup(number) else { return };
        let step = pickup.step;
        if entity.think_at.is_some_and(|at| at.distance(now) <= 0) {
            plan(cx, number, ItemThink::Rest, 0);
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

/// Takes an item out of the level for good. One that is last of nothing leaves its chain to the rest.
fn remove_item(cx: &mut Context<'_>, number: EntityNum) {
    cx.entities.remove(cx.host, number, cx.clients.now);
    let rest: Vec<EntityNum> = cx.entities.chain_of(number).collect();
    for &member in &rest {
        if let Some(pickup) = cx.entities.pickup_mut(member) {
            pickup.captain = rest.first().copied();
        }
    }
}
impl Entities {
    /// Everything that a chain's first item leads, itself included.
    fn chain_of(&self, captain: EntityNum) -> impl Iterator<Item = EntityNum> {
        self.numbers().filter(move |&number| {
            self.pickup(number).is_some_and(|(_, pickup)| pickup.captain == Some(captain))
        })
    }
}

impl Items {
    /// What lies in the way of a door is gone; a flag goes home.
    pub(in crate::game::deathmatch) fn crush_item(
        &mut self,
        cx: &mut Context<'_>,
        number: EntityNum,
    ) {
        let Some((entity, pickup)) = cx.entities.pickup(number) else { return };
        let at = entity.shared.current_origin;
        if pickup.item.kind == ItemKind::Team {
            self.discard_item(cx, number, flags::ReturnAnnouncement::Sound);
        } else {
            cx.temp_entity(at, Event::ItemPop, |_, _| {});
            remove_item(cx, number);
        }
    }

    /// An item that nobody will take any more: gone, but for flags, which go home.
    fn discard_item(
        &mut self,
        cx: &mut Context<'_>,
        number: EntityNum,
        words: flags::ReturnAnnouncement,
    ) {
        let Some((_, pickup)) = cx.entities.pickup(number) else { return };
        match Flag::of_item(pickup.number).filter(|_| cx.clients.game_type.has_flags()) {
            Some(flag) => self.send_flag_home(cx, flag, words),
            None => remove_item(cx, number),
        }
    }

    /// What a client carries is forgotten: it begins to live, or is gone.
    pub(in crate::game::deathmatch) fn clear_carried(&mut self, client: ClientNum) {
        self.carried[client.index()] = CarriedItems::default();
    }
}

#[cfg(test)]
mod tests;
