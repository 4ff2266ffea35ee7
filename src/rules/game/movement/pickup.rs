//! Item pickup: reach and use of items (`BG_CanItemBeGrabbed`).
//!
//! Clients predict both, so they must be the same on either side. Source: the base game's item rules;
//! OpenArena's runes.

use crate::model::{EntityState, PlayerState, Vec3};
use crate::{
    bg::{GameType, Persistent, Powerup, Rune, Team, items::ItemKind},
    game::Ruleset,
};

/// Pickup range along the first axis, from the item to the player, in units. It is asymmetric in every
/// game.
const REACH_X: (f32, f32) = (-50.0, 44.0);
/// Pickup range along the other axes, in units.
const REACH: f32 = 36.0;
/// Maximum ammo of one kind from pickups.
pub const MAX_ROUNDS: i32 = 200;
/// Quantities of the health items that exceed the maximum health.
pub const OVER_MAX_HEALTH: [i32; 2] = [5, 100];
/// Spawn flag of a rune for the red team only.
const RED_ONLY: i32 = 2;
/// Spawn flag of a rune for the blue team only.
const BLUE_ONLY: i32 = 4;

/// Whether a player is in pickup range of an item.
#[must_use]
pub fn is_in_reach(item: Vec3, player: Vec3) -> bool {
    let way = player - item;
    (REACH_X.0..=REACH_X.1).contains(&way[0]) && way[1].abs() <= REACH && way[2].abs() <= REACH
}

/// Whether a player may pick up an item.
#[must_use]
pub fn may_take(
    ruleset: &Ruleset,
    game_type: GameType,
    entity: &EntityState,
    state: &PlayerState,
) -> bool {
    let Some(item) = ruleset.items.get(entity.modelindex) else { return false };
    let stats = ruleset.stats;
    match item.kind {
        ItemKind::None => false,
        ItemKind::Weapon | ItemKind::Powerup => true,
        ItemKind::Ammo => {
            let rounds = usize::try_from(item.tag).ok().and_then(|tag| state.ammo.get(tag));
            rounds.is_some_and(|&rounds| rounds < MAX_ROUNDS)
        }
        ItemKind::Armor => {
            rune_of(ruleset, state) != Some(Rune::Scout)
                && state.stats[stats.armor] < most_armor(ruleset, state)
        }
        ItemKind::Health => state.stats[stats.health] < most_health(ruleset, state, item.quantity),
        ItemKind::Holdable => state.stats[stats.holdable] == 0,
        ItemKind::Rune => {
            let side = state.persistant[Persistent::Team];
            stats.rune.is_some_and(|rune| state.stats[rune] == 0)
                && (entity.generic1 & RED_ONLY == 0 || side == Team::Red)
                && (entity.generic1 & BLUE_ONLY == 0 || side == Team::Blue)
        }
        ItemKind::Team => game_type.has_flags() && may_touch_flag(item.tag, entity, state),
    }
}

/// Whether a player may touch a flag: the enemy's always, its own to return or to capture.
fn may_touch_flag(tag: i32, entity: &EntityState, state: &PlayerState) -> bool {
    let (own, other) = match state.persistant[Persistent::Team] {
        team if team == Team::Red => (Powerup::RedFlag, Powerup::BlueFlag),
        team if team == Team::Blue => (Powerup::BlueFlag, Powerup::RedFlag),
        _ => return false,
    };
    let is_dropped = entity.modelindex2 != 0;
    tag == other as i32 || (tag == own as i32 && (is_dropped || state.powerups[other] != 0))
}

/// Returns the rune of a player.
#[must_use]
pub fn rune_of(ruleset: &Ruleset, state: &PlayerState) -> Option<Rune> {
    let number = state.stats[ruleset.stats.rune?];
    let item = ruleset.items.get(number).filter(|item| item.kind == ItemKind::Rune)?;
    Rune::try_from(item.tag).ok()
}

/// Returns the maximum armor of a player from items.
#[must_use]
pub fn most_armor(ruleset: &Ruleset, state: &PlayerState) -> i32 {
    let most = state.stats[ruleset.stats.max_health];
    if rune_of(ruleset, state) == Some(Rune::Guard) { most } else { most.saturating_mul(2) }
}

