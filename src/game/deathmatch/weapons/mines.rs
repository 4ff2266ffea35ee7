//! Mines: they stick, wait for somebody to come near, and go off; on a player they tick.
//!
//! Source: OpenArena's proximity mines.

use super::{
    Deathmatch, EntityNum, Hit, Host, Vec3, What, client_of,
    end::rounded_toward,
    missiles::{Missile, Stage},
};
use crate::model::{ClientNum, SvFlags, Trace};
use crate::{
    bg::{Event, MeansOfDeath, Powerup, contents, entity_flag},
    game::{
        deathmatch::{items::Flag, names::sound},
        movement::angles,
    },
};

/// How long a mine takes until it is ready, in milliseconds.
const ARM_MS: i32 = 2000;
/// How long it takes from being triggered to going off.
const TRIGGER_MS: i32 = 500;
/// How long it ticks on a player; how long on one in a shell.
const TICK_MS: i32 = 10_000;
const SHELL_TICK_MS: i32 = 2000;
/// How much farther a second mine on the same player makes the first reach, and the farthest.
const STRONGER: f32 = 1.5;
const MAX_RADIUS: f32 = 2000.0;
/// How near its own flag's place a mine waits for a part of the time only, and for which part.
const NEAR_FLAG: f32 = 500.0;
const NEAR_FLAG_PART: i32 = 15;
/// Half the size of a mine that sticks.
const SIZE: f32 = 4.0;
/// What a mine does to somebody in a shell.
const JUICE: i32 = 1000;
/// What a mine that waits sounds like.
const TICKING_SOUND: &str = "sound/weapons/proxmine/wstbtick.wav";

impl Deathmatch {
    /// A mine has met something and stays there.
    pub(super) fn stick(&mut self, host: &mut dyn Host, number: EntityNum, trace: &Trace) {
        let now = self.people.now;
        if let Some(player) = client_of(trace.entity).filter(|_| self.is_damageable(trace.entity)) {
            return self.stick_to_player(host, number, player);
        }
        let how = self.people.profile.fights.end_rounding;
        let Some((thing, _)) = self.missile_mut(number) else { return };
        let at = rounded_toward(trace.endpos, thing.state.pos.base, how);
        thing.put(at);
        let mut facing = angles::of_direction(trace.plane.normal);
        facing[0] += 90.0;
        thing.state.angles = facing;
        thing.shared.mins = Vec3([-SIZE; 3]);
        thing.shared.maxs = Vec3([SIZE; 3]);
        thing.raise(Event::ProximityMineStick, trace.surface_flags & 0xff, now);
        thing.think_at = Some(now + ARM_MS);
        self.set_stage(number, Stage::Settling);
        self.things.link(host, number);
    }

    fn stick_to_player(&mut self, host: &mut dyn Host, number: EntityNum, client: ClientNum) {
        let now = self.people.now;
        if let Some(first) = self.bodies[client.index()].mine {
            // One mine ticks for both.
            let more = self.missile(number).map_or(0.0, |(_, missile)| missile.splash_points);
            if let Some(thing) = self.things.get_mut(first)
                && let What::Missile(Missile { splash_points, splash_radius, .. }) = &mut thing.what
            {
                *splash_points += more;
                *splash_radius = (*splash_radius * STRONGER).min(MAX_RADIUS);
            }
            return self.things.remove(host, number, now);
        }
        let ticks = if self.is_invulnerable(client) { SHELL_TICK_MS } else { TICK_MS };
        self.bodies[client.index()].mine = Some(number);
        if let Some(player) = self.people.players[client.index()].as_mut() {
            player.state.e_flags |= entity_flag::TICKING;
        }
        if let Some(thing) = self.things.get_mut(number) {
            let at = thing.shared.current_origin;
            thing.put(at);
            thing.state.e_flags |= entity_flag::NODRAW;
            thing.shared.sv_flags = thing.shared.sv_flags | SvFlags::NO_CLIENT;
            thing.raise(Event::ProximityMineStick, 0, now);
            thing.think_at = Some(now + ticks);
        }
        self.set_stage(number, Stage::OnPlayer(client));
        self.things.link(host, number);
    }

