//! Drain of a node: time before its end, in which it admits no more clients.
//!
//! ```text
//! open ── drain ──► draining ── empty, match over or deadline ──► done
//!   ▲                  │
//!   └───── undrain ────┘
//! ```

use std::borrow::Cow;

use crate::model::{CommandArgs, Millis, text};

/// Remaining seconds at which a drain is announced, from the first to the last. The start of a drain is one more.
const MARKS_S: [u64; 13] = [300, 60, 30, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1];
/// Time from the end of a match to the end of the node, in which clients see the scores.
const SCORES_TIME: Millis = Millis::seconds(10);

/// Time of a drain without another one, in seconds.
const DEFAULT_S: u64 = 300;
/// Longest drain, in seconds: a day.
const MAX_S: u64 = 86_400;
/// Longest text, in bytes.
const MAX_TEXT: usize = 100;

/// Request of the console command `drain`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrainRequest {
    /// Begin a drain, or replace its plan.
    Begin {
        /// Time until the deadline.
        time: Millis,
        /// Reason that clients are told; may be empty.
        text: String,
    },
    /// End the drain.
    Cancel,
}

/// Drain of a node.
#[derive(Clone, Debug, Default)]
pub struct Drain {
    plan: Option<Plan>,
}

/// Planned end of a node.
#[derive(Clone, Debug)]
struct Plan {
    ends_at: Millis,
    /// Reason that clients are told; may be empty.
    text: String,
    /// Remaining seconds of the last announcement.
    announced_s: u64,
    /// Whether the match is over.
    is_match_over: bool,
}

/// Step of a drain that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrainStep {
    /// Clients are told the remaining time.
    Announce(String),
    /// The node ends, with this reason.
    End(String),
}

impl DrainRequest {
    /// Parses `drain [SECONDS] [TEXT]` and `drain off`. `usual` is the time without another one; 0 for five minutes.
    ///
    /// # Errors
    /// A sentence with the invalid time.
    pub fn parse(words: &CommandArgs, usual: Millis) -> Result<Self, String> {
        let first = words.get(1);
        if words.len() == 2 && first.eq_ignore_ascii_case("off") {
            return Ok(Self::Cancel);
        }
        let is_number = first.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let (time, said) = if is_number {
            let seconds = first.parse().ok().filter(|&seconds| seconds <= MAX_S);
            let seconds = seconds.ok_or_else(|| {
                let shown = text::shown_name(first.as_bytes());
                format!("drain: invalid time {shown} (expected seconds from 0 to {MAX_S})")
            })?;
            (Millis::seconds(seconds), words.rest(2))
        } else {
            let time = if usual > Millis(0) { usual } else { Millis::seconds(DEFAULT_S) };
            (time, words.rest(1))
        };
        Ok(Self::Begin { time, text: text::quotable(&said, MAX_TEXT).trim().to_owned() })
    }
}

impl Drain {
    /// Begins a drain, or replaces the plan of one. Returns its announcement.
    pub fn begin(&mut self, now: Millis, time: Millis, text: &str) -> String {
        let plan = Plan {
            ends_at: now + time,
            text: text.to_owned(),
            announced_s: time.0.div_ceil(1000),
            is_match_over: false,
        };
        let left = shown(plan.announced_s);
        let announcement =
            plan.with_text(&format!("Server stops when this match ends, in {left} at the latest"));
        self.plan = Some(plan);
        announcement
    }

    /// Ends the drain: the node is open again. Returns whether there was one.
    pub fn cancel(&mut self) -> bool {
        self.plan.take().is_some()
    }

    /// Whether the node drains.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.plan.is_some()
    }

    /// Reason for rejecting every connect.
    #[must_use]
    pub fn refusal(&self) -> Option<Cow<'static, str>> {
        self.plan.as_ref().map(|plan| plan.with_text("Server stops soon, try another one").into())
    }

    /// Line for the operator.
    #[must_use]
    pub fn line(&self, now: Millis) -> Option<String> {
        let plan = self.plan.as_ref()?;
        let left = shown(plan.ends_at.since(now).0.div_ceil(1000));
        let until = if plan.is_match_over { "" } else { ", when empty or when the match ends" };
        Some(plan.with_text(&format!("draining: stops in {left}{until}")))
    }

    /// Returns the step that is due.
    pub fn poll(
        &mut self,
        now: Millis,
        is_empty: bool,
        is_intermission: bool,
    ) -> Option<DrainStep> {
        let plan = self.plan.as_mut()?;
        if is_empty || now >= plan.ends_at {
            return Some(DrainStep::End(plan.with_text("Server stopped")));
        }
        // Players who are ready leave the scores earlier.
        if plan.is_match_over && !is_intermission {
            return Some(DrainStep::End(plan.with_text("Server stopped")));
        }
        if is_intermission && !plan.is_match_over {
            plan.is_match_over = true;
            plan.ends_at = plan.ends_at.min(now + SCORES_TIME);
        }
        let left = plan.ends_at.since(now).0.div_ceil(1000);
        // After a stall, one announcement replaces those that it missed.
        let mark = MARKS_S.into_iter().rev().find(|&mark| left <= mark)?;
        if mark >= plan.announced_s {
            return None;
        }
        plan.announced_s = mark;
        Some(DrainStep::Announce(plan.with_text(&format!("Server stops in {}", shown(left)))))
    }
}

