//! Opponents of a tournament match, and its end when one of them disconnects.
//!
//! Source: the base game's tournament rules.

use crate::game::deathmatch::matches::{MatchEnd, MatchState, RESTART};
use crate::game::deathmatch::{context::Context, matches::warmup::Warmup};
use crate::model::ClientNum;

/// Returns the players of the match, the winner first, if exactly two play.
pub(crate) fn opponents(cx: &Context<'_>) -> Option<(ClientNum, ClientNum)> {
    let mut players = cx.clients.players_by_score();
    let opponents = players.next().zip(players.next());
    opponents.filter(|_| players.next().is_none())
}

impl MatchState {
    /// Counts a win for the leader whose opponent disconnects. A leader who disconnects leaves no winner.
    /// During the intermission the level ends at once.
    pub(crate) fn forfeit(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        if !cx.clients.plays(client) {
            return;
        }
        match self.ending {
            MatchEnd::Intermission { .. } if self.leaving_at.is_none() => {
                self.queue_level_change(cx, RESTART);
            }
            MatchEnd::None if self.warmup == Warmup::None => {
                if let Some((winner, _)) = opponents(cx).filter(|&(_, loser)| loser == client) {
                    cx.clients.count_win(cx.host, winner);
                }
            }
            MatchEnd::None | MatchEnd::Queued(_) | MatchEnd::Intermission { .. } => {}
        }
    }
}
