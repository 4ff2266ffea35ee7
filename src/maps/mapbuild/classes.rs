//! Classes of entities: those that need brushes, and misspelled ones.
//!
//! Source: entity definitions of the base game's editors, NetRadiant and TrenchBroom.

use super::{diagnostic::Findings, map_file::Entity};
use crate::{bg::items::ITEMS, model::spelling::distance};

/// Classes that move, touch or block by their brushes.
const WITH_BRUSHES: &[&str] = &[
    "func_bobbing",
    "func_button",
    "func_door",
    "func_pendulum",
    "func_plat",
    "func_rotating",
    "func_static",
    "func_train",
    "trigger_hurt",
    "trigger_multiple",
    "trigger_push",
    "trigger_teleport",
];
/// Other classes of the game and of editors, without items.
const OTHERS: &[&str] = &[
    "advertisement",
    "domination_point",
    "func_group",
    "func_timer",
    "info_camp",
    "info_notnull",
    "info_null",
    "info_player_deathmatch",
    "info_player_intermission",
    "info_player_start",
    "info_spectator_start",
    "item_botroam",
    "light",
    "lightjunior",
    "misc_gamemodel",
    "misc_model",
    "misc_portal_camera",
    "misc_portal_surface",
    "misc_skybox",
    "misc_teleporter_dest",
    "path_corner",
    "shooter_grenade",
    "shooter_plasma",
    "shooter_rocket",
    "target_delay",
    "target_give",
    "target_kill",
    "target_laser",
    "target_location",
    "target_position",
    "target_print",
    "target_push",
    "target_relay",
    "target_remove_powerups",
    "target_score",
    "target_speaker",
    "target_teleporter",
    "team_blueobelisk",
    "team_CTF_blueplayer",
    "team_CTF_bluespawn",
    "team_CTF_redplayer",
    "team_CTF_redspawn",
    "team_neutralobelisk",
    "team_redobelisk",
    "trigger_always",
    "worldspawn",
];
/// Maximum edits between a misspelled class and a known one.
const MAX_EDITS: usize = 2;

/// Reports an entity whose brushes are missing, and a class that is nearly a known one.
///
/// Classes that are not near to any may be of another game or a mod. `is_whole` says whether all brushes were read.
pub(super) fn check(entity: &Entity, is_whole: bool, findings: &mut Findings) {
    let class = entity.class();
    let line = entity.pair("classname").map_or(entity.line, |pair| pair.line);
    let is_class = |known: &&str| known.eq_ignore_ascii_case(class);
    if WITH_BRUSHES.iter().any(&is_class) {
        let has_brushes = entity.value("model").is_some_and(|model| model.starts_with('*'));
        if is_whole && !has_brushes {
            findings.warn(
                line,
                format!("{class} without brushes (expected brushes that {})", role(class)),
            );
        }
        return;
    }
    if class.is_empty() || class.starts_with('_') || known().any(|known| is_class(&known)) {
        return;
    }
    let near = known().map(|known| (distance(class, known), known)).min();
    if let Some((edits, known)) = near
        && edits <= MAX_EDITS
    {
        findings.warn(line, format!("unknown class: {class:?} (expected {known:?})"));
    }
}

/// Returns what the brushes of a class are for.
fn role(class: &str) -> &'static str {
    if class.to_ascii_lowercase().starts_with("trigger") {
        "players touch"
    } else {
        "collide and are drawn"
    }
}

fn known() -> impl Iterator<Item = &'static str> {
    let items = ITEMS.iter().skip(1).map(|item| item.class);
    WITH_BRUSHES.iter().chain(OTHERS).copied().chain(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(class: &str, is_whole: bool) -> String {
        let mut entity = Entity { line: 7, ..Entity::default() };
        entity.set("classname", class.to_owned());
        let mut findings = Findings::new("a.map");
        check(&entity, is_whole, &mut findings);
        findings.into_warnings().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn misspelled_class_names_the_nearest() {
        for (class, near) in [
            ("info_player_deathmach", "info_player_deathmatch"),
            ("wepon_railgun", "weapon_railgun"),
            ("func_dor", "func_door"),
            ("lihgt", "light"),
        ] {
            let expected = format!("a.map:7: unknown class: {class:?} (expected {near:?})");
            assert_eq!(told(class, true), expected);
        }
        for class in ["item_health", "TEAM_ctf_REDFLAG", "_decal", "func_explosive", "light", ""] {
            assert_eq!(told(class, true), "", "{class}");
        }
    }

    #[test]
    fn mover_without_brushes_is_reported() {
        let text = told("func_door", true);
        let expected = "a.map:7: func_door without brushes (expected brushes that collide";
        assert!(text.starts_with(expected), "{text}");
        assert!(told("trigger_hurt", true).ends_with("(expected brushes that players touch)"));
        assert_eq!(told("func_door", false), "", "they may be among those that were not read");
    }
}
