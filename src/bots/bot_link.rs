//! Simulated link between one bot and the server: impairment in both directions and NAT rebinding.

use crate::{
    impairment::{ImpairedLink, SeededRng},
    model::Millis,
    node::LocalPort,
};

use super::{bot::seed_of, options::BotsOptions};

/// Link of one bot.
#[derive(Debug)]
pub(super) struct BotLink {
    pub(super) up: ImpairedLink,
    pub(super) down: ImpairedLink,
    rng: SeededRng,
    /// Mean time between NAT rebindings; 0 disables them.
    rebind: Millis,
    rebinds_at: Millis,
    /// Whether the second port is in use.
    other_port: bool,
}

impl BotLink {
    /// Creates the links of all bots; none without impairment and rebinding.
    pub(super) fn for_all(options: &BotsOptions, now: Millis) -> Vec<Self> {
        let clear = options.uplink.is_clear() && options.downlink.is_clear();
        if clear && options.rebind == Millis(0) {
            return Vec::new();
        }
        (0..options.most_bots()).map(|number| Self::new(options, number, now)).collect()
    }

    fn new(options: &BotsOptions, number: u16, now: Millis) -> Self {
        let seed = seed_of(options.seed, number);
        let mut link = Self {
            up: ImpairedLink::new(options.uplink, seed ^ 2),
            down: ImpairedLink::new(options.downlink, seed ^ 3),
            rng: SeededRng::new(seed ^ 4),
            rebind: options.rebind,
            rebinds_at: Millis::NEVER,
            other_port: false,
        };
        link.plan_rebind(now);
        link
    }

    /// Number of ports of each bot.
    pub(super) fn ports(options: &BotsOptions) -> u16 {
        if options.rebind == Millis(0) { 1 } else { 2 }
    }

    /// Returns the current port of a bot, one of `bots`.
    pub(super) fn port(&self, number: u16, bots: u16) -> LocalPort {
        LocalPort(if self.other_port { number + bots } else { number })
    }

    /// Returns the time of the next arrival or rebinding.
    pub(super) fn next_event(&self) -> Millis {
        self.up.next_arrival().min(self.down.next_arrival()).min(self.rebinds_at)
    }

    /// Whether datagrams to the server are in flight.
    pub(super) fn has_uplink_datagrams(&self) -> bool {
        self.up.waiting() > 0
    }

    /// Changes to the other port when a rebinding is due.
    pub(super) fn rebind_if_due(&mut self, now: Millis) {
        if now >= self.rebinds_at {
            self.other_port = !self.other_port;
            self.plan_rebind(now);
        }
    }

    /// Schedules the next rebinding after 0.5 to 1.5 times the mean.
    fn plan_rebind(&mut self, now: Millis) {
        if self.rebind > Millis(0) {
            let more = self.rng.below(self.rebind.0 + 1);
            self.rebinds_at = now + Millis(self.rebind.0 / 2 + more);
        }
    }
}
