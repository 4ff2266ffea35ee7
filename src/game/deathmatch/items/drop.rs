//! Dropped items: drops at death, flight and landing.
//!
//! Source: the base game's dropped items: they lose all speed at the first contact, fall on, and rest on
//! the first floor; what fell off something bounces.

use super::{Flag, ItemState, ItemThink, MAXS, MINS, flags::ReturnAnnouncement};
use crate::game::deathmatch::{context::Context, items::Items, items::plan};
use crate::model::{
    ClientNum, EntityNum, SvFlags, Trace, Trajectory, TrajectoryKind, Vec3, contents::mask,
};
use crate::{
    bg::{
        EntityType, Weapon, WeaponState, contents, entity_flag,
        items::{Item, ItemKind},
    },
    game::{
        deathmatch::entities::{Entity, EntityKind},
        movement::{angles, trajectory},
    },
};

/// How long what was dropped lies, in milliseconds.
const LIFE_MS: i32 = 30_000;
/// Speed forward; speed up, and by how much that varies.
const FORWARD: f32 = 150.0;
const UP: (f32, f32) = (200.0, 50.0);
/// Degrees from one powerup to the next.
const APART: f32 = 45.0;
/// Upward speed below which an item comes to rest on a slope that faces up.
const RESTING: f32 = 40.0;
/// Height below which nothing comes to rest any more.
const BOTTOM: f32 = -131_072.0;

impl Items {
    /// Drops what somebody who dies, or leaves, has that others may take: the weapon in hand, powerups
    /// and flags. A rune goes back to where it lay.
    pub(in crate::game::deathmatch) fn drop_at_death(
        &mut self,
        cx: &mut Context<'_>,
        client: ClientNum,
    ) {
        let ruleset = cx.clients.ruleset;
        let wielded = wielded(cx, client).filter(|_| !cx.frame.combat.loadout.replaces_items());
        if let Some((number, item)) =
            wielded.and_then(|tag| ruleset.items.by_tag(ItemKind::Weapon, tag))
        {
            launch_item(cx, client, number, item, 0.0);
        }
        if cx.clients.mode().drops_powerups {
            self.drop_powerups(cx, client);
        }
        self.free_rune(cx, client);
    }
}

/// The weapon that a player leaves behind: the one in hand, or the one it was about to take in hand.
fn wielded(cx: &Context<'_>, client: ClientNum) -> Option<i32> {
    let player = cx.clients.player(client)?;
    let (state, stats) = (&player.state, cx.clients.ruleset.stats);
    let is_poor = |tag: i32| tag == Weapon::Machinegun || tag == Weapon::Grapple;
    let mut tag = player.entity.weapon;
    if is_poor(tag) && state.weaponstate == WeaponState::Dropping {
        tag = i32::from(player.command.weapon);
    }
    let owned = (1..=cx.clients.ruleset.last_weapon).contains(&tag)
        && state.stats[stats.weapons] >> tag & 1 != 0;
    let rounds = usize::try_from(tag).ok().and_then(|tag| state.ammo.get(tag));
    let loaded = rounds.is_some_and(|&rounds| rounds != 0);
    (owned && loaded && tag > Weapon::Machinegun as i32 && tag != Weapon::Grapple).then_some(tag)
}
impl Items {
    /// Powerups with time left, each further round, and flags among them.
    fn drop_powerups(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        let (now, ruleset) = (cx.clients.now, cx.clients.ruleset);
        let Some(player) = cx.clients.player(client) else { return };
        let powerups = player.state.powerups;
        let mut angle = APART;
        for (tag, &until) in powerups.iter().enumerate() {
            let left_ms = until.saturating_sub(now.0);
            let kinds = [ItemKind::Powerup, ItemKind::Team].into_iter();
            let found = kinds.filter_map(|kind| ruleset.items.by_tag(kind, tag as i32)).next();
            let Some((number, item)) = found.filter(|_| left_ms > 0 && until > 0) else { continue };
            if let Some(flag) = Flag::of_item(number) {
                self.drop_flag(cx, client, flag, angle);
            } else if let Some(pickup) = launch_item(cx, client, number, item, angle)
                .and_then(|dropped| cx.entities.pickup_mut(dropped))
            {
                pickup.count = (left_ms / 1000).max(1);
            }
            angle += APART;
        }
    }
}

