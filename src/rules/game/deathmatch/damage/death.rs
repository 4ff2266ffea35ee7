//! Death of a player: obituary, drops, respawn time.
//!
//! Source: the base game's death; OpenArena's longer respawn delay.
//!
//! Engine names: `player_die`, `EV_OBITUARY`, `Cmd_Kill_f`.

use crate::bg::{Event, MeansOfDeath, PmType, Weapon, animation, contents, entity_flag};
use crate::cvar::engine;
use crate::game::deathmatch::hit::{Hit, LETHAL};
use crate::game::deathmatch::{
    combat::Combat, context::Context, matches::score::set_team_scores,
    projectiles::kamikaze::start_kamikaze_timer, projectiles::kamikaze::stop_kamikaze_timer,
    systems::Fight,
};
use crate::game::movement::{GIB_HEALTH, HEALTH, LEAST_HEALTH, angles};
use crate::game::{GameEvent, TeamScoreCause};
use crate::model::{ClientNum, EntityNum, LevelTime, SvFlags, Vec3};
use crate::world::links::EntityViews as _;

/// Minimum respawn delay, in ms.
const MIN_RESPAWN_MS: i32 = 1700;
/// Top of a corpse's bounding box.
const CORPSE_TOP: f32 = -8.0;

/// Kills a player by command; the body is gibbed. A recent knockback turns the death into a fall.
pub(crate) fn suicide(cx: &mut Context<'_>, fight: &mut Fight, client: ClientNum) {
    if !cx.clients.plays(client) || cx.is_dead(client) || cx.clients.intermission {
        return;
    }
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.state.stats[HEALTH] = LEAST_HEALTH;
    }
    let (attacker, means) = match fight.combat.recent_pusher(cx, client) {
        Some(pusher) => (pusher, MeansOfDeath::Falling),
        None => (client, MeansOfDeath::Suicide),
    };
    let hit = Hit {
        attacker: Some(attacker),
        inflictor: Some(client.into()),
        ..Hit::by_world(LETHAL, means)
    };
    die(cx, fight, client, &hit);
}

/// Kills a player who changes teams. Some rulesets restore the team score.
pub(crate) fn suicide_on_team_change(cx: &mut Context<'_>, fight: &mut Fight, client: ClientNum) {
    let before = cx.clients.team_scores;
    suicide(cx, fight, client);
    if cx.clients.ruleset.scoring.team_change_keeps_team_score {
        set_team_scores(cx, before, TeamScoreCause::Leave);
        cx.clients.rank(cx.host);
    }
}

/// Kills a player who disconnects, with the world as killer. The team score is kept.
pub(crate) fn die_on_disconnect(cx: &mut Context<'_>, fight: &mut Fight, client: ClientNum) {
    if !cx.clients.plays(client) || cx.is_dead(client) || cx.clients.intermission {
        return;
    }
    let before = cx.clients.team_scores;
    die(cx, fight, client, &Hit::by_world(LETHAL, MeansOfDeath::Suicide));
    set_team_scores(cx, before, TeamScoreCause::Leave);
}

/// Kills a player: obituary, score, drops, corpse or gibs.
pub(crate) fn die(cx: &mut Context<'_>, fight: &mut Fight, victim: ClientNum, hit: &Hit) {
    // A player killed in the past by lag compensation dies in the present.
    fight.lag.restore(cx, victim);
    let Some(player) = cx.clients.player(victim) else { return };
    let origin = player.shared.current_origin;
    let killer = hit.attacker.map_or(EntityNum::WORLD, EntityNum::from);
    fight.combat.players[victim.index()].dead = true;
    fight.combat.sprees.count_death(cx, victim, hit.attacker);
    fight.combat.announce_near_capture(cx, victim, hit.attacker);
    fight.projectiles.drop_hook(cx, victim);
    fight.projectiles.remove_player_mine(cx, victim);

    send_obituary(cx, victim, hit, origin);
    fight.match_state.score_death(cx, victim, hit.attacker, origin);
    if let Some(killer) = hit.attacker
        && killer != victim
        && !cx.clients.are_mates(killer, victim)
    {
        fight.combat.award_frag(cx, &fight.match_state, killer, victim, hit.means);
    }
    if let Some(killer) = hit.attacker {
        (fight.hooks.kill_bonus)(cx, fight, victim, killer);
    }
    if hit.means == MeansOfDeath::Suicide {
        fight.items.return_carried_flags(cx, victim);
    }
    fight.items.drop_at_death(cx, victim);
    send_scores_of(cx, victim);
    fight.combat.turn_into_corpse(cx, victim, hit);

    let nodrop = cx.contents_at(origin) & contents::NODROP != 0;
    let Some(player) = cx.clients.players[victim.index()].as_mut() else { return };
    let health = player.state.stats[HEALTH];
    let killer = killer.index() as i32;
    if (health <= GIB_HEALTH && !nodrop && cx.frame.combat.blood)
        || hit.means == MeansOfDeath::Suicide
    {
        fight.combat.gib(cx, victim, killer);
    } else {
        // Keeps the health above the gib limit, or clients would draw no corpse.
        player.state.stats[HEALTH] = health.max(GIB_HEALTH + 1);
        let death = fight.combat.next_death();
        let shown = animation::BOTH_DEATH1 + death * 2;
        for at in [&mut player.state.legs_anim, &mut player.state.torso_anim] {
            *at = (*at & animation::TOGGLE) ^ animation::TOGGLE | shown;
        }
        cx.add_player_event(victim, Event::death(death), killer);
        start_carried_kamikaze(cx, victim, hit.means);
    }
    if let Some(player) = cx.clients.players[victim.index()].as_mut() {
        cx.host.link_entity(&mut player.entity, &mut player.shared);
    }
}

