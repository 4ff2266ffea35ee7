//! Map summary: counts, size and entity categories.
//!
//! Source: the classnames of the base game and its team games.

use crate::model::Vec3;

use super::bsp::Bsp;
use super::entity_string::{MapEntities, MapEntity};

/// Category of an entity, for map drawings and lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntityCategory {
    /// Spawn point of any team.
    Spawn,
    /// Spawn point of the red team.
    RedSpawn,
    /// Spawn point of the blue team.
    BlueSpawn,
    /// A weapon.
    Weapon,
    /// Ammunition.
    Ammo,
    /// Health.
    Health,
    /// Armor.
    Armor,
    /// Powerup, rune or holdable.
    Powerup,
    /// A flag or an obelisk.
    Flag,
    /// Jump pad.
    JumpPad,
    /// Teleporter.
    Teleporter,
    /// Mover: door, plat, train.
    Mover,
    /// Any other entity.
    Other,
}

/// Prefixes of classnames, longer prefixes before their own prefixes.
const CLASSES: &[(&str, EntityCategory)] = &[
    ("info_player_deathmatch", EntityCategory::Spawn),
    ("info_player_start", EntityCategory::Spawn),
    ("team_CTF_redplayer", EntityCategory::RedSpawn),
    ("team_CTF_redspawn", EntityCategory::RedSpawn),
    ("team_CTF_blueplayer", EntityCategory::BlueSpawn),
    ("team_CTF_bluespawn", EntityCategory::BlueSpawn),
    ("team_CTF_", EntityCategory::Flag),
    ("team_redobelisk", EntityCategory::Flag),
    ("team_blueobelisk", EntityCategory::Flag),
    ("team_neutralobelisk", EntityCategory::Flag),
    ("domination_point", EntityCategory::Flag),
    ("weapon_", EntityCategory::Weapon),
    ("ammo_", EntityCategory::Ammo),
    ("item_health", EntityCategory::Health),
    ("item_armor", EntityCategory::Armor),
    // A hint for bots.
    ("item_botroam", EntityCategory::Other),
    ("item_", EntityCategory::Powerup),
    ("holdable_", EntityCategory::Powerup),
    ("trigger_push", EntityCategory::JumpPad),
    ("trigger_teleport", EntityCategory::Teleporter),
    ("func_door", EntityCategory::Mover),
    ("func_plat", EntityCategory::Mover),
    ("func_train", EntityCategory::Mover),
    ("func_button", EntityCategory::Mover),
    ("func_bobbing", EntityCategory::Mover),
    ("func_pendulum", EntityCategory::Mover),
    ("func_rotating", EntityCategory::Mover),
];

impl EntityCategory {
    /// Returns the category of a classname.
    #[must_use]
    pub fn of(class: &str) -> Self {
        let begins = |start: &str| {
            class.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start))
        };
        CLASSES.iter().find(|(start, _)| begins(start)).map_or(Self::Other, |row| row.1)
    }

    /// Whether it is a spawn point.
    #[must_use]
    pub const fn is_spawn(self) -> bool {
        matches!(self, Self::Spawn | Self::RedSpawn | Self::BlueSpawn)
    }

    /// Whether it can be picked up.
    #[must_use]
    pub const fn is_item(self) -> bool {
        matches!(
            self,
            Self::Weapon | Self::Ammo | Self::Health | Self::Armor | Self::Powerup | Self::Flag
        )
    }
}

/// Summary of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct MapSummary {
    /// Title from the worldspawn; may be empty.
    pub title: String,
    /// Entities, the world included.
    pub entities: usize,
    /// Spawn points of all teams.
    pub spawns: usize,
    /// Items.
    pub items: usize,
    /// Size of the world along each axis, in units.
    pub size: Vec3,
    /// Brushes.
    pub brushes: usize,
    /// Curved patches.
    pub patches: usize,
    /// Clusters.
    pub clusters: usize,
    /// Areas.
    pub areas: usize,
}

impl MapSummary {
    /// Counts the content of a map.
    #[must_use]
    pub fn of(map: &Bsp, entities: &MapEntities) -> Self {
        let purposes = || entities.all().iter().map(MapEntity::classname).map(EntityCategory::of);
        let world = map.world();
        Self {
            title: entities.world().spawn_value("message").unwrap_or_default().to_owned(),
            entities: entities.all().len(),
            spawns: purposes().filter(|purpose| purpose.is_spawn()).count(),
            items: purposes().filter(|purpose| purpose.is_item()).count(),
            // The model's box is padded by one unit on every side.
            size: world.maxs - world.mins - Vec3::new(2.0, 2.0, 2.0),
            brushes: map.brushes.len(),
            patches: map.patches().count(),
            clusters: map.visibility.cluster_count(),
            areas: map.area_count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_follow_classname_prefixes() {
        for (class, purpose) in [
            ("item_health_mega", EntityCategory::Health),
            ("ITEM_QUAD", EntityCategory::Powerup),
            ("item_botroam", EntityCategory::Other),
            ("team_CTF_redflag", EntityCategory::Flag),
            ("team_ctf_redspawn", EntityCategory::RedSpawn),
            ("weapon_", EntityCategory::Weapon),
            ("weapo", EntityCategory::Other),
            ("", EntityCategory::Other),
        ] {
            assert_eq!(EntityCategory::of(class), purpose, "{class}");
        }
    }
}
