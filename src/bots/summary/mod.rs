//! Load test summary, as text and as JSON.

mod bot;
mod interval;
mod percentiles;
mod resources;
mod rounding;
mod text;

use serde::Serialize;

use super::verdict::Verdict;

pub use bot::{BotOutcome, BotSummary};
pub use interval::IntervalStats;
pub use percentiles::{Percentiles, Steps};
pub use resources::{ResourceSummary, ResourceUsage};

pub(super) use bot::outcome;
pub(super) use interval::{Counted, Measured, OutcomeCounts};
pub(super) use percentiles::distribution;

/// One stage of a load test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageSummary {
    /// Its figures, taken from when its last bot had begun to join.
    #[serde(flatten)]
    pub total: IntervalStats,
    /// What was expected of it and did not hold.
    pub failed_expectations: Vec<String>,
}

/// One second of a load test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds since the beginning.
    pub second: u64,
    /// Bots in the game.
    pub in_game: usize,
    /// Snapshots accepted.
    pub snapshots: u64,
    /// Bytes received, without headers.
    pub bytes_in: u64,
    /// Bytes sent, without headers.
    pub bytes_out: u64,
    /// Messages of the server that never came.
    pub lost_messages: u64,
    /// Snapshots before which the server left some out to keep to the rate.
    pub rate_delayed: u64,
    /// Mean round trip of the bots in the game.
    pub ping_ms: u64,
    /// Longest time between two snapshots that ended in this second.
    pub worst_gap_ms: u64,
    /// Answers to queries beside the players.
    pub query_answers: u64,
    /// Processor time of the server's process.
    pub server_cpu_ms: f64,
    /// Its memory, in millions of bytes.
    pub server_memory_mb: f64,
    /// Processor time of the bots' process.
    pub own_cpu_ms: f64,
}

/// Queries beside the players.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QuerySummary {
    /// Queries sent.
    pub sent: u64,
    /// Answers that came.
    pub answered: u64,
    /// Bytes of them.
    pub bytes_in: u64,
}

/// StageStats of a whole load test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The server.
    pub server_address: String,
    /// What the bots spoke.
    pub protocol: String,
    /// What the bots did.
    pub behavior: String,
    /// What became of datagrams on their way there and back, where anything did.
    pub uplink: String,
    /// See `uplink`.
    pub downlink: String,
    /// Seed of all chance.
    pub seed: u64,
    /// Time between two snapshots that the bots asked for.
    pub asked_interval_ms: u64,
    /// Whether the verdict is good: every bot got in and stayed until it left, nothing was unreadable,
    /// and what was expected holds.
    pub succeeded: bool,
    /// What it came to, in a word.
    pub verdict: Verdict,
    /// The same in a sentence, with the server's own words.
    pub sentence: String,
    /// What was expected and does not hold.
    pub failed_expectations: Vec<String>,
    /// StageStats of the whole time.
    #[serde(flatten)]
    pub total: IntervalStats,
    /// The stages that there were.
    pub stages: Vec<StageSummary>,
    /// Queries beside the players.
    pub queries: QuerySummary,
    /// Times between snapshots and how often each was: milliseconds and count.
    pub gap_distribution: Vec<(u64, u64)>,
    /// Each bot, in order.
    pub each: Vec<BotSummary>,
    /// Each second.
    #[serde(skip)]
    pub samples: Vec<Sample>,
}

impl Summary {
    /// The figures as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("text and numbers")
    }

    /// Whether the bots' own process was too slow for what it measured.
    #[must_use]
    pub fn own_process_was_late(&self) -> bool {
        self.total.loop_lateness_ms.p99 > MAX_LOOP_LATENESS_MS
    }
}

/// Lateness of the bots' own clock from which on their figures are doubtful, in milliseconds.
const MAX_LOOP_LATENESS_MS: u64 = 10;
