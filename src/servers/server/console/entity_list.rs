//! Console command `entitylist`: entities of the level.
//!
//! Source: the base game's console commands. Engine names: `Svcmd_EntityList_f`.

use crate::{
    bg::EntityType,
    model::{CommandArgs, EntityNum},
    server::state::Server,
    settings::name_matches,
};

/// Lists the entities whose type matches a pattern.
pub(super) fn show(server: &mut Server, words: &CommandArgs) {
    // A module lists its own entities.
    if server.core.settings.hosts_module()
        && server.enter_game(|game, host| game.console_command(host, words)) == Some(true)
    {
        return;
    }
    let mut lines = Vec::new();
    for index in 0..server.game.entity_count() {
        let Some(number) = EntityNum::new(index) else { break };
        let Some(entity) = server.game.entity(number) else { continue };
        let kind = type_name(entity.state.e_type);
        if name_matches(words.get(1), &kind) {
            let [x, y, z] = entity.shared.current_origin.0;
            lines.push(format!("{index:4} {kind:<16} {x:8.0} {y:8.0} {z:8.0}"));
        }
    }
    let count = lines.len();
    lines.into_iter().for_each(|line| server.core.console.print(line));
    server.core.console.print(format!("{count} entities"));
}

/// Returns the name of an entity type. Temporary entities have the number of their event in it.
fn type_name(number: i32) -> String {
    match EntityType::try_from(number) {
        Ok(kind) => format!("{kind:?}"),
        Err(_) if number > EntityType::Events as i32 => "Event".to_owned(),
        Err(_) => format!("type {number}"),
    }
}
