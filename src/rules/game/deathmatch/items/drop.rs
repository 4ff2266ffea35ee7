//! Dropped items: drops at death, flight and landing.
//!
//! Source: the base game's dropped items. They lose all speed at the first contact, fall and rest on the
//! first floor. An item that is pushed off a mover bounces.

use crate::bg::{
    EntityType, Weapon, WeaponState, contents, entity_flag, items::Item, items::ItemKind,
};
use crate::game::deathmatch::entity_kinds::{EntityKind, ItemState, ItemThink};
use crate::game::deathmatch::items::{Items, MAXS, MINS, schedule};
use crate::game::deathmatch::{
    context::Context, entities::Entity, flag::color_of_item, items::flags::ReturnAnnouncement,
};
use crate::game::movement::{angles, trajectory};
use crate::model::{
    ClientNum, EntityNum, SvFlags, Trace, Trajectory, TrajectoryKind, Vec3, contents::mask,
};
use crate::world::TraceQuery;

/// Lifetime of a dropped item, in ms.
const LIFE_MS: i32 = 30_000;
/// Forward speed; upward speed and its random variation, in units/s.
const FORWARD: f32 = 150.0;
const UP: (f32, f32) = (200.0, 50.0);
/// Angle between two dropped powerups, in degrees.
const POWERUP_ANGLE: f32 = 45.0;
/// Upward speed below which an item rests on a slope, in units/s.
const REST_SPEED: f32 = 40.0;
/// Height below which no item comes to rest.
const BOTTOM: f32 = -131_072.0;

impl Items {
    /// Drops the weapon in hand, the powerups and the flags of a player who dies or disconnects. A rune
    /// returns to its spawn position.
    pub(crate) fn drop_at_death(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        let ruleset = cx.clients.ruleset;
        let weapon_in_hand =
            weapon_in_hand(cx, client).filter(|_| !cx.frame.combat.loadout.replaces_items());
        if let Some((number, item)) =
            weapon_in_hand.and_then(|tag| ruleset.items.by_tag(ItemKind::Weapon, tag))
        {
            launch_item(cx, client, number, item, 0.0);
        }
        if cx.mode().drops_powerups {
            self.drop_powerups(cx, client);
        }
        self.return_rune(cx, client);
    }
}

/// Returns the weapon that a player drops: the one in hand, or the one being raised.
fn weapon_in_hand(cx: &Context<'_>, client: ClientNum) -> Option<i32> {
    let player = cx.clients.player(client)?;
    let (state, stats) = (&player.state, cx.clients.ruleset.stats);
    let is_poor = |tag: i32| tag == Weapon::Machinegun || tag == Weapon::Grapple;
    let mut tag = player.entity.weapon;
    if is_poor(tag) && state.weaponstate == WeaponState::Dropping {
        tag = i32::from(player.command.weapon);
    }
    let owned = (1..=cx.clients.ruleset.equipment.last_weapon).contains(&tag)
        && state.stats[stats.weapons] >> tag & 1 != 0;
    let rounds = usize::try_from(tag).ok().and_then(|tag| state.ammo.get(tag));
    let loaded = rounds.is_some_and(|&rounds| rounds != 0);
    (owned && loaded && tag > Weapon::Machinegun as i32 && tag != Weapon::Grapple).then_some(tag)
}
impl Items {
    /// Drops every powerup with time left, flags included, at regular angles around the player.
    fn drop_powerups(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        let (now, ruleset) = (cx.clients.now, cx.clients.ruleset);
        let Some(player) = cx.clients.player(client) else { return };
        let powerups = player.state.powerups;
        let mut angle = POWERUP_ANGLE;
        for (tag, &until) in powerups.iter().enumerate() {
            let left_ms = until.saturating_sub(now.0);
            let kinds = [ItemKind::Powerup, ItemKind::Team].into_iter();
            let found = kinds.filter_map(|kind| ruleset.items.by_tag(kind, tag as i32)).next();
            let Some((number, item)) = found.filter(|_| left_ms > 0 && until > 0) else { continue };
            if let Some(flag) = color_of_item(number) {
                self.drop_flag(cx, client, flag, angle);
            } else if let Some(pickup) = launch_item(cx, client, number, item, angle)
                .and_then(|dropped| cx.entities.pickup_mut(dropped))
            {
                pickup.count = (left_ms / 1000).max(1);
            }
            angle += POWERUP_ANGLE;
        }
    }
}

