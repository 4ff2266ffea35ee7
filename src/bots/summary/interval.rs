//! Metrics of all bots over an interval: one stage or the whole test.
//!
//! Bytes are counted twice: as UDP payload, and with headers (28 bytes of UDP and IPv4, 48 of UDP and IPv6).

use serde::Serialize;

use super::{
    super::{
        bot_stats::BotStats, lateness::Lateness, options::BotsOptions, stage_stats::StageStats,
    },
    percentiles::{Percentiles, Steps},
    resources::{ResourceSummary, ResourceUsage},
    rounding::{per_second, ratio, rounded, share},
};
use crate::{client::Statistics, model::Millis};

/// Bytes of UDP and IP around each datagram.
const IPV4_HEADERS: u64 = 28;
const IPV6_HEADERS: u64 = 48;

/// Metrics of all bots in one interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct IntervalStats {
    /// Number of bots.
    pub bots: usize,
    /// Bots that the server accepted.
    pub connected: usize,
    /// Bots that entered the game.
    pub active: usize,
    /// Bots that the server refused.
    pub refused: usize,
    /// Bots that the server dropped, or that lost it.
    pub dropped: usize,
    /// Protocol errors of the server.
    pub protocol_errors: u64,
    /// Length of the interval, in seconds.
    pub seconds: f64,
    /// Sum of the seconds of all bots in the game.
    pub client_seconds: f64,
    /// Time from the first request to the game.
    pub join_ms: Percentiles,
    /// Time of each join step.
    pub join_steps_ms: Steps,
    /// Longest silence of a server while bots joined and none was in its game, in ms.
    pub server_silence_max_ms: u64,
    /// Units moved per second and bot, by the positions in snapshots.
    pub walked_per_second: f64,
    /// Sum of all rises of all scores.
    pub scored: u64,
    /// Snapshots accepted by all bots.
    pub snapshots: u64,
    /// Snapshots accepted per second and bot.
    pub snapshots_per_second: f64,
    /// Share of the snapshots with a delta base.
    pub delta_share: f64,
    /// Snapshots dropped because the bot did not have their delta base.
    pub discarded_snapshots: u64,
    /// Lost messages of the server.
    pub lost_messages: u64,
    /// Share of the server's messages that were lost.
    pub loss: f64,
    /// Datagrams dropped as late, duplicated or corrupted.
    pub dropped_datagrams: u64,
    /// Share of the snapshots that arrived after the next one was due.
    pub late: f64,
    /// Share of the snapshots that were rate delayed.
    pub rate_delayed: f64,
    /// Round trip: from the packet that first acknowledged the delta base of a snapshot, up to the snapshot.
    pub ping_ms: Percentiles,
    /// Time between consecutive snapshots of a level, weighted by time, over the whole stage.
    pub snapshot_gap_ms: Percentiles,
    /// Share of the time in the game in gaps of more than three intervals.
    pub time_without_snapshot: f64,
    /// Sum of these gaps of the bot with most of them, in ms.
    pub time_without_snapshot_max_ms: u64,
    /// Levels that servers began after others, as far as a bot in the game has measured the change.
    pub map_changes: u64,
    /// Levels that servers began again, without a new gamestate.
    pub map_restarts: u64,
    /// Time from the last snapshot of a level to the first of the next one, of each bot.
    pub map_change_ms: Percentiles,
    /// Share of the time in the game in intermissions.
    pub intermission: f64,
    /// Difference of each gap to the same interval in server time.
    pub jitter_ms: Percentiles,
    /// Round trip of a reliable command, up to its acknowledgment.
    pub command_ms: Percentiles,
    /// Bytes received per snapshot.
    pub bytes_per_snapshot: f64,
    /// The same with headers.
    pub bytes_per_snapshot_with_headers: f64,
    /// Bytes received per second by all bots in the game.
    pub bytes_in_per_second: f64,
    /// The same with headers.
    pub bytes_in_per_second_with_headers: f64,
    /// Bytes sent per second.
    pub bytes_out_per_second: f64,
    /// The same with headers.
    pub bytes_out_per_second_with_headers: f64,
    /// Resources of the server process, if it runs on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ResourceSummary>,
    /// Resources of the load generator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<ResourceSummary>,
    /// Lateness of the load generator, weighted by time. Large values make all other metrics unreliable.
    pub loop_lateness_ms: Percentiles,
}

/// Counters of all bots at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::bots) struct Counted {
    pub(in crate::bots) played: Statistics,
    /// Sum of the time of all bots in the game, in ms.
    pub(in crate::bots) bot_ms: u64,
    pub(in crate::bots) protocol_errors: u64,
    /// Units walked, and points scored.
    pub(in crate::bots) walked: u64,
    pub(in crate::bots) scored: u64,
    /// Sum of the time of all bots in intermissions, in ms.
    pub(in crate::bots) intermission_ms: u64,
}

impl Counted {
    pub(in crate::bots) fn add(&mut self, stats: &BotStats) {
        self.played = self.played + stats.played();
        self.bot_ms += stats.played_for().0;
        self.protocol_errors += stats.protocol_errors();
        self.walked += stats.walked();
        self.scored += stats.scored;
        self.intermission_ms += stats.intermission_ms;
    }