/// Throws an item from where a player is, `angle` degrees to the left of where it looks.
pub(super) fn launch_item(
    cx: &mut Context<'_>,
    client: ClientNum,
    number: i32,
    item: &'static Item,
    angle: f32,
) -> Option<EntityNum> {
    let player = cx.clients.player(client)?;
    let (origin, yaw) = (player.entity.pos.base, player.entity.apos.base[1]);
    let mut velocity = angles::axes(Vec3::new(0.0, yaw + angle, 0.0)).forward * FORWARD;
    let (up, spread) = UP;
    velocity[2] += up + spread * cx.rng.either_way();
    let (now, started) = cx.clock();
    let pickup = ItemState { is_dropped: true, ..ItemState::new(number, item) };
    let mut entity = Entity::new(EntityKind::Item(Box::new(pickup)), origin);
    entity.state.e_type = EntityType::Item as i32;
    entity.state.e_flags = entity_flag::BOUNCE_HALF;
    entity.state.modelindex = number;
    entity.state.modelindex2 = 1;
    entity.state.pos = Trajectory {
        kind: TrajectoryKind::Gravity as i32,
        time: now.0,
        duration: 0,
        base: origin,
        delta: velocity,
    };
    entity.shared.mins = MINS;
    entity.shared.maxs = MAXS;
    entity.shared.contents = contents::TRIGGER;
    let place = cx.entities.add(entity, now, started)?;
    plan(cx, place, ItemThink::Vanish, LIFE_MS);
    cx.entities.link(cx.host, place);
    Some(place)
}
impl Items {
    /// Moves an item that flies. What it ran into, if anything.
    pub(in crate::game::deathmatch) fn fly(
        &mut self,
        cx: &mut Context<'_>,
        number: EntityNum,
    ) -> Option<Trace> {
        let now = cx.clients.now;
        let entity = cx.entities.get_mut(number)?;
        let falls = entity.state.pos.kind == TrajectoryKind::Gravity as i32;
        if !falls && entity.state.ground_entity_num == EntityNum::NONE.index() as i32 {
            // Pushed off what it lay on.
            entity.state.pos = Trajectory {
                kind: TrajectoryKind::Gravity as i32,
                time: now.0,
                duration: 0,
                base: entity.shared.current_origin,
                delta: Vec3::ZERO,
            };
        } else if !falls {
            return None;
        }
        let (from, to) =
            (entity.shared.current_origin, trajectory::position(&entity.state.pos, now));
        let (mins, maxs) = (entity.shared.mins, entity.shared.maxs);
        let trace = cx.host.world().map_or(Trace::free(to), |world| {
            world.scene(&*cx, number).trace(from, mins, maxs, to, mask::DEAD_SOLID)
        });
        let is_linked = {
            let entity = cx.entities.get_mut(number)?;
            entity.shared.current_origin = trace.endpos;
            entity.shared.is_linked()
        };
        if is_linked {
            cx.entities.link(cx.host, number);
        }
        if trace.endpos[2] < BOTTOM && cx.host.world().is_some() {
            self.discard_item(cx, number, ReturnAnnouncement::Loud);
            return None;
        }
        let hit = Trace { fraction: if trace.startsolid { 0.0 } else { trace.fraction }, ..trace };
        (hit.fraction < 1.0).then_some(hit)
    }

    /// An item has run into something: it is gone where nothing may lie, rests, or goes on.
    pub(super) fn land(&mut self, cx: &mut Context<'_>, number: EntityNum, trace: &Trace) {
        let (now, frame_ms) = (cx.clients.now, cx.frame.ms);
        let Some((entity, pickup)) = cx.entities.pickup(number) else { return };
        let (at, bounce) = (entity.shared.current_origin, pickup.bounce);
        if cx.contents_at(at) & contents::NODROP != 0 {
            self.discard_item(cx, number, ReturnAnnouncement::Loud);
            return;
        }
        let Some(entity) = cx.entities.get_mut(number) else { return };
        let since = (frame_ms as f32 * (1.0 - trace.fraction)) as i32;
        let velocity = trajectory::velocity(&entity.state.pos, now + -since);
        let normal = trace.plane.normal;
        let delta = velocity.add_scaled(normal, -2.0 * velocity.dot(normal)) * bounce;
        if normal[2] > 0.0 && delta[2] < RESTING {
            let rest = (trace.endpos + Vec3::new(0.0, 0.0, 1.0)).rounded();
            entity.set_origin(rest);
            entity.state.ground_entity_num = trace.entity.index() as i32;
        } else {
            entity.shared.current_origin += normal;
            entity.state.pos.base = entity.shared.current_origin;
            entity.state.pos.delta = delta;
            entity.state.pos.time = now.0;
        }
    }
}

/// Flags without some of them.
pub(super) const fn without(flags: SvFlags, gone: SvFlags) -> SvFlags {
    SvFlags(flags.0 & !gone.0)
}
