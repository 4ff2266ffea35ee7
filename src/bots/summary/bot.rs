//! Summary of one bot: outcome and metrics.

use serde::Serialize;

use super::{
    super::bot_stats::BotStats,
    rounding::{per_second, ratio, rounded, share},
};
use crate::{chart::Lagometer, client::DisconnectReason, model::Millis};

/// Outcome of one bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BotOutcome {
    /// The bot was in the game until it left.
    Played,
    /// The server refused the bot, with a reason.
    Refused,
    /// The server accepted the bot, which was not to enter the game.
    Connected,
    /// The bot never entered the game.
    NeverJoined,
    /// The server dropped the bot or was lost.
    Dropped,
}

impl BotOutcome {
    /// Whether the bot did what it was to do.
    #[must_use]
    pub fn is_success(self) -> bool {
        matches!(self, Self::Played | Self::Connected)
    }
}

/// Metrics of one bot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BotSummary {
    /// Name of the bot.
    pub name: String,
    /// Address of its server.
    pub server: String,
    /// Protocol of its last connection.
    pub protocol: String,
    /// Outcome of the bot.
    pub outcome: BotOutcome,
    /// Reason of the server for a refusal or drop, or the protocol error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the bot was dropped because no message of the server arrived.
    #[serde(skip)]
    pub timed_out: bool,
    /// Time since the first request of a bot that has not joined.
    #[serde(skip)]
    pub joining_for: Millis,
    /// Whether the reason was sent to another bot of the same server and this one was not answered.
    ///
    /// Servers limit refusals per address.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reason_is_shared: bool,
    /// Time from the first request to the game, in ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join_ms: Option<u64>,
    /// Number of connections.
    pub lives: u32,
    /// Units moved per second.
    pub walked_per_second: f64,
    /// Longest time without movement, dead or alive, in ms.
    pub longest_halt_ms: u64,
    /// Sum of all rises of the score.
    pub scored: u64,
    /// Snapshots accepted.
    pub snapshots: u64,
    /// Snapshots accepted per second.
    pub snapshots_per_second: f64,
    /// Bytes received per snapshot.
    pub bytes_per_snapshot: f64,
    /// Share of the snapshots with a delta base.
    pub delta_share: f64,
    /// Share of the server's messages that were lost.
    pub loss: f64,
    /// Share of the snapshots that were rate delayed.
    pub rate_delayed: f64,
    /// Mean round trip, in ms.
    pub ping_ms: f64,
    /// Longest time between two snapshots of a level, in ms.
    pub worst_gap_ms: u64,
    /// Sum of the gaps of more than three intervals, in ms.
    pub time_without_snapshot_ms: u64,
    /// Answers of the server that were compared with the predicted position; none with Quake III.
    #[serde(skip_serializing_if = "is_zero")]
    pub predicted: u64,
    /// Answers among them with another position.
    #[serde(skip_serializing_if = "is_zero")]
    pub mispredicted: u64,
    /// Numbered chat lines received; none with Quake III.
    #[serde(skip_serializing_if = "is_zero")]
    pub chat_received: u64,
    /// Numbered chat lines of which a later one was received first.
    #[serde(skip_serializing_if = "is_zero")]
    pub chat_missing: u64,
    /// Numbered chat lines that were received again.
    #[serde(skip_serializing_if = "is_zero")]
    pub chat_repeated: u64,
    /// Protocol errors of the server.
    pub protocol_errors: u64,
    /// Datagrams received, and those among them that no Quake III server sends.
    #[serde(skip)]
    pub(in crate::bots) datagrams_received: u64,
    #[serde(skip)]
    pub(in crate::bots) unreadable: u64,
    /// Lagometer for the report.
    #[serde(skip)]
    pub lagometer: Lagometer,
}

impl BotSummary {
    pub(in crate::bots) fn new(
        name: &str,
        server: String,
        stats: &BotStats,
        lagometer: &Lagometer,
        now: Millis,
    ) -> Self {
        let played = stats.played();
        let [predicted, mispredicted] = stats.predicted();
        let chat = stats.received_chat();
        let reason = stats
            .protocol_error
            .clone()
            .or_else(|| stats.dropped.as_ref().map(ToString::to_string));
        Self {
            name: name.to_owned(),
            server,
            protocol: stats.protocol.map(|protocol| protocol.to_string()).unwrap_or_default(),
            outcome: outcome(stats),
            // A refusal before a successful join is not reported.
            reason: reason.or_else(|| stats.refusal.clone().filter(|_| stats.entered.is_none())),
            timed_out: stats.dropped == Some(DisconnectReason::TimedOut),
            joining_for: match (stats.started, stats.join_time()) {
                (Some(started), None) => now.since(started),
                _ => Millis(0),
            },
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
            worst_gap_ms: stats.longest_gap_ms,
            time_without_snapshot_ms: stats.without_snapshot_ms(false),
            predicted,
            mispredicted,
            chat_received: chat.received,
            chat_missing: chat.missing,
            chat_repeated: chat.repeated,
            protocol_errors: stats.protocol_errors(),
            datagrams_received: stats.statistics.datagrams_in,
            unreadable: stats.statistics.unreadable_datagrams,
            lagometer: lagometer.clone(),
        }
    }
}

/// Whether a number is left out of the results.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "called by serde")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Returns the outcome of a bot.
pub(in crate::bots) fn outcome(stats: &BotStats) -> BotOutcome {
    match (stats.entered, &stats.refusal) {
        _ if stats.was_dropped() => BotOutcome::Dropped,
        (Some(_), _) => BotOutcome::Played,
        (None, None) if !stats.enters && stats.is_accepted => BotOutcome::Connected,
        (None, Some(_)) => BotOutcome::Refused,
        (None, None) => BotOutcome::NeverJoined,
    }
}
