//! Death: what is said of it, what is left, and when its victim may come back.
//!
//! Source: the base game's death; OpenArena's longer wait for coming back.

use super::{Deathmatch, GIB_HEALTH, HEALTH, Hit, LEAST_HEALTH, LETHAL};
use crate::model::{
    ClientNum, EntityNum, LevelTime, SvFlags, Vec3, limits::MAX_CLIENTS, text::leading_int,
};
use crate::{
    bg::{Event, MeansOfDeath, PmType, Weapon, animation, contents, entity_flag},
    game::{Host, movement::angles},
};

/// How long the dead stay so, in milliseconds.
const DEATH_MS: i32 = 1700;
/// Height of the box of a body.
const BODY_TOP: f32 = -8.0;
/// Ways to die.
const DEATHS: i32 = 3;

impl Deathmatch {
    /// Dies by command: nothing is left. Who was pushed a moment ago falls instead.
    pub(in crate::game::deathmatch) fn take_own_life(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) {
        if !self.people.plays(client) || self.is_dead(client) || self.people.intermission {
            return;
        }
        if let Some(player) = self.people.players[client.index()].as_mut() {
            player.state.stats[HEALTH] = LEAST_HEALTH;
        }
        let (attacker, means) = match self.recent_pusher(client) {
            Some(pusher) => (pusher, MeansOfDeath::Falling),
            None => (client, MeansOfDeath::Suicide),
        };
        let hit = Hit {
            attacker: Some(attacker),
            inflictor: Some(client.into()),
            ..Hit::by_world(LETHAL, means)
        };
        self.die(host, client, &hit);
    }

    /// Leaves a team by dying. Where that is the custom the team does not pay for it.
    pub(in crate::game::deathmatch) fn die_for_another_side(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) {
        let before = self.people.team_scores;
        self.take_own_life(host, client);
        if self.people.profile.leavers_cost_nothing {
            self.people.team_scores = before;
            self.people.rank(host);
        }
    }

    /// Leaves the game by dying, of which the world is guilty; that costs the team nothing.
    pub(in crate::game::deathmatch) fn die_for_good(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) {
        if !self.people.plays(client) || self.is_dead(client) || self.people.intermission {
            return;
        }
        let before = self.people.team_scores;
        self.die(host, client, &Hit::by_world(LETHAL, MeansOfDeath::Suicide));
        self.people.team_scores = before;
    }

    pub(super) fn die(&mut self, host: &mut dyn Host, victim: ClientNum, hit: &Hit) {
        let Some(player) = self.people.player(victim) else { return };
        let origin = player.shared.current_origin;
        let killer = hit.attacker.map_or(EntityNum::WORLD, EntityNum::from);
        self.bodies[victim.index()].dead = true;
        self.drop_hook(host, victim);
        self.drop_ticking_mine(host, victim);

        self.announce_death(host, victim, hit, origin);
        self.keep_score(host, victim, hit.attacker, origin);
        if let Some(killer) = hit.attacker
            && killer != victim
            && !self.people.are_mates(killer, victim)
        {
            self.award_frag(killer, victim, hit.means == MeansOfDeath::Gauntlet);
        }
        if let Some(killer) = hit.attacker {
            self.reward_kill(host, victim, killer);
        }
        if hit.means == MeansOfDeath::Suicide {
            self.return_flags_of(host, victim);
        }
        self.drop_at_death(host, victim);
        self.show_scores_of(host, victim);
        self.become_body(host, victim, hit, origin);

        let nodrop = self.contents_at(host, origin) & contents::NODROP != 0;
        let Some(player) = self.people.players[victim.index()].as_mut() else { return };
        let health = player.state.stats[HEALTH];
        let killer = killer.index() as i32;
        if (health <= GIB_HEALTH && !nodrop && self.combat.blood)
            || hit.means == MeansOfDeath::Suicide
        {
            self.gib(victim, killer);
        } else {
            // Not so low that nothing would be drawn.
            player.state.stats[HEALTH] = health.max(GIB_HEALTH + 1);
            let death = self.next_death;
            self.next_death = (death + 1) % DEATHS;
            let shown = animation::BOTH_DEATH1 + death * 2;
            for at in [&mut player.state.legs_anim, &mut player.state.torso_anim] {
                *at = (*at & animation::TOGGLE) ^ animation::TOGGLE | shown;
            }
            self.show(victim, Event::death(death), killer);
        }
        if let Some(player) = self.people.players[victim.index()].as_mut() {
            host.link_entity(&mut player.entity, &mut player.shared);
        }
    }

