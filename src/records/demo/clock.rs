//! Clock of a demo: time since its first snapshot, over all its levels.

use crate::model::LevelTime;

use super::reader::DemoMessage;

/// Clock of a demo.
#[derive(Clone, Copy, Debug, Default)]
pub struct DemoClock {
    elapsed_ms: u64,
    last: Option<LevelTime>,
}

impl DemoClock {
    /// Advances to a message. Returns the time since the first snapshot, in ms.
    pub fn advance(&mut self, message: &DemoMessage<'_>) -> u64 {
        if message.gamestate.is_some() {
            self.last = None;
        }
        if let Some(snapshot) = &message.snapshot {
            let now = snapshot.head.server_time;
            let elapsed = self.last.map_or(0, |last| i64::from(now.0) - i64::from(last.0));
            // The clock stands while the server's own runs backwards.
            self.elapsed_ms = self.elapsed_ms.saturating_add(u64::try_from(elapsed).unwrap_or(0));
            self.last = Some(now);
        }
        self.elapsed_ms
    }

    /// Time since the first snapshot, in ms.
    #[must_use]
    pub const fn elapsed_ms(&self) -> u64 {
        self.elapsed_ms
    }

    /// Server time of the newest snapshot of the level.
    #[must_use]
    pub fn server_time(&self) -> LevelTime {
        self.last.unwrap_or_default()
    }
}
