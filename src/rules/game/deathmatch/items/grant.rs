//! Pickup effects of each item kind, and respawn times.
//!
//! Source: the base game's pickups; OpenArena's runes.

use crate::bg::{
    Holdable, Rune, UNLIMITED_AMMO, Weapon, entity_flag, items::Item, items::ItemKind,
};
use crate::game::Ruleset;
use crate::game::movement::pickup::{MAX_ROUNDS, most_armor, most_health};
use crate::model::{LevelTime, PlayerState};

/// Respawn time by kind of item, in seconds.
const AMMO_S: f32 = 40.0;
const ARMOR_S: f32 = 25.0;
const HEALTH_S: f32 = 35.0;
const POWERUP_S: f32 = 120.0;
const HOLDABLE_S: f32 = 60.0;

/// An item that is being granted to a player.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemGrant<'a> {
    pub(crate) ruleset: &'a Ruleset,
    /// Index of the item and its row in the table.
    pub(crate) number: i32,
    pub(crate) item: &'a Item,
    /// Quantity override, 0 for none; a negative count grants no ammunition.
    pub(crate) count: i32,
    /// Whether a weapon grants its full ammunition to a player who has some already.
    pub(crate) is_full: bool,
    pub(crate) now: LevelTime,
    /// Maximum health of the player without runes.
    pub(crate) max_health: i32,
}

impl ItemGrant<'_> {
    fn quantity(&self) -> i32 {
        if self.count == 0 { self.item.quantity } else { self.count.max(0) }
    }

    /// Applies the item to a playerstate.
    pub(crate) fn give(&self, state: &mut PlayerState) {
        let stats = self.ruleset.stats;
        match self.item.kind {
            ItemKind::Weapon => {
                state.stats[stats.weapons] |= 1 << self.item.tag;
                self.add_weapon_ammo(state);
            }
            ItemKind::Ammo => add_rounds(state, self.item.tag, self.quantity()),
            ItemKind::Armor => {
                let most = most_armor(self.ruleset, state);
                let armor = &mut state.stats[stats.armor];
                *armor = armor.saturating_add(self.item.quantity).min(most);
            }
            ItemKind::Health => {
                let most = most_health(self.ruleset, state, self.item.quantity);
                let health = &mut state.stats[stats.health];
                *health = health.saturating_add(self.quantity()).min(most);
            }
            ItemKind::Powerup => self.extend_powerup(state),
            ItemKind::Holdable => {
                state.stats[stats.holdable] = self.number;
                if self.item.tag == Holdable::Kamikaze {
                    state.e_flags |= entity_flag::KAMIKAZE;
                }
            }
            ItemKind::Rune => self.apply_rune(state),
            ItemKind::None | ItemKind::Team => {}
        }
    }

    /// Adds a weapon's ammunition: up to its quantity, at least one round.
    fn add_weapon_ammo(&self, state: &mut PlayerState) {
        let Some(&there) = usize::try_from(self.item.tag).ok().and_then(|tag| state.ammo.get(tag))
        else {
            return;
        };
        let rounds = match self.quantity() {
            _ if self.count < 0 => 0,
            quantity if self.is_full => quantity,
            quantity => (quantity - there).max(1),
        };
        if self.item.tag == Weapon::Grapple {
            state.ammo[Weapon::Grapple] = UNLIMITED_AMMO;
        } else {
            add_rounds(state, self.item.tag, rounds);
        }
    }

    /// Starts or extends a powerup. A new one starts at a full second, so that several end together.
    fn extend_powerup(&self, state: &mut PlayerState) {
        let tag = usize::try_from(self.item.tag).ok();
        let Some(until) = tag.and_then(|tag| state.powerups.get_mut(tag)) else { return };
        if *until == 0 {
            *until = self.now.0 - self.now.0 % 1000;
        }
        *until = until.saturating_add(self.quantity().saturating_mul(1000));
    }

    fn apply_rune(&self, state: &mut PlayerState) {
        let stats = self.ruleset.stats;
        let Some(at) = stats.rune else { return };
        state.stats[at] = self.number;
        match Rune::try_from(self.item.tag) {
            Ok(Rune::Guard) => {
                let most = self.max_health.saturating_mul(2);
                for stat in [stats.health, stats.max_health, stats.armor] {
                    state.stats[stat] = most;
                }
            }
            Ok(Rune::Scout) => state.stats[stats.armor] = 0,
            _ => {}
        }
    }

    /// Returns the respawn time in seconds, or none for an item without one.
    pub(crate) fn respawn_s(&self, weapon_s: f32) -> Option<f32> {
        match self.item.kind {
            ItemKind::Weapon => Some(weapon_s),
            ItemKind::Ammo => Some(AMMO_S),
            ItemKind::Armor => Some(ARMOR_S),
            ItemKind::Health => Some(HEALTH_S),
            ItemKind::Powerup => Some(POWERUP_S),
            ItemKind::Holdable => Some(HOLDABLE_S),
            ItemKind::Rune | ItemKind::Team | ItemKind::None => None,
        }
    }
}

/// Adds ammunition for a weapon up to the maximum. Never lowers a larger or unlimited amount.
fn add_rounds(state: &mut PlayerState, tag: i32, rounds: i32) {
    let tag = usize::try_from(tag).ok();
    let Some(there) = tag.and_then(|tag| state.ammo.get_mut(tag)) else { return };
    // Negative rounds are unlimited; more than the maximum come from a cheat.
    if *there >= 0 {
        *there = there.saturating_add(rounds).min(MAX_ROUNDS);
    }
}
