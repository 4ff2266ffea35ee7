//! Movers: rotating and swinging parts, two-position movers, and trains.
//!
//! Clients compute where a mover is from its trajectory, so each change of course starts exactly where
//! and when the last one ended. Movers of one team move together, led by a captain: the first of them in
//! the entity text. Source: the base game's movers.

pub(super) mod doors;
pub(super) mod plats;
pub(super) mod push;
pub(super) mod rotating;
pub(super) mod trains;
pub(super) mod two_position;

use crate::game::deathmatch::{
    context::Context,
    entities::Entities,
    level_init::give_brushes,
    movers::doors::add_door_trigger,
    movers::plats::delay_plat,
    movers::push::push_team,
    movers::trains::{reach_next_corner, run_train},
    movers::two_position::{arrive_at, return_to_start, use_mover},
    systems::Systems,
    targets::Targets,
};
use std::sync::Arc;

use super::{
    asset_index::{model_index, sound_index},
    entities::{Entity, EntityKind},
};
use crate::model::{
    ClientNum, EntityNum, LevelTime, SvFlags, Trajectory, TrajectoryKind, Vec3, text::leading_int,
};
use crate::world::{bsp::AreaNum, entity_string::MapEntity};
use crate::{
    bg::{EntityType, contents},
    game::movement::angles,
};

pub(super) use doors::{button, door};
pub(super) use plats::plat;
pub(super) use rotating::{bobbing, fixed, pendulum, rotating};
pub(super) use trains::{PathCorner, corner, train};
pub(super) use two_position::MoverState;

use trains::Route;

/// Damage of a mover unless the map says otherwise.
const DAMAGE: i32 = 2;
/// Largest number that a map gives a mover: beyond the size of the world, so that trains can be elsewhere
/// at once.
const MAX_VALUE: f32 = 10_000_000.0;
/// Light of a mover whose map says only its color.
const LIGHT: f32 = 100.0;

/// What a mover is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MoverKind {
    /// Stays, turns or swings by itself.
    Free,
    Door,
    Plat,
    Button,
    Train(Route),
}

/// What only the server knows of a mover.
#[derive(Clone, Debug)]
pub(super) struct Mover {
    pub(super) kind: MoverKind,
    /// The two places of those that go to and fro.
    positions: [Vec3; 2],
    pub(super) state: MoverState,
    /// Time from end to end.
    travel_ms: i32,
    wait_ms: i32,
    /// What it does to a player in its way.
    pub(super) damage: i32,
    /// Goes on against what is in its way.
    pub(super) crusher: bool,
    /// Numbers of the sounds of setting out, of setting out back and of arriving; 0 for none.
    start_sound: i32,
    return_sound: i32,
    arrival_sound: i32,
    /// Set off by damage.
    shootable: bool,
    /// Set off by damage and not by touch.
    damage_only: bool,
    /// Leads the team; itself when it is alone.
    team_master: EntityNum,
    /// Of a captain: all that move with it, itself first.
    team: Arc<[EntityNum]>,
    team_name: Box<str>,
    activator: Option<ClientNum>,
    /// The areas between which it holds a door open.
    open_portal: [Option<AreaNum>; 2],
    /// Origin and angles before the push of this frame.
    pub(super) before: [Vec3; 2],
}

impl Mover {
    fn new(kind: MoverKind, map_entity: &MapEntity) -> Self {
        let damage_only = map_entity.int("health").unwrap_or(0) != 0;
        Self {
            kind,
            positions: [map_entity.origin(); 2],
            state: MoverState::At(0),
            travel_ms: 0,
            wait_ms: 0,
            damage: map_entity.spawn_value("dmg").map_or(DAMAGE, leading_int),
            crusher: false,
            start_sound: 0,
            return_sound: 0,
            arrival_sound: 0,
            shootable: false,
            damage_only,
            team_master: EntityNum::NONE,
            team: Arc::new([]),
            team_name: map_entity.field("team").unwrap_or_default().into(),
            activator: None,
            open_portal: [None; 2],
            before: [Vec3::ZERO; 2],
        }
    }
}

/// A course that ends.
fn linear_stop(from: Vec3, to: Vec3, ms: i32, at: LevelTime) -> Trajectory {
    let ms = ms.max(1);
    Trajectory {
        kind: TrajectoryKind::LinearStop as i32,
        time: at.0,
        duration: ms,
        base: from,
        delta: (to - from) * (1000.0 / ms as f32),
    }
}

/// A number from the map, within what makes sense.
fn number(map_entity: &MapEntity, key: &str, default: f32) -> f32 {
    map_entity.float(key).unwrap_or(default).clamp(-MAX_VALUE, MAX_VALUE)
}

