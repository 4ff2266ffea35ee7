//! The gauntlet: it is looked before each move whether it touches something, and what it touches is hit.
//!
//! Source: the base game's gauntlet.

use super::{Attack, Deathmatch, Hit, Host, client_of, hitscan::leaves_nothing};
use crate::model::{Buttons, ClientNum, PlayerState, UserCmd};
use crate::{
    bg::{Event, Powerup, Weapon},
    game::direction_bytes::direction_byte,
};

impl Deathmatch {
    /// Whether a player's gauntlet hits in this command, and hits then.
    pub(in crate::game::deathmatch) fn saw(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        state: &PlayerState,
        command: &UserCmd,
    ) -> bool {
        let ready = state.weapon == Weapon::Gauntlet && state.weapon_time <= 0;
        let pressed = command.buttons.contains(Buttons::ATTACK);
        if !ready || !pressed || command.buttons.contains(Buttons::TALK) || self.is_dead(client) {
            return false;
        }
        let gauntlet = Weapon::Gauntlet.spec();
        let (Attack::Melee { range }, Some(aim)) = (gauntlet.attack, self.aim(client)) else {
            return false;
        };
        let end = aim.muzzle.add_scaled(aim.axes.forward, range);
        let trace = self.shot_trace(&*host, aim.muzzle, end, client.into());
        if leaves_nothing(&trace) || !self.is_damageable(trace.entity) {
            return false;
        }
        if client_of(trace.entity).is_some() {
            self.flash(host, trace.endpos, Event::MissileHit, |state, _| {
                state.other_entity_num = trace.entity.index() as i32;
                state.event_parm = direction_byte(trace.plane.normal);
                state.weapon = Weapon::Gauntlet as i32;
            });
        }
        if self.has_powerup(client, Powerup::Quad) {
            self.show(client, Event::PowerupQuad, 0);
        }
        let hit = Hit {
            attacker: Some(client),
            direction: Some(aim.axes.forward),
            point: Some(trace.endpos),
            ..Hit::by_world(self.strengthened(client, self.base_damage(gauntlet)), gauntlet.means)
        };
        self.harm(host, trace.entity, &hit);
        true
    }
}
