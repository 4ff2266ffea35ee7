//! Warm-up: wait for players, and countdown.
//!
//! Invariant: configstring 5 holds the warm-up state. Source: the base game's warm-up; OpenArena's count of
//! teams.
//!
//! Engine names: `CheckTournament`, `CS_WARMUP`.

use crate::bg::{Team, configstring};
use crate::game::deathmatch::matches::{MatchState, RESTART, playing};
use crate::game::deathmatch::{context::Context, mode::PlayerCounts};
use crate::game::{GameEvent, MatchPhase};
use crate::model::LevelTime;

/// Warm-up state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Warmup {
    /// No warm-up: the match is played.
    #[default]
    None,
    /// Too few players.
    Waiting,
    /// Countdown to the match.
    Until {
        start: LevelTime,
        /// Setting that the countdown started from, in seconds.
        seconds: i32,
    },
}

impl MatchState {
    /// Starts the warm-up of a new level, unless the level restart has just ended one.
    pub(super) fn begin_warmup(&mut self, cx: &mut Context<'_>, warmed_up: bool) {
        let wanted = cx.clients.settings.warmup && cx.mode().has_warmup;
        self.set_warmup(cx, if wanted && !warmed_up { Warmup::Waiting } else { Warmup::None });
    }

    /// Runs one frame of the warm-up: waits for players, counts down, starts the match.
    pub(crate) fn run_warmup(&mut self, cx: &mut Context<'_>) {
        let in_turn = cx.mode().join.plays_in_turn;
        if !enough_players(cx) {
            if (in_turn || self.is_warmup()) && self.warmup != Warmup::Waiting {
                self.set_warmup(cx, Warmup::Waiting);
            }
            return;
        }
        let (now, seconds) = (cx.clients.now, cx.clients.settings.warmup_s);
        match self.warmup {
            Warmup::None => {}
            Warmup::Until { start, seconds: counted } if counted == seconds => {
                if now > start {
                    self.warmed_up = true;
                    self.queue_level_change(cx, RESTART);
                }
            }
            Warmup::Waiting | Warmup::Until { .. } => {
                // The restart takes one more second.
                let start = now + seconds.saturating_sub(1).saturating_mul(1000);
                let at_once =
                    seconds <= 1 && (in_turn || !cx.clients.ruleset.matches.short_warmup_restarts);
                let next = Warmup::Until { start, seconds };
                self.set_warmup(cx, if at_once { Warmup::None } else { next });
            }
        }
    }

    /// Starts another warm-up without its configstring and its log line: players for it are there.
    pub(crate) const fn wait_for_warmup(&mut self) {
        self.warmup = Warmup::Waiting;
    }

    /// Sets the warm-up state and its configstring.
    pub(crate) fn set_warmup(&mut self, cx: &mut Context<'_>, warmup: Warmup) {
        self.warmup = warmup;
        let text = match warmup {
            Warmup::None => String::new(),
            Warmup::Waiting => "-1".to_owned(),
            Warmup::Until { start, .. } => start.to_string(),
        };
        cx.host.set_configstring(configstring::WARMUP, &text);
        cx.emit(GameEvent::Phase(match warmup {
            Warmup::None => MatchPhase::Play,
            Warmup::Waiting => MatchPhase::Waiting,
            Warmup::Until { start, .. } => MatchPhase::Countdown(start),
        }));
    }
}

/// Whether enough players are in the game for a match.
fn enough_players(cx: &Context<'_>) -> bool {
    let on = |team| playing(cx).filter(|&client| cx.clients.team(client) == team).count();
    (cx.mode().enough_players)(PlayerCounts {
        players: playing(cx).count(),
        red: on(Team::Red),
        blue: on(Team::Blue),
        any_two: cx.clients.ruleset.matches.any_two_warm_up,
    })
}
