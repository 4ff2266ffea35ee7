//! Use of targets that act on their activator: teleport, kill, push, give, strip, score.
//!
//! Source: the base game's targets. Engine names: `Use_Target_Give`, `target_push_use`.

use crate::bg::MeansOfDeath;
use crate::game::deathmatch::{
    context::Context, damage::damage_player, entity_kinds::TargetKind, hit::Hit, hit::LETHAL,
    pickups::give_item, systems::Fight, targets::pick_target, teleport::teleport,
};
use crate::model::{ClientNum, EntityNum};

/// Applies a target to its activator.
pub(super) fn apply_to_activator(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    number: EntityNum,
    kind: &TargetKind,
    client: ClientNum,
) {
    match kind {
        TargetKind::Teleport => teleport_to_target(cx, fight, client, number),
        TargetKind::Kill => {
            let hit = Hit::by_world(LETHAL, MeansOfDeath::Telefrag);
            damage_player(cx, fight, client, &Hit { no_protection: true, ..hit });
        }
        TargetKind::Push(sound) => fight.combat.throw(cx, number, *sound, client),
        TargetKind::Give => give_targets(cx, fight, number, client),
        TargetKind::Strip => {
            fight.items.return_carried_flags(cx, client);
            if let Some(player) = cx.clients.players[client.index()].as_mut() {
                player.state.powerups = [0; 16];
            }
        }
        TargetKind::Score(points) => {
            let at = cx.entities.get(number).map(|entity| entity.shared.current_origin);
            if let Some(at) = at {
                fight.match_state.add_score(cx, client, *points, at);
            }
        }
        _ => {}
    }
}

/// Teleports a client to a random target of an entity.
pub(crate) fn teleport_to_target(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    client: ClientNum,
    from: EntityNum,
) {
    let Some(destination) = pick_target(cx, from) else { return };
    let Some(destination) = cx.entities.get(destination) else { return };
    let (origin, angles) = (destination.state.origin, destination.state.angles);
    teleport(cx, fight, client, origin, angles);
}

fn give_targets(cx: &mut Context<'_>, fight: &mut Fight, number: EntityNum, client: ClientNum) {
    let Some(name) = cx.entities.get(number).map(|entity| entity.target.clone()) else { return };
    for target in cx.entities.numbers() {
        let aimed_at = cx.entities.get(target).is_some_and(|entity| {
            !name.is_empty() && entity.targetname.eq_ignore_ascii_case(&name)
        });
        if aimed_at {
            give_item(cx, fight, client, target);
        }
    }
}
