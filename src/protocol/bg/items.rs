//! Item list, shared by all games; each game knows its first items.
//!
//! Invariants: an item's index in [`ITEMS`] is its number in entities and its bit in configstring 27. A
//! game with `n` items knows numbers below `n`; clients reject higher ones. Source: the base game's item
//! list; OpenArena's, which continues it.

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// Number 0: no item.
    None,
    /// Weapon with ammunition; the tag is its [`Weapon`](super::Weapon).
    Weapon,
    /// Ammunition; the tag is its [`Weapon`](super::Weapon).
    Ammo,
    /// Armor.
    Armor,
    /// Health.
    Health,
    /// Timed effect; the tag is a [`Powerup`](super::Powerup).
    Powerup,
    /// Used on demand; the tag is a [`Holdable`](super::Holdable).
    Holdable,
    /// Effect until death; the tag is a [`Rune`](super::Rune).
    Rune,
    /// Item of team games; the tag of a flag is a [`Powerup`](super::Powerup).
    Team,
}

/// An item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Classname in maps.
    pub class: &'static str,
    /// Kind.
    pub kind: ItemKind,
    /// Tag within its kind.
    pub tag: i32,
    /// Amount that it gives: rounds, points or seconds.
    pub quantity: i32,
    /// Display name, also accepted by `give`.
    pub name: &'static str,
}

const fn item(
    class: &'static str,
    kind: ItemKind,
    tag: i32,
    quantity: i32,
    name: &'static str,
) -> Item {
    Item { class, kind, tag, quantity, name }
}

/// Items by number. The first 36 are the base game's.
pub const ITEMS: &[Item] = &[
    item("", ItemKind::None, 0, 0, ""),
    item("item_armor_shard", ItemKind::Armor, 0, 5, "Armor Shard"),
    item("item_armor_combat", ItemKind::Armor, 0, 50, "Armor"),
    item("item_armor_body", ItemKind::Armor, 0, 100, "Heavy Armor"),
    item("item_health_small", ItemKind::Health, 0, 5, "5 Health"),
    item("item_health", ItemKind::Health, 0, 25, "25 Health"),
    item("item_health_large", ItemKind::Health, 0, 50, "50 Health"),
    item("item_health_mega", ItemKind::Health, 0, 100, "Mega Health"),
    item("weapon_gauntlet", ItemKind::Weapon, 1, 0, "Gauntlet"),
    item("weapon_shotgun", ItemKind::Weapon, 3, 10, "Shotgun"),
    item("weapon_machinegun", ItemKind::Weapon, 2, 40, "Machinegun"),
    item("weapon_grenadelauncher", ItemKind::Weapon, 4, 10, "Grenade Launcher"),
    item("weapon_rocketlauncher", ItemKind::Weapon, 5, 10, "Rocket Launcher"),
    item("weapon_lightning", ItemKind::Weapon, 6, 100, "Lightning Gun"),
    item("weapon_railgun", ItemKind::Weapon, 7, 10, "Railgun"),
    item("weapon_plasmagun", ItemKind::Weapon, 8, 50, "Plasma Gun"),
    item("weapon_bfg", ItemKind::Weapon, 9, 20, "BFG10K"),
    item("weapon_grapplinghook", ItemKind::Weapon, 10, 0, "Grappling Hook"),
    item("ammo_shells", ItemKind::Ammo, 3, 10, "Shells"),
    item("ammo_bullets", ItemKind::Ammo, 2, 50, "Bullets"),
    item("ammo_grenades", ItemKind::Ammo, 4, 5, "Grenades"),
    item("ammo_cells", ItemKind::Ammo, 8, 30, "Cells"),
    item("ammo_lightning", ItemKind::Ammo, 6, 60, "Lightning"),
    item("ammo_rockets", ItemKind::Ammo, 5, 5, "Rockets"),
    item("ammo_slugs", ItemKind::Ammo, 7, 10, "Slugs"),
    item("ammo_bfg", ItemKind::Ammo, 9, 15, "Bfg Ammo"),
    item("holdable_teleporter", ItemKind::Holdable, 1, 60, "Personal Teleporter"),
    item("holdable_medkit", ItemKind::Holdable, 2, 60, "Medkit"),
    item("item_quad", ItemKind::Powerup, 1, 30, "Quad Damage"),
    item("item_enviro", ItemKind::Powerup, 2, 30, "Battle Suit"),
    item("item_haste", ItemKind::Powerup, 3, 30, "Speed"),
    item("item_invis", ItemKind::Powerup, 4, 30, "Invisibility"),
    item("item_regen", ItemKind::Powerup, 5, 30, "Regeneration"),
    item("item_flight", ItemKind::Powerup, 6, 60, "Flight"),
    item("team_CTF_redflag", ItemKind::Team, 7, 0, "Red Flag"),
    item("team_CTF_blueflag", ItemKind::Team, 8, 0, "Blue Flag"),
    item("holdable_kamikaze", ItemKind::Holdable, 3, 60, "Kamikaze"),
    item("holdable_portal", ItemKind::Holdable, 4, 60, "Portal"),
    item("holdable_invulnerability", ItemKind::Holdable, 5, 60, "Invulnerability"),
    item("ammo_nails", ItemKind::Ammo, 11, 20, "Nails"),
    item("ammo_mines", ItemKind::Ammo, 12, 10, "Proximity Mines"),
    item("ammo_belt", ItemKind::Ammo, 13, 100, "Chaingun Belt"),
    item("item_scout", ItemKind::Rune, 10, 30, "Scout"),
    item("item_guard", ItemKind::Rune, 11, 30, "Guard"),
    item("item_doubler", ItemKind::Rune, 12, 30, "Doubler"),
    item("item_ammoregen", ItemKind::Rune, 13, 30, "Ammo Regen"),
    item("team_CTF_neutralflag", ItemKind::Team, 9, 0, "Neutral Flag"),
    item("item_redcube", ItemKind::Team, 0, 0, "Red Cube"),
    item("item_bluecube", ItemKind::Team, 0, 0, "Blue Cube"),
    item("weapon_nailgun", ItemKind::Weapon, 11, 10, "Nailgun"),
    item("weapon_prox_launcher", ItemKind::Weapon, 12, 5, "Prox Launcher"),
    item("weapon_chaingun", ItemKind::Weapon, 13, 80, "Chaingun"),
    item("team_DD_pointAblue", ItemKind::Team, 2, 0, "Point A (Blue)"),
    item("team_DD_pointBblue", ItemKind::Team, 5, 0, "Point B (Blue)"),
    item("team_DD_pointAred", ItemKind::Team, 1, 0, "Point A (Red)"),
    item("team_DD_pointBred", ItemKind::Team, 4, 0, "Point B (Red)"),
    item("team_DD_pointAwhite", ItemKind::Team, 3, 0, "Point A (White)"),
    item("team_DD_pointBwhite", ItemKind::Team, 6, 0, "Point B (White)"),
    item("team_dom_pointWhite", ItemKind::Team, 3, 0, "Neutral domination point"),
    item("team_dom_pointRed", ItemKind::Team, 1, 0, "Red domination point"),
    item("team_dom_pointBlue", ItemKind::Team, 2, 0, "Blue domination point"),
];

