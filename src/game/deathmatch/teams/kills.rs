//! What a kill is worth to a team that guards a flag or its carrier.
//!
//! Source: the base game's table of bonuses.

use super::{super::Deathmatch, lately};
use crate::model::{ClientNum, Vec3};
use crate::{
    bg::{Persistent, entity_flag},
    game::{Host, deathmatch::items::Flag},
};

/// Points for a frag.
const CARRIER: i32 = 2;
const DANGER: i32 = 2;
const NEAR_FLAG: i32 = 1;
const NEAR_CARRIER: i32 = 1;
/// How long whoever hurt a carrier is a danger to it, in milliseconds.
const DANGER_MS: i32 = 8000;
/// How near is near, in units.
const NEAR: f32 = 1000.0;

impl Deathmatch {
    fn carries(&self, client: ClientNum, flag: Flag) -> bool {
        let player = self.people.player(client);
        player.is_some_and(|player| player.state.powerups[flag.powerup()] != 0)
    }

    /// Somebody has hurt another: whoever hurts a carrier is a danger to it for a while.
    pub(in crate::game::deathmatch) fn note_hurt_carrier(
        &mut self,
        victim: ClientNum,
        attacker: ClientNum,
    ) {
        let [one, other] = [victim, attacker].map(|client| self.people.role(client).colour());
        let (Some(victims), Some(attackers)) = (one, other) else { return };
        if victims != attackers && self.carries(victim, Flag::of_colour(attackers)) {
            self.fight.deeds[attacker.index()].hurt_carrier_at = Some(self.people.now);
        }
    }

    /// What a kill is worth besides the frag. To be asked while the victim still carries what it did.
    pub(in crate::game::deathmatch) fn reward_kill(
        &mut self,
        host: &mut dyn Host,
        victim: ClientNum,
        killer: ClientNum,
    ) {
        let [one, other] = [victim, killer].map(|client| self.people.role(client).colour());
        let (Some(victims), Some(killers)) = (one, other) else { return };
        if victims == killers || !self.people.game_type.has_flags() {
            return;
        }
        let now = self.people.now;
        let at = self.place_of(victim);
        let own = Flag::of_colour(killers);
        if self.carries(victim, own) {
            self.fight.deeds[killer.index()].fragged_carrier_at = Some(now);
            let deed = format!("fragged {}'s flag carrier!", victims.upper_name());
            self.print_deed(host, killer, &deed);
            self.add_score(host, killer, CARRIER, at);
            // Whoever hurt it is no danger to anybody now.
            for client in ClientNum::all() {
                if self.people.role(client).colour() == Some(killers) {
                    self.fight.deeds[client.index()].hurt_carrier_at = None;
                }
            }
            return;
        }
        let danger = lately(self.fight.deeds[victim.index()].hurt_carrier_at, now, DANGER_MS);
        let points = if danger && !self.carries(killer, own.other()) {
            self.fight.deeds[victim.index()].hurt_carrier_at = None;
            DANGER
        } else if self.guards(&*host, [victim, killer], self.flag_home(own)) {
            NEAR_FLAG
        } else {
            let carrier = self
                .people
                .team_of(killers)
                .find(|&mate| mate != killer && self.carries(mate, own.other()));
            let carrier = carrier.map(|carrier| self.place_of(carrier));
            if !self.guards(&*host, [victim, killer], carrier) {
                return;
            }
            NEAR_CARRIER
        };
        self.award(killer, entity_flag::AWARD_DEFEND, Persistent::Defend);
        self.add_score(host, killer, points, at);
    }

    /// Whether one of two is near a place and in sight of it.
    fn guards(&self, host: &dyn Host, who: [ClientNum; 2], place: Option<Vec3>) -> bool {
        let Some(place) = place else { return false };
        who.into_iter().map(|client| self.place_of(client)).any(|at| {
            let sees = || {
                host.world().is_none_or(|world| world.bsp().sees(place, at, Some(world.areas())))
            };
            (at - place).length() < NEAR && sees()
        })
    }
}
