//! Stages of a load test: joining bots, ending a stage, and the end of the test.

use std::collections::BTreeMap;

use crate::{impairment::Impairment, model::Millis};

use super::{
    Bots, DRAIN_TIMEOUT, LATE_SNAPSHOT_WAIT,
    bot::{Bot, BotContext},
    bot_link::BotLink,
};

impl Bots {
    /// Starts or stops bots until their number is that of the stage.
    pub(super) fn begin_stage(&mut self, now: Millis) {
        let Some(&stage) = self.options.stages.get(self.stage) else { return };
        self.stage_ends = now + stage.duration;
        self.late_until = None;
        self.bots.iter_mut().for_each(Bot::begin_stage);
        let before = std::mem::replace(&mut self.wanted, stage.bots);
        for number in before..stage.bots {
            let place = u64::from(number - before);
            let starts = now + Millis(place * 1000 / u64::from(self.options.joins_per_second));
            self.bots[usize::from(number)].schedule_join(starts);
            self.living += 1;
            self.after(now, number);
        }
        for number in stage.bots..before {
            self.stop_bot(now, number);
        }
        let joins = u64::from(stage.bots.saturating_sub(before));
        let joined = now + Millis(joins * 1000 / u64::from(self.options.joins_per_second));
        // A stage is measured after its joins, but for at least half of its duration.
        self.measurement.begin_stage(joined.min(now + Millis(stage.duration.0 / 2)));
    }

    /// Whether a snapshot is late, or a map change under way, for which the stage waits a little longer.
    ///
    /// A stall that begins in the last second then counts with its whole length.
    pub(super) fn waits_for_snapshots(&mut self, now: Millis) -> bool {
        let until = *self.late_until.get_or_insert(now + LATE_SNAPSHOT_WAIT);
        let interval = self.options.snapshot_interval();
        now < until && self.bots.iter().any(|bot| bot.awaits_snapshot(now, interval))
    }

    /// Ends the warm-up when it is over, as of its end.
    ///
    /// A gap or lateness that reaches beyond the end is measured from there.
    pub(super) fn end_warmup_if_over(&mut self, now: Millis) {
        if let Some(end) = self.measurement.warmup_end().filter(|&end| now >= end) {
            self.record_open_gaps(end);
            self.measurement.end_warmup(&self.bots, end);
            self.servers.iter_mut().for_each(|record| record.silence.restart(end));
            self.bots.iter_mut().for_each(Bot::end_warmup);
        }
    }

    /// Ends a stage, checks its expectations, and begins the next stage or ends the test.
    pub(super) fn end_stage(&mut self, now: Millis) {
        self.sample_if_due(now);
        if self.stage + 1 >= self.options.stages.len() {
            let options = &self.options;
            self.bots.iter_mut().for_each(|bot| bot.note_silence(now, options));
        }
        self.record_open_gaps(now);
        self.share_refusals();
        let failed =
            self.measurement.end_stage(&self.options, &self.bots, usize::from(self.wanted), now);
        self.stage += 1;
        if failed || self.stage >= self.options.stages.len() {
            self.leave(now);
        } else {
            self.begin_stage(now);
        }
    }

    /// Begins the measurement of a stage or takes a sample, when due. Returns whether it took a sample.
    pub(super) fn sample_if_due(&mut self, now: Millis) -> bool {
        let queries = self.flood.summary();
        self.measurement.frame(&self.bots, &self.options, queries, now)
    }

    fn stop_bot(&mut self, now: Millis, number: u16) {
        let Self { options, maps, quakeworld_maps, measurement, bots, detected, servers, .. } =
            self;
        let stage_stats = measurement.stage_stats();
        let mut context =
            BotContext { options, maps, quakeworld_maps, stage_stats, detected, servers };
        bots[usize::from(number)].leave(now, &mut context);
        self.after(now, number);
    }

    /// Stops all bots.
    fn leave(&mut self, now: Millis) {
        let queries = self.flood.summary();
        self.measurement.finish_samples(&self.bots, queries, now);
        self.last_progress = Some((self.progress(), self.in_game()));
        self.leaving_since = Some(now);
        for number in 0..self.wanted {
            self.stop_bot(now, number);
        }
        self.finish_if_silent(now);
    }

    pub(super) fn finish_if_silent(&mut self, now: Millis) {
        let Some(since) = self.leaving_since else { return };
        let sends = self.links.iter().any(BotLink::has_uplink_datagrams);
        self.finished |= !sends || now >= since + DRAIN_TIMEOUT;
    }

    pub(super) fn finish_if_no_bot_is_left(&mut self, now: Millis) {
        if self.living == 0 && self.leaving_since.is_none() {
            self.end_stage_early(now);
        }
    }

    /// Whether no bot has connected within the timeout and the round trips of a handshake.
    pub(super) fn no_bot_can_join(&self) -> bool {
        let Self { options, .. } = self;
        let delay = |impairment: &Impairment| impairment.latency.0 + impairment.jitter.0;
        // Two requests, and one retry of each.
        let round_trips = 4 * (delay(&options.uplink) + delay(&options.downlink));
        !options.reconnects
            && self.leaving_since.is_none()
            && self.elapsed() > options.timeout + Millis(round_trips)
            && !self.bots.iter().any(|bot| bot.can_still_join(self.now, options.timeout))
    }

    /// Copies each server's refusal to the bots of the same protocol that it did not answer.
    ///
    /// Servers limit refusals per address, independently of the number of clients there.
    fn share_refusals(&mut self) {
        let options = &self.options;
        let asked = |bot: &Bot| (bot.server_index(options), bot.protocol(options).to_string());
        let mut refusals = BTreeMap::new();
        for bot in &self.bots {
            let refusal = bot.stats().refusal.as_ref().filter(|_| bot.stats().entered.is_none());
            if let Some(refusal) = refusal {
                refusals.insert(asked(bot), refusal.clone());
            }
        }
        for bot in &mut self.bots {
            if let Some(refusal) = refusals.get(&asked(bot)) {
                bot.share_refusal(refusal);
            }
        }
    }

    /// Records the snapshot gaps that are still open.
    fn record_open_gaps(&mut self, now: Millis) {
        let Self { options, measurement, bots, servers, .. } = self;
        let (interval, stage_stats) = (options.snapshot_interval(), measurement.stage_stats());
        for bot in bots {
            if let Some(record) = servers.get_mut(bot.server_index(options)) {
                bot.record_open_gap(now, interval, &mut record.levels, stage_stats);
            }
        }
        for record in servers {
            stage_stats.record_server_silence(record.silence.length(now));
        }
    }

    /// Ends the running stage and the test: no bot is left or can still join, or the operator stopped it.
    pub(super) fn end_stage_early(&mut self, now: Millis) {
        self.sample_if_due(now);
        self.record_open_gaps(now);
        self.share_refusals();
        self.measurement.end_stage(&self.options, &self.bots, usize::from(self.wanted), now);
        self.leave(now);
    }
}
