//! Match phases: warm-up, play, queued exit, intermission, next level.
//!
//! ```text
//! warm-up ─ restart ─ play ─ a limit is hit ─ 1 s ─ intermission ─ ready ─ next level or restart
//! ```
//!
//! Invariants: no player scores during warm-up; no player takes damage once the exit is queued; a level
//! change is a console command that the server runs after the frame, and the level stands still until then.
//! Source: the base game's rules of matches; OpenArena's.

pub(super) mod exit_rules;
mod intermission;
pub(super) mod score;
pub(super) mod tournament;
pub(super) mod warmup;

use self::warmup::Warmup;
use super::context::Context;
use crate::game::ConsoleTiming;
use crate::model::{ClientNum, LevelTime};

/// Delay between the limit and the intermission, in ms.
const QUEUE_MS: i32 = 1000;
/// Time until a queued level change is replaced by a restart, in ms.
const LEVEL_CHANGE_TIMEOUT_MS: i32 = 1000;
/// Console command that restarts the level.
const RESTART: &str = "map_restart 0";

/// Phase of the match.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MatchState {
    warmup: Warmup,
    ending: MatchEnd,
    /// Whether the queued restart ends a warm-up.
    warmed_up: bool,
    /// Clients that are ready to leave the intermission, one bit each.
    ready: u64,
    /// Time of the queued level change.
    leaving_at: Option<LevelTime>,
}

/// Progress of the end of the match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MatchEnd {
    /// The match continues.
    #[default]
    None,
    /// A limit was hit at this time.
    Queued(LevelTime),
    /// The scoreboard is shown.
    Intermission {
        since: LevelTime,
        /// Start of the wait for clients that are not ready.
        ready_wait_from: Option<LevelTime>,
    },
}

/// Change of the match phase that moves clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhaseChange {
    BeginIntermission,
    LeaveLevel,
}

impl MatchState {
    /// Whether the match is in its warm-up, without scores.
    pub(crate) fn is_warmup(&self) -> bool {
        self.warmup != Warmup::None
    }

    /// Whether the match has ended, which disables damage.
    pub(crate) fn is_over(&self) -> bool {
        self.ending != MatchEnd::None
    }

    /// Whether a level change is queued. The level stands still until it happens. A command without effect
    /// is replaced by a restart.
    pub(crate) fn is_leaving(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(since) = self.leaving_at else { return false };
        if cx.clients.now.distance(since) >= LEVEL_CHANGE_TIMEOUT_MS {
            self.queue_level_change(cx, RESTART);
        }
        true
    }

    /// Starts the match of a new level.
    pub(crate) fn begin_match(&mut self, cx: &mut Context<'_>, restart: bool) {
        let warmed_up = self.warmed_up && restart;
        *self = Self::default();
        self.begin_warmup(cx, warmed_up);
    }

    /// Clears the ready flag of a slot for its next client.
    pub(crate) fn clear_ready(&mut self, client: ClientNum) {
        self.ready &= !(1 << client.index());
    }

    /// Runs the match phases of one frame. Returns the change that the caller makes.
    pub(crate) fn run_frame(&mut self, cx: &mut Context<'_>) -> Option<PhaseChange> {
        match self.ending {
            MatchEnd::None => self.check_limits(cx),
            MatchEnd::Queued(since) if cx.clients.now.distance(since) >= QUEUE_MS => {
                return Some(PhaseChange::BeginIntermission);
            }
            MatchEnd::Queued(_) => {}
            MatchEnd::Intermission { since, ready_wait_from } => {
                return self
                    .wait_for_ready(cx, since, ready_wait_from)
                    .then_some(PhaseChange::LeaveLevel);
            }
        }
        None
    }

    /// Queues a console command that changes or restarts the level.
    fn queue_level_change(&mut self, cx: &mut Context<'_>, line: &str) {
        self.leaving_at = Some(cx.clients.now);
        cx.host.run_console(ConsoleTiming::Append, line);
    }
}

/// Returns the clients in play.
pub(super) fn playing(cx: &Context<'_>) -> impl Iterator<Item = ClientNum> {
    ClientNum::all().filter(|&client| cx.clients.plays(client))
}

#[cfg(test)]
mod tests;
