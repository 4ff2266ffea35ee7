//! Measurement of a load test: seconds, stages and process resources.
//!
//! A stage is measured from the time when its last bot began to join. Invariant: each event is recorded once,
//! in the statistics of the running stage, which are added to the total when it ends.

use std::fmt;

use hdrhistogram::Histogram;

use super::{
    behavior::Behavior,
    bot::Bot,
    bot_stats::{StageStats, milliseconds},
    options::BotsOptions,
    summary::{
        BotOutcome, BotSummary, Counted, IntervalStats, Measured, OutcomeCounts, QuerySummary,
        ResourceUsage, Sample, StageSummary, Summary, distribution, outcome,
    },
    verdict::{Verdict, VerdictInput},
};
use crate::{
    client::{ConnectionState, Protocol, ProtocolChoice},
    model::Millis,
};

/// Time between two samples.
const SECOND: Millis = Millis::seconds(1);
/// Maximum samples: one day.
const MAX_SAMPLES: usize = 86_400;

/// Meter of process resources, supplied by the caller.
pub trait ResourceMeter {
    /// Returns the usage of the server process, if it runs on this machine.
    fn server(&mut self) -> Option<ResourceUsage>;

    /// Returns the usage of the load generator's process.
    fn own(&mut self) -> Option<ResourceUsage>;
}

/// Counters and resource usage at one time.
#[derive(Clone, Copy, Debug, Default)]
struct Checkpoint {
    at: Millis,
    counted: Counted,
    server: Option<ResourceUsage>,
    own: Option<ResourceUsage>,
}

/// Measurements of a load test.
pub(super) struct Measurement {
    meter: Option<Box<dyn ResourceMeter>>,
    beginning: Checkpoint,
    /// Statistics of the running interval, and of all earlier ones.
    stage_stats: StageStats,
    past: StageStats,
    lateness: Histogram<u32>,
    past_lateness: Histogram<u32>,
    /// Start of the stage's measurement; `None` while its bots join.
    stage_began: Option<Checkpoint>,
    measures_from: Millis,
    stages: Vec<StageSummary>,
    samples: Vec<Sample>,
    /// State at the last sample, with query responses and rate delays.
    second: Checkpoint,
    answers: u64,
    rate_delayed: u64,
    /// State at the end of the last stage.
    ended_at: Option<Checkpoint>,
}

impl Measurement {
    pub(super) fn new(now: Millis, mut meter: Option<Box<dyn ResourceMeter>>) -> Self {
        let (server, own) = read(&mut meter);
        let beginning = Checkpoint { at: now, counted: Counted::default(), server, own };
        Self {
            meter,
            beginning,
            stage_stats: StageStats::default(),
            past: StageStats::default(),
            lateness: milliseconds(),
            past_lateness: milliseconds(),
            stage_began: None,
            measures_from: now,
            stages: Vec::new(),
            samples: Vec::new(),
            second: beginning,
            answers: 0,
            rate_delayed: 0,
            ended_at: None,
        }
    }

    /// Returns the statistics of the running interval.
    pub(super) fn stage_stats(&mut self) -> &mut StageStats {
        &mut self.stage_stats
    }

    pub(super) fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Records the lateness of a bot's wake-up.
    pub(super) fn record_lateness(&mut self, late: Millis) {
        self.lateness.saturating_record(late.0);
    }

    /// Begins a stage that is measured from `from` on.
    pub(super) fn begin_stage(&mut self, from: Millis) {
        self.measures_from = from;
        self.stage_began = None;
    }

    /// Begins the measurement of a stage or takes a sample, when due. Returns whether it took a sample.
    pub(super) fn frame(&mut self, bots: &[Bot], queries: QuerySummary, now: Millis) -> bool {
        if self.stage_began.is_none() && now >= self.measures_from {
            // Bots join before the measurement of their stage, so join statistics are kept.
            let before = self.stage_stats.keep_joins();
            self.past.add(&before);
            self.merge_lateness_into_total();
            self.stage_began = Some(self.checkpoint(bots, now));
        }
        let passed = now.since(self.second.at);
        let is_second = passed >= SECOND && self.samples.len() < MAX_SAMPLES;
        if is_second {
            self.sample(bots, queries, now);
        }
        is_second
    }

