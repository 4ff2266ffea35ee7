//! Damage: health, armor and knockback of one hit.
//!
//! Invariants: health is at least [`LEAST_HEALTH`]; a dead player does not die again; every value in a
//! playerstate fits 16 bits. Source: the base game's damage, in its order, with OpenArena's additions.
//!
//! Engine names: `G_Damage`, `CheckArmor`, `MOD_*`, `DAMAGE_*`.

pub(super) mod death;
pub(super) mod splash;
#[cfg(test)]
mod tests;

use self::death::die;
use super::hit::Hit;
use super::{
    body_queue::damage_corpse, combat::Combat, combat::player_state::PlayerCombatState,
    context::Context, entity_kinds::EntityKind, movers::shoot_mover,
    projectiles::invulnerability::deflect_off_sphere, projectiles::mines::shoot_mine,
    projectiles::portals::shoot_portal, systems::Fight,
};
use crate::bg::{Event, MeansOfDeath, Persistent, Powerup, dm_flag, pm_flag};
use crate::game::GameEvent;
use crate::game::movement::{GIB_HEALTH, HEALTH, LEAST_HEALTH, impulses, velocity};
use crate::model::{ClientNum, EntityNum};

/// Damage above which knockback does not grow.
const MAX_KNOCKBACK: i32 = 200;
/// Fraction of the damage that armor absorbs.
const ARMOR_SHARE: f32 = 0.66;
/// Time for which a knockback counts as the cause of a death, in ms.
const PUSH_CREDIT_MS: i32 = 5000;
/// Time after a knockback in which a victim that stands on the ground ends the credit, in ms.
const PUSH_FORGET_MS: i32 = 500;
/// Lead in points up to which `g_catchup` does not reduce the damage.
const CATCH_UP_DEAD_ZONE: i64 = 5;
/// Cap of the damage of one hit.
const MAX_DAMAGE: i32 = 1_000_000;

/// Damages an entity.
pub(crate) fn damage_entity(cx: &mut Context<'_>, fight: &mut Fight, victim: EntityNum, hit: &Hit) {
    if let Some(client) = victim.client() {
        return damage_player(cx, fight, client, hit);
    }
    let Some(entity) = cx.entities.get(victim) else { return };
    match &entity.kind {
        EntityKind::Mover(_) => shoot_mover(cx, victim, hit.attacker),
        EntityKind::Corpse(_) => damage_corpse(cx, victim, hit.damage),
        EntityKind::Missile(_) => shoot_mine(cx, victim),
        EntityKind::Portal(_) => shoot_portal(cx, victim, hit),
        _ => {}
    }
}

/// Damages a player.
pub(crate) fn damage_player(cx: &mut Context<'_>, fight: &mut Fight, victim: ClientNum, hit: &Hit) {
    if fight.match_state.is_over()
        || !fight.combat.is_damageable(cx, victim.into())
        || is_deflected(cx, victim, hit)
    {
        return;
    }
    let attacker = fight.combat.credited(cx, victim, hit);
    let other = attacker.filter(|&attacker| attacker != victim);
    let mut damage = hit.damage.clamp(0, MAX_DAMAGE);
    if let Some(handicap) = other.and_then(|other| cx.clients.player(other)) {
        damage = (i64::from(damage) * i64::from(handicap.max_health) / 100) as i32;
    }
    if cx.clients.player(victim).is_some_and(|player| player.cheats.noclip) {
        return;
    }
    fight.combat.apply_knockback(cx, victim, other, hit, damage);
    if !hit.no_protection && fight.combat.is_protected(cx, victim, attacker, hit.means) {
        return;
    }
    if cx.has_powerup(victim, Powerup::BattleSuit) {
        cx.add_player_event(victim, Event::PowerupBattleSuit, 0);
        if hit.is_splash || hit.means == MeansOfDeath::Falling {
            return;
        }
        damage /= 2;
    }
    if let Some(other) = other {
        count_hit(cx, other, victim);
    }
    damage = scaled_damage(cx, victim, attacker, damage);
    apply_damage(cx, fight, victim, attacker, hit, damage);
}

/// Whether an invulnerability sphere deflects a hit. Shows the impact on the sphere.
fn is_deflected(cx: &mut Context<'_>, victim: ClientNum, hit: &Hit) -> bool {
    if hit.means == MeansOfDeath::Juiced || !cx.is_invulnerable(victim) {
        return false;
    }
    if let (Some(direction), Some(point)) = (hit.direction, hit.point) {
        deflect_off_sphere(cx, victim, point, direction);
    }
    true
}
impl Combat {
    /// Returns the player credited with a hit. That is the one who knocked the victim into a hazard, or the
    /// attacker.
    fn credited(
        &mut self,
        cx: &mut Context<'_>,
        victim: ClientNum,
        hit: &Hit,
    ) -> Option<ClientNum> {
        let pushed = matches!(
            hit.means,
            MeansOfDeath::Falling
                | MeansOfDeath::Lava
                | MeansOfDeath::Slime
                | MeansOfDeath::TriggerHurt
                | MeansOfDeath::Suicide
        );
        let pusher = self.recent_pusher(cx, victim).filter(|_| pushed);
        pusher.or(hit.attacker).filter(|&attacker| cx.clients.player(attacker).is_some())
    }

