//! Weapon fire: dispatch by weapon, damage factors, projectiles by player.
//!
//! Invariants: everything starts at whole coordinates, as clients draw it; what a shot follows is bounded,
//! however often shells turn it away. Source: the base game's weapons; OpenArena's.

pub(super) mod aim;
pub(super) mod gauntlet;
pub(super) mod grapple;
pub(super) mod hitscan;
pub(super) mod invulnerability;
pub(super) mod kamikaze;
pub(super) mod mines;
pub(super) mod missiles;
pub(super) mod shotgun;
pub(super) mod snap;
#[cfg(test)]
mod tests;

pub(super) use self::{aim::perpendicular, kamikaze::Kamikaze, missiles::Missile};
use super::{
    combat::{Hit, LETHAL, SplashDamage},
    entities::{Entity, EntityKind},
};
use crate::game::deathmatch::{
    combat::Combat,
    context::Context,
    systems::Systems,
    weapons::aim::{aim, missile_direction},
    weapons::hitscan::{fire_bullet, fire_lightning, fire_rail},
    weapons::missiles::launch,
    weapons::shotgun::fire_shotgun,
};
use crate::model::{
    ClientNum, EntityNum, LevelTime, Trace, Vec3, contents::mask, limits::MAX_CLIENTS,
};
use crate::{
    bg::{
        Powerup, Rune,
        items::{ITEMS, ItemKind},
        weapons::{Attack, WeaponSpec},
    },
    game::Host,
};

/// Hooks, mines and blasts of one player.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlayerProjectiles {
    /// Its hook in the world, and whether the trigger that shot one is still held.
    hook: Option<EntityNum>,
    hook_held: bool,
    /// The mine that ticks on it.
    mine: Option<EntityNum>,
    /// Until when a kamikaze's blast, and its wave, do nothing more to it.
    blast_immune_until: Option<LevelTime>,
    shockwave_immune_until: Option<LevelTime>,
    /// Time of the command that runs, as the client gave it.
    attack_time: i32,
}

/// Projectiles by the players that they concern. The projectiles themselves stand in the entity table.
#[derive(Debug)]
pub(super) struct Projectiles {
    /// By client number.
    players: Vec<PlayerProjectiles>,
}

impl Default for Projectiles {
    fn default() -> Self {
        Self { players: vec![PlayerProjectiles::default(); MAX_CLIENTS] }
    }
}

impl Projectiles {
    /// Starts a level.
    pub(super) fn reset(&mut self) {
        self.players.fill(PlayerProjectiles::default());
    }

    /// Starts a client's life.
    pub(super) fn reset_client(&mut self, client: ClientNum) {
        self.players[client.index()] = PlayerProjectiles::default();
    }

    /// Notes the time of the command that a client runs.
    pub(super) fn begin_command(&mut self, client: ClientNum, time: i32) {
        self.players[client.index()].attack_time = time;
    }
}

/// What the doubler multiplies damage by.
const DOUBLER: f32 = 2.0;

/// A player's weapon fires: the movement has taken its ammunition.
pub(in crate::game::deathmatch) fn fire_weapon(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    client: ClientNum,
) {
    let Some(player) = cx.clients.player(client) else { return };
    let number = player.entity.weapon;
    if number > cx.clients.ruleset.last_weapon {
        return;
    }
    let weapon = crate::bg::weapons::weapon(number);
    sys.combat.players[client.index()].protected_until = None;
    let shots = match weapon.attack {
        Attack::Nothing | Attack::Melee { .. } | Attack::Grapple(_) => 0,
        Attack::Missile(missile) => missile.count,
        Attack::Bullet { .. }
        | Attack::Pellets { .. }
        | Attack::Lightning { .. }
        | Attack::Rail { .. } => 1,
    };
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.accuracy.fire(number, shots);
    }
    let Some(aim) = aim(cx, client) else { return };
    let damage = scaled_by_powerups(cx, client, base_damage(cx, weapon));
    match weapon.attack {
        // What the gauntlet touches was hit before the move.
        Attack::Nothing | Attack::Melee { .. } => {}
        Attack::Bullet { spread } => fire_bullet(cx, sys, client, &aim, number, spread, damage),
        Attack::Pellets { count, spread } => {
            fire_shotgun(cx, sys, client, &aim, count, spread, damage);
        }
        Attack::Lightning { range } => fire_lightning(cx, sys, client, &aim, range, damage),
        Attack::Rail { range, bodies } => {
            fire_rail(cx, sys, client, &aim, range, bodies, damage);
        }
        Attack::Missile(missile) => {
            for _ in 0..missile.count {
                let direction = missile_direction(cx, &missile, &aim);
                launch(cx, client.into(), number, aim.muzzle, direction);
            }
        }
        Attack::Grapple(_) => sys.projectiles.fire_hook(cx, client, &aim),
    }
}

/// Damage of a weapon in what is played.
fn base_damage(cx: &Context<'_>, weapon: &WeaponSpec) -> i32 {
    if cx.frame.combat.loadout.is_instagib() {
        weapon.instagib_damage
    } else if cx.clients.mode().team_damage {
        weapon.team_damage
    } else {
        weapon.damage
    }
}

/// What a player's powerups multiply damage by.
fn damage_multiplier(cx: &Context<'_>, client: ClientNum) -> f32 {
    let Some(player) = cx.clients.player(client) else { return 1.0 };
    let quad = player.state.powerups[Powerup::Quad] != 0;
    let factor = if quad { cx.frame.combat.quad_factor } else { 1.0 };
    let carried = cx.clients.ruleset.stats.rune.map(|stat| player.state.stats[stat]);
    let item = carried.and_then(|item| usize::try_from(item).ok());
    let item = item.and_then(|item| ITEMS.get(item));
    let doubles = item.is_some_and(|item| item.kind == ItemKind::Rune && item.tag == Rune::Doubler);
    if doubles { factor * DOUBLER } else { factor }
}

fn scaled_by_powerups(cx: &Context<'_>, client: ClientNum, damage: i32) -> i32 {
    (damage as f32 * damage_multiplier(cx, client)) as i32
}
impl Context<'_> {
    /// How far something without size gets that everything stops but what belongs to `pass`.
    fn shot_trace(&self, from: Vec3, to: Vec3, pass: EntityNum) -> Trace {
        self.host.world().map_or(Trace::free(to), |world| {
            world.scene(self, pass).trace(from, Vec3::ZERO, Vec3::ZERO, to, mask::SHOT)
        })
    }
}

impl Combat {
    /// Whether hurting an entity would be to an attacker's credit: a living enemy.
    pub(in crate::game::deathmatch) fn is_good_hit(
        &self,
        cx: &Context<'_>,
        attacker: ClientNum,
        number: EntityNum,
    ) -> bool {
        ClientNum::new(number.index()).is_some_and(|victim| {
            victim != attacker
                && self.is_damageable(cx, number)
                && !cx.is_dead(victim)
                && !cx.clients.are_mates(attacker, victim)
        })
    }
}

/// Counts a shot that hit.
fn count_accurate(cx: &mut Context<'_>, client: ClientNum, weapon: impl Into<i32>) {
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.accuracy.hit(weapon.into());
    }
}

/// The client that an entity is.
fn client_of(number: EntityNum) -> Option<ClientNum> {
    ClientNum::new(number.index())
}
