//! Team scores: capture, return and defense of flags.
//!
//! Flag positions are in `items`; this module holds the scores and announcements. Invariant: a kill gets one
//! bonus at most, the first that applies. Source: the base game's capture the flag and its table of bonuses.
//!
//! Engine names: `Team_TouchOurFlag`, `Team_TouchEnemyFlag`, `AddTeamScore`.

pub(super) mod frag_bonuses;
#[cfg(test)]
mod tests;

use super::{
    combat::Combat, context::Context, matches::MatchState, matches::score::set_team_score,
};
use crate::bg::{Persistent, TeamColor, TeamSound, entity_flag};
use crate::game::{FlagAction, GameEvent, TeamScoreCause};
use crate::model::{ClientNum, LevelTime, Vec3, limits::MAX_CLIENTS};

/// Points for actions with flags.
const CAPTURE: i32 = 5;
const RETURN: i32 = 1;
const RETURN_ASSIST: i32 = 1;
const FRAG_ASSIST: i32 = 2;
/// Time for which an assist counts, in ms.
const ASSIST_MS: i32 = 10_000;
/// Minimum interval between two announcements that the same flag was taken, in ms.
const TAKEN_MS: i32 = 10_000;

/// Recent actions of a player that can become assists.
#[derive(Clone, Copy, Debug, Default)]
struct FlagAssists {
    returned_at: Option<LevelTime>,
    fragged_carrier_at: Option<LevelTime>,
    hurt_carrier_at: Option<LevelTime>,
}

/// Team state of a level.
#[derive(Clone, Debug)]
pub(super) struct TeamState {
    /// Recent actions by client number.
    assists: [FlagAssists; MAX_CLIENTS],
    /// Time of the last announcement that a flag was taken, by flag color.
    taken_at: [Option<LevelTime>; 2],
}

impl Default for TeamState {
    fn default() -> Self {
        Self { assists: [FlagAssists::default(); MAX_CLIENTS], taken_at: [None; 2] }
    }
}

/// Whether an event happened within the last `ms` milliseconds.
fn within(at: Option<LevelTime>, now: LevelTime, ms: i32) -> bool {
    at.is_some_and(|at| now.distance(at) < ms)
}

/// Returns a client's name, quoted for a message about flags.
fn quoted_name(cx: &Context<'_>, client: ClientNum) -> String {
    let player = cx.clients.player(client);
    player.map_or_else(String::new, |player| player.name.replace('"', "'"))
}

/// Prints a player's action with a team's flag to all clients, and emits it.
fn announce_action(cx: &mut Context<'_>, client: ClientNum, team: TeamColor, action: FlagAction) {
    let (name, text) = (quoted_name(cx, client), action.text(team, true));
    cx.host.send_command(None, &format!("print \"{name}^7 {text}\n\""));
    cx.emit(GameEvent::Flag { client: Some(client), team, action });
}

fn position_of(cx: &Context<'_>, client: ClientNum) -> Vec3 {
    cx.clients.player(client).map_or(Vec3::ZERO, |player| player.state.origin)
}

impl TeamState {
    /// Announces that a player has taken the enemy flag at `at`. While the other flag is away as well, the
    /// sound pauses.
    pub(crate) fn announce_flag_taken(
        &mut self,
        cx: &mut Context<'_>,
        matches: &mut MatchState,
        client: ClientNum,
        flag: TeamColor,
        other_away: bool,
        at: Vec3,
    ) {
        announce_action(cx, client, flag, FlagAction::Taken);
        let now = cx.clients.now;
        let announced_at = &mut self.taken_at[flag as usize];
        if !(other_away && within(*announced_at, now, TAKEN_MS)) {
            *announced_at = Some(now);
            let sound = match flag {
                TeamColor::Blue => TeamSound::RedTook,
                TeamColor::Red => TeamSound::BlueTook,
            };
            cx.send_team_sound(sound);
        }
        if cx.clients.ruleset.scoring.shows_zero_points {
            matches.add_score(cx, client, 0, at);
        }
    }

    /// Rewards a player who returned the flag of the own team from `at`.
    pub(crate) fn reward_return(
        &mut self,
        cx: &mut Context<'_>,
        matches: &mut MatchState,
        client: ClientNum,
        flag: TeamColor,
        at: Vec3,
    ) {
        self.assists[client.index()].returned_at = Some(cx.clients.now);
        matches.add_score(cx, client, RETURN, at);
        announce_action(cx, client, flag, FlagAction::Returned);
    }

    /// Rewards a player who captured the enemy flag, and the assists. Points are shown at the own flag.
    pub(crate) fn reward_capture(
        &mut self,
        cx: &mut Context<'_>,
        matches: &mut MatchState,
        combat: &mut Combat,
        client: ClientNum,
        color: TeamColor,
        at: Vec3,
    ) {
        announce_action(cx, client, color.other(), FlagAction::Captured);
        score_for_team(cx, color);
        let team: Vec<ClientNum> = cx.clients.team_of(color).collect();
        for &mate in &team {
            combat.players[mate.index()].must_gesture = true;
        }
        combat.award(cx, matches, client, entity_flag::AWARD_CAPTURE, Persistent::Captures);
        matches.add_score(cx, client, CAPTURE, at);
        cx.send_team_sound(match color {
            TeamColor::Red => TeamSound::RedCaptured,
            TeamColor::Blue => TeamSound::BlueCaptured,
        });
        // Enemies who hurt a carrier are no longer a danger.
        for client in ClientNum::all() {
            if cx.clients.role(client).color() != Some(color) {
                self.assists[client.index()].hurt_carrier_at = None;
            }
        }
        let now = cx.clients.now;
        for mate in team.into_iter().filter(|&mate| mate != client) {
            let assists = self.assists[mate.index()];
            for (since, points) in
                [(assists.returned_at, RETURN_ASSIST), (assists.fragged_carrier_at, FRAG_ASSIST)]
            {
                if within(since, now, ASSIST_MS) {
                    matches.add_score(cx, mate, points, at);
                    combat.award(cx, matches, mate, entity_flag::AWARD_ASSIST, Persistent::Assist);
                }
            }
        }
    }
}

/// Adds a point to a team and plays the sound for its score, lead or tie.
fn score_for_team(cx: &mut Context<'_>, color: TeamColor) {
    let scores = cx.clients.team_scores;
    let (own, other) = (scores[color as usize], scores[color.other() as usize]);
    set_team_score(cx, color, own.saturating_add(1), TeamScoreCause::Capture);
    let sounds = match color {
        TeamColor::Red => [TeamSound::RedLeads, TeamSound::RedScored],
        TeamColor::Blue => [TeamSound::BlueLeads, TeamSound::BlueScored],
    };
    let sound = if own + 1 == other {
        TeamSound::Tied
    } else if own <= other && own + 1 > other {
        sounds[0]
    } else {
        sounds[1]
    };
    cx.send_team_sound(sound);
    cx.clients.rank(cx.host);
}
