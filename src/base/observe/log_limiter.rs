//! Rate limit of log lines that remote peers and games can cause.
//!
//! One line of an event is written per second. The next line of an event tells how many were suppressed.

use std::{collections::BTreeMap, fmt};

use crate::model::Millis;

/// Minimum time between two lines of one event.
const INTERVAL: Millis = Millis::seconds(1);

/// Event of a rate-limited log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogEvent {
    /// Invalid message of a client.
    ClientFault,
    /// Invalid message of the source of a relay.
    SourceFault,
    /// Invalid connectionless datagram.
    ConnectionlessFault,
    /// Name or download that a client changes.
    ClientChange,
    /// Rejected connect.
    Refusal,
    /// Rejected rcon packet.
    BadRcon,
    /// Load shedding.
    Overload,
    /// Limit of requests of unproven addresses.
    Limit,
    /// Setting of the game that is rejected.
    GameSetting,
    /// Setting or command of a text that its author may not use.
    Authority,
    /// Configstring of the game that is rejected.
    GameConfigstring,
    /// File of the game that is not written.
    GameFile,
}

/// Number of suppressed lines; displays as a suffix of the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suppressed(u64);

impl fmt::Display for Suppressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            count => write!(f, " (+{count} suppressed)"),
        }
    }
}

/// Lines of one event.
#[derive(Clone, Copy, Debug, Default)]
struct Lines {
    last: Option<Millis>,
    suppressed: u64,
}

/// Rate limiter of log lines.
#[derive(Clone, Debug, Default)]
pub struct LogLimiter {
    lines: BTreeMap<LogEvent, Lines>,
}

impl LogLimiter {
    /// The number of suppressed lines if a line may be written now.
    pub fn allows(&mut self, event: LogEvent, now: Millis) -> Option<Suppressed> {
        let lines = self.lines.entry(event).or_default();
        if lines.last.is_some_and(|last| now.since(last) < INTERVAL) {
            lines.suppressed += 1;
            return None;
        }
        lines.last = Some(now);
        Some(Suppressed(std::mem::take(&mut lines.suppressed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_limited_to_one_per_second() {
        let mut limiter = LogLimiter::default();
        let mut shown = Vec::new();
        for i in 0..2500 {
            if let Some(suppressed) = limiter.allows(LogEvent::ClientFault, Millis(i)) {
                shown.push(format!("fault{suppressed}"));
            }
        }
        assert_eq!(shown, ["fault", "fault (+999 suppressed)", "fault (+999 suppressed)"]);
        assert!(limiter.allows(LogEvent::BadRcon, Millis(2500)).is_some());
    }
}
