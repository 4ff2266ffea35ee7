//! Game log lines at the end of a match.
//!
//! Source: the base game's log lines at the end of a level.

use crate::game::{Host, clients::Clients};

/// Players whose scores are written.
const MAX_LINES: usize = 32;
/// Largest ping that is written.
const MAX_PING_MS: i32 = 999;

impl Clients {
    /// Why the match ended, and who scored how much, best first.
    pub(super) fn log_exit(&self, host: &mut dyn Host, reason: &str) {
        self.log(host, &format!("Exit: {reason}"));
        if self.game_type.has_teams() {
            let [red, blue] = self.team_scores;
            self.log(host, &format!("red:{red}  blue:{blue}"));
        }
        for client in self.players_by_score().take(MAX_LINES) {
            let Some(player) = self.player(client) else { continue };
            let (score, ping, name) =
                (self.score(client), player.ping_ms.min(MAX_PING_MS), &player.name);
            self.log(host, &format!("score: {score}  ping: {ping}  client: {client} {name}"));
        }
    }
}
