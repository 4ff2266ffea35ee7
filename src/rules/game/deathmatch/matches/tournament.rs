//! Tournament: one player against another, with a queue of spectators.
//!
//! The spectator with the longest wait plays next. The loser moves to the end of the queue. Source: the base
//! game's tournament rules.

use crate::game::clients::Role;
use crate::game::deathmatch::matches::{MatchEnd, RESTART, playing};
use crate::game::deathmatch::{
    context::Context, matches::warmup::Warmup, rules::client_context, systems::Systems,
};
use crate::model::ClientNum;

/// Brings the longest waiting spectator into play while a place is free, and starts another warm-up.
pub(crate) fn add_tournament_player(cx: &mut Context<'_>, sys: &mut Systems) {
    while playing(cx).nth(1).is_none()
        && let Some(next) = cx.clients.next_challenger()
        && !cx.clients.is_full(next)
    {
        sys.match_state.set_warmup(cx, Warmup::Waiting);
        client_context(cx, sys, |clients| clients.change_role(next, Role::Playing(None)));
    }
}

/// Returns the players of the match, the winner first, if exactly two play.
fn opponents(cx: &Context<'_>) -> Option<(ClientNum, ClientNum)> {
    let mut players = cx.clients.players_by_score();
    let opponents = players.next().zip(players.next());
    opponents.filter(|_| players.next().is_none())
}

/// Counts the win and the loss of a finished match.
pub(crate) fn record_tournament_result(cx: &mut Context<'_>) {
    let Some((winner, loser)) = opponents(cx) else { return };
    cx.clients.count_win(cx.host, winner);
    cx.clients.count_loss(cx.host, loser);
}

/// Moves the loser to the spectators.
pub(crate) fn remove_tournament_loser(cx: &mut Context<'_>, sys: &mut Systems) {
    if let Some((_, loser)) = opponents(cx) {
        client_context(cx, sys, |clients| clients.change_role(loser, Role::Spectating));
    }
}

/// Counts a win for the leader whose opponent disconnects. A leader who disconnects leaves no winner.
/// During the intermission the level ends at once.
pub(crate) fn forfeit(cx: &mut Context<'_>, sys: &mut Systems, client: ClientNum) {
    if !cx.clients.plays(client) {
        return;
    }
    let match_state = &mut sys.match_state;
    match match_state.ending {
        MatchEnd::Intermission { .. } if match_state.leaving_at.is_none() => {
            match_state.queue_level_change(cx, RESTART);
        }
        MatchEnd::None if match_state.warmup == Warmup::None => {
            if let Some((winner, _)) = opponents(cx).filter(|&(_, loser)| loser == client) {
                cx.clients.count_win(cx.host, winner);
            }
        }
        MatchEnd::None | MatchEnd::Queued(_) | MatchEnd::Intermission { .. } => {}
    }
}
