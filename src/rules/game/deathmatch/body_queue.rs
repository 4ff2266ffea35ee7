//! Body queue: corpses that stay after a respawn.
//!
//! Eight slots are used in turn. A corpse falls to the floor, starts to sink after 5 s and is unlinked
//! after 6.5 s. Source: the base game's body queue. Engine names: `CopyToBodyQue`, `BodySink`.

use super::{
    context::Context, entities::Entity, entity_kinds::Corpse, entity_kinds::EntityKind,
    projectiles::kamikaze::pass_kamikaze_timer, projectiles::kamikaze::stop_kamikaze_timer,
};
use crate::bg::{EntityType, Event, animation, contents, entity_flag};
use crate::game::movement::{GIB_HEALTH, LEAST_HEALTH, trajectory};
use crate::game::settings::key;
use crate::model::{
    ClientNum, EntityNum, LevelTime, Trace, Trajectory, TrajectoryKind, Vec3, contents::mask,
};
use crate::world::TraceQuery;

/// Slots of the corpses.
#[derive(Debug, Default)]
pub(super) struct BodyQueue {
    slots: Vec<EntityNum>,
    /// Index of the slot that is used next.
    next: usize,
}

impl BodyQueue {
    pub(super) fn clear(&mut self) {
        self.slots.clear();
    }

    #[cfg(test)]
    pub(super) fn slots(&self) -> &[EntityNum] {
        &self.slots
    }
}

/// Number of slots.
const MAX_CORPSES: usize = 8;
/// Age at which a corpse starts to sink, in ms.
const SINK_MS: i32 = 5000;
/// Time in which a corpse sinks by a unit, in ms.
const SINK_STEP_MS: i32 = 100;
/// Age at which a corpse is unlinked, in ms.
const GONE_MS: i32 = 6500;

impl BodyQueue {
    /// Adds the entities of all slots.
    pub(super) fn init(&mut self, cx: &mut Context<'_>) {
        self.slots.clear();
        self.next = 0;
        for _ in 0..MAX_CORPSES {
            let corpse = Entity::new(EntityKind::Corpse(Corpse::default()), Vec3::ZERO);
            let (now, started) = cx.clock();
            self.slots.extend(cx.entities.add(corpse, now, started));
        }
    }

    /// Copies a dead player's body into the next slot. No corpse in a no-drop area. Modules test `origin`, which only
    /// spectator moves set.
    pub(super) fn copy_to_body_queue(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        let now = cx.clients.now;
        let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
        player.unlink(cx.host);
        let (state, shared, velocity) = (player.entity, player.shared, player.state.velocity);
        if cx.contents_at(state.origin) & contents::NODROP != 0 {
            return;
        }
        let Some(&number) = self.slots.get(self.next) else { return };
        self.next = (self.next + 1) % self.slots.len();
        cx.entities.unlink(cx.host, number);
        let Some(body) = cx.entities.get_mut(number) else { return };
        let own = body.state.number;
        body.state = state;
        body.state.number = own;
        body.state.e_flags = entity_flag::DEAD | state.e_flags & entity_flag::KAMIKAZE;
        body.state.powerups = 0;
        body.state.loop_sound = 0;
        body.state.event = 0;
        let gone = state.e_type == EntityType::Invisible;
        let health = if gone { LEAST_HEALTH } else { 0 };
        body.kind = EntityKind::Corpse(Corpse { since: now, health });
        body.shared.mins = shared.mins;
        body.shared.maxs = shared.maxs;
        body.shared.sv_flags = Default::default();
        // The position that clients saw, in whole units.
        body.shared.current_origin = state.pos.base;
        // Shots of the player pass through the own corpse.
        body.shared.owner_num = client.index() as i32;
        body.shared.contents = contents::CORPSE;
        let in_air = state.ground_entity_num == EntityNum::NONE.index() as i32;
        let kind = if in_air { TrajectoryKind::Gravity } else { TrajectoryKind::Stationary };
        body.state.pos = Trajectory {
            kind: kind as i32,
            time: if in_air { now.0 } else { state.pos.time },
            duration: state.pos.duration,
            base: state.pos.base,
            delta: if in_air { velocity } else { state.pos.delta },
        };
        // The end of the death's animation; a gibbed body has that of the last one.
        let dying = (state.legs_anim & !animation::TOGGLE).min(animation::BOTH_DEATH1 + 4);
        let dead = animation::BOTH_DEATH1 + (dying / 2) * 2 + 1;
        body.state.legs_anim = dead;
        body.state.torso_anim = dead;
        body.think_at = Some(now + SINK_MS);
        cx.entities.link(cx.host, number);
        pass_kamikaze_timer(cx, client, number);
    }
}

