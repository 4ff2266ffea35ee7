//! Portals that players place: exit, entrance, lifetime and damage.
//!
//! The first use of the item places the exit, the second one the entrance.
//!
//! Invariants: an entrance leads to the exit that its player placed before it; without that exit it kills, at the place
//! of the exit. Portals vanish after two minutes, or when they are shot.
//!
//! Source: OpenArena's portals. Engine names: `DropPortalDestination`, `DropPortalSource`, `PortalTouch`.

use crate::bg::{Holdable, contents, items::ItemKind};
use crate::game::deathmatch::entity_kinds::{EntityKind, Portal};
use crate::game::deathmatch::{
    asset_index::model_index, context::Context, entities::Entity, hit::Hit,
    projectiles::Projectiles,
};
use crate::model::{ClientNum, EntityNum, Vec3};

/// Models of the exit and of the entrance.
const EXIT_MODEL: &str = "models/powerups/teleporter/tele_exit.md3";
const ENTRANCE_MODEL: &str = "models/powerups/teleporter/tele_enter.md3";
/// Damage that destroys a portal.
const HEALTH: i32 = 200;
/// Time until an entrance opens, and until a portal vanishes, in ms.
const OPENING_MS: i32 = 1000;
const LIFE_MS: i32 = 120_000;

/// End of the way through an entrance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortalExit {
    /// Place and view direction; `None` if the player dies where it is.
    pub(crate) place: Option<(Vec3, Vec3)>,
    /// Whether the exit is gone, which kills the player.
    pub(crate) is_lethal: bool,
}

impl Projectiles {
    /// Places the exit of a player who has none without an entrance, and else the entrance.
    pub(crate) fn place_portal(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        match std::mem::take(&mut self.players[client.index()].portal) {
            Some(id) => {
                let exit = exit_of(cx, id).map(|(origin, _)| origin);
                let portal = Portal { id, health: HEALTH, exit, is_entrance: true, is_open: false };
                add_portal(cx, client, portal);
            }
            None => {
                self.portals += 1;
                let id = self.portals;
                self.players[client.index()].portal = Some(id);
                let portal =
                    Portal { id, health: HEALTH, exit: None, is_entrance: false, is_open: false };
                add_portal(cx, client, portal);
                give_portal(cx, client);
            }
        }
    }
}

/// Gives the item back, for the entrance.
fn give_portal(cx: &mut Context<'_>, client: ClientNum) {
    let ruleset = cx.clients.ruleset;
    let item = ruleset.items.by_tag(ItemKind::Holdable, Holdable::Portal as i32);
    if let (Some((number, _)), Some(player)) = (item, cx.clients.players[client.index()].as_mut()) {
        player.state.stats[ruleset.stats.holdable] = number;
    }
}

fn add_portal(cx: &mut Context<'_>, client: ClientNum, portal: Portal) {
    let (now, started) = cx.clock();
    let (model, contents, ms) = match portal.is_entrance {
        true => (ENTRANCE_MODEL, contents::CORPSE | contents::TRIGGER, OPENING_MS),
        false => (EXIT_MODEL, contents::CORPSE, LIFE_MS),
    };
    let model = model_index(cx.host, model);
    let Some(player) = cx.clients.player(client) else { return };
    let mut entity = Entity::new(EntityKind::Portal(portal), player.entity.pos.base.truncated());
    if !portal.is_entrance {
        entity.state.angles = player.entity.apos.base;
    }
    entity.state.modelindex = model;
    (entity.shared.mins, entity.shared.maxs) = (player.shared.mins, player.shared.maxs);
    entity.shared.contents = contents;
    entity.think_at = Some(now + ms);
    if let Some(number) = cx.entities.add(entity, now, started) {
        cx.entities.link(cx.host, number);
    }
}

/// Opens an entrance, or removes a portal whose time is over.
pub(crate) fn run_portal(cx: &mut Context<'_>, number: EntityNum) {
    let now = cx.clients.now;
    let Some(entity) = cx.entities.get_mut(number) else { return };
    let EntityKind::Portal(portal) = &mut entity.kind else { return };
    if entity.think_at.is_none_or(|at| at.distance(now) > 0) {
        return;
    }
    if portal.is_entrance && !portal.is_open {
        portal.is_open = true;
        entity.think_at = Some(now + LIFE_MS);
        return;
    }
    cx.entities.remove(cx.host, number, now);
}

/// Damages a portal.
pub(crate) fn shoot_portal(cx: &mut Context<'_>, number: EntityNum, hit: &Hit) {
    let attacker = hit.attacker.and_then(|attacker| cx.clients.player(attacker));
    let percent = attacker.map_or(100, |attacker| attacker.max_health);
    let damage = (i64::from(hit.damage) * i64::from(percent) / 100).clamp(1, 1_000_000) as i32;
    let now = cx.clients.now;
    let Some(entity) = cx.entities.get_mut(number) else { return };
    let EntityKind::Portal(portal) = &mut entity.kind else { return };
    portal.health -= damage;
    if portal.health <= 0 {
        cx.entities.remove(cx.host, number, now);
    }
}

/// Returns place and direction of an exit.
fn exit_of(cx: &Context<'_>, id: u32) -> Option<(Vec3, Vec3)> {
    cx.entities.numbers().find_map(|number| {
        let entity = cx.entities.get(number)?;
        match entity.kind {
            EntityKind::Portal(portal) if portal.id == id && !portal.is_entrance => {
                Some((entity.state.pos.base, entity.state.angles))
            }
            _ => None,
        }
    })
}

/// Returns the end of the way through an entrance, if it is open.
pub(crate) fn way_through(cx: &Context<'_>, number: EntityNum) -> Option<PortalExit> {
    let entity = cx.entities.get(number)?;
    let EntityKind::Portal(portal) = entity.kind else { return None };
    if !portal.is_open {
        return None;
    }
    if let Some(exit) = exit_of(cx, portal.id) {
        return Some(PortalExit { place: Some(exit), is_lethal: false });
    }
    let place = portal.exit.map(|origin| (origin, entity.state.angles));
    Some(PortalExit { place, is_lethal: true })
}
