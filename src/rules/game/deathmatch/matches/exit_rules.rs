//! Exit rules: time limit, frag limit, capture limit.
//!
//! Invariant: a tie continues the match (sudden death). Source: the base game's exit rules; OpenArena's,
//! which need two players.
//!
//! Engine names: `CheckExitRules`, `ScoreIsTied`.

use crate::bg::configstring;
use crate::game::deathmatch::{
    context::Context, matches::MatchEnd, matches::MatchState, mode::LimitHit, mode::Mode,
};
use crate::game::{GameEvent, MatchPhase, clients::Clients};
use crate::model::ClientNum;

/// Exit reasons in the game log.
const TIME: &str = "Timelimit hit.";
const FRAGS: &str = "Fraglimit hit.";
const CAPTURES: &str = "Capturelimit hit.";

/// Names of the teams, red first.
const TEAMS: [&str; 2] = ["Red", "Blue"];

/// `fraglimit`, reached by one player.
pub(crate) fn player_fraglimit(
    clients: &Clients,
    leaders: [Option<ClientNum>; 2],
) -> Option<LimitHit> {
    let (best, limit) = (leaders[0]?, clients.settings.frag_limit?);
    let winner = clients.player(best).filter(|_| clients.score(best) >= limit)?;
    Some(LimitHit { text: format!("{}^7 hit the fraglimit.", winner.name), reason: FRAGS })
}

/// `fraglimit`, reached by a team.
pub(crate) fn team_fraglimit(clients: &Clients, _: [Option<ClientNum>; 2]) -> Option<LimitHit> {
    let team = clients.winning_team(clients.settings.frag_limit?)?;
    Some(LimitHit { text: format!("{team} hit the fraglimit."), reason: FRAGS })
}

/// `capturelimit`, reached by a team.
pub(crate) fn capturelimit(clients: &Clients, _: [Option<ClientNum>; 2]) -> Option<LimitHit> {
    let team = clients.winning_team(clients.settings.capture_limit?)?;
    Some(LimitHit { text: format!("{team} hit the capturelimit."), reason: CAPTURES })
}

impl MatchState {
    /// Ends the match when it hits a limit. Runs every frame and after each score.
    pub(crate) fn check_limits(&mut self, cx: &mut Context<'_>) {
        if self.is_over() || self.leaving_at.is_some() {
            return;
        }
        let Some(LimitHit { text, reason }) = cx.clients.limit_hit(cx.mode(), self.is_warmup())
        else {
            return;
        };
        cx.host.send_command(None, &format!("print \"{text}\n\""));
        self.ending = MatchEnd::Queued(cx.clients.now);
        cx.host.set_configstring(configstring::INTERMISSION, "1");
        cx.emit(GameEvent::Phase(MatchPhase::Exit(reason)));
    }
}

impl Clients {
    /// Returns the limit that the match has hit.
    fn limit_hit(&self, mode: &Mode, warmup: bool) -> Option<LimitHit> {
        let leaders = self.leaders();
        if self.is_tied(leaders) {
            return None;
        }
        let settings = &self.settings;
        let minutes = settings.time_limit_min.filter(|_| !warmup);
        if minutes
            .is_some_and(|limit| self.now.distance(self.started) >= limit.saturating_mul(60_000))
        {
            return Some(LimitHit { text: TIME.to_owned(), reason: TIME });
        }
        if self.ruleset.matches.limits_need_two && leaders[1].is_none() {
            return None;
        }
        (mode.score_limit)(self, leaders)
    }

    /// Returns the first team with at least `limit` points.
    fn winning_team(&self, limit: i32) -> Option<&'static str> {
        TEAMS.into_iter().zip(self.team_scores).find(|&(_, s)| s >= limit).map(|(team, _)| team)
    }

    /// Whether two players or both teams share the lead.
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
