//! Match stages: warm-up, play, queued end, intermission, next level.
//!
//! ```text
//! warm-up ─ restart ─ play ─ a limit is hit ─ 1 s ─ intermission ─ ready ─ next level or restart
//! ```
//!
//! Invariants: nobody scores in a warm-up; nobody is hurt once the end is queued; what leads to another
//! level is a console line that the server runs after the frame, and until then nothing moves. Source:
//! the base game's rules of matches; OpenArena's.

pub(super) mod exit_rules;
pub(super) mod intermission;
pub(super) mod record;
pub(super) mod tournament;
pub(super) mod warmup;

use self::warmup::Warmup;
use crate::game::deathmatch::{
    context::Context,
    matches::intermission::{begin_intermission, wait_for_ready},
    matches::warmup::run_warmup,
    systems::Systems,
};
use crate::model::{ClientNum, LevelTime};

/// How long the end is queued before the scoreboard comes, in milliseconds.
const QUEUE_MS: i32 = 1000;
/// How long the server may take to run a line that leads on, before it is asked for a plain restart.
const PATIENCE_MS: i32 = 1000;
/// Begins the level anew.
const RESTART: &str = "map_restart 0";

/// Where in its course a match is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MatchState {
    warmup: Warmup,
    ending: MatchEnd,
    /// The restart that comes ends a warm-up.
    warmed_up: bool,
    /// Clients that want to leave the scoreboard, one bit each.
    ready: u64,
    /// When the server was asked to lead on.
    leaving_at: Option<LevelTime>,
}

/// How far the end has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MatchEnd {
    /// The match goes on.
    #[default]
    None,
    /// A limit was hit then.
    Queued(LevelTime),
    /// Everybody sees the scoreboard.
    Intermission {
        since: LevelTime,
        /// From when on the last ones have to hurry.
        hurry_from: Option<LevelTime>,
    },
}

impl MatchState {
    /// Whether the match has not begun: nobody scores.
    pub(in crate::game::deathmatch) fn is_warmup(&self) -> bool {
        self.warmup != Warmup::None
    }

    /// Whether the end is reached: nobody is hurt.
    pub(in crate::game::deathmatch) fn is_over(&self) -> bool {
        self.ending != MatchEnd::None
    }

    /// Whether a restart or another level was asked for. Nothing moves until it comes; a line that leads
    /// nowhere is made up for by a restart.
    pub(in crate::game::deathmatch) fn is_leaving(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(since) = self.leaving_at else { return false };
        if cx.clients.now.distance(since) >= PATIENCE_MS {
            self.queue_level_change(cx, RESTART);
        }
        true
    }

    /// A level begins.
    pub(in crate::game::deathmatch) fn begin_match(&mut self, cx: &mut Context<'_>, restart: bool) {
        let warmed_up = self.warmed_up && restart;
        *self = Self::default();
        self.begin_warmup(cx, warmed_up);
    }
}

/// One frame of the course.
pub(in crate::game::deathmatch) fn run_match(cx: &mut Context<'_>, sys: &mut Systems) {
    match sys.match_state.ending {
        MatchEnd::None => {
            run_warmup(cx, sys);
            sys.match_state.check_limits(cx);
        }
        MatchEnd::Queued(since) => {
            if cx.clients.now.distance(since) >= QUEUE_MS {
                begin_intermission(cx, sys);
            }
        }
        MatchEnd::Intermission { since, hurry_from } => {
            wait_for_ready(cx, sys, since, hurry_from);
        }
    }
}
impl MatchState {
    /// Somebody else has the slot of a client now.
    pub(in crate::game::deathmatch) fn clear_ready(&mut self, client: ClientNum) {
        self.ready &= !(1 << client.index());
    }

    /// Has the server run a line that ends this level or begins it anew.
    fn queue_level_change(&mut self, cx: &mut Context<'_>, line: &str) {
        self.leaving_at = Some(cx.clients.now);
        cx.host.queue_console(line);
    }
}

/// Players in the game.
fn playing(cx: &Context<'_>) -> impl Iterator<Item = ClientNum> {
    ClientNum::all().filter(|&client| cx.clients.plays(client))
}

#[cfg(test)]
mod tests;
