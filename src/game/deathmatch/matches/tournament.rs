//! Tournament: one against one, with a queue of spectators.
//!
//! Who has waited longest plays next; who loses goes to the end of the line. Source: the base game's
//! tournament rules.

use super::{MatchEnd, RESTART, warmup::Warmup};
use crate::game::clients::Role;
use crate::game::deathmatch::{
    context::Context, matches::MatchState, matches::playing, rules::client_context,
    systems::Systems,
};
use crate::model::ClientNum;

/// Lets whoever has waited longest play, as long as there is room. Another warm-up comes with it.
pub(super) fn add_tournament_player(cx: &mut Context<'_>, sys: &mut Systems) {
    while playing(cx).nth(1).is_none()
        && let Some(next) = cx.clients.next_challenger()
        && !cx.clients.is_full(next)
    {
        sys.match_state.set_warmup(cx, Warmup::Waiting);
        client_context(cx, sys, |clients| clients.change_role(next, Role::Playing(None)));
    }
}

/// The two who played, the winner first.
fn opponents(cx: &Context<'_>) -> Option<(ClientNum, ClientNum)> {
    let mut players = cx.clients.players_by_score();
    let opponents = players.next().zip(players.next());
    opponents.filter(|_| players.next().is_none())
}

/// The game is over: counts it for both.
pub(super) fn settle_tournament(cx: &mut Context<'_>) {
    let Some((winner, loser)) = opponents(cx) else { return };
    cx.clients.count_win(cx.host, winner);
    cx.clients.count_loss(cx.host, loser);
}

/// The loser makes room for the next.
pub(super) fn remove_tournament_loser(cx: &mut Context<'_>, sys: &mut Systems) {
    if let Some((_, loser)) = opponents(cx) {
        client_context(cx, sys, |clients| clients.change_role(loser, Role::Spectating));
    }
}
impl MatchState {
    /// Who leaves a game loses it. After the game there is nobody left to show the scoreboard to.
    pub(in crate::game::deathmatch) fn forfeit(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        if !cx.clients.mode().plays_in_turn || !cx.clients.plays(client) {
            return;
        }
        match self.ending {
            MatchEnd::Intermission { .. } if self.leaving_at.is_none() => {
                self.queue_level_change(cx, RESTART);
            }
            MatchEnd::None if self.warmup == Warmup::None => {
                let winner =
                    opponents(cx).map(|(best, other)| if best == client { other } else { best });
                if let Some(winner) = winner {
                    cx.clients.count_win(cx.host, winner);
                }
            }
            MatchEnd::None | MatchEnd::Queued(_) | MatchEnd::Intermission { .. } => {}
        }
    }
}
