//! What a load test found: figures of all bots together and of each, for people and for programs.
//!
//! Bytes are those of UDP's payload; figures "with headers" add what UDP and IP put before each
//! datagram. All figures are of the time in which a bot was in the game.

use std::fmt;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::{client::Statistics, model::Millis};

use super::{
    BotsOptions,
    record::{Record, milliseconds},
};

/// Bytes of UDP and IPv4 headers.
const IPV4_HEADERS: u64 = 28;
/// Bytes of UDP and IPv6 headers.
const IPV6_HEADERS: u64 = 48;

/// How a value is spread, in milliseconds. All zero where there was none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// Half are no larger.
    pub p50: u64,
    /// Nine of ten are no larger.
    pub p90: u64,
    /// 99 of 100 are no larger.
    pub p99: u64,
    /// The largest.
    pub max: u64,
}

impl Spread {
    fn of(values: &Histogram<u32>) -> Self {
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| values.value_at_quantile(q));
        Self { mean: rounded(values.mean()), p50, p90, p99, max: values.max() }
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
    /// Mean round trip of a usercmd in milliseconds.
    pub ping_ms: f64,
    /// Longest time without a snapshot, in milliseconds.
    pub worst_gap_ms: u64,
    /// What could not be read, or may not be sent.
    pub faults: u64,
}

/// Figures of all bots.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The server.
    pub server: String,
    /// What the bots spoke.
    pub wire: String,
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
    /// Whether everything went as it should.
    pub succeeded: bool,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Time from the first question to the game.
    pub join_ms: Spread,
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
    /// Round trip of a usercmd: from its sending to the snapshot that shows it executed.
    pub ping_ms: Spread,
    /// Time from one snapshot to the next.
    pub snapshot_gap_ms: Spread,
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
    /// Each bot, in order.
    pub each: Vec<BotSummary>,
}

impl Summary {
    pub(super) fn new<'a>(
        options: &BotsOptions,
        took: Millis,
        bots: impl Iterator<Item = (&'a str, &'a Record)>,
    ) -> Self {
        let mut total = Total::default();
        let mut each = Vec::new();
        for (name, record) in bots {
            total.add(record);
            each.push(BotSummary::new(name, record));
        }
        let Total { played, bot_ms, .. } = total;
        let headers = if options.server.is_ipv6() { IPV6_HEADERS } else { IPV4_HEADERS };
        let in_with_headers = played.bytes_in + played.datagrams_in * headers;
        let out_with_headers = played.bytes_out + played.datagrams_out * headers;
        let active = each.iter().filter(|bot| bot.join_ms.is_some()).count();
        let ended = |outcome| each.iter().filter(|bot| bot.outcome == outcome).count();
        // What one bot has in a second, times the bots, is what all have while all are in.
        let all_per_second = |bytes: u64| rounded(per_second(bytes, bot_ms) * active as f64);
        Self {
            server: options.server.to_string(),
            wire: options.wire.to_string(),
            bots: each.len(),
            active,
            refused: ended(Outcome::Refused),
            dropped: ended(Outcome::Dropped),
            faults: each.iter().map(|bot| bot.faults).sum(),
            succeeded: total.succeeded,
            seconds: took.0 as f64 / 1000.0,
            join_ms: Spread::of(&total.joins),
            snapshots: played.snapshots,
            snapshots_per_second: rounded(per_second(played.snapshots, bot_ms)),
            delta_share: share(played.delta_snapshots, played.snapshots),
            discarded_snapshots: played.discarded_snapshots,
            lost_messages: played.lost_messages,
            loss: share(played.lost_messages, played.lost_messages + played.messages),
            ping_ms: Spread::of(&total.pings),
            snapshot_gap_ms: Spread::of(&total.gaps),
            bytes_per_snapshot: ratio(played.bytes_in, played.snapshots),
            bytes_per_snapshot_with_headers: ratio(in_with_headers, played.snapshots),
            bytes_in_per_second: all_per_second(played.bytes_in),
            bytes_in_per_second_with_headers: all_per_second(in_with_headers),
            bytes_out_per_second: all_per_second(played.bytes_out),
            bytes_out_per_second_with_headers: all_per_second(out_with_headers),
            each,
        }
    }

    /// The figures as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("text and numbers")
    }
}

/// Sums over bots.
struct Total {
    played: Statistics,
    /// Time in the game, of all bots together.
    bot_ms: u64,
    joins: Histogram<u32>,
    pings: Histogram<u32>,
    gaps: Histogram<u32>,
    succeeded: bool,
}