/// Launches an item from a player's position, `angle` degrees to the left of the view direction.
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
    velocity[2] += up + spread * cx.rng.crandom();
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
    let dropped = cx.entities.add(entity, now, started)?;
    schedule(cx, dropped, ItemThink::Vanish, LIFE_MS);
    cx.entities.link(cx.host, dropped);
    Some(dropped)
}

/// Whether an item has lost the entity that it rested on, and falls from now on.
fn is_pushed_off(entity: &Entity) -> bool {
    entity.state.ground_entity_num == EntityNum::NONE.index() as i32
}

/// Whether an item lies still and waits for nothing.
pub(crate) fn is_at_rest(entity: &Entity) -> bool {
    entity.think_at.is_none()
        && entity.state.pos.kind != TrajectoryKind::Gravity as i32
        && !is_pushed_off(entity)
}

impl Items {
    /// Moves a flying item. Returns the trace of its collision, if any.
    pub(crate) fn fly(&mut self, cx: &mut Context<'_>, number: EntityNum) -> Option<Trace> {
        let now = cx.clients.now;
        let falls = match cx.entities.get(number)? {
            entity if entity.state.pos.kind == TrajectoryKind::Gravity as i32 => true,
            entity if is_pushed_off(entity) => false,
            _ => return None,
        };
        let entity = cx.entities.get_mut(number)?;
        if !falls {
            // Pushed off the entity that it rested on.
            entity.state.pos = Trajectory {
                kind: TrajectoryKind::Gravity as i32,
                time: now.0,
                duration: 0,
                base: entity.shared.current_origin,
                delta: Vec3::ZERO,
            };
        }
        let (from, to) =
            (entity.shared.current_origin, trajectory::position(&entity.state.pos, now));
        let flight = TraceQuery::line(from, to, mask::DEAD_SOLID)
            .with_box(entity.shared.mins, entity.shared.maxs);
        let trace = cx
            .host
            .world()
            .map_or(Trace::free(to), |world| world.scene(&*cx, number).trace(&flight));
        let is_linked = {
            let entity = cx.entities.get_mut(number)?;
            entity.shared.current_origin = trace.endpos;
            entity.shared.is_linked()
        };
        if is_linked {
            cx.entities.link(cx.host, number);
        }
        if trace.endpos[2] < BOTTOM && cx.host.world().is_some() {
            self.discard_item(cx, number, ReturnAnnouncement::SoundAndText);
            return None;
        }
        let hit = Trace { fraction: if trace.startsolid { 0.0 } else { trace.fraction }, ..trace };
        (hit.fraction < 1.0).then_some(hit)
    }

    /// Handles the collision of a flying item. It is discarded in a no-drop volume, comes to rest, or
    /// bounces.
    pub(super) fn land(&mut self, cx: &mut Context<'_>, number: EntityNum, trace: &Trace) {
        let (now, hit_at) = (cx.clients.now, cx.time_within_frame(trace.fraction));
        let Some((entity, pickup)) = cx.entities.pickup(number) else { return };
        let (at, bounce) = (entity.shared.current_origin, pickup.bounce);
        if cx.contents_at(at) & contents::NODROP != 0 {
            self.discard_item(cx, number, ReturnAnnouncement::SoundAndText);
            return;
        }
        let Some(entity) = cx.entities.get_mut(number) else { return };
        let velocity = trajectory::velocity(&entity.state.pos, hit_at);
        let normal = trace.plane.normal;
        let delta = velocity.add_scaled(normal, -2.0 * velocity.dot(normal)) * bounce;
        if normal[2] > 0.0 && delta[2] < REST_SPEED {
            let rest = (trace.endpos + Vec3::new(0.0, 0.0, 1.0)).truncated();
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

/// Returns flags without those in `gone`.
pub(super) const fn without(flags: SvFlags, gone: SvFlags) -> SvFlags {
    SvFlags(flags.0 & !gone.0)
}
