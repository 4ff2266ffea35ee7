//! One server frame: entities, client commands, the end of the frame.
//!
//! Invariants: entities run in the order of their numbers, then clients in the order of theirs.

use super::{
    context::Context,
    corpses::run_corpse,
    matches::run_match,
    movers::run_mover_team,
    rules::client_context,
    systems::Systems,
    targets::{locations::run_location, run_trigger},
    things::What,
    think::{end_frame, think},
    triggers::aim_pad,
    weapons::{
        kamikaze::run_kamikaze,
        missiles::{run_missile, run_missiles},
    },
};
use crate::model::{ClientNum, LevelTime};

/// Runs one frame.
pub(super) fn run_frame(cx: &mut Context<'_>, sys: &mut Systems, time: LevelTime) {
    cx.frame.ms = time.distance(cx.clients.now).clamp(0, 1000);
    cx.clients.now = time;
    if sys.course.is_leaving(cx) {
        return;
    }
    sys.targets.begin_frame();
    cx.refresh_settings();
    cx.fade_events();
    run_entities(cx, sys);
    for client in ClientNum::all() {
        let Some(player) = cx.clients.active(client) else { continue };
        if cx.clients.settings.synchronous || player.is_bot {
            think(cx, sys, client);
        }
    }
    if cx.clients.ruleset.combat.missiles_last {
        run_missiles(cx, sys);
    }
    for client in ClientNum::all() {
        if cx.clients.active(client).is_some() {
            end_frame(cx, sys, client);
        }
    }
    client_context(cx, sys, |clients| clients.run_client_frame());
    run_match(cx, sys);
}

/// Runs every entity, in order of their numbers.
fn run_entities(cx: &mut Context<'_>, sys: &mut Systems) {
    for number in cx.entities.numbers() {
        let Some(thing) = cx.entities.get(number) else { continue };
        match thing.what {
            What::Mover(_) => run_mover_team(cx, sys, number),
            What::Corpse(_) => run_corpse(cx, number),
            What::Trigger(_) => run_trigger(cx, sys, number),
            What::Pad => aim_pad(cx, number),
            What::Location(_) => run_location(cx, number),
            What::Missile(_) if !cx.clients.ruleset.combat.missiles_last => {
                run_missile(cx, sys, number);
            }
            What::Kamikaze(_) => run_kamikaze(cx, sys, number),
            What::Item(_) => sys.items.run_item(cx, number),
            What::Event
            | What::Place
            | What::Teleporter { .. }
            | What::Hurt(_)
            | What::Corner(_)
            | What::DoorHelper { .. }
            | What::PlatHelper(_)
            | What::Missile(_)
            | What::Scenery => {}
        }
    }
}
