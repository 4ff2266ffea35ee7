//! Intermission: the scoreboard after a match, until the clients are ready.
//!
//! Invariant: no client plays during an intermission, not even one that joins it. Source: the base game's
//! intermission.
//!
//! Engine names: `BeginIntermission`, `CheckIntermissionExit`, `ExitLevel`.

use crate::bg::{EntityType, Persistent, PmType};
use crate::game::deathmatch::matches::{MatchEnd, MatchState, RESTART};
use crate::game::deathmatch::{
    context::Context, rules::client_context, spawn_points::SpawnPoints, systems::Systems,
    think::respawn,
};
use crate::game::{clients::JoinState, settings::key};
use crate::model::{Buttons, ClientNum, LevelTime, Vec3};

/// Minimum duration of the intermission, in ms.
const MIN_INTERMISSION_MS: i32 = 5000;
/// Time that the first ready client waits for the rest, in ms.
const READY_TIMEOUT_MS: i32 = 10_000;
/// Number of clients in the ready statistic.
const SHOWN_READY: usize = 16;
/// Start of a map rotation without `nextmap`: the operator's variable, and the next map after it.
const ROTATION: (&str, &str) = ("d1", "vstr d2");

/// Shows the scoreboard to all clients.
pub(crate) fn begin_intermission(cx: &mut Context<'_>, sys: &mut Systems) {
    (cx.mode().match_end)(cx);
    let since = cx.clients.now;
    sys.match_state.ending = MatchEnd::Intermission { since, ready_wait_from: None };
    sys.match_state.ready = 0;
    cx.clients.intermission = true;
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
impl SpawnPoints {
    /// Moves a client to the intermission camera.
    pub(crate) fn show_scoreboard(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        let spot = self.view();
        let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
        player.unlink(cx.host);
        let state = &mut player.state;
        state.pm_type = PmType::Intermission as i32;
        state.origin = spot.origin;
        state.viewangles = spot.angles;
        state.velocity = Vec3::ZERO;
        state.powerups.fill(0);
        state.e_flags = 0;
        state.loop_sound = 0;
        let entity = &mut player.entity;
        entity.e_type = EntityType::General as i32;
        entity.e_flags = 0;
        entity.powerups = 0;
        entity.modelindex = 0;
        entity.loop_sound = 0;
        entity.event = 0;
        entity.solid = 0;
        player.shared.contents = 0;
        player.shared.current_origin = spot.origin;
    }
}

impl MatchState {
    /// Records whether a client presses a button to leave the intermission.
    pub(crate) fn handle_ready(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
        let pressed = player.command.buttons.0 & !player.buttons.0;
        player.buttons = player.command.buttons;
        if pressed & (Buttons::ATTACK.0 | Buttons::USE_HOLDABLE.0) != 0 {
            self.ready |= 1 << client.index();
        }
    }
}

/// Leaves the intermission when all clients are ready, or some are and the wait for the rest is over. Bots
/// do not count.
pub(super) fn wait_for_ready(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    since: LevelTime,
    ready_wait_from: Option<LevelTime>,
) {
    let now = cx.clients.now;
    let humans = || {
        ClientNum::all()
            .filter(|&client| cx.clients.active(client).is_some_and(|player| !player.is_bot))
    };
    let is_ready = |client: &ClientNum| sys.match_state.ready & (1 << client.index()) != 0;
    let (present, ready) = (humans().count(), humans().filter(is_ready).count());
    let bits = humans()
        .filter(|client| client.index() < SHOWN_READY && is_ready(client))
        .fold(0_u16, |bits, client| bits | 1 << client.index());
    let stat = cx.clients.ruleset.stats.clients_ready;
    for player in cx.clients.players.iter_mut().flatten() {
        // The field has 16 bits with a sign.
        player.state.stats[stat] = i32::from(bits as i16);
    }
    if now.distance(since) < MIN_INTERMISSION_MS {
        return;
    }
    let ready_wait_from = match (present, ready) {
        (1.., 0) => None,
        (1.., _) if ready == present => return leave_level(cx, sys),
        _ => Some(ready_wait_from.unwrap_or(now)),
    };
    sys.match_state.ending = MatchEnd::Intermission { since, ready_wait_from };
    if ready_wait_from.is_some_and(|from| now.distance(from) >= READY_TIMEOUT_MS) {
        leave_level(cx, sys);
    }
}

/// Queues the next level.
fn leave_level(cx: &mut Context<'_>, sys: &mut Systems) {
    (cx.mode().level_end)(cx, sys);
    if cx.mode().repeats_level {
        return sys.match_state.queue_level_change(cx, RESTART);
    }
    let next = cx.host.settings().text(key::NEXTMAP);
    let unnamed = next.is_empty() || next == RESTART;
    let (first, second) = ROTATION;
    if unnamed && !cx.host.setting(first).is_empty() {
        cx.host.set_setting("nextmap", second);
        sys.match_state.queue_level_change(cx, &format!("vstr {first}"));
    } else {
        let unset = next.is_empty();
        sys.match_state.queue_level_change(cx, if unset { RESTART } else { "vstr nextmap" });
    }
    cx.clients.team_scores = [0; 2];
    for player in cx.clients.players.iter_mut().flatten() {
        player.state.persistant[Persistent::Score] = 0;
        player.join_state = JoinState::Connecting;
    }
}