    /// A mine is ready: from now on it can be shot, too.
    pub(super) fn arm_mine(&mut self, host: &mut dyn Host, number: EntityNum) {
        let now = self.people.now;
        let tick = sound(host, TICKING_SOUND);
        let waits_ms = match self.is_near_own_flag(number) {
            true => self.combat.mine_ms / NEAR_FLAG_PART,
            false => self.combat.mine_ms,
        };
        if let Some(thing) = self.things.get_mut(number) {
            thing.state.loop_sound = tick;
            thing.shared.contents = contents::CORPSE;
            thing.think_at = Some(now + waits_ms);
        }
        self.set_stage(number, Stage::Waiting);
        self.things.link(host, number);
    }

    /// Whether a mine guards the place of its own team's flag.
    fn is_near_own_flag(&self, number: EntityNum) -> bool {
        let Some((thing, _)) = self.missile(number) else { return false };
        let (at, team) = (thing.shared.current_origin, thing.state.generic1);
        let own = [Flag::Red, Flag::Blue].into_iter().find(|flag| flag.team() as i32 == team);
        let home =
            own.filter(|_| self.people.game_type.has_flags()).and_then(|flag| self.flag_home(flag));
        home.is_some_and(|home| (home - at).length() < NEAR_FLAG)
    }

    /// A mine that waits goes off when somebody is near that it sees, and when it waited for too long.
    pub(super) fn watch_for_victims(&mut self, host: &mut dyn Host, number: EntityNum, due: bool) {
        if due {
            return self.explode(host, number);
        }
        let now = self.people.now;
        let Some((thing, missile)) = self.missile(number) else { return };
        let (at, radius, team) =
            (thing.shared.current_origin, missile.splash_radius, thing.state.generic1);
        let has_teams = self.people.game_type.has_teams();
        let triggers = ClientNum::all().any(|client| {
            let Some(player) = self.people.player(client) else { return false };
            self.people.plays(client)
                && !self.is_dead(client)
                && player.shared.is_linked()
                && !(has_teams && self.people.team(client) as i32 == team)
                && (player.entity.pos.base - at).length() <= radius
                && self.sees(&*host, at, client.into())
        });
        if !triggers {
            return;
        }
        if let Some(thing) = self.things.get_mut(number) {
            thing.state.loop_sound = 0;
            thing.raise(Event::ProximityMineTrigger, 0, now);
            thing.think_at = Some(now + TRIGGER_MS);
        }
        self.set_stage(number, Stage::Triggered);
    }

    /// Somebody shot a mine: it goes off with the next frame.
    pub(in crate::game::deathmatch) fn shoot_mine(&mut self, number: EntityNum) {
        let now = self.people.now;
        if !self.missile(number).is_some_and(|(_, missile)| missile.is_armed()) {
            return;
        }
        if let Some(thing) = self.things.get_mut(number) {
            thing.think_at = Some(now + 1);
        }
        self.set_stage(number, Stage::Triggered);
    }

    /// The mine on a player goes off.
    pub(super) fn explode_on_player(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        client: ClientNum,
    ) {
        self.take_mine_off(client);
        let invulnerable = self.is_invulnerable(client);
        let Some(player) = self.people.players[client.index()].as_mut() else {
            return self.explode(host, number);
        };
        let at = player.entity.pos.base;
        if let Some(thing) = self.things.get_mut(number) {
            thing.put(at);
        }
        if invulnerable {
            player.state.powerups[Powerup::Invulnerability] = 0;
            let shooter = self.missile(number).and_then(|(_, missile)| missile.shooter());
            let hit = Hit {
                attacker: shooter,
                is_still: true,
                ..Hit::by_world(JUICE, MeansOfDeath::Juiced)
            };
            self.flash(host, at, Event::Juiced, |_, _| {});
            self.hurt(host, client, &hit);
        }
        self.explode(host, number);
    }

    /// The mine on somebody who dies is gone with it.
    pub(in crate::game::deathmatch) fn drop_ticking_mine(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) {
        if let Some(mine) = self.take_mine_off(client) {
            let ticks = self
                .missile(mine)
                .is_some_and(|(_, missile)| missile.stage == Stage::OnPlayer(client));
            if ticks {
                self.things.remove(host, mine, self.people.now);
            }
        }
    }

    fn take_mine_off(&mut self, client: ClientNum) -> Option<EntityNum> {
        if let Some(player) = self.people.players[client.index()].as_mut() {
            player.state.e_flags &= !entity_flag::TICKING;
        }
        self.bodies[client.index()].mine.take()
    }
}
