//! World effects: drowning, lava and slime.
//!
//! Source: the base game's effects of the world. Engine names: `P_WorldEffects`.

use super::{
    asset_index::sound_index, combat::Combat, combat::player_state::AIR_MS,
    combat::player_state::INITIAL_DROWN_DAMAGE, context::Context, damage::damage_player, hit::Hit,
    projectiles::mines::TICKING_SOUND, systems::Fight,
};
use crate::bg::{Event, MeansOfDeath, Powerup, contents, entity_flag};
use crate::model::ClientNum;

/// Air that a battle suit restores, in ms.
const SUIT_AIR_MS: i32 = 10_000;
/// Water level with the head under water.
const HEAD_UNDER_WATER: u8 = 3;
/// Interval of drowning damage, in ms.
const DROWN_INTERVAL_MS: i32 = 1000;
/// Increase of each drowning hit.
const DROWN_DAMAGE_STEP: i32 = 2;
/// Largest drowning hit.
const MAX_DROWN_DAMAGE: i32 = 15;
/// Damage per water level.
const LAVA: i32 = 30;
const SLIME: i32 = 10;
/// Contents that burn.
const BURNS: i32 = contents::LAVA | contents::SLIME;
/// Sound index of a burning player.
const FRY_SOUND: i32 = 1;

/// Applies a frame of drowning, lava and slime to a player.
pub(super) fn apply_world_effects(cx: &mut Context<'_>, fight: &mut Fight, client: ClientNum) {
    let now = cx.clients.now;
    if cx.clients.player(client).is_some_and(|player| player.cheats.noclip) {
        // Air is full when the cheat ends.
        fight.combat.players[client.index()].air_until = now + AIR_MS;
        return;
    }
    let alive = !cx.is_dead(client);
    let suited = cx.has_powerup(client, Powerup::BattleSuit);
    let combat = &mut fight.combat.players[client.index()];
    let (level, kind) = (combat.water_level, combat.water_type);
    let mut hits = [None; 3];
    if level == HEAD_UNDER_WATER {
        if suited {
            combat.air_until = now + SUIT_AIR_MS;
        }
        if alive && now.distance(combat.air_until) > 0 {
            combat.air_until = combat.air_until + DROWN_INTERVAL_MS;
            combat.drown_damage = (combat.drown_damage + DROWN_DAMAGE_STEP).min(MAX_DROWN_DAMAGE);
            combat.pain_debounce_until = now + 200;
            hits[0] = Some((combat.drown_damage, MeansOfDeath::Water));
        }
    } else {
        combat.air_until = now + AIR_MS;
        combat.drown_damage = INITIAL_DROWN_DAMAGE;
    }
    let burns = level > 0 && kind & BURNS != 0;
    let hurts = burns && alive && now.distance(combat.pain_debounce_until) >= 0;
    if hurts && !suited {
        if kind & contents::LAVA != 0 {
            hits[1] = Some((LAVA * i32::from(level), MeansOfDeath::Lava));
        }
        if kind & contents::SLIME != 0 {
            hits[2] = Some((SLIME * i32::from(level), MeansOfDeath::Slime));
        }
    }
    if hurts && suited {
        cx.add_player_event(client, Event::PowerupBattleSuit, 0);
    }
    for (points, means) in hits.into_iter().flatten() {
        let hit = Hit { no_armor: means == MeansOfDeath::Water, ..Hit::by_world(points, means) };
        damage_player(cx, fight, client, &hit);
    }
}

/// Sets the looping sound of a player, dead or alive: a ticking mine, lava or slime.
pub(super) fn set_player_sound(cx: &mut Context<'_>, combat: &Combat, client: ClientNum) {
    let Some(player) = cx.clients.player(client) else { return };
    let combat = &combat.players[client.index()];
    let sound = if player.entity.e_flags & entity_flag::TICKING != 0 {
        sound_index(cx.host, TICKING_SOUND)
    } else if combat.water_level > 0 && combat.water_type & BURNS != 0 {
        FRY_SOUND
    } else {
        0
    };
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.state.loop_sound = sound;
    }
}
