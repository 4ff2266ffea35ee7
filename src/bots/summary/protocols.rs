//! Results of a load test by protocol, where its bots had several.

use serde::Serialize;

use super::{BotOutcome, BotSummary, rounding::rounded};

/// Results of the bots of one protocol.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProtocolSummary {
    /// Name of the protocol.
    pub protocol: String,
    /// Bots that have started.
    pub bots: usize,
    /// Bots that were in the game, or accepted if that was all, until they left.
    pub succeeded: usize,
    /// Bots that the server refused.
    pub refused: usize,
    /// Bots that never joined, or were dropped.
    pub failed: usize,
    /// Protocol errors of the server.
    pub protocol_errors: u64,
    /// Mean of the snapshots per second of the bots that succeeded.
    pub snapshots_per_second: f64,
    /// Mean of their bytes received per snapshot.
    pub bytes_per_snapshot: f64,
    /// Mean of their round trips, in ms.
    pub ping_ms: f64,
}

impl ProtocolSummary {
    /// Names of [`ProtocolSummary::columns`].
    pub const COLUMNS: [&str; 8] =
        ["in game", "refused", "failed", "bots", "errors", "snaps/s", "bytes/snap", "ping ms"];

    /// Returns the results as a row of a table.
    #[must_use]
    pub fn columns(&self) -> [String; Self::COLUMNS.len()] {
        [
            self.succeeded.to_string(),
            self.refused.to_string(),
            self.failed.to_string(),
            self.bots.to_string(),
            self.protocol_errors.to_string(),
            format!("{:.1}", self.snapshots_per_second),
            format!("{:.1}", self.bytes_per_snapshot),
            format!("{:.1}", self.ping_ms),
        ]
    }

    /// Sums up the bots by protocol, in the order of its first bot. Empty for bots of one protocol.
    pub(in crate::bots) fn of_all(each: &[BotSummary]) -> Vec<Self> {
        let mut names: Vec<&str> = Vec::new();
        for bot in each {
            if !names.contains(&bot.protocol.as_str()) {
                names.push(&bot.protocol);
            }
        }
        if names.len() < 2 {
            return Vec::new();
        }
        names.into_iter().map(|name| Self::of(name, each)).collect()
    }

    fn of(protocol: &str, each: &[BotSummary]) -> Self {
        let bots: Vec<_> = each.iter().filter(|bot| bot.protocol == protocol).collect();
        let succeeded: Vec<_> = bots.iter().filter(|bot| bot.outcome.is_success()).collect();
        let refused = bots.iter().filter(|bot| bot.outcome == BotOutcome::Refused).count();
        let mean = |of: fn(&BotSummary) -> f64| {
            let sum = succeeded.iter().fold(0.0, |sum, bot| sum + of(bot));
            rounded(sum / succeeded.len().max(1) as f64)
        };
        Self {
            protocol: protocol.to_owned(),
            bots: bots.len(),
            succeeded: succeeded.len(),
            refused,
            failed: bots.len() - succeeded.len() - refused,
            protocol_errors: bots.iter().map(|bot| bot.protocol_errors).sum(),
            snapshots_per_second: mean(|bot| bot.snapshots_per_second),
            bytes_per_snapshot: mean(|bot| bot.bytes_per_snapshot),
            ping_ms: mean(|bot| bot.ping_ms),
        }
    }
}
