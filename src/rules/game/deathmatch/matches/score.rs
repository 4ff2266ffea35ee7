//! Score changes after a death.
//!
//! Source: the base game's scoring; OpenArena's lenient suicide penalty.
//!
//! Engine names: `AddScore`, `PERS_SCORE`.

use crate::bg::{Event, Persistent, TeamColor};
use crate::game::deathmatch::{context::Context, entities::send_only_to, matches::MatchState};
use crate::game::{GameEvent, TeamScoreCause, ruleset::SuicidePenalty};
use crate::model::{ClientNum, Vec3};

/// Number of players from which a suicide lowers the score.
const MIN_PLAYERS_FOR_PENALTY: usize = 3;

impl MatchState {
    /// Counts a death and changes the score for it.
    pub(crate) fn score_death(
        &mut self,
        cx: &mut Context<'_>,
        victim: ClientNum,
        killer: Option<ClientNum>,
        at: Vec3,
    ) {
        if let Some(player) = cx.clients.players[victim.index()].as_mut() {
            let deaths = &mut player.state.persistant[Persistent::Deaths];
            *deaths = (*deaths + 1) & 0x7fff;
        }
        let culprit = killer.unwrap_or(victim);
        let own = culprit == victim || cx.clients.are_mates(culprit, victim);
        if !own {
            return self.add_score(cx, culprit, 1, at);
        }
        match cx.clients.ruleset.scoring.suicide_penalty {
            SuicidePenalty::Own => self.add_score(cx, culprit, -1, at),
            SuicidePenalty::Lenient => self.score_lenient_suicide(cx, victim, killer, at),
        }
    }

    /// Scores a suicide without negative totals. In a small game the other players gain instead.
    fn score_lenient_suicide(
        &mut self,
        cx: &mut Context<'_>,
        victim: ClientNum,
        killer: Option<ClientNum>,
        at: Vec3,
    ) {
        let has_teams = cx.clients.game_type.has_teams();
        // A player that joins counts from the ranking after its spawn on.
        let is_small = cx.clients.ranked_players < MIN_PLAYERS_FOR_PENALTY;
        // A death by the level costs a point in team games as well, a suicide does not.
        let pays = cx.clients.score(victim) > 0 && (killer.is_none() || !has_teams);
        let culprit = killer.unwrap_or(victim);
        if is_small && !has_teams {
            self.reward_others(cx, culprit, at);
        } else if is_small || pays {
            self.add_score(cx, culprit, -1, at);
        }
    }

    /// Gives every other player a point instead of a penalty.
    fn reward_others(&mut self, cx: &mut Context<'_>, culprit: ClientNum, at: Vec3) {
        if self.is_warmup() {
            return;
        }
        for other in ClientNum::all().filter(|&other| other != culprit) {
            if cx.clients.plays(other) {
                send_score_plum(cx, culprit, 1, at);
                change_score(cx, other, 1);
            }
        }
        cx.emit(GameEvent::ScoringAction { client: culprit });
        cx.clients.rank(cx.host);
        self.check_limits(cx);
    }

    /// Adds points to a player's score and shows them at a position.
    pub(crate) fn add_score(
        &mut self,
        cx: &mut Context<'_>,
        client: ClientNum,
        points: i32,
        at: Vec3,
    ) {
        if self.is_warmup() {
            return;
        }
        send_score_plum(cx, client, points, at);
        change_score(cx, client, points);
        share_score(cx, client, points);
        cx.emit(GameEvent::ScoringAction { client });
        cx.clients.rank(cx.host);
        self.check_limits(cx);
    }
}

fn change_score(cx: &mut Context<'_>, client: ClientNum, points: i32) {
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    let score = &mut player.state.persistant[Persistent::Score];
    *score = score.saturating_add(points).clamp(i32::from(i16::MIN), i32::from(i16::MAX));
    let score = *score;
    cx.emit(GameEvent::Score { client, points, score });
}

fn send_score_plum(cx: &mut Context<'_>, client: ClientNum, points: i32, at: Vec3) {
    cx.temp_entity(at, Event::ScorePlum, |state, shared| {
        send_only_to(shared, client.index());
        state.other_entity_num = client.index() as i32;
        state.time = points;
    });
}

/// Adds a player's points to the team score, in game types that count them so.
fn share_score(cx: &mut Context<'_>, client: ClientNum, points: i32) {
    let color = cx.clients.role(client).color();
    if let Some(color) = color.filter(|_| cx.mode().shares_score) {
        let score = cx.clients.team_scores[color as usize].saturating_add(points);
        set_team_score(cx, color, score, TeamScoreCause::Points);
    }
}

/// Sets the score of a team.
pub(crate) fn set_team_score(
    cx: &mut Context<'_>,
    team: TeamColor,
    score: i32,
    cause: TeamScoreCause,
) {
    cx.clients.team_scores[team as usize] = score;
    cx.emit(GameEvent::TeamScore { team, score, cause });
}

/// Sets the scores of the teams whose score differs.
pub(crate) fn set_team_scores(cx: &mut Context<'_>, scores: [i32; 2], cause: TeamScoreCause) {
    for (team, score) in TeamColor::ALL.into_iter().zip(scores) {
        if cx.clients.team_scores[team as usize] != score {
            set_team_score(cx, team, score, cause);
        }
    }
}
