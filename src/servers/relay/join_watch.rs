//! Wait for the level of a server: what is missing, when it is reported.
//!
//! Invariant: reports are at most one per interval, which doubles up to a limit and starts again only after a
//! level. A server that answers with nothing usable is reported like one that is silent, with its cause.

use std::fmt;

use crate::model::Millis;

/// Wait for a level before it is reported, and longest time to the next report. The time doubles after each.
const LEAST_WAIT: Millis = Millis(1500);
const LONGEST_WAIT: Millis = Millis::seconds(30);

/// Progress of a connection attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Challenge requested.
    Asking,
    /// Challenge granted, slot requested.
    Challenged,
    /// Slot granted, gamestate missing.
    Granted,
}

/// Report of a wait for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Report {
    progress: Progress,
    waited: Millis,
    /// Invalid datagrams since the previous report.
    invalid: u64,
    is_refused: bool,
}

/// Cause for viewers, as the rest of a sentence about the source.
fn cause(progress: Progress, invalid: u64, is_refused: bool) -> &'static str {
    match progress {
        Progress::Granted => "it sends no gamestate",
        _ if is_refused => "it refuses the relay",
        _ if invalid > 0 => "it answers with invalid datagrams",
        Progress::Challenged => "it does not answer the request for a slot",
        Progress::Asking => "it does not answer",
    }
}

impl Report {
    /// Cause for viewers.
    pub(super) fn cause(&self) -> &'static str {
        cause(self.progress, self.invalid, self.is_refused)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.waited.0 as f64 / 1000.0;
        let invalid = self.invalid;
        match self.progress {
            Progress::Granted => {
                write!(f, "no gamestate for {seconds:.1} s after the connection was granted")?;
                if invalid > 0 {
                    write!(f, ", {invalid} invalid datagrams")?;
                }
                f.write_str(" (expected a server of protocol 68 or 71; check --protocol)")
            }
            _ if self.is_refused => write!(f, "relay refused for {seconds:.1} s"),
            _ if invalid > 0 => write!(
                f,
                "invalid datagrams for {seconds:.1} s: {invalid} (expected answers of a game server; check --from)"
            ),
            Progress::Challenged => write!(
                f,
                "no answer to the request for a slot for {seconds:.1} s (expected connectResponse)"
            ),
            Progress::Asking => write!(
                f,
                "no answer for {seconds:.1} s (expected a running server; check --from and its UDP port on the way)"
            ),
        }
    }
}

/// Wait of a source for a level, over all attempts since the last one.
#[derive(Debug, Default)]
pub(super) struct JoinWatch {
    /// Start of the wait; `None` with a level.
    since: Option<Millis>,
    report_at: Millis,
    reports: u32,
    /// Reports of this attempt.
    reports_of_attempt: u32,
    /// Invalid datagrams since the last report.
    invalid: u64,
    /// Invalid datagrams were seen in this wait.
    has_invalid: bool,
    /// Reason of the last refusal.
    refusal: Option<String>,
    /// Whether the last answer since the last report is a refusal.
    is_refused: bool,
}

impl JoinWatch {
    /// Starts a connection attempt, and the wait if there is none.
    pub(super) fn begin_attempt(&mut self, now: Millis) {
        self.reports_of_attempt = 0;
        if self.since.is_none() {
            *self = Self { since: Some(now), report_at: now + LEAST_WAIT, ..Self::default() };
        }
    }

    /// Ends the wait with a level. Returns its length if it was reported.
    pub(super) fn end(&mut self, now: Millis) -> Option<Millis> {
        let since = self.since.take()?;
        (self.reports > 0).then(|| now.since(since))
    }

    /// Whether a level is awaited.
    pub(super) fn is_waiting(&self) -> bool {
        self.since.is_some()
    }

    /// Reports of this wait.
    pub(super) fn reports(&self) -> u32 {
        self.reports
    }

    /// Time of the next report.
    pub(super) fn report_at(&self) -> Millis {
        self.report_at
    }

