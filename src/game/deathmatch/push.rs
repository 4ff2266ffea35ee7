//! Movers push and carry: all parts of a team move, or none does.
//!
//! Invariants: what was moved for a blocked team is where it was before. Source: the base game's pusher.

use super::{
    Deathmatch,
    combat::{HEALTH, Hit, LETHAL},
    movers::{Kind, Leg},
    things::What,
};
use crate::model::{
    ClientNum, EntityNum, TrajectoryKind, Vec3, contents::mask, limits::MAX_CLIENTS,
};
use crate::{
    bg::{Event, MeansOfDeath, contents},
    game::{
        Host,
        movement::{angles, trajectory},
    },
};

/// What somebody was before it was pushed.
struct Pushed {
    number: EntityNum,
    origin: Vec3,
    yaw: i32,
}

impl Deathmatch {
    /// Moves a team to where it is now. False when something was in the way: everything is where it was,
    /// and goes on from there as if the time since the last frame had not been.
    pub(super) fn push_team(&mut self, host: &mut dyn Host, team: &[EntityNum]) -> bool {
        let now = self.people.now;
        let mut pushed = Vec::new();
        for (place, &part) in team.iter().enumerate() {
            let way = self.with_mover(part, |thing, mover| {
                let at = [thing.shared.current_origin, thing.shared.current_angles];
                mover.before = at;
                let to = [&thing.state.pos, &thing.state.apos]
                    .map(|course| trajectory::position(course, now));
                (to[0] - at[0], to[1] - at[1])
            });
            let Some((step, turn)) = way else { continue };
            if let Err(blocker) = self.push(host, part, step, turn, &mut pushed) {
                self.go_back_before(host, team, place, &pushed);
                self.meet_obstacle(host, team[0], blocker);
                return false;
            }
        }
        true
    }

    /// Undoes a push that met something: of the parts up to number `last`, and of all that they moved.
    fn go_back_before(
        &mut self,
        host: &mut dyn Host,
        team: &[EntityNum],
        last: usize,
        pushed: &[Pushed],
    ) {
        for &part in &team[..=last] {
            self.with_mover(part, |thing, mover| {
                [thing.shared.current_origin, thing.shared.current_angles] = mover.before;
            });
            self.things.link(host, part);
        }
        for before in pushed.iter().rev() {
            self.put_back(host, before);
        }
        for &part in team {
            if let Some(thing) = self.things.get_mut(part) {
                thing.state.pos.time = thing.state.pos.time.wrapping_add(self.frame_ms);
                thing.state.apos.time = thing.state.apos.time.wrapping_add(self.frame_ms);
            }
        }
    }

    /// Moves one part and what it takes along.
    fn push(
        &mut self,
        host: &mut dyn Host,
        part: EntityNum,
        step: Vec3,
        turn: Vec3,
        pushed: &mut Vec<Pushed>,
    ) -> Result<(), EntityNum> {
        if step == Vec3::ZERO && turn == Vec3::ZERO {
            return Ok(());
        }
        let Some(thing) = self.things.get_mut(part) else { return Ok(()) };
        let old = [thing.shared.absmin, thing.shared.absmax];
        thing.shared.current_origin += step;
        thing.shared.current_angles += turn;
        self.things.link(host, part);
        let Some(thing) = self.things.get(part) else { return Ok(()) };
        let axes = [0, 1, 2];
        let mins = Vec3(axes.map(|axis| old[0][axis].min(thing.shared.absmin[axis])));
        let maxs = Vec3(axes.map(|axis| old[1][axis].max(thing.shared.absmax[axis])));
        let mut found = [EntityNum::NONE; crate::model::limits::MAX_ENTITIES];
        let count = host.world().map_or(0, |world| world.bodies_in_box(mins, maxs, &mut found));
        let sine = TrajectoryKind::Sine as i32;
        for &number in &found[..count] {
            let Some(ground) = self.pushable(number) else { continue };
            let rides = ground == part.index() as i32;
            if !rides && !self.overlaps(&*host, part, number) {
                continue;
            }
            if self.try_push(host, part, number, step, turn, pushed) {
                continue;
            }
            let Some(thing) = self.things.get(part) else { continue };
            if thing.state.pos.kind == sine || thing.state.apos.kind == sine {
                // What swings does not stop for anybody.
                self.squash(host, number);
                continue;
            }
            return Err(number);
        }
        Ok(())
    }

