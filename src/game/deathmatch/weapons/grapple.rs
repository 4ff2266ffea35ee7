//! The hook: it flies, holds, follows whom it hit and pulls who shot it, until the trigger is let go.
//!
//! Source: the base game's grappling hook.

use super::{
    Deathmatch, EntityNum, Host, Thing, Vec3, What, aim::Aim, client_of, end::rounded_toward,
    missiles::Stage,
};
use crate::model::{Buttons, ClientNum, Trace};
use crate::{
    bg::{EntityType, Event, Weapon, pm_flag},
    game::direction_bytes::direction_byte,
};

/// How often a hook looks where its victim is, in milliseconds.
const FOLLOW_MS: i32 = 100;
/// How far after its command a hook starts, where it starts with that, in milliseconds.
const START_MS: i32 = 50;

impl Deathmatch {
    /// Shoots a hook, once for each press of the trigger.
    pub(super) fn fire_hook(&mut self, host: &mut dyn Host, client: ClientNum, aim: &Aim) {
        let body = &mut self.bodies[client.index()];
        let held = std::mem::replace(&mut body.hook_held, true);
        if held || body.hook.is_some() {
            return;
        }
        let time = body.attack_time.saturating_add(START_MS);
        let owner = client.into();
        let forward = aim.axes.forward;
        let hook = self.launch(host, owner, Weapon::Grapple as i32, aim.muzzle, forward);
        if self.people.profile.fights.hooks_by_command
            && let Some(thing) = hook.and_then(|hook| self.things.get_mut(hook))
        {
            // No farther from now than commands may be.
            let now = self.people.now.0;
            thing.state.pos.time = time.clamp(now.saturating_sub(1000), now.saturating_add(250));
        }
        self.bodies[client.index()].hook = hook;
    }

    /// Lets go when the trigger is.
    pub(in crate::game::deathmatch) fn hold_hook(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        buttons: Buttons,
    ) {
        if buttons.contains(Buttons::ATTACK) {
            return;
        }
        self.bodies[client.index()].hook_held = false;
        self.drop_hook(host, client);
    }

    /// Lets go.
    pub(in crate::game::deathmatch) fn drop_hook(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) {
        if let Some(hook) = self.bodies[client.index()].hook {
            self.release(host, hook);
            self.forget_hook(client);
        }
    }

    pub(super) fn forget_hook(&mut self, client: ClientNum) {
        self.bodies[client.index()].hook = None;
        if let Some(player) = self.people.players[client.index()].as_mut() {
            player.state.pm_flags &= !pm_flag::GRAPPLE_PULL;
        }
    }

    /// A hook holds in what it met.
    pub(super) fn hook_into(&mut self, host: &mut dyn Host, number: EntityNum, trace: &Trace) {
        let (now, started) = self.clock();
        let how = self.people.profile.fights.end_rounding;
        let Some((thing, missile)) = self.missile(number) else { return };
        let (base, shooter) = (thing.state.pos.base, missile.shooter());
        let victim = client_of(trace.entity).filter(|_| self.is_damageable(trace.entity));
        let at = match victim {
            Some(_) => self.middle_of(trace.entity).unwrap_or(trace.endpos),
            None => trace.endpos,
        };
        let at = rounded_toward(at, base, how);

        let mut mark = Thing::new(What::Event, at);
        mark.state.e_type = EntityType::General as i32;
        let event = match victim {
            Some(victim) => {
                mark.state.other_entity_num = victim.index() as i32;
                Event::MissileHit
            }
            None => Event::MissileMiss,
        };
        mark.state.weapon = Weapon::Grapple as i32;
        mark.raise(event, direction_byte(trace.plane.normal), now);
        if let Some(mark) = self.things.add(mark, now, started) {
            self.things.link(host, mark);
        }

        if let Some(thing) = self.things.get_mut(number) {
            thing.state.e_type = EntityType::Grapple as i32;
            thing.put(at);
            thing.think_at = Some(now + FOLLOW_MS);
        }
        self.set_stage(number, Stage::Hooked(victim.map(EntityNum::from)));
        self.things.link(host, number);
        if let Some(player) =
            shooter.and_then(|shooter| self.people.players[shooter.index()].as_mut())
        {
            player.state.pm_flags |= pm_flag::GRAPPLE_PULL;
            player.state.grapple_point = at;
        }
    }

    /// A hook goes where the one goes that it hit.
    pub(super) fn follow_victim(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        victim: Option<EntityNum>,
    ) {
        let now = self.people.now;
        let how = self.people.profile.fights.end_rounding;
        let Some(victim) = victim.filter(|&victim| self.is_damageable(victim)) else {
            if let Some(thing) = self.things.get_mut(number) {
                thing.think_at = None;
            }
            return;
        };
        let Some(middle) = self.middle_of(victim) else { return };
        let Some((thing, missile)) = self.missile_mut(number) else { return };
        let at = rounded_toward(middle, thing.state.pos.base, how);
        thing.put(at);
        thing.think_at = Some(now + FOLLOW_MS);
        self.things.link(host, number);
        let shooter = missile.shooter();
        if let Some(player) =
            shooter.and_then(|shooter| self.people.players[shooter.index()].as_mut())
        {
            player.state.grapple_point = at;
        }
    }

    /// The middle of an entity's box.
    fn middle_of(&self, number: EntityNum) -> Option<Vec3> {
        let shared = self.shared(number)?;
        Some(shared.current_origin + (shared.mins + shared.maxs) * 0.5)
    }
}
