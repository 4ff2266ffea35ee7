//! Budget that unproven senders share: one half for returning senders, one half for first requests.
//!
//! Each half refills at half of the rate. A request takes from its own half; if that is spent, it takes from the
//! other half while more than half of that one is left. So nothing is wasted while only one kind asks, and neither kind
//! takes what the other needs.
//!
//! Invariants: all requests together keep the rate; a flood of first requests leaves returning senders half of
//! it, and the other way around; a sender counts as returning by [`ReturningSenders`].

use std::hash::Hash;

use super::{BucketLimit, returning::ReturningSenders};
use crate::model::Millis;

/// Rate and burst of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetLimit {
    /// Units that leak per ms.
    leak: u64,
    /// Units that may be charged at once.
    burst: u64,
    /// Units of one request or one byte.
    cost: u64,
}

impl BudgetLimit {
    /// Limits requests as a bucket does.
    #[must_use]
    pub const fn requests(limit: BucketLimit) -> Self {
        let cost = if limit.period.0 == 0 { 1 } else { limit.period.0 };
        Self { leak: 1, burst: cost.saturating_mul(limit.burst as u64), cost }
    }

    /// Limits bytes per second; the burst is `seconds` of the rate.
    #[must_use]
    pub const fn bytes(per_second: u64, seconds: u64) -> Self {
        // A byte a second is a thousandth of a byte a millisecond.
        let burst = per_second.saturating_mul(seconds.saturating_mul(1000));
        Self { leak: per_second, burst, cost: 1000 }
    }
}

/// Half of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// For first requests.
    First,
    /// For returning senders.
    Returning,
}

/// Charged units of both halves that have not leaked yet, twice as many as were charged.
#[derive(Clone, Copy, Debug, Default)]
pub struct SharedBudget {
    levels: [u64; 2],
    last: Millis,
}

impl SharedBudget {
    /// Returns the half that has room for a request; `None` if it must be dropped.
    pub fn room(&mut self, now: Millis, returns: bool, limit: BudgetLimit) -> Option<Half> {
        // Each half leaks at half of the rate, and what is charged counts twice.
        let leaked = now.since(self.last).0.saturating_mul(limit.leak);
        self.levels.iter_mut().for_each(|level| *level = level.saturating_sub(leaked));
        self.last = now;
        let own = if returns { Half::Returning } else { Half::First };
        let other = if returns { Half::First } else { Half::Returning };
        if self.levels[own as usize] < limit.burst {
            Some(own)
        } else {
            (self.levels[other as usize] < limit.burst / 2).then_some(other)
        }
    }

    /// Charges `amount` requests or bytes to a half.
    pub fn charge(&mut self, half: Half, amount: usize, limit: BudgetLimit) {
        let units = (amount as u64).saturating_mul(limit.cost).saturating_mul(2);
        let level = &mut self.levels[half as usize];
        *level = level.saturating_add(units);
    }
}

/// Requests of unproven senders that share one budget.
#[derive(Debug)]
pub struct SharedRequests {
    senders: ReturningSenders,
    budget: SharedBudget,
}

impl SharedRequests {
    /// Creates an unspent budget. `seed` must be secret; a sender that is silent for `life` is forgotten.
    #[must_use]
    pub fn new(seed: u64, life: Millis) -> Self {
        Self { senders: ReturningSenders::new(seed, life), budget: SharedBudget::default() }
    }

    /// Decides about one more request of a sender.
    pub fn decide(&mut self, now: Millis, sender: impl Hash, limit: BucketLimit) -> SharedDecision {
        let asks_for = self.senders.record(now, sender);
        let limit = BudgetLimit::requests(limit);
        let half = self.budget.room(now, asks_for >= super::RETURN_TIME, limit);
        if let Some(half) = half {
            self.budget.charge(half, 1, limit);
        }
        SharedDecision { is_allowed: half.is_some(), asks_for }
    }

    /// Whether one more request of a sender is allowed.
    pub fn allows(&mut self, now: Millis, sender: impl Hash, limit: BucketLimit) -> bool {
        self.decide(now, sender, limit).is_allowed
    }
}

