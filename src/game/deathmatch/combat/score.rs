//! Who gains and who loses a point for a death.
//!
//! Source: the base game's scoring; OpenArena's, which spares who has nothing to lose.

use super::Deathmatch;
use crate::model::{ClientNum, Vec3};
use crate::{
    bg::{Event, Persistent},
    game::{Host, deathmatch::things::only_for, profile::Penance},
};

/// Players from which on who dies by itself pays for it alone.
const ENOUGH_PLAYERS: usize = 3;

impl Deathmatch {
    /// Counts a death and what it is worth.
    pub(super) fn keep_score(
        &mut self,
        host: &mut dyn Host,
        victim: ClientNum,
        killer: Option<ClientNum>,
        at: Vec3,
    ) {
        if let Some(player) = self.people.players[victim.index()].as_mut() {
            let deaths = &mut player.state.persistant[Persistent::Deaths];
            *deaths = (*deaths + 1) & 0x7fff;
        }
        let culprit = killer.unwrap_or(victim);
        let own = culprit == victim || self.people.are_mates(culprit, victim);
        if !own {
            return self.add_score(host, culprit, 1, at);
        }
        match self.people.profile.penance {
            Penance::Own => self.add_score(host, culprit, -1, at),
            Penance::Lenient => self.lose_gently(host, victim, killer, at),
        }
    }

    /// Nobody falls below nothing; in small games the others gain instead.
    fn lose_gently(
        &mut self,
        host: &mut dyn Host,
        victim: ClientNum,
        killer: Option<ClientNum>,
        at: Vec3,
    ) {
        let has_teams = self.people.game_type.has_teams();
        let players = ClientNum::all().filter(|&client| self.people.plays(client)).count();
        let Some(killer) = killer else {
            if self.score_of(victim) > 0 {
                self.add_score(host, victim, -1, at);
            }
            return;
        };
        if players >= ENOUGH_PLAYERS {
            if !has_teams && self.score_of(victim) > 0 {
                self.add_score(host, killer, -1, at);
            }
        } else if has_teams {
            self.add_score(host, killer, -1, at);
        } else {
            if self.is_warmup() {
                return;
            }
            for other in ClientNum::all().filter(|&other| other != killer) {
                if self.people.plays(other) {
                    self.show_points(host, killer, 1, at);
                    self.change_score(other, 1);
                }
            }
            self.people.rank(host);
            self.check_limits(host);
        }
    }

    /// Gives or takes points, which the client sees at a place.
    pub(in crate::game::deathmatch) fn add_score(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        points: i32,
        at: Vec3,
    ) {
        if self.is_warmup() {
            return;
        }
        self.show_points(host, client, points, at);
        self.change_score(client, points);
        self.share_score(client, points);
        self.people.rank(host);
        self.check_limits(host);
    }

    fn change_score(&mut self, client: ClientNum, points: i32) {
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        let score = &mut player.state.persistant[Persistent::Score];
        *score = score.saturating_add(points).clamp(i32::from(i16::MIN), i32::from(i16::MAX));
    }

    fn show_points(&mut self, host: &mut dyn Host, client: ClientNum, points: i32, at: Vec3) {
        self.flash(host, at, Event::ScorePlum, |state, shared| {
            only_for(shared, client.index());
            state.other_entity_num = client.index() as i32;
            state.time = points;
        });
    }
}
