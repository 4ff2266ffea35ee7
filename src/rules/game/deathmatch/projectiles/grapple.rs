//! Grappling hook: flight, hold, pull and release.
//!
//! Source: the base game's grappling hook.
//!
//! Engine names: `Weapon_GrapplingHook_Fire`, `Weapon_HookThink`, `Weapon_HookFree`.

use crate::bg::{EntityType, Event, Weapon, pm_flag};
use crate::game::deathmatch::{
    combat::Combat, context::Context, entities::Entity, entity_kinds::EntityKind,
    entity_kinds::MissileState, projectiles::Projectiles, projectiles::aim::Aim,
    projectiles::missiles::launch, projectiles::snap::snap_toward,
};
use crate::game::direction_bytes::dir_to_byte;
use crate::model::{Buttons, ClientNum, EntityNum, Trace, Vec3};

/// Delay after which a hook moves to its victim once, in ms.
const FOLLOW_MS: i32 = 100;
/// Prestep of a hook that starts at its usercmd time, in ms.
const HOOK_PRESTEP_MS: i32 = 50;

impl Projectiles {
    /// Fires a hook, once per press of the attack button.
    pub(crate) fn fire_hook(&mut self, cx: &mut Context<'_>, client: ClientNum, aim: &Aim) {
        let player = &mut self.players[client.index()];
        let held = std::mem::replace(&mut player.hook_held, true);
        if held || player.hook.is_some() {
            return;
        }
        let time = player.attack_time.saturating_add(HOOK_PRESTEP_MS);
        let owner = client.into();
        let forward = aim.axes.forward;
        let hook = launch(cx, owner, Weapon::Grapple as i32, aim.muzzle, forward);
        if cx.clients.ruleset.combat.hooks_by_command
            && let Some(entity) = hook.and_then(|hook| cx.entities.get_mut(hook))
        {
            // Clamped to the range of valid usercmd times.
            let now = cx.clients.now.0;
            entity.state.pos.time = time.clamp(now.saturating_sub(1000), now.saturating_add(250));
        }
        self.players[client.index()].hook = hook;
    }

    /// Releases the hook when the attack button is released.
    pub(crate) fn hold_hook(&mut self, cx: &mut Context<'_>, client: ClientNum, buttons: Buttons) {
        if buttons.contains(Buttons::ATTACK) {
            return;
        }
        self.players[client.index()].hook_held = false;
        self.drop_hook(cx, client);
    }

    /// Removes a player's hook.
    pub(crate) fn drop_hook(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        if let Some(hook) = self.players[client.index()].hook {
            self.remove_missile(cx, hook);
            self.clear_hook(cx, client);
        }
    }

    pub(crate) fn clear_hook(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        self.players[client.index()].hook = None;
        if let Some(player) = cx.clients.players[client.index()].as_mut() {
            player.state.pm_flags &= !pm_flag::GRAPPLE_PULL;
        }
    }
}

impl Combat {
    /// Attaches a hook at its point of impact.
    pub(crate) fn attach_hook(&mut self, cx: &mut Context<'_>, number: EntityNum, trace: &Trace) {
        let (now, started) = cx.clock();
        let how = cx.clients.ruleset.combat.end_rounding;
        let Some((entity, missile)) = cx.entities.missile(number) else { return };
        let (base, shooter) = (entity.state.pos.base, missile.shooter());
        let victim = trace.entity.client().filter(|_| self.is_damageable(cx, trace.entity));
        let at = match victim {
            Some(_) => center_of(cx, trace.entity).unwrap_or(trace.endpos),
            None => trace.endpos,
        };
        let at = snap_toward(at, base, how);

        let mut mark = Entity::new(EntityKind::TempEntity, at);
        mark.state.e_type = EntityType::General as i32;
        let event = match victim {
            Some(victim) => {
                mark.state.other_entity_num = victim.index() as i32;
                Event::MissileHit
            }
            None => Event::MissileMiss,
        };
        mark.state.weapon = Weapon::Grapple as i32;
        mark.add_event(event, dir_to_byte(trace.plane.normal), now);
        if let Some(mark) = cx.entities.add(mark, now, started) {
            cx.entities.link(cx.host, mark);
        }

        if let Some(entity) = cx.entities.get_mut(number) {
            entity.state.e_type = EntityType::Grapple as i32;
            entity.set_origin(at);
            entity.think_at = Some(now + FOLLOW_MS);
        }
        cx.entities.set_missile_state(number, MissileState::Hooked(victim.map(EntityNum::from)));
        cx.entities.link(cx.host, number);
        if let Some(player) =
            shooter.and_then(|shooter| cx.clients.players[shooter.index()].as_mut())
        {
            player.state.pm_flags |= pm_flag::GRAPPLE_PULL;
            player.state.grapple_point = at;
        }
    }

    /// Moves a hook to the player that it hit. The base game does so once, not in each frame.
    pub(crate) fn follow_victim(
        &mut self,
        cx: &mut Context<'_>,
        number: EntityNum,
        victim: Option<EntityNum>,
    ) {
        let how = cx.clients.ruleset.combat.end_rounding;
        let Some(victim) = victim.filter(|&victim| self.is_damageable(cx, victim)) else {
            if let Some(entity) = cx.entities.get_mut(number) {
                entity.think_at = None;
            }
            return;
        };
        let Some(middle) = center_of(cx, victim) else { return };
        let Some((entity, missile)) = cx.entities.missile_mut(number) else { return };
        let at = snap_toward(middle, entity.state.pos.base, how);
        entity.set_origin(at);
        entity.think_at = None;
        cx.entities.link(cx.host, number);
        let shooter = missile.shooter();
        if let Some(player) =
            shooter.and_then(|shooter| cx.clients.players[shooter.index()].as_mut())
        {
            player.state.grapple_point = at;
        }
    }
}

/// Returns the center of an entity's bounding box.
fn center_of(cx: &Context<'_>, number: EntityNum) -> Option<Vec3> {
    let shared = cx.shared(number)?;
    Some(shared.current_origin + (shared.mins + shared.maxs) * 0.5)
}
