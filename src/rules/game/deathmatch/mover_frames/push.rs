//! Pusher: all members of a mover team move, or none does.
//!
//! Invariants: a blocked push restores every entity that it moved. Source: the base game's pusher. Engine
//! names: `G_MoverTeam`, `G_MoverPush`, `G_TryPushingEntity`.

use crate::bg::{Event, MeansOfDeath, contents};
use crate::game::deathmatch::entity_kinds::{EntityKind, MoverKind, MoverState};
use crate::game::deathmatch::hit::{Hit, LETHAL};
use crate::game::deathmatch::{
    body_queue::gib_corpse, context::Context, damage::damage_player, items::Items,
    movers::two_position::use_mover, projectiles::mines::has_space, systems::Fight,
    weapons::missile_flight::explode,
};
use crate::game::movement::{HEALTH, angles, trajectory};
use crate::model::{EntityNum, TrajectoryKind, Vec3, contents::mask, limits::MAX_CLIENTS};
use crate::world::TraceQuery;

/// Position of an entity before a push.
struct Pushed {
    number: EntityNum,
    origin: Vec3,
    yaw: i32,
}

/// Moves a team to its current trajectory position. Returns false if it was blocked.
///
/// A blocked team keeps its position, and its trajectories are delayed by the frame.
pub(super) fn push_team(cx: &mut Context<'_>, fight: &mut Fight, team: &[EntityNum]) -> bool {
    let now = cx.clients.now;
    let mut pushed = Vec::new();
    for (index, &member) in team.iter().enumerate() {
        let displacement = cx.entities.with_mover(member, |entity, mover| {
            let at = [entity.shared.current_origin, entity.shared.current_angles];
            mover.before = at;
            let to = [&entity.state.pos, &entity.state.apos]
                .map(|course| trajectory::position(course, now));
            (to[0] - at[0], to[1] - at[1])
        });
        let Some((step, turn)) = displacement else { continue };
        if let Err(blocker) = push(cx, fight, member, step, turn, &mut pushed) {
            undo_push(cx, team, index, &pushed);
            handle_blocked(cx, fight, team[0], blocker);
            return false;
        }
    }
    true
}

/// Undoes a blocked push: members up to index `last`, and all entities that they moved.
fn undo_push(cx: &mut Context<'_>, team: &[EntityNum], last: usize, pushed: &[Pushed]) {
    for &member in &team[..=last] {
        cx.entities.with_mover(member, |entity, mover| {
            [entity.shared.current_origin, entity.shared.current_angles] = mover.before;
        });
        cx.entities.link(cx.host, member);
    }
    for before in pushed.iter().rev() {
        restore_pushed(cx, before);
    }
    for &member in team {
        if let Some(entity) = cx.entities.get_mut(member) {
            entity.state.pos.time = entity.state.pos.time.wrapping_add(cx.frame.ms);
            entity.state.apos.time = entity.state.apos.time.wrapping_add(cx.frame.ms);
        }
    }
}

/// Moves a team member and the entities that it carries or pushes.
///
/// Returns the blocking entity as the error.
fn push(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    member: EntityNum,
    step: Vec3,
    turn: Vec3,
    pushed: &mut Vec<Pushed>,
) -> Result<(), EntityNum> {
    // A step of 0 pushes too: it links riders at their exact position, which counts for splash damage.
    let Some(entity) = cx.entities.get_mut(member) else { return Ok(()) };
    let old = [entity.shared.absmin, entity.shared.absmax];
    entity.shared.current_origin += step;
    entity.shared.current_angles += turn;
    cx.entities.link(cx.host, member);
    let Some(entity) = cx.entities.get(member) else { return Ok(()) };
    let axes = [0, 1, 2];
    let mins = Vec3(axes.map(|axis| old[0][axis].min(entity.shared.absmin[axis])));
    let maxs = Vec3(axes.map(|axis| old[1][axis].max(entity.shared.absmax[axis])));
    let mut found = [EntityNum::NONE; crate::model::limits::MAX_ENTITIES];
    let count = cx.host.world().map_or(0, |world| world.bodies_in_box(mins, maxs, &mut found));
    let sine = TrajectoryKind::Sine as i32;
    for &number in &found[..count] {
        if let Some(base) = cx.entities.mine_base(number) {
            push_mine(cx, fight, member, number, (base == member).then_some((step, turn)), pushed);
            continue;
        }
        let Some(ground) = pushable(cx, number) else { continue };
        let rides = ground == member.index() as i32;
        if !rides && !overlaps(cx, member, number) {
            continue;
        }
        if try_push(cx, member, number, step, turn, pushed) {
            continue;
        }
        let Some(entity) = cx.entities.get(member) else { continue };
        if entity.state.pos.kind == sine || entity.state.apos.kind == sine {
            // Bobbing movers and pendulums never stop.
            crush(cx, fight, number, member);
            continue;
        }
        return Err(number);
    }
    Ok(())
}

