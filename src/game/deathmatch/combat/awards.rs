//! Awards: icons over a player's head, and their counters.
//!
//! Source: the base game's rewards.

use crate::bg::{Persistent, entity_flag, player_event};
use crate::game::deathmatch::{combat::Combat, context::Context};
use crate::model::ClientNum;

/// How long an award is shown, in milliseconds.
const AWARD_MS: i32 = 2000;
/// How soon after the last a frag is excellent, in milliseconds.
const EXCELLENT_MS: i32 = 3000;
/// Hits in a row with the railgun that impress.
const IMPRESSIVE_HITS: i32 = 2;
/// Every flag that shows an award.
const AWARDS: i32 = entity_flag::AWARD_EXCELLENT
    | entity_flag::AWARD_GAUNTLET
    | entity_flag::AWARD_CAPTURE
    | entity_flag::AWARD_IMPRESSIVE
    | entity_flag::AWARD_DEFEND
    | entity_flag::AWARD_ASSIST;

impl Combat {
    /// Counts an award and shows it in place of the last. `count` is its place among the persistent
    /// values.
    pub(in crate::game::deathmatch) fn award(
        &mut self,
        cx: &mut Context<'_>,
        client: ClientNum,
        flag: i32,
        count: Persistent,
    ) {
        let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
        let count = &mut player.state.persistant[count];
        *count = (*count + 1) & 0x7fff;
        player.state.e_flags = player.state.e_flags & !AWARDS | flag;
        self.players[client.index()].award_until = Some(cx.clients.now + AWARD_MS);
    }

    /// Takes an award away that was shown long enough.
    pub(in crate::game::deathmatch) fn fade_award(
        &mut self,
        cx: &mut Context<'_>,
        client: ClientNum,
    ) {
        let combat = &mut self.players[client.index()];
        if combat.award_until.is_none_or(|until| until.distance(cx.clients.now) >= 0) {
            return;
        }
        combat.award_until = None;
        if let Some(player) = cx.clients.players[client.index()].as_mut() {
            player.state.e_flags &= !AWARDS;
        }
    }

    /// Somebody fragged an enemy.
    pub(super) fn award_frag(
        &mut self,
        cx: &mut Context<'_>,
        killer: ClientNum,
        victim: ClientNum,
        by_gauntlet: bool,
    ) {
        let now = cx.clients.now;
        if by_gauntlet {
            self.award(cx, killer, entity_flag::AWARD_GAUNTLET, Persistent::Gauntlet);
            if let Some(player) = cx.clients.players[victim.index()].as_mut() {
                player.state.persistant[Persistent::PlayerEvents] ^= player_event::HUMILIATED;
            }
        }
        let last = self.players[killer.index()].fragged_at.replace(now);
        if last.is_some_and(|last| now.distance(last) < EXCELLENT_MS) {
            self.award(cx, killer, entity_flag::AWARD_EXCELLENT, Persistent::Excellent);
        }
    }

    /// Somebody shot the railgun and hit so many enemies.
    pub(in crate::game::deathmatch) fn count_streak(
        &mut self,
        cx: &mut Context<'_>,
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
            self.award(cx, client, entity_flag::AWARD_IMPRESSIVE, Persistent::Impressive);
        }
    }
}