/// Decision about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedDecision {
    /// Whether the request is allowed.
    pub is_allowed: bool,
    /// Time since the first request of its sender.
    pub asks_for: Millis,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: BucketLimit = BucketLimit { burst: 100, period: Millis(10) };
    const LIFE: Millis = Millis::seconds(600);

    /// Runs a flood of `per_second` for half a minute, beside a client that asks every `pause` ms.
    ///
    /// Returns the granted requests per second and the client's answers. `sender` names the source of a forged request.
    fn flood(per_second: u64, pause: u64, sender: impl Fn(u64) -> u64) -> (u64, Vec<bool>) {
        let mut requests = SharedRequests::new(11, LIFE);
        let (mut granted, mut answers) = (0, Vec::new());
        for number in 0..per_second * 30 {
            let now = Millis(number * 1000 / per_second);
            granted += u64::from(requests.allows(now, (1, sender(number)), LIMIT));
            if now.0 >= 10_000 + pause * answers.len() as u64 {
                answers.push(requests.allows(now, (2, 0u64), LIMIT));
            }
        }
        (granted / 30, answers)
    }

    #[test]
    fn c38_retry_is_answered_in_flood_of_new_sources() {
        for per_second in [150, 300, 1000, 5000] {
            let (granted, answers) = flood(per_second, 3000, |number| number);
            assert!(granted <= 104, "{granted} per second at {per_second}");
            assert!(answers.len() >= 6 && answers[1..].iter().all(|answered| *answered));
        }
    }

    #[test]
    fn c38_repeated_sources_take_half_of_a_budget() {
        // 3,000 sources that come back every three seconds, beside first requests of a hundred clients a second.
        let mut requests = SharedRequests::new(11, LIFE);
        let (mut repeated, mut first) = (0, 0);
        for number in 0..30_000u64 {
            let now = Millis(number);
            repeated += u32::from(requests.allows(now, (1, number % 3000), LIMIT));
            if number % 10 == 5 {
                first += u32::from(requests.allows(now, (2, number), LIMIT));
            }
        }
        assert!(first >= 25 * 50, "{first} clients were answered in 30 seconds");
        assert!(repeated <= 30 * 100 + 100 - first, "{repeated}");
    }

    #[test]
    fn c38_quiet_budget_is_whole_for_first_requests() {
        let mut requests = SharedRequests::new(11, LIFE);
        let answered =
            (0..9000u64).filter(|&ms| ms % 12 != 0 || requests.allows(Millis(ms), ms, LIMIT));
        assert_eq!(answered.count(), 9000, "83 of 100 a second");
        let burst =
            (0..200u64).filter(|&n| requests.allows(Millis(20_000), (n, 0u64), LIMIT)).count();
        assert_eq!(burst, 75, "a quarter stays for returning senders");
    }

    proptest! {
        #[test]
        fn c38_budget_keeps_rate_and_order_is_reproducible(
            steps in prop::collection::vec((0u64..40, 0u64..50, 0usize..3000), 1..400),
        ) {
            let limit = BudgetLimit::bytes(10_000, 2);
            let run = || {
                let mut senders = ReturningSenders::new(5, LIFE);
                let mut budget = SharedBudget::default();
                let (mut now, mut sent, mut log) = (Millis(0), 0, Vec::new());
                for &(pause, sender, bytes) in &steps {
                    now += Millis(pause);
                    let returns = senders.is_returning(now, sender);
                    let half = budget.room(now, returns, limit);
                    if let Some(half) = half {
                        budget.charge(half, bytes, limit);
                        sent += bytes as u64;
                    }
                    log.push(half);
                }
                (sent, now, log)
            };
            let (sent, now, log) = run();
            // The burst, the rate since, and one answer of each half.
            prop_assert!(sent <= 20_000 + 10 * now.0 + 2 * 3000, "{sent} in {now}");
            prop_assert_eq!(run().2, log);
        }
    }
}