/// Starts the timer of a kamikaze item that the victim carries and did not use.
fn start_carried_kamikaze(cx: &mut Context<'_>, victim: ClientNum, means: MeansOfDeath) {
    let carries = cx
        .clients
        .player(victim)
        .is_some_and(|player| player.state.e_flags & entity_flag::KAMIKAZE != 0);
    if carries && means != MeansOfDeath::Kamikaze {
        start_kamikaze_timer(cx, victim);
    }
}

/// Sends the obituary and emits the kill.
fn send_obituary(cx: &mut Context<'_>, victim: ClientNum, hit: &Hit, origin: Vec3) {
    let ruleset = cx.clients.ruleset;
    let killer = hit.attacker.map_or(EntityNum::WORLD, EntityNum::from);
    let means = hit.means.number(ruleset.equipment.grapple_means);
    cx.emit(GameEvent::Kill { killer: hit.attacker, victim, means: hit.means });
    // A suicide counts as a team kill.
    let by_teammate = ruleset.combat.marks_mates
        && hit.attacker.is_some_and(|killer| cx.clients.are_mates(killer, victim));
    cx.temp_entity(origin, Event::Obituary, |state, shared| {
        state.event_parm = means;
        state.other_entity_num = victim.index() as i32;
        state.other_entity_num2 = killer.index() as i32;
        state.generic1 = i32::from(by_teammate);
        shared.sv_flags = SvFlags::BROADCAST;
    });
}

/// Sends the scoreboard to the dead player and the spectators that follow this player.
fn send_scores_of(cx: &mut Context<'_>, victim: ClientNum) {
    let (clients, number) = (&*cx.clients, victim.index() as i32);
    let followers = ClientNum::all().filter(|&client| {
        clients.active(client).is_some_and(|player| {
            player.followed.as_ref().is_some_and(|followed| followed.client_num == number)
        })
    });
    clients.send_scores(cx.host, std::iter::once(victim).chain(followers));
}

impl Combat {
    /// Turns a dead player into a corpse.
    fn turn_into_corpse(&mut self, cx: &mut Context<'_>, victim: ClientNum, hit: &Hit) {
        let respawn_at = respawn_time(cx);
        let ruleset = cx.clients.ruleset;
        // Positions that clients see, in whole units. Splash damage and the level act from the map's origin.
        let seen = |number| cx.view(number).map(|(state, _)| state.pos.base);
        let looked_at = match (hit.attacker, hit.inflictor) {
            (Some(killer), _) if killer != victim => seen(killer.into()),
            (_, Some(inflictor)) if inflictor == victim.into() => None,
            (_, Some(inflictor)) => seen(inflictor),
            (_, None) => Some(Vec3::ZERO),
        };
        let from = seen(victim.into()).unwrap_or(Vec3::ZERO);
        let Some(player) = cx.clients.players[victim.index()].as_mut() else { return };
        // The body faces as the player did at the last spawn or teleport.
        let yaw = player.entity.angles[1];
        player.entity.angles = Vec3::new(0.0, yaw, 0.0);
        player.state.viewangles = player.entity.angles;
        player.state.stats[ruleset.stats.dead_yaw] =
            looked_at.map_or(yaw, |at| angles::of_direction(at - from)[1]) as i32;
        // At once, since clients predict the corpse's fall from this snapshot on.
        player.state.pm_type = PmType::Dead as i32;
        player.state.powerups = [0; 16];
        player.state.loop_sound = 0;
        player.entity.weapon = Weapon::None as i32;
        player.entity.powerups = 0;
        player.shared.contents = contents::CORPSE;
        player.shared.maxs[2] = CORPSE_TOP;
        self.players[victim.index()].respawn_at = respawn_at;
        if ruleset.spawning.announces_respawn {
            cx.host.send_command(Some(victim), &format!("respawn {}", respawn_at.0));
        }
    }
}

/// Returns the earliest respawn time of a player who dies now.
fn respawn_time(cx: &Context<'_>) -> LevelTime {
    let slots = cx.host.settings().int(engine::key::SV_MAXCLIENTS);
    let extra = if cx.clients.ruleset.spawning.announces_respawn { slots } else { 0 };
    let at = cx.clients.now + MIN_RESPAWN_MS + extra;
    match cx.frame.combat.wave_ms {
        Some(wave_ms) => LevelTime(
            (i64::from(at.0) + i64::from(wave_ms) - 1)
                .div_euclid(i64::from(wave_ms))
                .saturating_mul(i64::from(wave_ms))
                .min(i64::from(i32::MAX)) as i32,
        ),
        None => at,
    }
}
impl Combat {
    /// Gibs a player's body.
    pub(super) fn gib(&mut self, cx: &mut Context<'_>, victim: ClientNum, killer: i32) {
        cx.add_player_event(victim, Event::GibPlayer, killer);
        self.players[victim.index()].gibbed = true;
        stop_kamikaze_timer(cx, victim.into());
        if let Some(player) = cx.clients.players[victim.index()].as_mut() {
            player.shared.contents = 0;
            player.entity.solid = 0;
        }
    }
}