    fn sample(&mut self, bots: &[Bot], queries: QuerySummary, now: Millis) {
        let checkpoint = self.checkpoint(bots, now);
        let before = std::mem::replace(&mut self.second, checkpoint);
        let played = checkpoint.counted.played - before.counted.played;
        let rate_delayed = self.past.rate_delayed + self.stage_stats.rate_delayed;
        let pings: Vec<_> = bots.iter().filter_map(Bot::ping_ms).collect();
        let worst = bots.iter().filter_map(|bot| bot.worst_gap_since(before.at, now)).max();
        let used = |now: Option<ResourceUsage>, before: Option<ResourceUsage>| {
            now.zip(before).map_or(0, |(now, before)| now.since(before).cpu_us) as f64 / 1000.0
        };
        self.samples.push(Sample {
            second: now.since(self.beginning.at).0 / 1000,
            in_game: bots.iter().filter(|bot| bot.state() == ConnectionState::Active).count(),
            snapshots: played.snapshots,
            bytes_in: played.bytes_in,
            bytes_out: played.bytes_out,
            lost_messages: played.lost_messages,
            rate_delayed: rate_delayed - std::mem::replace(&mut self.rate_delayed, rate_delayed),
            ping_ms: pings.iter().sum::<u64>() / (pings.len() as u64).max(1),
            worst_gap_ms: worst.unwrap_or(0),
            query_answers: queries.answered
                - std::mem::replace(&mut self.answers, queries.answered),
            server_cpu_ms: used(checkpoint.server, before.server),
            server_memory_mb: checkpoint.server.map_or(0.0, |cost| cost.memory_bytes as f64 / 1e6),
            own_cpu_ms: used(checkpoint.own, before.own),
        });
    }

    /// Ends a stage of `wanted` bots. Returns whether an expectation failed.
    pub(super) fn end_stage(
        &mut self,
        options: &BotsOptions,
        bots: &[Bot],
        wanted: usize,
        now: Millis,
    ) -> bool {
        let end = self.checkpoint(bots, now);
        let began = self.stage_began.take().unwrap_or(self.beginning);
        let interval = self.interval(
            options,
            outcomes(&bots[..wanted.min(bots.len())]),
            [began, end],
            &self.stage_stats,
            &self.lateness,
        );
        let failed = options.expectations.failed(&interval);
        let failed: Vec<String> = failed.iter().map(ToString::to_string).collect();
        let has_failed = !failed.is_empty();
        self.stages.push(StageSummary { total: interval, failed_expectations: failed });
        self.merge_into_total();
        self.ended_at = Some(end);
        has_failed
    }