/// Returns the maximum health of a player from an item of `quantity`.
#[must_use]
pub fn most_health(ruleset: &Ruleset, state: &PlayerState, quantity: i32) -> i32 {
    let most = state.stats[ruleset.stats.max_health];
    let guarded = rune_of(ruleset, state) == Some(Rune::Guard);
    if OVER_MAX_HEALTH.contains(&quantity) && !guarded { most.saturating_mul(2) } else { most }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bg::UNTIL_LOST;

    #[test]
    fn pickup_range_is_asymmetric() {
        let item = Vec3::new(100.0, 200.0, 300.0);
        let reaches = |x, y, z| is_in_reach(item, item + Vec3::new(x, y, z));
        assert!(reaches(44.0, 36.0, 36.0) && reaches(-50.0, -36.0, -36.0));
        assert!(!reaches(44.5, 0.0, 0.0) && !reaches(-50.5, 0.0, 0.0));
        assert!(!reaches(0.0, 36.5, 0.0) && !reaches(0.0, -36.5, 0.0));
        assert!(!reaches(0.0, 0.0, 36.5) && !reaches(0.0, 0.0, -36.5));
    }

    fn takes(
        ruleset: &Ruleset,
        class: &str,
        game_type: GameType,
        fill: impl Fn(&mut PlayerState, &mut EntityState),
    ) -> bool {
        let (number, _) = ruleset.items.by_class(class).expect("a class");
        let mut entity = EntityState { modelindex: number, ..EntityState::default() };
        let mut state = PlayerState::default();
        state.stats[ruleset.stats.health] = 100;
        state.stats[ruleset.stats.max_health] = 100;
        fill(&mut state, &mut entity);
        may_take(ruleset, game_type, &entity, &state)
    }

    #[test]
    fn full_player_cannot_pick_up_items() {
        for ruleset in Ruleset::ALL {
            let stats = ruleset.stats;
            let with = |class, stat: usize, value| {
                takes(ruleset, class, GameType::FreeForAll, |state, _| state.stats[stat] = value)
            };
            for class in ["item_health", "item_health_large"] {
                assert!(with(class, stats.health, 99) && !with(class, stats.health, 100));
            }
            for class in ["item_health_small", "item_health_mega"] {
                assert!(with(class, stats.health, 199) && !with(class, stats.health, 200));
            }
            for class in ["item_armor_shard", "item_armor_combat", "item_armor_body"] {
                assert!(with(class, stats.armor, 199) && !with(class, stats.armor, 200));
            }
            for class in ["holdable_teleporter", "holdable_medkit"] {
                assert!(with(class, stats.holdable, 0) && !with(class, stats.holdable, 26));
            }
            let rounds = |rounds| {
                takes(ruleset, "ammo_slugs", GameType::FreeForAll, |state, _| {
                    state.ammo[7] = rounds;
                })
            };
            assert!(rounds(199) && rounds(-1) && !rounds(200) && !rounds(999));
        }
    }

    #[test]
    fn player_carries_one_rune_of_its_team() {
        let oa = Ruleset::BASEOA;
        let scout = |fill: &dyn Fn(&mut PlayerState, &mut EntityState)| {
            takes(oa, "item_scout", GameType::TeamDeathmatch, fill)
        };
        assert!(scout(&|_, _| {}));
        assert!(!scout(&|state, _| state.stats[2] = 43));
        assert!(!scout(&|_, entity| entity.generic1 = RED_ONLY));
        assert!(scout(&|state, entity| {
            entity.generic1 = BLUE_ONLY;
            state.persistant[Persistent::Team] = Team::Blue as i32;
        }));
        let armor = |rune, armor| {
            takes(oa, "item_armor_body", GameType::FreeForAll, |state, _| {
                (state.stats[2], state.stats[4], state.stats[7]) = (rune, armor, 100);
            })
        };
        assert!(!armor(42, 0), "scouts wear none");
        assert!(armor(43, 99) && !armor(43, 100), "guards wear no more than their maximum");
    }

    #[test]
    fn flag_is_taken_by_enemy_or_returned() {
        for ruleset in Ruleset::ALL {
            let flag = |class, team: Team, dropped: bool, carried: usize| {
                takes(ruleset, class, GameType::CaptureTheFlag, |state, entity| {
                    state.persistant[Persistent::Team] = team as i32;
                    entity.modelindex2 = i32::from(dropped);
                    state.powerups[carried] = UNTIL_LOST;
                })
            };
            let (red, blue) = ("team_CTF_redflag", "team_CTF_blueflag");
            assert!(flag(blue, Team::Red, false, 0) && flag(red, Team::Blue, true, 0));
            assert!(!flag(red, Team::Red, false, 0) && flag(red, Team::Red, true, 0));
            assert!(flag(red, Team::Red, false, Powerup::BlueFlag as usize));
            assert!(flag(blue, Team::Blue, false, Powerup::RedFlag as usize));
            assert!(!flag(red, Team::Free, true, 0));
            assert!(!takes(ruleset, red, GameType::TeamDeathmatch, |state, _| {
                state.persistant[Persistent::Team] = Team::Blue as i32;
            }));
        }
    }
}
