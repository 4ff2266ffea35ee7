//! Weapons that fire: who aims where, how hard, and what comes out.
//!
//! Invariants: everything starts at whole coordinates, as clients draw it; what a shot follows is bounded,
//! however often shells turn it away. Source: the base game's weapons; OpenArena's.

mod aim;
mod end;
mod gauntlet;
mod grapple;
mod hitscan;
mod kamikaze;
mod mines;
mod missiles;
mod shells;
mod shotgun;
#[cfg(test)]
mod tests;

pub(super) use self::{aim::perpendicular, kamikaze::Kamikaze, missiles::Missile};
use super::{
    Deathmatch,
    combat::{Blast, Hit, LETHAL},
    things::{Thing, What},
};
use crate::model::{ClientNum, EntityNum, Trace, Vec3, contents::mask};
use crate::{
    bg::{
        Powerup, Rune,
        items::{ITEMS, ItemKind},
        weapons::{Attack, WeaponSpec},
    },
    game::Host,
};

/// What the doubler multiplies damage by.
const DOUBLER: f32 = 2.0;

impl Deathmatch {
    /// A player's weapon fires: the movement has taken its ammunition.
    pub(super) fn fire_weapon(&mut self, host: &mut dyn Host, client: ClientNum) {
        let Some(player) = self.people.player(client) else { return };
        let number = player.entity.weapon;
        if number > self.people.profile.last_weapon {
            return;
        }
        let weapon = crate::bg::weapons::weapon(number);
        self.bodies[client.index()].protected_until = None;
        let shots = match weapon.attack {
            Attack::Nothing | Attack::Melee { .. } | Attack::Grapple(_) => 0,
            Attack::Missile(missile) => missile.count,
            Attack::Bullet { .. }
            | Attack::Pellets { .. }
            | Attack::Lightning { .. }
            | Attack::Rail { .. } => 1,
        };
        if let Some(player) = self.people.players[client.index()].as_mut() {
            player.accuracy.fire(number, shots);
        }
        let Some(aim) = self.aim(client) else { return };
        let points = self.strengthened(client, self.base_damage(weapon));
        match weapon.attack {
            // What the gauntlet touches was hit before the move.
            Attack::Nothing | Attack::Melee { .. } => {}
            Attack::Bullet { spread } => {
                self.fire_bullet(host, client, &aim, number, spread, points)
            }
            Attack::Pellets { count, spread } => {
                self.fire_pellets(host, client, &aim, count, spread, points);
            }
            Attack::Lightning { range } => self.fire_bolt(host, client, &aim, range, points),
            Attack::Rail { range, bodies } => {
                self.fire_beam(host, client, &aim, range, bodies, points);
            }
            Attack::Missile(missile) => {
                for _ in 0..missile.count {
                    let direction = self.missile_direction(&missile, &aim);
                    self.launch(host, client.into(), number, aim.muzzle, direction);
                }
            }
            Attack::Grapple(_) => self.fire_hook(host, client, &aim),
        }
    }

    /// Damage of a weapon in what is played.
    fn base_damage(&self, weapon: &WeaponSpec) -> i32 {
        if self.combat.arms.kill_at_once() {
            weapon.instagib_damage
        } else if self.people.game_type == crate::bg::GameType::TeamDeathmatch {
            weapon.team_damage
        } else {
            weapon.damage
        }
    }

    /// What a player's powerups multiply damage by.
    pub(super) fn strength(&self, client: ClientNum) -> f32 {
        let Some(player) = self.people.player(client) else { return 1.0 };
        let quad = player.state.powerups[Powerup::Quad] != 0;
        let factor = if quad { self.combat.quad_factor } else { 1.0 };
        let carried = self.people.profile.stats.rune.map(|stat| player.state.stats[stat]);
        let item = carried.and_then(|item| usize::try_from(item).ok());
        let item = item.and_then(|item| ITEMS.get(item));
        let doubles =
            item.is_some_and(|item| item.kind == ItemKind::Rune && item.tag == Rune::Doubler);
        if doubles { factor * DOUBLER } else { factor }
    }

    fn strengthened(&self, client: ClientNum, points: i32) -> i32 {
        (points as f32 * self.strength(client)) as i32
    }

    /// How far something without size gets that everything stops but what belongs to `pass`.
    fn shot_trace(&self, host: &dyn Host, from: Vec3, to: Vec3, pass: EntityNum) -> Trace {
        host.world().map_or(Trace::free(to), |world| {
            world.scene(self, pass).trace(from, Vec3::ZERO, Vec3::ZERO, to, mask::SHOT)
        })
    }

    /// Whether hurting an entity would be to an attacker's credit: a living enemy.
    pub(super) fn is_good_hit(&self, attacker: ClientNum, number: EntityNum) -> bool {
        ClientNum::new(number.index()).is_some_and(|victim| {
            victim != attacker
                && self.is_damageable(number)
                && !self.is_dead(victim)
                && !self.people.are_mates(attacker, victim)
        })
    }

    /// Counts a shot that hit.
    fn count_accurate(&mut self, client: ClientNum, weapon: impl Into<i32>) {
        if let Some(player) = self.people.players[client.index()].as_mut() {
            player.accuracy.hit(weapon.into());
        }
    }
}

/// The client that an entity is.
fn client_of(number: EntityNum) -> Option<ClientNum> {
    ClientNum::new(number.index())
}
