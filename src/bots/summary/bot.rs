//! Summary of one bot: outcome and metrics.

use serde::Serialize;

use super::{
    super::{bot_stats::BotStats, lagometer::Lagometer},
    rounding::{per_second, ratio, rounded, share},
};

/// How it went for a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BotOutcome {
    /// Was in the game until it left.
    Played,
    /// Was never let in, and told why.
    Refused,
    /// Never got into the game.
    NeverJoined,
    /// Was thrown out, or lost the server.
    Dropped,
}

/// StageStats of one bot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BotSummary {
    /// Its name.
    pub name: String,
    /// How it went.
    pub outcome: BotOutcome,
    /// What the server said to it, or what was wrong with what it said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the reason was told to another bot of the same server, and this one was not answered: servers
    /// limit refusals per address.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reason_is_shared: bool,
    /// Milliseconds from the first question to the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join_ms: Option<u64>,
    /// Times that it joined.
    pub lives: u32,
    /// Units that it moved in a second.
    pub walked_per_second: f64,
    /// How long it stayed where it was at most, dead or alive.
    pub longest_halt_ms: u64,
    /// By how much its score rose.
    pub scored: u64,
    /// Snapshots accepted.
    pub snapshots: u64,
    /// Snapshots accepted in a second.
    pub snapshots_per_second: f64,
    /// Bytes received for each snapshot.
    pub bytes_per_snapshot: f64,
    /// Share of the snapshots that were relative to an earlier one.
    pub delta_share: f64,
    /// Share of the server's messages that never came.
    pub loss: f64,
    /// Share of the snapshots before which the server left some out to keep to the rate.
    pub rate_delayed: f64,
    /// Mean round trip of a usercmd in milliseconds.
    pub ping_ms: f64,
    /// Longest time without a snapshot, in milliseconds.
    pub worst_gap_ms: u64,
    /// What could not be read, or may not be sent.
    pub protocol_errors: u64,
    /// Datagrams that came, and those among them that meant nothing.
    #[serde(skip)]
    pub(in crate::bots) heard: u64,
    #[serde(skip)]
    pub(in crate::bots) unreadable: u64,
    /// How it went over time, for the report.
    #[serde(skip)]
    pub lagometer: Lagometer,
}

impl BotSummary {
    pub(in crate::bots) fn new(name: &str, stats: &BotStats, lagometer: &Lagometer) -> Self {
        let played = stats.played();
        let reason = stats
            .protocol_error
            .clone()
            .or_else(|| stats.dropped.as_ref().map(ToString::to_string));
        Self {
            name: name.to_owned(),
            outcome: outcome(stats),
            // Who got in after all has nothing to tell of.
            reason: reason.or_else(|| stats.refusal.clone().filter(|_| stats.entered.is_none())),
            reason_is_shared: stats.refusal_is_shared && stats.entered.is_none(),
            join_ms: stats.join_time().map(|join| join.0),
            lives: stats.lives,
            walked_per_second: rounded(per_second(stats.walked(), stats.played_for().0)),
            longest_halt_ms: stats.longest_halt.0,
            scored: stats.scored,
            snapshots: played.snapshots,
            snapshots_per_second: rounded(per_second(played.snapshots, stats.played_for().0)),
            bytes_per_snapshot: ratio(played.bytes_in, played.snapshots),
            delta_share: share(played.delta_snapshots, played.snapshots),
            loss: share(played.lost_messages, played.lost_messages + played.messages),
            rate_delayed: share(stats.rate_delayed, played.snapshots),
            ping_ms: rounded(stats.pings.mean()),
            worst_gap_ms: stats.gaps.max(),
            protocol_errors: stats.protocol_errors(),
            heard: stats.statistics.datagrams_in,
            unreadable: stats.statistics.dropped_datagrams,
            lagometer: lagometer.clone(),
        }
    }
}

/// How it went for a bot.
pub(in crate::bots) fn outcome(stats: &BotStats) -> BotOutcome {
    match (stats.entered, &stats.refusal) {
        _ if stats.was_dropped() => BotOutcome::Dropped,
        (Some(_), _) => BotOutcome::Played,
        (None, Some(_)) => BotOutcome::Refused,
        (None, None) => BotOutcome::NeverJoined,
    }
}