    /// Returns all metrics up to now.
    pub(super) fn summary(
        &self,
        options: &BotsOptions,
        bots: &[Bot],
        detected: &[Option<&'static Protocol>],
        now: Millis,
        queries: QuerySummary,
    ) -> Summary {
        let mut stage_stats = self.past.clone();
        stage_stats.add(&self.stage_stats);
        let mut lateness = self.past_lateness.clone();
        lateness.add(&self.lateness).expect("the same bounds");
        let end = Checkpoint {
            at: self.ended_at.map_or(now, |end| end.at),
            counted: counted(bots),
            server: self.ended_at.map_or(self.second.server, |end| end.server),
            own: self.ended_at.map_or(self.second.own, |end| end.own),
        };
        let total =
            self.interval(options, outcomes(bots), [self.beginning, end], &stage_stats, &lateness);
        let each: Vec<_> = bots
            .iter()
            .filter(|bot| bot.stats().started.is_some())
            .map(|bot| BotSummary::new(bot.name(), bot.stats(), bot.lagometer()))
            .collect();
        let failed: Vec<String> = self
            .stages
            .iter()
            .flat_map(|stage| stage.failed_expectations.iter().cloned())
            .collect();
        let servers: Vec<_> = options.servers.iter().map(ToString::to_string).collect();
        let servers = servers.join(", ");
        let (verdict, sentence) = VerdictInput {
            server: &servers,
            total: &total,
            each: &each,
            failed_expectations: &failed,
            expectations: &options.expectations,
            enters: !options.behavior.contains(Behavior::Mute),
        }
        .evaluate();
        Summary {
            server_address: servers,
            protocol: protocols(options.protocol, detected),
            behavior: options.behavior.to_string(),
            uplink: options.uplink.to_string(),
            downlink: options.downlink.to_string(),
            seed: options.seed,
            asked_interval_ms: options.snapshot_interval().0,
            succeeded: verdict == Verdict::Passed,
            verdict,
            sentence,
            failed_expectations: failed,
            total,
            stages: self.stages.clone(),
            queries,
            gap_distribution: distribution(&stage_stats.gaps),
            each,
            samples: self.samples.clone(),
        }
    }

    fn interval(
        &self,
        options: &BotsOptions,
        outcomes: OutcomeCounts,
        [began, end]: [Checkpoint; 2],
        stage_stats: &StageStats,
        lateness: &Histogram<u32>,
    ) -> IntervalStats {
        let used = |now: Option<ResourceUsage>, before: Option<ResourceUsage>| {
            now.zip(before).map(|(now, before)| now.since(before))
        };
        IntervalStats::new(&Measured {
            options,
            took: end.at.since(began.at),
            stage_stats,
            counted: [began.counted, end.counted],
            outcomes,
            lateness,
            server: used(end.server, began.server),
            own: used(end.own, began.own),
            memory_before: [self.beginning.server, self.beginning.own]
                .map(|cost| cost.map_or(0, |cost| cost.memory_bytes)),
        })
    }

    /// Adds the running interval to the total.
    fn merge_into_total(&mut self) {
        self.past.add(&std::mem::take(&mut self.stage_stats));
        self.merge_lateness_into_total();
    }

    fn merge_lateness_into_total(&mut self) {
        self.past_lateness.add(&self.lateness).expect("the same bounds");
        self.lateness.reset();
    }

    fn checkpoint(&mut self, bots: &[Bot], now: Millis) -> Checkpoint {
        let (server, own) = read(&mut self.meter);
        Checkpoint { at: now, counted: counted(bots), server, own }
    }
}

impl fmt::Debug for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Measurement").field("stages", &self.stages.len()).finish_non_exhaustive()
    }
}

fn read(
    meter: &mut Option<Box<dyn ResourceMeter>>,
) -> (Option<ResourceUsage>, Option<ResourceUsage>) {
    meter.as_mut().map_or((None, None), |meter| (meter.server(), meter.own()))
}

fn counted(bots: &[Bot]) -> Counted {
    let mut all = Counted::default();
    bots.iter().for_each(|bot| all.add(bot.stats()));
    all
}

/// Returns the requested protocol, or the detected ones.
fn protocols(choice: ProtocolChoice, detected: &[Option<&'static Protocol>]) -> String {
    let found = Protocol::ALL.into_iter().filter(|protocol| detected.contains(&Some(*protocol)));
    let found: Vec<_> = found.map(|protocol| protocol.to_string()).collect();
    match choice {
        ProtocolChoice::Auto if !found.is_empty() => found.join(", "),
        ProtocolChoice::Auto | ProtocolChoice::Fixed(_) => choice.to_string(),
    }
}

fn outcomes(bots: &[Bot]) -> OutcomeCounts {
    let mut all = OutcomeCounts::default();
    for stats in bots.iter().map(Bot::stats).filter(|stats| stats.started.is_some()) {
        all.bots += 1;
        all.active += usize::from(stats.entered.is_some());
        match outcome(stats) {
            BotOutcome::Refused => all.refused += 1,
            BotOutcome::Dropped => all.dropped += 1,
            BotOutcome::Played | BotOutcome::NeverJoined => {}
        }
    }
    all
}
