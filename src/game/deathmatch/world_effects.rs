//! World effects: drowning, lava and slime.
//!
//! Source: the base game's effects of the world.

use super::combat::Hit;
use crate::bg::{Event, MeansOfDeath, Powerup, contents};
use crate::game::deathmatch::{combat::damage::damage_player, context::Context, systems::Systems};
use crate::model::ClientNum;

/// Air at the beginning, in milliseconds, and what a battle suit keeps of it.
pub(super) const AIR_MS: i32 = 12_000;
const SUIT_AIR_MS: i32 = 10_000;
/// Damage of the first drowning, before it grows.
pub(super) const FIRST_GULP: i32 = 2;
/// How deep a head is under.
const UNDER: u8 = 3;
/// Between two gulps of water, in milliseconds; how much worse each is, and the worst.
const GULP_MS: i32 = 1000;
const GULP_GROWS: i32 = 2;
const WORST_GULP: i32 = 15;
/// Damage for each level of depth.
const LAVA: i32 = 30;
const SLIME: i32 = 10;
/// Number of the sound of a player on fire.
const FRY_SOUND: i32 = 1;

/// A frame in water, lava, slime or none of them.
pub(super) fn apply_world_effects(cx: &mut Context<'_>, sys: &mut Systems, client: ClientNum) {
    let now = cx.clients.now;
    let alive = !cx.is_dead(client);
    let suited = cx.has_powerup(client, Powerup::BattleSuit);
    let combat = &mut sys.combat.players[client.index()];
    let (level, kind) = (combat.water_level, combat.water_type);
    let mut hits = [None; 3];
    if level == UNDER {
        if suited {
            combat.air_until = now + SUIT_AIR_MS;
        }
        if alive && now.distance(combat.air_until) > 0 {
            combat.air_until = combat.air_until + GULP_MS;
            combat.drown_damage = (combat.drown_damage + GULP_GROWS).min(WORST_GULP);
            combat.pain_debounce_until = now + 200;
            hits[0] = Some((combat.drown_damage, MeansOfDeath::Water));
        }
    } else {
        combat.air_until = now + AIR_MS;
        combat.drown_damage = FIRST_GULP;
    }
    let burns = level > 0 && kind & (contents::LAVA | contents::SLIME) != 0;
    let hurts = burns && alive && now.distance(combat.pain_debounce_until) >= 0;
    if hurts && !suited {
        if kind & contents::LAVA != 0 {
            hits[1] = Some((LAVA * i32::from(level), MeansOfDeath::Lava));
        }
        if kind & contents::SLIME != 0 {
            hits[2] = Some((SLIME * i32::from(level), MeansOfDeath::Slime));
        }
    }
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.state.loop_sound = if burns { FRY_SOUND } else { 0 };
    }
    if hurts && suited {
        cx.show(client, Event::PowerupBattleSuit, 0);
    }
    for (points, means) in hits.into_iter().flatten() {
        let hit = Hit { no_armor: means == MeansOfDeath::Water, ..Hit::by_world(points, means) };
        damage_player(cx, sys, client, &hit);
    }
}
