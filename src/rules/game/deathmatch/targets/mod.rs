//! Targets and triggers: relays, delays, timers and their use.
//!
//! Invariants: a chain of targets ends after [`MAX_CHAIN`] links, and a frame uses at most [`MAX_USES`]
//! entities, even with circular targets. Source: the base game's triggers and targets. Engine names:
//! `G_UseTargets`, `G_PickTarget`.

pub(super) mod actions;
pub(super) mod laser;
pub(super) mod locations;
pub(super) mod portals;
pub(super) mod relays;
pub(super) mod shader_remaps;
pub(super) mod shooters;
pub(super) mod speakers;

use super::entity_kinds::{EntityKind, Target, TargetKind};
use super::targets::actions::{aim_push, apply_to_activator, print_target};
use super::targets::relays::{fire_timer, toggle_timer, use_multiple, use_relay};
use super::{
    context::Context, entities::Entities, entities::Entity, items::respawn::use_item,
    movers::two_position::use_mover, systems::Systems, targets::laser::run_laser,
    targets::laser::toggle_laser, targets::shooters::aim_shooter, targets::shooters::shoot,
    targets::speakers::play_speaker, triggers::toggle_hurt_trigger,
};
use crate::bg::{Persistent, Team};
use crate::model::{ClientNum, EntityNum, LevelTime, Vec3};
use crate::world::entity_string::MapEntity;

pub(super) use actions::{give, kill, print, push, score, strip, teleporter};
pub(super) use laser::laser;
pub(super) use locations::location;
pub(super) use portals::{camera, portal};
pub(super) use relays::{always, delay, multiple, relay, timer};
pub(super) use shader_remaps::ShaderRemaps;
pub(super) use shooters::{grenade_shooter, plasma_shooter, rocket_shooter};
pub(super) use speakers::speaker;

/// Maximum length of a chain of targets that fire targets.
const MAX_CHAIN: u8 = 16;
/// Maximum number of uses between two frames.
pub(super) const MAX_USES: u16 = 2048;
/// Spawn flags of targets for one team.
const RED_ONLY: i32 = 1;
const BLUE_ONLY: i32 = 2;

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
    fn add_target(
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
    fn schedule(&mut self, number: EntityNum, at: Option<LevelTime>, activator: Option<ClientNum>) {
        let Some(entity) = self.get_mut(number) else { return };
        entity.think_at = at;
        if let EntityKind::Target(target) = &mut entity.kind {
            target.activator = activator;
        }
    }
}

/// Whether spawn flags restrict a target to another team than the client's.
fn is_for_other_team(cx: &Context<'_>, flags: i32, client: ClientNum) -> bool {
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

/// Uses all targets of an entity.
pub(crate) fn fire_targets(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
) {
    fire(cx, sys, number, activator, MAX_CHAIN);
}

pub(crate) fn fire(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
    links: u8,
) {
    sys.targets.remap_shader(cx, number);
    let Some(entity) = cx.entities.get(number) else { return };
    if entity.target.is_empty() || links == 0 {
        return;
    }
    let name = entity.target.clone();
    for target in cx.entities.numbers() {
        let aimed_at = cx
            .entities
            .get(target)
            .is_some_and(|entity| entity.targetname.eq_ignore_ascii_case(&name));
        if aimed_at && target != number {
            use_in(cx, sys, target, activator, links - 1);
        }
    }
}

/// Uses an entity.
pub(crate) fn use_entity(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
) {
    use_in(cx, sys, number, activator, MAX_CHAIN);
}

fn use_in(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
    links: u8,
) {
    let Some(left) = sys.targets.use_budget.checked_sub(1) else { return };
    sys.targets.use_budget = left;
    let Some(entity) = cx.entities.get(number) else { return };
    match &entity.kind {
        EntityKind::Mover(_) => use_mover(cx, number, activator),
        EntityKind::Hurt(_) => toggle_hurt_trigger(cx, number),
        EntityKind::Item(_) => use_item(cx, number),
        EntityKind::Target(target) => {
            let kind = target.kind.clone();
            activate(cx, sys, number, &kind, activator, links);
        }
        _ => {}
    }
}

fn activate(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    kind: &TargetKind,
    activator: Option<ClientNum>,
    links: u8,
) {
    match kind {
        TargetKind::Multiple => use_multiple(cx, sys, number, activator, links),
        TargetKind::Always => {}
        TargetKind::Timer => toggle_timer(cx, sys, number, activator, links),
        TargetKind::Relay => use_relay(cx, sys, number, activator, links),
        TargetKind::Delay => {
            let at = cx.clients.now + random_wait(cx, number);
            cx.entities.schedule(number, Some(at), activator);
        }
        TargetKind::Laser(laser) => toggle_laser(cx, sys, number, *laser, activator),
        TargetKind::Shooter(shooter) => shoot(cx, number, *shooter),
        TargetKind::Speaker(sound) => play_speaker(cx, number, *sound, activator),
        TargetKind::Print(text) => print_target(cx, number, text, activator),
        TargetKind::Teleport
        | TargetKind::Kill
        | TargetKind::Push(_)
        | TargetKind::Give
        | TargetKind::Strip
        | TargetKind::Score(_) => {
            if let Some(client) = activator {
                apply_to_activator(cx, sys, number, kind, client);
            }
        }
    }
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

/// Runs the think of a target: timer, delay, end of a wait, laser.
pub(crate) fn run_target(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum) {
    let now = cx.clients.now;
    let Some((entity, target)) = cx.entities.target(number) else { return };
    if entity.think_at.is_none_or(|at| at.distance(now) > 0) {
        return;
    }
    let (wait, activator) = (target.wait, target.activator);
    let kind = target.kind.clone();
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.think_at = None;
    }
    match kind {
        TargetKind::Always => {
            fire_targets(cx, sys, number, None);
            cx.entities.remove(cx.host, number, now);
        }
        TargetKind::Delay => fire_targets(cx, sys, number, activator),
        TargetKind::Timer => fire_timer(cx, sys, number, activator, MAX_CHAIN),
        // Without a wait it is removed.
        TargetKind::Multiple if wait <= 0.0 => cx.entities.remove(cx.host, number, now),
        TargetKind::Laser(laser) => run_laser(cx, sys, number, laser, activator),
        TargetKind::Push(_) => aim_push(cx, number),
        TargetKind::Shooter(shooter) => aim_shooter(cx, number, shooter),
        _ => {}
    }
}

/// Returns the center of an entity's bounds at its spawn origin.
fn center(entity: &Entity) -> Vec3 {
    entity.state.origin + (entity.shared.mins + entity.shared.maxs) * 0.5
}
