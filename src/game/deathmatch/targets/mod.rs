//! What fires what: triggers, relays, and everything that does something when it is used.
//!
//! Invariants: targets that fire each other in a circle stop after [`MAX_LINKS`] links, and no frame sets
//! off more than [`MAX_USES`] things, however a map is wired. Source: the base game's triggers and targets.

mod acts;
mod laser;
mod locations;
mod portals;
mod remaps;
mod shooters;
mod speakers;
mod triggering;

use std::sync::Arc;

use super::{
    Deathmatch,
    things::{Thing, What},
};
use crate::model::{ClientNum, EntityNum, LevelTime, Vec3};
use crate::world::entity_string::MapEntity;
use crate::{
    bg::{Persistent, Team},
    game::Host,
};

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
/// Most things that are set off between two frames.
pub(super) const MAX_USES: u16 = 2048;
/// Bits of what cares for one team only.
const RED_ONLY: i32 = 1;
const BLUE_ONLY: i32 = 2;

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

impl Deathmatch {
    /// Adds something that is set off.
    fn add_target(&mut self, entity: &MapEntity, cause: Cause) -> Option<EntityNum> {
        self.add(entity, What::Trigger(Box::new(Trigger::new(cause))))
    }

    fn trigger(&self, number: EntityNum) -> Option<(&Thing, &Trigger)> {
        let thing = self.things.get(number)?;
        let What::Trigger(trigger) = &thing.what else { return None };
        Some((thing, trigger))
    }

    /// When something acts next by itself, and for whom.
    fn schedule(&mut self, number: EntityNum, at: Option<LevelTime>, activator: Option<ClientNum>) {
        let Some(thing) = self.things.get_mut(number) else { return };
        thing.think_at = at;
        if let What::Trigger(trigger) = &mut thing.what {
            trigger.activator = activator;
        }
    }

    /// Whether something is for the other team.
    fn is_for_others(&self, flags: i32, client: ClientNum) -> bool {
        let team = self
            .people
            .player(client)
            .map_or(0, |player| player.state.persistant[Persistent::Team]);
        (flags & RED_ONLY != 0 && team != Team::Red)
            || (flags & BLUE_ONLY != 0 && team != Team::Blue)
    }

    /// A thing that another one aims at, by chance.
    pub(super) fn pick_target(&mut self, from: EntityNum) -> Option<EntityNum> {
        let name = self.things.get(from)?.target.clone();
        let count = self.things.named(&name).take(32).count();
        let nth = self.pick(count);
        self.things.named(&name).nth(nth)
    }

    /// Uses everything that a thing aims at.
    pub(super) fn fire_targets(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
    ) {
        self.fire(host, number, activator, MAX_LINKS);
    }

    fn fire(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
        links: u8,
    ) {
        self.remap_shader(host, number);
        let Some(thing) = self.things.get(number) else { return };
        if thing.target.is_empty() || links == 0 {
            return;
        }
        let name = thing.target.clone();
        for target in self.things.numbers() {
            let aimed_at = self
                .things
                .get(target)
                .is_some_and(|thing| thing.targetname.eq_ignore_ascii_case(&name));
            if aimed_at && target != number {
                self.use_in(host, target, activator, links - 1);
            }
        }
    }

    /// Somebody, or something, uses a thing.
    pub(super) fn use_thing(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
    ) {
        self.use_in(host, number, activator, MAX_LINKS);
    }

    fn use_in(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
        links: u8,
    ) {
        let Some(left) = self.uses_left.checked_sub(1) else { return };
        self.uses_left = left;
        let Some(thing) = self.things.get(number) else { return };
        match &thing.what {
            What::Mover(_) => self.use_mover(host, number, activator),
            What::Hurt(_) => self.toggle_place(host, number),
            What::Item(_) => self.use_item(host, number),
            What::Trigger(trigger) => {
                let cause = trigger.cause.clone();
                self.set_off(host, number, &cause, activator, links);
            }
            _ => {}
        }
    }

    fn set_off(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        cause: &Cause,
        activator: Option<ClientNum>,
        links: u8,
    ) {
        match cause {
            Cause::Touch => self.use_multiple(host, number, activator, links),
            Cause::Start => {}
            Cause::Clock => self.toggle_timer(host, number, activator, links),
            Cause::Relay => self.use_relay(host, number, activator, links),
            Cause::Delay => {
                let at = self.people.now + self.spread(number);
                self.schedule(number, Some(at), activator);
            }
            Cause::Laser(laser) => self.toggle_laser(host, number, *laser, activator),
            Cause::Shooter => self.shoot(host, number),
            Cause::Speaker(sound) => self.speak(number, *sound, activator),
            Cause::Print(text) => self.print_target(host, number, text, activator),
            Cause::Teleport
            | Cause::Kill
            | Cause::Push(_)
            | Cause::Give
            | Cause::Strip
            | Cause::Score(_) => {
                if let Some(client) = activator {
                    self.act_on(host, number, cause, client);
                }
            }
        }
    }

    /// A time of `wait` seconds give or take `random`, in milliseconds.
    fn spread(&mut self, number: EntityNum) -> i32 {
        let Some((wait, random)) =
            self.trigger(number).map(|(_, trigger)| (trigger.wait, trigger.random))
        else {
            return 0;
        };
        let chance = 2.0 * (self.chance() - 0.5);
        ((wait + random * chance) * 1000.0).clamp(1.0, 86_400_000.0) as i32
    }

    /// A frame of something that acts by itself: clocks, delays, rests, lasers.
    pub(super) fn run_trigger(&mut self, host: &mut dyn Host, number: EntityNum) {
        let now = self.people.now;
        let Some((thing, trigger)) = self.trigger(number) else { return };
        if thing.think_at.is_none_or(|at| at.distance(now) > 0) {
            return;
        }
        let (wait, activator) = (trigger.wait, trigger.activator);
        let cause = trigger.cause.clone();
        if let Some(thing) = self.things.get_mut(number) {
            thing.think_at = None;
        }
        match cause {
            Cause::Start => {
                self.fire_targets(host, number, None);
                self.things.remove(host, number, now);
            }
            Cause::Delay => self.fire_targets(host, number, activator),
            Cause::Clock => self.tick(host, number, activator, MAX_LINKS),
            // Without a rest it never comes back.
            Cause::Touch if wait <= 0.0 => self.things.remove(host, number, now),
            Cause::Laser(laser) => self.run_laser(host, number, laser, activator),
            Cause::Push(_) => self.aim_push(host, number),
            _ => {}
        }
    }
}

/// Where the middle of a thing's box is, as it was placed.
fn middle(thing: &Thing) -> Vec3 {
    thing.state.origin + (thing.shared.mins + thing.shared.maxs) * 0.5
}
