//! Measurement of a load test: seconds, stages and process resources.
//!
//! A stage is measured from the time when its last bot began to join, its snapshot gaps, map changes and the
//! lateness of the generator from its beginning. Invariant: each event is recorded once, in the statistics of the
//! running stage, which are added to the total when it ends.

use std::{fmt, net::SocketAddr};

use super::{
    behavior::Behavior,
    bot::Bot,
    capacity::Capacity,
    expect::SPOILING_LATENESS_MS,
    lateness::Lateness,
    options::BotsOptions,
    protocol::{BotProtocol, GameProtocol},
    run_info::ServerRecord,
    stage_stats::{SecondStats, StageStats},
    summary::{
        BotOutcome, BotSummary, Counted, IntervalStats, Measured, OutcomeCounts, Percentiles,
        ProtocolSummary, QuerySummary, ResourceUsage, Sample, StageSummary, Summary, distribution,
        outcome,
    },
    verdict::{Verdict, VerdictInput},
};
use crate::{client::ConnectionState, model::Millis};

/// Time between two samples.
const SECOND: Millis = Millis::seconds(1);
/// Shortest sample. The sample after a late one, and the last one, would be too short for rates otherwise.
const SHORTEST_SAMPLE: Millis = Millis(500);
/// Rest of a second at the end of the test that the last sample leaves out.
const SHORTEST_REST: Millis = Millis(100);
/// Time after a late wake-up in which measurements show its consequences: the bots have sent nothing meanwhile.
const SPOILED_AFTER: Millis = Millis(500);
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

/// State of the run that the summary needs besides the measurements.
pub(super) struct RunState<'a> {
    /// Detected protocol of each server.
    pub(super) detected: &'a [Option<GameProtocol>],
    pub(super) servers: &'a [ServerRecord],
    pub(super) queries: QuerySummary,
    /// Played and planned time, if the operator stopped the run.
    pub(super) interrupted: Option<[Millis; 2]>,
}

