//! Targets and triggers: relays, delays, timers and their use.
//!
//! Invariants: targets that fire each other in a circle stop after [`MAX_LINKS`] links, and no frame sets
//! off more than [`MAX_USES`] entities, however a map is wired. Source: the base game's triggers and targets.

pub(super) mod acts;
pub(super) mod laser;
pub(super) mod locations;
pub(super) mod portals;
pub(super) mod remaps;
pub(super) mod shooters;
pub(super) mod speakers;
pub(super) mod triggering;

use crate::game::deathmatch::{
    context::Context,
    entities::Entities,
    items::respawn::use_item,
    movers::ends::use_mover,
    systems::Systems,
    targets::acts::{act_on, aim_push, print_target},
    targets::laser::{run_laser, toggle_laser},
    targets::shooters::shoot,
    targets::speakers::speak,
    targets::triggering::{tick, toggle_timer, use_multiple, use_relay},
    triggers::toggle_place,
};
use std::sync::Arc;

use super::entities::{Entity, EntityKind};
use crate::bg::{Persistent, Team};
use crate::model::{ClientNum, EntityNum, LevelTime, Vec3};
use crate::world::entity_string::MapEntity;

pub(super) use acts::{give, kill, print, push, score, strip, teleporter};
pub(super) use laser::{Laser, laser};
pub(super) use locations::location;
pub(super) use portals::{camera, portal};
pub(super) use remaps::Remaps;
pub(super) use shooters::{grenade_shooter, plasma_shooter, rocket_shooter};
pub(super) use speakers::speaker;
pub(super) use triggering::{always, delay, multiple, relay, timer};

/// Most links of targets that fire targets.
const MAX_LINKS: u8 = 16;
/// Most entities that are set off between two frames.
pub(super) const MAX_USES: u16 = 2048;
/// Bits of what cares for one team only.
const RED_ONLY: i32 = 1;
const BLUE_ONLY: i32 = 2;

/// State of all targets.
#[derive(Debug)]
pub(super) struct Targets {
    /// Shaders that are drawn in place of others.
    remaps: Remaps,
    /// Entities that may still be used before the next frame.
    uses_left: u16,
}

impl Default for Targets {
    fn default() -> Self {
        Self { remaps: Remaps::default(), uses_left: MAX_USES }
    }
}

impl Targets {
    /// Allows the uses of one frame.
    pub(super) fn begin_frame(&mut self) {
        self.uses_left = MAX_USES;
    }

    #[cfg(test)]
    pub(super) const fn uses_left(&self) -> u16 {
        self.uses_left
    }

    /// Starts a level.
    pub(super) fn clear(&mut self) {
        self.remaps.clear();
    }

    /// Reads the shader that an entity of the map replaces.
    pub(super) fn read_remap(&mut self, map_entity: &MapEntity, number: EntityNum) {
        self.remaps.read(map_entity, number);
    }
}

/// What sets something off, or what it does when it is set off.
#[derive(Clone, Debug)]
pub(super) enum Cause {
    /// Touched or used: fires its targets, then rests. Once, when there is no rest.
    Touch,
    /// By itself, once.
    Start,
    /// By itself, again and again while on.
    Clock,
    /// Used: fires its targets.
    Relay,
    /// Used: fires its targets later.
    Delay,
    /// Used: a line in the middle of the screen.
    Print(Arc<str>),
    /// Used: goes to the target.
    Teleport,
    /// Used: dies.
    Kill,
    /// Used: is thrown at the velocity in the state's `origin2`; heard as this sound.
    Push(i32),
    /// Used: gets what the targets are.
    Give,
    /// Used: loses all powerups.
    Strip,
    /// Used: gets points.
    Score(i32),
    /// Used: plays a sound.
    Speaker(i32),
    /// Used: goes on or off.
    Laser(Laser),
    /// Used: fires.
    Shooter,
}

/// Something that is set off.
#[derive(Clone, Debug)]
pub(super) struct Trigger {
    pub(super) cause: Cause,
    /// Seconds.
    wait: f32,
    random: f32,
    activator: Option<ClientNum>,
}

impl Trigger {
    fn new(cause: Cause) -> Self {
        Self { cause, wait: 0.0, random: 0.0, activator: None }
    }
}

impl Targets {
    /// Adds something that is set off.
    fn add_target(
        &mut self,
        cx: &mut Context<'_>,
        map_entity: &MapEntity,
        cause: Cause,
    ) -> Option<EntityNum> {
        self.add(cx, map_entity, EntityKind::Trigger(Box::new(Trigger::new(cause))))
    }
}

impl Entities {
    pub(in crate::game::deathmatch) fn trigger(
        &self,
        number: EntityNum,
    ) -> Option<(&Entity, &Trigger)> {
        let entity = self.get(number)?;
        let EntityKind::Trigger(trigger) = &entity.kind else { return None };
        Some((entity, trigger))
    }