    /// Counts a datagram of the server that the connection did not take.
    pub(super) fn count_invalid(&mut self) {
        self.invalid += 1;
        self.has_invalid = true;
    }

    /// Notes a refusal, which the server repeats. Returns whether its reason is new.
    pub(super) fn refuse(&mut self, now: Millis, reason: &str) -> bool {
        self.is_refused = true;
        let is_new = self.refusal.as_deref() != Some(reason);
        if is_new {
            self.refusal = Some(reason.to_owned());
            self.schedule(now);
        }
        is_new
    }

    /// Cause for viewers at the moment.
    pub(super) fn cause(&self, progress: Progress) -> &'static str {
        cause(progress, u64::from(self.has_invalid), self.is_refused)
    }

    /// Returns a report when one is due, and schedules the next one.
    pub(super) fn report(&mut self, now: Millis, progress: Progress) -> Option<Report> {
        if now < self.report_at {
            return None;
        }
        self.make(now, progress)
    }

    /// Ends an attempt at which the gamestate is missing. Returns a report if it had none.
    pub(super) fn end_attempt(&mut self, now: Millis) -> Option<Report> {
        if self.reports_of_attempt > 0 {
            return None;
        }
        self.make(now, Progress::Granted)
    }

    fn make(&mut self, now: Millis, progress: Progress) -> Option<Report> {
        let waited = now.since(self.since?);
        self.schedule(now);
        let invalid = std::mem::take(&mut self.invalid);
        let is_refused = std::mem::take(&mut self.is_refused);
        Some(Report { progress, waited, invalid, is_refused })
    }

    fn schedule(&mut self, now: Millis) {
        self.reports += 1;
        self.reports_of_attempt += 1;
        self.report_at = now + Millis(LEAST_WAIT.0 << self.reports.min(8)).min(LONGEST_WAIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_is_reported_at_growing_intervals() {
        let mut watch = JoinWatch::default();
        watch.begin_attempt(Millis(1000));
        let reported: Vec<u64> = (1000..120_000)
            .filter_map(|at| watch.report(Millis(at), Progress::Asking).map(|r| r.waited.0))
            .collect();
        assert_eq!(reported, [1500, 4500, 10_500, 22_500, 46_500, 76_500, 106_500]);
        watch.begin_attempt(Millis(120_000));
        assert_eq!(watch.reports(), 7, "another attempt of the same wait");
        assert_eq!(watch.end(Millis(130_000)), Some(Millis(129_000)));
        watch.begin_attempt(Millis(200_000));
        assert_eq!(watch.end(Millis(200_100)), None, "an immediate answer");
    }

    #[test]
    fn report_names_what_is_missing() {
        let mut watch = JoinWatch::default();
        let mut report = |at: u64, progress, invalid: u64| {
            watch.begin_attempt(Millis(0));
            (0..invalid).for_each(|_| watch.count_invalid());
            watch.report(Millis(at), progress).expect("a report").to_string()
        };
        assert!(report(1500, Progress::Asking, 0).starts_with("no answer for 1.5 s"));
        assert!(report(5000, Progress::Asking, 3).starts_with("invalid datagrams for 5.0 s: 3 "));
        assert!(report(20_000, Progress::Asking, 0).starts_with("no answer for 20.0 s"));
        assert!(report(60_000, Progress::Challenged, 0).contains("request for a slot"));
        let granted = report(120_000, Progress::Granted, 2);
        assert!(granted.starts_with("no gamestate for 120.0 s"), "{granted}");
        assert!(granted.contains("2 invalid datagrams"), "{granted}");
    }

    #[test]
    fn repeated_refusal_is_new_once() {
        let mut watch = JoinWatch::default();
        watch.begin_attempt(Millis(0));
        assert!(watch.refuse(Millis(10), "full"));
        assert!(!watch.refuse(Millis(3010), "full"));
        assert!(watch.refuse(Millis(6010), "banned"));
        assert_eq!(watch.cause(Progress::Asking), "it refuses the relay");
    }
}
