//! Simulated link between one bot and the server: impairment in both directions and NAT rebinding.

use crate::{
    impairment::{ImpairedLink, SeededRng},
    model::Millis,
    node::LocalPort,
};

use super::{bot::seed_of, options::BotsOptions};

/// The way of one bot.
#[derive(Debug)]
pub(super) struct BotLink {
    pub(super) up: ImpairedLink,
    pub(super) down: ImpairedLink,
    rng: SeededRng,
    /// Mean time between two changes of port; never when zero.
    rebind: Millis,
    rebinds_at: Millis,
    /// Which of its two ports is in use.
    other_port: bool,
}

impl BotLink {
    /// The ways of all bots; none when nothing happens on them.
    pub(super) fn for_all(options: &BotsOptions, now: Millis) -> Vec<Self> {
        let clear = options.uplink.is_clear() && options.downlink.is_clear();
        if clear && options.rebind == Millis(0) {
            return Vec::new();
        }
        (0..options.most_bots()).map(|number| Self::new(options, number, now)).collect()
    }

    fn new(options: &BotsOptions, number: u16, now: Millis) -> Self {
        let seed = seed_of(options.seed, number);
        let mut wire = Self {
            up: ImpairedLink::new(options.uplink, seed ^ 2),
            down: ImpairedLink::new(options.downlink, seed ^ 3),
            rng: SeededRng::new(seed ^ 4),
            rebind: options.rebind,
            rebinds_at: Millis::NEVER,
            other_port: false,
        };
        wire.plan_rebind(now);
        wire
    }

    /// Ports of each bot.
    pub(super) fn ports(options: &BotsOptions) -> u16 {
        if options.rebind == Millis(0) { 1 } else { 2 }
    }

    /// The port that a bot sends from now, when there are `bots`.
    pub(super) fn port(&self, number: u16, bots: u16) -> LocalPort {
        LocalPort(if self.other_port { number + bots } else { number })
    }

    /// When something happens on the way by itself.
    pub(super) fn next_event(&self) -> Millis {
        self.up.next_arrival().min(self.down.next_arrival()).min(self.rebinds_at)
    }

    /// Whether something is on its way to the server.
    pub(super) fn is_speaking(&self) -> bool {
        self.up.waiting() > 0
    }

    /// Takes the other port when it is time.
    pub(super) fn rebind_if_due(&mut self, now: Millis) {
        if now >= self.rebinds_at {
            self.other_port = !self.other_port;
            self.plan_rebind(now);
        }
    }

    /// Half to one and a half times the mean from now.
    fn plan_rebind(&mut self, now: Millis) {
        if self.rebind > Millis(0) {
            let more = self.rng.below(self.rebind.0 + 1);
            self.rebinds_at = now + Millis(self.rebind.0 / 2 + more);
        }
    }
}
