//! Item respawn: hiding a taken item and showing it again.
//!
//! Source: the base game's items; OpenArena's rule for a quad that is worth nothing.

use super::{ItemThink, drop::without, spawn::return_sound};
use crate::game::deathmatch::{context::Context, items::plan};
use crate::model::{EntityNum, SvFlags};
use crate::{
    bg::{Event, Powerup, contents, entity_flag, items::ItemKind},
    game::deathmatch::names,
};

/// How often a quad that is worth nothing asks whether it is by now, in milliseconds.
const WORTHLESS_MS: i32 = 1000;

/// An item is used by something that aims at it: it is there.
pub(in crate::game::deathmatch) fn use_item(cx: &mut Context<'_>, number: EntityNum) {
    let settled =
        cx.entities.pickup(number).is_some_and(|(_, pickup)| pickup.step != ItemThink::Settle);
    if settled {
        respawn_item(cx, number);
    }
}

/// Shows an item again, or one of its chain by chance.
pub(super) fn respawn_item(cx: &mut Context<'_>, number: EntityNum) {
    let Some((_, pickup)) = cx.entities.pickup(number) else { return };
    let (item, captain) = (pickup.item, pickup.captain);
    let is_quad = item.kind == ItemKind::Powerup && item.tag == Powerup::Quad;
    if is_quad && cx.clients.ruleset.item_settings && cx.frame.combat.quad_factor <= 1.0 {
        plan(cx, number, ItemThink::Respawn, WORTHLESS_MS);
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
    plan(cx, chosen, ItemThink::Rest, 0);
    let Some((_, pickup)) = cx.entities.pickup(chosen) else { return };
    if let Some(name) = return_sound(pickup.item) {
        let heard = if pickup.is_silent { Event::GeneralSound } else { Event::GlobalSound };
        let sound = names::sound(cx.host, name);
        cx.temp_entity(at, heard, |state, shared| {
            state.event_parm = sound;
            shared.sv_flags = SvFlags::BROADCAST;
        });
    }
}

/// Hides an item that was taken. It stays where it is, and rides on.
pub(super) fn hide_item(cx: &mut Context<'_>, number: EntityNum) {
    let Some(entity) = cx.entities.get_mut(number) else { return };
    entity.shared.sv_flags = entity.shared.sv_flags | SvFlags::NO_CLIENT;
    entity.state.e_flags |= entity_flag::NODRAW;
    entity.shared.contents = 0;
    cx.entities.link(cx.host, number);
    plan(cx, number, ItemThink::Rest, 0);
}
