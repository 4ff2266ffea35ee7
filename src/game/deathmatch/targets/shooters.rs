//! Weapons in walls: they fire when they are used.
//!
//! Source: the base game's shooters.

use super::Cause;
use crate::game::{
    Host,
    deathmatch::Deathmatch,
    numbers::{event, weapon},
};
use crate::model::EntityNum;
use crate::world::entities::Entity;

/// `shooter_rocket`.
pub(in crate::game::deathmatch) fn rocket_shooter(
    game: &mut Deathmatch,
    host: &mut dyn Host,
    entity: &Entity,
) {
    game.add_shooter(host, entity, weapon::ROCKET_LAUNCHER);
}

/// `shooter_plasma`.
pub(in crate::game::deathmatch) fn plasma_shooter(
    game: &mut Deathmatch,
    host: &mut dyn Host,
    entity: &Entity,
) {
    game.add_shooter(host, entity, weapon::PLASMAGUN);
}

/// `shooter_grenade`.
pub(in crate::game::deathmatch) fn grenade_shooter(
    game: &mut Deathmatch,
    host: &mut dyn Host,
    entity: &Entity,
) {
    game.add_shooter(host, entity, weapon::GRENADE_LAUNCHER);
}

impl Deathmatch {
    fn add_shooter(&mut self, host: &mut dyn Host, entity: &Entity, weapon: i32) {
        let Some(number) = self.add_target(entity, Cause::Shooter) else { return };
        if let Some(thing) = self.things.get_mut(number) {
            thing.state.weapon = weapon;
        }
        self.things.link(host, number);
    }

    /// The weapons in walls: clients must load them at the start.
    pub(in crate::game::deathmatch) fn shooters(&self) -> impl Iterator<Item = i32> {
        let numbers = self.things.numbers();
        numbers.filter_map(|number| {
            let (thing, trigger) = self.trigger(number)?;
            matches!(trigger.cause, Cause::Shooter).then_some(thing.state.weapon)
        })
    }

    /// Seen and heard to fire. Nothing flies yet.
    pub(super) fn shoot(&mut self, number: EntityNum) {
        let now = self.people.now;
        if let Some(thing) = self.things.get_mut(number) {
            thing.raise(event::FIRE_WEAPON, 0, now);
        }
    }
}
