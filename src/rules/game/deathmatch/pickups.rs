//! Item pickup: effect, events and respawn time of an item that a player gets.
//!
//! Clients predict every pickup but that of a powerup, unless their userinfo disables prediction. Source:
//! the base game's item touch.

use super::{
    asset_index::sound_index, context::Context, entities::send_only_to, entity_kinds::ItemState,
    flag::color_of_item, flag::flag_of, items::flags::FlagStatus, items::flags::ReturnAnnouncement,
    items::grant::ItemGrant, items::respawn::hide_item, items::spawn::POWERUP_SOUND,
    items::spawn::floor_below, systems::Fight,
};
use crate::bg::{
    Event, Persistent, TeamColor, UNTIL_LOST, contents, items::ItemKind, player_event,
};
use crate::game::movement::{angles, events, pickup as rules};
use crate::game::{
    GameEvent, Host, movement::velocity::direction, settings::key, userinfo::PlayerUserinfo,
};
use crate::model::{ClientNum, EntityNum, EntityState, SvFlags, Vec3, text::atoi};
use crate::world::TraceQuery;

/// Range and facing limit within which a player is denied a powerup, in units and as a cosine.
const DENIED_NEAR: f32 = 192.0;
const DENIED_FACING: f32 = 0.4;

/// Result of a touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TouchResult {
    /// The item remains.
    Stays,
    /// Picked up; respawns after these seconds, if ever.
    Taken(Option<f32>),
}

/// Grants a map item to a player, even if it is hidden or out of reach. It does not respawn.
pub(super) fn give_item(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    client: ClientNum,
    number: EntityNum,
) {
    let Some((entity, pickup)) = cx.entities.pickup(number) else { return };
    let pickup = pickup.clone();
    let state = EntityState { modelindex: pickup.number, ..entity.state };
    if pickup.item.kind == ItemKind::Team || !is_of_use(cx, client, &state) {
        return;
    }
    if let TouchResult::Taken(_) = pick_up(cx, fight, client, &pickup, &state, Some(number)) {
        announce(cx, client, &pickup, state.pos.base);
        hide_item(cx, number);
        cx.entities.unlink(cx.host, number);
    }
}

/// Grants a player an item that has no entity. Flags are excluded: each exists once.
pub(super) fn give_new_item(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    client: ClientNum,
    number: i32,
) {
    let Some(item) = cx.clients.ruleset.items.get(number) else { return };
    let Some(at) = cx.clients.player(client).map(|player| player.shared.current_origin) else {
        return;
    };
    // It appears as one of the map: with its respawn sound, on the floor.
    if item.kind == ItemKind::Powerup {
        sound_index(cx.host, POWERUP_SOUND);
    }
    let at = floor_below(cx, EntityNum::NONE, at).map_or(at, |trace| trace.endpos);
    let mut state = EntityState { modelindex: number, ..EntityState::default() };
    state.pos.base = at;
    if item.kind == ItemKind::Team || !is_of_use(cx, client, &state) {
        return;
    }
    let pickup = ItemState::new(number, item);
    if let TouchResult::Taken(_) = pick_up(cx, fight, client, &pickup, &state, None) {
        announce(cx, client, &pickup, at);
    }
}

/// Whether a living player may pick up an item.
pub(super) fn is_of_use(cx: &Context<'_>, client: ClientNum, item: &EntityState) -> bool {
    let clients = &cx.clients;
    !cx.is_dead(client)
        && clients.plays(client)
        && clients.player(client).is_some_and(|player| {
            rules::may_take(clients.ruleset, clients.game_type, item, &player.state)
        })
}

/// Applies an item to a player who may pick it up.
pub(super) fn pick_up(
    cx: &mut Context<'_>,
    fight: &mut Fight,
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
    cx.emit(GameEvent::Pickup { client, item: pickup.number, class: pickup.item.class });
    match pickup.item.kind {
        ItemKind::Rune => fight.items.carry_rune(client, number),
        ItemKind::Powerup => deny_others(cx, client, state.pos.base),
        ItemKind::Team => {
            let flag = color_of_item(pickup.number);
            fight.combat.players[client.index()].protected_until = None;
            let at = number.and_then(|number| cx.origin_of(number)).unwrap_or(state.pos.base);
            let taken = flag.is_some_and(|flag| {
                touch_team_item(cx, fight, client, flag, pickup.is_dropped, at)
            });
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
pub(super) fn announce(cx: &mut Context<'_>, client: ClientNum, pickup: &ItemState, at: Vec3) {
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
                let sight = scene.trace(&TraceQuery::line(origin, at, contents::SOLID));
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

/// Handles the touch of a flag by a player who may pick it up. Returns whether the player carries it away
/// now. Otherwise a dropped flag returned to its base, or the player captured with the enemy flag.
pub(super) fn touch_team_item(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    client: ClientNum,
    flag: TeamColor,
    is_dropped: bool,
    at: Vec3,
) -> bool {
    let team = cx.clients.team(client);
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return false };
    if flag.team() != team {
        player.state.powerups[flag_of(flag).powerup] = UNTIL_LOST;
        fight.items.move_flag(cx, flag, FlagStatus::Carried);
        let other_away = fight.items.is_flag_away(flag.other());
        fight.team_state.announce_flag_taken(
            cx,
            &mut fight.match_state,
            client,
            flag,
            other_away,
            at,
        );
        return true;
    }
    if is_dropped {
        fight.team_state.reward_return(cx, &mut fight.match_state, client, flag, at);
        fight.items.return_flag(cx, flag, ReturnAnnouncement::Sound);
    } else {
        player.state.powerups[flag_of(flag.other()).powerup] = 0;
        for each in [flag, flag.other()] {
            fight.items.return_flag(cx, each, ReturnAnnouncement::None);
        }
        let Fight { team_state, match_state, combat, .. } = fight;
        team_state.reward_capture(cx, match_state, combat, client, flag, at);
    }
    false
}
