//! The time before a match: until enough players are there, and then the countdown.
//!
//! Invariant: configstring 5 says what the warm-up is. Source: the base game's warm-up; OpenArena's
//! counting of teams.

use super::{Deathmatch, RESTART};
use crate::model::LevelTime;
use crate::{
    bg::{GameType, Team, configstring},
    game::Host,
};

/// What comes before the match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Warmup {
    /// Nothing: it is played.
    #[default]
    None,
    /// Too few players are there.
    Waiting,
    /// The match begins then.
    Until {
        start: LevelTime,
        /// The setting that the countdown was made of.
        seconds: i32,
    },
}

impl Deathmatch {
    /// A level begins: with a warm-up, unless that has just ended.
    pub(super) fn begin_warmup(&mut self, host: &mut dyn Host, warmed_up: bool) {
        let wanted = self.people.rules.warmup && self.people.game_type != GameType::SinglePlayer;
        self.set_warmup(host, if wanted && !warmed_up { Warmup::Waiting } else { Warmup::None });
    }

    /// One frame: waits for players, counts down, starts the match.
    pub(super) fn run_warmup(&mut self, host: &mut dyn Host) {
        if self.playing().next().is_none() {
            return;
        }
        let tournament = self.people.game_type == GameType::Tournament;
        if tournament {
            self.call_next_in_line(host);
        }
        if !self.are_enough() {
            if (tournament || self.is_warmup()) && self.course.warmup != Warmup::Waiting {
                self.set_warmup(host, Warmup::Waiting);
            }
            return;
        }
        let (now, seconds) = (self.people.now, self.people.rules.warmup_s);
        match self.course.warmup {
            Warmup::None => {}
            Warmup::Until { start, seconds: counted } if counted == seconds => {
                if now > start {
                    self.course.warmed_up = true;
                    self.lead_on(host, RESTART);
                }
            }
            Warmup::Waiting | Warmup::Until { .. } => {
                // The restart takes a second of its own.
                let start = now + seconds.saturating_sub(1).saturating_mul(1000);
                let at_once =
                    seconds <= 1 && (tournament || !self.people.profile.short_warmup_restarts);
                let next = Warmup::Until { start, seconds };
                self.set_warmup(host, if at_once { Warmup::None } else { next });
            }
        }
    }

    /// What comes before the match from now on.
    pub(super) fn set_warmup(&mut self, host: &mut dyn Host, warmup: Warmup) {
        self.course.warmup = warmup;
        let text = match warmup {
            Warmup::None => String::new(),
            Warmup::Waiting => "-1".to_owned(),
            Warmup::Until { start, .. } => start.to_string(),
        };
        host.set_configstring(configstring::WARMUP, &text);
        if warmup == Warmup::Waiting {
            self.people.log(host, "Warmup:");
        }
    }

    /// Whether a match can be played with those who are there.
    fn are_enough(&self) -> bool {
        let count = self.playing().count();
        let on = |team| self.playing().any(|client| self.people.team(client) == team);
        match self.people.game_type {
            GameType::Tournament => count == 2,
            GameType::TeamDeathmatch if self.people.profile.any_two_warm_up => count >= 2,
            GameType::TeamDeathmatch | GameType::CaptureTheFlag => on(Team::Red) && on(Team::Blue),
            GameType::FreeForAll | GameType::SinglePlayer => count >= 2,
        }
    }
}
