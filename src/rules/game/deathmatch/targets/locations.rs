//! Location entities: names that clients show for teammates.
//!
//! Source: the base game's locations. Engine names: `SP_target_location`, `target_location_linkup`.

use crate::bg::configstring;
use crate::game::deathmatch::{context::Context, entity_kinds::EntityKind, targets::Targets};
use crate::game::userinfo::clean_text;
use crate::model::{ConfigIndex, EntityNum, limits::MAX_CLIENTS};
use crate::world::entity_string::MapEntity;

/// Delay between the level start and the location configstrings, in ms.
const NAMES_MS: i32 = 200;
/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 127;
/// Maximum number of names, including [`NOWHERE`].
const MAX_NAMES: u16 = MAX_CLIENTS as u16;
/// Name of positions without a location.
const NOWHERE: &str = "unknown";

/// `target_location`.
pub(crate) fn location(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let name = clean_text(&map_entity.text_field("message").unwrap_or_default(), MAX_NAME);
    let is_first = cx
        .entities
        .numbers()
        .filter_map(|number| cx.entities.get(number))
        .all(|entity| !matches!(entity.kind, EntityKind::Location(_)));
    let due = cx.clients.now + NAMES_MS;
    cx.clients.locations.add(map_entity.origin(), &name, map_entity.int("count").unwrap_or(0));
    let number = targets.add(cx, map_entity, EntityKind::Location(name.into()));
    if let Some(entity) = number.and_then(|number| cx.entities.get_mut(number)) {
        entity.think_at = is_first.then_some(due);
    }
}

/// Sets the configstrings of all locations when the think is due.
pub(crate) fn run_location(cx: &mut Context<'_>, number: EntityNum) {
    let now = cx.clients.now;
    let Some(entity) = cx.entities.get_mut(number) else { return };
    if entity.think_at.is_none_or(|at| at.distance(now) > 0) {
        return;
    }
    entity.think_at = None;
    let names = cx.entities.numbers().filter_map(|number| {
        let EntityKind::Location(name) = &cx.entities.get(number)?.kind else { return None };
        Some(&**name)
    });
    for (offset, name) in (0..MAX_NAMES).zip([NOWHERE].into_iter().chain(names)) {
        if let Some(index) = ConfigIndex::new(usize::from(configstring::LOCATIONS + offset)) {
            cx.host.set_configstring(index, name);
        }
    }
}
