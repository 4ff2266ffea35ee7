//! Tournament: one against one, with a queue of spectators.
//!
//! The spectator with the longest wait plays next. The loser moves to the end of the queue. Source: the base
//! game's tournament rules.

use crate::bg::GameType;
use crate::game::clients::{JoinRules, Role};
use crate::game::deathmatch::{
    context::Context, matches::MatchState, matches::playing, matches::tournament::opponents,
    mode::Mode, modes::ModeRow, modes::free_for_all, rules::client_context, systems::ModeHooks,
    systems::Systems,
};

/// Number of players in a game.
const DUELISTS: usize = 2;

pub(super) const ROW: ModeRow = ModeRow {
    mode: Mode {
        game_type: GameType::Tournament,
        join: JoinRules {
            max_players: Some(DUELISTS),
            plays_in_turn: true,
            mutes_spectators: true,
        },
        repeats_level: true,
        enough_players: |present| present.players == DUELISTS,
        ..free_for_all::MODE
    },
    hooks: ModeHooks {
        frame: add_tournament_player,
        match_end: record_tournament_result,
        level_end: remove_tournament_loser,
        disconnect: MatchState::forfeit,
        ..ModeHooks::NONE
    },
};

/// Brings the longest waiting spectator into play while a slot is free, and starts another warm-up.
fn add_tournament_player(cx: &mut Context<'_>, sys: &mut Systems) {
    while playing(cx).nth(1).is_none()
        && let Some(next) = cx.clients.next_challenger()
        && !cx.clients.is_full(next)
    {
        sys.fight.match_state.wait_for_warmup();
        client_context(cx, sys, |clients| clients.change_role(next, Role::Playing(None)));
    }
}

/// Counts the win and the loss of a finished match.
fn record_tournament_result(cx: &mut Context<'_>) {
    let Some((winner, loser)) = opponents(cx) else { return };
    cx.clients.count_win(cx.host, winner);
    cx.clients.count_loss(loser);
    cx.clients.read_userinfo(cx.host, loser, false);
}

/// Moves the loser to the spectators.
fn remove_tournament_loser(cx: &mut Context<'_>, sys: &mut Systems) {
    if let Some((_, loser)) = opponents(cx) {
        client_context(cx, sys, |clients| clients.change_role(loser, Role::Spectating));
    }
}