/// Moves a mine with the mover that it sticks to. A mine without space explodes.
fn push_mine(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    member: EntityNum,
    number: EntityNum,
    ride: Option<(Vec3, Vec3)>,
    pushed: &mut Vec<Pushed>,
) {
    let Some(entity) = cx.entities.get(number) else { return };
    let origin = entity.shared.current_origin;
    if let Some((step, turn)) = ride {
        pushed.push(Pushed { number, origin, yaw: 0 });
        let Some(displacement) = displacement_at(cx, member, origin, step, turn) else { return };
        displace(cx, number, displacement, 0, true);
        cx.entities.link(cx.host, number);
    }
    if !has_space(cx, number) {
        explode(cx, fight, number);
    }
}

/// Returns the displacement of a point that moves with a mover.
fn displacement_at(
    cx: &Context<'_>,
    member: EntityNum,
    origin: Vec3,
    step: Vec3,
    turn: Vec3,
) -> Option<Vec3> {
    let axis = cx.entities.get(member)?.shared.current_origin - step;
    if turn == Vec3::ZERO {
        return Some(step);
    }
    let arm = origin - axis;
    let axes = angles::axes(turn);
    let turned = axes.forward * arm[0] + axes.right * -arm[1] + axes.up * arm[2];
    Some(step + (turned - arm))
}

/// Returns the ground entity of a player, corpse or item that movers push.
fn pushable(cx: &Context<'_>, number: EntityNum) -> Option<i32> {
    if let Some(client) = number.client() {
        let player = cx.clients.player(client).filter(|_| cx.clients.plays(client))?;
        let solid = player.shared.contents != 0 && player.shared.is_linked();
        return solid.then_some(player.entity.ground_entity_num);
    }
    let entity = cx.entities.get(number)?;
    let solid = match entity.kind {
        EntityKind::Corpse(_) => entity.shared.contents != 0,
        EntityKind::Item(_) => entity.shared.is_linked(),
        _ => false,
    };
    solid.then_some(entity.state.ground_entity_num)
}

/// Returns the query whether an entity fits at its origin.
fn rest_query(cx: &Context<'_>, number: EntityNum) -> Option<TraceQuery> {
    let at = |origin, mask| TraceQuery::line(origin, origin, mask);
    if let Some(client) = number.client() {
        let player = cx.clients.player(client)?;
        let alive = player.state.stats[HEALTH] > 0;
        let mask = if alive { mask::PLAYER_SOLID } else { mask::DEAD_SOLID };
        let shared = &player.shared;
        return Some(at(player.state.origin, mask).with_box(shared.mins, shared.maxs));
    }
    let entity = cx.entities.get(number)?;
    let shared = &entity.shared;
    let mask =
        if matches!(entity.kind, EntityKind::Item(_)) { contents::SOLID } else { mask::DEAD_SOLID };
    Some(at(shared.current_origin, mask).with_box(shared.mins, shared.maxs))
}

/// Whether an entity starts in solid at its origin.
fn is_stuck(cx: &Context<'_>, number: EntityNum) -> bool {
    let Some(query) = rest_query(cx, number) else { return false };
    cx.host.world().is_some_and(|world| world.scene(cx, number).trace(&query).startsolid)
}

/// Whether an entity is inside a mover.
fn overlaps(cx: &Context<'_>, member: EntityNum, number: EntityNum) -> bool {
    let Some(query) = rest_query(cx, number) else { return false };
    cx.host.world().is_some_and(|world| {
        let scene = world.scene(cx, number);
        scene.trace_entity(&query, member).startsolid
    })
}

fn try_push(
    cx: &mut Context<'_>,
    member: EntityNum,
    number: EntityNum,
    step: Vec3,
    turn: Vec3,
    pushed: &mut Vec<Pushed>,
) -> bool {
    let Some(TraceQuery { start: origin, .. }) = rest_query(cx, number) else { return true };
    let Some(displacement) = displacement_at(cx, member, origin, step, turn) else { return true };
    let before = Pushed { number, origin, yaw: yaw_delta(cx, number) };
    let rides = pushable(cx, number) == Some(member.index() as i32);
    displace(cx, number, displacement, angles::to_short(turn[1]), rides);
    if !is_stuck(cx, number) {
        pushed.push(before);
        relink_pushed(cx, number);
        return true;
    }
    // The old position is fine if the mover does not overlap it.
    restore_pushed(cx, &before);
    if !is_stuck(cx, number) {
        clear_ground(cx, number);
        return true;
    }
    false
}

