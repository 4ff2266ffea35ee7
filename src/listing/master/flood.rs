//! Limits of questions and of answers to unproven addresses.
//!
//! [`QuestionGuard`] counts the list questions of a host, [`ChallengeGuard`] its heartbeats. [`AnswerBudget`] counts the bytes
//! of answers that are longer than their question and go to an address that may be forged. All take constant time and
//! memory.
//!
//! Forged questions spend the limit of a host. An address and port that asks again after a second therefore has a limit of
//! its own, so that a forger has to name the port, too. These limits together are bounded for each host, since the host
//! gets all answers.

use std::net::SocketAddr;

use crate::{
    limits::{
        AddressKey, AddressLimiter, BucketLimit, BudgetLimit, Half, ReturningSenders, SharedBudget,
    },
    model::Millis,
};

use super::{
    hosts::{HashKey, HostTable},
    registry::CHALLENGE_PERIOD,
};

/// Time after which one question is forgiven.
const FORGIVE: Millis = Millis(3000);
/// Sets of four hosts whose questions are counted.
const QUESTION_SETS: usize = 1024;
/// Sets of four hosts whose heartbeats are counted.
const HEARTBEAT_SETS: usize = 1024;
/// Burst of the answer budget, in seconds of its rate.
const BURST_SECONDS: u64 = 2;
/// Silence after which an address counts as new.
const SENDER_LIFE: Millis = Millis::seconds(3600);
/// Answers to the ports of one host that ask again.
const REPEATED_QUESTIONS: BucketLimit = BucketLimit { burst: 8, period: Millis(1000) };

/// Limits of the ports of a host that ask again.
#[derive(Debug)]
struct RepeatedPorts {
    ports: ReturningSenders,
    hosts: AddressLimiter,
}

impl RepeatedPorts {
    fn new(seed: u64) -> Self {
        Self {
            ports: ReturningSenders::new(seed, SENDER_LIFE),
            hosts: AddressLimiter::new(seed ^ 1),
        }
    }

    /// Records a question that the limit of its host admitted.
    fn record(&mut self, now: Millis, from: SocketAddr) {
        self.ports.record_admitted(now, from);
    }

    /// Whether a question is admitted, once per `period` for each port.
    fn admits(
        &mut self,
        now: Millis,
        from: SocketAddr,
        period: Millis,
        of_host: BucketLimit,
    ) -> bool {
        let Self { ports, hosts } = self;
        ports.admits(now, from, period, || hosts.allows(now, AddressKey::host(from.ip()), of_host))
    }
}

/// Questions of one host.
#[derive(Clone, Copy, Debug, Default)]
struct Questions {
    count: u32,
    last_accepted: Millis,
}

/// Flood protection: limits the list questions of each host.
#[derive(Debug)]
pub(super) struct QuestionGuard {
    /// Count at which a question is refused; 0 disables the guard.
    limit: u32,
    hosts: HostTable<Questions>,
    repeated: RepeatedPorts,
}

impl QuestionGuard {
    /// Creates a guard that refuses the `limit`th quick question of a host.
    pub(super) fn new(limit: u32, key: HashKey) -> Self {
        let sets = if limit == 0 { 1 } else { QUESTION_SETS };
        let repeated = RepeatedPorts::new(key.hash("questions"));
        Self { limit, hosts: HostTable::new(sets, key), repeated }
    }

    /// Whether one more question is answered. A refused question does not count.
    pub(super) fn allows(&mut self, now: Millis, from: SocketAddr) -> bool {
        if self.limit == 0 {
            return true;
        }
        let questions = self.hosts.entry(now.0, AddressKey::host(from.ip()));
        let forgiven = now.since(questions.last_accepted).0 / FORGIVE.0;
        let left = u64::from(questions.count).saturating_sub(forgiven) as u32;
        if left + 1 >= self.limit {
            return self.repeated.admits(now, from, FORGIVE, REPEATED_QUESTIONS);
        }
        *questions = Questions { count: left + 1, last_accepted: now };
        self.repeated.record(now, from);
        true
    }
}

/// Heartbeats of one host in one second.
#[derive(Clone, Copy, Debug, Default)]
struct Beats {
    second: u64,
    count: u32,
}

/// Limit of the challenges that one host is sent, so that forged heartbeats flood no victim.
///
/// A listed server is asked before, by a limit of its own in the registry.
#[derive(Debug)]
pub(super) struct ChallengeGuard {
    /// Challenges per second; 0 disables the guard.
    per_second: u32,
    hosts: HostTable<Beats>,
    repeated: RepeatedPorts,
}

impl ChallengeGuard {
    /// Creates a guard of `per_second` challenges for each host, and as many for ports that ask again.
    pub(super) fn new(per_second: u32, key: HashKey) -> Self {
        let sets = if per_second == 0 { 1 } else { HEARTBEAT_SETS };
        let repeated = RepeatedPorts::new(key.hash("challenges"));
        Self { per_second, hosts: HostTable::new(sets, key), repeated }
    }

