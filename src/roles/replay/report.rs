//! Replay report, as text and JSON.

use std::time::Duration;

use fragd::{
    cli::ExitStatus,
    journal::{Damage, Divergence, JournalEnd, Replay, Sent, Start, StepResult},
    model::Millis,
    node::Hosted,
    settings::masked_arguments,
};
use serde_json::json;

use super::file::Journal;

/// Verdict of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// All compared datagrams are as recorded.
    Same,
    /// A datagram or a file differs.
    Differs,
    /// The replayed part has no datagram to compare.
    Nothing,
}

/// Result of a replay.
pub(super) struct Report {
    name: String,
    start: Start,
    time: Millis,
    took: Duration,
    frames: u64,
    datagrams_in: u64,
    compared: u64,
    difference: Option<Divergence>,
    mismatch: Option<String>,
    damage: Option<Damage>,
    /// Whether the journal ends at its size limit.
    is_at_limit: bool,
}

impl Report {
    pub(super) fn new(
        journal: &Journal,
        stage: Option<&Replay<Box<dyn Hosted>>>,
        result: StepResult,
        time: Millis,
        took: Duration,
    ) -> Self {
        let (difference, mismatch) = match result {
            StepResult::Same => (None, None),
            StepResult::Differs(difference) => (Some(*difference), None),
            StepResult::AssetMismatch(mismatch) => (None, Some(mismatch.to_string())),
        };
        let (frames, datagrams_in, compared) = stage.map_or((0, 0, 0), |stage| {
            (stage.frames(), stage.datagrams_in(), stage.datagrams_out())
        });
        Self {
            name: journal.name().to_owned(),
            start: journal.start().clone(),
            time,
            took,
            frames,
            datagrams_in,
            compared,
            difference,
            mismatch,
            damage: journal.damage(),
            is_at_limit: journal.end() == Some(JournalEnd::Limit),
        }
    }

    pub(super) fn outcome(&self) -> ExitStatus {
        match (self.verdict(), self.damage) {
            (Verdict::Differs, _) => ExitStatus::Failed,
            (_, Some(damage)) if super::outcome_of(damage) == ExitStatus::Failed => {
                ExitStatus::Failed
            }
            (Verdict::Nothing, _) => ExitStatus::NothingCompared,
            (Verdict::Same, _) => ExitStatus::Done,
        }
    }

    fn verdict(&self) -> Verdict {
        if self.difference.is_some() || self.mismatch.is_some() {
            Verdict::Differs
        } else if self.compared == 0 {
            Verdict::Nothing
        } else {
            Verdict::Same
        }
    }

    /// Verdict of a run in which no difference was found.
    fn agreement(&self) -> String {
        let until = match self.damage {
            Some(damage) => format!(" up to byte {}; the rest is not compared", damage.offset),
            None => String::new(),
        };
        match self.verdict() {
            Verdict::Nothing if self.damage.is_some() => {
                "nothing compared: the journal ends before the first datagram that the server sent"
                    .to_owned()
            }
            Verdict::Nothing => {
                "nothing compared: the journal has no datagram that the server sent".to_owned()
            }
            _ => format!("the same{until}"),
        }
    }

    pub(super) fn text(&self) -> String {
        let seconds = self.time.0 as f64 / 1000.0;
        let mut text = format!(
            "journal         {}, fragd {}, fragd {}\n\
             replayed        {seconds:.1} s of the server's time in {:.2} s\n\
             inputs          {} datagrams, {} frames\n\
             compared        {} datagrams sent\n",
            self.name,
            self.start.program,
            masked_arguments(&self.start.arguments).join(" "),
            self.took.as_secs_f64(),
            self.datagrams_in,
            self.frames,
            self.compared,
        );
        if let Some(damage) = self.damage {
            text += &format!("damage          {damage}; replayed up to there\n");
        }
        if self.is_at_limit {
            text += "ended           the journal, at its limit; the server continued\n";
        }
        text += &match (&self.difference, &self.mismatch) {
            (None, None) => format!("verdict         {}\n", self.agreement()),
            (Some(difference), _) => format!("verdict         {difference}\n"),
            (None, Some(mismatch)) => {
                format!(
                    "verdict         differs at {}, frame {}: {mismatch}\n",
                    self.time, self.frames
                )
            }
        };
        text
    }

    pub(super) fn json(&self) -> String {
        let sent = |sent: Option<Sent>| {
            sent.map(|sent| {
                json!({
                    "to": sent.route.remote.to_string(),
                    "bytes": sent.len,
                    "checksum": format!("{:08x}", sent.checksum),
                })
            })
        };
        let difference = self.difference.as_ref().map(|difference| {
            json!({
                "time_ms": difference.at.0,
                "frame": difference.frame,
                "record": difference.record,
                "offset": difference.offset,
                "datagram": difference.number,
                "expected": sent(difference.expected),
                "got": sent(difference.got),
            })
        });
        let damage = self.damage.map(|damage| {
            json!({
                "record": damage.record,
                "offset": damage.offset,
                "what": damage.kind.to_string(),
            })
        });
        let json = json!({
            "verdict": match self.verdict() {
                Verdict::Same => "same",
                Verdict::Differs => "differs",
                Verdict::Nothing => "nothing",
            },
            "program": self.start.program,
            "arguments": masked_arguments(&self.start.arguments),
            "began_unix_ms": self.start.began_unix_ms,
            "time_ms": self.time.0,
            "frames": self.frames,
            "datagrams_in": self.datagrams_in,
            "datagrams_compared": self.compared,
            "difference": difference,
            "mismatch": self.mismatch,
            "damage": damage,
            "ended_at_limit": self.is_at_limit,
        });
        format!("{json:#}\n")
    }
}
