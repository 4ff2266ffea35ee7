//! Metrics of all bots over an interval: one stage or the whole test.
//!
//! Bytes are counted twice: as UDP payload, and with headers (28 bytes of UDP and IPv4, 48 of UDP and IPv6).

use hdrhistogram::Histogram;
use serde::Serialize;

use super::{
    super::{
        bot_stats::{BotStats, StageStats},
        options::BotsOptions,
    },
    percentiles::{Percentiles, Steps},
    resources::{ResourceSummary, ResourceUsage},
    rounding::{per_second, ratio, rounded, share},
};
use crate::{client::Statistics, model::Millis};

/// Bytes of UDP and IP around each datagram.
const IPV4_HEADERS: u64 = 28;
const IPV6_HEADERS: u64 = 48;

/// StageStats of all bots in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct IntervalStats {
    /// How many bots there were.
    pub bots: usize,
    /// How many were in the game at some time.
    pub active: usize,
    /// How many were never let in, and told why.
    pub refused: usize,
    /// How many were thrown out, or lost the server.
    pub dropped: usize,
    /// What could not be read, or may not be sent.
    pub protocol_errors: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Seconds in the game, of all bots together.
    pub client_seconds: f64,
    /// Time from the first question to the game.
    pub join_ms: Percentiles,
    /// Of each step on the way there.
    pub join_steps_ms: Steps,
    /// Units that a bot's body moved in a second, on average: whether they walk, by the server's word.
    pub walked_per_second: f64,
    /// By how much the bots' scores rose, all together.
    pub scored: u64,
    /// Snapshots accepted by all.
    pub snapshots: u64,
    /// Snapshots accepted in a second, by one bot on average.
    pub snapshots_per_second: f64,
    /// Share of the snapshots that were relative to an earlier one.
    pub delta_share: f64,
    /// Snapshots relative to one that the bot did not have.
    pub discarded_snapshots: u64,
    /// Messages of the server that never came.
    pub lost_messages: u64,
    /// Share of the server's messages that never came.
    pub loss: f64,
    /// Datagrams that came too late, doubled, or damaged.
    pub dropped_datagrams: u64,
    /// Share of the snapshots that came when the next was due already.
    pub late: f64,
    /// Share of the snapshots before which the server left some out to keep to the rate.
    pub rate_delayed: f64,
    /// Round trip of a usercmd: from its sending to the snapshot that shows it executed.
    pub ping_ms: Percentiles,
    /// Time from one snapshot to the next.
    pub snapshot_gap_ms: Percentiles,
    /// How far that is off the time between them on the server's clock.
    pub jitter_ms: Percentiles,
    /// Round trip of a reliable command: from its sending to its acknowledgement.
    pub command_ms: Percentiles,
    /// Bytes received for each snapshot.
    pub bytes_per_snapshot: f64,
    /// The same with headers.
    pub bytes_per_snapshot_with_headers: f64,
    /// Bytes received in a second, by all bots that were in the game.
    pub bytes_in_per_second: f64,
    /// The same with headers.
    pub bytes_in_per_second_with_headers: f64,
    /// Bytes sent in a second.
    pub bytes_out_per_second: f64,
    /// The same with headers.
    pub bytes_out_per_second_with_headers: f64,
    /// What the server's process cost, when it could be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ResourceSummary>,
    /// What the bots' own process cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<ResourceSummary>,
    /// How late the bots' own clock called them: large values spoil all others.
    pub loop_lateness_ms: Percentiles,
}

/// What is counted over all bots, as it stood at some time.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::bots) struct Counted {
    pub(in crate::bots) played: Statistics,
    /// Time in the game, of all bots together.
    pub(in crate::bots) bot_ms: u64,
    pub(in crate::bots) protocol_errors: u64,
    /// Units walked, and points scored.
    pub(in crate::bots) walked: u64,
    pub(in crate::bots) scored: u64,
}

impl Counted {
    pub(in crate::bots) fn add(&mut self, stats: &BotStats) {
        self.played = self.played + stats.played();
        self.bot_ms += stats.played_for().0;
        self.protocol_errors += stats.protocol_errors();
        self.walked += stats.walked();
        self.scored += stats.scored;
    }