    /// What a thing stands on, of those that movers push: players and bodies.
    fn pushable(&self, number: EntityNum) -> Option<i32> {
        if let Some(client) = ClientNum::new(number.index()) {
            let player = self.people.player(client).filter(|_| self.people.plays(client))?;
            let solid = player.shared.contents != 0 && player.shared.is_linked();
            return solid.then_some(player.entity.ground_entity_num);
        }
        let thing = self.things.get(number)?;
        let solid = match thing.what {
            What::Corpse(_) => thing.shared.contents != 0,
            What::Item(_) => thing.shared.is_linked(),
            _ => false,
        };
        solid.then_some(thing.state.ground_entity_num)
    }

    /// Where a thing is, its box, and what stops it.
    fn shape(&self, number: EntityNum) -> Option<(Vec3, Vec3, Vec3, i32)> {
        if let Some(client) = ClientNum::new(number.index()) {
            let player = self.people.player(client)?;
            let alive = player.state.stats[HEALTH] > 0;
            let mask = if alive { mask::PLAYER_SOLID } else { mask::DEAD_SOLID };
            return Some((player.state.origin, player.shared.mins, player.shared.maxs, mask));
        }
        let thing = self.things.get(number)?;
        let shared = &thing.shared;
        let mask =
            if matches!(thing.what, What::Item(_)) { contents::SOLID } else { mask::DEAD_SOLID };
        Some((shared.current_origin, shared.mins, shared.maxs, mask))
    }

    /// Whether a thing is stuck where it is.
    fn is_stuck(&self, host: &dyn Host, number: EntityNum) -> bool {
        let Some((origin, mins, maxs, mask)) = self.shape(number) else { return false };
        host.world().is_some_and(|world| {
            world.scene(self, number).trace(origin, mins, maxs, origin, mask).startsolid
        })
    }

    /// Whether a thing is inside a mover.
    fn overlaps(&self, host: &dyn Host, part: EntityNum, number: EntityNum) -> bool {
        let Some((origin, mins, maxs, mask)) = self.shape(number) else { return false };
        host.world().is_some_and(|world| {
            let scene = world.scene(self, number);
            scene.trace_entity(origin, mins, maxs, origin, mask, part).startsolid
        })
    }

    fn try_push(
        &mut self,
        host: &mut dyn Host,
        part: EntityNum,
        number: EntityNum,
        step: Vec3,
        turn: Vec3,
        pushed: &mut Vec<Pushed>,
    ) -> bool {
        let Some((origin, ..)) = self.shape(number) else { return true };
        let Some(mover) = self.things.get(part) else { return true };
        let axis = mover.shared.current_origin - step;
        let mut way = step;
        if turn != Vec3::ZERO {
            let arm = origin - axis;
            let axes = angles::axes(turn);
            let turned = axes.forward * arm[0] + axes.right * -arm[1] + axes.up * arm[2];
            way += turned - arm;
        }
        let before = Pushed { number, origin, yaw: self.yaw_delta(number) };
        let rides = self.pushable(number) == Some(part.index() as i32);
        self.displace(number, way, angles::to_short(turn[1]), rides);
        if !self.is_stuck(&*host, number) {
            pushed.push(before);
            self.relink_pushed(host, number);
            return true;
        }
        // It may stay where it is, when the mover has left it free.
        self.put_back(host, &before);
        if !self.is_stuck(&*host, number) {
            self.lift_off(number);
            return true;
        }
        false
    }