impl Default for Total {
    fn default() -> Self {
        Self {
            played: Statistics::default(),
            bot_ms: 0,
            joins: milliseconds(),
            pings: milliseconds(),
            gaps: milliseconds(),
            succeeded: true,
        }
    }
}

impl Total {
    fn add(&mut self, record: &Record) {
        self.played = self.played + record.played();
        self.bot_ms += record.played_for().0;
        if let Some(join) = record.join_time() {
            self.joins.saturating_record(join.0);
        }
        self.pings.add(&record.pings).expect("the same bounds");
        self.gaps.add(&record.gaps).expect("the same bounds");
        self.succeeded &= record.succeeded();
    }
}

impl BotSummary {
    fn new(name: &str, record: &Record) -> Self {
        let played = record.played();
        let outcome = match (record.entered, &record.refusal) {
            _ if record.was_dropped() => Outcome::Dropped,
            (Some(_), _) => Outcome::Played,
            (None, Some(_)) => Outcome::Refused,
            (None, None) => Outcome::NeverJoined,
        };
        let dropped = record.ending.as_ref().filter(|_| record.was_dropped());
        let reason = record.fault.clone().or_else(|| dropped.map(ToString::to_string));
        Self {
            name: name.to_owned(),
            outcome,
            reason: reason.or_else(|| record.refusal.clone()),
            join_ms: record.join_time().map(|join| join.0),
            snapshots: played.snapshots,
            snapshots_per_second: rounded(per_second(played.snapshots, record.played_for().0)),
            bytes_per_snapshot: ratio(played.bytes_in, played.snapshots),
            delta_share: share(played.delta_snapshots, played.snapshots),
            loss: share(played.lost_messages, played.lost_messages + played.messages),
            ping_ms: rounded(record.pings.mean()),
            worst_gap_ms: record.gaps.max(),
            faults: record.statistics.faults,
        }
    }
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

/// The figures for people. Bots that fared as they should are not listed one by one.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bots, active, refused, dropped, faults, seconds, .. } = self;
        let spread = |spread: &Spread| {
            let Spread { mean, p50, p99, max, .. } = spread;
            format!("mean {mean:.1} ms, half within {p50}, 99 % within {p99}, worst {max}")
        };
        let kilo = |bytes: f64| format!("{:.1} kB/s", bytes / 1000.0);
        for (name, value) in [
            ("server", format!("{}, wire {}, {seconds:.1} s", self.server, self.wire)),
            (
                "bots",
                format!(
                    "{active} of {bots} in the game, {refused} refused, {dropped} dropped, {faults} faults"
                ),
            ),
            ("time to join", spread(&self.join_ms)),
            (
                "snapshots",
                format!(
                    "{:.1}/s each, {} in all, {:.1} % deltas, {} discarded",
                    self.snapshots_per_second,
                    self.snapshots,
                    self.delta_share * 100.0,
                    self.discarded_snapshots
                ),
            ),
            ("loss", format!("{:.2} %, {} messages", self.loss * 100.0, self.lost_messages)),
            ("snapshot gap", spread(&self.snapshot_gap_ms)),
            ("ping", spread(&self.ping_ms)),
            (
                "bytes/snapshot",
                format!(
                    "{:.1}, with headers {:.1}",
                    self.bytes_per_snapshot, self.bytes_per_snapshot_with_headers
                ),
            ),
            (
                "received",
                format!(
                    "{}, with headers {}",
                    kilo(self.bytes_in_per_second),
                    kilo(self.bytes_in_per_second_with_headers)
                ),
            ),
            (
                "sent",
                format!(
                    "{}, with headers {}",
                    kilo(self.bytes_out_per_second),
                    kilo(self.bytes_out_per_second_with_headers)
                ),
            ),
        ] {
            writeln!(f, "{name:<15} {value}")?;
        }
        for bot in &self.each {
            if bot.outcome == Outcome::Played && bot.faults == 0 {
                continue;
            }
            let outcome = match bot.outcome {
                Outcome::Played => "fault",
                Outcome::Refused => "refused",
                Outcome::NeverJoined => "never joined",
                Outcome::Dropped => "dropped",
            };
            let reason = bot.reason.as_deref().unwrap_or("no answer");
            let reason = crate::model::text::escaped(reason.as_bytes());
            writeln!(f, "{:<15} {outcome}: {reason}", bot.name)?;
        }
        Ok(())
    }
}
