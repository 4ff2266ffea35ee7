//! Movers: rotating and swinging parts, two-position movers, and trains.
//!
//! Clients compute the position of a mover from its trajectory. Each new trajectory therefore starts exactly
//! at the position and time where the last one ended. Movers of a team move together; the first of them in
//! the entity string is the team master. Frames of movers are in `mover_frames`. Source: the base game's movers.
//! Engine names: `InitMover`, `G_FindTeams`.

pub(super) mod doors;
pub(super) mod plats;
pub(super) mod rotating;
pub(super) mod trains;
pub(super) mod two_position;

use self::{doors::add_door_trigger, plats::delay_plat, two_position::use_mover};
use super::entity_kinds::{EntityKind, Mover, MoverKind, MoverState};
use super::{
    asset_index::model_index, asset_index::sound_index, context::Context, entities::Entities,
    entities::Entity, targets::Targets, targets::set_brush_model,
};
use crate::bg::{EntityType, contents};
use crate::model::{
    ClientNum, EntityNum, LevelTime, SvFlags, Trajectory, TrajectoryKind, Vec3, text::atoi,
};
use crate::world::entity_string::MapEntity;
use std::sync::Arc;

pub(super) use doors::{button, door};
pub(super) use plats::plat;
pub(super) use rotating::{bobbing, fixed, pendulum, rotating};
pub(super) use trains::{corner, train};

/// Default damage of a mover.
const DAMAGE: i32 = 2;
/// Largest value of a mover key. It exceeds the size of the world, for trains that jump to a corner.
const MAX_VALUE: f32 = 10_000_000.0;
/// Default light intensity of a mover with a color.
const LIGHT: f32 = 100.0;

impl Mover {
    fn new(kind: MoverKind, map_entity: &MapEntity) -> Self {
        let damage_only = map_entity.int("health").unwrap_or(0) != 0;
        Self {
            kind,
            positions: [map_entity.origin(); 2],
            state: MoverState::At(0),
            travel_ms: 0,
            wait_ms: 0,
            damage: map_entity.spawn_value("dmg").map_or(DAMAGE, atoi),
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

/// Returns a linear trajectory that stops at `to`.
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

/// Returns a number of the map, clamped to [`MAX_VALUE`].
fn number(map_entity: &MapEntity, key: &str, default: f32) -> f32 {
    map_entity.float(key).unwrap_or(default).clamp(-MAX_VALUE, MAX_VALUE)
}

/// Returns a number of the map where 0 means the default.
fn number_or(map_entity: &MapEntity, key: &str, default: f32) -> f32 {
    match number(map_entity, key, default) {
        0.0 => default,
        number => number,
    }
}

impl Entities {
    pub(crate) fn mover(&self, number: EntityNum) -> Option<(&Entity, &Mover)> {
        let entity = self.get(number)?;
        let EntityKind::Mover(mover) = &entity.kind else { return None };
        Some((entity, mover))
    }

    /// Runs a change on an entity and its mover.
    pub(crate) fn with_mover<R>(
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
    /// Adds a mover with its brush model, second model, sound and light.
    pub(crate) fn add_mover(
        &mut self,
        cx: &mut Context<'_>,
        map_entity: &MapEntity,
        mover: Mover,
    ) -> Option<EntityNum> {
        let number = self.add(cx, map_entity, EntityKind::Mover(Box::new(mover)))?;
        if !set_brush_model(cx, map_entity, number, -1) {
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

/// Adds the trigger box of a mover, hidden from clients.
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

/// Forms mover teams and adds the trigger boxes of doors, once all entities exist.
pub(crate) fn form_mover_teams(cx: &mut Context<'_>) {
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
            // Use of any team member activates the master.
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
    /// Returns the members of a master's team, itself first.
    pub(crate) fn team_of(&self, team_master: EntityNum) -> Arc<[EntityNum]> {
        self.mover(team_master).map(|(_, mover)| Arc::clone(&mover.team)).unwrap_or_default()
    }

    /// Whether damage activates a mover.
    pub(crate) fn is_shootable(&self, number: EntityNum) -> bool {
        self.mover(number).is_some_and(|(_, mover)| mover.shootable)
    }
}

/// Uses a shootable mover in its first position when it is damaged.
pub(crate) fn shoot_mover(cx: &mut Context<'_>, number: EntityNum, attacker: Option<ClientNum>) {
    let at_rest =
        cx.entities.mover(number).is_some_and(|(_, mover)| mover.state == MoverState::At(0));
    if at_rest && cx.entities.is_shootable(number) {
        use_mover(cx, number, attacker);
    }
}

/// Touches a mover: a button is pressed, a raised plat waits longer.
pub(crate) fn bump_mover(cx: &mut Context<'_>, number: EntityNum, client: ClientNum) {
    let Some((_, mover)) = cx.entities.mover(number) else { return };
    match (&mover.kind, mover.state) {
        (MoverKind::Button, MoverState::At(0)) if !mover.damage_only => {
            use_mover(cx, number, Some(client));
        }
        (MoverKind::Plat, MoverState::At(1)) if !cx.is_dead(client) => delay_plat(cx, number),
        _ => {}
    }
}

/// Returns light intensity and color of a mover, packed as clients expect them.
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