/// A number from the map where 0 means the same as nothing.
fn number_or(map_entity: &MapEntity, key: &str, default: f32) -> f32 {
    match number(map_entity, key, default) {
        0.0 => default,
        number => number,
    }
}

/// Whether an entity's trajectories lead nowhere.
fn rests(entity: &Entity) -> bool {
    let still = TrajectoryKind::Stationary as i32;
    entity.state.pos.kind == still && entity.state.apos.kind == still
}

/// Whether it is time for what an entity does next.
fn is_due(entity: &Entity, now: LevelTime) -> bool {
    entity.think_at.is_some_and(|at| at.distance(now) <= 0)
}

/// The direction that a map's angles mean for what moves or looks: two of them are up and down.
pub(super) fn direction_of(given: Vec3) -> Vec3 {
    match given.0 {
        [0.0, -1.0, 0.0] => Vec3::new(0.0, 0.0, 1.0),
        [0.0, -2.0, 0.0] => Vec3::new(0.0, 0.0, -1.0),
        _ => angles::axes(given).forward,
    }
}

impl Entities {
    pub(in crate::game::deathmatch) fn mover(
        &self,
        number: EntityNum,
    ) -> Option<(&Entity, &Mover)> {
        let entity = self.get(number)?;
        let EntityKind::Mover(mover) = &entity.kind else { return None };
        Some((entity, mover))
    }

    /// Changes an entity and its mover at once.
    pub(in crate::game::deathmatch) fn with_mover<R>(
        &mut self,
        number: EntityNum,
        change: impl FnOnce(&mut Entity, &mut Mover) -> R,
    ) -> Option<R> {
        let entity = self.get_mut(number)?;
        match std::mem::replace(&mut entity.kind, EntityKind::Static) {
            EntityKind::Mover(mut mover) => {
                let result = change(entity, &mut mover);
                entity.kind = EntityKind::Mover(mover);
                Some(result)
            }
            other => {
                entity.kind = other;
                None
            }
        }
    }
}

impl Targets {
    /// What all movers have: brushes, a second model, a sound, light.
    fn add_mover(
        &mut self,
        cx: &mut Context<'_>,
        map_entity: &MapEntity,
        mover: Mover,
    ) -> Option<EntityNum> {
        let number = self.add(cx, map_entity, EntityKind::Mover(Box::new(mover)))?;
        if !give_brushes(cx, map_entity, number, -1) {
            cx.entities.remove(cx.host, number, cx.clients.now);
            return None;
        }
        let second = map_entity.field("model2").map_or(0, |name| model_index(cx.host, name));
        let noise = map_entity.spawn_value("noise").map_or(0, |name| sound_index(cx.host, name));
        let light = light_of(map_entity);
        cx.entities.with_mover(number, |entity, mover| {
            entity.state.e_type = EntityType::Mover as i32;
            entity.state.modelindex2 = second;
            entity.state.loop_sound = noise;
            entity.state.constant_light = light;
            entity.shared.sv_flags = SvFlags::USE_CURRENT_ORIGIN;
            entity.state.apos = Trajectory::stationary(Vec3::ZERO, LevelTime(0));
            mover.team_master = number;
            mover.team = Arc::new([number]);
        });
        cx.entities.link(cx.host, number);
        Some(number)
    }
}

/// A space around a mover that sets it off, unseen.
fn add_trigger_box(cx: &mut Context<'_>, kind: EntityKind, [mins, maxs]: [Vec3; 2]) {
    let (now, started) = cx.clock();
    let mut helper = Entity::new(kind, Vec3::ZERO);
    helper.shared.mins = mins;
    helper.shared.maxs = maxs;
    helper.shared.contents = contents::TRIGGER;
    helper.shared.sv_flags = SvFlags::NO_CLIENT;
    if let Some(number) = cx.entities.add(helper, now, started) {
        cx.entities.link(cx.host, number);
    }
}

