//! Load test summary, as text and as JSON.

mod bot;
mod csv;
mod interval;
mod junit;
mod percentiles;
mod protocols;
mod resources;
mod rounding;
mod text;

use serde::Serialize;

use crate::model::Millis;

use super::{
    expect::ExpectationResult,
    run_info::{RunInfo, ServerInfo},
    verdict::{Cause, Verdict},
};

pub use bot::{BotOutcome, BotSummary};
pub use interval::IntervalStats;
pub use percentiles::{Percentiles, Steps};
pub use protocols::ProtocolSummary;
pub use resources::{ResourceSummary, ResourceUsage};

pub(super) use bot::outcome;
pub(super) use interval::{Counted, Measured, OutcomeCounts};
pub(super) use percentiles::distribution;

/// One stage of a load test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageSummary {
    /// Metrics of the stage, measured after its last bot began to join; gaps and lateness for the whole stage.
    #[serde(flatten)]
    pub total: IntervalStats,
    /// Whether the stage was run to its end and all expectations hold.
    pub passed: bool,
    /// Whether the operator stopped the stage.
    pub is_interrupted: bool,
    /// Expectations with limits and values.
    pub expectations: Vec<ExpectationResult>,
    /// Expectations that do not hold, as sentences.
    pub failed_expectations: Vec<String>,
}

/// One second of a load test. A late load generator makes a sample longer, the end of the test the last one
/// shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds since the beginning, at its end.
    pub second: u64,
    /// Time of its end.
    #[serde(skip)]
    pub at: Millis,
    /// Exact time of its end since the beginning, in seconds.
    #[serde(skip)]
    pub seconds: f64,
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
    /// Mean round trip of the bots in the game, in ms; `None` without one.
    pub ping_ms: Option<u64>,
    /// Round trips of this second; `None` without one.
    pub ping_p50_ms: Option<u64>,
    /// 99th percentile.
    pub ping_p99_ms: Option<u64>,
    /// Largest value.
    pub ping_max_ms: Option<u64>,
    /// Snapshot gaps that end in this second or are open, weighted by time; `None` without one.
    pub gap_p50_ms: Option<u64>,
    /// 99th percentile.
    pub gap_p99_ms: Option<u64>,
    /// Longest snapshot gap that ended in this second or is open, in ms.
    pub worst_gap_ms: Option<u64>,
    /// Map changes of the servers.
    pub map_changes: u64,
    /// Restarts of levels.
    pub map_restarts: u64,
    /// Query responses.
    pub query_answers: u64,
    /// CPU time of the server process, in ms; `None` without one.
    pub server_cpu_ms: Option<f64>,
    /// Memory of the server process, in MB.
    pub server_memory_mb: Option<f64>,
    /// CPU time of the load generator, in ms.
    pub own_cpu_ms: Option<f64>,
    /// Longest lateness of the load generator, in ms.
    pub lateness_ms: u64,
    /// Whether the lateness spoils the measurements of this second.
    pub is_spoiled: bool,
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
    /// Program, machine and options.
    #[serde(flatten)]
    pub run: RunInfo,
    /// Start, as in RFC 3339; empty in virtual time.
    pub started: String,
    /// Servers by their serverinfo.
    pub servers: Vec<ServerInfo>,
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
    /// Cause of another verdict than [`Verdict::Passed`], as a code.
    pub cause: Option<Cause>,
    /// Exit code of the program.
    pub exit_code: u8,
    /// Verdict as a sentence, with the server's reason.
    pub sentence: String,
    /// Bots of the largest stage that passed; 0 for none, `None` for a test of one stage.
    pub capacity: Option<usize>,
    /// Whether a larger stage failed by the server, so that the server holds no more than `capacity`.
    pub is_capacity_limit: bool,
    /// Expectations of all stages, with limits and values.
    pub expectations: Vec<ExpectationResult>,
    /// Expectations that do not hold, as sentences.
    pub failed_expectations: Vec<String>,
    /// Metrics of the whole test.
    #[serde(flatten)]
    pub total: IntervalStats,
    /// Stages that were run.
    pub stages: Vec<StageSummary>,
    /// Query load beside the players.
    pub queries: QuerySummary,
    /// Histogram of snapshot gaps: pairs of gap and time in such gaps, in milliseconds.
    pub gap_distribution: Vec<(u64, u64)>,
    /// Results by protocol, if the bots had several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protocols: Vec<ProtocolSummary>,
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

    /// Whether the load generator was late enough to shift the results, but not to spoil them.
    #[must_use]
    pub fn own_process_was_late(&self) -> bool {
        self.total.loop_lateness_ms.p99 > MAX_LOOP_LATENESS_MS
    }
}

/// Lateness of the load generator above which a warning appears, in ms at the 99th percentile.
const MAX_LOOP_LATENESS_MS: u64 = 10;
