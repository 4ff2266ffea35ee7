//! What fires its targets: when touched, when used, by the clock, once at the start.
//!
//! Source: the base game's triggers, timer, relay and delay.

use super::{Cause, Trigger};
use crate::game::{
    Host,
    deathmatch::{Deathmatch, things::What},
};
use crate::model::{ClientNum, EntityNum};
use crate::world::entity_string::MapEntity;

/// When triggers that need no touch fire, and clocks start, after the load; milliseconds.
const START_MS: i32 = 300;
const CLOCK_MS: i32 = 100;
/// How long a trigger that fires once stays, in milliseconds.
const LAST_MS: i32 = 100;
/// What is taken from a wait for a chance that is not below it: a frame in milliseconds, though the wait
/// is in seconds. So such clocks are erratic, and maps are made for that.
const TOO_RANDOM: f32 = 100.0;
/// Bit of a clock that runs from the start; of a relay that fires one target by chance.
const ON: i32 = 1;
const ONE_OF_ALL: i32 = 4;

/// Something that rests, as the map says for how long.
fn resting(host: &mut dyn Host, entity: &MapEntity, cause: Cause, wait: f32, random: f32) -> What {
    let mut trigger = Trigger::new(cause);
    trigger.wait = entity.float("wait").unwrap_or(wait);
    trigger.random = entity.float("random").unwrap_or(random);
    if trigger.wait >= 0.0 && trigger.random >= trigger.wait {
        trigger.random = trigger.wait - TOO_RANDOM;
        host.print(&format!("line {}: the chance is not below the wait", entity.line()));
    }
    What::Trigger(Box::new(trigger))
}

/// `trigger_multiple`.
pub(in crate::game::deathmatch) fn multiple(
    game: &mut Deathmatch,
    host: &mut dyn Host,
    entity: &MapEntity,
) {
    let what = resting(host, entity, Cause::Touch, 0.5, 0.0);
    game.add_trigger(host, entity, what, None);
}

/// `trigger_always`.
pub(in crate::game::deathmatch) fn always(
    game: &mut Deathmatch,
    _host: &mut dyn Host,
    entity: &MapEntity,
) {
    let due = game.people.now + START_MS;
    if let Some(number) = game.add_target(entity, Cause::Start) {
        game.schedule(number, Some(due), None);
    }
}

/// `func_timer`.
pub(in crate::game::deathmatch) fn timer(
    game: &mut Deathmatch,
    host: &mut dyn Host,
    entity: &MapEntity,
) {
    let due = game.people.now + CLOCK_MS;
    let what = resting(host, entity, Cause::Clock, 1.0, 1.0);
    let Some(thing) = game.add(entity, what).and_then(|number| game.things.get_mut(number)) else {
        return;
    };
    thing.think_at = (thing.spawnflags & ON != 0).then_some(due);
}

/// `target_relay`.
pub(in crate::game::deathmatch) fn relay(
    game: &mut Deathmatch,
    _host: &mut dyn Host,
    entity: &MapEntity,
) {
    game.add_target(entity, Cause::Relay);
}

/// `target_delay`.
pub(in crate::game::deathmatch) fn delay(
    game: &mut Deathmatch,
    _host: &mut dyn Host,
    entity: &MapEntity,
) {
    let mut trigger = Trigger::new(Cause::Delay);
    let wait = entity.float("delay").or_else(|| entity.float("wait"));
    trigger.wait = wait.filter(|&wait| wait != 0.0).unwrap_or(1.0);
    trigger.random = entity.float("random").unwrap_or(0.0);
    game.add(entity, What::Trigger(Box::new(trigger)));
}

impl Deathmatch {
    pub(super) fn use_multiple(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
        links: u8,
    ) {
        let Some((thing, trigger)) = self.trigger(number) else { return };
        let (resting, flags, wait) = (thing.think_at.is_some(), thing.spawnflags, trigger.wait);
        if resting || activator.is_some_and(|client| self.is_for_others(flags, client)) {
            return;
        }
        let rest = if wait > 0.0 { self.spread(number) } else { LAST_MS };
        // Before it fires: it may be used again by what it fires.
        self.schedule(number, Some(self.people.now + rest), activator);
        self.fire(host, number, activator, links);
    }

    pub(super) fn use_relay(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
        links: u8,
    ) {
        let Some(flags) = self.things.get(number).map(|thing| thing.spawnflags) else { return };
        if activator.is_some_and(|client| self.is_for_others(flags, client)) {
            return;
        }
        if flags & ONE_OF_ALL == 0 {
            self.fire(host, number, activator, links);
        } else if let Some(target) = self.pick_target(number)
            && links > 0
        {
            self.use_in(host, target, activator, links - 1);
        }
    }

    /// Stops a clock that runs; one that does not begins with firing.
    pub(super) fn toggle_timer(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
        links: u8,
    ) {
        if self.things.get(number).is_some_and(|thing| thing.think_at.is_some()) {
            self.schedule(number, None, activator);
        } else {
            self.tick(host, number, activator, links);
        }
    }

    pub(super) fn tick(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
        links: u8,
    ) {
        let rest = self.spread(number);
        self.schedule(number, Some(self.people.now + rest), activator);
        self.fire(host, number, activator, links);
    }
}