/// Forms teams, and the boxes that open doors, once everything is there.
pub(in crate::game::deathmatch) fn form_mover_teams(cx: &mut Context<'_>) {
    let numbers: Vec<EntityNum> =
        cx.entities.numbers().filter(|&number| cx.entities.mover(number).is_some()).collect();
    for &team_master in &numbers {
        let Some((_, mover)) = cx.entities.mover(team_master) else { continue };
        if mover.team_name.is_empty() || mover.team_master != team_master {
            continue;
        }
        let team_name = mover.team_name.clone();
        let same = |&number: &EntityNum| {
            cx.entities.mover(number).is_some_and(|(_, mover)| mover.team_name == team_name)
        };
        let team: Arc<[EntityNum]> = numbers.iter().copied().filter(same).collect();
        if team.first() != Some(&team_master) {
            continue;
        }
        for &member in &team[1..] {
            // Who uses one of a team means its captain.
            let name = cx.entities.with_mover(member, |entity, mover| {
                mover.team_master = team_master;
                mover.team = Arc::new([]);
                std::mem::take(&mut entity.targetname)
            });
            if let Some(name) = name.filter(|name| !name.is_empty())
                && let Some(entity) = cx.entities.get_mut(team_master)
            {
                entity.targetname = name;
            }
        }
        cx.entities.with_mover(team_master, |_, mover| mover.team = team);
    }
    for number in numbers {
        add_door_trigger(cx, number);
    }
}
impl Entities {
    /// The movers that a captain leads, itself first.
    fn team_of(&self, team_master: EntityNum) -> Arc<[EntityNum]> {
        self.mover(team_master).map(|(_, mover)| Arc::clone(&mover.team)).unwrap_or_default()
    }

    /// Whether damage sets a mover off.
    pub(in crate::game::deathmatch) fn is_shootable(&self, number: EntityNum) -> bool {
        self.mover(number).is_some_and(|(_, mover)| mover.shootable)
    }
}

/// Somebody or something damages a mover: one that is where it belongs and that damage sets off is
/// used, others do not care.
pub(in crate::game::deathmatch) fn shoot_mover(
    cx: &mut Context<'_>,
    number: EntityNum,
    attacker: Option<ClientNum>,
) {
    let at_rest =
        cx.entities.mover(number).is_some_and(|(_, mover)| mover.state == MoverState::At(0));
    if at_rest && cx.entities.is_shootable(number) {
        use_mover(cx, number, attacker);
    }
}

/// Somebody has run into a mover: buttons move, raised lifts wait.
pub(in crate::game::deathmatch) fn bump_mover(
    cx: &mut Context<'_>,
    number: EntityNum,
    client: ClientNum,
) {
    let Some((_, mover)) = cx.entities.mover(number) else { return };
    match (&mover.kind, mover.state) {
        (MoverKind::Button, MoverState::At(0)) if !mover.damage_only => {
            use_mover(cx, number, Some(client));
        }
        (MoverKind::Plat, MoverState::At(1)) if !cx.is_dead(client) => delay_plat(cx, number),
        _ => {}
    }
}

/// A team's frame: moves, arrives, sets out again.
pub(in crate::game::deathmatch) fn run_mover_team(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    team_master: EntityNum,
) {
    let now = cx.clients.now;
    let Some((_, mover)) = cx.entities.mover(team_master) else { return };
    if mover.team_master != team_master {
        return;
    }
    let team = Arc::clone(&mover.team);
    let moves = |&member: &EntityNum| cx.entities.get(member).is_some_and(|entity| !rests(entity));
    if team.iter().any(moves) && push_team(cx, sys, &team) {
        for &member in &*team {
            arrive(cx, sys, member);
        }
    }
    let Some(entity) = cx.entities.get_mut(team_master) else { return };
    if !is_due(entity, now) {
        return;
    }
    entity.think_at = None;
    match cx.entities.mover(team_master) {
        Some((_, Mover { kind: MoverKind::Train(_), .. })) => run_train(cx, sys, team_master),
        Some((_, Mover { state: MoverState::At(1), .. })) => return_to_start(cx, team_master),
        _ => {}
    }
}

fn arrive(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum) {
    let now = cx.clients.now;
    let Some((entity, mover)) = cx.entities.mover(number) else { return };
    let pos = entity.state.pos;
    if pos.kind != TrajectoryKind::LinearStop as i32
        || now.distance(LevelTime(pos.time)) < pos.duration
    {
        return;
    }
    match (&mover.kind, mover.state) {
        (MoverKind::Train(_), _) => reach_next_corner(cx, sys, number),
        (_, MoverState::To(end)) => arrive_at(cx, sys, number, end),
        (_, MoverState::At(_)) => {}
    }
}

/// Light and color of a mover in one number.
fn light_of(map_entity: &MapEntity) -> i32 {
    let light = map_entity.float("light");
    let color = map_entity.vec3("color");
    if light.is_none() && color.is_none() {
        return 0;
    }
    let byte = |value: f32| (value as i32).clamp(0, 255);
    let Vec3([red, green, blue]) = color.unwrap_or(Vec3::new(1.0, 1.0, 1.0)) * 255.0;
    byte(red) | byte(green) << 8 | byte(blue) << 16 | byte(light.unwrap_or(LIGHT) / 4.0) << 24
}