    fn since(self, earlier: Self) -> Self {
        Self {
            played: self.played - earlier.played,
            bot_ms: self.bot_ms.saturating_sub(earlier.bot_ms),
            protocol_errors: self.protocol_errors.saturating_sub(earlier.protocol_errors),
            walked: self.walked.saturating_sub(earlier.walked),
            scored: self.scored.saturating_sub(earlier.scored),
        }
    }
}

/// What a stretch is made of.
pub(in crate::bots) struct Measured<'a> {
    pub(in crate::bots) options: &'a BotsOptions,
    pub(in crate::bots) took: Millis,
    pub(in crate::bots) stage_stats: &'a StageStats,
    /// Counts at the beginning and at the end.
    pub(in crate::bots) counted: [Counted; 2],
    pub(in crate::bots) outcomes: OutcomeCounts,
    pub(in crate::bots) lateness: &'a Histogram<u32>,
    pub(in crate::bots) server: Option<ResourceUsage>,
    pub(in crate::bots) own: Option<ResourceUsage>,
    /// Bytes that the server and the bots had before anybody came.
    pub(in crate::bots) memory_before: [u64; 2],
}

/// How it went for the bots, counted.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::bots) struct OutcomeCounts {
    pub(in crate::bots) bots: usize,
    pub(in crate::bots) active: usize,
    pub(in crate::bots) refused: usize,
    pub(in crate::bots) dropped: usize,
}

impl IntervalStats {
    pub(in crate::bots) fn new(measured: &Measured<'_>) -> Self {
        let Measured { options, took, stage_stats, counted: [before, after], outcomes, .. } =
            measured;
        let memory_before = measured.memory_before;
        let Counted { played, bot_ms, protocol_errors, walked, scored } = after.since(*before);
        let headers = if options.server_of(0).is_ipv6() { IPV6_HEADERS } else { IPV4_HEADERS };
        let in_with_headers = played.bytes_in + played.datagrams_in * headers;
        let out_with_headers = played.bytes_out + played.datagrams_out * headers;
        // What one bot has in a second, times the bots, is what all have while all are in.
        let bots = outcomes.bots;
        let all_per_second =
            |bytes: u64| rounded(per_second(bytes, bot_ms) * outcomes.active as f64);
        Self {
            bots,
            active: outcomes.active,
            refused: outcomes.refused,
            dropped: outcomes.dropped,
            protocol_errors,
            seconds: took.0 as f64 / 1000.0,
            client_seconds: bot_ms as f64 / 1000.0,
            join_ms: Percentiles::of(&stage_stats.joins),
            join_steps_ms: Steps::of(&stage_stats.steps),
            walked_per_second: rounded(per_second(walked, bot_ms)),
            scored,
            snapshots: played.snapshots,
            snapshots_per_second: rounded(per_second(played.snapshots, bot_ms)),
            delta_share: share(played.delta_snapshots, played.snapshots),
            discarded_snapshots: played.discarded_snapshots,
            lost_messages: played.lost_messages,
            loss: share(played.lost_messages, played.lost_messages + played.messages),
            dropped_datagrams: played.dropped_datagrams,
            late: share(stage_stats.late, played.snapshots),
            rate_delayed: share(stage_stats.rate_delayed, played.snapshots),
            ping_ms: Percentiles::of(&stage_stats.pings),
            snapshot_gap_ms: Percentiles::of(&stage_stats.gaps),
            jitter_ms: Percentiles::of(&stage_stats.jitters),
            command_ms: Percentiles::of(&stage_stats.commands),
            bytes_per_snapshot: ratio(played.bytes_in, played.snapshots),
            bytes_per_snapshot_with_headers: ratio(in_with_headers, played.snapshots),
            bytes_in_per_second: all_per_second(played.bytes_in),
            bytes_in_per_second_with_headers: all_per_second(in_with_headers),
            bytes_out_per_second: all_per_second(played.bytes_out),
            bytes_out_per_second_with_headers: all_per_second(out_with_headers),
            server: measured.server.map(|cost| cost.summary(bot_ms, bots, memory_before[0])),
            own: measured.own.map(|cost| cost.summary(bot_ms, bots, memory_before[1])),
            loop_lateness_ms: Percentiles::of(measured.lateness),
        }
    }
}
