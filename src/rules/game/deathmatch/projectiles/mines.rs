//! Proximity mines: stick, trigger and explode, on the map, a mover or a player.
//!
//! Source: OpenArena's proximity mines.
//!
//! Engine names: `ProximityMine_Trigger`, `ProximityMine_ExplodeOnPlayer`.

use crate::bg::{Event, TeamColor, contents, entity_flag};
use crate::game::deathmatch::entity_kinds::{EntityKind, MineBase, Missile, MissileState};
use crate::game::deathmatch::{
    asset_index::sound_index, combat::Combat, context::Context, entities::Entities,
    projectiles::Projectiles, projectiles::snap::snap_toward, reach::can_damage,
};
use crate::game::movement::angles;
use crate::model::{ClientNum, EntityNum, SvFlags, Trace, Vec3};
use crate::world::TraceQuery;

/// Time until a mine is armed, in ms.
const ARM_MS: i32 = 2000;
/// Delay from the trigger to the explosion, in ms.
const TRIGGER_MS: i32 = 500;
/// Time until a mine on a player explodes; on a player with invulnerability, in ms.
const TICK_MS: i32 = 10_000;
const SPHERE_TICK_MS: i32 = 2000;
/// Factor of the radius for each further mine on the same player, and the maximum radius.
const RADIUS_FACTOR: f32 = 1.5;
const MAX_RADIUS: f32 = 2000.0;
/// Radius around the own flag base in which a mine waits a shorter time, and the divisor of that time.
const NEAR_FLAG: f32 = 500.0;
const NEAR_FLAG_DIVISOR: i32 = 15;
/// Half the size of a mine, in units.
const SIZE: f32 = 4.0;
/// Loop sound of an armed mine, and of a player that one sticks to.
pub(crate) const TICKING_SOUND: &str = "sound/weapons/proxmine/wstbtick.wav";

/// Length of the free space in front of a mine, which starts near it. In less the mine is crushed.
const FREE_FROM: f32 = 0.125;
const FREE_TO: f32 = 2.0;

/// Attaches a mine at its point of impact.
pub(crate) fn stick(
    cx: &mut Context<'_>,
    projectiles: &mut Projectiles,
    combat: &Combat,
    number: EntityNum,
    trace: &Trace,
) {
    let now = cx.clients.now;
    if let Some(player) = trace.entity.client().filter(|_| combat.is_damageable(cx, trace.entity)) {
        return projectiles.stick_to_player(cx, number, player);
    }
    let how = cx.clients.ruleset.combat.end_rounding;
    let Some(entity) = cx.entities.get_mut(number) else { return };
    let EntityKind::Missile(missile) = &mut entity.kind else { return };
    missile.base = Some(MineBase { entity: trace.entity, normal: trace.plane.normal });
    let at = snap_toward(trace.endpos, entity.state.pos.base, how);
    entity.set_origin(at);
    let mut facing = angles::of_direction(trace.plane.normal);
    facing[0] += 90.0;
    entity.state.angles = facing;
    entity.shared.mins = Vec3([-SIZE; 3]);
    entity.shared.maxs = Vec3([SIZE; 3]);
    entity.add_event(Event::ProximityMineStick, trace.surface_flags & 0xff, now);
    entity.think_at = Some(now + ARM_MS);
    cx.entities.set_missile_state(number, MissileState::Arming);
    cx.entities.link(cx.host, number);
}

impl Entities {
    /// Returns the entity that a mine sticks to; `None` for other entities.
    pub(crate) fn mine_base(&self, number: EntityNum) -> Option<EntityNum> {
        Some(self.missile(number)?.1.base?.entity)
    }
}

/// Whether a mine has the space that it needs. Movers that leave it none crush it.
pub(crate) fn has_space(cx: &Context<'_>, number: EntityNum) -> bool {
    let Some((entity, missile)) = cx.entities.missile(number) else { return true };
    let (Some(base), Some(world)) = (missile.base, cx.host.world()) else { return true };
    let at = |distance| entity.state.pos.base.add_scaled(base.normal, distance);
    let (from, to) = (at(FREE_FROM), at(FREE_TO));
    let trace = world.scene(cx, number).trace(&TraceQuery::line(from, to, contents::SOLID));
    !trace.startsolid && trace.fraction >= 1.0
}

