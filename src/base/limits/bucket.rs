//! Leaky bucket.
//!
//! Invariant: a bucket admits `burst` requests at once and one more per `period`.

use crate::model::Millis;

/// Limit of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketLimit {
    /// Requests admitted at once.
    pub burst: u32,
    /// Time until one more is admitted.
    pub period: Millis,
}

/// A leaky bucket.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bucket {
    level: u32,
    pub(super) last: Millis,
}

impl Bucket {
    /// Creates an empty bucket at a time.
    pub(super) const fn empty(now: Millis) -> Self {
        Self { level: 0, last: now }
    }

    /// Whether one more request is admitted now.
    pub fn allows(&mut self, now: Millis, allowance: BucketLimit) -> bool {
        let period = allowance.period.0.max(1);
        let leaked = now.since(self.last).0 / period;
        match u32::try_from(leaked) {
            Ok(leaked) if leaked < self.level => {
                self.level -= leaked;
                self.last += Millis(u64::from(leaked) * period);
            }
            _ => {
                self.level = 0;
                self.last = now;
            }
        }
        if self.level >= allowance.burst {
            return false;
        }
        self.level += 1;
        true
    }

    pub(super) fn is_idle(&self, now: Millis, allowance: BucketLimit) -> bool {
        now.since(self.last).0 >= u64::from(allowance.burst) * allowance.period.0
    }
}
