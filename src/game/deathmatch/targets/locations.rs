//! Names of places, which clients show for team mates.
//!
//! Source: the base game's locations.

use crate::model::{ConfigIndex, EntityNum, limits::MAX_CLIENTS};
use crate::world::entity_string::MapEntity;
use crate::{
    bg::configstring,
    game::{
        Host,
        deathmatch::{Deathmatch, things::What},
        userinfo::clean_text,
    },
};

/// When the names are told after the load, in milliseconds.
const NAMES_MS: i32 = 200;
/// Longest name, in bytes.
const MAX_NAME: usize = 127;
/// Names that fit, with the one of no place.
const MAX_NAMES: u16 = MAX_CLIENTS as u16;
/// What is told of where no place is.
const NOWHERE: &str = "unknown";

/// `target_location`.
pub(in crate::game::deathmatch) fn location(
    game: &mut Deathmatch,
    _host: &mut dyn Host,
    entity: &MapEntity,
) {
    let name = clean_text(&entity.text_field("message").unwrap_or_default(), MAX_NAME);
    let is_first = game
        .things
        .numbers()
        .filter_map(|number| game.things.get(number))
        .all(|thing| !matches!(thing.what, What::Location(_)));
    let due = game.people.now + NAMES_MS;
    game.people.places.add(entity.origin(), &name, entity.int("count").unwrap_or(0));
    let number = game.add(entity, What::Location(name.into()));
    if let Some(thing) = number.and_then(|number| game.things.get_mut(number)) {
        thing.think_at = is_first.then_some(due);
    }
}

impl Deathmatch {
    /// Tells the names of all places, when it is time for it.
    pub(in crate::game::deathmatch) fn run_location(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
    ) {
        let now = self.people.now;
        let Some(thing) = self.things.get_mut(number) else { return };
        if thing.think_at.is_none_or(|at| at.distance(now) > 0) {
            return;
        }
        thing.think_at = None;
        let names = self.things.numbers().filter_map(|number| {
            let What::Location(name) = &self.things.get(number)?.what else { return None };
            Some(&**name)
        });
        for (place, name) in (0..MAX_NAMES).zip([NOWHERE].into_iter().chain(names)) {
            if let Some(index) = ConfigIndex::new(usize::from(configstring::LOCATIONS + place)) {
                host.set_configstring(index, name);
            }
        }
    }
}