/// Measurements of a load test.
pub(super) struct Measurement {
    meter: Option<Box<dyn ResourceMeter>>,
    started: Millis,
    /// State at the start, or at the end of the warm-up.
    beginning: Checkpoint,
    /// Memory of the server and of the generator at the start, in bytes.
    memory_before: [u64; 2],
    /// Statistics of the running interval, and of all earlier ones.
    stage_stats: StageStats,
    past: StageStats,
    lateness: Lateness,
    past_lateness: Lateness,
    /// Time of the last wake-up, and longest lateness of the current second.
    woke_at: Millis,
    second_lateness: Millis,
    /// End of the consequences of the last late wake-up.
    spoiled_until: Millis,
    /// End of the warm-up, while it lasts.
    warmup_until: Option<Millis>,
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
    pub(super) fn new(
        now: Millis,
        warmup: Millis,
        mut meter: Option<Box<dyn ResourceMeter>>,
    ) -> Self {
        let (server, own) = read(&mut meter);
        let beginning = Checkpoint { at: now, counted: Counted::default(), server, own };
        Self {
            meter,
            started: now,
            beginning,
            memory_before: [server, own].map(|cost| cost.map_or(0, |cost| cost.memory_bytes)),
            stage_stats: StageStats::new(now),
            past: StageStats::new(now),
            lateness: Lateness::default(),
            past_lateness: Lateness::default(),
            woke_at: now,
            second_lateness: Millis(0),
            spoiled_until: now,
            warmup_until: Some(now + warmup).filter(|_| warmup > Millis(0)),
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

    /// Records a wake-up of the load generator that was due at `due`.
    pub(super) fn record_wakeup(&mut self, due: Millis, now: Millis) {
        let before = std::mem::replace(&mut self.woke_at, now);
        self.lateness.record(before, due, now);
        self.second_lateness = self.second_lateness.max(now.since(due));
        if now.since(due).0 >= SPOILING_LATENESS_MS {
            self.spoiled_until = now + SPOILED_AFTER;
        }
    }

    /// Returns the time of the next sample, on the grid of whole seconds.
    pub(super) fn next_sample(&self) -> Millis {
        if self.samples.len() >= MAX_SAMPLES {
            return Millis::NEVER;
        }
        let earliest = self.second.at.since(self.started) + SHORTEST_SAMPLE;
        self.started + Millis(earliest.0.div_ceil(SECOND.0) * SECOND.0)
    }

    /// Begins a stage that is measured from `from` on.
    pub(super) fn begin_stage(&mut self, from: Millis) {
        self.measures_from = from;
        self.stage_began = None;
    }

    /// Returns the end of the warm-up, while it lasts.
    pub(super) fn warmup_end(&self) -> Option<Millis> {
        self.warmup_until
    }

    /// Ends the warm-up: forgets what it measured but the joins.
    pub(super) fn end_warmup(&mut self, bots: &[Bot], now: Millis) {
        self.warmup_until = None;
        self.woke_at = self.woke_at.max(now);
        self.stage_stats.end_warmup();
        self.past = StageStats::new(now);
        (self.lateness, self.past_lateness) = (Lateness::default(), Lateness::default());
        self.beginning = self.checkpoint(bots, now);
        self.stage_began = self.stage_began.map(|_| self.beginning);
    }

    /// Begins the measurement of a stage or takes a sample, when due. Returns whether it took a sample.
    pub(super) fn frame(
        &mut self,
        bots: &[Bot],
        options: &BotsOptions,
        queries: QuerySummary,
        now: Millis,
    ) -> bool {
        if self.stage_began.is_none() && now >= self.measures_from {
            let before = self.stage_stats.end_joins();
            self.past.add(&before);
            self.stage_began = Some(self.checkpoint(bots, now));
        }
        let is_due = now >= self.next_sample();
        if is_due {
            let second = now.since(self.started).0 / 1000;
            self.record_open_gaps_of_second(bots, options, now);
            self.sample(bots, queries, second, now);
        }
        is_due
    }

    /// Takes the sample of the rest of the last second, at the end of the test.
    pub(super) fn finish_samples(&mut self, bots: &[Bot], queries: QuerySummary, now: Millis) {
        if now.since(self.second.at) >= SHORTEST_REST && self.samples.len() < MAX_SAMPLES {
            // The open gaps are recorded at the end of the stage.
            let rest = now.since(self.started).0.saturating_sub(SHORTEST_REST.0 - 1);
            self.sample(bots, queries, rest.div_ceil(1000), now);
        }
    }

    /// Records the part of the open gaps in the current second.
    fn record_open_gaps_of_second(&mut self, bots: &[Bot], options: &BotsOptions, now: Millis) {
        let interval = options.snapshot_interval();
        let second = &mut self.stage_stats.second;
        for gap in bots.iter().filter_map(|bot| bot.open_gap(now)).filter(|&gap| gap > interval) {
            second.gaps.record(gap, gap.min(now.since(second.began)), interval);
        }
    }

    fn sample(&mut self, bots: &[Bot], queries: QuerySummary, number: u64, now: Millis) {
        let checkpoint = self.checkpoint(bots, now);
        let before = std::mem::replace(&mut self.second, checkpoint);
        let played = checkpoint.counted.played - before.counted.played;
        let rate_delayed = self.past.rate_delayed + self.stage_stats.rate_delayed;
        let pings: Vec<_> = bots.iter().filter_map(Bot::ping_ms).collect();
        let next = SecondStats::new(now);
        let second = std::mem::replace(&mut self.stage_stats.second, next);
        let gaps = Percentiles::of_time(second.gaps.times());
        let trips = Percentiles::of(&second.pings);
        let lateness = std::mem::take(&mut self.second_lateness);
        let used = |now: Option<ResourceUsage>, before: Option<ResourceUsage>| {
            now.zip(before).map(|(now, before)| now.since(before).cpu_us as f64 / 1000.0)
        };
        let of_pings = |value: u64| (trips.count > 0).then_some(value);
        let of_gaps = |value: u64| (gaps.count > 0).then_some(value);
        let is_spoiled = lateness.0 >= SPOILING_LATENESS_MS || before.at < self.spoiled_until;
        self.samples.push(Sample {
            second: number,
            at: now,
            seconds: now.since(self.started).0 as f64 / 1000.0,
            in_game: bots.iter().filter(|bot| bot.state() == ConnectionState::Active).count(),
            snapshots: played.snapshots,
            bytes_in: played.bytes_in,
            bytes_out: played.bytes_out,
            lost_messages: played.lost_messages,
            rate_delayed: rate_delayed
                .saturating_sub(std::mem::replace(&mut self.rate_delayed, rate_delayed)),
            ping_ms: (!pings.is_empty()).then(|| pings.iter().sum::<u64>() / pings.len() as u64),
            ping_p50_ms: of_pings(trips.p50),
            ping_p99_ms: of_pings(trips.p99),
            ping_max_ms: of_pings(trips.max),
            gap_p50_ms: of_gaps(gaps.p50),
            gap_p99_ms: of_gaps(gaps.p99),
            worst_gap_ms: of_gaps(gaps.max),
            map_changes: second.map_changes,
            map_restarts: second.map_restarts,
            query_answers: queries.answered
                - std::mem::replace(&mut self.answers, queries.answered),
            server_cpu_ms: used(checkpoint.server, before.server),
            server_memory_mb: checkpoint.server.map(|cost| cost.memory_bytes as f64 / 1e6),
            own_cpu_ms: used(checkpoint.own, before.own),
            lateness_ms: lateness.0,
            is_spoiled,
        });
    }

    /// Marks the last stage as interrupted: it has not passed.
    pub(super) fn mark_interrupted(&mut self) {
        if let Some(stage) = self.stages.last_mut() {
            (stage.passed, stage.is_interrupted) = (false, true);
        }
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
            outcomes(&bots[..wanted.min(bots.len())], true),
            [began, end],
            &self.stage_stats,
            &self.lateness,
        );
        let stage = self.stages.len() + 1;
        let conditions = options.conditions();
        let expectations = options.expectations.evaluate(&interval, stage, conditions);
        let failed = expectations.iter().filter(|one| !one.passed).map(ToString::to_string);
        let failed: Vec<String> = failed.collect();
        let passed = failed.is_empty();
        self.stages.push(StageSummary {
            total: interval,
            passed,
            is_interrupted: false,
            expectations,
            failed_expectations: failed,
        });
        self.merge_into_total();
        self.ended_at = Some(end);
        !passed
    }

    /// Returns all metrics up to now.
    pub(super) fn summary(
        &self,
        options: &BotsOptions,
        bots: &[Bot],
        run: &RunState<'_>,
        now: Millis,
    ) -> Summary {
        let mut stage_stats = self.past.clone();
        stage_stats.add(&self.stage_stats);
        let mut lateness = self.past_lateness.clone();
        lateness.add(&self.lateness);
        let end = Checkpoint {
            at: self.ended_at.map_or(now, |end| end.at),
            counted: counted(bots),
            server: self.ended_at.map_or(self.second.server, |end| end.server),
            own: self.ended_at.map_or(self.second.own, |end| end.own),
        };
        let outcomes = outcomes(bots, false);
        let total =
            self.interval(options, outcomes, [self.beginning, end], &stage_stats, &lateness);
        let each = bot_summaries(options, bots, end.at);
        let addresses: Vec<_> = options.servers.iter().map(ToString::to_string).collect();
        let addresses = addresses.join(", ");
        let verdict = VerdictInput {
            server: &addresses,
            silent_server: silent_server(options, run.servers, end.at),
            total: &total,
            each: &each,
            stages: &self.stages,
            enters: options.enters(),
            is_quakeworld: run.detected.iter().any(|found| options.protocol.is_quakeworld(*found)),
            spectate: options.behavior.contains(Behavior::Spectate),
            interrupted: run.interrupted,
        }
        .evaluate();
        let failed = self.stages.iter().flat_map(|stage| stage.failed_expectations.clone());
        let expectations = self.stages.iter().flat_map(|stage| stage.expectations.clone());
        let Capacity { bots: capacity, is_limit } =
            Capacity::of(&self.stages, options.stages.len(), verdict.verdict);
        Summary {
            run: options.run.clone(),
            started: options.run.calendar_time(self.started),
            servers: run.servers.iter().map(|record| record.info.clone()).collect(),
            server_address: addresses,
            protocol: protocols(options.protocol, run.detected),
            behavior: options.behavior.to_string(),
            uplink: options.uplink.to_string(),
            downlink: options.downlink.to_string(),
            seed: options.seed,
            asked_interval_ms: options.snapshot_interval().0,
            succeeded: verdict.verdict == Verdict::Passed,
            verdict: verdict.verdict,
            cause: verdict.cause,
            exit_code: verdict.verdict.exit_code(),
            sentence: verdict.sentence,
            capacity,
            is_capacity_limit: is_limit,
            expectations: expectations.collect(),
            failed_expectations: failed.collect(),
            total,
            stages: self.stages.clone(),
            queries: run.queries,
            gap_distribution: distribution(stage_stats.gaps.times().histogram()),
            protocols: ProtocolSummary::of_all(&each),
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
        lateness: &Lateness,
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
            memory_before: self.memory_before,
        })
    }

