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
    /// Metrics of the stage, measured after its last bot began to join.
    #[serde(flatten)]
    pub total: IntervalStats,
    /// Expectations that did not hold.
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
    /// Lost messages of the server.
    pub lost_messages: u64,
    /// Rate-delayed snapshots.
    pub rate_delayed: u64,
    /// Mean round trip of the bots in the game, in ms.
    pub ping_ms: u64,
    /// Longest snapshot gap that ended in this second, in ms.
    pub worst_gap_ms: u64,
    /// Query responses.
    pub query_answers: u64,
    /// CPU time of the server process, in ms.
    pub server_cpu_ms: f64,
    /// Memory of the server process, in MB.
    pub server_memory_mb: f64,
    /// CPU time of the load generator, in ms.
    pub own_cpu_ms: f64,
}

/// Result of the query load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QuerySummary {
    /// Queries sent.
    pub sent: u64,
    /// Responses received.
    pub answered: u64,
    /// Bytes of the responses.
    pub bytes_in: u64,
}

/// Result of a load test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Addresses of the servers.
    pub server_address: String,
    /// Protocol of the bots.
    pub protocol: String,
    /// Behavior of the bots.
    pub behavior: String,
    /// Impairment of datagrams to the server; empty for none.
    pub uplink: String,
    /// Impairment of datagrams from the server; empty for none.
    pub downlink: String,
    /// Random seed.
    pub seed: u64,
    /// Requested interval between snapshots, in ms.
    pub asked_interval_ms: u64,
    /// Whether the verdict is [`Verdict::Passed`].
    pub succeeded: bool,
    /// Verdict of the test.
    pub verdict: Verdict,
    /// Verdict as a sentence, with the server's reason.
    pub sentence: String,
    /// Expectations that do not hold.
    pub failed_expectations: Vec<String>,
    /// Metrics of the whole test.
    #[serde(flatten)]
    pub total: IntervalStats,
    /// Stages that were run.
    pub stages: Vec<StageSummary>,
    /// Query load beside the players.
    pub queries: QuerySummary,
    /// Histogram of snapshot gaps: pairs of milliseconds and count.
    pub gap_distribution: Vec<(u64, u64)>,
    /// Result of each bot, in order.
    pub each: Vec<BotSummary>,
    /// One sample for each second.
    #[serde(skip)]
    pub samples: Vec<Sample>,
}

impl Summary {
    /// Returns the summary as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("text and numbers")
    }

    /// Whether the load generator was too slow for reliable results.
    #[must_use]
    pub fn own_process_was_late(&self) -> bool {
        self.total.loop_lateness_ms.p99 > MAX_LOOP_LATENESS_MS
    }
}

/// Maximum p99 lateness of the load generator for reliable results, in ms.
const MAX_LOOP_LATENESS_MS: u64 = 10;
