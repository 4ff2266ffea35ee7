//! Everything that can be picked up: one list, of which each game knows the beginning.
//!
//! Invariants: an item's place in [`ITEMS`] is its number on the wire and its bit in configstring 27; a
//! game with `n` items knows numbers below `n` and clients refuse all others. Source: the base game's
//! item list; OpenArena's, which continues it.

use super::Profile;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Number 0: no item.
    None,
    /// A weapon and rounds for it; the tag is its number.
    Weapon,
    /// Rounds; the tag is the weapon's number.
    Ammo,
    /// Armour.
    Armor,
    /// Health.
    Health,
    /// Works for a while; the tag is its place among the powerups.
    Powerup,
    /// Carried until it is used.
    Holdable,
    /// Works until its holder dies; the tag is its place among the powerups.
    Rune,
    /// Belongs to the games of teams; the tag of a flag is its place among the powerups.
    Team,
}

/// One item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its class in maps.
    pub class: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Which of its kind.
    pub tag: i32,
    /// How much it gives: rounds, points, seconds.
    pub quantity: i32,
    /// What it is called on the screen and by `give`.
    pub name: &'static str,
}

const fn item(
    class: &'static str,
    kind: Kind,
    tag: i32,
    quantity: i32,
    name: &'static str,
) -> Item {
    Item { class, kind, tag, quantity, name }
}

/// Items by number. The first 36 are the base game's.
pub const ITEMS: &[Item] = &[
    item("", Kind::None, 0, 0, ""),
    item("item_armor_shard", Kind::Armor, 0, 5, "Armor Shard"),
    item("item_armor_combat", Kind::Armor, 0, 50, "Armor"),
    item("item_armor_body", Kind::Armor, 0, 100, "Heavy Armor"),
    item("item_health_small", Kind::Health, 0, 5, "5 Health"),
    item("item_health", Kind::Health, 0, 25, "25 Health"),
    item("item_health_large", Kind::Health, 0, 50, "50 Health"),
    item("item_health_mega", Kind::Health, 0, 100, "Mega Health"),
    item("weapon_gauntlet", Kind::Weapon, 1, 0, "Gauntlet"),
    item("weapon_shotgun", Kind::Weapon, 3, 10, "Shotgun"),
    item("weapon_machinegun", Kind::Weapon, 2, 40, "Machinegun"),
    item("weapon_grenadelauncher", Kind::Weapon, 4, 10, "Grenade Launcher"),
    item("weapon_rocketlauncher", Kind::Weapon, 5, 10, "Rocket Launcher"),
    item("weapon_lightning", Kind::Weapon, 6, 100, "Lightning Gun"),
    item("weapon_railgun", Kind::Weapon, 7, 10, "Railgun"),
    item("weapon_plasmagun", Kind::Weapon, 8, 50, "Plasma Gun"),
    item("weapon_bfg", Kind::Weapon, 9, 20, "BFG10K"),
    item("weapon_grapplinghook", Kind::Weapon, 10, 0, "Grappling Hook"),
    item("ammo_shells", Kind::Ammo, 3, 10, "Shells"),
    item("ammo_bullets", Kind::Ammo, 2, 50, "Bullets"),
    item("ammo_grenades", Kind::Ammo, 4, 5, "Grenades"),
    item("ammo_cells", Kind::Ammo, 8, 30, "Cells"),
    item("ammo_lightning", Kind::Ammo, 6, 60, "Lightning"),
    item("ammo_rockets", Kind::Ammo, 5, 5, "Rockets"),
    item("ammo_slugs", Kind::Ammo, 7, 10, "Slugs"),
    item("ammo_bfg", Kind::Ammo, 9, 15, "Bfg Ammo"),
    item("holdable_teleporter", Kind::Holdable, 1, 60, "Personal Teleporter"),
    item("holdable_medkit", Kind::Holdable, 2, 60, "Medkit"),
    item("item_quad", Kind::Powerup, 1, 30, "Quad Damage"),
    item("item_enviro", Kind::Powerup, 2, 30, "Battle Suit"),
    item("item_haste", Kind::Powerup, 3, 30, "Speed"),
    item("item_invis", Kind::Powerup, 4, 30, "Invisibility"),
    item("item_regen", Kind::Powerup, 5, 30, "Regeneration"),
    item("item_flight", Kind::Powerup, 6, 60, "Flight"),
    item("team_CTF_redflag", Kind::Team, 7, 0, "Red Flag"),
    item("team_CTF_blueflag", Kind::Team, 8, 0, "Blue Flag"),
    item("holdable_kamikaze", Kind::Holdable, 3, 60, "Kamikaze"),
    item("holdable_portal", Kind::Holdable, 4, 60, "Portal"),
    item("holdable_invulnerability", Kind::Holdable, 5, 60, "Invulnerability"),
    item("ammo_nails", Kind::Ammo, 11, 20, "Nails"),
    item("ammo_mines", Kind::Ammo, 12, 10, "Proximity Mines"),
    item("ammo_belt", Kind::Ammo, 13, 100, "Chaingun Belt"),
    item("item_scout", Kind::Rune, 10, 30, "Scout"),
    item("item_guard", Kind::Rune, 11, 30, "Guard"),
    item("item_doubler", Kind::Rune, 12, 30, "Doubler"),
    item("item_ammoregen", Kind::Rune, 13, 30, "Ammo Regen"),
    item("team_CTF_neutralflag", Kind::Team, 9, 0, "Neutral Flag"),
    item("item_redcube", Kind::Team, 0, 0, "Red Cube"),
    item("item_bluecube", Kind::Team, 0, 0, "Blue Cube"),
    item("weapon_nailgun", Kind::Weapon, 11, 10, "Nailgun"),
    item("weapon_prox_launcher", Kind::Weapon, 12, 5, "Prox Launcher"),
    item("weapon_chaingun", Kind::Weapon, 13, 80, "Chaingun"),
    item("team_DD_pointAblue", Kind::Team, 2, 0, "Point A (Blue)"),
    item("team_DD_pointBblue", Kind::Team, 5, 0, "Point B (Blue)"),
    item("team_DD_pointAred", Kind::Team, 1, 0, "Point A (Red)"),
    item("team_DD_pointBred", Kind::Team, 4, 0, "Point B (Red)"),
    item("team_DD_pointAwhite", Kind::Team, 3, 0, "Point A (White)"),
    item("team_DD_pointBwhite", Kind::Team, 6, 0, "Point B (White)"),
    item("team_dom_pointWhite", Kind::Team, 3, 0, "Neutral domination point"),
    item("team_dom_pointRed", Kind::Team, 1, 0, "Red domination point"),
    item("team_dom_pointBlue", Kind::Team, 2, 0, "Blue domination point"),
];

