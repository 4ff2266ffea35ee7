//! Match phases of a frame: those that spawn and move clients.
//!
//! Source: the base game's rules of matches. Engine names: `BeginIntermission`.

use super::{
    context::Context, matches::PhaseChange, matches::playing, rules::client_context,
    systems::Systems, think::respawn,
};
use crate::game::{GameEvent, MatchPhase};
use crate::model::ClientNum;

/// Runs the match phases of one frame.
pub(super) fn run_match(cx: &mut Context<'_>, sys: &mut Systems) {
    if !sys.fight.match_state.is_over() && playing(cx).next().is_some() {
        (sys.fight.hooks.frame)(cx, sys);
        sys.fight.match_state.run_warmup(cx);
    }
    match sys.fight.match_state.run_frame(cx) {
        Some(PhaseChange::BeginIntermission) => begin_intermission(cx, sys),
        Some(PhaseChange::LeaveLevel) => {
            (sys.fight.hooks.level_end)(cx, sys);
            sys.fight.match_state.leave_level(cx);
        }
        None => {}
    }
}

/// Shows the scoreboard to all clients.
pub(super) fn begin_intermission(cx: &mut Context<'_>, sys: &mut Systems) {
    (sys.fight.hooks.match_end)(cx);
    sys.fight.match_state.start_intermission(cx.clients.now);
    cx.clients.intermission = true;
    cx.emit(GameEvent::Phase(MatchPhase::Intermission));
    sys.spawn_points.select_view(cx);
    for client in ClientNum::all() {
        if cx.clients.active(client).is_none() {
            continue;
        }
        if cx.clients.plays(client) && cx.is_dead(client) {
            respawn(cx, sys, client);
        }
        client_context(cx, sys, |clients| clients.stop_following(client));
        sys.spawn_points.show_scoreboard(cx, client);
    }
    cx.clients.send_scores_to_all(cx.host);
}
