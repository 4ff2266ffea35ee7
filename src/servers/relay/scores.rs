//! Scoreboard of viewers: that of the source, or one of known names and scores.
//!
//! Source: the base game's scoreboard command; OpenArena's longer form of it.

use std::{cmp::Reverse, sync::Arc};

use super::{state::RelayState, viewer::ViewerKey};
use crate::{
    bg::{Persistent, Team, configstring, scoreboard},
    model::{ClientNum, LevelTime, Millis, text::atoi},
};

/// Age up to which the last scoreboard of the source is shown.
const FRESH: Millis = Millis(2500);
/// Game types from this one on have teams.
const FIRST_TEAM_GAME: i32 = 3;

impl RelayState {
    /// Answers a viewer's request for the scoreboard.
    pub(super) fn answer_score(&mut self, key: ViewerKey) {
        let fresh = self.scores.as_ref().filter(|(at, _)| self.now.since(*at) <= FRESH);
        if let Some((_, scores)) = fresh {
            let scores = Arc::clone(scores);
            self.send_command(key, &scores);
            return;
        }
        if let Some(viewer) = self.viewers.get_mut(key) {
            viewer.own.wants_scores = true;
        }
        self.scores_wanted = true;
    }

    /// Sends a scoreboard of what is known to the viewers that wait for one.
    pub(super) fn send_known_scores(&mut self) {
        let known = self.known_scores();
        self.send_command_to(&known, |viewer| viewer.own.wants_scores);
        self.viewers.iter_mut().for_each(|(_, viewer)| viewer.own.wants_scores = false);
    }

    /// The last scoreboard of the source, or one of names, teams and the views' scores.
    fn known_scores(&self) -> Arc<str> {
        let views = self.current.current_views();
        if let Some((_, scores)) = self.scores.as_ref().filter(|_| views.len() < 2) {
            return Arc::clone(scores);
        }
        let mut entries: Vec<_> = ClientNum::all()
            .filter(|&number| number != self.current.viewer_number)
            .filter(|&number| !self.current.player_name(number).is_empty())
            .map(|number| self.entry(number))
            .collect();
        let spectates = |client: usize| {
            let number = ClientNum::new(client);
            number.is_some_and(|number| self.team(number) == Team::Spectator as i32)
        };
        entries.sort_by_key(|entry| (spectates(entry.client), Reverse(entry.score), entry.client));
        let number = |index| atoi(self.current.configstrings.get(index));
        let has_teams = atoi(&self.current.info_value("g_gametype")) >= FIRST_TEAM_GAME;
        let team_scores = if has_teams {
            [number(configstring::SCORES1), number(configstring::SCORES2)]
        } else {
            [0; 2]
        };
        let version = self.current.configstrings.get(configstring::GAME_VERSION);
        let form = if version.starts_with("baseoa") {
            scoreboard::ScoresForm::OPENARENA
        } else {
            scoreboard::ScoresForm::BASE
        };
        let started = LevelTime(number(configstring::LEVEL_START_TIME));
        Arc::from(scoreboard::scoreboard(form, team_scores, started, entries.into_iter()))
    }

    fn team(&self, number: ClientNum) -> i32 {
        atoi(self.current.entry_value(number, "t"))
    }

    fn entry(&self, number: ClientNum) -> scoreboard::ScoreEntry {
        let view = self.current.current_views().iter().find(|view| view.player == number);
        let value = |at| view.map_or(0, |view| view.state.persistant[at]);
        scoreboard::ScoreEntry {
            client: number.index(),
            score: value(Persistent::Score),
            powerups: view.map_or(0, |view| {
                let held = view.state.powerups.iter().enumerate().filter(|(_, until)| **until != 0);
                held.fold(0, |bits, (at, _)| bits | 1 << at)
            }),
            impressive: value(Persistent::Impressive),
            excellent: value(Persistent::Excellent),
            gauntlet: value(Persistent::Gauntlet),
            defend: value(Persistent::Defend),
            assist: value(Persistent::Assist),
            captures: value(Persistent::Captures),
            ..scoreboard::ScoreEntry::default()
        }
    }
}