    fn yaw_delta(&self, number: EntityNum) -> i32 {
        ClientNum::new(number.index())
            .and_then(|client| self.people.player(client))
            .map_or(0, |player| player.state.delta_angles[1])
    }

    fn displace(&mut self, number: EntityNum, way: Vec3, yaw: i32, rides: bool) {
        if let Some(player) = self.people.players.get_mut(number.index()) {
            let Some(player) = player else { return };
            player.state.origin += way;
            player.entity.pos.base += way;
            player.shared.current_origin = player.state.origin;
            player.state.delta_angles[1] = player.state.delta_angles[1].wrapping_add(yaw);
        } else if let Some(thing) = self.things.get_mut(number) {
            thing.state.pos.base += way;
            thing.shared.current_origin += way;
        }
        if !rides {
            self.lift_off(number);
        }
    }

    fn lift_off(&mut self, number: EntityNum) {
        let none = EntityNum::NONE.index() as i32;
        if let Some(player) = self.people.players.get_mut(number.index()) {
            if let Some(player) = player {
                player.entity.ground_entity_num = none;
            }
        } else if let Some(thing) = self.things.get_mut(number) {
            thing.state.ground_entity_num = none;
        }
    }

    fn put_back(&mut self, host: &mut dyn Host, before: &Pushed) {
        let Some((origin, ..)) = self.shape(before.number) else { return };
        if let Some(player) = self.people.players.get_mut(before.number.index()) {
            if let Some(player) = player {
                player.entity.pos.base = player.entity.pos.base + before.origin - origin;
                player.state.origin = before.origin;
                player.state.delta_angles[1] = before.yaw;
                player.shared.current_origin = before.origin;
            }
        } else if let Some(thing) = self.things.get_mut(before.number) {
            thing.state.pos.base = thing.state.pos.base + before.origin - origin;
            thing.shared.current_origin = before.origin;
        }
        self.relink_pushed(host, before.number);
    }

    fn relink_pushed(&mut self, host: &mut dyn Host, number: EntityNum) {
        if number.index() >= MAX_CLIENTS {
            self.things.link(host, number);
        } else if let Some(player) = self.people.players[number.index()].as_mut() {
            host.link_entity(&mut player.entity, &mut player.shared);
        }
    }

    /// What a team does about what is in its way: doors and lifts hurt players and turn around, and put
    /// an end to what is none. Others wait.
    fn meet_obstacle(&mut self, host: &mut dyn Host, captain: EntityNum, blocker: EntityNum) {
        let Some((_, mover)) = self.mover(captain) else { return };
        if !matches!(mover.kind, Kind::Door | Kind::Plat) {
            return;
        }
        let Some(client) = ClientNum::new(blocker.index()) else {
            self.take_out_of_the_way(host, blocker);
            return;
        };
        let turns = !mover.crusher && matches!(mover.leg, Leg::To(_));
        if mover.damage != 0 {
            let hit = Hit::by_world(mover.damage, MeansOfDeath::Crush);
            self.hurt(host, client, &hit);
        }
        if turns {
            self.use_mover(host, captain, Some(client));
        }
    }

    /// What happens to anything but a player that a door or a lift removes: a body or an item is gone,
    /// a flag goes home.
    fn take_out_of_the_way(&mut self, host: &mut dyn Host, number: EntityNum) {
        let Some(thing) = self.things.get_mut(number) else { return };
        if matches!(thing.what, What::Item(_)) {
            self.crush_item(host, number);
            return;
        }
        let at = thing.shared.current_origin;
        thing.think_at = None;
        self.things.unlink(host, number);
        self.flash(host, at, Event::ItemPop, |_, _| {});
    }

    /// Something swings into what cannot give way.
    fn squash(&mut self, host: &mut dyn Host, number: EntityNum) {
        if let Some(client) = ClientNum::new(number.index()) {
            self.hurt(host, client, &Hit::by_world(LETHAL - 1, MeansOfDeath::Crush));
        } else {
            self.gib_corpse(&*host, number);
        }
    }
}
