//! What players drop, and how items fly and land.
//!
//! Source: the base game's dropped items: they lose all speed at the first contact, fall on, and rest on
//! the first floor; what fell off something bounces.

use super::{Flag, MAXS, MINS, Pickup, Step, flags::Words};
use crate::model::{
    ClientNum, EntityNum, SvFlags, Trace, Trajectory, TrajectoryKind, Vec3, contents::mask,
};
use crate::{
    bg::{
        EntityType, GameType, Weapon, WeaponState, contents, entity_flag,
        items::{Item, ItemKind},
    },
    game::{
        Host,
        deathmatch::{
            Deathmatch,
            things::{Thing, What},
        },
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

impl Deathmatch {
    /// Drops what somebody who dies, or leaves, has that others may take: the weapon in hand, powerups
    /// and flags. A rune goes back to where it lay.
    pub(in crate::game::deathmatch) fn drop_at_death(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) {
        let profile = self.people.profile;
        let wielded = self.wielded(client).filter(|_| !self.combat.arms.are_all());
        if let Some((number, item)) =
            wielded.and_then(|tag| profile.items.by_tag(ItemKind::Weapon, tag))
        {
            self.toss(host, client, number, item, 0.0);
        }
        if self.people.game_type != GameType::TeamDeathmatch {
            self.drop_powerups(host, client);
        }
        self.free_rune(host, client);
    }

    /// The weapon that a player leaves behind: the one in hand, or the one it was about to take in hand.
    fn wielded(&self, client: ClientNum) -> Option<i32> {
        let player = self.people.player(client)?;
        let (state, stats) = (&player.state, self.people.profile.stats);
        let is_poor = |tag: i32| tag == Weapon::Machinegun || tag == Weapon::Grapple;
        let mut tag = player.entity.weapon;
        if is_poor(tag) && state.weaponstate == WeaponState::Dropping {
            tag = i32::from(player.command.weapon);
        }
        let owned = (1..=self.people.profile.last_weapon).contains(&tag)
            && state.stats[stats.weapons] >> tag & 1 != 0;
        let rounds = usize::try_from(tag).ok().and_then(|tag| state.ammo.get(tag));
        let loaded = rounds.is_some_and(|&rounds| rounds != 0);
        (owned && loaded && tag > Weapon::Machinegun as i32 && tag != Weapon::Grapple)
            .then_some(tag)
    }

    /// Powerups with time left, each further round, and flags among them.
    fn drop_powerups(&mut self, host: &mut dyn Host, client: ClientNum) {
        let (now, profile) = (self.people.now, self.people.profile);
        let Some(player) = self.people.player(client) else { return };
        let powerups = player.state.powerups;
        let mut angle = APART;
        for (tag, &until) in powerups.iter().enumerate() {
            let left_ms = until.saturating_sub(now.0);
            let kinds = [ItemKind::Powerup, ItemKind::Team].into_iter();
            let found = kinds.filter_map(|kind| profile.items.by_tag(kind, tag as i32)).next();
            let Some((number, item)) = found.filter(|_| left_ms > 0 && until > 0) else { continue };
            if let Some(flag) = Flag::of_item(number) {
                self.drop_flag(host, client, flag, angle);
            } else if let Some(pickup) = self
                .toss(host, client, number, item, angle)
                .and_then(|dropped| self.pickup_mut(dropped))
            {
                pickup.count = (left_ms / 1000).max(1);
            }
            angle += APART;
        }
    }

    /// Throws an item from where a player is, `angle` degrees to the left of where it looks.
    pub(super) fn toss(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        number: i32,
        item: &'static Item,
        angle: f32,
    ) -> Option<EntityNum> {
        let player = self.people.player(client)?;
        let (origin, yaw) = (player.entity.pos.base, player.entity.apos.base[1]);
        let mut velocity = angles::axes(Vec3::new(0.0, yaw + angle, 0.0)).forward * FORWARD;
        let (up, spread) = UP;
        velocity[2] += up + spread * self.either_way();
        let (now, started) = self.clock();
        let pickup = Pickup { is_dropped: true, ..Pickup::new(number, item) };
        let mut thing = Thing::new(What::Item(Box::new(pickup)), origin);
        thing.state.e_type = EntityType::Item as i32;
        thing.state.e_flags = entity_flag::BOUNCE_HALF;
        thing.state.modelindex = number;
        thing.state.modelindex2 = 1;
        thing.state.pos = Trajectory {
            kind: TrajectoryKind::Gravity as i32,
            time: now.0,
            duration: 0,
            base: origin,
            delta: velocity,
        };
        thing.shared.mins = MINS;
        thing.shared.maxs = MAXS;
        thing.shared.contents = contents::TRIGGER;
        let place = self.things.add(thing, now, started)?;
        self.plan(place, Step::Vanish, LIFE_MS);
        self.things.link(host, place);
        Some(place)
    }

    /// Moves an item that flies. What it ran into, if anything.
    pub(super) fn fly(&mut self, host: &mut dyn Host, number: EntityNum) -> Option<Trace> {
        let now = self.people.now;
        let thing = self.things.get_mut(number)?;
        let falls = thing.state.pos.kind == TrajectoryKind::Gravity as i32;
        if !falls && thing.state.ground_entity_num == EntityNum::NONE.index() as i32 {
            // Pushed off what it lay on.
            thing.state.pos = Trajectory {
                kind: TrajectoryKind::Gravity as i32,
                time: now.0,
                duration: 0,
                base: thing.shared.current_origin,
                delta: Vec3::ZERO,
            };
        } else if !falls {
            return None;
        }
        let (from, to) = (thing.shared.current_origin, trajectory::position(&thing.state.pos, now));
        let (mins, maxs) = (thing.shared.mins, thing.shared.maxs);
        let trace = host.world().map_or(Trace::free(to), |world| {
            world.scene(&*self, number).trace(from, mins, maxs, to, mask::DEAD_SOLID)
        });
        let is_linked = {
            let thing = self.things.get_mut(number)?;
            thing.shared.current_origin = trace.endpos;
            thing.shared.is_linked()
        };
        if is_linked {
            self.things.link(host, number);
        }
        if trace.endpos[2] < BOTTOM && host.world().is_some() {
            self.lose_item(host, number, Words::Loud);
            return None;
        }
        let hit = Trace { fraction: if trace.startsolid { 0.0 } else { trace.fraction }, ..trace };
        (hit.fraction < 1.0).then_some(hit)
    }

    /// An item has run into something: it is gone where nothing may lie, rests, or goes on.
    pub(super) fn land(&mut self, host: &mut dyn Host, number: EntityNum, trace: &Trace) {
        let (now, frame_ms) = (self.people.now, self.frame_ms);
        let Some((thing, pickup)) = self.pickup(number) else { return };
        let (at, bounce) = (thing.shared.current_origin, pickup.bounce);
        if self.contents_at(host, at) & contents::NODROP != 0 {
            self.lose_item(host, number, Words::Loud);
            return;
        }
        let Some(thing) = self.things.get_mut(number) else { return };
        let since = (frame_ms as f32 * (1.0 - trace.fraction)) as i32;
        let velocity = trajectory::velocity(&thing.state.pos, now + -since);
        let normal = trace.plane.normal;
        let delta = velocity.add_scaled(normal, -2.0 * velocity.dot(normal)) * bounce;
        if normal[2] > 0.0 && delta[2] < RESTING {
            let rest = (trace.endpos + Vec3::new(0.0, 0.0, 1.0)).rounded();
            thing.put(rest);
            thing.state.ground_entity_num = trace.entity.index() as i32;
        } else {
            thing.shared.current_origin += normal;
            thing.state.pos.base = thing.shared.current_origin;
            thing.state.pos.delta = delta;
            thing.state.pos.time = now.0;
        }
    }
}

/// Flags without some of them.
pub(super) const fn without(flags: SvFlags, gone: SvFlags) -> SvFlags {
    SvFlags(flags.0 & !gone.0)
}