    /// Adds the running interval to the total.
    fn merge_into_total(&mut self) {
        let stage_stats = self.stage_stats.take();
        self.past.add(&stage_stats);
        self.past_lateness.add(&std::mem::take(&mut self.lateness));
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
fn protocols(choice: BotProtocol, detected: &[Option<GameProtocol>]) -> String {
    let mut found: Vec<_> = detected.iter().flatten().map(ToString::to_string).collect();
    found.sort_unstable();
    found.dedup();
    match choice {
        BotProtocol::Auto if !found.is_empty() => found.join(", "),
        BotProtocol::Auto | BotProtocol::Each | BotProtocol::Fixed(_) => choice.to_string(),
    }
}

/// Returns the server with the longest silence; `None` with one server.
fn silent_server(
    options: &BotsOptions,
    servers: &[ServerRecord],
    now: Millis,
) -> Option<SocketAddr> {
    let pairs = options.servers.iter().zip(servers).filter(|_| servers.len() > 1);
    pairs.max_by_key(|(_, record)| record.silence.longest(now)).map(|(&address, _)| address)
}

/// Returns the summaries of the bots that have started.
fn bot_summaries(options: &BotsOptions, bots: &[Bot], now: Millis) -> Vec<BotSummary> {
    let started = bots.iter().filter(|bot| bot.stats().started.is_some());
    let summary = |bot: &Bot| {
        let server = options.servers.get(bot.server_index(options));
        let server = server.map(ToString::to_string).unwrap_or_default();
        BotSummary::new(bot.name(), server, bot.stats(), bot.lagometer(), now)
    };
    started.map(summary).collect()
}

/// Counts the outcomes, with the time without a snapshot in the running stage or in the whole test.
fn outcomes(bots: &[Bot], in_stage: bool) -> OutcomeCounts {
    let mut all = OutcomeCounts::default();
    for stats in bots.iter().map(Bot::stats).filter(|stats| stats.started.is_some()) {
        all.bots += 1;
        all.active += usize::from(stats.entered.is_some());
        all.connected += usize::from(stats.is_accepted);
        all.without_snapshot_ms = all.without_snapshot_ms.max(stats.without_snapshot_ms(in_stage));
        match outcome(stats) {
            BotOutcome::Refused => all.refused += 1,
            BotOutcome::Dropped => all.dropped += 1,
            BotOutcome::Played | BotOutcome::Connected | BotOutcome::NeverJoined => {}
        }
    }
    all
}
