//! The figures of a load test, for people and for programs.
//!
//! Datagrams are counted as the wire's users count them, without headers, and as networks bill them, with
//! the 28 bytes of UDP and IPv4 around each, or 48 of UDP and IPv6.

mod text;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::{
    options::BotsOptions,
    record::{Figures, JOIN_STEPS, Record},
    strip::Strip,
    verdict::Verdict,
};
use crate::{client::Statistics, model::Millis};

/// Bytes of UDP and IP around each datagram.
const IPV4_HEADERS: u64 = 28;
const IPV6_HEADERS: u64 = 48;

/// How values lie, in milliseconds to two digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Their mean.
    pub mean: f64,
    /// Half of them are no larger.
    pub p50: u64,
    /// Nine tenths are no larger.
    pub p90: u64,
    /// 99 of 100 are no larger.
    pub p99: u64,
    /// The largest.
    pub max: u64,
    /// How many there are.
    pub count: u64,
}

impl Spread {
    fn of(values: &Histogram<u32>) -> Self {
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| values.value_at_quantile(q));
        Self { mean: rounded(values.mean()), p50, p90, p99, max: values.max(), count: values.len() }
    }
}

/// How it went for a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Was in the game until it left.
    Played,
    /// Was never let in, and told why.
    Refused,
    /// Never got into the game.
    NeverJoined,
    /// Was thrown out, or lost the server.
    Dropped,
}

/// What a process cost in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostSummary {
    /// Processor time, in milliseconds.
    pub cpu_ms: f64,
    /// The same for each second of each client in the game.
    pub cpu_ms_per_client_second: f64,
    /// Memory at the end, in millions of bytes.
    pub memory_mb: f64,
    /// By how much it has grown since the beginning for each bot, in thousands of bytes.
    pub memory_kb_per_bot: f64,
}

/// Figures of all bots in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stretch {
    /// How many bots there were.
    pub bots: usize,
    /// How many were in the game at some time.
    pub active: usize,
    /// How many were never let in, and told why.
    pub refused: usize,
    /// How many were thrown out, or lost the server.
    pub dropped: usize,
    /// What could not be read, or may not be sent.
    pub faults: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Seconds in the game, of all bots together.
    pub client_seconds: f64,
    /// Time from the first question to the game.
    pub join_ms: Spread,
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
    pub ping_ms: Spread,
    /// Time from one snapshot to the next.
    pub snapshot_gap_ms: Spread,
    /// How far that is off the time between them on the server's clock.
    pub jitter_ms: Spread,
    /// Round trip of a reliable command: from its sending to its acknowledgement.
    pub command_ms: Spread,
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
    pub server: Option<CostSummary>,
    /// What the bots' own process cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<CostSummary>,
    /// How late the bots' own clock called them: large values spoil all others.
    pub own_lateness_ms: Spread,
}

/// The steps of joining.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Steps {
    /// Until the challenge was granted.
    pub challenge: Spread,
    /// Then until the connection was.
    pub connect: Spread,
    /// Then until the level was known.
    pub gamestate: Spread,
    /// Then until the first snapshot of the game.
    pub first_snapshot: Spread,
}

impl Steps {
    fn of(steps: &[Histogram<u32>; JOIN_STEPS.len()]) -> Self {
        let [challenge, connect, gamestate, first_snapshot] = steps.each_ref().map(Spread::of);
        Self { challenge, connect, gamestate, first_snapshot }
    }
}

/// What is counted over all bots, as it stood at some time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) played: Statistics,
    /// Time in the game, of all bots together.
    pub(super) bot_ms: u64,
    pub(super) faults: u64,
    /// Units walked, and points scored.
    pub(super) walked: u64,
    pub(super) scored: u64,
}

impl Counted {
    pub(super) fn add(&mut self, record: &Record) {
        self.played = self.played + record.played();
        self.bot_ms += record.played_for().0;
        self.faults += record.faults();
        self.walked += record.walked();
        self.scored += record.scored;
    }

