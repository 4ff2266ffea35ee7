//! Spawn functions: the class names of map entities.
//!
//! Invariants: an unknown class is logged once per level, with the number of its entities. Source: the
//! base game's spawn functions and its filters by game type; OpenArena's. Engine names: `G_CallSpawn`.

use super::{
    context::Context, entity_kinds::EntityKind, items, items::spawn::spawn_item, movers,
    systems::Systems, targets, targets::Targets, triggers,
};
use crate::game::{Host, userinfo::clean_text};
use crate::model::{Vec3, text::atoi};
use crate::world::{MapEntities, PvsLocation, entity_string::MapEntity};
use std::collections::BTreeMap;

/// Maximum number of unknown classes that are logged.
const MAX_NAMED: usize = 16;

/// Classes of spawn points; a playable map has at least one.
const SPAWN_POINTS: [&str; 6] = [
    "info_player_deathmatch",
    "info_player_start",
    "team_CTF_redplayer",
    "team_CTF_blueplayer",
    "team_CTF_redspawn",
    "team_CTF_bluespawn",
];

/// Whether a map with these entities has a spawn point.
pub(crate) fn has_spawn_point(entities: &MapEntities) -> bool {
    SPAWN_POINTS.iter().any(|class| entities.of_class(class).next().is_some())
}

/// Spawn function of a class.
type SpawnFunction = fn(&mut Context<'_>, &mut Targets, &MapEntity);

/// Spawn functions of all rulesets, by class name.
const CLASSES: &[(&str, SpawnFunction)] = &[
    ("info_player_intermission", target_position),
    ("info_notnull", target_position),
    ("info_camp", target_position),
    ("target_position", target_position),
    ("misc_teleporter_dest", target_position),
    ("item_botroam", ignore),
    ("light", ignore),
    ("misc_model", ignore),
    ("info_null", ignore),
    ("func_group", ignore),
    ("func_static", movers::fixed),
    ("func_rotating", movers::rotating),
    ("func_bobbing", movers::bobbing),
    ("func_pendulum", movers::pendulum),
    ("func_door", movers::door),
    ("func_button", movers::button),
    ("func_plat", movers::plat),
    ("func_train", movers::train),
    ("path_corner", movers::corner),
    ("func_timer", targets::timer),
    ("trigger_push", triggers::push_trigger),
    ("trigger_teleport", triggers::teleporter),
    ("trigger_hurt", triggers::hurt_trigger),
    ("trigger_multiple", targets::multiple),
    ("trigger_always", targets::always),
    ("target_relay", targets::relay),
    ("target_delay", targets::delay),
    ("target_print", targets::print),
    ("target_teleporter", targets::teleporter),
    ("target_kill", targets::kill),
    ("target_push", targets::push),
    ("target_give", targets::give),
    ("target_remove_powerups", targets::strip),
    ("target_score", targets::score),
    ("target_laser", targets::laser),
    ("target_speaker", targets::speaker),
    ("target_location", targets::location),
    ("misc_portal_surface", targets::portal),
    ("misc_portal_camera", targets::camera),
    ("shooter_rocket", targets::rocket_shooter),
    ("shooter_plasma", targets::plasma_shooter),
    ("shooter_grenade", targets::grenade_shooter),
];

/// Classes of the rulesets that list them as their own.
const MODE_CLASSES: &[(&str, SpawnFunction)] =
    &[("team_redobelisk", items::red_stand), ("team_blueobelisk", items::blue_stand)];

fn ignore(_cx: &mut Context<'_>, _targets: &mut Targets, _entity: &MapEntity) {}

fn target_position(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    targets.add(cx, map_entity, EntityKind::TargetPosition);
}

/// Spawns the entities of the map that pass its filters.
pub(super) fn spawn_entities(cx: &mut Context<'_>, sys: &mut Systems, entities: &MapEntities) {
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    for map_entity in entities.all().iter().skip(1) {
        let class = map_entity.classname();
        if !passes_filters(cx, map_entity) {
            open_omitted_door(cx.host, map_entity);
        } else if SPAWN_POINTS.iter().any(|point| point.eq_ignore_ascii_case(class)) {
            let number = sys.targets.add(cx, map_entity, EntityKind::TargetPosition);
            sys.spawn_points.add(map_entity, number);
        } else if let Some(spawn) = spawn_of(cx, class) {
            spawn(cx, &mut sys.targets, map_entity);
        } else if !spawn_item(cx, &mut sys.fight.items, &mut sys.targets, map_entity)
            && !is_known(cx, class)
        {
            *unknown.entry(clean_text(class, 63)).or_default() += 1;
        }
    }
    for (class, count) in unknown.iter().take(MAX_NAMED) {
        cx.host.print(&format!("{count} entities of class {class} removed: unknown class"));
    }
    if unknown.len() > MAX_NAMED {
        cx.host.print(&format!("and {} more unknown classes", unknown.len() - MAX_NAMED));
    }
}

/// Returns the spawn function of a class in this ruleset.
fn spawn_of(cx: &Context<'_>, class: &str) -> Option<SpawnFunction> {
    let own: &[(&str, SpawnFunction)] = if is_known(cx, class) { MODE_CLASSES } else { &[] };
    let rows = CLASSES.iter().chain(own);
    rows.copied().find(|(name, _)| name.eq_ignore_ascii_case(class)).map(|(_, spawn)| spawn)
}

/// Whether the ruleset defines a class, even if this level has no use for it.
fn is_known(cx: &Context<'_>, class: &str) -> bool {
    let classes = cx.clients.ruleset.level.mode_classes;
    classes.iter().any(|known| known.eq_ignore_ascii_case(class))
}

/// Whether the filters of a map entity admit it in the current game type and ruleset.
fn passes_filters(cx: &Context<'_>, map_entity: &MapEntity) -> bool {
    let game_type = cx.clients.game_type;
    let set = |key| map_entity.spawn_value(key).is_some_and(|value| atoi(value) != 0);
    let listed = |key| map_entity.spawn_value(key).map(|list| list.contains(game_type.key()));
    let excluded = cx.clients.ruleset.level.excludes_gametypes && listed("!gametype") == Some(true);
    let unwanted = set(if game_type.has_teams() { "notteam" } else { "notfree" })
        || cx.clients.ruleset.level.excluding_keys.iter().copied().any(set)
        || listed("gametype") == Some(false)
        || excluded;
    !unwanted
}

/// Opens the area portal of a door that was filtered out.
fn open_omitted_door(host: &mut dyn Host, map_entity: &MapEntity) {
    let is_door = map_entity.classname().eq_ignore_ascii_case("func_door");
    let Some((name, world)) = map_entity.field("model").filter(|_| is_door).zip(host.world_mut())
    else {
        return;
    };
    let Some(model) = world.bsp().inline_model(name).map(|model| world.bsp().models[model]) else {
        return;
    };
    let (at, reach) = (map_entity.origin(), Vec3::new(1.0, 1.0, 1.0));
    let seen = PvsLocation::of_box(world.bsp(), at + model.mins - reach, at + model.maxs + reach);
    let [first, second] = seen.areas();
    if let Err(error) = world.areas_mut().set_portal(first, second, true) {
        host.print(&error.to_string());
    }
}