    /// When something acts next by itself, and for whom.
    fn schedule(&mut self, number: EntityNum, at: Option<LevelTime>, activator: Option<ClientNum>) {
        let Some(entity) = self.get_mut(number) else { return };
        entity.think_at = at;
        if let EntityKind::Trigger(trigger) = &mut entity.kind {
            trigger.activator = activator;
        }
    }
}

/// Whether something is for the other team.
fn is_for_others(cx: &Context<'_>, flags: i32, client: ClientNum) -> bool {
    let team =
        cx.clients.player(client).map_or(0, |player| player.state.persistant[Persistent::Team]);
    (flags & RED_ONLY != 0 && team != Team::Red) || (flags & BLUE_ONLY != 0 && team != Team::Blue)
}

/// An entity that another one aims at, by chance.
pub(in crate::game::deathmatch) fn pick_target(
    cx: &mut Context<'_>,
    from: EntityNum,
) -> Option<EntityNum> {
    let name = cx.entities.get(from)?.target.clone();
    let count = cx.entities.named(&name).take(32).count();
    let nth = cx.rng.pick(count);
    cx.entities.named(&name).nth(nth)
}

/// Uses everything that an entity aims at.
pub(in crate::game::deathmatch) fn fire_targets(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
) {
    fire(cx, sys, number, activator, MAX_LINKS);
}

pub(in crate::game::deathmatch) fn fire(
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

/// Somebody, or something, uses an entity.
pub(in crate::game::deathmatch) fn use_entity(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
) {
    use_in(cx, sys, number, activator, MAX_LINKS);
}

fn use_in(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
    links: u8,
) {
    let Some(left) = sys.targets.uses_left.checked_sub(1) else { return };
    sys.targets.uses_left = left;
    let Some(entity) = cx.entities.get(number) else { return };
    match &entity.kind {
        EntityKind::Mover(_) => use_mover(cx, number, activator),
        EntityKind::Hurt(_) => toggle_place(cx, number),
        EntityKind::Item(_) => use_item(cx, number),
        EntityKind::Trigger(trigger) => {
            let cause = trigger.cause.clone();
            set_off(cx, sys, number, &cause, activator, links);
        }
        _ => {}
    }
}

fn set_off(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    cause: &Cause,
    activator: Option<ClientNum>,
    links: u8,
) {
    match cause {
        Cause::Touch => use_multiple(cx, sys, number, activator, links),
        Cause::Start => {}
        Cause::Clock => toggle_timer(cx, sys, number, activator, links),
        Cause::Relay => use_relay(cx, sys, number, activator, links),
        Cause::Delay => {
            let at = cx.clients.now + spread(cx, number);
            cx.entities.schedule(number, Some(at), activator);
        }
        Cause::Laser(laser) => toggle_laser(cx, sys, number, *laser, activator),
        Cause::Shooter => shoot(cx, number),
        Cause::Speaker(sound) => speak(cx, number, *sound, activator),
        Cause::Print(text) => print_target(cx, number, text, activator),
        Cause::Teleport
        | Cause::Kill
        | Cause::Push(_)
        | Cause::Give
        | Cause::Strip
        | Cause::Score(_) => {
            if let Some(client) = activator {
                act_on(cx, sys, number, cause, client);
            }
        }
    }
}

/// A time of `wait` seconds give or take `random`, in milliseconds.
pub(in crate::game::deathmatch) fn spread(cx: &mut Context<'_>, number: EntityNum) -> i32 {
    let Some((wait, random)) =
        cx.entities.trigger(number).map(|(_, trigger)| (trigger.wait, trigger.random))
    else {
        return 0;
    };
    let chance = 2.0 * (cx.rng.chance() - 0.5);
    ((wait + random * chance) * 1000.0).clamp(1.0, 86_400_000.0) as i32
}

/// A frame of something that acts by itself: clocks, delays, rests, lasers.
pub(in crate::game::deathmatch) fn run_trigger(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
) {
    let now = cx.clients.now;
    let Some((entity, trigger)) = cx.entities.trigger(number) else { return };
    if entity.think_at.is_none_or(|at| at.distance(now) > 0) {
        return;
    }
    let (wait, activator) = (trigger.wait, trigger.activator);
    let cause = trigger.cause.clone();
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.think_at = None;
    }
    match cause {
        Cause::Start => {
            fire_targets(cx, sys, number, None);
            cx.entities.remove(cx.host, number, now);
        }
        Cause::Delay => fire_targets(cx, sys, number, activator),
        Cause::Clock => tick(cx, sys, number, activator, MAX_LINKS),
        // Without a rest it never comes back.
        Cause::Touch if wait <= 0.0 => cx.entities.remove(cx.host, number, now),
        Cause::Laser(laser) => run_laser(cx, sys, number, laser, activator),
        Cause::Push(_) => aim_push(cx, number),
        _ => {}
    }
}

/// Where the middle of an entity's box is, as it was placed.
fn middle(entity: &Entity) -> Vec3 {
    entity.state.origin + (entity.shared.mins + entity.shared.maxs) * 0.5
}