    fn since(self, earlier: Self) -> Self {
        Self {
            played: self.played - earlier.played,
            bot_ms: self.bot_ms.saturating_sub(earlier.bot_ms),
            faults: self.faults.saturating_sub(earlier.faults),
            walked: self.walked.saturating_sub(earlier.walked),
            scored: self.scored.saturating_sub(earlier.scored),
        }
    }
}

/// What a stretch is made of.
pub(super) struct Measured<'a> {
    pub(super) options: &'a BotsOptions,
    pub(super) took: Millis,
    pub(super) figures: &'a Figures,
    /// Counts at the beginning and at the end.
    pub(super) counted: [Counted; 2],
    pub(super) outcomes: Outcomes,
    pub(super) lateness: &'a Histogram<u32>,
    pub(super) server: Option<Cost>,
    pub(super) own: Option<Cost>,
    /// Bytes that the server and the bots had before anybody came.
    pub(super) memory_before: [u64; 2],
}

/// What a process has used: processor time, and memory now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Processor time in microseconds, of kernel and program together.
    pub cpu_us: u64,
    /// Resident memory in bytes.
    pub memory_bytes: u64,
}

impl Cost {
    /// What was used since `earlier`.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self { cpu_us: self.cpu_us.saturating_sub(earlier.cpu_us), ..self }
    }

    fn summary(self, bot_ms: u64, bots: usize, before: u64) -> CostSummary {
        let cpu_ms = self.cpu_us as f64 / 1000.0;
        let client_seconds = bot_ms as f64 / 1000.0;
        let each = if bot_ms == 0 { 0.0 } else { cpu_ms / client_seconds };
        CostSummary {
            cpu_ms: rounded(cpu_ms),
            cpu_ms_per_client_second: (each * 1000.0).round() / 1000.0,
            memory_mb: rounded(self.memory_bytes as f64 / 1e6),
            memory_kb_per_bot: rounded(
                self.memory_bytes.saturating_sub(before) as f64 / 1e3 / bots.max(1) as f64,
            ),
        }
    }
}

/// How it went for the bots, counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcomes {
    pub(super) bots: usize,
    pub(super) active: usize,
    pub(super) refused: usize,
    pub(super) dropped: usize,
}

impl Stretch {
    pub(super) fn new(measured: &Measured<'_>) -> Self {
        let Measured { options, took, figures, counted: [before, after], outcomes, .. } = measured;
        let memory_before = measured.memory_before;
        let Counted { played, bot_ms, faults, walked, scored } = after.since(*before);
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
            faults,
            seconds: took.0 as f64 / 1000.0,
            client_seconds: bot_ms as f64 / 1000.0,
            join_ms: Spread::of(&figures.joins),
            join_steps_ms: Steps::of(&figures.steps),
            walked_per_second: rounded(per_second(walked, bot_ms)),
            scored,
            snapshots: played.snapshots,
            snapshots_per_second: rounded(per_second(played.snapshots, bot_ms)),
            delta_share: share(played.delta_snapshots, played.snapshots),
            discarded_snapshots: played.discarded_snapshots,
            lost_messages: played.lost_messages,
            loss: share(played.lost_messages, played.lost_messages + played.messages),
            dropped_datagrams: played.dropped_datagrams,
            late: share(figures.late, played.snapshots),
            rate_delayed: share(figures.rate_delayed, played.snapshots),
            ping_ms: Spread::of(&figures.pings),
            snapshot_gap_ms: Spread::of(&figures.gaps),
            jitter_ms: Spread::of(&figures.jitters),
            command_ms: Spread::of(&figures.commands),
            bytes_per_snapshot: ratio(played.bytes_in, played.snapshots),
            bytes_per_snapshot_with_headers: ratio(in_with_headers, played.snapshots),
            bytes_in_per_second: all_per_second(played.bytes_in),
            bytes_in_per_second_with_headers: all_per_second(in_with_headers),
            bytes_out_per_second: all_per_second(played.bytes_out),
            bytes_out_per_second_with_headers: all_per_second(out_with_headers),
            server: measured.server.map(|cost| cost.summary(bot_ms, bots, memory_before[0])),
            own: measured.own.map(|cost| cost.summary(bot_ms, bots, memory_before[1])),
            own_lateness_ms: Spread::of(measured.lateness),
        }
    }
}