impl Plan {
    /// A sentence with the reason behind it.
    fn with_text(&self, sentence: &str) -> String {
        if self.text.is_empty() {
            sentence.to_owned()
        } else {
            format!("{sentence}: {}", self.text)
        }
    }
}

/// Time in minutes if it is a number of these.
fn shown(seconds: u64) -> String {
    match seconds {
        0 => "0 s".to_owned(),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Announcements with their times in seconds, and the time of the end.
    fn run(
        drain: &mut Drain,
        from_ms: u64,
        is_intermission: impl Fn(u64) -> bool,
    ) -> (Vec<(u64, String)>, u64) {
        let mut told = Vec::new();
        for ms in (from_ms..).step_by(50) {
            match drain.poll(Millis(ms), false, is_intermission(ms)) {
                Some(DrainStep::Announce(text)) => told.push((ms / 1000, text)),
                Some(DrainStep::End(_)) => return (told, ms),
                None => {}
            }
        }
        unreachable!("an end");
    }

    #[test]
    fn remaining_time_is_announced_at_marks() {
        let mut drain = Drain::default();
        assert_eq!(drain.poll(Millis(0), true, true), None, "open");
        let first = drain.begin(Millis(0), Millis::seconds(420), "upgrade");
        assert_eq!(first, "Server stops when this match ends, in 7 min at the latest: upgrade");
        let (told, end) = run(&mut drain, 0, |_| false);
        let times: Vec<_> = told.iter().map(|(at, _)| *at).collect();
        assert_eq!(times, [120, 360, 390, 410, 411, 412, 413, 414, 415, 416, 417, 418, 419]);
        assert_eq!(told[0].1, "Server stops in 5 min: upgrade");
        assert_eq!(told[3].1, "Server stops in 10 s: upgrade");
        assert_eq!(end, 420_000);
    }

    #[test]
    fn end_of_the_match_shortens_a_drain() {
        let mut drain = Drain::default();
        drain.begin(Millis(0), Millis::seconds(3600), "");
        let (told, end) = run(&mut drain, 0, |ms| ms >= 100_000);
        assert_eq!((told.len(), end), (10, 110_000), "{told:?}");
        drain.begin(Millis(0), Millis::seconds(3600), "");
        let (_, end) = run(&mut drain, 0, |ms| (100_000..106_000).contains(&ms));
        assert_eq!(end, 106_000, "no second match");
        drain.begin(Millis(0), Millis::seconds(4), "");
        let (told, end) = run(&mut drain, 0, |_| true);
        assert_eq!((told.len(), end), (3, 4000), "{told:?}: never later than the deadline");
    }

    #[test]
    fn empty_server_ends_at_once() {
        let mut drain = Drain::default();
        drain.begin(Millis(0), Millis::seconds(3600), "upgrade");
        let end = drain.poll(Millis(50), true, false);
        assert_eq!(end, Some(DrainStep::End("Server stopped: upgrade".to_owned())));
        assert!(drain.cancel() && !drain.cancel() && drain.refusal().is_none());
    }

    #[test]
    fn requests_have_time_and_text() {
        let parse = |line: &str, usual| DrainRequest::parse(&CommandArgs::parse(line), usual);
        let begin = |seconds, text: &str| {
            Ok(DrainRequest::Begin { time: Millis::seconds(seconds), text: text.to_owned() })
        };
        assert_eq!(parse("drain", Millis(0)), begin(300, ""));
        assert_eq!(parse("drain", Millis::seconds(60)), begin(60, ""));
        assert_eq!(parse("drain 9 new\u{7f} \"version\"", Millis(0)), begin(9, "new  version"));
        assert_eq!(parse("drain off duty", Millis(0)), begin(300, "off duty"));
        assert_eq!(parse("drain OFF", Millis(0)), Ok(DrainRequest::Cancel));
        for line in ["drain -1", "drain 86401", "drain 5x", "drain 99999999999999999999"] {
            assert!(
                parse(line, Millis(0)).is_err_and(|error| error.contains("0 to 86400")),
                "{line}"
            );
        }
    }

    #[test]
    fn stall_skips_announcements() {
        let mut drain = Drain::default();
        drain.begin(Millis(0), Millis::seconds(400), "");
        let step = drain.poll(Millis::seconds(393), false, false);
        assert_eq!(step, Some(DrainStep::Announce("Server stops in 7 s".to_owned())));
        assert_eq!(drain.poll(Millis::seconds(393), false, false), None);
    }
}