/// Damages a corpse that is not gibbed. It is gibbed at the limit, unless `com_blood` is 0.
pub(super) fn damage_corpse(cx: &mut Context<'_>, number: EntityNum, points: i32) {
    let (now, blood) = (cx.clients.now, cx.frame.combat.blood);
    let Some(entity) = cx.entities.get_mut(number) else { return };
    let EntityKind::Corpse(corpse) = &mut entity.kind else { return };
    if !corpse.is_whole() {
        return;
    }
    corpse.health = corpse.health.saturating_sub(points.max(1)).max(LEAST_HEALTH);
    if corpse.is_whole() {
        return;
    }
    if !blood {
        corpse.health = GIB_HEALTH + 1;
        return;
    }
    entity.state.e_type = EntityType::Invisible as i32;
    entity.shared.contents = 0;
    entity.add_event(Event::GibPlayer, 0, now);
    stop_kamikaze_timer(cx, number);
}

/// Lets a corpse fall from its current origin, without speed.
fn start_fall(body: &mut Entity, now: LevelTime) {
    let (base, duration) = (body.shared.current_origin, body.state.pos.duration);
    let kind = TrajectoryKind::Gravity as i32;
    body.state.pos = Trajectory { kind, time: now.0, duration, base, delta: Vec3::ZERO };
}

/// Handles the contact of a falling corpse: it rests on a floor, and slides down walls and ceilings.
fn land_corpse(body: &mut Entity, trace: &Trace, now: LevelTime) {
    let normal = trace.plane.normal;
    if normal[2] > 0.0 {
        body.set_origin((trace.endpos + Vec3::new(0.0, 0.0, 1.0)).truncated());
        body.state.ground_entity_num = trace.entity.index() as i32;
    } else {
        // All speed is lost at each contact.
        body.shared.current_origin += normal;
        start_fall(body, now);
    }
}

/// Runs the frame of a corpse: fall, sink, landing.
pub(super) fn run_corpse(cx: &mut Context<'_>, number: EntityNum) {
    let now = cx.clients.now;
    let Some(body) = cx.entities.get_mut(number).filter(|body| body.shared.is_linked()) else {
        return;
    };
    let lies = body.state.pos.kind != TrajectoryKind::Gravity as i32;
    if lies && body.state.ground_entity_num == EntityNum::NONE.index() as i32 {
        // Pushed off the entity below it.
        start_fall(body, now);
    }
    let contact = fall(cx, number);
    sink(cx, number);
    let Some(trace) = contact else { return };
    if cx.contents_at(trace.endpos) & contents::NODROP != 0 {
        cx.entities.unlink(cx.host, number);
    } else if let Some(body) = cx.entities.get_mut(number) {
        land_corpse(body, &trace, now);
    }
}

/// Moves a falling corpse. Returns the trace of its contact, if any.
fn fall(cx: &mut Context<'_>, number: EntityNum) -> Option<Trace> {
    let body = cx.entities.get(number)?;
    if body.state.pos.kind != TrajectoryKind::Gravity as i32 {
        return None;
    }
    let (from, to) =
        (body.shared.current_origin, trajectory::position(&body.state.pos, cx.clients.now));
    let (mins, maxs) = (body.shared.mins, body.shared.maxs);
    let fall = TraceQuery::line(from, to, mask::DEAD_SOLID).with_box(mins, maxs);
    let trace = cx.host.world().map(|world| world.scene(&*cx, number).trace(&fall));
    let body = cx.entities.get_mut(number)?;
    match trace {
        Some(trace) => body.shared.current_origin = trace.endpos,
        None => {
            // Without a map nothing falls.
            body.set_origin(from.truncated());
            body.state.ground_entity_num = EntityNum::WORLD.index() as i32;
        }
    }
    cx.entities.link(cx.host, number);
    trace.filter(|trace| trace.fraction < 1.0 || trace.startsolid)
}

/// Lets an old corpse sink into the floor, and unlinks it in the end.
fn sink(cx: &mut Context<'_>, number: EntityNum) {
    let now = cx.clients.now;
    let Some(body) = cx.entities.get_mut(number) else { return };
    let EntityKind::Corpse(Corpse { since, .. }) = body.kind else { return };
    if body.think_at.is_none_or(|at| at.distance(now) > 0) {
        return;
    }
    if now.distance(since) > GONE_MS {
        body.think_at = None;
        cx.entities.unlink(cx.host, number);
    } else {
        body.state.pos.base[2] -= 1.0;
        body.think_at = Some(now + SINK_STEP_MS);
    }
}

/// Gibs a corpse, unless `com_blood` is 0.
pub(super) fn gib_corpse(cx: &mut Context<'_>, number: EntityNum) {
    let now = cx.clients.now;
    if !cx.host.settings().flag(key::COM_BLOOD) {
        return;
    }
    let Some(body) = cx.entities.get_mut(number) else { return };
    if matches!(body.kind, EntityKind::Corpse(_)) && body.shared.contents != 0 {
        body.add_event(Event::GibPlayer, 0, now);
        body.state.e_type = EntityType::Invisible as i32;
        body.shared.contents = 0;
        stop_kamikaze_timer(cx, number);
    }
}