/// Items of one game: the first of [`ITEMS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemList {
    len: usize,
}

impl ItemList {
    /// The base game's items.
    pub const BASEQ3: Self = Self { len: 36 };
    /// OpenArena's items: all of them.
    pub const BASEOA: Self = Self { len: ITEMS.len() };

    /// Number of items, placeholder 0 included.
    #[must_use]
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether the list is empty; always false.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns an item by number. `None` for 0 and for numbers that the game does not know.
    #[must_use]
    pub fn get(self, number: i32) -> Option<&'static Item> {
        let number = usize::try_from(number).ok().filter(|&number| number > 0)?;
        ITEMS[..self.len].get(number)
    }

    /// Finds number and item by classname, ignoring case.
    #[must_use]
    pub fn by_class(self, class: &str) -> Option<(i32, &'static Item)> {
        self.find(|item| item.class.eq_ignore_ascii_case(class))
    }

    /// Finds number and item by display name, ignoring case.
    #[must_use]
    pub fn by_name(self, name: &str) -> Option<(i32, &'static Item)> {
        self.find(|item| item.name.eq_ignore_ascii_case(name))
    }

    /// Finds number and item by kind and tag.
    #[must_use]
    pub fn by_tag(self, kind: ItemKind, tag: i32) -> Option<(i32, &'static Item)> {
        self.find(|item| item.kind == kind && item.tag == tag)
    }

    fn find(self, wanted: impl Fn(&Item) -> bool) -> Option<(i32, &'static Item)> {
        let known = ITEMS[..self.len].iter().enumerate().skip(1);
        known.map(|(number, item)| (number as i32, item)).find(|(_, item)| wanted(item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_list_ends_with_its_game() {
        assert_eq!(ItemList::BASEOA.len(), 61);
        assert_eq!(ITEMS[ItemList::BASEQ3.len() - 1].class, "team_CTF_blueflag");
        assert_eq!(ItemList::BASEQ3.get(36), None);
        assert_eq!(ItemList::BASEOA.get(36).map(|item| item.tag), Some(3));
        assert_eq!((ItemList::BASEOA.get(0), ItemList::BASEOA.get(-1)), (None, None));
    }

    #[test]
    fn item_is_found_by_class_name_and_tag() {
        let number = |found: Option<(i32, &Item)>| found.map(|(number, _)| number);
        assert_eq!(number(ItemList::BASEQ3.by_class("Item_Quad")), Some(28));
        assert_eq!(number(ItemList::BASEQ3.by_name("mega health")), Some(7));
        assert_eq!(number(ItemList::BASEOA.by_tag(ItemKind::Ammo, 13)), Some(41));
        assert_eq!(number(ItemList::BASEQ3.by_class("")), None);
    }
}