    /// Returns the enemy whose recent knockback counts as the cause of the next death.
    pub(super) fn recent_pusher(&self, cx: &Context<'_>, victim: ClientNum) -> Option<ClientNum> {
        let (pusher, at) = self.players[victim.index()].pushed_by?;
        let recent = cx.clients.now.distance(at) <= PUSH_CREDIT_MS && cx.clients.plays(pusher);
        (cx.clients.ruleset.combat.credits_pushers && recent).then_some(pusher)
    }

    /// Clears the credit for a knockback that left the victim dry on the ground, with the knockback timer over.
    pub(crate) fn forget_pusher_on_ground(&mut self, cx: &Context<'_>, client: ClientNum) {
        let combat = &mut self.players[client.index()];
        let Some(player) = cx.clients.player(client) else { return };
        let state = &player.state;
        let recent = |(_, at)| cx.clients.now.distance(at) < PUSH_FORGET_MS;
        if combat.pushed_by.is_some_and(recent)
            && combat.water_level <= 1
            && state.ground_entity_num != EntityNum::NONE.index() as i32
            && state.pm_flags & pm_flag::TIME_KNOCKBACK == 0
        {
            combat.pushed_by = None;
        }
    }

    fn apply_knockback(
        &mut self,
        cx: &mut Context<'_>,
        victim: ClientNum,
        other: Option<ClientNum>,
        hit: &Hit,
        damage: i32,
    ) {
        let combat = &mut self.players[victim.index()];
        let knockback = damage.min(MAX_KNOCKBACK);
        let Some(direction) = hit.direction else { return };
        if hit.no_knockback || knockback <= 0 || combat.dead {
            return;
        }
        let scale = cx.frame.combat.knockback;
        if let Some(player) = cx.clients.players[victim.index()].as_mut() {
            impulses::knock_back(
                &mut player.state,
                velocity::direction(direction),
                knockback,
                scale,
            );
        }
        let foe = other.filter(|&other| !cx.clients.are_mates(other, victim));
        let now = cx.clients.now;
        self.players[victim.index()].pushed_by =
            foe.filter(|_| cx.frame.combat.awards_pushing).map(|foe| (foe, now));
    }

    /// Whether team, god mode or spawn protection prevents the damage.
    fn is_protected(
        &self,
        cx: &Context<'_>,
        victim: ClientNum,
        attacker: Option<ClientNum>,
        means: MeansOfDeath,
    ) -> bool {
        let quirks = cx.clients.ruleset.combat;
        let by_mate = attacker
            .is_some_and(|attacker| attacker != victim && cx.clients.are_mates(attacker, victim));
        if means == MeansOfDeath::ProximityMine && (by_mate || attacker == Some(victim)) {
            return true;
        }
        let ignores_teams = matches!(means, MeansOfDeath::Juiced | MeansOfDeath::Kamikaze)
            || quirks.crushes_mates && means == MeansOfDeath::Crush;
        if by_mate && !ignores_teams && !cx.frame.combat.friendly_fire {
            return true;
        }
        let by_level = matches!(
            means,
            MeansOfDeath::Unknown
                | MeansOfDeath::Water
                | MeansOfDeath::Slime
                | MeansOfDeath::Lava
                | MeansOfDeath::Crush
                | MeansOfDeath::Falling
                | MeansOfDeath::Suicide
                | MeansOfDeath::TargetLaser
                | MeansOfDeath::TriggerHurt
        );
        let combat = &self.players[victim.index()];
        let protected =
            combat.protected_until.is_some_and(|until| until.distance(cx.clients.now) >= 0);
        cx.is_god(victim) || (protected && !by_level)
    }
}

/// Counts a hit for the attacker's hit sound, if the victim is alive.
fn count_hit(cx: &mut Context<'_>, attacker: ClientNum, victim: ClientNum) {
    let armor_at = cx.clients.ruleset.stats.armor;
    let mates = cx.clients.are_mates(attacker, victim);
    let Some(hurt) = cx.clients.player(victim) else { return };
    let (health, armor) = (hurt.state.stats[HEALTH], hurt.state.stats[armor_at]);
    if health <= 0 {
        return;
    }
    let Some(player) = cx.clients.players[attacker.index()].as_mut() else { return };
    let values = &mut player.state.persistant;
    values[Persistent::Hits] = values[Persistent::Hits].wrapping_add(if mates { -1 } else { 1 });
    // Clients get the low 16 bits.
    values[Persistent::AttackeeArmor] = health << 8 | armor;
}