fn yaw_delta(cx: &Context<'_>, number: EntityNum) -> i32 {
    number
        .client()
        .and_then(|client| cx.clients.player(client))
        .map_or(0, |player| player.state.delta_angles[1])
}

fn displace(cx: &mut Context<'_>, number: EntityNum, displacement: Vec3, yaw: i32, rides: bool) {
    if let Some(player) = cx.clients.players.get_mut(number.index()) {
        let Some(player) = player else { return };
        player.state.origin += displacement;
        player.entity.pos.base += displacement;
        player.shared.current_origin = player.state.origin;
        player.state.delta_angles[1] = player.state.delta_angles[1].wrapping_add(yaw);
    } else if let Some(entity) = cx.entities.get_mut(number) {
        entity.state.pos.base += displacement;
        entity.shared.current_origin += displacement;
    }
    if !rides {
        clear_ground(cx, number);
    }
}

fn clear_ground(cx: &mut Context<'_>, number: EntityNum) {
    let none = EntityNum::NONE.index() as i32;
    if let Some(player) = cx.clients.players.get_mut(number.index()) {
        if let Some(player) = player {
            player.entity.ground_entity_num = none;
        }
    } else if let Some(entity) = cx.entities.get_mut(number) {
        entity.state.ground_entity_num = none;
    }
}

fn restore_pushed(cx: &mut Context<'_>, before: &Pushed) {
    let Some(TraceQuery { start: origin, .. }) = rest_query(cx, before.number) else { return };
    if let Some(player) = cx.clients.players.get_mut(before.number.index()) {
        if let Some(player) = player {
            // Not truncated, so that an item that a crushed player drops starts at the exact position.
            player.entity.pos.base = before.origin;
            player.state.origin = before.origin;
            player.state.delta_angles[1] = before.yaw;
            player.shared.current_origin = before.origin;
        }
    } else if let Some(entity) = cx.entities.get_mut(before.number) {
        entity.state.pos.base = entity.state.pos.base + before.origin - origin;
        entity.shared.current_origin = before.origin;
    }
    relink_pushed(cx, before.number);
}

fn relink_pushed(cx: &mut Context<'_>, number: EntityNum) {
    if number.index() >= MAX_CLIENTS {
        cx.entities.link(cx.host, number);
    } else if let Some(player) = cx.clients.players[number.index()].as_mut() {
        cx.host.link_entity(&mut player.entity, &mut player.shared);
    }
}

/// Handles a blocked team: doors and plats damage players and reverse, other movers wait.
///
/// Doors and plats remove a blocking corpse or item.
fn handle_blocked(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    team_master: EntityNum,
    blocker: EntityNum,
) {
    let Some((_, mover)) = cx.entities.mover(team_master) else { return };
    if !matches!(mover.kind, MoverKind::Door | MoverKind::Plat) {
        return;
    }
    let Some(client) = blocker.client() else {
        fight.items.remove_blocking_entity(cx, blocker);
        return;
    };
    let turns = !mover.crusher && matches!(mover.state, MoverState::To(_));
    if mover.damage != 0 {
        let hit = Hit {
            attacker: mover.activator.filter(|_| cx.clients.ruleset.combat.credits_activators),
            inflictor: Some(team_master),
            ..Hit::by_world(mover.damage, MeansOfDeath::Crush)
        };
        damage_player(cx, fight, client, &hit);
    }
    if turns {
        use_mover(cx, team_master, Some(client));
    }
}
impl Items {
    /// Removes an entity that blocks a door or plat: a corpse or an item.
    ///
    /// A flag returns to its base.
    fn remove_blocking_entity(&mut self, cx: &mut Context<'_>, number: EntityNum) {
        let Some(entity) = cx.entities.get_mut(number) else { return };
        if matches!(entity.kind, EntityKind::Item(_)) {
            self.crush_item(cx, number);
            return;
        }
        let at = entity.shared.current_origin;
        entity.think_at = None;
        cx.entities.unlink(cx.host, number);
        cx.temp_entity(at, Event::ItemPop, |_, _| {});
    }
}

/// Kills a player, or gibs a corpse, that a bobbing mover or pendulum cannot push.
fn crush(cx: &mut Context<'_>, fight: &mut Fight, number: EntityNum, by: EntityNum) {
    if let Some(client) = number.client() {
        let hit = Hit { inflictor: Some(by), ..Hit::by_world(LETHAL - 1, MeansOfDeath::Crush) };
        damage_player(cx, fight, client, &hit);
    } else {
        gib_corpse(cx, number);
    }
}
