//! Weapon fire: dispatch by weapon, damage factors, projectiles of each player.
//!
//! Invariants: every shot starts at integer coordinates, as clients draw it; the number of deflections of a
//! shot is limited. Source: the base game's weapons; OpenArena's.
//!
//! Engine names: `FireWeapon`, `SnapVectorTowards`, `s_quadFactor`.

pub(super) mod aim;
pub(super) mod gauntlet;
pub(super) mod grapple;
pub(super) mod hitscan;
pub(super) mod invulnerability;
pub(super) mod kamikaze;
pub(super) mod lag_compensation;
pub(super) mod mines;
pub(super) mod missiles;
mod recent_places;
pub(super) mod shotgun;
pub(super) mod snap;
#[cfg(test)]
mod tests;

pub(super) use self::lag_compensation::LagCompensation;
use super::weapons::aim::{ShotCone, aim, missile_direction};
use super::weapons::hitscan::{fire_bullet, fire_lightning, fire_rail};
use super::{
    combat::Combat, context::Context, systems::Systems, weapons::lag_compensation::in_the_past,
    weapons::missiles::launch, weapons::shotgun::fire_shotgun,
};
use crate::bg::weapons::{Attack, BULLET_RANGE, WeaponSpec};
use crate::bg::{Powerup, Rune, items::ITEMS, items::ItemKind};
use crate::model::{
    ClientNum, EntityNum, LevelTime, Trace, Vec3, contents::mask, limits::MAX_CLIENTS,
};

/// Hook, mine and kamikaze state of one player.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlayerProjectiles {
    /// Player's attached hook, and whether its attack button is still held.
    hook: Option<EntityNum>,
    hook_held: bool,
    /// Mine that ticks on the player.
    mine: Option<EntityNum>,
    /// End of the immunity to a kamikaze's explosion, and to its shockwave.
    blast_immune_until: Option<LevelTime>,
    shockwave_immune_until: Option<LevelTime>,
    /// Time of the current usercmd, as sent by the client.
    attack_time: i32,
}

/// Projectile state by player. The projectile entities are in the entity table.
#[derive(Debug)]
pub(super) struct Projectiles {
    /// Players by client number.
    players: Vec<PlayerProjectiles>,
}

impl Default for Projectiles {
    fn default() -> Self {
        Self { players: vec![PlayerProjectiles::default(); MAX_CLIENTS] }
    }
}

impl Projectiles {
    /// Resets all players at level start.
    pub(super) fn reset(&mut self) {
        self.players.fill(PlayerProjectiles::default());
    }

    /// Resets a client that spawns.
    pub(super) fn reset_client(&mut self, client: ClientNum) {
        self.players[client.index()] = PlayerProjectiles::default();
    }

    /// Time of the usercmd that a client runs, as sent by the client.
    fn attack_time(&self, client: ClientNum) -> i32 {
        self.players[client.index()].attack_time
    }

    /// Stores the time of the usercmd that a client runs.
    pub(super) fn begin_command(&mut self, client: ClientNum, time: i32) {
        self.players[client.index()].attack_time = time;
    }
}

/// Damage factor of the doubler rune.
const DOUBLER: f32 = 2.0;

/// Fires a player's weapon. Pmove has subtracted the ammunition.
pub(crate) fn fire_weapon(cx: &mut Context<'_>, sys: &mut Systems, client: ClientNum) {
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
    let cone = |range, spread| ShotCone::new(&aim, range, spread);
    match weapon.attack {
        // The gauntlet attack ran before the move.
        Attack::Nothing | Attack::Melee { .. } => {}
        Attack::Bullet { spread } => {
            in_the_past(cx, sys, client, &cone(BULLET_RANGE, spread), |cx, sys| {
                fire_bullet(cx, sys, client, &aim, number, spread, damage);
            })
        }
        Attack::Pellets { count, spread } => {
            in_the_past(cx, sys, client, &cone(BULLET_RANGE, spread), |cx, sys| {
                fire_shotgun(cx, sys, client, &aim, count, spread, damage);
            })
        }
        Attack::Lightning { range } => {
            in_the_past(cx, sys, client, &cone(range, 0.0), |cx, sys| {
                fire_lightning(cx, sys, client, &aim, range, damage);
            })
        }
        Attack::Rail { range, bodies } => {
            in_the_past(cx, sys, client, &cone(range, 0.0), |cx, sys| {
                fire_rail(cx, sys, client, &aim, range, bodies, damage);
            })
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

/// Returns the damage of a weapon in the current game type and settings.
fn base_damage(cx: &Context<'_>, weapon: &WeaponSpec) -> i32 {
    if cx.frame.combat.loadout.is_instagib() {
        weapon.instagib_damage
    } else if cx.mode().team_damage {
        weapon.team_damage
    } else {
        weapon.damage
    }
}

/// Returns the damage factor of a player's powerups.
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
    /// Traces a point against the map and all entities except `pass` and those that it owns.
    fn shot_trace(&self, from: Vec3, to: Vec3, pass: EntityNum) -> Trace {
        self.host.world().map_or(Trace::free(to), |world| {
            world.scene(self, pass).trace(from, Vec3::ZERO, Vec3::ZERO, to, mask::SHOT)
        })
    }
}

impl Combat {
    /// Whether a hit counts for the attacker's accuracy: the victim is a living enemy.
    pub(crate) fn is_good_hit(
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

/// Counts a hit for the accuracy statistic.
fn count_accurate(cx: &mut Context<'_>, client: ClientNum, weapon: impl Into<i32>) {
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.accuracy.hit(weapon.into());
    }
}

/// Returns the client number of a player entity.
fn client_of(number: EntityNum) -> Option<ClientNum> {
    ClientNum::new(number.index())
}
