//! Limits of questions and of answers to unproven addresses.
//!
//! [`QuestionGuard`] counts the list questions of a host. [`AnswerBudget`] counts the bytes of answers that
//! are longer than their question and go to an address that may be forged. Both take constant time and memory.

use crate::model::Millis;

use super::hosts::{HashKey, Host, HostTable};

/// Time after which one question is forgiven.
const FORGIVE: Millis = Millis(3000);
/// Sets of four hosts whose questions are counted.
const QUESTION_SETS: usize = 1024;
/// Sets of four hosts whose heartbeats are counted.
const HEARTBEAT_SETS: usize = 1024;
/// Burst of the answer budget, in seconds of its rate.
const BURST_SECONDS: u64 = 2;

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
}

impl QuestionGuard {
    /// Creates a guard that refuses the `limit`th quick question of a host.
    pub(super) fn new(limit: u32, key: HashKey) -> Self {
        let sets = if limit == 0 { 1 } else { QUESTION_SETS };
        Self { limit, hosts: HostTable::new(sets, key) }
    }

    /// Whether one more question of `host` is answered. A refused question does not count.
    pub(super) fn allows(&mut self, now: Millis, host: Host) -> bool {
        if self.limit == 0 {
            return true;
        }
        let questions = self.hosts.entry(now.0, host);
        let forgiven = now.since(questions.last_accepted).0 / FORGIVE.0;
        let left = u64::from(questions.count).saturating_sub(forgiven) as u32;
        if left + 1 >= self.limit {
            return false;
        }
        *questions = Questions { count: left + 1, last_accepted: now };
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
#[derive(Debug)]
pub(super) struct ChallengeGuard {
    /// Challenges per second; 0 disables the guard.
    per_second: u32,
    hosts: HostTable<Beats>,
}

impl ChallengeGuard {
    /// Creates a guard of `per_second` challenges for each host.
    pub(super) fn new(per_second: u32, key: HashKey) -> Self {
        let sets = if per_second == 0 { 1 } else { HEARTBEAT_SETS };
        Self { per_second, hosts: HostTable::new(sets, key) }
    }

    /// Whether one more challenge is sent to `host`.
    pub(super) fn allows(&mut self, now: Millis, host: Host) -> bool {
        if self.per_second == 0 {
            return true;
        }
        let second = now.0 / 1000;
        let beats = self.hosts.entry(now.0, host);
        if beats.second != second {
            *beats = Beats { second, count: 0 };
        }
        beats.count += 1;
        beats.count <= self.per_second
    }
}

/// Byte budget of answers to unproven addresses, for all of them together.
#[derive(Debug)]
pub(super) struct AnswerBudget {
    /// Bytes per second; 0 disables the budget.
    rate: u64,
    /// Charged bytes that have not leaked yet, in thousandths of a byte.
    level: u64,
    last: Millis,
}

impl AnswerBudget {
    /// Creates a budget of `rate` bytes per second.
    pub(super) const fn new(rate: u64) -> Self {
        Self { rate, level: 0, last: Millis(0) }
    }

    /// Whether an answer may be sent now.
    pub(super) fn has_room(&mut self, now: Millis) -> bool {
        let leaked = now.since(self.last).0.saturating_mul(self.rate);
        self.level = self.level.saturating_sub(leaked);
        self.last = now;
        self.rate == 0 || self.level < self.rate.saturating_mul(BURST_SECONDS * 1000)
    }

    /// Charges the bytes by which an answer exceeds its question.
    pub(super) fn charge(&mut self, question: usize, answer: usize) {
        let excess = answer.saturating_sub(question) as u64;
        self.level = self.level.saturating_add(excess.saturating_mul(1000));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 16] = [3; 16];

    fn host(last: u8) -> Host {
        Host::of([192, 0, 2, last].into())
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
        let mut budget = AnswerBudget::new(1000);
        let mut sent = 0;
        for at in 0..10_000 {
            if budget.has_room(Millis(at)) {
                budget.charge(20, 120);
                sent += 100;
            }
        }
        assert!((11_900..=12_200).contains(&sent), "ten seconds and a burst of two: {sent}");
        let mut off = AnswerBudget::new(0);
        assert!((0..100).all(|_| {
            off.charge(0, 1 << 30);
            off.has_room(Millis(1))
        }));
    }
}