    /// Tells the log and everybody who killed whom with what.
    fn announce_death(&mut self, host: &mut dyn Host, victim: ClientNum, hit: &Hit, origin: Vec3) {
        let profile = self.people.profile;
        let killer = hit.attacker.map_or(EntityNum::WORLD, EntityNum::from);
        let means = hit.means.number(profile.grapple_means);
        let name = |client: Option<ClientNum>| {
            client
                .and_then(|client| self.people.player(client))
                .map_or("<world>", |player| player.name.as_str())
        };
        let line = format!(
            "Kill: {killer} {victim} {means}: {} killed {} by {}",
            name(hit.attacker),
            name(Some(victim)),
            hit.means.name()
        );
        self.people.log(host, &line);
        // Whoever dies by itself counts as a mate of itself.
        let of_mate = profile.fights.marks_mates
            && hit.attacker.is_some_and(|killer| self.people.are_mates(killer, victim));
        self.flash(host, origin, Event::Obituary, |state, shared| {
            state.event_parm = means;
            state.other_entity_num = victim.index() as i32;
            state.other_entity_num2 = killer.index() as i32;
            state.generic1 = i32::from(of_mate);
            shared.sv_flags = SvFlags::BROADCAST;
        });
    }

    /// Shows the scoreboard to who died and to those who watched.
    fn show_scores_of(&self, host: &mut dyn Host, victim: ClientNum) {
        self.people.send_scores(host, victim);
        let number = victim.index() as i32;
        for client in ClientNum::all() {
            let watches = self.people.active(client).is_some_and(|player| {
                player.followed.as_ref().is_some_and(|seen| seen.client_num == number)
            });
            if watches {
                self.people.send_scores(host, client);
            }
        }
    }

    /// Turns a player into what lies there.
    fn become_body(&mut self, host: &mut dyn Host, victim: ClientNum, hit: &Hit, origin: Vec3) {
        let respawn_at = self.respawn_time(host);
        let profile = self.people.profile;
        // Blasts and the level itself act from the middle of the map.
        let looked_at = match (hit.attacker, hit.inflictor) {
            (Some(killer), _) if killer != victim => self.origin_of(killer.into()),
            (_, Some(inflictor)) if inflictor == victim.into() => None,
            (_, Some(inflictor)) => self.origin_of(inflictor),
            (_, None) => Some(Vec3::ZERO),
        };
        let Some(player) = self.people.players[victim.index()].as_mut() else { return };
        player.state.stats[profile.stats.dead_yaw] = looked_at
            .map_or(player.state.viewangles[1], |at| angles::of_direction(at - origin)[1])
            as i32;
        // At once, not with the next command: the client foresees the body's fall from this snapshot on.
        player.state.pm_type = PmType::Dead as i32;
        player.state.powerups = [0; 16];
        player.state.loop_sound = 0;
        player.state.e_flags &= !entity_flag::KAMIKAZE;
        player.entity.weapon = Weapon::None as i32;
        player.entity.powerups = 0;
        player.shared.contents = contents::CORPSE;
        player.shared.maxs[2] = BODY_TOP;
        self.bodies[victim.index()].respawn_at = respawn_at;
        if profile.announces_respawn {
            host.send_command(Some(victim), &format!("respawn {}", respawn_at.0));
        }
    }

    /// When who dies now may come back.
    fn respawn_time(&self, host: &dyn Host) -> LevelTime {
        let slots = leading_int(host.setting("sv_maxclients")).clamp(0, MAX_CLIENTS as i32);
        let extra = if self.people.profile.announces_respawn { slots } else { 0 };
        let at = self.people.now + DEATH_MS + extra;
        match self.combat.wave_ms {
            Some(wave_ms) => LevelTime(
                (i64::from(at.0) + i64::from(wave_ms) - 1)
                    .div_euclid(i64::from(wave_ms))
                    .saturating_mul(i64::from(wave_ms))
                    .min(i64::from(i32::MAX)) as i32,
            ),
            None => at,
        }
    }

    /// Nothing is left of a player's body.
    pub(super) fn gib(&mut self, victim: ClientNum, killer: i32) {
        self.show(victim, Event::GibPlayer, killer);
        self.bodies[victim.index()].gibbed = true;
        if let Some(player) = self.people.players[victim.index()].as_mut() {
            player.shared.contents = 0;
            player.entity.solid = 0;
        }
    }
}
