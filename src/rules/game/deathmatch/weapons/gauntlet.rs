//! Gauntlet: the hit test before each move, and its damage.
//!
//! Source: the base game's gauntlet.
//!
//! Engine names: `CheckGauntletAttack`.

use crate::bg::{Event, Powerup, Weapon, weapons::Attack};
use crate::game::deathmatch::{
    context::Context, damage::damage_entity, hit::Hit, projectiles::aim::aim, systems::Fight,
    weapons::base_damage, weapons::leaves_no_mark, weapons::scaled_by_powerups,
};
use crate::game::direction_bytes::dir_to_byte;
use crate::model::{Buttons, ClientNum, UserCmd};

/// Traces and applies a gauntlet attack. Returns whether it hit in this usercmd.
pub(crate) fn gauntlet_attack(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    client: ClientNum,
    command: &UserCmd,
) -> bool {
    let Some(player) = cx.clients.player(client) else { return false };
    let ready = player.state.weapon == Weapon::Gauntlet && player.state.weapon_time <= 0;
    let pressed = command.buttons.contains(Buttons::ATTACK);
    if !ready || !pressed || command.buttons.contains(Buttons::TALK) || cx.is_dead(client) {
        return false;
    }
    let gauntlet = Weapon::Gauntlet.spec();
    let (Attack::Melee { range }, Some(aim)) = (gauntlet.attack, aim(cx, client)) else {
        return false;
    };
    let end = aim.muzzle.add_scaled(aim.axes.forward, range);
    let trace = cx.shot_trace(aim.muzzle, end, client.into());
    if leaves_no_mark(&trace) || !fight.combat.is_damageable(cx, trace.entity) {
        return false;
    }
    if trace.entity.client().is_some() {
        cx.temp_entity(trace.endpos, Event::MissileHit, |state, _| {
            state.other_entity_num = trace.entity.index() as i32;
            state.event_parm = dir_to_byte(trace.plane.normal);
            state.weapon = Weapon::Gauntlet as i32;
        });
    }
    if cx.has_powerup(client, Powerup::Quad) {
        cx.add_player_event(client, Event::PowerupQuad, 0);
    }
    let hit = Hit {
        attacker: Some(client),
        direction: Some(aim.axes.forward),
        point: Some(trace.endpos),
        ..Hit::by_world(scaled_by_powerups(cx, client, base_damage(cx, gauntlet)), gauntlet.means)
    };
    damage_entity(cx, fight, trace.entity, &hit);
    true
}
