//! Rate limit of log lines that remote peers and games can cause.
//!
//! One line of an event is written per second, lines of connections in a burst. The next line of an event tells how many were suppressed.

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
    /// Connection of a client that begins, enters the game or ends.
    Connection,
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

impl LogEvent {
    /// Number of lines that may follow each other at once.
    const fn burst(self) -> u64 {
        match self {
            // Three for each client of a full server.
            Self::Connection => 100,
            _ => 1,
        }
    }
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
    /// Time that all lines so far need, one per interval.
    busy_until: Millis,
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
        let busy_until = lines.busy_until.max(now) + INTERVAL;
        if busy_until.since(now).0 > event.burst() * INTERVAL.0 {
            lines.suppressed += 1;
            return None;
        }
        lines.busy_until = busy_until;
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

    #[test]
    fn lines_of_connections_have_a_burst() {
        let mut limiter = LogLimiter::default();
        let mut count =
            |at| (0..300).filter(|_| limiter.allows(LogEvent::Connection, at).is_some()).count();
        assert_eq!([0, 999, 1000, 11_000].map(|at| count(Millis(at))), [100, 0, 1, 10]);
    }
}
