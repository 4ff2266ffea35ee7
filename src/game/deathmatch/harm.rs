//! Damage, death, and what is told of both.
//!
//! Source: the base game's combat rules, as far as nobody fires; OpenArena's scoring of suicides.

use super::{Deathmatch, things::only_for};
use crate::game::{
    Host,
    movement::{angles, events, push},
    numbers::{Means, animation, contents, event, persistant, weapon},
    profile::Penance,
};
use crate::model::{
    ClientNum, EntityNum, LevelTime, SvFlags, Vec3, limits::MAX_CLIENTS, text::leading_int,
};

/// Index of the health statistic, the same in every game.
pub(super) const HEALTH: usize = 0;
/// Least health that anybody has.
const LEAST_HEALTH: i32 = -999;
/// Health at and below which a body goes to pieces.
const GIB_HEALTH: i32 = -40;
/// How long the dead stay so, in milliseconds.
const DEATH_MS: i32 = 1700;
/// Damage that nothing survives.
pub(super) const LETHAL: i32 = 100_000;
/// Most that a hit pushes.
const MAX_KNOCKBACK: i32 = 200;
/// How often pain is shown, in milliseconds.
const PAIN_MS: i32 = 700;
/// Height of the box of a body.
const BODY_TOP: f32 = -8.0;
/// Air at the beginning, in milliseconds.
pub(super) const AIR_MS: i32 = 12_000;
/// Damage of the first drowning, before it grows.
pub(super) const FIRST_GULP: i32 = 2;

/// What only this game knows of a player.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Body {
    pub(super) water_level: u8,
    pub(super) water_type: i32,
    /// When the air is used up.
    pub(super) air_until: LevelTime,
    /// Damage of the last drowning.
    pub(super) gulp: i32,
    /// Until when pain is not shown, and lava and slime do nothing.
    pub(super) quiet_until: LevelTime,
    /// Until when being thrown is not heard again.
    pub(super) wind_until: LevelTime,
    /// When the last event was raised.
    pub(super) event_at: LevelTime,
    /// Health and armour lost since the last frame, and where the last of it came from.
    pub(super) lost: i32,
    pub(super) lost_armor: i32,
    pub(super) lost_to: Option<Vec3>,
    pub(super) dead: bool,
    /// Nothing is left of the body.
    pub(super) gibbed: bool,
    /// When the dead may come back.
    pub(super) respawn_at: LevelTime,
    /// Time since the last of what happens once a second.
    pub(super) second_ms: i32,
}

impl Body {
    /// Somebody who begins to live.
    pub(super) fn new(now: LevelTime) -> Self {
        Self {
            air_until: now + AIR_MS,
            gulp: FIRST_GULP,
            event_at: now,
            quiet_until: now,
            respawn_at: now,
            wind_until: now - 1,
            ..Self::default()
        }
    }
}

/// One hit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) points: i32,
    pub(super) means: Means,
    /// Who did it; none for the world.
    pub(super) attacker: Option<ClientNum>,
    /// Where it pushes, of length 1.
    pub(super) direction: Option<Vec3>,
    pub(super) passes_armor: bool,
    /// Nothing that protects helps against it.
    pub(super) unstoppable: bool,
}

impl Hit {
    /// The level hurts somebody.
    pub(super) const fn by_world(points: i32, means: Means) -> Self {
        Self {
            points,
            means,
            attacker: None,
            direction: None,
            passes_armor: false,
            unstoppable: false,
        }
    }

    /// Somebody appears where the victim stands.
    pub(super) const fn telefrag(by: ClientNum) -> Self {
        Self {
            points: LETHAL,
            means: Means::Telefrag,
            attacker: Some(by),
            direction: None,
            passes_armor: true,
            unstoppable: true,
        }
    }
}

impl Deathmatch {
    /// Whether a player lies dead.
    pub(super) fn is_dead(&self, client: ClientNum) -> bool {
        self.people.player(client).is_some_and(|player| player.state.stats[HEALTH] <= 0)
    }

