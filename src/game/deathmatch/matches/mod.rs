//! The course of a match: warm-up, play, the end that is reached, the scoreboard, the next level.
//!
//! ```text
//! warm-up ─ restart ─ play ─ a limit is hit ─ 1 s ─ intermission ─ ready ─ next level or restart
//! ```
//!
//! Invariants: nobody scores in a warm-up; nobody is hurt once the end is queued; what leads to another
//! level is a console line that the server runs after the frame, and until then nothing moves. Source:
//! the base game's rules of matches; OpenArena's.

mod intermission;
mod limits;
mod record;
mod tournament;
mod warmup;

use self::warmup::Warmup;
use super::Deathmatch;
use crate::game::Host;
use crate::model::{ClientNum, LevelTime};

/// How long the end is queued before the scoreboard comes, in milliseconds.
const QUEUE_MS: i32 = 1000;
/// How long the server may take to run a line that leads on, before it is asked for a plain restart.
const PATIENCE_MS: i32 = 1000;
/// Begins the level anew.
const RESTART: &str = "map_restart 0";

/// Where in its course a match is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    warmup: Warmup,
    ending: Ending,
    /// The restart that comes ends a warm-up.
    warmed_up: bool,
    /// Clients that want to leave the scoreboard, one bit each.
    ready: u64,
    /// When the server was asked to lead on.
    leaving_at: Option<LevelTime>,
}

/// How far the end has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ending {
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

impl Deathmatch {
    /// Whether the match has not begun: nobody scores.
    pub(super) fn is_warmup(&self) -> bool {
        self.course.warmup != Warmup::None
    }

    /// Whether the end is reached: nobody is hurt.
    pub(super) fn is_over(&self) -> bool {
        self.course.ending != Ending::None
    }

    /// Whether a restart or another level was asked for. Nothing moves until it comes; a line that leads
    /// nowhere is made up for by a restart.
    pub(super) fn is_leaving(&mut self, host: &mut dyn Host) -> bool {
        let Some(since) = self.course.leaving_at else { return false };
        if self.people.now.distance(since) >= PATIENCE_MS {
            self.lead_on(host, RESTART);
        }
        true
    }

    /// A level begins.
    pub(super) fn begin_match(&mut self, host: &mut dyn Host, restart: bool) {
        let warmed_up = self.course.warmed_up && restart;
        self.course = Course::default();
        self.begin_warmup(host, warmed_up);
    }

    /// One frame of the course.
    pub(super) fn run_match(&mut self, host: &mut dyn Host) {
        match self.course.ending {
            Ending::None => {
                self.run_warmup(host);
                self.check_limits(host);
            }
            Ending::Queued(since) => {
                if self.people.now.distance(since) >= QUEUE_MS {
                    self.begin_intermission(host);
                }
            }
            Ending::Intermission { since, hurry_from } => {
                self.wait_for_ready(host, since, hurry_from);
            }
        }
    }

    /// Somebody else has the slot of a client now.
    pub(super) fn forget_ready(&mut self, client: ClientNum) {
        self.course.ready &= !(1 << client.index());
    }

    /// Has the server run a line that ends this level or begins it anew.
    fn lead_on(&mut self, host: &mut dyn Host, line: &str) {
        self.course.leaving_at = Some(self.people.now);
        host.queue_console(line);
    }

    /// Players in the game.
    fn playing(&self) -> impl Iterator<Item = ClientNum> + '_ {
        ClientNum::all().filter(|&client| self.people.plays(client))
    }
}

#[cfg(test)]
mod tests;
