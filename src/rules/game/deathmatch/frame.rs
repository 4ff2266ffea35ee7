//! Server frame of the game: entities, bot usercmds, end of frame.
//!
//! Invariants: clients run first and entities after them, each in the order of their numbers. Engine
//! names: `G_RunFrame`.

use super::weapons::missile_flight::{run_missile, run_missiles, think_missile};
use super::{
    activation::run_target, body_queue::run_corpse, context::Context, entity_kinds::EntityKind,
    items::drop::is_at_rest, match_frame::run_match, mover_frames::run_mover_team,
    projectiles::kamikaze::run_kamikaze_timer, projectiles::portals::run_portal,
    rules::client_context, systems::Systems, targets::locations::run_location, think::end_frame,
    think::think, triggers::aim_push_trigger, weapons::kamikaze_blast::run_kamikaze,
};
use crate::model::{ClientNum, LevelTime, limits::MAX_CLIENTS};

/// Runs one frame.
pub(super) fn run_frame(cx: &mut Context<'_>, sys: &mut Systems, time: LevelTime) {
    cx.frame.ms = time.distance(cx.clients.now).clamp(0, 1000);
    cx.clients.begin_frame(time);
    if sys.fight.match_state.is_leaving(cx) {
        return;
    }
    sys.targets.begin_frame();
    sys.fight.lag.begin_frame(cx);
    cx.refresh_settings();
    cx.clear_expired_events();
    run_clients(cx, sys);
    run_entities(cx, sys);
    if cx.clients.ruleset.combat.missiles_last {
        run_missiles(cx, &mut sys.fight);
    }
    for client in ClientNum::all() {
        if cx.clients.active(client).is_some() {
            end_frame(cx, &mut sys.fight, &mut sys.moves, client);
        }
    }
    client_context(cx, sys, |clients| clients.run_client_frame());
    run_match(cx, sys);
}

/// Runs the usercmds that wait for the frame: of bots, and of all clients with `g_synchronousClients`.
fn run_clients(cx: &mut Context<'_>, sys: &mut Systems) {
    for client in ClientNum::all() {
        let Some(player) = cx.clients.active(client) else { continue };
        if cx.clients.settings.synchronous || player.is_bot {
            think(cx, sys, client);
        }
    }
}

/// Runs all entities in the order of their numbers. An entity that is added behind the current one runs too.
fn run_entities(cx: &mut Context<'_>, sys: &mut Systems) {
    let mut next = MAX_CLIENTS;
    while let Some(number) = cx.entities.next_awake(next) {
        next = number.index() + 1;
        let Some(entity) = cx.entities.get(number) else { continue };
        match entity.kind {
            EntityKind::Mover(_) => run_mover_team(cx, sys, number),
            EntityKind::Corpse(_) => run_corpse(cx, number),
            EntityKind::Target(_) => run_target(cx, sys, number),
            EntityKind::PushTrigger => aim_push_trigger(cx, number),
            EntityKind::Location(_) => run_location(cx, number),
            EntityKind::Missile(_) if cx.clients.ruleset.combat.missiles_last => {
                think_missile(cx, &mut sys.fight, number);
            }
            EntityKind::Missile(_) => run_missile(cx, &mut sys.fight, number),
            EntityKind::Kamikaze(_) => run_kamikaze(cx, &mut sys.fight, number),
            EntityKind::Portal(_) => run_portal(cx, number),
            EntityKind::KamikazeTimer(timer) => run_kamikaze_timer(cx, number, timer),
            EntityKind::Item(_) => {
                sys.fight.items.run_item(cx, number);
                if cx.entities.get(number).is_some_and(is_at_rest) {
                    cx.entities.sleep(number);
                }
            }
            EntityKind::TempEntity
            | EntityKind::TargetPosition
            | EntityKind::Teleporter { .. }
            | EntityKind::Hurt(_)
            | EntityKind::PathCorner(_)
            | EntityKind::DoorTrigger { .. }
            | EntityKind::PlatTrigger(_)
            | EntityKind::Static => cx.entities.sleep(number),
        }
    }
}
