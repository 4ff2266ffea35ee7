//! Kamikaze items: start of the explosion, and the timer of a dead carrier.
//!
//! Source: OpenArena's kamikaze.
//!
//! Engine names: `G_StartKamikaze`, `Kamikaze_DeathTimer`.

use crate::bg::{EntityType, Event, TeamSound};
use crate::game::deathmatch::entity_kinds::{EntityKind, Kamikaze, KamikazeTimer};
use crate::game::deathmatch::{context::Context, entities::Entity, projectiles::Projectiles};
use crate::model::{ClientNum, EntityNum, LevelTime, SvFlags, Vec3};

/// Interval of the expansion, in ms.
pub(crate) const GROWTH_INTERVAL_MS: i32 = 100;
/// Time until the item of a dead carrier explodes, in ms.
const TIMER_MS: i32 = 5000;

/// Starts the timer of a carrier who died.
pub(crate) fn start_kamikaze_timer(cx: &mut Context<'_>, client: ClientNum) {
    let (now, started) = cx.clock();
    let at = cx.origin_of(client.into()).unwrap_or(Vec3::ZERO);
    let timer = KamikazeTimer { by: client, body: client.into() };
    let mut entity = Entity::new(EntityKind::KamikazeTimer(timer), at);
    entity.shared.sv_flags = SvFlags::NO_CLIENT;
    entity.think_at = Some(now + TIMER_MS);
    cx.entities.add(entity, now, started);
}

/// Returns the timer of a body. Timers never sleep.
fn timer_of(cx: &Context<'_>, body: EntityNum) -> Option<EntityNum> {
    cx.entities.awake().find(|&number| {
        cx.entities.get(number).is_some_and(
            |entity| matches!(entity.kind, EntityKind::KamikazeTimer(timer) if timer.body == body),
        )
    })
}

/// Passes the timer of a player who respawns to the corpse.
pub(crate) fn pass_kamikaze_timer(cx: &mut Context<'_>, client: ClientNum, corpse: EntityNum) {
    if let Some(entity) = timer_of(cx, client.into()).and_then(|number| cx.entities.get_mut(number))
    {
        entity.kind = EntityKind::KamikazeTimer(KamikazeTimer { by: client, body: corpse });
    }
}

/// Stops the timer of a body that is gibbed.
pub(crate) fn stop_kamikaze_timer(cx: &mut Context<'_>, body: EntityNum) {
    if let Some(number) = timer_of(cx, body) {
        cx.entities.remove(cx.host, number, cx.clients.now);
    }
}

/// Explodes the item of a dead carrier when its time is over.
pub(crate) fn run_kamikaze_timer(
    cx: &mut Context<'_>,
    number: EntityNum,
    KamikazeTimer { by, body }: KamikazeTimer,
) {
    let now = cx.clients.now;
    let due = |entity: &Entity| entity.think_at.is_some_and(|at| at.distance(now) <= 0);
    if !cx.entities.get(number).is_some_and(due) {
        return;
    }
    cx.entities.remove(cx.host, number, now);
    if let Some(at) = cx.origin_of(body) {
        explode_kamikaze(cx, by, at.truncated());
    }
}

/// Adds the explosion and the shockwave of a player's kamikaze.
pub(crate) fn explode_kamikaze(cx: &mut Context<'_>, client: ClientNum, at: Vec3) {
    let (now, started) = cx.clock();
    let kamikaze = Kamikaze { by: client, since: now, view_turn: Vec3::ZERO };
    let mut entity = Entity::new(EntityKind::Kamikaze(kamikaze), at);
    entity.state.e_type = EntityType::with_event(Event::Kamikaze);
    entity.state.client_num = client.index() as i32;
    entity.event_at = now;
    entity.think_at = Some(now + GROWTH_INTERVAL_MS);
    if let Some(number) = cx.entities.add(entity, now, started) {
        cx.entities.link(cx.host, number);
    }
    cx.temp_entity(at, Event::GlobalTeamSound, |state, shared| {
        state.event_parm = TeamSound::Kamikaze as i32;
        shared.sv_flags = SvFlags::BROADCAST;
    });
}

impl Projectiles {
    /// End of a player's immunity to the explosion.
    pub(crate) fn blast_immunity(&mut self, client: ClientNum) -> &mut Option<LevelTime> {
        &mut self.players[client.index()].blast_immune_until
    }

    /// End of a player's immunity to the shockwave.
    pub(crate) fn shockwave_immunity(&mut self, client: ClientNum) -> &mut Option<LevelTime> {
        &mut self.players[client.index()].shockwave_immune_until
    }
}
