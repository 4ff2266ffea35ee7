//! A limit for log lines that strangers can cause: one of a kind per second, with a word on how many
//! were left out.

use std::{collections::BTreeMap, fmt};

use crate::model::Millis;

/// Time between two lines of a kind.
const INTERVAL: Millis = Millis::seconds(1);

/// A kind of log line that outsiders can cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A client's message was wrong.
    ClientFault,
    /// A connectionless datagram was wrong.
    ConnectionlessFault,
    /// Somebody was not let in.
    Refusal,
    /// A wrong password for the remote console, or none asked for.
    BadRcon,
    /// More arrives than is served.
    Overload,
}

/// Lines left out since the last one that was written; shown as a remark behind a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suppressed(u64);

impl fmt::Display for Suppressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            count => write!(f, " (and {count} more like it)"),
        }
    }
}

/// Lines of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Lines {
    last: Option<Millis>,
    suppressed: u64,
}

/// Decides which lines are written.
#[derive(Clone, Debug, Default)]
pub struct LogLimiter {
    lines: BTreeMap<Event, Lines>,
}

impl LogLimiter {
    /// Whether a line of that kind may be written now, and what to say of those that were not.
    pub fn allows(&mut self, event: Event, now: Millis) -> Option<Suppressed> {
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
    fn one_line_of_a_kind_each_second_tells_of_the_others() {
        let mut limiter = LogLimiter::default();
        let mut shown = Vec::new();
        for i in 0..2500 {
            if let Some(suppressed) = limiter.allows(Event::ClientFault, Millis(i)) {
                shown.push(format!("fault{suppressed}"));
            }
        }
        assert_eq!(
            shown,
            ["fault", "fault (and 999 more like it)", "fault (and 999 more like it)"]
        );
        assert!(limiter.allows(Event::BadRcon, Millis(2500)).is_some());
    }
}