    fn since(self, earlier: Self) -> Self {
        Self {
            played: self.played - earlier.played,
            bot_ms: self.bot_ms.saturating_sub(earlier.bot_ms),
            protocol_errors: self.protocol_errors.saturating_sub(earlier.protocol_errors),
            walked: self.walked.saturating_sub(earlier.walked),
            scored: self.scored.saturating_sub(earlier.scored),
            intermission_ms: self.intermission_ms.saturating_sub(earlier.intermission_ms),
        }
    }
}

/// Input of the metrics of one interval.
pub(in crate::bots) struct Measured<'a> {
    pub(in crate::bots) options: &'a BotsOptions,
    pub(in crate::bots) took: Millis,
    pub(in crate::bots) stage_stats: &'a StageStats,
    /// Counters at the beginning and at the end.
    pub(in crate::bots) counted: [Counted; 2],
    pub(in crate::bots) outcomes: OutcomeCounts,
    pub(in crate::bots) lateness: &'a Lateness,
    pub(in crate::bots) server: Option<ResourceUsage>,
    pub(in crate::bots) own: Option<ResourceUsage>,
    /// Memory of the server and of the load generator before the first join, in bytes.
    pub(in crate::bots) memory_before: [u64; 2],
}

/// Bots by outcome.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::bots) struct OutcomeCounts {
    pub(in crate::bots) bots: usize,
    pub(in crate::bots) connected: usize,
    pub(in crate::bots) active: usize,
    pub(in crate::bots) refused: usize,
    pub(in crate::bots) dropped: usize,
    /// Longest time without a snapshot of one bot, in ms.
    pub(in crate::bots) without_snapshot_ms: u64,
}

impl IntervalStats {
    /// Returns all distributions with their names, in the order of tables.
    pub(in crate::bots) fn distributions(&self) -> [(&'static str, Percentiles); 11] {
        let steps = &self.join_steps_ms;
        [
            ("time to join", self.join_ms),
            ("  challenge", steps.challenge),
            ("  connect", steps.connect),
            ("  gamestate", steps.gamestate),
            ("  snapshot", steps.first_snapshot),
            ("snapshot gap", self.snapshot_gap_ms),
            ("jitter", self.jitter_ms),
            ("ping", self.ping_ms),
            ("commands", self.command_ms),
            ("map change", self.map_change_ms),
            ("own lateness", self.loop_lateness_ms),
        ]
    }

    /// Returns map changes, restarts and intermissions in one line; `None` without any.
    pub(in crate::bots) fn levels(&self) -> Option<String> {
        let Self { map_changes, map_restarts, intermission, .. } = *self;
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        (map_changes > 0 || map_restarts > 0 || intermission > 0.0).then(|| {
            format!(
                "{map_changes} map change{}, {map_restarts} restart{}; {:.2}% of the time intermission",
                plural(map_changes),
                plural(map_restarts),
                intermission * 100.0
            )
        })
    }

    pub(in crate::bots) fn new(measured: &Measured<'_>) -> Self {
        let Measured { options, took, stage_stats, counted: [before, after], outcomes, .. } =
            measured;
        let memory_before = measured.memory_before;
        let counted = after.since(*before);
        let Counted { played, bot_ms, protocol_errors, walked, scored, intermission_ms } = counted;
        let headers = if options.server_of(0).is_ipv6() { IPV6_HEADERS } else { IPV4_HEADERS };
        let in_with_headers = played.bytes_in + played.datagrams_in * headers;
        let out_with_headers = played.bytes_out + played.datagrams_out * headers;
        // The rate of one bot times the active bots is the rate of all while all are in the game.
        let bots = outcomes.bots;
        let all_per_second =
            |bytes: u64| rounded(per_second(bytes, bot_ms) * outcomes.active as f64);
        Self {
            bots,
            connected: outcomes.connected,
            active: outcomes.active,
            refused: outcomes.refused,
            dropped: outcomes.dropped,
            protocol_errors,
            seconds: took.0 as f64 / 1000.0,
            client_seconds: bot_ms as f64 / 1000.0,
            join_ms: Percentiles::of(&stage_stats.joins),
            join_steps_ms: Steps::of(&stage_stats.steps),
            server_silence_max_ms: stage_stats.server_silence_ms,
            // Players cannot move during an intermission.
            walked_per_second: rounded(per_second(walked, bot_ms.saturating_sub(intermission_ms))),
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
            snapshot_gap_ms: Percentiles::of_time(stage_stats.gaps.times()),
            time_without_snapshot: share(
                stage_stats.gaps.without_snapshot_ms(),
                stage_stats.gaps.times().total_ms(),
            ),
            time_without_snapshot_max_ms: outcomes.without_snapshot_ms,
            map_changes: stage_stats.levels,
            map_restarts: stage_stats.restarts,
            map_change_ms: Percentiles::of(&stage_stats.map_changes),
            intermission: share(intermission_ms, bot_ms),
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
            loop_lateness_ms: Percentiles::of_time(measured.lateness.times()),
        }
    }
}
