//! Limit of the time of a client's commands: it does not outrun the clock.
//!
//! Source: QuakeWorld protocol 28, as mvdsv applies it.

use super::MoveCommand;
use crate::model::Millis;

/// Time that a client can save while it sends no commands, in ms.
pub const MAX_SAVED_MS: u64 = 500;

/// Clock of the commands of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpeedCheck {
    last: Millis,
    saved_ms: u64,
}

impl SpeedCheck {
    /// Starts at a time, with all the savings.
    #[must_use]
    pub const fn new(now: Millis) -> Self {
        Self { last: now, saved_ms: MAX_SAVED_MS }
    }

    /// Returns the part of a command that the time allows.
    #[must_use]
    pub fn allowed(&mut self, now: Millis, command: MoveCommand) -> MoveCommand {
        let passed = now.0.saturating_sub(self.last.0);
        self.last = Millis(self.last.0.max(now.0));
        self.saved_ms = self.saved_ms.saturating_add(passed).min(MAX_SAVED_MS);
        let msec = u64::from(command.msec).min(self.saved_ms) as u8;
        self.saved_ms -= u64::from(msec);
        MoveCommand { msec, ..command }
    }
}
