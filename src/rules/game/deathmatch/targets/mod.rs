//! Targets: state, spawn functions and single effects. Their use is in `activation`.
//!
//! Source: the base game's triggers and targets. Engine names: `G_PickTarget`, `G_SetMovedir`.

pub(super) mod actions;
pub(super) mod laser;
pub(super) mod locations;
pub(super) mod portals;
pub(super) mod relays;
mod shader_remaps;
pub(super) mod shooters;
pub(super) mod speakers;

use self::shader_remaps::ShaderRemaps;
use super::entity_kinds::{EntityKind, Target, TargetKind};
use super::{context::Context, entities::Entities, entities::Entity};
use crate::bg::{Persistent, Team};
use crate::game::movement::angles;
use crate::model::{ClientNum, EntityNum, LevelTime, Vec3};
use crate::world::entity_string::MapEntity;

pub(super) use actions::{give, kill, print, push, score, strip, teleporter};
pub(super) use laser::laser;
pub(super) use locations::location;
pub(super) use portals::{camera, portal};
pub(super) use relays::{always, delay, multiple, relay, timer};
pub(super) use shooters::{grenade_shooter, plasma_shooter, rocket_shooter};
pub(super) use speakers::speaker;

/// Maximum number of uses between two frames.
pub(super) const MAX_USES: u16 = 2048;
/// Spawn flags of targets for one team.
pub(super) const RED_ONLY: i32 = 1;
pub(super) const BLUE_ONLY: i32 = 2;

/// State of all targets.
#[derive(Debug)]
pub(super) struct Targets {
    /// Shader remaps of the level.
    remaps: ShaderRemaps,
    /// Uses left before the next frame.
    use_budget: u16,
}

impl Default for Targets {
    fn default() -> Self {
        Self { remaps: ShaderRemaps::default(), use_budget: MAX_USES }
    }
}

impl Targets {
    /// Resets the budget of uses.
    pub(super) fn begin_frame(&mut self) {
        self.use_budget = MAX_USES;
    }

    /// Counts a use. Returns false when the budget of the frame is used up.
    pub(super) fn spend_use(&mut self) -> bool {
        let left = self.use_budget.checked_sub(1);
        self.use_budget = left.unwrap_or(0);
        left.is_some()
    }

    #[cfg(test)]
    pub(super) const fn use_budget(&self) -> u16 {
        self.use_budget
    }

    /// Clears the state for a new level.
    pub(super) fn clear(&mut self) {
        self.remaps.clear();
    }

    /// Reads the shader remap of a map entity.
    pub(super) fn read_remap(&mut self, map_entity: &MapEntity, number: EntityNum) {
        self.remaps.read(map_entity, number);
    }
}

impl Target {
    fn new(kind: TargetKind) -> Self {
        Self { kind, wait: 0.0, random: 0.0, activator: None }
    }
}

impl Targets {
    /// Adds a target of a kind.
    pub(crate) fn add_target(
        &mut self,
        cx: &mut Context<'_>,
        map_entity: &MapEntity,
        kind: TargetKind,
    ) -> Option<EntityNum> {
        self.add(cx, map_entity, EntityKind::Target(Box::new(Target::new(kind))))
    }
}

impl Entities {
    pub(crate) fn target(&self, number: EntityNum) -> Option<(&Entity, &Target)> {
        let entity = self.get(number)?;
        let EntityKind::Target(target) = &entity.kind else { return None };
        Some((entity, target))
    }

    /// Schedules the next think of a target and its activator.
    pub(crate) fn schedule(
        &mut self,
        number: EntityNum,
        at: Option<LevelTime>,
        activator: Option<ClientNum>,
    ) {
        let Some(entity) = self.get_mut(number) else { return };
        entity.think_at = at;
        if let EntityKind::Target(target) = &mut entity.kind {
            target.activator = activator;
        }
    }
}

/// Whether spawn flags restrict a target to another team than the client's.
pub(super) fn is_for_other_team(cx: &Context<'_>, flags: i32, client: ClientNum) -> bool {
    let team =
        cx.clients.player(client).map_or(0, |player| player.state.persistant[Persistent::Team]);
    (flags & RED_ONLY != 0 && team != Team::Red) || (flags & BLUE_ONLY != 0 && team != Team::Blue)
}

/// Picks a random entity that another one targets.
pub(crate) fn pick_target(cx: &mut Context<'_>, from: EntityNum) -> Option<EntityNum> {
    let name = cx.entities.get(from)?.target.clone();
    let count = cx.entities.named(&name).take(32).count();
    let nth = cx.rng.pick(count);
    cx.entities.named(&name).nth(nth)
}

/// Returns a random time of `wait` ± `random` seconds, in ms.
pub(crate) fn random_wait(cx: &mut Context<'_>, number: EntityNum) -> i32 {
    let Some((wait, random)) =
        cx.entities.target(number).map(|(_, target)| (target.wait, target.random))
    else {
        return 0;
    };
    let chance = cx.rng.crandom();
    ((wait + random * chance) * 1000.0).clamp(1.0, 86_400_000.0) as i32
}

/// Returns the movement direction of a map's angles; yaw −1 is up, −2 is down.
pub(super) fn direction_of(given: Vec3) -> Vec3 {
    match given.0 {
        [0.0, -1.0, 0.0] => Vec3::new(0.0, 0.0, 1.0),
        [0.0, -2.0, 0.0] => Vec3::new(0.0, 0.0, -1.0),
        _ => angles::axes(given).forward,
    }
}

/// Returns the center of an entity's bounds at its spawn origin.
pub(super) fn center(entity: &Entity) -> Vec3 {
    entity.state.origin + (entity.shared.mins + entity.shared.maxs) * 0.5
}

impl Targets {
    /// Adds the entity of a map entity, with the fields that all classes share.
    pub(super) fn add(
        &mut self,
        cx: &mut Context<'_>,
        map_entity: &MapEntity,
        kind: EntityKind,
    ) -> Option<EntityNum> {
        let (now, started) = cx.clock();
        let mut entity = Entity::new(kind, map_entity.origin());
        entity.state.origin = map_entity.origin();
        entity.state.angles = map_entity.angles();
        entity.target = map_entity.field("target").unwrap_or_default().into();
        entity.targetname = map_entity.field("targetname").unwrap_or_default().into();
        entity.spawnflags = map_entity.int("spawnflags").unwrap_or(0);
        let number = cx.entities.add(entity, now, started)?;
        self.read_remap(map_entity, number);
        Some(number)
    }
}

/// Gives an entity its brush model. Returns false if the map has none for it.
pub(super) fn set_brush_model(
    cx: &mut Context<'_>,
    map_entity: &MapEntity,
    number: EntityNum,
    contents: i32,
) -> bool {
    let (Some(name), Some(world)) = (map_entity.field("model"), cx.host.world()) else {
        return false;
    };
    let Some(entity) = cx.entities.get_mut(number) else { return false };
    let found = world.set_brush_model(name, &mut entity.state, &mut entity.shared);
    if found {
        entity.shared.contents = contents;
    }
    found
}