/// Applies the factors for self damage, score lead and settings. At least 1 remains.
fn scaled_damage(
    cx: &Context<'_>,
    victim: ClientNum,
    attacker: Option<ClientNum>,
    damage: i32,
) -> i32 {
    let own = attacker == Some(victim);
    let mut damage = if own { damage / 2 } else { damage };
    if let Some(other) = attacker.filter(|_| !own && cx.frame.combat.catch_up > 0) {
        let lead = i64::from(cx.clients.score(other)) - i64::from(cx.clients.score(victim));
        let counted = lead - CATCH_UP_DEAD_ZONE;
        if counted > 0 {
            let share = counted * i64::from(cx.frame.combat.catch_up) * i64::from(damage) / 100;
            // At least half of the damage remains.
            damage = (i64::from(damage) - share).max(i64::from(damage / 2)) as i32;
        }
    }
    if let Some(by) = cx.frame.combat.damage_modifier {
        damage = (damage as f32 * by) as i32;
    }
    let spares_self = cx.clients.ruleset.combat.has_combat_settings
        && cx.clients.settings.dmflags & dm_flag::NO_SELF_DAMAGE != 0;
    if own && spares_self { 0 } else { damage.clamp(1, MAX_DAMAGE) }
}

/// Subtracts damage from armor and health.
fn apply_damage(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    victim: ClientNum,
    attacker: Option<ClientNum>,
    hit: &Hit,
    damage: i32,
) {
    let armor_at = cx.clients.ruleset.stats.armor;
    let blood = cx.frame.combat.blood;
    let Some(player) = cx.clients.players[victim.index()].as_mut() else { return };
    let combat: &mut PlayerCombatState = &mut fight.combat.players[victim.index()];
    let state = &mut player.state;
    let armor = state.stats[armor_at].max(0);
    let share = (damage as f32 * ARMOR_SHARE).ceil() as i32;
    let saved = if hit.no_armor { 0 } else { share.min(armor) };
    state.stats[armor_at] -= saved;
    let lost = damage - saved;
    combat.damage_taken = combat.damage_taken.saturating_add(lost);
    combat.armor_taken = combat.armor_taken.saturating_add(saved);
    combat.damage_from = hit.direction.map(velocity::direction);
    // Movers and hurt triggers count as attackers, other hazards as the world.
    let by_entity = matches!(hit.means, MeansOfDeath::Crush | MeansOfDeath::TriggerHurt);
    let hazard = hit.inflictor.filter(|_| by_entity).unwrap_or(EntityNum::WORLD);
    state.persistant[Persistent::Attacker] =
        attacker.map_or(hazard, EntityNum::from).index() as i32;
    let before = state.stats[HEALTH];
    let health = before.saturating_sub(lost).max(LEAST_HEALTH);
    state.stats[HEALTH] = health;
    if health <= 0 && combat.dead {
        if health <= GIB_HEALTH {
            if blood {
                fight.combat.gib(cx, victim, 0);
            } else {
                state.stats[HEALTH] = GIB_HEALTH + 1;
            }
        }
        return;
    }
    let (means, lost) = (hit.means, lost.min(before));
    // Settings can spare the player who hit itself.
    if (lost, saved) != (0, 0) {
        cx.emit(GameEvent::Hit { attacker, victim, means, health: lost, armor: saved });
    }
    if let Some(attacker) = attacker {
        fight.team_state.record_carrier_hurt(cx, victim, attacker);
    }
    if let Some(other) = attacker.filter(|&attacker| attacker != victim) {
        apply_vampire(cx, other, victim, lost);
    }
    if health <= 0 {
        die(cx, fight, victim, &Hit { attacker, ..*hit });
    }
}

/// Heals the attacker by a fraction of the damage, if `g_vampire` is set.
fn apply_vampire(cx: &mut Context<'_>, attacker: ClientNum, victim: ClientNum, lost: i32) {
    let (share, most) = (cx.frame.combat.vampire, cx.frame.combat.vampire_most);
    if share <= 0.0 || cx.is_dead(attacker) || cx.clients.are_mates(attacker, victim) {
        return;
    }
    let Some(player) = cx.clients.players[attacker.index()].as_mut() else { return };
    let health = &mut player.state.stats[HEALTH];
    let gained = (lost.max(0) as f32 * share) as i32;
    if *health < most {
        *health = health.saturating_add(gained).min(most);
    }
}
