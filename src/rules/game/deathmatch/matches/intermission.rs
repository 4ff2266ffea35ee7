//! Intermission: the scoreboard after a match, until the clients are ready.
//!
//! Invariant: no client plays during an intermission, not even one that joins it. Source: the base game's
//! intermission.
//!
//! Engine names: `CheckIntermissionExit`, `ExitLevel`.

use crate::bg::Persistent;
use crate::game::deathmatch::context::Context;
use crate::game::deathmatch::matches::{MatchEnd, MatchState, RESTART, score::set_team_scores};
use crate::game::{
    TeamScoreCause,
    clients::{JoinState, map_pool},
    settings::key,
};
use crate::model::{Buttons, ClientNum, LevelTime};

/// Minimum duration of the intermission, in ms.
const MIN_INTERMISSION_MS: i32 = 5000;
/// Time that the first ready client waits for the rest, in ms.
const READY_TIMEOUT_MS: i32 = 10_000;
/// Number of clients in the ready statistic.
const SHOWN_READY: usize = 16;
/// Start of a map rotation without `nextmap`: the operator's variable, and the next map after it.
const ROTATION: (&str, &str) = ("d1", "vstr d2");

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

    /// Starts the intermission.
    pub(crate) fn start_intermission(&mut self, now: LevelTime) {
        self.ending = MatchEnd::Intermission { since: now, ready_wait_from: None };
        self.ready = 0;
    }

    /// Whether the intermission ends: all clients are ready, or some are and the wait for the rest is over. Bots
    /// do not count.
    pub(super) fn wait_for_ready(
        &mut self,
        cx: &mut Context<'_>,
        since: LevelTime,
        ready_wait_from: Option<LevelTime>,
    ) -> bool {
        let now = cx.clients.now;
        let humans = || {
            ClientNum::all()
                .filter(|&client| cx.clients.active(client).is_some_and(|player| !player.is_bot))
        };
        let is_ready = |client: &ClientNum| self.ready & (1 << client.index()) != 0;
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
            return false;
        }
        let ready_wait_from = match (present, ready) {
            (1.., 0) => None,
            (1.., _) if ready == present => return true,
            _ => Some(ready_wait_from.unwrap_or(now)),
        };
        self.ending = MatchEnd::Intermission { since, ready_wait_from };
        ready_wait_from.is_some_and(|from| now.distance(from) >= READY_TIMEOUT_MS)
    }

    /// Queues the next level.
    pub(crate) fn leave_level(&mut self, cx: &mut Context<'_>) {
        if cx.mode().repeats_level {
            return self.queue_level_change(cx, RESTART);
        }
        let of_pool = map_pool::next_map(cx.host, cx.clients.game_type, cx.clients.seed);
        let next = cx.host.settings().text(key::NEXTMAP);
        let unnamed = next.is_empty() || next == RESTART;
        let (first, second) = ROTATION;
        if let Some(map) = of_pool {
            self.queue_level_change(cx, &format!("map {map}"));
        } else if unnamed && !cx.host.setting(first).is_empty() {
            cx.host.set_setting("nextmap", second);
            self.queue_level_change(cx, &format!("vstr {first}"));
        } else {
            let unset = next.is_empty();
            self.queue_level_change(cx, if unset { RESTART } else { "vstr nextmap" });
        }
        set_team_scores(cx, [0; 2], TeamScoreCause::LevelEnd);
        for player in cx.clients.players.iter_mut().flatten() {
            player.state.persistant[Persistent::Score] = 0;
            player.join_state = JoinState::Connecting;
        }
    }
}