impl Projectiles {
    fn stick_to_player(&mut self, cx: &mut Context<'_>, number: EntityNum, client: ClientNum) {
        let now = cx.clients.now;
        if let Some(first) = self.players[client.index()].mine {
            // One mine ticks for both.
            let more =
                cx.entities.missile(number).map_or(0.0, |(_, missile)| missile.splash_damage);
            if let Some(entity) = cx.entities.get_mut(first)
                && let EntityKind::Missile(Missile { splash_damage, splash_radius, .. }) =
                    &mut entity.kind
            {
                *splash_damage += more;
                *splash_radius = (*splash_radius * RADIUS_FACTOR).min(MAX_RADIUS);
            }
            return cx.entities.remove(cx.host, number, now);
        }
        let ticks = if cx.is_invulnerable(client) { SPHERE_TICK_MS } else { TICK_MS };
        self.players[client.index()].mine = Some(number);
        if let Some(player) = cx.clients.players[client.index()].as_mut() {
            player.state.e_flags |= entity_flag::TICKING;
        }
        if let Some(entity) = cx.entities.get_mut(number) {
            let at = entity.shared.current_origin;
            entity.set_origin(at);
            entity.state.e_flags |= entity_flag::NODRAW;
            entity.shared.sv_flags = entity.shared.sv_flags | SvFlags::NO_CLIENT;
            entity.add_event(Event::ProximityMineStick, 0, now);
            entity.think_at = Some(now + ticks);
        }
        cx.entities.set_missile_state(number, MissileState::OnPlayer(client));
        cx.entities.link(cx.host, number);
    }
}

/// Arms a mine, which can be shot from then on.
pub(crate) fn arm_mine(cx: &mut Context<'_>, number: EntityNum) {
    let now = cx.clients.now;
    let tick = sound_index(cx.host, TICKING_SOUND);
    let waits_ms = match is_near_own_flag(cx, number) {
        true => cx.frame.combat.mine_ms / NEAR_FLAG_DIVISOR,
        false => cx.frame.combat.mine_ms,
    };
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.state.loop_sound = tick;
        entity.shared.contents = contents::CORPSE;
        entity.think_at = Some(now + waits_ms);
    }
    cx.entities.set_missile_state(number, MissileState::Armed);
    cx.entities.link(cx.host, number);
}

/// Whether a mine is near the flag base of its team.
fn is_near_own_flag(cx: &Context<'_>, number: EntityNum) -> bool {
    let Some((entity, _)) = cx.entities.missile(number) else { return false };
    let (at, team) = (entity.shared.current_origin, entity.state.generic1);
    let own = TeamColor::ALL.into_iter().find(|color| color.team() as i32 == team);
    let home = own
        .filter(|_| cx.clients.game_type.has_flags())
        .and_then(|flag| cx.entities.flag_base(flag));
    home.is_some_and(|home| (home - at).length() < NEAR_FLAG)
}

/// Triggers an armed mine when a player outside its team is visible within its radius.
pub(crate) fn check_proximity(cx: &mut Context<'_>, number: EntityNum) {
    let now = cx.clients.now;
    let Some((entity, missile)) = cx.entities.missile(number) else { return };
    let (at, radius, team) =
        (entity.shared.current_origin, missile.splash_radius, entity.state.generic1);
    let has_teams = cx.clients.game_type.has_teams();
    let triggers = ClientNum::all().any(|client| {
        let Some(player) = cx.clients.player(client) else { return false };
        cx.clients.plays(client)
            && !cx.is_dead(client)
            && player.shared.is_linked()
            && !(has_teams && cx.clients.team(client) as i32 == team)
            && (player.entity.pos.base - at).length() <= radius
            && can_damage(cx, at, client.into())
    });
    if !triggers {
        return;
    }
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.state.loop_sound = 0;
        entity.add_event(Event::ProximityMineTrigger, 0, now);
        entity.think_at = Some(now + TRIGGER_MS);
    }
    cx.entities.set_missile_state(number, MissileState::Triggered);
}

/// Makes a mine that was shot explode in the next frame.
pub(crate) fn shoot_mine(cx: &mut Context<'_>, number: EntityNum) {
    let now = cx.clients.now;
    if !cx.entities.missile(number).is_some_and(|(_, missile)| missile.is_armed()) {
        return;
    }
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.think_at = Some(now + 1);
    }
    cx.entities.set_missile_state(number, MissileState::Triggered);
}

impl Projectiles {
    /// Removes the mine on a player who dies.
    pub(crate) fn remove_player_mine(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        if let Some(mine) = self.detach_mine(cx, client) {
            let ticks = cx
                .entities
                .missile(mine)
                .is_some_and(|(_, missile)| missile.state == MissileState::OnPlayer(client));
            if ticks {
                cx.entities.remove(cx.host, mine, cx.clients.now);
            }
        }
    }

    pub(crate) fn detach_mine(
        &mut self,
        cx: &mut Context<'_>,
        client: ClientNum,
    ) -> Option<EntityNum> {
        if let Some(player) = cx.clients.players[client.index()].as_mut() {
            player.state.e_flags &= !entity_flag::TICKING;
        }
        self.players[client.index()].mine.take()
    }
}
