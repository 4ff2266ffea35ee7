//! Match limits: time, frags, captures.
//!
//! Invariant: a tie is played on. Source: the base game's exit rules; OpenArena's, which need two players.

use super::MatchEnd;
use crate::game::deathmatch::{context::Context, matches::MatchState};
use crate::game::modes::ScoreLimit;
use crate::model::ClientNum;
use crate::{bg::configstring, game::clients::Clients};

/// What was hit, as the log has it.
const TIME: &str = "Timelimit hit.";
const FRAGS: &str = "Fraglimit hit.";
const CAPTURES: &str = "Capturelimit hit.";

/// Names of the teams, red first.
const TEAMS: [&str; 2] = ["Red", "Blue"];

/// An end that is reached.
#[derive(Debug, PartialEq, Eq)]
struct LimitHit {
    /// Said to everybody.
    said: String,
    /// Written into the log.
    reason: &'static str,
}

impl MatchState {
    /// Ends the match when a limit is hit. Asked every frame and after each score.
    pub(in crate::game::deathmatch) fn check_limits(&mut self, cx: &mut Context<'_>) {
        if self.is_over() || self.leaving_at.is_some() {
            return;
        }
        let Some(LimitHit { said, reason }) = cx.clients.limit_hit(self.is_warmup()) else {
            return;
        };
        cx.host.send_command(None, &format!("print \"{said}\n\""));
        self.ending = MatchEnd::Queued(cx.clients.now);
        cx.host.set_configstring(configstring::INTERMISSION, "1");
        cx.clients.log_exit(cx.host, reason);
    }
}

impl Clients {
    /// The limit that the match has come to.
    fn limit_hit(&self, warmup: bool) -> Option<LimitHit> {
        let leaders = self.leaders();
        if self.is_tied(leaders) {
            return None;
        }
        let settings = &self.settings;
        let minutes = settings.time_limit_min.filter(|_| !warmup);
        if minutes
            .is_some_and(|limit| self.now.distance(self.started) >= limit.saturating_mul(60_000))
        {
            return Some(LimitHit { said: TIME.to_owned(), reason: TIME });
        }
        if self.ruleset.limits_need_two && leaders[1].is_none() {
            return None;
        }
        let said = match self.mode().score_limit {
            ScoreLimit::Captures => {
                let team = self.winning_team(settings.capture_limit?)?;
                let said = format!("{team} hit the capturelimit.");
                return Some(LimitHit { said, reason: CAPTURES });
            }
            ScoreLimit::TeamFrags => {
                format!("{} hit the fraglimit.", self.winning_team(settings.frag_limit?)?)
            }
            ScoreLimit::PlayerFrags => {
                let (best, limit) = (leaders[0]?, settings.frag_limit?);
                let winner = self.player(best).filter(|_| self.score(best) >= limit)?;
                format!("{}^7 hit the fraglimit.", winner.name)
            }
        };
        Some(LimitHit { said, reason: FRAGS })
    }

    /// The first team that has as many points.
    fn winning_team(&self, limit: i32) -> Option<&'static str> {
        TEAMS.into_iter().zip(self.team_scores).find(|&(_, s)| s >= limit).map(|(team, _)| team)
    }

    /// Whether two lead.
    fn is_tied(&self, leaders: [Option<ClientNum>; 2]) -> bool {
        let [first, second] = leaders.map(|leader| leader.map(|client| self.score(client)));
        let two = first.zip(second);
        let [red, blue] = self.team_scores;
        two.is_some_and(
            |(first, second)| {
                if self.game_type.has_teams() { red == blue } else { first == second }
            },
        )
    }
}