    /// Whether one more challenge is sent to an address.
    pub(super) fn allows(&mut self, now: Millis, to: SocketAddr) -> bool {
        if self.per_second == 0 {
            return true;
        }
        let second = now.0 / 1000;
        let beats = self.hosts.entry(now.0, AddressKey::host(to.ip()));
        if beats.second != second {
            *beats = Beats { second, count: 0 };
        }
        beats.count += 1;
        if beats.count <= self.per_second {
            self.repeated.record(now, to);
            return true;
        }
        let period = Millis((1000 / u64::from(self.per_second)).max(1));
        let of_host = BucketLimit { burst: self.per_second, period };
        self.repeated.admits(now, to, CHALLENGE_PERIOD, of_host)
    }
}

/// Byte budget of answers to all unproven addresses. Half of it is for those that ask again.
#[derive(Debug)]
pub(super) struct AnswerBudget {
    /// Bytes per second; 0 disables the budget.
    rate: u64,
    senders: ReturningSenders,
    budget: SharedBudget,
}

impl AnswerBudget {
    /// Creates a budget of `rate` bytes per second.
    pub(super) fn new(rate: u64, key: HashKey) -> Self {
        let senders = ReturningSenders::new(key.hash("answers"), SENDER_LIFE);
        Self { rate, senders, budget: SharedBudget::default() }
    }

    const fn limit(&self) -> BudgetLimit {
        BudgetLimit::bytes(self.rate, BURST_SECONDS)
    }

    /// Half with room for an answer now.
    pub(super) fn room(&mut self, now: Millis, to: SocketAddr) -> Option<Half> {
        if self.rate == 0 {
            return Some(Half::First);
        }
        let returns = self.senders.is_returning(now, AddressKey::host(to.ip()));
        self.budget.room(now, returns, self.limit())
    }

    /// Charges the bytes by which an answer exceeds its question, unless it is free.
    pub(super) fn charge(&mut self, half: Option<Half>, question: usize, answer: usize) {
        if let Some(half) = half {
            self.budget.charge(half, answer.saturating_sub(question), self.limit());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 16] = [3; 16];

    fn host(last: u8) -> SocketAddr {
        ([192, 0, 2, last], 27_960).into()
    }

    #[test]
    fn flood_guard_forgives_one_question_per_three_seconds() {
        let mut guard = QuestionGuard::new(4, HashKey::new(KEY));
        let mut asks = |at: u64, last: u8| guard.allows(Millis(at), host(last));
        assert!(asks(10, 1) && asks(10, 1) && asks(11, 1), "three of four are answered");
        assert!(!asks(11, 1) && !asks(3010, 1), "the fourth is not, and does not count");
        assert!(asks(11, 2), "another host has a count of its own");
        assert!(asks(3011, 1), "one is forgiven three seconds after the last accepted one");
        assert!(!asks(3012, 1) && !asks(6010, 1));
        assert!(asks(6011, 1));
        assert!(asks(60_000, 1) && asks(60_000, 1) && asks(60_000, 1) && !asks(60_000, 1));
    }

    #[test]
    fn flood_guard_is_off_at_zero() {
        let mut off = QuestionGuard::new(0, HashKey::new(KEY));
        assert!((0..1000).all(|_| off.allows(Millis(5), host(1))));
        let mut one = QuestionGuard::new(1, HashKey::new(KEY));
        assert!(!one.allows(Millis(5), host(1)));
    }

    #[test]
    fn challenges_to_one_host_are_limited_per_second() {
        let mut guard = ChallengeGuard::new(64, HashKey::new(KEY));
        let sent = (0..10_000).filter(|_| guard.allows(Millis(1500), host(1))).count();
        assert_eq!(sent, 64);
        assert!(guard.allows(Millis(1500), host(2)));
        assert!(guard.allows(Millis(2000), host(1)));
    }

    #[test]
    fn answer_budget_limits_excess_bytes_per_second() {
        let mut budget = AnswerBudget::new(1000, HashKey::new(KEY));
        let mut sent = 0;
        for at in 0..10_000u32 {
            let from = SocketAddr::from((at.to_be_bytes(), 5));
            let half = budget.room(Millis(u64::from(at)), from);
            if half.is_some() {
                budget.charge(half, 20, 120);
                sent += 100;
            }
        }
        // A quarter of the burst stays for addresses that ask again.
        assert!((11_400..=12_200).contains(&sent), "ten seconds and a burst of two: {sent}");
        let mut off = AnswerBudget::new(0, HashKey::new(KEY));
        assert!((0..100).all(|_| {
            off.charge(Some(Half::First), 0, 1 << 30);
            off.room(Millis(1), host(1)).is_some()
        }));
    }

    #[test]
    fn c39_port_that_asks_again_is_answered_beside_forged_ports() {
        let mut guard = QuestionGuard::new(16, HashKey::new(KEY));
        let own: SocketAddr = ([192, 0, 2, 1], 27_960).into();
        let (mut answered, mut forged) = (Vec::new(), 0);
        for at in 0..30_000u64 {
            let from =
                SocketAddr::from(([192, 0, 2, 1], 1 + (at.wrapping_mul(7919) % 65_000) as u16));
            forged += u32::from(guard.allows(Millis(at), from));
            if at % 3100 == 1500 {
                answered.push(guard.allows(Millis(at), own));
            }
        }
        assert!(answered[1..].iter().all(|one| *one), "{answered:?}");
        assert!(forged <= 16 + 10 + 8, "{forged} answers to one host in half a minute");
    }
}
