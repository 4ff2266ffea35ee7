//! What a map offers, in numbers, and what each of its entities is for.
//!
//! Source: the class names of the base game and its team games.

use crate::model::Vec3;

use super::bsp::Bsp;
use super::entities::{Entities, Entity};

/// What an entity is for, as far as a plan or a list tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// Players appear here.
    Spawn,
    /// Players of the red team appear here.
    RedSpawn,
    /// Players of the blue team appear here.
    BlueSpawn,
    /// A weapon.
    Weapon,
    /// Ammunition.
    Ammo,
    /// Health.
    Health,
    /// Armour.
    Armor,
    /// A power-up or something to carry.
    Powerup,
    /// A flag or an obelisk.
    Flag,
    /// Throws players.
    JumpPad,
    /// Takes players elsewhere.
    Teleporter,
    /// A door, a lift, a train.
    Mover,
    /// Anything else.
    Other,
}

/// Beginnings of class names, longest first where one begins with another.
const CLASSES: &[(&str, Purpose)] = &[
    ("info_player_deathmatch", Purpose::Spawn),
    ("info_player_start", Purpose::Spawn),
    ("team_CTF_redplayer", Purpose::RedSpawn),
    ("team_CTF_redspawn", Purpose::RedSpawn),
    ("team_CTF_blueplayer", Purpose::BlueSpawn),
    ("team_CTF_bluespawn", Purpose::BlueSpawn),
    ("team_CTF_", Purpose::Flag),
    ("team_redobelisk", Purpose::Flag),
    ("team_blueobelisk", Purpose::Flag),
    ("team_neutralobelisk", Purpose::Flag),
    ("domination_point", Purpose::Flag),
    ("weapon_", Purpose::Weapon),
    ("ammo_", Purpose::Ammo),
    ("item_health", Purpose::Health),
    ("item_armor", Purpose::Armor),
    ("item_", Purpose::Powerup),
    ("holdable_", Purpose::Powerup),
    ("trigger_push", Purpose::JumpPad),
    ("trigger_teleport", Purpose::Teleporter),
    ("func_door", Purpose::Mover),
    ("func_plat", Purpose::Mover),
    ("func_train", Purpose::Mover),
    ("func_button", Purpose::Mover),
    ("func_bobbing", Purpose::Mover),
    ("func_pendulum", Purpose::Mover),
    ("func_rotating", Purpose::Mover),
];

impl Purpose {
    /// What an entity of this class is for.
    #[must_use]
    pub fn of(class: &str) -> Self {
        let begins = |start: &str| {
            class.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start))
        };
        CLASSES.iter().find(|(start, _)| begins(start)).map_or(Self::Other, |row| row.1)
    }

    /// Whether players appear here.
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

/// What a map offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// Title that the map gives itself; may be empty.
    pub title: String,
    /// Entities, the world included.
    pub entities: usize,
    /// Places where players appear, of any team.
    pub spawns: usize,
    /// Things to pick up.
    pub items: usize,
    /// Extent of the world along each axis, in units.
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

impl Survey {
    /// Counts what is there.
    #[must_use]
    pub fn of(map: &Bsp, entities: &Entities) -> Self {
        let purposes = || entities.all().iter().map(Entity::classname).map(Purpose::of);
        let world = map.world();
        Self {
            title: entities.world().spawn_value("message").unwrap_or_default().to_owned(),
            entities: entities.all().len(),
            spawns: purposes().filter(|purpose| purpose.is_spawn()).count(),
            items: purposes().filter(|purpose| purpose.is_item()).count(),
            // The box is one unit larger on every side than the world.
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
    fn classes_are_told_apart_by_their_beginning() {
        for (class, purpose) in [
            ("item_health_mega", Purpose::Health),
            ("ITEM_QUAD", Purpose::Powerup),
            ("team_CTF_redflag", Purpose::Flag),
            ("team_ctf_redspawn", Purpose::RedSpawn),
            ("weapon_", Purpose::Weapon),
            ("weapo", Purpose::Other),
            ("", Purpose::Other),
        ] {
            assert_eq!(Purpose::of(class), purpose, "{class}");
        }
    }
}