/// Figures of one bot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BotSummary {
    /// Its name.
    pub name: String,
    /// How it went.
    pub outcome: Outcome,
    /// What the server said to it, or what was wrong with what it said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
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
    pub faults: u64,
    /// Datagrams that came, and those among them that meant nothing.
    #[serde(skip)]
    pub(super) heard: u64,
    #[serde(skip)]
    pub(super) unreadable: u64,
    /// How it went over time, for the report.
    #[serde(skip)]
    pub strip: Strip,
}

impl BotSummary {
    pub(super) fn new(name: &str, record: &Record, strip: &Strip) -> Self {
        let played = record.played();
        let reason =
            record.fault.clone().or_else(|| record.dropped.as_ref().map(ToString::to_string));
        Self {
            name: name.to_owned(),
            outcome: outcome(record),
            // Who got in after all has nothing to tell of.
            reason: reason.or_else(|| record.refusal.clone().filter(|_| record.entered.is_none())),
            join_ms: record.join_time().map(|join| join.0),
            lives: record.lives,
            walked_per_second: rounded(per_second(record.walked(), record.played_for().0)),
            longest_halt_ms: record.longest_halt.0,
            scored: record.scored,
            snapshots: played.snapshots,
            snapshots_per_second: rounded(per_second(played.snapshots, record.played_for().0)),
            bytes_per_snapshot: ratio(played.bytes_in, played.snapshots),
            delta_share: share(played.delta_snapshots, played.snapshots),
            loss: share(played.lost_messages, played.lost_messages + played.messages),
            rate_delayed: share(record.rate_delayed, played.snapshots),
            ping_ms: rounded(record.pings.mean()),
            worst_gap_ms: record.gaps.max(),
            faults: record.faults(),
            heard: record.statistics.datagrams_in,
            unreadable: record.statistics.dropped_datagrams,
            strip: strip.clone(),
        }
    }
}

/// How it went for a bot.
pub(super) fn outcome(record: &Record) -> Outcome {
    match (record.entered, &record.refusal) {
        _ if record.was_dropped() => Outcome::Dropped,
        (Some(_), _) => Outcome::Played,
        (None, Some(_)) => Outcome::Refused,
        (None, None) => Outcome::NeverJoined,
    }
}

/// One stage of a load test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageSummary {
    /// Its figures, taken from when its last bot had begun to join.
    #[serde(flatten)]
    pub figures: Stretch,
    /// What was expected of it and did not hold.
    pub broken: Vec<String>,
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

/// Figures of a whole load test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The server.
    pub server_address: String,
    /// What the bots spoke.
    pub wire: String,
    /// What the bots did.
    pub behaviour: String,
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
    pub broken: Vec<String>,
    /// Figures of the whole time.
    #[serde(flatten)]
    pub total: Stretch,
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
        self.total.own_lateness_ms.p99 > MAX_OWN_LATENESS_MS
    }
}

/// Lateness of the bots' own clock from which on their figures are doubtful, in milliseconds.
const MAX_OWN_LATENESS_MS: u64 = 10;

/// The values of a histogram and how often each was.
pub(super) fn distribution(values: &Histogram<u32>) -> Vec<(u64, u64)> {
    values
        .iter_recorded()
        .map(|step| (step.value_iterated_to(), step.count_since_last_iteration()))
        .collect()
}

/// To one digit: more would only feign.
fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { rounded(part as f64 / whole as f64) }
}

/// A share between 0 and 1, to four digits.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1e4).round() / 1e4 }
}

fn per_second(count: u64, ms: u64) -> f64 {
    if ms == 0 { 0.0 } else { count as f64 * 1000.0 / ms as f64 }
}
