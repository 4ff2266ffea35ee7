//! How items hide and how they come back.
//!
//! Source: the base game's items; OpenArena's rule for a quad that is worth nothing.

use super::{Step, place::return_sound, toss::without};
use crate::model::{EntityNum, SvFlags};
use crate::{
    bg::{Event, Powerup, contents, entity_flag, items::ItemKind},
    game::{
        Host,
        deathmatch::{Deathmatch, names},
    },
};

/// How often a quad that is worth nothing asks whether it is by now, in milliseconds.
const WORTHLESS_MS: i32 = 1000;

impl Deathmatch {
    /// An item is used by something that aims at it: it is there.
    pub(in crate::game::deathmatch) fn use_item(&mut self, host: &mut dyn Host, number: EntityNum) {
        let settled = self.pickup(number).is_some_and(|(_, pickup)| pickup.step != Step::Settle);
        if settled {
            self.bring_back(host, number);
        }
    }

    /// Shows an item again, or one of its chain by chance.
    pub(super) fn bring_back(&mut self, host: &mut dyn Host, number: EntityNum) {
        let Some((_, pickup)) = self.pickup(number) else { return };
        let (item, captain) = (pickup.item, pickup.captain);
        let is_quad = item.kind == ItemKind::Powerup && item.tag == Powerup::Quad;
        if is_quad && self.people.profile.item_settings && self.combat.quad_factor <= 1.0 {
            self.plan(number, Step::ComeBack, WORTHLESS_MS);
            return;
        }
        let chosen = match captain {
            Some(captain) => {
                let count = self.chain_of(captain).count();
                let nth = self.pick(count);
                self.chain_of(captain).nth(nth).unwrap_or(number)
            }
            None => number,
        };
        let now = self.people.now;
        let Some(thing) = self.things.get_mut(chosen) else { return };
        thing.shared.contents = contents::TRIGGER;
        thing.state.e_flags &= !entity_flag::NODRAW;
        thing.shared.sv_flags = without(thing.shared.sv_flags, SvFlags::NO_CLIENT);
        thing.raise(Event::ItemRespawn, 0, now);
        let at = thing.state.pos.base;
        self.things.link(host, chosen);
        self.plan(chosen, Step::Rest, 0);
        let Some((_, pickup)) = self.pickup(chosen) else { return };
        if let Some(name) = return_sound(pickup.item) {
            let heard = if pickup.is_silent { Event::GeneralSound } else { Event::GlobalSound };
            let sound = names::sound(host, name);
            self.flash(host, at, heard, |state, shared| {
                state.event_parm = sound;
                shared.sv_flags = SvFlags::BROADCAST;
            });
        }
    }

    /// Hides an item that was taken. It stays where it is, and rides on.
    pub(super) fn hide_item(&mut self, host: &mut dyn Host, number: EntityNum) {
        let Some(thing) = self.things.get_mut(number) else { return };
        thing.shared.sv_flags = thing.shared.sv_flags | SvFlags::NO_CLIENT;
        thing.state.e_flags |= entity_flag::NODRAW;
        thing.shared.contents = 0;
        self.things.link(host, number);
        self.plan(number, Step::Rest, 0);
    }
}