    /// Hurts a player.
    pub(super) fn hurt(&mut self, host: &mut dyn Host, victim: ClientNum, hit: &Hit) {
        if !self.people.plays(victim) || self.bodies[victim.index()].gibbed || self.is_over() {
            return;
        }
        let armor_at = self.people.profile.stats.armor;
        let push_scale = 1000.0;
        let Some(player) = self.people.players[victim.index()].as_mut() else { return };
        if player.cheats.noclip {
            return;
        }
        let body = &mut self.bodies[victim.index()];
        let knockback = hit.points.min(MAX_KNOCKBACK);
        if let Some(direction) = hit.direction.filter(|_| knockback > 0 && !body.dead) {
            push::knock_back(&mut player.state, direction, knockback, push_scale);
        }
        if player.cheats.god && !hit.unstoppable {
            return;
        }
        let mut points = hit.points;
        if hit.attacker == Some(victim) {
            points /= 2;
        }
        points = points.max(1);
        let armor = player.state.stats[armor_at].max(0);
        let saved =
            if hit.passes_armor { 0 } else { ((points as f32 * 0.66).ceil() as i32).min(armor) };
        player.state.stats[armor_at] -= saved;
        let lost = points - saved;
        body.lost = body.lost.saturating_add(lost);
        body.lost_armor = body.lost_armor.saturating_add(saved);
        body.lost_to = hit.direction;
        let health = player.state.stats[HEALTH].saturating_sub(lost).max(LEAST_HEALTH);
        player.state.stats[HEALTH] = health;
        if health > 0 {
            return;
        }
        if body.dead {
            if health <= GIB_HEALTH {
                self.gib(victim, EntityNum::NONE, 0);
            }
        } else {
            self.die(host, victim, hit);
        }
    }

    /// Dies by command: nothing is left.
    pub(super) fn take_own_life(&mut self, host: &mut dyn Host, client: ClientNum) {
        if !self.people.plays(client) || self.is_dead(client) || self.people.intermission {
            return;
        }
        if let Some(player) = self.people.players[client.index()].as_mut() {
            player.state.stats[HEALTH] = LEAST_HEALTH;
        }
        let hit = Hit { attacker: Some(client), ..Hit::by_world(LETHAL, Means::Suicide) };
        self.die(host, client, &hit);
    }

    fn die(&mut self, host: &mut dyn Host, victim: ClientNum, hit: &Hit) {
        let (now, profile) = (self.people.now, self.people.profile);
        let Some(player) = self.people.player(victim) else { return };
        let origin = player.shared.current_origin;
        let killer = hit.attacker.map_or(EntityNum::WORLD, EntityNum::from);
        self.bodies[victim.index()].dead = true;

        let name = |client: Option<ClientNum>| {
            client
                .and_then(|client| self.people.player(client))
                .map_or("<world>", |player| player.name.as_str())
        };
        let line = format!(
            "Kill: {killer} {victim} {}: {} killed {} by {}",
            hit.means.number(profile),
            name(hit.attacker),
            name(Some(victim)),
            hit.means.name()
        );
        self.people.log(host, &line);
        self.flash(host, origin, event::OBITUARY, |state, shared| {
            state.event_parm = hit.means.number(profile);
            state.other_entity_num = victim.index() as i32;
            state.other_entity_num2 = killer.index() as i32;
            shared.sv_flags = SvFlags::BROADCAST;
        });

        self.keep_score(host, victim, hit.attacker, origin);
        self.people.send_scores(host, victim);
        let respawn_ms = DEATH_MS
            + if profile.announces_respawn {
                leading_int(host.setting("sv_maxclients")).clamp(0, MAX_CLIENTS as i32)
            } else {
                0
            };
        let nodrop = self.contents_at(host, origin) & contents::NODROP != 0;
        let blood = host.setting("com_blood") != "0";
        let killer_origin = hit
            .attacker
            .filter(|&killer| killer != victim)
            .and_then(|killer| self.people.player(killer))
            .map(|player| player.state.origin);
        let Some(player) = self.people.players[victim.index()].as_mut() else { return };
        player.state.stats[profile.stats.dead_yaw] = killer_origin
            .map_or(player.state.viewangles[1], |at| angles::of_direction(at - origin)[1])
            as i32;
        player.state.weapon = weapon::NONE;
        player.state.powerups = [0; 16];
        player.state.loop_sound = 0;
        player.entity.weapon = weapon::NONE;
        player.entity.powerups = 0;
        player.shared.contents = contents::CORPSE;
        player.shared.maxs[2] = BODY_TOP;
        self.bodies[victim.index()].respawn_at = now + respawn_ms;
        if profile.announces_respawn {
            host.send_command(Some(victim), &format!("respawn {}", (now + respawn_ms).0));
        }

        let health = player.state.stats[HEALTH];
        let suicide = hit.means == Means::Suicide;
        if (health <= GIB_HEALTH && !nodrop && blood) || suicide {
            self.gib(victim, killer, killer.index() as i32);
        } else {
            // Not so low that nothing would be drawn.
            player.state.stats[HEALTH] = health.max(GIB_HEALTH + 1);
            let death = self.next_death;
            self.next_death = (death + 1) % 3;
            let shown = animation::BOTH_DEATH1 + death * 2;
            for at in [&mut player.state.legs_anim, &mut player.state.torso_anim] {
                *at = (*at & animation::TOGGLE) ^ animation::TOGGLE | shown;
            }
            self.show(victim, event::DEATH1 + death, killer.index() as i32);
        }
        if let Some(player) = self.people.players[victim.index()].as_mut() {
            host.link_entity(&mut player.entity, &mut player.shared);
        }
    }

