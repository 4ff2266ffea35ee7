//! Item pickup: effect, events and respawn time of a touched item.
//!
//! Clients predict every pickup but that of a powerup, unless their userinfo disables prediction. Source:
//! the base game's item touch.

use crate::bg::{Event, Persistent, contents, items::ItemKind, player_event};
use crate::game::deathmatch::{
    asset_index::sound_index, context::Context, entities::send_only_to, entity_kinds::ItemState,
    entity_kinds::ItemThink, flag::Flag, items::flags::touch_team_item, items::grant::ItemGrant,
    items::remove_item, items::respawn::hide_item, items::schedule, items::spawn::floor_below,
    items::spawn::respawn_sound, systems::Systems, targets::fire_targets,
};
use crate::game::movement::{angles, events, pickup as rules, trajectory};
use crate::game::{Host, movement::velocity::direction, settings::key, userinfo::PlayerUserinfo};
use crate::model::{ClientNum, EntityNum, EntityState, SvFlags, Vec3, text::atoi};

/// Range and facing limit within which a player is denied a powerup, in units and as a cosine.
const DENIED_NEAR: f32 = 192.0;
const DENIED_FACING: f32 = 0.4;
/// Maximum respawn time, in seconds.
const MAX_RESPAWN_S: f32 = 172_800.0;

/// Result of a touch.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TouchResult {
    /// The item remains.
    Stays,
    /// Picked up; respawns after these seconds, if ever.
    Taken(Option<f32>),
}

/// Whether a player's position touches an item.
pub(crate) fn stands_on_item(cx: &Context<'_>, client: ClientNum, number: EntityNum) -> bool {
    let (Some(entity), Some(player)) = (cx.entities.get(number), cx.clients.player(client)) else {
        return false;
    };
    let at = trajectory::position(&entity.state.pos, cx.clients.now);
    rules::is_in_reach(at, player.state.origin)
}

/// Handles the touch of an item by a player.
pub(crate) fn touch_item(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    client: ClientNum,
    number: EntityNum,
) {
    let Some((entity, pickup)) = cx.entities.pickup(number) else { return };
    let is_there = entity.shared.contents & contents::TRIGGER != 0;
    if !is_there || !is_of_use(cx, client, &entity.state) {
        return;
    }
    let (state, at, pickup) = (entity.state, entity.state.pos.base, pickup.clone());
    let TouchResult::Taken(respawn_s) = pick_up(cx, sys, client, &pickup, &state, Some(number))
    else {
        return;
    };
    announce(cx, client, &pickup, at);
    fire_targets(cx, sys, number, Some(client));
    if pickup.is_dropped {
        remove_item(cx, number);
        return;
    }
    hide_item(cx, number);
    if pickup.wait < 0.0 {
        cx.entities.unlink(cx.host, number);
        return;
    }
    let respawn_s = if pickup.wait > 0.0 { Some(pickup.wait) } else { respawn_s };
    if let Some(seconds) = respawn_s {
        // Whole seconds, cut before and after the random part.
        let varied = seconds.trunc() + cx.rng.crandom() * pickup.random;
        let seconds = if pickup.random > 0.0 { varied.max(1.0) } else { seconds };
        let ms = seconds.clamp(0.0, MAX_RESPAWN_S) as i32 * 1000;
        schedule(cx, number, ItemThink::Respawn, ms);
    }
}

/// Grants a map item to a player, even if it is hidden or out of reach. It does not respawn.
pub(crate) fn give_item(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    client: ClientNum,
    number: EntityNum,
) {
    let Some((entity, pickup)) = cx.entities.pickup(number) else { return };
    let pickup = pickup.clone();
    let state = EntityState { modelindex: pickup.number, ..entity.state };
    if pickup.item.kind == ItemKind::Team || !is_of_use(cx, client, &state) {
        return;
    }
    if let TouchResult::Taken(_) = pick_up(cx, sys, client, &pickup, &state, Some(number)) {
        announce(cx, client, &pickup, state.pos.base);
        hide_item(cx, number);
        cx.entities.unlink(cx.host, number);
    }
}

/// Grants a player an item that has no entity. Flags are excluded: each exists once.
pub(crate) fn give_new_item(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    client: ClientNum,
    number: i32,
) {
    let Some(item) = cx.clients.ruleset.items.get(number) else { return };
    let Some(at) = cx.clients.player(client).map(|player| player.shared.current_origin) else {
        return;
    };
    // It appears as one of the map: with its respawn sound, on the floor.
    if let Some(name) = respawn_sound(item) {
        sound_index(cx.host, name);
    }
    let at = floor_below(cx, EntityNum::NONE, at).map_or(at, |trace| trace.endpos);
    let mut state = EntityState { modelindex: number, ..EntityState::default() };
    state.pos.base = at;
    if item.kind == ItemKind::Team || !is_of_use(cx, client, &state) {
        return;
    }
    let pickup = ItemState::new(number, item);
    if let TouchResult::Taken(_) = pick_up(cx, sys, client, &pickup, &state, None) {
        announce(cx, client, &pickup, at);
    }
}

