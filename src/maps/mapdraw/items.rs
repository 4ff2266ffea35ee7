//! Marks of items on a drawing: short labels and colors, as players name them.

use crate::bg::items::ITEMS;

use super::Color;

/// Mark of an item that is named on the drawing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ItemMark {
    /// Classname in maps.
    pub(super) class: &'static str,
    /// Label beside the marker.
    pub(super) label: &'static str,
    /// Color of marker and label.
    pub(super) color: Color,
}

const fn mark(class: &'static str, label: &'static str, color: Color) -> ItemMark {
    ItemMark { class, label, color }
}

/// Items that are named, in the order of the legend. The colors are those of the weapons in the game.
pub(super) const MARKS: &[ItemMark] = &[
    mark("weapon_rocketlauncher", "RL", [255, 92, 80]),
    mark("weapon_railgun", "RG", [96, 255, 128]),
    mark("weapon_lightning", "LG", [250, 244, 176]),
    mark("weapon_plasmagun", "PG", [206, 124, 255]),
    mark("weapon_shotgun", "SG", [255, 164, 72]),
    mark("weapon_grenadelauncher", "GL", [128, 190, 84]),
    mark("weapon_bfg", "BFG", [104, 164, 255]),
    mark("weapon_machinegun", "MG", [255, 232, 96]),
    mark("weapon_gauntlet", "G", [208, 208, 216]),
    mark("weapon_grapplinghook", "GH", [190, 150, 110]),
    mark("weapon_nailgun", "NG", [124, 224, 224]),
    mark("weapon_prox_launcher", "PL", [236, 120, 184]),
    mark("weapon_chaingun", "CG", [186, 186, 200]),
    mark("item_quad", "Quad", [120, 140, 255]),
    mark("item_enviro", "Suit", [226, 208, 96]),
    mark("item_haste", "Haste", [255, 204, 72]),
    mark("item_invis", "Invis", [196, 196, 214]),
    mark("item_regen", "Regen", [255, 120, 120]),
    mark("item_flight", "Flight", [190, 124, 236]),
    mark("holdable_teleporter", "Tele", [120, 230, 255]),
    mark("holdable_medkit", "Medkit", [120, 226, 140]),
    mark("holdable_kamikaze", "Kami", [255, 140, 60]),
    mark("holdable_portal", "Portal", [150, 190, 255]),
    mark("holdable_invulnerability", "Invul", [240, 240, 160]),
    mark("item_scout", "Scout", [240, 220, 80]),
    mark("item_guard", "Guard", [110, 170, 255]),
    mark("item_doubler", "Double", [255, 110, 90]),
    mark("item_ammoregen", "Ammo+", [120, 220, 120]),
    mark("item_health_mega", "MH", [110, 150, 255]),
    mark("item_armor_body", "RA", [255, 84, 72]),
    mark("item_armor_combat", "YA", [246, 214, 72]),
];

/// Returns the mark of a classname, if the drawing names the item.
pub(super) fn mark_of(class: &str) -> Option<&'static ItemMark> {
    MARKS.iter().find(|mark| mark.class.eq_ignore_ascii_case(class))
}

impl ItemMark {
    /// Name of the item.
    pub(super) fn name(&self) -> &'static str {
        ITEMS.iter().find(|item| item.class == self.class).map_or(self.class, |item| item.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bg::items::ItemKind;

    #[test]
    fn weapons_and_powerups_have_labels_of_their_own() {
        let named = [ItemKind::Weapon, ItemKind::Powerup, ItemKind::Holdable, ItemKind::Rune];
        for item in ITEMS.iter().filter(|item| named.contains(&item.kind)) {
            assert!(mark_of(item.class).is_some(), "{}", item.class);
        }
        for mark in MARKS {
            assert_ne!(mark.name(), mark.class);
            assert_eq!(MARKS.iter().filter(|other| other.label == mark.label).count(), 1);
        }
        assert_eq!(mark_of("WEAPON_RAILGUN").map(|mark| mark.label), Some("RG"));
        assert_eq!(mark_of("item_health"), None);
    }
}
