//! Weapons that settings give to every player at each spawn (instagib, rockets).
//!
//! Source: OpenArena's settings for instant frags and for rockets alone.

use crate::bg::{StatLayout, UNLIMITED_AMMO, Weapon, items::ItemKind};
use crate::game::Ruleset;
use crate::model::PlayerState;

/// Rounds of who needs no others.
const PLENTY: i32 = 999;

/// The weapons of everybody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::game::deathmatch) enum Loadout {
    /// A gauntlet, a machine gun, and what is found.
    #[default]
    Usual,
    /// A railgun that kills at once.
    Rail,
    /// The same, and a gauntlet.
    RailAndGauntlet,
    /// A rocket launcher.
    Rockets,
    /// A rocket launcher where everything kills at once.
    InstagibRockets,
}

impl Loadout {
    /// As the two settings say; rockets go before rails.
    pub(super) const fn of(instant: i32, rockets: bool) -> Self {
        match (instant, rockets) {
            (..=0, false) => Self::Usual,
            (1, false) => Self::Rail,
            (2.., false) => Self::RailAndGauntlet,
            (..=0, true) => Self::Rockets,
            (1.., true) => Self::InstagibRockets,
        }
    }

    /// Whether whatever hits kills.
    pub(in crate::game::deathmatch) const fn is_instagib(self) -> bool {
        matches!(self, Self::Rail | Self::RailAndGauntlet | Self::InstagibRockets)
    }

    /// Whether nothing but these is there, and nothing is left by the dead.
    pub(in crate::game::deathmatch) const fn replaces_items(self) -> bool {
        !matches!(self, Self::Usual)
    }

    /// Weapons and their rounds; the last one is in hand.
    const fn weapons(self) -> &'static [(Weapon, i32)] {
        match self {
            Self::Usual => &[],
            Self::Rail => &[(Weapon::Railgun, PLENTY)],
            Self::RailAndGauntlet => {
                &[(Weapon::Gauntlet, UNLIMITED_AMMO), (Weapon::Railgun, PLENTY)]
            }
            Self::Rockets | Self::InstagibRockets => &[(Weapon::RocketLauncher, PLENTY)],
        }
    }

    /// Replaces the weapons of somebody who has just come to life.
    pub(in crate::game::deathmatch) fn equip(self, state: &mut PlayerState, stats: &StatLayout) {
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

    /// Numbers of the items that clients have to load for them.
    pub(in crate::game::deathmatch) fn items(
        self,
        ruleset: &'static Ruleset,
    ) -> impl Iterator<Item = i32> {
        let tags = self.weapons().iter();
        tags.filter_map(|&(tag, _)| ruleset.items.by_tag(ItemKind::Weapon, tag as i32))
            .map(|(number, _)| number)
    }
}
