//! Item respawn: hides an item after its pickup and shows it again.
//!
//! Source: the base game's items; OpenArena's rule for a quad damage with factor 1.

use crate::bg::{Event, Powerup, contents, entity_flag, items::ItemKind};
use crate::game::deathmatch::{
    asset_index, context::Context, entity_kinds::ItemThink, items::drop::without, items::schedule,
    items::spawn::respawn_sound,
};
use crate::model::{EntityNum, SvFlags};

/// Retry interval of a quad damage that has no effect, in ms.
const QUAD_RETRY_MS: i32 = 1000;

/// Respawns an item that a target uses.
pub(crate) fn use_item(cx: &mut Context<'_>, number: EntityNum) {
    let settled =
        cx.entities.pickup(number).is_some_and(|(_, pickup)| pickup.step != ItemThink::Settle);
    if settled {
        respawn_item(cx, number);
    }
}

/// Respawns an item, or a random member of its chain.
pub(crate) fn respawn_item(cx: &mut Context<'_>, number: EntityNum) {
    let Some((_, pickup)) = cx.entities.pickup(number) else { return };
    let (item, captain) = (pickup.item, pickup.captain);
    let is_quad = item.kind == ItemKind::Powerup && item.tag == Powerup::Quad;
    if is_quad && cx.clients.ruleset.equipment.has_settings && cx.frame.combat.quad_factor <= 1.0 {
        schedule(cx, number, ItemThink::Respawn, QUAD_RETRY_MS);
        return;
    }
    let chosen = match captain {
        Some(captain) => {
            let count = cx.entities.chain_of(captain).count();
            let nth = cx.rng.pick(count);
            cx.entities.chain_of(captain).nth(nth).unwrap_or(number)
        }
        None => number,
    };
    let now = cx.clients.now;
    let Some(entity) = cx.entities.get_mut(chosen) else { return };
    entity.shared.contents = contents::TRIGGER;
    entity.state.e_flags &= !entity_flag::NODRAW;
    entity.shared.sv_flags = without(entity.shared.sv_flags, SvFlags::NO_CLIENT);
    entity.add_event(Event::ItemRespawn, 0, now);
    let at = entity.state.pos.base;
    cx.entities.link(cx.host, chosen);
    schedule(cx, chosen, ItemThink::Rest, 0);
    let Some((_, pickup)) = cx.entities.pickup(chosen) else { return };
    if let Some(name) = respawn_sound(pickup.item) {
        let heard = if pickup.is_silent { Event::GeneralSound } else { Event::GlobalSound };
        let sound = asset_index::sound_index(cx.host, name);
        cx.temp_entity(at, heard, |state, shared| {
            state.event_parm = sound;
            shared.sv_flags = SvFlags::BROADCAST;
        });
    }
}

/// Hides an item after its pickup. It stays linked to the mover below it.
pub(crate) fn hide_item(cx: &mut Context<'_>, number: EntityNum) {
    let Some(entity) = cx.entities.get_mut(number) else { return };
    entity.shared.sv_flags = entity.shared.sv_flags | SvFlags::NO_CLIENT;
    entity.state.e_flags |= entity_flag::NODRAW;
    entity.shared.contents = 0;
    cx.entities.link(cx.host, number);
    schedule(cx, number, ItemThink::Rest, 0);
}
