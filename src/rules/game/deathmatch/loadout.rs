//! Weapons that settings give every player at each spawn (instagib, rockets).
//!
//! Source: OpenArena's settings `g_instantgib` and `g_rockets`.

use crate::bg::{StatLayout, UNLIMITED_AMMO, Weapon, items::ItemKind};
use crate::game::Ruleset;
use crate::model::PlayerState;

/// Ammunition of a fixed loadout.
const FIXED_AMMO: i32 = 999;

/// Weapons of every player at spawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Loadout {
    /// Gauntlet, machine gun and pickups.
    #[default]
    Usual,
    /// Railgun that kills with one hit.
    Rail,
    /// Gauntlet and railgun that kill with one hit.
    RailAndGauntlet,
    /// Rocket launcher.
    Rockets,
    /// Rocket launcher, in a game where each hit kills.
    InstagibRockets,
}

impl Loadout {
    /// Returns the loadout of the two settings; rockets have priority.
    pub(super) const fn of(instant: i32, rockets: bool) -> Self {
        match (instant, rockets) {
            (..=0, false) => Self::Usual,
            (1, false) => Self::Rail,
            (2.., false) => Self::RailAndGauntlet,
            (..=0, true) => Self::Rockets,
            (1.., true) => Self::InstagibRockets,
        }
    }

    /// Whether every hit kills.
    pub(super) const fn is_instagib(self) -> bool {
        matches!(self, Self::Rail | Self::RailAndGauntlet | Self::InstagibRockets)
    }

    /// Whether the loadout replaces all items of the map and all drops.
    pub(super) const fn replaces_items(self) -> bool {
        !matches!(self, Self::Usual)
    }

    /// Weapons with their ammunition; the last one is in hand.
    const fn weapons(self) -> &'static [(Weapon, i32)] {
        match self {
            Self::Usual => &[],
            Self::Rail => &[(Weapon::Railgun, FIXED_AMMO)],
            Self::RailAndGauntlet => {
                &[(Weapon::Gauntlet, UNLIMITED_AMMO), (Weapon::Railgun, FIXED_AMMO)]
            }
            Self::Rockets | Self::InstagibRockets => &[(Weapon::RocketLauncher, FIXED_AMMO)],
        }
    }

    /// Replaces the weapons of a player who has just spawned.
    pub(super) fn equip(self, state: &mut PlayerState, stats: &StatLayout) {
        if !self.replaces_items() {
            return;
        }
        state.stats[stats.weapons] = 0;
        for &(number, rounds) in self.weapons() {
            state.stats[stats.weapons] |= number.bit();
            state.ammo[number] = rounds;
            state.weapon = number as i32;
        }
    }

    /// Returns the item indexes that clients must precache.
    pub(super) fn items(self, ruleset: &'static Ruleset) -> impl Iterator<Item = i32> {
        let tags = self.weapons().iter();
        tags.filter_map(|&(tag, _)| ruleset.items.by_tag(ItemKind::Weapon, tag as i32))
            .map(|(number, _)| number)
    }
}