    fn gib(&mut self, victim: ClientNum, _killer: EntityNum, parm: i32) {
        self.show(victim, event::GIB_PLAYER, parm);
        self.bodies[victim.index()].gibbed = true;
        if let Some(player) = self.people.players[victim.index()].as_mut() {
            player.shared.contents = 0;
            player.entity.solid = 0;
        }
    }

    /// Shows an event on a player that nobody predicts.
    pub(super) fn show(&mut self, client: ClientNum, event: i32, parm: i32) {
        let now = self.people.now;
        if let Some(player) = self.people.players[client.index()].as_mut() {
            events::show_external(&mut player.state, event, parm, now.0);
            self.bodies[client.index()].event_at = now;
        }
    }

    fn keep_score(
        &mut self,
        host: &mut dyn Host,
        victim: ClientNum,
        killer: Option<ClientNum>,
        at: Vec3,
    ) {
        if let Some(player) = self.people.players[victim.index()].as_mut() {
            let deaths = &mut player.state.persistant[persistant::DEATHS];
            *deaths = (*deaths + 1) & 0x7fff;
        }
        let playing: Vec<ClientNum> =
            ClientNum::all().filter(|&client| self.people.plays(client)).collect();
        let other = killer.filter(|&killer| killer != victim);
        match (other, self.people.profile.penance) {
            (Some(mate), _) if self.people.are_mates(mate, victim) => {
                self.add_score(host, mate, -1, at);
            }
            (Some(killer), _) => self.add_score(host, killer, 1, at),
            (None, Penance::Own) => self.add_score(host, victim, -1, at),
            (None, Penance::Lenient) => {
                let score = self
                    .people
                    .player(victim)
                    .map_or(0, |player| player.state.persistant[persistant::SCORE]);
                if killer.is_some() && playing.len() < 3 {
                    for other in playing.into_iter().filter(|&other| other != victim) {
                        self.add_score(host, other, 1, at);
                    }
                } else if score > 0 {
                    self.add_score(host, victim, -1, at);
                }
            }
        }
    }

    pub(super) fn add_score(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        points: i32,
        at: Vec3,
    ) {
        if self.is_warmup() {
            return;
        }
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        let score = &mut player.state.persistant[persistant::SCORE];
        *score = (*score + points).clamp(i32::from(i16::MIN), i32::from(i16::MAX));
        self.flash(host, at, event::SCOREPLUM, |state, shared| {
            only_for(shared, client.index());
            state.other_entity_num = client.index() as i32;
            state.time = points;
        });
        self.people.rank(host);
        self.check_limits(host);
    }

    /// Tells a player what it lost since the last frame, and others that it hurts.
    pub(super) fn show_pain(&mut self, client: ClientNum) {
        let now = self.people.now;
        let body = &mut self.bodies[client.index()];
        let lost = body.lost.saturating_add(body.lost_armor).min(255);
        if lost <= 0 || body.dead {
            (body.lost, body.lost_armor) = (0, 0);
            return;
        }
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        let state = &mut player.state;
        match body.lost_to {
            Some(direction) => {
                let angles = angles::of_direction(direction);
                let byte = |degrees: f32| ((degrees / 360.0 * 256.0) as i32) & 0xff;
                state.damage_pitch = byte(angles[0]);
                state.damage_yaw = byte(angles[1]);
            }
            None => (state.damage_pitch, state.damage_yaw) = (255, 255),
        }
        state.damage_count = lost;
        (body.lost, body.lost_armor) = (0, 0);
        if now.distance(body.quiet_until) > 0 {
            body.quiet_until = now + PAIN_MS;
            state.damage_event = state.damage_event.wrapping_add(1) & 0xff;
            let health = state.stats[HEALTH];
            self.show(client, event::PAIN, health);
        }
    }
}
