//! Powerups, runes and once-per-second effects.
//!
//! Source: the base game's timers; OpenArena's runes and its setting `g_regen`.

use crate::bg::{Event, Powerup, Rune};
use crate::game::deathmatch::{
    combat::Combat, context::Context, items::Items, items::flags::show_item,
};
use crate::game::{movement::pickup::rune_of, ruleset::Ruleset, settings::key};
use crate::model::{ClientNum, PlayerState};

/// Interval of the once-per-second effects, in ms.
const SECOND_MS: i32 = 1000;
/// Health per second from regeneration: below the maximum, and above it.
const REGENERATION: (i32, i32) = (15, 5);
/// Speed factors of haste and of the scout rune.
const HASTE: f32 = 1.3;
const SCOUT: f32 = 1.5;
/// Largest speed that fits the speed field of a playerstate.
const MAX_SPEED: i32 = 0xffff;

/// Ammunition rune: weapon, maximum, rounds per refill, refill interval in ms.
const ROUNDS: [(usize, i32, i32, i32); 11] = [
    (2, 50, 4, 1000),
    (3, 10, 1, 1500),
    (4, 10, 1, 2000),
    (5, 10, 1, 1750),
    (6, 50, 5, 1500),
    (7, 10, 1, 1750),
    (8, 50, 5, 1500),
    (9, 10, 1, 4000),
    (11, 10, 1, 1250),
    (12, 5, 1, 2000),
    (13, 100, 5, 1000),
];

/// Returns the run speed of a player, based on the speed `walking` without powerups.
pub(crate) fn speed_of(ruleset: &Ruleset, walking: i32, state: &PlayerState) -> i32 {
    let factor = if rune_of(ruleset, state) == Some(Rune::Scout) {
        SCOUT
    } else if state.powerups[Powerup::Haste] != 0 {
        HASTE
    } else {
        return walking;
    };
    ((walking as f32 * factor) as i32).min(MAX_SPEED)
}

/// Returns the health after one second of regeneration, or none without a change.
fn regenerated(health: i32, most: i32) -> Option<i32> {
    let (fast, slow) = REGENERATION;
    if health < most {
        // At most 110% of the maximum, rounded down.
        Some((health + fast).min((most as f32 * 1.1) as i32))
    } else if health < most.saturating_mul(2) {
        Some((health + slow).min(most * 2))
    } else {
        None
    }
}

/// Runs the timers of a player's usercmd: regeneration, decay of health and armor above their maximum,
/// ammunition rune. The first two act once a second.
pub(crate) fn run_player_timers(
    cx: &mut Context<'_>,
    combat: &mut Combat,
    items: &mut Items,
    client: ClientNum,
    ms: i32,
) {
    combat.players[client.index()].second_ms += ms;
    while combat.players[client.index()].second_ms >= SECOND_MS {
        combat.players[client.index()].second_ms -= SECOND_MS;
        pass_second(cx, client);
    }
    items.refill(cx, client, ms);
}

fn pass_second(cx: &mut Context<'_>, client: ClientNum) {
    let ruleset = cx.clients.ruleset;
    let stats = ruleset.stats;
    let everybody =
        if ruleset.equipment.has_settings { cx.host.settings().int(key::G_REGEN) } else { 0 };
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    let state = &mut player.state;
    let most = state.stats[stats.max_health];
    let regenerates = if rune_of(ruleset, state) == Some(Rune::Guard) {
        Some(most / 2)
    } else {
        (state.powerups[Powerup::Regeneration] != 0).then_some(most)
    };
    let health = state.stats[stats.health];
    let mut shown = false;
    if let Some(most) = regenerates {
        if let Some(more) = regenerated(health, most) {
            state.stats[stats.health] = more;
            shown = true;
        }
    } else if health > most {
        state.stats[stats.health] -= 1;
    } else {
        state.stats[stats.health] = (health + everybody).min(most).max(health);
    }
    if state.stats[stats.armor] > most {
        state.stats[stats.armor] -= 1;
    }
    if shown {
        cx.add_player_event(client, Event::PowerupRegen, 0);
    }
}
impl Items {
    /// Restores ammunition for every weapon of a player with the ammunition rune.
    fn refill(&mut self, cx: &mut Context<'_>, client: ClientNum, ms: i32) {
        let ruleset = cx.clients.ruleset;
        let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
        if rune_of(ruleset, &player.state) != Some(Rune::AmmoRegen) {
            return;
        }
        let since = &mut self.carried[client.index()].since_rounds_ms;
        for (weapon, most, rounds, every_ms) in ROUNDS {
            let there = &mut player.state.ammo[weapon];
            since[weapon] = if *there >= most { 0 } else { since[weapon].saturating_add(ms) };
            while since[weapon] >= every_ms {
                since[weapon] -= every_ms;
                *there = (*there + rounds).min(most);
            }
        }
    }
}

/// Ends expired powerups of a frame and shows the carried rune to other clients.
pub(crate) fn end_powerups(cx: &mut Context<'_>, client: ClientNum) {
    let (now, ruleset) = (cx.clients.now, cx.clients.ruleset);
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    let carried = rune_of(ruleset, &player.state);
    for until in &mut player.state.powerups {
        if *until < now.0 {
            *until = 0;
        }
    }
    if let Some(until) = carried.map(|rune| &mut player.state.powerups[rune]) {
        *until = now.0;
    }
}
impl Items {
    /// Returns the rune of a dead player to its spawn position.
    pub(super) fn return_rune(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        let stats = cx.clients.ruleset.stats;
        if let (Some(player), Some(stat)) =
            (cx.clients.players[client.index()].as_mut(), stats.rune)
        {
            player.state.stats[stat] = 0;
        }
        let rune = self.carried[client.index()].rune.take();
        if let Some(number) = rune {
            show_item(cx, number);
        }
        self.clear_carried(client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regeneration_slows_above_maximum() {
        let mut health = 50;
        let mut seen = Vec::new();
        while let Some(more) = regenerated(health, 100) {
            health = more;
            seen.push(more);
        }
        assert_eq!(seen[..5], [65, 80, 95, 110, 115]);
        assert_eq!((health, seen.len()), (200, 4 + 18));
        assert_eq!(regenerated(99, 100), Some(110));
        assert_eq!(regenerated(198, 100), Some(200));
    }

    #[test]
    fn haste_and_scout_raise_speed() {
        let mut state = PlayerState::default();
        assert_eq!(speed_of(Ruleset::BASEOA, 320, &state), 320);
        state.powerups[Powerup::Haste] = 1;
        assert_eq!(speed_of(Ruleset::BASEQ3, 320, &state), 416);
        assert_eq!(speed_of(Ruleset::BASEOA, 320, &state), 416);
        state.stats[2] = 42;
        assert_eq!(speed_of(Ruleset::BASEOA, 320, &state), 480);
        assert_eq!(speed_of(Ruleset::BASEQ3, 320, &state), 416, "no rune but the weapons' bits");
        assert_eq!(speed_of(Ruleset::BASEOA, 0xffff, &state), 0xffff);
    }
}
