//! Awards: medals over a player's head, and their counters.
//!
//! Source: the base game's awards.
//!
//! Engine names: `EF_AWARD_*`, `PERS_*`.

use crate::bg::{MeansOfDeath, Persistent, entity_flag, player_event};
use crate::game::GameEvent;
use crate::game::deathmatch::{
    combat::Combat, combat::challenges::fulfill_award_challenge,
    combat::challenges::fulfill_frag_challenges, context::Context, matches::MatchState,
};
use crate::model::ClientNum;

/// Time that an award is shown, in ms.
const AWARD_MS: i32 = 2000;
/// Maximum time between two frags for an excellent award, in ms.
const EXCELLENT_MS: i32 = 3000;
/// Consecutive railgun hits for an impressive award.
const IMPRESSIVE_HITS: i32 = 2;
/// Entity flags of all awards.
const AWARDS: i32 = entity_flag::AWARD_EXCELLENT
    | entity_flag::AWARD_GAUNTLET
    | entity_flag::AWARD_CAPTURE
    | entity_flag::AWARD_IMPRESSIVE
    | entity_flag::AWARD_DEFEND
    | entity_flag::AWARD_ASSIST;

impl Combat {
    /// Counts an award and shows it instead of the previous one. `count` is the persistant index of its
    /// counter.
    pub(crate) fn award(
        &mut self,
        cx: &mut Context<'_>,
        matches: &MatchState,
        client: ClientNum,
        flag: i32,
        count: Persistent,
    ) {
        let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
        let counter = &mut player.state.persistant[count];
        *counter = (*counter + 1) & 0x7fff;
        player.state.e_flags = player.state.e_flags & !AWARDS | flag;
        self.players[client.index()].award_until = Some(cx.clients.now + AWARD_MS);
        cx.emit(GameEvent::Award { client, award: count });
        fulfill_award_challenge(cx, matches, client, count);
    }

    /// Hides an award after its time.
    pub(crate) fn expire_award(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        let combat = &mut self.players[client.index()];
        if combat.award_until.is_none_or(|until| until.distance(cx.clients.now) >= 0) {
            return;
        }
        combat.award_until = None;
        if let Some(player) = cx.clients.players[client.index()].as_mut() {
            player.state.e_flags &= !AWARDS;
        }
    }

    /// Awards a frag of an enemy: gauntlet, excellent, challenges, multiple kills.
    pub(crate) fn award_frag(
        &mut self,
        cx: &mut Context<'_>,
        matches: &MatchState,
        killer: ClientNum,
        victim: ClientNum,
        means: MeansOfDeath,
    ) {
        let now = cx.clients.now;
        if means == MeansOfDeath::Gauntlet {
            self.award(cx, matches, killer, entity_flag::AWARD_GAUNTLET, Persistent::Gauntlet);
            if let Some(player) = cx.clients.players[victim.index()].as_mut() {
                player.state.persistant[Persistent::PlayerEvents] ^= player_event::HUMILIATED;
            }
        }
        fulfill_frag_challenges(cx, matches, killer, victim, means);
        let last = self.players[killer.index()].fragged_at.replace(now);
        let is_quick = last.is_some_and(|last| now.distance(last) < EXCELLENT_MS);
        self.sprees.count_multiple(cx, killer, is_quick);
        if is_quick {
            self.award(cx, matches, killer, entity_flag::AWARD_EXCELLENT, Persistent::Excellent);
        }
    }

    /// Announces a flag carrier who dies near the place of the capture, to both players.
    pub(crate) fn announce_near_capture(
        &self,
        cx: &mut Context<'_>,
        victim: ClientNum,
        killer: Option<ClientNum>,
    ) {
        if !cx.is_near_capture(victim) {
            return;
        }
        // For a suicide the two toggles cancel each other.
        for client in [Some(victim), killer].into_iter().flatten() {
            if let Some(player) = cx.clients.players[client.index()].as_mut() {
                player.state.persistant[Persistent::PlayerEvents] ^= player_event::HOLY_SHIT;
            }
        }
    }

    /// Counts the hits of a railgun shot for the impressive award. A miss resets the streak.
    pub(crate) fn count_rail_hits(
        &mut self,
        cx: &mut Context<'_>,
        matches: &MatchState,
        client: ClientNum,
        hits: i32,
    ) {
        let streak = &mut self.players[client.index()].streak;
        if hits == 0 {
            *streak = 0;
            return;
        }
        *streak += hits;
        if *streak >= IMPRESSIVE_HITS {
            *streak -= IMPRESSIVE_HITS;
            self.award(cx, matches, client, entity_flag::AWARD_IMPRESSIVE, Persistent::Impressive);
        }
    }
}