/// An item of a game, by number. None for 0 and for numbers that the game does not know.
#[must_use]
pub fn by_number(profile: &Profile, number: i32) -> Option<&'static Item> {
    let number = usize::try_from(number).ok().filter(|&number| number > 0)?;
    ITEMS[..profile.items].get(number)
}

/// Number and item of a class in maps; case does not count.
#[must_use]
pub fn of_class(profile: &Profile, class: &str) -> Option<(i32, &'static Item)> {
    find(profile, |item| item.class.eq_ignore_ascii_case(class))
}

/// Number and item of what it is called.
#[must_use]
pub fn of_name(profile: &Profile, name: &str) -> Option<(i32, &'static Item)> {
    find(profile, |item| item.name.eq_ignore_ascii_case(name))
}

/// Number and item of a kind and a tag.
#[must_use]
pub fn of_tag(profile: &Profile, kind: Kind, tag: i32) -> Option<(i32, &'static Item)> {
    find(profile, |item| item.kind == kind && item.tag == tag)
}

fn find(profile: &Profile, wanted: impl Fn(&Item) -> bool) -> Option<(i32, &'static Item)> {
    let known = ITEMS[..profile.items].iter().enumerate().skip(1);
    known.map(|(number, item)| (number as i32, item)).find(|(_, item)| wanted(item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_know_what_they_count() {
        assert_eq!(ITEMS.len(), Profile::BASEOA.items);
        assert_eq!(ITEMS[Profile::BASEQ3.items - 1].class, "team_CTF_blueflag");
        assert_eq!(by_number(Profile::BASEQ3, 36), None);
        assert_eq!(by_number(Profile::BASEOA, 36).map(|item| item.tag), Some(3));
        assert_eq!((by_number(Profile::BASEOA, 0), by_number(Profile::BASEOA, -1)), (None, None));
    }

    #[test]
    fn items_are_found_by_what_maps_and_people_call_them() {
        let number = |found: Option<(i32, &Item)>| found.map(|(number, _)| number);
        assert_eq!(number(of_class(Profile::BASEQ3, "Item_Quad")), Some(28));
        assert_eq!(number(of_name(Profile::BASEQ3, "mega health")), Some(7));
        assert_eq!(number(of_tag(Profile::BASEOA, Kind::Ammo, 13)), Some(41));
        assert_eq!(number(of_class(Profile::BASEQ3, "")), None);
    }
}
