//! Weapon timing and events, as clients predict them (`PM_Weapon`).
//!
//! Attacks are in `deathmatch`.
//!
//! Source: the base game's movement; OpenArena's runes and flags.

use super::{HEALTH, Pmove, PmoveWorld, animation::start_torso, events::queue, torso::resting};
use crate::bg::items::{ItemKind, ItemList};
use crate::bg::weapons;
use crate::bg::{
    Event, Holdable, Persistent, Powerup, Rune, Team, UNLIMITED_AMMO, Weapon, WeaponState,
    animation, pm_flag,
};
use crate::model::Buttons;

/// Time to lower a weapon, in ms.
const DROP_MS: i32 = 200;
/// Time to raise a weapon, in ms.
const RAISE_MS: i32 = 250;
/// Interval between clicks of an empty weapon, in ms.
const EMPTY_MS: i32 = 500;
/// Health above the maximum from which on a medkit cannot be used.
const MEDKIT_MARGIN: i32 = 25;

impl<W: PmoveWorld + ?Sized> Pmove<'_, W> {
    pub(super) fn handle_weapon(&mut self) {
        let spectates = self.state.persistant[Persistent::Team] == Team::Spectator;
        if self.has(pm_flag::RESPAWNED) || spectates {
            return;
        }
        if self.state.stats[HEALTH] <= 0 {
            self.state.weapon = Weapon::None as i32;
            return;
        }
        if self.uses_item() {
            return;
        }
        if self.state.weapon_time > 0 {
            self.state.weapon_time -= self.step.ms;
        }
        let fires = self.state.weaponstate == WeaponState::Firing;
        let wanted = i32::from(self.command.weapon);
        if (self.state.weapon_time <= 0 || !fires) && self.state.weapon != wanted {
            self.lower_weapon(wanted);
        }
        if self.state.weapon_time > 0 {
            return;
        }
        match WeaponState::try_from(self.state.weaponstate) {
            Ok(WeaponState::Dropping) => self.raise_weapon(wanted),
            Ok(WeaponState::Raising) => {
                self.state.weaponstate = WeaponState::Ready as i32;
                start_torso(self.state, resting(self.state.weapon));
            }
            _ => self.fire(),
        }
    }

    /// Uses the holdable item on a button press. Returns whether the sub-step skips weapons.
    fn uses_item(&mut self) -> bool {
        if !self.command.buttons.contains(Buttons::USE_HOLDABLE) {
            self.state.pm_flags &= !pm_flag::USE_ITEM_HELD;
            return false;
        }
        if self.has(pm_flag::USE_ITEM_HELD) {
            return false;
        }
        let variant = self.rules.variant;
        let item = self.state.stats[variant.stats.holdable];
        let tag = tag_of(variant.items, ItemKind::Holdable, item).unwrap_or(0);
        let most = self.state.stats[variant.stats.max_health].saturating_add(MEDKIT_MARGIN);
        if tag != Holdable::Medkit || self.state.stats[HEALTH] < most {
            self.state.pm_flags |= pm_flag::USE_ITEM_HELD;
            queue(self.state, Event::use_item(tag), 0);
            self.state.stats[variant.stats.holdable] = 0;
        }
        true
    }

    fn owns(&self, number: i32) -> bool {
        let owned = self.state.stats[self.rules.variant.stats.weapons];
        (1..=self.rules.variant.last_weapon).contains(&number) && owned >> number & 1 != 0
    }

    /// Starts to lower the weapon for a change to another.
    fn lower_weapon(&mut self, wanted: i32) {
        if !self.owns(wanted) || self.state.weaponstate == WeaponState::Dropping {
            return;
        }
        self.state.weaponstate = WeaponState::Dropping as i32;
        if !self.rules.instant_weapons {
            queue(self.state, Event::ChangeWeapon, 0);
            self.state.weapon_time = self.state.weapon_time.saturating_add(DROP_MS);
            start_torso(self.state, animation::TORSO_DROP);
        }
    }

    /// Raises the requested weapon, if the player has it.
    fn raise_weapon(&mut self, wanted: i32) {
        self.state.weapon = if self.owns(wanted) { wanted } else { Weapon::None as i32 };
        self.state.weaponstate = WeaponState::Raising as i32;
        if !self.rules.instant_weapons {
            self.state.weapon_time = self.state.weapon_time.saturating_add(RAISE_MS);
            start_torso(self.state, animation::TORSO_RAISE);
        }
    }

    fn fire(&mut self) {
        let gauntlet = self.state.weapon == Weapon::Gauntlet;
        let attacks = self.command.buttons.contains(Buttons::ATTACK);
        if !attacks || (gauntlet && !self.gauntlet_hit) {
            self.state.weapon_time = 0;
            self.state.weaponstate = WeaponState::Ready as i32;
            return;
        }
        let torso = if gauntlet { animation::TORSO_ATTACK2 } else { animation::TORSO_ATTACK };
        start_torso(self.state, torso);
        self.state.weaponstate = WeaponState::Firing as i32;
        if !self.use_ammo() {
            queue(self.state, Event::NoAmmo, 0);
            self.state.weapon_time = self.state.weapon_time.saturating_add(EMPTY_MS);
            return;
        }
        queue(self.state, Event::FireWeapon, 0);
        self.state.weapon_time = self.state.weapon_time.saturating_add(self.interval_ms());
    }

    /// Uses ammo for one shot. Returns false if there is none.
    fn use_ammo(&mut self) -> bool {
        let number = usize::try_from(self.state.weapon).ok();
        let Some(ammo) = number.and_then(|number| self.state.ammo.get_mut(number)) else {
            return false;
        };
        if *ammo == 0 {
            return false;
        }
        let endless = *ammo == UNLIMITED_AMMO
            || self.rules.variant.endless_from.is_some_and(|least| *ammo >= least);
        if !endless {
            *ammo -= 1;
        }
        true
    }

    fn interval_ms(&self) -> i32 {
        let interval = weapons::weapon(self.state.weapon).interval_ms;
        let variant = self.rules.variant;
        let carried = variant.stats.rune.map(|stat| self.state.stats[stat]);
        let rune = carried.and_then(|item| tag_of(variant.items, ItemKind::Rune, item));
        let haste = match rune.and_then(|tag| Rune::try_from(tag).ok()) {
            Some(Rune::Scout) => Some(1.5),
            Some(Rune::AmmoRegen) => Some(1.3),
            _ => (self.state.powerups[Powerup::Haste] != 0).then_some(1.3),
        };
        haste.map_or(interval, |factor| self.step.arithmetic.shortened(interval, factor))
    }
}

/// Returns the tag of an item if it has this kind.
fn tag_of(items: ItemList, kind: ItemKind, number: i32) -> Option<i32> {
    items.get(number).filter(|item| item.kind == kind).map(|item| item.tag)
}