/// Whether a living player may pick up an item.
fn is_of_use(cx: &Context<'_>, client: ClientNum, item: &EntityState) -> bool {
    let clients = &cx.clients;
    !cx.is_dead(client)
        && clients.plays(client)
        && clients.player(client).is_some_and(|player| {
            rules::may_take(clients.ruleset, clients.game_type, item, &player.state)
        })
}

/// Applies an item to a player who may pick it up.
fn pick_up(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    client: ClientNum,
    pickup: &ItemState,
    state: &EntityState,
    number: Option<EntityNum>,
) -> TouchResult {
    let (ruleset, now) = (cx.clients.ruleset, cx.clients.now);
    let in_teams = cx.mode().team_weapons;
    let Some(player) = cx.clients.players[client.index()].as_mut() else {
        return TouchResult::Stays;
    };
    let gift = ItemGrant {
        ruleset,
        number: pickup.number,
        item: pickup.item,
        count: pickup.count,
        is_full: pickup.is_dropped || in_teams,
        now,
        max_health: player.max_health,
    };
    gift.give(&mut player.state);
    cx.clients.log(cx.host, &format!("Item: {client} {}", pickup.item.class));
    let carried = &mut sys.items.carried[client.index()];
    match pickup.item.kind {
        ItemKind::Rune => {
            carried.rune = number;
            carried.since_rounds_ms = [0; 16];
        }
        ItemKind::Powerup => deny_others(cx, client, state.pos.base),
        ItemKind::Team => {
            let flag = Flag::of_item(pickup.number);
            sys.combat.players[client.index()].protected_until = None;
            let at = number.and_then(|number| cx.origin_of(number)).unwrap_or(state.pos.base);
            let taken = flag
                .is_some_and(|flag| touch_team_item(cx, sys, client, flag, pickup.is_dropped, at));
            if !taken {
                return TouchResult::Stays;
            }
        }
        _ => {}
    }
    let weapon_s = if in_teams {
        cx.host.settings().int(key::G_WEAPON_TEAM_RESPAWN)
    } else {
        cx.host.settings().int(key::G_WEAPONRESPAWN)
    };
    let respawn_s = gift.respawn_s(weapon_s as f32);
    // A weapon with a respawn time of 0 stays and plays no sound.
    if respawn_s == Some(0.0) { TouchResult::Stays } else { TouchResult::Taken(respawn_s) }
}

/// Adds the pickup event to the player. A powerup or flag plays its sound for all clients.
fn announce(cx: &mut Context<'_>, client: ClientNum, pickup: &ItemState, at: Vec3) {
    let predicts = pickup.item.kind != ItemKind::Powerup && predicts_items(cx.host, client);
    if !predicts {
        cx.add_player_event(client, Event::ItemPickup, pickup.number);
    } else if let Some(player) = cx.clients.players[client.index()].as_mut() {
        events::queue(&mut player.state, Event::ItemPickup, pickup.number);
    }
    if matches!(pickup.item.kind, ItemKind::Powerup | ItemKind::Team) {
        let (parm, is_silent) = (pickup.number, pickup.is_silent);
        cx.temp_entity(at, Event::GlobalItemPickup, |state, shared| {
            state.event_parm = parm;
            if is_silent {
                send_only_to(shared, client.index());
            } else {
                shared.sv_flags = SvFlags::BROADCAST;
            }
        });
    }
}

/// Sends the denied event to enemies who were about to reach the powerup.
fn deny_others(cx: &mut Context<'_>, taker: ClientNum, at: Vec3) {
    for other in ClientNum::all() {
        if other == taker || !cx.clients.plays(other) || cx.clients.are_mates(taker, other) {
            continue;
        }
        let Some(player) = cx.clients.player(other).filter(|_| !cx.is_dead(other)) else {
            continue;
        };
        let origin = player.state.origin;
        let way = at - origin;
        let facing = angles::axes(player.state.viewangles).forward.dot(direction(way));
        let is_hidden = || {
            cx.host.world().is_some_and(|world| {
                let scene = world.scene(&*cx, EntityNum::NONE);
                let sight = scene.trace(origin, Vec3::ZERO, Vec3::ZERO, at, contents::SOLID);
                sight.fraction < 1.0
            })
        };
        if way.length() > DENIED_NEAR || facing < DENIED_FACING || is_hidden() {
            continue;
        }
        if let Some(player) = cx.clients.players[other.index()].as_mut() {
            player.state.persistant[Persistent::PlayerEvents] ^= player_event::DENIED;
        }
    }
}

/// Whether a client predicts pickups and their sounds.
fn predicts_items(host: &dyn Host, client: ClientNum) -> bool {
    PlayerUserinfo::parse(host.userinfo(client))
        .is_some_and(|info| atoi(info.value("cg_predictItems")) != 0)
}
