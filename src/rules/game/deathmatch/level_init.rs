//! Level start: configstrings, map entities and their common fields.
//!
//! Invariants: models and sounds are registered without gaps, in the order of the entity string. Source:
//! the base game's start of a level. Engine names: `G_InitGame`, `SP_worldspawn`.

use super::{
    context::Context, items::Items, modes::ModeRow, movers::form_mover_teams,
    spawn_functions::spawn_entities, systems::Systems, targets::portals::aim_portals,
    teams::TeamState,
};
use crate::bg::{GameType, configstring, items::ItemKind};
use crate::game::{GameEvent, LevelStart, MatchPhase, settings::key, userinfo::clean_text};
use crate::model::text::atoi;
use crate::world::{MapEntities, entity_string::MapEntity};

/// Fields of the map that set a setting, in games that have it.
const MAP_SETTINGS: [(&str, &str); 2] =
    [("enableDust", "g_enableDust"), ("enableBreath", "g_enableBreath")];

/// Starts a level: configstrings, entities of the map, items, match.
pub(super) fn start_level(cx: &mut Context<'_>, sys: &mut Systems, start: &LevelStart) {
    cx.entities.clear();
    sys.fight.items.clear_items(cx);
    sys.spawn_points.clear();
    sys.targets.clear();
    sys.fight.team_state = TeamState::default();
    sys.fight.hooks = &select_game_type(cx).hooks;
    let parsed = cx.host.world().map(|world| MapEntities::parse(&world.bsp().entity_text));
    let entities = match parsed {
        Some(Ok(entities)) => Some(entities),
        Some(Err(error)) => {
            cx.host.print(&format!("the map's {error}; map entities ignored"));
            None
        }
        None => None,
    };
    let world = entities.as_ref().map(MapEntities::world);
    publish_texts(cx, world, start);
    if let Some(world) = world {
        apply_map_settings(cx, world);
    }
    if let Some(entities) = &entities {
        sys.spawn_points.read_intermission(entities);
        spawn_entities(cx, sys, entities);
    }
    sys.fight.items.register_shooters(cx);
    sys.fight.items.register_arms(cx);
    cx.entities.join_item_chains();
    sys.fight.items.publish_flags(cx);
    sys.fight.items.publish_items(cx);
    if cx.clients.ruleset.matches.clears_intermission {
        cx.host.set_configstring(configstring::INTERMISSION, "");
    }
    sys.body_queue.init(cx);
    form_mover_teams(cx);
    aim_portals(cx);
    if !start.restart {
        cx.clients.publish_scores(cx.host);
    }
    if entities.is_some() && sys.spawn_points.is_empty() {
        cx.host.print("the map has no spawn points; players spawn at its origin");
    }
    cx.emit(GameEvent::Phase(MatchPhase::LevelStart));
    sys.fight.match_state.begin_match(cx, start.restart);
}

/// Selects the game type of `g_gametype`; free for all for one that is not supported.
fn select_game_type(cx: &mut Context<'_>) -> &'static ModeRow {
    let number = cx.host.settings().int(key::G_GAMETYPE);
    let game_type = GameType::of_number(number).filter(|&kind| kind.is_for_many());
    if game_type.is_none() {
        let warning = format!("g_gametype {number} not supported (expected 0, 1, 3 or 4): using 0");
        cx.host.warn(&warning);
        cx.clients.status_note = Some(warning);
        cx.host.set_setting("g_gametype", "0");
    } else if number != 0 {
        cx.clients.status_note = None;
    }
    let game_type = game_type.unwrap_or_default();
    let row = ModeRow::of(game_type);
    cx.frame.mode = &row.mode;
    cx.clients.play_game_type(game_type, row.mode.join);
    row
}

/// Publishes the configstrings of the level that no entity changes.
fn publish_texts(cx: &mut Context<'_>, world: Option<&MapEntity>, start: &LevelStart) {
    let key = |name: &str| {
        let text = world.and_then(|world| world.text_field(name)).unwrap_or_default();
        clean_text(&text, 255)
    };
    let ruleset = cx.clients.ruleset;
    let custom = clean_text(cx.host.settings().text(key::G_MUSIC), 127);
    let replaced = ruleset.level.has_music_setting
        && !custom.is_empty()
        && !custom.eq_ignore_ascii_case("none");
    let music = if replaced { custom } else { key("music") };
    let motd = clean_text(cx.host.settings().text(key::G_MOTD), 255);
    for (index, text) in [
        (configstring::FRY_SOUND, configstring::FRY_SOUND_FILE),
        (configstring::GAME_VERSION, ruleset.version),
        (configstring::LEVEL_START_TIME, &start.time.to_string()),
        (configstring::MUSIC, &music),
        (configstring::MESSAGE, &key("message")),
        (configstring::MOTD, &motd),
    ] {
        cx.host.set_configstring(index, text);
    }
}

/// Applies the settings that the map's first entity has.
fn apply_map_settings(cx: &mut Context<'_>, world: &MapEntity) {
    let default = key::G_GRAVITY.setting().in_game(cx.host.settings().game()).default;
    let gravity = world.spawn_value("gravity").unwrap_or(default);
    cx.host.set_setting("g_gravity", &atoi(gravity).clamp(0, 0xffff).to_string());
    for (field, setting) in MAP_SETTINGS {
        let on = world.spawn_value(field).is_some_and(|value| atoi(value) != 0);
        if !cx.host.setting(setting).is_empty() {
            cx.host.set_setting(setting, if on { "1" } else { "0" });
        }
    }
    cx.refresh_settings();
}

impl Items {
    /// Registers the weapons of the map's shooters, so that clients load them.
    fn register_shooters(&mut self, cx: &mut Context<'_>) {
        let weapons: Vec<i32> = cx.entities.shooters().collect();
        for weapon in weapons {
            if let Some((number, _)) = cx.clients.ruleset.items.by_tag(ItemKind::Weapon, weapon) {
                self.register_item(number);
            }
        }
    }
}
